//! Sums, products and quotients, bit by bit.
//!
//! Adders ripple. A product adds one shifted copy of an operand for every bit of the other one
//! that may be set; a constant is first recoded to digits -1, 0, 1 so that few copies are needed.
//! Division restores: one subtraction and one choice for each bit of the quotient. All results are
//! SMT-LIB's, also for a divisor of zero.

use crate::algebra::Algebra;
use crate::select::{select, select_all};

/// Whether at least two of the three bits are set.
pub(crate) fn majority<A: Algebra>(
    algebra: &mut A,
    a: &A::Bit,
    b: &A::Bit,
    c: &A::Bit,
) -> Result<A::Bit, A::Stop> {
    let [ka, kb, kc] = [a, b, c].map(|bit| algebra.known(bit));
    let mut two = |known: bool, x: &A::Bit, y: &A::Bit| {
        if known { algebra.or(x, y) } else { algebra.and(x, y) }
    };
    match (ka, kb, kc) {
        (Some(known), _, _) => two(known, b, c),
        (_, Some(known), _) => two(known, a, c),
        (_, _, Some(known)) => two(known, a, b),
        (None, None, None) => {
            let differ = algebra.xor(a, b)?;
            select(algebra, &differ, c, a)
        }
    }
}

/// `a + b + carry` modulo 2^width, and the carry out.
#[allow(clippy::type_complexity)]
pub(crate) fn add<A: Algebra>(
    algebra: &mut A,
    a: &[A::Bit],
    b: &[A::Bit],
    carry: A::Bit,
) -> Result<(Vec<A::Bit>, A::Bit), A::Stop> {
    let mut carry = carry;
    let mut sum = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        let half = algebra.xor(a, b)?;
        sum.push(algebra.xor(&half, &carry)?);
        carry = majority(algebra, a, b, &carry)?;
    }
    Ok((sum, carry))
}

/// `a + b + carry` modulo 2^width. The last carry is not made.
fn add_wrapping<A: Algebra>(
    algebra: &mut A,
    a: &[A::Bit],
    b: &[A::Bit],
    carry: A::Bit,
) -> Result<Vec<A::Bit>, A::Stop> {
    let Some(top) = a.len().checked_sub(1) else { return Ok(Vec::new()) };
    let (mut sum, carry) = add(algebra, &a[..top], &b[..top], carry)?;
    let half = algebra.xor(&a[top], &b[top])?;
    sum.push(algebra.xor(&half, &carry)?);
    Ok(sum)
}

/// `a + b` modulo 2^width.
pub(crate) fn sum<A: Algebra>(
    algebra: &mut A,
    a: &[A::Bit],
    b: &[A::Bit],
) -> Result<Vec<A::Bit>, A::Stop> {
    let carry = algebra.constant(false);
    add_wrapping(algebra, a, b, carry)
}

/// `a - b` modulo 2^width.
pub(crate) fn difference<A: Algebra>(
    algebra: &mut A,
    a: &[A::Bit],
    b: &[A::Bit],
) -> Result<Vec<A::Bit>, A::Stop> {
    let not_b: Vec<A::Bit> = b.iter().map(|bit| algebra.not(bit)).collect();
    let carry = algebra.constant(true);
    add_wrapping(algebra, a, &not_b, carry)
}

/// `-a` modulo 2^width.
pub(crate) fn negative<A: Algebra>(algebra: &mut A, a: &[A::Bit]) -> Result<Vec<A::Bit>, A::Stop> {
    let zero = vec![algebra.constant(false); a.len()];
    difference(algebra, &zero, a)
}

/// The value of the bits if all are known.
fn constant_value<A: Algebra>(algebra: &A, bits: &[A::Bit]) -> Option<u128> {
    bits.iter()
        .enumerate()
        .try_fold(0, |value, (i, bit)| Some(value | u128::from(algebra.known(bit)?) << i))
}

/// `a * b` modulo 2^width.
pub(crate) fn product<A: Algebra>(
    algebra: &mut A,
    a: &[A::Bit],
    b: &[A::Bit],
) -> Result<Vec<A::Bit>, A::Stop> {
    if let Some(value) = constant_value(algebra, b) {
        return product_with_constant(algebra, a, value);
    }
    if let Some(value) = constant_value(algebra, a) {
        return product_with_constant(algebra, b, value);
    }
    // The operand with fewer bits that can be set decides what is added.
    let may_be_set =
        |bits: &[A::Bit]| bits.iter().filter(|bit| algebra.known(bit) != Some(false)).count();
    let (a, b) = if may_be_set(a) < may_be_set(b) { (b, a) } else { (a, b) };
    let width = a.len();
    let mut total = vec![algebra.constant(false); width];
    for (i, digit) in b.iter().enumerate() {
        if algebra.known(digit) == Some(false) {
            continue;
        }
        let copy = a[..width - i]
            .iter()
            .map(|bit| algebra.and(bit, digit))
            .collect::<Result<Vec<A::Bit>, A::Stop>>()?;
        let high = sum(algebra, &total[i..], &copy)?;
        total.splice(i.., high);
    }
    Ok(total)
}

fn product_with_constant<A: Algebra>(
    algebra: &mut A,
    a: &[A::Bit],
    value: u128,
) -> Result<Vec<A::Bit>, A::Stop> {
    let width = a.len();
    let mut total = vec![algebra.constant(false); width];
    for (i, negated) in signed_digits(value, width) {
        let copy = &a[..width - i];
        let high = if negated {
            difference(algebra, &total[i..], copy)?
        } else {
            sum(algebra, &total[i..], copy)?
        };
        total.splice(i.., high);
    }
    Ok(total)
}

/// The non-zero digits of `value` modulo 2^width in signed-digit form, no two of them neighbours:
/// position, and whether the digit is -1.
fn signed_digits(value: u128, width: usize) -> Vec<(usize, bool)> {
    let mut digits = Vec::new();
    let (mut rest, mut carry) = (value, false);
    for i in 0..width {
        let bit = (rest & 1 == 1) ^ carry;
        let next = rest >> 1 & 1 == 1;
        if bit {
            // A run of ones becomes -1 at its start and +1 after its end.
            let negated = next && i + 1 < width;
            digits.push((i, negated));
            carry = negated;
        } else {
            carry &= rest & 1 == 1;
        }
        rest >>= 1;
    }
    digits
}

/// Unsigned quotient and remainder; all ones and the dividend when the divisor is zero.
#[allow(clippy::type_complexity)]
pub(crate) fn divide<A: Algebra>(
    algebra: &mut A,
    a: &[A::Bit],
    b: &[A::Bit],
) -> Result<(Vec<A::Bit>, Vec<A::Bit>), A::Stop> {
    let zero = algebra.constant(false);
    let significant = b.iter().rposition(|bit| algebra.known(bit) != Some(false));
    let narrow = significant.map_or(0, |top| top + 1);
    // high_clear[k]: the divisor's bits from k on are all zero.
    let mut high_clear = vec![algebra.constant(true)];
    for bit in b[..narrow].iter().rev() {
        let clear = algebra.not(bit);
        let all = algebra.and(&clear, &high_clear[high_clear.len() - 1])?;
        high_clear.push(all);
    }
    high_clear.reverse();
    // The remainder so far is below a non-zero divisor, so the divisor's width holds it.
    let mut rest: Vec<A::Bit> = Vec::new();
    let mut quotient = vec![zero.clone(); a.len()];
    for i in (0..a.len()).rev() {
        rest.insert(0, a[i].clone());
        let compared = rest.len().min(narrow);
        let not_b: Vec<A::Bit> = b[..compared].iter().map(|bit| algebra.not(bit)).collect();
        let carry = algebra.constant(true);
        let (mut reduced, not_below) = add(algebra, &rest[..compared], &not_b, carry)?;
        // One more bit than the divisor has: then the remainder is certainly not below it.
        let fits = if rest.len() > compared {
            algebra.or(&rest[compared], &not_below)?
        } else {
            algebra.and(&not_below, &high_clear[compared])?
        };
        rest.truncate(compared);
        reduced = select_all(algebra, &fits, &reduced, &rest)?;
        rest = reduced;
        quotient[i] = fits;
    }
    rest.resize(a.len(), zero);
    // A zero divisor that is narrower than the dividend would leave only its lowest bits.
    if narrow < a.len() {
        let by_zero = high_clear[0].clone();
        for bit in &mut quotient {
            *bit = algebra.or(bit, &by_zero)?;
        }
        rest = select_all(algebra, &by_zero, a, &rest)?;
    }
    Ok((quotient, rest))
}

/// Signed quotient and remainder, truncated towards zero.
#[allow(clippy::type_complexity)]
pub(crate) fn divide_signed<A: Algebra>(
    algebra: &mut A,
    a: &[A::Bit],
    b: &[A::Bit],
) -> Result<(Vec<A::Bit>, Vec<A::Bit>), A::Stop> {
    let (a_sign, b_sign) = (a[a.len() - 1].clone(), b[b.len() - 1].clone());
    let (a_size, b_size) = (negate_if(algebra, &a_sign, a)?, negate_if(algebra, &b_sign, b)?);
    let (quotient, rest) = divide(algebra, &a_size, &b_size)?;
    let differ = algebra.xor(&a_sign, &b_sign)?;
    Ok((negate_if(algebra, &differ, &quotient)?, negate_if(algebra, &a_sign, &rest)?))
}

fn negate_if<A: Algebra>(
    algebra: &mut A,
    condition: &A::Bit,
    a: &[A::Bit],
) -> Result<Vec<A::Bit>, A::Stop> {
    if algebra.known(condition) == Some(false) {
        return Ok(a.to_vec());
    }
    let negated = negative(algebra, a)?;
    select_all(algebra, condition, &negated, a)
}

#[cfg(test)]
mod tests {
    use super::signed_digits;

    #[test]
    fn signed_digits_add_up_and_are_sparse() {
        for width in 1..=9usize {
            for value in 0..1u128 << width {
                let digits = signed_digits(value, width);
                let total = digits.iter().fold(0i128, |sum, &(i, negated)| {
                    sum + if negated { -(1 << i) } else { 1 << i }
                });
                assert_eq!(total.rem_euclid(1 << width) as u128, value);
                assert!(
                    digits
                        .windows(2)
                        .all(|pair| pair[0].0 + 1 < pair[1].0 || pair[1].0 + 1 == width)
                );
            }
        }
        assert_eq!(signed_digits(u128::MAX, 128), vec![(0, true)]);
    }
}
