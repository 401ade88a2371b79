//! The x87 unit: its state, and what its operations do to it.
//!
//! Moves are done here (see [`fast`]). Arithmetic runs on the host's unit with the guest's whole x87 state loaded (see [`host`]), so
//! results, tags, condition bits, stack faults, rounding and unmasked exceptions are the
//! processor's own. Always: an operation that waits changes nothing when an exception is pending.
//! The unit does not keep the addresses of its last instruction and operand: they read as zero.

mod fast;
mod host;
mod save;
#[cfg(test)]
mod tests;

use crate::code::{Slot, X87Op, slots};

use super::{Cpu, Exception, flags::ALL};
use host::{Form, Image};

/// The six exceptions, in the status word and, as masks, in the control word.
const EXCEPTIONS: u16 = 0x3f;
/// The bits of the control word that a program can set.
const CONTROL: u16 = 0x1f3f;
/// A bit of the control word that is always set.
const CONTROL_ONE: u16 = 0x40;
/// Where the status word shows the top of the stack.
const TOP: u16 = 0x3800;
/// The bits of the status word that tell of pending exceptions: summary and busy.
const SUMMARY: u16 = 0x8080;

/// What of the x87 is not in slots. Without `Debug`: registers may hold what came from an input.
#[derive(Clone, Copy)]
pub struct Fpu {
    /// The control word.
    control: u16,
    /// The status word, without the stack top and without the summary of pending exceptions.
    status: u16,
    /// Which physical register is the top of the stack.
    top: u8,
    /// One bit for each physical register that is in use.
    used: u8,
    /// Sign and exponent of each physical register; the significands are in slots.
    exponents: [u16; 8],
}

impl Default for Fpu {
    fn default() -> Self {
        Self { control: 0x37f, status: 0, top: 0, used: 0, exponents: [0; 8] }
    }
}

impl Fpu {
    /// The exceptions that are raised and not masked.
    fn pending(&self) -> u16 {
        self.status & !self.control & EXCEPTIONS
    }

    /// Fails if an exception is pending.
    fn wait(&self) -> Result<(), Exception> {
        match self.pending() {
            0 => Ok(()),
            pending => Err(Exception::X87Float(pending as u8)),
        }
    }

    /// The status word as a program sees it.
    fn status(&self) -> u16 {
        let summary = if self.pending() != 0 { SUMMARY } else { 0 };
        self.status | u16::from(self.top) << 11 | summary
    }

    fn set_status(&mut self, status: u16) {
        self.status = status & !(TOP | SUMMARY);
        self.top = (status >> 11) as u8 & 7;
    }

    fn set_control(&mut self, control: u16) {
        self.control = control & CONTROL | CONTROL_ONE;
    }

    /// The physical register behind a stack index.
    fn physical(&self, i: u8) -> u8 {
        (self.top + i) & 7
    }
}

/// Runs an x87 operation.
pub(super) fn x87(cpu: &mut Cpu, f: X87Op, i: u8, d: Slot, a: Slot) -> Result<(), Exception> {
    match f {
        X87Op::Stack { escape } => {
            cpu.fpu.wait()?;
            if cpu.moves(escape, i) {
                return Ok(());
            }
            let mut image = cpu.image();
            host::run(&mut image, Form::Register(escape, i), &mut [0; 16]);
            cpu.take(&image);
        }
        X87Op::Flags { escape } => {
            cpu.fpu.wait()?;
            let mut image = cpu.image();
            let flags = host::run_with_flags(&mut image, escape, i, cpu.flag_bits());
            cpu.take(&image);
            cpu.set_flag_bits(flags, ALL);
        }
        X87Op::Source { escape } => {
            cpu.fpu.wait()?;
            if cpu.load_extended(escape, i, cpu.pair(a)) {
                return Ok(());
            }
            let mut image = cpu.image();
            let mut operand = cpu.pair(a).to_le_bytes();
            host::run(&mut image, Form::Memory(escape, i), &mut operand);
            cpu.take(&image);
        }
        X87Op::Target { escape } => {
            cpu.fpu.wait()?;
            if let Some(bits) = cpu.store_extended(escape, i) {
                cpu.set_pair(d, bits);
                return Ok(());
            }
            let mut image = cpu.image();
            let mut operand = cpu.pair(d).to_le_bytes();
            host::run(&mut image, Form::Memory(escape, i), &mut operand);
            cpu.take(&image);
            cpu.set_pair(d, u128::from_le_bytes(operand));
        }
        X87Op::Wait => cpu.fpu.wait()?,
        X87Op::Control => cpu.set(d, u64::from(cpu.fpu.control)),
        X87Op::Status => cpu.set(d, u64::from(cpu.fpu.status())),
        X87Op::Tags => cpu.set(d, u64::from(cpu.tag_word())),
        X87Op::Register => {
            let register = cpu.fpu.physical(i);
            let exponent = cpu.fpu.exponents[usize::from(register)];
            let significand = cpu.get(slots::MM + register);
            cpu.set_pair(d, u128::from(significand) | u128::from(exponent) << 64);
        }
        X87Op::SetRegister => {
            let (register, value) = (cpu.fpu.physical(i), cpu.pair(a));
            cpu.set(slots::MM + register, value as u64);
            cpu.fpu.exponents[usize::from(register)] = (value >> 64) as u16;
        }
        X87Op::SetEnvironment => {
            let [control, status, tags] = [0, 1, 2].map(|k| cpu.get(a + k) as u16);
            cpu.fpu.set_control(control);
            cpu.fpu.set_status(status);
            cpu.fpu.used = used_of(tags);
        }
        X87Op::Mask => cpu.fpu.control |= EXCEPTIONS,
        X87Op::Clear => cpu.fpu.status &= !(EXCEPTIONS | 0x40),
        X87Op::Init => {
            // The registers keep their content and become empty.
            let exponents = cpu.fpu.exponents;
            cpu.fpu = Fpu { exponents, ..Fpu::default() };
        }
        X87Op::Mmx => {
            cpu.fpu.wait()?;
            cpu.fpu.top = 0;
            cpu.fpu.used = 0xff;
            if let Some(exponent) = cpu.fpu.exponents.get_mut(usize::from(i)) {
                *exponent = 0xffff;
            }
        }
        X87Op::Emms => {
            cpu.fpu.wait()?;
            cpu.fpu.top = 0;
            cpu.fpu.used = 0;
        }
    }
    Ok(())
}

/// Which physical registers a tag word shows as in use.
fn used_of(tags: u16) -> u8 {
    (0..8).filter(|i| tags >> (2 * i) & 3 != 3).fold(0, |used, i| used | 1 << i)
}

impl Cpu {
    /// The tag word: valid, zero, special or empty for each physical register.
    fn tag_word(&self) -> u16 {
        (0..8u8).fold(0, |word, i| {
            let significand = self.get(slots::MM + i);
            let exponent = self.fpu.exponents[usize::from(i)] & 0x7fff;
            let tag = if self.fpu.used >> i & 1 == 0 {
                3
            } else if exponent == 0 && significand == 0 {
                1
            } else if exponent == 0 || exponent == 0x7fff || significand >> 63 == 0 {
                2
            } else {
                0
            };
            word | tag << (2 * i)
        })
    }

    /// The unit's state as the host's unit loads it.
    fn image(&self) -> Image {
        let fpu = &self.fpu;
        let mut image = Image::new(fpu.control, fpu.status(), self.tag_word());
        for i in 0..8 {
            let register = fpu.physical(i);
            let exponent = fpu.exponents[usize::from(register)];
            image.set_register(i, self.get(slots::MM + register), exponent);
        }
        image
    }

    /// Takes over what the host's unit left.
    fn take(&mut self, image: &Image) {
        self.fpu.set_control(image.control());
        self.fpu.set_status(image.status());
        self.fpu.used = used_of(image.tags());
        for i in 0..8 {
            let register = self.fpu.physical(i);
            let (significand, exponent) = image.register(i);
            self.set(slots::MM + register, significand);
            self.fpu.exponents[usize::from(register)] = exponent;
        }
    }
}
