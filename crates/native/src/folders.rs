//! Folders that belong to one run at a time, and the files that a run is given in them.
//!
//! Always holds: a folder is empty but for its run's own files when the run begins; nobody but the
//! user can look into it; all are gone with their owner. A program may have left anything there,
//! links to files of the host among it: nothing that is found is written to, it is removed first.
//!
//! Paths of all folders have one length, because a program's stack begins with its arguments.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use stunt_cage::landlock::Rules;

use crate::command::InputFile;

/// Where files are kept in memory, on most hosts.
const IN_MEMORY: &str = "/dev/shm";

/// A folder, and the rule that lets a run write there and nowhere else.
pub struct Place {
    path: PathBuf,
    rule: Option<OwnedFd>,
    /// How often the folder had to be made anew.
    remade: u32,
}

/// Reading stays as it is.
fn writes_only_below(folder: &Path, network: bool) -> io::Result<Option<OwnedFd>> {
    Rules { folder, reads: None, network }.ruleset()
}

/// All folders of one owner.
pub struct Folders {
    /// Where they are to be; where it suits best if absent.
    parent: Option<PathBuf>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    root: Option<PathBuf>,
    made: usize,
    idle: Vec<Place>,
}

impl Folders {
    /// None yet; they will be made below this folder, or in memory.
    pub fn new(parent: Option<&Path>) -> Self {
        Self { parent: parent.map(Into::into), state: Mutex::default() }
    }

    /// A folder that nobody else uses.
    pub fn take(&self) -> io::Result<Place> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = state.idle.pop() {
            return Ok(place);
        }
        let root = match &state.root {
            Some(root) => root.clone(),
            None => {
                let root = make_root(self.parent.as_deref())?;
                state.root = Some(root.clone());
                root
            }
        };
        let path = root.join(format!("w{:03}", state.made));
        private_folder(&path)?;
        state.made += 1;
        let rule = writes_only_below(&path, false)?;
        Ok(Place { path, rule, remade: 0 })
    }

    /// The folder is free again; what is in it goes.
    pub fn give_back(&self, mut place: Place) {
        // One that cannot be emptied is not used again.
        if place.empty().is_ok() {
            self.state.lock().unwrap_or_else(PoisonError::into_inner).idle.push(place);
        }
    }
}

impl Drop for Folders {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(root) = &state.root {
            // What is left are candidates; there is nobody to tell.
            let _ = fs::remove_dir_all(root);
        }
    }
}

impl Place {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How often the folder had to be made anew: processes may still be in the old one.
    pub fn remade(&self) -> u32 {
        self.remade
    }

    /// What a contained run is bound by, if the host can do so.
    pub fn rule(&self) -> Option<&OwnedFd> {
        self.rule.as_ref()
    }

    /// The same for a run that has a network of its own.
    pub fn rule_with_network(&self) -> io::Result<Option<OwnedFd>> {
        writes_only_below(&self.path, true)
    }

    /// The same for a run that reads nothing but what is listed.
    pub fn rule_for_reading(
        &self,
        reads: &[PathBuf],
        network: bool,
    ) -> io::Result<Option<OwnedFd>> {
        let rule = Rules { folder: &self.path, reads: Some(reads), network }.ruleset()?;
        let absent = || io::Error::new(ErrorKind::Unsupported, "this kernel has no Landlock");
        rule.map(Some).ok_or_else(absent)
    }

    /// Makes it ready for a run with these files; their paths are the answer.
    pub fn prepare(&mut self, files: &[InputFile]) -> io::Result<Vec<PathBuf>> {
        self.empty()?;
        files.iter().map(|file| self.write(&file.name, &file.bytes)).collect()
    }

    fn write(&self, name: &OsStr, bytes: &[u8]) -> io::Result<PathBuf> {
        if Path::new(name).file_name() != Some(name) {
            return Err(io::Error::new(ErrorKind::InvalidInput, "not the name of a file"));
        }
        let path = self.path.join(name);
        // A new one, never one that is there: two files of one run must not have one name.
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600).open(&path)?.write_all(bytes)?;
        Ok(path)
    }

    /// Removes what is in it, without following links.
    fn empty(&mut self) -> io::Result<()> {
        let removed = fs::read_dir(&self.path).and_then(|all| {
            for entry in all {
                let entry = entry?;
                if entry.file_type()?.is_dir() {
                    remove_folder(&entry.path())?;
                } else {
                    fs::remove_file(entry.path())?;
                }
            }
            Ok(())
        });
        match removed {
            // A run that is not contained may have removed or closed the folder itself.
            Err(error) if error.kind() == ErrorKind::NotFound => self.make_again(),
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                open_up(&self.path)?;
                fs::remove_dir_all(&self.path)?;
                self.make_again()
            }
            other => other,
        }
    }

    /// The rule is about the folder that was there, not about its path.
    fn make_again(&mut self) -> io::Result<()> {
        self.remade += 1;
        private_folder(&self.path)?;
        self.rule = writes_only_below(&self.path, false)?;
        Ok(())
    }
}

/// Whether a folder holds more than so many bytes, or more files than anybody needs. Links are not
/// followed; what cannot be seen, or goes away meanwhile, does not count.
pub fn holds_more(folder: &Path, bytes: u64) -> bool {
    const MOST_FILES: usize = 100_000;
    let (mut left, mut sum, mut count) = (vec![folder.to_owned()], 0_u64, 0);
    while let Some(folder) = left.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Ok(data) = entry.metadata() else { continue };
            // What it takes, not how long it says it is.
            sum = sum.saturating_add(data.blocks().saturating_mul(512));
            count += 1;
            if sum > bytes || count > MOST_FILES {
                return true;
            }
            if data.is_dir() {
                left.push(entry.path());
            }
        }
    }
    false
}

/// Removes a folder, also one that a program has closed to its owner.
fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            open_up(path)?;
            fs::remove_dir_all(path)
        }
        other => other,
    }
}

/// Lets the owner into a folder and all below it; links are not followed.
fn open_up(path: &Path) -> io::Result<()> {
    let mut left = vec![path.to_owned()];
    while let Some(folder) = left.pop() {
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                left.push(entry.path());
            }
        }
    }
    Ok(())
}

/// The folder of all folders.
fn make_root(parent: Option<&Path>) -> io::Result<PathBuf> {
    let chosen = match parent {
        Some(parent) => vec![parent.to_owned()],
        None => vec![IN_MEMORY.into(), std::env::temp_dir()],
    };
    let mut last = io::Error::from(ErrorKind::NotFound);
    for parent in chosen {
        // Programs get the path, and may run elsewhere.
        let parent = std::path::absolute(&parent).unwrap_or(parent);
        for attempt in 0..1000 {
            let path = parent.join(format!("stunt-{}-r{attempt:03}", std::process::id()));
            match private_folder(&path) {
                Ok(()) => return Ok(path),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => last = error,
                Err(error) => {
                    last = error;
                    break;
                }
            }
        }
    }
    Err(last)
}

fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn file(name: &str, bytes: &[u8]) -> InputFile {
        InputFile { name: name.into(), bytes: bytes.into() }
    }

    #[test]
    fn folders_are_apart_private_and_gone_in_the_end() {
        let folders = Folders::new(None);
        let (a, b) = (folders.take().expect("a folder"), folders.take().expect("another"));
        assert_ne!(a.path(), b.path());
        assert_eq!(a.path().as_os_str().len(), b.path().as_os_str().len());
        let root = a.path().parent().expect("a root").to_owned();
        for path in [&root, a.path()] {
            let mode = fs::metadata(path).expect("it is there").permissions().mode();
            assert_eq!(mode & 0o777, 0o700);
        }
        let again = a.path().to_owned();
        folders.give_back(a);
        assert_eq!(folders.take().expect("a folder").path(), again);
        drop(folders);
        assert!(!root.exists());
    }

    #[test]
    fn what_a_run_left_is_gone_and_never_written_through() {
        let folders = Folders::new(None);
        let (mut place, beside) = (folders.take().expect("a folder"), folders.take().expect("one"));
        let victim = beside.path().join("victim");
        fs::write(&victim, "as it was").expect("a file");
        let paths = place.prepare(&[file("a.csv", b"1")]).expect("files");
        assert_eq!(fs::read(&paths[0]).expect("the file"), b"1");
        // The program replaces its input and leaves a closed folder with a link to a host's file.
        fs::remove_file(&paths[0]).expect("removed");
        symlink(&victim, &paths[0]).expect("a link");
        let closed = place.path().join("closed/inner");
        fs::create_dir_all(&closed).expect("folders");
        symlink(&victim, closed.join("link")).expect("a link");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("closed");
        let paths = place.prepare(&[file("a.csv", b"2"), file("b", b"3")]).expect("files");
        assert_eq!(fs::read(&paths[0]).expect("the file"), b"2");
        assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 2);
        assert_eq!(fs::read(&victim).expect("untouched"), b"as it was");
        // The folder itself is gone.
        fs::remove_dir_all(place.path()).expect("removed");
        assert!(place.prepare(&[file("a.csv", b"4")]).is_ok());
    }

    #[test]
    fn what_a_folder_holds_is_measured() {
        let folders = Folders::new(None);
        let mut place = folders.take().expect("a folder");
        place.prepare(&[file("a", &[1; 100_000])]).expect("files");
        assert!(holds_more(place.path(), 90_000) && !holds_more(place.path(), 200_000));
        let inner = place.path().join("inner");
        fs::create_dir(&inner).expect("a folder");
        fs::write(inner.join("b"), [1; 100_000]).expect("a file");
        // A long file without contents, and a circle.
        fs::File::create(inner.join("hole")).and_then(|it| it.set_len(1 << 40)).expect("a file");
        symlink(place.path(), inner.join("circle")).expect("a link");
        assert!(holds_more(place.path(), 190_000) && !holds_more(place.path(), 400_000));
        assert!(!holds_more(&inner.join("nowhere"), 0));
    }

    #[test]
    fn names_are_names() {
        let folders = Folders::new(None);
        let mut place = folders.take().expect("a folder");
        for name in ["", ".", "..", "a/b", "/etc/passwd", "../x", "a/"] {
            assert!(place.prepare(&[file(name, b"")]).is_err(), "{name}");
        }
        assert!(place.prepare(&[file("same", b"1"), file("same", b"2")]).is_err());
    }
}
