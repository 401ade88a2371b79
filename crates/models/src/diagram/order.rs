//! In which order a diagram asks for the bits of the input: candidates, likely ones first.
//!
//! The order decides whether a diagram is small. Fields that are compared or added must be
//! interleaved, bits of equal significance together; text and state machines want whole bytes, one
//! after the other. No order changes the result, only its cost, so nothing here need be exact.

use rustc_hash::{FxHashMap, FxHashSet};
use stunt_terms::{InputByte, Op, Pool, Term};

use super::encoding::Code;
use crate::space::Problem;

/// An order: for each level the position of a byte, and one of its bits.
pub(super) type Order = Vec<(u32, u8)>;

/// Terms visited below one operand; fields are short, and all else is not a field.
const WALK: usize = 512;

/// The candidates, each once. Only kept bits of the codes occur, and all of them.
pub(super) fn orders(problem: &Problem<'_>, codes: &[Code]) -> Vec<Order> {
    let fields = Fields::of(problem);
    let kept: Order = (0..)
        .zip(codes)
        .flat_map(|(position, code)| code.kept().rev().map(move |bit| (position, bit)))
        .collect();
    let sorted = |key: &dyn Fn((u32, u8)) -> (u32, i32, u32)| {
        let mut order = kept.clone();
        order.sort_by_key(|&place| key(place));
        order
    };
    let significance = |(position, bit): (u32, u8)| {
        i32::from(fields.significance[position as usize][usize::from(bit)])
    };
    let group = |(position, _): (u32, u8)| fields.group[position as usize];
    let first_use = first_use(problem);
    let candidates = [
        // Related fields together, from the highest bits down, and from the lowest up.
        sorted(&|place| (group(place), -significance(place), place.0)),
        sorted(&|place| (group(place), significance(place), place.0)),
        // Bytes in the order of the input, backwards, and as the literals name them.
        sorted(&|place| (place.0, 0, 0)),
        sorted(&|place| (u32::MAX - place.0, 0, 0)),
        sorted(&|place| (first_use[place.0 as usize], 0, 0)),
        // All bytes interleaved, related or not.
        sorted(&|place| (0, -significance(place), place.0)),
    ];
    let mut seen = FxHashSet::default();
    candidates.into_iter().filter(|order| seen.insert(order.clone())).collect()
}

/// Which bytes belong to related fields, and where in them their bits are.
struct Fields {
    /// For each byte the lowest position that it is related to.
    group: Vec<u32>,
    /// For each byte the significance of its bits.
    significance: Vec<[u8; 8]>,
}

impl Fields {
    fn of(problem: &Problem<'_>) -> Fields {
        let pool = problem.pool;
        let positions: FxHashMap<InputByte, u32> =
            problem.bytes.iter().zip(0..).map(|(&byte, position)| (byte, position)).collect();
        let count = problem.bytes.len();
        let mut significance = vec![std::array::from_fn(|bit| bit as u8); count];
        let mut group: Vec<u32> = (0..count as u32).collect();
        let mut walked = FxHashSet::default();
        for term in pool.reachable(problem.literals) {
            let op = pool.op(term);
            if !relates(op) {
                continue;
            }
            for operand in op.operands().filter(|&operand| walked.insert(operand)) {
                place(pool, operand, |byte, bit, at| {
                    if let Some(&position) = positions.get(&byte) {
                        let known = &mut significance[position as usize][usize::from(bit)];
                        *known = at.max(*known);
                    }
                });
            }
            let mut bytes = pool.support(term).iter().filter_map(|byte| positions.get(&byte));
            if let Some(&first) = bytes.next() {
                for &other in bytes {
                    union(&mut group, first, other);
                }
            }
        }
        let group = (0..count as u32).map(|position| find(&mut group, position)).collect();
        Fields { group, significance }
    }
}

/// Whether the operator lines its operands up bit by bit, with carries or for a comparison.
fn relates(op: Op) -> bool {
    match op {
        Op::Add(..)
        | Op::Sub(..)
        | Op::Mul(..)
        | Op::UDiv(..)
        | Op::URem(..)
        | Op::SDiv(..)
        | Op::SRem(..)
        | Op::Neg(_)
        | Op::Eq(..)
        | Op::Ult(..)
        | Op::Slt(..) => true,
        Op::Const(_)
        | Op::Byte(_)
        | Op::Not(_)
        | Op::And(..)
        | Op::Or(..)
        | Op::Xor(..)
        | Op::Shl(..)
        | Op::LShr(..)
        | Op::AShr(..)
        | Op::Concat(..)
        | Op::Extract { .. }
        | Op::ZeroExtend(_)
        | Op::SignExtend(_)
        | Op::Ite(..)
        | Op::Table(..) => false,
    }
}

/// Calls `found` for the input bits that are moved to some bit of `root`, with that bit's number.
fn place(pool: &Pool, root: Term, mut found: impl FnMut(InputByte, u8, u8)) {
    // A term, how far its bit 0 is shifted up, and which of its bits count.
    let mut stack = vec![(root, 0i16, 0i16..i16::from(pool.width(root)))];
    let mut visited = 0;
    while let Some((term, shift, bits)) = stack.pop() {
        visited += 1;
        if visited > WALK || bits.is_empty() {
            continue;
        }
        match pool.op(term) {
            Op::Byte(byte) => {
                for bit in bits {
                    found(byte, bit as u8, (bit + shift) as u8);
                }
            }
            Op::Concat(high, low) => {
                let border = i16::from(pool.width(low));
                stack.push((low, shift, bits.start..bits.end.min(border)));
                let above = (bits.start - border).max(0)..bits.end - border;
                stack.push((high, shift + border, above));
            }
            Op::Extract { lo, arg } => {
                let lo = i16::from(lo);
                stack.push((arg, shift - lo, bits.start + lo..bits.end + lo));
            }
            Op::ZeroExtend(a) | Op::SignExtend(a) => {
                stack.push((a, shift, bits.start..bits.end.min(i16::from(pool.width(a)))));
            }
            Op::Not(a) => stack.push((a, shift, bits)),
            Op::And(a, b) | Op::Or(a, b) | Op::Xor(a, b) | Op::Ite(_, a, b) => {
                stack.push((a, shift, bits.clone()));
                stack.push((b, shift, bits));
            }
            Op::Const(_)
            | Op::Neg(_)
            | Op::Add(..)
            | Op::Sub(..)
            | Op::Mul(..)
            | Op::UDiv(..)
            | Op::URem(..)
            | Op::SDiv(..)
            | Op::SRem(..)
            | Op::Shl(..)
            | Op::LShr(..)
            | Op::AShr(..)
            | Op::Table(..)
            | Op::Eq(..)
            | Op::Ult(..)
            | Op::Slt(..) => {}
        }
    }
}

fn find(parents: &mut [u32], mut at: u32) -> u32 {
    while parents[at as usize] != at {
        let above = parents[parents[at as usize] as usize];
        parents[at as usize] = above;
        at = above;
    }
    at
}

fn union(parents: &mut [u32], a: u32, b: u32) {
    let (a, b) = (find(parents, a), find(parents, b));
    parents[a.max(b) as usize] = a.min(b);
}

/// For each byte when it is first met, depth first, from the first literal on.
fn first_use(problem: &Problem<'_>) -> Vec<u32> {
    let positions: FxHashMap<InputByte, usize> =
        problem.bytes.iter().enumerate().map(|(position, &byte)| (byte, position)).collect();
    let mut first = vec![u32::MAX; problem.bytes.len()];
    let mut met = 0;
    let mut seen = FxHashSet::default();
    let mut stack: Vec<Term> = problem.literals.iter().rev().copied().collect();
    while let Some(term) = stack.pop() {
        if !seen.insert(term) {
            continue;
        }
        let op = problem.pool.op(term);
        if let Op::Byte(byte) = op
            && let Some(&position) = positions.get(&byte)
        {
            first[position] = met;
            met += 1;
        }
        let pending = stack.len();
        stack.extend(op.operands());
        stack[pending..].reverse();
    }
    first
}
