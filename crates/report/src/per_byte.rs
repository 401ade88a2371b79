//! What is revealed about each byte by itself, in runs of bytes with the same figure.
//!
//! Always: runs are in order, do not overlap, and are not empty; a byte in no run reveals nothing.
//! Where runs are joined to save room, figures only go up, and the kind says so.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use crate::figure::{Kind, NOTHING, of_a_byte};
use crate::source::SourceName;

/// How the figure of a byte is meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ByteKind {
    /// That many bits.
    Exact,
    /// That many bits or fewer.
    AtMost,
    /// About that many bits.
    Estimate,
    /// The user said that this byte need not be hidden: it is the original's, and does not count.
    /// Its figure is 8.
    Public,
}

impl From<Kind> for ByteKind {
    fn from(kind: Kind) -> ByteKind {
        match kind {
            Kind::Exact => ByteKind::Exact,
            Kind::AtMost => ByteKind::AtMost,
            Kind::Estimate => ByteKind::Estimate,
        }
    }
}

/// Neighbouring bytes that reveal equally much, each by itself. In the file it is a list:
/// `[offset, length, bits, kind]`.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(from = "(u64, u64, f64, ByteKind)", into = "(u64, u64, f64, ByteKind)")]
pub struct Run {
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub length: u64,
    /// What each of them reveals, in bits, to hundredths.
    pub bits: f64,
    /// How that is meant.
    pub kind: ByteKind,
}

impl Run {
    /// The first byte behind the run.
    pub fn end(&self) -> u64 {
        self.offset.saturating_add(self.length)
    }
}

impl From<(u64, u64, f64, ByteKind)> for Run {
    fn from((offset, length, bits, kind): (u64, u64, f64, ByteKind)) -> Run {
        Run { offset, length, bits, kind }
    }
}

impl From<Run> for (u64, u64, f64, ByteKind) {
    fn from(run: Run) -> (u64, u64, f64, ByteKind) {
        (run.offset, run.length, run.bits, run.kind)
    }
}

/// What is revealed about the bytes of one source.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ByteRuns {
    /// The source.
    pub source: SourceName,
    /// Runs were joined to save room: figures are upper bounds where they say `at-most`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coarse: bool,
    /// The bytes that reveal something, or are public.
    pub runs: Vec<Run>,
}

impl ByteRuns {
    /// The runs of a source whose bytes have these figures, from offset 0 on. The figure of a
    /// public byte is not looked at.
    pub fn new(source: SourceName, figures: impl IntoIterator<Item = (f64, ByteKind)>) -> ByteRuns {
        let mut runs: Vec<Run> = Vec::new();
        for (offset, (bits, kind)) in (0..).zip(figures) {
            let bits = shown(bits, kind);
            if bits == 0.0 {
                continue;
            }
            match runs.last_mut() {
                Some(last) if last.end() == offset && last.bits == bits && last.kind == kind => {
                    last.length += 1;
                }
                _ => runs.push(Run { offset, length: 1, bits, kind }),
            }
        }
        ByteRuns { source, coarse: false, runs }
    }

    /// The figure of the byte at `offset`; `None` if it reveals nothing.
    pub fn at(&self, offset: u64) -> Option<(f64, ByteKind)> {
        let next = self.runs.partition_point(|run| run.offset <= offset);
        let run = self.runs[..next].last().filter(|run| offset < run.end())?;
        Some((run.bits, run.kind))
    }

    /// The same with at most `most` runs, and never more than there are: neighbours are joined
    /// where that adds the fewest bits.
    pub(crate) fn coarsened(&self, most: usize) -> ByteRuns {
        let (runs, most) = (&self.runs, most.max(1));
        if runs.len() <= most {
            return self.clone();
        }
        // Joins in order of price. A join makes the prices of its neighbours stale: each run has a
        // count of its changes, and a price with an old count is skipped.
        let mut live: Vec<Option<Run>> = runs.iter().copied().map(Some).collect();
        let mut next: Vec<usize> = (1..=runs.len()).collect();
        let mut previous: Vec<usize> = (0..runs.len()).map(|at| at.wrapping_sub(1)).collect();
        let mut changes = vec![0_u32; runs.len()];
        let mut prices = BinaryHeap::new();
        let price = |left: &Run, right: &Run| {
            let all = joined(left, right);
            let area = |run: &Run| run.length as f64 * run.bits;
            // In thousandths of a bit, so that prices have an order.
            ((area(&all) - area(left) - area(right)) * 1000.0).max(0.0) as u64
        };
        for at in 0..runs.len() - 1 {
            prices.push(Reverse((price(&runs[at], &runs[at + 1]), at, 0_u32, 0_u32)));
        }
        let mut count = runs.len();
        while count > most {
            let Some(Reverse((_, at, mine, theirs))) = prices.pop() else { break };
            let other = next[at];
            let (Some(left), Some(right)) = (live[at], live.get(other).copied().flatten()) else {
                continue;
            };
            if changes[at] != mine || changes[other] != theirs {
                continue;
            }
            let all = joined(&left, &right);
            live[at] = Some(all);
            live[other] = None;
            changes[at] += 1;
            next[at] = next[other];
            count -= 1;
            let (before, after) = (previous[at], next[at]);
            if let Some(Some(after_run)) = live.get(after) {
                previous[after] = at;
                prices.push(Reverse((price(&all, after_run), at, changes[at], changes[after])));
            }
            if let Some(Some(before_run)) = live.get(before) {
                prices.push(Reverse((
                    price(before_run, &all),
                    before,
                    changes[before],
                    changes[at],
                )));
            }
        }
        let runs = live.into_iter().flatten().collect();
        ByteRuns { source: self.source.clone(), coarse: true, runs }
    }

    /// Figures to hundredths, neighbours with equal figures joined, what reveals nothing dropped.
    pub(crate) fn tidied(&self) -> ByteRuns {
        let mut runs: Vec<Run> = Vec::new();
        for run in &self.runs {
            let run = Run { bits: shown(run.bits, run.kind), ..*run };
            if run.bits == 0.0 || run.length == 0 {
                continue;
            }
            match runs.last_mut() {
                Some(last)
                    if last.end() == run.offset
                        && last.bits == run.bits
                        && last.kind == run.kind =>
                {
                    last.length += run.length;
                }
                _ => runs.push(run),
            }
        }
        ByteRuns { source: self.source.clone(), coarse: self.coarse, runs }
    }
}

/// A byte's figure as it is written.
fn shown(bits: f64, kind: ByteKind) -> f64 {
    match kind {
        ByteKind::Public => 8.0,
        _ if bits <= NOTHING => 0.0,
        ByteKind::Exact => of_a_byte(bits, Kind::Exact),
        ByteKind::AtMost => of_a_byte(bits, Kind::AtMost),
        ByteKind::Estimate => of_a_byte(bits, Kind::Estimate),
    }
}

/// One run for two and whatever lies between them. The figure is the larger one, so it is a bound
/// for every byte; an estimate stays one, because it may be too low already.
fn joined(left: &Run, right: &Run) -> Run {
    let same = left.kind == right.kind && left.bits == right.bits && left.end() == right.offset;
    let kind = if same {
        left.kind
    } else if [left.kind, right.kind].contains(&ByteKind::Estimate) {
        ByteKind::Estimate
    } else {
        ByteKind::AtMost
    };
    let length = right.end() - left.offset;
    let bits = if same { left.bits } else { upper(left).max(upper(right)) };
    Run { offset: left.offset, length, bits, kind }
}

/// A bound for the figure of a run. An exact figure was rounded, by less than a hundredth.
fn upper(run: &Run) -> f64 {
    match run.kind {
        ByteKind::Exact if run.bits < 8.0 => ((run.bits * 100.0).round() + 1.0) / 100.0,
        _ => run.bits,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn run(offset: u64, length: u64, bits: f64, kind: ByteKind) -> Run {
        Run { offset, length, bits, kind }
    }

    #[test]
    fn equal_neighbours_are_one_run_and_nothing_is_left_out() {
        let exact = |bits: f64| (bits, ByteKind::Exact);
        let figures = [8.0, 8.0, 0.0, 1e-12, 0.0113, 0.0112, 0.0004, 3.0].map(exact);
        let runs = ByteRuns::new(SourceName::File, figures);
        let expected = [
            run(0, 2, 8.0, ByteKind::Exact),
            run(4, 3, 0.01, ByteKind::Exact),
            run(7, 1, 3.0, ByteKind::Exact),
        ];
        assert_eq!(runs.runs, expected);
        assert_eq!(runs.at(1), Some(exact(8.0)));
        assert_eq!((runs.at(2), runs.at(3), runs.at(8)), (None, None, None));
        assert_eq!(runs.at(6), Some(exact(0.01)));
    }

    #[test]
    fn public_bytes_are_runs_of_their_own() {
        let figures = [(0.0, ByteKind::Public), (8.0, ByteKind::Exact), (0.0, ByteKind::Exact)];
        let runs = ByteRuns::new(SourceName::Stdin, figures).runs;
        let expected = [run(0, 1, 8.0, ByteKind::Public), run(1, 1, 8.0, ByteKind::Exact)];
        assert_eq!(runs, expected);
    }

    #[test]
    fn the_cheapest_neighbours_are_joined_first() {
        let figures = [
            (8.0, ByteKind::Exact),
            (0.0, ByteKind::Exact),
            (1.0, ByteKind::Exact),
            (1.1, ByteKind::Exact),
        ];
        let coarse = ByteRuns::new(SourceName::File, figures).coarsened(2);
        assert!(coarse.coarse);
        let expected = [run(0, 1, 8.0, ByteKind::Exact), run(2, 2, 1.11, ByteKind::AtMost)];
        assert_eq!(coarse.runs, expected);
        let one = coarse.coarsened(1);
        assert_eq!(one.runs, [run(0, 4, 8.0, ByteKind::AtMost)]);
    }

    fn kinds() -> impl Strategy<Value = ByteKind> {
        prop_oneof![
            Just(ByteKind::Exact),
            Just(ByteKind::AtMost),
            Just(ByteKind::Estimate),
            Just(ByteKind::Public)
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn joining_only_raises_figures(
            figures in prop::collection::vec((prop_oneof![Just(0.0), 0.0..8.0], kinds()), 0..200),
            most in 1_usize..40,
        ) {
            let fine = ByteRuns::new(SourceName::File, figures.iter().copied());
            let coarse = fine.coarsened(most);
            prop_assert!(coarse.runs.len() <= most);
            prop_assert_eq!(coarse.coarse, fine.runs.len() > most);
            prop_assert!(coarse.runs.windows(2).all(|pair| pair[0].end() <= pair[1].offset));
            for offset in 0..figures.len() as u64 {
                let (before, after) = (fine.at(offset), coarse.at(offset));
                let bits = |figure: Option<(f64, ByteKind)>| figure.map_or(0.0, |(bits, _)| bits);
                prop_assert!(bits(after) >= bits(before));
                // A bound is one for the figure before it was rounded, too.
                let (exact, kind) = figures[offset as usize];
                if let (ByteKind::Exact, Some((bound, ByteKind::AtMost))) = (kind, after) {
                    prop_assert!(bound >= exact, "{} for {}", bound, exact);
                }
                // Only an unchanged figure may still call itself exact or public.
                if let Some((_, ByteKind::Exact | ByteKind::Public)) = after {
                    prop_assert_eq!(before, after);
                }
            }
            prop_assert_eq!(coarse.tidied().tidied(), coarse.tidied());
        }
    }
}
