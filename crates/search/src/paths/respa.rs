//! respa: the least leaking path through the nodes that the failure needs, again and again.
//!
//! After J. Matos, J. Garcia, P. Romano, "Enhancing privacy protection in fault replication
//! systems" (ISSRE 2015). SPA (see `spa.rs`) turns a failing path into one that leaks less; it is
//! given its own result until nothing is gained, or until a number of rounds is over: then one of
//! the paths met is drawn, all with the same chance.
//!
//! Guarantee: if the rounds ended because nothing was gained, the chosen path leads to itself, and an
//! attacker who knows everything but the input cannot tell whether the original took the chosen
//! path or the one that it took: the double leaks at most `-log2(α_φ + α_φ')`. Whether the chosen path
//! leads to itself is found out, not assumed ([`Found::fixed_point`]): the last round is that test,
//! and after a draw there is one round more. Where it was not found out, because time ran out, or
//! where it is not so, the figure is that of the chosen path alone: the double is uniform in it, and
//! that holds on average over all originals, however the path was found. So it is where something was
//! decided by the input and not by its path ([`Found::by_path`]): other inputs of the path may lead
//! elsewhere then.
//!
//! Departures: those of `spa.rs`, and for long paths. A real parser makes 10,000 to 1,000,000 tests
//! on its way, and SPA's first search would never come to the middle. So a path of more than a
//! hundred tests is cut into windows (see `windows.rs`). The guarantee does not depend on how a path
//! is turned into another, as long as that depends on the path alone: it holds for windows, too. Nor
//! does a search go on without end: it is bounded by tests made, and fails then.
//!
//! The command may start from another failing input than the original, one with a single value wherever
//! that will do, or one that was shortened and filled up: its path says less, and there is less to replace. The map from originals to paths is
//! another one then, and nothing is known about its fixed points; so the figure is that of the chosen
//! path alone, which holds on average, as above. `--as-is` starts from the original.
//!
//! The time that the rounds take tells how many there were. With [`RespaOptions::hide_time`] there
//! is a random delay after each of them, also after the last, as the paper proposes. Delays are no part
//! of the time that the search may take.

use std::time::Duration;

use rand::Rng;
use stunt_path::Execution;

use super::source::Source;
use super::spa::{Bounds, Moment, spa};
use super::tree::{Point, Search};
use super::windows::in_windows;
use super::{Astray, Found, LESS, Path, Task, union};

/// A path of more tests is cut into windows.
const LONG: usize = 100;
/// The most tests made by one search on a path that is not.
const SEARCH: u64 = 4_000;

/// How respa searches.
#[derive(Clone, Copy, Debug)]
pub struct RespaOptions {
    /// The farthest from the source path, in tests; none for no bound, as the paper recommends.
    pub radius: Option<usize>,
    /// The most rounds: the paper's MAX.
    pub rounds: u32,
    /// The longest of the random delays after rounds.
    pub hide_time: Option<Duration>,
    /// Whether to record what is done step by step.
    pub record: bool,
}

impl Default for RespaOptions {
    fn default() -> Self {
        RespaOptions { radius: None, rounds: 16, hide_time: None, record: false }
    }
}

struct Respa<'a, E> {
    search: Search<'a>,
    root: Point<E>,
    options: RespaOptions,
    moments: Vec<Moment>,
}

/// Looks for a failing path that leaks less, until it leads to itself.
///
/// # Errors
/// The original's own path could not be walked.
pub fn respa<E: Execution>(
    start: E,
    task: Task<'_>,
    options: &RespaOptions,
) -> Result<Found, Astray> {
    let (mut search, root, end) = Search::begin(start, task)?;
    let first = search.path(&end.point);
    search.improved(first.leak().upper());
    let mut work = Respa { search, root, options: *options, moments: Vec::new() };
    let mut all: Vec<(Path, Point<E>)> = vec![(first, end.point)];
    let mut left = options.rounds.max(1);
    let (chosen, fixed_point) = loop {
        let last = all.len() - 1;
        let better = work.better(&all[last]);
        let spent = work.search.spent();
        work.delay();
        let Some(better) = better else {
            break (last, (!spent).then_some(true));
        };
        all.push(better);
        if spent {
            break (last + 1, None);
        }
        left -= 1;
        if left == 0 {
            let chosen = work.search.rng.gen_range(0..all.len());
            let gained = work.better(&all[chosen]).is_some();
            let known = gained || !work.search.spent();
            work.delay();
            break (chosen, known.then_some(!gained));
        }
    };
    let Respa { mut search, moments, .. } = work;
    let paths: Vec<Path> = all.into_iter().map(|(path, _)| path).collect();
    let complete = fixed_point.is_some();
    // What was found out with one input of a path holds for the others if all went by the path.
    let by_path = search.by_path();
    let fixed_point = fixed_point.filter(|_| by_path);
    let leak = match fixed_point {
        Some(true) if chosen > 0 => union([&paths[0], &paths[chosen]]),
        _ => paths[chosen].leak(),
    };
    search.statistics.paths = paths.len() as u64;
    Ok(Found {
        chosen,
        leak,
        complete,
        fixed_point,
        by_path,
        statistics: search.statistics,
        moments,
        paths,
    })
}

impl<E: Execution> Respa<'_, E> {
    /// Waits for some time after a round, if that is asked for.
    fn delay(&mut self) {
        if let Some(longest) = self.options.hide_time {
            let delay = self.search.rng.gen_range(0.0..=longest.as_secs_f64());
            self.search.wait(Duration::from_secs_f64(delay));
        }
    }

    /// A failing path that leaks less than the given one, if SPA finds one.
    fn better(&mut self, from: &(Path, Point<E>)) -> Option<(Path, Point<E>)> {
        self.search.statistics.spa += 1;
        let mut source = Source::new(&self.root, from.1.clone());
        if self.options.record {
            self.moments.push(Moment::Source { tests: source.len() });
        }
        let end = if source.len() > LONG {
            let mut moments = self.options.record.then_some(&mut self.moments);
            in_windows(&mut self.search, source, self.options.radius, &mut moments)?
        } else {
            let bounds = Bounds { radius: self.options.radius, search: SEARCH, nodes: u64::MAX };
            let span = (0, source.len() + 1);
            let mut moments = self.options.record.then_some(&mut self.moments);
            spa(&mut self.search, &mut source, span, &bounds, &mut moments)?.0
        };
        let path = self.search.path(&end);
        (path.leak().upper() < from.0.leak().upper() - LESS).then_some((path, end))
    }
}
