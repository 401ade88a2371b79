//! Changes of names: making, removing, linking, renaming. All of it happens in memory.

use super::content::Content;
use super::ids::{InodeId, Node};
use super::inode::{Directory, Kind, Name};
use super::path::{Last, Walk};
use super::{Caller, Files};
use crate::linux::abi::*;
use crate::linux::errno::Errno;

impl Files {
    /// The directory in which a walk may make something new.
    pub(super) fn new_place(&self, caller: &Caller<'_>, walk: &Walk) -> Result<InodeId, Errno> {
        let (dir, directory) = match walk.parent {
            Node::Proc(_) => return Err(Errno::ENOENT),
            node => self.directory(node)?,
        };
        if directory.removed {
            return Err(Errno::ENOENT);
        }
        self.may(caller.user, walk.parent, W_OK | X_OK)?;
        Ok(dir)
    }

    /// A new inode in `dir`, owned by the caller, with a name.
    pub(super) fn make(
        &mut self,
        caller: &Caller<'_>,
        dir: InodeId,
        name: &[u8],
        kind: Kind,
        permissions: u32,
    ) -> InodeId {
        let id = self.make_unnamed(caller, dir, kind, permissions);
        self.attach(dir, name, id);
        id
    }

    /// A new inode on the device of `dir`, owned by the caller.
    pub(super) fn make_unnamed(
        &mut self,
        caller: &Caller<'_>,
        dir: InodeId,
        kind: Kind,
        permissions: u32,
    ) -> InodeId {
        let parent = self.inode(dir);
        let (dev, group) = (parent.dev, parent.gid);
        let set_group = parent.permissions & S_ISGID;
        let is_directory = matches!(kind, Kind::Directory(_));
        let id = self.fresh(kind, permissions, dev);
        let inode = self.inode_mut(id);
        inode.uid = caller.user.uid;
        inode.gid = if set_group != 0 { group } else { caller.user.gid };
        if is_directory {
            inode.permissions |= set_group;
        }
        id
    }

    fn walk_new(&mut self, caller: &Caller<'_>, base: Node, path: &[u8]) -> Result<Walk, Errno> {
        // A path that ends in a slash is not followed either: the name itself is to be made.
        let end = path.iter().rposition(|&byte| byte != b'/').map_or(path.len(), |at| at + 1);
        let mut walk = self.walk(caller, base, &path[..end], false)?;
        if path.len() >= PATH_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        walk.slash = end < path.len();
        if walk.node.is_some() {
            return Err(Errno::EEXIST);
        }
        Ok(walk)
    }

    /// `mkdirat`.
    pub fn mkdir(
        &mut self,
        caller: &Caller<'_>,
        base: Node,
        path: &[u8],
        mode: u32,
    ) -> Result<(), Errno> {
        let walk = self.walk_new(caller, base, path)?;
        let dir = self.new_place(caller, &walk)?;
        let name = walk.new_name()?;
        let directory = Kind::Directory(Directory::new(walk.parent, &name));
        self.make(caller, dir, &name, directory, mode & 0o1777 & !caller.umask);
        Ok(())
    }

    /// `symlinkat`.
    pub fn symlink(
        &mut self,
        caller: &Caller<'_>,
        target: &[u8],
        base: Node,
        path: &[u8],
    ) -> Result<(), Errno> {
        if target.is_empty() {
            return Err(Errno::ENOENT);
        }
        if target.len() >= PATH_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        let walk = self.walk_new(caller, base, path)?;
        if walk.slash {
            return Err(Errno::ENOENT);
        }
        let dir = self.new_place(caller, &walk)?;
        self.make(caller, dir, &walk.new_name()?, Kind::Link(target.into()), 0o777);
        Ok(())
    }

    /// `mknodat`: regular files, named pipes and sockets; devices only for the super-user.
    pub fn mknod(
        &mut self,
        caller: &Caller<'_>,
        base: Node,
        path: &[u8],
        mode: u32,
        rdev: u64,
    ) -> Result<(), Errno> {
        let kind = match mode & S_IFMT {
            0 | S_IFREG => Kind::File(Content::new()),
            S_IFIFO => Kind::Fifo(None),
            S_IFSOCK => Kind::Socket(None),
            S_IFDIR => return Err(Errno::EPERM),
            kind @ (S_IFCHR | S_IFBLK) => {
                if caller.user.uid != 0 {
                    return Err(Errno::EPERM);
                }
                match super::Device::from_number(rdev) {
                    Some(device) if kind == S_IFCHR => Kind::Device(device),
                    _ => Kind::Absent { kind, rdev },
                }
            }
            _ => return Err(Errno::EINVAL),
        };
        let walk = self.walk_new(caller, base, path)?;
        if walk.slash {
            return Err(Errno::ENOENT);
        }
        let dir = self.new_place(caller, &walk)?;
        self.make(caller, dir, &walk.new_name()?, kind, mode & 0o7777 & !caller.umask);
        Ok(())
    }

    /// The entry that a removal or a renaming is about.
    fn victim(&self, walk: &Walk) -> Result<(InodeId, InodeId), Errno> {
        let victim = match walk.node {
            None => return Err(Errno::ENOENT),
            Some(Node::Inode(id)) => id,
            Some(Node::Proc(_) | Node::Open(_)) => return Err(Errno::EBUSY),
        };
        match walk.parent {
            Node::Inode(dir) => Ok((dir, victim)),
            _ => Err(Errno::EPERM),
        }
    }

    /// `unlinkat` without `AT_REMOVEDIR`.
    pub fn unlink(&mut self, caller: &Caller<'_>, base: Node, path: &[u8]) -> Result<(), Errno> {
        let end = path.iter().rposition(|&byte| byte != b'/').map_or(path.len(), |at| at + 1);
        let walk = self.walk(caller, base, &path[..end], false)?;
        let Last::Name(name) = &walk.last else { return Err(Errno::EISDIR) };
        if end < path.len() {
            return match walk.node {
                None => Err(Errno::ENOENT),
                Some(node) if self.is_directory(node) => Err(Errno::EISDIR),
                Some(_) => Err(Errno::ENOTDIR),
            };
        }
        let (dir, victim) = self.victim(&walk)?;
        self.may_remove(caller.user, dir, victim)?;
        if self.inode(victim).directory().is_some() {
            return Err(Errno::EISDIR);
        }
        self.detach(dir, name);
        self.unname(victim);
        Ok(())
    }

    /// `unlinkat` with `AT_REMOVEDIR`.
    pub fn rmdir(&mut self, caller: &Caller<'_>, base: Node, path: &[u8]) -> Result<(), Errno> {
        let end = path.iter().rposition(|&byte| byte != b'/').map_or(path.len(), |at| at + 1);
        let walk = self.walk(caller, base, &path[..end], false)?;
        let name = match &walk.last {
            Last::Name(name) => name.clone(),
            Last::Dot => return Err(Errno::EINVAL),
            Last::DotDot => return Err(Errno::ENOTEMPTY),
            Last::Root => return Err(Errno::EBUSY),
            Last::TooLong => return Err(Errno::ENAMETOOLONG),
        };
        let (dir, victim) = self.victim(&walk)?;
        self.may_remove(caller.user, dir, victim)?;
        if self.inode(victim).directory().is_none() {
            return Err(Errno::ENOTDIR);
        }
        if self.inode(victim).dev != self.inode(dir).dev {
            return Err(Errno::EBUSY);
        }
        if !self.is_empty(Node::Inode(victim))? {
            return Err(Errno::ENOTEMPTY);
        }
        self.drop_directory(dir, &name, victim);
        Ok(())
    }

    fn drop_directory(&mut self, dir: InodeId, name: &[u8], victim: InodeId) {
        self.detach(dir, name);
        self.directory_mut(victim).removed = true;
        let now = self.clock.real;
        let inode = self.inode_mut(victim);
        inode.nlink = 0;
        inode.ctime = now;
    }

    /// `linkat`: another name for what `old` names.
    pub fn link(
        &mut self,
        caller: &Caller<'_>,
        old: (Node, &[u8]),
        new: (Node, &[u8]),
        follow: bool,
    ) -> Result<(), Errno> {
        let source = match old.1 {
            // AT_EMPTY_PATH: the open file itself.
            [] => old.0,
            path => self.find(caller, old.0, path, follow)?.node,
        };
        let walk = self.walk_new(caller, new.0, new.1)?;
        if walk.slash {
            return Err(Errno::ENOENT);
        }
        let Node::Inode(source) = source else { return Err(Errno::EXDEV) };
        let (dir, _) = match walk.parent {
            Node::Inode(_) => self.directory(walk.parent)?,
            _ => return Err(Errno::EXDEV),
        };
        if self.inode(source).dev != self.inode(dir).dev {
            return Err(Errno::EXDEV);
        }
        let dir = self.new_place(caller, &walk)?;
        if self.inode(source).directory().is_some() {
            return Err(Errno::EPERM);
        }
        if self.inode(source).nlink == 0 && !self.inode(source).temporary {
            return Err(Errno::ENOENT);
        }
        let now = self.clock.real;
        let inode = self.inode_mut(source);
        inode.nlink += 1;
        inode.ctime = now;
        self.attach(dir, &walk.new_name()?, source);
        Ok(())
    }

    /// `renameat2`.
    pub fn rename(
        &mut self,
        caller: &Caller<'_>,
        old: (Node, &[u8]),
        new: (Node, &[u8]),
        flags: u32,
    ) -> Result<(), Errno> {
        if flags & !(RENAME_NOREPLACE | RENAME_EXCHANGE) != 0
            || flags == RENAME_NOREPLACE | RENAME_EXCHANGE
        {
            return Err(Errno::EINVAL);
        }
        let bare = |path: &[u8]| {
            path.iter().rposition(|&byte| byte != b'/').map_or(path.len(), |at| at + 1)
        };
        let (old_end, new_end) = (bare(old.1), bare(new.1));
        let mut from = self.walk_to_parent(caller, old.0, &old.1[..old_end], false)?;
        let mut to = self.walk_to_parent(caller, new.0, &new.1[..new_end], false)?;
        from.slash = old_end < old.1.len();
        to.slash = new_end < new.1.len();
        let device = |node: Node| match node {
            Node::Inode(id) => self.inode(id).dev,
            _ => super::procfs::PROC_DEVICE,
        };
        if device(from.parent) != device(to.parent) {
            return Err(Errno::EXDEV);
        }
        let dots = |last: &Last| matches!(last, Last::Dot | Last::DotDot | Last::Root);
        if dots(&from.last) {
            return Err(Errno::EBUSY);
        }
        if dots(&to.last) {
            return Err(if flags & RENAME_NOREPLACE != 0 { Errno::EEXIST } else { Errno::EBUSY });
        }
        let Last::Name(old_name) = from.last.clone() else { return Err(Errno::ENAMETOOLONG) };
        if from.node.is_none() {
            return Err(Errno::ENOENT);
        }
        let Last::Name(new_name) = to.last.clone() else { return Err(Errno::ENAMETOOLONG) };
        if flags & RENAME_NOREPLACE != 0 && to.node.is_some() {
            return Err(Errno::EEXIST);
        }
        if flags & RENAME_EXCHANGE != 0 && to.node.is_none() {
            return Err(Errno::ENOENT);
        }
        let (from_dir, source) = self.victim(&from)?;
        let to_dir = match to.parent {
            Node::Inode(id) => id,
            _ => return Err(Errno::EPERM),
        };
        let target = match to.node {
            None => None,
            Some(Node::Inode(id)) => Some(id),
            Some(_) => return Err(Errno::EBUSY),
        };
        let is_directory = |files: &Files, id| files.inode(id).directory().is_some();
        let source_is_directory = is_directory(self, source);
        let bare_target = flags & RENAME_EXCHANGE != 0 || !to.slash;
        if !source_is_directory && (from.slash || !bare_target) {
            return Err(Errno::ENOTDIR);
        }
        if flags & RENAME_EXCHANGE != 0
            && to.slash
            && target.is_some_and(|target| !is_directory(self, target))
        {
            return Err(Errno::ENOTDIR);
        }
        // A directory cannot move into itself, nor replace one that it lies in.
        if self.lies_in(to_dir, source) {
            return Err(Errno::EINVAL);
        }
        if target.is_some_and(|target| self.lies_in(from_dir, target)) {
            let exchange = flags & RENAME_EXCHANGE != 0;
            return Err(if exchange { Errno::EINVAL } else { Errno::ENOTEMPTY });
        }
        if target == Some(source) {
            return Ok(());
        }
        self.may_remove(caller.user, from_dir, source)?;
        match target {
            Some(target) => self.may_remove(caller.user, to_dir, target)?,
            None => {
                self.new_place(caller, &to)?;
            }
        }
        if let Some(target) = target
            && flags & RENAME_EXCHANGE == 0
        {
            match (source_is_directory, is_directory(self, target)) {
                (true, false) => return Err(Errno::ENOTDIR),
                (false, true) => return Err(Errno::EISDIR),
                _ => {}
            }
            if self.inode(target).dev != self.inode(to_dir).dev {
                return Err(Errno::EBUSY);
            }
        }
        if self.inode(source).dev != self.inode(from_dir).dev {
            return Err(Errno::EBUSY);
        }
        match target {
            Some(target) if flags & RENAME_EXCHANGE != 0 => {
                self.detach(from_dir, &old_name);
                self.detach(to_dir, &new_name);
                self.attach(from_dir, &old_name, target);
                self.attach(to_dir, &new_name, source);
                self.touch_changed(target);
            }
            Some(target) if is_directory(self, target) => {
                if !self.is_empty(Node::Inode(target))? {
                    return Err(Errno::ENOTEMPTY);
                }
                self.drop_directory(to_dir, &new_name, target);
                self.move_name(from_dir, &old_name, to_dir, &new_name, source);
            }
            Some(target) => {
                self.detach(to_dir, &new_name);
                self.unname(target);
                self.move_name(from_dir, &old_name, to_dir, &new_name, source);
            }
            None => self.move_name(from_dir, &old_name, to_dir, &new_name, source),
        }
        self.touch_changed(source);
        Ok(())
    }

    fn move_name(&mut self, from: InodeId, old: &Name, to: InodeId, new: &Name, node: InodeId) {
        self.detach(from, old);
        self.attach(to, new, node);
    }

    fn touch_changed(&mut self, id: InodeId) {
        let now = self.clock.real;
        self.inode_mut(id).ctime = now;
    }

    /// Whether `dir` is `ancestor` or lies below it.
    fn lies_in(&self, dir: InodeId, ancestor: InodeId) -> bool {
        let mut at = Node::Inode(dir);
        loop {
            if at == Node::Inode(ancestor) {
                return true;
            }
            let parent = self.parent(at);
            if parent == at {
                return false;
            }
            at = parent;
        }
    }
}
