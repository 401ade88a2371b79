//! Running one x87 instruction on the host's own unit.
//!
//! Two tables of code hold every encoding there is: `frstor`, the instruction, `fnsave`. The
//! guest's whole state goes in, and comes out changed. Always: the host's unit is left as the
//! calling convention wants it, empty and with its control word. An exception that the guest has
//! not masked stays in the saved state and is never raised on the host, because nothing between
//! the instruction and `fnsave` waits.
#![allow(unsafe_code)]

use std::arch::{asm, naked_asm};

/// The x87 state in memory, as `fnsave` writes it in its 32-bit form.
#[derive(Clone)]
#[repr(C, align(16))]
pub(super) struct Image([u8; 108]);

/// An instruction. The numbers are those of the encoding, and are cut to their fields.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// The first byte less `0xd8`, and the second byte less `0xc0`.
    Register(u8, u8),
    /// The first byte less `0xd8`, and the middle field of the second byte.
    Memory(u8, u8),
}

/// The longest operand that an instruction of the tables reads or writes: a state.
const OPERAND: usize = 108;

impl Image {
    pub(super) fn new(control: u16, status: u16, tags: u16) -> Self {
        let mut image = Self([0; 108]);
        image.set_half(0, control);
        image.set_half(4, status);
        image.set_half(8, tags);
        image
    }

    fn half(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    fn set_half(&mut self, at: usize, value: u16) {
        self.0[at..at + 2].copy_from_slice(&value.to_le_bytes());
    }

    pub(super) fn control(&self) -> u16 {
        self.half(0)
    }

    pub(super) fn status(&self) -> u16 {
        self.half(4)
    }

    pub(super) fn tags(&self) -> u16 {
        self.half(8)
    }

    /// Significand, and sign with exponent, of a stack register.
    pub(super) fn register(&self, i: u8) -> (u64, u16) {
        let at = 28 + 10 * usize::from(i);
        let bytes = self.0[at..at + 8].try_into().expect("8 bytes");
        (u64::from_le_bytes(bytes), self.half(at + 8))
    }

    pub(super) fn set_register(&mut self, i: u8, significand: u64, exponent: u16) {
        let at = 28 + 10 * usize::from(i);
        self.0[at..at + 8].copy_from_slice(&significand.to_le_bytes());
        self.set_half(at + 8, exponent);
    }
}

/// For each register form, eight bytes: `frstor [rdi]`, the instruction, `fnsave [rdi]`, `ret`,
/// `nop`.
#[unsafe(naked)]
unsafe extern "C" fn register_forms() {
    naked_asm!(
        ".set stunt_x87_form, 0",
        ".rept 512",
        ".byte 0xdd, 0x27, 0xd8 + (stunt_x87_form >> 6), 0xc0 + (stunt_x87_form & 63)",
        ".byte 0xdd, 0x37, 0xc3, 0x90",
        ".set stunt_x87_form, stunt_x87_form + 1",
        ".endr",
    )
}

/// The same for the memory forms; their operand is at `rsi`.
#[unsafe(naked)]
unsafe extern "C" fn memory_forms() {
    naked_asm!(
        ".set stunt_x87_form, 0",
        ".rept 64",
        ".byte 0xdd, 0x27, 0xd8 + (stunt_x87_form >> 3), 0x06 + 8 * (stunt_x87_form & 7)",
        ".byte 0xdd, 0x37, 0xc3, 0x90",
        ".set stunt_x87_form, stunt_x87_form + 1",
        ".endr",
    )
}

impl Form {
    /// The address of the code for this form.
    fn entry(self) -> usize {
        let (table, index) = match self {
            Self::Register(escape, i) => (register_forms as *const (), (escape & 7, i & 63, 6)),
            Self::Memory(escape, i) => (memory_forms as *const (), (escape & 7, i & 7, 3)),
        };
        let (escape, i, bits) = index;
        table as usize + 8 * (usize::from(escape) << bits | usize::from(i))
    }
}

/// Runs an instruction on a state without pending exceptions.
pub(super) fn run(image: &mut Image, form: Form, operand: &mut [u8; 16]) {
    call(image, form, operand, None);
}

/// The same for a register form that reads or sets the flags; gives the six flags afterwards.
pub(super) fn run_with_flags(image: &mut Image, escape: u8, i: u8, flags: u64) -> u64 {
    call(image, Form::Register(escape, i), &mut [0; 16], Some(flags))
}

fn call(image: &mut Image, form: Form, operand: &mut [u8; 16], flags: Option<u64>) -> u64 {
    // An exception that were pending now would be raised on the host.
    assert_eq!(image.status() & !image.control() & 0x3f, 0, "pending exceptions");
    let mut memory = [0; OPERAND];
    memory[..16].copy_from_slice(operand);
    let mut control = 0u16;
    let entry = form.entry();
    let mut flag_bits = flags.unwrap_or(0) & super::ALL;
    // SAFETY: `entry` is the start of one of the 512 or 64 pieces of code of the tables, since the
    // parts of a form are cut to their fields. Each piece reads and writes the 108 bytes of
    // `image`, at most 108 bytes of `memory`, `ax`, the flags and the x87 unit, and returns; an
    // encoding that is none is a SIGILL, no wrong access. All registers that a C function may
    // change are declared changed, which includes those of the x87. `fnsave` leaves the unit empty
    // with all exceptions masked, and its control word is then brought back. Only the six flags
    // of arithmetic go into `rflags`, so direction and trap stay clear. Nothing is read below the
    // stack pointer, and what is pushed is popped.
    unsafe {
        match flags {
            None => asm!(
                "fnstcw word ptr [{control}]",
                "call {entry}",
                "fldcw word ptr [{control}]",
                control = in(reg) &raw mut control,
                entry = in(reg) entry,
                in("rdi") &raw mut image.0,
                in("rsi") memory.as_mut_ptr(),
                out("rax") _,
                clobber_abi("C"),
            ),
            Some(_) => asm!(
                "fnstcw word ptr [{control}]",
                "push rdx",
                "popfq",
                "call {entry}",
                "pushfq",
                "pop rdx",
                "fldcw word ptr [{control}]",
                control = in(reg) &raw mut control,
                entry = in(reg) entry,
                inout("rdx") flag_bits,
                in("rdi") &raw mut image.0,
                in("rsi") memory.as_mut_ptr(),
                out("rax") _,
                clobber_abi("C"),
            ),
        }
    }
    operand.copy_from_slice(&memory[..16]);
    flag_bits & super::ALL
}
