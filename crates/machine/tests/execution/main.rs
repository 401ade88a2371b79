//! Programs that stop before each test, are forked, and are sent another way.
//!
//! `agrees::NAME`: a walk from test to test has the tests of a followed run. `turns::NAME`: at random
//! tests the path is sent another way, with an input that the solver finds, and must go on as a fresh
//! run on that input does: tests, places and failure. `rebound::NAME`: inputs that pass all tests
//! are bound on the way, one after the other; `random::N` does so for programs of random
//! instructions. `forks::NAME`: ten thousand nodes fit in memory.
//!
//! ```console
//! $ cargo nextest run -p stunt-machine --test execution turns::small
//! $ cargo test --release -p stunt-machine --test execution -- --figures [WORDS OF NAMES]
//! ```
//!
//! The second prints what walking, forking and binding cost.

#[path = "../symbolic/build.rs"]
mod build;
mod cases;
mod figures;
#[path = "../symbolic/follow.rs"]
#[expect(dead_code, reason = "the test of runs with terms uses it")]
mod follow;
#[path = "../symbolic/random.rs"]
#[expect(dead_code, reason = "the test of runs with terms uses more of it")]
mod random;
mod subject;
mod turns;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let Some((_, names)) = words.split_first().filter(|(first, _)| *first == "--figures") {
        return figures::figures(names);
    }
    let mut trials = Vec::new();
    for case in cases::cases() {
        let name = format!("agrees::{}", case.name);
        trials.push(test(&name, move || turns::agrees(&case)));
    }
    for (case, seed) in cases::cases().into_iter().zip(1..) {
        // It looks at flags that are not followed: other inputs have other ones.
        if case.name.starts_with("flags") {
            continue;
        }
        let name = format!("turns::{}", case.name);
        trials.push(test(&name, move || turns::turns(&case, seed).map(drop)));
    }
    for (case, seed) in cases::cases().into_iter().zip(1000..) {
        let name = format!("rebound::{}", case.name);
        trials.push(test(&name, move || turns::rebound(&case, seed)));
    }
    for seed in 0..random::PROGRAMS / 2 {
        trials.push(test(&format!("random::{seed}"), move || {
            turns::rebind(&cases::random(seed)?, seed, true)
        }));
    }
    for name in figures::KEPT {
        trials.push(test(&format!("forks::{name}"), || figures::ten_thousand(name)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn test(name: &str, run: impl FnOnce() -> Result<(), String> + Send + 'static) -> Trial {
    Trial::test(name, move || run().map_err(Failed::from))
}
