//! Level 0: on programs whose inputs can be listed, the claim beside what is really learned.
//!
//! An algorithm is run on every original that fails. Where a run tells the set that the double is
//! drawn from, the channel is exact, or exact but for the choice of the set among some seeds; else it
//! is sampled. Doubles that fall outside of the set that a run names, or that do not fail, are
//! counted as wrong: no figure makes up for them.
//!
//! The promise: on average over originals, the claim is not below what is learned. Where figures are
//! sampled, they are too high if there are few samples; so the claim is compared with a lower bound.

use crate::anonymiser::{Algorithm, Drawn, Problem, report};
use crate::channel::{Channel, Learned, Sample, at_least, corrected};
use crate::listed::Listed;

/// What a claim may be below an exact figure, in bits: rounding.
const ROUNDING: f64 = 1e-6;
/// What a claim may be below a bound from samples, in bits: the bound holds on average only.
const SAMPLING: f64 = 0.03;

/// How the figures came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// From the sets themselves.
    Exact,
    /// From a number of seeds.
    Sampled,
}

/// An algorithm on a program.
pub struct Cell {
    /// How it makes doubles.
    pub algorithm: Algorithm,
    /// Mean of the claims, over originals and seeds.
    pub claim: f64,
    /// What is learned on average, the floor included.
    pub truth: f64,
    /// The same, at least: where samples are few, they prove no more.
    pub proved: f64,
    /// What is learned by the best guess, the floor included.
    pub maximal: f64,
    /// What is learned from the worst double, the floor included.
    pub worst: f64,
    /// Where the truth comes from.
    pub method: Method,
    /// Doubles that do not fail, or do not belong to the set that they were drawn from.
    pub wrong: u64,
}

impl Cell {
    /// Whether the claim does not hold.
    pub fn flagged(&self) -> bool {
        let slack = match self.method {
            Method::Exact => ROUNDING,
            Method::Sampled => SAMPLING,
        };
        self.wrong > 0 || self.claim < self.proved - slack
    }
}

/// Runs an algorithm on every original of a program, each with so many seeds.
///
/// # Errors
/// An original has no double.
pub fn cell(listed: &Listed, algorithm: Algorithm, seeds: u64) -> Result<Cell, Problem> {
    let mut samples: Vec<Vec<Sample>> = Vec::with_capacity(listed.failing.len());
    let (mut claims, mut wrong, mut points) = (0.0, 0, false);
    for (original, own) in listed.failing.iter().enumerate() {
        let mut of_original = Vec::new();
        for seed in 0..seeds {
            let seed = seed << 32 | original as u64;
            let report = report(algorithm, listed.program, own, seed)?;
            claims += report.claim.value();
            let Some(double) = listed.number(&report.double) else {
                wrong += 1;
                continue;
            };
            let sample = match report.drawn {
                Drawn::Paths(inputs) => {
                    let numbers = inputs.iter().filter_map(|input| listed.number(input));
                    let paths =
                        numbers.map(|number| &listed.paths[listed.path_of(number) as usize]);
                    paths.flatten().copied().collect()
                }
                Drawn::Draws(draws) => {
                    points = true;
                    draws.iter().filter_map(|draw| listed.number(draw)).collect()
                }
                Drawn::Nothing => vec![double],
                Drawn::Unknown => {
                    points = true;
                    vec![double]
                }
            };
            wrong += u64::from(!sample.contains(&double));
            of_original.push(sample);
        }
        samples.push(of_original);
    }
    let method = if points || seeds > 1 { Method::Sampled } else { Method::Exact };
    let Learned { mutual, maximal, worst } = Channel::new(&samples, |_| true).learned();
    let (mutual, proved) = match method {
        Method::Exact => (mutual, mutual),
        Method::Sampled => (corrected(&samples), at_least(&samples)),
    };
    let (floor, runs) = (listed.floor(), (listed.failing.len() as u64 * seeds) as f64);
    Ok(Cell {
        algorithm,
        claim: claims / runs,
        truth: floor + mutual,
        proved: floor + proved,
        maximal: floor + maximal,
        worst: floor + worst,
        method,
        wrong,
    })
}
