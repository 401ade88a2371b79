//! The layers, one idea each; `chain.rs` puts them in order.
//!
//! All but the first two work on one [`Part`]: a component of the condition with the question in
//! it. Parts share no byte, so each is answered by itself.

mod aim;
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
pub(crate) mod sheet;

pub(crate) use scratch::Scratch;

use std::hash::Hasher;

use rustc_hash::FxHasher;
use stunt_models::{ByteSet, Component};
use stunt_terms::{InputByte, Term};

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

/// A component that is to be satisfied, in plain vectors. Layers may narrow the domains further:
/// no solution has a value outside of them.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Part {
    /// The bytes in order, each with the values that it may have.
    pub(crate) domains: Vec<(InputByte, ByteSet)>,
    /// The literals over several bytes, in the order of their handles.
    pub(crate) literals: Vec<Term>,
}

impl Part {
    /// The component as a part.
    pub(crate) fn of(component: &Component) -> Part {
        Part { domains: component.domains().collect(), literals: component.literals().collect() }
    }

    /// A number that equal parts share, and different ones hardly ever.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = FxHasher::default();
        for (byte, domain) in &self.domains {
            hasher.write_u64(u64::from(byte.source) << 32 | u64::from(byte.offset));
            if *domain != ByteSet::ALL {
                domain.words().into_iter().for_each(|word| hasher.write_u64(word));
            }
        }
        for literal in &self.literals {
            hasher.write_usize(literal.index());
        }
        hasher.finish()
    }

    /// Whether the values, one for each byte in order, are within the domains.
    pub(crate) fn allows(&self, values: &[(InputByte, u8)]) -> bool {
        let fits =
            |(&(byte, domain), &(other, value)): (&(InputByte, ByteSet), &(InputByte, u8))| {
                byte == other && domain.contains(value)
            };
        self.domains.len() == values.len() && self.domains.iter().zip(values).all(fits)
    }
}
