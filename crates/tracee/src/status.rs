//! What the kernel tells about a process that is followed: what signals do to it, whose it is, whether
//! it is there.
//!
//! Everything here may fail because the process died a moment ago; then the answer is the poorer one.

use std::fs;
use std::io;

/// What a signal does to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It is handled, ignored, or nothing comes of it.
    GoesOn,
    /// The process stops until it is told to go on.
    Stops,
    /// The process dies.
    Dies,
}

/// What a signal that is about to be delivered does to a process.
#[must_use]
pub fn effect(pid: i32, signal: i32) -> Effect {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let holds = |key: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(key));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.unwrap_or(0) >> (signal - 1) & 1 == 1
    };
    if holds("SigCgt:") || holds("SigIgn:") {
        return Effect::GoesOn;
    }
    match signal {
        libc::SIGCHLD | libc::SIGURG | libc::SIGWINCH | libc::SIGCONT => Effect::GoesOn,
        libc::SIGSTOP | libc::SIGTSTP | libc::SIGTTIN | libc::SIGTTOU => Effect::Stops,
        _ => Effect::Dies,
    }
}

/// The process that a thread belongs to.
#[must_use]
pub fn process_of(thread: i32) -> Option<i32> {
    number(thread, "Tgid:")
}

/// The process that started another.
#[must_use]
pub fn parent_of(pid: i32) -> Option<i32> {
    number(pid, "PPid:")
}

/// A number in the status of a process.
fn number(pid: i32, key: &str) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix(key))?.trim().parse().ok()
}

/// Nothing if the process is gone, which the next wait tells.
///
/// # Errors
/// Those that say something else.
pub fn alive<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether an error says that there is no such process.
#[must_use]
pub fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ESRCH) || error.kind() == io::ErrorKind::NotFound
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_process() {
        let pid = std::process::id().cast_signed();
        assert_eq!(process_of(pid), Some(pid));
        assert!(parent_of(pid).is_some_and(|parent| parent != pid));
        assert_eq!(effect(pid, libc::SIGCHLD), Effect::GoesOn);
        assert_eq!(effect(pid, libc::SIGKILL), Effect::Dies);
    }

    #[test]
    fn a_process_that_is_gone_is_no_error() {
        assert!(matches!(alive(Ok(1)), Ok(Some(1))));
        let gone = io::Error::from_raw_os_error(libc::ESRCH);
        assert!(matches!(alive::<()>(Err(gone)), Ok(None)));
        assert!(alive::<()>(Err(io::Error::from_raw_os_error(libc::EPERM))).is_err());
    }
}
