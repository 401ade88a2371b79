//! mpp: all paths to the failure.
//!
//! After P. Louro, J. Garcia, P. Romano, "MultiPathPrivacy: enhanced privacy in fault replication"
//! (EDCC 2012): whoever knows all failing paths can show an input that tells nothing but that the
//! program failed. No double can reveal less.
//!
//! Guarantee: paths share no input, so the union of those found leaks `-log2 Σ α`. The path is
//! chosen with a chance that is proportional to its `α`, and the double uniformly in it: so the
//! double is uniform in the union. (Shares are compared as `f64`: the chance of a path is right up
//! to one part in 2^40. Where a path could not be counted, the bound takes the count's place.)
//! If the search is complete, the figure is the lower bound for every strategy.
//!
//! Departures: the paper explores the program beforehand on a server, and in any order. Here the
//! work starts from the original's path, and of all ways not yet gone the one that the most inputs
//! take (about, see `price.rs`) goes first: the union grows fastest, so that an early end costs least. Whether a way exists
//! is asked only when it is its turn: a path of 100,000 tests leaves as many ways open. When there
//! are too many, those that the fewest inputs take are forgotten; the search is not complete then.
//!
//! The search is not complete, either, if a test could not be sent another way although inputs are
//! left that take it (a pin), or if a path was lost.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use rand::Rng;
use stunt_path::{Execution, Junction};
use stunt_terms::Term;

use super::tree::{Point, Search, State, Turn};
use super::{Astray, Found, Path, Task, union};

/// The most ways that are kept for later.
const MOST_OPEN: usize = 200_000;
/// A way that was not gone yet: the point before a test, and the outcomes that are known.
struct Way<E> {
    price: f64,
    number: u64,
    point: Point<E>,
    known: Vec<Term>,
}

impl<E> Way<E> {
    /// The lowest price first, and the first found of those.
    fn key(&self) -> (Reverse<Total>, Reverse<u64>) {
        (Reverse(Total(self.price)), Reverse(self.number))
    }
}

/// Bits, ordered.
#[derive(Clone, Copy, PartialEq)]
struct Total(f64);

impl Eq for Total {}

impl PartialOrd for Total {
    fn partial_cmp(&self, other: &Total) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Total {
    fn cmp(&self, other: &Total) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl<E> PartialEq for Way<E> {
    fn eq(&self, other: &Way<E>) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Way<E> {}

impl<E> PartialOrd for Way<E> {
    fn partial_cmp(&self, other: &Way<E>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Way<E> {
    fn cmp(&self, other: &Way<E>) -> Ordering {
        self.key().cmp(&other.key())
    }
}

struct Mpp<'a, E> {
    search: Search<'a>,
    open: BinaryHeap<Way<E>>,
    paths: Vec<Path>,
    /// The sum of `2^-leak` of the paths, for progress.
    share: f64,
    ways: u64,
    complete: bool,
}

/// Finds the paths to the failure, all of them if the limits allow it.
///
/// # Errors
/// The original's own path could not be walked.
pub fn mpp<E: Execution>(start: E, task: Task<'_>) -> Result<Found, Astray> {
    let (search, root, end) = Search::begin(start, task)?;
    let mut all = Mpp {
        search,
        open: BinaryHeap::new(),
        paths: Vec::new(),
        share: 0.0,
        ways: 0,
        complete: true,
    };
    all.found(&end.point);
    // The original's path again, this time with a look at the other ways, while there is time.
    let state = all.search.resume(&root);
    all.walk(state, true);
    while let Some(way) = all.open.pop() {
        if all.search.spent() {
            all.complete = false;
            break;
        }
        all.go(way);
    }
    Ok(all.result())
}

impl<E: Execution> Mpp<'_, E> {
    /// Goes a way, if there is an input for it.
    fn go(&mut self, mut way: Way<E>) {
        let input = match self.search.turn(&way.point, &way.known) {
            Turn::Input(input) => input,
            Turn::Never => return,
            Turn::Unknown => {
                self.complete = false;
                return;
            }
        };
        let mut point = way.point.clone();
        point.input = input;
        let mut state = self.search.resume(&point);
        let fresh = |junction: &Junction| !way.known.contains(&junction.test.condition);
        let Some(junction) = state.junction().filter(fresh) else {
            self.search.statistics.lost += 1;
            self.complete = false;
            return;
        };
        let condition = junction.test.condition;
        if way.known.len() > 1 || self.search.pool.not(way.known[0]) != condition {
            // More than two outcomes: there may be another one yet.
            way.known.push(condition);
            self.keep(way);
        }
        self.search.pass(&mut state, junction);
        self.walk(state, false);
    }

    /// Walks to the end with the input at hand, and keeps the other ways for later.
    fn walk(&mut self, mut state: State<E>, known: bool) {
        while let Some(junction) = state.junction() {
            if self.search.spent() {
                self.complete = false;
                return;
            }
            self.search.anchor(&mut state);
            self.look_aside(&mut state, junction);
            self.search.pass(&mut state, junction);
        }
        if self.search.failed(&state) {
            if !known {
                self.found(&state.point);
            }
        } else if matches!(state.stop(), stunt_path::Stop::Lost(_)) {
            self.complete = false;
        }
    }

    /// Keeps a failing path.
    fn found(&mut self, end: &Point<E>) {
        let path = self.search.path(end);
        self.share += (-path.leak().upper()).exp2();
        self.paths.push(path);
        self.search.statistics.paths += 1;
        let bits = match self.share > 0.0 {
            true => -self.share.log2(),
            false => union(&self.paths).upper(),
        };
        self.search.improved(bits);
    }

    /// Keeps the other ways at a test.
    fn look_aside(&mut self, state: &mut State<E>, junction: Junction) {
        let known = vec![junction.test.condition];
        if !junction.open {
            // It cannot be sent another way. That matters if there is one, unless something else did.
            if self.complete && !matches!(self.search.turn(&state.point, &known), Turn::Never) {
                self.complete = false;
            }
            return;
        }
        let mut other = state.point.clone();
        let otherwise = self.search.pool.not(junction.test.condition);
        self.search.push(&mut other, otherwise);
        if other.price < f64::INFINITY {
            let (price, number) = (other.price, self.ways);
            self.ways += 1;
            self.keep(Way { price, number, point: state.point.clone(), known });
        }
    }

    fn keep(&mut self, way: Way<E>) {
        self.open.push(way);
        if self.open.len() > 2 * MOST_OPEN {
            let mut ways = std::mem::take(&mut self.open).into_sorted_vec();
            ways.drain(..ways.len() - MOST_OPEN);
            self.open = ways.into();
            self.complete = false;
        }
    }

    fn result(self) -> Found {
        let Mpp { search, paths, complete, .. } = self;
        let leak = union(&paths);
        let least = paths.iter().map(|path| path.leak().upper()).fold(f64::INFINITY, f64::min);
        let weights: Vec<f64> =
            paths.iter().map(|path| (least - path.leak().upper()).exp2()).collect();
        let mut rest = search.rng.gen_range(0.0..weights.iter().sum());
        let mut chosen = paths.len() - 1;
        for (at, weight) in weights.iter().enumerate() {
            if rest < *weight {
                chosen = at;
                break;
            }
            rest -= weight;
        }
        Found {
            paths,
            chosen,
            leak,
            complete,
            fixed_point: None,
            by_path: search.by_path(),
            statistics: search.statistics,
            moments: Vec::new(),
        }
    }
}
