//! Conditions of the shapes that real parsers leave behind: fields, decimal numbers, checksums,
//! encodings, character classes.
//!
//! Tests and benchmarks of all crates build their examples here, so that one Luhn check is the
//! same Luhn check everywhere. This crate must not know what the conditions are used for; nothing
//! but tests and benchmarks depends on it.

mod checksum;
mod number;
mod text;

pub use checksum::{adler32, crc32_bitwise, crc32_table, internet_checksum, luhn, sum};
pub use number::{big_endian, decimal, digits, in_range, little_endian};
pub use text::{base64_value, equals, letter_class, utf8};

use stunt_terms::{Pool, Term};

/// The bytes `from` up to `to` of source 0.
pub fn input(pool: &mut Pool, from: u32, to: u32) -> Vec<Term> {
    (from..to).map(|offset| pool.input(0, offset)).collect()
}
