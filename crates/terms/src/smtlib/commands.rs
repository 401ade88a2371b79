//! The commands of a script: declarations, definitions, assertions, scopes and questions.

use super::calls::Function;
use super::dictionary::Meaning;
use super::error::{ParseError, Problem};
use super::numbers::byte_named;
use super::operators;
use super::parse::Parser;
use super::script::{Script, Step, Symbol};
use super::sexpr::{Node, Tree};
use super::tables::recognise;
use super::words::Word;
use crate::term::{InputByte, Sort, Term};

/// The most arguments that a command has of which a formula is made.
const MOST_ARGUMENTS: usize = 4;

/// The most scopes within each other: a few letters of text ask for any number, and each takes room.
const MOST_SCOPES: usize = 10_000;

impl Parser<'_> {
    /// Carries out one command; true if it ends the script.
    pub(super) fn command(&mut self, tree: Tree, script: &mut Script) -> Result<bool, ParseError> {
        let expected = Problem::Expected("a command");
        let Some(mut items) = self.forest.children(tree) else {
            return Err(self.forest.error(tree, expected));
        };
        let Some(head) = items.next() else {
            return Err(self.forest.error(tree, expected));
        };
        // One more than any command takes is as wrong as many more.
        let mut arguments = [head; MOST_ARGUMENTS + 1];
        let mut count = 0;
        for (place, item) in arguments.iter_mut().zip(items) {
            *place = item;
            count += 1;
        }
        let Some(name) = self.forest.symbol(head) else {
            return Err(self.forest.error(head, expected));
        };
        match (name, &arguments[..count]) {
            ("assert", &[term]) => {
                let term = self.eval_bool(term)?;
                script.steps.push(Step::Assert(term));
            }
            ("declare-const", &[name, sort]) => self.declare(name, sort, script)?,
            ("declare-fun", &[name, parameters, sort]) => {
                if self.forest.items::<0>(parameters).is_none() {
                    let what = "an uninterpreted function".to_owned();
                    return Err(self.forest.error(parameters, Problem::Unsupported(what)));
                }
                self.declare(name, sort, script)?;
            }
            ("define-fun", &[name, parameters, sort, body]) => {
                self.define(name, Some(parameters), sort, body)?;
            }
            ("define-const", &[name, sort, body]) => self.define(name, None, sort, body)?,
            ("push", levels) => {
                let count = self.levels(tree, levels)?;
                if self.dictionary.scopes() + count > MOST_SCOPES {
                    return Err(self.forest.error(tree, Problem::Expected("fewer scopes")));
                }
                self.dictionary.push(count);
                script.steps.push(Step::Push(count));
            }
            ("pop", levels) => {
                let count = self.levels(tree, levels)?;
                for _ in 0..count {
                    if !self.dictionary.pop() {
                        return Err(self.forest.error(tree, Problem::NoScope));
                    }
                }
                script.steps.push(Step::Pop(count));
            }
            ("check-sat", []) => script.steps.push(Step::CheckSat { assuming: Vec::new() }),
            ("check-sat-assuming", &[list]) => {
                let Node::List(after) = self.forest.node(list) else {
                    return Err(self.forest.error(list, Problem::Expected("a list of terms")));
                };
                let mut assuming = Vec::new();
                let mut next = list.next();
                // The end of the list is the last place in it.
                while next.next() != after {
                    assuming.push(self.eval_bool(next)?);
                    next = self.forest.after(next);
                }
                script.steps.push(Step::CheckSat { assuming });
            }
            ("exit", []) => return Ok(true),
            // What tells a solver how to behave or what to print changes no formula.
            (
                "set-logic"
                | "set-info"
                | "set-option"
                | "get-info"
                | "get-option"
                | "get-model"
                | "get-value"
                | "get-assertions"
                | "get-assignment"
                | "get-proof"
                | "get-unsat-core"
                | "get-unsat-assumptions"
                | "echo",
                _,
            ) => {}
            (
                "assert" | "declare-const" | "declare-fun" | "define-fun" | "define-const"
                | "check-sat" | "check-sat-assuming" | "exit",
                _,
            ) => {
                return Err(self
                    .forest
                    .error(tree, Problem::Expected("a command with its arguments")));
            }
            _ => {
                let what = format!("the command {name}");
                return Err(self.forest.error(head, Problem::Unsupported(what)));
            }
        }
        Ok(false)
    }

    fn levels(&self, tree: Tree, arguments: &[Tree]) -> Result<usize, ParseError> {
        match *arguments {
            [] => Ok(1),
            [count] => match self.forest.numeral(count) {
                Some(count) if count <= MOST_SCOPES as u128 => Ok(count as usize),
                _ => Err(self.forest.error(count, Problem::Expected("a number of scopes"))),
            },
            _ => Err(self.forest.error(tree, Problem::Expected("a command with its arguments"))),
        }
    }

    fn sort(&self, tree: Tree) -> Result<Sort, ParseError> {
        if self.forest.symbol(tree) == Some("Bool") {
            return Ok(Sort::Bool);
        }
        if let Some([underscore, name, width]) = self.forest.items(tree)
            && self.forest.symbol(underscore) == Some("_")
            && self.forest.symbol(name) == Some("BitVec")
            && let Some(width) = self.forest.numeral(width)
        {
            return match operators::checked_width(width) {
                Ok(width) => Ok(Sort::Bits(width)),
                Err(problem) => Err(self.forest.error(tree, problem)),
            };
        }
        Err(self.forest.error(tree, Problem::Expected("Bool or (_ BitVec n)")))
    }

    /// A name that a command gives a meaning to.
    pub(super) fn new_name(&self, tree: Tree) -> Result<Word, ParseError> {
        let Node::Symbol(word) = self.forest.node(tree) else {
            return Err(self.forest.error(tree, Problem::Expected("a name")));
        };
        let name = self.forest.spelling(word);
        if self.dictionary.is_defined(word) || operators::named(name).is_some() {
            return Err(self.forest.error(tree, Problem::Redefined(name.to_owned())));
        }
        Ok(word)
    }

    fn declare(&mut self, name: Tree, sort: Tree, script: &mut Script) -> Result<(), ParseError> {
        let word = self.new_name(name)?;
        let sort = self.sort(sort)?;
        let spelling = self.forest.spelling(word).to_owned();
        let (term, bytes) = match byte_named(&spelling) {
            Some(byte) if sort == Sort::Bits(8) => (self.input_byte(name, byte)?, vec![byte]),
            _ => self.fresh_constant(name, sort)?,
        };
        self.dictionary.define_in_scope(word, Meaning::Constant(term));
        script.symbols.push(Symbol { name: spelling, sort, term, bytes });
        Ok(())
    }

    /// The byte, unless it stands for a constant of another name.
    pub(super) fn input_byte(&mut self, tree: Tree, byte: InputByte) -> Result<Term, ParseError> {
        match self.fresh {
            Some(fresh) if fresh.source == byte.source => {
                Err(self.forest.error(tree, Problem::Redefined(byte.to_string())))
            }
            _ => Ok(self.pool.byte(byte)),
        }
    }

    fn fresh_constant(
        &mut self,
        tree: Tree,
        sort: Sort,
    ) -> Result<(Term, Vec<InputByte>), ParseError> {
        let first = match self.fresh {
            Some(byte) => byte,
            None => {
                let used = self
                    .forest
                    .words()
                    .spellings()
                    .filter_map(byte_named)
                    .map(|byte| byte.source)
                    .max();
                let source = used.map_or(Some(0), |source| source.checked_add(1));
                let exhausted =
                    || Problem::Unsupported("a constant beside source 65535".to_owned());
                InputByte::new(source.ok_or_else(|| self.forest.error(tree, exhausted()))?, 0)
            }
        };
        let count = u32::from(sort.bits().div_ceil(8));
        let bytes: Vec<InputByte> =
            (0..count).map(|i| InputByte::new(first.source, first.offset + i)).collect();
        self.fresh = Some(InputByte::new(first.source, first.offset + count));
        let mut whole = self.pool.byte(bytes[0]);
        for &byte in &bytes[1..] {
            let byte = self.pool.byte(byte);
            whole = self.pool.concat(byte, whole);
        }
        let bits = self.pool.extract(sort.bits() - 1, 0, whole);
        let term = match sort {
            Sort::Bits(_) => bits,
            Sort::Bool => {
                let one = self.pool.constant(1, 1);
                self.pool.eq(bits, one)
            }
        };
        Ok((term, bytes))
    }

    fn define(
        &mut self,
        name: Tree,
        parameters: Option<Tree>,
        sort: Tree,
        body: Tree,
    ) -> Result<(), ParseError> {
        let word = self.new_name(name)?;
        let result = self.sort(sort)?;
        let mut sorted = Vec::new();
        if let Some(tree) = parameters {
            let expected = Problem::Expected("a list of parameters with their sorts");
            let Some(list) = self.forest.children(tree) else {
                return Err(self.forest.error(tree, expected));
            };
            for parameter in list {
                let Some([name, sort]) = self.forest.items(parameter) else {
                    return Err(self.forest.error(parameter, expected));
                };
                let Node::Symbol(name) = self.forest.node(name) else {
                    return Err(self.forest.error(parameter, expected));
                };
                sorted.push((name, self.sort(sort)?));
            }
        }
        let meaning = match sorted[..] {
            [] => {
                let term = self.eval(body)?;
                let fits = operators::expect_sort(self.pool, term, result);
                fits.map_err(|problem| self.forest.error(body, problem))?;
                Meaning::Constant(term)
            }
            [(index, Sort::Bits(width))]
                if let Some(table) = recognise(&mut self.forest, body, index, width, result) =>
            {
                Meaning::Table(self.pool.add_table(table.width, table.entries), Some(width))
            }
            _ => {
                self.functions.push(Function { parameters: sorted.into(), result, body });
                Meaning::Function(self.functions.len() as u32 - 1)
            }
        };
        self.dictionary.define_in_scope(word, meaning);
        Ok(())
    }
}
