//! When the test fails: what a program that still has the mistake does, as any language can see it.
//!
//! A test of a few lines walks no stack, so it asks for less than a replay does: that the program ends as it
//! did, by a signal, a status or a text on standard error. It may fail for another reason of the same kind; it
//! never passes while the program fails as the report says.

use stunt_report::Report;

use crate::Refusal;

/// What a run must not show.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Criterion {
    /// A signal ends it.
    pub signal: Signal,
    /// It exits with this status.
    pub status: Option<u8>,
    /// One of these stands on standard error.
    pub stderr: Vec<String>,
    /// This stands on standard output.
    pub stdout: Option<String>,
}

/// Which signals count.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Signal {
    /// None of them.
    #[default]
    None,
    /// All of them.
    Any,
    /// This one.
    Is(u8),
}

impl Criterion {
    /// What the failure of a report looks like from outside.
    pub(crate) fn of(report: &Report) -> Result<Self, Refusal> {
        if report.replay.check_memory {
            return Err(Refusal::OnlyChecked);
        }
        if let Some(condition) = &report.replay.fails_if {
            return Self::stated(condition);
        }
        let any = Self { signal: Signal::Any, ..Self::default() };
        let says = |texts: &[&str]| Self {
            stderr: texts.iter().map(ToString::to_string).collect(),
            ..any.clone()
        };
        Ok(match report.failure.kind.as_str() {
            "panic" => says(&["panicked at"]),
            "sanitizer" => says(&["Sanitizer", "runtime error:"]),
            "exception" => match exception(&report.failure.words) {
                Some(name) => says(&[name]),
                None => any,
            },
            _ => any,
        })
    }

    fn stated(condition: &str) -> Result<Self, Refusal> {
        let number = |digits: &str| digits.parse::<u8>().ok();
        let pattern = || Refusal::Pattern(stunt_report::visible(condition));
        let text = |text: &str| match text.contains(is_meta) || text.is_empty() {
            true => Err(pattern()),
            false => Ok(text.to_owned()),
        };
        let (name, value) = condition.split_once(['=', '~']).ok_or_else(pattern)?;
        match name {
            "exit" => {
                Ok(Self { status: Some(number(value).ok_or_else(pattern)?), ..Self::default() })
            }
            "signal" => {
                let signal = Signal::Is(number(value).ok_or_else(pattern)?);
                Ok(Self { signal, ..Self::default() })
            }
            "stderr" => Ok(Self { stderr: vec![text(value)?], ..Self::default() }),
            "stdout" => Ok(Self { stdout: Some(text(value)?), ..Self::default() }),
            _ => Err(pattern()),
        }
    }
}

/// The type of a script's exception, without its module: `uncaught app.errors.BadMonth in parse` has `BadMonth`.
fn exception(words: &str) -> Option<&str> {
    let name = words.strip_prefix("uncaught ")?.split(' ').next()?;
    let name = name.rsplit(['.', ':']).next()?;
    let plain = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    // Of an exception of C++ nothing is printed that tells it: a signal does.
    (plain && !name.is_empty() && name != "exception").then_some(name)
}

/// Whether a character means something else in a regular expression.
fn is_meta(c: char) -> bool {
    "\\.+*?()|[]{}^$#&-~".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_of_scripts_have_names() {
        assert_eq!(exception("uncaught ValueError in parse (a.py:3)"), Some("ValueError"));
        assert_eq!(
            exception("uncaught java.time.DateTimeException in A.b"),
            Some("DateTimeException")
        );
        assert_eq!(exception("uncaught exception in parse (a.cpp:3)"), None);
        assert_eq!(exception("uncaught \"); system(\"x in y"), None);
        assert_eq!(exception("SIGSEGV in parse"), None);
    }

    #[test]
    fn conditions_that_languages_read_alike() {
        let exit = Criterion::stated("exit=3").expect("a status");
        assert_eq!((exit.status, exit.signal), (Some(3), Signal::None));
        assert_eq!(Criterion::stated("signal=11").expect("a signal").signal, Signal::Is(11));
        assert_eq!(Criterion::stated("stderr~bad month").expect("a text").stderr, ["bad month"]);
        assert_eq!(
            Criterion::stated("stdout~total 0").expect("a text").stdout.as_deref(),
            Some("total 0")
        );
        for refused in ["stderr~bad.*month", "stdout~", "exit=-1", "exit=400", "other=1", "x"] {
            assert!(matches!(Criterion::stated(refused), Err(Refusal::Pattern(_))), "{refused}");
        }
    }
}
