//! How much a condition reveals, in bits: exactly, or at most.
//!
//! A condition keeps some inputs and rejects others. If a part `α` of all inputs of its length is
//! kept, knowing that the condition holds reveals `-log2 α` bits. This crate adds that up over the
//! condition's components, byte by byte, and over unions of conditions. It must not know how a
//! condition came about, nor the input that satisfied it.
//!
//! Suggested reading order: `bits` (a figure and its word), `claim` (all that a double is charged), `fraction` (`α`), `ledger` (a
//! condition's running total), `per_byte` (where it leaks), `summary` (bounds where nothing counts).

mod bits;
mod claim;
mod fraction;
mod ledger;
mod per_byte;
mod rounding;
pub mod summary;

pub use bits::Bits;
pub use claim::{Charge, Claim, HALF};
pub use fraction::Fraction;
pub use ledger::{Accounts, Figure, Ledger};
pub use per_byte::{ByteLeak, LeakGraph};
pub use rounding::{log2, log2_ratio};
