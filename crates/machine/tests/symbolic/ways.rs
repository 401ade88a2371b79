//! Ways on which input comes back to a program, by `own/ways.c`: whichever it takes, the decision at
//! its end is among the tests. A way that loses what bytes stand for would be a leak that nobody counts.

use stunt_machine::linux::Ending;
use stunt_machine::symbolic::Relaxations;
use stunt_path::Source;
use stunt_terms::{Assignment, Evaluator};

use crate::build;
use crate::follow::Subject;

/// What the program finds out about its input at the end of a way.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Finds {
    /// That the first byte is what it is.
    FirstByte,
    /// Nothing: it has put something else in the input's place.
    Nothing,
}

/// Where the input comes in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum From {
    StandardInput,
    File,
    Argument,
}

/// A way.
#[derive(Clone, Copy)]
pub struct Case {
    way: &'static str,
    from: From,
    finds: Finds,
}

const FROM_STANDARD_INPUT: [&str; 31] = [
    "pipe",
    "full-pipe",
    "child",
    "file",
    "vectors",
    "memory-file",
    "mapping",
    "shared",
    "sendfile",
    "copy",
    "splice",
    "vmsplice",
    "socket",
    "datagram",
    "message",
    "moved",
    "name",
    "counter",
    "stream",
    "text",
    "memory-stream",
    "reopened",
    "exchanged",
    "character",
    "length",
    "arguments",
    "program",
    "orphan",
    "code",
    "linker",
    "handler",
];

/// All cases, with names.
pub fn cases() -> Vec<(String, Case)> {
    let all = FROM_STANDARD_INPUT.map(|way| (way, From::StandardInput, Finds::FirstByte));
    let others = [
        ("overwritten", From::File, Finds::Nothing),
        ("cut", From::File, Finds::Nothing),
        ("arrival", From::Argument, Finds::FirstByte),
    ];
    let all = all.into_iter().chain(others);
    all.map(|(way, from, finds)| (way.to_owned(), Case { way, from, finds })).collect()
}

const INPUT: &[u8; 8] = b"Qabcdefg";

/// Follows the program on a way, and asks whether another first byte would pass.
pub fn check(case: &Case) -> Result<(), String> {
    let folder = build::scratch().join("ways").join(case.way);
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut subject = Subject {
        program: build::build("ways.c", &["-O1", "-Wl,-z,lazy"])?,
        words: vec![b"program".to_vec(), case.way.as_bytes().to_vec()],
        environment: vec![b"PATH=/usr/bin:/bin".to_vec()],
        folder: folder.clone(),
        stdin: None,
        most: u64::MAX,
    };
    let place = match case.from {
        From::StandardInput => {
            subject.stdin = Some(INPUT.to_vec());
            Source::StandardInput
        }
        From::File => {
            std::fs::write(folder.join("input"), INPUT).map_err(|error| error.to_string())?;
            Source::File(b"input".to_vec())
        }
        From::Argument => {
            subject.words.push(INPUT.to_vec());
            Source::Argument(2)
        }
    };
    for relax in [Relaxations::NONE, Relaxations::ALL] {
        let done = subject.follow(std::slice::from_ref(&place), relax)?;
        if done.seen.ending != Ending::Exited(0) {
            return Err(format!("it ends as {:?}", done.seen.ending));
        }
        let Some(symbolic) = done.symbolic else { return Err("it was not followed".into()) };
        let holds = |input: &[u8]| {
            let (assignment, mut evaluator) =
                (Assignment::from_bytes(input.to_vec()), Evaluator::new());
            let mut tests = symbolic.tests().iter();
            tests.all(|test| evaluator.holds(&symbolic.pool, test.condition, &assignment))
        };
        if !holds(INPUT) {
            return Err("the input does not pass its own tests".into());
        }
        let finds = if holds(b"Rabcdefg") { Finds::Nothing } else { Finds::FirstByte };
        if finds != case.finds {
            return Err(match finds {
                Finds::Nothing => "the input was lost on the way".into(),
                Finds::FirstByte => "what is no input any more is still taken for it".into(),
            });
        }
    }
    Ok(())
}
