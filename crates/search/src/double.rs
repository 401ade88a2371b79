//! A double: a solution of a condition, checked before anyone sees it.

use stunt_path::Original;
use stunt_solver::{Reason, Why};
use stunt_terms::{Assignment, Evaluator};

use crate::PathCondition;

/// A solution of a path condition.
#[derive(Clone, Debug)]
pub struct Double {
    /// Its bytes, source by source.
    pub bytes: Vec<Vec<u8>>,
    /// How many bytes keep the original's values, because what the program computes from them is
    /// too hard to solve.
    pub fixed: usize,
    /// Why not every solution had the same chance, if so.
    pub not_uniform: Option<Reason>,
}

/// Why there is no double.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The solver gave up.
    #[error("the path condition could not be solved: {0:?}")]
    Unsolved(Why),
    /// The condition contradicts itself, although the original satisfies it.
    #[error("the path condition contradicts itself; this is a mistake in stunt: please report it")]
    Contradiction,
    /// The solution does not satisfy the condition.
    #[error(
        "the double does not satisfy the path condition; this is a mistake in stunt: please report it"
    )]
    Wrong,
}

impl Double {
    /// Takes over a solution, after a look at every literal.
    pub(crate) fn checked(
        condition: &PathCondition<'_>,
        original: &Original,
        values: &Assignment,
        not_uniform: Option<Reason>,
    ) -> Result<Self, Error> {
        let mut evaluator = Evaluator::new();
        let holds = |&literal: &_| evaluator.holds(condition.pool, literal, values);
        if !condition.literals.iter().all(holds) {
            return Err(Error::Wrong);
        }
        let fixed = condition.fixed().len();
        Ok(Self { bytes: original.replaced_by(values), fixed, not_uniform })
    }
}
