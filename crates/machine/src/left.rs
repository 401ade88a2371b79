//! What a run in the machine left behind, in the form that runs of the host have, too.

use std::time::Duration;

use stunt_path::{Failure, Private, Run};

use crate::linux::{Ending, Kernel, LimitReached};

impl Ending {
    /// How the run ended, as it is said of any run.
    #[must_use]
    pub fn outward(self) -> stunt_path::Ending {
        match self {
            Self::Exited(code) => stunt_path::Ending::Exit(code),
            Self::Killed(signal) => stunt_path::Ending::Signal(signal.number as u8),
            Self::Idle => stunt_path::Ending::Idle,
            Self::Limit(LimitReached::Instructions) => stunt_path::Ending::TimedOut,
            Self::Limit(LimitReached::Memory) => stunt_path::Ending::TooMuchMemory,
            Self::Limit(LimitReached::Deadlock) => stunt_path::Ending::Deadlocked,
            Self::Unsupported(_) => stunt_path::Ending::Unsupported,
        }
    }
}

/// The run that ended and failed so. Takes what the program printed out of the kernel.
pub(crate) fn run_left(
    kernel: &mut Kernel,
    ending: Ending,
    failure: Option<Failure>,
    duration: Duration,
) -> Run {
    let inputs = kernel.inputs.names();
    let files = kernel.files();
    Run {
        ending: ending.outward(),
        failure,
        stdout: Private::new(files.drain(1)),
        stderr: Private::new(files.drain(2)),
        duration,
        inputs,
    }
}
