//! Layer 2: independence.
//!
//! The questions join the condition; only the components that they change have to be satisfied
//! again, and each for itself. The hint satisfies all others. Without a hint every component is
//! open.

use std::sync::Arc;

use stunt_models::{Component, Condition, Masks};
use stunt_terms::{Pool, Term};

/// What is left to satisfy.
pub(crate) enum Open {
    /// Nothing can: a literal is false, or a byte has no value left.
    Contradiction,
    /// Each of these, independently.
    Components(Vec<Arc<Component>>),
}

/// The components that have to be satisfied.
pub(crate) fn open(
    pool: &Pool,
    masks: &mut Masks,
    condition: &Condition,
    has_hint: bool,
    questions: &[Term],
) -> Open {
    let mut extended = condition.clone();
    let mut components: Vec<Arc<Component>> = Vec::new();
    for &question in questions {
        let change = extended.push(pool, masks, question);
        components.retain(|open| !change.removed.iter().any(|gone| Arc::ptr_eq(open, gone)));
        components.extend(change.added);
    }
    if extended.is_contradiction() {
        return Open::Contradiction;
    }
    if !has_hint {
        components = extended.components().cloned().collect();
    }
    // The order of a hash map is no order: answers must not depend on it.
    components.sort_by_cached_key(|component| component.bytes().next());
    Open::Components(components)
}
