//! The schedule: which moves are made, in which order, and what each took and gained.
//!
//! What was reduced is short, and nearly all of it is needed: few literals go, some bytes may have other values, and
//! much of what is needed may stand elsewhere. So what decides about many literals at once comes first, single
//! bytes after it, and places at last, when it is known what is needed. A table of what each move is worth is in
//! BENCHMARKS.md.
//!
//! What always holds: after each move, the condition in hand has the lowest cost of all that were measured so.

use stunt_reduce::Broken;

use super::classes::Class;
use super::groups::{Order, Which};
use super::moves::Move;
use super::moves::drops::{Drop, Widen};
use super::moves::gaps::Gaps;
use super::moves::values::Sets;
use super::parts::Draws;
use super::search::{CHECK_RUNS, COMPARED, Search};

/// What a move took and gained.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Its name.
    pub name: &'static str,
    /// Runs.
    pub runs: u64,
    /// By how many bits the figure fell.
    pub bits: f64,
}

/// All moves, and what each tries.
pub const MOVES: [(&str, &str); 8] = [
    ("code", "to do without what a place in the code found out"),
    ("bytes", "to do without what is asked of a stretch of bytes"),
    ("sums", "the same for bytes under a sum, which stays right"),
    ("classes", "to let a stretch be any text, any letters and digits, any digits"),
    ("sets", "to give a byte all values with which the program fails"),
    ("narrow", "to take values away with which it never does"),
    ("gaps", "to fill the input up to the original's length, and to let what is needed move"),
    (
        "readable",
        "to draw what is free so that a person can read it, and odd values as the likeliest of them",
    ),
];

/// The moves in their order. Where there is time for few runs only, classes come first: a few tries decide about
/// many bytes.
fn moves(hurried: bool) -> Vec<Box<dyn Move>> {
    let drop = |name, order, which, floor, patience| -> Box<dyn Move> {
        Box::new(Drop { name, order, which, floor, patience })
    };
    let widen = |class| -> Box<dyn Move> { Box::new(Widen { class, floor: 0.7, patience: 32 }) };
    let classes = || [Class::Ascii, Class::Alphanumeric, Class::Digits].map(widen);
    let mut moves = Vec::new();
    if hurried {
        moves.extend(classes());
    }
    moves.push(drop("code", Order::Code, Which::Strong, 0.75, 24));
    moves.push(drop("bytes", Order::Bytes, Which::All, 0.5, 48));
    moves.push(drop("sums", Order::BytesUnderSums, Which::All, 0.25, 48));
    if !hurried {
        moves.extend(classes());
    }
    moves.push(Box::new(Sets));
    moves.push(Box::new(Gaps));
    moves
}

/// Makes all moves.
pub(super) fn run(search: &mut Search<'_>) -> Result<Vec<Tally>, Broken> {
    let mut best = search.best();
    let mut tally: Vec<Tally> = Vec::new();
    search.untie();
    for it in moves(search.in_a_hurry()) {
        if search.is_left_out(it.name()) {
            continue;
        }
        let (runs, bits) = (search.runs, best.cost);
        it.make(search)?;
        if search.has_changed(&best) {
            let (draws, runs) = match search.layout {
                Some(_) => (Draws::Fresh, COMPARED),
                None => (Draws::Again, CHECK_RUNS),
            };
            search.keep(&mut best, draws, runs)?;
        }
        let (runs, bits) = (search.runs - runs, bits - best.cost);
        match tally.iter_mut().find(|known| known.name == it.name()) {
            Some(known) => (known.runs, known.bits) = (known.runs + runs, known.bits + bits),
            None => tally.push(Tally { name: it.name(), runs, bits }),
        }
    }
    Ok(tally)
}
