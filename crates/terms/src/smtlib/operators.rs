//! What SMT-LIB's operator names mean: each is a constructor call, with its arguments checked.
//!
//! A constructor may panic on operands of the wrong sort; nothing reaches one unchecked.

use super::error::Problem;
use crate::pool::Pool;
use crate::term::{MAX_WIDTH, Sort, Term, mask};

type Unary = fn(&mut Pool, Term) -> Term;
type Binary = fn(&mut Pool, Term, Term) -> Term;

/// An operator, with its indices.
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
    Extract {
        hi: u128,
        lo: u128,
    },
    ZeroExtend(u128),
    SignExtend(u128),
    Repeat(u128),
    RotateLeft(u128),
    RotateRight(u128),
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
        "bvxnor" => O::Chain(xnor),
        "bvnand" => O::Pair(nand),
        "bvnor" => O::Pair(nor),
        "bvcomp" => O::Pair(comp),
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
        "bvnego" => O::Unary(neg_overflows),
        "bvuaddo" => O::Pair(unsigned_add_overflows),
        "bvsaddo" => O::Pair(signed_add_overflows),
        "bvusubo" => O::Pair(Pool::ult),
        "bvssubo" => O::Pair(signed_sub_overflows),
        "bvumulo" => O::Pair(unsigned_mul_overflows),
        "bvsmulo" => O::Pair(signed_mul_overflows),
        "bvsdivo" => O::Pair(signed_div_overflows),
        _ => return None,
    })
}

/// The operator of that name with indices, `(_ name indices…)`.
pub(super) fn indexed(name: &str, indices: &[u128]) -> Option<Operator> {
    use Operator as O;
    Some(match (name, indices) {
        ("extract", &[hi, lo]) => O::Extract { hi, lo },
        ("zero_extend", &[by]) => O::ZeroExtend(by),
        ("sign_extend", &[by]) => O::SignExtend(by),
        ("repeat", &[times]) => O::Repeat(times),
        ("rotate_left", &[by]) => O::RotateLeft(by),
        ("rotate_right", &[by]) => O::RotateRight(by),
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

/// The operator, called `name` in errors, applied to arguments.
pub(super) fn apply(
    pool: &mut Pool,
    name: &str,
    operator: Operator,
    args: &[Term],
) -> Result<Term, Problem> {
    let arity = |takes: &'static str, fits: bool| {
        let given = args.len();
        if fits { Ok(()) } else { Err(Problem::Arity { name: name.to_owned(), takes, given }) }
    };
    match operator {
        Operator::Not | Operator::Unary(_) => arity("one", args.len() == 1)?,
        Operator::Connective(_) => arity("one or more", !args.is_empty())?,
        Operator::Implies
        | Operator::Equal
        | Operator::Distinct
        | Operator::Chain(_)
        | Operator::Concat => arity("two or more", args.len() >= 2)?,
        Operator::Ite => arity("three", args.len() == 3)?,
        Operator::Pair(_) => arity("two", args.len() == 2)?,
        Operator::Extract { .. }
        | Operator::ZeroExtend(_)
        | Operator::SignExtend(_)
        | Operator::Repeat(_)
        | Operator::RotateLeft(_)
        | Operator::RotateRight(_) => arity("one", args.len() == 1)?,
    }
    let bools = args.iter().all(|&t| pool.is_bool(t));
    let vectors = args.iter().all(|&t| !pool.is_bool(t));
    let same = args.windows(2).all(|pair| pool.sort(pair[0]) == pool.sort(pair[1]));
    let fits = match operator {
        Operator::Not | Operator::Connective(_) | Operator::Implies => bools,
        Operator::Equal | Operator::Distinct => same,
        Operator::Ite => pool.is_bool(args[0]) && pool.sort(args[1]) == pool.sort(args[2]),
        Operator::Chain(_) | Operator::Pair(_) => vectors && same,
        _ => vectors,
    };
    if !fits {
        return Err(Problem::Sort(match operator {
            Operator::Not | Operator::Connective(_) | Operator::Implies => {
                "the arguments must be Bools"
            }
            Operator::Equal | Operator::Distinct => "the arguments must have one sort",
            Operator::Ite => "a Bool and two terms of one sort are needed",
            Operator::Chain(_) | Operator::Pair(_) => {
                "the arguments must be bit vectors of one width"
            }
            _ => "the arguments must be bit vectors",
        }));
    }
    let first = args[0];
    let width = pool.width(first);
    let wider = |by: u128| checked_width(by.saturating_add(u128::from(width)));
    Ok(match operator {
        Operator::Not => pool.not(first),
        Operator::Unary(make) => make(pool, first),
        Operator::Connective(make) | Operator::Chain(make) => fold(pool, args, make),
        Operator::Pair(make) => make(pool, first, args[1]),
        Operator::Implies => {
            let (&last, rest) = args.split_last().expect("two or more");
            rest.iter().rev().fold(last, |then, &given| pool.implies(given, then))
        }
        Operator::Equal => {
            let pairs: Vec<Term> = args.windows(2).map(|pair| pool.eq(pair[0], pair[1])).collect();
            fold(pool, &pairs, Pool::and)
        }
        Operator::Distinct => {
            let mut pairs = Vec::new();
            for (i, &a) in args.iter().enumerate() {
                for &b in &args[i + 1..] {
                    pairs.push(pool.ne(a, b));
                }
            }
            fold(pool, &pairs, Pool::and)
        }
        Operator::Ite => pool.ite(first, args[1], args[2]),
        Operator::Concat => {
            checked_width(args.iter().map(|&t| u128::from(pool.width(t))).sum())?;
            // From the right, as concatenations lean in the normal form.
            let (&last, rest) = args.split_last().expect("two or more");
            rest.iter().rev().fold(last, |low, &high| pool.concat(high, low))
        }
        Operator::Extract { hi, lo } => {
            if hi < lo || hi >= u128::from(width) {
                return Err(Problem::Index);
            }
            pool.extract(hi as u8, lo as u8, first)
        }
        Operator::ZeroExtend(by) => pool.zero_extend(wider(by)?, first),
        Operator::SignExtend(by) => pool.sign_extend(wider(by)?, first),
        Operator::Repeat(times) => {
            if times == 0 {
                return Err(Problem::Index);
            }
            checked_width(times.saturating_mul(u128::from(width)))?;
            (1..times).fold(first, |low, _| pool.concat(first, low))
        }
        Operator::RotateLeft(by) => pool.rotate_left((by % u128::from(width)) as u8, first),
        Operator::RotateRight(by) => pool.rotate_right((by % u128::from(width)) as u8, first),
    })
}

fn fold(pool: &mut Pool, args: &[Term], make: Binary) -> Term {
    args[1..].iter().fold(args[0], |all, &next| make(pool, all, next))
}

fn nand(pool: &mut Pool, a: Term, b: Term) -> Term {
    let and = pool.and(a, b);
    pool.not(and)
}

fn nor(pool: &mut Pool, a: Term, b: Term) -> Term {
    let or = pool.or(a, b);
    pool.not(or)
}

fn xnor(pool: &mut Pool, a: Term, b: Term) -> Term {
    let xor = pool.xor(a, b);
    pool.not(xor)
}

fn comp(pool: &mut Pool, a: Term, b: Term) -> Term {
    let eq = pool.eq(a, b);
    pool.truth_as_bits(1, eq)
}

fn zero(pool: &mut Pool, like: Term) -> Term {
    pool.constant(pool.width(like), 0)
}

/// The most negative number of a term's width.
fn lowest(pool: &mut Pool, like: Term) -> Term {
    let width = pool.width(like);
    pool.constant(width, 1 << (width - 1))
}

fn neg_overflows(pool: &mut Pool, a: Term) -> Term {
    let lowest = lowest(pool, a);
    pool.eq(a, lowest)
}

fn unsigned_add_overflows(pool: &mut Pool, a: Term, b: Term) -> Term {
    let sum = pool.add(a, b);
    pool.ult(sum, a)
}

/// Whether `result` has another sign than `a`, given a condition on the signs of the operands.
fn sign_changed(pool: &mut Pool, condition: Term, a: Term, result: Term) -> Term {
    let zero = zero(pool, a);
    let (before, after) = (pool.slt(a, zero), pool.slt(result, zero));
    let changed = pool.xor(before, after);
    pool.and(condition, changed)
}

fn signed_add_overflows(pool: &mut Pool, a: Term, b: Term) -> Term {
    let zero = zero(pool, a);
    let (x, y) = (pool.slt(a, zero), pool.slt(b, zero));
    let alike = pool.eq(x, y);
    let sum = pool.add(a, b);
    sign_changed(pool, alike, a, sum)
}

fn signed_sub_overflows(pool: &mut Pool, a: Term, b: Term) -> Term {
    let zero = zero(pool, a);
    let (x, y) = (pool.slt(a, zero), pool.slt(b, zero));
    let differ = pool.xor(x, y);
    let difference = pool.sub(a, b);
    sign_changed(pool, differ, a, difference)
}

fn signed_div_overflows(pool: &mut Pool, a: Term, b: Term) -> Term {
    let lowest = lowest(pool, a);
    let minus_one = pool.constant(pool.width(b), mask(pool.width(b)));
    let (x, y) = (pool.eq(a, lowest), pool.eq(b, minus_one));
    pool.and(x, y)
}

fn unsigned_mul_overflows(pool: &mut Pool, a: Term, b: Term) -> Term {
    // Dividing the product again gives the factor, unless bits were lost.
    let zero = zero(pool, b);
    let product = pool.mul(a, b);
    let back = pool.udiv(product, b);
    let (nonzero, lost) = (pool.ne(b, zero), pool.ne(back, a));
    pool.and(nonzero, lost)
}

fn signed_mul_overflows(pool: &mut Pool, a: Term, b: Term) -> Term {
    let zero = zero(pool, b);
    let product = pool.mul(a, b);
    let back = pool.sdiv(product, b);
    let (nonzero, lost) = (pool.ne(b, zero), pool.ne(back, a));
    let differs = pool.and(nonzero, lost);
    // The lowest number times -1 wraps to itself, and so does the division.
    let wraps = signed_div_overflows(pool, a, b);
    pool.or(differs, wraps)
}

/// The constant that `#b…` or `#x…` spells.
pub(super) fn literal(pool: &mut Pool, text: &str) -> Result<Term, Problem> {
    let (digits, radix, bits) = match text.as_bytes() {
        [b'#', b'b', ..] => (&text[2..], 2, 1),
        [b'#', b'x', ..] => (&text[2..], 16, 4),
        _ => return Err(Problem::Expected("a number #b… or #x…")),
    };
    let width = checked_width(digits.len() as u128 * bits)?;
    // The sign that `from_str_radix` would accept is not a digit here.
    if !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Err(Problem::Expected("a number #b… or #x…"));
    }
    match u128::from_str_radix(digits, radix) {
        Ok(value) => Ok(pool.constant(width, value)),
        Err(_) => Err(Problem::Expected("a number #b… or #x…")),
    }
}

/// The constant `(_ bvN width)`.
pub(super) fn decimal(pool: &mut Pool, name: &str, width: u128) -> Option<Result<Term, Problem>> {
    let digits = name.strip_prefix("bv")?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(checked_width(width).and_then(|width| match digits.parse::<u128>() {
        Ok(value) if value <= mask(width) => Ok(pool.constant(width, value)),
        _ => Err(Problem::TooLarge(width)),
    }))
}

/// The error for a body or an argument that has another sort than declared.
pub(super) fn expect_sort(pool: &Pool, term: Term, sort: Sort) -> Result<(), Problem> {
    if pool.sort(term) == sort { Ok(()) } else { Err(Problem::Sort("it is not what was declared")) }
}
