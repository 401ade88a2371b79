//! A term with its histogram, and the three directions in which histograms are used: counts from
//! the parts up, a draw from a value down, and weights from all values down.
//!
//! Parts share no byte, so their values are independent: the number of assignments with given
//! values of the parts is the product of the counts.

use std::collections::hash_map::Entry;
use std::sync::OnceLock;

use num_bigint::{BigUint, RandBigInt};
use rand::RngCore;
use rustc_hash::FxHashMap;
use stunt_terms::mask;

use super::hist::{Hist, add, big};
use super::index::{Index, STRETCH};
use super::sum;

/// How a vertex comes from its parts, which are earlier vertices.
pub(crate) enum Rule {
    /// The byte at this position.
    Byte(usize),
    /// A sum of parts. `before[i]` is the histogram of the constant plus the first `i` parts.
    Sum { parts: Vec<usize>, negated: Vec<bool>, before: Vec<Hist> },
    /// Whether two parts are equal.
    Equal(usize, usize),
    /// Whether the first part is less than the second, by this order of values.
    Less(usize, usize, Order),
    /// Any function: the place of the result for every tuple of places, the last part fastest. The
    /// index is made for the first draw.
    Function { parts: Vec<usize>, results: Vec<u32>, index: OnceLock<Index> },
}

/// How values are compared.
#[derive(Clone, Copy)]
pub(crate) enum Order {
    Unsigned,
    /// Two's complement of this width.
    Signed(u8),
}

impl Order {
    fn key(self, value: u128) -> u128 {
        match self {
            Order::Unsigned => value,
            Order::Signed(width) => value ^ 1 << (width - 1),
        }
    }
}

/// A term with its histogram.
pub(crate) struct Vertex {
    pub rule: Rule,
    pub hist: Hist,
}

/// The histogram of the negated values.
pub(crate) fn negated(width: u8, limbs: usize, hist: &Hist) -> Hist {
    let minus = |value: u128| value.wrapping_neg() & mask(width);
    let places = (0..hist.len()).filter(|&at| !hist.counts.is_zero(at));
    let mut values: Vec<u128> = places.clone().map(|at| minus(hist.value(at))).collect();
    values.sort_unstable();
    let mut result = Hist::over(width, limbs, values);
    for at in places {
        let to = result.find(minus(hist.value(at))).expect("every value was taken");
        result.counts.add_product(to, hist.counts.get(at), &[1]);
    }
    result
}

/// The histogram of a truth value: how many assignments make it true, of how many.
pub(crate) fn truth(limbs: usize, yes: &[u64], all: &[u64]) -> Hist {
    let mut hist = Hist::over(1, limbs, vec![0, 1]);
    hist.counts.add_product(1, yes, &[1]);
    let no = (big(all) - big(yes)).to_u64_digits();
    hist.counts.add_product(0, &no, &[1]);
    hist
}

/// For each place of `a` how many assignments of `b` have an equal value.
pub(crate) fn equals(a: &Hist, b: &Hist) -> Vec<BigUint> {
    let count = |at: usize| b.find(a.value(at)).map_or(BigUint::ZERO, |found| b.counts.big(found));
    (0..a.len()).map(count).collect()
}

/// For each place of `a` how many assignments of `b` have a greater value (or a smaller one).
pub(crate) fn beyond(a: &Hist, b: &Hist, order: Order, greater: bool) -> Vec<BigUint> {
    let sorted = |hist: &Hist| {
        let key = |at: usize| {
            let key = order.key(hist.value(at));
            (if greater { !key } else { key }, at)
        };
        let mut keys: Vec<(u128, usize)> = (0..hist.len()).map(key).collect();
        keys.sort_unstable();
        keys
    };
    let mut result = vec![BigUint::ZERO; a.len()];
    let mut passed = BigUint::ZERO;
    let theirs = sorted(b);
    let mut next = theirs.iter().peekable();
    for (key, at) in sorted(a) {
        while let Some(&(_, other)) = next.next_if(|(other, _)| *other < key) {
            passed += b.counts.big(other);
        }
        result[at] = passed.clone();
    }
    result
}

/// Draws one of the items with a chance in proportion to its weight; `total` is the sum of all.
fn pick<T>(rng: &mut dyn RngCore, total: &BigUint, items: impl Iterator<Item = (T, BigUint)>) -> T {
    let mut rank = rng.gen_biguint_below(total);
    for (item, weight) in items {
        if rank < weight {
            return item;
        }
        rank -= weight;
    }
    unreachable!("the rank is below the sum of the weights")
}

/// For each place of `a` how many assignments of the two make the relation this truth value.
fn relation_weights(rule: &Rule, vertices: &[Vertex], truth: bool) -> Option<Vec<BigUint>> {
    let (a, b, yes) = match *rule {
        Rule::Equal(a, b) => (a, b, equals(&vertices[a].hist, &vertices[b].hist)),
        Rule::Less(a, b, order) => {
            (a, b, beyond(&vertices[a].hist, &vertices[b].hist, order, true))
        }
        Rule::Byte(_) | Rule::Sum { .. } | Rule::Function { .. } => return None,
    };
    let all = big(&vertices[b].hist.total());
    let weight = |(at, yes): (usize, BigUint)| {
        vertices[a].hist.counts.big(at) * if truth { yes } else { &all - yes }
    };
    Some(yes.into_iter().enumerate().map(weight).collect())
}

/// Draws values for the parts of a vertex, given its own place; `need` gets part and place.
pub(crate) fn draw(
    vertices: &[Vertex],
    vertex: usize,
    place: usize,
    rng: &mut dyn RngCore,
    mut need: impl FnMut(usize, usize),
) {
    let hist = |part: usize| &vertices[part].hist;
    let own = &vertices[vertex];
    match &own.rule {
        Rule::Byte(_) => {}
        Rule::Sum { parts, negated, before } => {
            let mut value = own.hist.value(place);
            let mut total = own.hist.counts.big(place);
            let all = mask(own.hist.width());
            for (at, &part) in parts.iter().enumerate().rev() {
                let part_hist = hist(part);
                let items = (0..part_hist.len()).filter_map(|place| {
                    let minus = if negated[at] {
                        part_hist.value(place).wrapping_neg()
                    } else {
                        part_hist.value(place)
                    };
                    let found = before[at].find(value.wrapping_sub(minus) & all)?;
                    let ways = before[at].counts.big(found) * part_hist.counts.big(place);
                    Some(((place, found), ways))
                });
                let (chosen, rest) = pick(rng, &total, items);
                value = before[at].value(rest);
                total = before[at].counts.big(rest);
                need(part, chosen);
            }
        }
        Rule::Equal(a, b) | Rule::Less(a, b, _) => {
            let truth = own.hist.value(place) == 1;
            let total = own.hist.counts.big(place);
            // Equal values are looked for from the side that has fewer.
            let turn = matches!(own.rule, Rule::Equal(..)) && hist(*a).len() > hist(*b).len();
            let (a, b) = if turn { (b, a) } else { (a, b) };
            let rule = if turn { &Rule::Equal(*a, *b) } else { &own.rule };
            let weights = relation_weights(rule, vertices, truth).expect("a relation");
            let first = pick(rng, &total, weights.into_iter().enumerate());
            let value = hist(*a).value(first);
            let holds = |other: u128| match own.rule {
                Rule::Less(_, _, order) => order.key(value) < order.key(other),
                _ => value == other,
            };
            let weight = |at: usize| {
                let fits = holds(hist(*b).value(at)) == truth;
                (fits && !hist(*b).counts.is_zero(at)).then(|| (at, hist(*b).counts.big(at)))
            };
            let items = (0..hist(*b).len()).filter_map(weight);
            let total: BigUint = items.clone().map(|(_, weight)| weight).sum();
            need(*a, first);
            need(*b, pick(rng, &total, items));
        }
        Rule::Function { parts, results, index } => {
            let weight = |tuple: usize| {
                let places = places(vertices, parts, tuple);
                parts.iter().zip(places).map(|(&p, at)| hist(p).counts.big(at)).product()
            };
            let index = index.get_or_init(|| Index::new(results, own.hist.len(), weight));
            let rank = rng.gen_biguint_below(&own.hist.counts.big(place));
            let tuple = index.at(place, rank, weight);
            let tuple = tuple.expect("the rank is below the sum of the weights");
            for (&part, place) in parts.iter().zip(places(vertices, parts, tuple)) {
                need(part, place);
            }
        }
    }
}

/// How many values or tuples of values [`draw`] may have to weigh for a vertex with this rule.
pub(crate) fn work(vertices: &[Vertex], rule: &Rule) -> usize {
    let len = |part: &usize| vertices[*part].hist.len();
    match rule {
        Rule::Byte(_) => 1,
        Rule::Sum { parts, .. } => parts.iter().map(len).sum(),
        Rule::Equal(a, b) | Rule::Less(a, b, _) => len(a) + len(b),
        Rule::Function { results, .. } => results.len().min(STRETCH),
    }
}

/// All tuples of places, the last part fastest.
pub(crate) fn tuples(vertices: &[Vertex], parts: &[usize], mut see: impl FnMut(&[usize])) {
    let sizes: Vec<usize> = parts.iter().map(|&part| vertices[part].hist.len()).collect();
    let mut tuple = vec![0; parts.len()];
    if sizes.contains(&0) {
        return;
    }
    loop {
        see(&tuple);
        let Some(at) = (0..tuple.len()).rev().find(|&at| tuple[at] + 1 < sizes[at]) else {
            return;
        };
        tuple[at] += 1;
        tuple[at + 1..].fill(0);
    }
}

/// The places of the parts in a tuple.
pub(crate) fn places(vertices: &[Vertex], parts: &[usize], mut tuple: usize) -> Vec<usize> {
    let mut places = vec![0; parts.len()];
    for (place, &part) in places.iter_mut().zip(parts).rev() {
        let len = vertices[part].hist.len();
        *place = tuple % len;
        tuple /= len;
    }
    places
}

/// Given for each place of a vertex how many ways there are outside of it, the same for each of
/// its parts.
pub(crate) fn weigh(
    vertices: &[Vertex],
    vertex: usize,
    weights: &[BigUint],
    mut give: impl FnMut(usize, Vec<BigUint>),
) {
    let hist = |part: usize| &vertices[part].hist;
    let own = &vertices[vertex];
    match &own.rule {
        Rule::Byte(_) => {}
        Rule::Sum { parts, negated, before } => {
            let summands: Vec<Hist> = parts
                .iter()
                .zip(negated)
                .map(|(&part, &minus)| signed(hist(part), minus))
                .collect();
            for (at, given) in sum::weigh(before, &summands, &own.hist, weights) {
                // Back from the places of the negated summand to those of the part.
                let part = hist(parts[at]);
                let all = mask(part.width());
                let place = |place: usize| {
                    let value = part.value(place);
                    let value = if negated[at] { value.wrapping_neg() & all } else { value };
                    summands[at].find(value).map_or(BigUint::ZERO, |found| given[found].clone())
                };
                give(parts[at], (0..part.len()).map(place).collect());
            }
        }
        Rule::Equal(a, b) | Rule::Less(a, b, _) => {
            let (no, yes) = (&weights[0], &weights[1]);
            let both = |holds: Vec<BigUint>, other: &Hist| {
                let all = big(&other.total());
                holds.into_iter().map(|count| no * (&all - &count) + yes * count).collect()
            };
            let (x, y) = (hist(*a), hist(*b));
            let (left, right) = match own.rule {
                Rule::Less(_, _, order) => (beyond(x, y, order, true), beyond(y, x, order, false)),
                _ => (equals(x, y), equals(y, x)),
            };
            give(*a, both(left, y));
            give(*b, both(right, x));
        }
        Rule::Function { parts, results, .. } => {
            let mut given: FxHashMap<usize, Vec<BigUint>> = FxHashMap::default();
            let mut next = results.iter();
            tuples(vertices, parts, |places| {
                let result = *next.next().expect("a result for every tuple");
                let weight = &weights[result as usize];
                if *weight == BigUint::ZERO {
                    return;
                }
                for (at, &part) in parts.iter().enumerate() {
                    let others = parts.iter().zip(places).enumerate();
                    let others = others.filter(|&(other, _)| other != at);
                    let ways = others.fold(weight.clone(), |ways, (_, (&other, &place))| {
                        ways * hist(other).counts.big(place)
                    });
                    let row = match given.entry(part) {
                        Entry::Occupied(entry) => entry.into_mut(),
                        Entry::Vacant(entry) => entry.insert(vec![BigUint::ZERO; hist(part).len()]),
                    };
                    row[places[at]] += ways;
                }
            });
            for &part in parts {
                let none = || vec![BigUint::ZERO; hist(part).len()];
                give(part, given.remove(&part).unwrap_or_else(none));
            }
        }
    }
}

/// The histogram of a summand: negated if it is subtracted.
pub(crate) fn signed(hist: &Hist, minus: bool) -> Hist {
    if minus { negated(hist.width(), hist.limbs(), hist) } else { hist.clone() }
}

/// The sum over all places of a relation: how many assignments make it true.
pub(crate) fn relation_count(rule: &Rule, vertices: &[Vertex], limbs: usize) -> Option<Vec<u64>> {
    let mut total = vec![0; limbs];
    for weight in relation_weights(rule, vertices, true)? {
        add(&mut total, &weight.to_u64_digits());
    }
    Some(total)
}
