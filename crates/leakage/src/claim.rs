//! What is claimed of a double: every figure that it was charged, by what for.
//!
//! A claim has two ways to say what a set of doubles tells by itself: how few of all strings of its length it has
//! (the papers' way), and how long its description is in a code that was fixed beforehand. What comes on top is
//! charged once, by name, and counts for both, but for lengths, which a description says itself. What always holds:
//! a sum keeps the weakest kind of its parts; what a double tells is never more than [`HALF`] above the papers'
//! figure, since both ways are halves of one belief.

use crate::bits::Bits;

/// What it costs that there are two ways, in bits: the papers' has half of the weight.
pub const HALF: f64 = 1.0;

/// What is charged on top of the set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Charge {
    /// Not all of the set fails: what is drawn from is smaller.
    Failing,
    /// Doubles were drawn until one failed.
    Draws,
    /// Which length a source has, of all that there are.
    Length,
    /// Whether it has the original's length or another one was decided with a look at the original.
    Choice,
}

impl Charge {
    /// Whether a description says it itself.
    #[must_use]
    pub fn is_described(self) -> bool {
        self == Charge::Length
    }

    /// The charge in words: what the bits are for.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Charge::Failing => "that not all of what may be drawn fails",
            Charge::Draws => "that it was drawn more than once",
            Charge::Length => "the length that it has",
            Charge::Choice => "whether it has the length of the original",
        }
    }
}

/// What a description costs.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Described {
    bits: Bits,
    /// What it costs that not all of the described set fails, where that is not the papers' set.
    failing: Option<Bits>,
}

/// A claim, part by part.
#[derive(Clone, PartialEq, Debug)]
pub struct Claim {
    set: Bits,
    described: Option<Described>,
    charges: Vec<(Charge, Bits)>,
}

impl Claim {
    /// Of a set that is a part of all strings of its length.
    #[must_use]
    pub fn of_set(set: Bits) -> Claim {
        Claim { set, described: None, charges: Vec::new() }
    }

    /// The same set has a description of so many bits, in the belief's other half: all that it costs to say which
    /// set it is, and what the described set has more.
    #[must_use]
    pub fn described(mut self, bits: f64) -> Claim {
        self.described = Some(Described { bits: Bits::AtMost(bits), failing: None });
        self
    }

    /// A part of the set has a description of so many bits, and the double was drawn from that part: what it costs
    /// that not all of the part fails counts instead of the same for the set.
    #[must_use]
    pub fn described_in_part(mut self, bits: f64, failing: Bits) -> Claim {
        self.described = Some(Described { bits: Bits::AtMost(bits), failing: Some(failing) });
        self
    }

    /// Whether a charge of the set counts for its description, too.
    #[must_use]
    pub fn counts_for_description(&self, charge: Charge) -> bool {
        let in_part = self.described.is_some_and(|it| it.failing.is_some());
        let is_own = in_part && charge == Charge::Failing;
        !(charge.is_described() || is_own)
    }

    /// With a charge more. What is nothing is not there.
    #[must_use]
    pub fn charged(mut self, charge: Charge, bits: Bits) -> Claim {
        if bits != Bits::ZERO {
            self.charges.push((charge, bits));
        }
        self
    }

    /// The charges, in the order in which they came.
    #[must_use]
    pub fn charges(&self) -> &[(Charge, Bits)] {
        &self.charges
    }

    /// What the set tells in the papers' way.
    #[must_use]
    pub fn set(&self) -> Bits {
        self.set
    }

    /// What the double tells over all strings, as in the papers. One that was drawn from a part of the set tells
    /// that part: then it is not less than what the description says.
    #[must_use]
    pub fn leak(&self) -> Bits {
        let papers = self.papers();
        match self.described.and_then(|it| it.failing).and(self.by_description()) {
            Some(bits) if bits.upper() > papers.upper() => bits,
            _ => papers,
        }
    }

    fn papers(&self) -> Bits {
        self.set + self.charges.iter().map(|&(_, bits)| bits).sum()
    }

    /// What the double tells, whatever was believed before: by its description, or a bit above the papers' figure,
    /// whichever is lower.
    #[must_use]
    pub fn tells(&self) -> Bits {
        let papers = self.leak() + Bits::AtMost(HALF);
        match self.by_description() {
            Some(bits) if bits.upper() < papers.upper() => bits,
            _ => papers,
        }
    }

    /// Whether the description is what counts.
    #[must_use]
    pub fn is_by_description(&self) -> bool {
        let papers = self.leak().upper() + HALF;
        self.by_description().is_some_and(|bits| bits.upper() < papers)
    }

    fn by_description(&self) -> Option<Bits> {
        let Described { bits, failing } = self.described?;
        let own = self.charges.iter().filter(|(charge, _)| self.counts_for_description(*charge));
        Some(bits + failing.unwrap_or(Bits::ZERO) + own.map(|&(_, bits)| bits).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_figures_have_the_same_charges_but_for_the_length() {
        let failing = Bits::Estimate { value: 1.0, at_most: 1.5, confidence: 0.99 };
        let claim = Claim::of_set(Bits::Exact(160.0))
            .charged(Charge::Failing, failing)
            .charged(Charge::Length, Bits::AtMost(9.0))
            .charged(Charge::Choice, Bits::AtMost(4.0));
        assert_eq!(claim.leak().upper(), 174.5);
        assert_eq!(claim.tells().upper(), 175.5, "there is no description");
        let described = claim.clone().described(20.0);
        assert_eq!(described.leak(), claim.leak());
        assert_eq!((described.tells().value(), described.tells().upper()), (25.0, 25.5));
        assert_eq!(described.tells().kind(), "estimate");
        assert!(described.is_by_description());
        // A part of the set has its own share of failing doubles.
        let part = claim.clone().described_in_part(20.0, Bits::AtMost(0.25));
        assert_eq!((part.tells().upper(), part.leak()), (24.25, claim.leak()));
        let dear = claim.clone().described_in_part(200.0, Bits::AtMost(0.25));
        assert_eq!((dear.tells().upper(), dear.leak().upper()), (204.25, 204.25));
        let long = claim.described(500.0);
        assert_eq!(long.tells().upper(), 175.5);
        assert!(!long.is_by_description());
    }

    #[test]
    fn a_headline_is_never_an_exact_figure() {
        let claim = Claim::of_set(Bits::Exact(8.0));
        assert_eq!(claim.leak(), Bits::Exact(8.0));
        assert_eq!(claim.tells(), Bits::AtMost(9.0));
        assert_eq!(claim.described(3.0).tells(), Bits::AtMost(3.0));
    }
}
