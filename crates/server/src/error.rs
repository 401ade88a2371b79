//! What can go wrong in the store, as sentences.
//!
//! Nothing of a report's contents is ever part of an error: only names that the server chose.

use std::path::PathBuf;

/// Why the store could not do something.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database failed.
    #[error("the database: {0}")]
    Database(sqlx::Error),
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

/// PostgreSQL's name for text that it cannot hold: with a NUL in it.
const NO_TEXT: &str = "22021";

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Error {
        let code = error.as_database_error().and_then(sqlx::error::DatabaseError::code);
        if code.as_deref() == Some(NO_TEXT) {
            return Error::Invalid("a text holds a character that no text has".to_owned());
        }
        Error::Database(error)
    }
}
