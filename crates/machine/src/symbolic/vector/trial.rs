//! Operands for tests: terms over input bytes, and the values that they have.
//!
//! Always: the values that a term is compared with come from the processor's own function for the
//! op, run on the operands' values. Terms never see these values.

use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term};

use crate::code::{Op, Slot};
use crate::cpu::{Cpu, Exception, step};
use crate::memory::AddressSpace;

/// Slots of operands and result.
pub(in crate::symbolic) const A: Slot = 100;
pub(in crate::symbolic) const B: Slot = 102;
pub(in crate::symbolic) const C: Slot = 104;
pub(in crate::symbolic) const D: Slot = 106;

/// Bytes at which comparisons, saturation and signs change their minds.
const CORNERS: [u8; 12] = [0, 1, 2, 0x20, 0x40, 0x41, 0x5b, 0x7e, 0x7f, 0x80, 0x81, 0xff];

/// A pool and a source of operands.
pub(in crate::symbolic) struct Trial {
    pub pool: Pool,
    rng: ChaCha8Rng,
    inputs: u32,
}

impl Trial {
    pub fn new(seed: u64) -> Trial {
        Trial { pool: Pool::new(), rng: ChaCha8Rng::seed_from_u64(seed), inputs: 0 }
    }

    fn corner(&mut self) -> u8 {
        if self.rng.gen_bool(0.6) {
            *CORNERS.choose(&mut self.rng).expect("there are corners")
        } else {
            self.rng.r#gen()
        }
    }

    /// A byte that is an input, or made of one.
    fn symbolic_byte(&mut self) -> Term {
        // Now and then one that occurred before.
        let offset = if self.inputs > 0 && self.rng.gen_bool(0.2) {
            self.rng.gen_range(0..self.inputs)
        } else {
            self.inputs += 1;
            self.inputs - 1
        };
        let byte = self.pool.input(0, offset);
        let k = self.corner();
        let k = self.pool.constant(8, u128::from(k));
        match self.rng.gen_range(0..8) {
            0 => self.pool.add(byte, k),
            1 => self.pool.and(byte, k),
            2 => {
                let test = self.pool.eq(byte, k);
                let (ones, zero) = (self.pool.constant(8, 0xff), self.pool.constant(8, 0));
                self.pool.ite(test, ones, zero)
            }
            3 => {
                let test = self.pool.slt(byte, k);
                self.pool.ite(test, byte, k)
            }
            _ => byte,
        }
    }

    /// A term of eight bytes, of which some are constant.
    pub fn word(&mut self) -> Term {
        let share = *[0.0, 0.3, 0.7, 1.0, 1.0].choose(&mut self.rng).expect("some");
        let sparse = self.rng.gen_bool(0.3);
        let mut word = None;
        for _ in 0..8 {
            let byte = if self.rng.gen_bool(share) {
                self.symbolic_byte()
            } else {
                let value = if sparse { 0 } else { self.corner() };
                self.pool.constant(8, u128::from(value))
            };
            word = Some(match word {
                None => byte,
                Some(low) => self.pool.concat(byte, low),
            });
        }
        word.expect("a word has bytes")
    }

    /// A small number, or any: a count, an index.
    pub fn number(&mut self) -> Term {
        match self.rng.gen_range(0..4) {
            0 => self.word(),
            1 => {
                let value = self.rng.gen_range(0..80);
                self.pool.constant(64, value)
            }
            _ => {
                let byte = self.symbolic_byte();
                self.pool.zero_extend(64, byte)
            }
        }
    }

    /// Eight constant bytes.
    pub fn constant(&mut self) -> Term {
        let bytes = [(); 8].map(|()| self.corner());
        self.pool.constant(64, u128::from(u64::from_le_bytes(bytes)))
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        self.rng.gen_range(0..limit)
    }

    /// Values for all inputs so far.
    pub fn assignment(&mut self) -> Assignment {
        let mut assignment = Assignment::new();
        let small = self.rng.gen_bool(0.3);
        for offset in 0..self.inputs {
            let value = if small { self.rng.gen_range(0..80) } else { self.corner() };
            assignment.set(InputByte::new(0, offset), value);
        }
        assignment
    }
}

/// The values of terms under one assignment.
pub(in crate::symbolic) struct Values<'t> {
    pool: &'t Pool,
    assignment: &'t Assignment,
    evaluator: Evaluator,
}

impl<'t> Values<'t> {
    pub fn new(pool: &'t Pool, assignment: &'t Assignment) -> Values<'t> {
        Values { pool, assignment, evaluator: Evaluator::new() }
    }

    pub fn of(&mut self, term: Term) -> u64 {
        assert_eq!(self.pool.width(term), 64, "slots are 64 bits wide");
        self.evaluator.eval(self.pool, term, self.assignment) as u64
    }
}

/// A processor that did the op, from slots with these values.
pub(in crate::symbolic) fn done(op: Op, slots: &[(Slot, u64)]) -> Result<Cpu, Exception> {
    let mut cpu = Cpu::default();
    for &(slot, value) in slots {
        cpu.set(slot, value);
    }
    step(&mut cpu, &mut AddressSpace::new(0), &op)?;
    Ok(cpu)
}
