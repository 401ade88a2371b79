//! camouflage: the solution that differs most from the original.
//!
//! After J. Clause, A. Orso, "Camouflage: automated anonymization of field data" (ICSE 2011): the
//! relaxed path condition, and *breakable input conditions*, which ask for every byte to differ
//! from the original's where the condition lets it.
//!
//! Guarantee: no solution shares fewer bytes with the original, where the solver proved it; and of
//! those that break the same bytes, each has the same chance.
//!
//! Departure: that the double differs tells something about the original too: where two values are
//! left it tells which it was. The paper does not count this. Here the double is drawn uniformly from
//! the solutions that differ from the original in every byte that can be broken, and the figure is
//! that of this set. A solver's own choice would not do: where bytes depend on each other it favours
//! some solutions, and tells more than the figure says.

use rand::RngCore;
use stunt_path::Original;
use stunt_solver::{Budget, Differing, Solver, differ_most};
use stunt_terms::Assignment;

use crate::{Double, Error, Measured, PathCondition, castro};

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
    let broken = model.overlay(&Assignment::new());
    for &byte in bytes.iter().filter(|&&byte| own.get(byte) != broken.get(byte)) {
        let variable = condition.pool.byte(byte);
        let value = condition.pool.constant(8, u128::from(own.get(byte)));
        let differs = condition.pool.ne(variable, value);
        condition.ledger.push(condition.pool, &mut condition.accounts, differs);
    }
    let double = castro(condition, original, rng)?;
    let measured = condition.measure();
    Ok((double, measured))
}
