//! A condition from which literals can be taken out again: parts that share no byte, each solved by
//! itself and only once.
//!
//! What always holds: a part's literals connect its bytes, the parts share none, and each part can
//! be drawn from uniformly, where necessary because bytes are fixed (see `ease.rs`). Dropping
//! literals changes the parts that have them and no others.

use std::cell::RefCell;
use std::rc::Rc;

use rand::{Rng, RngCore};
use rustc_hash::FxHashMap;
use stunt_leakage::{Accounts, Bits, LeakGraph, Ledger};
use stunt_models::{Budget, ByteSet, Condition};
use stunt_path::{Original, Test};
use stunt_solver::{Budget as Patience, Drawn, Model, Sampler, Solver, Uniformity};
use stunt_terms::{Assignment, InputByte, Op, Pool, Term};

use crate::Measured;
use crate::ease::{Tries, ease};
use crate::simplify::simplify;

/// Parts are solved and drawn over and over: one that is met more rarely than this is made easier.
const TRIES: Tries = (4, 200);
/// So many draws of a part that is slow to draw are enough for tries.
const KEPT_DRAWS: usize = 64;

/// A literal by its number.
pub(crate) type Item = u32;

/// A literal of the path condition.
pub(crate) struct Literal {
    pub(crate) term: Term,
    /// Where the program made the test.
    pub(crate) address: u64,
    /// What it reveals by itself, in bits; not known of literals over several bytes.
    pub(crate) weight: Option<f64>,
}

/// Literals that share bytes, solved.
pub(crate) struct Part {
    pub(crate) items: Vec<Item>,
    pub(crate) bytes: Vec<InputByte>,
    /// Bytes that keep the original's values.
    fixed: usize,
    bits: Bits,
    how: How,
}

/// How a part is drawn.
enum How {
    /// One byte, and its values.
    Byte(ByteSet),
    /// Several bytes, and values of them that were drawn before.
    Bytes(Box<Joint>),
}

/// Several bytes that depend on each other.
struct Joint {
    condition: Condition,
    literals: Vec<Term>,
    drawn: RefCell<Vec<Model>>,
}

/// What draws are for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Draws {
    /// A try: values of a part may be those of an earlier draw.
    Again,
    /// A double, or the measure of the share: all is drawn anew.
    Fresh,
}

impl Part {
    /// What it reveals.
    pub(crate) fn bits(&self) -> f64 {
        self.bits.upper()
    }

    /// What one of its bytes may be, whatever the others are.
    pub(crate) fn values(&self, byte: InputByte) -> ByteSet {
        match &self.how {
            How::Byte(values) => *values,
            How::Bytes(joint) => joint.condition.domain(byte),
        }
    }

    /// How much its bytes depend on each other, in bits: what it reveals more than each of them by itself.
    pub(crate) fn tied(&self) -> f64 {
        let allowed = |&byte: &InputByte| f64::from(self.values(byte).len().max(1)).log2();
        let each: f64 = self.bytes.iter().map(allowed).sum();
        (each - (8.0 * self.bytes.len() as f64 - self.bits())).max(0.0)
    }

    /// Its byte and that byte's values, if there is only one.
    pub(crate) fn single(&self) -> Option<(InputByte, ByteSet)> {
        match self.how {
            How::Byte(values) => Some((self.bytes[0], values)),
            How::Bytes(_) => None,
        }
    }
}

/// A condition, part by part. A clone costs a pointer for each.
#[derive(Clone, Default)]
pub(crate) struct Weak {
    pub(crate) parts: Vec<Rc<Part>>,
}

impl Weak {
    /// What it reveals.
    pub(crate) fn bits(&self) -> f64 {
        self.parts.iter().map(|part| part.bits()).sum()
    }

    /// How many literals are kept.
    pub(crate) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.items.len()).sum()
    }

    /// How many bytes keep the original's values.
    pub(crate) fn fixed(&self) -> usize {
        self.parts.iter().map(|part| part.fixed).sum()
    }

    /// A number by which conditions of the same literals are known, in whatever order they are.
    pub(crate) fn key(&self) -> u64 {
        // A sum must not be told by the sum of the numbers: each is mixed well first (splitmix64).
        let mixed = |item: Item| {
            let mut bits = u64::from(item).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            bits ^ bits >> 31
        };
        self.items().fold(0, |key, item| key.wrapping_add(mixed(item)))
    }

    /// All literals that are kept.
    pub(crate) fn items(&self) -> impl Iterator<Item = Item> + '_ {
        self.parts.iter().flat_map(|part| part.items.iter().copied())
    }
}

/// Solves parts and draws from them.
pub(crate) struct Parts<'a> {
    pub(crate) pool: &'a mut Pool,
    pub(crate) literals: Vec<Literal>,
    pub(crate) original: &'a Original,
    own: Assignment,
    pub(crate) hidden: Vec<InputByte>,
    accounts: Accounts,
    sampler: Sampler,
    solver: Solver,
    /// Parts that were solved before, by their literals.
    known: FxHashMap<Vec<Item>, Rc<Part>>,
}

impl<'a> Parts<'a> {
    /// The parts of a path's tests, and the condition of all of them.
    pub(crate) fn new(pool: &'a mut Pool, tests: &[Test], original: &'a Original) -> (Self, Weak) {
        let mut parts = Self {
            pool,
            literals: Vec::new(),
            original,
            own: original.assignment(),
            hidden: original.hidden(),
            accounts: Accounts::new(Budget::quick()),
            sampler: Sampler::new(),
            solver: Solver::new(Patience::default()),
            known: FxHashMap::default(),
        };
        let mut seen = rustc_hash::FxHashSet::default();
        for test in tests {
            // A conjunction is dropped piece by piece.
            let mut open = vec![test.condition];
            while let Some(term) = open.pop() {
                match parts.pool.op(term) {
                    Op::And(a, b) => open.extend([b, a]),
                    Op::Const(1) => {}
                    _ if !seen.insert(term) => {}
                    _ => {
                        parts.add(term, test.address);
                    }
                }
            }
        }
        let all: Vec<Item> = (0..parts.literals.len() as Item).collect();
        let weak = Weak { parts: parts.solved(&all) };
        (parts, weak)
    }

    /// A literal more, which is in no part yet.
    pub(crate) fn add(&mut self, term: Term, address: u64) -> Item {
        let mask = self.accounts.masks.mask_of(self.pool, term);
        let weight = mask.map(|(_, values)| 8.0 - f64::from(values.len().max(1)).log2());
        self.literals.push(Literal { term, address, weight });
        self.literals.len() as Item - 1
    }

    /// The condition without some literals, and with some others.
    pub(crate) fn changed(&mut self, weak: &Weak, without: &[Item], with: &[Item]) -> Weak {
        let mut dropped = vec![false; self.literals.len()];
        for &item in without {
            dropped[item as usize] = true;
        }
        let mut joined = Vec::new();
        for &item in with {
            joined.extend(self.pool.support(self.literals[item as usize].term).iter());
        }
        let (mut parts, mut open) = (Vec::new(), with.to_vec());
        for part in &weak.parts {
            let touched = part.items.iter().any(|&item| dropped[item as usize])
                || joined.iter().any(|byte| part.bytes.binary_search(byte).is_ok());
            if touched {
                open.extend(part.items.iter().filter(|&&item| !dropped[item as usize]));
            } else {
                parts.push(Rc::clone(part));
            }
        }
        parts.extend(self.solved(&open));
        Weak { parts }
    }

    /// The parts that these literals fall into.
    fn solved(&mut self, items: &[Item]) -> Vec<Rc<Part>> {
        let mut groups = Groups::default();
        for &item in items {
            groups.add(self.pool.support(self.literals[item as usize].term).iter());
        }
        let mut by_group: std::collections::BTreeMap<u32, Vec<Item>> = Default::default();
        for &item in items {
            if let Some(byte) = self.pool.support(self.literals[item as usize].term).iter().next() {
                by_group.entry(groups.of(byte)).or_default().push(item);
            }
        }
        by_group.into_values().map(|items| self.part(items)).collect()
    }

    fn part(&mut self, mut items: Vec<Item>) -> Rc<Part> {
        items.sort_unstable();
        items.dedup();
        if let Some(part) = self.known.get(&items) {
            return Rc::clone(part);
        }
        let terms: Vec<Term> = items.iter().map(|&it| self.literals[it as usize].term).collect();
        let mut bytes: Vec<InputByte> = Vec::new();
        for &term in &terms {
            bytes.extend(self.pool.support(term).iter());
            if bytes.len() > 1 << 12 {
                bytes.sort_unstable();
                bytes.dedup();
            }
        }
        bytes.sort_unstable();
        bytes.dedup();
        let part = Rc::new(match bytes.len() {
            1 => self.one_byte(&items, bytes, &terms),
            _ => self.several_bytes(&items, bytes, &terms),
        });
        self.known.insert(items, Rc::clone(&part));
        part
    }

    fn one_byte(&mut self, items: &[Item], bytes: Vec<InputByte>, terms: &[Term]) -> Part {
        let mut values = ByteSet::ALL;
        for &term in terms {
            if let Some((_, mask)) = self.accounts.masks.mask_of(self.pool, term) {
                values = values.intersect(&mask);
            }
        }
        let bits = Bits::Exact(8.0 - f64::from(values.len()).log2());
        Part { items: items.to_vec(), bytes, fixed: 0, bits, how: How::Byte(values) }
    }

    fn several_bytes(&mut self, items: &[Item], bytes: Vec<InputByte>, terms: &[Term]) -> Part {
        let simple = simplify(self.pool, &mut self.accounts.masks, terms);
        let (accounts, sampler) = (&mut self.accounts, &mut self.sampler);
        let eased = ease(self.pool, accounts, sampler, &self.own, &simple, TRIES);
        let mut ledger = Ledger::new();
        for &literal in &eased.literals {
            ledger.push(self.pool, &mut self.accounts, literal);
        }
        let bits = ledger.total(self.pool, &mut self.accounts);
        let condition = ledger.condition().clone();
        let drawn = RefCell::default();
        let how = How::Bytes(Box::new(Joint { condition, literals: eased.literals, drawn }));
        Part { items: items.to_vec(), bytes, fixed: eased.fixed.len(), bits, how }
    }

    /// A solution, drawn uniformly: all hidden bytes have values. `None` if it could not be.
    pub(crate) fn draw(
        &mut self,
        weak: &Weak,
        draws: Draws,
        rng: &mut dyn RngCore,
    ) -> Option<Assignment> {
        let mut values = Assignment::new();
        for &byte in &self.hidden {
            values.set(byte, rng.r#gen());
        }
        for part in &weak.parts {
            match &part.how {
                How::Byte(set) => {
                    values.set(part.bytes[0], set.nth(rng.gen_range(0..set.len()))?);
                }
                How::Bytes(joint) => {
                    let mut kept = joint.drawn.borrow_mut();
                    if draws == Draws::Again && kept.len() >= KEPT_DRAWS {
                        kept[rng.gen_range(0..kept.len())].write_to(&mut values);
                        continue;
                    }
                    let counter = &mut self.accounts.counter;
                    let drawn = self.sampler.draw(
                        self.pool,
                        &mut self.solver,
                        counter,
                        &joint.condition,
                        &part.bytes,
                        rng,
                    );
                    match drawn {
                        Drawn::Model(draw) if draw.uniformity == Uniformity::Uniform => {
                            draw.model.write_to(&mut values);
                            if draws == Draws::Again {
                                kept.push(draw.model);
                            }
                        }
                        _ => return None,
                    }
                }
            }
        }
        Some(values)
    }

    /// The value that a byte has where the path comes from.
    pub(crate) fn own(&self, byte: InputByte) -> u8 {
        self.own.get(byte)
    }

    /// How long a source is.
    pub(crate) fn length(&self, source: usize) -> usize {
        self.original.len_of(source)
    }

    /// An input with these values in the hidden bytes.
    pub(crate) fn input(&self, values: &Assignment) -> Vec<Vec<u8>> {
        self.original.replaced_by(values)
    }

    /// What a condition reveals, in all and byte by byte.
    pub(crate) fn measure(&mut self, weak: &Weak) -> Measured {
        let mut ledger = Ledger::new();
        for part in &weak.parts {
            let terms: Vec<Term> = match &part.how {
                How::Byte(_) => {
                    part.items.iter().map(|&item| self.literals[item as usize].term).collect()
                }
                How::Bytes(joint) => joint.literals.clone(),
            };
            for term in terms {
                ledger.push(self.pool, &mut self.accounts, term);
            }
        }
        let total = ledger.total(self.pool, &mut self.accounts);
        let bytes = self.hidden.iter().copied();
        let graph = LeakGraph::of(&ledger, self.pool, &mut self.accounts, bytes);
        Measured { total, bytes: graph.bytes().to_vec() }
    }
}

/// Bytes that belong together, by union and find.
#[derive(Default)]
struct Groups {
    number: FxHashMap<InputByte, u32>,
    parent: Vec<u32>,
}

impl Groups {
    fn add(&mut self, bytes: impl Iterator<Item = InputByte>) {
        let mut first = None;
        for byte in bytes {
            let next = self.parent.len() as u32;
            let number = *self.number.entry(byte).or_insert(next);
            if number == next {
                self.parent.push(next);
            }
            let root = self.root(number);
            match first {
                None => first = Some(root),
                Some(first) => self.parent[root as usize] = first,
            }
        }
    }

    fn of(&mut self, byte: InputByte) -> u32 {
        let number = self.number[&byte];
        self.root(number)
    }

    fn root(&mut self, mut number: u32) -> u32 {
        while self.parent[number as usize] != number {
            let above = self.parent[number as usize];
            self.parent[number as usize] = self.parent[above as usize];
            number = above;
        }
        number
    }
}
