//! Text: keywords, character classes, UTF-8, base64.

use stunt_terms::{Pool, Term};

/// That the bytes are this text: one condition a byte.
pub fn equals(pool: &mut Pool, bytes: &[Term], text: &[u8]) -> Vec<Term> {
    let pairs = bytes.iter().zip(text);
    pairs
        .map(|(&byte, &wanted)| {
            let wanted = pool.constant(8, u128::from(wanted));
            pool.eq(byte, wanted)
        })
        .collect()
}

/// That the byte is none of the characters: one condition a character.
pub fn none_of(pool: &mut Pool, byte: Term, characters: &[u8]) -> Vec<Term> {
    characters
        .iter()
        .map(|&character| {
            let character = pool.constant(8, u128::from(character));
            pool.ne(byte, character)
        })
        .collect()
}

/// That a byte has one of `flags` in a table of character classes like C's `ctype`: 1 digit,
/// 2 upper case, 4 lower case, 8 white space, 16 other printable.
pub fn letter_class(pool: &mut Pool, byte: Term, flags: u16) -> Term {
    let class = |c: u8| match c {
        b'0'..=b'9' => 1,
        b'A'..=b'Z' => 2,
        b'a'..=b'z' => 4,
        b' ' | b'\t'..=b'\r' => 8,
        0x21..=0x7e => 16,
        _ => 0,
    };
    let table = pool.add_table(16, (0..=255).map(class).collect::<Vec<u64>>());
    let entry = pool.table(table, byte);
    let (flags, zero) = (pool.constant(16, u128::from(flags)), pool.constant(16, 0));
    let masked = pool.and(entry, flags);
    pool.ne(masked, zero)
}

/// That 2, 3 or 4 bytes are one well-formed UTF-8 sequence, and its code point in 32 bits.
///
/// # Panics
/// If there are not 2 to 4 bytes.
pub fn utf8(pool: &mut Pool, bytes: &[Term]) -> (Vec<Term>, Term) {
    let (lead, bits, least) = match bytes.len() {
        2 => (0xc0, 5, 0x80),
        3 => (0xe0, 4, 0x800),
        4 => (0xf0, 3, 0x1_0000),
        _ => panic!("a sequence has 2 to 4 bytes"),
    };
    let mask = pool.constant(8, 0xff << bits & 0xff);
    let lead = pool.constant(8, lead);
    let head = pool.and(bytes[0], mask);
    let mut conditions = vec![pool.eq(head, lead)];
    let low = pool.constant(8, (1 << bits) - 1);
    let first = pool.and(bytes[0], low);
    let mut point = pool.zero_extend(32, first);
    for &byte in &bytes[1..] {
        let (top, mark) = (pool.constant(8, 0xc0), pool.constant(8, 0x80));
        let head = pool.and(byte, top);
        conditions.push(pool.eq(head, mark));
        let (six, payload) = (pool.constant(32, 6), pool.constant(8, 0x3f));
        let part = pool.and(byte, payload);
        let part = pool.zero_extend(32, part);
        let shifted = pool.shl(point, six);
        point = pool.or(shifted, part);
    }
    conditions.push(crate::in_range(pool, point, least, 0x11_0000));
    let surrogate = crate::in_range(pool, point, 0xd800, 0xe000);
    conditions.push(pool.not(surrogate));
    (conditions, point)
}

/// The 24-bit value of four base64 characters through a table of 256 entries, and that each is
/// one (the table has 0xff elsewhere).
///
/// # Panics
/// If there are not four bytes.
pub fn base64_value(pool: &mut Pool, bytes: &[Term]) -> (Vec<Term>, Term) {
    assert_eq!(bytes.len(), 4, "base64 comes in fours");
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut entries = vec![0xff; 256];
    for (value, &character) in alphabet.iter().enumerate() {
        entries[usize::from(character)] = value as u64;
    }
    let table = pool.add_table(8, entries);
    let mut conditions = Vec::new();
    let mut value = pool.constant(32, 0);
    for &byte in bytes {
        let (entry, invalid) = (pool.table(table, byte), pool.constant(8, 0xff));
        conditions.push(pool.ne(entry, invalid));
        let (six, entry) = (pool.constant(32, 6), pool.zero_extend(32, entry));
        let shifted = pool.shl(value, six);
        value = pool.or(shifted, entry);
    }
    (conditions, value)
}
