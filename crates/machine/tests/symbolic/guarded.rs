//! Checked memory, by `own/guarded.c`: where the first invalid access is at an address that depends on
//! the input, the tests say which other addresses would have been as bad, and no more than those.

use stunt_machine::linux::Ending;
use stunt_machine::symbolic::Relaxations;
use stunt_path::Source;
use stunt_terms::{Assignment, Evaluator};

use crate::build;
use crate::follow::Subject;

/// An invalid access.
#[derive(Clone, Copy)]
pub struct Case {
    /// What the program does.
    how: &'static str,
    input: &'static [u8],
    /// The values that the first byte may have, first and last.
    may_be: (u8, u8),
}

const CASES: [Case; 10] = [
    Case { how: "store", input: b"\x14abcdefg", may_be: (16, 255) },
    Case { how: "load", input: b"\x14abcdefg", may_be: (16, 255) },
    // The first seven of these begin within the block.
    Case { how: "wide", input: b"\x14abcdefg", may_be: (9, 255) },
    Case { how: "wide", input: b"\x09abcdefg", may_be: (9, 255) },
    Case { how: "vector", input: b"\x14abcdefg", may_be: (1, 255) },
    Case { how: "freed", input: b"\x03abcdefg", may_be: (0, 255) },
    Case { how: "behind", input: b"\x14abcdefg", may_be: (1, 255) },
    // Eight bytes behind the array.
    Case { how: "canary", input: b"\x1babcdefg", may_be: (24, 31) },
    // How long an input is, is no secret; what it says asks for nothing.
    Case { how: "read", input: b"seventeen letters", may_be: (0, 255) },
    Case { how: "fread", input: b"seventeen letters", may_be: (0, 255) },
];

/// All cases, with names.
pub fn cases() -> Vec<(String, Case)> {
    let named = |case: Case| (format!("{}-{}", case.how, case.input[0]), case);
    CASES.map(named).to_vec()
}

/// Follows a case with checks, and asks for each first byte whether it passes the tests, and whether it
/// fails.
pub fn check(case: &Case) -> Result<(), String> {
    let folder = build::scratch();
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut subject = Subject {
        program: build::build("guarded.c", &["-O1", "-fstack-protector-all"])?,
        words: vec![b"program".to_vec(), case.how.as_bytes().to_vec()],
        environment: Vec::new(),
        folder,
        stdin: Some(case.input.to_vec()),
        most: u64::MAX,
    };
    let plain = subject.run()?.seen.ending;
    if plain != Ending::Exited(0) && case.how != "canary" {
        return Err(format!("without checks it ends as {plain:?}"));
    }
    for relax in [Relaxations::NONE, Relaxations::ALL] {
        subject.stdin = Some(case.input.to_vec());
        let done = subject.follow_checked(&[Source::StandardInput], relax)?;
        let invalid =
            |ending| matches!(ending, Ending::Killed(signal) if signal.is_invalid_access());
        if !invalid(done.seen.ending) {
            return Err(format!("it ends as {:?}", done.seen.ending));
        }
        let Some(symbolic) = done.symbolic else { return Err("it was not followed".into()) };
        for first in 0..=255 {
            let mut input = case.input.to_vec();
            input[0] = first;
            let (assignment, mut evaluator) =
                (Assignment::from_bytes(input.clone()), Evaluator::new());
            let mut tests = symbolic.tests().iter();
            let passes =
                tests.all(|test| evaluator.holds(&symbolic.pool, test.condition, &assignment));
            if passes != (case.may_be.0..=case.may_be.1).contains(&first) {
                return Err(format!("{first} passes the tests: {passes}"));
            }
            // All of them would take long.
            if passes && (first % 16 == 0 || [case.may_be.0, case.may_be.1].contains(&first)) {
                subject.stdin = Some(input);
                let ending = subject.follow_checked(&[], relax)?.seen.ending;
                if !invalid(ending) {
                    return Err(format!("{first} passes the tests, and ends as {ending:?}"));
                }
            }
        }
    }
    Ok(())
}
