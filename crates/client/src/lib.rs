//! The client: configuration, and the way of a report to a server, with the user's consent.
//!
//! What a report's owner agreed to is sealed for one public key, and put under its digest, so that
//! a second attempt changes nothing. Before that, the server can be asked whether it knows the
//! failure already; then nothing of the input has to leave at all. What cannot be sent waits in a
//! queue, sealed.
//!
//! Always: every byte that leaves is in a [`Request`], which can be shown before it is sent; it
//! holds no host name, user name, path or environment of the sender. Nothing follows a redirect.
//!
//! This crate must not know terminals, programs, originals, and what a report means: it is given
//! bytes that somebody has agreed to send.

mod address;
mod agent;
pub mod config;
mod failure;
mod folder;
pub mod keep;
pub mod queue;
mod request;
mod server;

pub use address::{Address, AddressError, TicketAddress};
pub use agent::{Agent, Network, Reply};
pub use failure::{Failure, TlsTrouble};
pub use folder::state;
pub use request::{Method, Request, USER_AGENT};
pub use server::{Patience, Server};
