//! The calls of Linux that have no safe interface: about descriptors of other processes, and our own
//! memory. Those that follow processes are in `stunt_tracee`.
//!
//! Most `unsafe` code of the crate is here, each call with its proof; the rest is in `start.rs` and
//! `signals.rs`. Functions here decide nothing.
#![allow(unsafe_code)] // `prctl`, `pidfd_getfd`, `getsockopt`: each call names why it is sound.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use libc::{c_int, pid_t};
use stunt_tracee::handle;

/// No core file of this process from now on, and nobody attaches to it: it holds what the program reads.
/// Children that become a program are open again; so this comes after the child was seized.
pub fn close_memory() {
    // SAFETY: the call takes numbers, as wide as the kernel reads them. A refusal cannot be helped.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0 as libc::c_ulong, 0, 0, 0) };
}

/// A descriptor of another process, as our own.
pub fn borrow_descriptor(pid: pid_t, descriptor: c_int) -> io::Result<OwnedFd> {
    let process = handle(pid)?;
    // SAFETY: the descriptor is open; the call takes numbers only.
    let copy = unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), descriptor, 0) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(copy as c_int) })
}

/// A number that a socket has as an option.
fn option(socket: BorrowedFd<'_>, which: c_int) -> Option<c_int> {
    let (mut value, mut size) = (0, size_of::<c_int>() as libc::socklen_t);
    let place: *mut c_int = &raw mut value;
    // SAFETY: the kernel writes at most `size` bytes, which are ours.
    let result = unsafe {
        let socket = socket.as_raw_fd();
        libc::getsockopt(socket, libc::SOL_SOCKET, which, place.cast(), &raw mut size)
    };
    (result == 0).then_some(value)
}

/// The family and the type of a socket: `AF_INET`, `SOCK_STREAM`.
pub fn socket_kind(socket: BorrowedFd<'_>) -> Option<(c_int, c_int)> {
    Some((option(socket, libc::SO_DOMAIN)?, option(socket, libc::SO_TYPE)?))
}

/// The address that a socket has, as the kernel writes it.
pub fn local_address(socket: BorrowedFd<'_>) -> Option<Vec<u8>> {
    let mut bytes = [0; 128];
    let mut size = bytes.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `size` bytes, which are ours.
    let result =
        unsafe { libc::getsockname(socket.as_raw_fd(), bytes.as_mut_ptr().cast(), &raw mut size) };
    (result == 0).then(|| bytes[..bytes.len().min(size as usize)].to_vec())
}
