//! Random models of a condition, uniform wherever that is possible.
//!
//! Components share no byte, so independent draws, one for each, make a draw for the whole. A
//! component that can be counted is drawn from its exact set of solutions. From one that cannot,
//! literals are left out until the rest can be counted; draws from the rest are accepted when the
//! literals left out hold too, which is still exactly uniform. When none is accepted within the
//! tries, a solver's model is taken, varied at random but not uniform, and the result says so.

use std::sync::Arc;

use rand::{Rng, RngCore};
use rustc_hash::FxHashMap;
use stunt_models::{Component, Condition, Counter, Masks, Space};
use stunt_terms::{InputByte, Pool, Term};

use crate::chain::Solver;
use crate::layer::{Outcome, Part, Scratch, Values, sat};
use crate::query::{Budget, Model, Why};
use crate::soft;

/// The most draws from a superset for one component.
const MOST_TRIES: usize = 20_000;
/// The most things that all tries of a look together look at.
const MOST_WORK: usize = 1 << 22;
/// The least tries of a look, whatever they cost.
const LEAST_TRIES: usize = 64;
/// The most literals whose counting is tried one after the other.
const MOST_LITERALS: usize = 64;
/// So many literals that cannot be counted with the others, and no further one is tried.
const MOST_FAILURES: usize = 6;
/// The most plans that are remembered.
const MOST_PLANS: usize = 1 << 12;
/// The conflicts that varying a solver's model may cost.
const VARIATION: u32 = 1_000;

/// A random model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Draw {
    /// Values for all bytes of the condition and all bytes that were asked for.
    pub model: Model,
    /// Whether every model had the same chance.
    pub uniformity: Uniformity,
}

/// Whether every model had the same chance to be drawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Uniformity {
    /// Exactly so, given uniform random numbers.
    Uniform,
    /// No: some models are more likely than others, and nobody knows by how much.
    NotUniform(Reason),
}

/// Why a draw is not uniform.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// Part of the condition cannot be counted, and random tries did not meet it.
    TooRare,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Reason::TooRare => {
                "part of the condition cannot be counted, and is too rare to be met by chance"
            }
        })
    }
}

/// What a draw comes to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Drawn {
    /// A random model.
    Model(Draw),
    /// There is no model.
    Unsat,
    /// It was not found out whether there is one.
    Unknown(Why),
}

/// How a component can be drawn.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Look {
    /// It was counted: every draw is uniform.
    Counted,
    /// It was not, but tries met it: draws are uniform.
    Met,
    /// Tries did not meet it, for the sake of these literals: draws are not uniform.
    Missed(Vec<Term>),
    /// It has no solution.
    Empty,
}

/// How one component is drawn.
enum Plan {
    /// From its solutions, all of them.
    Exact(Arc<dyn Space>),
    /// From a superset: its parts, and the literals that have to be tested.
    Superset { parts: Vec<(Vec<InputByte>, Arc<dyn Space>)>, tested: Vec<Term> },
    /// There is nothing to draw from.
    Empty,
}

/// Draws random models; remembers how components are best drawn. Belongs to one pool.
pub struct Sampler {
    plans: FxHashMap<u128, (Arc<Component>, Arc<Plan>)>,
    /// For supersets: one that is slow to count is slow to draw from.
    quick: Counter,
}

impl Default for Sampler {
    fn default() -> Sampler {
        Sampler::new()
    }
}

impl Sampler {
    /// A sampler that remembers nothing.
    pub fn new() -> Sampler {
        Sampler { plans: FxHashMap::default(), quick: Counter::new(stunt_models::Budget::hasty()) }
    }

    /// A random model of `C`: uniform over all `I` with `C(I)`, as far as the result says so.
    ///
    /// The model has values for the bytes of the condition and for `bytes`; those of them that
    /// the condition leaves free are drawn from all 256 values.
    pub fn draw(
        &mut self,
        pool: &Pool,
        solver: &mut Solver,
        counter: &mut Counter,
        condition: &Condition,
        bytes: &[InputByte],
        rng: &mut dyn RngCore,
    ) -> Drawn {
        if condition.is_contradiction() {
            return Drawn::Unsat;
        }
        let mut values = Values::new();
        let mut uniformity = Uniformity::Uniform;
        let mut components: Vec<&Arc<Component>> = condition.components().collect();
        components.sort_by_cached_key(|component| component.bytes().next());
        for component in components {
            let plan = self.plan(pool, solver, counter, component);
            match tried(&plan, pool, &mut solver.scratch, component, MOST_TRIES, rng) {
                Tried::Values(found) => values.extend(found),
                Tried::Unsat => return Drawn::Unsat,
                Tried::Missed => match varied(pool, solver, component, rng) {
                    Outcome::Sat(found) => {
                        values.extend(found);
                        uniformity = Uniformity::NotUniform(Reason::TooRare);
                    }
                    Outcome::Unsat => return Drawn::Unsat,
                    Outcome::Unknown(why) => return Drawn::Unknown(why),
                },
            }
        }
        let free = bytes.iter().filter(|&&byte| condition.component_of(byte).is_none());
        let mut free: Vec<InputByte> = free.copied().collect();
        free.sort_unstable();
        free.dedup();
        values.extend(free.into_iter().map(|byte| (byte, rng.r#gen())));
        Drawn::Model(Draw { model: Model::from_values(values), uniformity })
    }

    /// How a component can be drawn. Where it cannot be counted, it must be met `hits` times within
    /// so many random tries, made with `rng`; fewer, where each of them is a long one.
    pub fn look(
        &mut self,
        pool: &Pool,
        solver: &mut Solver,
        counter: &mut Counter,
        component: &Arc<Component>,
        (hits, tries): (usize, usize),
        rng: &mut dyn RngCore,
    ) -> Look {
        let plan = self.plan(pool, solver, counter, component);
        match &*plan {
            Plan::Exact(_) => Look::Counted,
            Plan::Empty => Look::Empty,
            Plan::Superset { parts, tested } => {
                let work: usize = parts.iter().map(|(_, space)| space.work()).sum();
                let tries = tries.min((MOST_WORK / work.max(1)).max(LEAST_TRIES)) / hits;
                let mut met = (0..hits)
                    .map(|_| tried(&plan, pool, &mut solver.scratch, component, tries, rng));
                if met.any(|it| matches!(it, Tried::Missed)) {
                    Look::Missed(tested.clone())
                } else {
                    Look::Met
                }
            }
        }
    }

    fn plan(
        &mut self,
        pool: &Pool,
        solver: &mut Solver,
        counter: &mut Counter,
        component: &Arc<Component>,
    ) -> Arc<Plan> {
        let key = component.fingerprint();
        if let Some((known, plan)) = self.plans.get(&key)
            && known.same_problem(component)
        {
            return Arc::clone(plan);
        }
        let exact = counter.space(pool, component);
        let plan = match exact {
            Some(space) if space.count().bits() == 0 => Plan::Empty,
            Some(space) => Plan::Exact(space),
            None => superset(pool, &mut solver.masks, &mut self.quick, component),
        };
        let plan = Arc::new(plan);
        if self.plans.len() >= MOST_PLANS {
            self.plans.clear();
        }
        self.plans.insert(key, (Arc::clone(component), Arc::clone(&plan)));
        plan
    }
}

impl std::fmt::Debug for Sampler {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sampler({} plans)", self.plans.len())
    }
}

/// The plan for a component that cannot be counted.
fn superset(pool: &Pool, masks: &mut Masks, counter: &mut Counter, component: &Component) -> Plan {
    let (kept, tested) = countable_subset(pool, masks, counter, component);
    let mut parts = Vec::new();
    for part in kept.components() {
        let space = counter.space(pool, part).expect("only countable conditions are kept");
        if space.count().bits() == 0 {
            return Plan::Empty;
        }
        parts.push((part.bytes().collect(), space));
    }
    parts.sort_by(|(a, _): &(Vec<InputByte>, _), (b, _)| a.cmp(b));
    Plan::Superset { parts, tested }
}

/// A condition that follows from the component and can be counted, and the literals that it
/// lacks. Literals over few bytes are the easiest to count, and are taken first.
fn countable_subset(
    pool: &Pool,
    masks: &mut Masks,
    counter: &mut Counter,
    component: &Component,
) -> (Condition, Vec<Term>) {
    let mut kept = Condition::new();
    for literal in component.unary_literals() {
        kept.push(pool, masks, literal);
    }
    let mut literals: Vec<Term> = component.literals().collect();
    literals.sort_by_key(|&literal| (pool.support(literal).len(), literal));
    let mut tested = Vec::new();
    for (i, literal) in literals.into_iter().enumerate() {
        if i >= MOST_LITERALS || tested.len() >= MOST_FAILURES {
            tested.push(literal);
            continue;
        }
        let mut longer = kept.clone();
        let change = longer.push(pool, masks, literal);
        let countable = !longer.is_contradiction()
            && change.added.iter().all(|part| counter.space(pool, part).is_some());
        if countable {
            kept = longer;
        } else {
            tested.push(literal);
        }
    }
    (kept, tested)
}

/// What following a plan comes to.
enum Tried {
    Values(Values),
    Unsat,
    Missed,
}

fn tried(
    plan: &Plan,
    pool: &Pool,
    scratch: &mut Scratch,
    component: &Component,
    tries: usize,
    rng: &mut dyn RngCore,
) -> Tried {
    match plan {
        Plan::Empty => Tried::Unsat,
        Plan::Exact(space) => {
            let mut out = vec![0; component.len()];
            space.sample(rng, &mut out);
            Tried::Values(component.bytes().zip(out).collect())
        }
        Plan::Superset { parts, tested } => {
            let mut free: Vec<InputByte> = component.bytes().collect();
            free.retain(|byte| parts.iter().all(|(bytes, _)| bytes.binary_search(byte).is_err()));
            for _ in 0..tries {
                let mut values = Values::with_capacity(component.len());
                for (bytes, space) in parts {
                    let mut out = vec![0; bytes.len()];
                    space.sample(rng, &mut out);
                    values.extend(bytes.iter().copied().zip(out));
                }
                values.extend(free.iter().map(|&byte| (byte, rng.r#gen())));
                if scratch.all_hold(pool, tested, &values) {
                    return Tried::Values(values);
                }
            }
            Tried::Missed
        }
    }
}

/// A solver's model, with as many bytes at random values as turn out to go together.
fn varied(
    pool: &Pool,
    solver: &mut Solver,
    component: &Arc<Component>,
    rng: &mut dyn RngCore,
) -> Outcome {
    let part = Part::of(component);
    let outcome = solver.part(pool, part.clone());
    let Outcome::Sat(found) = outcome else { return outcome };
    let budget = Budget { conflicts: solver.budget.conflicts.min(VARIATION), ..solver.budget };
    let Ok((backend, required)) = solver.engines.prepare(pool, &part) else {
        return Outcome::Sat(found);
    };
    let mut wishes = Vec::new();
    for &(byte, domain) in &part.domains {
        let value = domain.nth(rng.gen_range(0..domain.len())).expect("a rank below the size");
        match backend.equals(byte, value) {
            Ok(bits) => wishes.push(bits.to_vec()),
            Err(_) => return Outcome::Sat(found),
        }
    }
    match soft::grant(backend, &required, &wishes, &budget) {
        Ok(Some(_)) => Outcome::Sat(sat::values(backend, &part)),
        // The model that was found without wishes is as good as any.
        Ok(None) | Err(_) => Outcome::Sat(found),
    }
}
