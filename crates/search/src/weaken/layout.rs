//! Where the pieces of an input lie: what a failure needs may often stand elsewhere as well.
//!
//! A condition says which values bytes have, each at its place. Where a program looks for a field behind a
//! comma, the field may begin later if more is before the comma. A layout cuts one source into pieces, which
//! keep their order and what is asked of them, and gaps of any length between them, which take from each
//! other: the input stays as long as it is. Inputs of all layouts together are more than those of one.
//!
//! What always holds: no input has two layouts, so they can be counted, and drawn uniformly, one by one. A gap
//! has no value that the piece behind it may begin with, and so ends where that begins; the length of the last
//! gap follows from the others. Nothing here runs a program.

use std::ops::Range;

use rand::{Rng, RngCore};
use stunt_models::ByteSet;

/// A gap: where it was at first, and how long it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// The bytes that were there, which nothing is asked of; none between two that are needed.
    pub(super) place: Range<usize>,
    /// The shortest.
    pub(super) least: usize,
    /// The longest.
    pub(super) most: usize,
}

/// A gap, and the values of its bytes.
struct Gap {
    cut: Cut,
    values: ByteSet,
    /// The share of so many bytes that may stand in it.
    shares: Vec<f64>,
}

/// All arrangements of some pieces.
pub(super) struct Layout {
    source: usize,
    /// How long the source is.
    length: usize,
    gaps: Vec<Gap>,
    /// In how many ways so many bytes go into the gaps from one on, as a share of all that these bytes
    /// could be.
    ways: Vec<Vec<f64>>,
}

/// An input in its layout: where each byte comes from.
pub(super) struct Arranged {
    /// The source that was arranged.
    pub(super) source: usize,
    /// For every byte the place that it had at first, or how many values it may have in a gap.
    pub(super) from: Vec<Result<usize, u32>>,
}

impl Layout {
    /// The arrangements of a source of some length, with gaps in order that do not touch each other. What may
    /// stand at a place is asked for where a piece begins.
    pub(super) fn new(
        source: usize,
        length: usize,
        cuts: &[Cut],
        values_at: impl Fn(usize) -> ByteSet,
    ) -> Self {
        let filler: usize = cuts.iter().map(|cut| cut.place.len()).sum();
        let gap = |(number, cut): (usize, &Cut)| {
            let last = number + 1 == cuts.len();
            let values = if last { ByteSet::ALL } else { values_at(cut.place.end).complement() };
            let one = f64::from(values.len()) / 256.0;
            let shares = (0..=filler).map(|length| one.powi(length as i32)).collect();
            Gap { cut: cut.clone(), values, shares }
        };
        let gaps: Vec<Gap> = cuts.iter().enumerate().map(gap).collect();
        let mut ways = vec![vec![0.0; filler + 1]; gaps.len() + 1];
        ways[gaps.len()][0] = 1.0;
        for (number, gap) in gaps.iter().enumerate().rev() {
            let (before, behind) = ways.split_at_mut(number + 1);
            for (all, ways) in before[number].iter_mut().enumerate() {
                let share = |own: usize| gap.shares[own] * behind[0][all - own];
                *ways = gap.lengths(all).map(share).sum();
            }
        }
        Layout { source, length, gaps, ways }
    }

    /// How many more inputs there are than in one layout, in bits.
    pub(super) fn gain(&self) -> f64 {
        self.ways[0].last().copied().unwrap_or(1.0).log2()
    }

    /// How many gaps there are.
    pub(super) fn gaps(&self) -> usize {
        self.gaps.len()
    }

    /// Moves the pieces of an input to a layout that is drawn, and fills the gaps.
    pub(super) fn arrange(&self, input: &mut [Vec<u8>], rng: &mut dyn RngCore) -> Arranged {
        let bytes = &input[self.source];
        let mut left = self.ways[0].len() - 1;
        let (mut moved, mut from) = (Vec::with_capacity(self.length), Vec::new());
        let mut piece = 0;
        for (number, gap) in self.gaps.iter().enumerate() {
            moved.extend_from_slice(&bytes[piece..gap.cut.place.start]);
            from.extend((piece..gap.cut.place.start).map(Ok));
            piece = gap.cut.place.end;
            let mut rest = rng.gen_range(0.0..self.ways[number][left]);
            let mut length = gap.cut.least;
            for own in gap.lengths(left) {
                let share = gap.shares[own] * self.ways[number + 1][left - own];
                if share > 0.0 {
                    length = own;
                }
                if rest < share {
                    break;
                }
                rest -= share;
            }
            left -= length;
            for _ in 0..length {
                let rank = rng.gen_range(0..gap.values.len());
                moved.push(gap.values.nth(rank).unwrap_or(0));
                from.push(Err(gap.values.len()));
            }
        }
        moved.extend_from_slice(&bytes[piece..]);
        from.extend((piece..self.length).map(Ok));
        input[self.source] = moved;
        Arranged { source: self.source, from }
    }
}

impl Gap {
    /// How long it may be, if so many bytes are left.
    fn lengths(&self, left: usize) -> impl Iterator<Item = usize> {
        self.cut.least..=self.cut.most.min(left)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn cut(place: Range<usize>, least: usize, most: usize) -> Cut {
        Cut { place, least, most }
    }

    /// Pieces of one value each, at given places.
    fn values_at(place: usize) -> ByteSet {
        let value = b"..,..;"[place];
        ByteSet::filter(|other| other == value)
    }

    #[test]
    fn one_gap_has_one_layout() {
        let layout = Layout::new(0, 6, &[cut(0..2, 0, 2)], values_at);
        assert_eq!(layout.gain(), 0.0);
        let mut input = vec![b"ab,cd;".to_vec()];
        let arranged = layout.arrange(&mut input, &mut ChaCha8Rng::seed_from_u64(1));
        assert_eq!(input[0][2..], *b",cd;");
        assert_eq!(arranged.from[..3], [Err(256), Err(256), Ok(2)]);
    }

    #[test]
    fn layouts_are_counted_and_drawn_each_as_often() {
        // Gaps of 0 to 2 and of 1 to 3 bytes, three together: 0 + 3, 1 + 2, 2 + 1.
        let cuts = [cut(0..2, 0, 2), cut(3..4, 1, 3)];
        let layout = Layout::new(0, 6, &cuts, values_at);
        let share = 255.0 / 256.0;
        let ways: f64 = 1.0 + share + share * share;
        assert!((layout.gain() - ways.log2()).abs() < 1e-12);
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        let mut seen: BTreeMap<usize, u32> = BTreeMap::new();
        for _ in 0..30_000 {
            let mut input = vec![b"ab,cd;".to_vec()];
            let arranged = layout.arrange(&mut input, &mut rng);
            let bytes = &input[0];
            assert_eq!(bytes.len(), 6);
            let first = bytes.iter().position(|&byte| byte == b',').expect("it is there");
            assert_eq!(arranged.from[first], Ok(2), "the gap before it has none");
            assert_eq!(bytes[5], b';');
            *seen.entry(first).or_default() += 1;
        }
        let mut expected = [1.0, share, share * share].map(|part| 30_000.0 * part / ways);
        for (first, times) in expected.iter_mut().enumerate() {
            let (seen, wanted) = (f64::from(seen[&first]), *times);
            assert!((seen - wanted).abs() < 5.0 * wanted.sqrt(), "{first}: {seen} of {wanted}");
        }
        assert_eq!(seen.len(), 3);
    }

    #[test]
    fn gaps_that_cannot_all_be_filled_have_fewer_ways() {
        // Two gaps of at most one byte cannot take the three that there are.
        let cuts = [cut(0..2, 0, 1), cut(3..4, 0, 1)];
        assert_eq!(Layout::new(0, 6, &cuts, values_at).gain(), f64::NEG_INFINITY);
    }
}
