//! Terms to bits, over any algebra.
//!
//! Always: a term is worked out once and its bits are kept; bits are lowest first, and a Bool is
//! one bit. The walk is iterative, so that terms may be as deep as memory allows. When the algebra
//! stops, everything worked out before stays usable.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use stunt_terms::{Op, Pool, Term};

use crate::algebra::Algebra;
use crate::{arith, compare, select, shift};

type Bits<A> = Rc<[<A as Algebra>::Bit]>;

/// A division that was asked for: signed or not, dividend, divisor.
type Division = (bool, Term, Term);

/// Interprets terms of one pool in an algebra.
pub struct Blaster<A: Algebra> {
    /// Where the bits live.
    pub algebra: A,
    known: FxHashMap<Term, Bits<A>>,
    /// Quotient and remainder come from one circuit.
    divisions: FxHashMap<Division, (Bits<A>, Bits<A>)>,
    stack: Vec<Term>,
}

impl<A: Algebra> Blaster<A> {
    /// A blaster that has seen no terms.
    pub fn new(algebra: A) -> Blaster<A> {
        let (known, divisions) = (FxHashMap::default(), FxHashMap::default());
        Blaster { algebra, known, divisions, stack: Vec::new() }
    }

    /// The bits of a term, lowest first. All terms must come from one pool.
    pub fn bits(&mut self, pool: &Pool, term: Term) -> Result<Rc<[A::Bit]>, A::Stop> {
        self.stack.clear();
        self.stack.push(term);
        while let Some(&top) = self.stack.last() {
            let pending = self.stack.len();
            if !self.known.contains_key(&top) {
                let op = pool.op(top);
                for operand in op.operands() {
                    if !self.known.contains_key(&operand) {
                        self.stack.push(operand);
                    }
                }
                if self.stack.len() > pending {
                    continue;
                }
                let bits = self.apply(pool, top, op)?;
                debug_assert_eq!(bits.len(), usize::from(pool.width(top)));
                self.known.insert(top, bits);
            }
            self.stack.pop();
        }
        Ok(self.known[&term].clone())
    }

    /// The bit of a Bool term.
    pub fn truth(&mut self, pool: &Pool, term: Term) -> Result<A::Bit, A::Stop> {
        debug_assert!(pool.is_bool(term));
        Ok(self.bits(pool, term)?[0].clone())
    }

    /// How many terms have bits.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether no term has bits yet.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    fn apply(&mut self, pool: &Pool, term: Term, op: Op) -> Result<Bits<A>, A::Stop> {
        let width = usize::from(pool.width(term));
        let of = |t: Term| self.known[&t].clone();
        let z = &mut self.algebra;
        let one = |bit: A::Bit| vec![bit];
        let bits: Vec<A::Bit> = match op {
            Op::Const(value) => (0..width).map(|i| z.constant(value >> i & 1 == 1)).collect(),
            Op::Byte(byte) => z.byte(byte)?.into(),
            Op::Not(a) => of(a).iter().map(|bit| z.not(bit)).collect(),
            Op::Neg(a) => arith::negative(z, &of(a))?,
            Op::And(a, b) => zip(&of(a), &of(b), |x, y| z.and(x, y))?,
            Op::Or(a, b) => zip(&of(a), &of(b), |x, y| z.or(x, y))?,
            Op::Xor(a, b) => zip(&of(a), &of(b), |x, y| z.xor(x, y))?,
            Op::Add(a, b) => arith::sum(z, &of(a), &of(b))?,
            Op::Sub(a, b) => arith::difference(z, &of(a), &of(b))?,
            Op::Mul(a, b) => arith::product(z, &of(a), &of(b))?,
            Op::UDiv(a, b) => return Ok(self.division((false, a, b))?.0),
            Op::URem(a, b) => return Ok(self.division((false, a, b))?.1),
            Op::SDiv(a, b) => return Ok(self.division((true, a, b))?.0),
            Op::SRem(a, b) => return Ok(self.division((true, a, b))?.1),
            Op::Shl(a, b) => shift::left(z, &of(a), &of(b))?,
            Op::LShr(a, b) => {
                let zero = z.constant(false);
                shift::right(z, &of(a), &of(b), &zero)?
            }
            Op::AShr(a, b) => {
                let a = of(a);
                shift::right(z, &a, &of(b), &a[width - 1])?
            }
            Op::Concat(high, low) => of(low).iter().chain(of(high).iter()).cloned().collect(),
            Op::Extract { lo, arg } => of(arg)[usize::from(lo)..][..width].to_vec(),
            Op::ZeroExtend(a) => {
                let mut bits = of(a).to_vec();
                bits.resize(width, z.constant(false));
                bits
            }
            Op::SignExtend(a) => {
                let mut bits = of(a).to_vec();
                bits.resize(width, bits[bits.len() - 1].clone());
                bits
            }
            Op::Ite(c, a, b) => select::select_all(z, &of(c)[0], &of(a), &of(b))?,
            Op::Table(table, index) => select::table(z, pool.table_data(table), &of(index))?,
            Op::Eq(a, b) => one(compare::equal(z, &of(a), &of(b))?),
            Op::Ult(a, b) => one(compare::unsigned_less(z, &of(a), &of(b))?),
            Op::Slt(a, b) => one(compare::signed_less(z, &of(a), &of(b))?),
        };
        Ok(bits.into())
    }

    fn division(&mut self, division: Division) -> Result<(Bits<A>, Bits<A>), A::Stop> {
        if let Some(found) = self.divisions.get(&division) {
            return Ok(found.clone());
        }
        let (signed, a, b) = division;
        let (a, b) = (self.known[&a].clone(), self.known[&b].clone());
        let (quotient, rest) = if signed {
            arith::divide_signed(&mut self.algebra, &a, &b)?
        } else {
            arith::divide(&mut self.algebra, &a, &b)?
        };
        let both: (Bits<A>, Bits<A>) = (quotient.into(), rest.into());
        self.divisions.insert(division, both.clone());
        Ok(both)
    }
}

fn zip<B, S>(a: &[B], b: &[B], mut gate: impl FnMut(&B, &B) -> Result<B, S>) -> Result<Vec<B>, S> {
    a.iter().zip(b).map(|(a, b)| gate(a, b)).collect()
}
