//! Which of a state's values still matter, given its truth values.
//!
//! `a or f(x)` no longer needs `x` once `a` is true, nor does `if c then x else y` need `y` once
//! `c` is true. States that differ only in values that no longer matter are one state. The answer
//! depends only on the truth values in a state, so it is worked out once for each combination.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use stunt_terms::{Kind, mask};

use super::plan::{Def, Plan};

/// What the truth values of a state decide.
#[derive(Clone)]
pub(crate) enum Verdict {
    /// A literal can no longer hold.
    Dead,
    /// Everything matters.
    All,
    /// Which of the state's values matter.
    Some(Box<[bool]>),
}

/// Answers for the states after one level.
pub(crate) struct Demand {
    level: u32,
    /// The places in the state of truth values that can decide something, at most 64.
    control: Vec<usize>,
    known: FxHashMap<u64, Verdict>,
}

impl Demand {
    /// For the states after `level`. `users` are the users of each node.
    pub fn new(plan: &Plan<'_>, users: &[Vec<u32>], level: usize) -> Demand {
        let decides = |node: u32| {
            matches!(plan.nodes[node as usize].def, Def::Step(operator, ..) if operator.width() == 1)
                && users[node as usize].iter().any(|&user| {
                    let user = &plan.nodes[user as usize];
                    user.level > level as u32
                        && match user.def {
                            Def::Step(operator, operands, _) => match operator.kind() {
                                Kind::And | Kind::Or | Kind::Not | Kind::Eq => {
                                    operator.width() == 1
                                }
                                Kind::Ite => operands[0] == node,
                                _ => false,
                            },
                            Def::Const(_) | Def::Byte => false,
                        }
                })
        };
        let live = plan.live[level].iter().enumerate();
        let control = live.filter(|&(_, &node)| decides(node)).map(|(at, _)| at).take(64).collect();
        Demand { level: level as u32, control, known: FxHashMap::default() }
    }

    /// Sets values that no longer matter to zero; whether the state can still lead to a solution.
    pub fn settle(&mut self, plan: &Plan<'_>, users: &[Vec<u32>], state: &mut [u128]) -> bool {
        if self.control.is_empty() {
            return true;
        }
        let mut key = 0;
        for (bit, &at) in self.control.iter().enumerate() {
            key |= u64::from(state[at] == 1) << bit;
        }
        let (level, control) = (self.level, &self.control);
        let verdict = self.known.entry(key).or_insert_with(|| {
            let live = &plan.live[level as usize];
            let truths = control.iter().map(|&at| (live[at], state[at])).collect();
            Question { plan, users, level, known: truths }.answer()
        });
        match verdict {
            Verdict::Dead => false,
            Verdict::All => true,
            Verdict::Some(matters) => {
                for (value, matters) in state.iter_mut().zip(matters) {
                    if !*matters {
                        *value = 0;
                    }
                }
                true
            }
        }
    }
}

struct Question<'a, 'p> {
    plan: &'a Plan<'p>,
    users: &'a [Vec<u32>],
    level: u32,
    /// Values that follow from the truth values.
    known: FxHashMap<u32, u128>,
}

impl Question<'_, '_> {
    fn answer(mut self) -> Verdict {
        let future = |node: u32| self.plan.nodes[node as usize].level > self.level;
        let mut pending: BTreeSet<u32> = BTreeSet::new();
        for node in self.known.keys() {
            pending.extend(self.users[*node as usize].iter().filter(|&&user| future(user)));
        }
        let mut decided = false;
        while let Some(node) = pending.pop_first() {
            decided |= self.chosen(node).is_some();
            if !self.known.contains_key(&node)
                && let Some(value) = self.value(node)
            {
                decided = true;
                self.known.insert(node, value);
                pending.extend(self.users[node as usize].iter());
            }
        }
        if !decided {
            return Verdict::All;
        }
        // Back from the literals: an undecided node needs its operands, a decided one its reasons.
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        let mut stack: Vec<u32> = Vec::new();
        for &root in &self.plan.roots {
            if self.plan.nodes[root as usize].level > self.level {
                if self.known.get(&root) == Some(&0) {
                    return Verdict::Dead;
                }
                stack.push(root);
            }
        }
        while let Some(node) = stack.pop() {
            if seen.insert(node) && self.plan.nodes[node as usize].level > self.level {
                self.reasons(node, &mut stack);
            }
        }
        let live = &self.plan.live[self.level as usize];
        Verdict::Some(live.iter().map(|node| seen.contains(node)).collect())
    }

    fn get(&self, node: u32) -> Option<u128> {
        let known = || self.known.get(&node).copied();
        self.plan.nodes[node as usize].constant().or_else(known)
    }

    /// For a choice whose condition is known: the branch taken.
    fn chosen(&self, node: u32) -> Option<u32> {
        match self.plan.nodes[node as usize].def {
            Def::Step(operator, [condition, then, other], _) if operator.kind() == Kind::Ite => {
                self.get(condition).map(|truth| if truth == 1 { then } else { other })
            }
            _ => None,
        }
    }

    /// The operand that alone decides a conjunction or disjunction.
    fn deciding(&self, node: u32) -> Option<u32> {
        let Def::Step(operator, operands, count) = self.plan.nodes[node as usize].def else {
            return None;
        };
        let decisive = match operator.kind() {
            Kind::And | Kind::Mul => 0,
            Kind::Or => mask(operator.width()),
            _ => return None,
        };
        let mut operands = operands.into_iter().take(usize::from(count));
        operands.find(|&operand| self.get(operand) == Some(decisive))
    }

    fn value(&self, node: u32) -> Option<u128> {
        if let Some(operand) = self.deciding(node) {
            return self.get(operand);
        }
        if let Some(branch) = self.chosen(node) {
            return self.get(branch);
        }
        match self.plan.nodes[node as usize].def {
            Def::Const(value) => Some(value),
            Def::Byte => None,
            Def::Step(operator, operands, count) => {
                let mut values = [0; 3];
                for at in 0..usize::from(count) {
                    values[at] = self.get(operands[at])?;
                }
                Some(operator.apply(values[0], values[1], values[2]))
            }
        }
    }

    fn reasons(&self, node: u32, stack: &mut Vec<u32>) {
        if let Some(operand) = self.deciding(node) {
            stack.push(operand);
        } else if let (Some(branch), Def::Step(_, [condition, ..], _)) =
            (self.chosen(node), self.plan.nodes[node as usize].def)
        {
            stack.extend([condition, branch]);
        } else {
            stack.extend(self.plan.nodes[node as usize].operands());
        }
    }
}
