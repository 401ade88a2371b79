//! Reading, writing and seeking on everything that can be open.
//!
//! Each transfer says where its bytes come from or go to ([`Moved::place`]), so that whoever keeps
//! facts about single bytes can follow them through files and pipes.

use super::description::Object;
use super::devices::Device;
use super::event::Event;
use super::ids::{FileId, Halt, InodeId, Moved, Place, SourceId};
use super::inode::Kind;
use super::{Files, Timestamp};
use crate::linux::abi::*;
use crate::linux::errno::Errno;

/// The largest size of a file.
pub(super) const LARGEST: u64 = (1 << 44) - PAGE as u64;

/// A place in a file.
fn in_file(id: InodeId, offset: u64) -> Option<Place> {
    Some(Place { source: SourceId::Inode(id), offset })
}

impl Files {
    /// `read`.
    pub fn read(&mut self, file: FileId, into: &mut [u8]) -> Result<Moved, Halt> {
        let offset = self.description(file)?.offset;
        let moved = self.read_from(file, offset, into)?;
        if moved.count > 0 && self.is_seekable(file)? {
            self.description_mut(file)?.offset = offset + moved.count as u64;
        }
        Ok(moved)
    }

    /// `pread64`.
    pub fn read_at(&mut self, file: FileId, offset: i64, into: &mut [u8]) -> Result<Moved, Halt> {
        let Ok(offset) = u64::try_from(offset) else { return Err(Errno::EINVAL.into()) };
        let description = self.description(file)?;
        if description.flags & O_PATH != 0 {
            return Err(Errno::EBADF.into());
        }
        if !self.has_positions(file)? {
            return Err(Errno::ESPIPE.into());
        }
        self.read_from(file, offset, into)
    }

    fn read_from(&mut self, file: FileId, offset: u64, into: &mut [u8]) -> Result<Moved, Halt> {
        let description = self.description(file)?;
        if !description.reads() {
            return Err(Errno::EBADF.into());
        }
        match &description.object {
            Object::Inode(id) => {
                let id = *id;
                match &self.inode(id).kind {
                    Kind::File(content) => {
                        let count = content.read_at(offset, into)?;
                        Ok(Moved { count, place: in_file(id, offset) })
                    }
                    Kind::Directory(_) => Err(Errno::EISDIR.into()),
                    Kind::Device(device) => {
                        let device = *device;
                        Ok(Moved::bytes(self.read_device(device, into)))
                    }
                    _ => Err(Errno::EINVAL.into()),
                }
            }
            Object::Text(_, text) => {
                let rest = text.get(offset as usize..).unwrap_or_default();
                let count = rest.len().min(into.len());
                into[..count].copy_from_slice(&rest[..count]);
                Ok(Moved::bytes(count))
            }
            Object::ProcDirectory(_) => Err(Errno::EISDIR.into()),
            Object::Path(_) => Err(Errno::EBADF.into()),
            Object::Pipe(pipe) => self.read_pipe(file, *pipe, into),
            Object::Feed(id) => {
                let id = *id;
                let from = self.fed;
                let count = match &self.inode(id).kind {
                    Kind::File(content) => content.read_at(from, into)?,
                    _ => 0,
                };
                self.fed += count as u64;
                Ok(Moved { count, place: in_file(id, from) })
            }
            Object::Sink(_) => Err(Errno::EBADF.into()),
            Object::Socket(_) => self.receive_stream(file, into),
            Object::Event(event) => self.read_event(file, *event, into),
        }
    }

    fn read_device(&mut self, device: Device, into: &mut [u8]) -> usize {
        match device {
            Device::Null => return 0,
            Device::Zero | Device::Full => into.fill(0),
            Device::Random | Device::Urandom => self.noise.fill(into),
        }
        into.len()
    }

    /// `getrandom`: the same stream as the random devices.
    pub fn random(&mut self, into: &mut [u8]) {
        self.noise.fill(into);
    }

    /// `write`.
    pub fn write(&mut self, file: FileId, bytes: &[u8]) -> Result<Moved, Halt> {
        let description = self.description(file)?;
        let mut offset = description.offset;
        if description.flags & O_APPEND != 0
            && let Object::Inode(id) = description.object
        {
            offset = self.inode(id).kind.size();
        }
        let moved = self.write_to(file, offset, bytes)?;
        if moved.count > 0 && self.is_seekable(file)? {
            self.description_mut(file)?.offset = offset + moved.count as u64;
        }
        Ok(moved)
    }

    /// `pwrite64`. As on Linux, a file opened to append appends here, too.
    pub fn write_at(&mut self, file: FileId, offset: i64, bytes: &[u8]) -> Result<Moved, Halt> {
        let Ok(mut offset) = u64::try_from(offset) else { return Err(Errno::EINVAL.into()) };
        let description = self.description(file)?;
        if description.flags & O_PATH != 0 {
            return Err(Errno::EBADF.into());
        }
        if !self.has_positions(file)? {
            return Err(Errno::ESPIPE.into());
        }
        if description.flags & O_APPEND != 0
            && let Object::Inode(id) = description.object
        {
            offset = self.inode(id).kind.size();
        }
        self.write_to(file, offset, bytes)
    }

    fn write_to(&mut self, file: FileId, offset: u64, bytes: &[u8]) -> Result<Moved, Halt> {
        let description = self.description(file)?;
        if !description.writes() {
            return Err(Errno::EBADF.into());
        }
        let seals = description.seals;
        match description.object {
            Object::Inode(id) => match self.inode(id).kind {
                Kind::File(_) => {
                    if bytes.is_empty() {
                        return Ok(Moved { count: 0, place: in_file(id, offset) });
                    }
                    if offset >= LARGEST {
                        return Err(Errno::EFBIG.into());
                    }
                    let end = offset + bytes.len() as u64;
                    if seals & F_SEAL_WRITE != 0
                        || seals & F_SEAL_GROW != 0 && end > self.inode(id).kind.size()
                    {
                        return Err(Errno::EPERM.into());
                    }
                    let count = bytes.len().min((LARGEST - offset) as usize);
                    self.change(id, |content| content.write_at(offset, &bytes[..count]))?;
                    self.drop_privileges(id);
                    Ok(Moved { count, place: in_file(id, offset) })
                }
                Kind::Device(Device::Full) => Err(Errno::ENOSPC.into()),
                Kind::Device(_) => Ok(Moved::bytes(bytes.len())),
                _ => Err(Errno::EINVAL.into()),
            },
            Object::Sink(id) => {
                let end = self.inode(id).kind.size();
                self.change(id, |content| content.write_at(end, bytes))?;
                // Nobody inside the machine reads it.
                Ok(Moved::bytes(bytes.len()))
            }
            // A process may set its name and its standing here; both change nothing.
            Object::Text(..) => Ok(Moved::bytes(bytes.len())),
            Object::ProcDirectory(_) | Object::Path(_) | Object::Feed(_) => {
                Err(Errno::EBADF.into())
            }
            Object::Pipe(pipe) => self.write_pipe(file, pipe, bytes),
            Object::Socket(_) => self.send_stream(file, bytes),
            Object::Event(event) => self.write_event(file, event, bytes),
        }
    }

    /// A write takes set-id bits away, unless the super-user writes.
    fn drop_privileges(&mut self, id: InodeId) {
        if self.config.user.uid != 0 {
            let inode = self.inode_mut(id);
            inode.permissions &= !S_ISUID;
            if inode.permissions & 0o010 != 0 {
                inode.permissions &= !S_ISGID;
            }
        }
    }

    /// Whether reads and writes move the offset.
    fn is_seekable(&self, file: FileId) -> Result<bool, Errno> {
        Ok(match &self.description(file)?.object {
            Object::Inode(id) => {
                matches!(self.inode(*id).kind, Kind::File(_) | Kind::HostFile(..))
            }
            Object::Text(..) => true,
            _ => false,
        })
    }

    /// Whether `pread` and `lseek` make sense.
    fn has_positions(&self, file: FileId) -> Result<bool, Errno> {
        Ok(matches!(
            self.description(file)?.object,
            Object::Inode(_) | Object::Text(..) | Object::ProcDirectory(_)
        ))
    }

    /// `lseek`.
    pub fn seek(&mut self, file: FileId, offset: i64, whence: u32) -> Result<u64, Errno> {
        let description = self.description(file)?;
        if description.flags & O_PATH != 0 {
            return Err(Errno::EBADF);
        }
        if whence > SEEK_HOLE {
            return Err(Errno::EINVAL);
        }
        let here = description.offset;
        let (size, inode) = match &description.object {
            Object::Inode(id) => {
                let inode = self.inode(*id);
                if let Kind::Device(_) = inode.kind {
                    return Ok(0);
                }
                (inode.kind.size(), Some(*id))
            }
            Object::Text(_, text) => (text.len() as u64, None),
            Object::ProcDirectory(_) => (0, None),
            // Counters and timers stay where they are, and say so.
            Object::Event(_) => return Ok(0),
            _ => return Err(Errno::ESPIPE),
        };
        let to = match whence {
            SEEK_SET => Some(offset),
            SEEK_CUR => (here as i64).checked_add(offset),
            SEEK_END => (size as i64).checked_add(offset),
            _ => {
                let from = u64::try_from(offset).map_err(|_| Errno::ENXIO)?;
                let data = whence == SEEK_DATA;
                let found = match inode.map(|id| &self.inode(id).kind) {
                    Some(Kind::File(content)) => content.seek(from, data),
                    _ if from < size => Some(if data { from } else { size }),
                    _ => None,
                };
                Some(found.ok_or(Errno::ENXIO)? as i64)
            }
        };
        // What is too far to be counted is as wrong as what is before the start.
        let to = to.and_then(|to| u64::try_from(to).ok()).ok_or(Errno::EINVAL)?;
        if to > LARGEST && inode.is_some_and(|id| self.inode(id).directory().is_none()) {
            return Err(Errno::EINVAL);
        }
        let description = self.description_mut(file)?;
        description.offset = to;
        if to == 0 {
            description.listing = None;
        }
        Ok(to)
    }

    /// `fallocate`.
    pub fn allocate(
        &mut self,
        file: FileId,
        mode: u32,
        offset: i64,
        len: i64,
    ) -> Result<(), Errno> {
        let description = self.description(file)?;
        if description.flags & O_PATH != 0 || !description.writes() {
            return Err(Errno::EBADF);
        }
        if offset < 0 || len <= 0 {
            return Err(Errno::EINVAL);
        }
        let id = match description.object {
            Object::Inode(id) => id,
            Object::Pipe(_) | Object::Sink(_) | Object::Feed(_) => return Err(Errno::ESPIPE),
            _ => return Err(Errno::ENODEV),
        };
        if !matches!(self.inode(id).kind, Kind::File(_)) {
            return Err(Errno::ENODEV);
        }
        let keep = mode & FALLOC_FL_KEEP_SIZE != 0;
        let (offset, len) = (offset as u64, len as u64);
        let end = offset + len;
        if end > LARGEST {
            return Err(Errno::EFBIG);
        }
        match mode & !FALLOC_FL_KEEP_SIZE {
            0 => self.change(id, |content| {
                if !keep && content.len() < end {
                    content.truncate(end);
                }
            }),
            FALLOC_FL_PUNCH_HOLE if keep => self.change(id, |content| content.zero(offset, len)),
            FALLOC_FL_ZERO_RANGE => self.change(id, |content| {
                if !keep && content.len() < end {
                    content.truncate(end);
                }
                content.zero(offset, len);
            }),
            _ => Err(Errno::EOPNOTSUPP),
        }
    }

    /// `fsync` and `fdatasync`: there is nothing to wait for.
    pub fn sync(&self, file: FileId) -> Result<(), Errno> {
        let description = self.description(file)?;
        match description.object {
            _ if description.flags & O_PATH != 0 => Err(Errno::EBADF),
            Object::Inode(id) if !matches!(self.inode(id).kind, Kind::Device(_)) => Ok(()),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Which `POLL` bits hold for a file now.
    pub fn ready(&self, file: FileId) -> u32 {
        const READ: u32 = POLLIN | POLLRDNORM;
        const WRITE: u32 = POLLOUT | POLLWRNORM;
        let Ok(description) = self.description(file) else { return POLLNVAL };
        match &description.object {
            Object::Inode(_) | Object::Text(..) | Object::ProcDirectory(_) => READ | WRITE,
            Object::Path(_) => POLLNVAL,
            Object::Feed(id) => {
                // The writer of standard input is gone from the start: an end, and maybe bytes.
                let more = self.fed < self.inode(*id).kind.size();
                POLLHUP | if more { READ } else { 0 }
            }
            Object::Sink(_) => WRITE,
            Object::Pipe(pipe) => self.pipe(*pipe).ready(description.reads(), description.writes()),
            Object::Socket(socket) => self.socket_ready(*socket),
            Object::Event(event) => match self.events.get(event).map(|event| &**event) {
                Some(event @ (Event::Counter { .. } | Event::Timer { .. })) => {
                    event.ready(self.clock)
                }
                Some(Event::Poll(_)) => {
                    if self.epoll_has_events(*event) {
                        READ
                    } else {
                        0
                    }
                }
                None => POLLNVAL,
            },
        }
    }

    /// Marks a file as read: the time of the last read, for those who ask for it.
    pub fn touch_read(&mut self, id: InodeId, time: Timestamp) {
        self.inode_mut(id).atime = time;
    }
}
