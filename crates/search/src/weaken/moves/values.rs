//! The values of single bytes: where a condition fixes them, which others fail as well.
//!
//! What is asked of several bytes at once is told byte by byte first, where that is the same. Then values are
//! tried by their kinds (`sets.rs`), and what fails is tried as a whole like any other change of the condition.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use stunt_models::ByteSet;
use stunt_reduce::Broken;
use stunt_terms::InputByte;

use super::Move;
use crate::weaken::classes;
use crate::weaken::confidence::Share;
use crate::weaken::groups::is_sum;
use crate::weaken::parts::{Draws, Part};
use crate::weaken::search::{COMPARED, LEAST_GAIN, Search};

/// What reveals less than this, in bits, does not get the values of its bytes tried,
const LEAST_FOR_SETS: f64 = 1.0;
/// nor do more bytes that depend on each other than this;
const MOST_UNTIED: usize = 32;
/// and if so many of them, one after the other, have no other value that fails, the rest are not tried.
const MOST_IN_VAIN: usize = 6;
/// A value that fails may be missed with this probability,
const MISSED: f64 = 0.1;
/// if it need not be tried more often than this.
const MOST_TRIES: f64 = 4.0;
/// Where fewer runs fail than this share, values that never do are looked for,
const OFTEN: f64 = 0.9;
/// among so many runs at a time,
const SEEN: usize = 200;
/// until so many fail
const ENOUGH_SEEN: usize = 80;
/// or there were so many,
const MOST_SEEN: u32 = 1200;
/// if those that do are met so often on average.
const EXPECTED: f64 = 5.0;
/// By as many bits the figure may be higher after that, beside what is luck: it makes up for a lower share.
const AS_GOOD: f64 = 0.2;

/// Gives bytes the values with which the program fails.
pub(crate) struct Sets;

impl Move for Sets {
    fn name(&self) -> &'static str {
        "sets"
    }

    fn make(&self, search: &mut Search<'_>) -> Result<(), Broken> {
        search.byte_sets()
    }
}

impl Search<'_> {
    /// Says of bytes that can have one value each, because of what is asked of several at once, just that,
    /// byte by byte: each may go without the others then, or have other values, and what is asked of others
    /// stays. The condition is the same.
    pub(crate) fn untie(&mut self) {
        let (mut without, mut with) = (Vec::new(), BTreeMap::new());
        for part in self.weak.parts.iter().filter(|part| part.single().is_none()) {
            for &item in &part.items {
                let literal = &self.parts.literals[item as usize];
                let bytes = || self.parts.pool.support(literal.term).iter();
                // A sum stays: what it is over may change, if it changes with it.
                if !is_sum(&self.parts, item) && bytes().all(|byte| part.values(byte).len() == 1) {
                    without.push(item);
                    let values = bytes().map(|byte| (byte, (part.values(byte), literal.address)));
                    with.extend(values);
                }
            }
        }
        let mut items = Vec::with_capacity(with.len());
        for (byte, (values, address)) in with {
            let literal = classes::literal(self.parts.pool, byte, values);
            items.push(self.parts.add(literal, address));
        }
        if !without.is_empty() {
            self.weak = self.parts.changed(&self.weak.clone(), &without, &items);
        }
    }

    /// Gives bytes that are still fixed the values with which the program fails; at last those that depend
    /// on each other, each by itself.
    fn byte_sets(&mut self) -> Result<(), Broken> {
        let mut open: Vec<Rc<Part>> =
            self.weak.parts.iter().filter(|part| part.bits() >= LEAST_FOR_SETS).cloned().collect();
        open.retain(|part| part.bytes.len() <= MOST_UNTIED);
        open.sort_by(|a, b| {
            let bytes = a.bytes.len().cmp(&b.bytes.len());
            bytes.then(b.bits().total_cmp(&a.bits())).then(a.bytes.cmp(&b.bytes))
        });
        for part in open {
            if self.over() {
                break;
            }
            // It may be another one by now.
            if self.weak.parts.iter().any(|it| Rc::ptr_eq(it, &part)) {
                self.sets_of(&part)?;
            }
        }
        Ok(())
    }

    /// The same for the bytes of one part.
    fn sets_of(&mut self, part: &Part) -> Result<(), Broken> {
        let (mut items, mut bits, mut in_vain) = (Vec::new(), 0.0, 0);
        for &byte in &part.bytes {
            let known = match part.single() {
                Some((_, values)) => values,
                None => ByteSet::range(self.parts.own(byte), self.parts.own(byte)),
            };
            let good = self.failing_values(byte, known)?;
            in_vain = if good == known { in_vain + 1 } else { 0 };
            if in_vain == MOST_IN_VAIN.min(part.bytes.len()) || self.over() {
                return Ok(());
            }
            bits += 8.0 - f64::from(good.len()).log2();
            let literal = classes::literal(self.parts.pool, byte, good);
            items.push(self.parts.add(literal, 0));
        }
        if part.bits() - bits < LEAST_GAIN {
            return Ok(());
        }
        let weak = self.weak.clone();
        let changed = self.parts.changed(&weak, &part.items, &items);
        self.attempt(changed, 0.25, 64)?;
        Ok(())
    }

    /// Takes away values with which the program never fails, whatever else is drawn. A double reveals as much
    /// as before, but more runs fail, so that later tries take fewer.
    pub(crate) fn narrow(&mut self) -> Result<(), Broken> {
        let cancelled = self.limits.cancel.load(Ordering::Relaxed);
        if self.share.value() >= OFTEN
            || self.in_a_hurry()
            || cancelled
            || self.is_left_out("narrow")
        {
            return Ok(());
        }
        let weak = self.weak.clone();
        let (mut share, mut failing) = (Share::default(), Vec::new());
        while (failing.len() < ENOUGH_SEEN && share.runs < MOST_SEEN) || share.runs == 0 {
            let Some(drawn) = self.drawn(&weak, None, Draws::Fresh, SEEN) else { return Ok(()) };
            let results = self.run_drawn(&drawn)?;
            share.add(&results);
            let fails = drawn.into_iter().zip(results).filter(|(_, fails)| *fails);
            failing.extend(fails.map(|(it, _)| it.input));
        }
        if failing.is_empty() {
            return Ok(());
        }
        self.share = share;
        let (mut without, mut with) = (Vec::new(), Vec::new());
        for part in &weak.parts {
            for &byte in &part.bytes {
                let mut seen = ByteSet::NONE;
                for it in &failing {
                    seen.insert(it[usize::from(byte.source)][byte.offset as usize]);
                }
                let enough = EXPECTED * f64::from(seen.len()) <= failing.len() as f64;
                if enough && seen != part.values(byte) {
                    let literal = classes::literal(self.parts.pool, byte, seen);
                    with.push(self.parts.add(literal, 0));
                    if part.single().is_some() {
                        without.extend_from_slice(&part.items);
                    }
                }
            }
        }
        if with.is_empty() {
            return Ok(());
        }
        let changed = self.parts.changed(&weak, &without, &with);
        let Some(results) = self.sample(&changed, None, Draws::Fresh, COMPARED)? else {
            return Ok(());
        };
        let mut share = Share::default();
        share.add(&results);
        let before = weak.bits() - self.share.value().log2();
        // How far the runs that failed may have been off, in bits.
        let luck = std::f64::consts::LOG2_E / (failing.len() as f64).sqrt();
        if changed.bits() - share.value().log2() < before + luck + AS_GOOD {
            (self.weak, self.share) = (changed, share);
        }
        Ok(())
    }

    /// The values of a byte that fail beside those that are known to, as far as a few of each kind show it.
    fn failing_values(&mut self, byte: InputByte, known: ByteSet) -> Result<ByteSet, Broken> {
        let new = |values: ByteSet| values.intersect(&known.complement());
        let mut tried = classes::near(known);
        for kind in classes::kinds() {
            tried = tried.union(&new(classes::some_of(&kind).0));
        }
        let mut good = self.failing(byte, tried)?;
        if good.is_empty() || self.over() {
            return Ok(known);
        }
        for kind in classes::kinds() {
            let (first, others) = classes::some_of(&kind);
            if good.intersect(&first).is_empty() {
                continue;
            }
            let others = new(others);
            let hits = self.failing(byte, others)?;
            let open = new(kind).intersect(&others.complement());
            good = good.union(&hits).union(&if hits == others {
                open
            } else {
                self.failing(byte, open.intersect(&tried.complement()))?
            });
        }
        Ok(good.union(&known))
    }

    /// Which of these values of a byte fail, with everything else drawn. Where not all runs fail, one does not
    /// tell: the fewer, the more often a value is tried.
    fn failing(&mut self, byte: InputByte, values: ByteSet) -> Result<ByteSet, Broken> {
        let missed = 1.0 - self.share.value().clamp(0.1, 0.95);
        let tries = (MISSED.ln() / missed.ln()).ceil().min(MOST_TRIES) as usize;
        let mut good = ByteSet::NONE;
        for round in 0..tries {
            if round > 0 && self.over() {
                break;
            }
            let weak = self.weak.clone();
            let (mut inputs, mut tried) = (Vec::new(), Vec::new());
            for value in values.intersect(&good.complement()).iter() {
                let Some(mut assignment) = self.parts.draw(&weak, Draws::Again, self.rng) else {
                    break;
                };
                assignment.set(byte, value);
                inputs.push(self.parts.input(&assignment));
                tried.push(value);
            }
            for (&value, &fails) in tried.iter().zip(&self.run(&inputs)?) {
                if fails {
                    good.insert(value);
                }
            }
        }
        Ok(good)
    }
}
