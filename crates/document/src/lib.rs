//! Documents as trees. A spreadsheet is XML in deflate in ZIP: here the XML is a leaf that can be edited,
//! and the bytes around it follow.
//!
//! `Document::parse` takes any bytes and never fails: what is not recognised, or broken beyond what a
//! format's writer can repeat, is a leaf. `Document::render` writes the document; lengths, offsets, counts,
//! checksums and directories are computed there and can be edited nowhere. `Document::render_stored` writes
//! streams without compression and says which bytes are copies of which leaf. Edits give new documents and
//! share what they do not touch. `Structure` is the finer view: where the elements inside one leaf are.
//!
//! What always holds: `render(parse(x)) == x`, for every `x`, because a reader's view of some bytes is used
//! only if its writer gives the same bytes back. A field that the original stated wrongly (a bad checksum,
//! an offset to nowhere) stays as it was stated: it may be the reason for the failure.
//!
//! The content is private. Nothing here can print it: `Debug` tells shapes and lengths, no function returns
//! an error that quotes bytes, and nothing is logged.
//!
//! ```
//! use stunt_document::{Document, Limits, Structure, apply};
//!
//! let mail = b"From: me\nSubject: x\nContent-Transfer-Encoding: base64\n\neyJhIjogMSwgImIiOiAyfQ==\n";
//! let document = Document::parse(&mail[..], &Limits::default());
//! let (path, json) = document.leaves().last().unwrap();
//! let structure = Structure::of(json);
//! let second = structure.children(0).last().unwrap();
//! let shorter = apply(json, &structure.without(json, &[second]));
//! assert_eq!(shorter, b"{\"a\": 1}");
//! assert!(document.with_leaf(&path, shorter).render().ends_with(b"\n\neyJhIjogMX0=\n"));
//! ```
//!
//! This crate must not know programs, oracles, terms or privacy figures: which edit is worth a try is a
//! question for others.

mod content;
mod document;
mod edit;
mod formats;
mod limits;
mod node;
mod out;
mod parse;
mod path;
mod remains;
mod structure;

pub use content::Content;
pub use document::Document;
pub use limits::Limits;
pub use node::{Kind, Node, Shape};
pub use out::{Rendered, Span, Style};
pub use path::Path;
pub use remains::{Contents, Remains, Vocabulary};
pub use structure::{Change, Element, Layout, Role, Structure, apply};
