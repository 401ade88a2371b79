//! The summary of an operator from the summaries of its operands.
//!
//! Each rule is sound for every distribution that fits the operands' summaries. Independence means
//! that the operands share no free byte, so that knowing one value says nothing of the other; the
//! rules that need it ask for it. The names of the general arguments are in `values.rs`: a function
//! may be injective, fold several values into one, be latin (either operand decides it one to
//! one), or pair its operands.
//!
//! The known bits and bounds that hold for all inputs come from the pool's own facts and are added
//! by the caller; the rules here add what the domains of the bytes give beyond that.

use stunt_terms::mask;

use super::values::{Joint, Values, power, signed};
use crate::rounding::up;

/// Complement of every bit: a bijection that turns the order around.
pub(super) fn not(a: &Values) -> Values {
    let all = mask(a.width);
    Values {
        min: !a.max & all,
        max: !a.min & all,
        low: !a.high,
        high: !a.low,
        zeros: a.ones,
        ones: a.zeros,
        uniform: a.uniform,
        masked: a.masked,
        ..a.injective(a.width)
    }
}

/// Negation: a bijection. It is `not a + 1`, so the lowest uniform bits stay uniform.
pub(super) fn neg(a: &Values) -> Values {
    let all = mask(a.width);
    let mut result = a.injective(a.width);
    if a.min > 0 {
        (result.min, result.max) = (all - a.max + 1, all - a.min + 1);
    }
    if let (Some(low), Some(high)) = (a.high.checked_neg(), a.low.checked_neg())
        && high <= result.high
    {
        (result.low, result.high) = (low, high);
    }
    result.uniform = a.uniform;
    result.masked = shifted_whole(a);
    result
}

/// The mask of a masked term after a constant was added, or after negation: nothing is known of it
/// unless the varying bits are the topmost ones. Then the term is `w + t * 2^i` with `t` uniform,
/// and adding permutes the values of `t`.
fn shifted_whole(a: &Values) -> Option<u128> {
    a.masked.filter(|&v| v == 0 || v == mask(a.width) & !mask(v.trailing_zeros() as u8))
}

/// The sum, modulo 2^width.
pub(super) fn add(joint: Joint, a: &Values, b: &Values) -> Values {
    if !a.zeros & !b.zeros & mask(a.width) == 0 {
        return disjoint(joint, a, b);
    }
    let all = mask(a.width);
    let mut result = joint.latin(a.width, a, b);
    let wraps = |x: u128, y: u128| x.checked_add(y).is_none_or(|sum| sum > all);
    let sum = |x: u128, y: u128| x.wrapping_add(y) & all;
    if !wraps(a.max, b.max) {
        (result.min, result.max) = (sum(a.min, b.min), sum(a.max, b.max));
        if joint.independent {
            // In the whole numbers a sum of sets has at least |A| + |B| - 1 elements.
            result.least = result.least.max(a.least.saturating_add(b.least - 1));
        }
    } else if wraps(a.min, b.min) {
        (result.min, result.max) = (sum(a.min, b.min), sum(a.max, b.max));
    }
    signed_bounds(&mut result, a.low.checked_add(b.low), a.high.checked_add(b.high));
    sum_bits(&mut result, joint, a, b);
    result
}

/// The difference, modulo 2^width.
pub(super) fn sub(joint: Joint, a: &Values, b: &Values) -> Values {
    let all = mask(a.width);
    let mut result = joint.latin(a.width, a, b);
    let difference = |x: u128, y: u128| x.wrapping_sub(y) & all;
    if a.min >= b.max {
        (result.min, result.max) = (a.min - b.max, a.max - b.min);
        if joint.independent {
            result.least = result.least.max(a.least.saturating_add(b.least - 1));
        }
    } else if a.max < b.min {
        (result.min, result.max) = (difference(a.min, b.max), difference(a.max, b.min));
    }
    signed_bounds(&mut result, a.low.checked_sub(b.high), a.high.checked_sub(b.low));
    // a - b is a + (-b), and negation keeps the bits in question.
    sum_bits(&mut result, joint, a, b);
    result
}

/// Which bits of a sum or difference are uniform: those of either operand. Bit `k` of the sum is
/// `a_k ^ b_k ^ carry`, where the carry comes from the bits below. Given `b` and the bits of `a` below
/// `k`, an independent `a_k` is still uniform; and the bits of the sum below `k` are
/// functions of those. The same goes for borrows.
fn sum_bits(result: &mut Values, joint: Joint, a: &Values, b: &Values) {
    if !joint.independent {
        return;
    }
    result.uniform = a.uniform | b.uniform;
    if b.is_fixed() {
        result.masked = shifted_whole(a);
    } else if a.is_fixed() {
        result.masked = shifted_whole(b);
    }
}

/// Takes signed bounds over, if no value between them wraps.
fn signed_bounds(result: &mut Values, low: Option<i128>, high: Option<i128>) {
    if let (Some(low), Some(high)) = (low, high)
        && low >= result.low
        && high <= result.high
    {
        (result.low, result.high) = (low, high);
    }
}

/// Two numbers that have no bit in common are added, or'ed or xor'ed: a pair.
fn disjoint(joint: Joint, a: &Values, b: &Values) -> Values {
    let mut result = joint.pair(a.width, a, b);
    result.min = a.min | b.min;
    result.max = a.max | b.max;
    result.zeros = a.zeros & b.zeros;
    result.ones = a.ones | b.ones;
    (result.uniform, result.masked) = paired_bits(joint, a, b, 0);
    result
}

/// Which bits of a pair are uniform, the first operand being shifted up.
fn paired_bits(joint: Joint, a: &Values, b: &Values, shift: u8) -> (u128, Option<u128>) {
    let (x, y) = (a.uniform << shift, b.uniform);
    if joint.independent {
        (x | y, a.masked.zip(b.masked).map(|(v, w)| v << shift | w))
    } else {
        // The low part does not depend on what is above it.
        (if shift > 0 { y } else { 0 }, None)
    }
}

/// The product, modulo 2^width.
pub(super) fn mul(joint: Joint, a: &Values, b: &Values) -> Values {
    let (a, b) = if a.known().is_some() { (b, a) } else { (a, b) };
    let all = mask(a.width);
    let largest = a.max.checked_mul(b.max).filter(|&max| max <= all);
    let mut result = match b.known() {
        Some(0) => return Values::constant(a.width, 0),
        // An odd factor has an inverse; without overflow any factor can be divided out.
        Some(c) if c & 1 == 1 || largest.is_some() => a.injective(a.width),
        // The factor's trailing zeros push as many leading bits out.
        Some(c) => a.folded(a.width, power(f64::from(c.trailing_zeros()))),
        None => joint.any(a.width, a, b),
    };
    if let Some(max) = largest {
        (result.min, result.max) = (a.min * b.min, max);
    }
    if joint.independent && b.known().is_none() {
        for (x, y) in [(a, b), (b, a)] {
            // For a fixed y that can be divided out, the product decides x.
            let divides = largest.is_some() || y.ones & 1 == 1;
            let nonzero = y.min > 0 || y.ones != 0;
            if divides && (nonzero || y.least >= 2) {
                result.least = result.least.max(x.least);
            }
            if divides && nonzero {
                result.commonest = result.commonest.min(x.commonest);
            } else if divides {
                // Or y is zero, which is no likelier than its commonest value.
                result.commonest = result.commonest.min(up(x.commonest + y.commonest));
            }
        }
    }
    if joint.independent {
        for (x, y) in [(a, b), (b, a)] {
            // Times an odd number, bit k is x_k plus a function of the bits below and of that
            // number; its power of two shifts them all.
            let shift = match y.known() {
                Some(0) => continue,
                Some(c) => c.trailing_zeros() as u8,
                None if y.ones & 1 == 1 => 0,
                None => continue,
            };
            result.uniform |= x.uniform << shift & all;
        }
    }
    if let (Some(v), Some(c)) = (a.masked, b.known())
        && c.is_power_of_two()
    {
        result.masked = Some(v << c.trailing_zeros() & all);
    }
    result
}

/// The unsigned quotient; all ones for a divisor of zero.
pub(super) fn udiv(joint: Joint, a: &Values, b: &Values) -> Values {
    let mut result = match b.known() {
        Some(c) if c > 0 => by_classes(a, a.min / c, a.max / c, c, |v| v / c),
        _ => joint.any(a.width, a, b),
    };
    result.min = a.min.checked_div(b.max).unwrap_or(mask(a.width));
    result.max = a.max.checked_div(b.min).unwrap_or(mask(a.width));
    result
}

/// A quotient by a constant: equal quotients come from `class` neighbouring values.
fn by_classes(
    a: &Values,
    first: u128,
    last: u128,
    class: u128,
    of: impl Fn(u128) -> u128,
) -> Values {
    let mut result = a.folded(a.width, class);
    if a.is_even() && last > first {
        // Every value is equally likely, so the classes' sizes are the probabilities. Only the
        // first and the last class may be incomplete.
        let span = a.max - a.min;
        let head = class - (a.min - of(a.min) * class);
        let tail = a.max - last * class + 1;
        let mut fewest = head.min(tail);
        let mut most = head.max(tail);
        if last - first > 1 {
            (fewest, most) = (fewest.min(class), class);
        }
        result.least = last - first + 1;
        result.homogeneous = fewest == most;
        result.rarest = up(((span as f64 + 1.0) / fewest as f64).log2()).max(0.0);
        result.commonest = up(most as f64 / (span as f64 + 1.0)).min(1.0);
    }
    result
}

/// The unsigned remainder; the dividend for a divisor of zero.
pub(super) fn urem(joint: Joint, a: &Values, b: &Values) -> Values {
    let Some(c) = b.known().filter(|&c| c > 0) else {
        let mut result = joint.any(a.width, a, b);
        result.max = if b.min > 0 { a.max.min(b.max - 1) } else { a.max };
        return result;
    };
    if a.min / c == a.max / c {
        // All values lie between two multiples: a subtraction.
        let base = a.min - a.min % c;
        let mut result = a.injective(a.width);
        (result.min, result.max) = (a.min - base, a.max - base);
        if base == 0 {
            (result.uniform, result.masked) = (a.uniform, a.masked);
        }
        return result;
    }
    let span = a.max - a.min;
    let fold = (span / c).saturating_add(1);
    let mut result = a.folded(a.width, fold);
    result.max = a.max.min(c - 1);
    result.most = result.most.min(c);
    if a.is_even() && span >= c - 1 {
        // Each residue has the whole part of (span + 1) / c values, or one more.
        let (whole, rest) = match span.checked_add(1) {
            Some(count) => (count / c, count % c),
            // 2^128 values: the power of two is the last of them.
            None if (span % c) + 1 == c => (span / c + 1, 0),
            None => (span / c, 1),
        };
        let total = span as f64 + 1.0;
        result.least = c;
        result.homogeneous = rest == 0;
        result.rarest = up((total / whole as f64).log2());
        result.commonest = up((whole as f64 + f64::from(rest > 0)) / total).min(1.0);
    }
    if c.is_power_of_two() {
        result.uniform = a.uniform & (c - 1);
        result.masked = a.masked.map(|v| v & (c - 1));
    }
    result
}

/// The signed quotient. Equal to the unsigned one where no operand is negative.
pub(super) fn sdiv(joint: Joint, a: &Values, b: &Values) -> Values {
    if a.low >= 0 && b.low > 0 {
        return udiv(joint, a, b);
    }
    match b.known().map(|c| signed(a.width, c).unsigned_abs()) {
        Some(1) => a.injective(a.width),
        // Quotient 0 comes from -(c - 1) to c - 1, any other from c values.
        Some(c) if c > 1 => a.folded(a.width, (c - 1).saturating_mul(2).saturating_add(1)),
        _ => joint.any(a.width, a, b),
    }
}

/// The signed remainder. Equal to the unsigned one where no operand is negative.
pub(super) fn srem(joint: Joint, a: &Values, b: &Values) -> Values {
    if a.low >= 0 && b.low > 0 {
        return urem(joint, a, b);
    }
    let mut result = joint.any(a.width, a, b);
    // Its magnitude is no larger than the dividend's, and it has the dividend's sign.
    result.low = a.low.min(0);
    result.high = a.high.max(0);
    result
}

/// Shift left. By a constant (which normal forms do not have): leading bits are dropped.
pub(super) fn shl(joint: Joint, a: &Values, b: &Values) -> Values {
    let all = mask(a.width);
    let mut result = joint.any(a.width, a, b);
    let fits = |by: u128| by < u128::from(a.width) && a.max <= all >> by;
    if let Some(by) = b.known() {
        if by >= u128::from(a.width) {
            return Values::constant(a.width, 0);
        }
        let lost = (a.varying() & !(all >> by)).count_ones();
        result = a.folded(a.width, power(f64::from(lost)));
        result.uniform = a.uniform << by & all;
        result.masked = a.masked.map(|v| v << by & all);
    }
    if fits(b.max) {
        (result.min, result.max) = (a.min << b.min, a.max << b.max);
    }
    result
}

/// Logical shift right.
pub(super) fn lshr(joint: Joint, a: &Values, b: &Values) -> Values {
    let shifted = |v: u128, by: u128| if by < u128::from(a.width) { v >> by } else { 0 };
    let mut result = match b.known() {
        Some(by) if by < u128::from(a.width) => {
            let lost = (a.varying() & mask(by as u8)).count_ones();
            let mut result = a.folded(a.width, power(f64::from(lost)));
            result.uniform = a.uniform >> by;
            result.masked = a.masked.map(|v| v >> by);
            result
        }
        _ => joint.any(a.width, a, b),
    };
    (result.min, result.max) = (shifted(a.min, b.max), shifted(a.max, b.min));
    result
}

/// Arithmetic shift right: of a number that is not negative, the logical one, as long as the
/// amount is not clamped to the width less one, where both give zero.
pub(super) fn ashr(joint: Joint, a: &Values, b: &Values) -> Values {
    if a.low >= 0 {
        return lshr(joint, a, b);
    }
    let mut result = joint.any(a.width, a, b);
    let shifted = |v: i128, by: u128| v >> by.min(127);
    let (least, most) = (b.min, b.max);
    result.low = shifted(a.low, least).min(shifted(a.low, most));
    result.high = shifted(a.high, least).max(shifted(a.high, most));
    result
}

/// Conjunction, bit by bit.
pub(super) fn and(joint: Joint, a: &Values, b: &Values) -> Values {
    let all = mask(a.width);
    let (a, b) = if a.known().is_some() { (b, a) } else { (a, b) };
    let mut result = match b.known() {
        Some(c) => {
            let lost = (a.varying() & !c).count_ones();
            let mut result = a.folded(a.width, power(f64::from(lost)));
            result.homogeneous = lost == 0 && a.homogeneous;
            result.uniform = a.uniform & c;
            result.masked = a.masked.map(|v| v & c);
            result
        }
        None => {
            let mut result = joint.any(a.width, a, b);
            if joint.independent {
                // Where one side is always 1, the other shows, and nothing of what is below in
                // either tells it.
                result.uniform = a.uniform & b.ones | b.uniform & a.ones;
            }
            result
        }
    };
    result.max = a.max.min(b.max);
    result.zeros = (a.zeros | b.zeros) & all;
    result.ones = a.ones & b.ones;
    result
}

/// Disjunction, bit by bit.
pub(super) fn or(joint: Joint, a: &Values, b: &Values) -> Values {
    if !a.zeros & !b.zeros & mask(a.width) == 0 {
        return disjoint(joint, a, b);
    }
    // De Morgan.
    not(&and(joint, &not(a), &not(b)))
}

/// Exclusive or, bit by bit.
pub(super) fn xor(joint: Joint, a: &Values, b: &Values) -> Values {
    if !a.zeros & !b.zeros & mask(a.width) == 0 {
        return disjoint(joint, a, b);
    }
    let mut result = joint.latin(a.width, a, b);
    result.zeros = a.zeros & b.zeros | a.ones & b.ones;
    result.ones = a.zeros & b.ones | a.ones & b.zeros;
    if joint.independent {
        // As for sums, without carries.
        result.uniform = a.uniform | b.uniform;
        result.masked = a.masked.zip(b.masked).map(|(v, w)| v | w);
    }
    result
}

/// `a`'s bits above `b`'s: a pair.
pub(super) fn concat(joint: Joint, a: &Values, b: &Values) -> Values {
    let shift = b.width;
    let mut result = joint.pair(a.width + shift, a, b);
    result.min = a.min << shift | b.min;
    result.max = a.max << shift | b.max;
    result.zeros = a.zeros << shift | b.zeros;
    result.ones = a.ones << shift | b.ones;
    (result.uniform, result.masked) = paired_bits(joint, a, b, shift);
    result
}

/// `width` bits from bit `lo` on.
pub(super) fn extract(width: u8, lo: u8, a: &Values) -> Values {
    let all = mask(width);
    let lost = (a.varying() & !(all << lo)).count_ones();
    let mut result = a.folded(width, power(f64::from(lost)));
    if lost == 0 {
        result.homogeneous = a.homogeneous;
    }
    let above = |v: u128| (v >> lo) & !all;
    if above(a.min) == above(a.max) {
        (result.min, result.max) = (a.min >> lo & all, a.max >> lo & all);
    }
    result.zeros = a.zeros >> lo & all;
    result.ones = a.ones >> lo & all;
    result.uniform = a.uniform >> lo & all;
    result.masked = a.masked.map(|v| v >> lo & all);
    result
}

/// Zeros in front.
pub(super) fn zero_extend(width: u8, a: &Values) -> Values {
    Values {
        min: a.min,
        max: a.max,
        zeros: a.zeros | mask(width) & !mask(a.width),
        ones: a.ones,
        uniform: a.uniform,
        masked: a.masked,
        ..a.injective(width)
    }
}

/// Copies of the sign in front.
pub(super) fn sign_extend(width: u8, a: &Values) -> Values {
    let front = mask(width) & !mask(a.width);
    let sign = 1u128 << (a.width - 1);
    Values {
        low: a.low,
        high: a.high,
        zeros: a.zeros | if a.zeros & sign != 0 { front } else { 0 },
        ones: a.ones | if a.ones & sign != 0 { front } else { 0 },
        uniform: a.uniform,
        // Copies of a varying bit vary with it.
        masked: a.masked.filter(|v| v & sign == 0),
        ..a.injective(width)
    }
}

/// A read from a table: `entries` are those within the index's bounds, and `past` is how many index
/// values within the bounds read a zero past the table's end.
pub(super) fn table(width: u8, index: &Values, entries: &[u64], past: u128) -> Values {
    let mut sorted: Vec<u128> = entries.iter().copied().map(u128::from).collect();
    sorted.sort_unstable();
    let mut counts: Vec<(u128, u128)> =
        sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u128)).collect();
    if past > 0 {
        match counts.first_mut() {
            Some((0, count)) => *count = count.saturating_add(past),
            _ => counts.insert(0, (0, past)),
        }
    }
    let sizes = counts.iter().map(|&(_, count)| count);
    let (fewest, most) = (sizes.clone().min().unwrap_or(1), sizes.max().unwrap_or(1));
    let mut result = index.folded(width, most);
    result.most = result.most.min(counts.len() as u128);
    if let (Some(first), Some(last)) = (counts.first(), counts.last()) {
        (result.min, result.max) = (first.0, last.0);
    }
    if index.is_even() && counts.len() > 1 {
        // Every index is equally likely, so the counts are the probabilities.
        let total = (index.max - index.min) as f64 + 1.0;
        result.least = counts.len() as u128;
        result.homogeneous = fewest == most;
        result.rarest = result.rarest.min(up((total / fewest as f64).log2()));
        result.commonest = up(most as f64 / total).min(1.0);
    }
    result
}
