//! What is run: a program, its arguments, and the inputs that are private.
//!
//! The same subject is run natively and in the machine, on the original and on doubles. What always
//! holds: a double of a file lies in a folder of its own that goes away with the subject, and all runs
//! differ in the input alone. This crate must not know what a run is made for: no conditions, no
//! figures, no search; and it says nothing to anybody, but in errors.
//!
//! Reading order: `subject` (what is known of a program), `native` and `machine` (how it is run),
//! `follow` (a run that is followed), `fails_if` (what counts as a failure).

mod confined;
mod error;
mod fails_if;
mod follow;
mod machine;
mod native;
mod place;
mod public;
mod scratch;
mod subject;
mod user;

pub use confined::Confined;
pub use error::{Error, Stopped};
pub use fails_if::{FailsIf, failure_of};
pub use follow::{
    FailedAt, Followed, follow, follow_on, run_double, run_double_to, texts_without_zeros,
};
pub use place::{MissingCall, in_words, missing_calls, of_instruction};
pub use public::Public;
pub use scratch::{Scratch, remove_all, uid, whole};
pub use subject::{PLACE, RunLimits, Subject};
pub use user::user;
