//! The moves of the x87, without the host's unit: they round nothing and raise nothing.
//!
//! Always: what is not sure to succeed (an empty source, a full stack) is left to the host.

use crate::code::slots;

use super::super::Cpu;

/// The condition bit that tells of rounding and of stack overflow; a move clears it.
const C1: u16 = 0x200;

impl Cpu {
    fn is_used(&self, i: u8) -> bool {
        self.fpu.used >> self.fpu.physical(i) & 1 != 0
    }

    fn stack(&self, i: u8) -> (u64, u16) {
        let register = self.fpu.physical(i);
        (self.get(slots::MM + register), self.fpu.exponents[usize::from(register)])
    }

    fn put(&mut self, i: u8, (significand, exponent): (u64, u16)) {
        let register = self.fpu.physical(i);
        self.set(slots::MM + register, significand);
        self.fpu.exponents[usize::from(register)] = exponent;
        self.fpu.used |= 1 << register;
    }

    fn push(&mut self, value: (u64, u16)) {
        self.fpu.top = self.fpu.physical(7);
        self.put(0, value);
    }

    fn pop(&mut self) {
        self.fpu.used &= !(1 << self.fpu.top);
        self.fpu.top = self.fpu.physical(1);
    }

    /// Does a register form, if it is a move that succeeds.
    pub(super) fn moves(&mut self, escape: u8, form: u8) -> bool {
        let i = form & 7;
        match (escape, form) {
            // fld st(i)
            (1, 0x00..=0x07) if self.is_used(i) && !self.is_used(7) => self.push(self.stack(i)),
            // fxch st(i)
            (1, 0x08..=0x0f) if self.is_used(0) && self.is_used(i) => {
                let (top, other) = (self.stack(0), self.stack(i));
                self.put(0, other);
                self.put(i, top);
            }
            // fstp st(i)
            (5, 0x18..=0x1f) if self.is_used(0) => {
                self.put(i, self.stack(0));
                self.pop();
            }
            // fchs, fabs
            (1, 0x20 | 0x21) if self.is_used(0) => {
                let (significand, exponent) = self.stack(0);
                let exponent = if i == 0 { exponent ^ 0x8000 } else { exponent & 0x7fff };
                self.put(0, (significand, exponent));
            }
            // fld1, fldz
            (1, 0x28) if !self.is_used(7) => self.push((1 << 63, 0x3fff)),
            (1, 0x2e) if !self.is_used(7) => self.push((0, 0)),
            _ => return false,
        }
        self.fpu.status &= !C1;
        true
    }

    /// Does `fld` with all 80 bits of a register, if it succeeds.
    pub(super) fn load_extended(&mut self, escape: u8, i: u8, bits: u128) -> bool {
        let succeeds = (escape, i) == (3, 5) && !self.is_used(7);
        if succeeds {
            self.push((bits as u64, (bits >> 64) as u16));
            self.fpu.status &= !C1;
        }
        succeeds
    }

    /// Does `fstp` with all 80 bits of a register, if it succeeds.
    pub(super) fn store_extended(&mut self, escape: u8, i: u8) -> Option<u128> {
        if (escape, i) != (3, 7) || !self.is_used(0) {
            return None;
        }
        let (significand, exponent) = self.stack(0);
        self.pop();
        self.fpu.status &= !C1;
        Some(u128::from(significand) | u128::from(exponent) << 64)
    }
}
