//! A conjunction of Bool terms, kept as components that share no byte.
//!
//! A search extends conditions and goes back, millions of times: a clone is a few reference
//! counts, and a push costs nothing for components that it does not touch. Literals over one byte
//! only narrow the byte's domain. Once a condition is a contradiction it stays one, and further
//! pushes are ignored. Satisfiability is not decided here: a condition that is not a contradiction
//! may still have no solution.

use std::sync::Arc;

use imbl::Vector;
use smallvec::SmallVec;
use stunt_terms::{Assignment, Evaluator, InputByte, Op, Pool, Support, Term};

use crate::byteset::ByteSet;
use crate::component::{Component, Few};
use crate::masks::Masks;
use crate::slots::{Slot, Slots};

/// What a push did to the components. A running total over components stays right if it forgets
/// the removed ones and takes in the added ones.
#[derive(Clone, Default, Debug)]
pub struct Change {
    /// Components that are gone.
    pub removed: SmallVec<[Arc<Component>; 2]>,
    /// Components that are new. One, unless the pushed term was a conjunction.
    pub added: SmallVec<[Arc<Component>; 2]>,
}

impl Change {
    /// Whether the components are as they were.
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty() && self.added.is_empty()
    }

    fn remove(&mut self, component: Arc<Component>) {
        match self.added.iter().position(|new| Arc::ptr_eq(new, &component)) {
            // Came and went within one push.
            Some(at) => {
                self.added.swap_remove(at);
            }
            None => self.removed.push(component),
        }
    }
}

/// A conjunction of Bool terms of one pool.
#[derive(Clone, Default)]
pub struct Condition {
    slots: Slots,
    literals: Vector<Term>,
    components: usize,
    contradiction: bool,
}

impl Condition {
    /// The condition that always holds.
    pub fn new() -> Condition {
        Condition::default()
    }

    /// Adds a literal, or each conjunct of a conjunction. Literals that are already there, and
    /// literals over one byte that its domain already implies, change nothing and are not kept.
    pub fn push(&mut self, pool: &Pool, masks: &mut Masks, literal: Term) -> Change {
        let mut change = Change::default();
        let mut pending: SmallVec<[Term; 8]> = SmallVec::new();
        pending.push(literal);
        while let Some(term) = pending.pop() {
            if self.contradiction {
                break;
            }
            match pool.op(term) {
                Op::And(a, b) => pending.extend([b, a]),
                Op::Const(1) => {}
                Op::Const(_) => self.contradict(term),
                _ => match masks.mask_of(pool, term) {
                    Some((byte, mask)) => self.narrow(byte, mask, term, &mut change),
                    None => self.connect(pool, term, &mut change),
                },
            }
        }
        change
    }

    /// Whether it is known that nothing satisfies the condition: a literal is false, or no value
    /// is left for some byte. The components are then those before the contradiction.
    pub fn is_contradiction(&self) -> bool {
        self.contradiction
    }

    /// The components, each once, in no particular order. Bytes in none of them are free.
    pub fn components(&self) -> impl Iterator<Item = &Arc<Component>> + '_ {
        self.slots.components()
    }

    /// How many components there are.
    pub fn component_count(&self) -> usize {
        self.components
    }

    /// The component of a byte; none if the byte is free.
    pub fn component_of(&self, byte: InputByte) -> Option<&Arc<Component>> {
        let (_, component) = self.slots.home(byte)?;
        Some(component)
    }

    /// The values that the literals over this byte alone allow.
    pub fn domain(&self, byte: InputByte) -> ByteSet {
        self.component_of(byte).and_then(|c| c.domain(byte)).unwrap_or(ByteSet::ALL)
    }

    /// The components that have a byte in the set, each once.
    pub fn touching(&self, support: &Support) -> SmallVec<[Arc<Component>; 2]> {
        self.homes(support, |_| {}).into_iter().map(|(_, component)| component).collect()
    }

    /// The literals in the order of their pushes, conjunctions in parts.
    pub fn literals(&self) -> impl ExactSizeIterator<Item = Term> + '_ {
        self.literals.iter().copied()
    }

    /// How many literals there are.
    pub fn len(&self) -> usize {
        self.literals.len()
    }

    /// Whether there is no literal: the condition always holds.
    pub fn is_empty(&self) -> bool {
        self.literals.is_empty()
    }

    fn contradict(&mut self, literal: Term) {
        self.contradiction = true;
        self.literals.push_back(literal);
    }

    /// The components that have a byte in the set, with the bytes that hold them; `free` gets the
    /// bytes of the set that are in no component.
    fn homes(
        &self,
        support: &Support,
        mut free: impl FnMut(InputByte),
    ) -> SmallVec<[(InputByte, Arc<Component>); 2]> {
        let mut found: SmallVec<[(InputByte, Arc<Component>); 2]> = SmallVec::new();
        for byte in support.iter() {
            match self.slots.home(byte) {
                None => free(byte),
                Some((holder, component)) => {
                    // Neighbouring bytes are mostly in one component, so the last one is tried
                    // first; when one covers the whole set, there are no others.
                    if found.iter().rev().all(|(known, _)| *known != holder) {
                        let all = found.is_empty() && component.covers(support);
                        found.push((holder, Arc::clone(component)));
                        if all {
                            break;
                        }
                    }
                }
            }
        }
        found
    }

    fn narrow(&mut self, byte: InputByte, mask: ByteSet, literal: Term, change: &mut Change) {
        let Some((holder, component)) = self.slots.home(byte) else {
            if mask.is_empty() {
                self.contradict(literal);
            } else if mask != ByteSet::ALL {
                self.literals.push_back(literal);
                let new = Arc::new(Component::one(byte, mask, literal));
                change.added.push(Arc::clone(&new));
                self.slots.set(byte, Slot::Here(new));
                self.components += 1;
            }
            return;
        };
        let old = component.domain(byte).expect("the byte is in its component");
        let domain = old.intersect(&mask);
        if domain.is_empty() {
            self.contradict(literal);
        } else if domain != old {
            let component = Arc::clone(component);
            let new = Arc::new(component.narrowed(byte, domain, literal));
            self.literals.push_back(literal);
            self.slots.set(holder, Slot::Here(Arc::clone(&new)));
            change.remove(component);
            change.added.push(new);
        }
    }

    fn connect(&mut self, pool: &Pool, literal: Term, change: &mut Change) {
        let support = pool.support(literal);
        if support.is_empty() {
            // An operator over constants only; the pool folds them, so this is a formality.
            if !Evaluator::new().holds(pool, literal, &Assignment::new()) {
                self.contradict(literal);
            }
            return;
        }
        let mut free: Vec<InputByte> = Vec::new();
        let mut parts = self.homes(support, |byte| free.push(byte));
        if let [(_, only)] = parts.as_slice()
            && only.has_literal(literal)
        {
            return;
        }
        parts.sort_by_key(|(_, part)| std::cmp::Reverse(part.len()));
        let holder = match parts.first() {
            Some((holder, _)) => *holder,
            None => free[0],
        };
        let components: Few = parts.iter().map(|(_, part)| Arc::clone(part)).collect();
        let new = Arc::new(Component::joined(&components, &free, support, literal));
        for part in components.iter().skip(1) {
            for byte in part.bytes() {
                self.slots.set(byte, Slot::At(holder));
            }
        }
        for &byte in &free {
            self.slots.set(byte, Slot::At(holder));
        }
        self.slots.set(holder, Slot::Here(Arc::clone(&new)));
        self.literals.push_back(literal);
        self.components = self.components + 1 - parts.len();
        for part in components {
            change.remove(part);
        }
        change.added.push(new);
    }
}

impl std::fmt::Debug for Condition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Condition({} literals, {} components)", self.len(), self.components)
    }
}
