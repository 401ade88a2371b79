//! Random programs over two bytes, compared with the trying of all 65,536 inputs.

use std::rc::Rc;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_leakage::Bits;
use stunt_path::{Execution, Failure, Stop};
use stunt_search::paths::{Found, Moment};
use stunt_terms::{Assignment, InputByte, Pool, Program, Term};

use crate::graph::{Build, Concrete, Graph, Site, Walk, below, byte, is, test};
use crate::run::{Run, Strategy};

/// A condition over one byte or both.
fn condition(rng: &mut ChaCha8Rng) -> Build {
    let (offset, value) = (rng.gen_range(0..2), rng.r#gen());
    match rng.gen_range(0..6) {
        0 => is(offset, value),
        1 | 2 => below(offset, value),
        3 => Box::new(move |pool| {
            let (byte, mask) = (pool.input(0, offset), pool.constant(8, u128::from(value | 1)));
            let (masked, zero) = (pool.and(byte, mask), pool.constant(8, 0));
            pool.eq(masked, zero)
        }),
        4 => Box::new(move |pool| {
            let (a, b) = (pool.input(0, 0), pool.input(0, 1));
            let (sum, limit) = (pool.add(a, b), pool.constant(8, u128::from(value)));
            pool.ult(sum, limit)
        }),
        _ => Box::new(|pool| {
            let (a, b) = (pool.input(0, 0), pool.input(0, 1));
            pool.ult(a, b)
        }),
    }
}

/// A program without loops of up to a dozen sites. Places are shared at random, so that tests at
/// one place can be different ones. Some have pins: then not all paths can be found.
fn program(rng: &mut ChaCha8Rng, pins: Pins) -> Rc<Graph> {
    let count = rng.gen_range(1..12);
    let mut sites = Vec::new();
    for number in 0..count {
        let mut to = || match rng.gen_range(0..10) {
            0 => count + 1,
            1 => count + 2,
            2 => count,
            _ => rng.gen_range(number + 1..=count),
        };
        let (yes, no) = (to(), to());
        if pins == Pins::Some && rng.gen_bool(0.2) {
            let (offset, mask) = (rng.gen_range(0..2), 1 << rng.gen_range(0..8) | 1);
            let value: Build = Box::new(move |pool| {
                let (byte, mask) = (pool.input(0, offset), pool.constant(8, mask));
                pool.and(byte, mask)
            });
            sites.push(Site::Pin { place: number as u64, value, next: yes });
        } else if rng.gen_bool(0.15) {
            let cases = (0..rng.gen_range(1..4))
                .map(|_| {
                    let values = (0..rng.gen_range(1..40)).map(|_| rng.r#gen()).collect();
                    (values, rng.gen_range(number + 1..=count))
                })
                .collect();
            let value = byte(rng.gen_range(0..2));
            let place = number as u64;
            sites.push(Site::Switch { place, value, cases, otherwise: yes });
        } else {
            let place = if rng.gen_bool(0.2) { number / 2 } else { number };
            sites.push(test(place, condition(rng), yes, no));
        }
    }
    sites.extend([Site::Fail("bug"), Site::Exit, Site::Fail("other")]);
    Graph::new(sites)
}

/// Whether a program fixes values.
#[derive(Clone, Copy, PartialEq)]
enum Pins {
    None,
    Some,
}

fn inputs() -> impl Iterator<Item = [u8; 2]> {
    (0..=u16::MAX).map(u16::to_le_bytes)
}

/// All inputs that fail.
fn failing(graph: &Rc<Graph>, pool: &mut Pool) -> Vec<[u8; 2]> {
    let mut concrete = Concrete::new(graph, pool, 2);
    inputs().filter(|input| concrete.fails(input, "bug")).collect()
}

/// All inputs that satisfy the tests of a path.
fn takers(pool: &Pool, found: &Found, path: usize) -> Vec<[u8; 2]> {
    let tests = found.paths[path].tests();
    let terms: Vec<Term> = tests.iter().map(|test| test.condition).collect();
    let bytes = [InputByte::new(0, 0), InputByte::new(0, 1)];
    let mut program = Program::compile(pool, &terms, &bytes);
    inputs().filter(|input| program.run_one(input).iter().all(|&value| value != 0)).collect()
}

fn number(input: &[u8; 2]) -> u16 {
    u16::from_le_bytes(*input)
}

fn bits(count: usize) -> f64 {
    16.0 - (count as f64).log2()
}

/// Runs all strategies on random programs.
fn programs(seeds: std::ops::Range<u64>, mut look: impl FnMut(u64, &Rc<Graph>, &mut ChaCha8Rng)) {
    let mut tried = 0;
    for seed in seeds {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let graph = program(&mut rng, Pins::None);
        tried += 1;
        look(seed, &graph, &mut rng);
    }
    assert!(tried > 0);
}

#[test]
fn mpp_finds_exactly_the_inputs_that_fail() {
    let mut all = 0;
    programs(0..50, |seed, graph, rng| {
        let mut pool = Pool::new();
        let failing = failing(graph, &mut pool);
        if failing.is_empty() {
            return;
        }
        all += 1;
        let input = failing[rng.gen_range(0..failing.len())];
        let found = Run::new(graph, &input).search(&mut pool, Strategy::Mpp).expect("it fails");
        assert!(found.complete, "seed {seed}");
        let mut union: Vec<[u8; 2]> = Vec::new();
        for path in 0..found.paths.len() {
            let takers = takers(&pool, &found, path);
            let Bits::Exact(leak) = found.paths[path].leak() else {
                panic!("two bytes are counted")
            };
            assert!((leak - bits(takers.len())).abs() < 1e-9, "seed {seed}");
            union.extend(takers);
        }
        union.sort_by_key(number);
        // Each of them once: paths share no input.
        assert!(union == failing, "seed {seed}: {} and {} inputs", union.len(), failing.len());
        let Bits::Exact(leak) = found.leak else { panic!("two bytes are counted") };
        assert!((leak - bits(failing.len())).abs() < 1e-9, "seed {seed}");
    });
    assert!(all > 30, "{all} programs fail");
}

#[test]
fn every_path_that_is_found_fails_and_no_figure_is_below_the_truth() {
    let mut others = [0; 5];
    programs(100..125, |seed, graph, rng| {
        let mut pool = Pool::new();
        let failing = failing(graph, &mut pool);
        if failing.is_empty() {
            return;
        }
        let input = failing[rng.gen_range(0..failing.len())];
        for (strategy, other) in Strategy::all().into_iter().zip(&mut others) {
            let run = Run { seed, ..Run::new(graph, &input) };
            let found = run.search(&mut pool, strategy).expect("it fails");
            assert!(found.leak.value() >= bits(failing.len()) - 1e-9, "seed {seed}: {strategy:?}");
            assert!(takers(&pool, &found, 0).contains(&input), "the first path is the original's");
            assert!(exact(&pool, &found, strategy), "seed {seed}: {strategy:?}: {}", found.leak);
            for path in 0..found.paths.len() {
                let takers = takers(&pool, &found, path);
                let witness = found.paths[path].witness().source(0);
                assert!(takers.iter().any(|taker| taker == witness), "seed {seed}");
                assert!(
                    takers
                        .iter()
                        .all(|taker| failing.binary_search_by_key(&number(taker), number).is_ok()),
                    "seed {seed}"
                );
                let leak = found.paths[path].leak().upper();
                assert!(leak >= bits(takers.len()) - 1e-9, "seed {seed}");
            }
            *other += usize::from(found.chosen > 0);
        }
    });
    assert!(others.iter().all(|&other| other > 3), "other paths were chosen: {others:?}");
}

/// Whether the figure is what the strategy's paper says, by counting; and no two paths share an input.
fn exact(pool: &Pool, found: &Found, strategy: Strategy) -> bool {
    let takers: Vec<Vec<[u8; 2]>> =
        (0..found.paths.len()).map(|path| takers(pool, found, path)).collect();
    let mut all: Vec<u16> = takers.iter().flatten().map(number).collect();
    let sum = all.len();
    all.sort_unstable();
    all.dedup();
    if all.len() < sum {
        return false;
    }
    let (own, alone) = (takers[0].len(), takers[found.chosen].len());
    let either = |counts: &[usize]| {
        counts.iter().any(|&count| (found.leak.value() - bits(count)).abs() < 1e-9)
    };
    found.leak.is_exact()
        && match strategy {
            Strategy::Mpp => either(&[sum]),
            _ if found.chosen == 0 || !found.by_path => either(&[alone]),
            Strategy::Reap(_) => either(&[own + alone]),
            // With two paths, either phase may have found the second one.
            Strategy::ReapRm(_) if found.paths.len() == 2 => either(&[alone, own + alone]),
            Strategy::ReapRm(_) => either(&[sum]),
            Strategy::Respa(_) if found.fixed_point == Some(true) => either(&[own + alone]),
            Strategy::Respa(_) => either(&[alone]),
        }
}

#[test]
fn where_an_input_decides_the_figure_is_that_of_the_path_alone() {
    // Of originals that take one path, some lead to one path and some to another, because a pin is met
    // that keeps what they are.
    let (mut by_input, mut by_path) = (0, 0);
    for seed in 600..680 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let graph = program(&mut rng, Pins::Some);
        let mut pool = Pool::new();
        let failing = failing(&graph, &mut pool);
        if failing.is_empty() {
            continue;
        }
        let input = failing[rng.gen_range(0..failing.len())];
        for strategy in Strategy::all() {
            let run = Run { seed, ..Run::new(&graph, &input) };
            let found = run.search(&mut pool, strategy).expect("it fails");
            assert!(exact(&pool, &found, strategy), "seed {seed}: {strategy:?}: {}", found.leak);
            by_input += usize::from(!found.by_path && found.chosen > 0);
            by_path += usize::from(found.by_path && found.chosen > 0);
            let (Strategy::Respa(_), true) = (strategy, found.by_path) else { continue };
            // Others of the same path lead to the same one.
            let own = takers(&pool, &found, 0);
            for _ in 0..3 {
                let other = own[rng.gen_range(0..own.len())];
                let run = Run { seed, ..Run::new(&graph, &other) };
                let again = run.search(&mut pool, strategy).expect("it fails");
                assert_eq!(again.chosen().tests(), found.chosen().tests(), "seed {seed}");
            }
        }
    }
    assert!(by_input > 10 && by_path > 10, "{by_input} and {by_path}");
}

/// `log2 n!`
fn factorial(n: usize) -> f64 {
    (2..=n).map(|n| (n as f64).log2()).sum()
}

/// Whether HYBRID was invoked no more often than proposition 1 says, by each invocation of SPA:
/// `log2 |φ|!` times, where the path goes from the start to the failure, both included.
fn as_rarely_as_proved(found: &Found) -> bool {
    let (mut left, mut invoked, mut rarely) = (0.0, 0, true);
    for moment in &found.moments {
        match moment {
            Moment::Source { tests } => left = factorial(tests + 2),
            Moment::Hybrid { .. } => {
                left -= 1.0;
                invoked += 1;
            }
            Moment::Suspected { .. } => {}
        }
        rarely &= left >= -1e-9;
    }
    rarely && invoked == found.statistics.hybrid
}

/// A program that makes its tests one after the other, on as many bytes. Some must come out as they
/// do: the program goes on at the same places, but does not fail in the end. Others are free, or free
/// but lead around the next few.
fn chain(rng: &mut ChaCha8Rng, length: usize, needed: f64) -> Rc<Graph> {
    let mut sites = Vec::new();
    // What is done once the failure is lost comes after the first end.
    let lost = length + 1;
    for number in 0..length {
        let otherwise = match rng.gen_bool(needed) {
            true => lost + number + 1,
            false => (number + rng.gen_range(1..4)).min(length),
        };
        sites.push(test(number, is(number as u32, 7), number + 1, otherwise));
    }
    sites.push(Site::Fail("bug"));
    for number in 0..length {
        let next = lost + number + 1;
        sites.push(test(number, is(number as u32, 7), next, next));
    }
    sites.push(Site::Exit);
    Graph::new(sites)
}

#[test]
fn respa_invokes_hybrid_as_rarely_as_proved() {
    let strategy = Strategy::all()[4];
    let mut most = 0;
    for length in 1..40 {
        for needed in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let mut rng = ChaCha8Rng::seed_from_u64(length as u64);
            let graph = chain(&mut rng, length, needed);
            let found = Run::new(&graph, &vec![7; length]).found(strategy);
            assert!(as_rarely_as_proved(&found), "{length}, {needed}: {:?}", found.statistics);
            assert_eq!(found.fixed_point, Some(true));
            most = most.max(found.statistics.hybrid);
            if needed == 1.0 {
                assert_eq!((found.chosen, found.statistics.spa), (0, 1));
                assert!(found.statistics.suspected + 1 >= length as u64);
            }
            if needed == 0.0 {
                let leak = found.chosen().leak().value();
                assert!(leak <= 0.01 * length as f64, "{length}: all are avoided, {leak}");
            }
        }
    }
    assert!(most > 100, "{most} invocations at most");
}

#[test]
fn respa_ends_where_it_stays() {
    let strategy = Strategy::all()[4];
    let mut gained = 0;
    programs(200..330, |seed, graph, rng| {
        let mut pool = Pool::new();
        let input: [u8; 2] = rng.r#gen();
        if !Concrete::new(graph, &mut pool, 2).fails(&input, "bug") {
            return;
        }
        let found = Run::new(graph, &input).search(&mut pool, strategy).expect("it fails");
        assert!(as_rarely_as_proved(&found), "seed {seed}");
        assert_eq!(found.fixed_point, Some(true), "seed {seed}");
        gained += usize::from(found.chosen > 0);
        // From the chosen path itself, with any of its inputs, it comes to the same path.
        let takers = takers(&pool, &found, found.chosen);
        let own = found.chosen().tests();
        for _ in 0..3 {
            let input = takers[rng.gen_range(0..takers.len())];
            let again = Run::new(graph, &input).search(&mut pool, strategy).expect("it fails");
            assert_eq!(again.chosen().tests(), own, "seed {seed}");
            assert_eq!(again.chosen, 0, "seed {seed}");
        }
    });
    assert!(gained > 10, "{gained} programs have a better path");
}

#[test]
fn the_same_randomness_gives_the_same_result() {
    programs(400..420, |seed, graph, rng| {
        let mut pool = Pool::new();
        let input: [u8; 2] = rng.r#gen();
        if !Concrete::new(graph, &mut pool, 2).fails(&input, "bug") {
            return;
        }
        for strategy in Strategy::all() {
            let run = Run { seed, ..Run::new(graph, &input) };
            let (one, two) = (run.found(strategy), run.found(strategy));
            assert_eq!(one.statistics, two.statistics, "seed {seed}: {strategy:?}");
            assert_eq!(one.chosen, two.chosen);
            assert_eq!(one.chosen().tests(), two.chosen().tests());
            assert_eq!(one.leak, two.leak);
        }
    });
}

#[test]
fn walks_end_as_runs_do() {
    // The graph's own execution, which everything here rests on: bound halfway to another input, it
    // ends as one that had that input from the start.
    programs(500..530, |_, graph, rng| {
        let mut pool = Pool::new();
        let mut concrete = Concrete::new(graph, &mut pool, 2);
        for _ in 0..50 {
            let (a, b): ([u8; 2], [u8; 2]) = (rng.r#gen(), rng.r#gen());
            let mut walk = Walk::new(graph, &mut pool, &a);
            let mut whole = Walk::new(graph, &mut pool, &b);
            while walk.stop() == whole.stop() && matches!(walk.stop(), Stop::Test(_)) {
                walk.advance(&mut pool);
                whole.advance(&mut pool);
            }
            if matches!(walk.stop(), Stop::Test(_)) {
                walk.bind(&mut pool, &Assignment::from_bytes(b));
            }
            assert_eq!(walk.stop(), whole.stop());
            while matches!(walk.stop(), Stop::Test(_)) {
                walk.advance(&mut pool);
            }
            let failed = *walk.stop() == Stop::Ended(Some(Failure::stated("bug")));
            assert_eq!(failed, concrete.fails(&b, "bug"));
        }
    });
}
