//! What is said of a proved double: to everybody in the report, and to the original's owner alone.

mod assemble;
mod nearness;
mod owner;
mod remains;
mod tells;

use stunt_report::Report;

use crate::crash::Crash;
use crate::search::Found;
use crate::telling::{Telling, Why};

pub(crate) use assemble::report;
use assemble::{leak_of, revealed};
pub use nearness::{USUAL_SHARE, USUAL_SHARE_CUT};
pub(crate) use nearness::{not_worth_it, too_near};
pub(crate) use owner::for_owner;
pub use owner::{ForOwner, Seconds};
pub use remains::USUAL_REMAINS;
pub(crate) use tells::{Known, price};
pub use tells::{as_described, of_description};

/// A double and its report.
pub struct Made {
    /// What may leave this machine.
    pub report: Report,
    /// How it was found.
    pub found: Found,
    /// The figures beside the original, which may not.
    pub owner: ForOwner,
    /// The arguments that the report hides, by their numbers on the command line, and why.
    pub hidden: Vec<(usize, Why)>,
}

impl Made {
    /// What can be told about it.
    pub fn told(&self) -> Account<'_> {
        let Made { report, found, owner, hidden } = self;
        Account { report, found, owner, hidden }
    }
}

/// What can be told about a double.
#[derive(Clone, Copy)]
pub struct Account<'a> {
    /// What may leave this machine.
    pub report: &'a Report,
    /// How it was found.
    pub found: &'a Found,
    /// The figures beside the original, which may not.
    pub owner: &'a ForOwner,
    /// The arguments that the report hides, by their numbers on the command line, and why.
    pub hidden: &'a [(usize, Why)],
}

/// Tells the observer of a double that may be handed out if nothing better comes.
pub(crate) fn hold(crash: &Crash<'_>, found: &Found) {
    if too_near(crash, found).is_some() {
        return;
    }
    let telling = Telling::at_once(crash);
    // What cannot be written now is not there to be held.
    let Ok(report) = report(crash, &telling, found) else { return };
    let owner = for_owner(crash, &report, found);
    let hidden = &telling.hidden;
    crash.job.observer.held(&Account { report: &report, found, owner: &owner, hidden });
}
