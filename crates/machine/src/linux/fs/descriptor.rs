//! Descriptor tables: small numbers of a process, and the open files that they stand for.
//!
//! Each entry holds one reference to its file. A plain clone belongs to a snapshot of the whole
//! machine, where the files are cloned with it; a process that forks uses [`Files::fork`].

use imbl::OrdMap;

use super::Files;
use super::ids::FileId;
use crate::linux::errno::Errno;

/// What a number stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The open file.
    pub file: FileId,
    /// Whether it is closed when a new program starts.
    pub close_on_exec: bool,
}

/// The descriptors of a process.
#[derive(Clone, Debug)]
pub struct Descriptors {
    slots: OrdMap<u32, Descriptor>,
    /// Every number below this is in use; where the search for a free one starts.
    low: u32,
    limit: u32,
}

impl Default for Descriptors {
    fn default() -> Descriptors {
        Descriptors { slots: OrdMap::new(), low: 0, limit: 1024 }
    }
}

impl Descriptors {
    /// How many there may be (`RLIMIT_NOFILE`).
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Sets how many there may be.
    pub fn set_limit(&mut self, limit: u32) {
        self.limit = limit;
    }

    /// The file behind a number.
    pub fn get(&self, fd: i32) -> Result<FileId, Errno> {
        Ok(self.slot(fd)?.file)
    }

    /// A number with its flag.
    pub fn slot(&self, fd: i32) -> Result<Descriptor, Errno> {
        let fd = u32::try_from(fd).map_err(|_| Errno::EBADF)?;
        self.slots.get(&fd).copied().ok_or(Errno::EBADF)
    }

    /// Sets whether a number is closed when a new program starts.
    pub fn set_close_on_exec(&mut self, fd: i32, close_on_exec: bool) -> Result<(), Errno> {
        let fd = u32::try_from(fd).map_err(|_| Errno::EBADF)?;
        self.slots.get_mut(&fd).ok_or(Errno::EBADF)?.close_on_exec = close_on_exec;
        Ok(())
    }

    /// All of them, ascending.
    pub fn iter(&self) -> impl Iterator<Item = (u32, Descriptor)> + '_ {
        self.slots.iter().map(|(&fd, &slot)| (fd, slot))
    }

    /// The lowest free number from `least` on.
    fn free(&mut self, least: u32) -> Result<u32, Errno> {
        let mut fd = least.max(self.low);
        for (&used, _) in self.slots.range(fd..) {
            if used != fd {
                break;
            }
            fd += 1;
        }
        if least <= self.low {
            self.low = fd;
        }
        if fd >= self.limit { Err(Errno::EMFILE) } else { Ok(fd) }
    }

    /// Puts a file under a number; the reference goes with it. Gives back what was there.
    pub(super) fn install(&mut self, fd: u32, file: FileId, cloexec: bool) -> Option<FileId> {
        let slot = Descriptor { file, close_on_exec: cloexec };
        self.slots.insert(fd, slot).map(|old| old.file)
    }

    fn take(&mut self, fd: i32) -> Result<FileId, Errno> {
        let number = u32::try_from(fd).map_err(|_| Errno::EBADF)?;
        let slot = self.slots.remove(&number).ok_or(Errno::EBADF)?;
        self.low = self.low.min(number);
        Ok(slot.file)
    }
}

impl Files {
    /// Gives a file the lowest free number from `least` on. The caller's reference goes into the
    /// table; if there is no free number, it is given back.
    pub fn number_file(
        &mut self,
        table: &mut Descriptors,
        file: FileId,
        close_on_exec: bool,
        least: u32,
    ) -> Result<u32, Errno> {
        match table.free(least) {
            Ok(fd) => {
                table.install(fd, file, close_on_exec);
                Ok(fd)
            }
            Err(errno) => {
                self.release(file);
                Err(errno)
            }
        }
    }

    /// `close`.
    pub fn close(&mut self, table: &mut Descriptors, fd: i32) -> Result<(), Errno> {
        let file = table.take(fd)?;
        self.release(file);
        Ok(())
    }

    /// `close_range`, both ends included.
    pub fn close_range(&mut self, table: &mut Descriptors, first: u32, last: u32) {
        let open: Vec<u32> = table.slots.range(first..=last).map(|(&fd, _)| fd).collect();
        for fd in open {
            if let Ok(file) = table.take(fd as i32) {
                self.release(file);
            }
        }
    }

    /// `dup`, and `fcntl` with `F_DUPFD`: the lowest free number from `least` on.
    pub fn dup(
        &mut self,
        table: &mut Descriptors,
        fd: i32,
        least: u32,
        close_on_exec: bool,
    ) -> Result<u32, Errno> {
        let file = table.get(fd)?;
        if least >= table.limit {
            return Err(Errno::EINVAL);
        }
        self.retain(file);
        self.number_file(table, file, close_on_exec, least)
    }

    /// `dup2`: onto the same number, nothing happens.
    pub fn dup2(&mut self, table: &mut Descriptors, old: i32, new: i32) -> Result<u32, Errno> {
        if old == new {
            table.get(old)?;
            return Ok(old as u32);
        }
        self.dup3(table, old, new, false)
    }

    /// `dup3`.
    pub fn dup3(
        &mut self,
        table: &mut Descriptors,
        old: i32,
        new: i32,
        close_on_exec: bool,
    ) -> Result<u32, Errno> {
        if old == new {
            return Err(Errno::EINVAL);
        }
        let number = u32::try_from(new).ok().filter(|&new| new < table.limit);
        let number = number.ok_or(Errno::EBADF)?;
        let file = table.get(old)?;
        self.retain(file);
        if let Some(replaced) = table.install(number, file, close_on_exec) {
            self.release(replaced);
        }
        Ok(number)
    }

    /// The table of a forked process: every file gets one more reference.
    pub fn fork(&mut self, table: &Descriptors) -> Descriptors {
        for (_, slot) in table.iter() {
            self.retain(slot.file);
        }
        table.clone()
    }

    /// What a new program does not keep.
    pub fn close_on_exec(&mut self, table: &mut Descriptors) {
        let marked: Vec<u32> =
            table.iter().filter(|(_, slot)| slot.close_on_exec).map(|(fd, _)| fd).collect();
        for fd in marked {
            if let Ok(file) = table.take(fd as i32) {
                self.release(file);
            }
        }
    }

    /// Closes everything, at the end of a process.
    pub fn close_all(&mut self, table: &mut Descriptors) {
        self.close_range(table, 0, u32::MAX);
    }
}
