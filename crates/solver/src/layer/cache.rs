//! Layer 4a: answers given before.
//!
//! The key is the problem itself: bytes, domains and literals of the part. A fingerprint finds
//! it, and the problem is compared, so a collision costs time but never a wrong answer. `Unknown`
//! is not kept: the next budget may be larger.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use stunt_models::Component;

use super::Outcome;

/// The most answers that are kept.
const MOST: usize = 1 << 15;

/// Answers by problem.
#[derive(Default)]
pub(crate) struct Cache {
    known: FxHashMap<u128, (Arc<Component>, Outcome)>,
}

impl Cache {
    /// The answer for this problem, if it was given before.
    pub(crate) fn find(&self, component: &Component) -> Option<Outcome> {
        let (known, outcome) = self.known.get(&component.fingerprint())?;
        known.same_problem(component).then(|| outcome.clone())
    }

    /// Keeps an answer. When there are too many, all old ones go.
    pub(crate) fn keep(&mut self, component: &Arc<Component>, outcome: &Outcome) {
        if let Outcome::Unknown(_) = outcome {
            return;
        }
        if self.known.len() >= MOST {
            self.known.clear();
        }
        self.known.insert(component.fingerprint(), (Arc::clone(component), outcome.clone()));
    }
}
