//! The layers, one idea each; `chain.rs` puts them in order.
//!
//! All but the first two work on one [`Part`]: a component of the condition with the question in
//! it. Parts share no byte, so each is answered by itself.

pub(crate) mod bounds;
pub(crate) mod cache;
pub(crate) mod check;
pub(crate) mod counted;
pub(crate) mod cross;
pub(crate) mod hint;
pub(crate) mod independent;
pub(crate) mod pairs;
pub(crate) mod product;
pub(crate) mod recent;
pub(crate) mod repair;
pub(crate) mod sat;
mod scratch;

pub(crate) use scratch::Scratch;

use stunt_models::{ByteSet, Component};
use stunt_terms::InputByte;

use crate::query::Why;

/// Values for all bytes of a part, in the order of its bytes.
pub(crate) type Values = Vec<(InputByte, u8)>;

/// What is known about a part.
#[derive(Clone)]
pub(crate) enum Outcome {
    /// These values satisfy it.
    Sat(Values),
    /// Nothing does.
    Unsat,
    /// It was not found out.
    Unknown(Why),
}

/// A component that is to be satisfied, with domains that layers may have narrowed further: no
/// solution has a value outside of them.
pub(crate) struct Part<'a> {
    pub(crate) component: &'a Component,
    pub(crate) domains: Vec<(InputByte, ByteSet)>,
}

impl<'a> Part<'a> {
    pub(crate) fn new(component: &'a Component) -> Part<'a> {
        Part { component, domains: component.domains().collect() }
    }

    /// Whether the values are within the component's own domains.
    pub(crate) fn in_domains(&self, values: &[(InputByte, u8)]) -> bool {
        values.iter().all(|&(byte, value)| {
            self.component.domain(byte).is_some_and(|domain| domain.contains(value))
        })
    }
}
