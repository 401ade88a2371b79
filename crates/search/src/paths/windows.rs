//! SPA on long paths: in windows.
//!
//! A path is cut into windows of some dozens of tests, and only those that leak are looked at, the
//! ones that leak most first. Dijkstra's algorithm crosses a window by the least leaking way, within a
//! radius and a number of tests. Which windows can be crossed so without losing the failure is found
//! by SPA's own binary search, with windows for nodes: several are crossed at once, more and more of
//! them, and the rest of the path is complied with; if the failure does not come about, fewer. A window
//! that is suspected stays as it is at first. In the end SPA works inside every window, one by one, with little patience at
//! first.
//!
//! Complying with a path of 100,000 tests costs a run of the program. This is why windows go
//! together: where all can be crossed it takes a few runs, and each one that cannot costs as many
//! runs as the binary search has steps.
//!
//! What always holds: what comes out depends on the path that went in, and on nothing else, unless
//! time runs out or the search notes otherwise (see `spa.rs`). Every change of the path was walked to
//! the failure, and leaks less than before.

use stunt_path::{Execution, Node};

use super::LESS;
use super::source::Source;
use super::spa::{Bounds, Moment, along, comply, cross, spa};
use super::tree::{Point, Search};

/// How many tests a window has.
const WINDOW: usize = 32;
/// How many windows are crossed at once.
const TOGETHER: usize = 64;
/// The radius in a window, unless a smaller one is asked for.
const RADIUS: usize = 24;
/// The most tests made to cross a window.
const CROSSING: u64 = 500;
/// The most tests made inside a window by SPA, in lengths of the path: complying costs one each. Where
/// that was too few, more are allowed, when all windows have had their turn.
const LENGTHS: [u64; 3] = [6, 40, 400];
/// And beside that.
const INSIDE: u64 = 4_000;

/// A window, by the nodes at its ends: none is the start of the program, or the failure. Positions
/// move when windows before them change; nodes do not.
#[derive(Clone, Copy)]
struct Window {
    from: Option<Node>,
    to: Option<Node>,
}

impl Window {
    /// Its positions on a path, if both ends are still there.
    fn span<E: Execution>(self, source: &Source<E>) -> Option<(usize, usize)> {
        let from = self.from.map_or(Some(0), |node| source.position(node))?;
        let to = self.to.map_or(Some(source.len() + 1), |node| source.position(node))?;
        (from < to).then_some((from, to))
    }
}

/// A failing path that leaks less than the given one, if there is one in its windows.
pub(crate) fn in_windows<E: Execution>(
    search: &mut Search<'_>,
    mut source: Source<E>,
    radius: Option<usize>,
    moments: &mut Option<&mut Vec<Moment>>,
) -> Option<Point<E>> {
    let radius = Some(radius.map_or(RADIUS, |radius| radius.min(RADIUS)));
    let mut leak = search.whole_leak(&source.end);
    let mut found = None;
    let windows = windows(search, &source);
    for group in windows.chunks(TOGETHER) {
        let mut spans: Vec<_> = group.iter().filter_map(|window| window.span(&source)).collect();
        // The last window may end at the failure; here it ends at the last test.
        spans.iter_mut().for_each(|span| span.1 = span.1.min(source.len()));
        spans.sort_unstable();
        // Windows overlap by a test; those that are crossed together must not.
        for at in 1..spans.len() {
            spans[at].0 = spans[at].0.max(spans[at - 1].1);
        }
        spans.retain(|span| span.0 < span.1);
        let Some(&(first, _)) = spans.first() else { continue };
        if let Some((end, less)) = together(search, &mut source, &spans, radius)
            && less < leak - LESS
        {
            leak = less;
            found = Some(end.clone());
            source = source.replaced(end, first);
        }
    }
    let mut open = windows;
    for lengths in LENGTHS {
        for window in std::mem::take(&mut open) {
            if search.spent() {
                return found;
            }
            let Some((from, to)) = window.span(&source) else { continue };
            let allowed = lengths * source.len() as u64 + INSIDE;
            let nodes = search.statistics.nodes + allowed;
            let bounds = Bounds { radius, search: CROSSING, nodes };
            let better = spa(search, &mut source, (from, to), &bounds, moments);
            if search.statistics.nodes >= bounds.nodes {
                open.push(window);
            }
            if let Some((end, less)) = better
                && less < leak - LESS
            {
                leak = less;
                found = Some(end.clone());
                source = source.replaced(end, from);
            }
        }
    }
    found
}

/// The windows of a path that leak, the ones that leak most first.
fn windows<E: Execution>(search: &mut Search<'_>, source: &Source<E>) -> Vec<Window> {
    let tests = source.steps().iter().map(|step| step.test.condition);
    let leaks = search.profile(tests, WINDOW);
    let node = |position: usize| match position {
        0 => None,
        _ => source.steps().get(position - 1).map(|step| step.node),
    };
    let mut order: Vec<(f64, usize)> =
        leaks.windows(2).zip(0..).map(|(pair, number)| (pair[1] - pair[0], number)).collect();
    order.retain(|&(leak, _)| leak > LESS);
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let window = |(_, number): (f64, usize)| {
        let (from, to) = (number * WINDOW, (number + 1) * WINDOW);
        // One test more at the end, which is kept, so that the last of its own can be replaced.
        Window { from: node(from), to: if to < source.len() { node(to + 1) } else { None } }
    };
    order.into_iter().map(window).collect()
}

/// Crosses as many of the spans as can be, from the first on; gives the best failing path met.
fn together<E: Execution>(
    search: &mut Search<'_>,
    source: &mut Source<E>,
    spans: &[(usize, usize)],
    radius: Option<usize>,
) -> Option<(Point<E>, f64)> {
    let mut best: Option<(Point<E>, f64)> = None;
    // The points after so many spans.
    let mut chain = vec![source.at(search, spans[0].0)];
    let (mut reached, mut missed, mut tried) = (0, spans.len() + 1, false);
    // At first so many at once that crossing them costs about as much as complying afterwards; twice
    // as many when that went well.
    let few = (source.len() / CROSSING as usize).clamp(1, spans.len());
    let mut many = few;
    while !search.spent() {
        let next = match tried {
            true => usize::midpoint(reached, missed),
            false => (reached + many).min(spans.len()),
        };
        let crossed = extend(search, source, spans, radius, &mut chain, next, &mut best);
        search.statistics.hybrid += 1;
        let mut end = None;
        if crossed {
            let mut state = search.resume(&chain[next]);
            end = comply(search, &mut state, source).then_some(state.point);
        }
        match end {
            Some(end) => {
                search.keep_better(&mut best, end);
                (reached, many) = (next, 2 * many);
            }
            None => (missed, tried) = (next, true),
        }
        if missed - reached <= 1 {
            if !tried {
                break;
            }
            // The span after the last that was reached cannot be crossed: it stays as it is.
            search.statistics.suspected += 1;
            let Some(point) = walked(search, source, &chain[reached], spans[reached].1) else {
                break;
            };
            chain.truncate(reached + 1);
            chain.push(point);
            (reached, missed, tried) = (reached + 1, spans.len() + 1, false);
            many = few;
            if reached == spans.len() {
                break;
            }
        }
    }
    best
}

/// Crosses spans until so many are behind. Says whether that was possible.
fn extend<E: Execution>(
    search: &mut Search<'_>,
    source: &Source<E>,
    spans: &[(usize, usize)],
    radius: Option<usize>,
    chain: &mut Vec<Point<E>>,
    behind: usize,
    best: &mut Option<(Point<E>, f64)>,
) -> bool {
    while chain.len() <= behind {
        let (from, to) = spans[chain.len() - 1];
        let last = &chain[chain.len() - 1];
        let Some(start) = walked(search, source, last, from) else { return false };
        let bounds = Bounds { radius, search: CROSSING, nodes: u64::MAX };
        let point = match cross(search, source, &start, to, &bounds, best) {
            Some(point) => Some(point),
            None => walked(search, source, &start, to),
        };
        let Some(point) = point else { return false };
        chain.push(point);
    }
    true
}

/// The point at a position of the source path, from another point along that path.
fn walked<E: Execution>(
    search: &mut Search<'_>,
    source: &Source<E>,
    from: &Point<E>,
    to: usize,
) -> Option<Point<E>> {
    let node = to.checked_sub(1).map(|at| source.steps()[at].node);
    if node.is_none() || from.node() == node {
        return Some(from.clone());
    }
    let mut state = search.resume(from);
    if !along(search, &mut state, source, node) {
        return None;
    }
    search.anchor(&mut state);
    Some(state.point)
}
