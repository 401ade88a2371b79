//! Layer 3c: few cases in all are simply tried, 64 at a time.

use std::convert::Infallible;

use stunt_circuit::{Algebra, Blaster, Circuit, Lit, Sliced};
use stunt_terms::{InputByte, Pool, Term};

use super::{Outcome, Part};

/// The most cases that are tried.
pub(crate) const MOST_CASES: usize = 1 << 12;
/// The most gates that one evaluation may have.
const MOST_GATES: usize = 1 << 14;
/// A bench with more gates than this starts over.
const MOST_KEPT: usize = 1 << 16;

/// Circuits of terms, kept for the next evaluation.
pub(crate) struct Bench {
    blaster: Blaster<Circuit>,
}

impl Bench {
    pub(crate) fn new() -> Bench {
        Bench { blaster: Blaster::new(Circuit::new()) }
    }

    /// The conjunction of the terms, ready for evaluation of `words` words; `None` if it has too
    /// many gates.
    pub(crate) fn evaluator(
        &mut self,
        pool: &Pool,
        terms: impl Iterator<Item = Term>,
        words: usize,
    ) -> Option<Sliced> {
        if self.blaster.algebra.nodes().len() > MOST_KEPT {
            *self = Bench::new();
        }
        let mut literals: Vec<Lit> = Vec::new();
        for term in terms {
            let Ok(lit) = self.blaster.truth(pool, term);
            literals.push(lit);
        }
        let all: Result<Lit, Infallible> = self.blaster.algebra.all(&literals);
        let Ok(all) = all;
        let sliced = Sliced::new(&self.blaster.algebra, &[all], words, |_| 0);
        (sliced.gates() <= MOST_GATES).then_some(sliced)
    }
}

/// Tries all cases, if they are few.
pub(crate) fn search(pool: &Pool, bench: &mut Bench, part: &Part) -> Option<Outcome> {
    let cases = part.domains.iter().try_fold(1usize, |cases, (_, domain)| {
        Some(cases * domain.len() as usize).filter(|&cases| cases <= MOST_CASES)
    })?;
    if cases == 0 {
        return Some(Outcome::Unsat);
    }
    let mut sliced = bench.evaluator(pool, part.literals.iter().copied(), cases.div_ceil(64))?;
    let mut stride = 1;
    for &(byte, domain) in &part.domains {
        let values: Vec<u8> = domain.iter().collect();
        for (run, from) in (0..cases).step_by(stride).enumerate() {
            let value = values[run % values.len()];
            write_run(&mut sliced, byte, value, from, stride.min(cases - from));
        }
        stride *= values.len();
    }
    sliced.evaluate_from(0);
    let found = sliced.output(0).enumerate().find_map(|(word, bits)| {
        let case = word * 64 + bits.trailing_zeros() as usize;
        (bits != 0 && case < cases).then_some(case)
    });
    let Some(case) = found else { return Some(Outcome::Unsat) };
    let mut rest = case;
    let values = part.domains.iter().map(|&(byte, domain)| {
        let size = domain.len() as usize;
        let value = domain.nth((rest % size) as u32).expect("a rank below the size");
        rest /= size;
        (byte, value)
    });
    Some(Outcome::Sat(values.collect()))
}

/// Gives the byte a value in a run of cases; its bits there are zero so far.
fn write_run(sliced: &mut Sliced, byte: InputByte, value: u8, from: usize, length: usize) {
    for bit in (0..8).filter(|bit| value >> bit & 1 == 1) {
        let Some(wire) = sliced.input_mut(byte, bit) else { continue };
        let mut case = from;
        while case < from + length {
            let here = (64 - case % 64).min(from + length - case);
            let ones = if here == 64 { u64::MAX } else { (1 << here) - 1 };
            wire[case / 64] |= ones << (case % 64);
            case += here;
        }
    }
}
