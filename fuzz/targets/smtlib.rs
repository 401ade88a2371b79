//! Any text as SMT-LIB.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/terms/tests/fuzzed/smtlib.rs"]
mod check;

fuzz_target!(|data: &[u8]| check::check(data));
