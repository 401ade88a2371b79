//! SMT-LIB 2 text of terms: logic QF_BV, both ways.
//!
//! Printing and then parsing in the same pool gives the same terms again. Input bytes are constants
//! named `in0@12` (source 0, offset 12); tables are functions of one argument. The text holds
//! conditions only, never values of input bytes: this module does not know assignments.
//!
//! Nothing here recurses over the depth of a term or of the text.
//!
//! Reading order: `print`; `words` and `sexpr` (text to trees); `parse` (the parser), with `script`
//! (what it gives), `commands` (what scripts do), `eval` and `calls` (trees to terms) and
//! `dictionary` (what names mean) and `seen` (what was built lately); `operators`, `abbreviations` and `numbers` (what SMT-LIB's own
//! names mean); `tables` (tables as functions).

mod abbreviations;
mod calls;
mod commands;
mod dictionary;
mod error;
mod eval;
mod numbers;
mod operators;
mod parse;
mod print;
mod script;
mod seen;
mod sexpr;
mod tables;
mod words;

pub use error::{ParseError, Problem};
pub use parse::{Parser, parse_script, parse_term};
pub use print::{Names, print_script, print_term, print_term_with};
pub use script::{Script, Step, Symbol};
