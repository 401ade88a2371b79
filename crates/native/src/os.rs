//! The calls of Linux that have no safe interface, but for those that follow processes
//! (`stunt_tracee`).
//!
//! The `unsafe` code of the crate is here, in `start.rs`, and in the files of the guards, each call
//! with its proof. Functions here decide nothing.
#![allow(unsafe_code)] // `waitid`, `fcntl`, `poll`: each call names why it is sound.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd};
use std::time::Duration;

use libc::{c_int, pid_t};
use stunt_tracee::{self as tracee, Event};

/// Waits for the end of a child that is not followed, and kills what is left of its group.
pub fn wait_plainly(pid: pid_t) -> io::Result<Event> {
    loop {
        // SAFETY: the structure is integers and a union of them, for which zero is a value.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let (which, how) = (pid.cast_unsigned(), libc::WEXITED | libc::WNOWAIT);
        // SAFETY: the kernel writes exactly this structure, which is ours.
        if unsafe { libc::waitid(libc::P_PID, which, &raw mut info, how) } == 0 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // Nobody has waited for it to the end yet: the number is its own, and so is the group's.
    tracee::kill(-pid);
    match tracee::wait(Some(pid))? {
        Some((_, event)) => Ok(event),
        None => Err(io::Error::other("the process is gone")),
    }
}

/// Makes a child of ours that has not become another program the leader of a group.
pub fn own_group(pid: pid_t) -> io::Result<()> {
    // SAFETY: the call takes numbers only.
    let result = unsafe { libc::setpgid(pid, pid) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A file in memory with these bytes, to be read from the start.
pub fn file_of(bytes: &[u8]) -> io::Result<File> {
    const NAME: &CStr = c"input";
    // SAFETY: the name ends with a null and lives as long as the call.
    let fd = unsafe { libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let mut file = unsafe { File::from_raw_fd(fd) };
    file.write_all(bytes)?;
    io::Seek::rewind(&mut file)?;
    Ok(file)
}

/// From now on, reading never waits.
pub fn do_not_wait(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    set_flags(descriptor, libc::O_NONBLOCK)
}

/// Sets the flags of an open file that can be changed: whether it waits, appends and the like.
pub fn set_flags(descriptor: BorrowedFd<'_>, flags: c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open; the call takes numbers only.
    let result = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFL, flags) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Waits until one of the descriptors has something to read or is at its end; tells which. None of
/// them after the time.
pub fn readable(descriptors: &[BorrowedFd<'_>], time: Duration) -> io::Result<Vec<bool>> {
    let polled = |descriptor: &BorrowedFd<'_>| libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut polled: Vec<libc::pollfd> = descriptors.iter().map(polled).collect();
    // Rounded up, so that nobody waits for the last part of a millisecond in a circle.
    let time = c_int::try_from(time.as_micros().div_ceil(1000)).unwrap_or(c_int::MAX);
    // SAFETY: the list is ours, has this length, and lives as long as the call.
    let result = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, time) };
    if result < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted {
            Ok(vec![false; descriptors.len()])
        } else {
            Err(error)
        };
    }
    Ok(polled.iter().map(|polled| polled.revents != 0).collect())
}
