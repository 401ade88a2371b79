//! `--fails-if`: what the user says is a failure.

use std::str::FromStr;

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
        } else {
            return Err("say exit=N, signal=N, stdout~REGEX or stderr~REGEX".to_owned());
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
        }
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
    fn what_cannot_be_understood_is_explained() {
        for text in ["", "exit=", "exit=999", "stdout~(", "crash"] {
            assert!(text.parse::<FailsIf>().is_err(), "{text}");
        }
    }
}
