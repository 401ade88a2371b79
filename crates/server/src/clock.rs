//! Moments, and the only place that asks what time it is.
//!
//! A moment is kept in milliseconds since 1970, in UTC. A test brings its own clock; everything
//! else of the server takes the time from here. Local time and time zones are not known.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// A moment; prints itself as `2026-11-16T10:36:00Z`, which is also its JSON.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Moment(pub i64);

impl Moment {
    /// The whole days since 1970.
    #[must_use]
    pub fn day(self) -> i64 {
        self.0.div_euclid(DAY)
    }

    /// The first moment of a day.
    #[must_use]
    pub fn of_day(day: i64) -> Moment {
        Moment(day * DAY)
    }

    /// The date alone: `2026-11-16`.
    #[must_use]
    pub fn date(self) -> String {
        let (year, month, day) = civil(self.day());
        format!("{year:04}-{month:02}-{day:02}")
    }

    /// Date and time for people: `2026-11-16 10:36 UTC`.
    #[must_use]
    pub fn words(self) -> String {
        let minutes = self.0.rem_euclid(DAY) / 60_000;
        format!("{} {:02}:{:02} UTC", self.date(), minutes / 60, minutes % 60)
    }

    /// That much later.
    #[must_use]
    pub fn plus(self, duration: Duration) -> Moment {
        Moment(self.0.saturating_add(millis(duration)))
    }

    /// That much earlier.
    #[must_use]
    pub fn minus(self, duration: Duration) -> Moment {
        Moment(self.0.saturating_sub(millis(duration)))
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.rem_euclid(DAY) / 1000;
        let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{}T{hour:02}:{minute:02}:{second:02}Z", self.date())
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Year, month and day of a day since 1970, in the Gregorian calendar (after Howard Hinnant: years
/// that begin in March have their leap day at the end).
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// What time it is: the host's, or a test's.
#[derive(Clone, Debug, Default)]
pub enum Clock {
    /// The host's clock.
    #[default]
    Host,
    /// A clock that goes when it is told to, in milliseconds since 1970.
    Set(Arc<AtomicI64>),
}

impl Clock {
    /// What time it is.
    #[must_use]
    // Tickets have dates; nothing else depends on them.
    #[allow(clippy::disallowed_methods)]
    pub fn now(&self) -> Moment {
        match self {
            Clock::Host => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Moment(millis(since))
            }
            Clock::Set(millis) => Moment(millis.load(Ordering::Relaxed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // From `date --utc --date=@SECONDS`.
        for (seconds, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_164_800, "2024-02-29T00:00:00Z"),
            (1_794_825_360, "2026-11-16T10:36:00Z"),
            (4_107_542_399, "2100-02-28T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(Moment(seconds * 1000).to_string(), expected);
        }
    }
}
