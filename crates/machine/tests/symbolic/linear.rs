//! What a followed run keeps grows with its tests, and no faster: an input that is twice as long makes
//! twice as many tests, and about twice as many terms.

use stunt_machine::linux::Ending;
use stunt_machine::symbolic::Relaxations;
use stunt_path::Source;

use crate::build;
use crate::follow::Subject;

/// How many records the shortest input has.
const RECORDS: usize = 64;

/// Follows inputs that double in length.
pub fn check() -> Result<(), String> {
    let folder = build::scratch();
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut subject = Subject {
        program: build::build("records.c", &["-O1"])?,
        words: vec![b"program".to_vec()],
        environment: Vec::new(),
        folder,
        stdin: None,
        most: u64::MAX,
    };
    for relax in [Relaxations::NONE, Relaxations::ALL] {
        let mut counts: Vec<(usize, usize)> = Vec::new();
        for doubled in 0..4 {
            subject.stdin = Some(b"key=123;".repeat(RECORDS << doubled));
            let done = subject.follow(&[Source::StandardInput], relax)?;
            if done.seen.ending != Ending::Exited(0) {
                return Err(format!("it ends as {:?}", done.seen.ending));
            }
            let Some(symbolic) = done.symbolic else { return Err("it was not followed".into()) };
            counts.push((symbolic.tests().len(), symbolic.pool.len()));
        }
        for pair in counts.windows(2) {
            let ((tests, terms), (more_tests, more_terms)) = (pair[0], pair[1]);
            // What every run has, however short, is in the smaller one, too.
            if more_tests > 2 * tests + 8 || more_terms > 2 * terms + 8 {
                return Err(format!("tests and terms of inputs that double in length: {counts:?}"));
            }
        }
        if counts[0].0 < RECORDS {
            return Err(format!("so few tests say nothing: {counts:?}"));
        }
    }
    Ok(())
}
