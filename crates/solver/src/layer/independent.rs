//! Layer 2: independence.
//!
//! The questions join the condition; only the components that they change have to be satisfied
//! again, and each for itself. The hint satisfies all others. Without a hint every component is
//! open. What comes out is what pushing the questions onto the condition would give; nothing
//! persistent is built for it, because most questions are asked once.

use std::sync::Arc;

use stunt_models::{ByteSet, Component, Condition, Masks};
use stunt_terms::{Assignment, Evaluator, InputByte, Op, Pool, Term};

use super::{Part, Values};

/// What is left to satisfy.
pub(crate) enum Open {
    /// Nothing can: a literal is false, or a byte has no value left.
    Contradiction,
    /// Bytes that only literals about one byte constrain, with a value each; and parts of several
    /// bytes, each to be satisfied independently.
    Parts(Values, Vec<Part>),
}

/// Bytes that are next to each other, and one of the literals that read them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stretch {
    source: u16,
    start: u32,
    end: u32,
    literal: u32,
}

/// Works out what is open; the memory is kept for the next question.
#[derive(Default)]
pub(crate) struct Opener {
    pending: Vec<Term>,
    /// Values that are allowed for bytes; a byte may occur several times until they are sorted.
    domains: Vec<(InputByte, ByteSet)>,
    /// Literals over several bytes.
    literals: Vec<Term>,
    stretches: Vec<Stretch>,
    /// For each literal one that it is connected with, itself in the end.
    leaders: Vec<u32>,
    /// For each leader the number of its part.
    numbers: Vec<Option<u32>>,
}

impl Opener {
    /// The parts that have to be satisfied.
    pub(crate) fn open(
        &mut self,
        pool: &Pool,
        masks: &mut Masks,
        condition: &Condition,
        has_hint: bool,
        questions: &[Term],
    ) -> Open {
        self.domains.clear();
        self.literals.clear();
        let possible = self.take_questions(pool, masks, questions)
            && self.join(pool, condition, has_hint)
            && self.sort_domains();
        if !possible {
            return Open::Contradiction;
        }
        if self.literals.is_empty() {
            return Open::Parts(self.domains.iter().map(any_value).collect(), Vec::new());
        }
        self.literals.sort_unstable();
        self.literals.dedup();
        self.connect(pool);
        self.parts()
    }

    /// Sorts the questions' conjuncts into domains and literals; false if one is false.
    fn take_questions(&mut self, pool: &Pool, masks: &mut Masks, questions: &[Term]) -> bool {
        for &question in questions {
            self.pending.clear();
            self.pending.push(question);
            while let Some(term) = self.pending.pop() {
                match pool.op(term) {
                    Op::And(a, b) => self.pending.extend([b, a]),
                    Op::Const(1) => {}
                    Op::Const(_) => return false,
                    _ => match masks.mask_of(pool, term) {
                        Some((_, ByteSet::ALL)) => {}
                        Some((byte, mask)) => {
                            // Tests of one byte mostly follow each other.
                            match self.domains.last_mut() {
                                Some((last, set)) if *last == byte => *set = set.intersect(&mask),
                                _ => self.domains.push((byte, mask)),
                            }
                        }
                        // Operators over constants only; the pool folds them, so this is a
                        // formality.
                        None if pool.support(term).is_empty() => {
                            if !Evaluator::new().holds(pool, term, &Assignment::new()) {
                                return false;
                            }
                        }
                        None => self.literals.push(term),
                    },
                }
            }
        }
        true
    }

    /// Adds the components of the condition that the questions change, or all without a hint. With
    /// one, what the condition implies anyway is left out. False if a byte has no value left.
    fn join(&mut self, pool: &Pool, condition: &Condition, has_hint: bool) -> bool {
        if condition.is_empty() {
            return true;
        }
        let mut touched: Vec<Arc<Component>> = Vec::new();
        let touch = |touched: &mut Vec<Arc<Component>>, component: &Arc<Component>| {
            if touched.iter().all(|known| !Arc::ptr_eq(known, component)) {
                touched.push(Arc::clone(component));
            }
        };
        if has_hint {
            let mut possible = true;
            self.domains.retain(|&(byte, mask)| {
                let Some(component) = condition.component_of(byte) else { return true };
                let old = component.domain(byte).unwrap_or(ByteSet::ALL);
                let new = old.intersect(&mask);
                possible &= !new.is_empty();
                if new != old {
                    touch(&mut touched, component);
                }
                new != old
            });
            if !possible {
                return false;
            }
            self.literals.retain(|&literal| {
                let components = condition.touching(pool.support(literal));
                if components.iter().any(|component| component.has_literal(literal)) {
                    return false;
                }
                components.iter().for_each(|component| touch(&mut touched, component));
                true
            });
        } else {
            touched.extend(condition.components().cloned());
        }
        for component in touched {
            self.domains.extend(component.domains());
            self.literals.extend(component.literals());
        }
        true
    }

    /// Brings the domains in order, one for each byte; false if one is empty.
    fn sort_domains(&mut self) -> bool {
        self.domains.sort_unstable_by_key(|&(byte, _)| byte);
        self.domains.dedup_by(|(byte, mask), (kept, set)| {
            let same = byte == kept;
            if same {
                *set = set.intersect(mask);
            }
            same
        });
        self.domains.iter().all(|(_, domain)| !domain.is_empty())
    }

    /// Finds out which literals are connected by shared bytes, and which bytes they have. Afterwards
    /// the stretches are in order and share no byte.
    fn connect(&mut self, pool: &Pool) {
        self.stretches.clear();
        self.leaders.clear();
        for (&literal, number) in self.literals.iter().zip(0..) {
            self.leaders.push(number);
            self.stretches.extend(pool.support(literal).runs().iter().map(|run| Stretch {
                source: run.source,
                start: run.start,
                end: run.end,
                literal: number,
            }));
        }
        self.stretches.sort_unstable();
        let leaders = &mut self.leaders;
        self.stretches.dedup_by(|next, last| {
            let overlaps = next.source == last.source && next.start < last.end;
            if overlaps {
                last.end = last.end.max(next.end);
                let (a, b) = (leader(leaders, last.literal), leader(leaders, next.literal));
                leaders[a.max(b) as usize] = a.min(b);
            }
            overlaps
        });
    }

    /// The parts, in the order of their first bytes, and the bytes that are in none.
    fn parts(&mut self) -> Open {
        let (mut free, mut parts) = (Values::new(), Vec::<Part>::new());
        self.numbers.clear();
        self.numbers.resize(self.literals.len(), None);
        let mut domains = self.domains.iter().peekable();
        for stretch in &self.stretches {
            let number = &mut self.numbers[leader(&mut self.leaders, stretch.literal) as usize];
            let number = *number.get_or_insert_with(|| {
                parts.push(Part::default());
                parts.len() as u32 - 1
            });
            let part = &mut parts[number as usize];
            for offset in stretch.start..stretch.end {
                let byte = InputByte::new(stretch.source, offset);
                while let Some(before) = domains.next_if(|(other, _)| *other < byte) {
                    free.push(any_value(before));
                }
                let own = domains.next_if(|(other, _)| *other == byte);
                part.domains.push(own.copied().unwrap_or((byte, ByteSet::ALL)));
            }
        }
        free.extend(domains.map(any_value));
        for (&literal, own) in self.literals.iter().zip(0..) {
            let number = self.numbers[leader(&mut self.leaders, own) as usize];
            parts[number.expect("a literal has bytes") as usize].literals.push(literal);
        }
        Open::Parts(free, parts)
    }
}

/// The first of the literals that are connected with this one.
fn leader(leaders: &mut [u32], mut literal: u32) -> u32 {
    while leaders[literal as usize] != literal {
        let next = leaders[literal as usize];
        leaders[literal as usize] = leaders[next as usize];
        literal = next;
    }
    literal
}

/// A byte with a value of its domain, which is not empty.
fn any_value(&(byte, domain): &(InputByte, ByteSet)) -> (InputByte, u8) {
    (byte, domain.nth(0).expect("the domain is not empty"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use stunt_shapes::Random;

    /// The components that pushing the questions changes, or all; `None` for a contradiction.
    fn pushed(
        pool: &Pool,
        masks: &mut Masks,
        condition: &Condition,
        has_hint: bool,
        questions: &[Term],
    ) -> Option<Vec<Arc<Component>>> {
        let mut extended = condition.clone();
        let mut changed: Vec<Arc<Component>> = Vec::new();
        for &question in questions {
            let change = extended.push(pool, masks, question);
            changed.retain(|open| !change.removed.iter().any(|gone| Arc::ptr_eq(open, gone)));
            changed.extend(change.added);
        }
        if !has_hint {
            changed = extended.components().cloned().collect();
        }
        changed.sort_by_cached_key(|component| component.bytes().next());
        (!extended.is_contradiction()).then_some(changed)
    }

    #[test]
    fn what_is_open_is_what_a_push_changes() {
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let (mut pool, mut masks, mut opener) = (Pool::new(), Masks::new(), Opener::default());
        let (mut contradictions, mut several, mut single) = (0, 0, 0);
        for round in 0..3000 {
            // Few bytes and many: components that meet, and components that stay apart.
            let bytes = [3, 6, 20][round % 3];
            let random = Random::new(bytes, &[8, 8, 16, 32], 64);
            let mut condition = Condition::new();
            for _ in 0..rng.gen_range(0..6) {
                let literal = random.truth(&mut pool, &mut rng, 1);
                condition.push(&pool, &mut masks, literal);
            }
            if condition.is_contradiction() {
                continue;
            }
            let mut questions: Vec<Term> = Vec::new();
            for _ in 0..rng.gen_range(0..5) {
                questions.push(random.truth(&mut pool, &mut rng, 1));
            }
            if rng.r#gen() {
                questions.extend(condition.literals().next());
            }
            let has_hint = rng.r#gen();
            let expected = pushed(&pool, &mut masks, &condition, has_hint, &questions);
            match (opener.open(&pool, &mut masks, &condition, has_hint, &questions), expected) {
                (Open::Contradiction, None) => contradictions += 1,
                (Open::Parts(free, parts), Some(expected)) => {
                    let (ones, many): (Vec<_>, Vec<_>) =
                        expected.iter().partition(|component| component.single().is_some());
                    let ones: Values = ones
                        .iter()
                        .flat_map(|component| component.domains())
                        .map(|domain| any_value(&domain))
                        .collect();
                    assert!(free == ones);
                    assert!(parts == many.into_iter().map(|c| Part::of(c)).collect::<Vec<_>>());
                    single += free.len();
                    several += parts.len();
                }
                _ => panic!("one finds a contradiction, the other does not"),
            }
        }
        assert!(contradictions > 100 && several > 1000 && single > 300);
    }
}
