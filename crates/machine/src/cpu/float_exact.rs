//! Whether a result has more digits than its type, whatever its size.
//!
//! An overflow or underflow that is not masked leaves the question of precision to a result with
//! an exponent without bounds: it is inexact only if its digits do not fit. This is decided with
//! integers.

use crate::code::Float as F;

/// A finite number other than zero: an odd number times a power of two.
#[derive(Clone, Copy)]
struct Number {
    negative: bool,
    odd: u64,
    exponent: i32,
}

fn double(bits: u64) -> Option<Number> {
    let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52 & 0x7ff) as i32);
    number(bits >> 63 != 0, fraction, exponent, 52, 0x7ff)
}

fn single(bits: u32) -> Option<Number> {
    let (fraction, exponent) = (bits & ((1 << 23) - 1), (bits >> 23 & 0xff) as i32);
    number(bits >> 31 != 0, u64::from(fraction), exponent, 23, 0xff)
}

fn number(negative: bool, fraction: u64, exponent: i32, digits: u32, top: i32) -> Option<Number> {
    if exponent == top || exponent == 0 && fraction == 0 {
        return None;
    }
    let (whole, exponent) =
        if exponent == 0 { (fraction, 1) } else { (fraction | 1 << digits, exponent) };
    let zeros = whole.trailing_zeros();
    Some(Number { negative, odd: whole >> zeros, exponent: exponent + zeros as i32 })
}

/// Whether the scalar operation `f` loses digits.
pub(super) fn inexact(f: F, a: u128, b: u128) -> bool {
    let doubles = || Some((double(a as u64)?, double(b as u64)?));
    let singles = || Some((single(a as u32)?, single(b as u32)?));
    let lost = match f {
        F::Addsd => doubles().map(|(x, y)| sum_is_longer(x, y, 53)),
        F::Subsd => doubles().map(|(x, y)| sum_is_longer(x, minus(y), 53)),
        F::Mulsd => doubles().map(|(x, y)| product_is_longer(x, y, 53)),
        F::Divsd => doubles().map(|(x, y)| x.odd % y.odd != 0),
        F::Addss => singles().map(|(x, y)| sum_is_longer(x, y, 24)),
        F::Subss => singles().map(|(x, y)| sum_is_longer(x, minus(y), 24)),
        F::Mulss => singles().map(|(x, y)| product_is_longer(x, y, 24)),
        F::Divss => singles().map(|(x, y)| x.odd % y.odd != 0),
        F::Cvtsd2ss => double(b as u64).map(|x| length(u128::from(x.odd)) > 24),
        _ => None,
    };
    lost.unwrap_or(false)
}

fn minus(x: Number) -> Number {
    Number { negative: !x.negative, ..x }
}

fn length(x: u128) -> u32 {
    128 - x.leading_zeros()
}

fn product_is_longer(x: Number, y: Number, digits: u32) -> bool {
    length(u128::from(x.odd) * u128::from(y.odd)) > digits
}

fn sum_is_longer(x: Number, y: Number, digits: u32) -> bool {
    let (high, low) = if x.exponent >= y.exponent { (x, y) } else { (y, x) };
    let apart = (high.exponent - low.exponent) as u32;
    if apart > 70 {
        // One ends before the other starts.
        return true;
    }
    let signed = |n: Number| if n.negative { -i128::from(n.odd) } else { i128::from(n.odd) };
    let sum = ((signed(high) << apart) + signed(low)).unsigned_abs();
    sum != 0 && length(sum >> sum.trailing_zeros()) > digits
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::{F, inexact};
    use crate::cpu::float_host::run;

    /// In the middle of the range nothing overflows, so the host's own flag must agree.
    #[test]
    fn agrees_with_the_host() {
        const PRECISION: u32 = 1 << 5;
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let mut seen = [0; 2];
        for _ in 0..200_000 {
            // Few digits, so that exact results occur.
            let single = |rng: &mut ChaCha8Rng| {
                let digits = rng.r#gen::<u32>() & 0x7f_ffff & u32::MAX << rng.gen_range(0..24);
                rng.r#gen::<u32>() & 1 << 31 | rng.gen_range(100..154) << 23 | digits
            };
            let double = |rng: &mut ChaCha8Rng| {
                let digits = rng.r#gen::<u64>() >> 12 & u64::MAX << rng.gen_range(0..53);
                rng.r#gen::<u64>() & 1 << 63 | rng.gen_range(973..1073) << 52 | digits
            };
            let (f, a, b) = match rng.gen_range(0..9) {
                k @ 0..4 => {
                    let f = [F::Addsd, F::Subsd, F::Mulsd, F::Divsd][k];
                    (f, u128::from(double(&mut rng)), u128::from(double(&mut rng)))
                }
                k @ 4..8 => {
                    let f = [F::Addss, F::Subss, F::Mulss, F::Divss][k - 4];
                    (f, u128::from(single(&mut rng)), u128::from(single(&mut rng)))
                }
                _ => (F::Cvtsd2ss, 0, u128::from(double(&mut rng))),
            };
            let (_, raised) = run(f, a, b, 0, 0).expect("one step");
            let found = inexact(f, a, b);
            assert_eq!(found, raised & PRECISION != 0, "{f:?} {a:x} {b:x}");
            seen[usize::from(found)] += 1;
        }
        assert!(seen.iter().all(|&n| n > 10_000), "one answer is rare: {seen:?}");
    }
}
