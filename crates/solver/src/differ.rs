//! The model that differs most from a given input.
//!
//! A byte differs when its value is not the original's. As many bytes as possible shall differ:
//! `max over I with C(I) of #{b : I(b) != O(b)}`, component by component, since components share
//! no byte. Values are varied at random beyond that, but the draw is not uniform: whoever uses it
//! has to count what "differs" tells about the original.

use std::sync::Arc;

use rand::{Rng, RngCore};
use stunt_models::{ByteSet, Component, Condition};
use stunt_terms::{Assignment, InputByte, Pool};

use crate::backend::cadical::{Assumption, Backend};
use crate::chain::Solver;
use crate::layer::{Outcome, Part, Values, sat};
use crate::query::{Budget, Model, Why};
use crate::soft;

/// Components of at most this many bytes are solved to the optimum.
const MOST_OPTIMAL: usize = 32;
/// The conflicts that one step of an improvement or of a variation may cost.
const STEP: u32 = 5_000;

/// A model that differs from the original in many bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Different {
    /// Values for all bytes of the condition and all bytes that were asked for.
    pub model: Model,
    /// In how many of the model's bytes it differs.
    pub differ: usize,
    /// Whether it is proved that no model differs in more.
    pub optimal: bool,
}

/// What the search for it comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Differing {
    /// A model that differs.
    Model(Different),
    /// There is no model at all.
    Unsat,
    /// It was not found out whether there is one.
    Unknown(Why),
}

/// A model of the condition that differs from the original in as many bytes as possible.
///
/// The model has values for the bytes of the condition and for `bytes`; those of them that the
/// condition leaves free always differ.
pub fn differ_most(
    pool: &Pool,
    solver: &mut Solver,
    condition: &Condition,
    original: &Assignment,
    bytes: &[InputByte],
    rng: &mut dyn RngCore,
) -> Differing {
    if condition.is_contradiction() {
        return Differing::Unsat;
    }
    let (mut values, mut optimal) = (Values::new(), true);
    let mut components: Vec<&Arc<Component>> = condition.components().collect();
    components.sort_by_cached_key(|component| component.bytes().next());
    for component in components {
        if let Some((byte, domain)) = component.single() {
            values.push((byte, other_value(domain, original.get(byte), rng)));
            continue;
        }
        match component_most(pool, solver, component, original, rng) {
            Ok(Some((found, proved))) => {
                values.extend(found);
                optimal &= proved;
            }
            Ok(None) => return Differing::Unsat,
            Err(why) => return Differing::Unknown(why),
        }
    }
    let free = bytes.iter().filter(|&&byte| condition.component_of(byte).is_none());
    let mut free: Vec<InputByte> = free.copied().collect();
    free.sort_unstable();
    free.dedup();
    let free =
        free.into_iter().map(|byte| (byte, other_value(ByteSet::ALL, original.get(byte), rng)));
    values.extend(free);
    let differ = count_different(&values, original);
    Differing::Model(Different { model: Model::from_values(values), differ, optimal })
}

fn count_different(values: &[(InputByte, u8)], original: &Assignment) -> usize {
    values.iter().filter(|&&(byte, value)| value != original.get(byte)).count()
}

/// A random value of the domain other than the original, if there is one.
fn other_value(domain: ByteSet, original: u8, rng: &mut dyn RngCore) -> u8 {
    let others = all_but(original).intersect(&domain);
    match others.len() {
        0 => original,
        count => others.nth(rng.gen_range(0..count)).expect("a rank below the size"),
    }
}

fn all_but(value: u8) -> ByteSet {
    ByteSet::filter(|other| other != value)
}

/// The values of one component, and whether they are proved to differ most.
fn component_most(
    pool: &Pool,
    solver: &mut Solver,
    component: &Arc<Component>,
    original: &Assignment,
    rng: &mut dyn RngCore,
) -> Result<Option<(Values, bool)>, Why> {
    let part = Part::of(component);
    let first = match solver.part(pool, part.clone()) {
        Outcome::Sat(values) => values,
        Outcome::Unsat => return Ok(None),
        Outcome::Unknown(why) => return Err(why),
    };
    let step = Budget { conflicts: solver.budget.conflicts.min(STEP), ..solver.budget };
    let full = solver.budget;
    let Ok((backend, required)) = solver.engines.prepare(pool, &part) else {
        return Ok(Some((first, false)));
    };
    let mut search =
        Search { backend, part: &part, original, required, wishes: Vec::new(), best: first };
    // A byte whose only value is the original's can wish for nothing.
    let may_differ = |&(byte, domain): &(InputByte, ByteSet)| {
        !domain.intersect(&all_but(original.get(byte))).is_empty()
    };
    for &(byte, _) in part.domains.iter().filter(|at| may_differ(at)) {
        match search.backend.member(byte, all_but(original.get(byte))) {
            Ok(wish) => search.wishes.push(wish),
            Err(_) => return Ok(Some((search.best, false))),
        }
    }
    let mut bound = search.wishes.len();
    let small = component.len() <= MOST_OPTIMAL;
    if let Some(cores) = search.grant(if small { &full } else { &step }) {
        bound -= cores;
    }
    if search.differ() < bound {
        bound = if small { search.raise(bound, &full) } else { search.improve(bound, &step) };
    }
    let optimal = search.differ() == bound;
    search.vary(&step, rng);
    Ok(Some((search.best, optimal)))
}

/// The search in one component. `best` is a model throughout, and never gets worse.
struct Search<'a> {
    backend: &'a mut Backend,
    part: &'a Part,
    original: &'a Assignment,
    required: Vec<Assumption>,
    /// For each byte that can differ: that it does.
    wishes: Vec<Assumption>,
    best: Values,
}

impl Search<'_> {
    fn differ(&self) -> usize {
        count_different(&self.best, self.original)
    }

    /// Keeps the engine's model if it is no worse.
    fn take_model(&mut self) {
        let found = sat::values(self.backend, self.part);
        if count_different(&found, self.original) >= self.differ() {
            self.best = found;
        }
    }

    /// All wishes but those in cores; returns how many disjoint cores there are.
    fn grant(&mut self, budget: &Budget) -> Option<usize> {
        let wishes: Vec<Vec<Assumption>> = self.wishes.iter().map(|&wish| vec![wish]).collect();
        let cores = soft::grant(self.backend, &self.required, &wishes, budget).ok()??;
        self.take_model();
        Some(cores)
    }

    /// Raises the number of bytes that differ up to the optimum; returns the new upper bound.
    fn raise(&mut self, bound: usize, budget: &Budget) -> usize {
        let mut bound = bound;
        let Ok(at_least) = self.backend.at_least(&self.wishes) else { return bound };
        while self.differ() < bound {
            let goal = (self.differ() + bound).div_ceil(2);
            let mut assumptions = self.required.clone();
            assumptions.push(at_least[goal - 1]);
            match self.backend.solve(&assumptions, budget) {
                Ok(true) => self.take_model(),
                Ok(false) => bound = goal - 1,
                Err(_) => break,
            }
        }
        bound
    }

    /// Asks for more bytes one after the other, on top of those that differ already.
    fn improve(&mut self, bound: usize, budget: &Budget) -> usize {
        let byte_differs = |best: &Values, original: &Assignment, at: usize| {
            let (byte, value) = best[at];
            value != original.get(byte)
        };
        let mut assumptions = self.required.clone();
        let mut open = Vec::new();
        for at in 0..self.part.domains.len() {
            let (byte, domain) = self.part.domains[at];
            let others = all_but(self.original.get(byte));
            if domain.intersect(&others).is_empty() {
                continue;
            }
            let Ok(wish) = self.backend.member(byte, others) else { return bound };
            if byte_differs(&self.best, self.original, at) {
                assumptions.push(wish);
            } else {
                open.push((at, wish));
            }
        }
        for (at, wish) in open {
            assumptions.push(wish);
            if byte_differs(&self.best, self.original, at) {
                continue;
            }
            match self.backend.solve(&assumptions, budget) {
                Ok(true) => self.take_model(),
                Ok(false) | Err(_) => {
                    assumptions.pop();
                }
            }
        }
        bound
    }

    /// Random values for the bytes that differ, as far as they go together.
    fn vary(&mut self, budget: &Budget, rng: &mut dyn RngCore) {
        let (mut required, mut wishes) = (self.required.clone(), Vec::new());
        for (&(byte, domain), &(_, value)) in self.part.domains.iter().zip(&self.best) {
            let own = self.original.get(byte);
            if value == own {
                continue;
            }
            let value = other_value(domain, own, rng);
            match (self.backend.member(byte, all_but(own)), self.backend.equals(byte, value)) {
                (Ok(differs), Ok(bits)) => {
                    required.push(differs);
                    wishes.push(bits.to_vec());
                }
                _ => return,
            }
        }
        if let Ok(Some(_)) = soft::grant(self.backend, &required, &wishes, budget) {
            self.take_model();
        }
    }
}
