//! SMT-LIB 2 text of terms: logic QF_BV, both ways.
//!
//! Printing and then parsing in the same pool gives the same terms again. Input bytes are constants
//! named `in0@12` (source 0, offset 12); tables are functions of one argument. The text holds
//! conditions only, never values of input bytes: this module does not know assignments.
//!
//! Nothing here recurses over the depth of a term or of the text.
//!
//! Reading order: `print`, `sexpr` (text to trees), `parse` (trees to terms), `operators` (what the
//! names mean), `tables` (tables as functions).

mod error;
mod operators;
mod parse;
mod print;
mod sexpr;
mod tables;

pub use error::{ParseError, Problem};
pub use parse::{Parser, Script, Step, Symbol, parse_script, parse_term};
pub use print::{Names, print_script, print_term, print_term_with};

use crate::term::InputByte;

/// The byte that a constant of this name is, if it is the name of one.
fn byte_named(name: &str) -> Option<InputByte> {
    let (source, offset) = name.strip_prefix("in")?.split_once('@')?;
    let byte = InputByte::new(source.parse().ok()?, offset.parse().ok()?);
    // Only the name that is printed: no signs, no leading zeros.
    (byte.to_string() == name).then_some(byte)
}
