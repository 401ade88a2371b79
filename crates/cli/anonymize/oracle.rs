//! Who runs the program on many inputs, and sees whether it fails as it did on the original: the host,
//! or the machine.

use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use stunt_path::Failure;
use stunt_reduce::{Broken, Oracle};
use tracing::info;

use super::in_machine::MachineOracle;
use super::job::{Job, Way};
use super::natively::NativeOracle;

/// Some runs are timed so often: what else the machine does can only slow them down.
const PACES: u32 = 5;
/// But not for longer than this.
const PACE_TIME: Duration = Duration::from_millis(500);

/// Runs the program, and counts.
pub(super) trait Runner: Oracle {
    /// Runs so far.
    fn runs(&self) -> u64;

    /// Whether the original fails in such a run too. If not, candidates cannot be judged so.
    fn agrees(&mut self) -> Result<bool, Broken>;
}

impl Job<'_> {
    /// Whoever can run the program on candidates, the quicker one first. Nobody, if the original does
    /// not fail when it is run so.
    pub(super) fn runner<'f>(&self, failure: &'f Failure) -> Result<Option<Box<dyn Runner + 'f>>>
    where
        Self: 'f,
    {
        // What only checked memory shows is seen in the machine alone.
        if !self.checked {
            let mut native = NativeOracle::new(self, failure);
            if native.agrees().map_err(|error| anyhow!(error))? {
                return Ok(Some(Box::new(native)));
            }
            info!("the program does not fail in a contained run");
        }
        if matches!(self.conditions.way, Way::Alone(_)) {
            return Ok(None);
        }
        let Some(mut machine) = MachineOracle::new(self, failure)? else { return Ok(None) };
        let agrees = machine.agrees().map_err(|error| anyhow!(error))?;
        info!(agrees, "candidates are run in the machine");
        Ok(agrees.then(|| Box::new(machine) as Box<dyn Runner>))
    }

    /// How long a run takes among many: most are copies of a process that was loaded once, several
    /// go on at a time, and nothing is read from the disk any more. A first run says little about it.
    /// It is measured once: whoever can run the program stays the same.
    pub(super) fn pace(&mut self, runner: &mut dyn Runner) -> Result<Duration> {
        if let Some(pace) = self.pace {
            return Ok(pace);
        }
        let batch = vec![self.subject.original.reveal(); runner.width()];
        let (begun, mut pace) = (Instant::now(), Duration::MAX);
        for _ in 0..PACES {
            let at = Instant::now();
            runner.fails(&batch).map_err(|error| anyhow!(error))?;
            pace = pace.min(at.elapsed() / batch.len() as u32);
            if begun.elapsed() > PACE_TIME {
                break;
            }
        }
        self.pace = Some(pace);
        Ok(pace)
    }
}
