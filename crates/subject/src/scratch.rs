//! A folder for inputs that are run, gone with its owner.
//!
//! Always: it lies in memory where the host has such a place, it and its files are the user's alone to
//! read, and nothing of it stays, unless somebody says so. A process that was killed cannot clean up;
//! the next one does that for it: whoever lives holds a lock on its folder, and a folder without one is
//! nobody's.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::error::Error;

/// Where files are kept in memory, on most hosts.
const IN_MEMORY: &str = "/dev/shm";
/// How the names of all folders begin; the number of the process and a count follow.
const PREFIX: &str = "stunt-";
/// The most folders of one process.
const MOST: u32 = 1000;

/// Folders that must not be left behind. Whoever holds the lock cannot be interrupted.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn folders() -> MutexGuard<'static, Vec<PathBuf>> {
    // A panic in between leaves a list that is still a list.
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something that is either done or not begun when this process is ended by [`remove_all`].
pub fn whole<T>(work: impl FnOnce() -> T) -> T {
    let _held = folders();
    work()
}

/// Removes all folders of this process, which is about to end: as long as what this gives is held, nobody
/// begins anything new.
pub fn remove_all() -> impl Sized {
    let folders = folders();
    for folder in folders.iter() {
        // What it holds are doubles; a folder that cannot be removed cannot be helped.
        let _ = fs::remove_dir_all(folder);
    }
    folders
}

/// Makes a folder for the user alone that is not left behind.
fn make_folder(path: &Path) -> std::io::Result<()> {
    let mut folders = folders();
    fs::DirBuilder::new().mode(0o700).create(path)?;
    folders.push(path.to_owned());
    Ok(())
}

/// The folder is somebody else's business from now on.
fn forget_folder(path: &Path) {
    folders().retain(|folder| folder != path);
}

/// A folder that goes away.
pub struct Scratch {
    path: PathBuf,
    kept: bool,
    /// Locked as long as we live; the kernel sees to that.
    _lock: File,
}

impl Scratch {
    /// A new and empty folder. What earlier processes could not remove is removed.
    ///
    /// # Errors
    /// There is no place for it.
    pub fn new() -> Result<Self, Error> {
        let places = places();
        places.iter().for_each(|place| sweep(place));
        let mut last = None;
        for parent in &places {
            match Self::within(parent) {
                Ok(scratch) => return Ok(scratch),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or(Error::NoPlace))
    }

    fn within(parent: &Path) -> Result<Self, Error> {
        // The name reaches programs in their arguments; a longer one from a temporary folder that
        // is given relatively would not be found from elsewhere.
        let parent = std::path::absolute(parent).unwrap_or_else(|_| parent.to_owned());
        for attempt in 0..MOST {
            let path = parent.join(format!("{PREFIX}{}-{attempt}", std::process::id()));
            match make_folder(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(error) => {
                    let what = format!("cannot make a folder in {} (see TMPDIR)", parent.display());
                    return Err(Error::Host { what, source: error });
                }
            }
            // Somebody who sweeps may have been quicker, and takes the folder for left behind.
            // Where nothing can be locked (a worker that has closed itself off), nobody sweeps, either.
            let taken = |lock: &File| matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
            let lock = File::open(&path).ok().filter(|lock| !taken(lock));
            match lock {
                Some(lock) if path.is_dir() => {
                    return Ok(Self { path, kept: false, _lock: lock });
                }
                _ => forget_folder(&path),
            }
        }
        Err(Error::TooManyFolders(parent))
    }

    /// Writes a file in it, or in a folder of it, for the user alone.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<PathBuf, Error> {
        let path = self.path.join(name);
        let write = || {
            if let Some(folder) = path.parent().filter(|folder| *folder != self.path) {
                fs::DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
            }
            let mut options = OpenOptions::new();
            options.write(true).create(true).truncate(true).mode(0o600);
            options.open(&path)?.write_all(bytes)
        };
        let what =
            || format!("cannot write to {}, where the double must be run", self.path.display());
        whole(write).map_err(|source| Error::Host { what: what(), source })?;
        Ok(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// From now on it stays.
    pub fn keep(&mut self) {
        self.kept = true;
        forget_folder(&self.path);
        // Its name no longer says that it is ours to remove.
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let kept = self.path.with_file_name(format!("kept-{name}"));
        if fs::rename(&self.path, &kept).is_ok() {
            self.path = kept;
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !self.kept {
            // What is left there are doubles; an error here would hide the one that matters.
            let _ = fs::remove_dir_all(&self.path);
            forget_folder(&self.path);
        }
    }
}

/// Where scratch folders may be, best first: in the memory of the user's session, in that of the host, and
/// at last wherever temporary files go.
fn places() -> Vec<PathBuf> {
    let own = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|it| {
            it.is_dir() && it.uid() == uid() && it.permissions().mode() & 0o077 == 0
        })
    };
    let session = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(own);
    let memory = Some(PathBuf::from(IN_MEMORY)).filter(|path| path.is_dir());
    [session, memory, Some(std::env::temp_dir())].into_iter().flatten().collect()
}

/// Who runs stunt.
#[allow(unsafe_code)] // There is no safe interface.
pub fn uid() -> u32 {
    // SAFETY: the call takes nothing and always succeeds.
    unsafe { libc::geteuid() }
}

/// Removes what processes have left that were killed.
fn sweep(place: &Path) {
    let Ok(entries) = fs::read_dir(place) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let ours = name.to_str().and_then(|name| name.strip_prefix(PREFIX)).is_some_and(is_number);
        let path = entry.path();
        // What a link leads to is not looked at.
        let own = fs::symlink_metadata(&path).is_ok_and(|it| it.is_dir() && it.uid() == uid());
        if ours && own && File::open(&path).is_ok_and(|lock| lock.try_lock().is_ok()) {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

/// The number of a process and a count.
fn is_number(name: &str) -> bool {
    let mut parts = name.splitn(2, '-');
    let digits = |part: Option<&str>| {
        part.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    digits(parts.next()) && digits(parts.next())
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
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let other = Scratch::new().unwrap();
        assert_ne!(scratch.path(), other.path());
        assert!(file.exists(), "a folder of somebody who lives is not swept");
        drop(scratch);
        assert!(!file.exists() && other.path().is_dir());
        let mut other = other;
        other.keep();
        let path = other.path().to_owned();
        drop(other);
        drop(Scratch::new().unwrap());
        assert!(path.is_dir(), "what is kept is not swept");
        fs::remove_dir(path).unwrap();
    }

    #[test]
    fn what_the_dead_have_left_is_swept_and_nothing_else() {
        let place = std::env::temp_dir().join(format!("sweep-{}", std::process::id()));
        for name in
            ["stunt-1-0/inner", "stunt-1-x", "stunt-a-0", "stunt-1-0-0", "other", "stunt-2-7"]
        {
            fs::create_dir_all(place.join(name)).unwrap();
        }
        fs::write(place.join("stunt-1-0/inner/original"), b"x").unwrap();
        std::os::unix::fs::symlink(place.join("other"), place.join("stunt-3-0")).unwrap();
        let living = File::open(place.join("stunt-2-7")).unwrap();
        living.try_lock().unwrap();
        sweep(&place);
        let mut left: Vec<String> = fs::read_dir(&place)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(
            left,
            ["other", "stunt-1-0-0", "stunt-1-x", "stunt-2-7", "stunt-3-0", "stunt-a-0"]
        );
        fs::remove_dir_all(place).unwrap();
    }
}
