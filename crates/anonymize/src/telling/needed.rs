//! Which arguments the failure needs: the others are left out of the report, as far as they would be
//! hidden.
//!
//! A hidden argument has to be known by whoever replays the report; one that is not there need not be.
//! Always: what is left out was left out in runs on the double that failed in the same way, as often as
//! the double itself had to. These runs are contained, because nobody knows what a program does without
//! an argument (`--dry-run`); where the host cannot do that, nothing is left out. Arguments that are
//! told as they are stay, and so does everything before an argument that is itself an input.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use stunt_native::{Copied, containment};
use stunt_report::{Report, SourceName};

use super::{Told, Why, of_subject};
use crate::crash::Crash;
use crate::job::Job;
use crate::refusal::Error;
use crate::search::Found;
use crate::stage::Stage;

/// How many runs may be made for it, and for how long.
const MOST_RUNS: u32 = 24;
const MOST_TIME: Duration = Duration::from_secs(5);

/// What the report tells of the arguments.
pub(crate) struct Telling {
    arguments: Vec<String>,
    left_out: usize,
    /// What is hidden, by its number from 1 on the command line, and why; for the owner alone.
    pub hidden: Vec<(usize, Why)>,
}

impl Telling {
    /// With hidden arguments left out, as far as they can be.
    pub(crate) fn of(crash: &Crash<'_>, found: &Found) -> Result<Self, Error> {
        let Job { subject, options, .. } = &crash.job;
        let told = of_subject(subject, &options.tell);
        let left_out = if told.iter().any(|it| it.hidden.is_some()) {
            crash.job.stage(Stage::Arguments);
            not_needed(crash, &told, &found.drawn.double.bytes)?
        } else {
            BTreeSet::new()
        };
        Ok(Self::new(&told, &left_out))
    }

    /// Without a run: nothing is left out.
    pub(crate) fn at_once(crash: &Crash<'_>) -> Self {
        let Job { subject, options, .. } = &crash.job;
        Self::new(&of_subject(subject, &options.tell), &BTreeSet::new())
    }

    fn new(told: &[Told], left_out: &BTreeSet<usize>) -> Self {
        let stays = |(at, _): &(usize, &Told)| !left_out.contains(at);
        let stay: Vec<(usize, &Told)> = told.iter().enumerate().filter(stays).collect();
        let hidden = stay.iter().filter_map(|(at, told)| Some((at + 1, told.hidden?)));
        Self {
            hidden: hidden.collect(),
            arguments: stay.iter().map(|(_, told)| told.text.clone()).collect(),
            left_out: left_out.len(),
        }
    }

    /// The report with it.
    pub fn told_in(&self, mut report: Report) -> Report {
        report.arguments.clone_from(&self.arguments);
        if self.left_out > 0 {
            let (are, them) = if self.left_out == 1 { ("is", "it") } else { ("are", "them") };
            report.notes.push(format!(
                "{} of the arguments {are} left out: the double fails in the same way without {them}.",
                self.left_out
            ));
        }
        if let Some(hidden) = report.hidden_words() {
            report.notes.push(format!(
                "In the command line {hidden}: a replay needs the whole command after --."
            ));
        }
        report.tidied()
    }
}

fn not_needed(
    crash: &Crash<'_>,
    told: &[Told],
    double: &[Vec<u8>],
) -> Result<BTreeSet<usize>, Error> {
    let contained = containment().iter().all(|(_, there)| *there);
    // Failures that only the machine sees are not seen in native runs.
    if crash.failing.checked || !contained {
        return Ok(BTreeSet::new());
    }
    let numbers = crash.job.subject.sources.iter().map(|source| match source.name {
        SourceName::Argument(number) => number as usize,
        _ => 0,
    });
    let first = numbers.max().unwrap_or(0);
    let begun = Instant::now();
    let mut runs = 0;
    let mut left_out = BTreeSet::new();
    for (at, word) in told.iter().enumerate().skip(first) {
        if word.hidden.is_none() {
            continue;
        }
        // With the option that it may belong to, which would take the next word otherwise; then alone.
        let option = at.checked_sub(1).filter(|&it| it >= first && takes_value(&told[it]));
        for more in [option, Some(at)].into_iter().flatten() {
            if runs >= MOST_RUNS || begun.elapsed() > MOST_TIME {
                break;
            }
            runs += 1;
            let without: BTreeSet<usize> = left_out.iter().copied().chain([at, more]).collect();
            if fails_without(crash, &without, double)? {
                left_out = without;
                break;
            }
        }
    }
    for _ in 1..crash.job.options.runs {
        if !left_out.is_empty() && !fails_without(crash, &left_out, double)? {
            left_out.clear();
        }
    }
    Ok(left_out)
}

/// Whether the program fails in the same way on the double without these arguments.
fn fails_without(
    crash: &Crash<'_>,
    without: &BTreeSet<usize>,
    double: &[Vec<u8>],
) -> Result<bool, Error> {
    let Crash { job, failing, .. } = crash;
    let mut command = job.subject.on_candidate(double);
    command.copied = Copied::Never;
    let words = std::mem::take(&mut command.arguments).into_iter().enumerate();
    command.arguments =
        words.filter(|(at, _)| !without.contains(at)).map(|(_, word)| word).collect();
    for _ in 0..failing.tries() {
        if job.failure_of(&job.native.run(&command)?).as_ref() == Some(&failing.failure) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the next word may be its value.
fn takes_value(told: &Told) -> bool {
    told.text.starts_with('-') && told.hidden.is_none() && !told.text.contains('=')
}
