//! Sums, differences, products and remainders run backwards.
//!
//! One operand is left as it is if the other can make up for it; if not, both move. All arithmetic
//! is modulo 2^width, so what is wanted of an operand is an interval on a circle.

use stunt_terms::{mask, odd_inverse};

use super::{contains, meet};
use crate::layer::bounds::Range;
use crate::layer::repair::Repair;
use crate::layer::sheet::Place;

/// How many ways for a product to wrap are tried.
const WRAPS: u32 = 8;

impl Repair<'_, '_> {
    pub(super) fn bring_sum(
        &mut self,
        x: Place,
        y: Place,
        want: Range,
        all: u128,
        depth: u32,
    ) -> u128 {
        let minus = |a: u128, b: u128| a.wrapping_sub(b) & all;
        let (x, y) = self.choose(x, y);
        for (moved, kept) in [(x, y), (y, x)] {
            let kept = self.value(kept);
            let circle = (minus(want.0, kept), minus(want.1, kept));
            if let Some(aim) = self.on_circle(circle, self.range(moved), all) {
                let before = self.changes.len();
                let sum = self.bring(moved, aim, depth).wrapping_add(kept) & all;
                if contains(want, sum) {
                    return sum;
                }
                self.changes.truncate(before);
            }
        }
        let (large, small) = self.by_range(x, y);
        let (least, most) = self.range(small);
        let circle = (minus(want.0, most), minus(want.1, least));
        let aim = self.on_circle(circle, self.range(large), all).unwrap_or(self.range(large));
        let reached = self.bring(large, aim, depth);
        let circle = (minus(want.0, reached), minus(want.1, reached));
        let other = match self.on_circle(circle, self.range(small), all) {
            Some(aim) => self.bring(small, aim, depth),
            None => self.value(small),
        };
        reached.wrapping_add(other) & all
    }

    pub(super) fn bring_difference(
        &mut self,
        x: Place,
        y: Place,
        want: Range,
        all: u128,
        depth: u32,
    ) -> u128 {
        let minus = |a: u128, b: u128| a.wrapping_sub(b) & all;
        let plus = |a: u128, b: u128| a.wrapping_add(b) & all;
        for first in [true, false].map(|first| first == self.changes_first(x, y)) {
            let (old_x, old_y) = (self.value(x), self.value(y));
            if first {
                let circle = (plus(want.0, old_y), plus(want.1, old_y));
                if let Some(aim) = self.on_circle(circle, self.range(x), all) {
                    return minus(self.bring(x, aim, depth), old_y);
                }
            } else {
                let circle = (minus(old_x, want.1), minus(old_x, want.0));
                if let Some(aim) = self.on_circle(circle, self.range(y), all) {
                    return minus(old_x, self.bring(y, aim, depth));
                }
            }
        }
        let (least, most) = self.range(y);
        let circle = (plus(want.0, least), plus(want.1, most));
        let aim = self.on_circle(circle, self.range(x), all).unwrap_or(self.range(x));
        let reached = self.bring(x, aim, depth);
        let circle = (minus(reached, want.1), minus(reached, want.0));
        let other = match self.on_circle(circle, self.range(y), all) {
            Some(aim) => self.bring(y, aim, depth),
            None => self.value(y),
        };
        minus(reached, other)
    }

    pub(super) fn bring_product(
        &mut self,
        x: Place,
        y: Place,
        want: Range,
        width: u8,
        depth: u32,
    ) -> u128 {
        let all = mask(width);
        let (x, y) = self.choose(x, y);
        for (moved, kept) in [(x, y), (y, x)] {
            let by = self.value(kept);
            if let Some(aim) = self.factors(want, by, width, self.range(moved)) {
                return self.bring(moved, aim, depth).wrapping_mul(by) & all;
            }
        }
        // The product of what both can be at most is the least that is asked of either.
        let most = self.range(x).1;
        let least = want.0.div_ceil(most.max(1));
        let reached = match meet((least, self.range(y).1), self.range(y)) {
            Some(aim) => self.bring(y, aim, depth),
            None => self.value(y),
        };
        let aim = match self.factors(want, reached, width, self.range(x)) {
            Some(aim) => aim,
            // Below or above: in a decimal number the digits after this one make up for it.
            None => {
                let quotient = want.0.checked_div(reached).unwrap_or(0);
                let near = quotient.saturating_add(u128::from(self.dice.flip()));
                (near, near)
            }
        };
        self.bring(x, aim, depth).wrapping_mul(reached) & all
    }

    /// Numbers in the range whose products with `by` are wanted.
    fn factors(&mut self, want: Range, by: u128, width: u8, range: Range) -> Option<Range> {
        if by == 0 {
            return None;
        }
        if let Some(found) = meet((want.0.div_ceil(by), want.1 / by), range) {
            return Some(found);
        }
        // Products that wrap.
        let zeros = by.trailing_zeros() as u8;
        if want.0 == want.1 && want.0 & mask(zeros) == 0 {
            let inverse = odd_inverse(by >> zeros);
            let factor = (want.0 >> zeros).wrapping_mul(inverse) & mask(width) >> zeros;
            if contains(range, factor) {
                return Some((factor, factor));
            }
        }
        if width > 64 {
            return None;
        }
        let wraps = ((range.0 * by) >> width, (range.1 * by) >> width);
        for _ in 0..WRAPS.min(wraps.1.min(u128::from(u32::MAX)) as u32) {
            let past = self.dice.between(wraps) << width;
            let found = meet(((past | want.0).div_ceil(by), (past | want.1) / by), range);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    pub(super) fn bring_remainder(&mut self, x: Place, y: Place, want: Range, depth: u32) -> u128 {
        let (old, by) = (self.value(x), self.value(y));
        if by == 0 {
            return self.bring(x, want, depth);
        }
        let (first, last) = (want.0, want.1.min(by - 1));
        if first > last {
            return old % by;
        }
        // Up or down to a number with such a remainder.
        let here = old - old % by;
        let steps = [here.checked_sub(by), Some(here), here.checked_add(by)];
        let from = self.dice.below(3) as usize;
        for step in steps.iter().cycle().skip(from).take(3).flatten() {
            let aim = (step.saturating_add(first), step.saturating_add(last));
            if let Some(aim) = meet(aim, self.range(x)) {
                return self.bring(x, aim, depth) % by;
            }
        }
        old % by
    }

    /// The operand with the larger range first.
    fn by_range(&self, x: Place, y: Place) -> (Place, Place) {
        let [a, b] = [x, y].map(|at| {
            let (first, last) = self.range(at);
            last - first
        });
        if a >= b { (x, y) } else { (y, x) }
    }
}
