//! Libraries that a program loads when it runs already: their functions are known by name, too.

use stunt_machine::linux::Ending;
use stunt_machine::symbolic::Relaxations;
use stunt_path::Source;
use stunt_terms::{Assignment, Evaluator};

use crate::build;
use crate::follow::Subject;

/// A comparison in such a library tells that strings differ, and not where.
pub fn check() -> Result<(), String> {
    use std::os::unix::ffi::OsStrExt;
    let library = build::build(
        "late.c",
        &["-O1", "-DLIBRARY", "-shared", "-fPIC", "-fno-builtin", "-Wl,-Bsymbolic"],
    )?;
    let subject = Subject {
        program: build::build("late.c", &["-O1"])?,
        words: vec![b"program".to_vec(), library.as_os_str().as_bytes().to_vec()],
        environment: Vec::new(),
        folder: build::scratch(),
        stdin: Some(b"opax".to_vec()),
        most: u64::MAX,
    };
    for (relax, expected) in [(Relaxations::ALL, true), (Relaxations::NONE, false)] {
        let done = subject.follow(&[Source::StandardInput], relax)?;
        if done.seen.ending != Ending::Exited(1) {
            return Err(format!("it ends as {:?}", done.seen.ending));
        }
        let Some(symbolic) = done.symbolic else { return Err("it was not followed".into()) };
        let passes = |input: &[u8; 4]| {
            let (assignment, mut evaluator) =
                (Assignment::from_bytes(input.to_vec()), Evaluator::new());
            let mut tests = symbolic.tests().iter();
            tests.all(|test| evaluator.holds(&symbolic.pool, test.condition, &assignment))
        };
        if !passes(b"opax") || passes(b"opal") {
            return Err("the tests do not tell the strings apart".into());
        }
        if passes(b"ruby") != expected {
            return Err(format!("relaxed: {expected}, and another string is treated otherwise"));
        }
    }
    Ok(())
}
