//! Wishes: assumptions that a model should satisfy as far as possible.
//!
//! Wishes that cannot hold together are found in cores, sets of wishes of which one at least must
//! be given up. Disjoint cores bound from below how many wishes any model gives up. What is
//! required (the other assumptions) is never given up.

use crate::backend::cadical::{Assumption, Backend};
use crate::query::{Budget, Why};

/// Finds a model under the required assumptions and under a set of wishes, each given by one or
/// more assumptions; the engine holds the model afterwards. `None` if the required assumptions
/// cannot hold; otherwise the number of disjoint cores: no model grants more than all wishes but so
/// many. The wishes of a core are given up all at once.
pub(crate) fn grant(
    backend: &mut Backend,
    required: &[Assumption],
    wishes: &[Vec<Assumption>],
    budget: &Budget,
) -> Result<Option<usize>, Why> {
    let mut granted = vec![true; wishes.len()];
    let mut cores = 0;
    loop {
        let wished = wishes.iter().zip(&granted).filter(|(_, granted)| **granted);
        let mut assumptions = required.to_vec();
        assumptions.extend(wished.flat_map(|(wish, _)| wish));
        if backend.solve(&assumptions, budget)? {
            return Ok(Some(cores));
        }
        let mut smaller = false;
        for (wish, granted) in wishes.iter().zip(&mut granted).filter(|(_, granted)| **granted) {
            if wish.iter().any(|&assumption| backend.failed(assumption)) {
                (*granted, smaller) = (false, true);
            }
        }
        if !smaller {
            return Ok(None);
        }
        cores += 1;
    }
}
