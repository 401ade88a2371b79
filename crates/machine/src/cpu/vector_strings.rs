//! The string comparisons of SSE4.2.
//!
//! Two vectors of characters are compared all with all, the results are gathered into one bit for
//! each character of the second, and those give an index, a mask and the flags.

use super::flags::{CF, OF, SF, ZF};

/// What a comparison gives.
pub(super) struct Compared {
    /// The first or last bit set, or the number of characters.
    pub(super) index: u64,
    /// The bits, or a mask of characters.
    pub(super) mask: u128,
    /// All six flags, in their places in `rflags`.
    pub(super) flags: u64,
}

/// How the characters are compared: the lower two bits of the constant.
#[derive(Clone, Copy)]
struct Format {
    wide: bool,
    signed: bool,
}

impl Format {
    fn of(imm: u8) -> Self {
        Self { wide: imm & 1 != 0, signed: imm & 2 != 0 }
    }

    fn count(self) -> usize {
        if self.wide { 8 } else { 16 }
    }

    fn bits(self) -> u32 {
        if self.wide { 16 } else { 8 }
    }

    fn character(self, v: u128, k: usize) -> i32 {
        let raw = v >> (k as u32 * self.bits());
        match (self.wide, self.signed) {
            (false, false) => i32::from(raw as u8),
            (false, true) => i32::from(raw as i8),
            (true, false) => i32::from(raw as u16),
            (true, true) => i32::from(raw as i16),
        }
    }
}

/// `pcmpistri` and `pcmpistrm`: strings end at the first zero.
pub(super) fn implicit(x: u128, y: u128, imm: u8) -> Compared {
    let format = Format::of(imm);
    let length =
        |v| (0..format.count()).find(|&k| format.character(v, k) == 0).unwrap_or(format.count());
    compare(format, (x, length(x)), (y, length(y)), imm)
}

/// `pcmpestri` and `pcmpestrm`: the lengths are given, and their signs do not matter.
pub(super) fn explicit(x: u128, y: u128, lengths: [u64; 2], imm: u8) -> Compared {
    let format = Format::of(imm);
    let length = |n: u64| (n as i64).unsigned_abs().min(format.count() as u64) as usize;
    compare(format, (x, length(lengths[0])), (y, length(lengths[1])), imm)
}

fn compare(format: Format, x: (u128, usize), y: (u128, usize), imm: u8) -> Compared {
    let count = format.count();
    let a = |k: usize| format.character(x.0, k);
    let b = |k: usize| format.character(y.0, k);
    let bit = |j: usize| match imm >> 2 & 3 {
        // Is this character in the set?
        0 => j < y.1 && (0..x.1).any(|i| a(i) == b(j)),
        // Is it in one of the ranges? A lower bound without an upper one does not count.
        1 => j < y.1 && (0..x.1 / 2).any(|i| a(2 * i) <= b(j) && b(j) <= a(2 * i + 1)),
        // Is it the same? Behind both ends it is.
        2 => match (j < x.1, j < y.1) {
            (true, true) => a(j) == b(j),
            (false, false) => true,
            _ => false,
        },
        // Does the first string start here? The end of the vector hides what does not fit.
        _ => (0..count - j).take_while(|&i| i < x.1).all(|i| i + j < y.1 && a(i) == b(i + j)),
    };
    let found: u32 = (0..count).map(|j| u32::from(bit(j)) << j).sum();
    let all = (1u32 << count) - 1;
    let bits = match imm >> 4 & 3 {
        1 => found ^ all,
        3 => found ^ ((1 << y.1) - 1),
        _ => found,
    };
    let last = imm & 0x40 != 0;
    let index = match bits {
        0 => count as u32,
        _ if last => 31 - bits.leading_zeros(),
        _ => bits.trailing_zeros(),
    };
    let ones = (1u128 << format.bits()) - 1;
    let mask = if last {
        (0..count).filter(|k| bits >> k & 1 != 0).map(|k| ones << (k as u32 * format.bits())).sum()
    } else {
        u128::from(bits)
    };
    let flag = |set: bool, flag: u64| if set { flag } else { 0 };
    let flags = flag(bits != 0, CF)
        | flag(y.1 < count, ZF)
        | flag(x.1 < count, SF)
        | flag(bits & 1 != 0, OF);
    Compared { index: u64::from(index), mask, flags }
}
