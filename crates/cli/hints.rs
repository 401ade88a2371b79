//! What somebody means who has forgotten `--`, `@@` or the input: said in words, with the line to type.
//!
//! Always: a guess is said before it is used, and one that could be wrong is not used.

use std::error::Error;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use stunt_native::code_words;
use stunt_report::command_line;

use crate::incident;

/// Commands that run a program after `--`; those that want to know which argument is the input; and those whose first
/// word is a report.
const PROGRAMS: [&str; 10] = [
    "anonymize",
    "debug",
    "explain",
    "export",
    "record",
    "replay",
    "report",
    "run",
    "submit",
    "trace",
];
const WITH_INPUT: [&str; 2] = ["anonymize", "trace"];
const OF_REPORTS: [&str; 5] = ["debug", "explain", "export", "replay", "submit"];

/// What to type, in lines of its own: nothing in it is a stranger's text that is not quoted.
#[derive(Debug)]
pub struct Hint(pub String);

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Hint {}

/// The words of this command line, without `stunt` itself.
pub fn words() -> Vec<OsString> {
    std::env::args_os().skip(1).collect()
}

/// The command of this command line.
pub fn command() -> String {
    let named = |word: &OsString| PROGRAMS.iter().any(|name| word == name);
    let all = words();
    all.iter().find(|word| named(word)).map_or("anonymize".into(), |it| it.to_string_lossy().into())
}

/// What to type if a program stands where no program can stand: a sentence.
pub fn forgotten_dashes(words: &[OsString]) -> Option<String> {
    let at = words.iter().position(|word| PROGRAMS.iter().any(|name| word == name))?;
    if words.iter().any(|word| word == "--") {
        return None;
    }
    let name = words[at].to_str()?;
    // The report itself may be a file that can be run.
    let first = at + 1 + usize::from(OF_REPORTS.contains(&name));
    let found = words.iter().enumerate().skip(first);
    let place = found.into_iter().find(|(_, word)| is_program(word)).map(|(place, _)| place)?;
    let (before, program) = words.split_at(place);
    let (flags, program) = if WITH_INPUT.contains(&name) {
        with_input(before, program)
    } else {
        (before.to_vec(), program.to_vec())
    };
    let line = [vec![OsString::from("stunt")], flags, vec!["--".into()], program].concat();
    Some(format!(
        "{} is a program, and a program stands after `--`, so that its flags are its own:\n    {}",
        command_line([&words[place]]),
        command_line(&line)
    ))
}

/// Flags and program, where the one argument that names a file is the input.
fn with_input(before: &[OsString], program: &[OsString]) -> (Vec<OsString>, Vec<OsString>) {
    let (mut flags, mut program) = (before.to_vec(), program.to_vec());
    let is_said = before.iter().any(|word| word == "-i" || word == "--input");
    if let ([(number, file)], false) = (&files(&program)[..], is_said) {
        flags.extend(["-i".into(), file.clone()]);
        program[*number] = with_place(&program[*number], file);
    }
    (flags, program)
}

/// A word in which `@@` takes the place of a file.
pub fn with_place(word: &OsStr, file: &OsStr) -> OsString {
    match word.as_bytes().strip_suffix(file.as_bytes()) {
        Some(before) => OsString::from_vec([before, b"@@"].concat()),
        None => word.to_owned(),
    }
}

/// The arguments that name a file that is there and can be read, by their numbers from 1, with that file: a word, or
/// what stands behind an equals sign. What an interpreter is given to run is none. The first word is the program.
pub fn files(words: &[OsString]) -> Vec<(usize, OsString)> {
    let Some(name) = words.first() else { return Vec::new() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = stunt_native::find(name, &path).unwrap_or_else(|_| name.into());
    let code = code_words(&program, words);
    let file_in = |word: &OsString| {
        let bytes = word.as_bytes();
        let behind = bytes.iter().position(|&byte| byte == b'=').map(|at| &bytes[at + 1..]);
        let mut names = [Some(bytes), behind].into_iter().flatten().map(OsStr::from_bytes);
        names.find(|name| !name.is_empty() && Path::new(name).is_file()).map(OsStr::to_owned)
    };
    let numbered = words.iter().enumerate().skip(1).filter(|(number, _)| !code.contains(number));
    numbered.filter_map(|(number, word)| Some((number, file_in(word)?))).collect()
}

/// Whether a word names something that can be run: by a path, or in the search path.
fn is_program(word: &OsStr) -> bool {
    // `last` is a program, and an incident first of all.
    if word.is_empty() || word.as_bytes().starts_with(b"-") || incident::is_meant(Path::new(word)) {
        return false;
    }
    let can_run = |path: &Path| {
        path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    if word.as_bytes().contains(&b'/') {
        return can_run(Path::new(word));
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| can_run(&folder.join(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_program_without_dashes_is_found() {
        let hint = |line: &str| {
            forgotten_dashes(&split(line)).map(|it| it.lines().last().unwrap().trim().to_owned())
        };
        assert_eq!(
            hint("anonymize /bin/cat -n Cargo.toml").as_deref(),
            Some("stunt anonymize -i Cargo.toml -- /bin/cat -n @@")
        );
        assert_eq!(
            hint("anonymize -i x /bin/cat").as_deref(),
            Some("stunt anonymize -i x -- /bin/cat")
        );
        assert_eq!(
            hint("-v report cat --in=Cargo.toml").as_deref(),
            Some("stunt -v report -- cat --in=Cargo.toml")
        );
        assert_eq!(hint("replay r.zip cat @@").as_deref(), Some("stunt replay r.zip -- cat @@"));
        assert_eq!(hint("replay /bin/cat"), None);
        assert_eq!(hint("report last 1"), None);
        assert_eq!(hint("anonymize -- cat"), None);
        assert_eq!(hint("anonymize no-such-program-here"), None);
        assert_eq!(hint("incidents cat"), None);
    }

    #[test]
    fn files_are_words_and_what_is_behind_an_equals_sign() {
        let found =
            |line: &str| files(&split(line)).into_iter().map(|(at, _)| at).collect::<Vec<_>>();
        assert_eq!(found("cat -n Cargo.toml --in=README.md no-such-file"), [2, 3]);
        assert_eq!(found("python3 Cargo.toml README.md"), [2]);
        let place = |word: &str, file: &str| with_place(OsStr::new(word), OsStr::new(file));
        assert_eq!(
            (place("a.b", "a.b"), place("--in=a.b", "a.b")),
            ("@@".into(), "--in=@@".into())
        );
    }
}
