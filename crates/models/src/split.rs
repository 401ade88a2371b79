//! A problem made smaller before the stages: bytes with one value are constants.
//!
//! A literal all of whose bytes but one are constants narrows that byte's domain, which may leave
//! it with one value, and so on. What is left may fall apart into groups that share only
//! constants; they are solved one by one, and their solutions combined.

use std::sync::Arc;

use num_bigint::BigUint;
use rand::RngCore;
use rustc_hash::FxHashMap;
use stunt_terms::{InputByte, Op, Term};

use crate::byteset::ByteSet;
use crate::code::Code;
use crate::component::OwnedProblem;
use crate::space::{Problem, Space};

/// Where the bytes of each literal are in the problem is written down once for all of them. With more
/// places than this in all, that alone would fill the memory: thousands of literals, each over most of a
/// long input. No stage counts such a problem, whole or in groups.
const MOST_PLACES: usize = 1 << 24;

/// A problem's groups.
pub(crate) enum Split {
    /// The problem is as small as it can be.
    Whole,
    /// It is too large to be looked at.
    TooLarge,
    /// No value is left for a byte, or a literal is false.
    Impossible,
    /// Groups with the positions of their bytes in the problem; constants may be in several.
    Groups(Vec<(Vec<usize>, OwnedProblem)>),
}

/// Splits a problem.
pub(crate) fn split(problem: &Problem<'_>) -> Split {
    if problem.domains.iter().all(|domain| domain.len() > 1) {
        // Without constants a component is connected; two literals may still stand apart in a
        // problem that is no component, so groups are looked for only if there may be some.
        let connected =
            |&literal: &Term| problem.pool.support(literal).len() == problem.bytes.len();
        if problem.literals.len() == 1 && problem.literals.iter().all(connected) {
            return Split::Whole;
        }
    }
    let places = problem.literals.iter().map(|&literal| problem.pool.support(literal).len());
    if places.sum::<usize>() > MOST_PLACES {
        return Split::TooLarge;
    }
    let positions: FxHashMap<InputByte, usize> = problem.bytes.iter().copied().zip(0..).collect();
    let mut domains = problem.domains.to_vec();
    let supports: Vec<Vec<usize>> = problem
        .literals
        .iter()
        .map(|&literal| problem.pool.support(literal).iter().map(|b| positions[&b]).collect())
        .collect();
    let mut open: Vec<usize> = (0..problem.literals.len()).collect();
    loop {
        let mut changed = false;
        let mut left = Vec::new();
        for &at in &open {
            let free = supports[at].iter().copied().filter(|&p| domains[p].len() > 1);
            let free: Vec<usize> = free.take(2).collect();
            if free.len() == 2 {
                left.push(at);
                continue;
            }
            changed = true;
            let target = free.first().or(supports[at].first()).copied();
            let Some(target) = target else {
                return Split::Impossible;
            };
            let allowed = allowed(problem, problem.literals[at], &supports[at], &domains, target);
            domains[target] = domains[target].intersect(&allowed);
            if domains[target].is_empty() {
                return Split::Impossible;
            }
        }
        open = left;
        if !changed {
            break;
        }
    }
    let groups = groups(problem, &domains, &supports, &open);
    match groups.as_slice() {
        [(_, only)]
            if only.bytes.len() == problem.bytes.len()
                && only.literals.len() == problem.literals.len() =>
        {
            Split::Whole
        }
        _ => Split::Groups(groups),
    }
}

/// The values of the byte at `target` for which a literal holds, all its other bytes constant.
fn allowed(
    problem: &Problem<'_>,
    literal: Term,
    support: &[usize],
    domains: &[ByteSet],
    target: usize,
) -> ByteSet {
    let pool = problem.pool;
    let mut inputs = Vec::new();
    for term in pool.reachable(&[literal]) {
        if let Op::Byte(byte) = pool.op(term) {
            inputs.push((term, byte));
        }
    }
    let terms: Vec<Term> = inputs.iter().map(|&(term, _)| term).collect();
    let code = Code::compile(pool, &[literal], &terms).expect("all bytes are inputs");
    let mut registers = code.registers();
    let constants: FxHashMap<InputByte, u8> = support
        .iter()
        .map(|&position| (problem.bytes[position], domains[position].nth(0).unwrap_or(0)))
        .collect();
    ByteSet::filter(|value| {
        for (at, (_, byte)) in inputs.iter().enumerate() {
            let is_target = *byte == problem.bytes[target];
            registers[at] = u128::from(if is_target { value } else { constants[byte] });
        }
        domains[target].contains(value) && {
            code.run(&mut registers);
            code.output(&registers, 0) == 1
        }
    })
}

/// The groups of bytes that the open literals connect without constants, then all other bytes.
fn groups(
    problem: &Problem<'_>,
    domains: &[ByteSet],
    supports: &[Vec<usize>],
    open: &[usize],
) -> Vec<(Vec<usize>, OwnedProblem)> {
    let mut leader: Vec<usize> = (0..domains.len()).collect();
    fn find(leader: &mut [usize], mut at: usize) -> usize {
        while leader[at] != at {
            leader[at] = leader[leader[at]];
            at = leader[at];
        }
        at
    }
    let free = |literal: usize| supports[literal].iter().copied().filter(|&p| domains[p].len() > 1);
    for &literal in open {
        let mut bytes = free(literal);
        let first = bytes.next().expect("an open literal has free bytes");
        for byte in bytes {
            let (a, b) = (find(&mut leader, first), find(&mut leader, byte));
            leader[a] = b;
        }
    }
    let mut members: FxHashMap<usize, (Vec<usize>, Vec<Term>)> = FxHashMap::default();
    let mut order = Vec::new();
    let mut used = vec![false; domains.len()];
    for &literal in open {
        let first = free(literal).next().expect("an open literal has free bytes");
        let name = find(&mut leader, first);
        let (bytes, literals) = members.entry(name).or_insert_with(|| {
            order.push(name);
            Default::default()
        });
        bytes.extend(&supports[literal]);
        literals.push(problem.literals[literal]);
        for &byte in &supports[literal] {
            used[byte] = true;
        }
    }
    let mut groups: Vec<(Vec<usize>, Vec<Term>)> = Vec::new();
    for name in order {
        let (mut bytes, literals) = members.remove(&name).expect("named once");
        bytes.sort_unstable();
        bytes.dedup();
        groups.push((bytes, literals));
    }
    let unused: Vec<usize> = (0..domains.len()).filter(|&at| !used[at]).collect();
    if !unused.is_empty() {
        groups.push((unused, Vec::new()));
    }
    let owned = |(positions, literals): (Vec<usize>, Vec<Term>)| {
        let problem = OwnedProblem {
            bytes: positions.iter().map(|&at| problem.bytes[at]).collect(),
            domains: positions.iter().map(|&at| domains[at]).collect(),
            literals,
        };
        (positions, problem)
    };
    groups.into_iter().map(owned).collect()
}

/// Solutions of groups, side by side.
pub(crate) struct Joint {
    parts: Vec<(Vec<usize>, Arc<dyn Space>)>,
    /// For each byte the part and the position in it.
    places: Vec<(usize, usize)>,
    count: BigUint,
    stage: &'static str,
}

impl Joint {
    /// The combinations of the parts' solutions, over `bytes` bytes; all of them are in a part.
    pub fn new(bytes: usize, parts: Vec<(Vec<usize>, Arc<dyn Space>)>) -> Joint {
        let mut places = vec![(0, 0); bytes];
        for (part, (positions, _)) in parts.iter().enumerate().rev() {
            for (at, &position) in positions.iter().enumerate() {
                places[position] = (part, at);
            }
        }
        let count = parts.iter().map(|(_, space)| space.count()).product();
        // Named after the part that had most to do.
        let stage = parts
            .iter()
            .max_by_key(|(positions, space)| (space.stage() != "product", positions.len()));
        let stage = stage.map_or("product", |(_, space)| space.stage());
        Joint { parts, places, count, stage }
    }

    /// No solution, over `bytes` bytes.
    pub fn none(bytes: usize) -> Joint {
        let places = vec![(0, 0); bytes];
        Joint { parts: Vec::new(), places, count: BigUint::ZERO, stage: "product" }
    }
}

impl Space for Joint {
    fn stage(&self) -> &'static str {
        self.stage
    }

    fn count(&self) -> &BigUint {
        &self.count
    }

    fn sample(&self, rng: &mut dyn RngCore, out: &mut [u8]) {
        for (positions, space) in &self.parts {
            let mut values = vec![0; positions.len()];
            space.sample(rng, &mut values);
            for (&position, value) in positions.iter().zip(values) {
                out[position] = value;
            }
        }
    }

    fn work(&self) -> usize {
        self.parts.iter().map(|(_, space)| space.work()).sum()
    }

    fn has_marginal(&self, position: usize) -> bool {
        let (part, at) = self.places[position];
        self.count == BigUint::ZERO || self.parts[part].1.has_marginal(at)
    }

    fn marginal(&self, position: usize) -> Vec<BigUint> {
        if self.count == BigUint::ZERO {
            return vec![BigUint::ZERO; 256];
        }
        let (part, at) = self.places[position];
        let (_, space) = &self.parts[part];
        let others = &self.count / space.count();
        space.marginal(at).into_iter().map(|count| count * &others).collect()
    }
}
