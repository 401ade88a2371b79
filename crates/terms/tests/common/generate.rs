//! Random expressions in the style of compiled code, from a list of bytes.
//!
//! Every decision takes a byte of the list, and a list that is used up chooses leaves; so a shorter
//! list is a simpler expression, and a tool that shrinks lists shrinks expressions.

use std::rc::Rc;

use stunt_terms::{Sort, mask};

use super::reference::{BINARY, COMPARE, CONNECTIVE, Expr, Kind, TABLES, make, sort};

/// How many input bytes expressions use.
pub const INPUTS: u32 = 8;

/// Decisions, taken from a list of bytes.
pub struct Dice<'d> {
    left: &'d [u8],
}

impl<'d> Dice<'d> {
    pub fn new(bytes: &'d [u8]) -> Dice<'d> {
        Dice { left: bytes }
    }

    fn roll(&mut self) -> u8 {
        match self.left.split_first() {
            Some((&first, rest)) => {
                self.left = rest;
                first
            }
            None => 0,
        }
    }

    /// A number below `sides`, which is at most 256; 0 if the list is used up.
    pub fn below(&mut self, sides: usize) -> usize {
        usize::from(self.roll()) % sides
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn number(&mut self) -> u128 {
        (0..16).fold(0, |x, _| x << 8 | u128::from(self.roll()))
    }
}

pub fn constant(width: u8, value: u128) -> Rc<Expr> {
    make(Kind::Const(width, value & mask(width)), &[])
}

/// A constant of a kind that occurs in code.
fn some_constant(dice: &mut Dice<'_>, width: u8) -> Rc<Expr> {
    let small = u128::from(dice.roll());
    let value = match dice.below(9) {
        0 => small & 15,
        1 => small,
        2 => u128::MAX - (small & 3),
        3 => 1 << (small % u128::from(width)),
        4 => mask((small % 129) as u8),
        5 => u128::MAX << (small % u128::from(width)),
        6 => u128::from(dice.pick(b"09azAZ \n\"\\\x7f\x80")),
        7 => (small + 1) << dice.below(usize::from(width)),
        _ => dice.number(),
    };
    constant(width, value)
}

fn byte(dice: &mut Dice<'_>) -> Rc<Expr> {
    make(Kind::Byte(dice.below(INPUTS as usize) as u32), &[])
}

/// Extends or cuts an expression to a width.
fn fit(dice: &mut Dice<'_>, width: u8, e: &Rc<Expr>) -> Rc<Expr> {
    let from = sort(e).bits();
    if from == width {
        Rc::clone(e)
    } else if from < width {
        let by = width - from;
        make(if dice.below(3) == 2 { Kind::SignExtend(by) } else { Kind::ZeroExtend(by) }, &[e])
    } else {
        let lo =
            if dice.below(2) == 0 { 0 } else { dice.below(usize::from(from - width) + 1) as u8 };
        make(Kind::Extract(lo + width - 1, lo), &[e])
    }
}

/// Neighbouring bytes as one number, in either order.
fn load(dice: &mut Dice<'_>, count: u32) -> Rc<Expr> {
    let start = dice.below(INPUTS as usize) as u32;
    let big_endian = dice.below(2) == 1;
    let at = |i: u32| make(Kind::Byte((start + i) % INPUTS), &[]);
    (1..count).fold(at(0), |word, i| match big_endian {
        true => make(Kind::Concat, &[&word, &at(i)]),
        false => make(Kind::Concat, &[&at(i), &word]),
    })
}

fn leaf(dice: &mut Dice<'_>, width: u8) -> Rc<Expr> {
    let b = match dice.below(5) {
        0 | 1 => byte(dice),
        2 => return some_constant(dice, width),
        _ => load(dice, u32::from(width.div_ceil(8)).min(8)),
    };
    fit(dice, width, &b)
}

/// Another width to take an operand from.
fn other_width(dice: &mut Dice<'_>) -> u8 {
    match dice.below(10) {
        0..=3 => 8,
        4 => 16,
        5 | 6 => 32,
        7 => 64,
        8 => 128,
        _ => 1 + dice.below(128) as u8,
    }
}

/// An expression of a sort.
pub fn expression(dice: &mut Dice<'_>, sort: Sort, depth: u32) -> Rc<Expr> {
    match sort {
        Sort::Bool => truth(dice, depth),
        Sort::Bits(width) => vector(dice, width, depth),
    }
}

/// A bit vector.
pub fn vector(dice: &mut Dice<'_>, width: u8, depth: u32) -> Rc<Expr> {
    if depth == 0 {
        return leaf(dice, width);
    }
    let sub = |dice: &mut Dice<'_>| vector(dice, width, depth - 1);
    match dice.below(22) {
        0 | 1 => leaf(dice, width),
        2..=4 => {
            let (kind, a) = (dice.pick(&BINARY[..17]), sub(dice));
            let b = sub(dice);
            make(kind, &[&a, &b])
        }
        // An operator with a constant, mostly on the right.
        5..=8 => {
            let (kind, a, c) = (dice.pick(&BINARY[..17]), sub(dice), some_constant(dice, width));
            if dice.below(6) == 5 { make(kind, &[&c, &a]) } else { make(kind, &[&a, &c]) }
        }
        // Shifts by constants within the width.
        9 => {
            let kind = dice.pick(&[Kind::Shl, Kind::LShr, Kind::AShr]);
            let (a, by) = (sub(dice), constant(width, dice.below(usize::from(width)) as u128));
            make(kind, &[&a, &by])
        }
        10 => make(dice.pick(&[Kind::BvNot, Kind::BvNeg]), &[&sub(dice)]),
        11 => {
            let by = dice.below(usize::from(width)) as u8;
            make(dice.pick(&[Kind::RotateLeft(by), Kind::RotateRight(by)]), &[&sub(dice)])
        }
        // Operands of other widths: extensions, extracts.
        12 | 13 => {
            let from = other_width(dice);
            let e = vector(dice, from, depth - 1);
            fit(dice, width, &e)
        }
        14 if width > 1 => {
            let low = 1 + dice.below(usize::from(width) - 1) as u8;
            let (a, b) = (vector(dice, width - low, depth - 1), vector(dice, low, depth - 1));
            make(Kind::Concat, &[&a, &b])
        }
        15 | 16 => {
            let c = truth(dice, depth - 1);
            let (a, b) = (sub(dice), sub(dice));
            make(Kind::Ite, &[&c, &a, &b])
        }
        // A truth value as a number, as ones or as a mask.
        17 => {
            let c = truth(dice, depth - 1);
            let (yes, no) = dice.pick(&[(1, 0), (0, 1), (u128::MAX, 0), (0, u128::MAX)]);
            make(Kind::Ite, &[&c, &constant(width, yes), &constant(width, no)])
        }
        18 => {
            let from = dice.pick(&[8, 16, 32, 4]);
            let index = vector(dice, from, depth - 1);
            let entry = make(Kind::Table(dice.below(TABLES)), &[&index]);
            fit(dice, width, &entry)
        }
        // A sum with itself shifted, as `lea` makes.
        19 => {
            let a = sub(dice);
            let by = constant(width, dice.below(usize::from(width.min(4))) as u128);
            let shifted = make(Kind::Shl, &[&a, &by]);
            make(dice.pick(&[Kind::Add, Kind::Sub, Kind::BvOr]), &[&shifted, &a])
        }
        // A word put together from shifted bytes.
        20 => {
            let shift = |dice: &mut Dice<'_>| {
                let b = byte(dice);
                let b = fit(dice, width, &b);
                let by = constant(width, 8 * dice.below(usize::from(width.div_ceil(8))) as u128);
                make(Kind::Shl, &[&b, &by])
            };
            let kind = dice.pick(&[Kind::BvOr, Kind::Add, Kind::BvXor]);
            (0..dice.below(3)).fold(shift(dice), |word, _| make(kind, &[&word, &shift(dice)]))
        }
        // A byte put into a word.
        _ if width > 8 => {
            let (word, b) = (sub(dice), byte(dice));
            let high = make(Kind::Extract(width - 1, 8), &[&word]);
            make(Kind::Concat, &[&high, &b])
        }
        _ => leaf(dice, width),
    }
}

/// A truth value.
pub fn truth(dice: &mut Dice<'_>, depth: u32) -> Rc<Expr> {
    let width = other_width(dice);
    if depth == 0 {
        let (kind, a, c) = (dice.pick(&COMPARE), leaf(dice, width), some_constant(dice, width));
        return make(kind, &[&a, &c]);
    }
    match dice.below(12) {
        0..=2 => {
            let (kind, a, c) =
                (dice.pick(&COMPARE), vector(dice, width, depth - 1), some_constant(dice, width));
            if dice.below(4) == 3 { make(kind, &[&c, &a]) } else { make(kind, &[&a, &c]) }
        }
        3 | 4 => {
            let (kind, a) = (dice.pick(&COMPARE), vector(dice, width, depth - 1));
            let b = vector(dice, width, depth - 1);
            make(kind, &[&a, &b])
        }
        // A range by subtraction.
        5 => {
            let a = vector(dice, width, depth - 1);
            let moved =
                make(dice.pick(&[Kind::Add, Kind::Sub]), &[&a, &some_constant(dice, width)]);
            make(dice.pick(&COMPARE), &[&moved, &some_constant(dice, width)])
        }
        // A mask, compared.
        6 => {
            let a = vector(dice, width, depth - 1);
            let masked = make(Kind::BvAnd, &[&a, &some_constant(dice, width)]);
            make(dice.pick(&[Kind::Eq, Kind::Distinct]), &[&masked, &some_constant(dice, width)])
        }
        7 | 8 => {
            let (kind, a) = (dice.pick(&CONNECTIVE), truth(dice, depth - 1));
            let b = truth(dice, depth - 1);
            make(kind, &[&a, &b])
        }
        9 => make(Kind::Not, &[&truth(dice, depth - 1)]),
        10 => {
            let (c, a) = (truth(dice, depth - 1), truth(dice, depth - 1));
            let b = truth(dice, depth - 1);
            make(Kind::Ite, &[&c, &a, &b])
        }
        // Flags of a sum or a difference: carry and overflow.
        _ => {
            let (a, b) = (vector(dice, width, depth - 1), vector(dice, width, depth - 1));
            let result = make(dice.pick(&[Kind::Add, Kind::Sub]), &[&a, &b]);
            if dice.below(2) == 0 {
                return make(Kind::Ult, &[&result, &a]);
            }
            let (x, y) = (make(Kind::BvXor, &[&a, &result]), make(Kind::BvXor, &[&a, &b]));
            let both = make(Kind::BvAnd, &[&x, &y]);
            make(Kind::Slt, &[&both, &constant(width, 0)])
        }
    }
}
