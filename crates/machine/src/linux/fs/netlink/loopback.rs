//! The one network interface of the machine, as everybody who tells about it sees it.

use crate::linux::abi::{AF_INET, AF_INET6};

/// Its number.
pub const INDEX: u32 = 1;
/// Its name.
pub const NAME: &[u8] = b"lo";
/// `IFF_UP`, `IFF_LOOPBACK`, `IFF_RUNNING`: what fits into the flags of an `ioctl`.
pub const SHORT_FLAGS: u16 = 0x49;
/// The same with `IFF_LOWER_UP`.
pub const FLAGS: u32 = 0x1_0000 | SHORT_FLAGS as u32;
/// The largest packet.
pub const MTU: u32 = 65_536;
/// How many packets would wait to be sent at most.
pub const QUEUE: u32 = 1000;
/// Its address on the Internet, version 4, and how many bits of it are the network's.
pub const FOUR: ([u8; 4], u8) = ([127, 0, 0, 1], 8);
/// The mask of that network.
pub const MASK: [u8; 4] = [255, 0, 0, 0];
/// Its address on the Internet, version 6.
pub const SIX: ([u8; 16], u8) = ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], 128);

/// Whether a name in a C string's room is the interface's.
pub fn is_named(name: &[u8]) -> bool {
    let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
    &name[..end] == NAME
}

/// The families that it has addresses of, which a question about `family` is about.
pub fn families(family: u8) -> &'static [u8] {
    const FOUR: u8 = AF_INET as u8;
    const SIX: u8 = AF_INET6 as u8;
    match family {
        FOUR => &[FOUR],
        SIX => &[SIX],
        // Whoever asks about what is not there is told about everything.
        _ => &[FOUR, SIX],
    }
}
