//! `--fails-if`: what the user says is a failure.

use std::str::FromStr;
use std::time::Duration;

use regex::bytes::Regex;
use stunt_native::{Texts, failure_of_run};
use stunt_path::{Ending, Failure, Run};

/// A condition on how a run ends.
#[derive(Clone, Debug)]
pub struct FailsIf {
    text: String,
    what: What,
}

#[derive(Clone, Debug)]
enum What {
    Exit(u8),
    Signal(u8),
    Stdout(Regex),
    Stderr(Regex),
    /// It goes on for longer than this.
    Hang(Duration),
    /// A process fills more memory than this.
    Memory(u64),
}

/// How long a program may be said to go on, at least and at most.
const HANGS: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(3600));
/// How much memory a program may be said to fill, at least, and if nothing is said.
const FILLS: (u64, u64) = (1 << 20, 1 << 30);

/// A time, as `5`, `5s`, `1.5s` or `500ms`.
fn duration(text: &str) -> Option<Duration> {
    let (digits, unit) = match text.strip_suffix("ms") {
        Some(digits) => (digits, 0.001),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = digits.parse::<f64>().ok().filter(|_| plain)?;
    let time = Duration::try_from_secs_f64(number * unit).ok()?;
    (HANGS.0..=HANGS.1).contains(&time).then_some(time)
}

/// An amount of memory, as `512M`.
fn memory(text: &str) -> Option<u64> {
    let units = [('K', 10), ('M', 20), ('G', 30)];
    let unit = units.iter().find(|(unit, _)| text.ends_with(*unit));
    let (digits, shift) = unit.map_or((text, 0), |(_, shift)| (&text[..text.len() - 1], *shift));
    let number: u64 = digits.parse().ok()?;
    number.checked_mul(1 << shift).filter(|&bytes| bytes >= FILLS.0)
}

impl FromStr for FailsIf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |digits: &str| {
            digits.parse::<u8>().map_err(|_| format!("`{digits}` is not a number from 0 to 255"))
        };
        let pattern = |text: &str| Regex::new(text).map_err(|error| error.to_string());
        let what = if let Some(digits) = text.strip_prefix("exit=") {
            What::Exit(number(digits)?)
        } else if let Some(digits) = text.strip_prefix("signal=") {
            What::Signal(number(digits)?)
        } else if let Some(regex) = text.strip_prefix("stdout~") {
            What::Stdout(pattern(regex)?)
        } else if let Some(regex) = text.strip_prefix("stderr~") {
            What::Stderr(pattern(regex)?)
        } else if let Some(time) = text.strip_prefix("hang=") {
            let wrong = "a time is something like 5s or 500ms, from 10ms to an hour";
            What::Hang(duration(time).ok_or(wrong)?)
        } else if text == "oom" {
            What::Memory(FILLS.1)
        } else if let Some(size) = text.strip_prefix("oom=") {
            What::Memory(memory(size).ok_or("memory is something like 512M or 2G, at least 1M")?)
        } else {
            return Err(
                "say exit=N, signal=N, stdout~REGEX, stderr~REGEX, hang=SECONDS or oom=SIZE"
                    .to_owned(),
            );
        };
        Ok(Self { text: text.to_owned(), what })
    }
}

impl FailsIf {
    /// The condition as the user wrote it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a run failed in this way.
    pub fn holds(&self, run: &Run) -> bool {
        match &self.what {
            What::Exit(code) => run.ending == Ending::Exit(*code),
            What::Signal(number) => run.ending == Ending::Signal(*number),
            What::Stdout(regex) => regex.is_match(run.stdout.reveal()),
            What::Stderr(regex) => regex.is_match(run.stderr.reveal()),
            What::Hang(_) => matches!(run.ending, Ending::TimedOut | Ending::Deadlocked),
            What::Memory(_) => run.ending == Ending::TooMuchMemory,
        }
    }

    /// How long a run must go on to be a failure, if that is what it is about.
    pub fn time(&self) -> Option<Duration> {
        match self.what {
            What::Hang(time) => Some(time),
            _ => None,
        }
    }

    /// How much memory a process must fill for a failure, if that is what it is about.
    pub fn memory(&self) -> Option<u64> {
        match self.what {
            What::Memory(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// Whether whoever runs the program ends it: there is no moment at which it fails.
    pub fn is_limit(&self) -> bool {
        self.time().is_some() || self.memory().is_some()
    }
}

/// How a run failed, if it did: as the user says, or by what it does and prints.
pub fn failure_of(run: &Run, fails_if: Option<&FailsIf>, texts: &Texts) -> Option<Failure> {
    match fails_if {
        Some(condition) => condition.holds(run).then(|| Failure::stated(condition.text())),
        None => failure_of_run(run, texts),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use stunt_path::Private;

    use super::*;

    fn ended(ending: Ending, stdout: &str) -> Run {
        Run {
            ending,
            failure: None,
            stdout: Private::new(stdout.into()),
            stderr: Private::default(),
            duration: Duration::ZERO,
            inputs: stunt_path::InputNames::default(),
        }
    }

    #[test]
    fn each_condition_looks_at_its_own_part() {
        let run = ended(Ending::Exit(3), "total: -1\n");
        let holds = |text: &str| text.parse::<FailsIf>().unwrap().holds(&run);
        assert!(holds("exit=3") && !holds("exit=0") && !holds("signal=3"));
        assert!(holds("stdout~total: -[0-9]+") && !holds("stderr~total"));
        assert!(ended(Ending::Signal(11), "").ending == Ending::Signal(11));
        assert!("signal=11".parse::<FailsIf>().unwrap().holds(&ended(Ending::Signal(11), "")));
    }

    #[test]
    fn limits_are_conditions() {
        let of = |text: &str| text.parse::<FailsIf>().unwrap();
        let seconds = |text: &str| of(text).time().map(|it| it.as_secs_f64());
        assert_eq!(["hang=5", "hang=5s", "hang=5.0s", "hang=5000ms"].map(seconds), [Some(5.0); 4]);
        assert_eq!(of("oom").memory(), of("oom=1G").memory());
        assert_eq!(of("oom=512M").memory(), Some(512 << 20));
        assert!(of("oom").is_limit() && of("hang=1").is_limit() && !of("exit=1").is_limit());
        let [late, full] = [Ending::TimedOut, Ending::TooMuchMemory].map(|it| ended(it, ""));
        assert!(of("hang=1").holds(&late) && !of("hang=1").holds(&full));
        assert!(of("oom").holds(&full) && !of("oom").holds(&late));
    }

    #[test]
    fn what_cannot_be_understood_is_explained() {
        for text in [
            "",
            "exit=",
            "exit=999",
            "stdout~(",
            "crash",
            "hang",
            "hang=",
            "hang=-1",
            "hang=1e3",
            "hang=inf",
            "hang=1ms",
            "hang=2h",
            "oom=",
            "oom=5",
            "oom=1T",
            "oom=99999999999999G",
        ] {
            assert!(text.parse::<FailsIf>().is_err(), "{text}");
        }
    }
}
