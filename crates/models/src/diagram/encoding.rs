//! Which variables stand for a byte, given the values that it can take.
//!
//! Variables are some of the byte's own bits, as few as tell the values of its domain apart (four
//! for the digits, five for the capital letters, none for a single value). So positions keep their
//! meaning for arithmetic, and one byte value is one choice of the variables: counts need no
//! correction. The other bits are functions of those; the variables' choices that stand for no
//! value are excluded by a constraint.

use crate::byteset::ByteSet;

/// How one byte is encoded.
pub(super) struct Code {
    /// The bits that are variables, as a mask.
    kept: u8,
    /// For each choice of the kept bits (all others zero) the value that it stands for.
    decoded: Box<[Option<u8>; 256]>,
    values: u32,
}

impl Code {
    /// The encoding of a domain that is not empty.
    pub(super) fn new(domain: &ByteSet) -> Code {
        let mut kept = u8::MAX;
        // High bits go first: what is left are the low ones, which carry most of the difference.
        for bit in (0..8).rev() {
            let fewer = kept & !(1 << bit);
            if tells_apart(domain, fewer) {
                kept = fewer;
            }
        }
        let mut decoded = Box::new([None; 256]);
        for value in domain.iter() {
            decoded[usize::from(value & kept)] = Some(value);
        }
        Code { kept, decoded, values: domain.len() }
    }

    /// The bits of the byte that are variables, lowest first.
    pub(super) fn kept(&self) -> impl DoubleEndedIterator<Item = u8> + '_ {
        (0..8).filter(|bit| self.kept >> bit & 1 == 1)
    }

    /// The value that a choice of the kept bits stands for, if it stands for one.
    pub(super) fn decode(&self, chosen: u8) -> Option<u8> {
        self.decoded[usize::from(chosen)]
    }

    /// Whether some choice of the variables stands for no value.
    pub(super) fn needs_constraint(&self) -> bool {
        self.values != 1 << self.kept.count_ones()
    }

    /// For each choice of the variables the value it stands for: entry `i` is the choice where bit
    /// `bits[j]` is bit `bits.len() - 1 - j` of `i`; `bits` are the kept bits in some order.
    pub(super) fn values(&self, bits: &[u8]) -> Vec<Option<u8>> {
        (0..1usize << bits.len())
            .map(|choice| {
                let chosen = bits.iter().rev().enumerate();
                let chosen = chosen.fold(0, |byte, (j, bit)| byte | (choice >> j & 1) << bit);
                self.decoded[chosen]
            })
            .collect()
    }
}

/// Whether no two values of the domain agree in the bits of `mask`.
fn tells_apart(domain: &ByteSet, mask: u8) -> bool {
    let mut seen = ByteSet::NONE;
    domain.iter().all(|value| {
        let new = !seen.contains(value & mask);
        seen.insert(value & mask);
        new
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_variables_and_every_value_once() {
        let domains = [
            (ByteSet::ALL, 8),
            (ByteSet::filter(|v| v != 0), 8),
            (ByteSet::filter(|v| v.is_ascii_digit()), 4),
            (ByteSet::filter(|v| v.is_ascii_uppercase()), 5),
            (ByteSet::filter(|v| v < 128), 7),
            (ByteSet::filter(|v| v == 9), 0),
            (ByteSet::filter(|v| v.is_ascii_hexdigit()), 6),
            (ByteSet::filter(|v| v % 16 == 5), 4),
        ];
        for (domain, variables) in domains {
            let code = Code::new(&domain);
            let bits: Vec<u8> = code.kept().collect();
            assert_eq!(bits.len(), variables);
            let values = code.values(&bits);
            let mut found: Vec<u8> = values.iter().copied().flatten().collect();
            found.sort_unstable();
            assert_eq!(found, domain.iter().collect::<Vec<_>>());
            assert_eq!(code.needs_constraint(), values.contains(&None));
        }
    }
}
