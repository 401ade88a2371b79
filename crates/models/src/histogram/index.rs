//! Tuples by their result, with sums of their weights: for draws that do not look at all of them.
//!
//! A function of a few parts has up to a million tuples, and a draw wants one with a given result, by
//! weight. Sums are kept for every stretch of tuples only: a weight is a number of many words.
//!
//! Always holds: tuples with the same result are in their own order, so a rank means the tuple that
//! it would mean if all were looked at. This file must not know what a weight counts.

use num_bigint::BigUint;

/// The tuples of a stretch.
pub(crate) const STRETCH: usize = 64;

/// The tuples of a function, sorted by their results.
pub(crate) struct Index {
    /// All tuples: those with the first result, those with the second, and so on.
    order: Vec<u32>,
    /// Where the tuples of each result begin, and where the last end.
    from: Vec<usize>,
    /// Where the stretches of each result begin.
    stretches: Vec<usize>,
    /// For each stretch, the weight of those of the same result before it.
    before: Vec<BigUint>,
}

impl Index {
    /// Sorts the tuples whose results are these numbers, below `count`.
    pub fn new(results: &[u32], count: usize, weight: impl Fn(usize) -> BigUint) -> Index {
        let mut from = vec![0; count + 1];
        for &result in results {
            from[result as usize + 1] += 1;
        }
        for at in 0..count {
            from[at + 1] += from[at];
        }
        let (mut next, mut order) = (from.clone(), vec![0; results.len()]);
        for (tuple, &result) in results.iter().enumerate() {
            let place = &mut next[result as usize];
            order[*place] = tuple as u32;
            *place += 1;
        }
        let (mut stretches, mut before) = (Vec::with_capacity(count), Vec::new());
        for result in 0..count {
            stretches.push(before.len());
            let mut sum = BigUint::ZERO;
            for stretch in order[from[result]..from[result + 1]].chunks(STRETCH) {
                before.push(sum.clone());
                sum += stretch.iter().map(|&tuple| weight(tuple as usize)).sum::<BigUint>();
            }
        }
        Index { order, from, stretches, before }
    }

    /// The tuple with this result that a rank below the weight of all of them falls on.
    pub fn at(
        &self,
        result: usize,
        mut rank: BigUint,
        weight: impl Fn(usize) -> BigUint,
    ) -> Option<usize> {
        let tuples = &self.order[self.from[result]..self.from[result + 1]];
        let first = self.stretches[result];
        let before = &self.before[first..first + tuples.len().div_ceil(STRETCH)];
        // The first has nothing before it.
        let stretch = before.partition_point(|sum| *sum <= rank).checked_sub(1)?;
        rank -= &before[stretch];
        for &tuple in &tuples[stretch * STRETCH..] {
            let weight = weight(tuple as usize);
            if rank < weight {
                return Some(tuple as usize);
            }
            rank -= weight;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_falls_on_the_tuple_that_a_look_at_all_finds() {
        // Results in no order, one of them without tuples, and weights of zero among others.
        let results: Vec<u32> = (0..1000u32).map(|at| [0, 3, 1, 3, 3][at as usize % 5]).collect();
        let weight = |tuple: usize| BigUint::from(tuple % 3);
        let index = Index::new(&results, 4, weight);
        for result in 0..4 {
            let own = (0..results.len()).filter(|&at| results[at] as usize == result);
            let expected: Vec<usize> = own.flat_map(|at| vec![at; at % 3]).collect();
            for (rank, &tuple) in expected.iter().enumerate() {
                assert_eq!(index.at(result, rank.into(), weight), Some(tuple), "{result} {rank}");
            }
            assert_eq!(index.at(result, expected.len().into(), weight), None);
        }
    }
}
