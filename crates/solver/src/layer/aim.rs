//! Operators run backwards: which values of the bytes bring a term into an interval.
//!
//! An aim at a term becomes aims at its operands. Of two operands one is left as it is if the other
//! can make up for it; if not, the one with the larger range goes first, and the other follows what
//! it reached. So a decimal number or a sum meets its target in one go. Ranges are those of the
//! bounds layer: no solution has a value outside of them.
//!
//! Nothing here is certain: terms share bytes, and a later aim may undo an earlier one. What is
//! said to be reached is a guess that the next evaluation checks.

mod arith;

use stunt_models::ByteSet;
use stunt_terms::{Kind, mask};

use super::bounds::Range;
use super::repair::Repair;
use super::sheet::Place;

/// How deep below a literal aims go.
const DEEPEST: u32 = 300;
/// How many steps an aim takes at most. A sum whose operands miss is tried in several ways, each of them
/// with operands that miss: without a bound that would double with every level.
const MOST_STEPS: u32 = 4_000;

impl Repair<'_, '_> {
    /// Changes bytes so that the term gets a value in the range; what it will be.
    pub(super) fn aim(&mut self, at: Place, want: Range) -> u128 {
        self.steps = MOST_STEPS;
        self.bring(at, want, DEEPEST)
    }

    fn value(&self, at: Place) -> u128 {
        self.sheet.value(at)
    }

    fn range(&self, at: Place) -> Range {
        self.ranges[at as usize]
    }

    fn bring(&mut self, at: Place, want: Range, depth: u32) -> u128 {
        // What is out of reach is approached.
        let (first, last) = self.range(at);
        let want = (want.0.clamp(first, last), want.1.clamp(first, last));
        let now = self.value(at);
        if contains(want, now) || depth == 0 || self.steps == 0 {
            return now;
        }
        self.steps -= 1;
        let depth = depth - 1;
        let width = self.sheet.width(at);
        let all = mask(width);
        let [x, y, z] = self.sheet.operands(at);
        match self.sheet.kind(at) {
            Kind::Const => now,
            Kind::Byte => self.bring_byte(at, want),
            Kind::Not => !self.bring(x, (!want.1 & all, !want.0 & all), depth) & all,
            Kind::Neg => {
                let negated = (want.1.wrapping_neg() & all, want.0.wrapping_neg() & all);
                let Some(aim) = self.on_circle(negated, self.range(x), all) else { return now };
                self.bring(x, aim, depth).wrapping_neg() & all
            }
            Kind::And | Kind::Or if self.sheet.is_bool(at) => {
                // True conjunctions and false disjunctions need both operands.
                if (want.0 == 1) == (self.sheet.kind(at) == Kind::And) {
                    self.bring(x, want, depth);
                    self.bring(y, want, depth);
                } else {
                    let either = if self.dice.flip() { x } else { y };
                    self.bring(either, want, depth);
                }
                want.0
            }
            Kind::And => {
                let (x, y) = self.choose(x, y);
                let (old, kept, target) = (self.value(x), self.value(y), self.dice.between(want));
                let wanted = old & !kept | target;
                self.bring(x, (wanted, wanted), depth) & kept
            }
            Kind::Or => {
                let (x, y) = self.choose(x, y);
                let (old, kept, target) = (self.value(x), self.value(y), self.dice.between(want));
                let wanted = old & kept | target & !kept;
                self.bring(x, (wanted, wanted), depth) | kept
            }
            Kind::Xor => {
                let (x, y) = self.choose(x, y);
                let (kept, target) = (self.value(y), self.dice.between(want));
                self.bring(x, (target ^ kept, target ^ kept), depth) ^ kept
            }
            Kind::Add => self.bring_sum(x, y, want, all, depth),
            Kind::Sub => self.bring_difference(x, y, want, all, depth),
            Kind::Mul => self.bring_product(x, y, want, width, depth),
            Kind::UDiv => {
                let by = self.value(y);
                if by == 0 {
                    return now;
                }
                let last = want.1.saturating_mul(by).saturating_add(by - 1).min(all);
                self.bring(x, (want.0.saturating_mul(by).min(last), last), depth) / by
            }
            Kind::URem => self.bring_remainder(x, y, want, depth),
            Kind::SDiv | Kind::SRem => {
                let (x, _) = self.choose(x, y);
                let any = self.dice.between(self.range(x));
                self.bring(x, (any, any), depth);
                want.0
            }
            Kind::Shl => {
                let by = self.value(y).min(127) as u32;
                self.bring(x, (want.0 >> by, want.1 >> by), depth) << by & all
            }
            Kind::LShr | Kind::AShr => {
                let (by, target) = (self.value(y).min(127) as u32, self.dice.between(want));
                let wanted = target << by & all;
                self.bring(x, (wanted, wanted), depth) >> by
            }
            Kind::Concat => {
                // At either end the low part is bounded, maybe by more than it can reach.
                let (low, (least, most)) = (self.sheet.width(y), self.range(y));
                let (first, last) = (want.0 & mask(low), want.1 & mask(low));
                let mut ends = (want.0 >> low, want.1 >> low);
                let inner = (
                    ends.0 + u128::from(first > most),
                    ends.1.wrapping_sub(u128::from(last < least)),
                );
                if inner.0 <= inner.1 && inner.1 <= ends.1 {
                    ends = inner;
                }
                let high = self.bring(x, ends, depth);
                let first = if high == want.0 >> low { first } else { 0 };
                let last = if high == want.1 >> low { last } else { mask(low) };
                high << low | self.bring(y, (first.min(last), last), depth)
            }
            Kind::Extract => {
                // The bits above stay, those below are free.
                let lo = self.sheet.lowest_bit(at);
                let above = self.value(x) & !(mask(lo) | all << lo);
                let aim = (above | want.0 << lo, above | want.1 << lo | mask(lo));
                self.bring(x, aim, depth) >> lo & all
            }
            Kind::ZeroExtend => self.bring(x, want, depth),
            Kind::SignExtend => {
                let narrow = self.sheet.width(x);
                let sign = 1u128 << (narrow - 1);
                let negative = (all & !(sign - 1)).max(want.0);
                let aim = if want.0 < sign {
                    (want.0, want.1.min(sign - 1))
                } else if negative <= want.1 {
                    (negative & mask(narrow), want.1 & mask(narrow))
                } else {
                    return now;
                };
                let reached = self.bring(x, aim, depth);
                if reached < sign { reached } else { reached | all & !mask(narrow) }
            }
            Kind::Ite => {
                let holds = self.value(x) == 1;
                let (now, other) = if holds { (y, z) } else { (z, y) };
                let turn = contains(want, self.value(other)) || !meets(want, self.range(now));
                if turn || self.dice.one_in(4) {
                    let turned = u128::from(!holds);
                    self.bring(x, (turned, turned), depth);
                    self.bring(other, want, depth)
                } else {
                    self.bring(now, want, depth)
                }
            }
            Kind::Table => self.bring_entry(at, x, want, depth),
            Kind::Eq => {
                self.bring_equality(x, y, want.0 == 1, depth);
                want.0
            }
            Kind::Ult => {
                self.bring_order(x, y, 0, want.0 == 1, depth);
                want.0
            }
            Kind::Slt => {
                let sign = 1 << (self.sheet.width(x) - 1);
                self.bring_order(x, y, sign, want.0 == 1, depth);
                want.0
            }
        }
    }

    fn bring_byte(&mut self, at: Place, want: Range) -> u128 {
        let (_, domain) = self.part.domains[at as usize];
        let target = self.dice.between(want) as u8;
        let mut value = nearest(&domain, target);
        // Now and then any, so that no two literals pull one byte to and fro for ever.
        if self.dice.one_in(16) && !contains(want, value.into()) {
            value = self.any(domain);
        }
        self.changes.push((at, value));
        value.into()
    }

    /// The part of a range that is also in an interval on the circle of all values, which may go
    /// past the end and on from zero. One of the two parts, if there are two.
    fn on_circle(&mut self, (first, last): Range, range: Range, all: u128) -> Option<Range> {
        if first <= last {
            return meet((first, last), range);
        }
        let (low, high) = (meet((0, last), range), meet((first, all), range));
        if low.is_some() && (high.is_none() || self.dice.flip()) { low } else { high }
    }

    fn bring_entry(&mut self, at: Place, index: Place, want: Range, depth: u32) -> u128 {
        let now = self.value(at);
        let Some(table) = self.sheet.table(at) else { return now };
        let entries = &table.entries;
        let domain = match self.sheet.kind(index) {
            Kind::Byte => self.part.domains[index as usize].1,
            _ => ByteSet::ALL,
        };
        let (first, last) = self.range(index);
        let is_open = |i: usize| {
            contains((first, last), i as u128)
                && contains(want, entries[i].into())
                && (i > 255 || domain.contains(i as u8))
        };
        let from = self.dice.below(entries.len().max(1) as u128) as usize;
        match (from..entries.len()).chain(0..from).find(|&i| is_open(i)) {
            Some(i) => table.read(self.bring(index, (i as u128, i as u128), depth)).into(),
            None => now,
        }
    }

    fn bring_equality(&mut self, x: Place, y: Place, equal: bool, depth: u32) {
        let (x, y) = self.choose(x, y);
        if !equal {
            let any = self.dice.between(self.range(x));
            self.bring(x, (any, any), depth);
            return;
        }
        for (moved, kept) in [(x, y), (y, x)] {
            let kept = self.value(kept);
            if contains(self.range(moved), kept) {
                self.bring(moved, (kept, kept), depth);
                return;
            }
        }
        if let Some(common) = meet(self.range(x), self.range(y)) {
            let reached = self.bring(x, common, depth);
            self.bring(y, (reached, reached), depth);
        }
    }

    /// `x < y`, or `y <= x`, after both are turned by `sign`.
    fn bring_order(&mut self, x: Place, y: Place, sign: u128, less: bool, depth: u32) {
        let all = mask(self.sheet.width(x));
        let (old_x, old_y) = (self.value(x) ^ sign, self.value(y) ^ sign);
        let for_x = match less {
            true => old_y.checked_sub(1).map(|top| (0, top)),
            false => Some((old_y, all)),
        };
        let for_y = match less {
            true => (old_x < all).then(|| (old_x + 1, all)),
            false => Some((0, old_x)),
        };
        let aims = match self.changes_first(x, y) {
            true => [(x, for_x), (y, for_y)],
            false => [(y, for_y), (x, for_x)],
        };
        for (at, aim) in aims {
            // Turned back, the numbers up to half of all come after the others.
            let Some((first, last)) = aim else { continue };
            let circle = (first ^ sign, last ^ sign);
            if let Some(aim) = self.on_circle(circle, self.range(at), all) {
                self.bring(at, aim, depth);
                return;
            }
        }
        if sign == 0 {
            // Neither alone can: both move to where they may meet.
            let (lower, upper) = if less { (x, y) } else { (y, x) };
            let gap = u128::from(less);
            let ((least, _), (_, most)) = (self.range(lower), self.range(upper));
            if let Some(room) = most.checked_sub(least)
                && room >= gap
            {
                let reached = self.bring(lower, (least, most - gap), depth);
                self.bring(upper, (reached.saturating_add(gap).min(most), most), depth);
            }
        }
    }

    /// The operand to change first, the one to leave second: never a constant, else either.
    fn choose(&mut self, x: Place, y: Place) -> (Place, Place) {
        if self.changes_first(x, y) { (x, y) } else { (y, x) }
    }

    fn changes_first(&mut self, x: Place, y: Place) -> bool {
        match (self.sheet.constant(x), self.sheet.constant(y)) {
            (Some(_), _) => false,
            (_, Some(_)) => true,
            // By weight, so that every byte of a long sum has its turn.
            _ => {
                let [x, y] = [x, y].map(|at| self.sheet.weight(at) as u128);
                self.dice.below(x + y) < x
            }
        }
    }
}

fn contains((first, last): Range, value: u128) -> bool {
    first <= value && value <= last
}

fn meet(a: Range, b: Range) -> Option<Range> {
    let (first, last) = (a.0.max(b.0), a.1.min(b.1));
    (first <= last).then_some((first, last))
}

fn meets(a: Range, b: Range) -> bool {
    meet(a, b).is_some()
}

/// The value nearest to `value` in a set that is not empty.
fn nearest(set: &ByteSet, value: u8) -> u8 {
    if set.contains(value) {
        return value;
    }
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
