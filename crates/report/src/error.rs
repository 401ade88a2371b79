//! What can go wrong with the file of a report, in sentences that say what to do.

use std::io;
use std::path::PathBuf;

/// Why a report could not be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The file cannot be written; nothing is left of it.
    #[error("cannot write {}: {error}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// The report should go where something else than a file is.
    #[error("{} is not a file; give the report another name", path.display())]
    NotAFile {
        /// The place.
        path: PathBuf,
    },
    /// Somebody else has put a link there.
    #[error("{} is a link that another user has made; give the report another name", path.display())]
    NotOurLink {
        /// The place.
        path: PathBuf,
    },
    /// The file is no report at all.
    #[error("this is not a report of stunt: {0}")]
    NotAReport(String),
    /// The file has been a report.
    #[error("the report is damaged: {0}; ask for it again")]
    Damaged(String),
    /// The file is a report of a later version.
    #[error(
        "the report has the schema {0}, which this version of stunt does not know; update stunt"
    )]
    Newer(String),
    /// The file is larger than anyone expects, packed or unpacked.
    #[error("{what} is larger than {limit} bytes, more than stunt reads of a report")]
    TooLarge {
        /// What is too large.
        what: String,
        /// How large it may be.
        limit: u64,
    },
    /// The archive holds something that a report does not have.
    #[error("the report holds an entry \"{0}\", which no report has; do not unpack it")]
    Foreign(String),
    /// The report breaks a rule of its schema.
    #[error("the report contradicts itself: {0}")]
    Contradiction(String),
}
