//! The lazy flags: what produced them is kept, and a flag is computed when somebody asks.
//!
//! Three slots: the result, an operand, and kind and width. `FLAG_RESULT` and `FLAG_OPERAND` are
//! always cut to the width.

use crate::code::{Condition, Width, slots};

use super::Cpu;

/// CF in `rflags`.
pub(crate) const CF: u64 = 1;
/// PF in `rflags`.
pub(crate) const PF: u64 = 1 << 2;
/// AF in `rflags`.
pub(crate) const AF: u64 = 1 << 4;
/// ZF in `rflags`.
pub(crate) const ZF: u64 = 1 << 6;
/// SF in `rflags`.
pub(crate) const SF: u64 = 1 << 7;
/// DF in `rflags`.
pub(crate) const DF: u64 = 1 << 10;
/// OF in `rflags`.
pub(crate) const OF: u64 = 1 << 11;
/// The six flags of arithmetic.
pub(crate) const ALL: u64 = CF | PF | AF | ZF | SF | OF;

/// What the flags came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FlagKind {
    /// The result slot holds the flags themselves.
    Bits,
    /// `a + operand`.
    Add,
    /// `a + operand + 1`.
    AddCarry,
    /// `a - operand`.
    Sub,
    /// `a - operand - 1`.
    SubBorrow,
    /// A bitwise result: no carry, no overflow.
    Logic,
    /// `a + 1`; the operand slot holds the carry, which is kept.
    Inc,
    /// `a - 1`; the operand slot holds the carry, which is kept.
    Dec,
    /// A left shift; the operand slot holds the bit shifted out.
    Shl,
    /// A logical right shift; bit 0 of the operand slot was shifted out, bit 1 is the old sign.
    Shr,
    /// An arithmetic right shift; the operand slot holds the bit shifted out.
    Sar,
    /// A product; the operand slot tells whether it overflowed.
    Mul,
}

impl FlagKind {
    #[inline(always)]
    fn of(code: u64) -> Self {
        match code as u8 {
            1 => Self::Add,
            2 => Self::AddCarry,
            3 => Self::Sub,
            4 => Self::SubBorrow,
            5 => Self::Logic,
            6 => Self::Inc,
            7 => Self::Dec,
            8 => Self::Shl,
            9 => Self::Shr,
            10 => Self::Sar,
            11 => Self::Mul,
            _ => Self::Bits,
        }
    }
}

/// Kind and width as they are kept in a slot.
#[inline(always)]
pub(crate) const fn flag_code(kind: FlagKind, w: Width) -> u64 {
    kind as u64 | (w as u64) << 8
}

#[inline(always)]
const fn width_of(code: u64) -> Width {
    match code >> 8 {
        0 => Width::W8,
        1 => Width::W16,
        2 => Width::W32,
        _ => Width::W64,
    }
}

impl Cpu {
    /// Notes what the flags come from.
    #[inline(always)]
    pub(crate) fn note(&mut self, kind: FlagKind, w: Width, result: u64, operand: u64) {
        self.set(slots::FLAG_RESULT, result);
        self.set(slots::FLAG_OPERAND, operand);
        self.set(slots::FLAG_KIND, flag_code(kind, w));
    }

    #[inline(always)]
    pub(crate) fn lazy(&self) -> (FlagKind, Width, u64, u64) {
        let code = self.get(slots::FLAG_KIND);
        (
            FlagKind::of(code),
            width_of(code),
            self.get(slots::FLAG_RESULT),
            self.get(slots::FLAG_OPERAND),
        )
    }

    /// The carry flag.
    #[inline]
    pub(crate) fn carry(&self) -> bool {
        let (kind, w, r, b) = self.lazy();
        match kind {
            FlagKind::Bits => r & CF != 0,
            FlagKind::Add => r < b,
            FlagKind::AddCarry => r <= b,
            FlagKind::Sub => r.wrapping_add(b) & w.mask() < b,
            FlagKind::SubBorrow => r.wrapping_add(b).wrapping_add(1) & w.mask() <= b,
            FlagKind::Logic => false,
            _ => b & 1 != 0,
        }
    }

    #[inline]
    fn zero(&self) -> bool {
        let (kind, _, r, _) = self.lazy();
        if kind == FlagKind::Bits { r & ZF != 0 } else { r == 0 }
    }

    #[inline]
    fn sign(&self) -> bool {
        let (kind, w, r, _) = self.lazy();
        if kind == FlagKind::Bits { r & SF != 0 } else { r >> (w.bits() - 1) != 0 }
    }

    fn parity(&self) -> bool {
        let (kind, _, r, _) = self.lazy();
        if kind == FlagKind::Bits { r & PF != 0 } else { (r as u8).count_ones().is_multiple_of(2) }
    }

    #[inline]
    fn overflow(&self) -> bool {
        let (kind, w, r, b) = self.lazy();
        let sign = |value: u64| value >> (w.bits() - 1) & 1 != 0;
        match kind {
            FlagKind::Bits => r & OF != 0,
            FlagKind::Add => sign((r.wrapping_sub(b) ^ r) & (b ^ r)),
            FlagKind::AddCarry => sign((r.wrapping_sub(b).wrapping_sub(1) ^ r) & (b ^ r)),
            FlagKind::Sub => {
                let a = r.wrapping_add(b);
                sign((a ^ b) & (a ^ r))
            }
            FlagKind::SubBorrow => {
                let a = r.wrapping_add(b).wrapping_add(1);
                sign((a ^ b) & (a ^ r))
            }
            FlagKind::Logic | FlagKind::Sar => false,
            FlagKind::Inc => r == 1 << (w.bits() - 1),
            FlagKind::Dec => r == w.mask() >> 1,
            FlagKind::Shl => sign(r) != (b & 1 != 0),
            FlagKind::Shr => b & 2 != 0,
            FlagKind::Mul => b & 1 != 0,
        }
    }

    fn adjust(&self) -> bool {
        let (kind, _, r, b) = self.lazy();
        let half = |a: u64| (a ^ b ^ r) & 0x10 != 0;
        match kind {
            FlagKind::Bits => r & AF != 0,
            FlagKind::Add => half(r.wrapping_sub(b)),
            FlagKind::AddCarry => half(r.wrapping_sub(b).wrapping_sub(1)),
            FlagKind::Sub => half(r.wrapping_add(b)),
            FlagKind::SubBorrow => half(r.wrapping_add(b).wrapping_add(1)),
            FlagKind::Inc => r & 0xf == 0,
            FlagKind::Dec => r & 0xf == 0xf,
            _ => false,
        }
    }

    /// The six flags, in their places in `rflags`.
    pub(crate) fn flag_bits(&self) -> u64 {
        if self.get(slots::FLAG_KIND) as u8 == FlagKind::Bits as u8 {
            return self.get(slots::FLAG_RESULT) & ALL;
        }
        let one = |set: bool, bit: u64| if set { bit } else { 0 };
        one(self.carry(), CF)
            | one(self.parity(), PF)
            | one(self.adjust(), AF)
            | one(self.zero(), ZF)
            | one(self.sign(), SF)
            | one(self.overflow(), OF)
    }

    /// Sets the flags of `mask` to those of `bits`.
    pub(crate) fn set_flag_bits(&mut self, bits: u64, mask: u64) {
        let bits = self.flag_bits() & !mask | bits & mask & ALL;
        self.note(FlagKind::Bits, Width::W8, bits, 0);
    }

    /// All of `rflags`, as `pushf` shows it.
    #[must_use]
    pub fn rflags(&self) -> u64 {
        // Bit 1 is always set, and interrupts are on.
        self.flag_bits() | self.get(slots::SYSTEM_FLAGS) | 0x202
    }

    /// Sets what a program may set of `rflags`.
    pub fn set_rflags(&mut self, value: u64) {
        // Trap is left out: nobody single-steps here. Nested task, alignment, identification.
        const SYSTEM: u64 = DF | 0x4000 | 0x4_0000 | 0x20_0000;
        self.set(slots::SYSTEM_FLAGS, value & SYSTEM);
        self.set_flag_bits(value, ALL);
    }

    /// Whether a condition holds.
    #[inline]
    pub(crate) fn holds(&self, cc: Condition) -> bool {
        match cc {
            Condition::O => self.overflow(),
            Condition::No => !self.overflow(),
            Condition::B => self.carry(),
            Condition::Ae => !self.carry(),
            Condition::E => self.zero(),
            Condition::Ne => !self.zero(),
            Condition::Be => self.carry() || self.zero(),
            Condition::A => !self.carry() && !self.zero(),
            Condition::S => self.sign(),
            Condition::Ns => !self.sign(),
            Condition::P => self.parity(),
            Condition::Np => !self.parity(),
            Condition::L => self.sign() != self.overflow(),
            Condition::Ge => self.sign() == self.overflow(),
            Condition::Le => self.zero() || self.sign() != self.overflow(),
            Condition::G => !self.zero() && self.sign() == self.overflow(),
        }
    }
}
