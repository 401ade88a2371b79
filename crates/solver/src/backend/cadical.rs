//! CaDiCaL as the engine: a term is turned into clauses once, a literal is an assumption.
//!
//! Always: the clauses define gates and state nothing about the input, so what was asked before
//! never constrains what is asked next; learnt clauses stay useful. Conditions are known here
//! only as assumptions of one call.

use std::time::{Duration, Instant};

use cadical::Callbacks;
use rustc_hash::FxHashMap;
use stunt_circuit::{Algebra, Blaster, read_table};
use stunt_models::ByteSet;
use stunt_terms::{InputByte, Pool, Table, Term};

pub(crate) use super::gates::TooLarge;
use super::gates::{Gates, Lit, TRUE};
use crate::query::{Budget, Why};

/// Stops a search that takes too long.
pub(super) struct Deadline {
    at: Instant,
    calls: u32,
    passed: bool,
}

impl Deadline {
    fn after(time: Duration) -> Deadline {
        Deadline { at: Instant::now() + time, calls: 0, passed: false }
    }
}

impl Callbacks for Deadline {
    fn terminate(&mut self) -> bool {
        // The clock costs more than most of the steps between two calls.
        self.calls = self.calls.wrapping_add(1);
        if !self.passed && self.calls.is_multiple_of(16) {
            self.passed = Instant::now() >= self.at;
        }
        self.passed
    }
}

/// A literal, to be assumed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Assumption(Lit);

impl Assumption {
    /// Whether the literal is true by itself.
    pub(crate) fn is_trivial(self) -> bool {
        self.0 == TRUE
    }
}

/// One incremental SAT solver with the terms that it has seen.
pub(crate) struct Backend {
    blaster: Blaster<Gates>,
    members: FxHashMap<(InputByte, ByteSet), Assumption>,
}

impl Backend {
    /// A solver that has seen nothing, and takes at most `limit` gates.
    pub(crate) fn new(limit: usize) -> Backend {
        Backend { blaster: Blaster::new(Gates::new(limit)), members: FxHashMap::default() }
    }

    /// How many variables there are.
    pub(crate) fn size(&self) -> usize {
        self.blaster.algebra.variables()
    }

    /// That a Bool term holds.
    pub(crate) fn holds(&mut self, pool: &Pool, term: Term) -> Result<Assumption, TooLarge> {
        Ok(Assumption(self.blaster.truth(pool, term)?))
    }

    /// That a byte's value is in the set.
    pub(crate) fn member(&mut self, byte: InputByte, set: ByteSet) -> Result<Assumption, TooLarge> {
        if let Some(&known) = self.members.get(&(byte, set)) {
            return Ok(known);
        }
        let bits = self.blaster.algebra.byte(byte)?;
        let entries = (0..=255).map(|value| u64::from(set.contains(value))).collect();
        let table = Table { width: 1, entries };
        let member = Assumption(read_table(&mut self.blaster.algebra, &table, &bits)?[0]);
        self.members.insert((byte, set), member);
        Ok(member)
    }

    /// The eight bits of a byte as they are in `value`, lowest first.
    pub(crate) fn equals(
        &mut self,
        byte: InputByte,
        value: u8,
    ) -> Result<[Assumption; 8], TooLarge> {
        let mut bits = self.blaster.algebra.byte(byte)?;
        for (i, bit) in bits.iter_mut().enumerate() {
            if value >> i & 1 == 0 {
                *bit = -*bit;
            }
        }
        Ok(bits.map(Assumption))
    }

    /// For each `k` from 1 on: that at least `k` of the literals hold. A totalizer: the counts
    /// of both halves, in unary, are merged.
    pub(crate) fn at_least(&mut self, of: &[Assumption]) -> Result<Vec<Assumption>, TooLarge> {
        let gates = &mut self.blaster.algebra;
        let mut counts: Vec<Vec<Lit>> = of.iter().map(|&Assumption(lit)| vec![lit]).collect();
        while counts.len() > 1 {
            let mut merged = Vec::with_capacity(counts.len().div_ceil(2));
            for pair in counts.chunks(2) {
                merged.push(match pair {
                    [a, b] => merge(gates, a, b)?,
                    _ => pair[0].clone(),
                });
            }
            counts = merged;
        }
        Ok(counts.pop().unwrap_or_default().into_iter().map(Assumption).collect())
    }

    /// Whether all assumptions can hold together.
    pub(crate) fn solve(
        &mut self,
        assumptions: &[Assumption],
        budget: &Budget,
    ) -> Result<bool, Why> {
        let solver = &mut self.blaster.algebra.solver;
        solver.set_callbacks(Some(Deadline::after(budget.time)));
        let conflicts = i32::try_from(budget.conflicts).unwrap_or(i32::MAX);
        solver.set_limit("conflicts", conflicts).expect("CaDiCaL knows this limit");
        let answer = solver.solve_with(assumptions.iter().map(|&Assumption(lit)| lit));
        let passed = solver.get_callbacks().is_some_and(|deadline| deadline.passed);
        answer.ok_or(if passed { Why::Time } else { Why::Conflicts })
    }

    /// The value of a byte in the model of the last call, which found one. Bits that do not
    /// matter are zero.
    pub(crate) fn value(&self, byte: InputByte) -> u8 {
        let Some(bits) = self.blaster.algebra.bits_of(byte) else { return 0 };
        let solver = &self.blaster.algebra.solver;
        let bit = |i: usize| u8::from(solver.value(bits[i]) == Some(true)) << i;
        (0..8).map(bit).sum()
    }

    /// Whether the assumption has a part in why the last call found no model.
    pub(crate) fn failed(&self, assumption: Assumption) -> bool {
        self.blaster.algebra.solver.failed(assumption.0)
    }
}

fn merge(gates: &mut Gates, a: &[Lit], b: &[Lit]) -> Result<Vec<Lit>, TooLarge> {
    let mut sums = Vec::with_capacity(a.len() + b.len());
    for k in 1..=a.len() + b.len() {
        let mut any = -TRUE;
        // i of the first half and k - i of the second.
        for i in k.saturating_sub(b.len())..=k.min(a.len()) {
            let first = if i == 0 { TRUE } else { a[i - 1] };
            let second = if i == k { TRUE } else { b[k - i - 1] };
            let both = gates.and(&first, &second)?;
            any = gates.or(&any, &both)?;
        }
        sums.push(any);
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget() -> Budget {
        Budget::default()
    }

    #[test]
    fn the_gate_limit_is_kept() {
        let mut pool = Pool::new();
        let (a, b) = (pool.input(0, 0), pool.input(0, 1));
        let (product, zero) = (pool.mul(a, b), pool.constant(8, 0));
        let term = pool.eq(product, zero);
        assert_eq!(Backend::new(40).holds(&pool, term), Err(TooLarge));
        assert!(Backend::new(4_000).holds(&pool, term).is_ok());
    }

    #[test]
    fn at_least_counts() {
        let byte = InputByte::new(0, 0);
        for wanted in 0..=255u8 {
            let mut backend = Backend::new(10_000);
            let bits = backend.equals(byte, wanted).expect("small");
            let at_least = backend.at_least(&bits).expect("small");
            // The assumption that the byte has a value fixes how many of the bits hold.
            for value in [0, 1, 0x0f, 0xaa, 0xff, wanted] {
                let matching = (!(value ^ wanted)).count_ones() as usize;
                let fixed = backend.equals(byte, value).expect("small").to_vec();
                for (k, &enough) in at_least.iter().enumerate() {
                    let mut assumptions = fixed.clone();
                    assumptions.push(enough);
                    assert_eq!(backend.solve(&assumptions, &budget()), Ok(matching > k));
                }
            }
        }
    }

    #[test]
    fn members_and_cores() {
        let mut backend = Backend::new(10_000);
        let byte = InputByte::new(0, 9);
        let set = ByteSet::filter(|value| value % 3 == 1);
        let (inside, other) = (
            backend.member(byte, set).expect("small"),
            backend.member(InputByte::new(0, 1), set).expect("small"),
        );
        for value in 0..=255 {
            let mut assumptions = vec![other, inside];
            assumptions.extend(backend.equals(byte, value).expect("small"));
            assert_eq!(backend.solve(&assumptions, &budget()), Ok(set.contains(value)));
            if set.contains(value) {
                assert_eq!(backend.value(byte), value);
            } else {
                assert!(backend.failed(inside) && !backend.failed(other));
            }
        }
    }
}
