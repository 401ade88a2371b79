//! Any bytes as a document.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/document/tests/fuzzed/document.rs"]
mod check;

fuzz_target!(|data: &[u8]| check::check(data));
