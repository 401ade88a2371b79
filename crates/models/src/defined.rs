//! The stage for bytes that a literal defines: checksums, hexadecimal digits of them, copies.
//!
//! In `b = t`, where `b` is a byte or several in a row that no other literal looks at, and every
//! value of `t` is one that `b` may have, the literal leaves the other bytes as free as they were:
//! each of their solutions goes with exactly one value of `b`. So the literal and `b` are taken
//! away, the rest is solved by the other stages, and `b` is worked out from what they draw. It does
//! not matter how hard `t` is. The equation may have to be turned round first: a sum over all bytes
//! of a record, its check among them, that must be zero defines that check (see `turned`).
//!
//! What always holds: counts are exact, draws uniform. How often a byte has each value is known for
//! the bytes of the rest, and for those that are worked out from one byte alone.

mod turned;

use std::sync::{Arc, Mutex, PoisonError};

use num_bigint::BigUint;
use rand::RngCore;
use rustc_hash::FxHashMap;
use stunt_terms::{InputByte, Op, Pool, Program, Term};
use turned::{Value, solved_for_bytes};

use crate::budget::Budget;
use crate::byteset::ByteSet;
use crate::component::OwnedProblem;
use crate::space::{Problem, Space};
use crate::stages;

/// The solutions, if a literal defines bytes and the rest can be solved.
pub fn solve(problem: &Problem<'_>, budget: &Budget) -> Option<Arc<dyn Space>> {
    let (rest, found) = peel(problem)?;
    if rest.domains.iter().any(ByteSet::is_empty) {
        return None;
    }
    let inner = stages::solve(&rest.view(problem.pool), budget)?;
    let place: FxHashMap<InputByte, usize> = problem.bytes.iter().copied().zip(0..).collect();
    let places = rest.bytes.iter().map(|byte| place[byte]).collect();
    let mut definitions = Vec::new();
    // The last one taken away may be needed for the earlier ones.
    for Found { bytes, value, .. } in found.into_iter().rev() {
        let from = value.support(problem.pool);
        let program = value.program(problem.pool, &from);
        definitions.push(Definition {
            to: bytes.iter().map(|byte| place[byte]).collect(),
            from: from.iter().map(|byte| place[byte]).collect(),
            program: Mutex::new(program),
            value,
        });
    }
    let bytes = problem.bytes.len();
    Some(Arc::new(Defined { inner, places, definitions, bytes }))
}

/// A literal that defines bytes.
struct Found {
    literal: Term,
    /// The bytes, the highest first.
    bytes: Vec<InputByte>,
    /// What they are equal to.
    value: Value,
}

/// The problem without defined bytes, and their definitions in the order in which they were taken
/// away; `None` if there are none.
fn peel(problem: &Problem<'_>) -> Option<(OwnedProblem, Vec<Found>)> {
    let pool = problem.pool;
    let mut uses: FxHashMap<InputByte, usize> = FxHashMap::default();
    for &literal in problem.literals {
        for byte in pool.support(literal).iter() {
            *uses.entry(byte).or_default() += 1;
        }
    }
    let mut domains: FxHashMap<InputByte, ByteSet> =
        problem.bytes.iter().copied().zip(problem.domains.iter().copied()).collect();
    let mut literals = problem.literals.to_vec();
    let mut all = Vec::new();
    loop {
        let found = literals.iter().find_map(|&literal| definition(pool, &uses, &domains, literal));
        let Some(found) = found else { break };
        if let &[byte] = &found.value.support(pool)[..] {
            let narrowed = sources(pool, &found, byte, &domains);
            domains.insert(byte, narrowed);
        }
        literals.retain(|&literal| literal != found.literal);
        for byte in pool.support(found.literal).iter() {
            *uses.entry(byte).or_default() -= 1;
        }
        for byte in &found.bytes {
            domains.remove(byte);
        }
        all.push(found);
    }
    if all.is_empty() {
        return None;
    }
    let bytes: Vec<InputByte> =
        problem.bytes.iter().copied().filter(|byte| domains.contains_key(byte)).collect();
    let domains = bytes.iter().map(|byte| domains[byte]).collect();
    Some((OwnedProblem { bytes, domains, literals }, all))
}

/// What a literal defines, if it does.
fn definition(
    pool: &Pool,
    uses: &FxHashMap<InputByte, usize>,
    domains: &FxHashMap<InputByte, ByteSet>,
    literal: Term,
) -> Option<Found> {
    let Op::Eq(a, b) = pool.op(literal) else { return None };
    if pool.is_bool(a) {
        return None;
    }
    let is_alone = |byte: InputByte| uses.get(&byte) == Some(&1);
    if !pool.support(literal).iter().any(is_alone) {
        return None;
    }
    [(a, b), (b, a)].into_iter().find_map(|(side, term)| {
        solved_for_bytes(pool, side, term, &is_alone, &mut |bytes, value| {
            let found = Found { literal, bytes, value };
            fits(pool, &found, domains).then_some(found)
        })
    })
}

/// Whether the bytes may have every value of the term, or can be made to.
fn fits(pool: &Pool, found: &Found, domains: &FxHashMap<InputByte, ByteSet>) -> bool {
    if found.bytes.iter().all(|byte| domains[byte] == ByteSet::ALL) {
        return true;
    }
    if let &[byte] = &found.value.support(pool)[..] {
        return !sources(pool, found, byte, domains).is_empty();
    }
    match (found.bytes.as_slice(), found.value.plain().map(|term| pool.op(term))) {
        ([byte], Some(Op::Table(table, index))) => {
            let entries = &pool.table_data(table).entries;
            let complete = u32::from(pool.width(index)) < usize::BITS
                && entries.len() >> pool.width(index) > 0;
            let domain = domains[byte];
            (complete || domain.contains(0))
                && entries.iter().all(|&entry| domain.contains(entry as u8))
        }
        _ => false,
    }
}

/// The values of the one byte of a definition for which the defined bytes may have theirs.
fn sources(
    pool: &Pool,
    found: &Found,
    byte: InputByte,
    domains: &FxHashMap<InputByte, ByteSet>,
) -> ByteSet {
    let mut program = found.value.program(pool, &[byte]);
    let domain = domains[&byte];
    ByteSet::filter(|value| {
        domain.contains(value) && {
            let number = found.value.of(program.run_one(&[value]));
            let parts = values(number, found.bytes.len());
            found.bytes.iter().zip(parts).all(|(to, part)| domains[to].contains(part))
        }
    })
}

/// A number as bytes, the highest first.
fn values(number: u128, bytes: usize) -> impl Iterator<Item = u8> {
    (0..bytes).rev().map(move |at| (number >> (8 * at)) as u8)
}

struct Definition {
    /// The places of the defined bytes, the highest first.
    to: Vec<usize>,
    /// The places of the bytes that they are worked out from.
    from: Vec<usize>,
    program: Mutex<Program>,
    value: Value,
}

impl Definition {
    fn run(&self, inputs: &[u8]) -> u128 {
        let mut program = self.program.lock().unwrap_or_else(PoisonError::into_inner);
        self.value.of(program.run_one(inputs))
    }
}

struct Defined {
    inner: Arc<dyn Space>,
    /// The places of the bytes of the rest.
    places: Vec<usize>,
    /// In the order in which they can be worked out.
    definitions: Vec<Definition>,
    bytes: usize,
}

impl Defined {
    fn definition_of(&self, position: usize) -> Option<&Definition> {
        self.definitions.iter().find(|definition| definition.to.contains(&position))
    }
}

impl Space for Defined {
    fn stage(&self) -> &'static str {
        "defined"
    }

    fn count(&self) -> &BigUint {
        self.inner.count()
    }

    fn sample(&self, rng: &mut dyn RngCore, out: &mut [u8]) {
        debug_assert_eq!(out.len(), self.bytes);
        let mut rest = vec![0; self.places.len()];
        self.inner.sample(rng, &mut rest);
        for (&place, value) in self.places.iter().zip(rest) {
            out[place] = value;
        }
        for definition in &self.definitions {
            let inputs: Vec<u8> = definition.from.iter().map(|&place| out[place]).collect();
            let number = definition.run(&inputs);
            for (&place, value) in definition.to.iter().zip(values(number, definition.to.len())) {
                out[place] = value;
            }
        }
    }

    fn work(&self) -> usize {
        self.inner.work() + self.definitions.len()
    }

    fn has_marginal(&self, position: usize) -> bool {
        match self.definition_of(position) {
            None => {
                let at = self.places.iter().position(|&place| place == position);
                at.is_some_and(|at| self.inner.has_marginal(at))
            }
            Some(definition) => match definition.from.as_slice() {
                [from] => self.has_marginal(*from),
                _ => false,
            },
        }
    }

    fn marginal(&self, position: usize) -> Vec<BigUint> {
        let Some(definition) = self.definition_of(position) else {
            let at = self.places.iter().position(|&place| place == position);
            return self.inner.marginal(at.expect("every byte is defined or in the rest"));
        };
        let [from] = definition.from.as_slice() else {
            panic!("how often this byte has each value is not known");
        };
        let part = definition.to.iter().position(|&place| place == position);
        let part = part.expect("the definition is that of this byte");
        let mut sums = vec![BigUint::ZERO; 256];
        for (value, count) in (0..=255).zip(self.marginal(*from)) {
            let number = definition.run(&[value]);
            let own = values(number, definition.to.len()).nth(part);
            sums[usize::from(own.expect("a part of the number"))] += count;
        }
        sums
    }
}
