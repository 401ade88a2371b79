//! What can be seen of a run from outside, without following it: how it ended, and what its last words
//! say about why.
//!
//! Last words are those of languages and libraries, which name places and types: a sanitizer's report, an
//! interpreter's traceback, where a panic is, the type of an exception that nobody caught, an assertion's
//! line. Of messages, their fixed words count. Two runs that fail in the same way look the same.

use std::fmt;

use stunt_path::{Ending, Failure, Run};

use crate::texts::Texts;
use crate::traceback::failure_of_run;

/// A run, seen from outside.
#[derive(Clone, PartialEq, Eq)]
pub struct Outward {
    ending: Ending,
    told: Option<Failure>,
    words: [Option<String>; 3],
}

impl Outward {
    /// What is seen of a run.
    #[must_use]
    pub fn of(run: &Run, texts: &Texts) -> Self {
        let text = String::from_utf8_lossy(run.stderr.reveal());
        let last = |find: fn(&str) -> Option<&str>| {
            text.lines().rev().find_map(find).map(ToOwned::to_owned)
        };
        Self {
            ending: run.ending,
            told: failure_of_run(&Run { failure: None, ..run.clone() }, texts),
            words: [last(panic), last(terminate), last(assertion)],
        }
    }

    /// How the run ended.
    #[must_use]
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// The failure that its last words tell, if they tell one.
    #[must_use]
    pub fn told(&self) -> Option<&Failure> {
        self.told.as_ref()
    }
}

impl fmt::Debug for Outward {
    /// What a program prints may quote its input.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outward").field("ending", &self.ending).finish_non_exhaustive()
    }
}

/// `thread 'main' panicked at src/main.rs:3:5:`: the place. Older compilers put a message before it.
fn panic(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(" panicked at ")?;
    let place = rest.rsplit_once(", ").map_or(rest, |(_, place)| place);
    Some(place.trim_end_matches(':'))
}

/// `terminate called after throwing an instance of 'std::out_of_range'`: the type.
fn terminate(line: &str) -> Option<&str> {
    line.strip_prefix("terminate called after throwing an instance of ")
}

/// ``prog: a.c:12: f: Assertion `x' failed.``: the place.
fn assertion(line: &str) -> Option<&str> {
    line.split_once(": Assertion `").map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use stunt_path::Private;

    fn seen(ending: Ending, stderr: &str) -> Outward {
        let run = Run {
            ending,
            failure: None,
            stdout: Private::default(),
            stderr: Private::new(stderr.into()),
            duration: Duration::ZERO,
            inputs: stunt_path::InputNames::default(),
        };
        Outward::of(&run, &Texts::default())
    }

    #[test]
    fn places_and_types_count_and_messages_do_not() {
        let (abort, panicked) = (Ending::Signal(6), Ending::Exit(101));
        let panic = |line: u32, message: &str| {
            let text =
                format!("\nthread 'main' (77) panicked at src/main.rs:{line}:5:\n{message}\n");
            seen(panicked, &text)
        };
        assert_eq!(panic(3, "private"), panic(3, "other"));
        assert_ne!(panic(3, "private"), panic(4, "private"));
        let old = |line: u32, message: &str| {
            seen(panicked, &format!("thread 'main' panicked at '{message}', a.rs:{line}:5\n"))
        };
        assert_eq!(old(3, "a, b"), old(3, "c"));
        assert_ne!(old(3, "a"), old(4, "a"));
        let thrown = |kind: &str, what: &str| {
            let head = "terminate called after throwing an instance of";
            seen(abort, &format!("{head} '{kind}'\n  what():  {what}\n"))
        };
        assert_eq!(thrown("A", "private"), thrown("A", "x"));
        assert_ne!(thrown("A", "private"), thrown("B", "private"));
        let asserts =
            |line: u32| seen(abort, &format!("p: a.c:{line}: f: Assertion `x' failed.\n"));
        assert_eq!(asserts(3), asserts(3));
        assert_ne!(asserts(3), asserts(4));
        assert_ne!(seen(abort, ""), seen(Ending::Signal(11), ""));
        assert!(!format!("{:?}", thrown("A", "private")).contains("private"));
    }
}
