//! Any file as `incident.json`.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/record/tests/fuzzed/incident.rs"]
mod check;

fuzz_target!(|data: &[u8]| check::check(data));
