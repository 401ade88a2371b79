//! The formats, one file each: a reader that proposes a view of some bytes, and the writer that gives them
//! back.
//!
//! Readers are asked in the order of `READERS`: those that a signature decides first, those that guess
//! last. A reader must not fail, and must look at no more than a share of the bytes before it is fairly
//! sure, because every leaf of every document is shown to all of them.

mod ascii;
mod base64;
mod bzip2;
mod deflate;
mod gzip;
mod lzw;
mod mail;
mod numbers;
mod pdf;
mod png;
mod predictor;
mod quoted;
mod record;
mod roles;
mod sequence;
mod tar;
mod text;
mod xz;
mod zip;
mod zlib;
mod zstd;

#[cfg(test)]
pub(crate) mod testing;

use crate::content::Content;
use crate::parse::{Budget, Found};

type Reader = fn(&Content, &mut Budget) -> Option<Found>;

pub(crate) const READERS: &[Reader] = &[
    pdf::read,
    zip::read,
    gzip::read,
    bzip2::read,
    xz::read,
    zstd::read,
    png::read,
    tar::read,
    zlib::read,
    mail::read,
    base64::read,
    deflate::read,
];

pub(crate) use text::{is_text, lines, trimmed};
