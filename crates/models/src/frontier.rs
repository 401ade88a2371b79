//! Frontier: a dynamic program over the bytes, one after another.
//!
//! After some bytes, all that the rest of the literals needs to know of them is a few values: a
//! running sum, the state of an automaton, a truth value. Partial inputs with equal values are one
//! state. The layers of states are kept: counts from the back give uniform samples. The stage
//! declines when there are too many states, as for values that have to be remembered whole.

use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, OnceLock};

use hashbrown::HashTable;
use num_bigint::{BigUint, RandBigInt};
use rand::RngCore;
use rustc_hash::FxBuildHasher;

use crate::budget::Budget;
use crate::byteset::ByteSet;
use crate::product::uniform;
use crate::space::{Problem, Space};

mod demand;
mod level;
mod plan;

use demand::Demand;
use level::Level;
use plan::Plan;

/// The most bytes that the counts of all states may take: a count has up to a byte for each byte
/// of input that is left.
const MOST_MEMORY: usize = 1 << 28;

/// No state: a literal fails on the way.
const DEAD: u32 = u32::MAX;

/// The solutions, in layers of states; `None` if there are too many states in every order tried.
pub fn solve(problem: &Problem<'_>, budget: &Budget) -> Option<Arc<dyn Space>> {
    let forwards: Vec<usize> =
        (0..problem.bytes.len()).filter(|&at| problem.domains[at].len() > 1).collect();
    let backwards: Vec<usize> = forwards.iter().rev().copied().collect();
    let plans = [Plan::new(problem, forwards), Plan::new(problem, backwards)];
    let mut plans: Vec<Plan<'_>> = plans.into_iter().flatten().collect();
    plans.sort_by_key(Plan::cost);
    plans.iter().find_map(|plan| {
        let layers = layers(problem, plan, budget)?;
        Some(Arc::new(Layered::new(problem, plan, layers)) as Arc<dyn Space>)
    })
}

/// The steps from the states after one byte to the states after the next.
struct Layer {
    classes: Vec<ByteSet>,
    /// For each state and each class the next state, or `DEAD`.
    targets: Vec<u32>,
    /// How many states come out.
    states: usize,
}

fn layers(problem: &Problem<'_>, plan: &Plan<'_>, budget: &Budget) -> Option<Vec<Layer>> {
    if plan.impossible {
        return Some(Vec::new());
    }
    let mut users: Vec<Vec<u32>> = vec![Vec::new(); plan.nodes.len()];
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); plan.order.len() + 1];
    for (at, node) in plan.nodes.iter().enumerate().filter(|&(at, _)| plan.wanted[at]) {
        members[node.level as usize].push(at as u32);
        for operand in node.operands() {
            users[operand as usize].push(at as u32);
        }
    }
    let mut layers = Vec::with_capacity(plan.order.len());
    // States as rows of values; there is one state before the first byte, with no values.
    let (mut rows, mut count): (Vec<u128>, usize) = (Vec::new(), 1);
    let (mut transitions, mut memory) = (0, 0);
    for (at, &position) in plan.order.iter().enumerate() {
        let number = at + 1;
        let mut level = Level::new(plan, &members[number], number, &problem.domains[position]);
        let mut demand = Demand::new(plan, &users, number);
        // A state costs memory even if it has a single class.
        transitions += (count * level.classes.len().max(4)) as u64;
        memory += count * (plan.order.len() - at + 32);
        if transitions > budget.transitions || memory > MOST_MEMORY {
            return None;
        }
        let (before, after) = (plan.live[number - 1].len(), plan.live[number].len());
        let mut next = States::new(after);
        let mut state = vec![0; after];
        let mut targets = Vec::with_capacity(count * level.classes.len());
        for row in 0..count {
            let from = &rows[row * before..][..before];
            for class in 0..level.classes.len() {
                let alive =
                    level.next(from, class, &mut state) && demand.settle(plan, &users, &mut state);
                targets.push(if alive { next.number(&state) } else { DEAD });
            }
            if next.count > budget.states {
                return None;
            }
        }
        layers.push(Layer { classes: level.classes, targets, states: next.count });
        (rows, count) = (next.rows, next.count);
    }
    Some(layers)
}

/// Distinct rows of values, numbered.
struct States {
    width: usize,
    rows: Vec<u128>,
    count: usize,
    index: HashTable<u32>,
}

impl States {
    fn new(width: usize) -> States {
        States { width, rows: Vec::new(), count: 0, index: HashTable::new() }
    }

    fn number(&mut self, row: &[u128]) -> u32 {
        let (rows, width) = (&self.rows, self.width);
        let get = |number: u32| &rows[number as usize * width..][..width];
        let hash = hash(row);
        if let Some(&found) = self.index.find(hash, |&number| get(number) == row) {
            return found;
        }
        let number = self.count as u32;
        self.count += 1;
        self.rows.extend_from_slice(row);
        let rows = &self.rows;
        let rehash = |&number: &u32| self::hash(&rows[number as usize * width..][..width]);
        self.index.insert_unique(hash, number, rehash);
        number
    }
}

fn hash(row: &[u128]) -> u64 {
    struct Row<'a>(&'a [u128]);
    impl Hash for Row<'_> {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            for &value in self.0 {
                state.write_u64(value as u64);
                if value >> 64 != 0 {
                    state.write_u64((value >> 64) as u64);
                }
            }
        }
    }
    FxBuildHasher.hash_one(Row(row))
}

/// The solutions as paths through the layers.
struct Layered {
    /// For each byte of the problem its layer, or its only value.
    places: Vec<Result<usize, u8>>,
    /// For each layer the position of its byte.
    order: Vec<usize>,
    layers: Vec<Layer>,
    /// For each layer and each state before it: how many ways lead from it to the end.
    ways: Vec<Vec<BigUint>>,
    count: BigUint,
    /// For each layer the marginal of its byte; worked out when first asked for.
    marginals: OnceLock<Vec<Vec<BigUint>>>,
}

impl Layered {
    fn new(problem: &Problem<'_>, plan: &Plan<'_>, layers: Vec<Layer>) -> Layered {
        let mut places: Vec<Result<usize, u8>> =
            problem.domains.iter().map(|domain| Err(domain.nth(0).unwrap_or(0))).collect();
        for (layer, &position) in plan.order.iter().enumerate() {
            places[position] = Ok(layer);
        }
        // The numbers of states before the first layer, between the layers, and after the last.
        let states: Vec<usize> =
            std::iter::once(1).chain(layers.iter().map(|layer| layer.states)).collect();
        let mut ways = vec![vec![BigUint::from(1u8); states[layers.len()]]];
        for (layer, &before) in layers.iter().zip(&states).rev() {
            let after = ways.last().expect("there is a last layer");
            ways.push(backwards(layer, before, after));
        }
        ways.reverse();
        let count = if plan.impossible { BigUint::ZERO } else { ways[0][0].clone() };
        let order = plan.order.clone();
        Layered { places, order, layers, ways, count, marginals: OnceLock::new() }
    }

    fn all_marginals(&self) -> Vec<Vec<BigUint>> {
        let mut reach = vec![BigUint::from(1u8)];
        let mut all = Vec::with_capacity(self.layers.len());
        for (at, layer) in self.layers.iter().enumerate() {
            let mut marginal = vec![BigUint::ZERO; 256];
            let mut next = vec![BigUint::ZERO; layer.states];
            let sizes: Vec<u32> = layer.classes.iter().map(ByteSet::len).collect();
            let mut totals = vec![BigUint::ZERO; layer.classes.len()];
            for (state, targets) in layer.targets.chunks(layer.classes.len().max(1)).enumerate() {
                for (class, &target) in targets.iter().enumerate() {
                    if target != DEAD {
                        totals[class] += &reach[state] * &self.ways[at + 1][target as usize];
                        next[target as usize] += &reach[state] * sizes[class];
                    }
                }
            }
            for (class, total) in layer.classes.iter().zip(totals) {
                for value in class.iter() {
                    marginal[usize::from(value)] = total.clone();
                }
            }
            all.push(marginal);
            reach = next;
        }
        all
    }
}

fn backwards(layer: &Layer, before: usize, after: &[BigUint]) -> Vec<BigUint> {
    let sizes: Vec<u32> = layer.classes.iter().map(ByteSet::len).collect();
    if sizes.is_empty() {
        // No value of the byte passes.
        return vec![BigUint::ZERO; before];
    }
    let rows = layer.targets.chunks(sizes.len());
    let ways = rows.map(|targets| {
        let mut total = BigUint::ZERO;
        for (&target, &size) in targets.iter().zip(&sizes) {
            match (target, size) {
                (DEAD, _) => {}
                (target, 1) => total += &after[target as usize],
                (target, size) => total += &after[target as usize] * size,
            }
        }
        total
    });
    ways.collect()
}

impl Space for Layered {
    fn stage(&self) -> &'static str {
        "frontier"
    }

    fn count(&self) -> &BigUint {
        &self.count
    }

    fn sample(&self, rng: &mut dyn RngCore, out: &mut [u8]) {
        for (value, place) in out.iter_mut().zip(&self.places) {
            if let Err(only) = place {
                *value = *only;
            }
        }
        let mut state = 0;
        for (at, layer) in self.layers.iter().enumerate() {
            let mut rank = rng.gen_biguint_below(&self.ways[at][state]);
            let row = &layer.targets[state * layer.classes.len()..][..layer.classes.len()];
            for (class, &target) in layer.classes.iter().zip(row) {
                if target == DEAD {
                    continue;
                }
                let here = &self.ways[at + 1][target as usize] * class.len();
                if rank < here {
                    out[self.order[at]] = uniform(rng, class);
                    state = target as usize;
                    break;
                }
                rank -= here;
            }
        }
    }

    fn marginal(&self, position: usize) -> Vec<BigUint> {
        match self.places[position] {
            Ok(layer) if !self.layers.is_empty() => {
                self.marginals.get_or_init(|| self.all_marginals())[layer].clone()
            }
            Ok(_) => vec![BigUint::ZERO; 256],
            Err(value) => {
                let mut marginal = vec![BigUint::ZERO; 256];
                marginal[usize::from(value)] = self.count.clone();
                marginal
            }
        }
    }
}
