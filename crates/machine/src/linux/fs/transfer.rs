//! Copies from file to file inside the kernel: `sendfile`, `copy_file_range`, `splice`.
//!
//! Each is a read and a write of at most a chunk; a short count is always allowed.

use super::Files;
use super::description::Object;
use super::ids::{FileId, Halt, Wait};
use super::inode::Kind;
use crate::linux::abi::*;
use crate::linux::errno::Errno;

/// The most that one call moves.
const CHUNK: usize = 1 << 20;

impl Files {
    fn is_regular(&self, file: FileId) -> Result<bool, Errno> {
        Ok(match self.description(file)?.object {
            Object::Inode(id) => matches!(self.inode(id).kind, Kind::File(_)),
            _ => false,
        })
    }

    fn is_pipe(&self, file: FileId) -> Result<bool, Errno> {
        let object = &self.description(file)?.object;
        Ok(matches!(object, Object::Pipe(_) | Object::Feed(_) | Object::Sink(_)))
    }

    /// `sendfile`: from a regular file at `offset`, or at its own, to anything.
    pub fn send_file(
        &mut self,
        to: FileId,
        from: FileId,
        offset: Option<&mut i64>,
        count: usize,
    ) -> Result<usize, Halt> {
        if !self.description(from)?.reads() || !self.description(to)?.writes() {
            return Err(Errno::EBADF.into());
        }
        let is_text = matches!(self.description(from)?.object, Object::Text(..));
        if self.is_pipe(from)? {
            return Err(if offset.is_some() { Errno::ESPIPE } else { Errno::EINVAL }.into());
        }
        if !self.is_regular(from)? && !is_text || self.description(to)?.flags & O_APPEND != 0 {
            return Err(Errno::EINVAL.into());
        }
        self.copy(from, offset, to, None, count)
    }

    /// `copy_file_range`.
    pub fn copy_range(
        &mut self,
        from: FileId,
        from_offset: Option<&mut i64>,
        to: FileId,
        to_offset: Option<&mut i64>,
        count: usize,
        flags: u32,
    ) -> Result<usize, Halt> {
        if flags != 0 {
            return Err(Errno::EINVAL.into());
        }
        let (source, target) = (self.description(from)?, self.description(to)?);
        let directory = |object: &Object| match object {
            Object::Inode(id) => self.inode(*id).directory().is_some(),
            Object::ProcDirectory(_) => true,
            _ => false,
        };
        if directory(&source.object) || directory(&target.object) {
            return Err(Errno::EISDIR.into());
        }
        if !self.is_regular(from)? || !self.is_regular(to)? {
            return Err(Errno::EINVAL.into());
        }
        if !source.reads() || !target.writes() || target.flags & O_APPEND != 0 {
            return Err(Errno::EBADF.into());
        }
        if let (Object::Inode(a), Object::Inode(b)) = (&source.object, &target.object)
            && a == b
        {
            let start = from_offset.as_deref().map_or(source.offset as i64, |at| *at);
            let into = to_offset.as_deref().map_or(target.offset as i64, |at| *at);
            if start < into + count as i64 && into < start + count as i64 && count > 0 {
                return Err(Errno::EINVAL.into());
            }
        }
        self.copy(from, from_offset, to, to_offset, count)
    }

    /// `splice`: one side must be a pipe.
    pub fn splice(
        &mut self,
        from: FileId,
        from_offset: Option<&mut i64>,
        to: FileId,
        to_offset: Option<&mut i64>,
        count: usize,
    ) -> Result<usize, Halt> {
        if !self.description(from)?.reads() || !self.description(to)?.writes() {
            return Err(Errno::EBADF.into());
        }
        let (from_pipe, to_pipe) = (self.is_pipe(from)?, self.is_pipe(to)?);
        if from_pipe && from_offset.is_some() || to_pipe && to_offset.is_some() {
            return Err(Errno::ESPIPE.into());
        }
        if !from_pipe && !to_pipe || self.description(to)?.flags & O_APPEND != 0 {
            return Err(Errno::EINVAL.into());
        }
        self.copy(from, from_offset, to, to_offset, count)
    }

    fn copy(
        &mut self,
        from: FileId,
        from_offset: Option<&mut i64>,
        to: FileId,
        to_offset: Option<&mut i64>,
        count: usize,
    ) -> Result<usize, Halt> {
        // What a pipe gives is gone: never take more than the other side is sure to take.
        let room = match self.description(to)?.object {
            Object::Pipe(pipe) => {
                let ready = self.pipe(pipe).ready(false, true);
                if ready & POLLERR != 0 || ready & POLLOUT != 0 { PAGE } else { 0 }
            }
            Object::Socket(_) => PAGE,
            _ => CHUNK,
        };
        if count == 0 {
            return Ok(0);
        }
        if room == 0 {
            if self.description(to)?.nonblocking() {
                return Err(Errno::EAGAIN.into());
            }
            return Err(Halt::Wait(Wait { file: to, events: POLLOUT | POLLERR, done: 0 }));
        }
        let mut buffer = vec![0; count.min(room)];
        let got = match &from_offset {
            Some(offset) => self.read_at(from, **offset, &mut buffer)?,
            None => {
                let before = self.description(from)?.offset;
                if self.is_regular(from)? {
                    // The offset moves by what is written, below.
                    self.read_at(from, before as i64, &mut buffer)?
                } else {
                    self.read(from, &mut buffer)?
                }
            }
        };
        if got.count == 0 {
            return Ok(0);
        }
        let bytes = &buffer[..got.count];
        let marks = got.place.and_then(|place| self.marks_at(place, got.count));
        let moved = match &to_offset {
            Some(offset) => self.write_at(to, **offset, bytes)?,
            None => self.write(to, bytes)?,
        };
        let done = moved.count;
        if let (Some(marks), Some(place)) = (marks, moved.place) {
            self.keep_marks(place, &marks[..done]);
        }
        match from_offset {
            Some(offset) => *offset += done as i64,
            None if self.is_regular(from)? => {
                self.description_mut(from)?.offset += done as u64;
            }
            None => {}
        }
        if let Some(offset) = to_offset {
            *offset += done as i64;
        }
        Ok(done)
    }
}
