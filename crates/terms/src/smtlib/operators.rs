//! What SMT-LIB's operator names mean: each is a constructor call, with its arguments checked.
//!
//! A constructor may panic on operands of the wrong sort; nothing reaches one unchecked.

use super::abbreviations;
use super::error::Problem;
use super::numbers::decimal;
use crate::pool::Pool;
use crate::term::{MAX_WIDTH, Sort, Term, mask};

type Unary = fn(&mut Pool, Term) -> Term;
type Binary = fn(&mut Pool, Term, Term) -> Term;

/// An operator.
#[derive(Clone, Copy)]
pub(super) enum Operator {
    /// On one Bool.
    Not,
    /// On Bools, associative to the left.
    Connective(Binary),
    /// On Bools, associative to the right.
    Implies,
    /// On terms of one sort: each equals the next.
    Equal,
    /// On terms of one sort: no two are equal.
    Distinct,
    Ite,
    /// On one bit vector.
    Unary(Unary),
    /// On bit vectors of one width, associative to the left.
    Chain(Binary),
    /// On two bit vectors of one width.
    Pair(Binary),
    /// On bit vectors of any widths.
    Concat,
}

/// An operator on one bit vector that has indices.
#[derive(Clone, Copy)]
pub(super) enum Indexed {
    Extract,
    ZeroExtend,
    SignExtend,
    Repeat,
    RotateLeft,
    RotateRight,
}

/// The operator of that name.
pub(super) fn named(name: &str) -> Option<Operator> {
    use Operator as O;
    Some(match name {
        "not" => O::Not,
        "and" => O::Connective(Pool::and),
        "or" => O::Connective(Pool::or),
        "xor" => O::Connective(Pool::xor),
        "=>" => O::Implies,
        "=" => O::Equal,
        "distinct" => O::Distinct,
        "ite" => O::Ite,
        "concat" => O::Concat,
        "bvnot" => O::Unary(Pool::not),
        "bvneg" => O::Unary(Pool::neg),
        "bvand" => O::Chain(Pool::and),
        "bvor" => O::Chain(Pool::or),
        "bvxor" => O::Chain(Pool::xor),
        "bvadd" => O::Chain(Pool::add),
        "bvmul" => O::Chain(Pool::mul),
        "bvsub" => O::Chain(Pool::sub),
        "bvxnor" => O::Chain(abbreviations::xnor),
        "bvnand" => O::Pair(abbreviations::nand),
        "bvnor" => O::Pair(abbreviations::nor),
        "bvcomp" => O::Pair(abbreviations::comp),
        "bvudiv" => O::Pair(Pool::udiv),
        "bvurem" => O::Pair(Pool::urem),
        "bvsdiv" => O::Pair(Pool::sdiv),
        "bvsrem" => O::Pair(Pool::srem),
        "bvsmod" => O::Pair(Pool::smod),
        "bvshl" => O::Pair(Pool::shl),
        "bvlshr" => O::Pair(Pool::lshr),
        "bvashr" => O::Pair(Pool::ashr),
        "bvult" => O::Pair(Pool::ult),
        "bvule" => O::Pair(Pool::ule),
        "bvugt" => O::Pair(Pool::ugt),
        "bvuge" => O::Pair(Pool::uge),
        "bvslt" => O::Pair(Pool::slt),
        "bvsle" => O::Pair(Pool::sle),
        "bvsgt" => O::Pair(Pool::sgt),
        "bvsge" => O::Pair(Pool::sge),
        "bvnego" => O::Unary(abbreviations::neg_overflows),
        "bvuaddo" => O::Pair(abbreviations::unsigned_add_overflows),
        "bvsaddo" => O::Pair(abbreviations::signed_add_overflows),
        "bvusubo" => O::Pair(Pool::ult),
        "bvssubo" => O::Pair(abbreviations::signed_sub_overflows),
        "bvumulo" => O::Pair(abbreviations::unsigned_mul_overflows),
        "bvsmulo" => O::Pair(abbreviations::signed_mul_overflows),
        "bvsdivo" => O::Pair(abbreviations::signed_div_overflows),
        _ => return None,
    })
}

/// The operator of that name with so many indices, `(_ name indices…)`.
pub(super) fn indexed(name: &str, indices: usize) -> Option<Indexed> {
    Some(match (name, indices) {
        ("extract", 2) => Indexed::Extract,
        ("zero_extend", 1) => Indexed::ZeroExtend,
        ("sign_extend", 1) => Indexed::SignExtend,
        ("repeat", 1) => Indexed::Repeat,
        ("rotate_left", 1) => Indexed::RotateLeft,
        ("rotate_right", 1) => Indexed::RotateRight,
        _ => return None,
    })
}

/// The width, if it is one.
pub(super) fn checked_width(width: u128) -> Result<u8, Problem> {
    match u8::try_from(width) {
        Ok(width @ 1..=MAX_WIDTH) => Ok(width),
        _ => Err(Problem::Width(width)),
    }
}

/// The operator applied to arguments; `name` is what it is called in errors.
pub(super) fn apply(
    pool: &mut Pool,
    operator: Operator,
    args: &[Term],
    name: impl FnOnce() -> String,
) -> Result<Term, Problem> {
    let arity =
        |takes: &'static str| Err(Problem::Arity { name: name(), takes, given: args.len() });
    match operator {
        Operator::Not => {
            let &[a] = args else { return arity("one") };
            need_bools(pool, args)?;
            Ok(pool.not(a))
        }
        Operator::Connective(make) => {
            if args.is_empty() {
                return arity("one or more");
            }
            need_bools(pool, args)?;
            Ok(fold(pool, args, make))
        }
        Operator::Implies => {
            let [rest @ .., last] = args else { return arity("two or more") };
            if rest.is_empty() {
                return arity("two or more");
            }
            need_bools(pool, args)?;
            Ok(rest.iter().rev().fold(*last, |then, &given| pool.implies(given, then)))
        }
        Operator::Equal => {
            if args.len() < 2 {
                return arity("two or more");
            }
            need_one_sort(pool, args)?;
            if let &[a, b] = args {
                return Ok(pool.eq(a, b));
            }
            let pairs: Vec<Term> = args.windows(2).map(|pair| pool.eq(pair[0], pair[1])).collect();
            Ok(fold(pool, &pairs, Pool::and))
        }
        Operator::Distinct => {
            if args.len() < 2 {
                return arity("two or more");
            }
            need_one_sort(pool, args)?;
            let mut pairs = Vec::new();
            for (i, &a) in args.iter().enumerate() {
                for &b in &args[i + 1..] {
                    pairs.push(pool.ne(a, b));
                }
            }
            Ok(fold(pool, &pairs, Pool::and))
        }
        Operator::Ite => {
            let &[condition, then, other] = args else { return arity("three") };
            if !pool.is_bool(condition) || pool.sort(then) != pool.sort(other) {
                return Err(Problem::Sort("a Bool and two terms of one sort are needed"));
            }
            Ok(pool.ite(condition, then, other))
        }
        Operator::Unary(make) => {
            let &[a] = args else { return arity("one") };
            need_vectors(pool, args)?;
            Ok(make(pool, a))
        }
        Operator::Chain(make) => {
            if args.len() < 2 {
                return arity("two or more");
            }
            need_one_width(pool, args)?;
            Ok(fold(pool, args, make))
        }
        Operator::Pair(make) => {
            let &[a, b] = args else { return arity("two") };
            need_one_width(pool, args)?;
            Ok(make(pool, a, b))
        }
        Operator::Concat => {
            let [rest @ .., last] = args else { return arity("two or more") };
            if rest.is_empty() {
                return arity("two or more");
            }
            need_vectors(pool, args)?;
            checked_width(args.iter().map(|&t| u128::from(pool.width(t))).sum())?;
            // From the right, as concatenations lean in the normal form.
            Ok(rest.iter().rev().fold(*last, |low, &high| pool.concat(high, low)))
        }
    }
}

/// The operator with its indices applied to arguments; where it has one index, the second counts
/// for nothing.
pub(super) fn apply_indexed(
    pool: &mut Pool,
    operator: Indexed,
    [index, lo]: [u128; 2],
    args: &[Term],
    name: impl FnOnce() -> String,
) -> Result<Term, Problem> {
    let &[a] = args else {
        return Err(Problem::Arity { name: name(), takes: "one", given: args.len() });
    };
    need_vectors(pool, args)?;
    let width = u128::from(pool.width(a));
    let wider = || checked_width(index.saturating_add(width));
    Ok(match operator {
        Indexed::Extract => {
            if index < lo || index >= width {
                return Err(Problem::Index);
            }
            pool.extract(index as u8, lo as u8, a)
        }
        Indexed::ZeroExtend => pool.zero_extend(wider()?, a),
        Indexed::SignExtend => pool.sign_extend(wider()?, a),
        Indexed::Repeat => {
            if index == 0 {
                return Err(Problem::Index);
            }
            checked_width(index.saturating_mul(width))?;
            (1..index).fold(a, |low, _| pool.concat(a, low))
        }
        Indexed::RotateLeft => pool.rotate_left((index % width) as u8, a),
        Indexed::RotateRight => pool.rotate_right((index % width) as u8, a),
    })
}

fn need(fits: bool, otherwise: &'static str) -> Result<(), Problem> {
    if fits { Ok(()) } else { Err(Problem::Sort(otherwise)) }
}

fn need_bools(pool: &Pool, args: &[Term]) -> Result<(), Problem> {
    need(args.iter().all(|&t| pool.is_bool(t)), "the arguments must be Bools")
}

fn need_vectors(pool: &Pool, args: &[Term]) -> Result<(), Problem> {
    need(args.iter().all(|&t| !pool.is_bool(t)), "the arguments must be bit vectors")
}

fn one_sort(pool: &Pool, args: &[Term]) -> bool {
    args.windows(2).all(|pair| pool.sort(pair[0]) == pool.sort(pair[1]))
}

fn need_one_sort(pool: &Pool, args: &[Term]) -> Result<(), Problem> {
    need(one_sort(pool, args), "the arguments must have one sort")
}

fn need_one_width(pool: &Pool, args: &[Term]) -> Result<(), Problem> {
    let fits = !pool.is_bool(args[0]) && one_sort(pool, args);
    need(fits, "the arguments must be bit vectors of one width")
}

fn fold(pool: &mut Pool, args: &[Term], make: Binary) -> Term {
    args[1..].iter().fold(args[0], |all, &next| make(pool, all, next))
}

/// The constant `(_ bvN width)`; `None` if the name is not `bvN`.
pub(super) fn decimal_constant(
    pool: &mut Pool,
    name: &str,
    width: u128,
) -> Option<Result<Term, Problem>> {
    let digits = name.strip_prefix("bv")?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(checked_width(width).and_then(|width| match decimal(digits) {
        Some(value) if value <= mask(width) => Ok(pool.constant(width, value)),
        _ => Err(Problem::TooLarge(width)),
    }))
}

/// The error for a body or an argument that has another sort than declared.
pub(super) fn expect_sort(pool: &Pool, term: Term, sort: Sort) -> Result<(), Problem> {
    if pool.sort(term) == sort { Ok(()) } else { Err(Problem::Sort("it is not what was declared")) }
}
