//! Backups of the database while it is in use, and figures for those who watch it.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::{Columns, Dialect, Error, Store};

impl Store {
    /// Writes a copy of the database as of one moment into a new file, while others write on.
    pub async fn backup(&self, file: &Path) -> Result<(), Error> {
        if self.inner.dialect == Dialect::Postgres {
            let what = "PostgreSQL is backed up with pg_dump, which copies as of one moment, too";
            return Err(Error::Invalid(what.to_owned()));
        }
        let Some(name) = file.to_str() else {
            return Err(Error::Invalid("the name of the file is not UTF-8".to_owned()));
        };
        let failed = |error| Error::File { path: file.to_owned(), error };
        // What only the server may read, only its copy's owner may.
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(Error::Conflict(format!("{} is there already", file.display())));
            }
            made => drop(made.map_err(failed)?),
        }
        let copied = self.copy_into(name).await;
        if copied.is_err() {
            // The error that led here is the one to tell.
            let _ = std::fs::remove_file(file);
        }
        copied?;
        let copy = tokio::fs::File::open(file).await.map_err(failed)?;
        copy.sync_all().await.map_err(failed)
    }

    async fn copy_into(&self, name: &str) -> Result<(), Error> {
        let mut connection = self.reading().acquire().await?;
        sqlx::query("VACUUM INTO $1").bind(name).execute(&mut *connection).await?;
        Ok(())
    }

    /// How many replays wait for a worker.
    pub async fn replays_waiting(&self) -> Result<i64, Error> {
        let sql = "SELECT COUNT(*) AS n FROM replays WHERE state = 'waiting'";
        sqlx::query(sql).fetch_one(self.reading()).await?.number("n")
    }

    /// Connections to the database: all, and those that nobody uses.
    #[must_use]
    pub fn connections(&self) -> (u32, usize) {
        (self.inner.pool.size(), self.inner.pool.num_idle())
    }
}
