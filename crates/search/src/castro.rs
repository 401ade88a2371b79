//! castro: a random solution of the path condition.
//!
//! After M. Castro, M. Costa, J.-P. Martin, "Better bug reporting with better privacy" (ASPLOS
//! 2008). The conditions of the original path are collected and solved; what the solution reveals
//! is at most what the path condition does.
//!
//! Guarantee: the double is drawn uniformly from all inputs that take the path and have the
//! original's values in the bytes that had to be fixed, because what the program computes from them
//! is too hard to solve (see `ease.rs`); mostly there are none. So it tells no more about the
//! original than that it took the path, and those bytes.
//!
//! Departures: the paper takes the solver's solution and estimates an upper bound of the leak; here
//! solutions are random, and figures are exact where the condition can be counted.

use rand::RngCore;
use stunt_path::Original;
use stunt_solver::{Budget, Drawn, Solver, Uniformity};
use stunt_terms::Assignment;

use crate::{Double, Error, PathCondition};

/// Draws doubles from a path condition: a closure that gives another one at each call.
///
/// # Errors
/// The condition could not be solved.
pub fn castro(
    condition: &mut PathCondition<'_>,
    original: &Original,
    rng: &mut dyn RngCore,
) -> Result<Double, Error> {
    condition.ease(original);
    let mut solver = Solver::new(Budget::default());
    let bytes = condition.hidden.clone();
    let drawn = condition.sampler.draw(
        condition.pool,
        &mut solver,
        &mut condition.accounts.counter,
        condition.ledger.condition(),
        &bytes,
        rng,
    );
    let draw = match drawn {
        Drawn::Model(draw) => draw,
        Drawn::Unsat => return Err(Error::Contradiction),
        Drawn::Unknown(why) => return Err(Error::Unsolved(why)),
    };
    let values = draw.model.overlay(&Assignment::new());
    let not_uniform = match draw.uniformity {
        Uniformity::Uniform => None,
        Uniformity::NotUniform(reason) => Some(reason),
    };
    Double::checked(condition, original, &values, not_uniform)
}
