//! Walking agrees with following; and wherever a path is sent another way, it goes on as a fresh run
//! on that input does.

use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_machine::Following;
use stunt_machine::symbolic::Relaxations;
use stunt_models::{Condition, Masks};
use stunt_path::{Execution, Stop};
use stunt_solver::{Budget, Solver};
use stunt_terms::{Assignment, Evaluator, Pool};

use crate::cases::Case;
use crate::subject::{Subject, Via, Walked, walk};

/// Longer paths are looked at as far as this.
const MOST_TESTS: usize = 6_000;
/// How many tests of a path are sent another way; `STUNT_TURNS` for more.
const TURNS: usize = 8;

/// A walk has the tests of a followed run, in order.
pub fn agrees(case: &Case) -> Result<(), String> {
    for relax in [Relaxations::NONE, Relaxations::STEPWISE] {
        let mut subject = case.subject("agrees", relax)?;
        subject.check_terms = case.is_small();
        for check_memory in [false, true] {
            if check_memory && !case.is_small() {
                continue;
            }
            subject.check_memory = check_memory;
            agrees_with(&subject)?;
        }
    }
    Ok(())
}

fn agrees_with(subject: &Subject) -> Result<(), String> {
    let mut pool = Pool::new();
    let (tests, failure) = subject.follow(&mut pool)?;
    let mut following = subject.start(&mut pool)?;
    let walked = walk(&mut following, &mut pool, usize::MAX);
    let kept = walked.junctions.iter().map(|junction| junction.test);
    for ((test, expected), number) in kept.zip(&tests).zip(0..) {
        if test != *expected {
            return Err(format!(
                "test {number} of {} is {:?} at {:#x}, of the followed run {:?} at {:#x}",
                walked.junctions.len(),
                test.kind,
                test.address,
                expected.kind,
                expected.address,
            ));
        }
    }
    if walked.junctions.len() != tests.len() {
        return Err(format!("{} tests instead of {}", walked.junctions.len(), tests.len()));
    }
    if tests.is_empty() {
        return Err("nothing was followed".to_owned());
    }
    if walked.stop != Stop::Ended(failure.clone()) {
        return Err(format!("walked to {:?}, followed to {failure:?}", walked.stop));
    }
    Ok(())
}

/// Sends a path another way at random tests; each must go on as a fresh run does.
pub fn turns(case: &Case, seed: u64) -> Result<String, String> {
    let (mut turned, mut beyond) = (0, 0);
    for relax in [Relaxations::STEPWISE, Relaxations::NONE] {
        let subject = case.subject("turns", relax)?;
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut pool = Pool::new();
        let mut whole = subject.start(&mut pool)?;
        let mut start = whole.fork();
        let path = walk(&mut whole, &mut pool, MOST_TESTS);
        let mut chosen: Vec<usize> = (0..path.junctions.len()).collect();
        chosen.shuffle(&mut rng);
        let turns = std::env::var("STUNT_TURNS").ok().and_then(|text| text.parse().ok());
        chosen.truncate(turns.unwrap_or(TURNS));
        chosen.sort_unstable();
        let mut fork = start.fork();
        let mut at = 0;
        let (mut condition, mut masks) = (Condition::new(), Masks::new());
        if matches!(subject.via, Via::Argument | Via::Variable) {
            // Texts end at their first zero.
            for offset in 0..subject.input.len() as u32 {
                let (byte, zero) = (pool.input(0, offset), pool.constant(8, 0));
                let is_zero = pool.eq(byte, zero);
                let is_not = pool.not(is_zero);
                condition.push(&pool, &mut masks, is_not);
            }
        }
        let mut solver = Solver::new(Budget::default());
        for number in chosen {
            while at < number {
                condition.push(&pool, &mut masks, path.junctions[at].test.condition);
                fork.advance(&mut pool);
                at += 1;
            }
            let junction = path.junctions[number];
            if *fork.stop() != Stop::Test(junction) {
                return Err(format!("a fork stands elsewhere at test {number}"));
            }
            // Pins, too: the machine must come through with another value.
            let other = pool.not(junction.test.condition);
            let hint = subject.assignment();
            let answer = solver.satisfiable(&pool, &condition, Some(&hint), other);
            let Some(model) = answer.model() else { continue };
            let input = model.overlay(&hint);
            let mut child = fork.fork();
            child.bind(&mut pool, &input);
            let Stop::Test(turned_to) = child.stop() else {
                return Err(format!("test {number} is gone with another input"));
            };
            if turned_to.node.place != junction.node.place && junction.open {
                return Err(format!(
                    "test {number}, {:?} at {:#x}, is {:?} at {:#x} with another input",
                    junction.test.kind,
                    junction.test.address,
                    turned_to.test.kind,
                    turned_to.test.address,
                ));
            }
            if junction.open && turned_to.node == junction.node {
                return Err(format!(
                    "test {number}, {:?} at {:#x}, comes out the same with another input",
                    junction.test.kind, junction.test.address,
                ));
            }
            let rest = walk(&mut child, &mut pool, MOST_TESTS - number);
            let mut fresh = subject.start_on(&input, &mut pool)?;
            let all = walk(&mut fresh, &mut pool, MOST_TESTS);
            let here = format!("turned at test {number}, {:?}", junction.test.kind);
            compare(&path.junctions[..number], &rest, &all)
                .map_err(|why| format!("{here}: {why}"))?;
            turned += 1;
            beyond += rest.junctions.len();
            // Back again: the first input gives the first path.
            if rng.gen_range(0..4) == 0 {
                let mut back = fork.fork();
                back.bind(&mut pool, &input);
                back.bind(&mut pool, &hint);
                if *back.stop() != Stop::Test(junction) {
                    return Err(format!("{here}: there is no way back"));
                }
            }
        }
        // What the forks did was not seen by the first.
        let again = walk(&mut start, &mut pool, MOST_TESTS);
        if again.junctions != path.junctions || again.stop != path.stop {
            return Err("a fork changed the state of another".to_owned());
        }
    }
    if turned == 0 {
        return Err("no test could be sent another way".to_owned());
    }
    Ok(format!("{turned} turns, {beyond} tests beyond"))
}

fn compare(passed: &[stunt_path::Junction], rest: &Walked, all: &Walked) -> Result<(), String> {
    let turned = passed.iter().chain(&rest.junctions);
    for ((turned, fresh), number) in turned.zip(&all.junctions).zip(0..) {
        if turned != fresh {
            let what = if turned.test != fresh.test { "test" } else { "place" };
            return Err(format!(
                "{what} {number} is {:?} at {:#x}, in a fresh run {:?} at {:#x}",
                turned.test.kind, turned.test.address, fresh.test.kind, fresh.test.address,
            ));
        }
    }
    let count = passed.len() + rest.junctions.len();
    if count != all.junctions.len() {
        return Err(format!("{count} tests, in a fresh run {}", all.junctions.len()));
    }
    if rest.stop != all.stop {
        return Err(format!("ends as {:?}, a fresh run as {:?}", rest.stop, all.stop));
    }
    Ok(())
}

/// Binds random inputs that pass all tests so far: the path stays as it is, as far as it was
/// walked, and each condition says how its test comes out.
pub fn rebound(case: &Case, seed: u64) -> Result<(), String> {
    let mut subject = case.subject("rebound", Relaxations::STEPWISE)?;
    subject.check_terms = case.is_small();
    rebind(&subject, seed, false)
}

/// The same, for a subject; with `often`, nearly every test is met with another input.
pub fn rebind(subject: &Subject, seed: u64, often: bool) -> Result<(), String> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut pool = Pool::new();
    let mut following = subject.start(&mut pool)?;
    let mut passed = Vec::new();
    let mut input = subject.assignment();
    let mut evaluator = Evaluator::new();
    let length = subject.input.len() as u32;
    following.bind(&mut pool, &input);
    let mut bound = 1;
    while let &Stop::Test(junction) = following.stop()
        && passed.len() < 1_500
    {
        if rng.gen_bool(if often { 0.8 } else { 0.125 }) {
            let mut other: Assignment = input.clone();
            for _ in 0..rng.gen_range(0..4) {
                let byte = stunt_terms::InputByte::new(0, rng.gen_range(0..length));
                other.set(byte, rng.gen_range(1..=255));
            }
            evaluator.reset();
            if passed.iter().all(|&test| evaluator.holds(&pool, test, &other)) {
                following.bind(&mut pool, &other);
                input = other;
                bound += 1;
                continue;
            }
        }
        evaluator.reset();
        if !evaluator.holds(&pool, junction.test.condition, &input) {
            return Err(format!("test {} does not hold for the bound input", passed.len()));
        }
        passed.push(junction.test.condition);
        following.advance(&mut pool);
    }
    // All of it, in one go, on the input that was bound last.
    let mut fresh = subject.start_on(&input, &mut pool)?;
    if often {
        // A program of random instructions prints all of its state.
        walk(&mut following, &mut pool, usize::MAX);
        walk(&mut fresh, &mut pool, usize::MAX);
        return same_state(&printed(&mut following), &printed(&mut fresh), bound);
    }
    let path = walk(&mut fresh, &mut pool, passed.len());
    let conditions: Vec<_> = path.junctions.iter().map(|it| it.test.condition).collect();
    if conditions != passed || path.stop != *following.stop() {
        return Err(format!("a fresh run on the last input differs, after {bound} inputs"));
    }
    Ok(())
}

fn printed(following: &mut Following) -> Vec<u8> {
    following.kernel().files().drain(1)
}

/// Flags that are not followed (AF always, PF behind a carry) may be those of another input.
fn same_state(turned: &[u8], fresh: &[u8], bound: usize) -> Result<(), String> {
    const NOT_FOLLOWED: u8 = 0x14;
    let differ = |(at, (a, b)): (usize, (&u8, &u8))| ((a ^ b) & !NOT_FOLLOWED != 0).then_some(at);
    let places: Vec<usize> = turned.iter().zip(fresh).enumerate().filter_map(differ).collect();
    if fresh.is_empty() || turned.len() != fresh.len() || !places.is_empty() {
        return Err(format!(
            "{} and {} bytes, different at {places:?}, after {bound} inputs",
            turned.len(),
            fresh.len()
        ));
    }
    Ok(())
}
