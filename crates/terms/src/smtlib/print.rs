//! Terms to SMT-LIB 2 text.
//!
//! A script defines what is shared or deep once, as functions without arguments, so that its size
//! is linear in the number of terms and its nesting is shallow. A single term is written as one
//! tree, or with `let` where the tree would be large.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::tables::write_table;
use crate::pool::Pool;
use crate::term::{InputByte, Op, Sort, TableId, Term};

/// In a script, a term as high as this above leaves and definitions gets its own definition.
const SHALLOW: u32 = 12;

/// A single term of at most this many operators, counted as a tree, is written without `let`.
const SMALL_TREE: u64 = 2000;

/// Other names for bytes and tables in the text of single terms.
///
/// A byte is called `in0@12` otherwise, and a table `table3` by its place in the pool.
#[derive(Clone, Default, Debug)]
pub struct Names {
    bytes: FxHashMap<InputByte, String>,
    tables: FxHashMap<TableId, String>,
}

impl Names {
    /// No other names.
    pub fn new() -> Names {
        Names::default()
    }

    /// Calls `byte` by that name.
    pub fn byte(mut self, byte: InputByte, name: impl Into<String>) -> Names {
        self.bytes.insert(byte, name.into());
        self
    }

    /// Calls `table` by that name.
    pub fn table(mut self, table: TableId, name: impl Into<String>) -> Names {
        self.tables.insert(table, name.into());
        self
    }
}

/// A script of logic QF_BV that asserts the given Bool terms, with `(check-sat)` at its end if
/// wanted.
pub fn print_script(pool: &Pool, asserts: &[Term], check_sat: bool) -> String {
    debug_assert!(asserts.iter().all(|&t| pool.is_bool(t)));
    let terms = pool.reachable(asserts);
    let names = Names::new();
    let mut printer = Printer::new(pool, &names, String::from("(set-logic QF_BV)\n"));
    for &term in &terms {
        if let Op::Byte(byte) = pool.op(term) {
            let _ = writeln!(printer.out, "(declare-const {byte} (_ BitVec 8))");
        }
    }
    // A table read at indices of several widths is as many functions.
    let mut tables = FxHashMap::default();
    for &term in &terms {
        if let Op::Table(table, index) = pool.op(term) {
            let next = tables.len();
            let width = pool.width(index);
            if let std::collections::hash_map::Entry::Vacant(entry) = tables.entry((table, width)) {
                let name = format!("table{next}");
                write_table(&mut printer.out, &name, pool.table_data(table), width);
                entry.insert(name);
            }
        }
    }
    printer.tables = Some(tables);
    let uses = count_uses(pool, &terms, asserts);
    let mut heights: FxHashMap<Term, u32> = FxHashMap::default();
    for &term in &terms {
        let op = pool.op(term);
        let Some(height) = op.operands().map(|t| heights[&t]).max() else {
            heights.insert(term, 0);
            continue;
        };
        let height = height + 1;
        if height >= SHALLOW || uses[&term] > 1 {
            let name = format!("t{}", printer.defined.len());
            let _ = write!(printer.out, "(define-fun {name} () {} ", SortText(pool.sort(term)));
            printer.term(term);
            printer.out.push_str(")\n");
            printer.defined.insert(term, name);
            heights.insert(term, 0);
        } else {
            heights.insert(term, height);
        }
    }
    for &term in asserts {
        printer.out.push_str("(assert ");
        printer.term(term);
        printer.out.push_str(")\n");
    }
    if check_sat {
        printer.out.push_str("(check-sat)\n");
    }
    printer.out
}

/// One term, with the usual names.
pub fn print_term(pool: &Pool, term: Term) -> String {
    print_term_with(pool, &Names::new(), term)
}

/// One term, with other names for some bytes and tables.
pub fn print_term_with(pool: &Pool, names: &Names, term: Term) -> String {
    let terms = pool.reachable(&[term]);
    let mut sizes: FxHashMap<Term, u64> = FxHashMap::default();
    for &t in &terms {
        let size =
            pool.op(t).operands().fold(1u64, |sum, operand| sum.saturating_add(sizes[&operand]));
        sizes.insert(t, size);
    }
    let mut printer = Printer::new(pool, names, String::new());
    let mut lets = 0;
    if sizes[&term] > SMALL_TREE {
        let uses = count_uses(pool, &terms, &[term]);
        for &t in &terms {
            if t != term && uses[&t] > 1 && pool.op(t).operands().len() > 0 {
                let name = format!("t{lets}");
                let _ = write!(printer.out, "(let (({name} ");
                printer.term(t);
                printer.out.push_str(")) ");
                printer.defined.insert(t, name);
                lets += 1;
            }
        }
    }
    printer.term(term);
    printer.out.extend(std::iter::repeat_n(')', lets));
    printer.out
}

/// How often each term is an operand or a root.
fn count_uses(pool: &Pool, terms: &[Term], roots: &[Term]) -> FxHashMap<Term, u32> {
    let mut uses: FxHashMap<Term, u32> = FxHashMap::default();
    for operand in terms.iter().flat_map(|&t| pool.op(t).operands()).chain(roots.iter().copied()) {
        *uses.entry(operand).or_insert(0) += 1;
    }
    uses
}

/// Writes a number of `width` bits: hexadecimal if the width allows.
pub(super) fn write_bits(out: &mut String, width: u8, value: u128) {
    let _ = if width.is_multiple_of(4) {
        write!(out, "#x{value:0digits$x}", digits = usize::from(width / 4))
    } else {
        write!(out, "#b{value:0digits$b}", digits = usize::from(width))
    };
}

struct SortText(Sort);

impl std::fmt::Display for SortText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Sort::Bool => write!(f, "Bool"),
            Sort::Bits(width) => write!(f, "(_ BitVec {width})"),
        }
    }
}

enum Piece {
    Term(Term),
    Close,
}

struct Printer<'p> {
    pool: &'p Pool,
    names: &'p Names,
    out: String,
    /// Terms that are written by name.
    defined: FxHashMap<Term, String>,
    /// In a script: the function for a table and a width of its index.
    tables: Option<FxHashMap<(TableId, u8), String>>,
}

impl<'p> Printer<'p> {
    fn new(pool: &'p Pool, names: &'p Names, out: String) -> Printer<'p> {
        Printer { pool, names, out, defined: FxHashMap::default(), tables: None }
    }

    /// Writes a term that is not defined itself, or its name.
    fn term(&mut self, root: Term) {
        let mut stack = vec![Piece::Term(root)];
        let mut first = true;
        while let Some(piece) = stack.pop() {
            let Piece::Term(term) = piece else {
                self.out.push(')');
                continue;
            };
            if !first {
                self.out.push(' ');
            }
            first = false;
            if let Some(name) = self.defined.get(&term) {
                self.out.push_str(name);
                continue;
            }
            let op = self.pool.op(term);
            match op {
                Op::Const(value) => match self.pool.sort(term) {
                    Sort::Bool => self.out.push_str(if value == 1 { "true" } else { "false" }),
                    Sort::Bits(width) => write_bits(&mut self.out, width, value),
                },
                Op::Byte(byte) => {
                    let _ = match self.names.bytes.get(&byte) {
                        Some(name) => write!(self.out, "{name}"),
                        None => write!(self.out, "{byte}"),
                    };
                }
                _ => {
                    self.out.push('(');
                    self.head(term, op);
                    stack.push(Piece::Close);
                    let from = stack.len();
                    stack.extend(op.operands().map(Piece::Term));
                    stack[from..].reverse();
                }
            }
        }
    }

    fn head(&mut self, term: Term, op: Op) {
        let bool_or = |truth, bits| if self.pool.is_bool(term) { truth } else { bits };
        let wider = |a: Term| self.pool.width(term) - self.pool.width(a);
        self.out.push_str(match op {
            Op::Not(_) => bool_or("not", "bvnot"),
            Op::And(..) => bool_or("and", "bvand"),
            Op::Or(..) => bool_or("or", "bvor"),
            Op::Xor(..) => bool_or("xor", "bvxor"),
            Op::Neg(_) => "bvneg",
            Op::Add(..) => "bvadd",
            Op::Sub(..) => "bvsub",
            Op::Mul(..) => "bvmul",
            Op::UDiv(..) => "bvudiv",
            Op::URem(..) => "bvurem",
            Op::SDiv(..) => "bvsdiv",
            Op::SRem(..) => "bvsrem",
            Op::Shl(..) => "bvshl",
            Op::LShr(..) => "bvlshr",
            Op::AShr(..) => "bvashr",
            Op::Concat(..) => "concat",
            Op::Ite(..) => "ite",
            Op::Eq(..) => "=",
            Op::Ult(..) => "bvult",
            Op::Slt(..) => "bvslt",
            Op::Extract { lo, .. } => {
                let hi = lo + self.pool.width(term) - 1;
                let _ = write!(self.out, "(_ extract {hi} {lo})");
                return;
            }
            Op::ZeroExtend(a) => {
                let _ = write!(self.out, "(_ zero_extend {})", wider(a));
                return;
            }
            Op::SignExtend(a) => {
                let _ = write!(self.out, "(_ sign_extend {})", wider(a));
                return;
            }
            Op::Table(table, index) => {
                let in_script = self.tables.as_ref().map(|t| &t[&(table, self.pool.width(index))]);
                let _ = match in_script.or_else(|| self.names.tables.get(&table)) {
                    Some(name) => write!(self.out, "{name}"),
                    None => write!(self.out, "table{}", table.0),
                };
                return;
            }
            Op::Const(_) | Op::Byte(_) => unreachable!("leaves have no head"),
        });
    }
}
