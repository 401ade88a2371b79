//! Text to trees: SMT-LIB's s-expressions, on one tape.
//!
//! The tape holds parentheses and words in the order of the text; an opening parenthesis knows
//! where its list ends. A tree is a place on the tape. So deep trees are built, read and dropped
//! without recursion, and walking a tree is walking the tape. Several texts may be read into one
//! forest; positions in errors are then of the text last read. This file knows parentheses and
//! words, not terms.

use super::error::{ParseError, Problem};
use super::numbers::decimal;
use super::words::{Word, Words};

/// A tree in a [`Forest`], or the end of a list: a place on the tape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tree(u32);

impl Tree {
    /// The place that follows on the tape: in a list its first child, or its end.
    pub(super) fn next(self) -> Tree {
        Tree(self.0 + 1)
    }
}

/// What is at a place of the tape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Node {
    /// A symbol, without the bars of a quoted one.
    Symbol(Word),
    /// A keyword, with its colon.
    Keyword(Word),
    /// A decimal number, or one with a decimal point.
    Number(Word),
    /// `#b…` or `#x…`, whole.
    Bits(Word),
    /// A string.
    Text,
    /// A list, with the place after it.
    List(Tree),
    /// The end of a list.
    End,
}

/// Trees and words.
#[derive(Default)]
pub(super) struct Forest {
    text: String,
    /// Where the text that was last read begins.
    base: usize,
    /// What there is, and where it stands in the text.
    tape: Vec<(Node, u32)>,
    words: Words,
}

impl Forest {
    /// Reads all trees of a text. They are children of one list without parentheses, from the
    /// first place to before the second.
    pub(super) fn read(&mut self, text: &str) -> Result<(Tree, Tree), ParseError> {
        let first = self.tape.len();
        self.base = self.text.len();
        if u32::try_from(self.base + text.len()).is_err() {
            let problem = Problem::Unsupported("a text of 4 GiB or more".to_owned());
            return Err(ParseError { line: 1, column: 1, problem });
        }
        self.text.push_str(text);
        self.tape.reserve(text.len() / 3);
        if let Err((at, problem)) = self.scan(text) {
            self.tape.truncate(first);
            return Err(self.error_at(self.base + at, problem));
        }
        Ok((Tree(first as u32), Tree(self.tape.len() as u32)))
    }

    /// Puts a text on the tape, or says where it is no list of trees.
    fn scan(&mut self, text: &str) -> Result<(), (usize, Problem)> {
        let bytes = text.as_bytes();
        let Forest { base, tape, words, .. } = self;
        let base = *base;
        // The places of open lists.
        let mut open: Vec<u32> = Vec::new();
        let mut i = 0;
        while let Some(&byte) = bytes.get(i) {
            let at = i;
            i += 1;
            let node = match CLASS[usize::from(byte)] {
                Class::Space => continue,
                Class::Open => {
                    open.push(tape.len() as u32);
                    // Its end is filled in when it comes.
                    Node::List(Tree(0))
                }
                Class::Close => {
                    let Some(start) = open.pop() else { return Err((at, Problem::Unopened)) };
                    tape[start as usize].0 = Node::List(Tree(tape.len() as u32 + 1));
                    Node::End
                }
                class @ (Class::Letter | Class::Digit | Class::Hash | Class::Colon) => {
                    while bytes.get(i).is_some_and(|&b| is_symbol_byte(b)) {
                        i += 1;
                    }
                    let word = words.word_in(text, at..i);
                    let node = match class {
                        Class::Letter => Node::Symbol(word),
                        Class::Digit => Node::Number(word),
                        Class::Hash => Node::Bits(word),
                        _ => Node::Keyword(word),
                    };
                    // Mostly a space follows; that is soon read.
                    if bytes.get(i) == Some(&b' ') {
                        i += 1;
                    }
                    node
                }
                Class::Comment => {
                    i = end_of(bytes, i, |b| b == b'\n' || b == b'\r');
                    continue;
                }
                Class::Bar => {
                    i = end_of(bytes, i, |b| b == b'|');
                    if i == bytes.len() {
                        return Err((at, Problem::Unquoted));
                    }
                    i += 1;
                    Node::Symbol(words.word_in(text, at + 1..i - 1))
                }
                Class::Quote => {
                    i = end_of_string(bytes, i).ok_or((at, Problem::Unquoted))?;
                    Node::Text
                }
                Class::Other => {
                    let character = text[at..].chars().next().unwrap_or('\0');
                    return Err((at, Problem::Character(character)));
                }
            };
            tape.push((node, (base + at) as u32));
        }
        match open.last() {
            Some(&list) => Err((tape[list as usize].1 as usize - base, Problem::Unclosed)),
            None => Ok(()),
        }
    }

    /// The number of a word.
    pub(super) fn word(&mut self, text: &str) -> Word {
        self.words.word(text)
    }

    /// All words read so far.
    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    pub(super) fn spelling(&self, word: Word) -> &str {
        self.words.spelling(word)
    }

    pub(super) fn node(&self, tree: Tree) -> Node {
        self.tape[tree.0 as usize].0
    }

    /// The place after a tree: its next sibling, or the end of its list.
    pub(super) fn after(&self, tree: Tree) -> Tree {
        match self.node(tree) {
            Node::List(after) => after,
            _ => tree.next(),
        }
    }

    /// The children, if the tree is a list.
    pub(super) fn children(&self, tree: Tree) -> Option<Children<'_>> {
        match self.node(tree) {
            Node::List(after) => {
                Some(Children { forest: self, next: tree.next(), end: Tree(after.0 - 1) })
            }
            _ => None,
        }
    }

    /// The children, if the tree is a list of so many.
    pub(super) fn items<const N: usize>(&self, tree: Tree) -> Option<[Tree; N]> {
        let mut children = self.children(tree)?;
        let mut items = [tree; N];
        for item in &mut items {
            *item = children.next()?;
        }
        children.next().is_none().then_some(items)
    }

    /// The spelling, if the tree is a symbol.
    pub(super) fn symbol(&self, tree: Tree) -> Option<&str> {
        match self.node(tree) {
            Node::Symbol(word) => Some(self.spelling(word)),
            _ => None,
        }
    }

    /// The value, if the tree is a numeral that fits.
    pub(super) fn numeral(&self, tree: Tree) -> Option<u128> {
        match self.node(tree) {
            Node::Number(word) => decimal(self.spelling(word)),
            _ => None,
        }
    }

    /// An error at a tree.
    #[cold]
    pub(super) fn error(&self, tree: Tree, problem: Problem) -> ParseError {
        self.error_at(self.tape[tree.0 as usize].1 as usize, problem)
    }

    fn error_at(&self, at: usize, problem: Problem) -> ParseError {
        // A tree of an earlier text has its position in that text and those before it.
        let base = if at < self.base { 0 } else { self.base };
        let before = &self.text[base..at];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        ParseError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            problem,
        }
    }
}

/// The children of a list, in order.
#[derive(Clone)]
pub(super) struct Children<'f> {
    forest: &'f Forest,
    next: Tree,
    end: Tree,
}

impl Iterator for Children<'_> {
    type Item = Tree;

    fn next(&mut self) -> Option<Tree> {
        if self.next == self.end {
            return None;
        }
        let child = self.next;
        self.next = self.forest.after(child);
        Some(child)
    }
}

/// What a byte begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Space,
    Open,
    Close,
    Letter,
    Digit,
    Hash,
    Colon,
    Comment,
    Bar,
    Quote,
    Other,
}

const CLASS: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\r' | b'\n' => Class::Space,
            b'(' => Class::Open,
            b')' => Class::Close,
            b'0'..=b'9' => Class::Digit,
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'~'
            | b'!'
            | b'@'
            | b'$'
            | b'%'
            | b'^'
            | b'&'
            | b'*'
            | b'_'
            | b'-'
            | b'+'
            | b'='
            | b'<'
            | b'>'
            | b'.'
            | b'?'
            | b'/' => Class::Letter,
            b'#' => Class::Hash,
            b':' => Class::Colon,
            b';' => Class::Comment,
            b'|' => Class::Bar,
            b'"' => Class::Quote,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

fn is_symbol_byte(byte: u8) -> bool {
    matches!(CLASS[usize::from(byte)], Class::Letter | Class::Digit)
}

fn end_of(bytes: &[u8], from: usize, ends: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|&b| ends(b)).map_or(bytes.len(), |i| from + i)
}

/// Where a string ends that is open at `from`; a doubled quotation mark stands for itself.
fn end_of_string(bytes: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let mark = end_of(bytes, from, |b| b == b'"');
        if mark == bytes.len() {
            return None;
        }
        if bytes.get(mark + 1) != Some(&b'"') {
            return Some(mark + 1);
        }
        from = mark + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> (usize, usize, Problem) {
        let error = Forest::default().read(text).expect_err("not a list of trees");
        (error.line, error.column, error.problem)
    }

    fn roots(forest: &mut Forest, text: &str) -> Vec<Tree> {
        let (mut next, end) = forest.read(text).expect("well formed");
        let mut roots = Vec::new();
        while next != end {
            roots.push(next);
            next = forest.after(next);
        }
        roots
    }

    #[test]
    fn errors_point_at_the_culprit() {
        assert_eq!(problem("(a\n (b c)"), (1, 1, Problem::Unclosed));
        assert_eq!(problem("(a)\n  )"), (2, 3, Problem::Unopened));
        assert_eq!(problem("a |b"), (1, 3, Problem::Unquoted));
        assert_eq!(problem("a \"b\"\""), (1, 3, Problem::Unquoted));
        assert_eq!(problem("é"), (1, 1, Problem::Character('é')));
    }

    #[test]
    fn comments_strings_and_quoted_symbols() {
        let mut forest = Forest::default();
        let text = "; (\n(set-info :x \"a \"\" ; b\") |a b| #b01 12";
        let roots = roots(&mut forest, text);
        assert_eq!(roots.len(), 4);
        assert_eq!(forest.children(roots[0]).map(Iterator::count), Some(3));
        assert!(forest.items::<3>(roots[0]).is_some());
        assert!(forest.items::<2>(roots[0]).is_none() && forest.items::<4>(roots[0]).is_none());
        assert_eq!(forest.symbol(roots[1]), Some("a b"));
        assert_eq!(forest.numeral(roots[3]), Some(12));
    }

    #[test]
    fn depth_is_no_problem() {
        let depth = 200_000;
        let text = "(".repeat(depth) + &")".repeat(depth);
        assert_eq!(roots(&mut Forest::default(), &text).len(), 1);
    }
}
