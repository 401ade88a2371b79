//! From a path to a node: components, symbolic links, `..`, and their limits.
//!
//! The walk goes through the kernel's tree only, one name at a time, so that every step, also one
//! that a link of the host has led to, is looked up where `Allow` decides.

use super::ids::{FileId, Node};
use super::inode::{Kind, Name};
use super::procfs::ProcNode;
use super::{Caller, Descriptors, Files};
use crate::linux::abi::*;
use crate::linux::errno::Errno;

/// The most symbolic links on the way.
const MOST_LINKS: u32 = 40;

/// Where a path led.
#[derive(Clone, Debug)]
pub struct Found {
    /// What it names.
    pub node: Node,
    /// The directory and the name under which it was found; none for `.`, `..` and `/`.
    pub at: Option<(Node, Name)>,
}

/// The end of a path, whether or not there is anything.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// The directory of the last component.
    pub parent: Node,
    /// The last component.
    pub last: Last,
    /// What is there.
    pub node: Option<Node>,
    /// Whether the path ends in a slash, so that only a directory will do.
    pub slash: bool,
}

/// The last component of a path.
#[derive(Clone, Debug)]
pub(super) enum Last {
    /// A name.
    Name(Name),
    /// `.`, `..` at the end, the root, or a link that leads to no name.
    Dot,
    /// `..`
    DotDot,
    /// The root.
    Root,
    /// A name that is too long to exist.
    TooLong,
}

impl Walk {
    /// The name, where something is to be made: `.`, `..` and `/` exist already.
    pub fn new_name(&self) -> Result<Name, Errno> {
        match &self.last {
            Last::Name(name) => Ok(name.clone()),
            _ => Err(Errno::EEXIST),
        }
    }
}

/// Where a link leads.
enum Target {
    Path(std::sync::Arc<[u8]>),
    Node(Node),
}

/// Adds the components of a path in front of those that remain; the first is on top.
fn push(remaining: &mut Vec<Name>, path: &[u8]) {
    let parts = path.split(|&byte| byte == b'/').filter(|part| !part.is_empty());
    remaining.extend(parts.rev().map(Name::from));
}

impl Files {
    /// The directory that a path starts from: `dirfd` for a relative path, as in `openat`.
    pub fn base(
        &self,
        caller: &Caller<'_>,
        descriptors: &Descriptors,
        dirfd: i32,
        path: &[u8],
    ) -> Result<Node, Errno> {
        if path.first() == Some(&b'/') {
            return Ok(self.root());
        }
        if dirfd == AT_FDCWD {
            return Ok(caller.cwd);
        }
        self.node_of(descriptors.get(dirfd)?)
    }

    /// The place in the tree that an open file stands for.
    pub fn node_of(&self, file: FileId) -> Result<Node, Errno> {
        Ok(self.description(file)?.node().unwrap_or(Node::Open(file)))
    }

    /// Finds what a path names; a symbolic link at its end is followed if `follow`.
    pub fn find(
        &mut self,
        caller: &Caller<'_>,
        base: Node,
        path: &[u8],
        follow: bool,
    ) -> Result<Found, Errno> {
        let walk = self.walk(caller, base, path, follow)?;
        let node = walk.node.ok_or(Errno::ENOENT)?;
        if walk.slash && !self.is_directory(node) {
            return Err(Errno::ENOTDIR);
        }
        let at = match walk.last {
            Last::Name(name) => Some((walk.parent, name)),
            _ => None,
        };
        Ok(Found { node, at })
    }

    /// Goes to the last component of a path.
    pub(super) fn walk(
        &mut self,
        caller: &Caller<'_>,
        base: Node,
        path: &[u8],
        follow: bool,
    ) -> Result<Walk, Errno> {
        self.walk_to_open(caller, base, path, follow, false)
    }

    /// Like [`Files::walk`], for a call that may create a file: a name in front of a final slash,
    /// in the path or in a link, is an `EISDIR` before anything looks whether it exists.
    pub(super) fn walk_to_open(
        &mut self,
        caller: &Caller<'_>,
        base: Node,
        path: &[u8],
        follow: bool,
        creates: bool,
    ) -> Result<Walk, Errno> {
        let walk = self.go(caller, base, path, follow, creates)?;
        self.note(&walk);
        match walk.last {
            Last::TooLong => Err(Errno::ENAMETOOLONG),
            _ => Ok(walk),
        }
    }

    /// Like [`Files::walk`], for calls with two paths: a last name that is too long is only an
    /// error once both parents are found.
    pub(super) fn walk_to_parent(
        &mut self,
        caller: &Caller<'_>,
        base: Node,
        path: &[u8],
        follow: bool,
    ) -> Result<Walk, Errno> {
        let walk = self.go(caller, base, path, follow, false)?;
        self.note(&walk);
        Ok(walk)
    }

    fn note(&mut self, walk: &Walk) {
        if let Some(Node::Inode(inode)) = walk.node {
            self.looked |= self.watched.contains(&inode);
        }
    }

    fn go(
        &mut self,
        caller: &Caller<'_>,
        base: Node,
        path: &[u8],
        follow: bool,
        creates: bool,
    ) -> Result<Walk, Errno> {
        if path.is_empty() {
            return Err(Errno::ENOENT);
        }
        if path.len() >= PATH_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        let mut at = if path[0] == b'/' { self.root() } else { base };
        let mut slash = path.last() == Some(&b'/');
        let mut remaining = Vec::new();
        push(&mut remaining, path);
        let mut links = 0;
        let mut last = Last::Root;
        let mut parent = at;
        while let Some(name) = remaining.pop() {
            if !self.is_directory(at) {
                return Err(Errno::ENOTDIR);
            }
            self.may(caller.user, at, X_OK)?;
            parent = at;
            if &*name == b"." {
                last = Last::Dot;
                continue;
            }
            if &*name == b".." {
                last = Last::DotDot;
                at = self.parent(at);
                continue;
            }
            let end = remaining.is_empty();
            if end && slash && creates {
                return Err(Errno::EISDIR);
            }
            if name.len() > NAME_MAX {
                if end {
                    return Ok(Walk { parent: at, last: Last::TooLong, node: None, slash });
                }
                return Err(Errno::ENAMETOOLONG);
            }
            let Some(child) = self.lookup(caller.processes, at, &name)? else {
                if end {
                    return Ok(Walk { parent: at, last: Last::Name(name), node: None, slash });
                }
                return Err(Errno::ENOENT);
            };
            let is_link = self.mode(child) & S_IFMT == S_IFLNK;
            if !is_link || end && !follow && !slash {
                last = Last::Name(name);
                at = child;
                continue;
            }
            links += 1;
            if links > MOST_LINKS {
                return Err(Errno::ELOOP);
            }
            match self.target(caller, child)? {
                Target::Node(node) => {
                    at = node;
                    last = Last::Dot;
                }
                Target::Path(target) => {
                    if target.is_empty() {
                        return Err(Errno::ENOENT);
                    }
                    if target[0] == b'/' {
                        at = self.root();
                        last = Last::Root;
                    }
                    slash |= end && target.last() == Some(&b'/');
                    push(&mut remaining, &target);
                }
            }
        }
        Ok(Walk { parent, last, node: Some(at), slash })
    }

    fn target(&mut self, caller: &Caller<'_>, link: Node) -> Result<Target, Errno> {
        if let Node::Proc(ProcNode::Descriptor(pid, fd)) = link {
            let open = caller.processes.descriptors(pid);
            let file = open.iter().find(|open| open.0 == fd).ok_or(Errno::ENOENT)?.1;
            return Ok(Target::Node(self.node_of(file)?));
        }
        Ok(Target::Path(self.link_text(caller, link)?.into()))
    }

    /// The text of a symbolic link.
    pub(super) fn link_text(&self, caller: &Caller<'_>, link: Node) -> Result<Vec<u8>, Errno> {
        match link {
            Node::Inode(id) => match &self.inode(id).kind {
                Kind::Link(target) => Ok(target.to_vec()),
                _ => Err(Errno::EINVAL),
            },
            Node::Proc(ProcNode::SelfLink) => Ok(caller.pid.to_string().into_bytes()),
            Node::Proc(ProcNode::ThreadSelf) => {
                Ok(format!("{}/task/{}", caller.pid, caller.tid).into_bytes())
            }
            Node::Proc(ProcNode::Link(pid, link)) => {
                caller.processes.link(pid, link).ok_or(Errno::ENOENT)
            }
            Node::Proc(ProcNode::Descriptor(pid, fd)) => {
                let open = caller.processes.descriptors(pid);
                let file = open.iter().find(|open| open.0 == fd).ok_or(Errno::ENOENT)?.1;
                Ok(self.file_name(file)?)
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// `readlink`: the text of the link that a path names.
    pub fn read_link(
        &mut self,
        caller: &Caller<'_>,
        base: Node,
        path: &[u8],
    ) -> Result<Vec<u8>, Errno> {
        let node = if path.is_empty() { base } else { self.find(caller, base, path, false)?.node };
        match (self.link_text(caller, node), path.is_empty()) {
            // An empty path asks for the link behind an O_PATH descriptor.
            (Err(Errno::EINVAL), true) => Err(Errno::ENOENT),
            (result, _) => result,
        }
    }

    /// `getcwd` for a current directory.
    pub fn cwd_path(&self, cwd: Node) -> Result<Vec<u8>, Errno> {
        self.path_of(cwd).ok_or(Errno::ENOENT)
    }

    /// `chdir`: the directory, if one may enter it.
    pub fn find_directory(
        &mut self,
        caller: &Caller<'_>,
        base: Node,
        path: &[u8],
    ) -> Result<Node, Errno> {
        let node = self.find(caller, base, path, true)?.node;
        self.enter(caller, node)
    }

    /// `fchdir`: the node, if it is a directory that one may enter.
    pub fn enter(&self, caller: &Caller<'_>, node: Node) -> Result<Node, Errno> {
        if !self.is_directory(node) {
            return Err(Errno::ENOTDIR);
        }
        self.may(caller.user, node, X_OK)?;
        Ok(node)
    }
}
