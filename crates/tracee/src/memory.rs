//! The memory of a process that is followed. Reading it needs no stop, but what is read may be half of
//! what the process writes then.
#![allow(unsafe_code)] // `process_vm_readv`: the call names why it is sound.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;

use libc::{c_void, pid_t};

/// The memory of a process with its present program.
pub struct Memory(File);

impl Memory {
    /// Opens it. A process that becomes another program has other memory then.
    ///
    /// # Errors
    /// The process is gone, or is not ours to follow.
    pub fn of(pid: i32) -> io::Result<Self> {
        OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem")).map(Self)
    }

    /// Fills bytes; `false` if not all can be read.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        i64::try_from(address).is_ok() && self.0.read_exact_at(bytes, address).is_ok()
    }

    /// As many bytes from an address on as can be read.
    #[must_use]
    pub fn read_up_to(&self, address: u64, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; most];
        let mut count = 0;
        // A read ends early where the mapping does, and fails behind it.
        while count < most
            && let Some(from) = address.checked_add(count as u64)
            && i64::try_from(from).is_ok()
            && let Ok(more) = self.0.read_at(&mut bytes[count..], from)
            && more > 0
        {
            count += more;
        }
        bytes.truncate(count);
        bytes
    }

    /// Writes bytes, also where the program itself could not.
    ///
    /// # Errors
    /// Nothing is mapped there, or the process is gone.
    pub fn write(&self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all_at(bytes, address)
    }
}

/// Reads memory of a process that is looked at once; says how many bytes could be read from the start on.
pub fn read_memory(pid: pid_t, address: u64, bytes: &mut [u8]) -> usize {
    if bytes.is_empty() {
        return 0;
    }
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: bytes.len() };
    // SAFETY: the kernel writes at most as many bytes as the buffer has, which is ours; the address
    // is the other process's business.
    let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_process() {
        let pid = std::process::id().cast_signed();
        let (memory, value) = (Memory::of(pid).expect("memory"), 0x1234_5678_9abc_def0_u64);
        let (address, mut bytes) = (&raw const value as u64, [0; 8]);
        assert!(memory.read(address, &mut bytes));
        assert_eq!(u64::from_le_bytes(bytes), value);
        assert!(!memory.read(0, &mut bytes) && !memory.read(u64::MAX - 3, &mut bytes));
        assert!(memory.read_up_to(0, 16).is_empty());
        assert_eq!(memory.read_up_to(address, 8), value.to_le_bytes());
        let mut again = [0; 8];
        assert_eq!(read_memory(pid, address, &mut again), 8);
        assert_eq!((again, read_memory(pid, 0, &mut bytes)), (value.to_le_bytes(), 0));
    }
}
