//! reap-rm: detours that make the double unlike the original, then random ones.
//!
//! After the earlier version of REAP in the FastFix project's deliverable 5.4, appendix A. First the
//! tests of the original's path `φ` are sorted by the residue that they force on a double: how many
//! bytes of the original a random solution of that test keeps. The worst are left; if the failure does
//! not come about, fewer, down to one. That gives `φ'`, without any chance. Then `φ'` is left at
//! random, with random bounds, for `φ''`, from which the double is drawn.
//!
//! Guarantee: `-log2(α_φ + α_φ' + α_φ'')`, as the report argues: the second phase may lead to any
//! failing path. If it finds none, `φ'` is the result, and its figure is that of `φ'` alone, because
//! the first phase can be undone by who knows it; if the first finds none either, `φ`. Where something
//! was decided by the input and not by its path ([`Found::by_path`]), it is that of the last path alone.
//!
//! Departures: residues are expected values, not those of one solution. A test whose solutions
//! cannot be counted is taken to keep nothing. A search for a way back is bounded by nodes as well as
//! by depth. If the worst `k` tests could not be left, the next `k` are tried, and only then half as
//! many: else one test that is needed would spoil it all. The first phase begins with some hundred
//! detours at most, and the second chooses as `reap.rs` does; a path that leaks more than the one
//! that it came from counts as not found.

use rand::Rng;
use rand::seq::SliceRandom;
use rustc_hash::FxHashSet;
use stunt_leakage::{Accounts, Ledger, log2_ratio};
use stunt_models::Budget;
use stunt_path::{Execution, Original};

use super::reap::{Guide, forward, places, selected};
use super::source::Source;
use super::tree::{Point, Search, State};
use super::{Astray, Found, LESS, Path, Task, union};

/// The most detours that the first phase begins with.
const MOST_DETOURS: usize = 256;
/// The most nodes that are visited for one way back.
const MOST_VISITED: usize = 128;

/// How reap-rm searches.
#[derive(Clone, Copy, Debug)]
pub struct ReapRmOptions {
    /// The most tests of a detour.
    pub longest: usize,
    /// The most attempts of the second phase.
    pub attempts: u32,
    /// The most tests at which an attempt may leave the path; none for as many as there are.
    pub detours: Option<usize>,
}

impl Default for ReapRmOptions {
    fn default() -> Self {
        ReapRmOptions { longest: 16, attempts: 100, detours: None }
    }
}

/// Leaves at given positions, and looks for a way back depth first.
struct Prober {
    chosen: FxHashSet<usize>,
    longest: usize,
    /// Whether outcomes are visited in a random order.
    random: bool,
}

impl<E: Execution> Guide<E> for Prober {
    fn leave(
        &mut self,
        _: &mut Search<'_>,
        _: &Source<E>,
        _: &mut State<E>,
        position: usize,
    ) -> bool {
        self.chosen.contains(&position)
    }

    fn detour(
        &mut self,
        search: &mut Search<'_>,
        source: &Source<E>,
        state: State<E>,
    ) -> Option<State<E>> {
        let depth = state.point.trail.len();
        let mut stack: Vec<Point<E>> = Vec::new();
        let mut next = Some(state);
        for _ in 0..MOST_VISITED {
            let state = match next.take() {
                Some(state) => state,
                None => search.resume(&stack.pop()?),
            };
            if search.spent() {
                return None;
            }
            let joined = state.point.node().is_some_and(|node| source.has(node));
            if joined || search.failed(&state) {
                return Some(state);
            }
            if state.point.trail.len() - depth >= self.longest {
                continue;
            }
            let mut children = search.children(state);
            if self.random {
                children.shuffle(&mut search.rng);
            } else {
                children.reverse();
            }
            stack.append(&mut children);
        }
        None
    }
}

/// Looks for a failing path whose inputs are unlike the original, and for another one from there.
///
/// # Errors
/// The original's own path could not be walked.
pub fn reap_rm<E: Execution>(
    start: E,
    task: Task<'_>,
    options: &ReapRmOptions,
) -> Result<Found, Astray> {
    let original = task.original;
    let (mut search, root, end) = Search::begin(start, task)?;
    let first = search.path(&end.point);
    search.improved(first.leak().upper());
    let mut source = Source::new(&root, end.point);
    let mut paths = vec![first];

    // Residue minimisation.
    let mut order = by_residue(&mut search, &source, original);
    order.truncate(MOST_DETOURS);
    let most = options.detours.unwrap_or(usize::MAX);
    let mut number = order.len().min(most);
    'informed: while number > 0 {
        for block in order.chunks(number) {
            if search.spent() {
                break 'informed;
            }
            search.statistics.attempts += 1;
            let chosen = block.iter().copied().collect();
            let guide = Prober { chosen, longest: options.longest, random: false };
            if let Some((path, end)) = other(&mut search, &root, &source, guide, &paths[0]) {
                paths.push(path);
                source = Source::new(&root, end);
                break 'informed;
            }
        }
        number /= 2;
    }
    let informed = paths.len() - 1;

    // Leakage minimisation.
    let places = places(&mut search, &source);
    let mut random = None;
    for failed in 0..options.attempts {
        if search.spent() {
            break;
        }
        search.statistics.attempts += 1;
        let number = search.rng.gen_range(0..=selected(places.len(), failed).min(most));
        let chosen = rand::seq::index::sample(&mut search.rng, places.len(), number);
        let chosen = chosen.into_iter().map(|at| places[at]).collect();
        let longest = search.rng.gen_range(1..=options.longest.max(1));
        let guide = Prober { chosen, longest, random: true };
        if let Some((path, _)) = other(&mut search, &root, &source, guide, &paths[informed]) {
            // It may have come back to the original's path, whose inputs must not count twice.
            let known = paths.iter().position(|known| known.trail.same(&path.trail));
            random = Some(known.unwrap_or(paths.len()));
            if known.is_none() {
                paths.push(path);
            }
            break;
        }
    }
    search.statistics.paths = paths.len() as u64;
    let chosen = random.unwrap_or(informed);
    let leak = match random {
        // Back on the original's path: inputs of the one between never lead there.
        Some(0) | None => paths[chosen].leak(),
        Some(_) if search.by_path() => union(&paths),
        // Other inputs of the original's path may lead elsewhere.
        Some(_) => paths[chosen].leak(),
    };
    search.improved(leak.upper());
    Ok(Found {
        complete: !search.spent(),
        paths,
        chosen,
        leak,
        fixed_point: None,
        by_path: search.by_path(),
        statistics: search.statistics,
        moments: Vec::new(),
    })
}

/// Another failing path with the detours of a guide, unless it leaks more than a known one.
fn other<E: Execution>(
    search: &mut Search<'_>,
    root: &Point<E>,
    source: &Source<E>,
    mut guide: Prober,
    known: &Path,
) -> Option<(Path, Point<E>)> {
    let end = forward(search, root, source, &mut guide)?;
    if end.trail.same(&source.end.trail) {
        return None;
    }
    let path = search.path(&end);
    (path.leak().upper() <= known.leak().upper() + LESS).then_some((path, end))
}

/// The positions before the tests of a path, those first that keep the most bytes of the original.
fn by_residue<E: Execution>(
    search: &mut Search<'_>,
    source: &Source<E>,
    original: &Original,
) -> Vec<usize> {
    let own = original.assignment();
    // A single test, of thousands: what cannot be counted at once is not worth it.
    let brisk = Budget {
        nodes: 500,
        node_work: 4_000,
        states: 128,
        transitions: 8_000,
        cases: 1 << 12,
        entries: 1 << 10,
        additions: 1 << 15,
    };
    let mut accounts = Accounts::new(brisk);
    let mut residues: Vec<(f64, usize)> = Vec::with_capacity(source.len());
    for (step, position) in source.steps().iter().zip(0..) {
        if search.spent() {
            break;
        }
        let mut ledger = Ledger::new();
        ledger.push(search.pool, &mut accounts, step.test.condition);
        let mut kept = 0.0;
        for component in ledger.condition().components() {
            let Some(space) = accounts.space(search.pool, component) else { continue };
            for (byte, at) in component.bytes().zip(0..) {
                if space.has_marginal(at) {
                    let same = &space.marginal(at)[usize::from(own.get(byte))];
                    // A free byte keeps the original's value once in 256 times.
                    kept += (-log2_ratio(space.count(), same)).exp2() - 1.0 / 256.0;
                }
            }
        }
        residues.push((kept, position));
    }
    residues.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    residues.into_iter().map(|(_, position)| position).collect()
}
