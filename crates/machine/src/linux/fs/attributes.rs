//! What is known about files besides their bytes: `stat`, permissions, owners, times, sizes.

use super::description::Object;
use super::ids::{FileId, InodeId, Node};
use super::inode::Kind;
use super::procfs::{DEV_DEVICE, PROC_DEVICE, SYS_DEVICE};
use super::stat::{Stat, StatFs, Timestamp, device_number};
use super::{Caller, Files, User};
use crate::linux::abi::*;
use crate::linux::errno::Errno;

/// The device of pipes, sockets and other files without names.
const ANONYMOUS: u64 = device_number(0, 13);

/// What to set a time to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetTime {
    /// Leave it.
    Keep,
    /// The kernel's clock.
    Now,
    /// This.
    To(Timestamp),
}

/// New times of the last read and the last write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// The last read.
    pub read: SetTime,
    /// The last write.
    pub written: SetTime,
}

impl Files {
    /// `stat` for a node.
    pub fn stat(&self, node: Node) -> Result<Stat, Errno> {
        match node {
            Node::Inode(id) => Ok(self.inode_stat(id)),
            Node::Proc(node) => Ok(self.proc_stat(node)),
            Node::Open(file) => self.file_stat(file),
        }
    }

    /// `newfstatat`: an empty path asks for `base` itself.
    pub fn stat_path(
        &mut self,
        caller: &Caller<'_>,
        base: Node,
        path: &[u8],
        follow: bool,
    ) -> Result<Stat, Errno> {
        let node = if path.is_empty() { base } else { self.find(caller, base, path, follow)?.node };
        self.stat(node)
    }

    fn inode_stat(&self, id: InodeId) -> Stat {
        let inode = self.inode(id);
        let size = inode.kind.size();
        let blocks = match (&inode.kind, inode.host_blocks) {
            (_, Some(blocks)) => blocks,
            (Kind::File(content), None) => content.pages_used() * 8,
            (Kind::Directory(_), None) => 8,
            _ => 0,
        };
        let made_up = [PROC_DEVICE, SYS_DEVICE].contains(&inode.dev);
        Stat {
            dev: inode.dev,
            ino: inode.ino,
            mode: inode.mode(),
            nlink: inode.nlink,
            uid: inode.uid,
            gid: inode.gid,
            rdev: match inode.kind {
                Kind::Device(device) => device.number(),
                Kind::Absent { rdev, .. } => rdev,
                _ => 0,
            },
            size: if inode.dev == PROC_DEVICE && inode.kind.bits() != S_IFLNK { 0 } else { size },
            blksize: PAGE as u64,
            blocks: if made_up { 0 } else { blocks },
            atime: inode.atime,
            mtime: inode.mtime,
            ctime: inode.ctime,
            btime: inode.btime,
        }
    }

    /// `fstat`.
    pub fn file_stat(&self, file: FileId) -> Result<Stat, Errno> {
        let description = self.description(file)?;
        let user = &self.config.user;
        let time = self.clock.real;
        let nameless = |mode: u32, number: u64| Stat {
            dev: ANONYMOUS,
            ino: number,
            mode,
            nlink: 1,
            uid: user.uid,
            gid: user.gid,
            blksize: PAGE as u64,
            atime: time,
            mtime: time,
            ctime: time,
            ..Stat::default()
        };
        Ok(match description.object {
            Object::Inode(id) => self.inode_stat(id),
            Object::Path(node) => return self.stat(node),
            Object::Text(node, _) | Object::ProcDirectory(node) => self.proc_stat(node),
            Object::Pipe(pipe) => match self.pipe(pipe).inode {
                Some(inode) => self.inode_stat(inode),
                None => nameless(S_IFIFO | 0o600, pipe.number()),
            },
            Object::Feed(inode) | Object::Sink(inode) => nameless(S_IFIFO | 0o600, inode.number()),
            Object::Socket(socket) => nameless(S_IFSOCK | 0o777, socket.number()),
            Object::Event(event) => nameless(0o600, event.number()),
        })
    }

    /// `statfs` for a node.
    pub fn statfs(&self, node: Node) -> Result<StatFs, Errno> {
        Ok(match node {
            Node::Inode(id) => match self.inode(id).dev {
                PROC_DEVICE => StatFs::PROC,
                SYS_DEVICE => StatFs::SYS,
                DEV_DEVICE => StatFs::MEMORY,
                _ => StatFs::DISK,
            },
            Node::Proc(_) => StatFs::PROC,
            Node::Open(file) => match self.description(file)?.object {
                Object::Pipe(_) | Object::Feed(_) | Object::Sink(_) => StatFs::PIPE,
                Object::Socket(_) => StatFs::SOCKET,
                _ => StatFs::ANONYMOUS,
            },
        })
    }

    /// `faccessat2`, for a given user: the real one, unless `AT_EACCESS` was given.
    pub fn access(&self, user: &User, node: Node, wish: u32) -> Result<(), Errno> {
        if wish & !7 != 0 {
            return Err(Errno::EINVAL);
        }
        self.may(user, node, wish)
    }

    /// The inode whose attributes are to be changed.
    fn changeable(&self, node: Node) -> Result<InodeId, Errno> {
        match node {
            Node::Inode(id) => Ok(id),
            Node::Proc(_) => Err(Errno::EPERM),
            Node::Open(file) => match self.description(file)?.object {
                Object::Pipe(_) | Object::Feed(_) | Object::Sink(_) | Object::Socket(_) => {
                    Err(Errno::EPERM)
                }
                _ => Err(Errno::EOPNOTSUPP),
            },
        }
    }

    /// `fchmodat`, for a node. Links have no permissions of their own.
    pub fn chmod(&mut self, user: &User, node: Node, mode: u32) -> Result<(), Errno> {
        let id = self.changeable(node)?;
        let inode = self.inode(id);
        if matches!(inode.kind, Kind::Link(_)) {
            return Err(Errno::EOPNOTSUPP);
        }
        if user.uid != 0 && user.uid != inode.uid {
            return Err(Errno::EPERM);
        }
        let mut permissions = mode & 0o7777;
        let in_group = inode.gid == user.gid || user.groups.contains(&inode.gid);
        if user.uid != 0 && !in_group {
            permissions &= !S_ISGID;
        }
        let now = self.clock.real;
        let inode = self.inode_mut(id);
        inode.permissions = permissions;
        inode.ctime = now;
        Ok(())
    }

    /// `fchownat`, for a node; `None` keeps.
    pub fn chown(
        &mut self,
        user: &User,
        node: Node,
        uid: Option<u32>,
        gid: Option<u32>,
    ) -> Result<(), Errno> {
        let id = self.changeable(node)?;
        let inode = self.inode(id);
        if user.uid != 0 {
            let own = user.uid == inode.uid;
            let same = uid.is_none_or(|uid| own && uid == inode.uid);
            let mine = |gid| gid == inode.gid || gid == user.gid || user.groups.contains(&gid);
            if !same || !gid.is_none_or(|gid| own && mine(gid)) {
                return Err(Errno::EPERM);
            }
        }
        let now = self.clock.real;
        let inode = self.inode_mut(id);
        inode.uid = uid.unwrap_or(inode.uid);
        inode.gid = gid.unwrap_or(inode.gid);
        if (uid.is_some() || gid.is_some()) && matches!(inode.kind.bits(), S_IFREG) {
            // Whoever gets a file must not get the owner's powers with it.
            inode.permissions &= !S_ISUID;
            if inode.permissions & 0o010 != 0 {
                inode.permissions &= !S_ISGID;
            }
        }
        inode.ctime = now;
        Ok(())
    }

    /// `utimensat`, for a node.
    pub fn set_times(&mut self, user: &User, node: Node, times: Times) -> Result<(), Errno> {
        if times.read == SetTime::Keep && times.written == SetTime::Keep {
            return Ok(());
        }
        let id = self.changeable(node)?;
        let owns = user.uid == 0 || user.uid == self.inode(id).uid;
        if !owns {
            if times.read != SetTime::Now || times.written != SetTime::Now {
                return Err(Errno::EPERM);
            }
            self.may(user, node, W_OK)?;
        }
        let now = self.clock.real;
        let inode = self.inode_mut(id);
        let set = |old: &mut Timestamp, new| match new {
            SetTime::Keep => {}
            SetTime::Now => *old = now,
            SetTime::To(time) => *old = time,
        };
        set(&mut inode.atime, times.read);
        set(&mut inode.mtime, times.written);
        inode.ctime = now;
        Ok(())
    }

    /// `truncate`, for a node.
    pub fn truncate(&mut self, user: &User, node: Node, len: i64) -> Result<(), Errno> {
        let Ok(len) = u64::try_from(len) else { return Err(Errno::EINVAL) };
        let Node::Inode(id) = node else { return Err(Errno::EINVAL) };
        match self.inode(id).kind {
            Kind::File(_) | Kind::HostFile(..) => {}
            Kind::Directory(_) => return Err(Errno::EISDIR),
            _ => return Err(Errno::EINVAL),
        }
        self.may(user, node, W_OK)?;
        self.resize(id, len)
    }

    /// `ftruncate`.
    pub fn file_truncate(&mut self, file: FileId, len: i64) -> Result<(), Errno> {
        let Ok(len) = u64::try_from(len) else { return Err(Errno::EINVAL) };
        let description = self.description(file)?;
        let Object::Inode(id) = description.object else {
            return Err(match description.object {
                Object::Path(_) => Errno::EBADF,
                _ => Errno::EINVAL,
            });
        };
        if !description.writes() || !matches!(self.inode(id).kind.bits(), S_IFREG) {
            return Err(Errno::EINVAL);
        }
        let size = self.inode(id).kind.size();
        let seals = description.seals;
        if len < size && seals & F_SEAL_SHRINK != 0 || len > size && seals & F_SEAL_GROW != 0 {
            return Err(Errno::EPERM);
        }
        self.resize(id, len)
    }

    fn resize(&mut self, id: InodeId, len: u64) -> Result<(), Errno> {
        if len > super::io::LARGEST {
            return Err(Errno::EFBIG);
        }
        self.change(id, |content| content.truncate(len))
    }

    /// `getxattr` and its relatives: no file has extended attributes.
    pub fn get_attribute(&self, node: Node, name: &[u8]) -> Result<Vec<u8>, Errno> {
        let known = [&b"user."[..], b"security.", b"system.", b"trusted."]
            .iter()
            .any(|prefix| name.starts_with(prefix));
        match node {
            Node::Inode(_) if known => Err(Errno::ENODATA),
            _ => Err(Errno::EOPNOTSUPP),
        }
    }
}
