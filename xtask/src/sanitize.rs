//! `cargo xtask sanitize`: the machine's `unsafe` parts under AddressSanitizer.
//!
//! Pages and the TLB's pointers to them, memory for compiled code and its entry, and the stack's mapped
//! files: the tests that use them are built with the sanitizer, which stops at the first access outside
//! of an object or to one that is gone. Compiled code itself is not watched; what it is compared with is.
//! (Miri would see more, but it cannot map memory for code or call it, and a stable compiler does not
//! bring it.)

use anyhow::Result;

use crate::step::Step;

/// The tests: those inside the crate, and those that run code both ways, change it, and copy machines.
const TESTS: [&str; 4] = ["--lib", "--test=fuzzed", "--test=code", "--test=snapshots"];

/// Builds the tests with the sanitizer and runs them.
pub fn run() -> Result<()> {
    let words = [
        "test",
        "--package=stunt-machine",
        // Named, so that build scripts and macros are built without the sanitizer.
        "--target=x86_64-unknown-linux-gnu",
        "--target-dir=target/sanitize",
    ];
    let step = Step::cargo("sanitize", &[&words[..], &TESTS].concat())
        .with("RUSTFLAGS", "-Zsanitizer=address")
        // The flag is called unstable, but the compiler brings what it needs.
        .with("RUSTC_BOOTSTRAP", "1");
    step.run()?;
    step.quote("test result")
}
