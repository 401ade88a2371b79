//! What only the owner of the original is told: figures beside the original, and about runs on it.
//!
//! Always: none of it is in a report. How long the run on the original took, what its path asks, how many
//! bytes it shares with the double: each tells something that the figure of the double does not count.

use std::collections::BTreeMap;

use stunt_leakage::Bits;
use stunt_report::{Leak, Report};

use super::assemble::leak_of;
use super::job::{Found, Job};
use super::lengths::bytes;

/// What took how long, in seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Seconds {
    /// Running the program and following its input.
    pub(super) trace: f64,
    /// Asking the solver.
    pub(super) solve: f64,
    /// Looking for a weaker condition.
    pub(super) search: f64,
    /// Counting what is left.
    pub(super) count: f64,
    /// Running the program on the double.
    pub(super) verify: f64,
    /// Everything from start to end.
    pub(super) total: f64,
}

impl Seconds {
    /// What is accounted for.
    pub(super) fn parts(&self) -> f64 {
        self.trace + self.solve + self.search + self.count + self.verify
    }

    /// Counts a stretch of so many seconds as search, but for what was accounted for otherwise since it
    /// began; `before` are the parts at its beginning.
    pub(super) fn searched(&mut self, elapsed: f64, before: f64) {
        self.search += (elapsed - (self.parts() - before)).max(0.0);
    }
}

/// What a double reveals and has in common with the original, in percent of the original, and how the
/// original's own run went.
pub struct ForOwner {
    /// How long the original is.
    pub(super) bytes: usize,
    pub(super) leak: Leak,
    /// What a double reveals that takes the path of the original.
    pub(super) original_path_leak: Leak,
    /// Bytes that are the same at the same place.
    pub(super) residue_percent: f64,
    /// How many decisions of the program depended on the input.
    pub(super) tests: usize,
    /// Values that were fixed because they could not be followed, by reason.
    pub(super) pins: BTreeMap<String, u64>,
    pub(super) instructions: u64,
    pub(super) seconds: Seconds,
    /// Sentences about the original's runs.
    pub(super) notes: Vec<String>,
}

impl Job<'_> {
    /// What only the owner is told.
    pub(super) fn for_owner(&self, report: &Report, found: &Found) -> ForOwner {
        let hidden = self.subject.original.hidden().len();
        let double = &found.drawn.double.bytes;
        let size = 8 * hidden;
        let (leak, path_leak, residue_percent) = match found.shorter_than {
            Some(path_leak) => {
                let left = self.base().hidden().len() as f64 / hidden.max(1) as f64;
                let residue = self.base().residue(double) * left;
                (leak_of(self.revealed(found), size), path_leak, residue)
            }
            None => (report.leak.clone(), found.path_leak, self.subject.original.residue(double)),
        };
        let size = if found.shorter_than.is_some() { size } else { found.drawn.size };
        ForOwner {
            bytes: bytes(&self.subject.original),
            leak,
            original_path_leak: tidied(path_leak, size),
            residue_percent: (residue_percent * 100.0).round() / 100.0,
            tests: found.followed.tests.len(),
            pins: found.followed.pins(),
            instructions: found.followed.instructions,
            seconds: self.seconds.clone(),
            notes: self.notes_for_owner(found),
        }
    }

    fn notes_for_owner(&self, found: &Found) -> Vec<String> {
        let mut notes = Vec::new();
        if self.share.hits < self.share.runs {
            notes.push(format!(
                "The failure does not come every time: it came in {} of {} runs on the original.",
                self.share.hits, self.share.runs
            ));
        }
        for call in &found.followed.missing {
            notes.push(format!("The machine does not have the system call {}.", call.name));
        }
        notes
    }
}

fn tidied(bits: Bits, size: usize) -> Leak {
    leak_of(bits, size).tidied()
}
