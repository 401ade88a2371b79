//! Names of things inside the kernel, and how a call that cannot finish says so.
//!
//! Numbers are handed out in ascending order and never used twice, so that a name in a snapshot
//! means the same thing in every run that continues it.

use super::procfs::ProcNode;
use crate::linux::errno::Errno;

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(pub(super) u64);

            impl $name {
                /// The number behind the name.
                pub const fn number(self) -> u64 {
                    self.0
                }
            }
        )*
    };
}

names! {
    /// A file, directory, link or device of the tree.
    InodeId;
    /// An open file description: what `open` makes and `dup` shares.
    FileId;
    /// A pipe or a named pipe with at least one open end.
    PipeId;
    /// A socket.
    SocketId;
    /// An eventfd, a timerfd or an epoll instance.
    EventId;
}

/// A place in the tree of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// A file of the overlay, or a host file that has been looked at.
    Inode(InodeId),
    /// Something under `/proc` that depends on a process.
    Proc(ProcNode),
    /// What an open file stands for, reached through `/proc/self/fd`.
    Open(FileId),
}

/// Where bytes live, so that a caller can keep facts about single bytes beside them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SourceId {
    /// The content of a file.
    Inode(InodeId),
    /// The stream through a pipe; offsets count from the first byte ever written.
    Pipe(PipeId),
    /// The stream or the datagrams that a socket receives; offsets count from the first byte.
    Socket(SocketId),
}

/// The place of the first byte of a transfer; the others follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// What holds the byte.
    pub source: SourceId,
    /// How far into it.
    pub offset: u64,
}

/// What a read or a write moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// How many bytes.
    pub count: usize,
    /// Where they came from or went to; none for devices and made-up files.
    pub place: Option<Place>,
}

impl Moved {
    /// Bytes without a place.
    pub const fn bytes(count: usize) -> Moved {
        Moved { count, place: None }
    }
}

/// A wait for a file to become ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The file.
    pub file: FileId,
    /// Any of these `POLL` bits ends the wait; the call is then made again.
    pub events: u32,
    /// How many bytes the call has moved already: it goes on behind them.
    pub done: usize,
}

/// Why a call did not finish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// It failed.
    Error(Errno),
    /// It would sleep.
    Wait(Wait),
    /// Nobody will ever read: `EPIPE`, and a `SIGPIPE` for the caller.
    BrokenPipe,
}

impl From<Errno> for Halt {
    fn from(errno: Errno) -> Halt {
        Halt::Error(errno)
    }
}

impl Halt {
    /// The error number, where the caller must not sleep.
    pub const fn errno(self) -> Errno {
        match self {
            Halt::Error(errno) => errno,
            Halt::Wait(_) => Errno::EAGAIN,
            Halt::BrokenPipe => Errno::EPIPE,
        }
    }
}
