//! Trees to terms: a machine with a stack, along the tape.
//!
//! Leaves are values at once; at the end of a list its operator takes its arguments from the stack
//! of values. Only `let`, annotations and function calls leave the straight way along the tape.

use super::calls::{Call, Called};
use super::dictionary::{Head, Meaning};
use super::error::{ParseError, Problem};
use super::numbers::{bits, byte_named};
use super::operators::{self, Indexed, Operator};
use super::parse::Parser;
use super::sexpr::{Forest, Node, Tree};
use super::words::Word;
use crate::term::Term;

/// What has begun and waits for its end.
pub(super) enum Frame {
    /// An application of an operator: its arguments are the values from `base` on.
    Apply { tree: Tree, base: u32, operator: Operator },
    /// The same, of an operator with indices.
    ApplyIndexed { tree: Tree, base: u32, operator: Indexed },
    /// The same, of a name that is defined.
    Call { tree: Tree, base: u32, name: Word },
    /// The bindings of a `let`: their values are those from `base` on.
    Bindings { tree: Tree, base: u32 },
    /// The body of a `let` with so many bindings.
    Body { bindings: u32 },
    /// An annotated term; what surrounds it is read up to `stop`.
    Annotated { tree: Tree, stop: Tree },
    /// A function's body; what surrounds the call is read up to `stop`.
    Called { tree: Tree, call: Call, stop: Tree },
}

impl Parser<'_> {
    /// The Bool term that a tree is.
    pub(super) fn eval_bool(&mut self, tree: Tree) -> Result<Term, ParseError> {
        let term = self.eval(tree)?;
        if self.pool.is_bool(term) {
            Ok(term)
        } else {
            Err(self.forest.error(tree, Problem::Sort("a Bool is needed")))
        }
    }

    /// The term that a tree is.
    pub(super) fn eval(&mut self, root: Tree) -> Result<Term, ParseError> {
        // An earlier error may have left something behind.
        self.dictionary.unbind_all();
        self.frames.clear();
        self.values.clear();
        let (mut at, mut stop) = (root, self.forest.after(root));
        loop {
            if at == stop {
                match self.frames.pop() {
                    None => return Ok(self.values.pop().expect("a term gives one value")),
                    Some(Frame::Annotated { tree, stop: outer }) => {
                        let term = *self.values.last().expect("the annotated term is done");
                        self.annotate(tree, term)?;
                        (at, stop) = (self.forest.after(tree), outer);
                    }
                    Some(Frame::Called { tree, call, stop: outer }) => {
                        self.leave(tree, call)?;
                        (at, stop) = (self.forest.after(tree), outer);
                    }
                    Some(_) => unreachable!("lists end before what they are in"),
                }
                continue;
            }
            match self.forest.node(at) {
                Node::Symbol(word) => {
                    let term = match self.dictionary.term(word) {
                        Some(term) => term,
                        None => self.leaf(at, word)?,
                    };
                    self.values.push(term);
                    at = at.next();
                }
                Node::Bits(word) => {
                    let term = match self.dictionary.leaf(word) {
                        Some(term) => term,
                        None => self.literal(at, word)?,
                    };
                    self.values.push(term);
                    at = at.next();
                }
                Node::List(_) => (at, stop) = self.open(at, stop)?,
                Node::End => (at, stop) = self.close(at, stop)?,
                Node::Keyword(_) | Node::Number(_) | Node::Text => {
                    return Err(self.forest.error(at, Problem::Expected("a term")));
                }
            }
        }
    }

    /// Begins a list; the places to go on from and up to.
    #[inline]
    fn open(&mut self, tree: Tree, stop: Tree) -> Result<(Tree, Tree), ParseError> {
        let first = tree.next();
        let base = self.values.len() as u32;
        let word = match self.forest.node(first) {
            Node::Symbol(word) => word,
            Node::List(arguments) => {
                let operator = self.indexed_operator(first)?;
                self.frames.push(Frame::ApplyIndexed { tree, base, operator });
                return Ok((arguments, stop));
            }
            Node::End => return Err(self.forest.error(tree, Problem::Expected("a term"))),
            Node::Keyword(_) | Node::Number(_) | Node::Bits(_) | Node::Text => {
                return Err(self.forest.error(first, Problem::Expected("an operator")));
            }
        };
        let head = match self.dictionary.head(word) {
            Some(head) => head,
            None => self.learn_head(word),
        };
        match head {
            Head::Operator(operator) => {
                self.frames.push(Frame::Apply { tree, base, operator });
                Ok((first.next(), stop))
            }
            Head::Name => {
                if self.dictionary.definition(word).is_none() {
                    let name = self.forest.spelling(word).to_owned();
                    return Err(self.forest.error(first, Problem::Unknown(name)));
                }
                self.frames.push(Frame::Call { tree, base, name: word });
                Ok((first.next(), stop))
            }
            Head::Let => {
                check_let(&self.forest, tree)?;
                let bindings = first.next();
                Ok((self.binding(tree, base, bindings.next()), stop))
            }
            Head::Annotation => {
                let term = first.next();
                if self.forest.node(term) == Node::End {
                    return Err(self.forest.error(tree, Problem::Expected("an annotated term")));
                }
                self.frames.push(Frame::Annotated { tree, stop });
                Ok((term, self.forest.after(term)))
            }
            Head::Underscore => {
                let term = self.decimal_constant(tree)?;
                self.values.push(term);
                Ok((self.forest.after(tree), stop))
            }
        }
    }

    /// Ends the list whose end is at `at`; the places to go on from and up to.
    #[inline]
    fn close(&mut self, at: Tree, stop: Tree) -> Result<(Tree, Tree), ParseError> {
        let (tree, base, applied) = match self.frames.pop() {
            Some(Frame::Apply { tree, base, operator }) => {
                let arguments = &self.values[base as usize..];
                let name = || head_name(&self.forest, tree);
                let applied = match (arguments, self.forest.node(tree.next())) {
                    (&[a, b], Node::Symbol(word)) => match self.seen.find(word, [a, b]) {
                        Some(term) => Ok(term),
                        None => {
                            let made = operators::apply(self.pool, operator, &[a, b], name);
                            made.inspect(|&term| self.seen.add(word, [a, b], term))
                        }
                    },
                    _ => operators::apply(self.pool, operator, arguments, name),
                };
                (tree, base, applied)
            }
            Some(Frame::ApplyIndexed { tree, base, operator }) => {
                let arguments = &self.values[base as usize..];
                let name = || head_name(&self.forest, tree);
                let indices = indices(&self.forest, tree);
                let applied =
                    operators::apply_indexed(self.pool, operator, indices, arguments, name);
                (tree, base, applied)
            }
            Some(Frame::Call { tree, base, name }) => {
                return match self.call(tree, name, base as usize)? {
                    Called::Value(term) => {
                        self.values.push(term);
                        Ok((at.next(), stop))
                    }
                    Called::Body(call) => {
                        self.frames.push(Frame::Called { tree, call, stop });
                        let body = self.body(call);
                        Ok((body, self.forest.after(body)))
                    }
                };
            }
            Some(Frame::Bindings { tree, base }) => {
                return Ok((self.binding(tree, base, at.next()), stop));
            }
            Some(Frame::Body { bindings }) => {
                self.dictionary.unbind(bindings as usize);
                return Ok((at.next(), stop));
            }
            Some(Frame::Annotated { .. } | Frame::Called { .. }) | None => {
                unreachable!("what these hold ends before a list does")
            }
        };
        let term = applied.map_err(|problem| self.forest.error(tree, problem))?;
        self.values.truncate(base as usize);
        self.values.push(term);
        Ok((at.next(), stop))
    }

    /// Goes on with the value of the binding at `at`; at the end of the bindings, binds their values
    /// and goes on with the body of the `let`.
    fn binding(&mut self, tree: Tree, base: u32, at: Tree) -> Tree {
        if self.forest.node(at) != Node::End {
            self.frames.push(Frame::Bindings { tree, base });
            let name = at.next();
            return name.next();
        }
        let values = &self.values[base as usize..];
        let mut binding = tree.next().next().next();
        for &value in values {
            let Node::Symbol(name) = self.forest.node(binding.next()) else {
                unreachable!("a checked binding has a name");
            };
            self.dictionary.bind(name, value);
            binding = self.forest.after(binding);
        }
        self.frames.push(Frame::Body { bindings: values.len() as u32 });
        self.values.truncate(base as usize);
        at.next()
    }

    /// What a word at the head of a list is by itself, seen for the first time.
    #[cold]
    fn learn_head(&mut self, word: Word) -> Head {
        let head = match self.forest.spelling(word) {
            "let" => Head::Let,
            "!" => Head::Annotation,
            "_" => Head::Underscore,
            name => operators::named(name).map_or(Head::Name, Head::Operator),
        };
        self.dictionary.learn_head(word, head);
        head
    }

    fn indexed_operator(&self, tree: Tree) -> Result<Indexed, ParseError> {
        let mut items = self.forest.children(tree).into_iter().flatten();
        if let (Some(underscore), Some(name)) = (items.next(), items.next())
            && self.forest.symbol(underscore) == Some("_")
            && let Some(name) = self.forest.symbol(name)
            && items.clone().all(|index| self.forest.numeral(index).is_some())
        {
            let unknown = || self.forest.error(tree, Problem::Unknown(name.to_owned()));
            return operators::indexed(name, items.count()).ok_or_else(unknown);
        }
        Err(self.forest.error(tree, Problem::Expected("an operator with indices")))
    }

    /// The constant `(_ bvN w)`.
    fn decimal_constant(&mut self, tree: Tree) -> Result<Term, ParseError> {
        if let Some([_, name, width]) = self.forest.items(tree)
            && let (Some(name), Some(width)) =
                (self.forest.symbol(name), self.forest.numeral(width))
            && let Some(constant) = operators::decimal_constant(self.pool, name, width)
        {
            return constant.map_err(|problem| self.forest.error(tree, problem));
        }
        Err(self.forest.error(tree, Problem::Expected("a number (_ bvN w)")))
    }

    /// The constant that `#b…` or `#x…` is.
    #[cold]
    fn literal(&mut self, tree: Tree, word: Word) -> Result<Term, ParseError> {
        match bits(self.forest.spelling(word)) {
            Ok((value, width)) => {
                let term = self.pool.constant(width, value);
                self.dictionary.learn_leaf(word, term);
                Ok(term)
            }
            Err(problem) => Err(self.forest.error(tree, problem)),
        }
    }

    /// The term that a word is by itself, unless it is the name of a function.
    #[cold]
    fn leaf(&mut self, tree: Tree, word: Word) -> Result<Term, ParseError> {
        match self.dictionary.definition(word).map(|definition| definition.meaning) {
            Some(Meaning::Constant(term)) => return Ok(term),
            Some(Meaning::Table(..) | Meaning::Function(_)) => {
                return Err(self.forest.error(tree, Problem::Expected("a term, not a function")));
            }
            None => {}
        }
        let term = match self.forest.spelling(word) {
            "true" => self.pool.boolean(true),
            "false" => self.pool.boolean(false),
            name => match byte_named(name) {
                Some(byte) => self.input_byte(tree, byte)?,
                None => {
                    let unknown = Problem::Unknown(name.to_owned());
                    return Err(self.forest.error(tree, unknown));
                }
            },
        };
        self.dictionary.learn_leaf(word, term);
        Ok(term)
    }

    /// `(! term :named name)` defines the name; other annotations say nothing.
    fn annotate(&mut self, tree: Tree, term: Term) -> Result<(), ParseError> {
        let mut item = tree.next();
        loop {
            let next = self.forest.after(item);
            if self.forest.node(next) == Node::End {
                return Ok(());
            }
            if let Node::Keyword(word) = self.forest.node(item)
                && self.forest.spelling(word) == ":named"
            {
                let name = self.new_name(next)?;
                self.dictionary.define_in_scope(name, Meaning::Constant(term));
            }
            item = next;
        }
    }
}

/// Checks that a `let` has bindings and a body.
fn check_let(forest: &Forest, tree: Tree) -> Result<(), ParseError> {
    let expected = |tree, what| Err(forest.error(tree, Problem::Expected(what)));
    let Some([_, bindings, _]) = forest.items(tree) else {
        return expected(tree, "a let with bindings and a body");
    };
    let Some(list) = forest.children(bindings) else {
        return expected(bindings, "a list of bindings");
    };
    for binding in list {
        match forest.items(binding) {
            Some([name, _]) if matches!(forest.node(name), Node::Symbol(_)) => {}
            _ => return expected(binding, "a name with its value"),
        }
    }
    Ok(())
}

/// The indices in `((_ name indices…) arguments…)`, which was checked; a missing second is 0.
fn indices(forest: &Forest, tree: Tree) -> [u128; 2] {
    let first = tree.next().next().next().next();
    [first, first.next()].map(|index| forest.numeral(index).unwrap_or(0))
}

/// What an application is called, for errors.
fn head_name(forest: &Forest, tree: Tree) -> String {
    let head = tree.next();
    let name = match forest.children(head) {
        Some(mut items) => items.nth(1).and_then(|name| forest.symbol(name)),
        None => forest.symbol(head),
    };
    name.unwrap_or("an operator").to_owned()
}
