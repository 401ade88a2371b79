//! What the random terms promise, and that trying all inputs tries all of them.

use std::collections::BTreeSet;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_shapes::random::narrow;
use stunt_shapes::{Random, inputs, places};
use stunt_terms::{Assignment, Evaluator, InputByte, Op, Pool};

const RANDOM_WIDTHS: &[u8] = &[1, 3, 8, 16, 32, 64, 128];

#[test]
fn terms_have_their_width_and_bytes_and_use_all_operators() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let random = Random::new(3, RANDOM_WIDTHS, 128);
    let mut seen = BTreeSet::new();
    for _ in 0..3000 {
        let mut pool = Pool::new();
        let width = rng.gen_range(1..=128);
        let bits = random.bits(&mut pool, &mut rng, width, 3);
        let truth = random.truth(&mut pool, &mut rng, 3);
        assert_eq!(pool.width(bits), width);
        assert!(pool.is_bool(truth) && !pool.is_bool(bits));
        for term in [bits, truth] {
            assert!(pool.support(term).iter().all(|byte| random.bytes.contains(&byte)));
        }
        for term in pool.reachable(&[bits, truth]) {
            let op = format!("{:?}", pool.op(term));
            seen.insert(op.split(['(', ' ']).next().unwrap_or_default().to_owned());
            assert!(!matches!(pool.op(term), Op::Byte(byte) if byte.offset > 2));
        }
    }
    // Constants, bytes and the 24 operators.
    assert_eq!(seen.len(), 26, "{seen:?}");
}

#[test]
fn equal_seeds_give_equal_terms() {
    let random = Random::new(4, RANDOM_WIDTHS, 64);
    let mut pool = Pool::new();
    for seed in 0..50 {
        let [a, b] = [seed, seed]
            .map(|seed| random.truth(&mut pool, &mut ChaCha8Rng::seed_from_u64(seed), 4));
        assert_eq!(a, b);
    }
}

#[test]
fn a_narrow_byte_has_some_values_and_no_more_than_allowed() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let byte = InputByte::new(0, 0);
    for _ in 0..2000 {
        let (mut pool, most) = (Pool::new(), rng.gen_range(1..=255));
        let literal = narrow(&mut pool, &mut rng, byte, most);
        let all = vec![(0..=255).collect()];
        let left = inputs::solutions(&pool, &[literal], &[byte], &all).len();
        assert!((1..=usize::from(most)).contains(&left), "{left} of {most}");
    }
}

#[test]
fn every_input_is_visited_once_and_in_order() {
    let bytes = places(3);
    let values = [vec![1, 2, 9], vec![0, 255], vec![7, 8, 9, 10]];
    let mut visited = Vec::new();
    inputs::each_input(&bytes, &values, |input, current| {
        assert_eq!(input.source(0), current);
        visited.push(current.to_vec());
    });
    assert_eq!(visited.len(), 24);
    assert!(visited.windows(2).all(|pair| pair[0] < pair[1]));
    inputs::each_input(&bytes, &[vec![1], vec![], vec![2]], |_, _| panic!("there is none"));
    let mut empty = 0;
    inputs::each_input(&[], &[], |_, _| empty += 1);
    assert_eq!(empty, 1);

    // Solutions are those inputs that evaluate to true.
    let mut pool = Pool::new();
    let (a, c) = (pool.input(0, 0), pool.input(0, 2));
    let less = pool.ult(c, a);
    let expected: Vec<Vec<u8>> = visited
        .into_iter()
        .filter(|input| Evaluator::new().holds(&pool, less, &Assignment::from_bytes(input.clone())))
        .collect();
    assert_eq!(expected.len(), 4);
    assert_eq!(inputs::solutions(&pool, &[less], &bytes, &values), expected);
}
