//! camouflage: the solution that differs most from the original.
//!
//! After J. Clause, A. Orso, "Camouflage: automated anonymization of field data" (ICSE 2011): the
//! relaxed path condition, and *breakable input conditions*, which ask for every byte to differ
//! from the original's where the condition lets it.
//!
//! Guarantee: no solution shares fewer bytes with the original, where the solver proved it.
//!
//! Departure: that the double differs tells something about the original too: where two values are
//! left it tells which it was. The paper does not count this. Here the figure is that of the
//! condition *and* that every byte that was broken differs from the double's.

use rand::RngCore;
use stunt_path::Original;
use stunt_solver::{Budget, Differing, Solver, differ_most};
use stunt_terms::Assignment;

use crate::{Double, Error, Measured, PathCondition};

/// The double that differs most, and what it reveals.
///
/// # Errors
/// The condition could not be solved.
pub fn camouflage(
    condition: &mut PathCondition<'_>,
    original: &Original,
    rng: &mut dyn RngCore,
) -> Result<(Double, Measured), Error> {
    condition.ease(original);
    let mut solver = Solver::new(Budget::default());
    let bytes = condition.hidden.clone();
    let own = original.assignment();
    let found =
        differ_most(condition.pool, &mut solver, condition.ledger.condition(), &own, &bytes, rng);
    let model = match found {
        Differing::Model(different) => different.model,
        Differing::Unsat => return Err(Error::Contradiction),
        Differing::Unknown(why) => return Err(Error::Unsolved(why)),
    };
    let values = model.overlay(&Assignment::new());
    let double = Double::checked(condition, original, &values, None)?;
    // Whoever sees the double knows of each byte that was broken what it was not.
    for &byte in &bytes {
        if own.get(byte) != values.get(byte) {
            let variable = condition.pool.byte(byte);
            let value = condition.pool.constant(8, u128::from(values.get(byte)));
            let differs = condition.pool.ne(variable, value);
            condition.ledger.push(condition.pool, &mut condition.accounts, differs);
        }
    }
    let measured = condition.measure();
    Ok((double, measured))
}
