//! The values of a byte with which the program fails, found by trying them.
//!
//! Classes of characters are tried on whole stretches of bytes; single values on bytes that are still
//! fixed after that. A test often says that a byte is what it was, where the failure would do with any digit, or with
//! the letter in the other case. A few values that are likely to do are tried first; if none does,
//! the byte is left as it is.

use stunt_models::ByteSet;
use stunt_terms::{InputByte, Pool, Term};

/// What a stretch of bytes may be instead of what it was.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Class {
    /// ASCII: where text must be UTF-8.
    Ascii,
    /// ASCII that can be seen, and spaces.
    Printable,
    /// Letters and digits.
    Alphanumeric,
    /// Digits.
    Digits,
}

impl Class {
    /// Its values.
    pub(super) fn values(self) -> ByteSet {
        match self {
            Class::Ascii => ByteSet::range(0, 0x7f),
            Class::Printable => ByteSet::range(b' ', b'~'),
            Class::Alphanumeric => ByteSet::filter(|value| value.is_ascii_alphanumeric()),
            Class::Digits => ByteSet::range(b'0', b'9'),
        }
    }
}

/// Values that stand for their kind, and the neighbours of the one that is known to do.
pub(super) fn first_values(known: ByteSet) -> ByteSet {
    let mut values =
        ByteSet::filter(|value| b"07Amz \t\n\0\x01.,-/\"{\x80\xc3\xff".contains(&value));
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
pub(super) fn literal(pool: &mut Pool, byte: InputByte, values: ByteSet) -> Term {
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
    fn first_values_are_new() {
        let known = ByteSet::range(b'0', b'9');
        assert!(first_values(known).intersect(&known).is_empty());
        assert!(first_values(ByteSet::range(b'G', b'G')).contains(b'g'));
    }
}
