//! Layer 5: exact sets of solutions, for what search is bad at.
//!
//! Checksums are systems of linear equations, which elimination solves at once and a SAT solver
//! hardly ever; sums and automata are easy for dynamic programs. The counting stages of the crate
//! `models` know these; where one of them finds the set of solutions, any member is a model.

use rand::SeedableRng;
use rand::rngs::StdRng;
use stunt_models::{Budget, OwnedProblem, solve};
use stunt_terms::Pool;

use super::{Outcome, Part};

/// The outcome, if a counting stage finds the solutions with little effort.
pub(crate) fn search(pool: &Pool, part: &Part) -> Option<Outcome> {
    let (bytes, domains) = part.domains.iter().copied().unzip();
    let problem = OwnedProblem { bytes, domains, literals: part.literals.clone() };
    let space = solve(&problem.view(pool), &Budget::quick())?;
    if space.count().bits() == 0 {
        return Some(Outcome::Unsat);
    }
    // Which solution does not matter, only that it is the same one every time.
    let mut values = vec![0; problem.bytes.len()];
    space.sample(&mut StdRng::seed_from_u64(0), &mut values);
    Some(Outcome::Sat(problem.bytes.into_iter().zip(values).collect()))
}
