//! The program under test, as a search sees it.
//!
//! A search knows bytes, conditions and figures; whoever can run the program on inputs, follow it and prove a
//! double is a target. Real programs are one (`crash.rs`), the small ones of the privacy bench another.

use std::time::Duration;

use stunt_belief::Drawn;
use stunt_machine::symbolic::Relaxations;
use stunt_path::{Execution, Failure, Original, Test};
use stunt_search::Double;
use stunt_subject::Followed;
use stunt_terms::Pool;

use crate::oracle::Runner;
use crate::refusal::Error;
use crate::search::Found;

/// A program that fails on a private input.
pub trait Target {
    /// The program under way, from test to test.
    type Walk: Execution;

    /// The private input.
    fn original(&self) -> &Original;

    /// How the program fails on it.
    fn failure(&self) -> &Failure;

    /// Which sources may have another length.
    fn may_change(&self) -> Vec<bool> {
        vec![true; self.original().sources()]
    }

    /// What it costs to describe a set of doubles to whoever has the program, in bits, if that is known.
    fn price(&self, _set: &Drawn) -> Option<f64> {
        None
    }

    /// Whether a double would not be handed out, since it is too near to the original.
    fn refuses(&self, _found: &Found) -> bool {
        false
    }

    /// Why it cannot be followed, if that is known beforehand.
    fn not_followed(&self) -> Option<&'static str> {
        None
    }

    /// Whether a runtime interprets the program: then to start it takes long, and to follow it, too.
    fn is_interpreted(&self) -> bool {
        false
    }

    /// Whether only runs in the machine show the failure.
    fn is_only_in_machine(&self) -> bool {
        false
    }

    /// Who runs it natively on candidates. Nobody, if the original does not fail when it is run so.
    ///
    /// # Errors
    /// It cannot be run.
    fn natively(&self) -> Result<Option<Box<dyn Runner + '_>>, Error>;

    /// Who runs it in the machine on candidates. Nobody, if the original does not fail when it is run so, or
    /// if that is not known after so long.
    ///
    /// # Errors
    /// It cannot be run.
    fn in_machine(&self, _most: Duration) -> Result<Option<Box<dyn Runner + '_>>, Error> {
        Ok(None)
    }

    /// Follows it on another input of the original's kind, or on the original itself, to the same failure.
    ///
    /// # Errors
    /// It cannot be followed so far, or fails otherwise where it is followed: both are refusals.
    fn follow(&self, input: Option<&Original>, relax: Relaxations) -> Result<Followed, Error>;

    /// The same, from test to test.
    ///
    /// # Errors
    /// It cannot be followed.
    fn walk(&self, input: Option<&Original>, pool: &mut Pool) -> Result<Self::Walk, Error>;

    /// What every double must satisfy to be given to the program at all.
    fn given(&self, _pool: &mut Pool) -> Vec<Test> {
        Vec::new()
    }

    /// How the program fails on a double, if it does so as on the original, every time. What two equal
    /// failures do not have in common (outer calls, names) is the double's own.
    ///
    /// # Errors
    /// It cannot be run.
    fn proved(&self, double: &Double) -> Result<Option<Failure>, Error>;

    /// How many doubles failed only while they were watched.
    fn only_watched(&self) -> u32 {
        0
    }

    /// A double was proved that may be handed out if nothing better comes.
    fn held(&self, _found: &Found) {}
}
