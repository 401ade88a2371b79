//! Any bytes as code: the decoder, the lifter, the interpreter and the block compiler take them, and
//! both ways of running come to the same state.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/machine/tests/fuzzed/both.rs"]
mod both;

fuzz_target!(|data: &[u8]| both::agree(data));
