//! A map that is forked cheaply: what was there before a fork is shared, what comes later is not.
//!
//! Without forks it is one hash map and costs what that costs. A fork freezes the map into a layer;
//! layers of like size are merged, so that a look goes through few of them. Changes can be noted
//! and taken back. What the keys mean is not known here.

use std::{hash::Hash, ops::Index, sync::Arc};

use rustc_hash::FxHashMap;

/// A layer is merged with the next one, unless that is so many times as large.
const RATIO: usize = 8;

/// Values by key; none is a key that a later layer took away.
type Layer<K, V> = FxHashMap<K, Option<V>>;

/// A map in layers.
pub(crate) struct Layers<K, V> {
    top: Layer<K, V>,
    frozen: Vec<Arc<Layer<K, V>>>,
    /// What was there before each change since [`Self::begin`], if changes are noted.
    log: Option<Vec<(K, Option<V>)>>,
}

impl<K, V> Default for Layers<K, V> {
    fn default() -> Self {
        Self { top: Layer::default(), frozen: Vec::new(), log: None }
    }
}

impl<K: Copy + Eq + Hash, V: Copy> Layers<K, V> {
    /// The value of a key.
    #[inline]
    pub(crate) fn get(&self, key: &K) -> Option<&V> {
        if let Some(value) = self.top.get(key) {
            return value.as_ref();
        }
        if self.frozen.is_empty() { None } else { self.get_below(key) }
    }

    fn get_below(&self, key: &K) -> Option<&V> {
        self.frozen.iter().rev().find_map(|layer| layer.get(key))?.as_ref()
    }

    /// Whether a key has a value.
    #[inline]
    pub(crate) fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Gives a key a value; the one that it had before.
    pub(crate) fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.change(key, Some(value))
    }

    /// Takes a key away; the value that it had.
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        self.change(*key, None)
    }

    fn change(&mut self, key: K, value: Option<V>) -> Option<V> {
        let old = if self.frozen.is_empty() {
            match value {
                Some(_) => self.top.insert(key, value).flatten(),
                None => self.top.remove(&key).flatten(),
            }
        } else {
            match self.top.insert(key, value) {
                Some(old) => old,
                None => self.get_below(&key).copied(),
            }
        };
        if let Some(log) = &mut self.log {
            log.push((key, old));
        }
        old
    }

    /// Notes changes from now on, to take them back.
    pub(crate) fn begin(&mut self) {
        self.log.get_or_insert_default().clear();
    }

    /// Takes back all changes since [`Self::begin`].
    pub(crate) fn roll_back(&mut self) {
        let Some(mut log) = self.log.take() else { return };
        while let Some((key, old)) = log.pop() {
            self.change(key, old);
        }
        self.log = Some(log);
    }

    /// A second map with the same values; what is changed in one is not seen by the other.
    pub(crate) fn fork(&mut self) -> Self {
        if !self.top.is_empty() {
            self.frozen.push(Arc::new(std::mem::take(&mut self.top)));
            while let [.., below, above] = &self.frozen[..]
                && below.len() <= RATIO * above.len()
            {
                let above = self.frozen.pop().expect("there are two");
                let below = self.frozen.pop().expect("there are two");
                let mut merged = Arc::unwrap_or_clone(below);
                merged.extend(above.iter().map(|(&key, &value)| (key, value)));
                if self.frozen.is_empty() {
                    merged.retain(|_, value| value.is_some());
                }
                self.frozen.push(Arc::new(merged));
            }
        }
        Self { top: Layer::default(), frozen: self.frozen.clone(), log: self.log.clone() }
    }
}

impl<K: Copy + Eq + Hash, V: Copy> Index<&K> for Layers<K, V> {
    type Output = V;

    fn index(&self, key: &K) -> &V {
        self.get(key).expect("the key is there")
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn forks_and_changes_taken_back_agree_with_plain_maps() {
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut all = vec![(Layers::<u32, u32>::default(), FxHashMap::default(), None)];
        for _ in 0..20_000 {
            let at = rng.gen_range(0..all.len());
            let (map, plain, before) = &mut all[at];
            let key = rng.gen_range(0..64);
            match rng.gen_range(0..40) {
                0 if at < 30 => {
                    let copy = (map.fork(), plain.clone(), before.clone());
                    all.push(copy);
                }
                1 => {
                    map.begin();
                    *before = Some(plain.clone());
                }
                2 => {
                    map.roll_back();
                    if let Some(before) = before {
                        plain.clone_from(before);
                    }
                }
                3..20 => assert_eq!(map.remove(&key), plain.remove(&key)),
                _ => {
                    let value = rng.r#gen();
                    assert_eq!(map.insert(key, value), plain.insert(key, value));
                }
            }
            let (map, plain, _) = &all[at];
            assert!((0..64).all(|key| map.get(&key) == plain.get(&key)));
        }
        assert!(all.len() > 20 && all.iter().all(|(map, ..)| map.frozen.len() < 8));
    }
}
