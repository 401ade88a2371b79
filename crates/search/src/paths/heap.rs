//! A priority queue of named entries, in which an entry can be replaced by a better one.
//!
//! What Dijkstra's algorithm asks of a heap: the least first, of equals the one that came first,
//! and decrease-key. The paper has a Fibonacci heap; a binary heap with an index has a logarithm
//! more in one operation, and is faster on every heap that fits into memory.
//!
//! What always holds: no two entries have one name; `index` knows where each of them is.

use std::hash::Hash;

use rustc_hash::FxHashMap;

/// What became of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queued {
    /// There was none of this name.
    New,
    /// It took the place of one that was worse.
    Replaced,
    /// The one of this name is as good, and stays.
    Kept,
}

struct Entry<K, V> {
    name: K,
    cost: f64,
    number: u64,
    value: V,
}

/// Entries by cost.
pub(crate) struct Heap<K, V> {
    entries: Vec<Entry<K, V>>,
    index: FxHashMap<K, usize>,
    number: u64,
}

impl<K: Copy + Eq + Hash, V> Heap<K, V> {
    /// An empty one.
    pub fn new() -> Heap<K, V> {
        Heap { entries: Vec::new(), index: FxHashMap::default(), number: 0 }
    }

    /// Adds an entry, or replaces the one of the same name if that costs more.
    pub fn queue(&mut self, name: K, cost: f64, value: V) -> Queued {
        let number = self.number;
        self.number += 1;
        let entry = Entry { name, cost, number, value };
        match self.index.get(&name) {
            Some(&at) if self.entries[at].cost > cost => {
                self.entries[at] = entry;
                // Cheaper: it can only move up.
                self.up(at);
                Queued::Replaced
            }
            Some(_) => Queued::Kept,
            None => {
                let at = self.entries.len();
                self.entries.push(entry);
                self.index.insert(name, at);
                self.up(at);
                Queued::New
            }
        }
    }

    /// Takes out the cheapest entry.
    pub fn pop(&mut self) -> Option<(K, f64, V)> {
        if self.entries.is_empty() {
            return None;
        }
        let entry = self.entries.swap_remove(0);
        self.index.remove(&entry.name);
        if let Some(moved) = self.entries.first() {
            self.index.insert(moved.name, 0);
            self.down(0);
        }
        Some((entry.name, entry.cost, entry.value))
    }

    fn before(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.entries[a], &self.entries[b]);
        a.cost.total_cmp(&b.cost).then(a.number.cmp(&b.number)).is_lt()
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.entries.swap(a, b);
        self.index.insert(self.entries[a].name, a);
        self.index.insert(self.entries[b].name, b);
    }

    fn up(&mut self, mut at: usize) {
        while at > 0 && self.before(at, (at - 1) / 2) {
            self.swap(at, (at - 1) / 2);
            at = (at - 1) / 2;
        }
    }

    fn down(&mut self, mut at: usize) {
        loop {
            let mut least = at;
            for child in [2 * at + 1, 2 * at + 2] {
                if child < self.entries.len() && self.before(child, least) {
                    least = child;
                }
            }
            if least == at {
                return;
            }
            self.swap(at, least);
            at = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn the_least_comes_first_and_of_equals_the_oldest() {
        let mut heap = Heap::new();
        assert_eq!(heap.queue('a', 2.0, 1), Queued::New);
        assert_eq!(heap.queue('b', 1.0, 2), Queued::New);
        assert_eq!(heap.queue('c', 1.0, 3), Queued::New);
        assert_eq!(heap.queue('a', 2.0, 4), Queued::Kept);
        assert_eq!(heap.queue('a', 0.5, 5), Queued::Replaced);
        let order: Vec<_> = std::iter::from_fn(|| heap.pop()).collect();
        assert_eq!(order, [('a', 0.5, 5), ('b', 1.0, 2), ('c', 1.0, 3)]);
    }

    #[test]
    fn behaves_as_a_sorted_list() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut heap = Heap::new();
        let mut list: Vec<(u32, f64, u64, u32)> = Vec::new();
        for number in 0..20_000u64 {
            if rng.gen_bool(0.6) {
                let (name, cost) = (rng.gen_range(0..300), f64::from(rng.gen_range(0..50u32)));
                let value = rng.r#gen();
                let queued = heap.queue(name, cost, value);
                match list.iter().position(|entry| entry.0 == name) {
                    Some(at) if list[at].1 > cost => {
                        list[at] = (name, cost, number, value);
                        assert_eq!(queued, Queued::Replaced);
                    }
                    Some(_) => assert_eq!(queued, Queued::Kept),
                    None => {
                        list.push((name, cost, number, value));
                        assert_eq!(queued, Queued::New);
                    }
                }
            } else {
                let least = (0..list.len()).min_by(|&a, &b| {
                    list[a].1.total_cmp(&list[b].1).then(list[a].2.cmp(&list[b].2))
                });
                let expected = least.map(|at| list.swap_remove(at));
                assert_eq!(heap.pop(), expected.map(|(name, cost, _, value)| (name, cost, value)));
            }
        }
    }
}
