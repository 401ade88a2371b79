//! What may be dropped together: groups of literals, in an order in which neighbours go together.
//!
//! A stretch of neighbours is tried as a whole, then its halves, so that what a failure does not
//! need goes in a few tries however long it is. Nothing here runs a program.

use std::collections::{BTreeMap, BTreeSet};

use stunt_terms::InputByte;

use super::parts::{Item, Parts, Weak};
use crate::ease::has_product;

/// By what literals are neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// A group for each byte: all literals that look at it.
    Bytes,
    /// The same for bytes that literals over many bytes look at, a sum for instance, without these: what else
    /// is asked of a byte may go while its sum stays right.
    BytesUnderSums,
    /// A group for each place in the code: all literals that come from there.
    Code,
}

/// Which literals are dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Which {
    /// Those that reveal much: a byte that has to be different from one value stays different.
    Strong,
    /// All.
    All,
}

/// A literal over more bytes than this is a sum.
const MANY: usize = 8;

/// A literal that reveals no more than this, in bits, costs little and mostly saves a run from ending
/// early: that a letter is no quote, or that it is ASCII where text must be UTF-8.
const STRONG: f64 = 1.05;

impl Which {
    fn takes(self, parts: &Parts<'_>, item: Item) -> bool {
        match (self, parts.literals[item as usize].weight) {
            (Which::All, _) | (Which::Strong, None) => true,
            (Which::Strong, Some(weight)) => weight >= STRONG,
        }
    }
}

/// Whether a literal is about many bytes at once, and not because it multiplies some of them.
pub(crate) fn is_sum(parts: &Parts<'_>, item: Item) -> bool {
    let term = parts.literals[item as usize].term;
    parts.pool.support(term).iter().nth(MANY).is_some() && !has_product(parts.pool, term)
}

/// Literals that go together.
pub(crate) struct Group {
    pub(crate) items: Vec<Item>,
    /// The byte that they look at, in the order of bytes.
    pub(crate) byte: Option<InputByte>,
    /// The place in the code that they come from, in the order of code and bytes.
    pub(crate) place: Option<u64>,
}

/// The groups of a condition's literals, in order.
pub(crate) fn groups(parts: &Parts<'_>, weak: &Weak, order: Order, which: Which) -> Vec<Group> {
    let items = weak.items().filter(|&item| which.takes(parts, item));
    match order {
        Order::Bytes | Order::BytesUnderSums => {
            let mut by_byte: BTreeMap<InputByte, Vec<Item>> = BTreeMap::new();
            let mut summed: BTreeSet<InputByte> = BTreeSet::new();
            for item in items {
                let bytes = parts.pool.support(parts.literals[item as usize].term);
                if order == Order::BytesUnderSums && is_sum(parts, item) {
                    summed.extend(bytes.iter());
                    continue;
                }
                for byte in bytes.iter() {
                    by_byte.entry(byte).or_default().push(item);
                }
            }
            if order == Order::BytesUnderSums {
                by_byte.retain(|byte, _| summed.contains(byte));
            }
            let group = |(byte, items)| Group { items, byte: Some(byte), place: None };
            by_byte.into_iter().map(group).collect()
        }
        Order::Code => {
            let mut by_place: BTreeMap<u64, Vec<Item>> = BTreeMap::new();
            for item in items {
                by_place.entry(parts.literals[item as usize].address).or_default().push(item);
            }
            let group = |items| Group { items, byte: None, place: None };
            by_place.into_values().map(group).collect()
        }
    }
}

/// Stretches of groups that are still to be tried, the first of the longest first.
pub(crate) struct Stretches(Vec<(usize, usize)>);

impl Stretches {
    /// All groups as one stretch.
    pub(crate) fn new(groups: usize) -> Self {
        Self(if groups == 0 { Vec::new() } else { vec![(0, groups)] })
    }

    /// The next one to be tried.
    pub(crate) fn next(&mut self) -> Option<std::ops::Range<usize>> {
        self.0.pop().map(|(from, to)| from..to)
    }

    /// One was tried in vain: its halves are next.
    pub(crate) fn split(&mut self, range: std::ops::Range<usize>) {
        if range.len() > 1 {
            let middle = range.start + range.len() / 2;
            self.0.push((middle, range.end));
            self.0.push((range.start, middle));
        }
    }
}
