//! What `fxsave` writes and `fxrstor` reads; signal frames hold the same.

use crate::code::slots;

use super::super::{Cpu, Exception, helpers::MXCSR_MASK};

impl Cpu {
    /// Writes the 416 bytes that `fxsave` writes.
    pub(crate) fn save_vector_state(&self, area: &mut [u8; 512]) {
        area[0..2].copy_from_slice(&self.fpu.control.to_le_bytes());
        area[2..4].copy_from_slice(&self.fpu.status().to_le_bytes());
        area[4] = self.fpu.used;
        area[5..24].fill(0);
        area[24..28].copy_from_slice(&(self.get(slots::MXCSR) as u32).to_le_bytes());
        area[28..32].copy_from_slice(&MXCSR_MASK.to_le_bytes());
        for i in 0..8u8 {
            // The area is in stack order, the slots are physical.
            let register = self.fpu.physical(i);
            let at = 32 + 16 * usize::from(i);
            let significand = self.get(slots::MM + register);
            let exponent = self.fpu.exponents[usize::from(register)];
            area[at..at + 8].copy_from_slice(&significand.to_le_bytes());
            area[at + 8..at + 10].copy_from_slice(&exponent.to_le_bytes());
            area[at + 10..at + 16].fill(0);
        }
        for i in 0..16u8 {
            let at = 160 + 16 * usize::from(i);
            let value = self.pair(slots::XMM + 2 * i);
            area[at..at + 16].copy_from_slice(&value.to_le_bytes());
        }
    }

    /// Takes over what `fxrstor` reads.
    pub(crate) fn restore_vector_state(&mut self, area: &[u8; 512]) -> Result<(), Exception> {
        let half = |at: usize| u16::from_le_bytes([area[at], area[at + 1]]);
        let word = |at: usize| u64::from_le_bytes(area[at..at + 8].try_into().expect("8 bytes"));
        let mxcsr = word(24) as u32;
        if mxcsr & !MXCSR_MASK != 0 {
            return Err(Exception::GeneralProtection);
        }
        self.set(slots::MXCSR, u64::from(mxcsr));
        self.fpu.set_control(half(0));
        self.fpu.set_status(half(2));
        self.fpu.used = area[4];
        for i in 0..8u8 {
            let register = self.fpu.physical(i);
            let at = 32 + 16 * usize::from(i);
            self.set(slots::MM + register, word(at));
            self.fpu.exponents[usize::from(register)] = half(at + 8);
        }
        for i in 0..16u8 {
            let at = 160 + 16 * usize::from(i);
            self.set(slots::XMM + 2 * i, word(at));
            self.set(slots::XMM + 2 * i + 1, word(at + 8));
        }
        Ok(())
    }
}
