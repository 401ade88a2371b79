//! The interface as the older calls tell about it: `ioctl` with a `struct ifreq`.
//!
//! Every socket may ask. Only those of the Internet, version 4, know its addresses.

use super::{loopback, numbers::ARPHRD_LOOPBACK};
use crate::linux::abi::*;
use crate::linux::errno::Errno;

/// Bytes of `struct ifreq`: the name, and what is asked for behind it.
pub const REQUEST: usize = 40;
const NAME: usize = 16;

/// Whether an `ioctl` is about an interface by name or number.
pub fn concerns(command: u32) -> bool {
    matches!(
        command,
        SIOCGIFNAME
            | SIOCGIFFLAGS..=SIOCSIFMETRIC
            | SIOCGIFMTU..=SIOCSIFHWADDR
            | SIOCGIFHWADDR
            | SIOCGIFINDEX
            | SIOCGIFTXQLEN
            | SIOCSIFTXQLEN
    )
}

/// Answers an `ioctl` on a socket of a family: fills in what was asked for.
pub fn answer(family: u32, command: u32, request: &mut [u8; REQUEST]) -> Result<(), Errno> {
    let (name, value) = request.split_at_mut(NAME);
    if command == SIOCGIFNAME {
        let index = value.first_chunk().copied().map_or(0, u32::from_le_bytes);
        if index != loopback::INDEX {
            return Err(Errno::ENODEV);
        }
        name.fill(0);
        name[..loopback::NAME.len()].copy_from_slice(loopback::NAME);
        return Ok(());
    }
    let of_addresses = matches!(command, SIOCGIFADDR..=SIOCSIFNETMASK);
    if of_addresses && family != AF_INET {
        return Err(Errno::ENOTTY);
    }
    let found = match command {
        SIOCGIFFLAGS => loopback::SHORT_FLAGS.to_le_bytes().to_vec(),
        SIOCGIFADDR | SIOCGIFDSTADDR => internet(loopback::FOUR.0),
        SIOCGIFBRDADDR => internet([0; 4]),
        SIOCGIFNETMASK => internet(loopback::MASK),
        SIOCGIFMETRIC => vec![0; 4],
        SIOCGIFMTU => loopback::MTU.to_le_bytes().to_vec(),
        SIOCGIFHWADDR => [&ARPHRD_LOOPBACK.to_le_bytes()[..], &[0; 14]].concat(),
        SIOCGIFINDEX => loopback::INDEX.to_le_bytes().to_vec(),
        SIOCGIFTXQLEN => loopback::QUEUE.to_le_bytes().to_vec(),
        SIOCSIFFLAGS | SIOCSIFADDR | SIOCSIFDSTADDR | SIOCSIFBRDADDR | SIOCSIFNETMASK
        | SIOCSIFMETRIC | SIOCSIFMTU | SIOCSIFNAME | SIOCSIFHWADDR | SIOCSIFTXQLEN => {
            return Err(Errno::EPERM);
        }
        _ => return Err(Errno::ENOTTY),
    };
    if !loopback::is_named(name) {
        return Err(Errno::ENODEV);
    }
    value[..found.len()].copy_from_slice(&found);
    Ok(())
}

/// A `struct sockaddr_in` without a port.
fn internet(host: [u8; 4]) -> Vec<u8> {
    let mut out = (AF_INET as u16).to_le_bytes().to_vec();
    out.extend_from_slice(&[0; 2]);
    out.extend_from_slice(&host);
    out.resize(16, 0);
    out
}

/// The interfaces with their addresses, a `struct ifreq` each (`SIOCGIFCONF`).
pub fn listed() -> [u8; REQUEST] {
    let mut out = [0; REQUEST];
    out[..loopback::NAME.len()].copy_from_slice(loopback::NAME);
    out[NAME..NAME + 16].copy_from_slice(&internet(loopback::FOUR.0));
    out
}
