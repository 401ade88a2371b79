//! The examples of the papers.

use std::fmt::Write as _;
use std::rc::Rc;
use std::{env, fs, path::Path};

use stunt_leakage::Bits;
use stunt_search::paths::{Manner, Moment, ReapOptions, RespaOptions};
use stunt_shapes::{equals, field, input};
use stunt_terms::Pool;

use crate::graph::{Graph, Site, is, test};
use crate::run::{Run, Strategy, doubles_fail};

/// REAP's figure 1: a score from an age (four bytes) and two booleans, divided by zero at the end.
fn score() -> Rc<Graph> {
    let flag = |offset: u32| -> crate::graph::Build {
        Box::new(move |pool| {
            let byte = pool.input(0, offset);
            let bit = pool.extract(0, 0, byte);
            let one = pool.constant(1, 1);
            pool.eq(bit, one)
        })
    };
    let old: crate::graph::Build = Box::new(|pool| {
        let age = field(pool, 0, 4);
        let limit = pool.constant(32, 25);
        pool.sgt(age, limit)
    });
    Graph::new(vec![
        test(0, old, 1, 1),
        test(1, flag(4), 2, 2),
        test(2, flag(5), 3, 3),
        Site::Fail("bug"),
    ])
}

const PERSON: &[u8] = &[26, 0, 0, 0, 1, 0];

#[test]
fn the_score_reveals_nothing_at_least_and_three_bits_at_most() {
    let graph = score();
    let found = Run::new(&graph, PERSON).found(Strategy::Mpp);
    assert!(found.complete);
    assert_eq!(found.paths.len(), 8);
    assert_eq!(found.leak, Bits::Exact(0.0));
    // Two booleans, and about one bit of the age.
    let own = found.paths[0].leak();
    assert!(own.is_exact() && (own.value() - 3.0).abs() < 0.01, "{own}");
}

#[test]
fn every_strategy_gains_on_the_score() {
    let graph = score();
    let own = Run::new(&graph, PERSON).found(Strategy::Mpp).paths[0].leak().value();
    for strategy in Strategy::all() {
        let mut gained = 0;
        for seed in 0..10 {
            let mut pool = Pool::new();
            let run = Run { seed, ..Run::new(&graph, PERSON) };
            let found = run.search(&mut pool, strategy).expect("it fails");
            assert!(found.complete, "{strategy:?}");
            assert!(doubles_fail(&mut pool, &graph, &found, 3), "{strategy:?}");
            assert!(found.leak.value() <= own + 1e-9, "{strategy:?}: {}", found.leak);
            gained += u32::from(found.leak.value() < own - 1e-9);
        }
        assert!(gained >= 3, "{strategy:?} gained {gained} times");
    }
}

#[test]
fn greedy_detours_take_the_broad_outcome_first() {
    // The first attempt is without chance where one outcome is broader: age <= 25 is, by little.
    let graph = Graph::new(vec![
        test(0, is(0, 7), 1, 1),
        test(1, is(1, 7), 2, 2),
        test(2, is(2, 7), 3, 3),
        Site::Fail("bug"),
    ]);
    for seed in 0..20 {
        let run = Run { seed, ..Run::new(&graph, &[7, 7, 7]) };
        let found = run.found(Strategy::Reap(ReapOptions::new(Manner::AdaptiveGreedy)));
        assert_eq!((found.chosen, found.statistics.attempts), (1, 1));
        // All three are avoided.
        assert!((found.paths[1].leak().value() - 3.0 * (256.0f64 / 255.0).log2()).abs() < 1e-9);
    }
}

/// RESPA's figure 2: `find(w1, "joe emmet")`, where `w1` has five letters; the access beyond the
/// end is the failure. How many letters agree is part of a site, not of a place.
fn find() -> Rc<Graph> {
    const TEXT: &[u8] = b"joe emmet";
    let number = |i: usize, j: usize, count: usize| (i * 5 + j) * 6 + count;
    let mut sites = Vec::new();
    for i in 0..6 {
        for j in 0..5 {
            for count in 0..6 {
                let Some(&letter) = TEXT.get(i + j) else {
                    sites.push(Site::Fail("bug"));
                    continue;
                };
                let to = |count: usize| match (j, count) {
                    (4, 5) => number(6, 0, 0),
                    (4, _) => number(i + 1, 0, 0),
                    _ => number(i, j + 1, count),
                };
                let place = (i * 5 + j) as u64;
                let condition = is(j as u32, letter);
                let (yes, no) = (to((count + 1).min(5)), to(count));
                sites.push(Site::Test { place, condition, yes, no });
            }
        }
    }
    // The word was found.
    sites.push(Site::Exit);
    Graph::new(sites)
}

#[test]
fn finding_a_word_reveals_eight_bits_and_need_not() {
    let graph = find();
    let found = Run::new(&graph, b"matos").found(Strategy::Respa(RespaOptions::default()));
    let own = found.paths[0].leak();
    assert!(own.is_exact() && (own.value() - 8.08).abs() < 0.005, "{own}");
    assert_eq!(found.fixed_point, Some(true));
    // No letter has to agree with any other: 5, 4, 3, 4 and 3 values are excluded.
    let avoided = |values: f64| -((256.0 - values) / 256.0f64).log2();
    let least: f64 = [5.0, 4.0, 3.0, 4.0, 3.0].into_iter().map(avoided).sum();
    let chosen = found.chosen().leak();
    assert!((chosen.value() - least).abs() < 1e-9, "{chosen}, not {least}");
    assert!(found.leak.value() <= chosen.value());
}

/// RESPA's figure 3. The first byte says whether the card is a VISA card; three stored cards are
/// compared with the rest (in the figure with the whole card, but then node 2 would need node 1, and
/// the walk would not be the one that is drawn); the loop makes its tests on the last four bytes, and
/// on VISA cards it goes on beyond the end.
fn card() -> Rc<Graph> {
    let same = |card: &'static [u8]| -> crate::graph::Build {
        Box::new(move |pool| {
            let bytes = input(pool, 1, 19);
            let same = equals(pool, &bytes, card);
            pool.and_all(same)
        })
    };
    let digit = |offset: u32| -> crate::graph::Build {
        Box::new(move |pool| {
            let byte = pool.input(0, offset);
            let zero = pool.constant(8, u128::from(b'0'));
            let (value, ten) = (pool.sub(byte, zero), pool.constant(8, 10));
            pool.ult(value, ten)
        })
    };
    let cards: [&[u8]; 3] = [b"111111111111111123", b"222222222222222456", b"333333333333333789"];
    let mut sites = vec![test(1, is(0, b'4'), 1, 9)];
    // Sites 1 to 7 for VISA, 9 to 15 for others: at the same places.
    for (first, end) in [(1, Site::Fail("bug")), (9, Site::Exit)] {
        for (card, at) in cards.into_iter().zip(0..) {
            sites.push(test(2 + at, same(card), first + at + 1, first + at + 1));
        }
        for (offset, at) in (15..19).zip(3..) {
            sites.push(test(2 + at, digit(offset), first + at + 1, first + at + 1));
        }
        sites.push(end);
    }
    Graph::new(sites)
}

const CARD: &[u8] = b"4111111111111111123";

#[test]
fn the_walk_of_figure_3() {
    let graph = card();
    let options = RespaOptions { record: true, ..RespaOptions::default() };
    let found = Run::new(&graph, CARD).found(Strategy::Respa(options));
    let mut text = String::new();
    let (mut round, mut step) = (0, 0);
    for moment in &found.moments {
        match *moment {
            Moment::Source { tests } => {
                (round, step) = (round + 1, 0);
                let last = tests + 1;
                let _ = writeln!(text, "SPA {round}: nodes N0 to N{last}; N{last} is the failure");
            }
            Moment::Hybrid { from, to, visited, reproduced } => {
                step += 1;
                let way = if visited { "visited before" } else { "by Dijkstra" };
                let end = if reproduced { "fails as before" } else { "does not fail" };
                let _ = writeln!(text, "  step {step}: N{from} to N{to}, {way}: {end}");
            }
            Moment::Suspected { node } => {
                let _ = writeln!(text, "  N{node} is suspected");
            }
        }
    }
    for path in &found.paths {
        let _ = writeln!(text, "a path of {} tests leaks {}", path.len(), path.leak());
    }
    let _ = writeln!(text, "the double leaks {}", found.leak);
    let _ = writeln!(text, "the last path leads to itself: {:?}", found.fixed_point);
    golden("card.txt", &text);
}

/// Compares with a golden file; `STUNT_BLESS=1` rewrites it.
fn golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs/golden").join(name);
    if env::var_os("STUNT_BLESS").is_some() {
        fs::write(&path, text).expect("the golden file can be written");
    }
    let known = fs::read_to_string(&path).unwrap_or_default();
    let path = path.display();
    assert_eq!(known, text, "{path}: if this is right, run with STUNT_BLESS=1");
}

#[test]
fn the_card_is_not_revealed() {
    let graph = card();
    let mut pool = Pool::new();
    let run = Run::new(&graph, CARD);
    let found = run.search(&mut pool, Strategy::Respa(RespaOptions::default())).expect("it fails");
    // The original's path says it all: it is in the list of used cards.
    assert_eq!(found.paths[0].leak(), Bits::Exact(19.0 * 8.0));
    // What is needed is the first byte.
    assert!((8.0..8.6).contains(&found.leak.value()), "{}", found.leak);
    assert!(doubles_fail(&mut pool, &graph, &found, 20));
}
