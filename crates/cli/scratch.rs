//! A folder for doubles that are run, gone with its owner.
//!
//! Always: it is the user's alone to read, and nothing of it stays, unless somebody says so.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::interrupt;

/// A folder that goes away.
pub struct Scratch {
    path: PathBuf,
    kept: bool,
}

impl Scratch {
    /// A new and empty folder where the system keeps such things.
    pub fn new() -> Result<Self> {
        let parent = std::env::temp_dir();
        // The name reaches programs in their arguments; a longer one from a temporary folder that
        // is given relatively would not be found from elsewhere.
        let parent = std::path::absolute(&parent).unwrap_or(parent);
        for attempt in 0..1000 {
            let path = parent.join(format!("stunt-{}-{attempt}", std::process::id()));
            match interrupt::make_folder(&path) {
                Ok(()) => {
                    let scratch = Self { path, kept: false };
                    fs::set_permissions(&scratch.path, fs::Permissions::from_mode(0o700))
                        .with_context(|| format!("cannot use {}", scratch.path.display()))?;
                    return Ok(scratch);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error).with_context(|| {
                        format!("cannot make a folder in {} (see TMPDIR)", parent.display())
                    });
                }
            }
        }
        bail!("there are too many folders of stunt in {}; remove them", parent.display())
    }

    /// Writes a file in it.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf> {
        let path = self.path.join(name);
        interrupt::whole(|| fs::write(&path, bytes)).with_context(|| {
            format!("cannot write to {}, where the double must be run", self.path.display())
        })?;
        Ok(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// From now on it stays.
    pub fn keep(&mut self) {
        self.kept = true;
        interrupt::forget_folder(&self.path);
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.kept {
            // What is left there are doubles; an error here would hide the one that matters.
            let _ = fs::remove_dir_all(&self.path);
            interrupt::forget_folder(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_owner_unless_it_is_kept() {
        let scratch = Scratch::new().unwrap();
        let file = scratch.write("file", b"x").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"x");
        assert_eq!(scratch.path().metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let other = Scratch::new().unwrap();
        assert_ne!(scratch.path(), other.path());
        drop(scratch);
        assert!(!file.exists() && other.path().is_dir());
        let mut other = other;
        other.keep();
        let path = other.path().to_owned();
        drop(other);
        assert!(path.is_dir());
        fs::remove_dir(path).unwrap();
    }
}
