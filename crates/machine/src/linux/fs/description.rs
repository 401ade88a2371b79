//! Open file descriptions: what `open` makes, and what descriptors of all processes share.
//!
//! A description lives as long as something refers to it: a descriptor, or a message under way.
//! Whoever stores a [`FileId`] holds exactly one reference, and gives it back with
//! [`Files::release`].

use std::sync::Arc;

use super::Files;
use super::event::Event;
use super::ids::{EventId, FileId, InodeId, Node, PipeId, SocketId};
use super::inode::Name;
use super::procfs::ProcNode;
use crate::linux::abi::*;
use crate::linux::errno::Errno;

/// What an open file is.
#[derive(Clone, Debug)]
pub enum Object {
    /// A regular file, a directory or a device.
    Inode(InodeId),
    /// A place only (`O_PATH`).
    Path(Node),
    /// A text under `/proc`, as it was when it was opened.
    Text(ProcNode, Arc<[u8]>),
    /// A directory under `/proc`.
    ProcDirectory(ProcNode),
    /// One or both ends of a pipe, by the access mode.
    Pipe(PipeId),
    /// Standard input as a pipe.
    Feed(InodeId),
    /// Standard output or error as a pipe.
    Sink(InodeId),
    /// A socket.
    Socket(SocketId),
    /// An eventfd, timerfd or epoll instance.
    Event(EventId),
}

/// An entry of a directory as it was listed: name, number, type.
pub(super) type Listed = (Name, u64, u8);

/// An open file.
#[derive(Clone, Debug)]
pub struct Description {
    /// What it is.
    pub object: Object,
    /// Access mode and status flags, as `F_GETFL` gives them.
    pub flags: u32,
    /// Where the next read or write is.
    pub offset: u64,
    /// How many refer to it.
    pub(super) refs: u32,
    /// Directory and name under which it was opened.
    pub(super) at: Option<(Node, Name)>,
    /// The entries of a directory that is being read.
    pub(super) listing: Option<Arc<[Listed]>>,
    /// What may not be done to a memory file any more.
    pub(super) seals: u32,
    /// Whom signals about the file go to.
    pub(super) owner: i32,
    /// How many peers a named pipe had seen when this end was opened.
    pub(super) peers_before: u64,
}

impl Description {
    /// A description that nothing refers to yet.
    pub(super) fn new(object: Object, flags: u32) -> Description {
        Description {
            object,
            flags,
            offset: 0,
            refs: 0,
            at: None,
            listing: None,
            seals: F_SEAL_SEAL,
            owner: 0,
            peers_before: 0,
        }
    }

    /// Whether it may be read.
    pub fn reads(&self) -> bool {
        self.flags & O_PATH == 0 && matches!(self.flags & O_ACCMODE, O_RDONLY | O_RDWR)
    }

    /// Whether it may be written.
    pub fn writes(&self) -> bool {
        self.flags & O_PATH == 0 && matches!(self.flags & O_ACCMODE, O_WRONLY | O_RDWR)
    }

    /// Whether calls return at once.
    pub fn nonblocking(&self) -> bool {
        self.flags & O_NONBLOCK != 0
    }

    /// The place in the tree, if it has one.
    pub(super) fn node(&self) -> Option<Node> {
        match self.object {
            Object::Inode(id) => Some(Node::Inode(id)),
            Object::Path(node) => Some(node),
            Object::Text(node, _) | Object::ProcDirectory(node) => Some(Node::Proc(node)),
            _ => None,
        }
    }
}

impl Files {
    /// Adds a description with one reference, which the caller owns.
    pub(super) fn describe(&mut self, mut description: Description) -> FileId {
        description.refs = 1;
        match description.object {
            Object::Inode(id) | Object::Path(Node::Inode(id)) => self.pin(id),
            Object::Pipe(pipe) => {
                let (reads, writes) = (description.reads(), description.writes());
                self.pipe_mut(pipe).opened(reads, writes);
            }
            Object::Path(_)
            | Object::Text(..)
            | Object::ProcDirectory(_)
            | Object::Feed(_)
            | Object::Sink(_)
            | Object::Socket(_)
            | Object::Event(_) => {}
        }
        let file = FileId(self.number());
        self.descriptions.insert(file, Arc::new(description));
        file
    }

    /// Changes a description.
    pub(super) fn description_mut(&mut self, file: FileId) -> Result<&mut Description, Errno> {
        self.descriptions.get_mut(&file).map(Arc::make_mut).ok_or(Errno::EBADF)
    }

    /// One more reference to an open file.
    pub fn retain(&mut self, file: FileId) {
        if let Ok(description) = self.description_mut(file) {
            description.refs += 1;
        }
    }

    /// Gives a reference back; with the last one the file is closed.
    pub fn release(&mut self, file: FileId) {
        // Closing a socket can close files that were on their way through it: no recursion.
        let mut pending = vec![file];
        while let Some(file) = pending.pop() {
            let Ok(description) = self.description_mut(file) else { continue };
            description.refs -= 1;
            if description.refs > 0 {
                continue;
            }
            let (reads, writes) = (description.reads(), description.writes());
            let object = description.object.clone();
            self.descriptions.remove(&file);
            self.forget_interest(file);
            match object {
                Object::Inode(id) | Object::Path(Node::Inode(id)) => self.unpin(id),
                Object::Pipe(pipe) => self.close_pipe(pipe, reads, writes),
                Object::Socket(socket) => pending.extend(self.close_socket(socket)),
                Object::Event(event) => {
                    self.events.remove(&event);
                }
                Object::Path(_)
                | Object::Text(..)
                | Object::ProcDirectory(_)
                | Object::Feed(_)
                | Object::Sink(_) => {}
            }
        }
    }

    /// What `/proc/self/fd` says about an open file.
    pub fn file_name(&self, file: FileId) -> Result<Vec<u8>, Errno> {
        let description = self.description(file)?;
        let name = match description.object {
            Object::Inode(_) | Object::Path(_) => return Ok(self.place_name(description)),
            Object::Text(node, _) | Object::ProcDirectory(node) => Files::proc_path(node),
            Object::Pipe(pipe) => match self.pipe(pipe).inode {
                Some(_) => return Ok(self.place_name(description)),
                None => format!("pipe:[{}]", pipe.number()),
            },
            Object::Feed(inode) | Object::Sink(inode) => format!("pipe:[{}]", inode.number()),
            Object::Socket(socket) => format!("socket:[{}]", socket.number()),
            Object::Event(event) => match self.events.get(&event).map(|event| &**event) {
                Some(Event::Counter { .. }) => "anon_inode:[eventfd]".into(),
                Some(Event::Timer { .. }) => "anon_inode:[timerfd]".into(),
                _ => "anon_inode:[eventpoll]".into(),
            },
        };
        Ok(name.into_bytes())
    }

    fn place_name(&self, description: &Description) -> Vec<u8> {
        let node = description.node();
        if let Some(node) = node
            && self.is_directory(node)
        {
            return self.path_of(node).unwrap_or_else(|| b"(deleted)".to_vec());
        }
        let Some((dir, name)) = &description.at else { return b"/ (deleted)".to_vec() };
        let mut path = self.path_of(*dir).unwrap_or_default();
        if path.last() != Some(&b'/') {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        if let Some(Node::Inode(id)) = node
            && self.inode(id).nlink == 0
        {
            path.extend_from_slice(b" (deleted)");
        }
        path
    }
}
