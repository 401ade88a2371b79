//! Filters of system calls, in the words of the kernel's small language (seccomp, classic BPF).
//!
//! A filter is a list of these words. It begins with [`head`], behind which only calls of this
//! architecture are left, with their number at hand; each further piece leaves that number at hand.

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W,
    SECCOMP_RET_ERRNO, sock_filter,
};

/// `AUDIT_ARCH_X86_64`.
pub const X86_64: u32 = 0xc000_003e;
/// The bit that calls with 32-bit addresses have in their number.
pub const X32: u32 = 0x4000_0000;

/// Where the number of a call is in `struct seccomp_data`.
pub const NUMBER: u32 = 0;
/// Where its architecture is.
pub const ARCHITECTURE: u32 = 4;

/// Flags of `clone`: new namespaces, and a child that nobody follows.
pub const ESCAPES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_UNTRACED) as u32;

/// Where the lower half of an argument is; the upper half is four bytes further.
pub const fn argument(index: u32) -> u32 {
    16 + 8 * index
}

/// Takes a word of the call.
pub const fn load(offset: u32) -> sock_filter {
    sock_filter { code: (BPF_LD | BPF_W | BPF_ABS) as u16, jt: 0, jf: 0, k: offset }
}

/// Keeps these bits of the word at hand.
pub const fn mask(bits: u32) -> sock_filter {
    sock_filter { code: (BPF_ALU | BPF_AND | BPF_K) as u16, jt: 0, jf: 0, k: bits }
}

/// Ends with an answer.
pub const fn end(answer: u32) -> sock_filter {
    sock_filter { code: (BPF_RET | BPF_K) as u16, jt: 0, jf: 0, k: answer }
}

/// Skips so many words if the one at hand is this value, or if it is not.
pub const fn if_equal(value: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | BPF_JEQ | BPF_K) as u16, jt: yes, jf: no, k: value }
}

/// Skips so many words if the one at hand has any of these bits, or if it has none.
pub const fn if_any(bits: u32, yes: u8, no: u8) -> sock_filter {
    sock_filter { code: (BPF_JMP | BPF_JSET | BPF_K) as u16, jt: yes, jf: no, k: bits }
}

/// The answer that lets a call fail.
pub const fn fails_with(error: i32) -> u32 {
    SECCOMP_RET_ERRNO | error as u32
}

/// Calls of other architectures are not there: those of 32-bit programs have other numbers, and those
/// with 32-bit addresses a bit in theirs.
pub const fn head() -> [sock_filter; 6] {
    let absent = end(fails_with(libc::ENOSYS));
    [load(ARCHITECTURE), if_equal(X86_64, 1, 0), absent, load(NUMBER), if_any(X32, 0, 1), absent]
}

/// What the kernel would answer to a call. For tests of filters.
///
/// # Panics
/// If the filter has a word that is not one of these.
pub fn answer(filter: &[sock_filter], architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
    let word = |offset: u32| match offset {
        NUMBER => number,
        ARCHITECTURE => architecture,
        _ if offset % 8 == 0 => arguments[(offset as usize - 16) / 8] as u32,
        _ => (arguments[(offset as usize - 16) / 8] >> 32) as u32,
    };
    let (mut at, mut value) = (0, 0);
    loop {
        let instruction = filter[at];
        at += 1;
        let jump = |taken: bool| usize::from(if taken { instruction.jt } else { instruction.jf });
        match u32::from(instruction.code) {
            code if code == BPF_LD | BPF_W | BPF_ABS => value = word(instruction.k),
            code if code == BPF_RET | BPF_K => return instruction.k,
            code if code == BPF_JMP | BPF_JEQ | BPF_K => at += jump(value == instruction.k),
            code if code == BPF_JMP | BPF_JSET | BPF_K => at += jump(value & instruction.k != 0),
            code if code == BPF_ALU | BPF_AND | BPF_K => value &= instruction.k,
            code => panic!("an instruction that filters here do not use: {code}"),
        }
    }
}
