//! The finished diagram as a [`Space`]: counts at every node, a weighted walk, weights from above.
//!
//! Variables are levels 0, 1, …; each is one bit of one byte. An edge that skips levels leaves those
//! variables free. A node's count is the number of solutions over the variables from its own level
//! on; the counts are exact, so the walk is exactly uniform.

use std::sync::OnceLock;

use biodivine_lib_bdd::Bdd;
use num_bigint::{BigUint, RandBigInt};
use rand::RngCore;

use super::encoding::Code;
use crate::space::Space;

/// A decision: the level of its variable, and where the two edges lead. Nodes 0 and 1 are the
/// terminals, at the level after the last.
#[derive(Clone, Copy)]
struct Node {
    level: u32,
    low: u32,
    high: u32,
}

/// The solutions that a diagram describes.
pub(super) struct Graph {
    /// Operands of a node have smaller numbers; the root is the last.
    nodes: Vec<Node>,
    /// For each node how many solutions there are over the levels from its own on.
    counts: Vec<BigUint>,
    total: BigUint,
    /// For each level the byte position and the bit.
    places: Vec<(u32, u8)>,
    codes: Vec<Code>,
    /// For each node its chance to go low, as a fraction of 2^64, rounded down.
    chances: OnceLock<Vec<u64>>,
    /// For each node how many choices of the levels above lead to it.
    weights: OnceLock<Vec<BigUint>>,
}

impl Graph {
    /// The solutions of a diagram whose variable `i` stands for `places[i]`.
    pub(super) fn new(bdd: Bdd, places: Vec<(u32, u8)>, codes: Vec<Code>) -> Graph {
        let nodes = in_order(bdd, places.len() as u32);
        let mut counts: Vec<BigUint> = vec![BigUint::ZERO, BigUint::from(1u8)];
        for &node in nodes.iter().skip(2) {
            let below = |child: u32| {
                &counts[child as usize] << (nodes[child as usize].level - node.level - 1)
            };
            let count = below(node.low) + below(node.high);
            counts.push(count);
        }
        counts.truncate(nodes.len());
        let root = nodes.len() - 1;
        let total = &counts[root] << nodes[root].level;
        let (chances, weights) = (OnceLock::new(), OnceLock::new());
        Graph { nodes, counts, total, places, codes, chances, weights }
    }

    fn root(&self) -> u32 {
        self.nodes.len() as u32 - 1
    }

    fn level(&self, node: u32) -> u32 {
        self.nodes[node as usize].level
    }

    /// How many solutions go low at a node.
    fn count_low(&self, node: Node) -> BigUint {
        &self.counts[node.low as usize] << (self.level(node.low) - node.level - 1)
    }

    fn chances(&self) -> &[u64] {
        self.chances.get_or_init(|| {
            let all = self.nodes.iter().zip(&self.counts).skip(2).map(|(&node, count)| {
                // At least one edge leads to a solution, so the count is not zero.
                let chance = (self.count_low(node) << 64u8) / count;
                u64::try_from(chance).unwrap_or(u64::MAX)
            });
            [0, 0].into_iter().chain(all).collect()
        })
    }

    /// Whether to go low, with exactly the right probability: by 64 random bits, and only if they
    /// cannot decide, by as many as it takes.
    fn goes_low(&self, at: u32, rng: &mut dyn RngCore) -> bool {
        let node = self.nodes[at as usize];
        if self.counts[node.low as usize] == BigUint::ZERO {
            return false;
        }
        if self.counts[node.high as usize] == BigUint::ZERO {
            return true;
        }
        let (draw, chance) = (rng.next_u64(), self.chances()[at as usize]);
        if draw != chance {
            return draw < chance;
        }
        let count = &self.counts[at as usize];
        let rest = (self.count_low(node) << 64u8) - count * chance;
        rng.gen_biguint_below(count) < rest
    }

    fn weights(&self) -> &[BigUint] {
        self.weights.get_or_init(|| {
            let mut weights = vec![BigUint::ZERO; self.nodes.len()];
            let root = self.root();
            weights[root as usize] = BigUint::from(1u8) << self.level(root);
            for at in (2..self.nodes.len()).rev() {
                let node = self.nodes[at];
                for child in [node.low, node.high] {
                    let more = &weights[at] << (self.level(child) - node.level - 1);
                    weights[child as usize] += more;
                }
            }
            weights
        })
    }
}

/// The nodes with the terminals first, children before parents, and the root last.
fn in_order(bdd: Bdd, terminal_level: u32) -> Vec<Node> {
    let data = bdd.to_nodes();
    let terminal = Node { level: terminal_level, low: 0, high: 0 };
    let mut nodes = vec![terminal; data.len().min(2)];
    nodes.extend(data.iter().skip(2).map(|node| Node {
        level: node.var.to_index() as u32,
        low: node.low_link.to_index() as u32,
        high: node.high_link.to_index() as u32,
    }));
    debug_assert!(
        nodes.iter().enumerate().skip(2).all(|(i, n)| n.low < i as u32 && n.high < i as u32),
        "the library makes children before parents"
    );
    nodes
}

impl Space for Graph {
    fn stage(&self) -> &'static str {
        "diagram"
    }

    fn count(&self) -> &BigUint {
        &self.total
    }

    fn sample(&self, rng: &mut dyn RngCore, out: &mut [u8]) {
        assert!(self.total != BigUint::ZERO, "there is no solution to draw");
        let mut chosen = vec![0u8; self.codes.len()];
        // Free variables keep these random bits; decisions replace theirs.
        let mut random = Bits::default();
        let mut at = self.root();
        for (level, &(position, bit)) in self.places.iter().enumerate() {
            let node = self.nodes[at as usize];
            let high = if node.level as usize == level {
                let low = self.goes_low(at, rng);
                at = if low { node.low } else { node.high };
                !low
            } else {
                random.next(rng)
            };
            chosen[position as usize] |= u8::from(high) << bit;
        }
        for ((value, code), chosen) in out.iter_mut().zip(&self.codes).zip(chosen) {
            *value = code.decode(chosen).expect("the diagram excludes choices without a value");
        }
    }

    /// Weights from above down to the byte's first level; from there to its last level, weights
    /// for each choice of the byte's bits made so far; times the count of what is below.
    fn marginal(&self, position: usize) -> Vec<BigUint> {
        let mut result = vec![BigUint::ZERO; 256];
        if self.total == BigUint::ZERO {
            return result;
        }
        let own: Vec<(u32, u8)> = (0..)
            .zip(&self.places)
            .filter(|(_, place)| place.0 as usize == position)
            .map(|(level, place)| (level, place.1))
            .collect();
        let (Some(&(first, _)), Some(&(last, _))) = (own.first(), own.last()) else {
            let value = self.codes[position].decode(0).expect("a domain has a value");
            result[usize::from(value)] = self.total.clone();
            return result;
        };
        let mut region = Region {
            graph: self,
            own: &own,
            last,
            open: Default::default(),
            chosen: vec![BigUint::ZERO; 256],
        };
        let root = self.root();
        if self.level(root) >= first {
            region.arrive(root, first, 0, &(BigUint::from(1u8) << first));
        } else {
            let weights = self.weights();
            for (node, weight) in self.nodes.iter().zip(weights).skip(2) {
                if node.level < first {
                    for child in [node.low, node.high] {
                        if child != 0 && self.level(child) >= first {
                            let weight = weight << (first - node.level - 1);
                            region.arrive(child, first, 0, &weight);
                        }
                    }
                }
            }
        }
        region.finish();
        for (chosen, count) in region.chosen.into_iter().enumerate() {
            if count != BigUint::ZERO {
                let value = self.codes[position].decode(chosen as u8);
                result[usize::from(value.expect("the diagram excludes choices without a value"))] =
                    count;
            }
        }
        result
    }
}

/// The part of a diagram between the first and the last level of one byte.
struct Region<'a> {
    graph: &'a Graph,
    /// The byte's levels with its bits, in order.
    own: &'a [(u32, u8)],
    last: u32,
    /// Nodes that were reached but not left, highest number (parents) first, with the weight for
    /// each choice of the byte's bits above the node.
    open: std::collections::BTreeMap<u32, Vec<(u8, BigUint)>>,
    /// For each choice of all bits of the byte the number of solutions.
    chosen: Vec<BigUint>,
}

impl Region<'_> {
    /// Goes along an edge: `weight` choices lead to level `from` with `chosen`, and on to `node`.
    fn arrive(&mut self, node: u32, from: u32, chosen: u8, weight: &BigUint) {
        if node == 0 {
            return;
        }
        let to = self.graph.level(node);
        // The byte's bits on the way are free: each choice of them is a way of its own.
        let skipped: Vec<u8> = self
            .own
            .iter()
            .filter(|(level, _)| (from..to).contains(level))
            .map(|&(_, bit)| bit)
            .collect();
        let weight = weight << (to - from - skipped.len() as u32);
        for choice in 0..1u32 << skipped.len() {
            let free = skipped
                .iter()
                .enumerate()
                .fold(0, |byte, (i, bit)| byte | ((choice >> i & 1) as u8) << bit);
            self.put(node, chosen | free, &weight);
        }
    }

    fn put(&mut self, node: u32, chosen: u8, weight: &BigUint) {
        if self.graph.level(node) > self.last {
            self.chosen[usize::from(chosen)] += weight * &self.graph.counts[node as usize];
            return;
        }
        let here = self.open.entry(node).or_default();
        match here.binary_search_by_key(&chosen, |entry| entry.0) {
            Ok(i) => here[i].1 += weight,
            Err(i) => here.insert(i, (chosen, weight.clone())),
        }
    }

    fn finish(&mut self) {
        // Parents have higher numbers than children, so every node is complete when it is left.
        while let Some((at, weights)) = self.open.pop_last() {
            let node = self.graph.nodes[at as usize];
            let bit = self.own.iter().find(|(level, _)| *level == node.level).map(|&(_, bit)| bit);
            for (chosen, weight) in weights {
                let set = bit.map_or(0, |bit| 1 << bit);
                self.arrive(node.low, node.level + 1, chosen, &weight);
                self.arrive(node.high, node.level + 1, chosen | set, &weight);
            }
        }
    }
}

/// Random bits, 64 drawn at a time.
#[derive(Default)]
struct Bits {
    word: u64,
    left: u32,
}

impl Bits {
    fn next(&mut self, rng: &mut dyn RngCore) -> bool {
        if self.left == 0 {
            (self.word, self.left) = (rng.next_u64(), 64);
        }
        self.left -= 1;
        let bit = self.word & 1 == 1;
        self.word >>= 1;
        bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::byteset::ByteSet;
    use biodivine_lib_bdd::BddVariableSet;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    /// Random diagrams over three bytes whose bits are shuffled, against the library's own count
    /// and its own list of solutions.
    #[test]
    fn agrees_with_the_library() {
        let rng = &mut ChaCha8Rng::seed_from_u64(1);
        let domain = ByteSet::filter(|v| v < 8);
        for _ in 0..200 {
            let mut places: Vec<(u32, u8)> =
                (0..3).flat_map(|byte| (0..3).map(move |bit| (byte, bit))).collect();
            for i in (1..places.len()).rev() {
                places.swap(i, rng.gen_range(0..=i));
            }
            let set = BddVariableSet::new_anonymous(9);
            let variables = set.variables();
            let mut bdd = set.mk_literal(variables[rng.gen_range(0..9)], rng.r#gen());
            for _ in 0..rng.gen_range(0..12) {
                let other = set.mk_literal(variables[rng.gen_range(0..9)], rng.r#gen());
                bdd = match rng.gen_range(0..3) {
                    0 => bdd.and(&other),
                    1 => bdd.or(&other),
                    _ => bdd.xor(&other),
                };
            }
            let codes = (0..3).map(|_| Code::new(&domain)).collect();
            let graph = Graph::new(bdd.clone(), places.clone(), codes);
            assert_eq!(*graph.count(), bdd.exact_cardinality());
            let mut marginals = vec![vec![BigUint::ZERO; 256]; 3];
            for valuation in bdd.sat_valuations() {
                let mut values = [0usize; 3];
                for (variable, &(byte, bit)) in variables.iter().zip(&places) {
                    values[byte as usize] |= usize::from(valuation.value(*variable)) << bit;
                }
                for (marginal, value) in marginals.iter_mut().zip(values) {
                    marginal[value] += 1u8;
                }
            }
            for (position, marginal) in marginals.into_iter().enumerate() {
                assert!(graph.marginal(position) == marginal);
            }
            if *graph.count() != BigUint::ZERO {
                let mut out = [0; 3];
                graph.sample(rng, &mut out);
                let chosen: Vec<bool> =
                    places.iter().map(|&(byte, bit)| out[byte as usize] >> bit & 1 == 1).collect();
                assert!(bdd.eval_in(&biodivine_lib_bdd::BddValuation::new(chosen)));
            }
        }
    }

    /// Gives one chosen word first, then random ones.
    struct Rigged(Option<u64>, ChaCha8Rng);

    impl RngCore for Rigged {
        fn next_u32(&mut self) -> u32 {
            self.1.next_u32()
        }
        fn next_u64(&mut self) -> u64 {
            self.0.take().unwrap_or_else(|| self.1.next_u64())
        }
        fn fill_bytes(&mut self, dest: &mut [u8]) {
            self.1.fill_bytes(dest);
        }
        fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), rand::Error> {
            self.1.try_fill_bytes(dest)
        }
    }

    /// Three solutions, one of them low: a third of 2^64 is no whole number, so the word on the
    /// border goes low in one case of three.
    #[test]
    fn the_word_on_the_border_is_decided_exactly() {
        let set = BddVariableSet::new_anonymous(2);
        let variables = set.variables();
        let bdd = set.mk_var(variables[0]).or(&set.mk_var(variables[1]));
        let code = Code::new(&ByteSet::filter(|v| v < 4));
        let graph = Graph::new(bdd, vec![(0, 1), (0, 0)], vec![code]);
        let border = u64::MAX / 3;
        assert_eq!(graph.chances()[graph.root() as usize], border);
        let mut rng = Rigged(None, ChaCha8Rng::seed_from_u64(2));
        let mut low = |word: u64| {
            rng.0 = Some(word);
            graph.goes_low(graph.root(), &mut rng)
        };
        assert!((0..100).all(|_| low(border - 1)) && !(0..100).any(|_| low(border + 1)));
        let hits = (0..9000).filter(|_| low(border)).count();
        assert!((2800..3200).contains(&hits), "{hits} of 9000");
    }
}
