//! A path condition under way: its literals, its components, and the figures of what it reveals.

use std::ops::Range;

use stunt_leakage::{Accounts, Bits, ByteLeak, LeakGraph, Ledger};
use stunt_models::{Budget, Condition};
use stunt_path::{Original, Test};
use stunt_solver::Sampler;
use stunt_terms::{InputByte, Pool, Term};

use crate::ease::{Tries, ease};
use crate::simplify::simplify;
use crate::weaken::DrawnFrom;

/// A part of a condition that cannot be counted must be met so often within so many random tries.
const TRIES: Tries = (4, 4_000);

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
    pub(crate) sampler: Sampler,
    fixed: Option<Vec<InputByte>>,
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
        let (hidden, sampler) = (original.hidden(), Sampler::new());
        Self { pool, accounts, ledger, literals, hidden, sampler, fixed: None }
    }

    /// Makes the condition one that can be drawn from uniformly, at the price of bytes that keep the
    /// original's values; see [`PathCondition::fixed`]. Figures are those of that condition from
    /// then on.
    pub fn ease(&mut self, original: &Original) {
        if self.fixed.is_some() {
            return;
        }
        let literals: Vec<Term> = self.condition().literals().collect();
        let own = original.assignment();
        let (accounts, sampler) = (&mut self.accounts, &mut self.sampler);
        let eased = ease(self.pool, accounts, sampler, &own, &literals, TRIES);
        if eased.stronger {
            self.ledger = Ledger::new();
            for literal in eased.literals {
                self.ledger.push(self.pool, &mut self.accounts, literal);
            }
        }
        self.fixed = Some(eased.fixed.into_iter().collect());
    }

    /// The bytes that keep the original's values, because what the program computes from them is
    /// too hard to solve. The figures count them as revealed.
    #[must_use]
    pub fn fixed(&self) -> &[InputByte] {
        self.fixed.as_deref().unwrap_or_default()
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
        let graph = LeakGraph::of(&self.ledger, self.pool, &mut self.accounts, bytes);
        Measured { total, bytes: graph.bytes().to_vec() }
    }

    /// What a double is drawn from that is a uniform solution of the condition.
    pub fn drawn_from(&mut self, original: &Original) -> DrawnFrom {
        let total = self.total().upper();
        DrawnFrom::of(original, |byte| self.ledger.condition().domain(byte), total)
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
