//! Conditions against a naive partition, under thousands of pushes and clones.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use common::{narrow, random, rng};
use rand::Rng;
use rand::seq::SliceRandom;
use stunt_models::{ByteSet, Component, Condition, Masks, mask_of};
use stunt_terms::{InputByte, Op, Pool, Support, Term};

/// What a condition should be, worked out anew from its literals every time.
#[derive(Clone, Default)]
struct Naive {
    literals: Vec<Term>,
    contradiction: bool,
}

impl Naive {
    fn push(&mut self, pool: &Pool, literal: Term) {
        let mut pending = vec![literal];
        while let Some(term) = pending.pop() {
            if self.contradiction {
                return;
            }
            match pool.op(term) {
                Op::And(a, b) => pending.extend([b, a]),
                Op::Const(1) => {}
                Op::Const(_) => {
                    self.literals.push(term);
                    self.contradiction = true;
                }
                _ => {
                    let byte = pool.support(term).single();
                    let implied = match byte {
                        Some(byte) => {
                            let (mask, domain) =
                                (mask_of(pool, term).unwrap(), self.domain(pool, byte));
                            self.contradiction = domain.intersect(&mask).is_empty();
                            domain.intersect(&mask) == domain
                        }
                        None => self.literals.contains(&term),
                    };
                    if !implied {
                        self.literals.push(term);
                    }
                }
            }
        }
    }

    /// Without the literal that made it a contradiction.
    fn kept(&self) -> &[Term] {
        &self.literals[..self.literals.len() - usize::from(self.contradiction)]
    }

    fn domain(&self, pool: &Pool, byte: InputByte) -> ByteSet {
        let about = self.kept().iter().filter(|&&l| pool.support(l).single() == Some(byte));
        about.fold(ByteSet::ALL, |d, &l| d.intersect(&mask_of(pool, l).unwrap()))
    }

    /// The components' bytes, by repeated merging.
    fn partition(&self, pool: &Pool) -> BTreeSet<BTreeSet<InputByte>> {
        let mut groups: Vec<BTreeSet<InputByte>> = Vec::new();
        for &literal in self.kept() {
            let mut merged: BTreeSet<InputByte> = pool.support(literal).iter().collect();
            groups.retain(|group| {
                let apart = group.is_disjoint(&merged);
                if !apart {
                    merged.extend(group);
                }
                apart
            });
            groups.push(merged);
        }
        groups.into_iter().collect()
    }
}

fn agree(pool: &Pool, condition: &Condition, naive: &Naive) {
    assert_eq!(condition.is_contradiction(), naive.contradiction);
    assert!(condition.literals().eq(naive.literals.iter().copied()));
    assert_eq!(condition.len(), naive.literals.len());
    let partition = naive.partition(pool);
    assert_eq!(condition.component_count(), partition.len());
    let found: BTreeSet<BTreeSet<InputByte>> =
        condition.components().map(|component| component.bytes().collect()).collect();
    assert_eq!(found, partition);
    for component in condition.components() {
        for byte in component.bytes() {
            assert_eq!(component.domain(byte), Some(naive.domain(pool, byte)));
            assert!(Arc::ptr_eq(condition.component_of(byte).unwrap(), component));
        }
        let bytes: BTreeSet<InputByte> = component.bytes().collect();
        let inside = |l: &&Term| pool.support(**l).iter().all(|b| bytes.contains(&b));
        let (unary, others): (Vec<Term>, Vec<Term>) =
            naive.kept().iter().filter(inside).partition(|&&l| pool.support(l).single().is_some());
        let mut others = others;
        others.sort_unstable();
        assert!(component.literals().eq(others), "literals in the order of handles");
        assert_eq!(
            component.unary_literals().collect::<BTreeSet<_>>(),
            unary.into_iter().collect()
        );
        let problem = component.as_problem();
        assert!(problem.bytes.is_sorted() && problem.domains.iter().all(|d| !d.is_empty()));
    }
}

#[test]
fn agrees_with_a_naive_partition() {
    let mut rng = rng(11);
    let mut contradictions = 0;
    for _ in 0..60 {
        let mut pool = Pool::new();
        let mut masks = Masks::new();
        let random = random(14);
        let mut literals: Vec<Term> =
            (0..14).map(|b| narrow(&mut pool, &mut rng, b, 250)).collect();
        for _ in 0..40 {
            let (depth, coin) = (rng.gen_range(0..2), rng.gen_bool(0.2));
            let literal = random.truth(&mut pool, &mut rng, 2 * depth);
            literals.push(literal);
            if coin {
                let other = random.truth(&mut pool, &mut rng, 0);
                literals.push(pool.and(literal, other));
            }
        }
        let mut line: Vec<(Condition, Naive)> = vec![Default::default()];
        for _ in 0..60 {
            // Extend some earlier condition: clones must not disturb one another.
            let (mut condition, mut naive) = line.choose(&mut rng).unwrap().clone();
            let literal = *literals.choose(&mut rng).unwrap();
            let before: BTreeMap<*const Component, Arc<Component>> =
                condition.components().map(|c| (Arc::as_ptr(c), Arc::clone(c))).collect();
            let change = condition.push(&pool, &mut masks, literal);
            naive.push(&pool, literal);
            agree(&pool, &condition, &naive);
            // The change leads from the components before to the components after.
            let mut expected = before;
            for removed in &change.removed {
                assert!(expected.remove(&Arc::as_ptr(removed)).is_some());
            }
            for added in &change.added {
                assert!(expected.insert(Arc::as_ptr(added), Arc::clone(added)).is_none());
            }
            let after: BTreeSet<*const Component> =
                condition.components().map(Arc::as_ptr).collect();
            assert_eq!(expected.keys().copied().collect::<BTreeSet<_>>(), after);
            contradictions += usize::from(condition.is_contradiction());
            line.push((condition, naive));
        }
        for (condition, naive) in &line {
            agree(&pool, condition, naive);
        }
    }
    assert!(contradictions > 10);
}

#[test]
fn equal_problems_share_a_fingerprint_whatever_the_order() {
    let mut rng = rng(12);
    for _ in 0..200 {
        let mut pool = Pool::new();
        let mut masks = Masks::new();
        let mut literals: Vec<Term> = (0..6).map(|b| narrow(&mut pool, &mut rng, b, 200)).collect();
        literals.extend((0..6).map(|_| random(6).truth(&mut pool, &mut rng, 0)));
        let mut build = |literals: &[Term]| {
            let mut condition = Condition::new();
            for &literal in literals {
                condition.push(&pool, &mut masks, literal);
            }
            condition
        };
        let first = build(&literals);
        literals.shuffle(&mut rng);
        let second = build(&literals);
        if first.is_contradiction() {
            continue;
        }
        for component in first.components() {
            let other = second.component_of(component.bytes().next().unwrap()).unwrap();
            assert_eq!(component.fingerprint(), other.fingerprint());
            assert!(component.same_problem(other));
        }
    }
}

#[test]
fn touching_finds_each_component_once() {
    let mut pool = Pool::new();
    let mut masks = Masks::new();
    let mut condition = Condition::new();
    let byte = |offset: u32| InputByte::new(0, offset);
    for (a, b) in [(0, 1), (2, 3), (3, 4)] {
        let (a, b) = (pool.input(0, a), pool.input(0, b));
        let literal = pool.ult(a, b);
        condition.push(&pool, &mut masks, literal);
    }
    let support: Support = [byte(1), byte(2), byte(4), byte(9)].into_iter().collect();
    let mut sizes: Vec<usize> = condition.touching(&support).iter().map(|c| c.len()).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 3]);
    assert!(condition.touching(&Support::of(byte(9))).is_empty());
    assert_eq!(condition.touching(&Support::of(byte(3))).len(), 1);
    assert!(condition.component_of(byte(9)).is_none());
}

#[test]
fn false_and_empty_domains_are_contradictions() {
    let mut pool = Pool::new();
    let mut masks = Masks::new();
    let falsity = pool.boolean(false);
    let mut condition = Condition::new();
    assert!(condition.push(&pool, &mut masks, falsity).is_empty());
    assert!(condition.is_contradiction());
    let byte = pool.input(0, 5);
    let (one, two) = (pool.constant(8, 1), pool.constant(8, 2));
    let (is_one, is_two) = (pool.eq(byte, one), pool.eq(byte, two));
    let mut condition = Condition::new();
    condition.push(&pool, &mut masks, is_one);
    let change = condition.push(&pool, &mut masks, is_two);
    assert!(condition.is_contradiction() && change.is_empty());
    assert_eq!(condition.len(), 2);
}
