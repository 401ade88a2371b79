//! The server's commands for a program without an asynchronous world: serve, and upkeep.
//!
//! Always: SIGTERM and SIGINT stop a server in order.

use std::path::Path;

use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};

use crate::clock::Clock;
use crate::error::Error;
use crate::serve::{Config, StartError, start};
use crate::store::{Place, Role, Store};

fn runtime() -> Result<Runtime, StartError> {
    let built = Builder::new_multi_thread().enable_all().build();
    built.map_err(|error| StartError::Io { what: "cannot start threads".to_owned(), error })
}

/// Serves until a signal says to stop. `ready` is told the address once it listens.
pub fn serve(config: Config, ready: impl FnOnce(std::net::SocketAddr)) -> Result<(), StartError> {
    runtime()?.block_on(async {
        let io = |error| StartError::Io { what: "cannot wait for signals".to_owned(), error };
        let mut terminate = signal(SignalKind::terminate()).map_err(io)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(io)?;
        let running = start(config).await?;
        ready(running.address);
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        running.stop().await;
        Ok(())
    })
}

/// Opens the store, does something with it, and closes it.
fn with<T>(
    place: &Place,
    work: impl AsyncFnOnce(&Store) -> Result<T, Error>,
) -> Result<T, StartError> {
    runtime()?.block_on(async {
        let store = Store::open(place, Clock::Host).await?;
        let result = work(&store).await;
        store.close().await;
        Ok(result?)
    })
}

/// Adds an admin; without a password one is drawn. Gives the password back.
pub fn add_admin(
    place: &Place,
    name: &str,
    password: Option<String>,
) -> Result<String, StartError> {
    let password = password.unwrap_or_else(|| crate::store::random_name()[..24].to_owned());
    with(place, async |store| {
        store.add_user("command line", name, &password, Role::Admin).await?;
        Ok(())
    })?;
    Ok(password)
}

/// Sets a user's password; without one it is drawn. Gives the password back.
pub fn reset_password(
    place: &Place,
    name: &str,
    password: Option<String>,
) -> Result<String, StartError> {
    let password = password.unwrap_or_else(|| crate::store::random_name()[..24].to_owned());
    with(place, async |store| store.set_password("command line", name, &password).await)?;
    Ok(password)
}

/// Makes a token, and gives its secret.
pub fn add_token(place: &Place, name: &str, role: Role) -> Result<String, StartError> {
    with(place, async |store| Ok(store.add_token("command line", name, role).await?.1))
}

/// Copies the database as of one moment into a new file. Both keep the tables that they have: a
/// backup before an update is one of the version before.
pub fn backup(place: &Place, file: &Path) -> Result<(), StartError> {
    runtime()?.block_on(async {
        let store = Store::open_as_it_is(place).await?;
        let result = store.backup(file).await;
        store.close().await;
        Ok(result?)
    })
}

/// Takes the tables back to an older version.
pub fn migrate_down(place: &Place, version: i64) -> Result<(), StartError> {
    runtime()?.block_on(Store::migrate_down(place, version)).map_err(StartError::Store)
}
