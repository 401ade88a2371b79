//! The stages, cheap ones first: how a component's solutions are found.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use stunt_terms::Pool;

use crate::budget::Budget;
use crate::component::Component;
use crate::space::{Problem, Space};
use crate::split::{Joint, Split, split};
use crate::{affine, defined, diagram, enumerate, frontier, histogram, product};

/// The memo is emptied when its components have this many bytes and literals in all: a few thousand that
/// grew to the length of a long input would fill the memory.
const MOST_REMEMBERED: usize = 1 << 22;

/// Finds the solutions of components, and remembers them.
pub struct Counter {
    /// The limits for every component.
    pub budget: Budget,
    memo: FxHashMap<u128, (Component, Option<Arc<dyn Space>>)>,
    /// How many bytes and literals the components in the memo have.
    remembered: usize,
}

impl Counter {
    /// A counter with an empty memo. It belongs to one pool: terms of another pool would get wrong
    /// answers.
    pub fn new(budget: Budget) -> Counter {
        Counter { budget, memo: FxHashMap::default(), remembered: 0 }
    }

    /// The solutions of a component; `None` if no stage can find them within the budget.
    pub fn space(&mut self, pool: &Pool, component: &Component) -> Option<Arc<dyn Space>> {
        let key = component.fingerprint();
        if let Some((known, space)) = self.memo.get(&key)
            && known.same_problem(component)
        {
            return space.clone();
        }
        let space = solve(&component.as_problem().view(pool), &self.budget);
        if component.literal_count() > 0 {
            self.remembered += component.size();
            if self.remembered > MOST_REMEMBERED {
                self.memo.clear();
                self.remembered = component.size();
            }
            self.memo.insert(key, (component.clone(), space.clone()));
        }
        space
    }
}

impl std::fmt::Debug for Counter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Counter({} remembered)", self.memo.len())
    }
}

/// The solutions of a problem; `None` if no stage can find them within the budget.
pub fn solve(problem: &Problem<'_>, budget: &Budget) -> Option<Arc<dyn Space>> {
    let bytes = problem.bytes.len();
    match split(problem) {
        Split::Whole => by_stages(problem, budget),
        Split::TooLarge => None,
        Split::Impossible => Some(Arc::new(Joint::none(bytes))),
        Split::Groups(groups) => {
            let mut parts = Vec::new();
            for (positions, group) in groups {
                parts.push((positions, by_stages(&group.view(problem.pool), budget)?));
            }
            Some(Arc::new(Joint::new(bytes, parts)))
        }
    }
}

/// The solutions by the first stage that finds them within the budget, the cheap ones first.
fn by_stages(problem: &Problem<'_>, budget: &Budget) -> Option<Arc<dyn Space>> {
    let quick = Budget::quick().at_most(*budget);
    let quickly = product::solve(problem)
        .or_else(|| enumerate::solve(problem, &quick))
        .or_else(|| affine::solve(problem, budget))
        .or_else(|| histogram::solve(problem, budget))
        .or_else(|| frontier::solve(problem, &quick))
        .or_else(|| diagram::solve(problem, &quick))
        .or_else(|| defined::solve(problem, budget));
    if quickly.is_some() || quick == *budget {
        return quickly;
    }
    enumerate::solve(problem, budget)
        .or_else(|| frontier::solve(problem, budget))
        .or_else(|| diagram::solve(problem, budget))
}
