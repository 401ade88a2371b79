//! Terms with other operands: for those who replace a part of a term.

use crate::pool::Pool;
use crate::term::{Op, Term};

impl Pool {
    /// The same operation on other operands: each is what `f` makes of it. Rewritten as any new
    /// term is.
    pub fn with_operands(
        &mut self,
        term: Term,
        f: &mut dyn FnMut(&mut Pool, Term) -> Term,
    ) -> Term {
        let width = self.width(term);
        match self.op(term) {
            Op::Const(_) | Op::Byte(_) => term,
            Op::Not(a) => {
                let a = f(self, a);
                self.not(a)
            }
            Op::Neg(a) => {
                let a = f(self, a);
                self.neg(a)
            }
            Op::And(a, b) => self.with_two(a, b, f, Pool::and),
            Op::Or(a, b) => self.with_two(a, b, f, Pool::or),
            Op::Xor(a, b) => self.with_two(a, b, f, Pool::xor),
            Op::Add(a, b) => self.with_two(a, b, f, Pool::add),
            Op::Sub(a, b) => self.with_two(a, b, f, Pool::sub),
            Op::Mul(a, b) => self.with_two(a, b, f, Pool::mul),
            Op::UDiv(a, b) => self.with_two(a, b, f, Pool::udiv),
            Op::URem(a, b) => self.with_two(a, b, f, Pool::urem),
            Op::SDiv(a, b) => self.with_two(a, b, f, Pool::sdiv),
            Op::SRem(a, b) => self.with_two(a, b, f, Pool::srem),
            Op::Shl(a, b) => self.with_two(a, b, f, Pool::shl),
            Op::LShr(a, b) => self.with_two(a, b, f, Pool::lshr),
            Op::AShr(a, b) => self.with_two(a, b, f, Pool::ashr),
            Op::Concat(a, b) => self.with_two(a, b, f, Pool::concat),
            Op::Eq(a, b) => self.with_two(a, b, f, Pool::eq),
            Op::Ult(a, b) => self.with_two(a, b, f, Pool::ult),
            Op::Slt(a, b) => self.with_two(a, b, f, Pool::slt),
            Op::Extract { lo, arg } => {
                let arg = f(self, arg);
                self.extract(lo + width - 1, lo, arg)
            }
            Op::ZeroExtend(a) => {
                let a = f(self, a);
                self.zero_extend(width, a)
            }
            Op::SignExtend(a) => {
                let a = f(self, a);
                self.sign_extend(width, a)
            }
            Op::Ite(c, a, b) => {
                let (c, a, b) = (f(self, c), f(self, a), f(self, b));
                self.ite(c, a, b)
            }
            Op::Table(table, index) => {
                let index = f(self, index);
                self.table(table, index)
            }
        }
    }

    fn with_two(
        &mut self,
        a: Term,
        b: Term,
        f: &mut dyn FnMut(&mut Pool, Term) -> Term,
        build: fn(&mut Pool, Term, Term) -> Term,
    ) -> Term {
        let (a, b) = (f(self, a), f(self, b));
        build(self, a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replaced_operand_is_rewritten() {
        let mut pool = Pool::new();
        let (x, y) = (pool.input(0, 0), pool.input(0, 1));
        let (sum, five) = (pool.add(x, y), pool.constant(8, 5));
        let same = pool.with_operands(sum, &mut |_, operand| operand);
        assert_eq!(same, sum);
        let other =
            pool.with_operands(sum, &mut |_, operand| if operand == y { five } else { operand });
        assert_eq!(other, pool.add(x, five));
        let low = pool.extract(3, 1, sum);
        let constant = pool.with_operands(low, &mut |_, _| five);
        assert_eq!(pool.as_const(constant), Some(2));
    }
}
