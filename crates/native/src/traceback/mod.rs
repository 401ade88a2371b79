//! The failure of a script, from what its interpreter prints about an uncaught exception.
//!
//! An interpreter that exits after an exception has not failed itself: its own stack says nothing.
//! What it prints on standard error does: the exception's type, and the calls by file and line.
//!
//! Always holds: of an exception's message only the words are kept that stand in constants of the program or
//! of its runtime ([`Texts`]), because messages quote input; of paths, only the file's name is kept. A status other than 0 without a traceback is no failure: many
//! scripts say so that they found something. Tracebacks that a script itself prints and survives do
//! not count either, as far as the status tells.

mod go;
mod java;
mod lua;
mod node;
mod perl;
mod php;
mod python;
mod roles;
mod ruby;
mod sanitizer;

use stunt_path::{Ending, Failure, Frame, Run};
use stunt_unwind::failure::{is_sanitizer_function, is_sanitizer_module};

use crate::texts::Texts;

/// One call of a traceback.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    /// The file's name without its folder.
    file: String,
    /// Its path as the traceback has it, where constants may be read from it.
    path: String,
    line: u32,
    /// The column, or 0 if the language does not tell it.
    column: u32,
    function: String,
    /// Whether it belongs to the language's own library.
    library: bool,
}

/// An exception, with its calls from the innermost outward.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Exception {
    kind: String,
    calls: Vec<Call>,
    /// Whether it says that the calls have no end.
    endless: bool,
    /// Its message, which may be private.
    said: String,
}

/// An uncaught exception, then what caused it, then what caused that; and where in the text it was
/// found.
type Found = (usize, Vec<Exception>);

/// The uncaught exception of a Python, Java, JavaScript (Node), Ruby, PHP, Lua or Perl program, or the panic
/// of a Go program, that ended its run.
///
/// Nothing if the run failed by itself, with a signal or a panic: that is the failure then.
#[must_use]
pub fn failure_of_script(run: &Run, texts: &Texts) -> Option<Failure> {
    Some(run.inputs.as_one(roles::failure(&found(run)?.1, texts)?))
}

/// Where in a run's standard error its uncaught exception is told.
#[must_use]
pub fn told_at(run: &Run) -> Option<usize> {
    found(run).map(|(place, _)| place)
}

fn found(run: &Run) -> Option<Found> {
    let Ending::Exit(status @ 1..) = run.ending else { return None };
    if run.failure.is_some() {
        return None;
    }
    let text = String::from_utf8_lossy(run.stderr.reveal());
    let found = [
        python::parse(&text).filter(|_| status == 1),
        java::parse(&text).filter(|_| status == 1),
        // 7: the handler of uncaught exceptions threw one itself.
        node::parse(&text).filter(|_| [1, 7].contains(&status)),
        // The status is an error number, or 255. With 1, a script has most likely warned and exited.
        perl::parse(&text).filter(|_| status != 1),
        ruby::parse(&text).filter(|_| status == 1),
        lua::parse(&text).filter(|_| status == 1),
        php::parse(&text)
            .or_else(|| php::parse(&String::from_utf8_lossy(run.stdout.reveal())))
            .filter(|_| status == 255),
        go::parse(&text).filter(|_| status == 2),
    ];
    // A script may start another one and fail because that did: the last to speak ended the run.
    found.into_iter().flatten().max_by_key(|(place, _)| *place)
}

/// How a run failed, if it did: what a sanitizer says, by itself, or with an uncaught exception of the
/// language that it is written in.
#[must_use]
pub fn failure_of_run(run: &Run, texts: &Texts) -> Option<Failure> {
    sanitizer_report(run).or_else(|| run.failure.clone()).or_else(|| failure_of_script(run, texts))
}

/// What a sanitizer reports, if that is the failure: whatever the program's status is, since some let it
/// go on; but not if the program went on to fail by itself.
fn sanitizer_report(run: &Run) -> Option<Failure> {
    match (run.ending, &run.failure) {
        (Ending::Exit(_), None) => {}
        // Of a plain run nothing else is known.
        (Ending::Signal(_), None) => {}
        (Ending::Signal(_), Some(failure)) if failure.frames.iter().any(is_sanitizer) => {}
        _ => return None,
    }
    sanitizer::parse(&String::from_utf8_lossy(run.stderr.reveal()))
}

fn is_sanitizer(frame: &Frame) -> bool {
    is_sanitizer_module(&frame.module) || frame.symbol.as_deref().is_some_and(is_sanitizer_function)
}

/// Lines with where they begin; without the characters that end them.
fn lines(text: &str) -> Vec<(usize, &str)> {
    let mut at = 0;
    let line = |line: &'_ str| {
        let start = at;
        at += line.len();
        start
    };
    let starts: Vec<usize> = text.split_inclusive('\n').map(line).collect();
    starts.into_iter().zip(text.lines()).collect()
}

/// The last part of a path.
fn file_name(path: &str) -> String {
    clean(path.rsplit(['/', '\\']).next().unwrap_or(path))
}

/// A name as it may be shown: without control characters, and not without end.
fn clean(name: &str) -> String {
    name.chars().filter(|c| !c.is_control()).take(200).collect()
}

/// What a message says, without what tells values: up to a colon, an address or a parenthesis, and words
/// alone, neither numbers nor quoted text.
fn without_values(text: &str) -> String {
    let end = [" on ", ": ", " (", ", ", ":"].iter().filter_map(|stop| text.find(stop)).min();
    let is_number = |word: &str| {
        let word = word.trim_start_matches(['-', '+']);
        word.contains(|c: char| c.is_ascii_digit())
            || ["nan", "inf", "infinity"].iter().any(|it| word.eq_ignore_ascii_case(it))
    };
    let mut quoted = false;
    let word = |word: &&str| {
        let opens = word.starts_with(['\'', '"', '`']);
        let shown = !quoted && !opens;
        quoted = (quoted || opens) && !word.ends_with(['\'', '"', '`']);
        shown && !is_number(word)
    };
    let words = text[..end.unwrap_or(text.len())].split_whitespace();
    clean(&words.filter(word).take(12).collect::<Vec<_>>().join(" "))
}

/// Whether this is a name as languages have them, with dots between its parts.
fn is_name(text: &str) -> bool {
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
    text.starts_with(|c: char| c.is_alphabetic() || matches!(c, '_' | '$'))
        && text.chars().all(letter)
}

/// What stands behind the type in such a line.
fn said(line: &str) -> String {
    line.split_once(": ").map_or("", |(_, said)| said).to_owned()
}

/// The type at the beginning of a line such as `ValueError: …`.
fn type_of(line: &str) -> Option<String> {
    let name = line.split(':').next().unwrap_or(line);
    is_name(name).then(|| clean(name))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use stunt_path::{InputNames, Private};

    fn of(run: &Run) -> Option<Failure> {
        failure_of_script(run, &Texts::default())
    }

    pub(super) fn run(status: u8, stderr: &str) -> Run {
        Run {
            ending: Ending::Exit(status),
            failure: None,
            stdout: Private::default(),
            stderr: Private::new(stderr.into()),
            duration: Duration::ZERO,
            inputs: InputNames::default(),
        }
    }

    const PYTHON: &str = "Traceback (most recent call last):\n  File \"/home/ada/x.py\", line 3, in <module>\n    f()\nValueError: private\n";
    const JAVA: &str = "Exception in thread \"main\" java.lang.IllegalStateException: private\n\tat Main.main(Main.java:4)\n";

    #[test]
    fn only_what_ended_the_run_counts() {
        let failure = of(&run(1, PYTHON)).expect("an exception");
        assert_eq!(failure.to_string(), "uncaught ValueError in <module> (x.py:3)");
        assert!(!format!("{failure:?}").contains("private"));
        assert!(!format!("{failure:?}").contains("ada"));
        // Printed, and survived; or the script has its own status.
        assert_eq!(of(&run(0, PYTHON)), None);
        assert_eq!(of(&run(3, PYTHON)), None);
        assert_eq!(of(&run(1, "usage: x FILE\n")), None);
        assert_eq!(of(&run(1, "")), None);
        // The outer script speaks last.
        let java_last = format!("{PYTHON}{JAVA}");
        let kind = |text: &str| {
            let failure = of(&run(1, text)).expect("an exception");
            failure.exception_type().map(ToOwned::to_owned)
        };
        assert_eq!(kind(&java_last).as_deref(), Some("java.lang.IllegalStateException"));
        assert_eq!(kind(&format!("{JAVA}{PYTHON}")).as_deref(), Some("ValueError"));
        // A program that failed by itself has its own failure.
        let mut own = run(1, PYTHON);
        own.failure = Some(Failure::stated("exit=1"));
        assert_eq!(of(&own), None);
        own = run(1, PYTHON);
        own.ending = Ending::Signal(11);
        assert_eq!(of(&own), None);
    }

    #[test]
    fn any_text_is_survived() {
        // Cut anywhere, with a piece of another in the middle.
        for text in [
            PYTHON,
            JAVA,
            "x at y.pl line 3, <F> line 2.\n",
            "a.js:1\nx\n^\n\nE: m\n    at f (a.js:1:2)\n\nNode.js v20\n",
        ] {
            for cut in 0..text.len() {
                for more in ["", PYTHON, "\tat ", "\u{fffd}\r\n", "  File \"", "[cause]: X"] {
                    let text = format!("{}{more}", &text[..cut]);
                    for status in [1, 2, 255] {
                        let _ = of(&run(status, &text)).map(|it| it.to_string());
                    }
                }
            }
        }
    }

    #[test]
    fn lines_have_their_places() {
        let text = "a\r\n\nbc\nd";
        assert_eq!(lines(text), [(0, "a"), (3, ""), (4, "bc"), (7, "d")]);
        assert!(lines("").is_empty());
    }

    #[test]
    fn types_are_names() {
        assert_eq!(type_of("ValueError: x: y").as_deref(), Some("ValueError"));
        assert_eq!(type_of("a.b.C$D").as_deref(), Some("a.b.C$D"));
        assert_eq!(type_of("two words: x"), None);
        assert_eq!(type_of(""), None);
        assert_eq!(type_of("7: x"), None);
    }
}
