//! reap-brw and reap-bag: random detours around the original's path.
//!
//! After J. Matos, J. Garcia, P. Romano, "REAP: reporting errors using alternative paths" (ESOP
//! 2014). The original's path `φ` is walked again, with detours: at some tests the other outcome is
//! taken, and a few tests later the walk re-joins `φ`, or returns to where it left. If the failure
//! comes about, the path is the result. *Bounded random walk* leaves at random and turns at random;
//! *bounded adaptive greedy* prefers the outcome that more inputs have (the *broad* one), at attempt
//! `t` with probability `(t + 1) / 2t`.
//!
//! Guarantee: no path is more likely to be the original's than the one that is shown, and the double
//! leaks at most `-log2(α_φ + α_φ')` (theorems 1 to 3). From the second attempt on, `φ` itself is the
//! result with probability 0.5, or else finding another path often enough would give `φ` away. Where
//! `φ` is the result, the figure is that of `φ` alone. So it is with `φ'` where something was decided by
//! the input and not by its path ([`Found::by_path`]): the paper's programs have no pins and two
//! outcomes a test.
//!
//! Where the text had to be read with care:
//! - The listing counts attempts from 0 and compares with 1; meant is the first.
//! - reap-bag's selector is said to choose detours "with the probability given by equation 2", the
//!   proof of theorem 2 has the broad outcome taken with that probability at every node. Both are true
//!   if a test is left with `P(B)` where the other outcome is the broad one, with `1 - P(B)` where it
//!   is the narrow one, and with 0.5 where both are even. So it is done.
//!
//! Departures: a detour that ends in the failure has re-joined, too (as in the earlier report, see
//! `reap_rm.rs`): else the last test could never be left. If the walk comes to a test that is not on
//! `φ` at all, that is a detour that goes on. A path that leaks more than `φ` counts as not found:
//! nobody would want it.
//!
//! Long paths: with a detour at every second of 100,000 tests no failure would survive. Where `φ` has
//! more than some dozens of tests, only narrow outcomes are left, those that tell a bit or more by
//! themselves, and attempt after attempt chooses from half as many of them, down to a few, and then
//! from all again. A test is left less often than the paper's proofs assume, never more often, and how
//! often depends on its outcome and not on the rest of the path: with a chance `s P` instead of `P`,
//! the edge of `φ'` is kept with `1 - s (1 - P)`, which is still no less than `s P`, the chance to come
//! to it from elsewhere. The theorems hold. A bound on the number of detours, the paper's `numDetours`, does
//! the same: as many tests as it allows are chosen, all with the same chance, and no other is left.

use rand::Rng;
use rustc_hash::FxHashSet;
use stunt_path::{Execution, Junction};
use stunt_terms::Term;

use super::source::Source;
use super::tree::{Point, Search, State};
use super::{Astray, Found, LESS, Task, union};

/// A path of more tests gets fewer detours at every attempt.
const LONG: usize = 64;
/// The fewest tests to choose from.
const FEWEST: usize = 4;

/// How detours are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// reap-brw: a bounded random walk.
    RandomWalk,
    /// reap-bag: bounded, adaptive and greedy.
    AdaptiveGreedy,
}

/// How reap searches.
#[derive(Clone, Copy, Debug)]
pub struct ReapOptions {
    /// How detours are made.
    pub manner: Manner,
    /// The most tests of a detour.
    pub longest: usize,
    /// The most attempts.
    pub attempts: u32,
    /// The most tests at which an attempt may leave the path; none for as many as there are.
    pub detours: Option<usize>,
}

impl ReapOptions {
    /// The usual bounds.
    #[must_use]
    pub fn new(manner: Manner) -> Self {
        ReapOptions { manner, longest: 32, attempts: 200, detours: None }
    }

    fn most_detours(&self) -> usize {
        self.detours.unwrap_or(usize::MAX)
    }
}

/// What decides where to leave the path, and how to come back.
pub(crate) trait Guide<E: Execution> {
    /// Whether to leave the path at this position, before the test that the state stands at.
    fn leave(
        &mut self,
        search: &mut Search<'_>,
        source: &Source<E>,
        state: &mut State<E>,
        position: usize,
    ) -> bool;

    /// Goes on from a state off the path, to a node of the path or to the failure.
    fn detour(
        &mut self,
        search: &mut Search<'_>,
        source: &Source<E>,
        state: State<E>,
    ) -> Option<State<E>>;
}

/// Walks a path with detours, to the failure if it comes about: the paper's FORWARD.
pub(crate) fn forward<E: Execution>(
    search: &mut Search<'_>,
    root: &Point<E>,
    source: &Source<E>,
    guide: &mut impl Guide<E>,
) -> Option<Point<E>> {
    let mut start = root.clone();
    start.input = source.end.input.clone();
    let mut state = search.resume(&start);
    while state.junction().is_some() {
        if search.spent() {
            return None;
        }
        let position = state.point.node().map_or(Some(0), |node| source.position(node));
        if let Some(position) = position
            && guide.leave(search, source, &mut state, position)
            && let Some(joined) = depart(search, source, guide, &mut state)
        {
            state = joined;
            continue;
        }
        let (found, _) = search.outcomes(&mut state, |junction| source.has(junction.node));
        let last = found.last()?;
        if source.has(last.0.node) {
            search.take(&mut state, last);
        } else {
            // No outcome is on the path: the one with the lowest number, as φCOMPLY does it.
            let lowest = found.iter().min_by_key(|(junction, _)| junction.node.outcome)?;
            search.take(&mut state, lowest);
            state = guide.detour(search, source, state)?;
        }
    }
    search.failed(&state).then_some(state.point)
}

/// Takes the outcome that is not on the path, and comes back from there.
fn depart<E: Execution>(
    search: &mut Search<'_>,
    source: &Source<E>,
    guide: &mut impl Guide<E>,
    state: &mut State<E>,
) -> Option<State<E>> {
    let off = |junction: &Junction| !source.has(junction.node);
    let mut away = state.fork();
    let (found, _) = search.outcomes(&mut away, off);
    let last = search.another(&found).filter(|(junction, _)| off(junction))?;
    search.take(&mut away, last);
    guide.detour(search, source, away)
}

/// reap's own guide, for one attempt.
struct Walker {
    manner: Manner,
    longest: usize,
    /// From 1 on.
    attempt: u32,
    /// Where the path may be left, and with the random walk is.
    chosen: FxHashSet<usize>,
}

impl Walker {
    fn new(search: &mut Search<'_>, places: &[usize], options: &ReapOptions, attempt: u32) -> Self {
        let mut number = selected(places.len(), attempt - 1).min(options.most_detours());
        if options.manner == Manner::RandomWalk {
            number = search.rng.gen_range(0..=number);
        }
        let chosen = rand::seq::index::sample(&mut search.rng, places.len(), number);
        let chosen = chosen.into_iter().map(|at| places[at]).collect();
        Walker { manner: options.manner, longest: options.longest, attempt, chosen }
    }

    /// The chance of the broad outcome.
    fn broad(&self) -> f64 {
        f64::from(self.attempt + 1) / f64::from(2 * self.attempt)
    }

    /// Whether to take the other outcome than the one that is shown, `P(B)` deciding.
    fn other<E: Execution>(
        &self,
        search: &mut Search<'_>,
        state: &State<E>,
        junction: Junction,
    ) -> bool {
        let shown = price_with(search, state, junction.test.condition);
        let otherwise = search.pool.not(junction.test.condition);
        let other = price_with(search, state, otherwise);
        let chance = if (shown - other).abs() < LESS {
            0.5
        } else if other < shown {
            self.broad()
        } else {
            1.0 - self.broad()
        };
        search.rng.gen_bool(chance)
    }
}

/// The price of a point with one literal more.
fn price_with<E>(search: &mut Search<'_>, state: &State<E>, literal: Term) -> f64 {
    let mut point = state.point.clone();
    search.push(&mut point, literal);
    point.price
}

/// The positions where a path may be left: all, or on a long path those before narrow outcomes.
pub(crate) fn places<E: Execution>(search: &mut Search<'_>, source: &Source<E>) -> Vec<usize> {
    let all = 0..source.len();
    if source.len() <= LONG {
        return all.collect();
    }
    let mut narrow = |&position: &usize| {
        let literal = source.steps()[position].test.condition;
        search.profile(std::iter::once(literal), 1)[1] >= 1.0
    };
    let narrow: Vec<usize> = all.clone().filter(|position| narrow(position)).collect();
    if narrow.is_empty() { all.collect() } else { narrow }
}

/// From how many of the places a path may be left, when so many attempts have failed.
pub(crate) fn selected(places: usize, failed: u32) -> usize {
    if places <= LONG {
        return places;
    }
    let halvings = (places / FEWEST).ilog2() + 1;
    places >> (failed % halvings)
}

impl<E: Execution> Guide<E> for Walker {
    fn leave(
        &mut self,
        search: &mut Search<'_>,
        source: &Source<E>,
        state: &mut State<E>,
        position: usize,
    ) -> bool {
        if self.manner == Manner::RandomWalk || !self.chosen.contains(&position) {
            return self.chosen.contains(&position);
        }
        let Some(junction) = state.junction() else { return false };
        // What is shown may be off the path already; then the other outcome is on it.
        self.other(search, state, junction) == source.has(junction.node)
    }

    fn detour(
        &mut self,
        search: &mut Search<'_>,
        source: &Source<E>,
        mut state: State<E>,
    ) -> Option<State<E>> {
        for _ in 0..self.longest {
            if search.spent() {
                return None;
            }
            let Some(junction) = state.junction() else {
                return search.failed(&state).then_some(state);
            };
            let other = match self.manner {
                Manner::RandomWalk => search.rng.gen_bool(0.5),
                Manner::AdaptiveGreedy => self.other(search, &state, junction),
            };
            let enough = |next: &Junction| !other || next.node != junction.node;
            let (found, _) = search.outcomes(&mut state, enough);
            let last = search.another(&found)?;
            search.take(&mut state, last);
            if state.point.node().is_some_and(|node| source.has(node)) {
                return Some(state);
            }
        }
        (state.junction().is_none() && search.failed(&state)).then_some(state)
    }
}

/// Looks for another failing path by random detours.
///
/// # Errors
/// The original's own path could not be walked.
pub fn reap<E: Execution>(
    start: E,
    task: Task<'_>,
    options: &ReapOptions,
) -> Result<Found, Astray> {
    let (mut search, root, end) = Search::begin(start, task)?;
    let first = search.path(&end.point);
    search.improved(first.leak().upper());
    let source = Source::new(&root, end.point);
    let most = first.leak().upper() + LESS;
    let mut paths = vec![first];
    let (mut chosen, mut complete) = (0, true);
    let places = places(&mut search, &source);
    for attempt in 1..=options.attempts {
        if search.spent() {
            complete = false;
            break;
        }
        search.statistics.attempts += 1;
        let mut walker = Walker::new(&mut search, &places, options, attempt);
        let found = forward(&mut search, &root, &source, &mut walker);
        if let Some(end) = found.filter(|end| !end.trail.same(&source.end.trail)) {
            let path = search.path(&end);
            if path.leak().upper() > most {
                continue;
            }
            paths.push(path);
            chosen = usize::from(attempt == 1 || search.rng.gen_bool(0.5));
            break;
        }
    }
    search.statistics.paths = paths.len() as u64;
    let leak = match chosen {
        0 => paths[0].leak(),
        _ if search.by_path() => union(&paths),
        _ => paths[chosen].leak(),
    };
    search.improved(leak.upper());
    Ok(Found {
        paths,
        chosen,
        leak,
        complete,
        fixed_point: None,
        by_path: search.by_path(),
        statistics: search.statistics,
        moments: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_broad_outcome_is_certain_at_first_and_even_in_the_end() {
        let walker = |attempt| Walker {
            manner: Manner::AdaptiveGreedy,
            longest: 1,
            attempt,
            chosen: FxHashSet::default(),
        };
        assert_eq!(walker(1).broad(), 1.0);
        assert_eq!(walker(2).broad(), 0.75);
        assert_eq!(walker(3).broad(), 4.0 / 6.0);
        assert!(walker(100_000).broad() - 0.5 < 1e-5);
    }

    #[test]
    fn short_paths_are_left_as_the_paper_says_and_long_ones_less_and_less() {
        for failed in 0..100 {
            assert_eq!(selected(LONG, failed), LONG);
        }
        let among: Vec<usize> = (0..12).map(|failed| selected(1000, failed)).collect();
        assert_eq!(among, [1000, 500, 250, 125, 62, 31, 15, 7, 1000, 500, 250, 125]);
    }
}
