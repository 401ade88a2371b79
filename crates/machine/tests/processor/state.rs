//! What a program can see of a processor, in one layout for host and machine, and how one
//! instruction ended.
//!
//! The layout is fixed: assembly code fills and empties it. It holds no opinion on which side is
//! right, and nothing in it is private: all of it is random test data.

use std::fmt::Write as _;

/// The names of the general registers, in the order of their encoding.
pub const NAMES: [&str; 16] = [
    "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13",
    "r14", "r15",
];

/// CF.
pub const CF: u64 = 1;
/// PF.
pub const PF: u64 = 1 << 2;
/// AF.
pub const AF: u64 = 1 << 4;
/// ZF.
pub const ZF: u64 = 1 << 6;
/// SF.
pub const SF: u64 = 1 << 7;
/// DF.
pub const DF: u64 = 1 << 10;
/// OF.
pub const OF: u64 = 1 << 11;
/// The flags that are compared: arithmetic, direction, nested task, identification.
pub const COMPARED_FLAGS: u64 = CF | PF | AF | ZF | SF | DF | OF | 0x4000 | 0x20_0000;

/// Registers, as the assembly code of `host.rs` knows them.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub struct State {
    /// x87 and vector registers, as `fxsave64` lays them out.
    pub fx: [u8; 512],
    /// The general registers, in the order of their encoding.
    pub general: [u64; 16],
    /// `rflags`.
    pub flags: u64,
    /// `rip`.
    pub rip: u64,
}

/// How an instruction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It was finished.
    Finished,
    /// The kernel would send this signal.
    Signal {
        /// Its number.
        number: i32,
        /// Its code: why it was sent.
        code: i32,
        /// For faults of memory, the address.
        address: u64,
    },
    /// The machine does not have the instruction.
    Unsupported,
}

impl State {
    /// All zero, with the control words of a new process.
    pub fn new() -> Self {
        let mut fx = [0; 512];
        fx[0..2].copy_from_slice(&0x37fu16.to_le_bytes());
        fx[24..28].copy_from_slice(&0x1f80u32.to_le_bytes());
        fx[28..32].copy_from_slice(&0xffffu32.to_le_bytes());
        Self { fx, general: [0; 16], flags: 2, rip: 0 }
    }

    /// The x87 control word.
    pub fn control(&self) -> u16 {
        u16::from_le_bytes([self.fx[0], self.fx[1]])
    }

    /// The x87 status word.
    pub fn status(&self) -> u16 {
        u16::from_le_bytes([self.fx[2], self.fx[3]])
    }

    /// MXCSR.
    pub fn mxcsr(&self) -> u32 {
        u32::from_le_bytes(self.fx[24..28].try_into().unwrap())
    }

    /// The lower 64 bits and the upper 16 of an x87 register, counted from the top of the stack.
    pub fn st(&self, i: usize) -> (u64, u16) {
        let at = 32 + 16 * i;
        (
            u64::from_le_bytes(self.fx[at..at + 8].try_into().unwrap()),
            u16::from_le_bytes([self.fx[at + 8], self.fx[at + 9]]),
        )
    }

    /// A vector register.
    pub fn xmm(&self, i: usize) -> u128 {
        let at = 160 + 16 * i;
        u128::from_le_bytes(self.fx[at..at + 16].try_into().unwrap())
    }
}

/// The flags as letters; a point for each that is clear.
pub fn letters(flags: u64) -> String {
    [(OF, 'O'), (DF, 'D'), (SF, 'S'), (ZF, 'Z'), (AF, 'A'), (PF, 'P'), (CF, 'C')]
        .into_iter()
        .map(|(bit, letter)| if flags & bit != 0 { letter } else { '.' })
        .collect()
}

/// Where two states differ, a line each; `undefined` are flags and `conditions` bits of the x87
/// status word that do not count.
pub fn differences(host: &State, machine: &State, undefined: u64, conditions: u16) -> String {
    let mut text = String::new();
    let mut line = |name: &str, host: String, machine: String| {
        writeln!(text, "    {name:<6} host {host}  machine {machine}").unwrap();
    };
    for (i, name) in NAMES.iter().enumerate() {
        let (a, b) = (host.general[i], machine.general[i]);
        if a != b {
            line(name, format!("{a:016x}"), format!("{b:016x}"));
        }
    }
    if host.rip != machine.rip {
        line("rip", format!("{:x}", host.rip), format!("{:x}", machine.rip));
    }
    let mask = COMPARED_FLAGS & !undefined;
    if (host.flags ^ machine.flags) & mask != 0 {
        line("flags", letters(host.flags & mask), letters(machine.flags & mask));
        if (host.flags ^ machine.flags) & 0x20_4000 != 0 {
            line("rflags", format!("{:x}", host.flags), format!("{:x}", machine.flags));
        }
    }
    if host.fx[..] == machine.fx[..] {
        return text;
    }
    if host.control() != machine.control() {
        line("fcw", format!("{:04x}", host.control()), format!("{:04x}", machine.control()));
    }
    if (host.status() ^ machine.status()) & !conditions != 0 {
        line("fsw", format!("{:04x}", host.status()), format!("{:04x}", machine.status()));
    }
    if host.fx[4] != machine.fx[4] {
        line("ftw", format!("{:08b}", host.fx[4]), format!("{:08b}", machine.fx[4]));
    }
    if host.mxcsr() != machine.mxcsr() {
        line("mxcsr", format!("{:04x}", host.mxcsr()), format!("{:04x}", machine.mxcsr()));
    }
    for i in 0..8 {
        let (a, b) = (host.st(i), machine.st(i));
        if a != b {
            let name = format!("st{i}");
            line(&name, format!("{:04x}:{:016x}", a.1, a.0), format!("{:04x}:{:016x}", b.1, b.0));
        }
    }
    for i in 0..16 {
        let (a, b) = (host.xmm(i), machine.xmm(i));
        if a != b {
            line(&format!("xmm{i}"), format!("{a:032x}"), format!("{b:032x}"));
        }
    }
    text
}
