//! The stages of a job, by name: for people who wait, and for whoever has to say what went wrong where.

use crate::observer::Observer;

/// What a job is doing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Stage {
    /// Runs on the original.
    Original,
    /// Runs on the original as nobody watches.
    Plain,
    /// Runs on harmless inputs.
    Control,
    /// Looks for invalid accesses.
    CheckMemory,
    /// Follows the input through the program.
    Trace,
    /// Counts what the original's own path reveals, which is for comparison only.
    Compare,
    /// Counts what a condition reveals.
    Count,
    /// Draws a double.
    Draw,
    /// Runs on a double, which is bounded by the time of a run.
    Verify,
    /// Looks for a plainer input as long as the original.
    Blank,
    /// Fills a reduced input up again.
    Pad,
    /// Cuts the input down by runs alone.
    Reduce,
    /// Takes out of a condition what the failure does not need.
    Weaken,
    /// Weakens without a path.
    Alone,
    /// Looks for other paths.
    Paths,
    /// Finds out which arguments need not be told.
    Arguments,
    /// Waits, so that how long all took says nothing.
    Wait,
}

impl Stage {
    /// All of them.
    pub const ALL: [Stage; 17] = [
        Stage::Original,
        Stage::Plain,
        Stage::Control,
        Stage::CheckMemory,
        Stage::Trace,
        Stage::Compare,
        Stage::Count,
        Stage::Draw,
        Stage::Verify,
        Stage::Blank,
        Stage::Pad,
        Stage::Reduce,
        Stage::Weaken,
        Stage::Alone,
        Stage::Paths,
        Stage::Arguments,
        Stage::Wait,
    ];

    /// What is going on, in words.
    pub fn words(self) -> &'static str {
        match self {
            Stage::Original => "running the program on the original",
            Stage::Plain => "running the program as nobody watches",
            Stage::Control => "running the program on harmless inputs",
            Stage::CheckMemory => "checking the program's memory",
            Stage::Trace => "following the input through the program",
            Stage::Compare => "counting what the path reveals",
            Stage::Count => "counting",
            Stage::Draw => "drawing a double",
            Stage::Verify => "running the program on the double",
            Stage::Blank => "blanking the input",
            Stage::Pad => "filling it up again",
            Stage::Reduce => "reducing the input",
            Stage::Weaken => "weakening the condition",
            Stage::Alone => "trying what the failure needs",
            Stage::Paths => "looking for other paths",
            Stage::Arguments => "leaving out arguments that need not be told",
            Stage::Wait => "waiting for some time",
        }
    }

    /// The stage with a number, as it was told.
    pub fn of(number: u8) -> Option<Stage> {
        Stage::ALL.into_iter().find(|&stage| stage as u8 == number)
    }

    /// It begins: whoever wants to know is told.
    pub(crate) fn begin(self, observer: &dyn Observer) {
        observer.stage(self);
        tracing::info!("{}", self.words());
        self.may_fail();
    }

    /// Fails here on purpose, if a test asks for it: `STUNT_FAULT=Trace:panic`, or `abort`, `stack`,
    /// `memory` or `time`. Nothing of it is in a release.
    #[cfg(debug_assertions)]
    fn may_fail(self) {
        let Ok(fault) = std::env::var("STUNT_FAULT") else { return };
        let Some((stage, how)) = fault.split_once(':') else { return };
        if format!("{self:?}") != stage {
            return;
        }
        match how {
            "panic" => panic!("what a private input said"),
            "abort" => std::process::abort(),
            "stack" => {
                std::hint::black_box(deeper(1));
            }
            "memory" => {
                let mut all: Vec<Vec<u8>> = Vec::new();
                loop {
                    all.push(vec![1; 1 << 20]);
                    std::hint::black_box(&mut all);
                }
            }
            "time" => loop {
                std::thread::sleep(std::time::Duration::from_millis(10));
            },
            _ => {}
        }
    }

    /// Nothing fails on purpose.
    #[cfg(not(debug_assertions))]
    fn may_fail(self) {}
}

/// Never returns: each call is made for the next one.
#[cfg(debug_assertions)]
fn deeper(level: u64) -> u64 {
    let room = std::hint::black_box([level; 64]);
    if level == 0 { 0 } else { deeper(level + 1) + room[(level % 64) as usize] }
}
