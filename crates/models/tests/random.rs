//! Every stage against brute force on thousands of random problems.

mod common;

use common::{Stage, brute_force, check, check_uniform, narrow, problems, random, rng};
use rand::Rng;
use stunt_models::{Budget, affine, diagram, enumerate, frontier, histogram, product, solve};
use stunt_terms::Pool;

const STAGES: [Stage; 5] = [
    ("enumerate", enumerate::solve),
    ("affine", affine::solve),
    ("histogram", histogram::solve),
    ("frontier", frontier::solve),
    ("diagram", diagram::solve),
];

/// Several literals over many bytes, of which some have one value: problems that fall apart.
#[test]
fn problems_that_fall_apart_agree_with_brute_force() {
    let mut rng = rng(3);
    let mut compared = 0;
    for round in 0..800 {
        let mut pool = Pool::new();
        let mut literals = Vec::new();
        for offset in 0..6 {
            let most = if rng.gen_bool(0.4) { 1 } else { 5 };
            literals.push(narrow(&mut pool, &mut rng, offset, most));
        }
        for _ in 0..4 {
            let [a, b] = [(), ()].map(|()| random(6).truth(&mut pool, &mut rng, 0));
            literals.push(pool.or(a, b));
        }
        for problem in problems(&pool, &literals).unwrap_or_default() {
            let solutions = brute_force(&pool, &problem);
            let space = solve(&problem.view(&pool), &Budget::default()).expect("a small problem");
            check(&*space, problem.bytes.len(), &solutions, &mut rng, &format!("round {round}"));
            compared += usize::from(!problem.literals.is_empty() && !solutions.is_empty());
        }
    }
    assert!(compared > 200, "{compared}");
}

#[test]
fn stages_agree_with_brute_force() {
    let mut rng = rng(1);
    let mut accepted = [0; STAGES.len()];
    let mut products = 0;
    for round in 0..1000 {
        let mut pool = Pool::new();
        let bytes = rng.gen_range(2..=4);
        let most = if bytes == 2 { 40 } else { 6 };
        let mut literals: Vec<_> =
            (0..bytes).map(|b| narrow(&mut pool, &mut rng, b, most)).collect();
        let (tests, depth) = (rng.gen_range(1..=3), rng.gen_range(2..=5));
        literals.extend((0..tests).map(|_| random(bytes).truth(&mut pool, &mut rng, depth)));
        for problem in problems(&pool, &literals).unwrap_or_default() {
            let solutions = brute_force(&pool, &problem);
            let what = format!("round {round}");
            if let Some(space) = product::solve(&problem.view(&pool)) {
                check(&*space, problem.bytes.len(), &solutions, &mut rng, &what);
                products += 1;
                continue;
            }
            let whole = solve(&problem.view(&pool), &Budget::default()).expect("a small problem");
            check(&*whole, problem.bytes.len(), &solutions, &mut rng, &what);
            for (at, (name, stage)) in STAGES.iter().enumerate() {
                if let Some(space) = stage(&problem.view(&pool), &Budget::default()) {
                    accepted[at] += 1;
                    let what = format!("{what} by {name}");
                    check(&*space, problem.bytes.len(), &solutions, &mut rng, &what);
                    if round % 40 == 0 && (2..500).contains(&solutions.len()) {
                        check_uniform(&*space, problem.bytes.len(), &solutions, &mut rng, &what);
                    }
                }
            }
        }
    }
    // The comparison means something only if the stages do accept.
    assert!(products > 100, "{products} products");
    for ((name, _), accepted) in STAGES.iter().zip(accepted) {
        println!("{name} accepted {accepted}");
        assert!(*name == "affine" || accepted > 500, "{name} accepted only {accepted}");
    }
}

/// Without enumeration of small parts, so that the rules for sums and relations are used.
#[test]
fn histograms_of_read_once_terms_agree_with_brute_force() {
    let mut rng = rng(2);
    let mut accepted = 0;
    for round in 0..1500 {
        let mut pool = Pool::new();
        let bytes = rng.gen_range(2..=5);
        let width = [8, 9, 12, 16, 32][rng.gen_range(0..5)];
        let most = [0, 0, 60, 20, 7, 5][bytes as usize];
        let mut literals: Vec<_> =
            (0..bytes).map(|b| narrow(&mut pool, &mut rng, b, most)).collect();
        // Sums of the bytes (or of functions of one byte), on two sides of a relation.
        let mut sides = [None, None];
        for offset in 0..bytes {
            let byte = pool.input(0, offset);
            let part = match rng.gen_range(0..5) {
                0 => pool.sign_extend(width.max(9), byte),
                1 => {
                    let wide = pool.zero_extend(width.max(9), byte);
                    let factor = pool.constant(width.max(9), 10);
                    pool.mul(wide, factor)
                }
                _ => pool.zero_extend(width.max(9), byte),
            };
            let part = pool.extract(width - 1, 0, part);
            let side = &mut sides[rng.gen_range(0..2)];
            *side = Some(match *side {
                None => part,
                Some(sum) if rng.gen_bool(0.3) => pool.sub(sum, part),
                Some(sum) if rng.gen_bool(0.1) => pool.xor(sum, part),
                Some(sum) => pool.add(sum, part),
            });
        }
        let constant = rng.gen_range(0..600);
        let constant = pool.constant(width, constant);
        let [a, b] = sides.map(|side| side.unwrap_or(constant));
        let mut tests = rng.gen_range(1..=2);
        while tests > 0 {
            tests -= 1;
            let literal = match rng.gen_range(0..4) {
                0 => pool.eq(a, b),
                1 => pool.ult(a, b),
                2 => pool.slt(a, b),
                _ => pool.ne(b, a),
            };
            literals.push(literal);
        }
        for problem in problems(&pool, &literals).unwrap_or_default() {
            let solutions = brute_force(&pool, &problem);
            let budget = Budget { cases: [0, 40][round % 2], ..Budget::default() };
            if let Some(space) = histogram::solve(&problem.view(&pool), &budget) {
                accepted += 1;
                check(
                    &*space,
                    problem.bytes.len(),
                    &solutions,
                    &mut rng,
                    &format!("round {round}"),
                );
                if round % 20 == 0 && (2..500).contains(&solutions.len()) {
                    check_uniform(
                        &*space,
                        problem.bytes.len(),
                        &solutions,
                        &mut rng,
                        "a histogram",
                    );
                }
            }
        }
    }
    println!("histogram accepted {accepted}");
    assert!(accepted > 500, "{accepted}");
}
