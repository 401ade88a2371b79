//! The last recorded run that did not crash, for `stunt request`.
//!
//! Always holds: there is at most one; it is as private as an incident; the next recorded run
//! replaces it or takes it away; whoever looks after its time finds nothing, and removes it. It lies
//! in the user's runtime folder, which is memory and goes with the session, or, if asked for, in the
//! state folder.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::Error;
use crate::incident::{Draft, Incident, Kept};
use crate::store::{private_folder, private_folders, state_folder, write_all};

/// Where the last run is kept.
#[derive(Clone, Debug)]
pub struct Last {
    folder: PathBuf,
}

impl Last {
    /// In the user's runtime folder. Nothing if there is none.
    #[must_use]
    pub fn in_memory() -> Option<Self> {
        let folder = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let folder = folder.filter(|folder| folder.is_absolute() && folder.is_dir());
        folder.map(|folder| Self { folder: folder.join("stunt") })
    }

    /// In the user's state folder.
    ///
    /// # Errors
    /// The user has no home.
    pub fn on_disk() -> Result<Self, Error> {
        state_folder().map(|folder| Self { folder })
    }

    /// All places where it may be.
    #[must_use]
    pub fn places() -> Vec<Self> {
        Self::in_memory().into_iter().chain(Self::on_disk().ok()).collect()
    }

    /// In this folder.
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self) -> PathBuf {
        self.folder.join("last")
    }

    /// Keeps a run in place of the one before.
    ///
    /// # Errors
    /// The disk says no; then there is none.
    pub fn keep(&self, draft: &Draft) -> Result<(), Error> {
        self.forget()?;
        private_folders(&self.folder).map_err(Error::place(&self.folder))?;
        let beside = self.folder.join(format!(".last.{}", std::process::id()));
        let incident = Incident { id: "last".to_owned(), ..draft.incident.clone() };
        let written = private_folder(&beside)
            .and_then(|()| write_all(&beside, &incident, draft))
            .and_then(|()| fs::rename(&beside, self.path()));
        written.map_err(|source| {
            // Nothing half-written stays; what matters is the first error.
            let _ = fs::remove_dir_all(&beside);
            Error::Place { path: self.path(), source }
        })
    }

    /// Removes the run that is kept, if there is one.
    ///
    /// # Errors
    /// The disk says no.
    pub fn forget(&self) -> Result<(), Error> {
        match fs::remove_dir_all(self.path()) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::Place { path: self.path(), source: error })
            }
            _ => Ok(()),
        }
    }

    /// The run that is kept, if it is not older than this; else it is removed.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn find(&self, age: Duration, now: SystemTime) -> Result<Option<Kept>, Error> {
        if !self.path().is_dir() {
            return Ok(None);
        }
        let kept = Kept::load(&self.path())?;
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        if now.saturating_sub(kept.incident.made) > age.as_secs() {
            self.forget()?;
            return Ok(None);
        }
        Ok(Some(kept))
    }
}

impl Kept {
    /// What is kept, as a draft of another incident.
    ///
    /// # Errors
    /// Its bytes cannot be read, or are not those that were recorded.
    pub fn draft(&self) -> Result<Draft, Error> {
        let mut stored: Vec<_> =
            self.incident.sources.iter().filter_map(|source| source.stored()).collect();
        stored.sort_by_key(|it| it.data);
        let data = stored.into_iter().map(|it| self.data(it)).collect::<Result<_, _>>()?;
        Ok(Draft { incident: self.incident.clone(), data })
    }
}
