//! Shifts, rotations, multiplications, divisions, and operations on single bits.

use crate::code::{Bit, BitOp, Shift, Slot, Width, slots};

use super::{
    Cpu, Exception, FlagKind,
    flags::{ALL, CF, OF, SF, ZF},
};

/// The count that the processor makes of an operand.
#[inline(always)]
pub(super) const fn count_of(w: Width, count: u64) -> u32 {
    count as u32 & if w.bits() == 64 { 63 } else { 31 }
}

#[inline(always)]
pub(super) fn shl(w: Width, a: u64, count: u64) -> u64 {
    (a << count_of(w, count)) & w.mask()
}

#[inline(always)]
pub(super) fn shr(w: Width, a: u64, count: u64) -> u64 {
    (a & w.mask()) >> count_of(w, count)
}

#[inline(always)]
pub(super) fn sar(w: Width, a: u64, count: u64) -> u64 {
    (w.sign_extend(a) as i64 >> count_of(w, count)) as u64 & w.mask()
}

pub(super) fn ror(w: Width, a: u64, count: u64) -> u64 {
    let (a, n) = (a & w.mask(), count_of(w, count) % w.bits());
    if n == 0 { a } else { (a >> n | a << (w.bits() - n)) & w.mask() }
}

impl Cpu {
    pub(crate) fn shift(&mut self, f: Shift, w: Width, a: u64, count: u64) -> u64 {
        let n = count_of(w, count);
        let a = a & w.mask();
        if n == 0 {
            return a;
        }
        let (bits, top) = (w.bits(), w.bits() - 1);
        match f {
            Shift::Shl => {
                let r = shl(w, a, u64::from(n));
                // A count beyond the width shifts zeros out.
                let out = if n <= bits { a >> (bits - n) & 1 } else { 0 };
                self.note(FlagKind::Shl, w, r, out);
                r
            }
            Shift::Shr => {
                let r = a >> n;
                self.note(FlagKind::Shr, w, r, a >> (n - 1) & 1 | (a >> top) << 1);
                r
            }
            Shift::Sar => {
                let wide = w.sign_extend(a) as i64;
                let r = (wide >> n) as u64 & w.mask();
                self.note(FlagKind::Sar, w, r, (wide >> (n - 1)) as u64 & 1);
                r
            }
            Shift::Rol => {
                let r = ror(w, a, u64::from(bits - n % bits));
                let carry = r & 1;
                let over = carry ^ (r >> top);
                self.set_flag_bits((carry * CF) | (over * OF), CF | OF);
                r
            }
            Shift::Ror => {
                let r = ror(w, a, u64::from(n));
                let carry = r >> top;
                let over = carry ^ (r >> (top - 1) & 1);
                self.set_flag_bits((carry * CF) | (over * OF), CF | OF);
                r
            }
            Shift::Rcl | Shift::Rcr => self.rotate_through_carry(f == Shift::Rcr, w, a, n),
        }
    }

    fn rotate_through_carry(&mut self, right: bool, w: Width, a: u64, n: u32) -> u64 {
        let around = w.bits() + 1;
        let n = n % around;
        let top = w.bits() - 1;
        let mut ring = u128::from(a) | u128::from(self.carry()) << w.bits();
        let left = if right { around - n } else { n } % around;
        if left != 0 {
            ring = (ring << left | ring >> (around - left)) & ((1 << around) - 1);
        }
        let r = ring as u64 & w.mask();
        let carry = (ring >> w.bits()) as u64 & 1;
        let over = if right { (r >> top) ^ (r >> (top - 1) & 1) } else { carry ^ (r >> top) };
        self.set_flag_bits((carry * CF) | ((over & 1) * OF), CF | OF);
        r
    }

    pub(super) fn shift_double(&mut self, right: bool, w: Width, a: u64, b: u64, n: u64) -> u64 {
        let n = count_of(w, n);
        let (a, b, bits) = (a & w.mask(), b & w.mask(), w.bits());
        if n == 0 {
            return a;
        }
        // At 16 bits a count above the width is undefined; processors go on with the first
        // operand, as if it stood behind the second one.
        let (r, out) = if right {
            let wide = u128::from(a) | u128::from(b) << bits | u128::from(a) << (2 * bits % 128);
            let wide = if bits == 16 { wide } else { u128::from(a) | u128::from(b) << bits };
            ((wide >> n) as u64 & w.mask(), (wide >> (n - 1)) as u64 & 1)
        } else if bits == 16 {
            let wide = u128::from(a) << 32 | u128::from(b) << 16 | u128::from(a);
            ((wide << n >> 32) as u64 & 0xffff, (wide << (n - 1) >> 47) as u64 & 1)
        } else {
            let wide = u128::from(a) << bits | u128::from(b);
            let r = if bits == 64 { wide << n >> 64 } else { wide << n >> 32 } as u64 & w.mask();
            (r, a >> (bits - n) & 1)
        };
        self.note(FlagKind::Logic, w, r, 0);
        let over = (r ^ a) >> (bits - 1) & 1;
        self.set_flag_bits((out * CF) | (over * OF), CF | OF);
        r
    }

    pub(super) fn bit_test(&mut self, f: Bit, w: Width, a: u64, index: u64) -> u64 {
        let n = index & u64::from(w.bits() - 1);
        let (a, bit) = (a & w.mask(), 1 << n);
        self.set_flag_bits((a >> n & 1) * CF, CF);
        match f {
            Bit::Test => a,
            Bit::Set => a | bit,
            Bit::Reset => a & !bit,
            Bit::Complement => a ^ bit,
        }
    }

    pub(super) fn bit_op(&mut self, f: BitOp, w: Width, old: u64, a: u64, b: u64) -> u64 {
        let m = w.mask();
        let bits = w.bits();
        let (x, y) = (a & m, b & m);
        let one = |set: bool, flag: u64| if set { flag } else { 0 };
        let (r, flags) = match f {
            BitOp::Bsf | BitOp::Bsr if x == 0 => {
                self.set_flag_bits(ZF, ZF);
                return old;
            }
            BitOp::Bsf => (u64::from(x.trailing_zeros()), None),
            BitOp::Bsr => (u64::from(63 - x.leading_zeros()), None),
            BitOp::Tzcnt => {
                let r = u64::from(x.trailing_zeros().min(bits));
                (r, Some(one(x == 0, CF) | one(r == 0, ZF)))
            }
            BitOp::Lzcnt => {
                let r = u64::from(x.leading_zeros() - (64 - bits));
                (r, Some(one(x == 0, CF) | one(r == 0, ZF)))
            }
            BitOp::Popcnt => (u64::from(x.count_ones()), Some(one(x == 0, ZF))),
            BitOp::Andn => {
                let r = !x & y;
                (r, Some(one(r == 0, ZF) | one(r >> (bits - 1) != 0, SF)))
            }
            BitOp::Blsi => {
                let r = x & x.wrapping_neg() & m;
                (r, Some(one(x != 0, CF) | one(r == 0, ZF) | one(r >> (bits - 1) != 0, SF)))
            }
            BitOp::Blsr => {
                let r = x & x.wrapping_sub(1) & m;
                (r, Some(one(x == 0, CF) | one(r == 0, ZF) | one(r >> (bits - 1) != 0, SF)))
            }
            BitOp::Blsmsk => {
                let r = (x ^ x.wrapping_sub(1)) & m;
                (r, Some(one(x == 0, CF) | one(r >> (bits - 1) != 0, SF)))
            }
            BitOp::Bextr => {
                let (start, length) = (y as u8 as u32, (y >> 8) as u8 as u32);
                let shifted = if start < 64 { x >> start } else { 0 };
                let r = if length < 64 { shifted & ((1 << length) - 1) } else { shifted };
                (r, Some(one(r == 0, ZF)))
            }
            BitOp::Bzhi => {
                let n = y as u8 as u32;
                let r = if n < bits { x & ((1 << n) - 1) } else { x };
                let flags = one(n >= bits, CF) | one(r == 0, ZF);
                (r, Some(flags | one(r >> (bits - 1) != 0, SF)))
            }
            BitOp::Pdep => return deposit(x, y),
            BitOp::Pext => return extract(x, y),
            BitOp::Crc32 => return crc32(a as u32, b, w),
        };
        match flags {
            // The scans define ZF alone.
            None => self.set_flag_bits(0, ZF),
            Some(flags) => self.set_flag_bits(flags, ALL),
        }
        r
    }

    pub(super) fn multiply(w: Width, signed: bool, a: u64, b: u64) -> (u64, u64) {
        let bits = w.bits();
        let wide = if signed {
            (i128::from(w.sign_extend(a) as i64) * i128::from(w.sign_extend(b) as i64)) as u128
        } else {
            u128::from(a & w.mask()) * u128::from(b & w.mask())
        };
        (wide as u64 & w.mask(), (wide >> bits) as u64 & w.mask())
    }

    pub(super) fn multiply_flags(&mut self, w: Width, signed: bool, low: u64, high: u64) {
        let sign = w.sign_extend(low) as i64 >> 63;
        let fits = if signed { high == sign as u64 & w.mask() } else { high == 0 };
        self.note(FlagKind::Mul, w, low & w.mask(), u64::from(!fits));
    }

    /// Whether a division by a slot goes without a fault.
    pub(crate) fn divides(&mut self, w: Width, signed: bool, by: Slot) -> bool {
        self.divide(w, signed, by).is_ok()
    }

    pub(super) fn divide(&mut self, w: Width, signed: bool, by: Slot) -> Result<(), Exception> {
        let (m, bits) = (w.mask(), w.bits());
        let (rax, rdx) = (self.get(slots::RAX), self.get(slots::RDX));
        let divisor = self.get(by) & m;
        if divisor == 0 {
            return Err(Exception::Divide);
        }
        let dividend = if w == Width::W8 {
            u128::from(rax & 0xffff)
        } else {
            u128::from(rax & m) | u128::from(rdx & m) << bits
        };
        let (quotient, rest) = if signed {
            let shift = 128 - 2 * bits;
            let dividend = (dividend << shift) as i128 >> shift;
            let divisor = i128::from(w.sign_extend(divisor) as i64);
            let quotient = dividend.checked_div(divisor).ok_or(Exception::Divide)?;
            let limit = 1i128 << (bits - 1);
            if quotient < -limit || quotient >= limit {
                return Err(Exception::Divide);
            }
            (quotient as u64 & m, (dividend % divisor) as u64 & m)
        } else if w <= Width::W32 || rdx == 0 {
            let (dividend, divisor) = (dividend as u64, divisor);
            let quotient = dividend / divisor;
            if quotient > m {
                return Err(Exception::Divide);
            }
            (quotient, dividend % divisor)
        } else {
            let divisor = u128::from(divisor);
            let quotient = dividend / divisor;
            if quotient > u128::from(m) {
                return Err(Exception::Divide);
            }
            (quotient as u64, (dividend % divisor) as u64)
        };
        match w {
            Width::W8 => {
                self.set(slots::RAX, rax & !0xffff | rest << 8 | quotient);
            }
            Width::W16 => {
                self.set(slots::RAX, rax & !m | quotient);
                self.set(slots::RDX, rdx & !m | rest);
            }
            Width::W32 | Width::W64 => {
                self.set(slots::RAX, quotient);
                self.set(slots::RDX, rest);
            }
        }
        Ok(())
    }
}

fn deposit(x: u64, mut mask: u64) -> u64 {
    let (mut r, mut k) = (0, 0);
    while mask != 0 {
        let low = mask & mask.wrapping_neg();
        if x >> k & 1 != 0 {
            r |= low;
        }
        mask &= mask - 1;
        k += 1;
    }
    r
}

fn extract(x: u64, mut mask: u64) -> u64 {
    let (mut r, mut k) = (0, 0);
    while mask != 0 {
        let low = mask & mask.wrapping_neg();
        if x & low != 0 {
            r |= 1 << k;
        }
        mask &= mask - 1;
        k += 1;
    }
    r
}

/// One step of CRC-32C, bit by bit: rare enough.
fn crc32(mut crc: u32, data: u64, w: Width) -> u64 {
    for k in 0..w.bytes() {
        crc ^= u32::from((data >> (8 * k)) as u8);
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 != 0 { 0x82f6_3b78 } else { 0 };
        }
    }
    u64::from(crc)
}
