//! Files, directories, links and devices as the kernel keeps them.
//!
//! An inode comes into being when a name of the host is looked at for the first time, or when the
//! program makes something new; from then on what is here is the truth and the host is only asked
//! for names and bytes that nobody has touched. An inode does not know its names; a directory
//! knows its own.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use imbl::OrdMap;

use super::content::Content;
use super::devices::Device;
use super::ids::{Node, PipeId, SocketId};
use super::stat::Timestamp;
use crate::linux::abi::*;

/// A name in a directory.
pub type Name = Arc<[u8]>;

/// What is known about a file, whatever it is called.
#[derive(Clone, Debug)]
pub struct Inode {
    /// The device and the number that `stat` tells.
    pub dev: u64,
    /// See `dev`.
    pub ino: u64,
    /// Permissions, with set-id and sticky bits, without the type.
    pub permissions: u32,
    /// The owner.
    pub uid: u32,
    /// The group.
    pub gid: u32,
    /// How many names it has.
    pub nlink: u64,
    /// Last read.
    pub atime: Timestamp,
    /// Last written.
    pub mtime: Timestamp,
    /// Last changed.
    pub ctime: Timestamp,
    /// Made, if known.
    pub btime: Option<Timestamp>,
    /// How many open files and mappings keep it alive without a name.
    pub opens: u32,
    /// Whether it was made without a name and may still get one.
    pub temporary: bool,
    /// Room on disk in units of 512 bytes, as long as the content is the host's.
    pub host_blocks: Option<u64>,
    /// What it is.
    pub kind: Kind,
}

/// The kinds of inodes.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A regular file whose bytes are at hand or have been changed.
    File(Content),
    /// A regular file of the host that has not been opened yet, with its size.
    HostFile(Arc<Path>, u64),
    /// A directory.
    Directory(Directory),
    /// A symbolic link.
    Link(Arc<[u8]>),
    /// A named pipe, and the pipe behind it while an end is open.
    Fifo(Option<PipeId>),
    /// A character device.
    Device(Device),
    /// A device node with nothing behind it: opening it is an `ENXIO`.
    Absent {
        /// `S_IFCHR` or `S_IFBLK`.
        kind: u32,
        /// The device number.
        rdev: u64,
    },
    /// The name of a socket, and the socket while it is bound.
    Socket(Option<SocketId>),
}

/// The entries of a directory.
#[derive(Clone, Debug)]
pub struct Directory {
    /// Where `..` leads.
    pub parent: Node,
    /// Its own name in there; empty for the root.
    pub name: Name,
    /// The host directory whose entries shine through.
    pub host: Option<Arc<Path>>,
    /// What has been looked at, made or removed.
    pub entries: OrdMap<Name, Entry>,
    /// Whether it has been removed: nothing can be made in it any more.
    pub removed: bool,
}

/// What a directory knows about a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The name leads here.
    Present(Node),
    /// The name is gone, even if the host still has it.
    Gone,
}

impl Directory {
    /// An empty directory.
    pub fn new(parent: Node, name: &[u8]) -> Directory {
        Directory { parent, name: name.into(), host: None, entries: OrdMap::new(), removed: false }
    }

    /// Where the host would keep an entry of this name.
    pub fn host_child(&self, name: &[u8]) -> Option<PathBuf> {
        self.host.as_ref().map(|host| host.join(OsStr::from_bytes(name)))
    }
}

impl Kind {
    /// The type bits of the mode.
    pub fn bits(&self) -> u32 {
        match self {
            Kind::File(_) | Kind::HostFile(..) => S_IFREG,
            Kind::Directory(_) => S_IFDIR,
            Kind::Link(_) => S_IFLNK,
            Kind::Fifo(_) => S_IFIFO,
            Kind::Device(_) => S_IFCHR,
            Kind::Absent { kind, .. } => *kind,
            Kind::Socket(_) => S_IFSOCK,
        }
    }

    /// How many bytes it has.
    pub fn size(&self) -> u64 {
        match self {
            Kind::File(content) => content.len(),
            Kind::HostFile(_, size) => *size,
            Kind::Directory(_) => PAGE as u64,
            Kind::Link(target) => target.len() as u64,
            Kind::Fifo(_) | Kind::Device(_) | Kind::Absent { .. } | Kind::Socket(_) => 0,
        }
    }
}

impl Inode {
    /// Type and permissions.
    pub fn mode(&self) -> u32 {
        self.kind.bits() | self.permissions
    }

    /// As a directory, if it is one.
    pub fn directory(&self) -> Option<&Directory> {
        match &self.kind {
            Kind::Directory(directory) => Some(directory),
            _ => None,
        }
    }
}

/// The type in a directory entry for a mode.
pub fn entry_type(mode: u32) -> u8 {
    match mode & S_IFMT {
        S_IFREG => DT_REG,
        S_IFDIR => DT_DIR,
        S_IFLNK => DT_LNK,
        S_IFIFO => DT_FIFO,
        S_IFCHR => DT_CHR,
        S_IFBLK => DT_BLK,
        S_IFSOCK => DT_SOCK,
        _ => DT_UNKNOWN,
    }
}
