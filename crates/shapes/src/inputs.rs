//! All inputs of a few bytes, one by one: the slow way to an answer, and the sure one.

use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Term};

/// The first `count` bytes of source 0.
pub fn places(count: u32) -> Vec<InputByte> {
    (0..count).map(|offset| InputByte::new(0, offset)).collect()
}

/// Calls `visit` with every input whose bytes have values from the lists, the last byte changing
/// fastest: sorted lists give inputs in order.
///
/// # Panics
/// If there are not as many lists as bytes, or if there are more than 16 million inputs.
pub fn each_input(
    bytes: &[InputByte],
    values: &[Vec<u8>],
    mut visit: impl FnMut(&Assignment, &[u8]),
) {
    assert_eq!(bytes.len(), values.len(), "a list of values for each byte");
    let cases = values.iter().try_fold(1usize, |cases, list| cases.checked_mul(list.len()));
    assert!(cases.is_some_and(|cases| cases <= 1 << 24), "too many inputs to try");
    if cases == Some(0) {
        return;
    }
    let mut ranks = vec![0; bytes.len()];
    let mut current: Vec<u8> = values.iter().map(|list| list[0]).collect();
    let mut input = Assignment::new();
    for (&byte, &value) in bytes.iter().zip(&current) {
        input.set(byte, value);
    }
    loop {
        visit(&input, &current);
        let mut digit = bytes.len();
        loop {
            if digit == 0 {
                return;
            }
            digit -= 1;
            ranks[digit] = (ranks[digit] + 1) % values[digit].len();
            current[digit] = values[digit][ranks[digit]];
            input.set(bytes[digit], current[digit]);
            if ranks[digit] > 0 {
                break;
            }
        }
    }
}

/// All inputs with values from the lists that satisfy the literals, found by trying; sorted if the
/// lists are.
///
/// # Panics
/// As [`each_input`].
pub fn solutions(
    pool: &Pool,
    literals: &[Term],
    bytes: &[InputByte],
    values: &[Vec<u8>],
) -> Vec<Vec<u8>> {
    let (mut evaluator, mut found) = (Evaluator::new(), Vec::new());
    each_input(bytes, values, |input, current| {
        evaluator.reset();
        if literals.iter().all(|&literal| evaluator.holds(pool, literal, input)) {
            found.push(current.to_vec());
        }
    });
    found
}
