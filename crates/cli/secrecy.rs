//! stunt's own memory holds originals: nobody else may look into it, and no core file shows it.
//!
//! Always: this is set before an input is read. Programs that stunt starts are themselves again after
//! `execve`, as they must be to be followed; their limit on core files is set where they are started.
#![allow(unsafe_code)] // Limits and `prctl` have no safe interface; each call has its proof.

/// One byte, not none: a host that pipes core files to a program does so even where none may be
/// written, but not for this value.
const CORE: libc::rlimit = libc::rlimit { rlim_cur: 1, rlim_max: 1 };

/// From now on, no core file of this process is written, and no process of the user can attach to it.
/// A system that refuses is not one that could be helped.
pub fn close_memory() {
    // SAFETY: the call reads a structure that outlives it.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &CORE) };
    // SAFETY: the call takes numbers, as wide as the kernel reads them.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0 as libc::c_ulong, 0, 0, 0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_stays_closed() {
        close_memory();
        // SAFETY: the call takes a number and gives one.
        assert_eq!(unsafe { libc::prctl(libc::PR_GET_DUMPABLE) }, 0);
    }
}
