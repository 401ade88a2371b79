//! A system call under way: who makes it, with which arguments, and how it can end.

use std::sync::Arc;

use super::{
    Kernel, Pid, Tid,
    errno::Errno,
    fs::{Caller, FileId},
    kernel::Missing,
    modules::mapped_files,
    process::{Blocked, Process, Thread},
};
use crate::memory::{AddressSpace, first_forbidden};

/// How a system call ends.
pub(crate) enum Flow {
    /// With a result.
    Done(Result<u64, Errno>),
    /// Not yet: it is made again when something happened, at the latest at the deadline (in
    /// nanoseconds of the machine's clock).
    Block(Option<u64>),
    /// The registers are as they should be: the thread is gone, runs another program, or has
    /// returned from a signal.
    Leave,
}

impl From<Errno> for Flow {
    fn from(errno: Errno) -> Self {
        Self::Done(Err(errno))
    }
}

impl From<Result<u64, Errno>> for Flow {
    fn from(result: Result<u64, Errno>) -> Self {
        Self::Done(result)
    }
}

/// A system call under way.
pub(crate) struct Call<'a> {
    pub(crate) kernel: &'a mut Kernel,
    pub(crate) pid: Pid,
    pub(crate) tid: Tid,
    pub(crate) number: u64,
    pub(crate) arguments: [u64; 6],
}

/// The longest path that the kernel takes, with its zero.
const PATH_MAX: usize = 4096;

impl Call<'_> {
    /// The calling process.
    pub(crate) fn process(&mut self) -> &mut Process {
        self.kernel.process(self.pid)
    }

    /// The calling thread.
    pub(crate) fn thread(&mut self) -> &mut Thread {
        let tid = self.tid;
        self.process().thread(tid).expect("the caller exists")
    }

    /// The memory of the caller.
    pub(crate) fn space(&mut self) -> &mut AddressSpace {
        self.process().space()
    }

    /// An argument as a signed 32-bit number, such as a descriptor.
    pub(crate) fn int(&self, n: usize) -> i32 {
        self.arguments[n] as i32
    }

    /// `length` bytes of the caller's memory.
    pub(crate) fn bytes(&mut self, address: u64, length: usize) -> Result<Vec<u8>, Errno> {
        // Nobody has so much: do not try to allocate it.
        if length > 1 << 31 {
            return Err(Errno::EFAULT);
        }
        let mut buffer = vec![0; length];
        self.space().read(address, &mut buffer).map_err(|_| Errno::EFAULT)?;
        self.space().look(address, length as u64);
        Ok(buffer)
    }

    /// A number in the caller's memory.
    pub(crate) fn word(&mut self, address: u64) -> Result<u64, Errno> {
        let bytes = self.bytes(address, 8)?;
        Ok(u64::from_le_bytes(bytes.try_into().expect("8 bytes")))
    }

    /// A 32-bit number in the caller's memory.
    pub(crate) fn half(&mut self, address: u64) -> Result<u32, Errno> {
        let bytes = self.bytes(address, 4)?;
        Ok(u32::from_le_bytes(bytes.try_into().expect("4 bytes")))
    }

    /// Stores bytes in the caller's memory, all or none. Where memory is checked and they must not
    /// be stored, the caller's run is over.
    pub(crate) fn put(&mut self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        let space = self.space();
        if let Some(at) = first_forbidden(space, address, bytes.len() as u64) {
            space.refuse(at);
            return Err(Errno::EFAULT);
        }
        space.write(address, bytes).map_err(|_| Errno::EFAULT)
    }

    /// The same, unless the address is zero.
    pub(crate) fn put_if(&mut self, address: u64, bytes: &[u8]) -> Result<(), Errno> {
        if address == 0 { Ok(()) } else { self.put(address, bytes) }
    }

    /// A string in the caller's memory, at most `limit` bytes of it.
    pub(crate) fn string(&mut self, address: u64, limit: usize) -> Result<Vec<u8>, Errno> {
        let text = self.space().read_string(address, limit).map_err(|_| Errno::EFAULT)?;
        let end = if text.len() < limit { 1 } else { 0 };
        self.space().look(address, text.len() as u64 + end);
        Ok(text)
    }

    /// A path in the caller's memory.
    pub(crate) fn path(&mut self, address: u64) -> Result<Vec<u8>, Errno> {
        let path = self.string(address, PATH_MAX)?;
        if path.len() >= PATH_MAX { Err(Errno::ENAMETOOLONG) } else { Ok(path) }
    }

    /// A list of strings, ended by a null pointer, as `execve` takes it.
    pub(crate) fn strings(&mut self, mut address: u64) -> Result<Vec<Vec<u8>>, Errno> {
        let mut strings = Vec::new();
        let mut size = 0;
        while address != 0 {
            let at = self.word(address)?;
            if at == 0 {
                break;
            }
            let string = self.string(at, 1 << 17)?;
            size += string.len() + 9;
            if size > 1 << 21 {
                return Err(Errno::E2BIG);
            }
            strings.push(string);
            address += 8;
        }
        Ok(strings)
    }

    /// The open file of a descriptor.
    pub(crate) fn file(&mut self, fd: i32) -> Result<FileId, Errno> {
        self.process().descriptors.get(fd)
    }

    /// Runs `work` on the files, in the name of the caller.
    pub(crate) fn with_files<T>(
        &mut self,
        work: impl FnOnce(&mut super::fs::Files, &Caller<'_>) -> T,
    ) -> T {
        let kernel = &mut *self.kernel;
        let process = &kernel.processes.0[&self.pid];
        let caller = Caller {
            cwd: process.cwd,
            umask: process.umask,
            pid: self.pid,
            tid: self.tid,
            user: &kernel.user,
            processes: &kernel.processes,
        };
        work(&mut kernel.files, &caller)
    }

    /// Ends the call as one that the kernel does not have, at least not in this form, and counts it.
    pub(crate) fn lacks(&mut self) -> Flow {
        let at = self.thread().cpu.rip().wrapping_sub(2);
        let number = self.number;
        if !self.kernel.missing.contains_key(&number) {
            let mapped = Arc::new(mapped_files(self.space()));
            self.kernel.missing.insert(number, Missing { count: 0, at, mapped });
        }
        if let Some(missing) = self.kernel.missing.get_mut(&number) {
            missing.count += 1;
        }
        Errno::ENOSYS.into()
    }

    /// Ends the call as not finished: it goes on behind the `done` bytes that it has moved.
    pub(crate) fn block(&mut self, done: usize, deadline: Option<u64>) -> Flow {
        let blocked = Blocked { done, ..Blocked::new(self.number, self.arguments, deadline) };
        self.thread().resumed = Some(Box::new(blocked));
        Flow::Block(deadline)
    }

    /// Whether the caller has been blocked in this call before, and how far it came.
    pub(crate) fn progress(&mut self) -> usize {
        self.thread().resumed.as_ref().map_or(0, |blocked| blocked.done)
    }

    /// The deadline of a call that is made again.
    pub(crate) fn deadline(&mut self) -> Option<u64> {
        self.thread().resumed.as_ref().and_then(|blocked| blocked.deadline)
    }
}
