//! Text to trees: SMT-LIB's s-expressions, in one arena.
//!
//! A tree is a number; its children are numbers in a common list, so that deep trees are built,
//! read and dropped without recursion. Several texts may be read into one forest; positions in
//! errors are then of the text last read. This file knows parentheses and words, not terms.

use rustc_hash::FxHashMap;

use super::error::{ParseError, Problem};

/// A tree in a [`Forest`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Tree(u32);

/// A word: equal words have equal numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Word(u32);

/// What a tree is.
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
    /// A list.
    List(List),
}

/// The children of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct List {
    start: u32,
    len: u32,
}

/// Trees and words.
#[derive(Default)]
pub(super) struct Forest {
    text: String,
    /// Where the text that was last read begins.
    base: usize,
    nodes: Vec<(Node, usize)>,
    children: Vec<Tree>,
    words: Vec<Box<str>>,
    word_index: FxHashMap<Box<str>, Word>,
}

impl Forest {
    /// Reads all trees of a text.
    pub(super) fn read(&mut self, text: &str) -> Result<Vec<Tree>, ParseError> {
        self.base = self.text.len();
        self.text.push_str(text);
        let bytes = text.as_bytes();
        let mut roots: Vec<Tree> = Vec::new();
        // Open lists: where they began, and how many siblings were waiting before.
        let mut open: Vec<(usize, usize)> = Vec::new();
        let mut waiting: Vec<Tree> = Vec::new();
        let mut i = 0;
        while let Some(&byte) = bytes.get(i) {
            let at = i;
            let node = match byte {
                b' ' | b'\t' | b'\r' | b'\n' => {
                    i += 1;
                    continue;
                }
                b';' => {
                    i = end_of(bytes, i, |b| b == b'\n' || b == b'\r');
                    continue;
                }
                b'(' => {
                    open.push((at, waiting.len()));
                    i += 1;
                    continue;
                }
                b')' => {
                    i += 1;
                    let Some((start, first)) = open.pop() else {
                        return Err(self.error_at(self.base + at, Problem::Unopened));
                    };
                    let list = List {
                        start: self.children.len() as u32,
                        len: (waiting.len() - first) as u32,
                    };
                    self.children.extend(waiting.drain(first..));
                    let tree = self.plant(Node::List(list), start);
                    if open.is_empty() {
                        roots.push(tree);
                    } else {
                        waiting.push(tree);
                    }
                    continue;
                }
                b'|' => {
                    i = end_of(bytes, i + 1, |b| b == b'|');
                    if i == bytes.len() {
                        return Err(self.error_at(self.base + at, Problem::Unquoted));
                    }
                    i += 1;
                    Node::Symbol(self.word(&text[at + 1..i - 1]))
                }
                b'"' => {
                    i += 1;
                    loop {
                        i = end_of(bytes, i, |b| b == b'"');
                        if i == bytes.len() {
                            return Err(self.error_at(self.base + at, Problem::Unquoted));
                        }
                        i += 1;
                        // A doubled quotation mark stands for itself.
                        if bytes.get(i) != Some(&b'"') {
                            break;
                        }
                        i += 1;
                    }
                    Node::Text
                }
                b'#' | b':' => {
                    i = end_of(bytes, i + 1, |b| !is_symbol_byte(b));
                    let word = self.word(&text[at..i]);
                    if byte == b'#' { Node::Bits(word) } else { Node::Keyword(word) }
                }
                _ if is_symbol_byte(byte) => {
                    i = end_of(bytes, i, |b| !is_symbol_byte(b));
                    let word = self.word(&text[at..i]);
                    if byte.is_ascii_digit() { Node::Number(word) } else { Node::Symbol(word) }
                }
                _ => {
                    let character = text[at..].chars().next().unwrap_or('\0');
                    return Err(self.error_at(self.base + at, Problem::Character(character)));
                }
            };
            let tree = self.plant(node, at);
            if open.is_empty() { roots.push(tree) } else { waiting.push(tree) }
        }
        match open.last() {
            Some(&(at, _)) => Err(self.error_at(self.base + at, Problem::Unclosed)),
            None => Ok(roots),
        }
    }

    fn plant(&mut self, node: Node, at: usize) -> Tree {
        self.nodes.push((node, self.base + at));
        Tree(u32::try_from(self.nodes.len() - 1).expect("a forest holds fewer than 2^32 trees"))
    }

    /// The number of a word.
    pub(super) fn word(&mut self, text: &str) -> Word {
        if let Some(&word) = self.word_index.get(text) {
            return word;
        }
        let word = Word(self.words.len() as u32);
        self.words.push(text.into());
        self.word_index.insert(text.into(), word);
        word
    }

    pub(super) fn spelling(&self, word: Word) -> &str {
        &self.words[word.0 as usize]
    }

    /// All words read so far.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.words.iter().map(|word| &**word)
    }

    pub(super) fn node(&self, tree: Tree) -> Node {
        self.nodes[tree.0 as usize].0
    }

    /// The children of a list.
    pub(super) fn items(&self, list: List) -> &[Tree] {
        &self.children[list.start as usize..][..list.len as usize]
    }

    /// The children, if the tree is a list.
    pub(super) fn list(&self, tree: Tree) -> Option<&[Tree]> {
        match self.node(tree) {
            Node::List(list) => Some(self.items(list)),
            _ => None,
        }
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
            Node::Number(word) => self.spelling(word).parse().ok(),
            _ => None,
        }
    }

    /// An error at a tree.
    pub(super) fn error(&self, tree: Tree, problem: Problem) -> ParseError {
        self.error_at(self.nodes[tree.0 as usize].1, problem)
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

fn end_of(bytes: &[u8], from: usize, ends: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|&b| ends(b)).map_or(bytes.len(), |i| from + i)
}

fn is_symbol_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"~!@$%^&*_-+=<>.?/".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> (usize, usize, Problem) {
        let error = Forest::default().read(text).expect_err("not a list of trees");
        (error.line, error.column, error.problem)
    }

    #[test]
    fn errors_point_at_the_culprit() {
        assert_eq!(problem("(a\n (b c)"), (1, 1, Problem::Unclosed));
        assert_eq!(problem("(a)\n  )"), (2, 3, Problem::Unopened));
        assert_eq!(problem("a |b"), (1, 3, Problem::Unquoted));
        assert_eq!(problem("é"), (1, 1, Problem::Character('é')));
    }

    #[test]
    fn comments_strings_and_quoted_symbols() {
        let mut forest = Forest::default();
        let roots =
            forest.read("; (\n(set-info :x \"a \"\" ; b\") |a b| #b01 12").expect("well formed");
        assert_eq!(roots.len(), 4);
        assert_eq!(forest.list(roots[0]).map(<[Tree]>::len), Some(3));
        assert_eq!(forest.symbol(roots[1]), Some("a b"));
        assert_eq!(forest.numeral(roots[3]), Some(12));
    }

    #[test]
    fn depth_is_no_problem() {
        let depth = 200_000;
        let text = "(".repeat(depth) + &")".repeat(depth);
        let mut forest = Forest::default();
        assert_eq!(forest.read(&text).map(|roots| roots.len()), Ok(1));
    }
}
