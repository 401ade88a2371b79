//! Clauses of the listings, one small program each.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stunt_leakage::Bits;
use stunt_path::Failure;
use stunt_search::paths::{
    Astray, Found, Limits, Manner, Moment, ReapOptions, ReapRmOptions, RespaOptions, Task, mpp,
    reap, respa,
};
use stunt_terms::{Pool, Term};

use crate::graph::{Graph, Site, Walk, below, byte, is, original, test};
use crate::run::{Run, Strategy};

/// The first byte is 7 and avoidable, by a way of `length` further tests; the second is needed; the
/// fourth is avoidable at once, or needed.
fn way_round(length: usize, last: Last) -> Rc<Graph> {
    let joined = 1 + length;
    let mut sites = vec![test(0, is(0, 7), joined, 1)];
    for at in 1..=length {
        sites.push(test(at, below(2, 10 * at as u8), at + 1, at + 1));
    }
    sites.push(test(100, is(1, 7), joined + 2, joined + 1));
    sites.push(Site::Exit);
    let otherwise = if last == Last::Needed { joined + 1 } else { joined + 3 };
    sites.push(test(101, is(3, 7), joined + 3, otherwise));
    sites.push(Site::Fail("bug"));
    Graph::new(sites)
}

/// What the last test is for.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    Free,
    Needed,
}

const SEVENS: &[u8] = &[7, 7, 7, 7];

fn needs_the_second_byte(found: &Found) {
    for path in &found.paths {
        assert!(path.leak().value() >= 8.0, "the second byte cannot be avoided");
    }
}

#[test]
fn a_radius_bounds_the_way_round() {
    let graph = way_round(3, Last::Free);
    let leak = |radius| {
        let options = RespaOptions { radius, ..RespaOptions::default() };
        let found = Run::new(&graph, SEVENS).found(Strategy::Respa(options));
        needs_the_second_byte(&found);
        assert_eq!(found.fixed_point, Some(true));
        found.chosen().leak().value()
    };
    // The last test has no way round but its own other outcome, which is at distance 1.
    let (needed, first, last) = (8.0, 8.0, 8.0);
    assert!(leak(Some(0)) > needed + first + last - 1e-9, "nothing is off the path");
    for short in [1, 3] {
        assert!((leak(Some(short)) - (needed + first)).abs() < 0.1, "the first is out of reach");
    }
    for far in [Some(4), None] {
        assert!(leak(far) < needed + 5.0, "both can be avoided");
    }
}

#[test]
fn a_detour_is_no_longer_than_allowed() {
    // Of the three further tests the last re-joins at the test after it: four picks.
    let graph = way_round(3, Last::Needed);
    for manner in [Manner::RandomWalk, Manner::AdaptiveGreedy] {
        for (longest, possible) in [(3, false), (4, true)] {
            let mut avoided = 0;
            for seed in 0..40 {
                let options = ReapOptions { longest, attempts: 10, ..ReapOptions::new(manner) };
                let run = Run { seed, ..Run::new(&graph, SEVENS) };
                let found = run.found(Strategy::Reap(options));
                needs_the_second_byte(&found);
                let long = found.paths.iter().any(|path| path.len() > found.paths[0].len());
                avoided += usize::from(long);
            }
            assert_eq!(avoided > 0, possible, "{manner:?}, {longest}: {avoided}");
        }
    }
}

#[test]
fn no_more_detours_are_made_than_allowed() {
    // Tests that can all be avoided at once; a detour takes one other outcome and is back, or, before
    // the failure, two.
    let mut sites: Vec<Site> =
        (0..6).map(|at| test(at, is(at as u32, 7), at + 1, at + 1)).collect();
    sites.push(Site::Fail("bug"));
    let graph = Graph::new(sites);
    let strategies = |detours| {
        let reap = |manner| {
            let attempts = 10;
            Strategy::Reap(ReapOptions { longest: 1, attempts, detours, manner })
        };
        [
            reap(Manner::RandomWalk),
            reap(Manner::AdaptiveGreedy),
            Strategy::ReapRm(ReapRmOptions { longest: 1, attempts: 10, detours }),
        ]
    };
    for number in 0..3 {
        let most = |detours| {
            let mut most = 0;
            for seed in 0..40 {
                let run = Run { seed, ..Run::new(&graph, &[7; 6]) };
                let found = run.found(strategies(detours)[number]);
                for pair in found.paths.windows(2) {
                    let tests = pair[0].tests().into_iter().zip(pair[1].tests());
                    most = most.max(tests.filter(|(a, b)| a.condition != b.condition).count());
                }
            }
            most
        };
        assert_eq!(most(Some(0)), 0, "{number}");
        assert!((1..=2).contains(&most(Some(1))), "{number}");
        // A greedy walk goes on along broad outcomes, and is not back after one.
        assert!(number == 1 || most(None) > 2, "{number}");
    }
}

#[test]
fn residues_decide_where_the_first_phase_leaves() {
    let graph = way_round(1, Last::Free);
    let found = Run::new(&graph, SEVENS).found(Strategy::ReapRm(ReapRmOptions::default()));
    needs_the_second_byte(&found);
    assert!(found.paths.len() >= 2);
    // All is tried, then less: the second byte is among the worst, so some attempts fail.
    assert!(found.chosen().leak().value() < 24.0 - 1e-9);
    assert!(found.leak.value() <= found.chosen().leak().value());
}

#[test]
fn after_the_first_attempt_the_original_is_shown_half_of_the_time() {
    // A test that is mostly fatal to leave.
    let graph = Graph::new(vec![
        test(0, is(0, 7), 2, 1),
        test(1, is(1, 7), 2, 3),
        test(2, is(2, 7), 4, 4),
        Site::Exit,
        Site::Fail("bug"),
    ]);
    let (mut first, mut later, mut original) = (0, 0, 0);
    for seed in 0..400 {
        let run = Run { seed, ..Run::new(&graph, SEVENS) };
        let found = run.found(Strategy::Reap(ReapOptions::new(Manner::RandomWalk)));
        assert_eq!(found.paths.len(), 2, "there are other paths");
        if found.statistics.attempts == 1 {
            assert_eq!(found.chosen, 1);
            first += 1;
        } else if found.chosen == 0 {
            assert_eq!(found.leak, found.paths[0].leak());
            original += 1;
        } else {
            assert!(found.leak.value() < found.paths[1].leak().value());
            later += 1;
        }
    }
    assert!(first > 50 && later > 30 && original > 30, "{first}, {later}, {original}");
    let half = f64::from(later) / f64::from(later + original);
    assert!((0.38..0.62).contains(&half), "{later} and {original}");
}

#[test]
fn with_rounds_used_up_any_path_may_be_shown() {
    // Each round of one SPA gains; there is only one.
    let graph = way_round(1, Last::Free);
    let mut shown = [0; 2];
    for seed in 0..60 {
        let options = RespaOptions { rounds: 1, ..RespaOptions::default() };
        let found = Run { seed, ..Run::new(&graph, SEVENS) }.found(Strategy::Respa(options));
        assert_eq!(found.paths.len(), 2);
        shown[found.chosen] += 1;
        // The original's path does not lead to itself, the other does.
        assert_eq!(found.fixed_point, Some(found.chosen == 1));
        if found.chosen == 0 {
            assert_eq!(found.leak, found.paths[0].leak());
        } else {
            assert!(found.leak.value() < found.paths[1].leak().value());
        }
    }
    assert!(shown.iter().all(|&times| times > 15), "{shown:?}");
}

#[test]
fn a_visited_node_is_not_searched_again() {
    // The first search goes past node 2 on its way, and fails, because node 1 is needed.
    let graph = Graph::new(vec![
        test(0, is(0, 7), 1, 6),
        test(1, below(1, 200), 2, 2),
        test(2, below(2, 200), 3, 3),
        test(3, below(3, 200), 4, 4),
        test(4, is(4, 7), 5, 5),
        Site::Fail("bug"),
        test(1, below(1, 200), 7, 7),
        test(2, below(2, 200), 8, 8),
        test(3, below(3, 200), 9, 9),
        test(4, is(4, 7), 10, 10),
        Site::Exit,
    ]);
    let options = RespaOptions { record: true, ..RespaOptions::default() };
    let found = Run::new(&graph, &[7; 5]).found(Strategy::Respa(options));
    let cached = |moment: &&Moment| matches!(moment, Moment::Hybrid { visited: true, .. });
    assert!(found.moments.iter().any(|moment| cached(&moment)), "{:?}", found.moments);
    assert!(found.moments.contains(&Moment::Suspected { node: 1 }));
    assert!(found.chosen().leak().value() < 8.0 + 4.0);
}

#[test]
fn switches_have_many_outcomes_and_pins_one() {
    let cases = vec![(vec![1, 2, 3], 2), (vec![7], 1), ((10..50).collect(), 1)];
    let switch = |next: fn() -> Site| {
        let cases = cases.clone();
        let first = Site::Switch { place: 0, value: byte(0), cases, otherwise: 2 };
        Graph::new(vec![first, next(), Site::Exit, Site::Fail("bug")])
    };
    let open = switch(|| test(1, below(1, 100), 3, 3));
    let found = Run::new(&open, SEVENS).found(Strategy::Mpp);
    assert!(found.complete);
    assert_eq!(found.paths.len(), 4);
    assert_eq!(found.leak, Bits::Exact((256.0f64 / 41.0).log2()));
    // A pin leaves out what is otherwise: the search is not complete, and says so.
    let pinned = switch(|| Site::Pin { place: 1, value: byte(1), next: 3 });
    for strategy in Strategy::all() {
        let found = Run::new(&pinned, SEVENS).found(strategy);
        assert!(found.leak.value() >= (256.0f64 / 41.0).log2() + 8.0 - 1e-9, "{strategy:?}");
        if matches!(strategy, Strategy::Mpp) {
            assert!(!found.complete);
            assert_eq!(found.paths.len(), 2);
        }
    }
}

#[test]
fn what_cannot_be_followed_is_not_complete() {
    let graph = Graph::new(vec![test(0, is(0, 7), 1, 2), Site::Fail("bug"), Site::Stuck]);
    let found = Run::new(&graph, SEVENS).found(Strategy::Mpp);
    assert!(!found.complete);
    assert_eq!((found.paths.len(), found.statistics.lost), (1, 1));
    let stuck = Run::new(&graph, &[0]).search(&mut Pool::new(), Strategy::Mpp);
    assert_eq!(stuck.map(|_| ()), Err(Astray::Lost("an unknown operation".into())));
    let other = Graph::new(vec![Site::Fail("other")]);
    for strategy in Strategy::all() {
        let end = Run::new(&other, &[0]).search(&mut Pool::new(), strategy);
        assert_eq!(end.map(|_| ()), Err(Astray::OtherEnd));
    }
}

#[test]
fn a_program_without_tests_reveals_nothing() {
    let graph = Graph::new(vec![Site::Fail("bug")]);
    for strategy in Strategy::all() {
        let found = Run::new(&graph, &[]).found(strategy);
        assert_eq!((found.leak, found.chosen, found.paths.len()), (Bits::Exact(0.0), 0, 1));
    }
}

#[test]
fn limits_end_every_strategy_with_what_it_has() {
    let graph = way_round(3, Last::Free);
    let whole: Vec<f64> = Strategy::all()
        .iter()
        .map(|&strategy| Run::new(&graph, SEVENS).found(strategy).leak.value())
        .collect();
    for nodes in 0..60 {
        for (strategy, whole) in Strategy::all().into_iter().zip(&whole) {
            let found = Run { nodes, ..Run::new(&graph, SEVENS) }.found(strategy);
            assert!(found.leak.value() <= 24.0 + 1e-9, "{strategy:?}");
            if nodes == 0 {
                assert_eq!((found.chosen, found.complete), (0, false), "{strategy:?}");
            }
            if matches!(strategy, Strategy::Mpp) {
                assert!(found.leak.value() >= whole - 1e-9);
            }
        }
    }
}

#[test]
fn a_flag_ends_a_search() {
    let graph = way_round(3, Last::Free);
    let (original, target) = (original(SEVENS), Failure::stated("bug"));
    for (before, strategy) in [(true, 0), (false, 0), (false, 1), (false, 2)] {
        let (mut pool, cancel) = (Pool::new(), AtomicBool::new(before));
        let start = Walk::new(&graph, &mut pool, SEVENS);
        let limits = Limits {
            nodes: u64::MAX,
            time: Duration::from_secs(600),
            clock: &Instant::now,
            cancel: &cancel,
        };
        let mut reports = 0;
        let task = Task {
            pool: &mut pool,
            original: &original,
            target: &target,
            given: &[],
            limits,
            rng: &mut ChaCha8Rng::seed_from_u64(0),
            // The first report comes when the original's path is known.
            progress: &mut |progress| {
                assert!(progress.best_bits <= 24.0 + 1e-9);
                reports += 1;
                cancel.store(true, Ordering::Relaxed);
            },
            pause: &mut |_| {},
        };
        let found = match strategy {
            0 => mpp(start, task),
            1 => reap(start, task, &ReapOptions::new(Manner::RandomWalk)),
            _ => respa(start, task, &RespaOptions::default()),
        };
        match found {
            Err(Astray::Cancelled) => assert!(before),
            other => {
                let found = other.expect("the original's path is known");
                assert!(!before && !found.complete);
                assert_eq!(found.paths.len(), 1);
                assert!(reports > 0);
            }
        }
    }
}

#[test]
fn nothing_of_an_input_is_printed() {
    let graph = Graph::new(vec![test(0, is(0, 0xa7), 1, 1), Site::Fail("bug")]);
    let found = Run::new(&graph, &[0xa7]).found(Strategy::Mpp);
    let text = format!("{found:?}");
    assert!(text.contains("Path(1 tests, exactly 8.00 bits)"), "{text}");
    assert!(!text.contains("167") && !text.contains("a7"), "{text}");
}

#[test]
fn draws_from_the_union_are_in_proportion() {
    // 192 of 256 inputs take one path, 64 the other.
    let graph = Graph::new(vec![test(0, below(0, 64), 1, 1), Site::Fail("bug")]);
    let mut broad = 0;
    for seed in 0..400 {
        let found = Run { seed, ..Run::new(&graph, &[7]) }.found(Strategy::Mpp);
        assert_eq!(found.paths.len(), 2);
        broad += usize::from(found.chosen == 1);
    }
    assert!((270..330).contains(&broad), "{broad} of 400, 300 expected");
}

/// Three tests whose first byte may be anything, too: then so many tests follow the second that are
/// not on the path.
fn straying(strays: usize) -> Rc<Graph> {
    let (around, end) = (3, 5 + strays);
    let mut sites = vec![
        test(0, is(0, 7), 1, around),
        test(1, below(1, 200), 2, 2),
        test(2, below(2, 200), end, end),
        test(1, below(1, 200), around + 1, around + 1),
    ];
    for at in 0..strays {
        sites.push(test(50 + at, below(3, at as u8 + 1), around + at + 2, around + at + 2));
    }
    sites.push(test(2, below(2, 200), end, end));
    sites.push(Site::Fail("bug"));
    Graph::new(sites)
}

#[test]
fn who_complies_may_stray_some_dozens_of_times() {
    for (strays, reproduced) in [(0, true), (1, true), (64, true), (65, false)] {
        let options = RespaOptions { record: true, ..RespaOptions::default() };
        let found = Run::new(&straying(strays), SEVENS).found(Strategy::Respa(options));
        // Around the first test, and from the second on along the path.
        let first = Moment::Hybrid { from: 0, to: 2, visited: false, reproduced };
        assert_eq!(found.moments[1], first, "{strays} tests");
    }
}

#[test]
fn where_everything_is_needed_every_attempt_is_made() {
    let sites = (0..4).map(|at| test(at, is(at as u32, 7), at + 1, 5));
    let graph = Graph::new(sites.chain([Site::Fail("bug"), Site::Exit]).collect());
    for manner in [Manner::RandomWalk, Manner::AdaptiveGreedy] {
        let options = ReapOptions { attempts: 17, ..ReapOptions::new(manner) };
        let found = Run::new(&graph, SEVENS).found(Strategy::Reap(options));
        assert_eq!((found.chosen, found.paths.len()), (0, 1), "{manner:?}");
        assert_eq!(found.statistics.attempts, 17, "{manner:?}");
        assert!(found.complete, "{manner:?}");
        assert_eq!(found.leak, Bits::Exact(32.0));
    }
}

#[test]
fn after_a_detour_that_fails_the_walk_goes_on_and_makes_others() {
    // Both tests have a broad other side: the first attempt leaves at both for certain.
    let graph = Graph::new(vec![
        test(0, is(0, 7), 1, 3),
        test(1, is(1, 7), 2, 2),
        Site::Fail("bug"),
        Site::Exit,
    ]);
    let options = ReapOptions::new(Manner::AdaptiveGreedy);
    let found = Run::new(&graph, SEVENS).found(Strategy::Reap(options));
    assert_eq!((found.chosen, found.statistics.attempts), (1, 1));
    let (own, other) = (found.paths[0].tests(), found.paths[1].tests());
    assert_eq!(own[0], other[0], "it came back to where it left");
    assert_ne!(own[1], other[1], "and left again");
}

/// How often, of 2,000 runs, a search has found another path in the given attempt.
fn found_in(graph: &Rc<Graph>, manner: Manner, attempt: u64) -> f64 {
    let options = ReapOptions { attempts: attempt as u32, ..ReapOptions::new(manner) };
    let found = |seed: &u64| {
        let found = Run { seed: *seed, ..Run::new(graph, SEVENS) }.found(Strategy::Reap(options));
        found.paths.len() > 1 && found.statistics.attempts == attempt
    };
    (0..2_000).filter(found).count() as f64 / 2_000.0
}

#[test]
fn sides_are_taken_as_often_as_the_paper_says() {
    // To fail on another path, a broad side has to be taken and then a narrow one.
    let narrow = Graph::new(vec![
        test(0, is(0, 7), 2, 1),
        test(1, below(1, 64), 2, 3),
        Site::Fail("bug"),
        Site::Exit,
    ]);
    let even = Graph::new(vec![test(0, below(0, 128), 1, 1), Site::Fail("bug")]);
    let near = |share: f64, wanted: f64| (share - wanted).abs() < 0.035;
    // P(B) is 1 at first, so that nothing is found, and 3/4 then.
    assert_eq!(found_in(&narrow, Manner::AdaptiveGreedy, 1), 0.0);
    let second = found_in(&narrow, Manner::AdaptiveGreedy, 2);
    assert!(near(second, 0.75 * 0.25), "{second}");
    // Where both sides are even, neither is preferred, not even at first.
    let first = found_in(&even, Manner::AdaptiveGreedy, 1);
    assert!(near(first, 0.5), "{first}");
    let second = found_in(&even, Manner::AdaptiveGreedy, 2);
    assert!(near(second, 0.25), "{second}");
    // The random walk leaves the only test every other time, and turns every other time.
    let random = found_in(&narrow, Manner::RandomWalk, 1);
    assert!(near(random, 0.25), "{random}");
    let random = found_in(&even, Manner::RandomWalk, 1);
    assert!(near(random, 0.5), "{random}");
}

#[test]
fn the_test_that_keeps_most_of_the_original_is_left_first() {
    // Either of them could be left; the second forces a byte, the first halves one.
    let graph =
        Graph::new(vec![test(0, below(0, 128), 1, 1), test(1, is(1, 7), 2, 2), Site::Fail("bug")]);
    // One detour, and no second phase.
    let options = ReapRmOptions { detours: Some(1), attempts: 0, ..ReapRmOptions::default() };
    let found = Run::new(&graph, SEVENS).found(Strategy::ReapRm(options));
    assert_eq!((found.chosen, found.paths.len(), found.statistics.attempts), (1, 2, 1));
    let (own, other) = (found.paths[0].tests(), found.paths[1].tests());
    let same: Vec<bool> = own.iter().zip(&other).map(|(a, b)| a == b).collect();
    assert_eq!(same, [true, false]);
}

/// A search by respa that is given a clock, and what waits.
fn timed(
    hide_time: Option<Duration>,
    clock: &dyn Fn() -> Instant,
    pause: &mut dyn FnMut(Duration),
) -> Found {
    let graph = way_round(2, Last::Free);
    let (mut pool, cancel) = (Pool::new(), AtomicBool::new(false));
    let start = Walk::new(&graph, &mut pool, SEVENS);
    let (original, target) = (original(SEVENS), Failure::stated("bug"));
    let task = Task {
        pool: &mut pool,
        original: &original,
        target: &target,
        given: &[],
        limits: Limits { nodes: u64::MAX, time: Duration::from_secs(600), clock, cancel: &cancel },
        rng: &mut ChaCha8Rng::seed_from_u64(1),
        progress: &mut |_| {},
        pause,
    };
    let options = RespaOptions { hide_time, ..RespaOptions::default() };
    respa(start, task, &options).expect("it fails")
}

#[test]
fn there_is_a_delay_after_every_round_that_takes_nothing_from_the_search() {
    let (begun, passed) = (Instant::now(), Cell::new(Duration::ZERO));
    let clock = || begun + passed.get();
    let mut delays = Vec::new();
    // Time passes only while it waits, and then far more than a search may take.
    let found = timed(Some(Duration::from_hours(10)), &clock, &mut |delay| {
        passed.set(passed.get() + delay + Duration::from_hours(1));
        delays.push(delay);
    });
    assert!(found.complete && found.fixed_point == Some(true));
    assert!(found.statistics.spa >= 2);
    assert_eq!(delays.len() as u64, found.statistics.spa, "also after the last");
    assert!(delays.iter().all(|&delay| delay <= Duration::from_hours(10)));
    assert_ne!(delays[0], delays[1]);
    // Nothing else differs from a search without delays.
    let plain = timed(None, &clock, &mut |_| panic!("nobody waits"));
    assert_eq!((plain.leak, plain.statistics), (found.leak, found.statistics));
}

#[test]
fn a_search_ends_when_its_time_is_over() {
    let (begun, passed) = (Instant::now(), Cell::new(Duration::ZERO));
    // Every look at the clock takes a minute.
    let clock = || {
        passed.set(passed.get() + Duration::from_mins(1));
        begun + passed.get()
    };
    let found = timed(None, &clock, &mut |_| panic!("nobody waits"));
    assert!(!found.complete);
    assert_eq!((found.chosen, found.paths.len()), (0, 1));
}

#[test]
fn what_is_given_counts() {
    // The bytes are letters of a text that ends at its first zero.
    let graph = Graph::new(vec![test(0, below(0, 128), 1, 1), Site::Fail("bug")]);
    for strategy in Strategy::all() {
        let mut pool = Pool::new();
        let given: Vec<Term> = (0..2)
            .map(|offset| {
                let (byte, zero) = (pool.input(0, offset), pool.constant(8, 0));
                let is_zero = pool.eq(byte, zero);
                pool.not(is_zero)
            })
            .collect();
        let run = Run { given: &given, ..Run::new(&graph, &[7, 7]) };
        let found = run.search(&mut pool, strategy).expect("it fails");
        let inputs = |from: f64| -(from * 255.0 / 65_536.0).log2();
        let own = found.paths[0].leak().value();
        assert!((own - inputs(127.0)).abs() < 1e-9, "{strategy:?}: {own}");
        assert!(found.leak.value() > inputs(255.0) - 1e-9, "{strategy:?}");
        if matches!(strategy, Strategy::Mpp) {
            assert!((found.leak.value() - inputs(255.0)).abs() < 1e-9);
        }
        assert_ne!(found.chosen().witness().source(0)[0], 0);
    }
}

#[test]
fn one_pin_is_enough_to_know_that_not_all_paths_are_found() {
    // Whether there is another way is asked for the first of them alone.
    let pin = |at: usize| Site::Pin { place: at as u64, value: byte(at as u32), next: at + 1 };
    let graph = Graph::new((0..20).map(pin).chain([Site::Fail("bug")]).collect());
    let found = Run::new(&graph, &[7; 20]).found(Strategy::Mpp);
    assert!(!found.complete);
    assert_eq!((found.statistics.turns, found.paths.len()), (1, 1));
}

#[test]
fn without_time_mpp_has_the_path_of_the_original() {
    let graph = way_round(3, Last::Free);
    let found = Run { nodes: 0, ..Run::new(&graph, SEVENS) }.found(Strategy::Mpp);
    assert_eq!((found.paths.len(), found.statistics.turns, found.complete), (1, 0, false));
    // It is walked once: the second walk, with a look at other ways, is not made.
    assert_eq!(found.statistics.nodes, found.paths[0].len() as u64);
}
