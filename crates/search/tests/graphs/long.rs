//! Paths as long as those of real parsers.

use std::rc::Rc;

use stunt_search::paths::RespaOptions;
use stunt_terms::Pool;

use crate::graph::{Graph, Site, below, is, test};
use crate::run::{Run, Strategy, doubles_fail};

/// Tests of each byte of an input: mostly such that any outcome will do; one byte in sixteen must be
/// what it is, and one in eight may be, but need not.
fn parser(bytes: u32, tests: usize) -> (Rc<Graph>, Vec<u8>) {
    let mut sites = Vec::new();
    let end = bytes as usize * tests;
    for offset in 0..bytes {
        for round in 0..tests {
            let next = sites.len() + 1;
            let last = round + 1 == tests;
            let site = match offset % 16 {
                _ if !last => test(sites.len(), below(offset, 20 + round as u8), next, next),
                3 => test(sites.len(), is(offset, b'x'), next, end + 1),
                6 | 12 => test(sites.len(), is(offset, b'x'), next, next),
                _ => test(sites.len(), below(offset, 200), next, next),
            };
            sites.push(site);
        }
    }
    sites.extend([Site::Fail("bug"), Site::Exit]);
    (Rc::new(Graph { sites, loops: false, checked: false }), vec![b'x'; bytes as usize])
}

#[test]
fn every_strategy_gains_on_a_long_path() {
    let (graph, input) = parser(256, 20);
    for strategy in Strategy::all() {
        let mut pool = Pool::new();
        let run = Run { nodes: 300_000, seed: 3, ..Run::new(&graph, &input) };
        let found = run.search(&mut pool, strategy).expect("it fails");
        assert_eq!(found.paths[0].len(), 5_120);
        let own = found.paths[0].leak().value();
        // What must be is 16 bytes.
        assert!(found.leak.value() >= 16.0 * 8.0 - 1e-6, "{strategy:?}");
        let (leak, statistics) = (found.leak, found.statistics);
        assert!(leak.value() < own, "{strategy:?}: {leak} of {own}; {statistics:?}");
        assert!(doubles_fail(&mut pool, &graph, &found, 1), "{strategy:?}");
        println!("{strategy:?}: {leak} of {own:.2}; complete: {}, {statistics:?}", found.complete);
    }
}

#[test]
fn a_few_walks_of_a_hundred_thousand_tests_are_enough_to_gain() {
    let (graph, input) = parser(5_000, 20);
    let run = Run { nodes: 300_000, ..Run::new(&graph, &input) };
    let found = run.found(Strategy::Respa(RespaOptions::default()));
    assert_eq!(found.paths[0].len(), 100_000);
    let (own, leak) = (found.paths[0].leak().value(), found.leak);
    assert!(leak.value() < own - 100.0, "{leak} of {own}; {:?}", found.statistics);
    // The original's own walk is free, and one that is under way may come to its end.
    assert!(found.statistics.nodes < 600_000, "{:?}", found.statistics);
}

/// One test for each byte. Every tenth must come out as it does, or the program goes on as before and
/// does not fail; the others may come out as they like.
fn remembering(bytes: usize) -> (Rc<Graph>, Vec<u8>) {
    let mut sites = Vec::new();
    let lost = bytes + 1;
    for copy in [0, lost] {
        for at in 0..bytes {
            let next = copy + at + 1;
            let otherwise = if at % 10 == 4 { lost + at + 1 } else { next };
            sites.push(test(at, is(at as u32, b'x'), next, otherwise));
        }
        sites.push(if copy == 0 { Site::Fail("bug") } else { Site::Exit });
    }
    (Rc::new(Graph { sites, loops: false, checked: false }), vec![b'x'; bytes])
}

#[test]
fn what_a_long_path_needs_is_kept_and_the_rest_is_not() {
    let (graph, input) = remembering(400);
    for (nodes, most) in [(60_000, 3_190.0), (700_000, 1_600.0)] {
        let mut pool = Pool::new();
        let run = Run { nodes, ..Run::new(&graph, &input) };
        let options = RespaOptions::default();
        let found = run.search(&mut pool, Strategy::Respa(options)).expect("it fails");
        let (leak, statistics) = (found.leak, found.statistics);
        println!("{nodes}: {leak}, {:?}, {statistics:?}", found.fixed_point);
        assert_eq!(found.paths[0].leak().value(), 3_200.0);
        // 40 bytes are needed.
        assert!((320.0..most).contains(&leak.value()), "{leak}; {statistics:?}");
        assert!(doubles_fail(&mut pool, &graph, &found, 1));
    }
}
