//! Reading the memory of a stopped program, and telling return addresses and signal frames in it.
//!
//! This file knows the layout that x86-64 and Linux prescribe, and no file.

use super::registers::{Register, Registers};
use super::thread::Thread;

/// Where the saved registers begin in a `ucontext_t`.
const UCONTEXT_REGISTERS: u64 = 40;

/// The registers of a `ucontext_t` in their order there.
const UCONTEXT_ORDER: [Register; 17] = [
    Register(8),
    Register(9),
    Register(10),
    Register(11),
    Register(12),
    Register(13),
    Register(14),
    Register(15),
    Register::RDI,
    Register::RSI,
    Register::RBP,
    Register::RBX,
    Register::RDX,
    Register::RAX,
    Register::RCX,
    Register::RSP,
    Register::RIP,
];

/// The size of a page: all of it can be read, or nothing.
const PAGE: usize = 4096;

/// Pages that are kept at hand during a walk: some of the stack, some of code.
const PAGES: usize = 8;

/// A thread's memory, asked for a page at a time. A walk reads word after word, and a word of a native
/// process costs a system call.
pub(super) struct Memory<'a> {
    thread: &'a mut dyn Thread,
    pages: Vec<(Option<u64>, [u8; PAGE])>,
}

impl<'a> Memory<'a> {
    /// Nothing has been read.
    pub(super) fn of(thread: &'a mut dyn Thread) -> Self {
        Self { thread, pages: vec![(None, [0; PAGE]); PAGES] }
    }

    /// Fills the bytes at an address; `false` if not all of them can be read.
    pub(super) fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
        let into = (address % PAGE as u64) as usize;
        let number = address / PAGE as u64;
        let Some(end) = into.checked_add(bytes.len()).filter(|&end| end <= PAGE) else {
            return self.thread.read(address, bytes);
        };
        let (held, page) = &mut self.pages[(number % PAGES as u64) as usize];
        if *held != Some(number) {
            *held = self.thread.read(address - into as u64, page).then_some(number);
        }
        if held.is_none() {
            // Whoever answers for less than pages may still have these bytes.
            return self.thread.read(address, bytes);
        }
        bytes.copy_from_slice(&page[into..end]);
        true
    }
}

/// The 64-bit word at an address.
pub(super) fn word(memory: &mut Memory<'_>, address: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    memory.read(address, &mut bytes).then(|| u64::from_le_bytes(bytes))
}

/// Whether the instruction before an address is a call, so that the address may be one to return
/// to.
pub(super) fn follows_call(memory: &mut Memory<'_>, address: u64) -> bool {
    const LONGEST: usize = 7;
    let mut code = [0; LONGEST];
    // The code before the address may begin with a mapping, so that fewer bytes can be read.
    let readable = (2..=LONGEST).rev().find(|&count| {
        let start = address.checked_sub(count as u64);
        start.is_some_and(|start| memory.read(start, &mut code[LONGEST - count..]))
    });
    let Some(readable) = readable else { return false };
    let code = &code[LONGEST - readable..];
    let from_end = |count: usize| code.len().checked_sub(count).map(|at| &code[at..]);
    matches!(from_end(5), Some([0xe8, ..]))
        || (2..=readable).any(|count| match from_end(count) {
            Some(&[0xff, operand, ref rest @ ..]) => {
                indirect_call_length(operand, rest) == Some(count)
            }
            _ => false,
        })
}

/// The length of `call r/m64` without prefixes from its second byte on, if it is that.
fn indirect_call_length(operand: u8, rest: &[u8]) -> Option<usize> {
    let (mode, operation, base) = (operand >> 6, operand >> 3 & 7, operand & 7);
    if operation != 2 {
        return None;
    }
    let scaled = mode != 3 && base == 4;
    let displacement = match (mode, base) {
        (0, 5) | (2, _) => 4,
        (0, 4) if rest.first().is_some_and(|index| index & 7 == 5) => 4,
        (1, _) => 1,
        _ => 0,
    };
    Some(2 + usize::from(scaled) + displacement)
}

/// Whether the code at an address is the one to which a signal handler returns:
/// `mov $15, %eax` or `%rax`, and `syscall`.
pub(super) fn is_signal_return(memory: &mut Memory<'_>, address: u64) -> bool {
    const LONG: [u8; 9] = [0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05];
    const SHORT: [u8; 7] = [0xb8, 15, 0, 0, 0, 0x0f, 0x05];
    let mut code = [0; 9];
    if memory.read(address, &mut code[..7]) && code[..7] == SHORT {
        return true;
    }
    memory.read(address, &mut code) && code == LONG
}

/// The registers that the kernel saved when it called the signal handler whose caller's stack
/// pointer this is.
pub(super) fn saved_by_signal(memory: &mut Memory<'_>, stack_pointer: u64) -> Option<Registers> {
    let mut bytes = [0; UCONTEXT_ORDER.len() * 8];
    if !memory.read(stack_pointer.checked_add(UCONTEXT_REGISTERS)?, &mut bytes) {
        return None;
    }
    let mut registers = Registers::nothing();
    for (&register, value) in UCONTEXT_ORDER.iter().zip(bytes.chunks_exact(8)) {
        registers.set(register, u64::from_le_bytes(value.try_into().expect("eight bytes")));
    }
    Some(registers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::Held;

    #[test]
    fn calls_are_told_from_other_code() {
        let calls: [&[u8]; 9] = [
            &[0xe8, 1, 2, 3, 4],
            &[0xff, 0xd0],
            &[0x41, 0xff, 0xd3],
            &[0xff, 0x13],
            &[0xff, 0x53, 8],
            &[0xff, 0x14, 0xc3],
            &[0xff, 0x15, 1, 2, 3, 4],
            &[0xff, 0x94, 0x24, 1, 2, 3, 4],
            &[0xff, 0x14, 0xc5, 1, 2, 3, 4],
        ];
        let others: [&[u8]; 5] =
            [&[0xe9, 1, 2, 3, 4], &[0xff, 0xe0], &[0x90; 7], &[0xff, 0x25, 1, 2, 3, 4], &[0xc3]];
        let follows = |code: &[u8]| {
            // Nothing can be read before the code.
            let mut thread = Held { registers: Registers::nothing(), memory: vec![(0x1000, code)] };
            follows_call(&mut Memory::of(&mut thread), 0x1000 + code.len() as u64)
        };
        assert!(calls.into_iter().all(follows));
        assert!(!others.into_iter().any(follows));
    }

    #[test]
    fn pages_give_the_same_bytes() {
        // Readable from 0x2000 to 0x4800: the last page is there by half.
        let bytes: Vec<u8> =
            (0x2000..0x4800u64).map(|address| (address ^ address >> 8) as u8).collect();
        let thread = || Held { registers: Registers::nothing(), memory: vec![(0x2000, &bytes)] };
        let (mut plain, mut again) = (thread(), thread());
        let mut paged = Memory::of(&mut again);
        for address in (0x1ff0..0x4810).chain([0, u64::MAX - 3, u64::MAX]) {
            let (mut a, mut b) = ([0; 8], [0; 8]);
            assert_eq!(plain.read(address, &mut a), paged.read(address, &mut b), "{address:#x}");
            assert_eq!(a, b);
        }
    }
}
