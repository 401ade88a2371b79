//! Shortening: an input that still fails, with fewer bytes. The classical reduction, after A. Zeller
//! and R. Hildebrandt, "Simplifying and isolating failure-inducing input" (2002): groups of lines, then
//! of bytes, are deleted, large ones first, until no single byte can be.
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

use super::oracle::{Broken, Oracle};

/// How many deletions are tried at once, for every run that is under way at a time.
const AT_ONCE: usize = 2;

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

/// What is deleted in groups.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// A line with its end: in most texts lines stand for themselves.
    Line,
    Byte,
}

impl Unit {
    /// Where the units of an input begin, and its end.
    fn starts(self, bytes: &[u8]) -> Vec<usize> {
        match self {
            Unit::Byte => (0..=bytes.len()).collect(),
            Unit::Line => {
                let ends = bytes.iter().zip(1..).filter(|(byte, _)| **byte == b'\n');
                let mut starts: Vec<usize> = [0].into_iter().chain(ends.map(|it| it.1)).collect();
                if starts.last() != Some(&bytes.len()) {
                    starts.push(bytes.len());
                }
                starts
            }
        }
    }
}

/// Deletes bytes of an input on which the program fails, within so many runs. Only sources that may
/// change their length do.
///
/// # Errors
/// The program cannot be run.
pub fn shorten(
    input: &[Vec<u8>],
    may_change: &[bool],
    oracle: &mut dyn Oracle,
    mut runs: u64,
    over: &dyn Fn() -> bool,
) -> Result<Vec<Vec<u8>>, Broken> {
    let mut best = input.to_vec();
    for (source, _) in may_change.iter().enumerate().filter(|(_, may)| **may) {
        for unit in [Unit::Line, Unit::Byte] {
            let mut size = unit.starts(&best[source]).len() - 1;
            while size > 0 {
                let before = best[source].len();
                pass(&mut best, source, unit, size, oracle, &mut runs, over)?;
                if runs == 0 || over() {
                    return Ok(best);
                }
                // Single units go round until none goes: one that is needed may not be when others
                // are gone.
                if size > 1 || best[source].len() == before {
                    size = size.min(unit.starts(&best[source]).len().max(2) - 1) / 2;
                }
            }
        }
    }
    Ok(best)
}

/// Tries to delete every group of so many units once.
fn pass(
    best: &mut Vec<Vec<u8>>,
    source: usize,
    unit: Unit,
    size: usize,
    oracle: &mut dyn Oracle,
    runs: &mut u64,
    over: &dyn Fn() -> bool,
) -> Result<(), Broken> {
    let mut units = unit.starts(&best[source]);
    let mut start = 0;
    while start + 1 < units.len() {
        let batch = (AT_ONCE * oracle.width()).min(*runs as usize);
        if batch == 0 || over() {
            return Ok(());
        }
        let last = units.len() - 1;
        let starts: Vec<usize> =
            (0..batch).map(|i| start + i * size).filter(|&at| at < last).collect();
        let without = |&at: &usize| {
            let mut candidate = best.clone();
            candidate[source].drain(units[at]..units[(at + size).min(last)]);
            candidate
        };
        let candidates: Vec<Vec<Vec<u8>>> = starts.iter().map(without).collect();
        *runs -= candidates.len() as u64;
        let results = oracle.fails(&candidates)?;
        match results.iter().position(|&fails| fails) {
            Some(first) => {
                *best = candidates.into_iter().nth(first).unwrap_or_default();
                units = unit.starts(&best[source]);
                // What was behind the group is at its place now.
                start = starts[first];
            }
            None => start += starts.len() * size,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(count < 100, "{count} runs");
        assert_eq!(Unit::Line.starts(b"a\n\nb"), [0, 2, 3, 4]);
        assert_eq!(Unit::Line.starts(b"a\n"), [0, 2]);
        assert_eq!(Unit::Line.starts(b""), [0]);
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
