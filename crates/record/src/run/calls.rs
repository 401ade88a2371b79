//! System calls that stop a program: what each asks for, read from its registers and memory.
//!
//! Numbers and addresses are the program's; whatever they say, memory that is not there is not read,
//! and sizes are bounded by what the kernel said it moved.

use stunt_tracee as tracee;

use crate::run::filter::{MOVES, READS, WRITES};

/// The most parts that one call may have (`IOV_MAX`).
const PARTS: u64 = 1024;

/// Bytes of `struct msghdr` and of `struct mmsghdr`.
const MESSAGE: u64 = 56;
const MESSAGES: u64 = 64;

/// Where a call puts bytes, or takes them from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// One place.
    Buffer {
        /// Where.
        at: u64,
        /// How much.
        size: u64,
    },
    /// A list of places.
    Vector {
        /// Where the list is.
        at: u64,
        /// How many places.
        count: u64,
    },
    /// A message, with such a list.
    Message {
        /// Where it is.
        at: u64,
    },
    /// A list of messages, each with its own size.
    Messages {
        /// Where the list is.
        at: u64,
    },
}

/// What a call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// To open a file.
    Open {
        /// The folder's descriptor, or `AT_FDCWD`.
        folder: i32,
        /// Where the path is.
        path: u64,
        /// The flags.
        flags: i32,
    },
    /// To read.
    Read {
        /// From which descriptor.
        descriptor: i32,
        /// To where.
        to: Memory,
        /// Whether the bytes stay there to be read again.
        peeks: bool,
    },
    /// To write.
    Write {
        /// To which descriptor.
        descriptor: i32,
        /// From where.
        from: Memory,
    },
    /// To move bytes past the program.
    Move {
        /// From which descriptor.
        descriptor: i32,
    },
    /// To accept a connection.
    Accept,
    /// To connect.
    Connect {
        /// Which descriptor.
        descriptor: i32,
        /// Where the address is.
        at: u64,
        /// How long it is.
        size: u64,
    },
    /// To have one more number for a descriptor.
    Duplicate {
        /// Which one.
        descriptor: i32,
    },
    /// To make calls that nobody sees.
    Ring,
    /// Something else.
    Other,
}

/// What a stopped thread asks for.
pub fn call(pid: i32, registers: &libc::user_regs_struct) -> Call {
    let number = registers.orig_rax.cast_signed();
    let [first, second, third] = [registers.rdi, registers.rsi, registers.rdx];
    let fourth = registers.r10;
    let descriptor = first as i32;
    let received =
        |to, flags: u64| Call::Read { descriptor, to, peeks: flags as i32 & libc::MSG_PEEK != 0 };
    match number {
        libc::SYS_open => Call::Open { folder: libc::AT_FDCWD, path: first, flags: second as i32 },
        libc::SYS_openat => Call::Open { folder: descriptor, path: second, flags: third as i32 },
        libc::SYS_openat2 => {
            // The flags are the first word of a structure.
            let flags = word(pid, third).unwrap_or(0);
            Call::Open { folder: descriptor, path: second, flags: flags as i32 }
        }
        libc::SYS_accept | libc::SYS_accept4 => Call::Accept,
        libc::SYS_connect => Call::Connect { descriptor, at: second, size: third },
        libc::SYS_recvfrom => received(Memory::Buffer { at: second, size: third }, fourth),
        libc::SYS_recvmsg => received(Memory::Message { at: second }, third),
        libc::SYS_recvmmsg => received(Memory::Messages { at: second }, fourth),
        libc::SYS_dup | libc::SYS_dup2 | libc::SYS_dup3 | libc::SYS_fcntl => {
            Call::Duplicate { descriptor }
        }
        libc::SYS_io_uring_setup => Call::Ring,
        libc::SYS_read | libc::SYS_pread64 => {
            let to = Memory::Buffer { at: second, size: third };
            Call::Read { descriptor, to, peeks: false }
        }
        libc::SYS_write => {
            Call::Write { descriptor, from: Memory::Buffer { at: second, size: third } }
        }
        _ if READS.contains(&number) => {
            let to = Memory::Vector { at: second, count: third };
            Call::Read { descriptor, to, peeks: false }
        }
        _ if WRITES.contains(&number) => {
            Call::Write { descriptor, from: Memory::Vector { at: second, count: third } }
        }
        _ => match MOVES.iter().find(|(call, _)| *call == number) {
            Some((_, 1)) => Call::Move { descriptor: second as i32 },
            Some(_) => Call::Move { descriptor },
            None => Call::Other,
        },
    }
}

fn word(pid: i32, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    (tracee::read_memory(pid, address, &mut bytes) == 8).then(|| u64::from_le_bytes(bytes))
}

/// The bytes that a call moved, as the kernel counts them: one piece, or one for each message.
/// Nothing if not all of them can be read any more.
pub fn moved(pid: i32, memory: Memory, result: u64) -> Option<Vec<Vec<u8>>> {
    match memory {
        Memory::Buffer { at, size } => read(pid, at, result.min(size)).map(|it| vec![it]),
        Memory::Vector { at, count } => vector(pid, at, count, result).map(|it| vec![it]),
        Memory::Message { at } => message(pid, at, result).map(|it| vec![it]),
        Memory::Messages { at } => (0..result.min(PARTS))
            .map(|index| {
                let at = at.checked_add(index * MESSAGES)?;
                let length = word(pid, at.checked_add(MESSAGE)?)? & 0xffff_ffff;
                message(pid, at, length)
            })
            .collect(),
    }
}

fn message(pid: i32, at: u64, result: u64) -> Option<Vec<u8>> {
    let (list, count) = (word(pid, at.checked_add(16)?)?, word(pid, at.checked_add(24)?)?);
    vector(pid, list, count, result)
}

fn vector(pid: i32, at: u64, count: u64, result: u64) -> Option<Vec<u8>> {
    let (mut bytes, mut left) = (Vec::new(), result);
    for index in 0..count.min(PARTS) {
        if left == 0 {
            break;
        }
        let at = at.checked_add(16 * index)?;
        let (start, size) = (word(pid, at)?, word(pid, at.checked_add(8)?)?);
        let size = size.min(left);
        bytes.extend(read(pid, start, size)?);
        left -= size;
    }
    Some(bytes)
}

/// The most that one call can move.
const MOST: u64 = 0x7fff_f000;

fn read(pid: i32, at: u64, size: u64) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(size.min(MOST)).ok()?];
    (tracee::read_memory(pid, at, &mut bytes) == bytes.len()).then_some(bytes)
}

/// A text that ends with a null, as paths are given.
pub fn text(pid: i32, at: u64) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let mut at = at;
    while text.len() <= libc::PATH_MAX as usize {
        // To the end of a page, so that what lies behind it does not matter.
        let size = 4096 - (at % 4096);
        let mut bytes = vec![0; size.min(256) as usize];
        if tracee::read_memory(pid, at, &mut bytes) != bytes.len() {
            return None;
        }
        if let Some(end) = bytes.iter().position(|&byte| byte == 0) {
            text.extend(&bytes[..end]);
            return Some(text);
        }
        at = at.checked_add(bytes.len() as u64)?;
        text.extend(bytes);
    }
    None
}

/// Bytes as they are, up to a few.
pub fn bytes(pid: i32, at: u64, size: u64) -> Option<Vec<u8>> {
    read(pid, at, size.min(128))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> i32 {
        std::process::id().cast_signed()
    }

    #[test]
    fn texts_and_lists_are_read_from_memory() {
        let text_at = c"/a/path".as_ptr() as u64;
        assert_eq!(text(ours(), text_at).unwrap(), b"/a/path");
        assert_eq!(text(ours(), 8), None);
        let (one, two) = (b"hello".to_vec(), b", world".to_vec());
        let list = [one.as_ptr() as u64, 5, two.as_ptr() as u64, 7];
        let memory = Memory::Vector { at: list.as_ptr() as u64, count: 2 };
        assert_eq!(moved(ours(), memory, 12).unwrap(), [b"hello, world".to_vec()]);
        assert_eq!(moved(ours(), memory, 7).unwrap(), [b"hello, ".to_vec()]);
        let header = [0, 0, list.as_ptr() as u64, 2, 0, 0, 0, 12];
        let memory = Memory::Message { at: header.as_ptr() as u64 };
        assert_eq!(moved(ours(), memory, 3).unwrap(), [b"hel".to_vec()]);
        // In a list, the length of each message is behind it.
        let memory = Memory::Messages { at: header.as_ptr() as u64 };
        assert_eq!(moved(ours(), memory, 1).unwrap(), [b"hello, world".to_vec()]);
        // The kernel may say that more came than there was room for.
        let memory = Memory::Buffer { at: one.as_ptr() as u64, size: 5 };
        assert_eq!(moved(ours(), memory, 99).unwrap(), [b"hello".to_vec()]);
        assert_eq!(moved(ours(), Memory::Buffer { at: 16, size: 5 }, 5), None);
    }
}
