//! Random terms over input bytes: all operators, many widths.
//!
//! Constants are often of the kinds that programs use, and words are often put together from
//! bytes; apart from that nothing is assumed, so the terms are stranger than a parser's. Equal
//! seeds give equal terms. This file must not know what the terms are compared with.

use rand::Rng;
use rand::seq::SliceRandom;
use stunt_terms::{InputByte, MAX_WIDTH, Pool, Term, mask};

/// A constructor with two operands.
pub type Binary = fn(&mut Pool, Term, Term) -> Term;

/// The operators that make a bit vector of two bit vectors of its width.
pub const BINARY: [Binary; 13] = [
    Pool::and,
    Pool::or,
    Pool::xor,
    Pool::add,
    Pool::sub,
    Pool::mul,
    Pool::udiv,
    Pool::urem,
    Pool::sdiv,
    Pool::srem,
    Pool::shl,
    Pool::lshr,
    Pool::ashr,
];

/// The operators that compare two bit vectors.
pub const COMPARISONS: [Binary; 3] = [Pool::eq, Pool::ult, Pool::slt];

/// Makes random terms over its bytes.
#[derive(Clone, Debug)]
pub struct Random {
    /// The bytes that occur.
    pub bytes: Vec<InputByte>,
    /// The widths that are compared; one that stands here twice is twice as likely.
    pub widths: &'static [u8],
    /// No operand is wider than this or the term that was asked for, whichever is more.
    pub widest: u8,
}

impl Random {
    /// Terms over the first `count` bytes of source 0.
    pub fn new(count: u32, widths: &'static [u8], widest: u8) -> Random {
        Random { bytes: crate::places(count), widths, widest }
    }

    /// A truth value, of at most `depth` operators on top of one another.
    ///
    /// # Panics
    /// If there are no bytes or no widths.
    pub fn truth(&self, pool: &mut Pool, rng: &mut impl Rng, depth: u32) -> Term {
        let below = depth.saturating_sub(1);
        if depth == 0 || rng.gen_ratio(2, 3) {
            let width = *self.widths.choose(rng).expect("some widths");
            let a = self.bits(pool, rng, width, below);
            let b = self.operand(pool, rng, width, below);
            let (a, b) = if rng.gen_ratio(1, 4) { (b, a) } else { (a, b) };
            let compare = COMPARISONS.choose(rng).expect("some operators");
            let test = compare(pool, a, b);
            return if rng.gen_ratio(1, 3) { pool.not(test) } else { test };
        }
        let (a, b) = (self.truth(pool, rng, below), self.truth(pool, rng, below));
        match rng.gen_range(0..6) {
            0 => pool.and(a, b),
            1 => pool.or(a, b),
            2 => pool.eq(a, b),
            3 => pool.xor(a, b),
            4 => pool.not(a),
            _ => {
                let c = self.truth(pool, rng, below);
                pool.ite(c, a, b)
            }
        }
    }

    /// A bit vector, of at most `depth` operators on top of one another; a few more where bytes
    /// are put together.
    ///
    /// # Panics
    /// If there are no bytes.
    pub fn bits(&self, pool: &mut Pool, rng: &mut impl Rng, width: u8, depth: u32) -> Term {
        if depth == 0 || rng.gen_ratio(1, 12) {
            return self.leaf(pool, rng, width);
        }
        let depth = depth - 1;
        match rng.gen_range(0..24) {
            0 => {
                let a = self.bits(pool, rng, width, depth);
                pool.not(a)
            }
            1 => {
                let a = self.bits(pool, rng, width, depth);
                pool.neg(a)
            }
            2 | 3 => {
                let c = self.truth(pool, rng, depth);
                let a = self.bits(pool, rng, width, depth);
                let b = self.operand(pool, rng, width, depth);
                pool.ite(c, a, b)
            }
            4 => self.table(pool, rng, width, depth),
            5 | 6 if width > 1 => {
                let cut = rng.gen_range(1..width);
                let high = self.bits(pool, rng, width - cut, depth);
                let low = self.bits(pool, rng, cut, depth);
                pool.concat(high, low)
            }
            7 => {
                let other = rng.gen_range(1..=self.widest.max(width));
                let a = self.bits(pool, rng, other, depth);
                fit(pool, rng, a, width)
            }
            8 if width > 1 => {
                let narrow = rng.gen_range(1..width);
                let a = self.bits(pool, rng, narrow, depth);
                fit(pool, rng, a, width)
            }
            kind => {
                let a = self.bits(pool, rng, width, depth);
                let b = self.operand(pool, rng, width, depth);
                // What programs do most is twice as likely.
                match kind {
                    9 => pool.xor(a, b),
                    10 => pool.add(a, b),
                    11 => pool.sub(b, a),
                    _ => BINARY.choose(rng).expect("some operators")(pool, a, b),
                }
            }
        }
    }

    /// The right side of an operator: often a constant.
    fn operand(&self, pool: &mut Pool, rng: &mut impl Rng, width: u8, depth: u32) -> Term {
        if rng.gen_ratio(1, 3) {
            return pool.constant(width, number(rng, width));
        }
        self.bits(pool, rng, width, depth)
    }

    /// A constant, or one or several bytes.
    fn leaf(&self, pool: &mut Pool, rng: &mut impl Rng, width: u8) -> Term {
        if rng.gen_ratio(1, 6) {
            return pool.constant(width, number(rng, width));
        }
        let mut word = self.byte(pool, rng);
        while pool.width(word) < width && pool.width(word) <= MAX_WIDTH - 8 && rng.gen_ratio(2, 5) {
            let high = self.byte(pool, rng);
            word = pool.concat(high, word);
        }
        fit(pool, rng, word, width)
    }

    fn byte(&self, pool: &mut Pool, rng: &mut impl Rng) -> Term {
        pool.byte(*self.bytes.choose(rng).expect("some bytes"))
    }

    /// A read from a table of any entries, or of few different ones.
    fn table(&self, pool: &mut Pool, rng: &mut impl Rng, width: u8, depth: u32) -> Term {
        let entry = rng.gen_range(1..=width.min(64));
        let length = *[1, 3, 16, 37, 200, 256, 300].choose(rng).expect("some lengths");
        let kinds = if rng.r#gen() { rng.gen_range(1..20) } else { u64::MAX };
        let entries: Vec<u64> = (0..length)
            .map(|_| rng.gen_range(0..kinds).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .map(|value| value & mask(entry) as u64)
            .collect();
        let table = pool.add_table(entry, entries);
        let index_width = rng.gen_range(1..=10);
        let index = self.bits(pool, rng, index_width, depth);
        let read = pool.table(table, index);
        fit(pool, rng, read, width)
    }
}

/// A constant of a kind that programs use: small, a character, near a power of two, or any.
pub fn number(rng: &mut impl Rng, width: u8) -> u128 {
    let value = match rng.gen_range(0..5) {
        0 => rng.gen_range(0..12),
        1 => rng.gen_range(0..300),
        2 => 1u128 << rng.gen_range(0..width),
        3 => (1u128 << rng.gen_range(0..width)).wrapping_sub(1),
        _ => rng.r#gen(),
    };
    value & mask(width)
}

/// Cuts a term to the width, anywhere, or extends it, in either way.
fn fit(pool: &mut Pool, rng: &mut impl Rng, a: Term, width: u8) -> Term {
    let from = pool.width(a);
    if from > width {
        let lo = rng.gen_range(0..=from - width);
        pool.extract(lo + width - 1, lo, a)
    } else if rng.gen_ratio(2, 3) {
        pool.zero_extend(width, a)
    } else {
        pool.sign_extend(width, a)
    }
}

/// A condition that leaves a byte at least one and at most `most` of its values.
///
/// # Panics
/// If `most` is not from 1 to 255.
pub fn narrow(pool: &mut Pool, rng: &mut impl Rng, byte: InputByte, most: u8) -> Term {
    assert!(most > 0, "some value is left");
    let byte = pool.byte(byte);
    match rng.gen_range(0..4) {
        // An interval, which may go round.
        0 => {
            let start = pool.constant(8, number(rng, 8));
            let moved = pool.sub(byte, start);
            let size = pool.constant(8, u128::from(most));
            pool.ult(moved, size)
        }
        // Some bits free, the others fixed.
        1 => {
            let mut free = 0u8;
            while 2u32 << free.count_ones() <= u32::from(most) {
                free |= 1 << rng.gen_range(0..8);
            }
            let fixed = u128::from(!free);
            let mask = pool.constant(8, fixed);
            let masked = pool.and(byte, mask);
            let wanted = pool.constant(8, number(rng, 8) & fixed);
            pool.eq(masked, wanted)
        }
        // Some values, in a table or one by one.
        2 => {
            let mut entries = vec![0; 256];
            for _ in 0..most {
                entries[number(rng, 8) as usize] = 1;
            }
            let table = pool.add_table(1, entries);
            let (entry, one) = (pool.table(table, byte), pool.constant(1, 1));
            pool.eq(entry, one)
        }
        _ => {
            let values: Vec<Term> = (0..most)
                .map(|_| {
                    let value = pool.constant(8, number(rng, 8));
                    pool.eq(byte, value)
                })
                .collect();
            pool.or_all(values)
        }
    }
}
