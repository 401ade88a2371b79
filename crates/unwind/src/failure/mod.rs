//! From a call stack, and how the run ended, to the identity of the failure.
//!
//! ```text
//! CallStack ──► roles: library, recursion, certainty ──► stunt_path::Failure
//!    judge: which of the stacks tells it ──┘
//! ```
//!
//! The same code judges runs in the machine and native ones, so that they can be compared. It does
//! not know who ran the program. Two rules keep an identity from depending on the input more than
//! the bug does: frames of the C library and of language runtimes do not count, because they differ
//! between processors, and rounds of a recursion count once, because their number is how deep the
//! input is nested.

mod identify;
mod judge;
mod library;
pub mod recursion;
mod site;
mod throws;

pub use identify::{Ended, identify};
pub use judge::{Evidence, Scene, Status, at_stack_end, is_new_panic, judge};
pub use library::{is_sanitizer_function, is_sanitizer_module};
pub use site::{PanicSite, panic_site};
pub use throws::{Exception, Leading, Thrown, Throws};

use std::ops::Range;

use crate::stack::{Module, functions, ranges};

/// The functions through which every exception of C++ and every panic of Rust goes that may be
/// caught: their addresses in the running program. At their first instruction, the stack is that
/// of the throw.
#[must_use]
pub fn throw_points(modules: &[Module]) -> Vec<u64> {
    let of = |module: &Module| functions(module, |name| name == "_Unwind_RaiseException");
    let mut points: Vec<u64> =
        modules.iter().flat_map(of).map(|function| function.address).collect();
    points.sort_unstable();
    points.dedup();
    points
}

/// Code that calls the throwing functions for an exception that was thrown before: a throw that
/// returns there is to be passed over, or the last throw would be that of the C++ runtime, which
/// throws once more to print what nobody caught.
#[must_use]
pub fn rethrow_ranges(modules: &[Module]) -> Vec<Range<u64>> {
    let of = |module: &Module| ranges(module, |name| name == "_Unwind_Resume_or_Rethrow");
    modules.iter().flat_map(of).collect()
}
