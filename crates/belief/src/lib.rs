//! What can be said of a double without the original: a code, and how long a double is in it.
//!
//! A double is drawn uniformly from a set. This crate describes that set as a person would dictate it to
//! somebody who has the program ("the word `Content-Disposition` of the program, `:`, 14 free bytes, the same
//! again"), in a fixed code that can be decoded. The length of the description is what the double tells at
//! most, whatever was believed before: `docs/claim.md` has the theorem and its proof.
//!
//! What always holds: the code is fixed before any original is looked at ([`weights`] has all of its numbers,
//! [`VERSION`] names them); [`Advice::bits`] gives bits from which [`decode`] gives the description back; lengths
//! are whole numbers of a small unit, rounded up, so that `2^-length`, summed over all descriptions, is at most 1.
//!
//! This crate must not know programs, runs, conditions or originals: it is given sets of bytes, and what is public.
//!
//! Reading order: `values` (which values a byte may have), `drawn` (the set that a double is drawn from), `piece`
//! (what can be said about it), `weights` and `code` (what each piece costs, written once for writer and reader),
//! `coder` (bits), `find` (the cheapest description), `dictate` (for people).

mod code;
mod coder;
mod cost;
mod dictate;
mod drawn;
mod find;
mod matches;
mod piece;
mod public;
#[cfg(test)]
mod tests;
mod values;
pub mod weights;

pub use code::{Advice, Described, decode, describe};
pub use coder::{Decoder, Scale, Undecodable};
pub use cost::Cost;
pub use dictate::{Said, dictate};
pub use drawn::{Drawn, DrawnSource, Element, Gap, Length};
pub use piece::{Case, Class, Order, Piece, Sort};
pub use public::{List, Public};
pub use values::Values;

/// The code that is meant: reports name it, and it changes whenever a description would cost something else.
pub const VERSION: u32 = 1;
