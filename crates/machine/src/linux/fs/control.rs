//! `fcntl`, `flock` and the few `ioctl`s that are about files.
//!
//! Locks always succeed: the machine runs one program, and a lock that its own processes fight
//! over would need the scheduler. This is the one place where two processes of a run can see more
//! than on Linux.

use super::Files;
use super::description::Object;
use super::ids::FileId;
use super::inode::Kind;
use crate::linux::abi::*;
use crate::linux::errno::Errno;

/// Flags that `F_SETFL` can change.
const CHANGEABLE: u32 = O_APPEND | O_ASYNC | O_DIRECT | O_NOATIME | O_NONBLOCK;

/// The kind of a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockKind {
    /// Shared.
    Read,
    /// Exclusive.
    Write,
    /// None.
    Unlocked,
}

/// A wish for a lock on a range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Which kind.
    pub kind: LockKind,
    /// Where offsets count from.
    pub whence: u16,
    /// The first byte.
    pub start: i64,
    /// How many; zero up to the end.
    pub len: i64,
}

impl Lock {
    /// The wish in a `struct flock`.
    pub fn decode(bytes: &[u8; 32]) -> Result<Lock, Errno> {
        let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
        let long =
            |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        let kind = match half(0) {
            F_RDLCK => LockKind::Read,
            F_WRLCK => LockKind::Write,
            F_UNLCK => LockKind::Unlocked,
            _ => return Err(Errno::EINVAL),
        };
        Ok(Lock { kind, whence: half(2), start: long(8), len: long(16) })
    }
}

impl Files {
    /// `F_GETFL`.
    pub fn status_flags(&self, file: FileId) -> Result<u32, Errno> {
        Ok(self.description(file)?.flags)
    }

    /// `F_SETFL`: only some flags can change.
    pub fn set_status_flags(&mut self, file: FileId, flags: u32) -> Result<(), Errno> {
        let description = self.description_mut(file)?;
        if description.flags & O_PATH != 0 {
            return Err(Errno::EBADF);
        }
        description.flags = description.flags & !CHANGEABLE | flags & CHANGEABLE;
        Ok(())
    }

    /// `FIONBIO`.
    pub fn set_nonblocking(&mut self, file: FileId, on: bool) -> Result<(), Errno> {
        let flags = self.status_flags(file)?;
        self.set_status_flags(file, if on { flags | O_NONBLOCK } else { flags & !O_NONBLOCK })
    }

    /// `F_SETLK`, `F_SETLKW` and their OFD relatives. The access mode must fit the kind.
    pub fn lock(&self, file: FileId, lock: Lock) -> Result<(), Errno> {
        let description = self.description(file)?;
        if description.flags & O_PATH != 0 {
            return Err(Errno::EBADF);
        }
        if lock.whence > SEEK_END as u16 || lock.whence == 0 && lock.start < 0 {
            return Err(Errno::EINVAL);
        }
        match lock.kind {
            LockKind::Read if !description.reads() => Err(Errno::EBADF),
            LockKind::Write if !description.writes() => Err(Errno::EBADF),
            _ => Ok(()),
        }
    }

    /// `flock`.
    pub fn flock(&self, file: FileId, operation: u32) -> Result<(), Errno> {
        let description = self.description(file)?;
        if description.flags & O_PATH != 0 {
            return Err(Errno::EBADF);
        }
        match operation & !4 {
            1 | 2 | 8 => Ok(()),
            _ => Err(Errno::EINVAL),
        }
    }

    /// `F_GETOWN`.
    pub fn owner(&self, file: FileId) -> Result<i32, Errno> {
        Ok(self.description(file)?.owner)
    }

    /// `F_SETOWN`.
    pub fn set_owner(&mut self, file: FileId, owner: i32) -> Result<(), Errno> {
        self.description_mut(file)?.owner = owner;
        Ok(())
    }

    /// `F_GET_SEALS`: only memory files have seals.
    pub fn seals(&self, file: FileId) -> Result<u32, Errno> {
        let description = self.description(file)?;
        match description.object {
            Object::Inode(id) if self.inode(id).dev == super::procfs::DEV_DEVICE => {
                Ok(description.seals)
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// `F_ADD_SEALS`.
    pub fn add_seals(&mut self, file: FileId, seals: u32) -> Result<(), Errno> {
        let known = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | 0x10 | 0x20;
        let before = self.seals(file)?;
        if seals & !known != 0 {
            return Err(Errno::EINVAL);
        }
        if before & F_SEAL_SEAL != 0 || !self.description(file)?.writes() {
            return Err(Errno::EPERM);
        }
        self.description_mut(file)?.seals |= seals;
        Ok(())
    }

    /// `FIONREAD`: how many bytes a read would get at once.
    pub fn readable_bytes(&self, file: FileId) -> Result<usize, Errno> {
        let description = self.description(file)?;
        match description.object {
            _ if description.flags & O_PATH != 0 => Err(Errno::EBADF),
            Object::Inode(id) => match &self.inode(id).kind {
                Kind::File(content) => {
                    Ok(content.len().saturating_sub(description.offset) as usize)
                }
                _ => Err(Errno::ENOTTY),
            },
            Object::Pipe(pipe) => Ok(self.pipe(pipe).len()),
            Object::Feed(id) => Ok((self.inode(id).kind.size() - self.fed) as usize),
            Object::Sink(_) => Ok(0),
            Object::Socket(socket) => self.socket_bytes(socket),
            _ => Err(Errno::ENOTTY),
        }
    }
}
