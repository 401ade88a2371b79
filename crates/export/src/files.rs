//! The double as files, and the call that is given them.
//!
//! File names are the report's own, which its reader has found to be plain, in a folder that is named after the
//! failure.

use stunt_report::{Opened, SourceName};

use crate::{Artefact, Refusal};

/// A word of a command: texts and paths of doubles, side by side.
pub(crate) type Word = Vec<Part>;

/// A part of a word.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Part {
    /// As it is.
    Text(String),
    /// The path of the double with this file name.
    Path(String),
}

/// What the test calls.
pub(crate) struct Call {
    /// The program.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<Word>,
    /// The file that is its standard input.
    pub stdin: Option<String>,
}

impl Call {
    pub(crate) fn of(opened: &Opened, command: &[String]) -> Result<Self, Refusal> {
        let Some((program, words)) = command.split_first() else {
            return Err(Refusal::NoCommand { told: opened.report.command_line() });
        };
        let mut arguments: Vec<Word> =
            words.iter().map(|it| vec![Part::Text(it.clone())]).collect();
        let mut stdin = None;
        for (source, double) in opened.report.sources.iter().zip(&opened.doubles) {
            match &source.name {
                SourceName::File | SourceName::NumberedFile(_) => {
                    let place = source.name.place().unwrap_or_default();
                    let path = Part::Path(source.file_name().to_owned());
                    arguments.iter_mut().for_each(|word| *word = with_path(word, &place, &path));
                }
                SourceName::Stdin => stdin = Some(source.file_name().to_owned()),
                &SourceName::Argument(number) => {
                    let text = std::str::from_utf8(double).ok().filter(|it| !it.contains('\0'));
                    let text = text.ok_or(Refusal::Argument(number))?;
                    let placeholder = vec![Part::Text(source.name.placeholder())];
                    let place = arguments.iter_mut().find(|word| **word == placeholder);
                    *place.ok_or(Refusal::Argument(number))? = vec![Part::Text(text.to_owned())];
                }
                SourceName::Member(_) => return Err(Refusal::Folder),
                SourceName::Environment(name) => {
                    return Err(Refusal::Variable(stunt_report::visible(name)));
                }
                SourceName::Socket(_) => return Err(Refusal::Connection),
            }
        }
        Ok(Self { program: program.clone(), arguments, stdin })
    }
}

/// A word with a path wherever its place is named. `@@` is not the beginning of `@@2`.
fn with_path(word: &Word, place: &str, path: &Part) -> Word {
    let mut parts = Vec::new();
    for part in word {
        let Part::Text(text) = part else {
            parts.push(part.clone());
            continue;
        };
        let mut rest = text.as_str();
        while let Some(at) = find_place(rest, place) {
            parts.push(Part::Text(rest[..at].to_owned()));
            parts.push(path.clone());
            rest = &rest[at + place.len()..];
        }
        parts.push(Part::Text(rest.to_owned()));
    }
    parts.retain(|part| *part != Part::Text(String::new()));
    if parts.is_empty() { vec![Part::Text(String::new())] } else { parts }
}

fn find_place(text: &str, place: &str) -> Option<usize> {
    let numbered = |at: usize| text[at + place.len()..].starts_with(|c: char| c.is_ascii_digit());
    text.match_indices(place).map(|(at, _)| at).find(|&at| !numbered(at))
}

/// The doubles that a call reads from files, in the folder of the failure.
pub(crate) fn doubles(opened: &Opened, folder: &str) -> Vec<Artefact> {
    let sources = opened.report.sources.iter().zip(&opened.doubles);
    let in_files =
        sources.filter(|(source, _)| source.name.is_file() || source.name == SourceName::Stdin);
    let artefact =
        |path: String, bytes: &[u8]| Artefact { path, bytes: bytes.to_vec(), is_script: false };
    in_files
        .map(|(source, double)| artefact(format!("{folder}/{}", source.file_name()), double))
        .collect()
}

/// The failure's short name: eight hexadecimal digits, whatever a stranger wrote.
pub(crate) fn short_name(opened: &Opened) -> String {
    let digits = opened.report.failure.signature.chars().filter(char::is_ascii_hexdigit);
    let name: String = digits.take(8).collect::<String>().to_ascii_lowercase();
    if name.is_empty() { "failure".to_owned() } else { name }
}

/// A file of a corpus: the double, if it is one.
pub(crate) fn seed(
    opened: &Opened,
    name: impl Fn(&str) -> String,
) -> Result<Vec<Artefact>, Refusal> {
    match &opened.doubles[..] {
        [double] => Ok(vec![Artefact {
            path: name(&short_name(opened)),
            bytes: double.clone(),
            is_script: false,
        }]),
        several => Err(Refusal::SeveralInputs(several.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_become_paths() {
        let text = |text: &str| Part::Text(text.to_owned());
        let path = Part::Path("file".to_owned());
        let word = |it: &str| with_path(&vec![text(it)], "@@", &path);
        assert_eq!(word("@@"), std::slice::from_ref(&path));
        assert_eq!(word("--in=@@"), [text("--in="), path.clone()]);
        assert_eq!(word("@@:@@"), [path.clone(), text(":"), path.clone()]);
        assert_eq!(word("@@2"), [text("@@2")]);
        assert_eq!(word(""), [text("")]);
    }
}
