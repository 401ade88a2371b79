//! Layer 4c: a model by repair.
//!
//! Take some values; pick a literal that fails; decide what its value must be and push that down,
//! operator by operator, to the bytes, as if each operator could be run backwards (`aim.rs`). A few
//! such moves satisfy most conditions that can be satisfied at all, for the price of a few
//! evaluations. (After Niemetz, Preiner and Biere, "Propagation based local search for bit-precise
//! reasoning", 2017; here with intervals in place of values, and without their heuristics for
//! choosing paths, which pay off only on conditions that go on to the SAT solver anyway.)
//!
//! Every model is evaluated before it is believed. Finding none means nothing.

use stunt_models::ByteSet;
use stunt_terms::Assignment;

use super::bounds::Range;
use super::sheet::{Place, Sheet};
use super::{Part, Values};

/// The most moves.
const MOST_MOVES: usize = 128;
/// The most terms that all moves together may evaluate.
const MOST_EVALUATED: usize = 1 << 15;

/// Looks for values that satisfy the part, whose terms are within the given ranges. Bytes begin
/// with what they were `last`, where that is allowed; the same `seed` gives the same moves.
pub(crate) fn search(
    sheet: &mut Sheet<'_>,
    part: &Part,
    ranges: &[Range],
    last: &Assignment,
    seed: u64,
) -> Option<Values> {
    let moves = (MOST_EVALUATED / sheet.len().max(1)).min(MOST_MOVES);
    if moves < 2 || part.domains.iter().any(|(_, domain)| domain.is_empty()) {
        return None;
    }
    let dice = Dice(seed | 1);
    let mut repair = Repair { sheet, part, ranges, dice, changes: Vec::new(), steps: 0 };
    repair.begin(last);
    let count = repair.sheet.literals().len();
    for number in 0..moves {
        repair.sheet.work_out();
        // Not always the first, or two literals could undo each other for ever.
        let from = if number % 2 == 0 { 0 } else { repair.dice.below(count as u128) as usize };
        let (before, after) = repair.sheet.literals().split_at(from);
        let failing = after.iter().chain(before).find(|&&literal| repair.sheet.value(literal) == 0);
        match failing.copied() {
            Some(failing) => repair.make_true(failing),
            None => return Some(repair.sheet.bytes_of(part)),
        }
    }
    None
}

/// A small generator of choices (splitmix); nothing here needs good randomness.
pub(super) struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number below `limit`, which is not zero.
    pub(super) fn below(&mut self, limit: u128) -> u128 {
        match u64::try_from(limit) {
            Ok(limit) => (u128::from(self.next()) * u128::from(limit)) >> 64,
            Err(_) => (u128::from(self.next()) << 64 | u128::from(self.next())) % limit,
        }
    }

    /// A number of the range, one of the two ends more often than others.
    pub(super) fn between(&mut self, (first, last): Range) -> u128 {
        debug_assert!(first <= last);
        match self.next() % 4 {
            0 => first,
            1 => last,
            _ if first == 0 && last == u128::MAX => self.below(u128::MAX),
            _ => first + self.below(last - first + 1),
        }
    }

    pub(super) fn one_in(&mut self, times: u64) -> bool {
        self.next().is_multiple_of(times)
    }

    pub(super) fn flip(&mut self) -> bool {
        self.one_in(2)
    }
}

/// Values on their way to a model.
pub(super) struct Repair<'a, 'p> {
    pub(super) sheet: &'a mut Sheet<'p>,
    pub(super) part: &'a Part,
    /// For each place the values that there are at all.
    pub(super) ranges: &'a [Range],
    pub(super) dice: Dice,
    /// New values of bytes, which count from the next move on.
    pub(super) changes: Vec<(Place, u8)>,
    /// Steps that are left of an aim.
    pub(super) steps: u32,
}

impl Repair<'_, '_> {
    /// Values to begin with: what the bytes had last, where it is allowed.
    fn begin(&mut self, last: &Assignment) {
        for (&(byte, domain), place) in self.part.domains.iter().zip(0..) {
            let last = last.get(byte);
            let value = if domain.contains(last) { last } else { self.any(domain) };
            self.sheet.set(place, value);
        }
    }

    /// Any value of a set that is not empty.
    pub(super) fn any(&mut self, domain: ByteSet) -> u8 {
        let rank = self.dice.below(u128::from(domain.len())) as u32;
        domain.nth(rank).expect("a rank below the size")
    }

    /// Changes bytes so that the literal becomes true, as far as its operators can be run
    /// backwards. The values of terms are those before the move throughout.
    fn make_true(&mut self, literal: Place) {
        self.aim(literal, (1, 1));
        for (byte, value) in self.changes.drain(..) {
            self.sheet.set(byte, value);
        }
    }
}
