//! All numbers of the code, version 1. They were fixed before anything was measured with them, and change only
//! with the version. A part of `w` in a sum of `W` costs `log2(W / w)` bits.

use crate::piece::{Class, Sort};

/// How a double is described at all.
pub const PARTS: [u32; 3] = [8, 7, 1];
/// The place in [`PARTS`] of the papers' way: every byte, as if all strings of a length had the same chance. It has
/// half of the weight, so that what a double tells is never more than a bit above the papers' figure.
pub const BYTES: usize = 0;
/// The place of pieces.
pub const PIECES: usize = 1;
/// The place of doubles that are known already.
pub const KNOWN: usize = 2;

/// What a piece is, in the order of [`Tag`]. What is impossible at a place has no weight there.
pub const TAGS: [u32; 10] = [16, 12, 10, 8, 8, 3, 3, 2, 1, 1];

/// The places in [`TAGS`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // They are the pieces.
pub enum Tag {
    Word,
    Byte,
    Text,
    Copy,
    Free,
    Number,
    Gap,
    Set,
    Stretch,
    End,
}

impl Tag {
    /// All of them, as they are numbered.
    pub const ALL: [Tag; 10] = [
        Tag::Word,
        Tag::Byte,
        Tag::Text,
        Tag::Copy,
        Tag::Free,
        Tag::Number,
        Tag::Gap,
        Tag::Set,
        Tag::Stretch,
        Tag::End,
    ];
}

/// Whether a source has gaps: no, yes.
pub const HAS_GAPS: [u32; 2] = [7, 1];
/// The list that a word is in: the program's own first. Lists behind the last have its weight.
pub const LISTS: [u32; 4] = [8, 4, 2, 1];
/// Whether a word is as it is in the list, or of either case.
pub const CASES: [u32; 2] = [7, 1];
/// Whether a free stretch goes to the end, where the end is known; or has a length.
pub const TO_THE_END: [u32; 2] = [1, 1];
/// How wide a number is: 2, 4, 8 bytes.
pub const WIDTHS: [u32; 3] = [3, 4, 1];
/// How the values of one byte are said: a class, a range, a list, all but a list, one by one.
pub const SETS: [u32; 5] = [4, 2, 4, 2, 1];
/// Whether a gap has a limit, and whether it ends with something: no, yes.
pub const RARELY: [u32; 2] = [7, 1];

/// The alphabet of spelled bytes.
#[must_use]
pub fn sorts() -> [u32; 7] {
    Sort::ALL.map(|sort| match sort {
        Sort::Digits | Sort::Lower | Sort::Printed => 4,
        Sort::Upper | Sort::Alphanumeric | Sort::Bytes => 2,
        Sort::EitherCase => 1,
    })
}

/// The class of free bytes.
#[must_use]
pub fn classes() -> [u32; 16] {
    Class::ALL.map(|class| match class {
        Class::Any | Class::Alphanumeric => 16,
        Class::Ascii | Class::Digits => 4,
        Class::Text | Class::Printed | Class::NotZero => 2,
        _ => 1,
    })
}

/// What gaps are filled with: anything, or what a person can read.
#[must_use]
pub fn fills() -> [u32; 16] {
    Class::ALL.map(|class| match class {
        Class::Any | Class::Alphanumeric => 2,
        Class::Text | Class::Ascii => 1,
        _ => 0,
    })
}

/// A byte by itself: what separates things is the likeliest.
#[must_use]
pub fn byte(value: u8) -> u32 {
    match value {
        b'\n' | b' ' | 0 => 16,
        b'"' | b'\'' | b',' | b'.' | b':' | b';' | b'=' | b'/' | b'-' | b'(' | b')' | b'<'
        | b'>' | b'[' | b']' | b'{' | b'}' => 8,
        b'0' | b'1' | b'\t' | b'\r' | 1 | 2 | 0xff => 4,
        b'!'..=b'~' => 2,
        _ => 1,
    }
}
