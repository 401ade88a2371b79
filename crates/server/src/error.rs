//! What can go wrong in the store, as sentences.
//!
//! Nothing of a report's contents is ever part of an error: only names that the server chose.

use std::path::PathBuf;

/// Why the store could not do something.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database failed.
    #[error("the database: {0}")]
    Database(#[from] sqlx::Error),
    /// The tables could not be brought to this version.
    #[error("the tables of the database: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// A file of the data folder could not be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// There is no such thing.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// It cannot be done as things are; the sentence says why.
    #[error("{0}")]
    Conflict(String),
    /// What was given breaks a rule; the sentence says which.
    #[error("{0}")]
    Invalid(String),
    /// Nothing was written; the sender may try again.
    #[error("nothing was written: {0}")]
    NotWritten(String),
    /// A row holds what this version does not understand.
    #[error("the database holds a {0} that this version does not know")]
    Unknown(&'static str),
}
