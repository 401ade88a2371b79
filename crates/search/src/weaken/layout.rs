//! Where the pieces of an input lie: what a failure needs may often stand elsewhere as well.
//!
//! A condition says which values bytes have, each at its place. Where a program looks for a field behind a
//! comma, the field may begin later if more is before the comma. A layout cuts one source into pieces, which
//! keep their order and what is asked of them, and gaps of any length between them, which take from each
//! other: all inputs are of one length, that of the source or a greater one. Inputs of all layouts together are
//! more than those of one.
//!
//! What always holds: no input is drawn in two layouts, so they can be counted, and drawn uniformly, one by one.
//! Shares are `f64`: they are sums of products of positive numbers, right to one part in 2^40 (a test compares
//! them with whole numbers), and so is the chance of every layout that is not rarer than that.
//! Before a short piece, a gap has no value that the piece may begin with, and so ends where that begins. Before
//! a long one it may have any: the piece hardly stands twice in an input, and where it does ([`Layout::is_only`])
//! the input must not be used. The length of the last gap follows from the others. Nothing here runs a program.

use std::ops::Range;

use rand::{Rng, RngCore};
use stunt_belief::Class;
use stunt_models::ByteSet;

use super::drawn::{byte_set, values};

/// A gap: where it was at first, and how long it may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The bytes that were there, which nothing is asked of; none between two that are needed.
    pub(crate) place: Range<usize>,
    /// The shortest.
    pub(crate) least: usize,
    /// The longest.
    pub(crate) most: usize,
    /// What its last byte is, if it has one and that must be something: the end of a line, or of a word.
    pub(crate) ends_with: Option<ByteSet>,
}

/// A piece of which so many bits are asked is long.
const LONG: f64 = 14.0;

/// A gap, and the values of its bytes.
struct Gap {
    cut: Cut,
    values: ByteSet,
    last: ByteSet,
    /// How many values the condition alone would let a byte have, and the last one.
    allowed: (u32, u32),
    /// Its bytes are none that the next piece may begin with.
    stops: bool,
    /// The share of so many bytes that may stand in it.
    shares: Vec<f64>,
}

/// All arrangements of some pieces.
pub(crate) struct Layout {
    source: usize,
    /// What may stand at each place, as it was at first.
    asked: Vec<ByteSet>,
    gaps: Vec<Gap>,
    /// In how many ways so many bytes go into the gaps from one on, as a share of all that these bytes
    /// could be.
    ways: Vec<Vec<f64>>,
    /// By how many bytes an input is longer than the source.
    extra: usize,
    /// What gaps are filled with.
    fill: Class,
}

/// An input in its layout: where each byte comes from.
pub(crate) struct Arranged {
    /// The source that was arranged.
    pub(crate) source: usize,
    /// For every byte the place that it had at first, or how many values it may have in a gap.
    pub(crate) from: Vec<Result<usize, u32>>,
}

impl Layout {
    /// The arrangements of a source in which something is asked at each place, with gaps in order that do not
    /// touch each other, in inputs that are longer by so many bytes.
    pub(crate) fn new(source: usize, asked: Vec<ByteSet>, extra: usize, cuts: &[Cut]) -> Self {
        Layout::filled_with(Class::Any, source, asked, extra, cuts)
    }

    /// The same with gaps that are filled with bytes of a class only.
    pub(crate) fn filled_with(
        fill: Class,
        source: usize,
        asked: Vec<ByteSet>,
        extra: usize,
        cuts: &[Cut],
    ) -> Self {
        let class = byte_set(fill.values());
        let filler = extra + cuts.iter().map(|cut| cut.place.len()).sum::<usize>();
        let gap = |(number, cut): (usize, &Cut)| {
            let allowed = match cuts.get(number + 1) {
                Some(next) => before(&asked[cut.place.end..next.place.start]),
                None => ByteSet::ALL,
            };
            let values = allowed.intersect(&class);
            let last = cut.ends_with.unwrap_or(values);
            let counted = (allowed.len(), cut.ends_with.unwrap_or(allowed).len());
            let stops = allowed != ByteSet::ALL;
            let share = |values: ByteSet| f64::from(values.len()) / 256.0;
            let shares = |length: usize| match length {
                0 => 1.0,
                _ => share(values).powi(length as i32 - 1) * share(last),
            };
            let shares = (0..=filler).map(shares).collect();
            Gap { cut: cut.clone(), values, last, allowed: counted, stops, shares }
        };
        let gaps: Vec<Gap> = cuts.iter().enumerate().map(gap).collect();
        let mut ways = vec![vec![0.0; filler + 1]; gaps.len() + 1];
        ways[gaps.len()][0] = 1.0;
        for (number, gap) in gaps.iter().enumerate().rev() {
            let (before, behind) = ways.split_at_mut(number + 1);
            gap.ways(&behind[0], &mut before[number]);
        }
        Layout { source, asked, gaps, ways, extra, fill }
    }

    /// The same pieces where other bytes may stand, in gaps that are filled with bytes of a class only.
    pub(crate) fn refilled(&self, fill: Class, asked: Vec<ByteSet>) -> Self {
        let cuts: Vec<Cut> = self.gaps.iter().map(|gap| gap.cut.clone()).collect();
        Layout::filled_with(fill, self.source, asked, self.extra, &cuts)
    }

    /// What gaps are filled with.
    pub(crate) fn fill(&self) -> Class {
        self.fill
    }

    /// The source whose pieces may move.
    pub(crate) fn source(&self) -> usize {
        self.source
    }

    /// The gaps in the words of `stunt-belief`, each with the bytes that were there, in order.
    pub(crate) fn described(&self) -> Vec<(Range<usize>, stunt_belief::Gap)> {
        let number = |length: usize| u32::try_from(length).ok();
        // A limit that is not reached is none.
        let filler = self.ways[0].len() - 1;
        // One gap takes all that there is, whatever its limits.
        let is_alone = self.gaps.len() == 1;
        let gap = |gap: &Gap| stunt_belief::Gap {
            least: if is_alone { 0 } else { number(gap.cut.least).unwrap_or(0) },
            most: number(gap.cut.most).filter(|_| gap.cut.most < filler && !is_alone),
            ends: gap.cut.ends_with.map(values),
            stops: gap.stops,
        };
        self.gaps.iter().map(|it| (it.cut.place.clone(), gap(it))).collect()
    }

    /// By how many bytes its inputs are longer than the source.
    pub(crate) fn extra(&self) -> usize {
        self.extra
    }

    /// How many more inputs there are than in one layout, in bits.
    pub(crate) fn gain(&self) -> f64 {
        self.ways[0].last().copied().unwrap_or(1.0).log2()
    }

    /// How many gaps there are.
    pub(crate) fn gaps(&self) -> usize {
        self.gaps.len()
    }

    /// Moves the pieces of an input to a layout that is drawn, and fills the gaps.
    pub(crate) fn arrange(&self, input: &mut [Vec<u8>], rng: &mut dyn RngCore) -> Arranged {
        let bytes = &input[self.source];
        let mut left = self.ways[0].len() - 1;
        let (mut moved, mut from) = (Vec::with_capacity(self.asked.len()), Vec::new());
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
            for at in 1..=length {
                let values = if at == length { gap.last } else { gap.values };
                let rank = rng.gen_range(0..values.len());
                moved.push(values.nth(rank).unwrap_or(0));
                let (inside, last) = gap.allowed;
                from.push(Err(if at == length { last } else { inside }));
            }
        }
        moved.extend_from_slice(&bytes[piece..]);
        from.extend((piece..self.asked.len()).map(Ok));
        input[self.source] = moved;
        Arranged { source: self.source, from }
    }

    /// Whether an input that was arranged has no other layout.
    pub(crate) fn is_only(&self, input: &[Vec<u8>]) -> bool {
        // The last gap follows from the others, and one before a short piece from where that begins.
        let others = &self.gaps[..self.gaps.len() - 1];
        if others.iter().all(|gap| gap.stops && gap.cut.ends_with.is_none()) {
            return true;
        }
        let bytes = &input[self.source];
        let stands = |piece: &Range<usize>, at: usize| {
            at + piece.len() <= bytes.len()
                && self.asked[piece.clone()].iter().zip(&bytes[at..]).all(|(it, &b)| it.contains(b))
        };
        // In how many ways what is before a place may end there.
        let mut ways = vec![0.0; bytes.len() + 1];
        ways[self.gaps[0].cut.place.start] = 1.0;
        for (number, gap) in self.gaps.iter().enumerate() {
            let all = self.asked.len();
            let end = self.gaps.get(number + 1).map_or(all, |next| next.cut.place.start);
            let piece = gap.cut.place.end..end;
            // How many there are up to a place, without it.
            let mut sums = vec![0.0];
            sums.extend(ways.iter().scan(0.0, |sum, ways| {
                *sum += ways;
                Some(*sum)
            }));
            let mut after = vec![0.0; bytes.len() + 1];
            // The first place from which on a gap that goes further may reach to the one in hand.
            let mut from = 0;
            for at in 0..=bytes.len() {
                let mut known = if gap.cut.least == 0 { ways[at] } else { 0.0 };
                if at > 0 && gap.last.contains(bytes[at - 1]) {
                    let first = from.max(at.saturating_sub(gap.cut.most));
                    let behind = at.min((at + 1).saturating_sub(gap.cut.least));
                    known += if first < behind { sums[behind] - sums[first] } else { 0.0 };
                }
                if at > 0 && !gap.values.contains(bytes[at - 1]) {
                    from = at;
                }
                if known > 0.0 && stands(&piece, at) {
                    after[at + piece.len()] += known;
                }
            }
            ways = after;
        }
        ways[bytes.len()] == 1.0
    }
}

/// What may stand before a piece.
fn before(piece: &[ByteSet]) -> ByteSet {
    let bits: f64 = piece.iter().map(|values| 8.0 - f64::from(values.len().max(1)).log2()).sum();
    match piece.first() {
        Some(first) if bits < LONG => first.complement(),
        _ => ByteSet::ALL,
    }
}

impl Gap {
    /// In how many ways so many bytes go into this gap and those behind it.
    fn ways(&self, behind: &[f64], all_ways: &mut [f64]) {
        if self.cut.most >= behind.len() - 1 {
            // Without an end, each sum is the one before it, with one byte more in the gap.
            let (value, least) = (f64::from(self.values.len()) / 256.0, self.cut.least.max(1));
            let mut longer = 0.0;
            for (all, ways) in all_ways.iter_mut().enumerate() {
                longer *= value;
                if all >= least {
                    longer += self.shares[least] * behind[all - least];
                }
                *ways = longer + if self.cut.least == 0 { behind[all] } else { 0.0 };
            }
            return;
        }
        for (all, ways) in all_ways.iter_mut().enumerate() {
            let share = |own: usize| self.shares[own] * behind[all - own];
            *ways = self.lengths(all).map(share).sum();
        }
    }

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
        Cut { place, least, most, ends_with: None }
    }

    /// Pieces of one value at each place that is not free.
    fn asked(pieces: &[u8]) -> Vec<ByteSet> {
        let set = |&value: &u8| match value {
            b'.' => ByteSet::ALL,
            _ => ByteSet::range(value, value),
        };
        pieces.iter().map(set).collect()
    }

    #[test]
    fn one_gap_has_one_layout() {
        let layout = Layout::new(0, asked(b"..,..;"), 0, &[cut(0..2, 0, 2)]);
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
        let layout = Layout::new(0, asked(b"..,..;"), 0, &cuts);
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
    fn before_a_long_piece_anything_may_stand_but_that_piece() {
        // Every input with "ab" in it, of five bytes over an alphabet of three: as many as can be counted.
        let cuts = [cut(0..0, 0, 3), cut(2..5, 0, 3)];
        let layout = Layout::new(0, asked(b"ab..."), 0, &cuts);
        assert_eq!(layout.gain(), 2.0, "four layouts");
        let (mut once, mut never) = (0, 0);
        for number in 0..3usize.pow(5) {
            let digit = |at: u32| b"abc"[number / 3usize.pow(at) % 3];
            let input = vec![(0..5).map(digit).collect::<Vec<u8>>()];
            let found = input[0].windows(2).filter(|pair| *pair == b"ab").count();
            assert_eq!(layout.is_only(&input), found == 1, "{found}");
            once += u32::from(found == 1);
            never += u32::from(found == 0);
        }
        // 108 ways to place it, 18 inputs have two.
        assert_eq!((once, never), (4 * 27 - 2 * 9, 3u32.pow(5) - (4 * 27 - 9)));
    }

    #[test]
    fn a_place_before_a_short_piece_ends_where_that_begins() {
        // The long piece may stand twice, if a gap that has no comma cannot reach from there.
        let cuts = [cut(0..2, 0, 9), cut(4..5, 0, 9), cut(6..9, 0, 9)];
        let layout = Layout::new(0, asked(b"..ab.,..."), 0, &cuts);
        for (input, only) in
            [("xxabx,xxx", true), ("abxab,xxx", false), ("ab,xxab,x", false), ("xxab,xabx", true)]
        {
            assert_eq!(layout.is_only(&[input.as_bytes().to_vec()]), only, "{input}");
        }
        // A second one that is too far away is none.
        let cuts = [cut(0..2, 0, 3), cut(4..5, 0, 9), cut(6..9, 0, 9)];
        let layout = Layout::new(0, asked(b"..ab.,..."), 0, &cuts);
        assert!(layout.is_only(&[b"ab,xxab,x".to_vec()]));
    }

    #[test]
    fn a_gap_may_have_to_end_with_something() {
        // A letter at the start, or behind the end of a line; and anything else.
        let ends_with = Some(ByteSet::range(b'\n', b'\n'));
        let cuts = [Cut { ends_with, ..cut(0..0, 0, 9) }, cut(1..4, 0, 9)];
        let layout = Layout::new(0, asked(b"x..."), 0, &cuts);
        let share = 255.0 / 256.0;
        let ways: f64 = 1.0 + (1.0 + share + share * share) / 256.0;
        assert!((layout.gain() - ways.log2()).abs() < 1e-12);
        for (input, only) in [
            ("xaaa", true),
            ("\nxaa", true),
            ("a\nxa", true),
            ("\n\nxa", true),
            ("x\nxa", true),
            ("x\nax", true),
        ] {
            assert_eq!(layout.is_only(&[input.as_bytes().to_vec()]), only, "{input:?}");
        }
        // What is long may stand in the gap, too.
        let cuts = [Cut { ends_with, ..cut(0..0, 0, 9) }, cut(2..5, 0, 9)];
        let long = Layout::new(0, asked(b"xy..."), 0, &cuts);
        for (input, only) in
            [("xy\nxa", true), ("xy\nxy", false), ("xyaxy", true), ("\n\nxya", true)]
        {
            assert_eq!(long.is_only(&[input.as_bytes().to_vec()]), only, "{input:?}");
        }
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for _ in 0..2000 {
            let mut input = vec![b"x123".to_vec()];
            let arranged = layout.arrange(&mut input, &mut rng);
            let at = arranged.from.iter().position(|from| *from == Ok(0)).expect("it is there");
            assert!(at == 0 || input[0][at - 1] == b'\n');
            assert_eq!((input[0].len(), input[0][at]), (4, b'x'));
        }
    }

    #[test]
    fn an_input_may_be_longer_than_the_source() {
        // Two pieces, each at its end of six bytes; or with a gap before the first one, too.
        let between = Layout::new(0, asked(b",;"), 4, &[cut(1..1, 0, 9)]);
        assert_eq!((between.gain(), between.extra()), (0.0, 4));
        let mut input = vec![b",;".to_vec()];
        let arranged = between.arrange(&mut input, &mut ChaCha8Rng::seed_from_u64(3));
        assert_eq!((input[0].len(), input[0][0], input[0][5]), (6, b',', b';'));
        assert_eq!(arranged.from[4..], [Err(256), Ok(1)]);
        let both = Layout::new(0, asked(b",;"), 4, &[cut(0..0, 0, 9), cut(1..1, 0, 9)]);
        let share: f64 = 255.0 / 256.0;
        let ways: f64 = (0..=4).map(|length| share.powi(length)).sum();
        assert!((both.gain() - ways.log2()).abs() < 1e-12);
        // A long piece in an input that is longer than it.
        let long = Layout::new(0, asked(b"ab"), 4, &[cut(0..0, 0, 9), cut(2..2, 0, 9)]);
        assert_eq!(long.gain(), 5f64.log2());
        assert!(long.is_only(&[b"xxabxx".to_vec()]) && !long.is_only(&[b"abxxab".to_vec()]));
    }

    #[test]
    fn gaps_that_cannot_all_be_filled_have_fewer_ways() {
        // Two gaps of at most one byte cannot take the three that there are.
        let cuts = [cut(0..2, 0, 1), cut(3..4, 0, 1)];
        assert_eq!(Layout::new(0, asked(b"..,..;"), 0, &cuts).gain(), f64::NEG_INFINITY);
    }

    /// In how many ways the gaps can be filled, in whole numbers: all that the bytes of gaps can be, one gap
    /// after the other.
    fn counted(layout: &Layout, number: usize, left: usize) -> u128 {
        let Some(gap) = layout.gaps.get(number) else { return u128::from(left == 0) };
        let fills = |length: usize| match length {
            0 => 1,
            _ => u128::from(gap.values.len()).pow(length as u32 - 1) * u128::from(gap.last.len()),
        };
        gap.lengths(left).map(|own| fills(own) * counted(layout, number + 1, left - own)).sum()
    }

    #[test]
    fn shares_are_as_near_to_whole_numbers_as_is_said() {
        let ends_with = Some(ByteSet::range(b'\n', b'\r'));
        let first = cut(0..5, 0, 9);
        let cases: [(&[u8], Vec<Cut>); 3] = [
            (b".....,...;....=", vec![first.clone(), cut(6..9, 1, 7), cut(10..14, 0, 12)]),
            (b".....,:......=", vec![Cut { ends_with, ..first.clone() }, cut(7..13, 2, 12)]),
            (
                b".....,..;=.....",
                vec![
                    first,
                    Cut { ends_with, ..cut(6..8, 0, 3) },
                    cut(9..9, 0, 5),
                    cut(10..15, 0, 15),
                ],
            ),
        ];
        for (text, cuts) in cases {
            let layout = Layout::new(0, asked(text), 0, &cuts);
            let filler = layout.ways[0].len() - 1;
            let exact = counted(&layout, 0, filler) as f64 / 256f64.powi(filler as i32);
            let error = (layout.gain().exp2() / exact - 1.0).abs();
            assert!(exact > 0.0 && error < 0.5f64.powi(40), "{error}");
        }
    }
}
