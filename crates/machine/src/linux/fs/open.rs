//! `openat`, and files that are made without a name: `memfd_create`, `O_TMPFILE`.

use super::content::Content;
use super::description::{Description, Object};
use super::ids::{FileId, InodeId, Node};
use super::inode::{Kind, Name};
use super::path::Last;
use super::procfs::ProcNode;
use super::{Caller, Files};
use crate::linux::abi::*;
use crate::linux::errno::Errno;

/// Flags that stay with the open file.
const KEPT: u32 = O_ACCMODE
    | O_APPEND
    | O_NONBLOCK
    | O_SYNC
    | O_ASYNC
    | O_DIRECT
    | O_NOATIME
    | O_PATH
    | O_DIRECTORY
    | O_NOFOLLOW
    | O_TMPFILE;

/// An opened file, with one reference that the caller owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opened {
    /// The file.
    pub file: FileId,
    /// Whether the call has to sleep until [`Files::has_peer`]: a named pipe without another end.
    pub awaits_peer: bool,
}

impl Files {
    /// `openat`. Close-on-exec is a matter of the descriptor, not of the file.
    pub fn open(
        &mut self,
        caller: &Caller<'_>,
        base: Node,
        path: &[u8],
        flags: u32,
        mode: u32,
    ) -> Result<Opened, Errno> {
        if flags & O_PATH != 0 {
            let flags = flags & (O_PATH | O_DIRECTORY | O_NOFOLLOW);
            return self.open_place(caller, base, path, flags);
        }
        if flags & (O_CREAT | O_DIRECTORY) == O_CREAT | O_DIRECTORY {
            return Err(Errno::EINVAL);
        }
        if flags & O_TMPFILE == O_TMPFILE {
            return self.open_temporary(caller, base, path, flags, mode);
        }
        let create = flags & O_CREAT != 0;
        let exclusive = create && flags & O_EXCL != 0;
        let follow = flags & O_NOFOLLOW == 0 && !exclusive;
        let walk = self.walk_to_open(caller, base, path, follow, create)?;
        let at = match &walk.last {
            Last::Name(name) => Some((walk.parent, name.clone())),
            _ => None,
        };
        let Some(node) = walk.node else {
            if !create {
                return Err(Errno::ENOENT);
            }
            let dir = self.new_place(caller, &walk)?;
            let permissions = mode & 0o7777 & !caller.umask;
            let name = walk.new_name()?;
            let kind = Kind::File(Content::new());
            let id = self.make(caller, dir, &name, kind, permissions);
            // Whoever makes a file may use it at once, whatever its mode.
            return Ok(self.opened(Object::Inode(id), flags, at));
        };
        if exclusive {
            return Err(Errno::EEXIST);
        }
        if self.mode(node) & S_IFMT == S_IFLNK {
            return Err(if walk.slash || flags & O_DIRECTORY != 0 {
                Errno::ENOTDIR
            } else {
                Errno::ELOOP
            });
        }
        if walk.slash && !self.is_directory(node) {
            return Err(Errno::ENOTDIR);
        }
        if create && self.is_directory(node) {
            return Err(Errno::EISDIR);
        }
        self.open_node(caller, node, flags, at)
    }

    /// Opens something that exists.
    fn open_node(
        &mut self,
        caller: &Caller<'_>,
        node: Node,
        flags: u32,
        at: Option<(Node, Name)>,
    ) -> Result<Opened, Errno> {
        let is_directory = self.is_directory(node);
        if flags & O_DIRECTORY != 0 && !is_directory {
            return Err(Errno::ENOTDIR);
        }
        let writes = matches!(flags & O_ACCMODE, O_WRONLY | O_RDWR);
        if is_directory && (writes || flags & O_TRUNC != 0) {
            return Err(Errno::EISDIR);
        }
        let mut wish = match flags & O_ACCMODE {
            O_RDONLY => R_OK,
            O_WRONLY => W_OK,
            _ => R_OK | W_OK,
        };
        if flags & O_TRUNC != 0 {
            wish |= W_OK;
        }
        self.may(caller.user, node, wish)?;
        match node {
            Node::Inode(id) => self.open_inode(caller, id, flags, at),
            Node::Proc(node) => {
                let object = match node {
                    ProcNode::Text(pid, text) => {
                        let text = self.proc_text(caller.processes, pid, text)?;
                        Object::Text(node, text.into())
                    }
                    _ => Object::ProcDirectory(node),
                };
                Ok(self.opened(object, flags, at))
            }
            Node::Open(file) => {
                let description = self.description(file)?;
                let object = description.object.clone();
                match object {
                    Object::Pipe(_) => Ok(self.opened(object, flags, None)),
                    Object::Feed(_) if !writes => Ok(self.opened(object, flags, None)),
                    Object::Sink(_) if flags & O_ACCMODE == O_WRONLY => {
                        Ok(self.opened(object, flags, None))
                    }
                    Object::Feed(_) | Object::Sink(_) => Err(Errno::EACCES),
                    _ => Err(Errno::ENXIO),
                }
            }
        }
    }

    fn open_inode(
        &mut self,
        caller: &Caller<'_>,
        id: InodeId,
        flags: u32,
        at: Option<(Node, Name)>,
    ) -> Result<Opened, Errno> {
        let inode = self.inode(id);
        if flags & O_NOATIME != 0 && caller.user.uid != 0 && caller.user.uid != inode.uid {
            return Err(Errno::EPERM);
        }
        match inode.kind {
            Kind::Absent { .. } | Kind::Socket(_) => return Err(Errno::ENXIO),
            Kind::Fifo(pipe) => return self.open_fifo(id, pipe, flags, at),
            Kind::HostFile(..) => self.load(id)?,
            Kind::File(_) | Kind::Directory(_) | Kind::Device(_) | Kind::Link(_) => {}
        }
        if flags & O_TRUNC != 0 && matches!(self.inode(id).kind, Kind::File(_)) {
            self.change(id, |content| content.truncate(0))?;
        }
        Ok(self.opened(Object::Inode(id), flags, at))
    }

    fn opened(&mut self, object: Object, flags: u32, at: Option<(Node, Name)>) -> Opened {
        let mut description = Description::new(object, flags & KEPT | O_LARGEFILE);
        description.at = at;
        Opened { file: self.describe(description), awaits_peer: false }
    }

    fn open_fifo(
        &mut self,
        id: InodeId,
        pipe: Option<super::PipeId>,
        flags: u32,
        at: Option<(Node, Name)>,
    ) -> Result<Opened, Errno> {
        let pipe = match pipe {
            Some(pipe) => pipe,
            None => {
                let pipe = self.make_pipe(Some(id));
                self.inode_mut(id).kind = Kind::Fifo(Some(pipe));
                pipe
            }
        };
        let state = self.pipe(pipe);
        let (readers, writers) = (state.readers, state.writers);
        let before = match flags & O_ACCMODE {
            O_RDONLY => state.writers_ever,
            _ => state.readers_ever,
        };
        let alone = match flags & O_ACCMODE {
            O_RDONLY => writers == 0,
            O_WRONLY => readers == 0,
            _ => false,
        };
        let nonblocking = flags & O_NONBLOCK != 0;
        if alone && nonblocking && flags & O_ACCMODE == O_WRONLY {
            self.drop_unused_pipe(pipe);
            return Err(Errno::ENXIO);
        }
        let opened = self.opened(Object::Pipe(pipe), flags, at);
        self.description_mut(opened.file)?.peers_before = before;
        Ok(Opened { awaits_peer: alone && !nonblocking, ..opened })
    }

    /// Whether the other end of a named pipe has been opened since this one was.
    pub fn has_peer(&self, file: FileId) -> bool {
        let Ok(description) = self.description(file) else { return true };
        let Object::Pipe(pipe) = description.object else { return true };
        let pipe = self.pipe(pipe);
        let ever = if description.reads() { pipe.writers_ever } else { pipe.readers_ever };
        ever > description.peers_before
    }

    fn open_place(
        &mut self,
        caller: &Caller<'_>,
        base: Node,
        path: &[u8],
        flags: u32,
    ) -> Result<Opened, Errno> {
        let found = self.find(caller, base, path, flags & O_NOFOLLOW == 0)?;
        if flags & O_DIRECTORY != 0 && !self.is_directory(found.node) {
            return Err(Errno::ENOTDIR);
        }
        let mut opened = Description::new(Object::Path(found.node), flags);
        opened.at = found.at;
        Ok(Opened { file: self.describe(opened), awaits_peer: false })
    }

    fn open_temporary(
        &mut self,
        caller: &Caller<'_>,
        base: Node,
        path: &[u8],
        flags: u32,
        mode: u32,
    ) -> Result<Opened, Errno> {
        if !matches!(flags & O_ACCMODE, O_WRONLY | O_RDWR) {
            return Err(Errno::EINVAL);
        }
        let node = self.find(caller, base, path, flags & O_NOFOLLOW == 0)?.node;
        let (dir, _) = match node {
            Node::Proc(_) if self.is_directory(node) => return Err(Errno::EOPNOTSUPP),
            _ => self.directory(node)?,
        };
        self.may(caller.user, node, W_OK | X_OK)?;
        let permissions = mode & 0o7777 & !caller.umask;
        let id = self.make_unnamed(caller, dir, Kind::File(Content::new()), permissions);
        let name: Name = format!("#{}", self.inode(id).ino).into_bytes().into();
        let inode = self.inode_mut(id);
        inode.nlink = 0;
        inode.temporary = flags & O_EXCL == 0;
        Ok(self.opened(Object::Inode(id), flags, Some((node, name))))
    }

    /// `memfd_create`.
    pub fn memory_file(
        &mut self,
        caller: &Caller<'_>,
        name: &[u8],
        flags: u32,
    ) -> Result<FileId, Errno> {
        let known = MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL | MFD_EXEC;
        if flags & !known != 0 || name.len() > 249 {
            return Err(Errno::EINVAL);
        }
        let shm = self.shm;
        let id = self.make_unnamed(caller, shm, Kind::File(Content::new()), 0o777);
        self.inode_mut(id).nlink = 0;
        let mut description = Description::new(Object::Inode(id), O_RDWR | O_LARGEFILE);
        let label: Name = [b"memfd:", name].concat().into();
        description.at = Some((self.root(), label));
        if flags & MFD_ALLOW_SEALING != 0 {
            description.seals = 0;
        }
        Ok(self.describe(description))
    }
}
