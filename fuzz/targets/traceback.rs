//! Any text as what an interpreter prints.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/native/tests/fuzzed/traceback.rs"]
mod check;

fuzz_target!(|data: &[u8]| check::check(data));
