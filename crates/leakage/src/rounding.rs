//! Logarithms and outward rounding: the arithmetic under every figure.
//!
//! A bound must stay a bound after rounding, so every function here says on which side of the
//! truth its result lies. [`log2`] is the exception: it is as near as it can be, for exact counts.
//! Nothing here knows what is counted.

use num_bigint::BigUint;

/// Far above the error of a few operations on `f64` (2^-53 each), far below what is printed.
const SLACK: f64 = 1.0 / (1u64 << 46) as f64;

/// The binary logarithm of a count, with a relative error below 1e-12; minus infinity for zero.
///
/// The top 64 bits decide: what is cut off below them changes the result by less than 2^-62.
pub fn log2(count: &BigUint) -> f64 {
    let bits = count.bits();
    if bits <= 64 {
        return log2_word(count.iter_u64_digits().next().unwrap_or(0));
    }
    let cut = bits - 64;
    let top = (count >> cut).iter_u64_digits().next().expect("64 bits are left");
    cut as f64 + log2_word(top)
}

/// `log2` of a word. Near a power of two the plain logarithm would lose digits, so the power is
/// taken out first and the rest is `ln_1p`.
fn log2_word(word: u64) -> f64 {
    if word == 0 {
        return f64::NEG_INFINITY;
    }
    let power = word.ilog2();
    let rest = word - (1 << power);
    f64::from(power) + (rest as f64 / (1u64 << power) as f64).ln_1p() / std::f64::consts::LN_2
}

/// `log2(of / part)`, at least zero: what knowing `part` out of `of` reveals. Infinite if `part`
/// is zero. Accurate also when the two are nearly equal.
pub fn log2_ratio(of: &BigUint, part: &BigUint) -> f64 {
    if part.bits() == 0 {
        return f64::INFINITY;
    }
    if of <= part {
        return 0.0;
    }
    let missing = log2(&(of - part)) - log2(of);
    if missing < -1.0 {
        -(-missing.exp2()).ln_1p() / std::f64::consts::LN_2
    } else {
        log2(of) - log2(part)
    }
}

/// Not below the number that `x`, which is not negative, was computed for.
pub(crate) fn up(x: f64) -> f64 {
    x * (1.0 + SLACK)
}

/// Not above the number that `x`, which is not negative, was computed for.
pub(crate) fn down(x: f64) -> f64 {
    x * (1.0 - SLACK)
}

/// Not below `log2(count)`; `u128::MAX` also stands for one more.
pub(crate) fn log2_up(count: u128) -> f64 {
    up((count as f64).log2())
}

/// Not above `log2(count)`.
pub(crate) fn log2_down(count: u128) -> f64 {
    if count.is_power_of_two() { f64::from(count.ilog2()) } else { down((count as f64).log2()) }
}

/// Not below the product of two probabilities; zero only if one of them is.
pub(crate) fn times(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { up(a * b).clamp(f64::MIN_POSITIVE, 1.0) }
}

/// Not below the sum of two probabilities, and at most 1.
pub(crate) fn plus(a: f64, b: f64) -> f64 {
    if b == 0.0 {
        a
    } else if a == 0.0 {
        b
    } else {
        up(a + b).min(1.0)
    }
}

/// Not below `count * probability`, and at most 1.
pub(crate) fn scaled(count: u128, probability: f64) -> f64 {
    if count == 1 { probability } else { up(count as f64 * probability).min(1.0) }
}

/// Not below `-log2(1 - rejected)`, for an upper bound of the part that is rejected.
pub(crate) fn loss_of(rejected: f64) -> f64 {
    if rejected >= 1.0 { f64::INFINITY } else { up(-(-rejected).ln_1p() / std::f64::consts::LN_2) }
}

/// Not below `1 - 2^-loss`: the part that is rejected.
pub(crate) fn rejected_of(loss: f64) -> f64 {
    if loss == f64::INFINITY {
        1.0
    } else {
        up(-(-loss * std::f64::consts::LN_2).exp_m1()).min(1.0)
    }
}

/// Not below `-log2(2^-loss - rejected)`; infinite if nothing need be left.
pub(crate) fn loss_minus(loss: f64, rejected: f64) -> f64 {
    if rejected == 0.0 {
        return loss;
    }
    if loss > 1000.0 {
        return f64::INFINITY;
    }
    up(loss + loss_of(up(rejected * up(loss).exp2())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slow logarithm of its own kind: the digits one by one, by squaring in fixed point.
    fn log2_by_squaring(count: &BigUint) -> f64 {
        const POINT: u64 = 200;
        let whole = count.bits() - 1;
        let mut x = if whole > POINT { count >> (whole - POINT) } else { count << (POINT - whole) };
        let mut result = 0.0;
        for digit in 1..=60 {
            x = (&x * &x) >> POINT;
            if x.bits() > POINT + 1 {
                x >>= 1u32;
                result += (-f64::from(digit)).exp2();
            }
        }
        result + whole as f64
    }

    #[test]
    fn logarithms_of_counts_are_accurate() {
        let mut count = BigUint::from(3u32);
        while count.bits() < 5000 {
            for near in [count.clone(), &count + 1u32, BigUint::from(1u32) << count.bits()] {
                for c in [&near - 1u32, near.clone(), near + 1u32] {
                    let (fast, slow) = (log2(&c), log2_by_squaring(&c));
                    assert!((fast - slow).abs() <= slow * 1e-12, "{fast} {slow}");
                }
            }
            count = &count * &count * 5u32 / 4u32 + 1u32;
        }
        assert_eq!(log2(&BigUint::from(1u32)), 0.0);
        assert_eq!(log2(&(BigUint::from(1u32) << 4096u32)), 4096.0);
        assert_eq!(log2(&BigUint::from(0u32)), f64::NEG_INFINITY);
    }

    #[test]
    fn ratios_near_one_keep_their_digits() {
        let of = BigUint::from(1u32) << 200u32;
        let part = &of - 1u32;
        let expected = (-200.0f64).exp2() / std::f64::consts::LN_2;
        assert!((log2_ratio(&of, &part) / expected - 1.0).abs() < 1e-12);
        assert_eq!(log2_ratio(&of, &of), 0.0);
        assert_eq!(log2_ratio(&of, &BigUint::from(0u32)), f64::INFINITY);
        assert_eq!(log2_ratio(&of, &BigUint::from(1u32)), 200.0);
    }

    #[test]
    fn conversions_round_outward() {
        for loss in [0.0, 1e-12, 0.3, 1.0, 8.0, 52.0, 300.0] {
            assert!(loss_of(rejected_of(loss)) >= loss);
            assert!(loss_minus(loss, 0.0) >= loss);
        }
        assert!(loss_minus(1.0, 0.25) >= 2.0 && loss_minus(1.0, 0.25) < 2.000_001);
        assert_eq!(loss_minus(1.0, 0.5), f64::INFINITY);
        assert!(times(1e-300, 1e-300) > 0.0);
    }
}
