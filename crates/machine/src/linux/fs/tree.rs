//! The tree of inodes: looking up names, listing, entering and removing them, and who may.
//!
//! A host name becomes an inode when it is first looked up, and stays the same inode from then on,
//! whatever it is renamed to. A directory keeps the host path that it came from, so moving a
//! directory moves nothing below it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::content::Content;
use super::devices::Device;
use super::host::{self, HostEntry};
use super::ids::{InodeId, Node};
use super::inode::{Directory, Entry, Inode, Kind, Name, entry_type};
use super::procfs::Processes;
use super::{Files, User};
use crate::linux::abi::*;
use crate::linux::errno::Errno;

impl Files {
    /// An inode that is known to exist: it has a name, or is open.
    pub(super) fn inode(&self, id: InodeId) -> &Inode {
        self.inodes.get(&id).expect("an inode lives as long as a name or an open file leads to it")
    }

    /// See [`Files::inode`]; copies it if a snapshot shares it.
    pub(super) fn inode_mut(&mut self, id: InodeId) -> &mut Inode {
        let inode = self.inodes.get_mut(&id);
        Arc::make_mut(inode.expect("an inode lives as long as a name or an open file leads to it"))
    }

    /// Type and permissions of a node.
    pub(super) fn mode(&self, node: Node) -> u32 {
        match node {
            Node::Inode(id) => self.inode(id).mode(),
            Node::Proc(node) => self.proc_mode(node),
            Node::Open(file) => self.file_stat(file).map_or(0, |stat| stat.mode),
        }
    }

    /// Whether a node is a directory.
    pub fn is_directory(&self, node: Node) -> bool {
        self.mode(node) & S_IFMT == S_IFDIR
    }

    /// The directory behind a node, if it is one of the tree.
    pub(super) fn directory(&self, node: Node) -> Result<(InodeId, &Directory), Errno> {
        match node {
            Node::Inode(id) => {
                self.inode(id).directory().map(|dir| (id, dir)).ok_or(Errno::ENOTDIR)
            }
            Node::Proc(_) if self.is_directory(node) => Err(Errno::ENOENT),
            _ => Err(Errno::ENOTDIR),
        }
    }

    pub(super) fn directory_mut(&mut self, id: InodeId) -> &mut Directory {
        match &mut self.inode_mut(id).kind {
            Kind::Directory(directory) => directory,
            _ => unreachable!("the caller has checked that it is a directory"),
        }
    }

    /// What a name in a directory leads to; none if it does not exist.
    pub(super) fn lookup(
        &mut self,
        processes: &dyn Processes,
        dir: Node,
        name: &[u8],
    ) -> Result<Option<Node>, Errno> {
        if let Node::Proc(dir) = dir {
            return self.proc_lookup(processes, dir, name);
        }
        let (id, directory) = self.directory(dir)?;
        match directory.entries.get(name) {
            Some(&Entry::Present(node)) => return Ok(Some(node)),
            Some(Entry::Gone) => return Ok(None),
            None => {}
        }
        let Some(path) = directory.host_child(name) else { return Ok(None) };
        let Some(entry) = host::look(&self.config.allow, &path)? else { return Ok(None) };
        let node = Node::Inode(self.adopt(id, name, &path, entry));
        self.put(id, name, node);
        Ok(Some(node))
    }

    /// Makes an inode of a host file, or finds the one that another of its names has led to.
    fn adopt(&mut self, dir: InodeId, name: &[u8], path: &Path, entry: HostEntry) -> InodeId {
        if let Some(&known) = self.known.get(&entry.identity)
            && self.inodes.contains_key(&known)
            && entry.mode & S_IFMT != S_IFDIR
        {
            return known;
        }
        let kind = match entry.mode & S_IFMT {
            S_IFREG => Kind::HostFile(path.into(), entry.size),
            S_IFDIR => {
                let mut directory = Directory::new(Node::Inode(dir), name);
                directory.host = Some(path.into());
                Kind::Directory(directory)
            }
            S_IFLNK => Kind::Link(entry.target.unwrap_or_default()),
            S_IFIFO => Kind::Fifo(None),
            S_IFSOCK => Kind::Socket(None),
            S_IFCHR if Device::from_number(entry.rdev).is_some() => {
                Kind::Device(Device::from_number(entry.rdev).unwrap_or(Device::Null))
            }
            kind => Kind::Absent { kind, rdev: entry.rdev },
        };
        let id = InodeId(self.number());
        let inode = Inode {
            dev: entry.identity.0,
            ino: entry.identity.1,
            permissions: entry.mode & 0o7777,
            uid: entry.uid,
            gid: entry.gid,
            nlink: entry.nlink,
            atime: entry.times[0],
            mtime: entry.times[1],
            ctime: entry.times[2],
            btime: entry.btime,
            opens: 0,
            temporary: false,
            host_blocks: Some(entry.blocks),
            kind,
        };
        self.inodes.insert(id, Arc::new(inode));
        self.known.insert(entry.identity, id);
        id
    }

    /// The entries of a directory without `.` and `..`, sorted by name: name, number, type.
    pub(super) fn list(
        &self,
        processes: &dyn Processes,
        dir: Node,
    ) -> Result<Vec<(Name, u64, u8)>, Errno> {
        if let Node::Proc(dir) = dir {
            let entries = self.proc_list(processes, dir)?;
            return Ok(entries.into_iter().map(|(n, ino, kind)| (n.into(), ino, kind)).collect());
        }
        let (_, directory) = self.directory(dir)?;
        let mut names = BTreeMap::new();
        if let Some(path) = &directory.host {
            for (name, ino, kind) in host::list(&self.config.allow, path)? {
                names.insert(name, (ino, kind));
            }
        }
        for (name, entry) in &directory.entries {
            match *entry {
                Entry::Gone => {
                    names.remove(name);
                }
                Entry::Present(Node::Inode(id)) => {
                    let inode = self.inode(id);
                    names.insert(name.clone(), (inode.ino, entry_type(inode.mode())));
                }
                Entry::Present(Node::Proc(node)) => {
                    names.insert(name.clone(), (self.proc_stat(node).ino, DT_DIR));
                }
                Entry::Present(Node::Open(_)) => {}
            }
        }
        Ok(names.into_iter().map(|(name, (ino, kind))| (name, ino, kind)).collect())
    }

    /// Whether a directory has no entries.
    pub(super) fn is_empty(&self, dir: Node) -> Result<bool, Errno> {
        Ok(self.list(&super::NoProcesses, dir)?.is_empty())
    }

    /// The directory above.
    pub(super) fn parent(&self, dir: Node) -> Node {
        match dir {
            Node::Inode(id) => self.inode(id).directory().map_or(dir, |found| found.parent),
            Node::Proc(node) => self.proc_parent(node),
            Node::Open(_) => dir,
        }
    }

    /// Enters a name. The directory's times change; the link count of the entry is the caller's.
    pub(super) fn attach(&mut self, dir: InodeId, name: &[u8], node: InodeId) {
        let now = self.clock.real;
        self.put(dir, name, Node::Inode(node));
        let is_directory = matches!(self.inode(node).kind, Kind::Directory(_));
        if is_directory {
            let moved = self.directory_mut(node);
            moved.parent = Node::Inode(dir);
            moved.name = name.into();
        }
        let inode = self.inode_mut(dir);
        if is_directory {
            inode.nlink += 1;
        }
        (inode.mtime, inode.ctime) = (now, now);
    }

    /// Removes a name; the host's entry of that name does not show again.
    pub(super) fn detach(&mut self, dir: InodeId, name: &[u8]) {
        let now = self.clock.real;
        let directory = self.directory_mut(dir);
        let old = if directory.host.is_some() {
            directory.entries.insert(name.into(), Entry::Gone)
        } else {
            directory.entries.remove(name)
        };
        let was_directory = match old {
            Some(Entry::Present(node)) => self.is_directory(node),
            _ => false,
        };
        let inode = self.inode_mut(dir);
        if was_directory {
            inode.nlink -= 1;
        }
        (inode.mtime, inode.ctime) = (now, now);
    }

    /// Takes away one name of a file; without names and users it is gone.
    pub(super) fn unname(&mut self, id: InodeId) {
        let now = self.clock.real;
        let inode = self.inode_mut(id);
        inode.nlink = inode.nlink.saturating_sub(1);
        inode.ctime = now;
        self.reap(id);
    }

    /// Forgets an inode that nothing leads to. Directories stay: one of them may be current.
    pub(super) fn reap(&mut self, id: InodeId) {
        let inode = self.inode(id);
        if inode.nlink == 0 && inode.opens == 0 && !matches!(inode.kind, Kind::Directory(_)) {
            if let Kind::File(content) = &inode.kind {
                self.pages = self.pages.saturating_sub(content.pages_held());
            }
            self.inodes.remove(&id);
        }
    }

    /// Keeps an inode alive, for an open file or a mapping.
    pub fn pin(&mut self, id: InodeId) {
        self.inode_mut(id).opens += 1;
    }

    /// Undoes [`Files::pin`].
    pub fn unpin(&mut self, id: InodeId) {
        let inode = self.inode_mut(id);
        inode.opens = inode.opens.saturating_sub(1);
        self.reap(id);
    }

    /// The bytes of a regular file, opened on the host if need be.
    pub fn content(&mut self, id: InodeId) -> Result<&Content, Errno> {
        self.load(id)?;
        match &self.inode(id).kind {
            Kind::File(content) => Ok(content),
            Kind::Directory(_) => Err(Errno::EISDIR),
            _ => Err(Errno::EINVAL),
        }
    }

    /// The bytes of a file that has been opened before.
    pub(super) fn content_now(&self, id: InodeId) -> Content {
        match &self.inode(id).kind {
            Kind::File(content) => content.clone(),
            _ => Content::new(),
        }
    }

    /// Makes sure that the host file behind an inode is open.
    pub(super) fn load(&mut self, id: InodeId) -> Result<(), Errno> {
        if let Kind::HostFile(path, _) = &self.inode(id).kind {
            let (file, len) = host::open(&self.config.allow, path)?;
            self.inode_mut(id).kind = Kind::File(Content::from_host(file, len));
        }
        Ok(())
    }

    /// Changes the bytes of a regular file, and its times.
    pub(super) fn change<T>(
        &mut self,
        id: InodeId,
        change: impl FnOnce(&mut Content) -> T,
    ) -> Result<T, Errno> {
        self.load(id)?;
        let now = self.clock.real;
        let inode = self.inode_mut(id);
        let Kind::File(content) = &mut inode.kind else { return Err(Errno::EINVAL) };
        let before = content.pages_held();
        let result = change(content);
        let after = content.pages_held();
        inode.host_blocks = None;
        (inode.mtime, inode.ctime) = (now, now);
        self.pages = self.pages.saturating_sub(before) + after;
        Ok(result)
    }

    /// Whether `user` may do what the `access` bits in `wish` say.
    pub(super) fn may(&self, user: &User, node: Node, wish: u32) -> Result<(), Errno> {
        let (mode, uid, gid) = match node {
            Node::Inode(id) => {
                let inode = self.inode(id);
                (inode.mode(), inode.uid, inode.gid)
            }
            Node::Proc(node) => {
                let stat = self.proc_stat(node);
                (stat.mode, stat.uid, stat.gid)
            }
            Node::Open(_) => return Ok(()),
        };
        if user.uid == 0 {
            let executable = mode & 0o111 != 0 || mode & S_IFMT == S_IFDIR;
            return if wish & X_OK == 0 || executable { Ok(()) } else { Err(Errno::EACCES) };
        }
        let class = if uid == user.uid {
            mode >> 6
        } else if gid == user.gid || user.groups.contains(&gid) {
            mode >> 3
        } else {
            mode
        };
        if wish & !(class & 7) == 0 { Ok(()) } else { Err(Errno::EACCES) }
    }

    /// Whether `user` may remove or rename `victim` in `dir`: write permission, and where the
    /// sticky bit is set, ownership.
    pub(super) fn may_remove(
        &self,
        user: &User,
        dir: InodeId,
        victim: InodeId,
    ) -> Result<(), Errno> {
        self.may(user, Node::Inode(dir), W_OK | X_OK)?;
        let (parent, file) = (self.inode(dir), self.inode(victim));
        let sticky = parent.permissions & S_ISVTX != 0;
        if sticky && user.uid != 0 && user.uid != parent.uid && user.uid != file.uid {
            return Err(Errno::EPERM);
        }
        Ok(())
    }

    /// The absolute path of a directory; none if it, or one above it, has been removed.
    pub fn path_of(&self, dir: Node) -> Option<Vec<u8>> {
        let mut parts: Vec<Vec<u8>> = Vec::new();
        let mut at = dir;
        loop {
            match at {
                Node::Inode(id) if id == self.root => break,
                Node::Inode(id) => {
                    let directory = self.inode(id).directory()?;
                    if directory.removed {
                        return None;
                    }
                    parts.push(directory.name.to_vec());
                    at = directory.parent;
                }
                Node::Proc(node) => {
                    parts.push(Files::proc_path(node).into_bytes()[1..].to_vec());
                    break;
                }
                Node::Open(_) => return None,
            }
        }
        if matches!(dir, Node::Inode(id) if id == self.root) || parts.is_empty() {
            return Some(b"/".to_vec());
        }
        let mut path = Vec::new();
        for part in parts.iter().rev() {
            path.push(b'/');
            path.extend_from_slice(part);
        }
        Some(path)
    }
}
