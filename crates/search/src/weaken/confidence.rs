//! What a number of runs says about a share: bounds that hold with a stated confidence.
//!
//! The bounds are Clopper and Pearson's: exact for any number of runs, never too tight.

/// Some runs, and how many of them did what was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// How many did.
    pub hits: u32,
    /// How many there were.
    pub runs: u32,
}

impl Share {
    /// Adds runs.
    pub fn add(&mut self, results: &[bool]) {
        self.runs += results.len() as u32;
        self.hits += results.iter().filter(|&&hit| hit).count() as u32;
    }

    /// The best guess; 0 without runs.
    #[must_use]
    pub fn value(self) -> f64 {
        if self.runs == 0 { 0.0 } else { f64::from(self.hits) / f64::from(self.runs) }
    }

    /// The true share is smaller than this with probability `doubt` at most.
    #[must_use]
    pub fn at_least(self, doubt: f64) -> f64 {
        if self.hits == 0 {
            return 0.0;
        }
        // The smaller the share, the less likely are so many hits.
        root(|p| tail(self.runs, self.hits, p) - doubt)
    }

    /// The true share is greater than this with probability `doubt` at most.
    #[must_use]
    pub fn at_most(self, doubt: f64) -> f64 {
        if self.hits == self.runs {
            return 1.0;
        }
        // The greater the share, the less likely are so few hits.
        root(|p| doubt - (1.0 - tail(self.runs, self.hits + 1, p)))
    }
}

/// Where a monotonous function on 0 to 1 goes through zero from below.
fn root(f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if f(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The probability of at least `hits` of `runs`, if each hits with probability `p`.
fn tail(runs: u32, hits: u32, p: f64) -> f64 {
    if hits == 0 || p >= 1.0 {
        return 1.0;
    }
    if p <= 0.0 {
        return 0.0;
    }
    // From the first term on, each from the one before; in logarithms, since they are small.
    let odds = (p / (1.0 - p)).ln();
    let (n, first) = (f64::from(runs), f64::from(hits));
    let choose: f64 = (0..hits).map(|i| ((n - f64::from(i)) / f64::from(i + 1)).ln()).sum();
    let mut term = choose + first * p.ln() + (n - first) * (1.0 - p).ln();
    let mut sum = 0.0;
    for k in hits..=runs {
        sum += term.exp();
        term += (f64::from(runs - k) / f64::from(k + 1)).ln() + odds;
    }
    sum.min(1.0)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::super::search::{DOUBT_OF_EACH, MOST_MEASURED};
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-4
    }

    #[test]
    fn bounds_are_those_of_the_tables() {
        // Where all or none hit, the bounds have closed forms.
        let all = Share { hits: 300, runs: 300 };
        assert!(near(all.at_least(0.01), 0.01f64.powf(1.0 / 300.0)));
        assert_eq!(all.at_most(0.01), 1.0);
        let none = Share { hits: 0, runs: 20 };
        assert!(near(none.at_most(0.05), 1.0 - 0.05f64.powf(1.0 / 20.0)));
        assert_eq!(none.at_least(0.05), 0.0);
        // Two-sided 95 % for 10 of 100, as printed in tables.
        let some = Share { hits: 10, runs: 100 };
        assert!(near(some.at_least(0.025), 0.0490), "{}", some.at_least(0.025));
        assert!(near(some.at_most(0.025), 0.1762), "{}", some.at_most(0.025));
    }

    /// How often the lowest of several figures of one share is below the truth, each figure being a bound with
    /// this doubt, in percent.
    fn lowest_is_too_low(doubt: f64) -> f64 {
        const TRIALS: u32 = 4000;
        let truth = 0.6f64;
        let mut rng = ChaCha8Rng::seed_from_u64(5);
        let mut bounds = [None; 301];
        let mut measured = || {
            let hits = (0..300).filter(|_| rng.gen_bool(truth)).count();
            let share = Share { hits: hits as u32, runs: 300 };
            *bounds[hits].get_or_insert_with(|| -share.at_least(doubt).log2())
        };
        let mut lowest = || (0..MOST_MEASURED).map(|_| measured()).fold(f64::INFINITY, f64::min);
        let wrong = (0..TRIALS).filter(|_| lowest() < -truth.log2()).count();
        100.0 * wrong as f64 / f64::from(TRIALS)
    }

    #[test]
    fn attack_the_luckiest_of_several_figures_is_too_low() {
        // One figure alone, or several without a part of the doubt each: far from 99 % sure.
        assert!(lowest_is_too_low(0.01) > 5.0);
        assert!(lowest_is_too_low(DOUBT_OF_EACH) <= 1.0);
    }

    #[test]
    fn bounds_hold_as_often_as_they_say() {
        // Over all outcomes of 12 runs, weighted by their probability.
        for p in [0.02, 0.3, 0.5, 0.77, 0.98] {
            let (mut below, mut above) = (0.0, 0.0);
            for hits in 0..=12 {
                let share = Share { hits, runs: 12 };
                let chance = tail(12, hits, p) - tail(12, hits + 1, p);
                if share.at_least(0.05) > p {
                    below += chance;
                }
                if share.at_most(0.05) < p {
                    above += chance;
                }
            }
            assert!(below <= 0.05 + 1e-9 && above <= 0.05 + 1e-9, "{p}: {below} {above}");
        }
    }
}
