//! Conditions of the shapes that real parsers leave behind: fields, decimal numbers, checksums,
//! encodings, character classes.
//!
//! Tests and benchmarks of all crates build their examples here, so that one Luhn check is the
//! same Luhn check everywhere. There are parts to build with, whole [`conditions`], and
//! [`random`] terms; and all [`inputs`] of a few bytes can be tried one by one. This crate must
//! not know what the conditions are used for; nothing but tests and benchmarks depends on it.

mod checksum;
pub mod conditions;
pub mod inputs;
mod number;
pub mod random;
mod text;

pub use checksum::{
    adler32, crc32_bitwise, crc32_branching, crc32_table, fnv1a, internet_checksum, luhn, sum,
};
pub use inputs::places;
pub use number::{big_endian, decimal, digits, in_range, little_endian, numeral};
pub use random::Random;
pub use text::{base64_value, equals, letter_class, none_of, utf8};

use stunt_terms::{Pool, Term};

/// The bytes `from` up to `to` of source 0.
pub fn input(pool: &mut Pool, from: u32, to: u32) -> Vec<Term> {
    (from..to).map(|offset| pool.input(0, offset)).collect()
}

/// The little-endian number of `length` bytes of source 0.
///
/// # Panics
/// If `length` is not from 1 to 16.
pub fn field(pool: &mut Pool, from: u32, length: u32) -> Term {
    let bytes = input(pool, from, from + length);
    little_endian(pool, &bytes)
}
