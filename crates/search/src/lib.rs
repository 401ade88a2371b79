//! The anonymising algorithms: from what a failing run found out about its input to a different
//! input that fails the same way, and a figure of what that still reveals.
//!
//! One algorithm a file, headed by its paper, what it guarantees, and where it departs. This crate
//! must not know x86, nor how programs are run: a path is a list of conditions, and whether a
//! double fails is asked of whoever can run it.

mod camouflage;
mod canonical;
mod castro;
mod condition;
mod double;
mod ease;
mod numbers;
pub mod paths;
mod ranges;
mod simplify;
pub mod weaken;
mod zeros;

pub use camouflage::camouflage;
pub use canonical::{Canonical, canonical};
pub use castro::castro;
pub use condition::{Measured, PathCondition};
pub use double::{Double, Error};
pub use weaken::{Share, weaken};
