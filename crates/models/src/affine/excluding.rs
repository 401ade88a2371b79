//! The solutions of some equations without those of some others: a checksum that is wrong, fields
//! that differ somewhere.
//!
//! Counts are exact by inclusion and exclusion. Samples are drawn from the equations' solutions
//! until one is not excluded, so they are exactly uniform; whoever builds this sees to it that not
//! too many are excluded.

use num_bigint::BigUint;
use rand::RngCore;

use super::system::{Equation, Solutions};
use crate::space::Space;

/// At least one in so many solutions of the equations must be left.
const FEWEST_LEFT: u32 = 16;

/// Solutions of equations that violate at least one equation of each of some sets.
pub(super) struct Excluding {
    base: Solutions,
    excluded: Vec<Vec<Equation>>,
    /// What is to be added and what is to be taken away.
    added: Vec<Solutions>,
    removed: Vec<Solutions>,
    count: BigUint,
}

impl Excluding {
    /// The solutions of `base` that violate each of the sets; `None` if they are too rare to find.
    pub(super) fn new(
        bytes: usize,
        base: &[Equation],
        excluded: Vec<Vec<Equation>>,
    ) -> Option<Excluding> {
        let (mut added, mut removed) = (Vec::new(), Vec::new());
        for chosen in 1u32..1 << excluded.len() {
            let mut system = base.to_vec();
            for (_, more) in excluded.iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1) {
                system.extend_from_slice(more);
            }
            let signed = if chosen.count_ones() % 2 == 0 { &mut added } else { &mut removed };
            signed.push(Solutions::new(bytes, system));
        }
        let base = Solutions::new(bytes, base.to_vec());
        let total = |all: &[Solutions]| all.iter().map(Space::count).sum::<BigUint>();
        let count = base.count() + total(&added) - total(&removed);
        let findable = count == BigUint::ZERO || &count * FEWEST_LEFT >= *base.count();
        findable.then_some(Excluding { base, excluded, added, removed, count })
    }
}

impl Space for Excluding {
    fn stage(&self) -> &'static str {
        "affine"
    }

    fn count(&self) -> &BigUint {
        &self.count
    }

    fn sample(&self, rng: &mut dyn RngCore, out: &mut [u8]) {
        assert!(self.count != BigUint::ZERO, "there is no solution to draw");
        loop {
            self.base.sample(rng, out);
            if self.excluded.iter().all(|set| set.iter().any(|equation| !equation.holds(out))) {
                return;
            }
        }
    }

    fn marginal(&self, position: usize) -> Vec<BigUint> {
        let mut marginal = self.base.marginal(position);
        for space in &self.added {
            for (sum, more) in marginal.iter_mut().zip(space.marginal(position)) {
                *sum += more;
            }
        }
        for space in &self.removed {
            for (sum, less) in marginal.iter_mut().zip(space.marginal(position)) {
                *sum -= less;
            }
        }
        marginal
    }
}
