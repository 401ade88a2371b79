//! Simplified conditions have exactly the solutions that they had.

mod common;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stunt_search::PathCondition;
use stunt_terms::Term;

#[test]
fn random_conditions_keep_their_solutions() {
    let mut shorter = 0;
    for seed in 0..1500 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut case = common::case(&mut rng);
        let tests = case.tests();
        let condition = PathCondition::new(&mut case.pool, &tests, &case.original);
        assert!(
            !condition.condition().is_contradiction(),
            "seed {seed}: the original satisfies it"
        );
        let simple: Vec<Term> = condition.condition().literals().collect();
        let given = case.literals.clone();
        assert_eq!(case.solutions(&given), case.solutions(&simple), "seed {seed}");
        let several = |literals: &[Term]| {
            literals.iter().filter(|&&literal| case.pool.support(literal).len() > 1).count()
        };
        shorter += usize::from(several(&simple) < several(&given));
    }
    assert!(shorter > 300, "some literals are implied: {shorter}");
}

#[test]
fn a_condition_without_solutions_stays_one() {
    for seed in 0..200 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut case = common::case(&mut rng);
        // Two literals that exclude each other, among the others.
        let last = case.literals[case.literals.len() - 1];
        let not = case.pool.not(last);
        case.literals.insert(0, not);
        let tests = case.tests();
        let condition = PathCondition::new(&mut case.pool, &tests, &case.original);
        let simple: Vec<Term> = condition.condition().literals().collect();
        let contradiction = condition.condition().is_contradiction();
        assert!(contradiction || case.solutions(&simple).is_empty(), "seed {seed}");
    }
}
