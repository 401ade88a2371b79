//! Any bytes as a message or as a parcel.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/parcel/tests/fuzzed/messages.rs"]
mod check;

fuzz_target!(|data: &[u8]| check::check(data));
