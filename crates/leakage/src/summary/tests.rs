//! Every statement of every summary, against all inputs.

use std::collections::BTreeMap;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_models::{ByteSet, mask_of};
use stunt_shapes::inputs::each_input;
use stunt_shapes::random::narrow;
use stunt_terms::{Evaluator, mask};

use super::common::random_terms;
use super::values::signed;
use super::*;

/// How often each value occurs.
type Counts = BTreeMap<u128, u64>;

fn check_values(summary: &Values, counts: &Counts, what: &str) {
    let total: u64 = counts.values().sum();
    let images = counts.len() as u128;
    let part = |n: u64| n as f64 / total as f64;
    for (&value, &n) in counts {
        assert!(summary.min <= value && value <= summary.max, "bounds: {what}");
        let number = signed(summary.width, value);
        assert!(summary.low <= number && number <= summary.high, "signed bounds: {what}");
        assert_eq!(value & summary.zeros, 0, "zeros: {what}");
        assert_eq!(value & summary.ones, summary.ones, "ones: {what}");
        assert!(-part(n).log2() <= summary.rarest + 1e-9, "rarest: {what}");
        assert!(part(n) <= summary.commonest * (1.0 + 1e-9), "commonest: {what}");
    }
    assert!(summary.least <= images && images <= summary.most, "images: {what}");
    if summary.homogeneous {
        let first = counts.values().next().expect("there is an image");
        assert!(counts.values().all(|n| n == first), "homogeneous: {what}");
    }
    for bit in (0..summary.width).filter(|bit| summary.uniform >> bit & 1 == 1) {
        let mut balance: BTreeMap<u128, i64> = BTreeMap::new();
        for (&value, &n) in counts {
            let sign = if value >> bit & 1 == 1 { 1 } else { -1 };
            *balance.entry(value & mask(bit)).or_default() += sign * n as i64;
        }
        assert!(balance.values().all(|&difference| difference == 0), "uniform {bit}: {what}");
    }
    if let Some(v) = summary.masked {
        assert_eq!(v, summary.uniform, "masked: {what}");
        let rest: Vec<u128> = counts.keys().map(|value| value & !v & mask(summary.width)).collect();
        assert!(rest.iter().all(|&r| r == rest[0]), "masked: {what}");
    }
}

fn check_truth(truth: &Truth, counts: &Counts, what: &str) {
    let total: u64 = counts.values().sum();
    for value in 0..2u128 {
        let n = counts.get(&value).copied().unwrap_or(0);
        let part = n as f64 / total as f64;
        assert!(part <= truth.most[value as usize] * (1.0 + 1e-9), "most {value}: {what}");
        assert!(
            n == 0 || -part.log2() <= truth.loss[value as usize] + 1e-9,
            "loss {value}: {what}"
        );
    }
}

/// Random terms over up to three bytes with random domains, some bytes held: for each choice of
/// values for the held bytes, the summary must hold for the inputs that agree with it.
#[test]
fn every_statement_holds_for_all_inputs() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut evaluator = Evaluator::new();
    let (mut checked, mut informative) = (0, 0);
    for round in 0..4000 {
        let mut pool = Pool::new();
        let root = random_terms(rng.gen_range(2..=3)).truth(&mut pool, &mut rng, 3);
        let bytes: Vec<InputByte> = pool.support(root).iter().collect();
        if bytes.len() < 2 {
            continue;
        }
        let most = if bytes.len() == 2 { 48 } else { 14 };
        let domains: Vec<ByteSet> = bytes
            .iter()
            .map(|&byte| {
                let size = rng.gen_range(1..=most);
                let literal = narrow(&mut pool, &mut rng, byte, size);
                mask_of(&pool, literal).expect("a test of one byte")
            })
            .collect();
        let lists: Vec<Vec<u8>> = domains.iter().map(|domain| domain.iter().collect()).collect();
        let terms = pool.reachable(&[root]);
        let literals = [root];
        let problem =
            Problem { pool: &pool, bytes: &bytes, domains: &domains, literals: &literals };
        let leaves = Leaves::of(&problem, &terms);
        let mut space = InputSpace::new(&bytes, domains.iter().map(ByteSet::len));
        let held: Vec<usize> =
            (0..bytes.len()).filter(|_| round % 3 == 0 && rng.gen_bool(0.4)).collect();
        space.hold(&held);
        let summaries = Summaries::of(&pool, &space, &leaves, &terms);
        let terms: Vec<Term> =
            terms.into_iter().filter(|term| summaries.known.contains_key(term)).collect();

        // For each choice of the held bytes, for each term: how often it has each value.
        let mut found: BTreeMap<Vec<u8>, Vec<Counts>> = BTreeMap::new();
        each_input(&bytes, &lists, |input, current| {
            evaluator.reset();
            let key: Vec<u8> = held.iter().map(|&position| current[position]).collect();
            let counts = found.entry(key).or_insert_with(|| vec![Counts::new(); terms.len()]);
            for (counts, &term) in counts.iter_mut().zip(&terms) {
                *counts.entry(evaluator.eval(&pool, term, input)).or_default() += 1;
            }
        });
        informative += terms
            .iter()
            .filter(|&&term| match &summaries.known[&term] {
                Summary::Number(values) => values.rarest < space.size(pool.support(term)) - 0.01,
                Summary::Truth(truth) => truth.most.iter().any(|&part| part < 0.99),
            })
            .count();
        for counts in found.values() {
            for (counts, &term) in counts.iter().zip(&terms) {
                let what = format!("round {round}, {:?}", pool.op(term));
                match &summaries.known[&term] {
                    Summary::Number(values) => {
                        check_values(values, counts, &what);
                    }
                    Summary::Truth(truth) => check_truth(truth, counts, &what),
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 10_000, "only {checked} summaries were checked");
    assert!(informative > 2_000, "only {informative} of {checked} say anything");
}

/// The paper's two examples of summaries.
#[test]
fn the_papers_examples() {
    let mut pool = Pool::new();
    let byte = pool.input(0, 0);
    let (one, three) = (pool.constant(8, 1), pool.constant(8, 3));
    let f1 = pool.and(byte, one);
    let low = pool.and(byte, three);
    let f2 = pool.add(f1, low);
    let literal = {
        let other = pool.input(0, 1);
        let left = pool.ult(f1, other);
        let right = pool.ult(f2, other);
        pool.and(left, right)
    };
    let bytes: Vec<InputByte> = pool.support(literal).iter().collect();
    let domains = [ByteSet::ALL; 2];
    let literals = [literal];
    let problem = Problem { pool: &pool, bytes: &bytes, domains: &domains, literals: &literals };
    let leaves = Leaves::of(&problem, &pool.reachable(&literals));
    let number = |term| match &leaves.known[&term] {
        Summary::Number(values) => values.clone(),
        Summary::Truth(_) => panic!("a number"),
    };
    if leaves.known.contains_key(&f1) {
        let f1 = number(f1);
        assert_eq!((f1.min, f1.max, f1.least, f1.most), (0, 1, 2, 2));
        assert!(f1.homogeneous);
        assert_eq!((f1.masked, f1.ones), (Some(1), 0));
    }
    let f2 = number(f2);
    assert_eq!((f2.min, f2.max, f2.least, f2.most), (0, 4, 3, 3));
    assert!(!f2.homogeneous && f2.masked.is_none());
    // 64 of 256 inputs each for 0 and 4: the true lower density, not the paper's 1.
    assert!((f2.rarest - 2.0).abs() < 1e-9);
}

/// Quotients, remainders and table reads of evenly spread values, for all small intervals: there
/// the rules count exactly.
#[test]
fn even_intervals_are_counted_exactly() {
    let joint = Joint { independent: true, size: f64::INFINITY };
    let entries: Vec<u64> = (0..12).map(|i| [3, 0, 7, 7, 3, 7][i % 6]).collect();
    for min in 0..20u128 {
        for max in min..24 {
            let values: Vec<u128> = (min..=max).collect();
            let size = (values.len() as f64).log2() + 1e-12;
            let even = Values::listed(5, values.clone());
            assert!(even.is_even());
            let check = |found: Values, of: &dyn Fn(u128) -> u128, what: &str| {
                let mut counts = Counts::new();
                for &value in &values {
                    *counts.entry(of(value)).or_default() += 1;
                }
                let found = found.settled(size);
                let what = format!("{what} of {min} to {max}");
                check_values(&found, &counts, &what);
                let rarest = *counts.values().min().expect("an image") as f64;
                let exact = (values.len() as f64 / rarest).log2();
                assert!((found.rarest - exact).abs() < 1e-9, "not exact: {what}");
            };
            for c in 1..=25 {
                let divisor = Values::constant(5, c);
                check(rules::udiv(joint, &even, &divisor), &|v| v / c, "quotient");
                if max - min + 1 >= c || min / c == max / c {
                    check(rules::urem(joint, &even, &divisor), &|v| v % c, "remainder");
                }
            }
            let from = min.min(12) as usize;
            let to = (max as usize + 1).min(12);
            let past = (max + 1).saturating_sub(min.max(12));
            let read = |v: u128| entries.get(v as usize).copied().map_or(0, u128::from);
            check(rules::table(5, &even, &entries[from..to.max(from)], past), &read, "table");
        }
    }
}

/// Operand values to try rules on: a masked set, an interval, or any list with repetitions.
fn random_operand(rng: &mut ChaCha8Rng, width: u8) -> Vec<u128> {
    let all = mask(width);
    match rng.gen_range(0..3) {
        0 => {
            let (v, w) = (rng.r#gen::<u128>() & all, rng.r#gen::<u128>() & all);
            let mut values: Vec<u128> = (0..=all).map(|x| x & v | w & !v).collect();
            values.sort_unstable();
            values.dedup();
            values
        }
        1 => {
            let (a, b) = (rng.gen_range(0..=all), rng.gen_range(0..=all));
            (a.min(b)..=a.max(b)).collect()
        }
        _ => (0..rng.gen_range(1..10)).map(|_| rng.gen_range(0..=all)).collect(),
    }
}

/// Each rule by itself, on operands that no random term would have: independent ones, and ones
/// that are held at each of their values.
#[test]
fn each_rule_by_itself() {
    type Rule = fn(Joint, &Values, &Values) -> Values;
    type Build = fn(&mut Pool, Term, Term) -> Term;
    let binary: [(&str, Rule, Build); 14] = [
        ("and", rules::and, Pool::and),
        ("or", rules::or, Pool::or),
        ("xor", rules::xor, Pool::xor),
        ("add", rules::add, Pool::add),
        ("sub", rules::sub, Pool::sub),
        ("mul", rules::mul, Pool::mul),
        ("udiv", rules::udiv, Pool::udiv),
        ("urem", rules::urem, Pool::urem),
        ("sdiv", rules::sdiv, Pool::sdiv),
        ("srem", rules::srem, Pool::srem),
        ("shl", rules::shl, Pool::shl),
        ("lshr", rules::lshr, Pool::lshr),
        ("ashr", rules::ashr, Pool::ashr),
        ("concat", rules::concat, Pool::concat),
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let mut pool = Pool::new();
    let mut value = |width: u8, x: u128, y: u128, build: &dyn Fn(&mut Pool, Term, Term) -> Term| {
        let (a, b) = (pool.constant(width, x), pool.constant(width, y));
        let result = build(&mut pool, a, b);
        pool.as_const(result).expect("an operator on constants is one")
    };
    for round in 0..1200 {
        let width = rng.gen_range(1..=4);
        let (xs, ys) = (random_operand(&mut rng, width), random_operand(&mut rng, width));
        let (a, b) = (Values::listed(width, xs.clone()), Values::listed(width, ys.clone()));
        let size = |n: usize| (n as f64).log2() + 1e-12;
        for (name, rule, build) in binary {
            let what = format!("{name}, round {round}");
            let joint = Joint { independent: true, size: size(xs.len() * ys.len()) };
            let mut counts = Counts::new();
            for &x in &xs {
                for &y in &ys {
                    *counts.entry(value(width, x, y, &build)).or_default() += 1;
                }
            }
            check_values(&rule(joint, &a, &b).settled(joint.size), &counts, &what);
            let joint = Joint { independent: true, size: size(xs.len()) };
            let held = rule(joint, &a, &b.held()).settled(joint.size);
            for &y in &ys {
                let mut counts = Counts::new();
                for &x in &xs {
                    *counts.entry(value(width, x, y, &build)).or_default() += 1;
                }
                check_values(&held, &counts, &format!("{what}, held"));
            }
        }
        let wide = width + rng.gen_range(1..4);
        let lo = rng.gen_range(0..width);
        let hi = rng.gen_range(lo..width);
        let mut unary = |found: Values, what: &str, build: &dyn Fn(&mut Pool, Term) -> Term| {
            let mut counts = Counts::new();
            for &x in &xs {
                *counts.entry(value(width, x, 0, &|pool, a, _| build(pool, a))).or_default() += 1;
            }
            let found = found.settled(size(xs.len()));
            check_values(&found, &counts, &format!("{what}, round {round}"));
        };
        unary(rules::not(&a), "not", &|pool, a| pool.not(a));
        unary(rules::neg(&a), "neg", &|pool, a| pool.neg(a));
        unary(rules::zero_extend(wide, &a), "zero extend", &|pool, a| pool.zero_extend(wide, a));
        unary(rules::sign_extend(wide, &a), "sign extend", &|pool, a| pool.sign_extend(wide, a));
        let extracted = rules::extract(hi - lo + 1, lo, &a);
        unary(extracted, "extract", &|pool, a| pool.extract(hi, lo, a));
    }
}
