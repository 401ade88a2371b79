//! SMT-LIB 2 text to terms.
//!
//! Scripts of QF_BV: constants, definitions (functions with arguments are expanded where they are
//! used), `let`, assertions and scopes. A constant `in0@12` of 8 bits is that input byte. Any
//! other constant becomes fresh bytes of a source that no name in the text mentions: the first
//! byte holds the lowest bits, and of the last only as many bits are used as are needed. What it
//! became is in the list of symbols. The parser answers nothing: what a script asks is reported.

use rustc_hash::FxHashMap;

use super::byte_named;
use super::error::{ParseError, Problem};
use super::operators::{self, Operator};
use super::sexpr::{Forest, Node, Tree, Word};
use super::tables::recognise;
use crate::pool::Pool;
use crate::term::{InputByte, Sort, TableId, Term};

/// A constant that a script declares.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its name, without bars.
    pub name: String,
    /// Its sort as declared.
    pub sort: Sort,
    /// What it became.
    pub term: Term,
    /// The input bytes that it consists of, the lowest bits first.
    pub bytes: Vec<InputByte>,
}

/// One thing that a script does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// Asserts a Bool term.
    Assert(Term),
    /// Enters that many scopes.
    Push(usize),
    /// Leaves that many scopes.
    Pop(usize),
    /// Asks whether the assertions so far, and the given ones, hold together.
    CheckSat {
        /// Assumptions of this question only.
        assuming: Vec<Term>,
    },
}

/// What a script says.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Script {
    /// Its assertions, scopes and questions, in order.
    pub steps: Vec<Step>,
    /// The constants it declares, in order.
    pub symbols: Vec<Symbol>,
}

impl Script {
    /// The assertions in force at the end.
    pub fn assertions(&self) -> Vec<Term> {
        let mut live = Vec::new();
        let mut scopes = Vec::new();
        for step in &self.steps {
            match *step {
                Step::Assert(term) => live.push(term),
                Step::Push(count) => scopes.extend(std::iter::repeat_n(live.len(), count)),
                Step::Pop(count) => {
                    for _ in 0..count {
                        live.truncate(scopes.pop().unwrap_or(0));
                    }
                }
                Step::CheckSat { .. } => {}
            }
        }
        live
    }
}

/// Reads a script.
pub fn parse_script(pool: &mut Pool, text: &str) -> Result<Script, ParseError> {
    Parser::new(pool).script(text)
}

/// Reads one term over input bytes called `in0@12`.
pub fn parse_term(pool: &mut Pool, text: &str) -> Result<Term, ParseError> {
    Parser::new(pool).term(text)
}

/// What a name means.
#[derive(Clone)]
enum Meaning {
    Constant(Term),
    /// A table; the width of its index, if that was declared.
    Table(TableId, Option<u8>),
    Function {
        parameters: Box<[(Word, Sort)]>,
        result: Sort,
        body: Tree,
    },
}

#[derive(Clone, Copy)]
enum Head {
    Operator(Operator),
    /// A function or table, by its name.
    Function(Word),
}

/// What is left to do; the values of finished terms wait on a stack of their own.
enum Work {
    Term(Tree),
    Apply {
        tree: Tree,
        head: Head,
        arguments: usize,
    },
    /// The values of a `let` are there: bind them and go on with its body.
    Bind {
        tree: Tree,
    },
    Unbind {
        tree: Tree,
    },
    Annotate {
        tree: Tree,
    },
    /// A function's body is done.
    Leave {
        tree: Tree,
        function: Word,
        arguments: Box<[Term]>,
        visible: usize,
    },
}

/// Reads texts into one pool; names given or defined stay known from text to text.
pub struct Parser<'p> {
    pool: &'p mut Pool,
    forest: Forest,
    /// Meanings, numbered in the order of their definition.
    globals: FxHashMap<Word, (usize, Meaning)>,
    defined: usize,
    /// The names defined in each open scope.
    scopes: Vec<Vec<Word>>,
    /// Values of variables, innermost last, with the depth of the function they belong to.
    bindings: FxHashMap<Word, Vec<(u32, Term)>>,
    depth: u32,
    /// A function's body sees only what was defined before it.
    visible: usize,
    /// Function calls already expanded.
    expanded: FxHashMap<(usize, Box<[Term]>), Term>,
    /// Where the next fresh byte is.
    fresh: Option<InputByte>,
}

impl<'p> Parser<'p> {
    /// A parser that knows only SMT-LIB's own names and those of input bytes.
    pub fn new(pool: &'p mut Pool) -> Parser<'p> {
        Parser {
            pool,
            forest: Forest::default(),
            globals: FxHashMap::default(),
            defined: 0,
            scopes: Vec::new(),
            bindings: FxHashMap::default(),
            depth: 0,
            visible: usize::MAX,
            expanded: FxHashMap::default(),
            fresh: None,
        }
    }

    /// The pool that the terms go to.
    pub fn pool(&mut self) -> &mut Pool {
        self.pool
    }

    /// Lets `name` mean `term`.
    pub fn name_term(&mut self, name: &str, term: Term) {
        let word = self.forest.word(name);
        self.globals.insert(word, (self.defined, Meaning::Constant(term)));
        self.defined += 1;
    }

    /// Lets `(name index)` mean a read of `table`.
    pub fn name_table(&mut self, name: &str, table: TableId) {
        let word = self.forest.word(name);
        self.globals.insert(word, (self.defined, Meaning::Table(table, None)));
        self.defined += 1;
    }

    /// Reads a text that is one term.
    pub fn term(&mut self, text: &str) -> Result<Term, ParseError> {
        let roots = self.forest.read(text)?;
        match roots[..] {
            [root] => self.eval(root),
            [_, second, ..] => Err(self.forest.error(second, Problem::Trailing)),
            [] => Err(ParseError { line: 1, column: 1, problem: Problem::Expected("a term") }),
        }
    }

    /// Reads a script.
    pub fn script(&mut self, text: &str) -> Result<Script, ParseError> {
        let mut script = Script::default();
        for root in self.forest.read(text)? {
            if self.command(root, &mut script)? {
                break;
            }
        }
        Ok(script)
    }

    /// Carries out one command; true if it ends the script.
    fn command(&mut self, tree: Tree, script: &mut Script) -> Result<bool, ParseError> {
        let expected = Problem::Expected("a command");
        let Some((&head, arguments)) = self.forest.list(tree).and_then(<[Tree]>::split_first)
        else {
            return Err(self.forest.error(tree, expected));
        };
        let arguments = arguments.to_vec();
        let Some(name) = self.forest.symbol(head).map(str::to_owned) else {
            return Err(self.forest.error(head, expected));
        };
        match (name.as_str(), &arguments[..]) {
            ("assert", &[term]) => {
                let term = self.eval_bool(term)?;
                script.steps.push(Step::Assert(term));
            }
            ("declare-const", &[name, sort]) => self.declare(name, sort, script)?,
            ("declare-fun", &[name, parameters, sort]) => {
                if self.forest.list(parameters).is_none_or(|list| !list.is_empty()) {
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
                self.scopes.extend(std::iter::repeat_n(Vec::new(), count));
                script.steps.push(Step::Push(count));
            }
            ("pop", levels) => {
                let count = self.levels(tree, levels)?;
                for _ in 0..count {
                    let Some(names) = self.scopes.pop() else {
                        return Err(self.forest.error(tree, Problem::NoScope));
                    };
                    for name in names {
                        self.globals.remove(&name);
                    }
                }
                script.steps.push(Step::Pop(count));
            }
            ("check-sat", []) => script.steps.push(Step::CheckSat { assuming: Vec::new() }),
            ("check-sat-assuming", &[list]) => {
                let Some(terms) = self.forest.list(list).map(<[Tree]>::to_vec) else {
                    return Err(self.forest.error(list, Problem::Expected("a list of terms")));
                };
                let assuming =
                    terms.into_iter().map(|t| self.eval_bool(t)).collect::<Result<_, _>>()?;
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
                return Err(self
                    .forest
                    .error(head, Problem::Unsupported(format!("the command {name}"))));
            }
        }
        Ok(false)
    }

    fn levels(&self, tree: Tree, arguments: &[Tree]) -> Result<usize, ParseError> {
        match *arguments {
            [] => Ok(1),
            [count] => match self.forest.numeral(count) {
                Some(count @ 0..=1_000_000) => Ok(count as usize),
                _ => Err(self.forest.error(count, Problem::Expected("a number of scopes"))),
            },
            _ => Err(self.forest.error(tree, Problem::Expected("a command with its arguments"))),
        }
    }

    fn sort(&self, tree: Tree) -> Result<Sort, ParseError> {
        if self.forest.symbol(tree) == Some("Bool") {
            return Ok(Sort::Bool);
        }
        if let Some(&[underscore, name, width]) = self.forest.list(tree)
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
    fn new_name(&self, tree: Tree) -> Result<Word, ParseError> {
        let Node::Symbol(word) = self.forest.node(tree) else {
            return Err(self.forest.error(tree, Problem::Expected("a name")));
        };
        let name = self.forest.spelling(word);
        if self.globals.contains_key(&word) || operators::named(name).is_some() {
            return Err(self.forest.error(tree, Problem::Redefined(name.to_owned())));
        }
        Ok(word)
    }

    fn give(&mut self, word: Word, meaning: Meaning) {
        self.globals.insert(word, (self.defined, meaning));
        self.defined += 1;
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(word);
        }
    }

    fn declare(&mut self, name: Tree, sort: Tree, script: &mut Script) -> Result<(), ParseError> {
        let word = self.new_name(name)?;
        let sort = self.sort(sort)?;
        let spelling = self.forest.spelling(word).to_owned();
        let (term, bytes) = match byte_named(&spelling) {
            Some(byte) if sort == Sort::Bits(8) => (self.input_byte(name, byte)?, vec![byte]),
            _ => self.fresh_constant(name, sort)?,
        };
        self.give(word, Meaning::Constant(term));
        script.symbols.push(Symbol { name: spelling, sort, term, bytes });
        Ok(())
    }

    /// The byte, unless it stands for a constant of another name.
    fn input_byte(&mut self, tree: Tree, byte: InputByte) -> Result<Term, ParseError> {
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
                let used = self.forest.words().filter_map(byte_named).map(|byte| byte.source).max();
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
            let Some(list) = self.forest.list(tree) else {
                return Err(self.forest.error(tree, expected));
            };
            for &parameter in list {
                let Some(&[name, sort]) = self.forest.list(parameter) else {
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
                if let Some(table) = recognise(&self.forest, body, index, width, result) =>
            {
                Meaning::Table(self.pool.add_table(table.width, table.entries), Some(width))
            }
            _ => Meaning::Function { parameters: sorted.into(), result, body },
        };
        self.give(word, meaning);
        Ok(())
    }

    fn eval_bool(&mut self, tree: Tree) -> Result<Term, ParseError> {
        let term = self.eval(tree)?;
        if self.pool.is_bool(term) {
            Ok(term)
        } else {
            Err(self.forest.error(tree, Problem::Sort("a Bool is needed")))
        }
    }

    /// The term that a tree is.
    fn eval(&mut self, root: Tree) -> Result<Term, ParseError> {
        // An earlier error may have left something behind.
        self.bindings.clear();
        self.depth = 0;
        self.visible = usize::MAX;
        let mut work = vec![Work::Term(root)];
        let mut values: Vec<Term> = Vec::new();
        while let Some(item) = work.pop() {
            match item {
                Work::Term(tree) => self.enter(tree, &mut work, &mut values)?,
                Work::Apply { tree, head, arguments } => {
                    let from = values.len() - arguments;
                    match head {
                        Head::Operator(operator) => {
                            let name = head_name(&self.forest, tree);
                            let applied =
                                operators::apply(self.pool, name, operator, &values[from..]);
                            let term =
                                applied.map_err(|problem| self.forest.error(tree, problem))?;
                            values.truncate(from);
                            values.push(term);
                        }
                        Head::Function(function) => {
                            let arguments = values.split_off(from);
                            if let Some(term) = self.call(tree, function, arguments, &mut work)? {
                                values.push(term);
                            }
                        }
                    }
                }
                Work::Bind { tree } => {
                    let names = self.let_bindings(tree)?;
                    let from = values.len() - names.len();
                    for ((name, _), value) in names.into_iter().zip(values.drain(from..)) {
                        self.bindings.entry(name).or_default().push((self.depth, value));
                    }
                    work.push(Work::Unbind { tree });
                    let body =
                        self.forest.list(tree).map(|items| items[2]).expect("a let has a body");
                    work.push(Work::Term(body));
                }
                Work::Unbind { tree } => {
                    for (name, _) in self.let_bindings(tree)? {
                        self.bindings.get_mut(&name).and_then(Vec::pop);
                    }
                }
                Work::Annotate { tree } => {
                    let term = *values.last().expect("the annotated term is done");
                    self.annotate(tree, term)?;
                }
                Work::Leave { tree, function, arguments, visible } => {
                    let term = *values.last().expect("the function's body is done");
                    let (number, Meaning::Function { parameters, result, .. }) =
                        &self.globals[&function]
                    else {
                        unreachable!("only functions are left");
                    };
                    for (name, _) in parameters {
                        self.bindings.get_mut(name).and_then(Vec::pop);
                    }
                    let fits = operators::expect_sort(self.pool, term, *result);
                    fits.map_err(|problem| self.forest.error(tree, problem))?;
                    self.expanded.insert((*number, arguments), term);
                    self.depth -= 1;
                    self.visible = visible;
                }
            }
        }
        Ok(values.pop().expect("a term gives one value"))
    }

    /// Gives the value of a leaf, or lays out the work for an application.
    fn enter(
        &mut self,
        tree: Tree,
        work: &mut Vec<Work>,
        values: &mut Vec<Term>,
    ) -> Result<(), ParseError> {
        let list = match self.forest.node(tree) {
            Node::Symbol(word) => {
                values.push(self.look_up(tree, word)?);
                return Ok(());
            }
            Node::Bits(word) => {
                let literal = operators::literal(self.pool, self.forest.spelling(word));
                values.push(literal.map_err(|problem| self.forest.error(tree, problem))?);
                return Ok(());
            }
            Node::List(list) => list,
            Node::Keyword(_) | Node::Number(_) | Node::Text => {
                return Err(self.forest.error(tree, Problem::Expected("a term")));
            }
        };
        let items = self.forest.items(list);
        let Some((&first, arguments)) = items.split_first() else {
            return Err(self.forest.error(tree, Problem::Expected("a term")));
        };
        let head = match self.forest.node(first) {
            Node::Symbol(word) => match self.forest.spelling(word) {
                "let" => {
                    let bindings = self.let_bindings(tree)?;
                    work.push(Work::Bind { tree });
                    work.extend(bindings.into_iter().rev().map(|(_, value)| Work::Term(value)));
                    return Ok(());
                }
                "!" => {
                    let Some(&term) = arguments.first() else {
                        return Err(self
                            .forest
                            .error(tree, Problem::Expected("an annotated term")));
                    };
                    work.push(Work::Annotate { tree });
                    work.push(Work::Term(term));
                    return Ok(());
                }
                "_" => {
                    if let &[name, width] = arguments
                        && let (Some(name), Some(width)) =
                            (self.forest.symbol(name), self.forest.numeral(width))
                        && let Some(constant) = operators::decimal(self.pool, name, width)
                    {
                        values.push(constant.map_err(|problem| self.forest.error(tree, problem))?);
                        return Ok(());
                    }
                    return Err(self.forest.error(tree, Problem::Expected("a number (_ bvN w)")));
                }
                name => match operators::named(name) {
                    Some(operator) => Head::Operator(operator),
                    None if self
                        .globals
                        .get(&word)
                        .is_some_and(|&(number, _)| number < self.visible) =>
                    {
                        Head::Function(word)
                    }
                    None => {
                        return Err(self.forest.error(first, Problem::Unknown(name.to_owned())));
                    }
                },
            },
            Node::List(_) => Head::Operator(self.indexed_operator(first)?),
            _ => return Err(self.forest.error(first, Problem::Expected("an operator"))),
        };
        work.push(Work::Apply { tree, head, arguments: arguments.len() });
        work.extend(arguments.iter().rev().map(|&argument| Work::Term(argument)));
        Ok(())
    }

    fn indexed_operator(&self, tree: Tree) -> Result<Operator, ParseError> {
        if let Some(&[underscore, name, ref indices @ ..]) = self.forest.list(tree)
            && self.forest.symbol(underscore) == Some("_")
            && let Some(name) = self.forest.symbol(name)
            && let Some(indices) =
                indices.iter().map(|&i| self.forest.numeral(i)).collect::<Option<Vec<_>>>()
        {
            let unknown = || self.forest.error(tree, Problem::Unknown(name.to_owned()));
            return operators::indexed(name, &indices).ok_or_else(unknown);
        }
        Err(self.forest.error(tree, Problem::Expected("an operator with indices")))
    }

    fn look_up(&mut self, tree: Tree, word: Word) -> Result<Term, ParseError> {
        if let Some(&(depth, term)) = self.bindings.get(&word).and_then(|values| values.last())
            && depth == self.depth
        {
            return Ok(term);
        }
        if let Some((number, meaning)) = self.globals.get(&word)
            && *number < self.visible
        {
            return match meaning {
                Meaning::Constant(term) => Ok(*term),
                Meaning::Table(..) | Meaning::Function { .. } => {
                    Err(self.forest.error(tree, Problem::Expected("a term, not a function")))
                }
            };
        }
        match self.forest.spelling(word) {
            "true" => Ok(self.pool.boolean(true)),
            "false" => Ok(self.pool.boolean(false)),
            name => match byte_named(name) {
                Some(byte) => self.input_byte(tree, byte),
                None => Err(self.forest.error(tree, Problem::Unknown(name.to_owned()))),
            },
        }
    }

    /// The names and values of a `let`.
    fn let_bindings(&self, tree: Tree) -> Result<Vec<(Word, Tree)>, ParseError> {
        let Some(&[_, bindings, _]) = self.forest.list(tree) else {
            return Err(self
                .forest
                .error(tree, Problem::Expected("a let with bindings and a body")));
        };
        let Some(list) = self.forest.list(bindings) else {
            return Err(self.forest.error(bindings, Problem::Expected("a list of bindings")));
        };
        list.iter()
            .map(|&binding| match self.forest.list(binding) {
                Some(&[name, value]) if let Node::Symbol(name) = self.forest.node(name) => {
                    Ok((name, value))
                }
                _ => Err(self.forest.error(binding, Problem::Expected("a name with its value"))),
            })
            .collect()
    }

    /// `(! term :named name)` defines the name; other annotations say nothing.
    fn annotate(&mut self, tree: Tree, term: Term) -> Result<(), ParseError> {
        let items = self.forest.list(tree).map(<[Tree]>::to_vec).unwrap_or_default();
        for pair in items.windows(2) {
            if let Node::Keyword(word) = self.forest.node(pair[0])
                && self.forest.spelling(word) == ":named"
            {
                let name = self.new_name(pair[1])?;
                self.give(name, Meaning::Constant(term));
            }
        }
        Ok(())
    }

    /// The value of a call that is known, or else the work for expanding it.
    fn call(
        &mut self,
        tree: Tree,
        function: Word,
        arguments: Vec<Term>,
        work: &mut Vec<Work>,
    ) -> Result<Option<Term>, ParseError> {
        let name = self.forest.spelling(function);
        let (number, meaning) = self.globals[&function].clone();
        let arity = |takes: &'static str| {
            let problem = Problem::Arity { name: name.to_owned(), takes, given: arguments.len() };
            self.forest.error(tree, problem)
        };
        match meaning {
            Meaning::Constant(_) => Err(arity("no")),
            Meaning::Table(table, width) => {
                let [index] = arguments[..] else { return Err(arity("one")) };
                if self.pool.is_bool(index)
                    || width.is_some_and(|width| width != self.pool.width(index))
                {
                    let problem = Problem::Sort("the index is not what was declared");
                    return Err(self.forest.error(tree, problem));
                }
                Ok(Some(self.pool.table(table, index)))
            }
            Meaning::Function { parameters, body, .. } => {
                if parameters.len() != arguments.len() {
                    return Err(arity("as many as declared"));
                }
                for (&argument, &(_, sort)) in arguments.iter().zip(&parameters) {
                    let fits = operators::expect_sort(self.pool, argument, sort);
                    fits.map_err(|problem| self.forest.error(tree, problem))?;
                }
                let arguments = arguments.into_boxed_slice();
                if let Some(&term) = self.expanded.get(&(number, arguments.clone())) {
                    return Ok(Some(term));
                }
                self.depth += 1;
                for (&argument, &(name, _)) in arguments.iter().zip(&parameters) {
                    self.bindings.entry(name).or_default().push((self.depth, argument));
                }
                work.push(Work::Leave { tree, function, arguments, visible: self.visible });
                work.push(Work::Term(body));
                self.visible = number;
                Ok(None)
            }
        }
    }
}

/// What an application is called, for errors.
fn head_name(forest: &Forest, tree: Tree) -> &str {
    let head = forest.list(tree).and_then(<[Tree]>::first).copied();
    let name = head.and_then(|head| match forest.list(head) {
        Some(items) => items.get(1).and_then(|&name| forest.symbol(name)),
        None => forest.symbol(head),
    });
    name.unwrap_or("an operator")
}
