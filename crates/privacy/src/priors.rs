//! What is learned by who believed something before, beside what a double is said to tell.
//!
//! The figure `tells` is for every prior on originals that fail; so the same doubles are looked at with several. What
//! is learned is the mutual information of the original and the double under that prior; the figure is the mean
//! over originals, by the same prior. Where sets are known from samples, what is learned is a bound from below, so
//! that a figure is blamed for what is proved alone.

use crate::anonymiser::{Algorithm, Drawn, Problem, report};
use crate::channel::{Channel, Sample};
use crate::listed::Listed;

/// What is believed before a double is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prior {
    /// All originals alike.
    Uniform,
    /// Some bytes are likelier: each value half as likely as the one before it in the alphabet, by halves of a bit.
    Skewed,
    /// A few originals from a list, the first likeliest.
    Words,
    /// Everything is known but one byte.
    OneField,
}

impl Prior {
    /// All of them.
    pub const ALL: [Prior; 4] = [Prior::Uniform, Prior::Skewed, Prior::Words, Prior::OneField];

    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Prior::Uniform => "all alike",
            Prior::Skewed => "skewed bytes",
            Prior::Words => "words of a list",
            Prior::OneField => "all but one byte",
        }
    }

    /// The chance of each original that fails.
    pub fn chances(self, listed: &Listed) -> Vec<f64> {
        let all = &listed.failing;
        let weight = |(number, own): (usize, &Vec<u8>)| match self {
            Prior::Uniform => 1.0,
            Prior::Skewed => {
                let ranks: f64 = own.iter().map(|&byte| f64::from(byte % 16)).sum();
                (-ranks / 2.0).exp2()
            }
            // Every seventh, as a list might have them; as often as words of a language are.
            Prior::Words if number % 7 == 3 => 1.0 / (number / 7 + 1) as f64,
            Prior::Words => 0.0,
            Prior::OneField => {
                let last = own.len() - 1;
                f64::from(u8::from(own[..last] == all[all.len() / 2][..last]))
            }
        };
        let weights: Vec<f64> = all.iter().enumerate().map(weight).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }
}

/// An algorithm on a program, for who believes something.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// What is believed.
    pub prior: Prior,
    /// What is learned, in bits, beyond that the program fails; at least.
    pub learned: f64,
    /// What the doubles are said to tell, on average.
    pub tells: f64,
    /// What they are said to reveal in the papers' way, on average.
    pub leak: f64,
}

impl Told {
    /// Whether more is learned than is said.
    pub fn flagged(&self) -> bool {
        self.tells < self.learned - SLACK
    }
}

/// What a claim may be below a bound from samples, in bits.
const SLACK: f64 = 0.03;

/// Runs an algorithm on every original of a program, and looks at it with all priors.
///
/// # Errors
/// An original has no double.
pub fn told(listed: &Listed, algorithm: Algorithm, seeds: u64) -> Result<Vec<Told>, Problem> {
    let mut samples: Vec<Vec<Sample>> = Vec::new();
    let (mut tells, mut leaks, mut exact) = (Vec::new(), Vec::new(), seeds == 1);
    for (original, own) in listed.failing.iter().enumerate() {
        let (mut of_original, mut tell, mut leak) = (Vec::new(), 0.0, 0.0);
        for seed in 0..seeds {
            let it = report(algorithm, listed.program, own, seed << 32 | original as u64)?;
            tell += it.tells.value() / seeds as f64;
            leak += it.claim.value() / seeds as f64;
            let Some(double) = listed.number(&it.double) else { continue };
            of_original.push(match it.drawn {
                Drawn::Paths(inputs) => {
                    let numbers = inputs.iter().filter_map(|input| listed.number(input));
                    let paths = numbers.map(|it| &listed.paths[listed.path_of(it) as usize]);
                    paths.flatten().copied().collect()
                }
                Drawn::Draws(draws) => {
                    exact = false;
                    draws.iter().filter_map(|draw| listed.number(draw)).collect()
                }
                Drawn::Nothing => vec![double],
                Drawn::Unknown => {
                    exact = false;
                    vec![double]
                }
            });
        }
        samples.push(of_original);
        tells.push(tell);
        leaks.push(leak);
    }
    let mean = |chances: &[f64], figures: &[f64]| -> f64 {
        chances.iter().zip(figures).map(|(chance, figure)| chance * figure).sum()
    };
    Ok(Prior::ALL
        .into_iter()
        .map(|prior| {
            let chances = prior.chances(listed);
            let learned = match exact {
                true => Channel::new(&samples, |_| true).mutual(&chances),
                false => crate::channel::at_least_by(&samples, &chances),
            };
            let (tells, leak) = (mean(&chances, &tells), mean(&chances, &leaks));
            Told { prior, learned, tells, leak }
        })
        .collect())
}
