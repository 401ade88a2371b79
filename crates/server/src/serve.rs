//! A server that listens: from its settings to its end.
//!
//! Always: it ends in order. When it is told to stop, it takes no new connection, answers what it
//! has begun, lets its tasks finish or gives up their jobs, and closes the database.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use stunt_parcel::Identity;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::app::{App, Parts, Sizes};
use crate::clock::Clock;
use crate::error::Error;
use crate::limits::Rate;
use crate::listen::{Connections, listen};
use crate::store::{Place, Store};
use crate::work::{self, Worker};

/// How long requests may take to end when the server stops.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often what is old is swept.
const SWEEP: Duration = Duration::from_secs(3600);

/// What a server needs to know.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where it listens; port 0 is any free one.
    pub listen: SocketAddr,
    /// Its own folder: the database if it is SQLite, builds, the key, scratch.
    pub data: PathBuf,
    /// A database that replicas share; without it, SQLite in the folder.
    pub database: Option<String>,
    /// The file with the secret key; without it, `identity` in the folder, made where it is absent.
    pub identity: Option<PathBuf>,
    /// Where people reach it; without it, the address it listens on.
    pub url: Option<String>,
    /// Proxies that say whose request it is.
    pub proxies: Vec<IpAddr>,
    /// Sizes.
    pub sizes: Sizes,
    /// How much a reporter's address may ask.
    pub rate: Rate,
    /// How many connections there may be, and how slow.
    pub connections: Connections,
    /// Whether anybody may read the metrics.
    pub open_metrics: bool,
    /// How replays are done; without it, by another replica.
    pub worker: Option<Worker>,
    /// How often trackers are asked for the state of an issue.
    pub poll_trackers: Duration,
    /// What time it is.
    pub clock: Clock,
}

impl Config {
    /// A server in a folder of its own, with everything else as it is by default.
    #[must_use]
    pub fn new(listen: SocketAddr, data: impl Into<PathBuf>) -> Config {
        Config {
            listen,
            data: data.into(),
            database: None,
            identity: None,
            url: None,
            proxies: Vec::new(),
            sizes: Sizes::default(),
            rate: Rate { per_minute: 240, burst: 60 },
            connections: Connections::default(),
            open_metrics: false,
            worker: None,
            poll_trackers: Duration::from_secs(600),
            clock: Clock::Host,
        }
    }

    /// The database.
    #[must_use]
    pub fn place(&self) -> Place {
        match &self.database {
            Some(url) => Place::Postgres(url.clone()),
            None => Place::Sqlite(self.data.join("stunt.db")),
        }
    }
}

/// Why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The store.
    #[error(transparent)]
    Store(#[from] Error),
    /// A file or the address.
    #[error("{what}: {error}")]
    Io {
        /// Which.
        what: String,
        /// Why.
        error: std::io::Error,
    },
    /// The file with the key holds none.
    #[error("{}: {why}", path.display())]
    Key {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// A server that listens.
pub struct Running {
    /// Where.
    pub address: SocketAddr,
    /// The server.
    pub app: App,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

/// Creates the folder with rights for its owner alone.
pub fn make_folder(path: &Path) -> Result<(), StartError> {
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| StartError::Io { what: path.display().to_string(), error })
}

/// The key in a file; a new one where there is none and one may be made.
pub fn identity(path: &Path, make: bool) -> Result<Identity, StartError> {
    use std::io::Write;
    use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
    let failed = |error| StartError::Io { what: path.display().to_string(), error };
    let wrong = |why: &str| StartError::Key { path: path.to_owned(), why: why.to_owned() };
    match std::fs::read_to_string(path) {
        Ok(text) => {
            let mode = std::fs::metadata(path).map_err(failed)?.permissions().mode();
            if mode & 0o077 != 0 {
                return Err(wrong("others may read this key; do `chmod 600` first"));
            }
            let line = text.lines().find(|line| line.starts_with("AGE-SECRET-KEY-"));
            let line = line.ok_or_else(|| wrong("there is no key of age in this file"))?;
            line.trim().parse().map_err(|_| wrong("the key in this file is damaged"))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && make => {
            let identity = Identity::generate();
            let mut options = std::fs::OpenOptions::new();
            // Two servers that start at once do not both make one.
            let file = options.write(true).create_new(true).mode(0o600).open(path);
            let mut file = file.map_err(failed)?;
            writeln!(file, "# public key: {}\n{}", identity.recipient(), identity.expose())
                .map_err(failed)?;
            file.sync_all().map_err(failed)?;
            Ok(identity)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Starts a server.
pub async fn start(config: Config) -> Result<Running, StartError> {
    make_folder(&config.data)?;
    let key = config.identity.clone().unwrap_or_else(|| config.data.join("identity"));
    let identity = identity(&key, config.identity.is_none())?;
    let store = Store::open(&config.place(), config.clock.clone()).await?;
    let listening = TcpListener::bind(config.listen).await;
    let io = |error| StartError::Io { what: config.listen.to_string(), error };
    let listener = listening.map_err(io)?;
    let address = listener.local_addr().map_err(io)?;
    let app = App::new(Parts {
        store: store.clone(),
        identity,
        url: config.url.clone().unwrap_or_else(|| format!("http://{address}")),
        sizes: config.sizes,
        proxies: config.proxies.clone(),
        rate: config.rate,
        of_one_address: config.connections.of_one_address,
        open_metrics: config.open_metrics,
    });
    let (stop, stopped) = watch::channel(false);
    let mut tasks = Vec::new();
    let (connections, proxies) = (config.connections, config.proxies.clone());
    let listening = listen(listener, app.router(), connections, proxies, stopped.clone());
    tasks.push(tokio::spawn(listening));
    tasks.push(tokio::spawn(sweep(store.clone(), stopped.clone())));
    tasks.push(tokio::spawn(work::issues(app.clone(), config.poll_trackers, stopped.clone())));
    if let Some(worker) = config.worker.clone() {
        let scratch = config.data.join("scratch");
        make_folder(&scratch)?;
        tasks.push(tokio::spawn(work::replays(app.clone(), worker, scratch, stopped)));
    }
    tracing::info!(%address, "listening");
    Ok(Running { address, app, stop, tasks })
}

impl Running {
    /// Stops in order; whatever does not end in time is broken off.
    pub async fn stop(self) {
        tracing::info!("stopping");
        let _ = self.stop.send(true);
        for mut task in self.tasks {
            if tokio::time::timeout(PATIENCE, &mut task).await.is_err() {
                task.abort();
            }
        }
        self.app.store().close().await;
        tracing::info!("stopped");
    }
}

async fn sweep(store: Store, mut stopped: watch::Receiver<bool>) {
    loop {
        match store.sweep().await {
            Ok(swept) => tracing::info!(?swept, "swept"),
            Err(error) => tracing::error!(%error, "sweeping"),
        }
        tokio::select! {
            _ = stopped.wait_for(|stop| *stop) => return,
            () = tokio::time::sleep(SWEEP) => {}
        }
    }
}
