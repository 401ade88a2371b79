//! A path condition under way: its literals, its components, and the figures of what it reveals.

use std::ops::Range;

use stunt_leakage::{Accounts, Bits, ByteLeak, LeakGraph, Ledger};
use stunt_models::{Budget, Condition};
use stunt_path::{Original, Test};
use stunt_terms::{InputByte, Pool, Term};

use crate::simplify::simplify;

/// What a condition reveals.
#[derive(Clone, Debug)]
pub struct Measured {
    /// All together.
    pub total: Bits,
    /// Byte by byte, for every hidden byte in order.
    pub bytes: Vec<ByteLeak>,
}

/// The conjunction of the tests of a path.
pub struct PathCondition<'p> {
    pub(crate) pool: &'p mut Pool,
    pub(crate) accounts: Accounts,
    pub(crate) ledger: Ledger,
    pub(crate) literals: Vec<Term>,
    pub(crate) hidden: Vec<InputByte>,
}

impl<'p> PathCondition<'p> {
    /// The condition of a path over the bytes that an original hides.
    #[must_use]
    pub fn new(pool: &'p mut Pool, tests: &[Test], original: &Original) -> Self {
        let mut accounts = Accounts::new(Budget::quick());
        let mut ledger = Ledger::new();
        let literals: Vec<Term> = tests.iter().map(|test| test.condition).collect();
        for literal in simplify(pool, &mut accounts.masks, &literals) {
            ledger.push(pool, &mut accounts, literal);
        }
        Self { pool, accounts, ledger, literals, hidden: original.hidden() }
    }

    /// The condition as components.
    #[must_use]
    pub fn condition(&self) -> &Condition {
        self.ledger.condition()
    }

    /// What it reveals, all together.
    pub fn total(&mut self) -> Bits {
        self.ledger.total(self.pool, &mut self.accounts)
    }

    /// What it reveals, all together and byte by byte.
    pub fn measure(&mut self) -> Measured {
        let total = self.ledger.total(self.pool, &mut self.accounts);
        let bytes = self.hidden.iter().copied();
        let graph = LeakGraph::of(&mut self.ledger, self.pool, &mut self.accounts, bytes);
        Measured { total, bytes: graph.bytes().to_vec() }
    }

    /// How many bits the hidden part of the input has.
    #[must_use]
    pub fn size(&self) -> usize {
        8 * self.hidden.len()
    }

    /// Which parts of a source are hidden.
    #[must_use]
    pub fn hidden_runs(&self, source: u16) -> Vec<Range<u32>> {
        let mut runs: Vec<Range<u32>> = Vec::new();
        for byte in self.hidden.iter().filter(|byte| byte.source == source) {
            match runs.last_mut() {
                Some(run) if run.end == byte.offset => run.end += 1,
                _ => runs.push(byte.offset..byte.offset + 1),
            }
        }
        runs
    }
}
