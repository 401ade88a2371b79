//! SPA: which nodes of a failing path does the failure need, and what is the least leaking path
//! through them? The inner part of respa (see there for the paper).
//!
//! From the last node that is needed, Dijkstra's algorithm finds the path that leaks least to some
//! node of the source path; from there the source path is complied with. If that fails as it should,
//! a node further on is tried, else one nearer: a binary search. When a node can be reached and the
//! next one cannot, the first of them is *suspected* to be needed: the path must go through it, and
//! everything begins again from there.
//!
//! Where the listings of the paper had to be read with care:
//! - The recursive call in BDIJKSTRA drops `dstID`; the cache in HYBRID is `visited`; of lines 8 to
//!   14 of `_SPA` only 9 to 12 belong to the `if`.
//! - `_SPA` takes the child of `N_suc` as the suspected node. But `N_suc` is the one that the failing
//!   search went around, and the only one, so it is suspected by the paper's own definition ("if we
//!   exclude N and only N"), and figure 3 does so: after steps 1 and 2 it goes on from node 1, and
//!   node 2 is replaced. Here the figure is followed.
//! - Reaching the node next to the start of the search needs no search: there is one way. This is
//!   not counted as an invocation of HYBRID; the figure does not show it either.
//! - A node that has left the heap is not queued again: it left with its least leak, as is usual for
//!   Dijkstra's algorithm. The listing looks in the heap only, and would walk every path.
//! - The failure is the last node of the path, after its last test, as in figure 3. The listing
//!   always complies with the last test; here the failure itself is tried as a destination at the
//!   end, so that the last test can be avoided, too.
//! - φCOMPLY goes to the child that is on the source path, and to N_f if none is. So it does here: the
//!   outcome with the lowest number; but not more than some dozens of times.
//! - Of all failing paths that were met, the one that leaks least is the result, not the last. Those
//!   count that a search meets on its way to another node: a program may fail long before the source
//!   path does, and whatever comes after need not be known then.
//! - The heap is ordered by prices (see `price.rs`), which are about the leak of the whole prefix, and
//!   never shrink.
//! - A test has as many children as it has outcomes, but not more than some dozens are looked for
//!   (`MOST_OUTCOMES` in `tree.rs`): a scan can stop at any byte. The listing has two.
//! - The listing invokes HYBRID from the node that was reached last, so that every node which was once a
//!   destination stays on the path. Here Dijkstra's algorithm goes on from the last suspected node: what
//!   was reached and not suspected is not needed, and the way to the next destination may leave it out.
//!   The number of invocations is the same, and so is its bound.
//!
//! What is decided here depends on the source path alone, not on the input that walks it: the same path
//! gives the same result. It is not so where a value is fixed off that path (a pin takes the value of
//! the input at hand), where a test has more outcomes than are looked for, or where a question has no
//! answer. The search notes that (`Search::by_path`), and figures that rest on it are not given then.

use rustc_hash::{FxHashMap, FxHashSet};
use stunt_path::{Execution, Node};

use super::heap::Heap;
use super::source::Source;
use super::tree::{Point, Search, State};

/// The most tests off the source path on one try to comply with it.
const MOST_STRAYS: usize = 64;

/// One step of respa, in positions on the source path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// SPA begins, with a source path of so many tests.
    Source {
        /// How many tests.
        tests: usize,
    },
    /// A HYBRID invocation.
    Hybrid {
        /// The last node that is needed.
        from: usize,
        /// The node to be reached.
        to: usize,
        /// Whether it had been visited before.
        visited: bool,
        /// Whether the failure came about.
        reproduced: bool,
    },
    /// A node is suspected to be needed.
    Suspected {
        /// Which one.
        node: usize,
    },
}

/// What bounds one SPA.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// The farthest from the source path, in tests; none for no bound.
    pub radius: Option<usize>,
    /// The most tests that one search may make.
    pub search: u64,
    /// How many tests there may be in all when this ends.
    pub nodes: u64,
}

struct Entry<E> {
    point: Point<E>,
    distance: usize,
}

/// Dijkstra's algorithm from one node, under way.
struct Dijkstra<E> {
    heap: Heap<Node, Entry<E>>,
    settled: FxHashSet<Node>,
    /// The nodes of the source path that were reached, by position: the paper's `visited`.
    visited: FxHashMap<usize, Point<E>>,
    /// Reached, but its children are not in the heap yet.
    waiting: Option<Entry<E>>,
    /// The failing end that was reached first, which has the least price.
    failure: Option<Point<E>>,
}

impl<E: Execution> Dijkstra<E> {
    fn new(from: Point<E>) -> Self {
        Dijkstra {
            heap: Heap::new(),
            settled: FxHashSet::default(),
            visited: FxHashMap::default(),
            waiting: Some(Entry { point: from, distance: 0 }),
            failure: None,
        }
    }

    /// The least leaking way to the node at a position of the source path, or to the failure if the
    /// position is beyond its tests.
    fn reach(
        &mut self,
        search: &mut Search<'_>,
        source: &Source<E>,
        to: usize,
        bounds: &Bounds,
    ) -> Option<Point<E>> {
        let most = bounds.nodes.min(search.statistics.nodes.saturating_add(bounds.search));
        loop {
            if to <= source.len() {
                if let Some(point) = self.visited.get(&to) {
                    return Some(point.clone());
                }
            } else if let Some(point) = &self.failure {
                return Some(point.clone());
            }
            if search.spent() || search.statistics.nodes >= most {
                return None;
            }
            if let Some(entry) = self.waiting.take() {
                self.expand(search, source, &entry, bounds);
                continue;
            }
            let (node, _, entry) = self.heap.pop()?;
            self.settled.insert(node);
            if let Some(position) = source.position(node) {
                self.visited.insert(position, entry.point.clone());
            }
            self.waiting = Some(entry);
        }
    }

    /// Keeps the failing end that was met, if it is better: a path that fails early makes fewer tests.
    fn harvest(&mut self, search: &mut Search<'_>, best: &mut Option<(Point<E>, f64)>) {
        if let Some(end) = self.failure.take() {
            search.keep_better(best, end);
        }
    }

    /// Queues the children of a node.
    fn expand(
        &mut self,
        search: &mut Search<'_>,
        source: &Source<E>,
        entry: &Entry<E>,
        bounds: &Bounds,
    ) {
        let state = search.resume(&entry.point);
        if state.junction().is_none() {
            if self.failure.is_none() && search.failed(&state) {
                self.failure = Some(state.point);
            }
            return;
        }
        for point in search.children(state) {
            let Some(node) = point.node() else { continue };
            let distance = if source.has(node) { 0 } else { entry.distance + 1 };
            let far = bounds.radius.is_some_and(|radius| distance > radius);
            if far || self.settled.contains(&node) {
                continue;
            }
            if point.price < f64::INFINITY {
                self.heap.queue(node, point.price, Entry { point, distance });
            }
        }
    }
}

/// Goes on along the source path, to the failure if it comes about: the paper's φCOMPLY.
pub(crate) fn comply<E: Execution>(
    search: &mut Search<'_>,
    state: &mut State<E>,
    source: &Source<E>,
) -> bool {
    along(search, state, source, None) && search.failed(state)
}

/// Goes on along the source path, up to a node, or to the end. Says whether it got there.
pub(crate) fn along<E: Execution>(
    search: &mut Search<'_>,
    state: &mut State<E>,
    source: &Source<E>,
    to: Option<Node>,
) -> bool {
    let mut strays = 0;
    while to.is_none() || state.point.node() != to {
        let Some(junction) = state.junction() else { return to.is_none() };
        if search.spent() {
            return false;
        }
        // The solver is needed only where the input at hand goes another way.
        if source.has(junction.node) {
            search.pass(state, junction);
            continue;
        }
        let (found, _) = search.outcomes(state, |junction| source.has(junction.node));
        let Some(last) = found.last() else { return false };
        if source.has(last.0.node) {
            search.take(state, last);
            continue;
        }
        strays += 1;
        let lowest = found.iter().min_by_key(|(junction, _)| junction.node.outcome);
        match lowest {
            Some(outcome) if strays <= MOST_STRAYS => search.take(state, outcome),
            _ => return false,
        }
    }
    true
}

/// The least leaking way from a point to the node at a position of the source path. A failing end
/// that is met on the way is kept, if it is better.
pub(crate) fn cross<E: Execution>(
    search: &mut Search<'_>,
    source: &Source<E>,
    from: &Point<E>,
    to: usize,
    bounds: &Bounds,
    best: &mut Option<(Point<E>, f64)>,
) -> Option<Point<E>> {
    let mut dijkstra = Dijkstra::new(from.clone());
    let point = dijkstra.reach(search, source, to, bounds);
    dijkstra.harvest(search, best);
    point
}

/// Looks for a failing path that leaks less, by replacing nodes between two positions; `to` is at
/// most one more than the number of tests: the failure itself. Gives the best that was found. Where it
/// is less, this is a window, and everything in it is tried at once before the binary search begins.
pub(crate) fn spa<E: Execution>(
    search: &mut Search<'_>,
    source: &mut Source<E>,
    (from, to): (usize, usize),
    bounds: &Bounds,
    moments: &mut Option<&mut Vec<Moment>>,
) -> Option<(Point<E>, f64)> {
    let mut best: Option<(Point<E>, f64)> = None;
    if to - from < 2 {
        // There is nothing between.
        return best;
    }
    let mut at_once = to <= source.len();
    let first = source.at(search, from);
    let mut dijkstra = Dijkstra::new(first.clone());
    // The last suspected node with its point, the last one reached, the nearest that was not, and
    // whether that was tried at all.
    let (mut base, mut base_point) = (from, first);
    let (mut reached, mut missed, mut tried) = (from, to, false);
    while !search.spent() && search.statistics.nodes < bounds.nodes {
        let next = if std::mem::take(&mut at_once) {
            to
        } else if missed - reached > 1 {
            usize::midpoint(reached, missed)
        } else if tried {
            // The node that was reached is the only one that the failing search went around.
            if reached == base {
                break;
            }
            search.statistics.suspected += 1;
            record(moments, Moment::Suspected { node: reached });
            let Some(point) = dijkstra.visited.remove(&reached) else { break };
            dijkstra.harvest(search, &mut best);
            dijkstra = Dijkstra::new(point.clone());
            (base, base_point) = (reached, point);
            (missed, tried) = (to, false);
            continue;
        } else if reached > base {
            to
        } else {
            break;
        };
        if next == base + 1 && next <= source.len() {
            // There is one way: over the test that stands here.
            let state = search.resume(&base_point);
            let wanted = source.steps()[base].node;
            let child = search.children(state).into_iter().find(|p| p.node() == Some(wanted));
            let Some(child) = child else { break };
            dijkstra.visited.insert(next, child);
            reached = next;
            continue;
        }
        search.statistics.hybrid += 1;
        let visited = dijkstra.visited.contains_key(&next);
        let end = hybrid(search, source, &mut dijkstra, next, bounds);
        let reproduced = end.is_some();
        record(moments, Moment::Hybrid { from: base, to: next, visited, reproduced });
        match end {
            Some(end) => {
                search.keep_better(&mut best, end);
                if next == to {
                    break;
                }
                reached = next;
            }
            None => (missed, tried) = (next, true),
        }
    }
    dijkstra.harvest(search, &mut best);
    best
}

/// Goes to a node by the least leaking way, and complies from there: the paper's HYBRID. Gives the
/// failing end.
fn hybrid<E: Execution>(
    search: &mut Search<'_>,
    source: &Source<E>,
    dijkstra: &mut Dijkstra<E>,
    to: usize,
    bounds: &Bounds,
) -> Option<Point<E>> {
    let point = dijkstra.reach(search, source, to, bounds)?;
    let mut state = search.resume(&point);
    comply(search, &mut state, source).then_some(state.point)
}

fn record(moments: &mut Option<&mut Vec<Moment>>, moment: Moment) {
    if let Some(moments) = moments {
        moments.push(moment);
    }
}
