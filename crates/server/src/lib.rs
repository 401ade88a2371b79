//! The server: failures as tickets, each with a double, and who may see them.
//!
//! ```text
//! api, pages ──► store (SQLite or PostgreSQL)
//!    │             ▲
//!    └─► parcel    └── work: replays, issues, sweeping
//! ```
//!
//! Always: what is acknowledged is on disk; a report is opened, checked and only then kept; nothing
//! that a stranger sent is ever logged. Who may do what is decided in one place, `auth`.
//!
//! This crate must not know how doubles are made, how programs are run (a worker process does
//! that), and no original input: it never has one.

pub mod api;
mod app;
pub mod auth;
mod clock;
pub mod command;
mod error;
pub mod grouping;
mod limits;
mod listen;
mod metrics;
mod pace;
mod pages;
mod places;
mod room;
mod serve;
mod stall;
pub mod store;
mod work;

pub use api::build_id;
pub use app::{App, Parts, Sizes};
pub use clock::{Clock, Moment};
pub use error::Error;
pub use limits::Rate;
pub use listen::Connections;
pub use serve::{Config, Running, StartError, identity, make_folder, start};
pub use store::Store;
pub use work::Worker;
