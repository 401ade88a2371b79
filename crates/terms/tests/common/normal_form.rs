//! The normal form of terms, checked: the numbered rules at the head of `term.rs`, one by one.
//!
//! Only the operator and its operands are looked at; whoever checks a term checks its parts too.

use stunt_terms::{Op, Pool, Sort, Term};

/// The rule that a term breaks, if any, in words.
pub fn broken_rule(pool: &Pool, term: Term) -> Option<&'static str> {
    let op = pool.op(term);
    let constant = |t: Term| pool.as_const(t);
    let is_constant = |t: Term| constant(t).is_some();
    let width = pool.width(term);
    if op.operands().len() > 0 && op.operands().all(is_constant) {
        return Some("1: only constant operands");
    }
    match op {
        Op::And(a, b)
        | Op::Or(a, b)
        | Op::Xor(a, b)
        | Op::Add(a, b)
        | Op::Mul(a, b)
        | Op::Eq(a, b) => {
            if is_constant(a) {
                return Some("2: a constant is the first operand of a commutative operator");
            }
            if !is_constant(b) && a > b {
                return Some("2: operands of a commutative operator out of order");
            }
        }
        Op::Ult(a, _) | Op::Slt(a, _) if is_constant(a) => {
            return Some("3: a constant is the first operand of a comparison");
        }
        _ => {}
    }
    let has_constant_summand = |t: Term| matches!(pool.op(t), Op::Add(_, c) if is_constant(c));
    let power_of_two = |t: Term| constant(t).is_some_and(u128::is_power_of_two);
    let extends = |t: Term| matches!(pool.op(t), Op::ZeroExtend(_) | Op::SignExtend(_));
    match op {
        Op::Const(value) if value > pool.sort(term).mask() => {
            Some("0: a constant beyond its width")
        }
        Op::Sub(_, b) if is_constant(b) => Some("4: a constant is subtracted"),
        Op::Sub(a, _) if constant(a) == Some(0) => Some("4: a difference from zero"),
        Op::Add(a, b) if has_constant_summand(a) || has_constant_summand(b) => {
            Some("4: a constant summand is not outermost")
        }
        Op::Add(_, b) if constant(b) == Some(0) => Some("4: zero is added"),
        Op::Shl(_, b) | Op::LShr(_, b) | Op::AShr(_, b) if is_constant(b) => {
            Some("5: a shift by a constant")
        }
        Op::Mul(_, b) | Op::UDiv(_, b) | Op::URem(_, b) if power_of_two(b) => {
            Some("5: multiplication or division by a power of two")
        }
        Op::Concat(a, _) if constant(a) == Some(0) => Some("6: zeros in front of a concatenation"),
        Op::ZeroExtend(a) if matches!(pool.op(a), Op::ZeroExtend(_)) => {
            Some("6: an extension of an extension")
        }
        Op::SignExtend(a) if matches!(pool.op(a), Op::SignExtend(_)) => {
            Some("6: an extension of an extension")
        }
        Op::ZeroExtend(a) | Op::SignExtend(a) if pool.width(a) == width => {
            Some("6: an extension by no bits")
        }
        Op::Concat(a, _) if matches!(pool.op(a), Op::Concat(..)) => {
            Some("7: a concatenation leans to the left")
        }
        Op::Concat(a, b) => {
            let next = match pool.op(b) {
                Op::Concat(next, _) => next,
                _ => b,
            };
            match (pool.op(a), pool.op(next)) {
                (Op::Const(_), Op::Const(_)) => Some("7: neighbouring constants"),
                (Op::Extract { lo, arg: x }, Op::Extract { lo: below, arg: y })
                    if x == y && lo == below + pool.width(next) =>
                {
                    Some("7: neighbouring extracts")
                }
                _ => None,
            }
        }
        Op::Extract { arg, .. } => match pool.op(arg) {
            Op::Concat(..) | Op::ZeroExtend(_) | Op::SignExtend(_) | Op::Extract { .. } => {
                Some("8: an extract of a concatenation, an extension or an extract")
            }
            _ if pool.width(arg) == width => Some("8: an extract of everything"),
            _ => None,
        },
        Op::Ite(c, _, _) if matches!(pool.op(c), Op::Not(_)) => Some("9: a negated condition"),
        Op::Ite(_, a, b) if a == b => Some("9: equal branches"),
        Op::Ite(_, a, b) if pool.is_bool(term) && (is_constant(a) || is_constant(b)) => {
            Some("9: a constant Bool branch")
        }
        Op::Not(a) => match pool.op(a) {
            Op::Not(_) => Some("11: a double negation"),
            Op::And(..) | Op::Or(..) if pool.is_bool(term) => Some("11: a negated connective"),
            _ => None,
        },
        Op::Xor(..) if pool.sort(term) == Sort::Bool => Some("11: an exclusive or of Bools"),
        Op::Eq(a, b) | Op::Ult(a, b) | Op::Slt(a, b) => {
            let chosen = |t: Term| matches!(pool.op(t), Op::Ite(_, x, y) if is_constant(x) && is_constant(y));
            let same_extension = match (pool.op(a), pool.op(b)) {
                (Op::ZeroExtend(x), Op::ZeroExtend(y)) | (Op::SignExtend(x), Op::SignExtend(y)) => {
                    pool.width(x) == pool.width(y)
                }
                _ => false,
            };
            if chosen(a) && is_constant(b) {
                Some("10: a truth value is compared as a number")
            } else if extends(a) && is_constant(b) {
                Some("12: an extension is compared with a constant")
            } else if same_extension {
                Some("12: extensions from one width are compared")
            } else if matches!(op, Op::Eq(..))
                && matches!(pool.op(a), Op::Concat(..))
                && is_constant(b)
            {
                Some("12: a concatenation equals a constant")
            } else {
                None
            }
        }
        _ => None,
    }
}

/// The term made again from its operands by the constructors: in normal form, the term itself.
pub fn rebuilt(pool: &mut Pool, term: Term) -> Term {
    let width = pool.width(term);
    match pool.op(term) {
        Op::Const(value) => pool.constant_of(pool.sort(term), value),
        Op::Byte(byte) => pool.byte(byte),
        Op::Not(a) => pool.not(a),
        Op::Neg(a) => pool.neg(a),
        Op::And(a, b) => pool.and(a, b),
        Op::Or(a, b) => pool.or(a, b),
        Op::Xor(a, b) => pool.xor(a, b),
        Op::Add(a, b) => pool.add(a, b),
        Op::Sub(a, b) => pool.sub(a, b),
        Op::Mul(a, b) => pool.mul(a, b),
        Op::UDiv(a, b) => pool.udiv(a, b),
        Op::URem(a, b) => pool.urem(a, b),
        Op::SDiv(a, b) => pool.sdiv(a, b),
        Op::SRem(a, b) => pool.srem(a, b),
        Op::Shl(a, b) => pool.shl(a, b),
        Op::LShr(a, b) => pool.lshr(a, b),
        Op::AShr(a, b) => pool.ashr(a, b),
        Op::Concat(a, b) => pool.concat(a, b),
        Op::Extract { lo, arg } => pool.extract(lo + width - 1, lo, arg),
        Op::ZeroExtend(a) => pool.zero_extend(width, a),
        Op::SignExtend(a) => pool.sign_extend(width, a),
        Op::Ite(c, a, b) => pool.ite(c, a, b),
        Op::Table(table, index) => pool.table(table, index),
        Op::Eq(a, b) => pool.eq(a, b),
        Op::Ult(a, b) => pool.ult(a, b),
        Op::Slt(a, b) => pool.slt(a, b),
    }
}
