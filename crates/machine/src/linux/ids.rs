//! Numbers of processes and threads, in types of their own: what is one of them is not the other, and
//! neither is a descriptor or an address.

use std::fmt;

/// A process, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pid(pub u32);

/// A thread, by its number, which no other thread has, whatever process it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tid(pub u32);

/// A thread, with its process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId {
    /// The process.
    pub pid: Pid,
    /// The thread.
    pub tid: Tid,
}

impl Pid {
    /// The first thread of a process, which has the same number.
    #[must_use]
    pub const fn first_thread(self) -> Tid {
        Tid(self.0)
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Tid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
