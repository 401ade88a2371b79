//! Tables as functions: a balanced tree of `ite` over the bits of the index.
//!
//! SMT-LIB has no constant tables in QF_BV. The tree says which entries the table has: an entry is
//! written `#x…` or `#b…`, a value past the end `(_ bv0 w)`. So the table that was printed is found
//! again, to its length. Where the index has fewer bits than the table's length needs, it is
//! extended first, so that entries out of reach are not lost either.

use std::fmt::Write;

use super::numbers::{bits, decimal};
use super::print::write_bits;
use super::sexpr::{Forest, Node, Tree};
use super::words::Word;
use crate::term::{Sort, Table, mask};

/// Larger tables are not recognised; their functions stay functions.
const MOST_INDEX_BITS: u8 = 24;

/// How many bits tell `entries` entries apart.
fn index_bits(entries: usize) -> u8 {
    entries.max(1).next_power_of_two().trailing_zeros() as u8
}

/// Writes the definition of `table`, read at an index of `width` bits, as a function `name`.
pub(super) fn write_table(out: &mut String, name: &str, table: &Table, width: u8) {
    let bits = index_bits(table.entries.len());
    let (entry, full) = (table.width, width.max(bits));
    let _ = write!(out, "(define-fun {name} ((i (_ BitVec {width}))) (_ BitVec {entry})\n  ");
    if full > width {
        let _ = write!(out, "(let ((i ((_ zero_extend {}) i))) ", full - width);
    }
    if full > bits {
        let _ = write!(out, "(ite (= ((_ extract {} {bits}) i) ", full - 1);
        write_bits(out, full - bits, 0);
        out.push_str(") ");
    }
    write_part(out, table, bits, 0);
    if full > bits {
        let _ = write!(out, " (_ bv0 {entry}))");
    }
    if full > width {
        out.push(')');
    }
    out.push_str(")\n");
}

/// The entries from `from` on, as many as `bits` index bits tell apart. At most 64 levels deep.
fn write_part(out: &mut String, table: &Table, bits: u8, from: usize) {
    if from >= table.entries.len() {
        let _ = write!(out, "(_ bv0 {})", table.width);
    } else if bits == 0 {
        write_bits(out, table.width, u128::from(table.entries[from]));
    } else {
        let bit = bits - 1;
        let _ = write!(out, "(ite (= ((_ extract {bit} {bit}) i) #b1) ");
        write_part(out, table, bit, from + (1 << bit));
        out.push(' ');
        write_part(out, table, bit, from);
        out.push(')');
    }
}

/// The table that a function body is: `index`, of `width` bits, is its parameter. `None` if it is
/// anything else.
pub(super) fn recognise(
    forest: &mut Forest,
    body: Tree,
    index: Word,
    width: u8,
    result: Sort,
) -> Option<Table> {
    let Sort::Bits(entry @ 1..=64) = result else { return None };
    let [ite, equal, underscore, extract] = ["ite", "=", "_", "extract"].map(|w| forest.word(w));
    let words = Vocabulary { ite, equal, underscore, extract };
    let (mut body, mut bits) = (body, width);
    if let Some([head, bindings, inner]) = forest.items(body)
        && forest.symbol(head) == Some("let")
    {
        let [binding] = forest.items(bindings)?;
        let [name, value] = forest.items(binding)?;
        let [operator, argument] = forest.items(value)?;
        let [underscore, extend, by] = forest.items(operator)?;
        let by = forest.numeral(by)?;
        if forest.symbol(underscore)? != "_"
            || forest.symbol(extend)? != "zero_extend"
            || forest.node(name) != Node::Symbol(index)
            || forest.node(argument) != Node::Symbol(index)
        {
            return None;
        }
        bits = width.checked_add(u8::try_from(by).ok()?)?;
        body = inner;
    }
    let mut found = Found { forest, words, index, entry, entries: Vec::new() };
    found.part(body, bits, 0)?;
    Some(Table { width: entry, entries: found.entries.into() })
}

/// The words that tables are made of.
struct Vocabulary {
    ite: Word,
    equal: Word,
    underscore: Word,
    extract: Word,
}

struct Found<'f> {
    forest: &'f Forest,
    words: Vocabulary,
    index: Word,
    entry: u8,
    entries: Vec<u64>,
}

impl Found<'_> {
    /// Reads the values for indices from `from` on, `bits` bits of which are not yet decided.
    fn part(&mut self, tree: Tree, bits: u8, from: usize) -> Option<()> {
        if let Some((value, explicit)) = self.leaf(tree) {
            if explicit || value != 0 {
                if bits > MOST_INDEX_BITS {
                    return None;
                }
                let end = from + (1 << bits);
                self.entries.resize(self.entries.len().max(end), 0);
                self.entries[from..end].fill(value);
            }
            return Some(());
        }
        let [ite, test, then, other] = self.forest.items(tree)?;
        let [equal, extract, constant] = self.forest.items(test)?;
        if !self.is(ite, self.words.ite) || !self.is(equal, self.words.equal) {
            return None;
        }
        let (hi, lo) = self.extract(extract)?;
        if hi >= 128 || hi + 1 != u128::from(bits) || hi < lo {
            return None;
        }
        let (value, width) = self.bits(constant)?;
        let lo = lo as u8;
        if u128::from(width) != hi + 1 - u128::from(lo) {
            return None;
        }
        if value == 0 && self.leaf(other) == Some((0, false)) {
            return self.part(then, lo, from);
        }
        if value != 1 || lo + 1 != bits || lo > MOST_INDEX_BITS {
            return None;
        }
        // The lower half first, so that the entries grow at their end.
        self.part(other, lo, from)?;
        self.part(then, lo, from + (1 << lo))
    }

    fn is(&self, tree: Tree, word: Word) -> bool {
        self.forest.node(tree) == Node::Symbol(word)
    }

    /// The bounds in `((_ extract hi lo) index)`.
    fn extract(&self, tree: Tree) -> Option<(u128, u128)> {
        let [head, argument] = self.forest.items(tree)?;
        let [underscore, name, hi, lo] = self.forest.items(head)?;
        let fits = self.is(underscore, self.words.underscore)
            && self.is(name, self.words.extract)
            && self.is(argument, self.index);
        if fits { Some((self.forest.numeral(hi)?, self.forest.numeral(lo)?)) } else { None }
    }

    /// The value and the width of `#b…` or `#x…`.
    fn bits(&self, tree: Tree) -> Option<(u128, u8)> {
        let Node::Bits(word) = self.forest.node(tree) else { return None };
        bits(self.forest.spelling(word)).ok()
    }

    /// The value of a leaf, and whether it is written as an entry.
    fn leaf(&self, tree: Tree) -> Option<(u64, bool)> {
        if let Some((value, width)) = self.bits(tree) {
            return (width == self.entry).then_some((value as u64, true));
        }
        let [underscore, name, width] = self.forest.items(tree)?;
        let value = decimal(self.forest.symbol(name)?.strip_prefix("bv")?)?;
        let fits = self.is(underscore, self.words.underscore)
            && self.forest.numeral(width)? == u128::from(self.entry)
            && value <= mask(self.entry);
        fits.then_some((value as u64, false))
    }
}
