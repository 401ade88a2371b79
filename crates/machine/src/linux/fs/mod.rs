//! Files: the host tree read-only, and an overlay in memory for everything written.
//!
//! ```text
//! descriptor ──► description ──► inode ──► content ──► host
//!   per process    shared by dup    tree.rs    pages     read only, within Allow
//!                  and fork     └─► pipe, socket, event, epoll
//! ```
//!
//! [`Files`] is the state of the whole kernel's files, with no knowledge of guest memory and
//! registers: calls take and give byte slices and numbers, and fail with an
//! [`Errno`](crate::linux::errno::Errno) or say what they would wait for ([`Halt`]). What always
//! holds:
//!
//! - Nothing is written to the host, and nothing outside [`Allow`] is read. What is not allowed does
//!   not exist for the program. The host's `/proc`, `/sys` and `/dev` are never looked at.
//! - The same calls give the same answers: no clock, no randomness, no order of the host shows,
//!   except what the host's files say of themselves.
//! - A clone is a snapshot and costs a few pointers; what is changed later is copied then.
//! - What bytes stand for goes with them (`marks`): who writes says it, who reads is told.
//!
//! Not here, on purpose: `signalfd` (`EINVAL`) and `inotify` (`ENOSYS`), netlink other than to ask
//! about the network (`EPROTONOSUPPORT`), extended attributes (none exist), quotas, mounts.

mod attributes;
mod change;
mod content;
mod control;
mod description;
mod descriptor;
mod devices;
mod dirents;
mod epoll;
mod event;
mod host;
mod ids;
mod inode;
mod io;
mod mapped;
mod marks;
mod netlink;
mod open;
mod path;
mod pipe;
mod procfs;
mod setup;
mod socket;
mod stat;
mod transfer;
mod tree;

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::OrdMap;
use stunt_path::Connection;

use crate::linux::{Pid, Tid};

pub use attributes::{SetTime, Times};
pub use content::{Content, Page};
pub use control::{Lock, LockKind};
pub use description::{Description, Object};
pub use descriptor::{Descriptor, Descriptors};
pub use devices::{Device, Noise};
pub use epoll::EpollEvent;
pub use event::{TimerSetting, TimerStart};
pub use host::Allow;
pub use ids::{
    EventId, FileId, Halt, InodeId, Moved, Node, PipeId, Place, SocketId, SourceId, Wait,
};
pub(in crate::linux) use netlink::{NETLINK_PKTINFO, SOL_NETLINK, interface};
pub use open::Opened;
pub use path::Found;
pub use procfs::{NoProcesses, ProcLink, ProcNode, ProcText, Processes};
pub use socket::{Address, Attached, Message, Received};
pub use stat::{Stat, StatFs, Timestamp, device_number, major, minor};

use event::Event;
use inode::Inode;
use pipe::Pipe;
use socket::{Network, Socket};

/// As whom the program acts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The user.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// Further groups.
    pub groups: Vec<u32>,
}

/// What a standard stream looks like to the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stream {
    /// A pipe.
    #[default]
    Pipe,
    /// A regular file.
    File,
    /// `/dev/null`: nothing to read, and what is written is lost.
    Null,
}

/// How the files are set up; it does not change during a run.
#[derive(Clone, Debug)]
pub struct Config {
    /// What the program may see of the host.
    pub allow: Allow,
    /// As whom it starts, for files that belong to processes.
    pub user: User,
    /// The current directory at the start, absolute.
    pub cwd: Vec<u8>,
    /// Directories that exist in memory where the host's are not visible, such as `/tmp`.
    pub scratch: Vec<Vec<u8>>,
    /// The kinds of standard input, output and error.
    pub streams: [Stream; 3],
    /// What standard input holds.
    pub stdin: Arc<[u8]>,
    /// Connections whose other side is known beforehand.
    pub connections: Vec<Connection>,
    /// Files that are there beside the host's, or in place of them: absolute paths, and contents.
    pub placed: Vec<(Vec<u8>, Arc<[u8]>)>,
    /// The seed of the random devices.
    pub seed: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            allow: Allow::Nothing,
            user: User::default(),
            cwd: b"/".to_vec(),
            scratch: vec![b"/tmp".to_vec()],
            streams: [Stream::Pipe; 3],
            stdin: Arc::new([]),
            connections: Vec::new(),
            placed: Vec::new(),
            seed: 0,
        }
    }
}

/// The time, as far as files need it; the kernel sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// The date.
    pub real: Timestamp,
    /// Nanoseconds since the start of the machine.
    pub monotonic: u64,
}

/// Who calls, and from where.
#[derive(Clone, Copy)]
pub struct Caller<'a> {
    /// The current directory.
    pub cwd: Node,
    /// Permissions that new files do not get.
    pub umask: u32,
    /// The process.
    pub pid: Pid,
    /// The thread.
    pub tid: Tid,
    /// As whom.
    pub user: &'a User,
    /// What `/proc` tells.
    pub processes: &'a dyn Processes,
}

/// All files of the machine.
#[derive(Clone)]
pub struct Files {
    config: Arc<Config>,
    clock: Clock,
    inodes: OrdMap<InodeId, Arc<Inode>>,
    /// Host files that have been looked at, by device and number: two names of one file stay one.
    known: OrdMap<(u64, u64), InodeId>,
    root: InodeId,
    proc_fixed: InodeId,
    shm: InodeId,
    descriptions: OrdMap<FileId, Arc<Description>>,
    pipes: OrdMap<PipeId, Arc<Pipe>>,
    sockets: OrdMap<SocketId, Arc<Socket>>,
    events: OrdMap<EventId, Arc<Event>>,
    network: Arc<Network>,
    /// The contents behind the standard streams.
    streams: [InodeId; 3],
    /// How much of standard input has been read, where it is a pipe.
    fed: u64,
    /// How much of standard output and error the caller has taken.
    drained: [u64; 2],
    noise: Noise,
    next: u64,
    /// Pages of files that are held in memory.
    pages: u64,
    /// Files that are inputs, and whether a path has led to one of them since they are watched.
    watched: Arc<BTreeSet<InodeId>>,
    looked: bool,
}

impl Files {
    /// From now on it is noted whether a path leads to one of these.
    pub(crate) fn watch(&mut self, inodes: impl IntoIterator<Item = InodeId>) {
        (self.watched, self.looked) = (Arc::new(inodes.into_iter().collect()), false);
    }

    /// Whether a path has led to one of the files that are watched.
    pub(crate) fn was_looked_at(&self) -> bool {
        self.looked
    }

    /// About how many bytes of the host's memory all this takes, so that a program cannot take
    /// them all. A function of what the program did, and of nothing else.
    pub fn held(&self) -> u64 {
        const INODE: usize = 1 << 10;
        const DESCRIPTION: usize = 1 << 9;
        // Both at their fullest.
        const PIPE: usize = 1 << 16;
        const SOCKET: usize = 1 << 18;
        let things = self.inodes.len() * INODE
            + self.descriptions.len() * DESCRIPTION
            + self.pipes.len() * PIPE
            + self.sockets.len() * SOCKET;
        things as u64 + self.pages * crate::linux::abi::PAGE as u64
    }
}
