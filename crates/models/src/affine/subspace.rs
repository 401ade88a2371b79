//! Sets of small numbers as solutions of equations: which sets are affine subspaces over GF(2).

/// One equation: the exclusive or of the bits in the mask equals the value.
pub(super) type Parity = (u32, bool);

/// The equations whose solutions, among the numbers of `width` bits, are exactly the members, each
/// given once. `None` if the members are no affine subspace; the empty set is none.
pub(super) fn equations(width: u32, members: impl IntoIterator<Item = u32>) -> Option<Vec<Parity>> {
    let mut members = members.into_iter();
    let first = members.next()?;
    // A reduced basis of the differences: each pivot is set in its own vector only.
    let mut basis: Vec<(u32, u32)> = Vec::new();
    let mut count = 1u64;
    for member in members {
        count += 1;
        let mut vector = member ^ first;
        for &(pivot, other) in &basis {
            if vector & pivot != 0 {
                vector ^= other;
            }
        }
        if vector != 0 {
            let pivot = 1 << vector.trailing_zeros();
            for (_, other) in &mut basis {
                if *other & pivot != 0 {
                    *other ^= vector;
                }
            }
            basis.push((pivot, vector));
        }
    }
    // The members lie in a subspace of that dimension; they are all of it if they are as many.
    if count != 1 << basis.len() {
        return None;
    }
    let pivots: u32 = basis.iter().map(|(pivot, _)| pivot).sum();
    let masks = (0..width).map(|bit| 1 << bit).filter(|bit| pivots & bit == 0).map(|bit| {
        let with = basis.iter().filter(|(_, vector)| vector & bit != 0);
        with.fold(bit, |mask, (pivot, _)| mask | pivot)
    });
    Some(masks.map(|mask| (mask, odd(first & mask))).collect())
}

/// Whether an odd number of bits is set.
pub(super) fn odd(value: u32) -> bool {
    value.count_ones() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solutions(width: u32, equations: &[Parity]) -> Vec<u32> {
        let holds =
            |value: &u32| equations.iter().all(|&(mask, parity)| odd(value & mask) == parity);
        (0..1 << width).filter(holds).collect()
    }

    /// All sets of numbers of three bits: a set is accepted exactly if it is closed under the
    /// exclusive or of any three members, and then described exactly.
    #[test]
    fn exactly_the_affine_sets_are_found() {
        let mut accepted = 0;
        for set in 0u32..256 {
            let members: Vec<u32> = (0..8).filter(|i| set >> i & 1 == 1).collect();
            let closed = !members.is_empty()
                && members.iter().all(|a| {
                    members.iter().all(|b| members.iter().all(|c| members.contains(&(a ^ b ^ c))))
                });
            let found = equations(3, members.iter().copied());
            assert_eq!(found.is_some(), closed);
            if let Some(found) = found {
                assert_eq!(solutions(3, &found), members);
                accepted += 1;
            }
        }
        // 8 points, 28 lines, 14 planes, and the whole space.
        assert_eq!(accepted, 51);
    }

    #[test]
    fn sets_of_bytes() {
        let rank = |test: fn(&u32) -> bool| equations(8, (0..256).filter(test)).map(|e| e.len());
        assert_eq!(rank(|_| true), Some(0));
        assert_eq!(rank(|&v| v < 128), Some(1));
        assert_eq!(rank(|&v| odd(v)), Some(1));
        assert_eq!(rank(|&v| v == 77), Some(8));
        assert_eq!(rank(|&v| v | 32 == u32::from(b'a')), Some(7));
        assert_eq!(rank(|&v| v != 0), None);
        assert_eq!(rank(|&v| (48..58).contains(&v)), None);
        assert_eq!(rank(|&v| (100..116).contains(&v)), None);
        assert_eq!(rank(|&v| [1, 2, 4, 8].contains(&v)), None);
    }
}
