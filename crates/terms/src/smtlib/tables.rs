//! Tables as functions: a balanced tree of `ite` over the bits of the index.
//!
//! SMT-LIB has no constant tables in QF_BV. The tree says which entries the table has: an entry is
//! written `#x…` or `#b…`, a value past the end `(_ bv0 w)`. So the table that was printed is found
//! again, to its length. Where the index has fewer bits than the table's length needs, it is
//! extended first, so that entries out of reach are not lost either.

use std::fmt::Write;

use super::print::write_bits;
use super::sexpr::{Forest, Node, Tree, Word};
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
    forest: &Forest,
    body: Tree,
    index: Word,
    width: u8,
    result: Sort,
) -> Option<Table> {
    let Sort::Bits(entry @ 1..=64) = result else { return None };
    let (mut body, mut bits) = (body, width);
    if let Some(&[head, bindings, inner]) = forest.list(body)
        && forest.symbol(head) == Some("let")
    {
        let &[binding] = forest.list(bindings)? else { return None };
        let &[name, value] = forest.list(binding)? else { return None };
        let (operator, indices, argument) = indexed_application(forest, value)?;
        let ("zero_extend", &[by]) = (operator, &indices[..]) else { return None };
        if forest.node(name) != Node::Symbol(index) || forest.node(argument) != Node::Symbol(index)
        {
            return None;
        }
        bits = width.checked_add(u8::try_from(by).ok()?)?;
        body = inner;
    }
    let mut found = Found { forest, index, entry, entries: Vec::new() };
    found.part(body, bits, 0)?;
    Some(Table { width: entry, entries: found.entries.into() })
}

struct Found<'f> {
    forest: &'f Forest,
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
        let &[ite, test, then, other] = self.forest.list(tree)? else { return None };
        let &[eq, extract, constant] = self.forest.list(test)? else { return None };
        if self.forest.symbol(ite)? != "ite" || self.forest.symbol(eq)? != "=" {
            return None;
        }
        let (operator, indices, argument) = indexed_application(self.forest, extract)?;
        let ("extract", &[hi, lo]) = (operator, &indices[..]) else { return None };
        if self.forest.node(argument) != Node::Symbol(self.index)
            || hi >= 128
            || hi + 1 != u128::from(bits)
            || hi < lo
        {
            return None;
        }
        let (value, width) = bits_of(self.forest, constant)?;
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

    /// The value of a leaf, and whether it is written as an entry.
    fn leaf(&self, tree: Tree) -> Option<(u64, bool)> {
        if let Some((value, width)) = bits_of(self.forest, tree) {
            return (width == self.entry).then_some((value as u64, true));
        }
        let &[underscore, name, width] = self.forest.list(tree)? else { return None };
        let value: u64 = self.forest.symbol(name)?.strip_prefix("bv")?.parse().ok()?;
        let fits = self.forest.symbol(underscore)? == "_"
            && self.forest.numeral(width)? == u128::from(self.entry)
            && u128::from(value) <= mask(self.entry);
        fits.then_some((value, false))
    }
}

/// `((_ name indices…) argument)`.
fn indexed_application(forest: &Forest, tree: Tree) -> Option<(&str, Vec<u128>, Tree)> {
    let &[head, argument] = forest.list(tree)? else { return None };
    let &[underscore, name, ref indices @ ..] = forest.list(head)? else { return None };
    if forest.symbol(underscore)? != "_" {
        return None;
    }
    let indices =
        indices.iter().map(|&index| forest.numeral(index)).collect::<Option<Vec<u128>>>()?;
    Some((forest.symbol(name)?, indices, argument))
}

/// The value and the width of `#b…` or `#x…`.
fn bits_of(forest: &Forest, tree: Tree) -> Option<(u128, u8)> {
    let Node::Bits(word) = forest.node(tree) else { return None };
    let text = forest.spelling(word);
    let (digits, radix, bits) = match text.as_bytes().get(1)? {
        b'b' => (&text[2..], 2, 1),
        b'x' => (&text[2..], 16, 4),
        _ => return None,
    };
    let width = u8::try_from(digits.len() * bits).ok().filter(|width| (1..=128).contains(width))?;
    Some((u128::from_str_radix(digits, radix).ok()?, width))
}
