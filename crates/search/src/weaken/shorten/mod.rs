//! Shortening: an input that still fails, with fewer bytes. The classical reduction, after A. Zeller
//! and R. Hildebrandt, "Simplifying and isolating failure-inducing input" (2002): groups of lines, then
//! of bytes, are deleted, large ones first. What is left is short enough to try everything that often
//! goes together (`edits.rs`), until nothing goes any more. Sums are kept right on the way (`sums.rs`), and
//! compressed parts are made shorter within (`streams.rs`).
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

mod edits;
mod names;
mod records;
mod streams;

pub(super) use self::edits::tokens;
use self::edits::{Class, Edit};
use self::streams::Stream;
use super::oracle::{AT_ONCE, Broken, Oracle};
use super::sums::{Sum, sums};

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

/// Groups of more bytes than this are only cut side by side.
const WIDEST: usize = 16;
/// How many tokens are cut wherever they begin: at first, and when that no longer helps.
const FIRST_SIZES: [usize; 7] = [16, 11, 8, 6, 4, 2, 1];
const SIZES: [usize; 16] = [16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1];
/// The most bytes that are cut wherever they begin.
const WIDEST_WINDOW: usize = 6;
/// What is dear to try may take so many runs at least.
const LEAST_DEAR: u64 = 1000;
/// The most tokens that become a plain number.
const WIDEST_INSTEAD: usize = 4;
/// The most tokens that are cut together with one somewhere behind them.
const WIDEST_PAIRED: usize = 16;

/// Cuts bytes out of an input on which the program fails, within so many runs. Only sources that may
/// change their length do.
///
/// # Errors
/// The program cannot be run.
pub fn shorten(
    input: &[Vec<u8>],
    may_change: &[bool],
    oracle: &mut dyn Oracle,
    runs: u64,
    over: &dyn Fn() -> bool,
) -> Result<Vec<Vec<u8>>, Broken> {
    let mut reduction = Reduction::new(input.to_vec(), oracle, runs, over);
    for (source, _) in may_change.iter().enumerate().filter(|(_, may)| **may) {
        reduction.source = source;
        reduction.sums = sums(reduction.bytes());
        reduction.coarsely()?;
        reduction.pass(Class::Lower)?;
        reduction.inflated()?;
        reduction.finely()?;
    }
    Ok(reduction.best)
}

/// The content of a stream, tried within its input.
struct Within<'a> {
    stream: &'a Stream,
    /// The input with the stream as it was found.
    input: &'a [Vec<u8>],
    source: usize,
    sums: &'a [Sum],
    oracle: &'a mut dyn Oracle,
}

impl Within<'_> {
    /// The input with another content of the stream.
    fn input(&self, content: &[u8]) -> Vec<Vec<u8>> {
        let mut input = self.input.to_vec();
        let edit = self.stream.with(content);
        input[self.source] = edit.apply_with(&self.input[self.source], self.sums);
        input
    }
}

impl Oracle for Within<'_> {
    fn fails(&mut self, contents: &[Vec<Vec<u8>>]) -> Result<Vec<bool>, Broken> {
        let inputs: Vec<Vec<Vec<u8>>> = contents.iter().map(|it| self.input(&it[0])).collect();
        self.oracle.fails(&inputs)
    }

    fn width(&self) -> usize {
        self.oracle.width()
    }
}

/// An input on the way to a shorter one.
struct Reduction<'a> {
    best: Vec<Vec<u8>>,
    /// The source that is made shorter.
    source: usize,
    /// Its sums, which are kept right.
    sums: Vec<Sum>,
    oracle: &'a mut dyn Oracle,
    /// Runs that are left.
    runs: u64,
    over: &'a dyn Fn() -> bool,
}

impl<'a> Reduction<'a> {
    /// Of the first source, without sums to keep.
    fn new(
        best: Vec<Vec<u8>>,
        oracle: &'a mut dyn Oracle,
        runs: u64,
        over: &'a dyn Fn() -> bool,
    ) -> Self {
        Self { best, source: 0, sums: Vec::new(), oracle, runs, over }
    }

    fn bytes(&self) -> &[u8] {
        &self.best[self.source]
    }

    fn is_over(&self) -> bool {
        self.runs == 0 || (self.over)()
    }

    /// Large parts first.
    fn coarsely(&mut self) -> Result<(), Broken> {
        let mut size = edits::lines(self.bytes()).len() - 1;
        while size > 0 {
            self.pass(Class::Lines(size))?;
            size = size.min(edits::lines(self.bytes()).len().max(2) - 1) / 2;
        }
        self.pass(Class::LinePairs)?;
        self.pass(Class::Records)?;
        let mut size = self.bytes().len();
        while size > WIDEST {
            self.pass(Class::Bytes(size))?;
            size = size.min(self.bytes().len()) / 2;
        }
        Ok(())
    }

    /// Makes the content of a compressed stream shorter, and writes it anew without compression, if the input
    /// is shorter then.
    fn inflated(&mut self) -> Result<(), Broken> {
        let Some(stream) = streams::first(self.bytes()) else { return Ok(()) };
        let (input, sums) = (self.best.clone(), self.sums.clone());
        let oracle = &mut *self.oracle;
        let mut within =
            Within { stream: &stream, input: &input, source: self.source, sums: &sums, oracle };
        if self.runs == 0 || !within.fails(&[vec![stream.content.clone()]])?[0] {
            return Ok(());
        }
        let (best, runs) = (vec![stream.content.clone()], (self.runs - 1) / 2);
        let mut content = Reduction::new(best, &mut within, runs, self.over);
        content.coarsely()?;
        content.finely()?;
        self.runs -= 1 + runs - content.runs;
        let content = content.best.swap_remove(0);
        let shorter = within.input(&content);
        if shorter[self.source].len() < self.bytes().len() {
            self.sums = stream.with(&content).sums(&sums);
            self.best = shorter;
        }
        Ok(())
    }

    /// Everything of every small size, until nothing goes: what is needed may not be when other things
    /// are gone. What is dear to try comes when the rest is done.
    fn finely(&mut self) -> Result<(), Broken> {
        let tokens = FIRST_SIZES.into_iter().map(Class::Tokens);
        let cheap: Vec<Class> =
            [Class::Brackets].into_iter().chain(tokens).chain([Class::Words]).collect();
        let plain = (1..=WIDEST_INSTEAD).rev().map(Class::Instead);
        let windows = (1..=WIDEST_WINDOW).rev().map(Class::Window);
        let others = SIZES.into_iter().filter(|size| !FIRST_SIZES.contains(size));
        let stages: [Vec<Class>; 5] = [
            cheap,
            plain.collect(),
            vec![Class::Lower],
            windows.collect(),
            others.map(Class::Tokens).collect(),
        ];
        let pairs = (1..=WIDEST_PAIRED).map(Class::TokenPairs);
        let dear: Vec<Class> = [
            Class::Lines(1),
            Class::Mentions,
            Class::Inlined,
            // Not before: what a word brings with it goes more easily while it is what it was.
            Class::OtherWords,
            Class::BracketPairs,
            Class::Counted,
            Class::LinePairs,
        ]
        .into_iter()
        .chain(pairs)
        .collect();
        loop {
            let before = self.runs;
            let mut shorter = false;
            for stage in &stages {
                for &class in stage {
                    shorter |= self.pass(class)?;
                }
                if shorter {
                    break;
                }
            }
            // A round of these may cost as much as the one before it.
            let left = self.runs.saturating_sub((before - self.runs).max(LEAST_DEAR));
            for &class in &dear {
                if shorter || self.runs < left {
                    break;
                }
                shorter = self.pass(class)?;
            }
            if !shorter || self.is_over() {
                return Ok(());
            }
        }
    }

    /// Tries every edit of a class once. Whether one was made.
    fn pass(&mut self, class: Class) -> Result<bool, Broken> {
        let mut edits = class.edits(self.bytes());
        let (mut next, mut shorter) = (0, false);
        while next < edits.len() && !self.is_over() {
            let batch = AT_ONCE.min(self.runs as usize);
            let tried = &edits[next..edits.len().min(next + batch)];
            let candidate = |edit: &Edit| {
                let mut candidate = self.best.clone();
                candidate[self.source] = edit.apply_with(self.bytes(), &self.sums);
                candidate
            };
            let candidates: Vec<Vec<Vec<u8>>> = tried.iter().map(candidate).collect();
            self.runs -= candidates.len() as u64;
            let results = self.oracle.fails(&candidates)?;
            match results.iter().position(|&fails| fails) {
                Some(first) => {
                    let edit = &edits[next + first];
                    let start = edit.start();
                    self.sums = edit.sums(&self.sums);
                    self.best = candidates.into_iter().nth(first).unwrap_or_default();
                    shorter = true;
                    // What was behind the cut is at its place now.
                    edits = class.edits(self.bytes());
                    next = edits.partition_point(|edit| edit.start() < start);
                }
                None => next += results.len(),
            }
        }
        Ok(shorter)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use flate2::Compression;
    use flate2::read::ZlibDecoder;
    use flate2::write::ZlibEncoder;

    use super::*;
    use crate::weaken::sums::crc32;

    fn shortened(
        input: &[&[u8]],
        may: &[bool],
        mut fails: impl FnMut(&[Vec<u8>]) -> bool,
    ) -> Vec<Vec<u8>> {
        let input: Vec<Vec<u8>> = input.iter().map(|part| part.to_vec()).collect();
        let mut oracle = |input: &[Vec<u8>]| fails(input);
        shorten(&input, may, &mut oracle, 100_000, &|| false).expect("the closure cannot break")
    }

    #[test]
    fn what_the_failure_does_not_need_is_gone() {
        let text = b"hello here, that is a bug, no?";
        let found =
            shortened(&[text], &[true], |input| input[0].windows(3).any(|part| part == b"bug"));
        assert_eq!(found, [b"bug".to_vec()]);
        // A failure that needs nothing needs no byte.
        assert_eq!(shortened(&[text], &[true], |_| true), [Vec::<u8>::new()]);
    }

    #[test]
    fn lines_go_as_a_whole() {
        // Every line needs a colon, so no line goes byte by byte, but whole ones do.
        let text: Vec<u8> =
            (0..200).flat_map(|n| format!("key{n}: value{n}\n").into_bytes()).collect();
        let mut count = 0;
        let found = shortened(&[&text], &[true], |input| {
            count += 1;
            let well = input[0]
                .split(|&byte| byte == b'\n')
                .all(|line| line.is_empty() || line.contains(&b':'));
            well && input[0].windows(7).any(|part| part == b"key117:")
        });
        assert_eq!(found, [b"key117:".to_vec()]);
        assert!(count < 200, "{count} runs");
    }

    #[test]
    fn pairs_that_go_together_go_in_groups() {
        let found = shortened(&[b"()()()x()"], &[true], |input| {
            let opened = input[0].iter().filter(|&&byte| byte == b'(').count();
            let closed = input[0].iter().filter(|&&byte| byte == b')').count();
            opened == closed && input[0].contains(&b'x')
        });
        assert!(found[0].contains(&b'x') && found[0].len() <= 3, "{} bytes", found[0].len());
    }

    #[test]
    fn sums_stay_right_when_what_they_are_over_becomes_shorter() {
        // A number, as many bytes and their sum; whoever reads it checks both.
        let record = |text: &[u8]| {
            let mut record = vec![text.len() as u8];
            record.extend_from_slice(text);
            record.extend(crc32(text).to_be_bytes());
            record
        };
        let mut input = record(b"a long text with a bug somewhere in it");
        input.extend(b"and more");
        let found = shortened(&[&input], &[true], |input| {
            let Some((&length, rest)) = input[0].split_first() else { return false };
            let (length, has) =
                (usize::from(length), |text: &[u8]| text.windows(3).any(|it| it == b"bug"));
            rest.len() >= length + 4
                && has(&rest[..length])
                && rest[length..length + 4] == crc32(&rest[..length]).to_be_bytes()
        });
        assert_eq!(found, [record(b"bug")]);
    }

    #[test]
    fn what_is_compressed_is_made_shorter_within() {
        let text =
            b"a long text, a very long text, with a bug somewhere in it, and more text".repeat(3);
        let mut encoder = ZlibEncoder::new(b"head".to_vec(), Compression::best());
        encoder.write_all(&text).expect("it is in memory");
        let input = encoder.finish().expect("it is in memory");
        let holds = |input: &[u8]| {
            let mut text = Vec::new();
            let stream = input.strip_prefix(b"head").unwrap_or_default();
            ZlibDecoder::new(stream).read_to_end(&mut text).is_ok().then_some(text)
        };
        let found = shortened(&[&input], &[true], |input| {
            holds(&input[0]).is_some_and(|text| text.windows(3).any(|it| it == b"bug"))
        });
        assert_eq!(holds(&found[0]).expect("it is a stream"), b"bug");
        assert!(found[0].len() < input.len() && found[0].windows(3).any(|it| it == b"bug"));
    }

    #[test]
    fn sources_that_must_not_change_do_not_and_runs_are_counted() {
        let found = shortened(&[b"abc", b"abc"], &[false, true], |input| !input[1].is_empty());
        assert_eq!(found[0], b"abc");
        assert_eq!(found[1].len(), 1);
        let mut count = 0;
        let mut oracle = |input: &[Vec<u8>]| {
            count += 1;
            input[0].len() > 3
        };
        shorten(&[vec![0; 1000]], &[true], &mut oracle, 7, &|| false).expect("it cannot break");
        assert_eq!(count, 7);
    }

    #[test]
    fn lengths_count() {
        assert_eq!(length_bits([0]), 1.0);
        assert!((length_bits([2, 6]) - 12f64.log2() - 56f64.log2()).abs() < 1e-9);
    }
}
