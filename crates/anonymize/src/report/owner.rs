//! What only the owner of the original is told: figures beside the original, and about runs on it.
//!
//! Always: none of it is in a report. Figures that are shown together agree with each other; where they seem not
//! to, a sentence says what counts, and that is what can be read.
//!
//! How long the run on the original took, what its path asks, how many
//! bytes it shares with the double: each tells something that the figure of the double does not count.

use std::collections::BTreeMap;

use stunt_document::Remains;
use stunt_leakage::Bits;
use stunt_path::Original;
use stunt_report::{Leak, Report};

use super::nearness::residue;
use super::remains::remains;
use super::{leak_of, revealed};
use crate::crash::Crash;
use crate::failure::Failing;
use crate::search::Found;
use crate::target::Target;

/// What took how long, in seconds.
#[derive(Clone, Debug, Default)]
pub struct Seconds {
    /// Running the program and following its input.
    pub trace: f64,
    /// Asking the solver.
    pub solve: f64,
    /// Looking for a weaker condition.
    pub search: f64,
    /// Counting what is left.
    pub count: f64,
    /// Running the program on the double.
    pub verify: f64,
    /// Everything from start to end.
    pub total: f64,
}

impl Seconds {
    /// What is accounted for.
    pub(crate) fn parts(&self) -> f64 {
        self.trace + self.solve + self.search + self.count + self.verify
    }

    /// Counts a stretch of so many seconds as search, but for what was accounted for otherwise since it
    /// began; `before` are the parts at its beginning.
    pub(crate) fn searched(&mut self, elapsed: f64, before: f64) {
        self.search += (elapsed - (self.parts() - before)).max(0.0);
    }
}

/// What a double reveals and has in common with the original, in percent of the original, and how the
/// original's own run went.
pub struct ForOwner {
    /// How long the original is.
    pub bytes: usize,
    /// What the double reveals.
    pub leak: Leak,
    /// What a double reveals that takes the path of the original, if that was found out.
    pub original_path_leak: Option<Leak>,
    /// Bytes that are the same at the same place.
    pub residue_percent: f64,
    /// What of the original's content stands in the double, wherever it does.
    pub remains: Remains,
    /// Bytes of the double that have one value only; and how many of them are the original's at that place.
    pub(crate) fixed: (usize, usize),
    /// How many decisions of the program depended on the input.
    pub tests: usize,
    /// Values that were fixed because they could not be followed, by reason.
    pub pins: BTreeMap<String, u64>,
    /// How many instructions the run in the machine took.
    pub instructions: u64,
    /// What took how long.
    pub seconds: Seconds,
    /// Sentences about the original's runs.
    pub notes: Vec<String>,
}

/// What only the owner is told.
pub(crate) fn for_owner(crash: &Crash<'_>, report: &Report, found: &Found) -> ForOwner {
    let original = crash.original();
    let size = 8 * original.hidden_len();
    let leak = match found.is_shorter {
        true => leak_of(revealed(crash, found), size),
        false => report.leak.clone(),
    };
    ForOwner {
        bytes: original.size(),
        leak,
        original_path_leak: found.path_leak.map(|leak| tidied(leak, size)),
        residue_percent: (residue(original, found) * 100.0).round() / 100.0,
        remains: remains(crash, found),
        fixed: fixed(original, found),
        tests: found.origin.tests().len(),
        pins: found.origin.pins(),
        instructions: found.origin.run().map_or(0, |run| run.instructions),
        seconds: found.seconds.clone(),
        notes: notes(&crash.failing, found),
    }
}

/// Bytes of the double that the failure, or the search, has set; and those that are the original's. A search
/// may begin with an input that is plainer than the original: what it sets then is not the original's.
fn fixed(original: &Original, found: &Found) -> (usize, usize) {
    let same_length = found.base.size() == original.size();
    let own = if same_length { original.reveal() } else { Vec::new() };
    let (mut fixed, mut same) = (0, 0);
    for leak in found.drawn.measured.bytes.iter().filter(|leak| leak.bits.value() >= 8.0) {
        fixed += 1;
        let (source, offset) = (usize::from(leak.byte.source), leak.byte.offset as usize);
        let at = |bytes: &[Vec<u8>]| bytes.get(source).and_then(|it| it.get(offset)).copied();
        same += usize::from(same_length && at(&found.drawn.double.bytes) == at(&own));
    }
    (fixed, same)
}

fn notes(failing: &Failing, found: &Found) -> Vec<String> {
    let mut notes = Vec::new();
    if failing.share.hits < failing.share.runs {
        notes.push(format!(
            "The failure does not come every time: it came in {} of {} runs on the original.",
            failing.share.hits, failing.share.runs
        ));
    }
    for call in found.origin.run().into_iter().flat_map(|run| &run.missing) {
        notes.push(format!("The machine does not have the system call {}.", call.name));
    }
    notes
}

fn tidied(bits: Bits, size: usize) -> Leak {
    leak_of(bits, size).tidied()
}

impl ForOwner {
    /// What counts, where one figure seems to say much and another little.
    pub fn disagreements(&self) -> Vec<String> {
        let (revealed, readable) = (self.leak.percent, self.remains.percent_of_bytes());
        let mut sentences = Vec::new();
        if self.remains.bytes > 0 && readable > revealed + MARGIN {
            sentences.push(format!(
                "More can be read in the double than the figure says: {} of the {} bytes of the original's content \
                 stand in it, moved or packed. That is what counts.",
                self.remains.bytes, self.remains.of
            ));
        }
        if revealed > NEARLY_ALL && readable.max(self.residue_percent) < revealed - MARGIN {
            sentences.push(
                "The figure is a bound, and a weak one here: the program computes something from the input that \
                 could not be counted. What can be read of the original is less."
                    .to_owned(),
            );
        }
        // "All bytes fully", and hardly one of them the original's.
        let (fixed, same) = self.fixed;
        if 2 * fixed > self.bytes && 2 * same < fixed {
            sentences.push(format!(
                "Of the {fixed} bytes that are fixed in the double, {same} are as they were in the original at \
                 their places."
            ));
        }
        sentences
    }
}

/// Figures that differ by less, in percent, do not disagree.
const MARGIN: f64 = 1.0;
/// A bound above this, in percent, says hardly anything.
const NEARLY_ALL: f64 = 50.0;

#[cfg(test)]
mod tests {
    use stunt_report::Kind;

    use super::*;

    #[test]
    fn seconds_are_counted_once() {
        let mut seconds = Seconds { trace: 1.0, ..Seconds::default() };
        let before = seconds.parts();
        seconds.trace += 0.5;
        seconds.search += 2.0;
        seconds.searched(4.0, before);
        assert_eq!((seconds.trace, seconds.search, seconds.parts()), (1.5, 3.5, 5.0));
        // Two that were at work at the same time.
        let before = seconds.parts();
        seconds.trace += 3.0;
        seconds.searched(2.0, before);
        assert_eq!(seconds.search, 3.5);
    }

    fn figures(
        percent: f64,
        residue: f64,
        readable: (usize, usize),
        fixed: (usize, usize),
    ) -> ForOwner {
        let leak = Leak::new(percent * 80.0, 8000, Kind::AtMost, "");
        ForOwner {
            bytes: 1000,
            original_path_leak: Some(leak.clone()),
            leak,
            residue_percent: residue,
            remains: Remains { bytes: readable.0, of: readable.1, ..Remains::default() },
            fixed,
            tests: 0,
            pins: BTreeMap::new(),
            instructions: 0,
            seconds: Seconds::default(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn attack_figures_on_one_screen_contradict_each_other() {
        let said = |figures: ForOwner| figures.disagreements().join(" ");
        // A double that claims little, and in which everything can be read.
        assert!(said(figures(2.5, 1.0, (900, 1000), (5, 5))).contains("More can be read"));
        // A bound of nearly all, of which hardly anything is there.
        let weak = said(figures(99.95, 6.0, (60, 1000), (1000, 60)));
        assert!(weak.contains("a weak one") && weak.contains("60 are as they were"), "{weak}");
        // Figures that agree need no sentence.
        assert_eq!(said(figures(10.0, 10.2, (100, 1000), (100, 100))), "");
        assert_eq!(said(figures(100.0, 100.0, (1000, 1000), (1000, 1000))), "");
    }
}
