//! The fast way for ordinary values.
//!
//! It is taken only where no flag of MXCSR can change and its control bits cannot matter: operands
//! that are zero or normal, and results that are exact, or else rounded to nearest while the
//! inexact flag is up already.

use crate::code::Float as F;

use super::flags::{CF, ZF};

/// All control bits, and the inexact flag.
const LOOKED_AT: u32 = 0xffc0 | INEXACT;
/// The inexact flag.
const INEXACT: u32 = 1 << 5;
/// Round to nearest, all exceptions masked, denormals as they are; inexact results do not matter.
const USUAL: u32 = 0x1f80 | INEXACT;

/// Neither a NaN, nor infinite, nor denormal.
trait Plain: Copy {
    fn is_plain(self) -> bool;
}

impl Plain for f32 {
    #[inline(always)]
    fn is_plain(self) -> bool {
        self.is_normal() || self == 0.0
    }
}

impl Plain for f64 {
    #[inline(always)]
    fn is_plain(self) -> bool {
        self.is_normal() || self == 0.0
    }
}

/// The scalar operations of one type of number.
macro_rules! scalars {
    ($name:ident, $float:ty, $bits:ty) => {
        mod $name {
            use super::{CF, Plain, ZF};

            #[inline(always)]
            fn lane(v: u128) -> $float {
                <$float>::from_bits(v as $bits)
            }

            /// `a` with its lowest lane replaced.
            #[inline(always)]
            pub(super) fn with(a: u128, x: $float) -> u128 {
                a & !u128::from(<$bits>::MAX) | u128::from(x.to_bits())
            }

            #[inline(always)]
            fn operands(a: u128, b: u128) -> Option<($float, $float)> {
                let (x, y) = (lane(a), lane(b));
                (x.is_plain() && y.is_plain()).then_some((x, y))
            }

            #[inline(always)]
            pub(super) fn one(b: u128) -> Option<$float> {
                Some(lane(b)).filter(|x| x.is_plain())
            }

            /// Finite, and larger than the least normal number: that one may be rounded up from
            /// what counts as an underflow.
            #[inline(always)]
            pub(super) fn is_large(x: $float) -> bool {
                x.is_normal() && x.abs() != <$float>::MIN_POSITIVE
            }

            #[inline(always)]
            pub(super) fn add(a: u128, b: u128) -> Option<u128> {
                let (x, y) = operands(a, b)?;
                let r = x + y;
                // A sum of such numbers is zero only if it is exact.
                (r.is_plain()).then(|| with(a, r))
            }

            #[inline(always)]
            pub(super) fn sub(a: u128, b: u128) -> Option<u128> {
                let (x, y) = operands(a, b)?;
                let r = x - y;
                (r.is_plain()).then(|| with(a, r))
            }

            #[inline(always)]
            pub(super) fn mul(a: u128, b: u128) -> Option<u128> {
                let (x, y) = operands(a, b)?;
                let r = x * y;
                (is_large(r) || x == 0.0 || y == 0.0).then(|| with(a, r))
            }

            #[inline(always)]
            pub(super) fn div(a: u128, b: u128) -> Option<u128> {
                let (x, y) = operands(a, b)?;
                let r = x / y;
                (y != 0.0 && (is_large(r) || x == 0.0)).then(|| with(a, r))
            }

            #[inline(always)]
            pub(super) fn sqrt(a: u128, b: u128) -> Option<u128> {
                let x = one(b)?;
                (x >= 0.0).then(|| with(a, x.sqrt()))
            }

            /// The second operand if they are equal, also with zeros of both signs.
            #[inline(always)]
            pub(super) fn min(a: u128, b: u128) -> Option<u128> {
                let (x, y) = operands(a, b)?;
                Some(with(a, if x < y { x } else { y }))
            }

            #[inline(always)]
            pub(super) fn max(a: u128, b: u128) -> Option<u128> {
                let (x, y) = operands(a, b)?;
                Some(with(a, if x > y { x } else { y }))
            }

            #[inline(always)]
            pub(super) fn compare(a: u128, b: u128) -> Option<u128> {
                let (x, y) = operands(a, b)?;
                let carry = if x < y { CF } else { 0 };
                let zero = if x == y { ZF } else { 0 };
                Some(u128::from(carry | zero))
            }

            #[inline(always)]
            pub(super) fn predicate(a: u128, b: u128, imm: u8) -> Option<u128> {
                let (x, y) = operands(a, b)?;
                let holds = match imm & 3 {
                    0 => x == y,
                    1 => x < y,
                    2 => x <= y,
                    _ => false,
                };
                let mask = if holds != (imm & 4 != 0) { <$bits>::MAX } else { 0 };
                Some(a & !u128::from(<$bits>::MAX) | u128::from(mask))
            }

            /// Cut to an integer of so many bits; `exact` allows no loss.
            #[inline(always)]
            pub(super) fn truncate(b: u128, bits: u32, exact: bool) -> Option<u128> {
                let x = one(b)?;
                // Exact in both types; the upper end is out.
                let limit = (1u64 << (bits - 1)) as $float;
                if !(x >= -limit && x < limit) {
                    return None;
                }
                let r = x as i64;
                if exact && r as $float != x {
                    return None;
                }
                Some(u128::from(r as u64 & u64::MAX >> (64 - bits)))
            }
        }
    };
}

scalars!(single, f32, u32);
scalars!(double, f64, u64);

/// `f` of two vectors if that is easy.
#[inline]
pub(super) fn fast(f: F, a: u128, b: u128, imm: u8, mxcsr: u32) -> Option<u128> {
    let usual = mxcsr & LOOKED_AT == USUAL;
    match f {
        F::Addsd if usual => double::add(a, b),
        F::Subsd if usual => double::sub(a, b),
        F::Mulsd if usual => double::mul(a, b),
        F::Divsd if usual => double::div(a, b),
        F::Sqrtsd if usual => double::sqrt(a, b),
        F::Addss if usual => single::add(a, b),
        F::Subss if usual => single::sub(a, b),
        F::Mulss if usual => single::mul(a, b),
        F::Divss if usual => single::div(a, b),
        F::Sqrtss if usual => single::sqrt(a, b),
        F::Minsd => double::min(a, b),
        F::Maxsd => double::max(a, b),
        F::Minss => single::min(a, b),
        F::Maxss => single::max(a, b),
        F::Comisd | F::Ucomisd => double::compare(a, b),
        F::Comiss | F::Ucomiss => single::compare(a, b),
        F::Cmpsd => double::predicate(a, b, imm),
        F::Cmpss => single::predicate(a, b, imm),
        F::Cvtsi2sd32 => Some(double::with(a, f64::from(b as i32))),
        F::Cvtsi2sd64 if usual || fits(b as i64, 53) => Some(double::with(a, b as i64 as f64)),
        F::Cvtsi2ss32 if usual || fits(i64::from(b as i32), 24) => {
            Some(single::with(a, b as i32 as f32))
        }
        F::Cvtsi2ss64 if usual || fits(b as i64, 24) => Some(single::with(a, b as i64 as f32)),
        F::Cvttsd2si32 => double::truncate(b, 32, !usual),
        F::Cvttsd2si64 => double::truncate(b, 64, !usual),
        F::Cvttss2si32 => single::truncate(b, 32, !usual),
        F::Cvttss2si64 => single::truncate(b, 64, !usual),
        F::Cvtss2sd => Some(double::with(a, f64::from(single::one(b)?))),
        F::Cvtsd2ss if usual => {
            let x = double::one(b)?;
            let r = x as f32;
            (single::is_large(r) || x == 0.0).then(|| single::with(a, r))
        }
        _ => None,
    }
}

/// Whether the number has so many bits without its sign, so that no conversion rounds it.
#[inline(always)]
fn fits(x: i64, bits: u32) -> bool {
    x.unsigned_abs() <= 1 << bits
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng, seq::SliceRandom};
    use rand_chacha::ChaCha8Rng;

    use super::{F, fast};
    use crate::cpu::float::precise;

    const OPERATIONS: [F; 32] = [
        F::Addss,
        F::Addsd,
        F::Subss,
        F::Subsd,
        F::Mulss,
        F::Mulsd,
        F::Divss,
        F::Divsd,
        F::Sqrtss,
        F::Sqrtsd,
        F::Minss,
        F::Minsd,
        F::Maxss,
        F::Maxsd,
        F::Comiss,
        F::Comisd,
        F::Ucomiss,
        F::Ucomisd,
        F::Cmpss,
        F::Cmpsd,
        F::Cvtsi2ss32,
        F::Cvtsi2ss64,
        F::Cvtsi2sd32,
        F::Cvtsi2sd64,
        F::Cvttss2si32,
        F::Cvttss2si64,
        F::Cvttsd2si32,
        F::Cvttsd2si64,
        F::Cvtss2sd,
        F::Cvtsd2ss,
        F::Addps,
        F::Mulpd,
    ];

    /// Numbers near each other and near all limits, often the same ones.
    fn operand(rng: &mut ChaCha8Rng) -> u128 {
        let high = u128::from(rng.r#gen::<u64>()) << 64;
        let low = match rng.gen_range(0..14) {
            0 => f64::from(rng.gen_range(-3..4)).to_bits(),
            1 => (f64::from(rng.gen_range(-9..10)) * 0.5).to_bits(),
            2 => u64::from((rng.gen_range(-9..10) as f32 * 0.5).to_bits()),
            3 => u64::from(rng.r#gen::<u32>()),
            4 => rng.r#gen::<u64>() & 0x800f_ffff_ffff_ffff,
            5 => 0x7fe0_0000_0000_0000 | rng.r#gen::<u64>() >> 11,
            6 => (rng.r#gen::<i64>() >> rng.gen_range(0..64)) as u64,
            7 => ((rng.r#gen::<i64>() >> rng.gen_range(0..64)) as f64).to_bits(),
            // The least normal numbers, and what takes a product or quotient to them.
            8 => f64::MIN_POSITIVE.to_bits() + rng.gen_range(0..3),
            9 => u64::from(f32::MIN_POSITIVE.to_bits() + rng.gen_range(0..3)),
            10 => (1f64.to_bits() - 3) + rng.gen_range(0..6),
            11 => u64::from((1f32.to_bits() - 3) + rng.gen_range(0..6)),
            12 => f64::from(f32::MIN_POSITIVE).to_bits() - rng.gen_range(0..1 << 30),
            _ => rng.r#gen(),
        };
        high | u128::from(low)
    }

    /// Wherever the fast way is open, the precise one comes to the same place and changes no flag.
    #[test]
    fn fast_is_precise() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut taken = 0;
        for _ in 0..400_000 {
            let f = *OPERATIONS.choose(&mut rng).expect("not empty");
            let (a, b, imm) = (operand(&mut rng), operand(&mut rng), rng.gen_range(0..8));
            let mxcsr = match rng.gen_range(0..4) {
                0 => u64::from(rng.r#gen::<u16>()),
                1 => 0x1f80,
                _ => 0x1fa0,
            };
            let Some(value) = fast(f, a, b, imm, mxcsr as u32) else { continue };
            taken += 1;
            let mut after = mxcsr;
            let expected = precise(f, a, b, imm, &mut after);
            assert_eq!(expected, Ok(value), "{f:?} {a:x} {b:x} {imm} {mxcsr:x}");
            assert_eq!(after, mxcsr, "{f:?} {a:x} {b:x} {imm} {mxcsr:x}");
        }
        assert!(taken > 50_000, "the fast way was taken only {taken} times");
    }
}
