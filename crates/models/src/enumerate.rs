//! Enumeration: every combination of the domains, 64 cases in a machine word.
//!
//! The literals become one circuit. The last bytes are *inner*: their combinations are the lanes
//! of words that are prepared once. The other bytes are *outer*: constant over a block of lanes,
//! stepped like an odometer, and gates are worked out again only from the byte that changed. Only
//! values in the domains are ever tried.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use num_bigint::BigUint;
use rand::{Rng, RngCore};
use stunt_circuit::{Algebra, Blaster, Circuit, Sliced};
use stunt_terms::{InputByte, Op};

use crate::budget::Budget;
use crate::space::{Problem, Space};

/// Words of 64 cases that are worked out at a time.
const BLOCK_WORDS: usize = 64;
/// Up to so many solutions are simply kept.
const MOST_KEPT: u64 = 1 << 12;
/// Circuits beyond this are not built.
const MOST_GATES: u64 = 1 << 22;
/// Gates that a budget allows for each case, 64 cases at a time.
const GATES_PER_CASE: u64 = 2048;

/// The solutions by trying all cases; `None` if there are too many.
pub fn solve(problem: &Problem<'_>, budget: &Budget) -> Option<Arc<dyn Space>> {
    let sizes = problem.domains.iter().map(|domain| u64::from(domain.len()));
    let cases = sizes.fold(1, u64::saturating_mul);
    if cases > budget.cases.min(1 << 31) || gates_at_most(problem) > MOST_GATES {
        return None;
    }
    let mut runner = Runner::new(problem);
    let work = (cases / 64 + 1).saturating_mul(runner.sliced.gates() as u64 + 1);
    if work > budget.cases.saturating_mul(GATES_PER_CASE) / 64 {
        return None;
    }
    let mut kept: Option<Vec<u32>> = Some(Vec::new());
    let (mut total, mut before) = (0, Vec::new());
    runner.all_blocks(|first, words| {
        before.push(total);
        total += words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        match &mut kept {
            Some(_) if total > MOST_KEPT => kept = None,
            Some(kept) => ones(words, |lane| kept.push((first + lane) as u32)),
            None => {}
        }
    });
    let shape = runner.shape.clone();
    let source = match kept {
        Some(kept) => Source::Kept(kept),
        None => Source::Blocks { before, runner: Box::new(Mutex::new(runner)) },
    };
    let count = BigUint::from(total);
    Some(Arc::new(Enumerated { shape, total, count, source, marginals: OnceLock::new() }))
}

/// A rough bound on the size of the circuit.
fn gates_at_most(problem: &Problem<'_>) -> u64 {
    let pool = problem.pool;
    let sizes = pool.reachable(problem.literals).into_iter().map(|term| {
        let width = u64::from(pool.width(term));
        match pool.op(term) {
            Op::Mul(..) | Op::UDiv(..) | Op::URem(..) => 6 * width * width,
            Op::SDiv(..) | Op::SRem(..) => 8 * width * width,
            Op::Shl(..) | Op::LShr(..) | Op::AShr(..) => 24 * width,
            Op::Table(table, _) => pool.table_data(table).entries.len() as u64 * width,
            Op::Eq(a, _) | Op::Ult(a, _) | Op::Slt(a, _) => 4 * u64::from(pool.width(a)),
            Op::Add(..) | Op::Sub(..) | Op::Neg(_) | Op::Ite(..) => 6 * width,
            Op::And(..) | Op::Or(..) | Op::Xor(..) => width,
            Op::Const(_)
            | Op::Byte(_)
            | Op::Not(_)
            | Op::Concat(..)
            | Op::Extract { .. }
            | Op::ZeroExtend(_)
            | Op::SignExtend(_) => 0,
        }
    });
    sizes.fold(0, u64::saturating_add)
}

/// How cases are numbered: mixed radix over the domains, the last byte fastest.
#[derive(Clone)]
struct Shape {
    /// For each byte its values.
    values: Vec<Vec<u8>>,
    /// From this byte on the bytes are inner.
    inner: usize,
    /// The number of combinations of inner bytes.
    lanes: u64,
}

impl Shape {
    fn new(problem: &Problem<'_>) -> Shape {
        let values: Vec<Vec<u8>> = problem.domains.iter().map(|d| d.iter().collect()).collect();
        let (mut inner, mut lanes) = (values.len(), 1);
        // A word should be full, and preparing the lanes should not cost more than they save.
        while inner > 0 {
            let more = lanes * values[inner - 1].len() as u64;
            if lanes >= 64 && more > BLOCK_WORDS as u64 * 64 {
                break;
            }
            (inner, lanes) = (inner - 1, more);
        }
        Shape { values, inner, lanes }
    }

    /// The values of the bytes in a case.
    fn decode(&self, mut case: u64, out: &mut [u8]) {
        for (value, values) in out.iter_mut().zip(&self.values).rev() {
            let size = values.len() as u64;
            *value = values[(case % size) as usize];
            case /= size;
        }
    }
}

/// The circuit with its lanes, ready to work out any block.
struct Runner {
    shape: Shape,
    bytes: Vec<InputByte>,
    sliced: Sliced,
    /// For each inner byte and bit its column over all lanes.
    columns: Vec<[Vec<u64>; 8]>,
    /// The outer bytes' places in their lists of values; empty before the first block.
    odometer: Vec<usize>,
    /// Which part of the lanes the inner bytes' inputs hold.
    loaded: Option<u64>,
    answers: Vec<u64>,
}

impl Runner {
    fn new(problem: &Problem<'_>) -> Runner {
        let shape = Shape::new(problem);
        let mut blaster = Blaster::new(Circuit::new());
        let mut all = blaster.algebra.constant(true);
        for &literal in problem.literals {
            let Ok(truth) = blaster.truth(problem.pool, literal);
            let Ok(both) = blaster.algebra.and(&all, &truth);
            all = both;
        }
        let bytes = problem.bytes.to_vec();
        let level = |byte: InputByte| {
            bytes.iter().position(|&own| own == byte).map_or(0, |at| at.min(shape.inner))
        };
        let words = (shape.lanes.div_ceil(64) as usize).min(BLOCK_WORDS);
        let sliced = Sliced::new(&blaster.algebra, &[all], words, level);
        let columns = columns(&shape);
        let answers = vec![0; words];
        Runner { shape, bytes, sliced, columns, odometer: Vec::new(), loaded: None, answers }
    }

    /// How many blocks the lanes of one outer case have.
    fn blocks(&self) -> u64 {
        self.shape.lanes.div_ceil(64 * self.sliced.words() as u64)
    }

    /// Works out all blocks in order; `see` gets the number of the block's first case and a word
    /// for every 64 cases, with a one for every solution.
    fn all_blocks(&mut self, mut see: impl FnMut(u64, &[u64])) {
        let outer: u64 =
            self.shape.values[..self.shape.inner].iter().map(|v| v.len() as u64).product();
        for block in 0..outer * self.blocks() {
            let first = self.block(block);
            see(first, &self.answers);
        }
    }

    /// Works out one block into `answers`; the number of its first case.
    fn block(&mut self, number: u64) -> u64 {
        let (outer, part) = (number / self.blocks(), number % self.blocks());
        let mut changed = self.shape.inner;
        let mut rest = outer;
        let fresh = self.odometer.is_empty();
        self.odometer.resize(self.shape.inner, usize::MAX);
        for at in (0..self.shape.inner).rev() {
            let values = &self.shape.values[at];
            let digit = (rest % values.len() as u64) as usize;
            rest /= values.len() as u64;
            if self.odometer[at] != digit {
                self.odometer[at] = digit;
                self.sliced.broadcast(self.bytes[at], values[digit]);
                changed = at;
            }
        }
        let words = self.sliced.words();
        let start = part as usize * words;
        if self.loaded != Some(part) {
            self.loaded = Some(part);
            for (byte, columns) in self.bytes[self.shape.inner..].iter().zip(&self.columns) {
                for (bit, column) in columns.iter().enumerate() {
                    if let Some(input) = self.sliced.input_mut(*byte, bit as u8) {
                        let end = column.len().min(start + words);
                        input[..end - start].copy_from_slice(&column[start..end]);
                    }
                }
            }
        }
        self.sliced.evaluate_from(if fresh { 0 } else { changed });
        let lane = start as u64 * 64;
        for (at, word) in self.sliced.output(0).enumerate() {
            let left = self.shape.lanes.saturating_sub(lane + at as u64 * 64);
            let within = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
            self.answers[at] = word & within;
        }
        outer * self.shape.lanes + lane
    }
}

/// For each inner byte its bits over all lanes. A byte's values come in runs, and the runs in
/// periods: a run is filled word by word, and a period of whole words is copied.
fn columns(shape: &Shape) -> Vec<[Vec<u64>; 8]> {
    let (lanes, words) = (shape.lanes as usize, shape.lanes.div_ceil(64) as usize);
    let mut run = lanes;
    let column = |values: &Vec<u8>| {
        run /= values.len();
        // Whole periods that are whole words, too.
        let period = run * values.len();
        let period = period << (6 - period.trailing_zeros().min(6));
        let written = period.min(lanes);
        let mut bits: [Vec<u64>; 8] = std::array::from_fn(|_| Vec::with_capacity(words));
        for (bit, column) in bits.iter_mut().enumerate() {
            column.resize(written.div_ceil(64), 0);
            let starts = (0..written).step_by(run);
            for (start, value) in starts.zip(values.iter().cycle()) {
                if value >> bit & 1 == 1 {
                    fill(column, start, start + run);
                }
            }
            while column.len() < words {
                let more = (words - column.len()).min(column.len());
                column.extend_from_within(..more);
            }
        }
        bits
    };
    shape.values[shape.inner..].iter().map(column).collect()
}

/// Sets the bits from `start` up to `end`.
fn fill(words: &mut [u64], start: usize, end: usize) {
    let (mut at, end) = (start, end.min(words.len() * 64));
    while at < end {
        let upto = (at / 64 * 64 + 64).min(end);
        words[at / 64] |= u64::MAX >> (64 - (upto - at)) << (at % 64);
        at = upto;
    }
}

fn ones(words: &[u64], mut see: impl FnMut(u64)) {
    for (at, &word) in words.iter().enumerate() {
        let mut rest = word;
        while rest != 0 {
            see(at as u64 * 64 + u64::from(rest.trailing_zeros()));
            rest &= rest - 1;
        }
    }
}

enum Source {
    /// The numbers of all solutions.
    Kept(Vec<u32>),
    /// For each block the number of solutions before it; blocks are worked out again on demand.
    Blocks { before: Vec<u64>, runner: Box<Mutex<Runner>> },
}

struct Enumerated {
    shape: Shape,
    total: u64,
    count: BigUint,
    source: Source,
    marginals: OnceLock<Vec<[u64; 256]>>,
}

impl Enumerated {
    fn all_marginals(&self) -> Vec<[u64; 256]> {
        let mut marginals = vec![[0; 256]; self.shape.values.len()];
        let mut values = vec![0; self.shape.values.len()];
        let mut add = |from: usize, case: u64, times: u64| {
            self.shape.decode(case, &mut values);
            let part = if from == 0 { 0..self.shape.inner } else { self.shape.inner..values.len() };
            for at in part {
                marginals[at][usize::from(values[at])] += times;
            }
        };
        match &self.source {
            Source::Kept(kept) => {
                for &case in kept {
                    add(0, u64::from(case), 1);
                    add(1, u64::from(case), 1);
                }
            }
            Source::Blocks { runner, .. } => {
                let mut lanes = vec![0u64; self.shape.lanes as usize];
                let mut runner = runner.lock().unwrap_or_else(PoisonError::into_inner);
                runner.all_blocks(|first, words| {
                    let offset = first % self.shape.lanes;
                    let mut here = 0;
                    ones(words, |lane| {
                        lanes[(offset + lane) as usize] += 1;
                        here += 1;
                    });
                    if here > 0 {
                        add(0, first, here);
                    }
                });
                for (lane, &times) in lanes.iter().enumerate() {
                    add(1, lane as u64, times);
                }
            }
        }
        marginals
    }
}

impl Space for Enumerated {
    fn stage(&self) -> &'static str {
        "enumerate"
    }

    fn count(&self) -> &BigUint {
        &self.count
    }

    fn sample(&self, rng: &mut dyn RngCore, out: &mut [u8]) {
        let rank = rng.gen_range(0..self.total);
        let case = match &self.source {
            Source::Kept(kept) => u64::from(kept[rank as usize]),
            Source::Blocks { before, runner } => {
                let block = before.partition_point(|&solutions| solutions <= rank) - 1;
                let mut runner = runner.lock().unwrap_or_else(PoisonError::into_inner);
                let first = runner.block(block as u64);
                let mut left = rank - before[block];
                let mut found = 0;
                for (at, &word) in runner.answers.iter().enumerate() {
                    let here = u64::from(word.count_ones());
                    if left < here {
                        let mut rest = word;
                        for _ in 0..left {
                            rest &= rest - 1;
                        }
                        found = first + at as u64 * 64 + u64::from(rest.trailing_zeros());
                        break;
                    }
                    left -= here;
                }
                found
            }
        };
        self.shape.decode(case, out);
    }

    fn marginal(&self, position: usize) -> Vec<BigUint> {
        let marginals = self.marginals.get_or_init(|| self.all_marginals());
        marginals[position].iter().map(|&count| BigUint::from(count)).collect()
    }
}
