//! How likely a count of hits is by chance alone.

use stunt_search::Share;

/// Whether so many hits of so many runs are no surprise if each hits with this chance: both bounds of
/// Clopper and Pearson's interval include it, at this doubt on either side.
pub fn plausible(hits: u32, runs: u32, chance: f64, doubt: f64) -> bool {
    let share = Share { hits, runs };
    share.at_least(doubt) <= chance && chance <= share.at_most(doubt)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_few_are_as_suspicious_as_too_many() {
        assert!(plausible(500, 1000, 0.5, 1e-6));
        assert!(!plausible(600, 1000, 0.5, 1e-6));
        assert!(!plausible(400, 1000, 0.5, 1e-6));
        assert!(!plausible(0, 8192, 1.0 / 256.0, 1e-6));
        assert!(plausible(32, 8192, 1.0 / 256.0, 1e-6));
        assert!(!plausible(90, 8192, 1.0 / 256.0, 1e-6));
    }
}
