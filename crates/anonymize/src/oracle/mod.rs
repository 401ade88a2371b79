//! Who runs the program on many inputs, and sees whether it fails as it did on the original: the host,
//! or the machine.

mod in_machine;
mod natively;

use std::time::{Duration, Instant};

use stunt_path::Original;
use stunt_reduce::{Broken, Oracle};

use crate::refusal::Error;

pub(crate) use in_machine::MachineOracle;
pub(crate) use natively::NativeOracle;

/// Some runs are timed so often: what else the machine does can only slow them down.
const PACES: u32 = 5;
/// But not for longer than this.
const PACE_TIME: Duration = Duration::from_millis(500);

/// Runs the program, and counts.
pub trait Runner: Oracle {
    /// Runs so far.
    fn runs(&self) -> u64;

    /// Whether the original fails in such a run too. If not, candidates cannot be judged so.
    fn agrees(&mut self) -> Result<bool, Broken>;
}

/// How long a run takes among many: most are copies of a process that was loaded once, several
/// go on at a time, and nothing is read from the disk any more. A first run says little about it.
pub(crate) fn pace(original: &Original, runner: &mut dyn Runner) -> Result<Duration, Error> {
    let batch = vec![original.reveal(); runner.width()];
    let (begun, mut pace) = (Instant::now(), Duration::MAX);
    for _ in 0..PACES {
        let at = Instant::now();
        runner.fails(&batch)?;
        pace = pace.min(at.elapsed() / batch.len() as u32);
        if begun.elapsed() > PACE_TIME {
            break;
        }
    }
    Ok(pace)
}
