//! The driver: tries what passes propose, and keeps what still fails.
//!
//! Coarse before fine, after A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing input"
//! (2002): groups of lines, then of bytes, large ones first, so that an input of many megabytes is small after some
//! hundred runs. What is left is short enough to try everything that often goes together, round after round, until
//! nothing goes any more; what is dear to try comes when the rest is done. At last what must stay becomes plain.
//!
//! What always holds: the input in hand fails, as far as the oracle says. What passes propose and did not fail is
//! not run again. How many are
//! tried at once does not depend on the host, so the same oracle gives the same result everywhere.

use crate::blank::{At, blank};
use crate::documents::Text;
use crate::oracle::{AT_ONCE, Broken, InVain, Oracle};
use crate::pass::Pass;
use crate::passes::{
    BracketPairs, Brackets, Bytes, Counted, Elements, Hoist, Inlined, Instead, Items, LinePairs,
    Lines, Lower, Mentions, Numbers, OtherWords, Plain, PlainWords, Records, TokenPairs, Tokens,
    Window, Words, elements, units,
};
use crate::sums::{Sum, sums};

/// Of longer inputs than this no candidate is made in vain.
const LARGE: usize = 1 << 20;
/// Groups of more bytes than this are only cut side by side; narrower ones wherever they begin.
const WIDEST: usize = 16;
/// How many tokens are cut wherever they begin: at first, and when that no longer helps.
const FIRST_SIZES: [usize; 7] = [16, 11, 8, 6, 4, 2, 1];
/// The most bytes that are cut wherever they begin.
const WIDEST_WINDOW: usize = 6;
/// The most tokens that become a plain number.
const WIDEST_INSTEAD: usize = 4;
/// After so many runs in a row by which nothing got smaller, no more is looked for: measured on all subjects, a
/// byte that goes later than that costs more time than its eight bits are worth.
const PATIENCE: u64 = 1500;
/// The same for the bytes of a document whose tree has been reduced: most of what is left is what its format needs.
const PATIENCE_WITH_DOCUMENTS: u64 = 400;

/// What a reduction may take.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// The most runs.
    pub runs: u64,
    /// Whether it is to end with what it has.
    pub over: &'a dyn Fn() -> bool,
    /// Families of passes that are left out, by name.
    pub without: &'a [String],
    /// There is time for few runs: what was somebody's own words becomes plain before anything small is cut.
    pub few: bool,
}

/// What a reduction came to.
pub struct Reduced {
    /// The input, source by source.
    pub input: Vec<Vec<u8>>,
    /// How many runs it took.
    pub runs: u64,
}

/// Reduces an input on which the program fails. Only sources that may change do.
///
/// # Errors
/// The program cannot be run.
pub fn reduce(
    input: &[Vec<u8>],
    may_change: &[bool],
    oracle: &mut dyn Oracle,
    budget: Budget<'_>,
) -> Result<Reduced, Broken> {
    let mut reduction = Reduction::new(input.to_vec(), oracle, budget);
    for (source, _) in may_change.iter().enumerate().filter(|(_, may)| **may) {
        reduction.source = source;
        let text = reduction.as_document()?;
        if text == Text::File {
            continue;
        }
        reduction.patience = if text == Text::Flat { PATIENCE } else { PATIENCE_WITH_DOCUMENTS };
        reduction.sums = sums(reduction.bytes());
        reduction.coarsely()?;
        if budget.few && text == Text::Flat {
            reduction.coarsely_plainly()?;
            reduction.words_plainly()?;
        }
        reduction.pass(&Lower)?;
        reduction.finely()?;
        // The leaves of a document are plain already.
        if text == Text::Flat {
            reduction.plainly()?;
        }
    }
    let runs = budget.runs - reduction.left;
    Ok(Reduced { input: reduction.best, runs })
}

/// An input on the way to a smaller one.
pub(crate) struct Reduction<'a> {
    pub(crate) best: Vec<Vec<u8>>,
    /// The source that is reduced.
    pub(crate) source: usize,
    /// Its sums, which are kept right.
    sums: Vec<Sum>,
    pub(crate) oracle: &'a mut dyn Oracle,
    pub(crate) budget: Budget<'a>,
    /// Runs that are left.
    pub(crate) left: u64,
    /// After so many runs in vain no more is looked for.
    patience: u64,
    /// After so many in vain a pass ends.
    pub(crate) haste: u64,
    /// Runs since something got smaller.
    in_vain: u64,
    tried: InVain,
}

impl<'a> Reduction<'a> {
    /// Of the first source, without sums to keep.
    pub(crate) fn new(best: Vec<Vec<u8>>, oracle: &'a mut dyn Oracle, budget: Budget<'a>) -> Self {
        let (source, sums, tried) = (0, Vec::new(), InVain::default());
        let (left, patience, in_vain) = (budget.runs, PATIENCE, 0);
        let haste = u64::MAX;
        Self { best, source, sums, oracle, budget, left, patience, haste, in_vain, tried }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.best[self.source]
    }

    pub(crate) fn is_over(&self) -> bool {
        self.left == 0 || (self.budget.over)()
    }

    /// Whether a candidate has not been tried yet. It counts as tried from now on.
    pub(crate) fn is_new(&mut self, candidate: &[Vec<u8>]) -> bool {
        self.tried.insert(candidate)
    }

    /// It may be tried again.
    pub(crate) fn forget(&mut self, candidate: &[Vec<u8>]) {
        self.tried.remove(candidate);
    }

    pub(crate) fn is_left_out(&self, family: &str) -> bool {
        self.budget.without.iter().any(|it| it == family)
    }

    /// Elements in groups, large ones first; of what has none, anything.
    pub(crate) fn by_elements(&mut self) -> Result<(), Broken> {
        let mut size = elements::most(self.bytes());
        if size == 0 {
            return self.coarsely();
        }
        while size > 0 {
            self.pass(&Elements(size))?;
            size = size.min(elements::most(self.bytes())) / 2;
        }
        Ok(())
    }

    /// Large parts first.
    pub(crate) fn coarsely(&mut self) -> Result<(), Broken> {
        let mut size = elements::most(self.bytes());
        while size > 0 {
            self.pass(&Elements(size))?;
            size = size.min(elements::most(self.bytes())) / 2;
        }
        let mut size = units::lines(self.bytes()).len() - 1;
        while size > 0 {
            self.pass(&Lines(size))?;
            size = size.min(units::lines(self.bytes()).len().max(2) - 1) / 2;
        }
        self.pass(&LinePairs)?;
        self.pass(&Records)?;
        let mut size = self.bytes().len();
        while size > WIDEST {
            self.pass(&Bytes(size))?;
            size = size.min(self.bytes().len()) / 2;
        }
        Ok(())
    }

    /// Texts and values become plain in groups, large ones first: few runs show which of them matter.
    pub(crate) fn coarsely_plainly(&mut self) -> Result<(), Broken> {
        let mut size = elements::not_plain(self.bytes());
        while size > 0 && !self.is_over() {
            self.pass(&Plain(size))?;
            size = size.min(elements::not_plain(self.bytes())) / 2;
        }
        Ok(())
    }

    /// The same with single words of what has to stay.
    pub(crate) fn words_plainly(&mut self) -> Result<(), Broken> {
        let mut size = elements::words_not_plain(self.bytes()).len();
        while size > 0 && !self.is_over() {
            self.pass(&PlainWords(size))?;
            size = size.min(elements::words_not_plain(self.bytes()).len()) / 2;
        }
        Ok(())
    }

    /// Everything of every small size, until nothing goes: what is needed may not be when other things
    /// are gone.
    pub(crate) fn finely(&mut self) -> Result<(), Broken> {
        let stages = stages();
        self.in_vain = 0;
        'rounds: while self.in_vain < self.patience && !self.is_over() {
            for stage in &stages {
                let mut smaller = false;
                for pass in stage {
                    smaller |= self.pass(&**pass)?;
                    if self.in_vain >= self.patience {
                        return Ok(());
                    }
                }
                if smaller {
                    continue 'rounds;
                }
            }
            return Ok(());
        }
        Ok(())
    }

    /// What must stay becomes plain, where it can.
    pub(crate) fn plainly(&mut self) -> Result<(), Broken> {
        if self.is_left_out("plain") || self.is_over() {
            return Ok(());
        }
        let own: Vec<At> = (0..self.bytes().len()).map(|at| (self.source, at)).collect();
        let mut counted = Counting { oracle: self.oracle, runs: 0 };
        let most = self.left.min(PATIENCE);
        self.best = blank(&self.best, &own, &mut counted, most, self.budget.over)?;
        self.left = self.left.saturating_sub(counted.runs);
        Ok(())
    }

    /// Tries every edit of a pass once. Whether one was made.
    pub(crate) fn pass(&mut self, pass: &dyn Pass) -> Result<bool, Broken> {
        if self.is_left_out(pass.family()) {
            return Ok(false);
        }
        let mut edits = pass.edits(self.bytes());
        let (mut next, mut smaller) = (0, false);
        // Where one edit is made, the next one often is, too: those that were tried beside it are in vain.
        let at_first = if self.bytes().len() < LARGE { 2 } else { 1 };
        let mut at_once = at_first;
        while next < edits.len() && !self.is_over() && self.in_vain < self.haste {
            let (mut candidates, mut from) = (Vec::new(), Vec::new());
            while next < edits.len() && candidates.len() < at_once.min(self.left as usize) {
                let mut candidate = self.best.clone();
                candidate[self.source] = edits[next].apply_with(self.bytes(), &self.sums);
                if self.is_new(&candidate) {
                    candidates.push(candidate);
                    from.push(next);
                }
                next += 1;
            }
            self.left -= candidates.len() as u64;
            self.in_vain += candidates.len() as u64;
            let results = self.oracle.fails(&candidates)?;
            let Some(first) = results.iter().position(|&fails| fails) else {
                at_once = (at_once * 2).min(AT_ONCE);
                continue;
            };
            for (later, fails) in candidates.iter().zip(&results).skip(first + 1) {
                // One that fails was not wanted beside this one, but may be after it.
                if *fails {
                    self.forget(later);
                }
            }
            let edit = &edits[from[first]];
            let start = edit.start();
            self.sums = edit.sums(&self.sums);
            self.best = candidates.swap_remove(first);
            (smaller, self.in_vain, at_once) = (true, 0, at_first);
            // What was behind the cut is at its place now.
            edits = pass.edits(self.bytes());
            next = edits.partition_point(|edit| edit.start() < start);
        }
        Ok(smaller)
    }
}

/// The passes over what is small, the cheap ones first. After each stage that helped, all begins anew.
fn stages() -> Vec<Vec<Box<dyn Pass>>> {
    let boxed = |size: usize| -> Box<dyn Pass> { Box::new(Tokens(size)) };
    let mut cheap: Vec<Box<dyn Pass>> =
        vec![Box::new(Elements(1)), Box::new(Brackets), Box::new(Hoist), Box::new(Items)];
    cheap.extend(FIRST_SIZES.into_iter().map(boxed));
    cheap.push(Box::new(Words));
    let mut values: Vec<Box<dyn Pass>> = vec![Box::new(Numbers)];
    values.extend((1..=WIDEST_INSTEAD).rev().map(|it| -> Box<dyn Pass> { Box::new(Instead(it)) }));
    let windows = (1..=WIDEST_WINDOW).rev().map(|it| -> Box<dyn Pass> { Box::new(Window(it)) });
    let others = (1..=WIDEST).rev().filter(|size| !FIRST_SIZES.contains(size)).map(boxed);
    let mut dear: Vec<Vec<Box<dyn Pass>>> = vec![
        vec![Box::new(Lines(1))],
        vec![Box::new(Mentions)],
        vec![Box::new(Inlined)],
        // Not before: what a word brings with it goes more easily while it is what it was.
        vec![Box::new(OtherWords)],
        vec![Box::new(BracketPairs)],
        vec![Box::new(Counted)],
        vec![Box::new(LinePairs)],
    ];
    dear.extend((1..=WIDEST).map(|it| -> Vec<Box<dyn Pass>> { vec![Box::new(TokenPairs(it))] }));
    let mut stages =
        vec![cheap, values, vec![Box::new(Lower)], windows.collect(), others.collect()];
    stages.extend(dear);
    stages
}

/// Counts the runs of another.
struct Counting<'a> {
    oracle: &'a mut dyn Oracle,
    runs: u64,
}

impl Oracle for Counting<'_> {
    fn fails(&mut self, inputs: &[Vec<Vec<u8>>]) -> Result<Vec<bool>, Broken> {
        self.runs += inputs.len() as u64;
        self.oracle.fails(inputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sums::crc32;

    fn shortened(
        input: &[&[u8]],
        may: &[bool],
        mut fails: impl FnMut(&[Vec<u8>]) -> bool,
    ) -> Vec<Vec<u8>> {
        let input: Vec<Vec<u8>> = input.iter().map(|part| part.to_vec()).collect();
        let mut oracle = |input: &[Vec<u8>]| fails(input);
        {
            let budget = Budget {
                runs: 100_000,
                over: &|| false,
                without: &["plain".to_owned()],
                few: false,
            };
            reduce(&input, may, &mut oracle, budget).expect("the closure cannot break").input
        }
    }

    #[test]
    fn what_the_failure_does_not_need_is_gone() {
        let text = b"hello here, that is a bug, no?";
        let found =
            shortened(&[text], &[true], |input| input[0].windows(3).any(|part| part == b"bug"));
        assert_eq!(found, [b"bug".to_vec()]);
        // A failure that needs nothing needs no byte, and there is nothing to be made plain then.
        assert_eq!(shortened(&[text], &[true], |_| true), [Vec::<u8>::new()]);
        let budget = Budget { runs: 1000, over: &|| false, without: &[], few: false };
        let found = reduce(&[text.to_vec()], &[true], &mut |_: &[Vec<u8>]| true, budget);
        assert_eq!(found.expect("the closure cannot break").input, [Vec::<u8>::new()]);
    }

    #[test]
    fn where_there_is_time_for_few_runs_words_become_plain_first() {
        let text =
            b"Hannelore Weizsaecker; Kapellenberg 7; 1968-14-09; hepatitis; DE9386011\n".repeat(30);
        // Every line has its fields, and in one a month is none.
        let mut oracle = |input: &[Vec<u8>]| {
            let mut lines = input[0].split_inclusive(|&byte| byte == b'\n');
            let well = lines.clone().all(|it| {
                let fields = it.split(|&byte| byte == b';');
                it.ends_with(b"\n")
                    && fields.clone().count() == 5
                    && fields.into_iter().all(|it| it.len() > 4)
            });
            well && lines.any(|it| it.windows(4).any(|part| part == b"-14-"))
        };
        for (few, private) in [(true, false), (false, true)] {
            let budget = Budget { runs: 60, over: &|| false, without: &[], few };
            let found = reduce(std::slice::from_ref(&text), &[true], &mut oracle, budget);
            let found = found.expect("the closure cannot break").input.swap_remove(0);
            assert!(oracle(std::slice::from_ref(&found)));
            let has = |word: &[u8]| found.windows(word.len()).any(|it| it == word);
            let all: [&[u8]; 4] = [b"Hannelore", b"Kapellenberg", b"hepatitis", b"9386011"];
            assert_eq!(all.iter().any(|word| has(word)), private, "{}", found.len());
        }
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
        assert!(count < 300, "{count} runs");
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
    fn sources_that_must_not_change_do_not_and_runs_are_counted() {
        let found = shortened(&[b"abc", b"abc"], &[false, true], |input| !input[1].is_empty());
        assert_eq!(found[0], b"abc");
        assert_eq!(found[1].len(), 1);
        let mut count = 0;
        let mut oracle = |input: &[Vec<u8>]| {
            count += 1;
            input[0].len() > 3
        };
        let budget = Budget { runs: 7, over: &|| false, without: &[], few: false };
        reduce(&[vec![0; 1000]], &[true], &mut oracle, budget).expect("it cannot break");
        assert_eq!(count, 7);
    }
}
