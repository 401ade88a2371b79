//! Why a program could not be recorded, or an incident not be used, in sentences.
//!
//! No text of an input is in any sentence.

use std::io;
use std::path::PathBuf;

use crate::ours::Distrust;

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program cannot be run.
    #[error(transparent)]
    Program(#[from] stunt_native::Error),
    /// Following it failed.
    #[error("the run of {} could not be followed to its end ({source})", .path.display())]
    Follow {
        /// The program.
        path: PathBuf,
        /// What the host said.
        source: io::Error,
    },
    /// The user has no folder for incidents.
    #[error("there is no folder for incidents; set XDG_STATE_HOME or HOME")]
    NoPlace,
    /// A folder or file of the store cannot be used.
    #[error("{} cannot be used ({source})", .path.display())]
    Place {
        /// The folder or file.
        path: PathBuf,
        /// What the host said.
        source: io::Error,
    },
    /// There is no such incident.
    #[error("there is no incident `{name}` in {}; `stunt incidents` lists them", .place.display())]
    NotFound {
        /// What was asked for.
        name: String,
        /// Where it was looked for.
        place: PathBuf,
    },
    /// Several incidents are meant.
    #[error("`{name}` is the beginning of {count} incidents; write more of it")]
    Ambiguous {
        /// What was asked for.
        name: String,
        /// How many begin so.
        count: usize,
    },
    /// The file of an incident does not say what it must.
    #[error("{} is not an incident that this stunt understands ({why})", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, without quoting it.
        why: String,
    },
    /// A folder that is named is not for the user alone.
    #[error("{} is not taken for an incident: {why}", .path.display())]
    NotOurs {
        /// The folder.
        path: PathBuf,
        /// What is wrong with it.
        why: Distrust,
    },
    /// The bytes of an incident are not those that were kept.
    #[error("{} was changed since it was recorded", .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

impl Error {
    /// A problem with a place.
    pub(crate) fn place(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Place { path, source }
    }
}
