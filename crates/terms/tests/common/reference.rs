//! An independent meaning for SMT-LIB's bit-vector operators: expressions as plain trees, never
//! simplified, evaluated bit by bit as the standard defines them.
//!
//! `build` makes the same expression through the pool's constructors; the two must always agree.

use std::fmt;
use std::rc::Rc;
use std::sync::LazyLock;

use stunt_terms::{InputByte, Pool, Sort, TableId, Term};

/// An operator of SMT-LIB, a leaf, or a table read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Bool(bool),
    Const(u8, u128),
    /// Byte of source 0 at that offset.
    Byte(u32),
    Not,
    And,
    Or,
    Xor,
    Implies,
    Eq,
    Distinct,
    Ite,
    BvNot,
    BvNeg,
    BvAnd,
    BvOr,
    BvXor,
    BvNand,
    BvNor,
    BvXnor,
    Add,
    Sub,
    Mul,
    UDiv,
    URem,
    SDiv,
    SRem,
    SMod,
    Shl,
    LShr,
    AShr,
    Comp,
    Ult,
    Ule,
    Ugt,
    Uge,
    Slt,
    Sle,
    Sgt,
    Sge,
    Concat,
    Extract(u8, u8),
    /// By so many bits.
    ZeroExtend(u8),
    SignExtend(u8),
    RotateLeft(u8),
    RotateRight(u8),
    /// A read of the numbered table of [`tables`].
    Table(usize),
}

/// The binary operators whose result has the operands' width.
pub const BINARY: [Kind; 18] = [
    Kind::BvAnd,
    Kind::BvOr,
    Kind::BvXor,
    Kind::BvNand,
    Kind::BvNor,
    Kind::BvXnor,
    Kind::Add,
    Kind::Sub,
    Kind::Mul,
    Kind::UDiv,
    Kind::URem,
    Kind::SDiv,
    Kind::SRem,
    Kind::SMod,
    Kind::Shl,
    Kind::LShr,
    Kind::AShr,
    Kind::Comp,
];

/// The comparisons.
pub const COMPARE: [Kind; 10] = [
    Kind::Eq,
    Kind::Distinct,
    Kind::Ult,
    Kind::Ule,
    Kind::Ugt,
    Kind::Uge,
    Kind::Slt,
    Kind::Sle,
    Kind::Sgt,
    Kind::Sge,
];

/// The binary connectives.
pub const CONNECTIVE: [Kind; 6] =
    [Kind::And, Kind::Or, Kind::Xor, Kind::Implies, Kind::Eq, Kind::Distinct];

/// An expression.
#[derive(PartialEq, Eq, Debug)]
pub struct Expr {
    pub kind: Kind,
    pub args: Vec<Rc<Expr>>,
}

/// A table of the tests: its entries' width, and the entries.
pub fn table(number: usize) -> &'static (u8, Vec<u64>) {
    static ALL: LazyLock<Vec<(u8, Vec<u64>)>> = LazyLock::new(|| {
        let class = |c: u8| {
            u64::from(c.is_ascii_digit())
                | u64::from(c.is_ascii_alphabetic()) << 1
                | u64::from(c.is_ascii_whitespace()) << 2
        };
        let hex = |c: u8| (c as char).to_digit(16).map_or(0xff, u64::from);
        let step = |x: u32| if x & 1 == 1 { x >> 1 ^ 0xedb8_8320 } else { x >> 1 };
        vec![
            // Character classes, as in a C library.
            (8, (0..=255).map(class).collect()),
            // Hexadecimal digits, -1 for others.
            (8, (0..=255).map(hex).collect()),
            // A checksum's table.
            (32, (0..256).map(|i| u64::from((0..8).fold(i, |x, _| step(x)))).collect()),
            // Short, of an odd width, of a length that is no power of two.
            (3, vec![5, 0, 7, 1, 2]),
            // Increasing.
            (64, (0..100u64).map(|i| i * i * 1_000_003).collect()),
        ]
    });
    &ALL[number]
}

/// How many tables there are.
pub const TABLES: usize = 5;

pub fn make(kind: Kind, args: &[&Rc<Expr>]) -> Rc<Expr> {
    Rc::new(Expr { kind, args: args.iter().map(|&arg| Rc::clone(arg)).collect() })
}

/// The sort of an operator's result.
pub fn result(kind: Kind, args: &[Sort]) -> Sort {
    match kind {
        Kind::Bool(_)
        | Kind::Not
        | Kind::And
        | Kind::Or
        | Kind::Xor
        | Kind::Implies
        | Kind::Eq
        | Kind::Distinct
        | Kind::Ult
        | Kind::Ule
        | Kind::Ugt
        | Kind::Uge
        | Kind::Slt
        | Kind::Sle
        | Kind::Sgt
        | Kind::Sge => Sort::Bool,
        Kind::Const(width, _) => Sort::Bits(width),
        Kind::Byte(_) => Sort::Bits(8),
        Kind::Comp => Sort::Bits(1),
        Kind::Ite => args[1],
        Kind::Concat => Sort::Bits(args[0].bits() + args[1].bits()),
        Kind::Extract(hi, lo) => Sort::Bits(hi - lo + 1),
        Kind::ZeroExtend(by) | Kind::SignExtend(by) => Sort::Bits(args[0].bits() + by),
        Kind::Table(number) => Sort::Bits(table(number).0),
        Kind::BvNot
        | Kind::BvNeg
        | Kind::BvAnd
        | Kind::BvOr
        | Kind::BvXor
        | Kind::BvNand
        | Kind::BvNor
        | Kind::BvXnor
        | Kind::Add
        | Kind::Sub
        | Kind::Mul
        | Kind::UDiv
        | Kind::URem
        | Kind::SDiv
        | Kind::SRem
        | Kind::SMod
        | Kind::Shl
        | Kind::LShr
        | Kind::AShr
        | Kind::RotateLeft(_)
        | Kind::RotateRight(_) => args[0],
    }
}

fn bit(x: u128, i: u8) -> bool {
    x >> i & 1 == 1
}

/// The number whose bits `f` gives.
fn bits(width: u8, f: impl Fn(u8) -> bool) -> u128 {
    (0..width).fold(0, |x, i| x | u128::from(f(i)) << i)
}

fn add(width: u8, x: u128, y: u128, mut carry: bool) -> u128 {
    let mut sum = 0;
    for i in 0..width {
        let (a, b) = (bit(x, i), bit(y, i));
        sum |= u128::from(a ^ b ^ carry) << i;
        carry = a & b | a & carry | b & carry;
    }
    sum
}

fn not(width: u8, x: u128) -> u128 {
    bits(width, |i| !bit(x, i))
}

fn neg(width: u8, x: u128) -> u128 {
    add(width, not(width, x), 0, true)
}

/// `x < y`, decided by the highest bit in which they differ.
fn less(width: u8, x: u128, y: u128) -> bool {
    let differing = (0..width).rev().find(|&i| bit(x, i) != bit(y, i));
    differing.is_some_and(|i| bit(y, i))
}

fn signed_less(width: u8, x: u128, y: u128) -> bool {
    match (bit(x, width - 1), bit(y, width - 1)) {
        (true, false) => true,
        (false, true) => false,
        _ => less(width, x, y),
    }
}

/// Quotient and remainder by long division, one bit at a time.
fn divide(width: u8, x: u128, y: u128) -> (u128, u128) {
    if y == 0 {
        return (bits(width, |_| true), x);
    }
    let (mut quotient, mut rest) = (0, 0u128);
    for i in (0..width).rev() {
        let out = bit(rest, 127);
        rest = rest << 1 | u128::from(bit(x, i));
        if out || rest >= y {
            rest = rest.wrapping_sub(y);
            quotient |= 1 << i;
        }
    }
    (quotient, rest)
}

/// The standard's definition of the signed operators by cases of the signs.
fn signed_divide(width: u8, x: u128, y: u128) -> (u128, u128, u128) {
    let n = |v| neg(width, v);
    let (s, t) = (bit(x, width - 1), bit(y, width - 1));
    let (p, q) = (if s { n(x) } else { x }, if t { n(y) } else { y });
    let (quotient, rest) = divide(width, p, q);
    let modulo = match (s, t) {
        _ if rest == 0 => 0,
        (false, false) => rest,
        (true, false) => add(width, n(rest), y, false),
        (false, true) => add(width, rest, y, false),
        (true, true) => n(rest),
    };
    (if s == t { quotient } else { n(quotient) }, if s { n(rest) } else { rest }, modulo)
}

fn multiply(width: u8, x: u128, y: u128) -> u128 {
    let all = |v: u128| bits(width, |i| bit(v, i));
    (0..width).filter(|&i| bit(y, i)).fold(0, |sum, i| add(width, sum, all(x << i), false))
}

/// The value of an operator; `sorts` and `v` are those of its operands. Bools are 0 and 1.
pub fn apply(kind: Kind, sorts: &[Sort], v: &[u128]) -> u128 {
    let w = sorts.first().map_or(1, |sort| sort.bits());
    let truth = u128::from;
    match kind {
        Kind::Bool(value) => truth(value),
        Kind::Const(_, value) => value,
        Kind::Byte(_) => unreachable!("a byte has no value by itself"),
        Kind::Not => truth(v[0] == 0),
        Kind::And => truth(v[0] == 1 && v[1] == 1),
        Kind::Or => truth(v[0] == 1 || v[1] == 1),
        Kind::Xor | Kind::Distinct => truth(v[0] != v[1]),
        Kind::Implies => truth(v[0] == 0 || v[1] == 1),
        Kind::Eq => truth(v[0] == v[1]),
        Kind::Ite => v[if v[0] == 1 { 1 } else { 2 }],
        Kind::BvNot => not(w, v[0]),
        Kind::BvNeg => neg(w, v[0]),
        Kind::BvAnd => bits(w, |i| bit(v[0], i) && bit(v[1], i)),
        Kind::BvOr => bits(w, |i| bit(v[0], i) || bit(v[1], i)),
        Kind::BvXor => bits(w, |i| bit(v[0], i) != bit(v[1], i)),
        Kind::BvNand => bits(w, |i| !(bit(v[0], i) && bit(v[1], i))),
        Kind::BvNor => bits(w, |i| !(bit(v[0], i) || bit(v[1], i))),
        Kind::BvXnor => bits(w, |i| bit(v[0], i) == bit(v[1], i)),
        Kind::Add => add(w, v[0], v[1], false),
        Kind::Sub => add(w, v[0], not(w, v[1]), true),
        Kind::Mul => multiply(w, v[0], v[1]),
        Kind::UDiv => divide(w, v[0], v[1]).0,
        Kind::URem => divide(w, v[0], v[1]).1,
        Kind::SDiv => {
            if v[1] == 0 {
                // By cases: a negative dividend gives 1, others all ones.
                return if bit(v[0], w - 1) { 1 } else { bits(w, |_| true) };
            }
            signed_divide(w, v[0], v[1]).0
        }
        Kind::SRem => signed_divide(w, v[0], v[1]).1,
        Kind::SMod => {
            if v[1] == 0 {
                return v[0];
            }
            signed_divide(w, v[0], v[1]).2
        }
        Kind::Shl => bits(w, |i| u128::from(i) >= v[1] && bit(v[0], i - v[1] as u8)),
        Kind::LShr => bits(w, |i| v[1] < u128::from(w - i) && bit(v[0], i + v[1] as u8)),
        Kind::AShr => bits(w, |i| {
            let from = if v[1] < u128::from(w - i) { i + v[1] as u8 } else { w - 1 };
            bit(v[0], from)
        }),
        Kind::Comp => truth(v[0] == v[1]),
        Kind::Ult => truth(less(w, v[0], v[1])),
        Kind::Ule => truth(!less(w, v[1], v[0])),
        Kind::Ugt => truth(less(w, v[1], v[0])),
        Kind::Uge => truth(!less(w, v[0], v[1])),
        Kind::Slt => truth(signed_less(w, v[0], v[1])),
        Kind::Sle => truth(!signed_less(w, v[1], v[0])),
        Kind::Sgt => truth(signed_less(w, v[1], v[0])),
        Kind::Sge => truth(!signed_less(w, v[0], v[1])),
        Kind::Concat => {
            let low = sorts[1].bits();
            bits(w + low, |i| if i < low { bit(v[1], i) } else { bit(v[0], i - low) })
        }
        Kind::Extract(hi, lo) => bits(hi - lo + 1, |i| bit(v[0], lo + i)),
        Kind::ZeroExtend(by) => bits(w + by, |i| i < w && bit(v[0], i)),
        Kind::SignExtend(by) => bits(w + by, |i| bit(v[0], i.min(w - 1))),
        Kind::RotateLeft(by) => bits(w, |i| {
            bit(v[0], ((u16::from(i) + u16::from(w) - u16::from(by % w)) % u16::from(w)) as u8)
        }),
        Kind::RotateRight(by) => {
            bits(w, |i| bit(v[0], ((u16::from(i) + u16::from(by)) % u16::from(w)) as u8))
        }
        Kind::Table(number) => {
            let entries = &table(number).1;
            entries
                .iter()
                .enumerate()
                .find(|&(i, _)| i as u128 == v[0])
                .map_or(0, |(_, &e)| u128::from(e))
        }
    }
}

/// Makes a term with the constructor that the operator is.
pub fn construct(pool: &mut Pool, kind: Kind, t: &[Term]) -> Term {
    match kind {
        Kind::Bool(value) => pool.boolean(value),
        Kind::Const(width, value) => pool.constant(width, value),
        Kind::Byte(offset) => pool.byte(InputByte::new(0, offset)),
        Kind::Not | Kind::BvNot => pool.not(t[0]),
        Kind::And | Kind::BvAnd => pool.and(t[0], t[1]),
        Kind::Or | Kind::BvOr => pool.or(t[0], t[1]),
        Kind::Xor | Kind::BvXor => pool.xor(t[0], t[1]),
        Kind::Implies => pool.implies(t[0], t[1]),
        Kind::Eq => pool.eq(t[0], t[1]),
        Kind::Distinct => pool.ne(t[0], t[1]),
        Kind::Ite => pool.ite(t[0], t[1], t[2]),
        Kind::BvNeg => pool.neg(t[0]),
        Kind::BvNand => {
            let and = pool.and(t[0], t[1]);
            pool.not(and)
        }
        Kind::BvNor => {
            let or = pool.or(t[0], t[1]);
            pool.not(or)
        }
        Kind::BvXnor => {
            let xor = pool.xor(t[0], t[1]);
            pool.not(xor)
        }
        Kind::Add => pool.add(t[0], t[1]),
        Kind::Sub => pool.sub(t[0], t[1]),
        Kind::Mul => pool.mul(t[0], t[1]),
        Kind::UDiv => pool.udiv(t[0], t[1]),
        Kind::URem => pool.urem(t[0], t[1]),
        Kind::SDiv => pool.sdiv(t[0], t[1]),
        Kind::SRem => pool.srem(t[0], t[1]),
        Kind::SMod => pool.smod(t[0], t[1]),
        Kind::Shl => pool.shl(t[0], t[1]),
        Kind::LShr => pool.lshr(t[0], t[1]),
        Kind::AShr => pool.ashr(t[0], t[1]),
        Kind::Comp => {
            let eq = pool.eq(t[0], t[1]);
            pool.truth_as_bits(1, eq)
        }
        Kind::Ult => pool.ult(t[0], t[1]),
        Kind::Ule => pool.ule(t[0], t[1]),
        Kind::Ugt => pool.ugt(t[0], t[1]),
        Kind::Uge => pool.uge(t[0], t[1]),
        Kind::Slt => pool.slt(t[0], t[1]),
        Kind::Sle => pool.sle(t[0], t[1]),
        Kind::Sgt => pool.sgt(t[0], t[1]),
        Kind::Sge => pool.sge(t[0], t[1]),
        Kind::Concat => pool.concat(t[0], t[1]),
        Kind::Extract(hi, lo) => pool.extract(hi, lo, t[0]),
        Kind::ZeroExtend(by) => pool.zero_extend(pool.width(t[0]) + by, t[0]),
        Kind::SignExtend(by) => pool.sign_extend(pool.width(t[0]) + by, t[0]),
        Kind::RotateLeft(by) => pool.rotate_left(by, t[0]),
        Kind::RotateRight(by) => pool.rotate_right(by, t[0]),
        Kind::Table(number) => {
            let table = table_id(pool, number);
            pool.table(table, t[0])
        }
    }
}

pub fn table_id(pool: &mut Pool, number: usize) -> TableId {
    let (width, entries) = table(number);
    pool.add_table(*width, entries.clone())
}

/// The expression as a term.
pub fn build(expr: &Expr, pool: &mut Pool) -> Term {
    let args: Vec<Term> = expr.args.iter().map(|arg| build(arg, pool)).collect();
    construct(pool, expr.kind, &args)
}

pub fn sort(expr: &Expr) -> Sort {
    let args: Vec<Sort> = match expr.kind {
        // Only the branches decide; a condition may be deep.
        Kind::Ite => return sort(&expr.args[1]),
        _ => expr.args.iter().map(|arg| sort(arg)).collect(),
    };
    result(expr.kind, &args)
}

/// The sort and the value of an expression, given the bytes of source 0.
pub fn value(expr: &Expr, input: &[u8]) -> (Sort, u128) {
    if let Kind::Byte(offset) = expr.kind {
        return (Sort::Bits(8), u128::from(input[offset as usize]));
    }
    let (sorts, values): (Vec<Sort>, Vec<u128>) =
        expr.args.iter().map(|arg| value(arg, input)).unzip();
    (result(expr.kind, &sorts), apply(expr.kind, &sorts, &values))
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind {
            Kind::Bool(value) => return write!(f, "{value}"),
            Kind::Const(width, value) => return write!(f, "(_ bv{value} {width})"),
            Kind::Byte(offset) => return write!(f, "in0@{offset}"),
            Kind::Not => "not".to_owned(),
            Kind::And => "and".to_owned(),
            Kind::Or => "or".to_owned(),
            Kind::Xor => "xor".to_owned(),
            Kind::Implies => "=>".to_owned(),
            Kind::Eq => "=".to_owned(),
            Kind::Distinct => "distinct".to_owned(),
            Kind::Ite => "ite".to_owned(),
            Kind::Add => "bvadd".to_owned(),
            Kind::Sub => "bvsub".to_owned(),
            Kind::Mul => "bvmul".to_owned(),
            Kind::Concat => "concat".to_owned(),
            Kind::Comp => "bvcomp".to_owned(),
            Kind::Extract(hi, lo) => format!("(_ extract {hi} {lo})"),
            Kind::ZeroExtend(by) => format!("(_ zero_extend {by})"),
            Kind::SignExtend(by) => format!("(_ sign_extend {by})"),
            Kind::RotateLeft(by) => format!("(_ rotate_left {by})"),
            Kind::RotateRight(by) => format!("(_ rotate_right {by})"),
            Kind::Table(number) => format!("table{number}"),
            // The others are called as in SMT-LIB, in lower case: BvAnd is bvand, UDiv is bvudiv.
            kind => {
                let name = format!("{kind:?}").to_lowercase();
                if name.starts_with("bv") { name } else { format!("bv{name}") }
            }
        };
        write!(f, "({name}")?;
        for arg in &self.args {
            write!(f, " {arg}")?;
        }
        write!(f, ")")
    }
}
