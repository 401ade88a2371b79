//! Pipes, with names and without.
//!
//! A pipe is a ring of page-sized slots, as in the kernel, because that shows: how much fits
//! depends on the sizes of the writes, and writes of up to a page are never torn apart.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use super::Files;
use super::description::{Description, Object};
use super::ids::{FileId, Halt, InodeId, Moved, PipeId, Place, SourceId, Wait};
use super::inode::Kind;
use super::marks::HeldMarks;
use crate::linux::abi::*;
use crate::linux::errno::Errno;
use crate::memory::Mark;

/// Slots of a new pipe.
const SLOTS: usize = 16;
/// The largest pipe that a program may ask for, in bytes.
const LARGEST: usize = 1 << 20;

/// One page of a pipe: what is left of it starts at `start`.
#[derive(Clone)]
struct Slot {
    bytes: Vec<u8>,
    start: usize,
}

/// A pipe.
#[derive(Clone)]
pub struct Pipe {
    slots: VecDeque<Slot>,
    most: usize,
    /// Open ends.
    pub(super) readers: u32,
    /// See `readers`.
    pub(super) writers: u32,
    /// Ends that were ever opened.
    pub(super) readers_ever: u64,
    /// See `readers_ever`.
    pub(super) writers_ever: u64,
    /// The named pipe that it belongs to.
    pub(super) inode: Option<InodeId>,
    /// How many bytes went in and out.
    written: u64,
    read: u64,
    /// Counts events, for edge-triggered waits.
    pub(super) activity: u64,
    /// What the bytes stand for, by how many went in before them.
    pub(super) marks: HeldMarks,
}

/// Sizes only: what goes through a pipe may be private.
impl fmt::Debug for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pipe")
            .field("bytes", &self.len())
            .field("readers", &self.readers)
            .field("writers", &self.writers)
            .finish_non_exhaustive()
    }
}

impl Pipe {
    fn new(inode: Option<InodeId>) -> Pipe {
        Pipe {
            slots: VecDeque::new(),
            most: SLOTS,
            readers: 0,
            writers: 0,
            readers_ever: 0,
            writers_ever: 0,
            inode,
            written: 0,
            read: 0,
            activity: 0,
            marks: HeldMarks::default(),
        }
    }

    /// How many bytes ever went in.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Gives marked bytes that are still in it other values.
    pub(super) fn give_values(&mut self, value: &mut impl FnMut(Mark) -> Option<u8>) {
        let mut at = self.read;
        for slot in &mut self.slots {
            for byte in &mut slot.bytes[slot.start..] {
                if let Some(new) = self.marks.get(at).and_then(&mut *value) {
                    *byte = new;
                }
                at += 1;
            }
        }
    }

    /// How many bytes are in it.
    pub fn len(&self) -> usize {
        (self.written - self.read) as usize
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    fn is_full(&self) -> bool {
        self.slots.len() >= self.most
    }

    /// Counts a new end.
    pub(super) fn opened(&mut self, reads: bool, writes: bool) {
        self.readers += u32::from(reads);
        self.readers_ever += u64::from(reads);
        self.writers += u32::from(writes);
        self.writers_ever += u64::from(writes);
        self.activity += 1;
    }

    /// Takes what fits.
    fn push(&mut self, bytes: &[u8]) -> usize {
        self.marks.forget_before(self.read);
        let mut done = 0;
        let head = bytes.len() % PAGE;
        if head > 0
            && let Some(slot) = self.slots.back_mut()
            && slot.bytes.len() + head <= PAGE
        {
            slot.bytes.extend_from_slice(&bytes[..head]);
            done = head;
        }
        while done < bytes.len() && !self.is_full() {
            let size = (bytes.len() - done).min(PAGE);
            self.slots.push_back(Slot { bytes: bytes[done..done + size].to_vec(), start: 0 });
            done += size;
        }
        self.written += done as u64;
        // An edge even if nothing fitted: the kernel wakes readers for every attempt.
        self.activity += 1;
        done
    }

    fn pull(&mut self, into: &mut [u8]) -> usize {
        let mut done = 0;
        while done < into.len() {
            let Some(slot) = self.slots.front_mut() else { break };
            let size = (into.len() - done).min(slot.bytes.len() - slot.start);
            into[done..done + size].copy_from_slice(&slot.bytes[slot.start..slot.start + size]);
            slot.start += size;
            done += size;
            if slot.start == slot.bytes.len() {
                self.slots.pop_front();
            }
        }
        self.read += done as u64;
        if done > 0 {
            self.activity += 1;
        }
        done
    }

    /// Which `POLL` bits hold for an end.
    pub(super) fn ready(&self, reads: bool, writes: bool) -> u32 {
        let mut bits = 0;
        if reads {
            if !self.is_empty() {
                bits |= POLLIN | POLLRDNORM;
            }
            // A named pipe that never had a writer has not come to its end.
            if self.writers == 0 && self.writers_ever > 0 {
                bits |= POLLHUP;
            }
        }
        if writes {
            if !self.is_full() {
                bits |= POLLOUT | POLLWRNORM;
            }
            if self.readers == 0 {
                bits |= POLLERR;
            }
        }
        bits
    }
}

impl Files {
    pub(super) fn pipe(&self, id: PipeId) -> &Pipe {
        self.pipes.get(&id).expect("a pipe lives as long as one of its ends")
    }

    pub(super) fn pipe_mut(&mut self, id: PipeId) -> &mut Pipe {
        let pipe = self.pipes.get_mut(&id).expect("a pipe lives as long as one of its ends");
        Arc::make_mut(pipe)
    }

    pub(super) fn make_pipe(&mut self, inode: Option<InodeId>) -> PipeId {
        let id = PipeId(self.number());
        self.pipes.insert(id, Arc::new(Pipe::new(inode)));
        if let Some(inode) = inode {
            self.pin(inode);
        }
        id
    }

    /// `pipe2`: the reading and the writing end.
    pub fn new_pipe(&mut self, flags: u32) -> Result<(FileId, FileId), Errno> {
        if flags & !(O_CLOEXEC | O_NONBLOCK | O_DIRECT) != 0 {
            return Err(Errno::EINVAL);
        }
        let pipe = self.make_pipe(None);
        let kept = flags & (O_NONBLOCK | O_DIRECT);
        let reader = self.describe(Description::new(Object::Pipe(pipe), O_RDONLY | kept));
        let writer = self.describe(Description::new(Object::Pipe(pipe), O_WRONLY | kept));
        Ok((reader, writer))
    }

    pub(super) fn close_pipe(&mut self, id: PipeId, reads: bool, writes: bool) {
        let pipe = self.pipe_mut(id);
        pipe.readers -= u32::from(reads);
        pipe.writers -= u32::from(writes);
        pipe.activity += 1;
        self.drop_unused_pipe(id);
    }

    pub(super) fn drop_unused_pipe(&mut self, id: PipeId) {
        let pipe = self.pipe(id);
        if pipe.readers > 0 || pipe.writers > 0 {
            return;
        }
        let inode = pipe.inode;
        self.pipes.remove(&id);
        if let Some(inode) = inode {
            self.inode_mut(inode).kind = Kind::Fifo(None);
            self.unpin(inode);
        }
    }

    pub(super) fn read_pipe(
        &mut self,
        file: FileId,
        id: PipeId,
        into: &mut [u8],
    ) -> Result<Moved, Halt> {
        let nonblocking = self.description(file)?.nonblocking();
        let pipe = self.pipe(id);
        if into.is_empty() {
            return Ok(Moved::bytes(0));
        }
        if pipe.is_empty() {
            if pipe.writers == 0 {
                return Ok(Moved::bytes(0));
            }
            if nonblocking {
                return Err(Errno::EAGAIN.into());
            }
            return Err(Halt::Wait(Wait { file, events: POLLIN | POLLHUP, done: 0 }));
        }
        let offset = pipe.read;
        let count = self.pipe_mut(id).pull(into);
        Ok(Moved { count, place: Some(Place { source: SourceId::Pipe(id), offset }) })
    }

    pub(super) fn write_pipe(
        &mut self,
        file: FileId,
        id: PipeId,
        bytes: &[u8],
    ) -> Result<Moved, Halt> {
        let nonblocking = self.description(file)?.nonblocking();
        if bytes.is_empty() {
            return Ok(Moved::bytes(0));
        }
        let pipe = self.pipe(id);
        if pipe.readers == 0 {
            return Err(Halt::BrokenPipe);
        }
        let offset = pipe.written;
        let count = self.pipe_mut(id).push(bytes);
        if count == bytes.len() || nonblocking && count > 0 {
            return Ok(Moved { count, place: Some(Place { source: SourceId::Pipe(id), offset }) });
        }
        if nonblocking {
            return Err(Errno::EAGAIN.into());
        }
        Err(Halt::Wait(Wait { file, events: POLLOUT | POLLERR, done: count }))
    }

    /// `F_GETPIPE_SZ`.
    pub fn pipe_size(&self, file: FileId) -> Result<usize, Errno> {
        match self.description(file)?.object {
            Object::Pipe(pipe) => Ok(self.pipe(pipe).most * PAGE),
            Object::Feed(_) | Object::Sink(_) => Ok(SLOTS * PAGE),
            _ => Err(Errno::EBADF),
        }
    }

    /// `F_SETPIPE_SZ`: rounded up to a power of two of pages.
    pub fn set_pipe_size(&mut self, file: FileId, size: usize) -> Result<usize, Errno> {
        let id = match self.description(file)?.object {
            Object::Pipe(pipe) => pipe,
            Object::Feed(_) | Object::Sink(_) => return Ok(SLOTS * PAGE),
            _ => return Err(Errno::EBADF),
        };
        if size > 1 << 31 {
            return Err(Errno::EINVAL);
        }
        let size = size.max(PAGE).next_power_of_two();
        if size > LARGEST && self.config.user.uid != 0 {
            return Err(Errno::EPERM);
        }
        let pipe = self.pipe_mut(id);
        if size / PAGE < pipe.slots.len() {
            return Err(Errno::EBUSY);
        }
        pipe.most = size / PAGE;
        Ok(size)
    }
}
