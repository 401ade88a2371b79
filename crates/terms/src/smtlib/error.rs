//! Why a text is not a script of QF_BV: where, and one sentence.

use thiserror::Error;

use crate::term::MAX_WIDTH;

/// A text that could not be understood.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{line}:{column}: {problem}")]
pub struct ParseError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a text.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum Problem {
    /// A list is open at the end of the text.
    #[error("this list is never closed")]
    Unclosed,
    /// A closing parenthesis has no list to close.
    #[error("there is no list to close")]
    Unopened,
    /// A string or quoted symbol is open at the end of the text.
    #[error("this quotation is never closed")]
    Unquoted,
    /// A character that begins nothing.
    #[error("the character {0:?} begins nothing")]
    Character(char),
    /// Something else was expected.
    #[error("{0} is expected here")]
    Expected(&'static str),
    /// More than one term where there should be one.
    #[error("the text goes on after the term")]
    Trailing,
    /// A name that nothing has.
    #[error("nothing is called {0:?}")]
    Unknown(String),
    /// A name that is taken.
    #[error("{0:?} has a meaning already")]
    Redefined(String),
    /// A part of SMT-LIB that is not covered.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// A bit vector too wide, or without bits.
    #[error("a bit vector has 1 to {MAX_WIDTH} bits, not {0}")]
    Width(u128),
    /// A constant that does not fit its width.
    #[error("this number does not fit {0} bits")]
    TooLarge(u8),
    /// A number that cannot be an index here.
    #[error("this index is out of range")]
    Index,
    /// A wrong number of arguments.
    #[error("{name} takes {takes} arguments, not {given}")]
    Arity {
        /// The operator or function.
        name: String,
        /// How many it takes.
        takes: &'static str,
        /// How many there are.
        given: usize,
    },
    /// An argument or a body of the wrong sort.
    #[error("the sorts do not fit: {0}")]
    Sort(&'static str),
    /// A scope is left that was not entered.
    #[error("there is no scope to pop")]
    NoScope,
}
