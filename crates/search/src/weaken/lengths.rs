//! What the length of a double tells.
//!
//! A shorter double has a set of its own, the inputs of its length, and which length came out says
//! something, too. So the figure is about inputs of all lengths. With `π` for what is believed of who
//! knows nothing, a length of `m` with the chance `1 / ((m + 1) (m + 2))` and all inputs of a length
//! with the same chance, a double of `m` bytes that is drawn uniformly from a part `α` of the inputs of
//! its length tells at most `log2((m + 1) (m + 2)) - log2 α` bits, that the program fails among them:
//! what a double tells about the original, on average over `π`, is no more than how far its own
//! distribution is from `π` (`I(X;D) ≤ E[KL(P(D|X) ‖ π)]`, and `KL` of a mixture is no more than the
//! mean). It does not matter how the length was found. [`length_bits`] is the first part.
//!
//! The length of the original is in none of this, and must not be told beside the double: that the
//! program fails on an input of just that length can be worth more than all of it.
//!
//! Who decides by the original whether the double is shorter at all, and says so, tells something by that.
//! As if one double in 16 were shorter: one of the same length owes [`same_length_bits`] beside its
//! condition and its length, a shorter one [`other_length_bits`].

/// What the lengths of a double tell, source by source.
#[must_use]
pub fn length_bits(lengths: impl IntoIterator<Item = usize>) -> f64 {
    let bits = |length: usize| (length as f64 + 1.0).log2() + (length as f64 + 2.0).log2();
    lengths.into_iter().map(bits).sum()
}

/// How many doubles are believed to be shorter, where there is a choice.
const ANY_LENGTH: f64 = 1.0 / 16.0;

/// What a double of the original's length owes, where it might have had another one.
#[must_use]
pub fn same_length_bits() -> f64 {
    -(1.0 - ANY_LENGTH).log2()
}

/// What a shorter double owes beside its length, where it might have had that of the original.
#[must_use]
pub fn other_length_bits() -> f64 {
    -ANY_LENGTH.log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count() {
        assert_eq!(length_bits([0]), 1.0);
        assert!((length_bits([2, 6]) - 12f64.log2() - 56f64.log2()).abs() < 1e-9);
    }
}
