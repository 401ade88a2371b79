//! Tests of several bytes at once for a zero, told byte by byte.
//!
//! Searching a text eight bytes at a time, programs ask whether a word has a zero byte by
//! `(x - 0x01…01) & ~x & 0x80…80 != 0`, which compilers turn into comparisons of
//! `(0x01…00 - x) | x` with `0x80…80` under the mask `0x80…80`: equal if no byte of `x` is zero.
//! The arithmetic carries from byte to byte and so connects them all, although the question does
//! not; asked byte by byte it can be read under what is known of each byte.
//!
//! What always holds: the result has the meaning of the term. Tests of two words at once, as
//! searches make them, are recognised; the pool has those of a single word bit by bit.

use stunt_terms::{Op, Pool, Term};

/// The byte-wise form of a Bool term that tests words for zero bytes; `None` for other terms.
pub(crate) fn told_by_bytes(pool: &mut Pool, term: Term) -> Option<Term> {
    let (negated, equality) = match pool.op(term) {
        Op::Not(inner) => (true, inner),
        _ => (false, term),
    };
    let Op::Eq(masked, wanted) = pool.op(equality) else { return None };
    let width = pool.width(masked);
    if !width.is_multiple_of(8) || pool.as_const(wanted)? != repeated(0x80, width) {
        return None;
    }
    let mut words = Vec::new();
    let mut masks = 0;
    let mut open = vec![masked];
    while let Some(part) = open.pop() {
        match pool.op(part) {
            Op::And(a, b) => open.extend([a, b]),
            Op::Const(mask) if mask == repeated(0x80, width) => masks += 1,
            Op::Or(a, b) => words.push(word(pool, a, b).or_else(|| word(pool, b, a))?),
            _ => return None,
        }
    }
    if masks == 0 {
        return None;
    }
    let mut none_zero = pool.boolean(true);
    let zero = pool.constant(8, 0);
    for word in words {
        for low in (0..width).step_by(8) {
            let byte = pool.extract(low + 7, low, word);
            let not_zero = pool.ne(byte, zero);
            none_zero = pool.and(none_zero, not_zero);
        }
    }
    Some(if negated { pool.not(none_zero) } else { none_zero })
}

/// The word `x` if `difference` is `0x01…00 - x`.
fn word(pool: &Pool, x: Term, difference: Term) -> Option<Term> {
    let width = pool.width(x);
    let Op::Sub(from, what) = pool.op(difference) else { return None };
    (what == x && pool.as_const(from)? == repeated(0x01, width) - 1).then_some(x)
}

fn repeated(byte: u8, width: u8) -> u128 {
    (0..width / 8).fold(0, |all, _| all << 8 | u128::from(byte))
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use stunt_terms::{Assignment, Evaluator, InputByte};

    use super::*;

    /// The test as compilers leave it, of words whose bytes are `parts`.
    fn test(pool: &mut Pool, words: &[Vec<Term>]) -> Term {
        let width = 8 * words[0].len() as u8;
        let high = pool.constant(width, repeated(0x80, width));
        let ones = pool.constant(width, repeated(0x01, width) - 1);
        let mut all = high;
        for parts in words {
            let x = parts.iter().copied().reduce(|a, b| pool.concat(a, b)).unwrap();
            let difference = pool.sub(ones, x);
            let either = pool.or(difference, x);
            all = pool.and(all, either);
        }
        pool.eq(all, high)
    }

    #[test]
    fn borrows_between_bytes_are_told_right() {
        let mut pool = Pool::new();
        let bytes: Vec<Term> = (0..16).map(|at| pool.byte(InputByte::new(0, at))).collect();
        let term = test(&mut pool, &[bytes[..8].to_vec(), bytes[8..].to_vec()]);
        let corners = [0, 1, 2, 0x7e, 0x7f, 0x80, 0x81, 0x82, 0xfe, 0xff];
        for term in [term, pool.not(term)] {
            let told = told_by_bytes(&mut pool, term).expect("it is such a test");
            assert!(told != term);
            for case in 0..10_000 {
                let value = |at: u32| corners[case / 10usize.pow(at) % 10];
                // Neighbours at either end of the word; what is between is not zero.
                let mut bytes = [value(0), value(1), 3, 1, 0x80, 0xff, value(2), value(3)].to_vec();
                bytes.extend([1; 8]);
                let values = Assignment::from_bytes(bytes);
                let same = [term, told].map(|it| Evaluator::new().holds(&pool, it, &values));
                assert_eq!(same[0], same[1]);
            }
        }
    }

    #[test]
    fn long_words_with_known_bytes_are_told_right() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut told_any = 0;
        for _ in 0..200 {
            let mut pool = Pool::new();
            let words: Vec<Vec<Term>> = (0..rng.gen_range(1..3u32))
                .map(|word| {
                    let part = |at| match rng.gen_range(0..4) {
                        0 => pool.constant(8, u128::from(rng.r#gen::<u8>() & 0x7f)),
                        1 => {
                            let byte = pool.byte(InputByte::new(0, 8 * word + at));
                            let sep = pool.constant(8, 0x2c);
                            pool.xor(byte, sep)
                        }
                        _ => pool.byte(InputByte::new(0, 8 * word + at)),
                    };
                    (0..8).map(part).collect()
                })
                .collect();
            let term = test(&mut pool, &words);
            let Some(told) = told_by_bytes(&mut pool, term) else { continue };
            told_any += 1;
            for _ in 0..200 {
                let bytes = (0..16).map(|_| if rng.gen_bool(0.1) { 0 } else { rng.r#gen() });
                let values = Assignment::from_bytes(bytes.collect::<Vec<u8>>());
                let same = [term, told].map(|it| Evaluator::new().holds(&pool, it, &values));
                assert_eq!(same[0], same[1]);
            }
        }
        assert!(told_any > 100, "most are recognised: {told_any}");
    }

    #[test]
    fn other_terms_are_left_alone() {
        let mut pool = Pool::new();
        let bytes: Vec<Term> = (0..8).map(|at| pool.byte(InputByte::new(0, at))).collect();
        let x = bytes.into_iter().reduce(|a, b| pool.concat(a, b)).unwrap();
        let high = pool.constant(64, repeated(0x80, 64));
        let masked = pool.and(x, high);
        let term = pool.eq(masked, high);
        assert_eq!(told_by_bytes(&mut pool, term), None);
    }
}
