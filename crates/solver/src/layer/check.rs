//! A layer that trusts nobody: every model is evaluated.
//!
//! On by default in debug builds. A wrong model is a fault of this program, never of its user, so
//! it ends the program; the message names the layer and tells no values.

use stunt_terms::Pool;

use super::{Part, Scratch, Values};

/// Evaluates a model.
///
/// # Panics
/// If the values do not satisfy the part.
pub(crate) fn check(pool: &Pool, scratch: &mut Scratch, part: &Part, values: &Values, layer: &str) {
    let satisfied = part.allows(values) && scratch.all_hold(pool, &part.literals, values);
    assert!(satisfied, "the layer '{layer}' gave a model that does not satisfy the question");
}
