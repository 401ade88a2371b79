//! Layer 4b: recent models.
//!
//! A model of one question often answers the next one over the same bytes. The last few are
//! evaluated; evaluation costs far less than search.

use std::collections::VecDeque;

use super::sheet::Sheet;
use super::{Part, Values};

/// How many models are kept.
const KEPT: usize = 3;

/// The last models found by search.
#[derive(Default)]
pub(crate) struct Recent {
    models: VecDeque<Values>,
}

impl Recent {
    /// Values from a recent model that satisfy the part.
    pub(crate) fn find(&self, sheet: &mut Sheet<'_>, part: &Part) -> Option<Values> {
        let mut tried = self.models.iter().filter(|model| {
            restrict(model, sheet, part) && {
                sheet.work_out();
                sheet.holds()
            }
        });
        tried.next().map(|_| sheet.bytes_of(part))
    }

    /// Keeps a model that was searched for.
    pub(crate) fn keep(&mut self, values: &Values) {
        let mut oldest = match self.models.len() {
            KEPT => self.models.pop_back().unwrap_or_default(),
            _ => Values::new(),
        };
        oldest.clone_from(values);
        self.models.push_front(oldest);
    }
}

/// Puts the model's values for the part's bytes on the sheet, if it has them all and they are in
/// their domains.
fn restrict(model: &Values, sheet: &mut Sheet<'_>, part: &Part) -> bool {
    if model.len() < part.domains.len() {
        return false;
    }
    let mut at = 0;
    for (&(byte, domain), place) in part.domains.iter().zip(0..) {
        // Both are in order, and mostly equal.
        if model.get(at).is_some_and(|&(other, _)| other != byte) {
            at += model[at..].partition_point(|&(other, _)| other < byte);
        }
        match model.get(at) {
            Some(&(other, value)) if other == byte && domain.contains(value) => {
                sheet.set(place, value);
            }
            _ => return false,
        }
        at += 1;
    }
    true
}
