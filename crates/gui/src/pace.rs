//! The pace: how long was waited before each step, and after the last one for the failure.
//!
//! A search that starts half a second after the last key, a message that goes away by itself: some failures need
//! time, and a replay skips it, for the player's clock is its own. But how long somebody thought between two clicks is
//! nobody's business. So waits become the same for all, where the failure allows it, else one of four lengths; and
//! what is told by them is counted.
//!
//! What always holds: no wait of a double is a measured one.

use serde_json::json;

use crate::plain::Stays;
use crate::recording::Recording;

/// The lengths that a wait can have, in milliseconds.
const LENGTHS: [f64; 6] = [100.0, 300.0, 1_000.0, 3_000.0, 10_000.0, 100_000.0];
/// Which of them: `log2 6` bits.
const LENGTH_BITS: f64 = 2.6;
/// As a person who looks before each step.
const UNHURRIED: f64 = 3_000.0;
/// Which pace it is, and how long it takes until it fails.
pub(crate) const PACE_BITS: f64 = 4.0;
/// How long a page is listened to after the last step, at least.
const AFTERWARDS: f64 = 3_000.0;
const MARGIN: f64 = 1.25;

/// How fast steps follow one another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Pace {
    /// As fast as hands can.
    Quick,
    /// With time to look.
    Unhurried,
    /// Each wait is the next longer one of some lengths.
    Rounded,
}

/// In the order in which they are tried.
pub(crate) const PACES: [Pace; 3] = [Pace::Quick, Pace::Unhurried, Pace::Rounded];

/// The next longer one of the lengths.
fn rounded(wait: f64) -> f64 {
    LENGTHS.into_iter().find(|&length| wait <= length).unwrap_or(LENGTHS[5])
}

impl Pace {
    /// The recording at this pace.
    pub(crate) fn of(self, recording: &Recording) -> Recording {
        let waits = recording.waits().into_iter().map(|wait| match self {
            Pace::Quick => LENGTHS[0],
            Pace::Unhurried => UNHURRIED,
            Pace::Rounded => rounded(wait),
        });
        let mut paced = recording.clone();
        paced.set_waits(&waits.collect::<Vec<f64>>());
        paced
    }

    /// What it tells of each step, beside which pace it is.
    pub(crate) fn stays(self, recording: &Recording) -> Option<Stays> {
        let bits = LENGTH_BITS * recording.actions().len() as f64;
        let what = "about how long was waited before each step".to_owned();
        (self == Pace::Rounded).then_some(Stays { what, bits })
    }
}

impl Recording {
    /// For how many milliseconds a page is listened to after the last step, for the failure.
    #[must_use]
    pub fn afterwards(&self) -> f64 {
        // It may take a little longer elsewhere.
        let lag = self.lag().map_or(0.0, |lag| lag * MARGIN);
        if lag <= AFTERWARDS { AFTERWARDS } else { rounded(lag) }
    }

    /// Says of a double when it fails, so that whoever has it listens for as long.
    pub(crate) fn set_afterwards(&mut self, afterwards: f64) {
        let last = self.actions().last().and_then(|it| it["at_ms"].as_f64()).unwrap_or_default();
        let lag = if afterwards <= AFTERWARDS { 0.0 } else { afterwards / MARGIN };
        self.value_mut()["failure"]["at_ms"] = json!((last + lag).floor());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::examples::{on, recording};

    fn at(times: &[u64]) -> Recording {
        let step = |(id, at): (u64, &u64)| on(id, "click", "#a", &json!({ "at_ms": at }));
        let steps: Vec<_> = (1..).zip(times).map(step).collect();
        recording(&json!(steps))
    }

    #[test]
    fn no_wait_is_a_measured_one() {
        let all = at(&[40, 777, 778, 5_123, 900_000]);
        assert_eq!(Pace::Quick.of(&all).waits(), [100.0; 5]);
        assert_eq!(Pace::Unhurried.of(&all).waits(), [3_000.0; 5]);
        let rounded = Pace::Rounded.of(&all);
        assert_eq!(rounded.waits(), [100.0, 1_000.0, 100.0, 10_000.0, 100_000.0]);
        assert_eq!(Pace::Rounded.of(&rounded), rounded, "it is one already");
        assert_eq!(Pace::Rounded.stays(&all).map(|it| it.bits), Some(13.0));
        assert_eq!(Pace::Quick.stays(&all), None);
    }

    #[test]
    fn a_step_keeps_what_was_waited_before_it() {
        let fewer = at(&[40, 777, 778, 5_123]).with_actions(&[1, 3]);
        assert_eq!(fewer.waits(), [737.0, 4_345.0]);
    }

    #[test]
    fn a_failure_that_comes_late_is_waited_for_by_whoever_has_the_double() {
        let mut all = at(&[100, 200]);
        assert_eq!(all.afterwards(), 3_000.0);
        for (lag, listened) in [(20.0, 3_000.0), (2_900.0, 10_000.0), (45_000.0, 100_000.0)] {
            all.value_mut()["failure"] = json!({ "after": 2, "at_ms": 200.0 + lag });
            assert_eq!(all.afterwards(), listened);
            all.set_afterwards(listened);
            assert_eq!(all.afterwards(), listened, "of {lag}");
        }
        all.value_mut()["failure"] = json!({ "after": 1, "at_ms": 90_000 });
        assert_eq!(all.afterwards(), 3_000.0, "that one came of an earlier step");
    }
}
