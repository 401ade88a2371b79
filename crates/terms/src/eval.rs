//! Evaluation of terms under an assignment: total, each shared term once.
//!
//! The evaluator keeps the values that it has worked out, so that many terms over one assignment
//! cost no more than their union. For many assignments of one term, see `program.rs`.

use crate::assignment::Assignment;
use crate::pool::Pool;
use crate::term::{Op, Term};
use crate::value;

/// Evaluates terms of one pool under one assignment at a time.
#[derive(Default)]
pub struct Evaluator {
    /// For each term the round in which its value was worked out. Apart from the values, so that
    /// asking whether a value is known touches little memory.
    rounds: Vec<u32>,
    values: Vec<u128>,
    round: u32,
    stack: Vec<Term>,
}

impl Evaluator {
    /// An evaluator that knows no values.
    pub fn new() -> Evaluator {
        Evaluator { round: 1, ..Evaluator::default() }
    }

    /// Forgets all values; to be called when the assignment changes.
    pub fn reset(&mut self) {
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.rounds.clear();
            1
        });
    }

    /// The value of `term` under `assignment`: a number within its width, 0 or 1 for a Bool.
    /// Values of earlier calls are used again until [`Evaluator::reset`].
    pub fn eval(&mut self, pool: &Pool, term: Term, assignment: &Assignment) -> u128 {
        if self.rounds.len() < pool.len() {
            self.rounds.resize(pool.len(), 0);
            self.values.resize(pool.len(), 0);
        }
        self.stack.push(term);
        while let Some(&top) = self.stack.last() {
            let pending = self.stack.len();
            if self.rounds[top.index()] != self.round {
                for operand in pool.operands(top) {
                    if self.rounds[operand.index()] != self.round {
                        self.stack.push(operand);
                    }
                }
                if self.stack.len() > pending {
                    continue;
                }
                let value = self.apply(pool, top, pool.op(top), assignment);
                (self.rounds[top.index()], self.values[top.index()]) = (self.round, value);
            }
            self.stack.pop();
        }
        self.values[term.index()]
    }

    /// Whether a Bool term holds under `assignment`.
    pub fn holds(&mut self, pool: &Pool, term: Term, assignment: &Assignment) -> bool {
        self.eval(pool, term, assignment) == 1
    }

    fn apply(&self, pool: &Pool, term: Term, op: Op, assignment: &Assignment) -> u128 {
        let v = |t: Term| self.values[t.index()];
        let width = pool.width(term);
        match op {
            Op::Const(c) => c,
            Op::Byte(byte) => u128::from(assignment.get(byte)),
            Op::Not(a) => value::truncate(pool.sort(term), !v(a)),
            Op::Neg(a) => value::neg(width, v(a)),
            Op::And(a, b) => v(a) & v(b),
            Op::Or(a, b) => v(a) | v(b),
            Op::Xor(a, b) => v(a) ^ v(b),
            Op::Add(a, b) => value::add(width, v(a), v(b)),
            Op::Sub(a, b) => value::sub(width, v(a), v(b)),
            Op::Mul(a, b) => value::mul(width, v(a), v(b)),
            Op::UDiv(a, b) => value::udiv(width, v(a), v(b)),
            Op::URem(a, b) => value::urem(v(a), v(b)),
            Op::SDiv(a, b) => value::sdiv(width, v(a), v(b)),
            Op::SRem(a, b) => value::srem(width, v(a), v(b)),
            Op::Shl(a, b) => value::shl(width, v(a), v(b)),
            Op::LShr(a, b) => value::lshr(width, v(a), v(b)),
            Op::AShr(a, b) => value::ashr(width, v(a), v(b)),
            Op::Concat(a, b) => value::concat(pool.width(b), v(a), v(b)),
            Op::Extract { lo, arg } => value::extract(width, lo, v(arg)),
            Op::ZeroExtend(a) => v(a),
            Op::SignExtend(a) => value::sign_extend(pool.width(a), width, v(a)),
            Op::Ite(c, a, b) => v(if v(c) == 1 { a } else { b }),
            Op::Table(table, index) => u128::from(pool.table_data(table).read(v(index))),
            Op::Eq(a, b) => u128::from(v(a) == v(b)),
            Op::Ult(a, b) => u128::from(v(a) < v(b)),
            Op::Slt(a, b) => u128::from(value::slt(pool.width(a), v(a), v(b))),
        }
    }
}
