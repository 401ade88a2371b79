//! Calls of defined functions: each is expanded once for each list of arguments.
//!
//! A call gives its value at once (a table, a call seen before) or the body to read first. A body
//! sees its parameters and what was defined before it, nothing else.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::dictionary::{Definition, Meaning};
use super::error::{ParseError, Problem};
use super::operators::expect_sort;
use super::parse::Parser;
use super::sexpr::Tree;
use super::words::Word;
use crate::term::{Sort, Term};

/// A function with arguments.
pub(super) struct Function {
    pub(super) parameters: Box<[(Word, Sort)]>,
    pub(super) result: Sort,
    pub(super) body: Tree,
}

/// What a call comes to.
pub(super) enum Called {
    Value(Term),
    /// The function's body has to be read; then the call is left.
    Body(Call),
}

/// A call whose body is being read.
#[derive(Clone, Copy)]
pub(super) struct Call {
    /// The function's number in the order of definitions, and in the list of functions.
    number: u32,
    function: u32,
    /// Where its arguments begin in the list of all arguments.
    arguments: u32,
    /// What the caller sees.
    visible: Option<u32>,
}

struct Expansion {
    number: u32,
    arguments: u32,
    count: u32,
    term: Term,
}

/// Calls already expanded.
#[derive(Default)]
pub(super) struct Expansions {
    arguments: Vec<Term>,
    index: HashTable<Expansion>,
}

impl Expansions {
    fn find(&self, number: u32, arguments: &[Term]) -> Option<Term> {
        let hash = FxBuildHasher.hash_one((number, arguments));
        let same = |e: &Expansion| e.number == number && self.slice(e) == arguments;
        self.index.find(hash, same).map(|expansion| expansion.term)
    }

    fn slice(&self, expansion: &Expansion) -> &[Term] {
        &self.arguments[expansion.arguments as usize..][..expansion.count as usize]
    }

    fn insert(&mut self, expansion: Expansion) {
        let arguments = &self.arguments;
        let hash = |e: &Expansion| {
            let slice = &arguments[e.arguments as usize..][..e.count as usize];
            FxBuildHasher.hash_one((e.number, slice))
        };
        self.index.insert_unique(hash(&expansion), expansion, hash);
    }
}

impl Parser<'_> {
    /// Calls what `name` is defined as, with the values from `base` on as arguments.
    pub(super) fn call(
        &mut self,
        tree: Tree,
        name: Word,
        base: usize,
    ) -> Result<Called, ParseError> {
        let arguments = &self.values[base..];
        let arity = |takes: &'static str| {
            let name = self.forest.spelling(name).to_owned();
            let problem = Problem::Arity { name, takes, given: arguments.len() };
            Err(self.forest.error(tree, problem))
        };
        let Some(Definition { number, meaning }) = self.dictionary.definition(name) else {
            unreachable!("a head was defined when it was read");
        };
        let called = match meaning {
            Meaning::Constant(_) => return arity("no"),
            Meaning::Table(table, width) => {
                let &[index] = arguments else { return arity("one") };
                if self.pool.is_bool(index)
                    || width.is_some_and(|width| width != self.pool.width(index))
                {
                    let problem = Problem::Sort("the index is not what was declared");
                    return Err(self.forest.error(tree, problem));
                }
                Called::Value(self.pool.table(table, index))
            }
            Meaning::Function(function) => {
                let parameters = &self.functions[function as usize].parameters;
                if parameters.len() != arguments.len() {
                    return arity("as many as declared");
                }
                for (&argument, &(_, sort)) in arguments.iter().zip(parameters) {
                    let fits = expect_sort(self.pool, argument, sort);
                    fits.map_err(|problem| self.forest.error(tree, problem))?;
                }
                match self.expansions.find(number, arguments) {
                    Some(term) => Called::Value(term),
                    None => {
                        let visible = self.dictionary.enter_function(number);
                        for (&argument, &(name, _)) in arguments.iter().zip(parameters) {
                            self.dictionary.bind(name, argument);
                        }
                        let from = self.expansions.arguments.len() as u32;
                        self.expansions.arguments.extend_from_slice(arguments);
                        Called::Body(Call { number, function, arguments: from, visible })
                    }
                }
            }
        };
        self.values.truncate(base);
        Ok(called)
    }

    /// The body of a call.
    pub(super) fn body(&self, call: Call) -> Tree {
        self.functions[call.function as usize].body
    }

    /// Leaves a call, the value of whose body is on the stack.
    pub(super) fn leave(&mut self, tree: Tree, call: Call) -> Result<(), ParseError> {
        let term = *self.values.last().expect("the function's body is done");
        let function = &self.functions[call.function as usize];
        let count = function.parameters.len();
        self.dictionary.unbind(count);
        self.dictionary.leave_function(call.visible);
        expect_sort(self.pool, term, function.result)
            .map_err(|problem| self.forest.error(tree, problem))?;
        let Call { number, arguments, .. } = call;
        self.expansions.insert(Expansion { number, arguments, count: count as u32, term });
        Ok(())
    }
}
