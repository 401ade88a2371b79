//! Layer 3a: bounds.
//!
//! Every term of a part lies between bounds that follow from the domains of its bytes and from the
//! literals about it. Where they cross, nothing satisfies the part: a sum that no bytes can reach,
//! a field that one literal wants below and another above, a length that fits behind no offset.
//! Only `Unsat` is ever concluded. Where they do not cross, they guide the repair of values.

use stunt_terms::{Kind, Pool, mask};

use super::Part;
use super::sheet::{Place, Sheet};

/// How often the bounds are worked out anew from what the literals added.
const PASSES: usize = 3;
/// The largest table that is read through.
const MOST_ENTRIES: u128 = 1024;

/// The smallest and the largest value that a term may have.
pub(crate) type Range = (u128, u128);

/// For each place of the part's sheet the values that it may have; `None` if that shows that
/// nothing satisfies the part.
pub(crate) fn ranges(pool: &Pool, sheet: &Sheet<'_>, part: &Part) -> Option<Vec<Range>> {
    let mut bounds = Bounds { sheet, of: Vec::with_capacity(sheet.len()) };
    for (_, domain) in &part.domains {
        let (first, last) = (domain.nth(0)?, domain.nth(domain.len() - 1)?);
        bounds.of.push((first.into(), last.into()));
    }
    for at in bounds.of.len()..sheet.len() {
        let facts = pool.facts(sheet.term(at as Place).expect("no byte"));
        bounds.of.push((facts.min, facts.max));
    }
    for _ in 0..PASSES {
        if !sheet.operators().all(|at| bounds.derive(at)) {
            return None;
        }
        let mut changed = false;
        for &literal in sheet.literals() {
            changed |= bounds.assert(literal)?;
        }
        if !changed {
            break;
        }
        for at in sheet.operators().rev() {
            bounds.hand_down(at)?;
        }
    }
    Some(bounds.of)
}

struct Bounds<'a> {
    sheet: &'a Sheet<'a>,
    /// For each place the bounds so far.
    of: Vec<Range>,
}

impl Bounds<'_> {
    fn range(&self, at: Place) -> Range {
        self.of[at as usize]
    }

    /// Narrows the bounds of a term; whether they changed, or `None` if they cross.
    fn narrow(&mut self, at: Place, (first, last): Range) -> Option<bool> {
        let old = self.range(at);
        let new = (first.max(old.0), last.min(old.1));
        self.of[at as usize] = new;
        (new.0 <= new.1).then_some(new != old)
    }

    /// Works out a term's bounds from those of its operands; false if they cross.
    fn derive(&mut self, at: Place) -> bool {
        let range = match self.sheet.is_bool(at) {
            true => self.truth_by_operands(at),
            false => self.range_by_operands(at),
        };
        range.is_none_or(|range| self.narrow(at, range).is_some())
    }

    fn range_by_operands(&self, at: Place) -> Option<Range> {
        let all = mask(self.sheet.width(at));
        let [x, y, z] = self.sheet.operands(at);
        let ((a, b), (c, d)) = (self.range(x), self.range(y));
        match self.sheet.kind(at) {
            Kind::ZeroExtend => Some((a, b)),
            Kind::Concat => {
                let low = self.sheet.width(y);
                Some((a << low | c, b << low | d))
            }
            Kind::Not => Some((!b & all, !a & all)),
            Kind::Add => {
                let (first, last) = (a.checked_add(c)?, b.checked_add(d)?);
                // All sums wrap once, or none does.
                match (first > all, last > all) {
                    (false, false) => Some((first, last)),
                    (true, true) => Some((first - all - 1, last - all - 1)),
                    _ => None,
                }
            }
            Kind::Sub => Some((a.checked_sub(d)?, b.checked_sub(c)?)),
            Kind::Mul => {
                let last = b.checked_mul(d).filter(|&last| last <= all)?;
                Some((a * c, last))
            }
            Kind::UDiv => Some((a / d.max(1), b.checked_div(c)?)),
            Kind::URem => Some((0, if c == 0 { b } else { b.min(d - 1) })),
            Kind::Extract => {
                let lo = self.sheet.lowest_bit(at);
                let (a, b) = (a >> lo, b >> lo);
                // The bits above are the same in all values.
                (a & !all == b & !all).then_some((a & all, b & all))
            }
            Kind::And => Some((0, b.min(d))),
            Kind::Or => Some((a.max(c), all)),
            Kind::Ite => {
                let (e, f) = self.range(z);
                Some((c.min(e), d.max(f)))
            }
            Kind::Table => {
                let table = self.sheet.table(at)?;
                if b - a >= MOST_ENTRIES {
                    return None;
                }
                let entries = (a..=b).map(|i| u128::from(table.read(i)));
                entries.fold(None, |range: Option<Range>, e| {
                    Some(range.map_or((e, e), |(a, b)| (a.min(e), b.max(e))))
                })
            }
            Kind::Const
            | Kind::Byte
            | Kind::Neg
            | Kind::Xor
            | Kind::SDiv
            | Kind::SRem
            | Kind::Shl
            | Kind::LShr
            | Kind::AShr
            | Kind::SignExtend
            | Kind::Eq
            | Kind::Ult
            | Kind::Slt => None,
        }
    }

    /// Whether a Bool term is true, false, or either.
    fn truth_by_operands(&self, at: Place) -> Option<Range> {
        const TRUE: Option<Range> = Some((1, 1));
        const FALSE: Option<Range> = Some((0, 0));
        let [x, y, _] = self.sheet.operands(at);
        let ((a, b), (c, d)) = (self.range(x), self.range(y));
        match self.sheet.kind(at) {
            Kind::Not => Some((1 - b, 1 - a)),
            Kind::And => Some((a.min(c), b.min(d))),
            Kind::Or => Some((a.max(c), b.max(d))),
            Kind::Eq if b < c || d < a => FALSE,
            Kind::Eq if a == b && c == d => TRUE,
            Kind::Ult if b < c => TRUE,
            Kind::Ult if a >= d => FALSE,
            _ => None,
        }
    }

    /// What the truth of a literal says about the bounds of its operands; whether anything changed,
    /// or `None` if it cannot hold.
    fn assert(&mut self, literal: Place) -> Option<bool> {
        let mut changed = self.narrow(literal, (1, 1))?;
        let (mut test, mut holds) = (literal, true);
        // Of a disjunction only one side may be left.
        loop {
            let [x, y, _] = self.sheet.operands(test);
            match self.sheet.kind(test) {
                Kind::Not => (test, holds) = (x, !holds),
                Kind::Or if holds && self.range(x) == (0, 0) => test = y,
                Kind::Or if holds && self.range(y) == (0, 0) => test = x,
                _ => break,
            }
            let truth = u128::from(holds);
            changed |= self.narrow(test, (truth, truth))?;
        }
        let [x, y, _] = self.sheet.operands(test);
        Some(
            changed
                | match (self.sheet.kind(test), holds) {
                    (Kind::Eq, true) if !self.sheet.is_bool(x) => {
                        let more = self.narrow(x, self.range(y))?;
                        self.narrow(y, self.range(x))? | more
                    }
                    (Kind::Ult, holds) if let Some(c) = self.sheet.constant(y) => {
                        self.compared(x, c, holds)?
                    }
                    (Kind::Ult, true) => self.in_order(x, y, 1)?,
                    (Kind::Ult, false) => self.in_order(y, x, 0)?,
                    _ => false,
                },
        )
    }

    /// What the bounds of a term say about its operands; `None` if they cross.
    fn hand_down(&mut self, at: Place) -> Option<()> {
        let [x, y, _] = self.sheet.operands(at);
        let all = mask(self.sheet.width(at));
        let (first, last) = self.range(at);
        let ((a, b), (c, d)) = (self.range(x), self.range(y));
        match self.sheet.kind(at) {
            Kind::ZeroExtend => {
                self.narrow(x, (first, last))?;
            }
            Kind::Concat => {
                let low = self.sheet.width(y);
                self.narrow(x, (first >> low, last >> low))?;
                if first >> low == last >> low {
                    self.narrow(y, (first & mask(low), last & mask(low)))?;
                }
            }
            Kind::Add if b.checked_add(d).is_some_and(|most| most <= all) => {
                self.narrow(x, (first.saturating_sub(d), last.checked_sub(c)?))?;
                self.narrow(y, (first.saturating_sub(b), last.checked_sub(a)?))?;
            }
            Kind::Mul if b.checked_mul(d).is_some_and(|most| most <= all) => {
                self.narrow(x, (first.div_ceil(d.max(1)), last.checked_div(c).unwrap_or(all)))?;
                self.narrow(y, (first.div_ceil(b.max(1)), last.checked_div(a).unwrap_or(all)))?;
            }
            _ => {}
        }
        Some(())
    }

    /// `x < c`, or not, as bounds of what is tested: for a range check `x = y + k` that is `y`.
    fn compared(&mut self, x: Place, c: u128, holds: bool) -> Option<bool> {
        let all = mask(self.sheet.width(x));
        let [y, k, _] = self.sheet.operands(x);
        let (subject, shift) = match self.sheet.constant(k) {
            Some(k) if self.sheet.kind(x) == Kind::Add => (y, k),
            _ => (x, 0),
        };
        let first = shift.wrapping_neg() & all;
        let last = first.wrapping_add(c).wrapping_sub(1) & all;
        let (first, last) = match holds {
            true => (first, last),
            false => (last.wrapping_add(1) & all, first.wrapping_sub(1) & all),
        };
        if first <= last {
            return self.narrow(subject, (first, last));
        }
        // All values but some in the middle: a bound among those moves past them.
        let (least, most) = self.range(subject);
        let least = if least > last { least.max(first) } else { least };
        let most = if most < first { most.min(last) } else { most };
        self.narrow(subject, (least, most))
    }

    /// `x + gap <= y`; `None` if that cannot be.
    fn in_order(&mut self, x: Place, y: Place, gap: u128) -> Option<bool> {
        let (least, most) = (self.range(x).0.checked_add(gap)?, self.range(y).1.checked_sub(gap)?);
        let more = self.narrow(x, (0, most))? | self.narrow(y, (least, u128::MAX))?;
        Some(self.moved_over(x, y, gap)? | more)
    }

    /// `x + gap <= s - t` is `x + t + gap <= s`, and `s - t + gap <= y` is `s + gap <= y + t`, if
    /// the difference is not negative: where there is such a sum, it is bounded.
    fn moved_over(&mut self, x: Place, y: Place, gap: u128) -> Option<bool> {
        let mut changed = false;
        if let Some((s, t)) = self.difference(y)
            && let Some(sum) = self.sheet.sum_of(x, t)
        {
            // As a number the sum is at most `s`, so it does not wrap.
            let most = self.range(s).1.checked_sub(gap)?;
            changed |= self.narrow(sum, (0, most))?;
        }
        if let Some((s, t)) = self.difference(x)
            && let Some(sum) = self.sheet.sum_of(y, t)
            && let Some(most) = self.range(y).1.checked_add(self.range(t).1)
            && most <= mask(self.sheet.width(sum))
        {
            let least = self.range(s).0.checked_add(gap)?;
            changed |= self.narrow(sum, (least, u128::MAX))?;
        }
        Some(changed)
    }

    /// The operands of a difference that is not negative.
    fn difference(&self, at: Place) -> Option<(Place, Place)> {
        let [s, t, _] = self.sheet.operands(at);
        let positive = || self.range(s).0 >= self.range(t).1;
        (self.sheet.kind(at) == Kind::Sub && positive()).then_some((s, t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::sheet::Marks;
    use rand::seq::SliceRandom;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use stunt_models::{Condition, Masks};
    use stunt_shapes::random::narrow;
    use stunt_shapes::{Random, input, places};
    use stunt_terms::Term;

    /// Compares the ranges with all solutions of each part of several bytes; how many parts had
    /// none, how many of those the bounds found out, and how many parts had solutions.
    fn compare(pool: &Pool, condition: &Condition) -> [usize; 3] {
        let mut tally = [0; 3];
        for component in condition.components().filter(|component| component.len() > 1) {
            let part = Part::of(component);
            let mut sheet = Sheet::new(pool, &mut Marks::default(), &part);
            let ranges = ranges(pool, &sheet, &part);
            let sizes: Vec<u32> = part.domains.iter().map(|(_, domain)| domain.len()).collect();
            let mut solutions = 0;
            for case in 0..sizes.iter().product() {
                let mut rest = case;
                for ((_, domain), place) in part.domains.iter().zip(0..) {
                    sheet.set(place, domain.nth(rest % domain.len()).expect("a rank in the size"));
                    rest /= domain.len();
                }
                sheet.work_out();
                if sheet.holds() {
                    solutions += 1;
                    let ranges = ranges.as_ref().expect("there is a solution");
                    for (&(first, last), at) in ranges.iter().zip(0..) {
                        assert!((first..=last).contains(&sheet.value(at)));
                    }
                }
            }
            tally[2] += usize::from(solutions > 0);
            tally[0] += usize::from(solutions == 0);
            tally[1] += usize::from(ranges.is_none());
        }
        tally
    }

    #[test]
    fn every_solution_is_within_the_ranges() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let (mut pool, mut masks, mut sum) = (Pool::new(), Masks::new(), [0; 3]);
        for _ in 0..600 {
            let mut condition = Condition::new();
            for byte in places(3) {
                let literal = narrow(&mut pool, &mut rng, byte, 6);
                condition.push(&pool, &mut masks, literal);
            }
            let random = Random::new(3, &[3, 8, 8, 16, 32, 64], 64);
            for _ in 0..3 {
                let literal = random.truth(&mut pool, &mut rng, 2);
                condition.push(&pool, &mut masks, literal);
            }
            let tally = compare(&pool, &condition);
            sum = std::array::from_fn(|i| sum[i] + tally[i]);
        }
        assert!(sum[0] > 100 && sum[1] > 20 && sum[2] > 100, "all kinds occur: {sum:?}");
    }

    /// `off <= size`, `len <= size - off` and the like, with sums and products of bytes.
    #[test]
    fn offsets_and_lengths() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        let (mut pool, mut masks, mut sum) = (Pool::new(), Masks::new(), [0; 3]);
        for _ in 0..400 {
            let bytes = input(&mut pool, 0, 2);
            let size = pool.constant(8, rng.r#gen::<u8>().into());
            let rest = pool.sub(size, bytes[0]);
            let ends = [pool.add(bytes[0], bytes[1]), pool.mul(bytes[0], bytes[1]), rest, bytes[0]];
            let [x, y] = [bytes[0], bytes[1]].map(|byte| pool.zero_extend(16, byte));
            let wide = [pool.add(x, y), pool.mul(x, y)];
            let mut condition = Condition::new();
            for literal in [pool.ule(bytes[0], size), pool.ule(bytes[1], rest)] {
                condition.push(&pool, &mut masks, literal);
            }
            for _ in 0..2 {
                let end = *[&ends[..], &wide].concat().choose(&mut rng).expect("not empty");
                let width = pool.width(end);
                let bound = pool.constant(width, rng.gen_range(0..1 << (width.min(9))));
                let literal: Term = match rng.gen_range(0..3) {
                    0 => pool.ult(bound, end),
                    1 => pool.ult(end, bound),
                    _ => pool.ule(bytes[1], rest),
                };
                condition.push(&pool, &mut masks, literal);
            }
            if !condition.is_contradiction() {
                let tally = compare(&pool, &condition);
                sum = std::array::from_fn(|i| sum[i] + tally[i]);
            }
        }
        assert!(sum[1] > 40 && sum[1] * 4 >= sum[0] * 3 && sum[2] > 200, "{sum:?}");
    }
}
