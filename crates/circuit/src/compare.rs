//! Comparisons: equality, unsigned and signed less than.

use crate::algebra::Algebra;
use crate::arith::majority;

/// Whether all bits agree.
pub(crate) fn equal<A: Algebra>(
    algebra: &mut A,
    a: &[A::Bit],
    b: &[A::Bit],
) -> Result<A::Bit, A::Stop> {
    let mut agree = Vec::with_capacity(a.len());
    for (a, b) in a.iter().zip(b) {
        let differ = algebra.xor(a, b)?;
        agree.push(algebra.not(&differ));
    }
    algebra.all(&agree)
}

/// Unsigned less than: the borrow of `a - b`.
pub(crate) fn unsigned_less<A: Algebra>(
    algebra: &mut A,
    a: &[A::Bit],
    b: &[A::Bit],
) -> Result<A::Bit, A::Stop> {
    let mut borrow = algebra.constant(false);
    for (a, b) in a.iter().zip(b) {
        let not_a = algebra.not(a);
        borrow = majority(algebra, &not_a, b, &borrow)?;
    }
    Ok(borrow)
}

/// Signed less than: unsigned with the sign bits exchanged.
pub(crate) fn signed_less<A: Algebra>(
    algebra: &mut A,
    a: &[A::Bit],
    b: &[A::Bit],
) -> Result<A::Bit, A::Stop> {
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    let top = a.len() - 1;
    std::mem::swap(&mut a[top], &mut b[top]);
    unsigned_less(algebra, &a, &b)
}
