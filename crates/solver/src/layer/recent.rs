//! Layer 4b: recent models.
//!
//! A model of one question often answers the next one over the same bytes. The last few are
//! evaluated; evaluation costs far less than search.

use std::collections::VecDeque;

use stunt_terms::Pool;

use super::{Part, Scratch, Values};

/// How many models are kept.
const KEPT: usize = 3;

/// The last models found by search.
#[derive(Default)]
pub(crate) struct Recent {
    models: VecDeque<Values>,
}

impl Recent {
    /// Values from a recent model that satisfy the part.
    pub(crate) fn find(
        &self,
        pool: &Pool,
        scratch: &mut Scratch,
        part: &Part<'_>,
    ) -> Option<Values> {
        self.models.iter().find_map(|model| {
            let candidate = restrict(model, part)?;
            scratch.satisfies(pool, part, &candidate).then_some(candidate)
        })
    }

    /// Keeps a model that was searched for.
    pub(crate) fn keep(&mut self, values: &Values) {
        if self.models.len() == KEPT {
            self.models.pop_back();
        }
        self.models.push_front(values.clone());
    }
}

/// The model's values for the part's bytes, if it has them all and they are in their domains.
fn restrict(model: &Values, part: &Part<'_>) -> Option<Values> {
    if model.len() < part.domains.len() {
        return None;
    }
    let mut at = 0;
    part.domains
        .iter()
        .map(|&(byte, domain)| {
            // Both are in order, and mostly equal.
            at += model[at..].partition_point(|&(other, _)| other < byte);
            let &(other, value) = model.get(at)?;
            (other == byte && domain.contains(value)).then_some((byte, value))
        })
        .collect()
}
