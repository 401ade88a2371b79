//! A condition made simpler before anyone counts it: other literals, the same solutions.
//!
//! Literals over one byte give the byte a set of values, its domain. Every other literal is read
//! under the domains and under what the others say: a part that must be true or false is a
//! constant, a byte with one value is that value, a term that a literal equates with a constant is
//! that constant. What follows from the rest goes; what is left of one byte narrows its domain, and
//! so on until nothing changes. Library functions that look at 16 bytes at once leave conditions
//! which later ones imply, and which connect everything with everything unless they go.
//!
//! What always holds: the solutions are exactly those of the literals that were given. Nothing here
//! knows an input: the result depends on the condition alone.

use rustc_hash::{FxHashMap, FxHashSet};
use stunt_models::{ByteSet, Masks};
use stunt_terms::{InputByte, Op, Pool, Term, mask};

use crate::numbers::told_by_digits;
use crate::ranges::Ranges;
use crate::zeros::told_by_bytes;

/// The rounds after which the rest stays as it is. Each round is sound by itself.
const MOST_ROUNDS: usize = 40;

/// A number has at most so many digits that are told one after the other in one go.
const MOST_DIGITS: usize = 64;

/// Literals with the same solutions as those that were given: those over one byte first.
pub(crate) fn simplify(pool: &mut Pool, masks: &mut Masks, literals: &[Term]) -> Vec<Term> {
    let mut work = Simplifier {
        pool,
        masks,
        domains: FxHashMap::default(),
        unary: Vec::new(),
        ranges: Ranges::default(),
        slices: FxHashMap::default(),
    };
    match work.run(literals) {
        Ok(open) => {
            let mut all = work.unary;
            all.extend(open);
            all
        }
        Err(Contradiction) => vec![pool.boolean(false)],
    }
}

/// Nothing satisfies the condition.
struct Contradiction;

struct Simplifier<'a> {
    pool: &'a mut Pool,
    masks: &'a mut Masks,
    /// What the literals over one byte leave of each byte.
    domains: FxHashMap<InputByte, ByteSet>,
    /// The literals that made the domains.
    unary: Vec<Term>,
    /// Of terms, under the domains as they were when this round began or are now.
    ranges: Ranges,
    /// Of terms: parts that literals equate with constants, as lowest bit, width and value.
    slices: FxHashMap<Term, Vec<(u8, u8, u128)>>,
}

impl Simplifier<'_> {
    /// The literals over several bytes that are left.
    fn run(&mut self, literals: &[Term]) -> Result<Vec<Term>, Contradiction> {
        let mut open: Vec<Term> = Vec::new();
        let mut changed: FxHashSet<InputByte> = FxHashSet::default();
        let mut seen = FxHashSet::default();
        for &literal in literals {
            self.take(literal, &mut open, &mut seen, &mut changed)?;
        }
        let mut known: FxHashMap<Term, Term> = FxHashMap::default();
        for _ in 0..MOST_ROUNDS {
            open = self.ranges_joined(&open)?;
            open = self.slices_joined(&open)?;
            // A literal is read again only if something below it has become known.
            let newly = self.facts(&open, &mut known);
            if changed.is_empty() && newly.is_empty() {
                break;
            }
            let mut bytes = std::mem::take(&mut changed);
            bytes.extend(newly.iter().filter_map(|&term| self.pool.support(term).iter().next()));
            self.ranges.clear();
            let mut memo: FxHashMap<Term, Term> = FxHashMap::default();
            let (mut next, mut seen) = (Vec::with_capacity(open.len()), FxHashSet::default());
            for &literal in &open {
                let touched = self.pool.support(literal).iter().any(|byte| bytes.contains(&byte));
                let reread = if touched { self.read(literal, &known, &mut memo) } else { literal };
                self.take(reread, &mut next, &mut seen, &mut changed)?;
            }
            open = next;
        }
        Ok(open)
    }

    /// Takes a literal in: into the domain of its byte, or into `open`; conjunctions in parts.
    fn take(
        &mut self,
        literal: Term,
        open: &mut Vec<Term>,
        seen: &mut FxHashSet<Term>,
        changed: &mut FxHashSet<InputByte>,
    ) -> Result<(), Contradiction> {
        let mut pending = vec![literal];
        while let Some(term) = pending.pop() {
            match self.pool.op(term) {
                Op::And(a, b) => pending.extend([b, a]),
                Op::Const(1) => {}
                Op::Const(_) => return Err(Contradiction),
                _ => match self.masks.mask_of(self.pool, term) {
                    Some((byte, mask)) => {
                        let domain = self.domains.entry(byte).or_insert(ByteSet::ALL);
                        let narrowed = domain.intersect(&mask);
                        if narrowed.is_empty() {
                            return Err(Contradiction);
                        }
                        if narrowed != *domain {
                            *domain = narrowed;
                            self.unary.push(term);
                            changed.insert(byte);
                        }
                    }
                    None => match told_by_bytes(self.pool, term) {
                        Some(told) if told != term => pending.push(told),
                        _ => {
                            if seen.insert(term) {
                                open.push(term);
                            }
                        }
                    },
                },
            }
        }
        Ok(())
    }

    /// What the literals say of terms as a whole: each is true, and a term that one equates with a
    /// constant is that constant. Adds to `known`, and gives what is new there.
    fn facts(&mut self, open: &[Term], known: &mut FxHashMap<Term, Term>) -> Vec<Term> {
        let (yes, no) = (self.pool.boolean(true), self.pool.boolean(false));
        let mut all: FxHashMap<Term, Term> = FxHashMap::default();
        for &literal in open {
            all.insert(literal, yes);
            match self.pool.op(literal) {
                Op::Not(inner) => {
                    all.insert(inner, no);
                }
                Op::Eq(term, constant) if self.pool.as_const(constant).is_some() => {
                    all.insert(term, constant);
                }
                _ => {}
            }
        }
        let newly = all.keys().copied().filter(|term| !known.contains_key(term)).collect();
        *known = all;
        newly
    }

    /// A literal, read under the domains and under what the others say of the terms below it.
    ///
    /// A literal is not read under what it says itself: of the term within a negation, or of the
    /// term that it equates with a constant. So a literal is only ever read under what is said of
    /// smaller terms, and no two literals vouch for each other.
    fn read(
        &mut self,
        literal: Term,
        known: &FxHashMap<Term, Term>,
        memo: &mut FxHashMap<Term, Term>,
    ) -> Term {
        let own = match self.pool.op(literal) {
            Op::Not(inner) => Some(inner),
            Op::Eq(term, constant) if self.pool.as_const(constant).is_some() => Some(term),
            _ => None,
        };
        let mut below: Vec<Term> = self.pool.operands(literal).collect();
        if let Some(own) = own {
            below.retain(|&term| term != own);
            below.extend(self.pool.operands(own));
        }
        self.settle(&below, known, memo);
        let inner = own.map(|own| self.pool.with_operands(own, &mut |_, operand| memo[&operand]));
        let read = self.pool.with_operands(literal, &mut |_, operand| match inner {
            Some(inner) if own == Some(operand) => inner,
            _ => memo[&operand],
        });
        self.decided(read)
    }

    /// Reads terms and all that is below them, operands first; the results are in `memo`.
    fn settle(
        &mut self,
        roots: &[Term],
        known: &FxHashMap<Term, Term>,
        memo: &mut FxHashMap<Term, Term>,
    ) {
        let mut stack: Vec<Term> = Vec::new();
        stack.extend(roots.iter().filter(|root| !memo.contains_key(root)));
        while let Some(&term) = stack.last() {
            if memo.contains_key(&term) {
                stack.pop();
                continue;
            }
            if let Some(read) = self.at_once(term, known) {
                memo.insert(term, read);
                stack.pop();
                continue;
            }
            let before = stack.len();
            for operand in self.pool.operands(term) {
                if !memo.contains_key(&operand) {
                    stack.push(operand);
                }
            }
            if stack.len() > before {
                continue;
            }
            let rebuilt = self.pool.with_operands(term, &mut |_, operand| memo[&operand]);
            let read = self.decided(rebuilt);
            memo.insert(term, read);
            stack.pop();
        }
    }

    /// What a term is without a look at its operands.
    fn at_once(&mut self, term: Term, known: &FxHashMap<Term, Term>) -> Option<Term> {
        if let Some(&constant) = known.get(&term) {
            return Some(constant);
        }
        match self.pool.op(term) {
            Op::Extract { lo, arg } if self.slices.contains_key(&arg) => {
                let width = self.pool.width(term);
                let inside =
                    |&&(low, wide, _): &&(u8, u8, u128)| low <= lo && lo + width <= low + wide;
                let &(low, _, value) = self.slices[&arg].iter().find(inside)?;
                Some(self.pool.constant(width, value >> (lo - low) & mask(width)))
            }
            Op::Const(_) => Some(term),
            Op::Byte(byte) => {
                let domain = self.domains.get(&byte)?;
                if domain.len() > 1 {
                    return Some(term);
                }
                let value = domain.nth(0)?;
                Some(self.pool.constant(8, u128::from(value)))
            }
            _ => {
                let byte = self.pool.support(term).single()?;
                // Nothing is known of its byte: the term stays.
                if !self.domains.contains_key(&byte) {
                    return Some(term);
                }
                self.pool.is_bool(term).then(|| self.decided(term))
            }
        }
    }

    /// A Bool that the domains decide is a constant: over one byte, or a comparison of numbers of
    /// which one is larger anyway.
    fn decided(&mut self, term: Term) -> Term {
        if !self.pool.is_bool(term) {
            return term;
        }
        let Some((byte, mask)) = self.masks.mask_of(self.pool, term) else {
            return self.compared(term);
        };
        let Some(domain) = self.domains.get(&byte) else { return term };
        let inside = domain.intersect(&mask);
        if inside == *domain {
            self.pool.boolean(true)
        } else if inside.is_empty() {
            self.pool.boolean(false)
        } else {
            term
        }
    }

    /// A comparison over several bytes, decided or told by the digits of its number.
    fn compared(&mut self, term: Term) -> Term {
        let mut term = term;
        for _ in 0..MOST_DIGITS {
            if let Some(decided) = self.ranges.decide(self.pool, &self.domains, term) {
                return self.pool.boolean(decided);
            }
            match told_by_digits(self.pool, &mut self.ranges, &self.domains, term) {
                Some(told) if self.pool.support(told).len() > 1 => term = told,
                Some(told) => return self.decided(told),
                None => break,
            }
        }
        term
    }

    /// Equations of parts of one term with constants: those that a wider part implies go.
    fn slices_joined(&mut self, open: &[Term]) -> Result<Vec<Term>, Contradiction> {
        let slice = |literal: Term| {
            let Op::Eq(part, constant) = self.pool.op(literal) else { return None };
            let value = self.pool.as_const(constant)?;
            match self.pool.op(part) {
                Op::Extract { lo, arg } => Some((arg, lo, self.pool.width(part), value)),
                _ => None,
            }
        };
        let mut known: FxHashMap<Term, Vec<(u8, u8, u128)>> = FxHashMap::default();
        for (term, low, width, value) in open.iter().filter_map(|&literal| slice(literal)) {
            known.entry(term).or_default().push((low, width, value));
        }
        let mut kept = Vec::with_capacity(open.len());
        for &literal in open {
            let Some((term, low, width, value)) = slice(literal) else {
                kept.push(literal);
                continue;
            };
            let wider = known[&term].iter().find(|&&(other, more, _)| {
                more > width && other <= low && low + width <= other + more
            });
            match wider {
                None => kept.push(literal),
                Some(&(other, _, whole)) if whole >> (low - other) & mask(width) == value => {}
                Some(_) => return Err(Contradiction),
            }
        }
        self.slices = known;
        Ok(kept)
    }

    /// Literals that keep one term within bounds, joined to one literal.
    fn ranges_joined(&mut self, open: &[Term]) -> Result<Vec<Term>, Contradiction> {
        let mut bounds: FxHashMap<Term, (u128, u128, usize)> = FxHashMap::default();
        for &literal in open {
            if let Some((term, low, high)) = self.range(literal) {
                let entry = bounds.entry(term).or_insert((0, u128::MAX, 0));
                *entry = (entry.0.max(low), entry.1.min(high), entry.2 + 1);
            }
        }
        bounds.retain(|_, (_, _, literals)| *literals > 1);
        if bounds.is_empty() {
            return Ok(open.to_vec());
        }
        let mut kept = Vec::with_capacity(open.len());
        let mut done = FxHashSet::default();
        for &literal in open {
            let term = self.range(literal).map(|(term, _, _)| term);
            let Some((term, &(low, high, _))) =
                term.and_then(|term| Some((term, bounds.get(&term)?)))
            else {
                kept.push(literal);
                continue;
            };
            if !done.insert(term) {
                continue;
            }
            if low > high {
                return Err(Contradiction);
            }
            kept.push(self.within(term, low, high));
        }
        Ok(kept)
    }

    /// A literal that keeps a term between two numbers, both included; not for wrapped ranges.
    fn range(&self, literal: Term) -> Option<(Term, u128, u128)> {
        let pool = &*self.pool;
        match pool.op(literal) {
            Op::Eq(term, constant) if !pool.is_bool(term) => {
                let value = pool.as_const(constant)?;
                Some((term, value, value))
            }
            Op::Ult(term, constant) => {
                let size = pool.as_const(constant)?;
                match pool.op(term) {
                    Op::Add(inner, shift) if pool.as_const(shift).is_some() => {
                        let all = mask(pool.width(term));
                        let low = pool.as_const(shift)?.wrapping_neg() & all;
                        let high = low.checked_add(size.checked_sub(1)?)?;
                        (high <= all).then_some((inner, low, high))
                    }
                    _ => Some((term, 0, size.checked_sub(1)?)),
                }
            }
            Op::Not(inner) => match pool.op(inner) {
                Op::Ult(term, constant) => {
                    // A sum is a range check: what it leaves out is no range.
                    let shifted =
                        matches!(pool.op(term), Op::Add(_, c) if pool.as_const(c).is_some());
                    let low = pool.as_const(constant)?;
                    (!shifted).then(|| (term, low, mask(pool.width(term))))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The literal that a term is between two numbers, both included.
    fn within(&mut self, term: Term, low: u128, high: u128) -> Term {
        let width = self.pool.width(term);
        let all = mask(width);
        if low == high {
            let value = self.pool.constant(width, low);
            return self.pool.eq(term, value);
        }
        if low == 0 && high >= all {
            return self.pool.boolean(true);
        }
        if high >= all {
            let bound = self.pool.constant(width, low);
            let below = self.pool.ult(term, bound);
            return self.pool.not(below);
        }
        let shift = self.pool.constant(width, low.wrapping_neg() & all);
        let shifted = self.pool.add(term, shift);
        let size = self.pool.constant(width, high - low + 1);
        self.pool.ult(shifted, size)
    }
}
