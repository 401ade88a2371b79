//! The machine's clock: it goes by instructions and by sleeping, never by the host's time.

/// The date at which every run begins: 2024-01-01 00:00:00 UTC.
pub(crate) const START_SECONDS: u64 = 1_704_067_200;
/// How long the machine has been up when a run begins.
const UPTIME: u64 = 1_000 * SECOND;
/// Nanoseconds in a second.
pub(crate) const SECOND: u64 = 1_000_000_000;

/// The clock does not go on behind this: what is due later never comes. Dates in nanoseconds are
/// signed 64-bit numbers in many programs.
const END: u64 = i64::MAX as u64 - START_SECONDS * SECOND;

/// The clock: one nanosecond for each instruction, and the time slept.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    elapsed: u64,
}

impl Clock {
    /// Nanoseconds since the start of the run.
    pub(crate) fn now(self) -> u64 {
        self.elapsed
    }

    /// Nanoseconds since the machine is up.
    pub(crate) fn monotonic(self) -> u64 {
        UPTIME + self.elapsed
    }

    /// Nanoseconds since 1970.
    pub(crate) fn real(self) -> u64 {
        START_SECONDS * SECOND + self.elapsed
    }

    /// Lets time go by.
    pub(crate) fn advance(&mut self, nanoseconds: u64) {
        self.elapsed = self.elapsed.saturating_add(nanoseconds).min(END);
    }

    /// Takes time back that did not go by after all.
    pub(crate) fn take_back(&mut self, nanoseconds: u64) {
        self.elapsed = self.elapsed.saturating_sub(nanoseconds);
    }

    /// Jumps to a later time.
    pub(crate) fn advance_to(&mut self, time: u64) {
        self.elapsed = self.elapsed.max(time).min(END);
    }

    /// Whether a time is still to come, and will.
    pub(crate) fn awaits(self, time: u64) -> bool {
        time > self.elapsed && time <= END
    }
}
