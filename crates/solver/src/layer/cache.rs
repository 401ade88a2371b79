//! Layer 4a: answers given before.
//!
//! The key is the problem itself: bytes, domains and literals of the part. A fingerprint finds
//! it, and the problem is compared, so a collision costs time but never a wrong answer. `Unknown`
//! is not kept: the next budget may be larger.

use rustc_hash::FxHashMap;

use super::{Outcome, Part};

/// The most answers that are kept.
const MOST: usize = 1 << 15;

/// Answers by problem.
#[derive(Default)]
pub(crate) struct Cache {
    known: FxHashMap<u64, Box<(Part, Outcome)>>,
}

impl Cache {
    /// The answer for the problem with this fingerprint, if it was given before.
    pub(crate) fn find(&self, fingerprint: u64, part: &Part) -> Option<Outcome> {
        let (known, outcome) = &**self.known.get(&fingerprint)?;
        (known == part).then(|| outcome.clone())
    }

    /// Keeps an answer. When there are too many, all old ones go.
    pub(crate) fn keep(&mut self, fingerprint: u64, part: Part, outcome: &Outcome) {
        if let Outcome::Unknown(_) = outcome {
            return;
        }
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(fingerprint, Box::new((part, outcome.clone())));
    }
}
