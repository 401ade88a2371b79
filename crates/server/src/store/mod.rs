//! The store: everything the server remembers, in SQLite or in PostgreSQL.
//!
//! One set of queries serves both databases; the few differences are here. Always: a function that
//! changes something returns after its transaction is committed, and on disk. Nobody else writes
//! SQL. The store knows no HTTP, no pages and no sealed parcels.

mod builds;
mod links;
mod list;
mod migrations;
mod noise;
mod people;
mod replays;
mod retention;
mod settings;
mod submit;
mod tickets;
mod upkeep;
mod work;

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sqlx::any::{AnyPoolOptions, AnyRow};
use sqlx::{Any, AnyConnection, AnyPool, Connection, Executor, Row, Transaction};
use tokio::sync::{Mutex, MutexGuard};

use crate::clock::{Clock, Moment};
use crate::error::Error;

pub use builds::{Build, NewBuild};
pub use links::{Link, LinkState};
pub use noise::Noise;
pub(crate) use people::secret as random_name;
pub use people::{Role, Session, Token, User};
pub use replays::{Figure, Job, Outcome, Replay, ReplayFrame, ReplayResult, ReplayState};
pub use retention::{Retention, Swept};
pub use settings::{AuditEntry, Settings, TrackerSettings};
pub use submit::{Counted, KnownDouble, Submission, Submitted};
pub use tickets::{
    ByBuild, Cursor, Day, Double, Filter, Note, Page, Sort, State, StateFilter, Ticket, TicketId,
    TicketRow, Totals,
};

/// Which database, and where.
#[derive(Clone, Debug)]
pub enum Place {
    /// A file of its own, with builds beside it; one server.
    Sqlite(PathBuf),
    /// A database that replicas share: `postgres://…`.
    Postgres(String),
}

impl Place {
    /// Whether there is something there already, as far as that can be seen from outside.
    #[must_use]
    pub fn is_there(&self) -> bool {
        match self {
            Place::Sqlite(file) => file.is_file(),
            Place::Postgres(_) => true,
        }
    }
}

/// The databases that the store speaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Dialect {
    Sqlite,
    Postgres,
}

/// Everything the server remembers. Clones share one pool of connections.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    pool: AnyPool,
    dialect: Dialect,
    /// SQLite has one writer at a time: waiting here is fair, waiting in SQLite is not.
    writer: Mutex<()>,
    clock: Clock,
    /// The folder of builds, where they are files.
    builds: Option<PathBuf>,
    submissions: submit::Queue,
    totals: Mutex<Option<(Moment, Totals)>>,
}

/// A transaction that writes.
struct Writing<'a> {
    transaction: Transaction<'static, Any>,
    _turn: Option<MutexGuard<'a, ()>>,
}

impl Writing<'_> {
    fn on(&mut self) -> &mut AnyConnection {
        &mut self.transaction
    }

    async fn commit(self) -> Result<(), Error> {
        Ok(self.transaction.commit().await?)
    }
}

impl Store {
    /// Opens the database, creates it where it is a file, and brings its tables to this version.
    pub async fn open(place: &Place, clock: Clock) -> Result<Store, Error> {
        let store = Store::connect(place, clock).await?;
        store.migrator().run(&store.inner.pool).await?;
        Ok(store)
    }

    /// Opens the database with the tables that it has, of whichever version they are: for whoever
    /// copies it.
    pub async fn open_as_it_is(place: &Place) -> Result<Store, Error> {
        Store::connect(place, Clock::Host).await
    }

    /// Takes the tables back to an older version; 0 removes them all, with everything in them.
    pub async fn migrate_down(place: &Place, version: i64) -> Result<(), Error> {
        let store = Store::connect(place, Clock::Host).await?;
        store.migrator().undo(&store.inner.pool, version).await?;
        store.close().await;
        Ok(())
    }

    async fn connect(place: &Place, clock: Clock) -> Result<Store, Error> {
        sqlx::any::install_default_drivers();
        let options =
            AnyPoolOptions::new().max_connections(16).acquire_timeout(Duration::from_secs(30));
        let (pool, dialect, builds) = match place {
            Place::Sqlite(file) => {
                let options = options.after_connect(|connection, _| {
                    Box::pin(async move {
                        // FULL: what is committed survives the loss of power.
                        connection
                            .execute(
                                "PRAGMA busy_timeout = 20000; PRAGMA journal_mode = WAL; \
                                 PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
                                 PRAGMA cache_size = -8000; PRAGMA temp_store = MEMORY;",
                            )
                            .await?;
                        Ok(())
                    })
                });
                // SQLite gives the files beside it the rights of this one.
                let made = OpenOptions::new().create(true).append(true).mode(0o600).open(file);
                made.map_err(|error| Error::File { path: file.clone(), error })?;
                let url = format!("sqlite://{}?mode=rw", escaped(file));
                let folder = file.parent().unwrap_or(Path::new(".")).join("builds");
                (options.connect(&url).await?, Dialect::Sqlite, Some(folder))
            }
            Place::Postgres(url) => match options.connect(url).await {
                // The pool has tried for a while, and does not say what was wrong.
                Err(sqlx::Error::PoolTimedOut) => {
                    AnyConnection::connect(url).await?.close().await?;
                    return Err(sqlx::Error::PoolTimedOut.into());
                }
                pool => (pool?, Dialect::Postgres, None),
            },
        };
        let (submissions, waiting) = submit::queue();
        let inner = Arc::new(Inner {
            pool,
            dialect,
            writer: Mutex::new(()),
            clock,
            builds,
            submissions,
            totals: Mutex::new(None),
        });
        let store = Store { inner };
        submit::start(&store, waiting);
        Ok(store)
    }

    fn migrator(&self) -> sqlx::migrate::Migrator {
        migrations::of(self.inner.dialect)
    }

    /// What time it is, for everything that the store dates.
    #[must_use]
    pub fn now(&self) -> Moment {
        self.inner.clock.now()
    }

    /// Whether the database answers.
    pub async fn is_well(&self) -> bool {
        sqlx::query("SELECT 1").execute(&self.inner.pool).await.is_ok()
    }

    /// Ends all connections, after what is under way.
    pub async fn close(&self) {
        self.inner.pool.close().await;
    }

    fn reading(&self) -> &AnyPool {
        &self.inner.pool
    }

    async fn writing(&self) -> Result<Writing<'_>, Error> {
        Ok(match self.inner.dialect {
            Dialect::Sqlite => {
                let turn = self.inner.writer.lock().await;
                // A transaction that reads before it writes could find another writer in between.
                let transaction = self.inner.pool.begin_with("BEGIN IMMEDIATE").await?;
                Writing { transaction, _turn: Some(turn) }
            }
            Dialect::Postgres => {
                Writing { transaction: self.inner.pool.begin().await?, _turn: None }
            }
        })
    }
}

/// A path as a part of a URL.
fn escaped(path: &Path) -> String {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;
    let mut text = String::new();
    for &byte in path.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// Columns of a row, by name, in the types that the store uses.
trait Columns {
    fn text(&self, name: &str) -> Result<String, Error>;
    fn maybe_text(&self, name: &str) -> Result<Option<String>, Error>;
    fn number(&self, name: &str) -> Result<i64, Error>;
    fn maybe_number(&self, name: &str) -> Result<Option<i64>, Error>;
    fn figure(&self, name: &str) -> Result<f64, Error>;
    fn maybe_figure(&self, name: &str) -> Result<Option<f64>, Error>;
    fn moment(&self, name: &str) -> Result<Moment, Error> {
        self.number(name).map(Moment)
    }
    fn maybe_moment(&self, name: &str) -> Result<Option<Moment>, Error> {
        Ok(self.maybe_number(name)?.map(Moment))
    }
}

impl Columns for AnyRow {
    fn text(&self, name: &str) -> Result<String, Error> {
        Ok(self.try_get(name)?)
    }
    fn maybe_text(&self, name: &str) -> Result<Option<String>, Error> {
        Ok(self.try_get(name)?)
    }
    fn number(&self, name: &str) -> Result<i64, Error> {
        Ok(self.try_get(name)?)
    }
    fn maybe_number(&self, name: &str) -> Result<Option<i64>, Error> {
        Ok(self.try_get(name)?)
    }
    fn figure(&self, name: &str) -> Result<f64, Error> {
        Ok(self.try_get(name)?)
    }
    fn maybe_figure(&self, name: &str) -> Result<Option<f64>, Error> {
        Ok(self.try_get(name)?)
    }
}
