//! Weights of the summands of a sum.
//!
//! Given for each value of a sum how many ways there are outside of it, the same for each summand.
//! Two ways to work it out, of which the cheaper is taken: one summand after another from the
//! last, or each summand against the sum of all others.

use num_bigint::BigUint;

use super::hist::Hist;

/// The weights of each summand, by place. `before[i]` is the histogram of the first `i` summands
/// (and the constant), `total` that of all; weights are by the places of `total`.
pub(crate) fn weigh(
    before: &[Hist],
    summands: &[Hist],
    total: &Hist,
    weights: &[BigUint],
) -> Vec<(usize, Vec<BigUint>)> {
    let pairs = |(before, summand): (&Hist, &Hist)| 2 * before.len() as u64 * summand.len() as u64;
    let in_turn: u64 = before.iter().zip(summands).map(pairs).sum();
    // Equal summands have equal weights.
    let mut distinct: Vec<usize> = Vec::new();
    for at in 0..summands.len() {
        if distinct.iter().all(|&known| summands[known] != summands[at]) {
            distinct.push(at);
        }
    }
    let heavy = weights.iter().filter(|weight| **weight != BigUint::ZERO).count();
    let apart = |&at: &usize| {
        let others = total.len().saturating_sub(summands[at].len()) + 1;
        let sums = (others as u64).saturating_mul(summands.len() as u64);
        sums.saturating_add(others.min(heavy) as u64 * summands[at].len() as u64)
    };
    let apart = distinct.iter().map(apart).fold(0, u64::saturating_add);
    if in_turn <= apart {
        one_after_another(before, summands, total, weights)
    } else {
        against_others(before, summands, total, weights, &distinct)
    }
}

fn one_after_another(
    before: &[Hist],
    summands: &[Hist],
    total: &Hist,
    weights: &[BigUint],
) -> Vec<(usize, Vec<BigUint>)> {
    let mut result = Vec::new();
    let (mut sum, mut weights) = (total, weights.to_vec());
    for at in (0..summands.len()).rev() {
        let (first, second) = (&before[at], &summands[at]);
        result.push((at, correlate(second, first, sum, &weights)));
        weights = correlate(first, second, sum, &weights);
        sum = first;
    }
    result
}

fn against_others(
    before: &[Hist],
    summands: &[Hist],
    total: &Hist,
    weights: &[BigUint],
    distinct: &[usize],
) -> Vec<(usize, Vec<BigUint>)> {
    let mut result = Vec::new();
    for &at in distinct {
        let rest = &summands[at + 1..];
        let others = rest.iter().fold(before[at].clone(), |so_far, next| so_far.sum(next));
        let given = correlate(&summands[at], &others, total, weights);
        for (same, _) in summands.iter().enumerate().filter(|(_, other)| **other == summands[at]) {
            result.push((same, given.clone()));
        }
    }
    result
}

/// For each place of `one`: the weights of its sums with `other`, times the counts of `other`.
fn correlate(one: &Hist, other: &Hist, sum: &Hist, weights: &[BigUint]) -> Vec<BigUint> {
    let all = stunt_terms::mask(sum.width());
    let heavy: Vec<usize> = (0..weights.len()).filter(|&at| weights[at] != BigUint::ZERO).collect();
    let present: Vec<usize> = (0..other.len()).filter(|&at| !other.counts.is_zero(at)).collect();
    let ways = |place: usize| {
        if one.counts.is_zero(place) {
            return BigUint::ZERO;
        }
        let value = one.value(place);
        let mut ways = BigUint::ZERO;
        let mut meet = |other_place: usize, sum_place: usize| {
            ways += other.counts.big(other_place) * &weights[sum_place];
        };
        // From the side that has fewer places.
        if heavy.len() < present.len() {
            for &at in &heavy {
                if let Some(found) = other.find(sum.value(at).wrapping_sub(value) & all)
                    && !other.counts.is_zero(found)
                {
                    meet(found, at);
                }
            }
        } else {
            for &at in &present {
                if let Some(found) = sum.find(other.value(at).wrapping_add(value) & all)
                    && weights[found] != BigUint::ZERO
                {
                    meet(at, found);
                }
            }
        }
        ways
    };
    (0..one.len()).map(ways).collect()
}
