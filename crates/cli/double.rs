//! Drawing a double: a random solution of a condition, checked before anyone sees it.
//!
//! Without a seed the randomness is fresh from the operating system. That is what the figures
//! assume; a seed is for repeating a run, and whoever knows it knows what would have been drawn.

use anyhow::{Result, ensure};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use stunt_leakage::Accounts;
use stunt_models::Condition;
use stunt_solver::{Drawn, Reason, Sampler, Solver, Uniformity, Why};
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term};

/// A solution of a condition that may be shown.
pub struct Double {
    /// Its bytes.
    pub input: Assignment,
    /// Why not every solution had the same chance, if so.
    pub not_uniform: Option<Reason>,
}

/// What came of drawing.
pub enum Attempt {
    /// A double.
    Drawn(Double),
    /// There is no solution.
    Unsatisfiable,
    /// Nobody knows whether there is a solution.
    Undecided(Why),
}

/// Draws values for the bytes of the condition and for `bytes`, and checks every literal.
pub fn draw(
    pool: &Pool,
    accounts: &mut Accounts,
    solver: &mut Solver,
    condition: &Condition,
    literals: &[Term],
    bytes: &[InputByte],
    seed: Option<u64>,
) -> Result<Attempt> {
    let mut rng = seed.map_or_else(ChaCha20Rng::from_entropy, ChaCha20Rng::seed_from_u64);
    let counter = &mut accounts.counter;
    let draw = match Sampler::new().draw(pool, solver, counter, condition, bytes, &mut rng) {
        Drawn::Model(draw) => draw,
        Drawn::Unsat => return Ok(Attempt::Unsatisfiable),
        Drawn::Unknown(why) => return Ok(Attempt::Undecided(why)),
    };
    let input = draw.model.overlay(&Assignment::new());
    let mut evaluator = Evaluator::new();
    let all = literals.iter().all(|&literal| evaluator.holds(pool, literal, &input));
    ensure!(
        all,
        "the double does not satisfy the condition. This is a mistake in stunt: please report it"
    );
    let not_uniform = match draw.uniformity {
        Uniformity::Uniform => None,
        Uniformity::NotUniform(reason) => Some(reason),
    };
    Ok(Attempt::Drawn(Double { input, not_uniform }))
}
