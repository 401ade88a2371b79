//! The values of a byte with which the program fails, found by trying them.
//!
//! Classes of characters are tried on whole stretches of bytes; single values on bytes that are still
//! fixed after that. A test often says that a byte is what it was, where the failure would do with any digit, or with
//! the letter in the other case. The first value of each kind is tried at first, then two others: if all of
//! them do, the kind is taken to do, if not, each value of the kind is tried. Whether that is right is seen
//! when it is tried as a whole.

use stunt_models::ByteSet;
use stunt_terms::{InputByte, Pool, Term};

/// What a stretch of bytes may be instead of what it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Class {
    /// ASCII: where text must be UTF-8.
    Ascii,
    /// Letters and digits.
    Alphanumeric,
    /// Digits.
    Digits,
}

impl Class {
    /// Its values.
    pub(crate) fn values(self) -> ByteSet {
        match self {
            Class::Ascii => ByteSet::range(0, 0x7f),
            Class::Alphanumeric => ByteSet::filter(|value| value.is_ascii_alphanumeric()),
            Class::Digits => ByteSet::range(b'0', b'9'),
        }
    }
}

/// Kinds of values: what a program takes one of, it mostly takes all of. They share none, and leave none out.
const KINDS: [fn(u8) -> bool; 8] = [
    |value| value.is_ascii_digit(),
    |value| value.is_ascii_lowercase(),
    |value| value.is_ascii_uppercase(),
    |value| matches!(value, b' ' | b'\t'..=b'\r'),
    |value| value.is_ascii_punctuation(),
    |value| value.is_ascii_control() && !matches!(value, b'\t'..=b'\r'),
    |value| (0x80..0xc0).contains(&value),
    |value| value >= 0xc0,
];

/// The values of each kind.
pub(crate) fn kinds() -> impl Iterator<Item = ByteSet> {
    KINDS.iter().map(ByteSet::filter)
}

/// Some values that stand for all of a kind: the first of it, and two others.
pub(crate) fn some_of(kind: &ByteSet) -> (ByteSet, ByteSet) {
    let last = kind.len().saturating_sub(1);
    let value =
        |rank: u32| kind.nth(rank).map_or(ByteSet::NONE, |value| ByteSet::range(value, value));
    (value(0), value(last / 3).union(&value(last)))
}

/// The neighbours of values that are known to do: the letter in the other case, the next number.
pub(crate) fn near(known: ByteSet) -> ByteSet {
    let mut values = ByteSet::NONE;
    for value in known.iter().take(4) {
        for near in
            [value ^ 0x20, value ^ 1, value ^ 0x80, value.wrapping_add(1), value.wrapping_sub(1)]
        {
            values.insert(near);
        }
    }
    values.intersect(&known.complement())
}

/// That a byte has one of these values.
pub(crate) fn literal(pool: &mut Pool, byte: InputByte, values: ByteSet) -> Term {
    let variable = pool.byte(byte);
    let mut runs: Vec<(u8, u8)> = Vec::new();
    for value in values.iter() {
        match runs.last_mut() {
            Some((_, last)) if u16::from(*last) + 1 == u16::from(value) => *last = value,
            _ => runs.push((value, value)),
        }
    }
    let mut all = pool.boolean(false);
    for (first, last) in runs {
        let (low, high) = (pool.constant(8, u128::from(first)), pool.constant(8, u128::from(last)));
        let above = pool.ule(low, variable);
        let below = pool.ule(variable, high);
        let within = pool.and(above, below);
        all = pool.or(all, within);
    }
    all
}

#[cfg(test)]
mod tests {
    use stunt_models::mask_of;

    use super::*;

    #[test]
    fn a_set_is_its_literal() {
        let mut pool = Pool::new();
        for values in [
            ByteSet::range(b'0', b'9'),
            ByteSet::filter(|value| value % 3 == 0),
            ByteSet::filter(|value| value == 0 || value == 255),
            ByteSet::range(0, 254),
        ] {
            let term = literal(&mut pool, InputByte::new(0, 7), values);
            assert_eq!(mask_of(&pool, term), Some(values));
        }
    }

    #[test]
    fn every_value_is_of_one_kind() {
        for value in 0..=u8::MAX {
            assert_eq!(kinds().filter(|kind| kind.contains(value)).count(), 1, "{value}");
        }
        for kind in kinds() {
            let (first, others) = some_of(&kind);
            let some = first.union(&others);
            assert_eq!((first.len(), some.len()), (1, 3));
            assert!(some.intersect(&kind.complement()).is_empty());
        }
    }

    #[test]
    fn neighbours_are_new() {
        let known = ByteSet::range(b'0', b'9');
        assert!(near(known).intersect(&known).is_empty());
        assert!(near(ByteSet::range(b'G', b'G')).contains(b'g'));
    }
}
