//! Which words of an interpreter's command line name code, not input: the script, the archive of classes.
//!
//! A guess that is used where nobody has said what the input is; a wrong one is said to the user, who corrects it.

use std::ffi::OsString;
use std::path::Path;

/// An interpreter's command line.
struct Interpreter {
    /// Beginnings of the names of its program.
    programs: &'static [&'static str],
    /// Options with the code itself, or with the name of a module, so that no script follows.
    inline: &'static [&'static str],
    /// Options whose value is the next word.
    with_value: &'static [&'static str],
    /// Options whose value, the next word, is code; where there are any, no other word is a script.
    with_code: &'static [&'static str],
}

const ALL: [Interpreter; 9] = [
    Interpreter {
        programs: &["python", "pypy"],
        inline: &["-c", "-m"],
        with_value: &["-W", "-X"],
        with_code: &[],
    },
    Interpreter {
        programs: &["node"],
        inline: &["-e", "--eval", "-p", "--print"],
        with_value: &["-r", "--require", "--import", "--loader"],
        with_code: &[],
    },
    Interpreter {
        programs: &["ruby"],
        inline: &["-e"],
        with_value: &["-I", "-r", "-C"],
        with_code: &[],
    },
    Interpreter { programs: &["perl"], inline: &["-e", "-E"], with_value: &["-I"], with_code: &[] },
    Interpreter { programs: &["php"], inline: &["-r"], with_value: &["-d", "-c"], with_code: &[] },
    Interpreter { programs: &["lua"], inline: &["-e"], with_value: &["-l"], with_code: &[] },
    Interpreter {
        programs: &["bash", "dash", "sh", "ksh", "zsh"],
        inline: &["-c", "-s"],
        with_value: &["-o", "-O"],
        with_code: &[],
    },
    Interpreter {
        programs: &["java"],
        inline: &[],
        with_value: &["--module", "-m", "--add-modules", "--add-opens", "--add-exports"],
        with_code: &["-jar", "-cp", "-classpath", "--class-path", "-p", "--module-path"],
    },
    Interpreter { programs: &["dotnet", "mono"], inline: &[], with_value: &[], with_code: &[] },
];

/// The numbers of the words that name code, from 1; `words` has the program's own name first. A program that is no
/// interpreter has none.
#[must_use]
pub fn code_words(program: &Path, words: &[OsString]) -> Vec<usize> {
    let target = program.canonicalize().unwrap_or_else(|_| program.to_owned());
    let is_named = |path: &Path, name: &str| {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        file.strip_prefix(name).is_some_and(|rest| {
            rest.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-') || rest == "js"
        })
    };
    let knows = |it: &&Interpreter| {
        it.programs.iter().any(|name| is_named(program, name) || is_named(&target, name))
    };
    let Some(it) = ALL.iter().find(knows) else { return Vec::new() };
    let (mut code, mut at) = (Vec::new(), 1);
    while let Some(word) = words.get(at).map(|word| word.to_string_lossy()) {
        let is = |options: &[&str]| options.contains(&&*word);
        if is(it.with_code) {
            code.push(at + 1);
            if word == "-jar" {
                break;
            }
            at += 2;
        } else if is(it.with_value) {
            at += 2;
        } else if is_inline(it, &word) {
            break;
        } else if word.starts_with('-') && word.len() > 1 {
            at += 1;
        } else {
            // Java names a class here, but for a file of source.
            if it.with_code.is_empty() || word.ends_with(".java") {
                code.push(at);
            }
            break;
        }
    }
    code
}

/// Whether no script follows: short options may be joined, the last of them with the code, as in `-ne`.
fn is_inline(interpreter: &Interpreter, word: &str) -> bool {
    interpreter.inline.iter().any(|option| {
        let joined = option.len() == 2 && word.starts_with('-') && !word.starts_with("--");
        word == *option || joined && word.ends_with(&option[1..])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(line: &str) -> Vec<usize> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        code_words(Path::new(line.split(' ').next().unwrap_or_default()), &words)
    }

    #[test]
    fn scripts_are_code_and_what_follows_is_not() {
        for (line, expected) in [
            ("/nowhere/python3.11 s.py data.csv", vec![1]),
            ("/nowhere/python3 -W ignore -u s.py data.csv", vec![3 + 1]),
            ("/nowhere/python3 -m tool data.csv", vec![]),
            ("/nowhere/perl -ne print data.csv", vec![]),
            ("/nowhere/perl -w s.pl data.csv", vec![2]),
            ("/nowhere/node --jitless s.js data.json", vec![2]),
            ("/nowhere/bash -e s.sh in", vec![2]),
            ("/nowhere/sh -c cat in", vec![]),
            ("/nowhere/java -cp a.jar Main in.txt", vec![2]),
            ("/nowhere/java -Xint -jar a.jar in.txt", vec![3]),
            ("/nowhere/java Main.java in.txt", vec![1]),
            ("/nowhere/java Main in.txt", vec![]),
            ("/nowhere/parser in.txt", vec![]),
            ("/nowhere/shuffle in.txt", vec![]),
            ("/nowhere/python3", vec![]),
        ] {
            assert_eq!(code(line), expected, "{line}");
        }
    }
}
