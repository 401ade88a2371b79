//! SMT-LIB 2 text to terms: the parser as others see it, and its state.
//!
//! Scripts of QF_BV: constants, definitions (functions with arguments are expanded where they are
//! used), `let`, assertions and scopes. A constant `in0@12` of 8 bits is that input byte. Any
//! other constant becomes fresh bytes of a source that no name in the text mentions: the first
//! byte holds the lowest bits, and of the last only as many bits are used as are needed. What it
//! became is in the list of symbols. The parser answers nothing: what a script asks is reported.

use super::calls::{Expansions, Function};
use super::dictionary::{Dictionary, Meaning};
use super::error::{ParseError, Problem};
use super::eval::Frame;
use super::script::Script;
use super::seen::Seen;
use super::sexpr::Forest;
use crate::pool::Pool;
use crate::term::{InputByte, TableId, Term};

/// Reads a script.
pub fn parse_script(pool: &mut Pool, text: &str) -> Result<Script, ParseError> {
    Parser::new(pool).script(text)
}

/// Reads one term over input bytes called `in0@12`.
pub fn parse_term(pool: &mut Pool, text: &str) -> Result<Term, ParseError> {
    Parser::new(pool).term(text)
}

/// Reads texts into one pool; names given or defined stay known from text to text.
pub struct Parser<'p> {
    pub(super) pool: &'p mut Pool,
    pub(super) forest: Forest,
    pub(super) dictionary: Dictionary,
    pub(super) functions: Vec<Function>,
    pub(super) expansions: Expansions,
    pub(super) seen: Seen,
    /// Where the next fresh byte is.
    pub(super) fresh: Option<InputByte>,
    /// While a term is read: what has begun, and the terms that are done.
    pub(super) frames: Vec<Frame>,
    pub(super) values: Vec<Term>,
}

impl<'p> Parser<'p> {
    /// A parser that knows only SMT-LIB's own names and those of input bytes.
    pub fn new(pool: &'p mut Pool) -> Parser<'p> {
        Parser {
            pool,
            forest: Forest::default(),
            dictionary: Dictionary::default(),
            functions: Vec::new(),
            expansions: Expansions::default(),
            seen: Seen::default(),
            fresh: None,
            frames: Vec::new(),
            values: Vec::new(),
        }
    }

    /// The pool that the terms go to.
    pub fn pool(&mut self) -> &mut Pool {
        self.pool
    }

    /// Lets `name` mean `term`.
    pub fn name_term(&mut self, name: &str, term: Term) {
        self.name(name, Meaning::Constant(term));
    }

    /// Lets `(name index)` mean a read of `table`.
    pub fn name_table(&mut self, name: &str, table: TableId) {
        self.name(name, Meaning::Table(table, None));
    }

    fn name(&mut self, name: &str, meaning: Meaning) {
        let word = self.forest.word(name);
        self.dictionary.grow(self.forest.words().len());
        self.dictionary.define(word, meaning);
    }

    /// Reads a text that is one term.
    pub fn term(&mut self, text: &str) -> Result<Term, ParseError> {
        let (root, end) = self.forest.read(text)?;
        self.seen.grow(text.len());
        self.dictionary.grow(self.forest.words().len());
        if root == end {
            return Err(ParseError { line: 1, column: 1, problem: Problem::Expected("a term") });
        }
        let second = self.forest.after(root);
        if second != end {
            return Err(self.forest.error(second, Problem::Trailing));
        }
        self.eval(root)
    }

    /// Reads a script.
    pub fn script(&mut self, text: &str) -> Result<Script, ParseError> {
        let (mut next, end) = self.forest.read(text)?;
        self.seen.grow(text.len());
        self.dictionary.grow(self.forest.words().len());
        let mut script = Script::default();
        while next != end && !self.command(next, &mut script)? {
            next = self.forest.after(next);
        }
        Ok(script)
    }
}
