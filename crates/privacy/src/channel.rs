//! What an attacker learns who knows the program, the algorithm and the double.
//!
//! A channel gives for every original the chance of every double. Originals are equiprobable; that the
//! program fails is known, and what that tells, the floor, is added by whoever prints. Three figures:
//!
//! - *mutual information*: how much less uncertain the attacker is, on average;
//! - *maximal leakage*, `log2 Σ_y max_x P(y|x)`: how much more likely any guess about the original
//!   becomes, whatever it is about. With equiprobable originals it is the min-entropy leakage, too:
//!   `max_x P(x) P(y|x)` is the same sum but for a factor that cancels;
//! - the *worst single double*, `max_y log2 max_x P(y|x) / P(y)`: how much more likely the likeliest
//!   original becomes after the double that tells most (pointwise maximal leakage).
//!
//! Where the chances come from a number of seeds, all three are too high rather than too low (mutual
//! information is convex in the channel): [`corrected`] takes out what falls with that number.

use rustc_hash::FxHashMap;

/// Doubles by number, one of which was drawn, each with the same chance; repeated ones count again.
pub type Sample = Vec<u32>;

/// For every original, the chances of doubles.
pub struct Channel {
    rows: Vec<Vec<(u32, f64)>>,
}

/// What is learned, in bits, beyond that the program fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned {
    /// On average.
    pub mutual: f64,
    /// By the best guess about anything.
    pub maximal: f64,
    /// From the double that tells most.
    pub worst: f64,
}

impl Channel {
    /// The channel of samples: a list of them for every original, of which those are taken whose
    /// position is accepted.
    pub fn new(samples: &[Vec<Sample>], accept: impl Fn(usize) -> bool) -> Self {
        let row = |samples: &Vec<Sample>| {
            let taken: Vec<&Sample> = samples
                .iter()
                .enumerate()
                .filter(|&(at, sample)| accept(at) && !sample.is_empty())
                .map(|(_, sample)| sample)
                .collect();
            let mut chances: FxHashMap<u32, f64> = FxHashMap::default();
            for sample in &taken {
                for &double in *sample {
                    *chances.entry(double).or_default() +=
                        1.0 / (sample.len() as f64 * taken.len() as f64);
                }
            }
            let mut row: Vec<(u32, f64)> = chances.into_iter().collect();
            row.sort_unstable_by_key(|&(double, _)| double);
            row
        };
        Self { rows: samples.iter().map(row).collect() }
    }

    /// The mutual information, where originals have these chances.
    pub fn mutual(&self, chances: &[f64]) -> f64 {
        let mut mean: FxHashMap<u32, f64> = FxHashMap::default();
        for (row, own) in self.rows.iter().zip(chances) {
            for &(double, chance) in row {
                *mean.entry(double).or_default() += own * chance;
            }
        }
        let of = |(row, own): (&Vec<(u32, f64)>, &f64)| -> f64 {
            let told = |&(double, chance): &(u32, f64)| chance * (chance / mean[&double]).log2();
            if *own > 0.0 { own * row.iter().map(told).sum::<f64>() } else { 0.0 }
        };
        self.rows.iter().zip(chances).map(of).sum::<f64>().max(0.0)
    }

    /// What an attacker learns.
    pub fn learned(&self) -> Learned {
        let originals = self.rows.len() as f64;
        let (mut mean, mut most): (FxHashMap<u32, f64>, FxHashMap<u32, f64>) = Default::default();
        for &(double, chance) in self.rows.iter().flatten() {
            *mean.entry(double).or_default() += chance / originals;
            let most = most.entry(double).or_default();
            *most = most.max(chance);
        }
        let information = |&(double, chance): &(u32, f64)| chance * (chance / mean[&double]).log2();
        let mutual: f64 = self.rows.iter().flatten().map(information).sum::<f64>() / originals;
        let mut highest: Vec<(u32, f64)> = most.into_iter().collect();
        highest.sort_unstable_by_key(|&(double, _)| double);
        let maximal = highest.iter().map(|&(_, chance)| chance).sum::<f64>().log2();
        let worst = highest.iter().map(|&(double, chance)| (chance / mean[&double]).log2());
        Learned { mutual: mutual.max(0.0), maximal, worst: worst.fold(0.0, f64::max) }
    }
}

/// Mutual information from samples of a random procedure: with `n` samples the estimate is too high
/// by about `c / n`, so with half of them by twice that, which gives `c`.
pub fn corrected(samples: &[Vec<Sample>]) -> f64 {
    let half = |parity: usize| Channel::new(samples, |at| at % 2 == parity).learned().mutual;
    let all = Channel::new(samples, |_| true).learned().mutual;
    (2.0 * all - (half(0) + half(1)) / 2.0).clamp(0.0, all)
}

/// Mutual information, at least: one half of the samples makes a rule that says how likely each
/// original is after a double, the other half shows what the rule is worth, `log2 |X| + E log2 q(x|y)`.
/// That is no more than the truth, whatever the rule (Barber and Agakov); so it is no more on average
/// however few samples there are. The rule mixes what an original did with what all did.
pub fn at_least(samples: &[Vec<Sample>]) -> f64 {
    at_least_by(samples, &vec![1.0 / samples.len() as f64; samples.len()])
}

/// The same, where originals have these chances.
pub fn at_least_by(samples: &[Vec<Sample>], chances: &[f64]) -> f64 {
    let halves = [0, 1].map(|parity| Channel::new(samples, |at| at % 2 == parity));
    let worth = |own: f64| {
        let value = |rule: &Channel, shown: &Channel| {
            let mut mean: FxHashMap<u32, f64> = FxHashMap::default();
            for (row, of_original) in rule.rows.iter().zip(chances) {
                for &(double, chance) in row {
                    *mean.entry(double).or_default() += chance * of_original;
                }
            }
            let mut sum = 0.0;
            for ((rule, shown), of_original) in rule.rows.iter().zip(&shown.rows).zip(chances) {
                for &(double, chance) in shown {
                    let Some(&mean) = mean.get(&double) else { continue };
                    if mean <= 0.0 || *of_original <= 0.0 {
                        continue;
                    }
                    let at = rule.binary_search_by_key(&double, |&(double, _)| double);
                    let known = at.map_or(0.0, |at| rule[at].1);
                    // The rule's chances of all originals sum up to one.
                    sum +=
                        of_original * chance * ((own * known + (1.0 - own) * mean) / mean).log2();
                }
            }
            sum
        };
        (value(&halves[0], &halves[1]) + value(&halves[1], &halves[0])) / 2.0
    };
    [0.98, 0.9, 0.7, 0.4, 0.1].into_iter().map(worth).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn known_channels() {
        // The double is the original.
        let copy: Vec<Vec<Sample>> = (0..8).map(|x| vec![vec![x]]).collect();
        let it = Channel::new(&copy, |_| true).learned();
        assert!(near(it.mutual, 3.0) && near(it.maximal, 3.0) && near(it.worst, 3.0), "{it:?}");
        // It tells nothing.
        let any: Vec<Vec<Sample>> = (0..8).map(|_| vec![(0..8).collect()]).collect();
        let it = Channel::new(&any, |_| true).learned();
        assert!(near(it.mutual, 0.0) && near(it.maximal, 0.0) && near(it.worst, 0.0), "{it:?}");
        // Any but the original: log2(8 / 7) bits by all measures.
        let other: Vec<Vec<Sample>> =
            (0..8u32).map(|x| vec![(0..8).filter(|&y| y != x).collect()]).collect();
        let (it, bits) = (Channel::new(&other, |_| true).learned(), (8.0f64 / 7.0).log2());
        assert!(near(it.mutual, bits) && near(it.maximal, bits) && near(it.worst, bits), "{it:?}");
        // A set of one and a set of three.
        let sets = [vec![vec![0]], vec![vec![1, 2, 3]], vec![vec![1, 2, 3]], vec![vec![1, 2, 3]]];
        let it = Channel::new(&sets, |_| true).learned();
        assert!(near(it.mutual, 0.5 + 0.75 * (4.0f64 / 3.0).log2()), "{it:?}");
        assert!(near(it.maximal, 1.0) && near(it.worst, 2.0), "{it:?}");
    }

    #[test]
    fn seeds_mix() {
        // One seed gives the set, another one the original: half and half.
        let mixed: Vec<Vec<Sample>> = (0..2).map(|x| vec![vec![0, 1], vec![x]]).collect();
        let it = Channel::new(&mixed, |_| true).learned();
        let entropy = -(0.75f64 * 0.75f64.log2() + 0.25 * 0.25f64.log2());
        assert!(near(it.mutual, 1.0 - entropy), "{it:?}");
    }

    #[test]
    fn the_correction_takes_out_most_of_what_few_samples_add() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let samples: Vec<Vec<Sample>> = (0..40u32)
            .map(|x| (0..256).map(|_| vec![x / 20 * 20 + rng.gen_range(0..20)]).collect())
            .collect();
        let plain = Channel::new(&samples, |_| true).learned().mutual;
        let better = corrected(&samples);
        assert!(plain > 1.02 && (better - 1.0).abs() < 0.01, "{plain} {better}");
        let least = at_least(&samples);
        assert!((0.8..1.0).contains(&least), "{least}");
        // So few samples that every estimate is far too high; the bound is not.
        let few: Vec<Vec<Sample>> =
            (0..40).map(|_| (0..8).map(|_| vec![rng.gen_range(0..40)]).collect()).collect();
        let (high, least) = (corrected(&few), at_least(&few));
        assert!(high > 0.5 && least < 0.05, "{high} {least}");
    }
}
