//! What words mean at the moment: by themselves, by definition, and as bound variables.
//!
//! A variable hides a definition, and a definition hides what a word means by itself. Each word has
//! one entry, found by its number. This file does not know trees.

use super::operators::Operator;
use super::words::Word;
use crate::term::{TableId, Term};

/// What a defined name means.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    Constant(Term),
    /// A table; the width of its index, if that was declared.
    Table(TableId, Option<u8>),
    /// A function, by its place in the parser's list.
    Function(u32),
}

/// A definition, with its number in the order of definitions.
#[derive(Clone, Copy)]
pub(super) struct Definition {
    pub(super) number: u32,
    pub(super) meaning: Meaning,
}

/// What a word at the head of a list means by itself.
#[derive(Clone, Copy)]
pub(super) enum Head {
    Let,
    Annotation,
    Underscore,
    Operator(Operator),
    /// Nothing; it may be defined.
    Name,
}

/// A variable's value, with the depth of the function that it belongs to.
#[derive(Clone, Copy)]
struct Bound {
    depth: u32,
    term: Term,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    bound: Option<Bound>,
    defined: Option<Definition>,
    /// The word by itself as a term and as a head, once that was asked.
    leaf: Option<Term>,
    head: Option<Head>,
}

/// What each word means.
#[derive(Default)]
pub(super) struct Dictionary {
    entries: Vec<Entry>,
    /// How many definitions there were.
    count: u32,
    /// The names defined in each open scope.
    scopes: Vec<Vec<Word>>,
    /// What the variables bound now have hidden, innermost last.
    hidden: Vec<(Word, Option<Bound>)>,
    depth: u32,
    /// A function's body sees only what was defined before it.
    visible: Option<u32>,
}

impl Dictionary {
    /// Makes room for so many words.
    pub(super) fn grow(&mut self, words: usize) {
        if self.entries.len() < words {
            self.entries.resize(words, Entry::default());
        }
    }

    /// The value of a variable, the term of a definition, or what the word means by itself, as far
    /// as that is known.
    pub(super) fn term(&self, word: Word) -> Option<Term> {
        let entry = &self.entries[word.index()];
        if let Some(Bound { depth, term }) = entry.bound
            && depth == self.depth
        {
            return Some(term);
        }
        match self.definition(word) {
            Some(Definition { meaning: Meaning::Constant(term), .. }) => Some(term),
            Some(_) => None,
            None => entry.leaf,
        }
    }

    /// The definition of a word, if it may be seen here.
    pub(super) fn definition(&self, word: Word) -> Option<Definition> {
        let definition = self.entries[word.index()].defined?;
        self.visible.is_none_or(|visible| definition.number < visible).then_some(definition)
    }

    /// Whether the word is defined, seen or not.
    pub(super) fn is_defined(&self, word: Word) -> bool {
        self.entries[word.index()].defined.is_some()
    }

    /// The term that the word is by itself, if that is known.
    pub(super) fn leaf(&self, word: Word) -> Option<Term> {
        self.entries[word.index()].leaf
    }

    /// Remembers the term that the word is by itself.
    pub(super) fn learn_leaf(&mut self, word: Word, term: Term) {
        self.entries[word.index()].leaf = Some(term);
    }

    /// What the word at the head of a list is by itself, if that is known.
    pub(super) fn head(&self, word: Word) -> Option<Head> {
        self.entries[word.index()].head
    }

    /// Remembers what the word at the head of a list is by itself.
    pub(super) fn learn_head(&mut self, word: Word, head: Head) {
        self.entries[word.index()].head = Some(head);
    }

    /// Defines a word in all scopes.
    pub(super) fn define(&mut self, word: Word, meaning: Meaning) {
        self.entries[word.index()].defined = Some(Definition { number: self.count, meaning });
        self.count += 1;
    }

    /// Defines a word in the innermost scope.
    pub(super) fn define_in_scope(&mut self, word: Word, meaning: Meaning) {
        self.define(word, meaning);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(word);
        }
    }

    /// How many scopes have been entered and not left.
    pub(super) fn scopes(&self) -> usize {
        self.scopes.len()
    }

    /// Enters so many scopes.
    pub(super) fn push(&mut self, count: usize) {
        self.scopes.resize_with(self.scopes.len() + count, Vec::new);
    }

    /// Leaves the innermost scope; false if there is none.
    pub(super) fn pop(&mut self) -> bool {
        let Some(names) = self.scopes.pop() else { return false };
        for name in names {
            self.entries[name.index()].defined = None;
        }
        true
    }

    /// Gives a variable of the current function a value.
    pub(super) fn bind(&mut self, word: Word, term: Term) {
        let bound = &mut self.entries[word.index()].bound;
        self.hidden.push((word, *bound));
        *bound = Some(Bound { depth: self.depth, term });
    }

    /// Forgets the variables bound last, so many of them.
    pub(super) fn unbind(&mut self, count: usize) {
        for (word, before) in self.hidden.drain(self.hidden.len() - count..).rev() {
            self.entries[word.index()].bound = before;
        }
    }

    /// Forgets all variables, as before a new term.
    pub(super) fn unbind_all(&mut self) {
        self.unbind(self.hidden.len());
        self.depth = 0;
        self.visible = None;
    }

    /// Enters a function that sees the definitions before number `visible`; what was seen before is
    /// for [`Dictionary::leave_function`].
    pub(super) fn enter_function(&mut self, visible: u32) -> Option<u32> {
        self.depth += 1;
        self.visible.replace(visible)
    }

    /// Leaves a function.
    pub(super) fn leave_function(&mut self, visible: Option<u32>) {
        self.depth -= 1;
        self.visible = visible;
    }
}
