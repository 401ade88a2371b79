//! Shifts by a variable amount: barrel shifters.
//!
//! Always: an amount of the width or more shifts everything out, as in SMT-LIB.

use crate::algebra::Algebra;
use crate::select::select;

/// Shifts towards higher bits; zeros come in.
pub(crate) fn left<A: Algebra>(
    algebra: &mut A,
    a: &[A::Bit],
    amount: &[A::Bit],
) -> Result<Vec<A::Bit>, A::Stop> {
    let zero = algebra.constant(false);
    let reversed: Vec<A::Bit> = a.iter().rev().cloned().collect();
    let mut shifted = right(algebra, &reversed, amount, &zero)?;
    shifted.reverse();
    Ok(shifted)
}

/// Shifts towards lower bits; `fill` comes in.
pub(crate) fn right<A: Algebra>(
    algebra: &mut A,
    a: &[A::Bit],
    amount: &[A::Bit],
    fill: &A::Bit,
) -> Result<Vec<A::Bit>, A::Stop> {
    let width = a.len();
    let mut bits = a.to_vec();
    let mut none_high = Vec::new();
    for (stage, by) in amount.iter().enumerate() {
        if stage < usize::BITS as usize && 1 << stage < width {
            let distance = 1 << stage;
            for i in 0..width {
                let from = bits.get(i + distance).unwrap_or(fill).clone();
                bits[i] = select(algebra, by, &from, &bits[i])?;
            }
        } else {
            none_high.push(algebra.not(by));
        }
    }
    let within = algebra.all(&none_high)?;
    for bit in &mut bits {
        *bit = select(algebra, &within, bit, fill)?;
    }
    Ok(bits)
}
