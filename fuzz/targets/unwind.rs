//! Any file as a module whose stack is walked: tables for unwinding, symbols, DWARF.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/unwind/tests/fuzzed/unwind.rs"]
mod check;

fuzz_target!(|data: &[u8]| check::check(data));
