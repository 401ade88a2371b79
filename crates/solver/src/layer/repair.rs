//! Layer 4c: a model by repair.
//!
//! Take some values; pick a literal that fails; decide what its value must be and push that down,
//! operator by operator, to the bytes, as if each operator could be run backwards. A few such moves
//! satisfy most conditions that can be satisfied at all, for the price of a few evaluations. (Path
//! propagation, as in Niemetz, Preiner and Biere, "Propagation based local search for bit-precise
//! reasoning", 2017; here without their heuristics for choosing paths, which pay off only on
//! conditions that go on to the SAT solver anyway.)
//!
//! Every model is evaluated before it is believed. Finding none means nothing.

use stunt_models::ByteSet;
use stunt_terms::{InputByte, Op, Pool, Term, mask, odd_inverse};

use super::{Part, Scratch, Values};

/// Moves that cost next to nothing, and satisfy most parts that can be satisfied.
pub(crate) const FEW_MOVES: usize = 8;
/// Moves for a part that has withstood the few.
pub(crate) const MANY_MOVES: usize = 64;
/// The most terms that all moves together may evaluate.
const MOST_EVALUATED: usize = 1 << 14;

/// Looks for values that satisfy the part, within so many moves.
pub(crate) fn search(
    pool: &Pool,
    scratch: &mut Scratch,
    part: &Part<'_>,
    moves: usize,
) -> Option<Values> {
    let literals: Vec<Term> = part.component.literals().collect();
    let size = pool.reachable(&literals).len();
    let moves = (MOST_EVALUATED / size.max(1)).min(moves);
    if moves < 2 || part.domains.iter().any(|(_, domain)| domain.is_empty()) {
        return None;
    }
    // The same part gets the same moves, whatever was asked before.
    let mut repair =
        Repair { pool, scratch, part, dice: Dice(part.component.fingerprint() as u64 | 1) };
    repair.begin();
    for number in 0..moves {
        repair.scratch.evaluator.reset();
        // Not always the first, or two literals could undo each other for ever.
        let from =
            if number % 2 == 0 { 0 } else { repair.dice.below(literals.len() as u128) as usize };
        let (before, after) = literals.split_at(from);
        match after.iter().chain(before).find(|&&literal| repair.value(literal) == 0) {
            Some(&failing) => repair.push_down(failing),
            None => return Some(repair.values()),
        }
    }
    None
}

/// A small generator of choices (splitmix); nothing here needs good randomness.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `limit`, which is not zero.
    fn below(&mut self, limit: u128) -> u128 {
        let wide = u128::from(self.next()) << 64 | u128::from(self.next());
        wide % limit
    }

    /// A number from `first` to `last`, one of the two ends more often than others.
    fn between(&mut self, first: u128, last: u128) -> u128 {
        debug_assert!(first <= last);
        match self.next() % 4 {
            0 => first,
            1 => last,
            _ if first == 0 && last == u128::MAX => self.below(u128::MAX),
            _ => first + self.below(last - first + 1),
        }
    }

    fn one_in(&mut self, times: u64) -> bool {
        self.next().is_multiple_of(times)
    }

    fn flip(&mut self) -> bool {
        self.one_in(2)
    }
}

struct Repair<'a> {
    pool: &'a Pool,
    scratch: &'a mut Scratch,
    part: &'a Part<'a>,
    dice: Dice,
}

impl Repair<'_> {
    /// Values to begin with: what the bytes had last, where it is allowed.
    fn begin(&mut self) {
        for &(byte, domain) in &self.part.domains {
            let last = self.scratch.assignment.get(byte);
            if !domain.contains(last) {
                self.set_any(byte, domain);
            }
        }
    }

    fn set_any(&mut self, byte: InputByte, domain: ByteSet) {
        let rank = self.dice.below(u128::from(domain.len())) as u32;
        let value = domain.nth(rank).expect("a rank below the size");
        self.scratch.assignment.set(byte, value);
    }

    fn value(&mut self, term: Term) -> u128 {
        let Scratch { evaluator, assignment } = &mut *self.scratch;
        evaluator.eval(self.pool, term, assignment)
    }

    fn values(&self) -> Values {
        let bytes = self.part.domains.iter();
        bytes.map(|&(byte, _)| (byte, self.scratch.assignment.get(byte))).collect()
    }

    /// Changes bytes so that the literal becomes true, as far as its operators can be run backwards.
    /// The values of terms are those before the move throughout.
    fn push_down(&mut self, literal: Term) {
        let mut wanted = vec![(literal, 1u128)];
        while let Some((term, target)) = wanted.pop() {
            if self.value(term) == target {
                continue;
            }
            if let Op::Byte(byte) = self.pool.op(term) {
                let at = self.part.domains.partition_point(|&(other, _)| other < byte);
                let (_, domain) = self.part.domains[at];
                // The nearest value that is allowed, so that sums approach their target; now and
                // then any, so that no two literals pull one byte to and fro for ever.
                let value = nearest(&domain, target as u8);
                if self.dice.one_in(16) && value != target as u8 {
                    self.set_any(byte, domain);
                } else {
                    self.scratch.assignment.set(byte, value);
                }
                continue;
            }
            self.invert(term, target, &mut wanted);
        }
    }

    /// What the operands must be for `term` to have the value `target`, which it has not.
    fn invert(&mut self, term: Term, target: u128, wanted: &mut Vec<(Term, u128)>) {
        let pool = self.pool;
        let width = pool.width(term);
        let all = mask(width);
        // A target below zero comes from a difference; a number that cannot be negative is zero then.
        let is_negative = target >> (width - 1) & 1 == 1;
        match pool.op(term) {
            Op::Const(_) | Op::Byte(_) => {}
            Op::Not(x) => wanted.push((x, !target & all)),
            Op::Neg(x) => wanted.push((x, target.wrapping_neg() & all)),
            Op::And(x, y) if pool.is_bool(term) => {
                self.connective(x, y, (target == 1).then_some(1), wanted);
            }
            Op::Or(x, y) if pool.is_bool(term) => {
                self.connective(x, y, (target == 0).then_some(0), wanted);
            }
            Op::And(x, y) => {
                let (x, y) = self.choose(x, y);
                let (old, other) = (self.value(x), self.value(y));
                wanted.push((x, old & !other | target));
            }
            Op::Or(x, y) => {
                let (x, y) = self.choose(x, y);
                let (old, other) = (self.value(x), self.value(y));
                wanted.push((x, old & other | target & !other));
            }
            Op::Xor(x, y) => {
                let (x, y) = self.choose(x, y);
                let other = self.value(y);
                wanted.push((x, target ^ other));
            }
            Op::Add(x, y) => {
                let (x, y) = self.choose(x, y);
                let other = self.value(y);
                wanted.push((x, target.wrapping_sub(other) & all));
            }
            Op::Sub(x, y) => {
                let (old_x, old_y) = (self.value(x), self.value(y));
                let change_x = (x, target.wrapping_add(old_y) & all);
                let change_y = (y, old_x.wrapping_sub(target) & all);
                wanted.push(if self.changes_first(x, y) { change_x } else { change_y });
            }
            Op::Mul(x, y) => {
                let (x, y) = self.choose(x, y);
                let other = self.value(y);
                let factor = self.factor(target, other, all);
                wanted.push((
                    x,
                    if is_negative && !target.is_multiple_of(other.max(1)) { 0 } else { factor },
                ));
            }
            Op::UDiv(x, y) => {
                let (old, by) = (self.value(x), self.value(y).max(1));
                let lowest = target.saturating_mul(by).min(all);
                wanted.push((x, lowest.saturating_add(old % by).min(all)));
            }
            Op::URem(x, y) => {
                let (old, by) = (self.value(x), self.value(y).max(1));
                // Up or down to the next number with that remainder.
                let near = (old - old % by).saturating_add(target % by);
                let next = if self.dice.flip() { near.saturating_add(by) } else { near };
                wanted.push((x, if next > all { near.min(all) } else { next }));
            }
            Op::SDiv(x, y) | Op::SRem(x, y) => {
                let (x, _) = self.choose(x, y);
                let any = self.dice.between(0, all);
                wanted.push((x, any));
            }
            Op::Shl(x, y) => {
                let by = self.value(y).min(127) as u32;
                wanted.push((x, target >> by));
            }
            Op::LShr(x, y) | Op::AShr(x, y) => {
                let by = self.value(y).min(127) as u32;
                wanted.push((x, target << by & all));
            }
            Op::Concat(x, y) => {
                let low = pool.width(y);
                wanted.push((x, target >> low));
                wanted.push((y, target & mask(low)));
            }
            Op::Extract { lo, arg } => {
                let old = self.value(arg);
                wanted.push((arg, old & !(all << lo) | target << lo));
            }
            Op::ZeroExtend(x) => {
                let narrow = mask(pool.width(x));
                wanted.push((x, if is_negative { 0 } else { target.min(narrow) }));
            }
            Op::SignExtend(x) => wanted.push((x, target & mask(pool.width(x)))),
            Op::Ite(c, x, y) => {
                let holds = self.value(c) == 1;
                let (now, other) = if holds { (x, y) } else { (y, x) };
                let turn = self.value(other) == target || pool.as_const(now).is_some();
                if turn || self.dice.one_in(4) {
                    wanted.push((c, u128::from(!holds)));
                    wanted.push((other, target));
                } else {
                    wanted.push((now, target));
                }
            }
            Op::Table(table, index) => {
                let entries = &pool.table_data(table).entries;
                let from = self.dice.below(entries.len().max(1) as u128) as usize;
                let found = (from..entries.len())
                    .chain(0..from)
                    .find(|&i| u128::from(entries[i]) == target);
                if let Some(i) = found {
                    wanted.push((index, i as u128));
                }
            }
            Op::Eq(x, y) => {
                let (x, y) = self.choose(x, y);
                let value = if target == 1 {
                    self.value(y)
                } else {
                    self.dice.between(0, mask(pool.width(x)))
                };
                wanted.push((x, value));
            }
            Op::Ult(x, y) => self.order(x, y, 0, target == 1, wanted),
            Op::Slt(x, y) => {
                let sign = 1 << (pool.width(x) - 1);
                self.order(x, y, sign, target == 1, wanted);
            }
        }
    }

    /// A Bool connective: every operand must have the value, or one of them must change.
    fn connective(
        &mut self,
        x: Term,
        y: Term,
        every: Option<u128>,
        wanted: &mut Vec<(Term, u128)>,
    ) {
        match every {
            Some(value) => wanted.extend([(x, value), (y, value)]),
            None => {
                let x = if self.dice.flip() { x } else { y };
                let value = self.value(x);
                wanted.push((x, 1 - value));
            }
        }
    }

    /// `x < y`, or `y <= x`, after both are turned by `sign`.
    fn order(&mut self, x: Term, y: Term, sign: u128, less: bool, wanted: &mut Vec<(Term, u128)>) {
        let all = mask(self.pool.width(x));
        let (old_x, old_y) = (self.value(x) ^ sign, self.value(y) ^ sign);
        let for_x =
            if less { old_y.checked_sub(1).map(|top| (0, top)) } else { Some((old_y, all)) };
        let for_y = if less { Some((old_x.saturating_add(1), all)) } else { Some((0, old_x)) };
        let for_y = for_y.filter(|(first, last)| first <= last);
        let (term, range) = if self.changes_first(x, y) { (x, for_x) } else { (y, for_y) };
        if let Some((first, last)) = range {
            wanted.push((term, self.dice.between(first, last) ^ sign));
        }
    }

    /// The operand to change first, the one to leave second: never a constant, else either.
    fn choose(&mut self, x: Term, y: Term) -> (Term, Term) {
        if self.changes_first(x, y) { (x, y) } else { (y, x) }
    }

    fn changes_first(&mut self, x: Term, y: Term) -> bool {
        match (self.pool.as_const(x), self.pool.as_const(y)) {
            (Some(_), _) => false,
            (_, Some(_)) => true,
            // By weight, so that every byte of a long sum has its turn.
            _ => {
                let [x, y] = [x, y].map(|t| self.pool.support(t).len() as u128);
                self.dice.below(x + y) < x
            }
        }
    }

    /// A number whose product with `by` is `target`, or near it.
    fn factor(&mut self, target: u128, by: u128, all: u128) -> u128 {
        let Some(quotient) = target.checked_div(by) else { return target };
        let zeros = by.trailing_zeros();
        if quotient * by == target {
            return quotient;
        }
        if target & mask(zeros as u8) != 0 || self.dice.flip() {
            // Below or above: in a decimal number the digits after this one make up for it.
            return (quotient + u128::from(self.dice.flip())) & all;
        }
        // A product that wraps.
        let inverse = odd_inverse(by >> zeros);
        (target >> zeros).wrapping_mul(inverse) & all >> zeros
    }
}

/// The value nearest to `value` in a set that is not empty.
fn nearest(set: &ByteSet, value: u8) -> u8 {
    let up = (value..=255).find(|&v| set.contains(v));
    let down = (0..value).rev().find(|&v| set.contains(v));
    match (up, down) {
        (Some(up), Some(down)) => {
            if up - value <= value - down {
                up
            } else {
                down
            }
        }
        (up, down) => up.or(down).expect("the set is not empty"),
    }
}
