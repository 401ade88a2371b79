//! Weakening documents: a condition on the leaves, while the bytes around them follow.
//!
//! Nothing is asked of what a format computes: a checksum is right because whoever renders the document makes it so.
//! So tests are told of leaves, wherever their bytes are copies of them; tests of other bytes say nothing any more,
//! and those of both, such as that a checksum fits, go. What that was worth, runs show.
//!
//! The figure stays one of the whole input. With `n` for the bytes of the double, and `S` for the set of documents
//! that it is drawn from, uniformly, by rejection of those that do not fail, it reveals `8 n - log2 |S|` bits: every
//! byte that is no leaf's is charged in full. Documents of `S` are as many as their leaves, because those that count
//! as failing give their leaves back, and all have one length ([`Rendering`]).

use rand::RngCore;
use rustc_hash::FxHashMap;
use stunt_leakage::{Bits, ByteLeak, Claim};
use stunt_models::ByteSet;
use stunt_path::{Original, Test};
use stunt_reduce::{Broken, Oracle, Place, Rendering};
use stunt_terms::{InputByte, Op, Pool, Term};

use super::drawn::DrawnFrom;
use super::search::{Lengths, Limits, Price, Progress, Weakened, blackbox, weaken};
use super::unpacked::of_documents;

/// Weakens the condition of a document's path, told of its leaves.
///
/// # Errors
/// The program cannot be run.
#[allow(clippy::too_many_arguments)] // Those of `weaken`, and how documents are written.
pub fn weaken_leaves(
    pool: &mut Pool,
    tests: &[Test],
    original: &Original,
    rendering: &Rendering,
    oracle: &mut dyn Oracle,
    limits: Limits<'_>,
    rng: &mut dyn RngCore,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Weakened>, Broken> {
    let leaves = Leaves::new(original, rendering);
    let tests = told_of_leaves(pool, tests, original, rendering);
    let mut over = rendering.over(oracle);
    let whole = limits.price;
    let price = |from: &DrawnFrom| leaves.price(from, whole);
    let limits = Limits { price: &price, ..leaves.within(limits) };
    let mut shown = |at: Progress| progress(leaves.around(at));
    let found = weaken(pool, &tests, &leaves.original, &mut over, limits, rng, &mut shown)?;
    Ok(found.map(|found| leaves.rendered(found, whole)))
}

/// The same without any path.
///
/// # Errors
/// The program cannot be run.
pub fn blackbox_leaves(
    original: &Original,
    rendering: &Rendering,
    oracle: &mut dyn Oracle,
    limits: Limits<'_>,
    rng: &mut dyn RngCore,
    progress: &mut dyn FnMut(Progress),
) -> Result<Option<Weakened>, Broken> {
    let leaves = Leaves::new(original, rendering);
    let mut over = rendering.over(oracle);
    let whole = limits.price;
    let price = |from: &DrawnFrom| leaves.price(from, whole);
    let limits = Limits { price: &price, ..leaves.within(limits) };
    let mut shown = |at: Progress| progress(leaves.around(at));
    let found = blackbox(&leaves.original, &mut over, limits, rng, &mut shown)?;
    Ok(found.map(|found| leaves.rendered(found, whole)))
}

/// The leaves of an input as an input.
struct Leaves<'a> {
    rendering: &'a Rendering,
    /// One source for each leaf.
    original: Original,
    /// The hidden bytes of the input.
    hidden: Vec<InputByte>,
    /// The input itself.
    input: &'a Original,
    /// Bits of them that are not the leaves'.
    around: f64,
}

impl<'a> Leaves<'a> {
    fn new(input: &'a Original, rendering: &'a Rendering) -> Self {
        let mut original = Original::new();
        for leaf in rendering.leaves() {
            match leaf.is_whole {
                true => original.push_of(input, leaf.source),
                false => original.push(leaf.bytes.to_vec(), Vec::new()),
            }
        }
        let hidden = input.hidden();
        let around = 8.0 * (hidden.len() as f64 - original.hidden().len() as f64);
        Self { rendering, original, input, hidden, around }
    }

    /// The limits of a search over the leaves. A leaf has no room: what is filled up is no longer the document.
    fn within<'l>(&self, limits: Limits<'l>) -> Limits<'l> {
        let lengths = Lengths { room: None, ..limits.lengths };
        Limits { worth: limits.worth - self.around, lengths, ..limits }
    }

    /// What it costs to describe the documents that have leaves of a set, beside what is around them: the search does
    /// not count that.
    fn price(&self, from: &DrawnFrom, price: Price<'_>) -> Option<f64> {
        let of_documents = of_documents(self.rendering, &self.original.reveal(), from.clone())?;
        let bits = price(&of_documents)? + (of_documents.joined - from.joined);
        Some(bits - self.around)
    }

    /// A search over leaves does not know what is around them.
    fn around(&self, at: Progress) -> Progress {
        Progress { bits: at.bits + self.around, ..at }
    }

    /// What was found, as an input with figures of the input.
    fn rendered(&self, mut found: Weakened, price: Price<'_>) -> Weakened {
        let own: FxHashMap<InputByte, Bits> =
            found.measured.bytes.iter().map(|leak| (leak.byte, leak.bits)).collect();
        let input = self.rendering.render(&found.double.bytes);
        let mut bytes = Vec::with_capacity(self.hidden.len());
        for &byte in &self.hidden {
            let place = self.rendering.place(usize::from(byte.source), byte.offset as usize);
            let known = match place {
                Place::Leaf { leaf, at } => own.get(&InputByte::new(leaf as u16, at as u32)),
                Place::Around => None,
            };
            bytes.push(ByteLeak { byte, bits: known.copied().unwrap_or(Bits::Exact(8.0)) });
        }
        let around = Bits::Exact(self.around);
        let set = Claim::of_set(found.claim.set() + around);
        let charges = found.claim.charges().iter();
        found.claim = charges.fold(set, |claim, &(charge, bits)| claim.charged(charge, bits));
        found.condition = found.condition + around;
        let leaves = &found.double.bytes;
        found.drawn =
            of_documents(self.rendering, leaves, found.drawn.clone()).unwrap_or_else(|| {
                // Nothing is described but the length.
                let bits = found.claim.set().upper();
                DrawnFrom::of(self.input, |_| ByteSet::ALL, bits)
            });
        if let (Some(failing), Some(bits)) = (found.drawn.failing, price(&found.drawn)) {
            found.claim = found.claim.described_in_part(bits + found.drawn.joined, failing);
        }
        found.measured.total = found.claim.leak();
        found.measured.bytes = bytes;
        found.double.bytes = input;
        found
    }
}

/// The tests that are left when bytes are those of leaves, and what is around them is as it is.
fn told_of_leaves(
    pool: &mut Pool,
    tests: &[Test],
    original: &Original,
    rendering: &Rendering,
) -> Vec<Test> {
    let own = original.assignment();
    let roots: Vec<Term> = tests.iter().map(|test| test.condition).collect();
    // Operands come before their users.
    let mut told: FxHashMap<Term, Told> = FxHashMap::default();
    for term in pool.reachable(&roots) {
        let after = match pool.op(term) {
            Op::Byte(byte) => match rendering.place(usize::from(byte.source), byte.offset as usize)
            {
                Place::Leaf { leaf, at } => {
                    let term = pool.byte(InputByte::new(leaf as u16, at as u32));
                    Told { term, of_leaves: true, of_others: false }
                }
                Place::Around => {
                    let term = pool.constant(8, u128::from(own.get(byte)));
                    Told { term, of_leaves: false, of_others: true }
                }
            },
            _ => {
                let (mut of_leaves, mut of_others) = (false, false);
                let term = pool.with_operands(term, &mut |_, operand| {
                    let Some(it) = told.get(&operand) else { return operand };
                    of_leaves |= it.of_leaves;
                    of_others |= it.of_others;
                    it.term
                });
                Told { term, of_leaves, of_others }
            }
        };
        told.insert(term, after);
    }
    let left = tests.iter().filter_map(|test| {
        let it = told.get(&test.condition)?;
        (it.of_leaves && !it.of_others).then_some(Test { condition: it.term, ..*test })
    });
    left.collect()
}

/// A term of leaves, and what it was of.
#[derive(Clone, Copy)]
struct Told {
    term: Term,
    of_leaves: bool,
    of_others: bool,
}
