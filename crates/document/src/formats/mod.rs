//! The formats, one file each: a reader that proposes a view of some bytes, and the writer that gives them
//! back.
//!
//! Readers are asked in the order of `READERS`: those that a signature decides first, those that guess
//! last. A reader must not fail, and must look at no more than a share of the bytes before it is fairly
//! sure, because every leaf of every document is shown to all of them.

mod ascii;
mod base64;
mod boxes;
mod bzip2;
mod compound;
mod deflate;
mod der;
mod ebml;
mod gif;
mod gzip;
mod jpeg;
mod lzw;
mod mail;
mod numbers;
mod ogg;
pub(crate) mod pdf;
mod pem;
mod png;
mod predictor;
mod quoted;
mod record;
mod riff;
mod roles;
mod sequence;
mod sqlite;
mod stretches;
mod tar;
mod text;
mod tiff;
mod utf16;
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
    jpeg::read,
    riff::read,
    tiff::read,
    compound::read,
    sqlite::read,
    gif::read,
    boxes::read,
    ebml::read,
    ogg::read,
    tar::read,
    der::read,
    zlib::read,
    utf16::read,
    mail::read,
    pem::read,
    base64::read,
    stretches::read,
    deflate::read,
];

pub(crate) use text::{is_text, lines, trimmed};
