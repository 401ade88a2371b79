//! The leak graph: the bytes of a double in rows, each byte with what it reveals.
//!
//! The rows and their levels are in [`Graph`]; [`svg`] draws them as a picture of its own, [`html`]
//! as a table for a page. A terminal is somebody else's. This crate must not know anything but a
//! report: where a report comes from, who looks at the graph, and every original are elsewhere.
//!
//! Always: text that a report brings is escaped here; colour is never the only sign.

mod graph;
pub mod html;
pub mod svg;

pub use graph::{Graph, Level, Part, ROW, Row, character, fold_words};
