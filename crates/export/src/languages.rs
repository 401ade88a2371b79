//! The tests themselves: a template a language.
//!
//! Each finds the doubles beside itself, runs the program once, and fails if the run shows what the failure
//! shows. What a template is given is literals and conditions that are made here; nothing of a report gets in by
//! another way.

mod java;
mod javascript;
mod python;
mod rust;
mod shell;

use stunt_report::Opened;

use crate::criterion::{Criterion, Signal};
use crate::files::{Call, Part, Word, doubles, short_name};
use crate::literal::comment;
use crate::{Artefact, Kind, Refusal};

/// What every template is given.
struct Test<'a> {
    /// Eight digits that name the failure.
    name: &'a str,
    /// The failure in words, for a comment.
    words: String,
    call: &'a Call,
    criterion: &'a Criterion,
}

/// Writes a test.
pub(crate) fn test(
    kind: Kind,
    opened: &Opened,
    call: &Call,
    criterion: &Criterion,
) -> Result<Vec<Artefact>, Refusal> {
    let name = &short_name(opened);
    let test = Test { name, words: comment(&opened.report.failure.words), call, criterion };
    let folder = format!("stunt-{name}");
    let (folder, files) = match kind {
        Kind::CargoTest => (format!("tests/{folder}"), vec![rust::write(&test)]),
        Kind::Pytest => (folder, vec![python::write(&test)]),
        Kind::JUnit => (format!("src/test/resources/{folder}"), vec![java::write(&test)]),
        Kind::Jest => (folder, vec![javascript::write(&test)]),
        Kind::CTest => (folder, shell::write(&test)?),
        Kind::LibFuzzerSeed | Kind::AflSeed => return Ok(Vec::new()),
    };
    let files = files.into_iter().map(|(path, text)| Artefact {
        is_script: path.ends_with(".sh"),
        path,
        bytes: text.into_bytes(),
    });
    Ok(files.chain(doubles(opened, &folder)).collect())
}

impl Test<'_> {
    /// Words as expressions of a language: literals and paths, joined.
    fn words(
        &self,
        text: impl Fn(&str) -> String,
        path: impl Fn(&str) -> String,
        join: &str,
    ) -> Vec<String> {
        let part = |part: &Part| match part {
            Part::Text(it) => text(it),
            Part::Path(it) => path(it),
        };
        let word = |word: &Word| word.iter().map(part).collect::<Vec<_>>().join(join);
        self.call.arguments.iter().map(word).collect()
    }

    /// The conditions under which the test fails, in a language: by signal, status and output.
    fn conditions(
        &self,
        signal: impl Fn(Option<u8>) -> String,
        status: impl Fn(u8) -> String,
        holds: impl Fn(&str, &str) -> String,
    ) -> Vec<String> {
        let Criterion { signal: which, status: exit, stderr, stdout } = self.criterion;
        let mut all = Vec::new();
        match which {
            Signal::None => {}
            Signal::Any => all.push(signal(None)),
            &Signal::Is(number) => all.push(signal(Some(number))),
        }
        all.extend(exit.map(status));
        all.extend(stderr.iter().map(|text| holds("stderr", text)));
        all.extend(stdout.iter().map(|text| holds("stdout", text)));
        all
    }
}
