//! What keeps a contained run from doing harm, and which of it this host has.
//!
//! A program that is run on made-up input may do anything that its user may. A contained run reads
//! what it could read before, and writes only below a folder that is thrown away. All guards that
//! the host has are always used; what it lacks is told, never passed over.
#![allow(unsafe_code)] // One system call without a safe interface.

use std::fmt;

use stunt_cage::landlock;

/// Whether a run may do what its user may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Containment {
    /// It may, as if the user had started it.
    #[default]
    Free,
    /// It writes only below a folder of its own that is thrown away, reaches no network, and leaves
    /// other processes alone.
    Contained,
}

/// One thing that a contained run is kept from, by one facility of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// Changing files outside of its folder (Landlock).
    Files,
    /// Sockets, signals to others, mounts, clocks (seccomp).
    Calls,
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Files => {
                "files outside of a throw-away folder cannot be changed (Landlock, Linux 6.2 or newer)"
            }
            Self::Calls => {
                "there is no network, and other processes and the system are left alone (seccomp)"
            }
        })
    }
}

/// All guards, and whether this host has them.
#[must_use]
pub fn containment() -> Vec<(Guard, bool)> {
    vec![(Guard::Files, landlock::version() >= landlock::COMPLETE), (Guard::Calls, has_filters())]
}

/// Whether the kernel filters system calls, and can ask whoever follows.
pub fn has_filters() -> bool {
    let action: u32 = libc::SECCOMP_RET_TRACE;
    let (operation, action) = (libc::SECCOMP_GET_ACTION_AVAIL, &raw const action);
    // SAFETY: the kernel reads one word, which lives as long as the call.
    unsafe { libc::syscall(libc::SYS_seccomp, operation, 0, action) == 0 }
}
