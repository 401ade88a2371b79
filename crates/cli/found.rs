//! The input that nobody has named, or not in its place: found where there is no doubt, and always said.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::Result;
use stunt_report::command_line;
use stunt_subject::PLACE;

use crate::hints::{self, Hint};
use crate::subject::contains;

/// Where an argument is the path of the input itself, `@@` was forgotten: the program would read the original,
/// whatever it is given. The word gets its place, and that is said.
pub fn put_place(words: &mut [OsString], input: &Path) {
    if words[1..].iter().any(|word| contains(word, PLACE)) {
        return;
    }
    let same = |file: &OsStr| match (fs::canonicalize(file), fs::canonicalize(input)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    };
    for (number, file) in hints::files(words).into_iter().filter(|(_, file)| same(file)) {
        words[number] = hints::with_place(&words[number], &file);
        eprintln!(
            "stunt: argument {number} is the input, so @@ stands for it: {}",
            command_line(&*words)
        );
    }
}

/// Where nobody has said what the input is: standard input, if something comes from there; else the file that an
/// argument names, and what was understood is said. A terminal is told what it is waited for.
pub fn find_input(words: &mut [OsString]) -> Result<Option<PathBuf>> {
    if words[1..].iter().any(|word| contains(word, PLACE)) {
        return Ok(None);
    }
    let stdin = std::io::stdin();
    let is_terminal = stdin.is_terminal();
    if !is_terminal && !is_nothing(&stdin) {
        return Ok(None);
    }
    let (command, files) = (hints::command(), hints::files(words));
    let typed = |number: usize, file: &OsStr| {
        let mut with = words.to_vec();
        with[number] = hints::with_place(&with[number], file);
        let line = [
            vec!["stunt".into(), OsString::from(&command), "-i".into(), file.into(), "--".into()],
            with,
        ];
        command_line(line.concat())
    };
    match &files[..] {
        [(number, file)] => {
            eprintln!(
                "stunt: argument {number} names a file, which is taken for the input: {}",
                typed(*number, file)
            );
            let input = PathBuf::from(file);
            words[*number] = hints::with_place(&words[*number], file);
            Ok(Some(input))
        }
        [] if is_terminal => {
            eprintln!(
                "stunt: no argument names a file, so the input is what you type now: end it with Ctrl-D, or end \
                 this with Ctrl-C and type `stunt {command} -- {} < FILE`",
                command_line(&*words)
            );
            Ok(None)
        }
        [] => Ok(None),
        several => {
            let lines: Vec<String> = several
                .iter()
                .map(|(number, file)| format!("\n    {}", typed(*number, file)))
                .collect();
            Err(Hint(format!(
                "which of these files is the input? Type one of{}\nor let stunt see which of them the program \
                 reads: stunt report -- {}",
                lines.concat(),
                command_line(&*words)
            ))
            .into())
        }
    }
}

/// Whether nothing can come from standard input: it is `/dev/null`.
fn is_nothing(stdin: &std::io::Stdin) -> bool {
    let null = fs::metadata("/dev/null").map(|it| it.rdev());
    let own = stdin.as_fd().try_clone_to_owned().map(fs::File::from).and_then(|it| it.metadata());
    matches!((null, own), (Ok(null), Ok(own)) if own.file_type().is_char_device() && own.rdev() == null)
}
