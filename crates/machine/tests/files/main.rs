//! Files of the machine against files of the host: the same calls must give the same answers.

#![allow(unsafe_code)]

mod closed;
mod common;
mod native;
mod netlink;
mod random_pipes;
mod random_tree;
mod sockets;
mod streams;
