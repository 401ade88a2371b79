//! System calls about files: they bring arguments from the program's memory to [`Files`] and
//! answers back.
//!
//! ```text
//! open   transfer   copies   descriptors   names   attributes   directories
//! waiting   events   sockets   messages ──► sending, receiving      each knows some of the calls
//! interfaces    what `ioctl` tells about the network
//! user, limit   paths, lists of buffers, blocking: what they share
//! ```
//!
//! Always: what a program says about sizes is not believed. At most [`user::CHUNK`] bytes are
//! held at a time, and what cannot be read or written is an `EFAULT`, or a short count if some of
//! it could. Nothing here knows how files work.
//!
//! [`Files`]: super::fs::Files

mod attributes;
mod copies;
mod descriptors;
mod directories;
mod events;
mod interfaces;
mod limit;
mod messages;
mod names;
mod open;
mod receiving;
mod sending;
mod sockets;
mod transfer;
mod user;
mod waiting;

use super::{
    call::{Call, Flow},
    errno::Errno,
};

/// What a call answers as long as it cannot block.
type Answer = Result<u64, Errno>;

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let families: [fn(&mut Call<'_>) -> Option<Flow>; 11] = [
        transfer::dispatch,
        open::dispatch,
        descriptors::dispatch,
        attributes::dispatch,
        directories::dispatch,
        names::dispatch,
        waiting::dispatch,
        sockets::dispatch,
        messages::dispatch,
        events::dispatch,
        copies::dispatch,
    ];
    families.iter().find_map(|family| family(call))
}
