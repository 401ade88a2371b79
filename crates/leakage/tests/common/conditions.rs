//! Conditions of real parsers, small enough to have a known number of solutions.

use stunt_terms::{Pool, Term};

/// `byte == value` for a text from `offset` on.
pub fn text(pool: &mut Pool, offset: u32, text: &[u8]) -> Vec<Term> {
    (offset..)
        .zip(text)
        .map(|(offset, &value)| {
            let (byte, value) = (pool.input(0, offset), pool.constant(8, u128::from(value)));
            pool.eq(byte, value)
        })
        .collect()
}

pub fn differs(pool: &mut Pool, offset: u32, value: u8) -> Term {
    let (byte, value) = (pool.input(0, offset), pool.constant(8, u128::from(value)));
    pool.ne(byte, value)
}

/// A 32-bit little-endian field.
pub fn word(pool: &mut Pool, offset: u32) -> Term {
    (1..4).fold(pool.input(0, offset), |low, i| {
        let high = pool.input(0, offset + i);
        pool.concat(high, low)
    })
}

pub fn is_digit(pool: &mut Pool, offset: u32) -> Term {
    let byte = pool.input(0, offset);
    let (zero, ten) = (pool.constant(8, 0x30), pool.constant(8, 10));
    let value = pool.sub(byte, zero);
    pool.ult(value, ten)
}

pub fn digit(pool: &mut Pool, width: u8, offset: u32) -> Term {
    let byte = pool.input(0, offset);
    let wide = pool.zero_extend(width, byte);
    let zero = pool.constant(width, 0x30);
    pool.sub(wide, zero)
}

/// `GET ` and 21 bytes that are neither space nor newline.
pub fn request_line(pool: &mut Pool) -> Vec<Term> {
    let mut literals = text(pool, 0, b"GET ");
    for offset in 4..25 {
        literals.push(differs(pool, offset, b' '));
        literals.push(differs(pool, offset, b'\n'));
    }
    literals
}

/// A 32-bit little-endian field in [100, 4096).
pub fn field_in_range(pool: &mut Pool) -> Vec<Term> {
    let field = word(pool, 0);
    let (low, high) = (pool.constant(32, 100), pool.constant(32, 4096));
    vec![pool.uge(field, low), pool.ult(field, high)]
}

/// Sixteen ASCII digits whose last is Luhn's check digit.
pub fn luhn(pool: &mut Pool) -> Vec<Term> {
    let mut literals: Vec<Term> = (0..16).map(|offset| is_digit(pool, offset)).collect();
    let mut sum = pool.constant(16, 0);
    for offset in 0..16 {
        let value = digit(pool, 16, offset);
        let term = if offset % 2 == 0 {
            let double = pool.add(value, value);
            let (nine, ten) = (pool.constant(16, 9), pool.constant(16, 10));
            let less = pool.sub(double, nine);
            let small = pool.ult(double, ten);
            pool.ite(small, double, less)
        } else {
            value
        };
        sum = pool.add(sum, term);
    }
    let (ten, zero) = (pool.constant(16, 10), pool.constant(16, 0));
    let rest = pool.urem(sum, ten);
    literals.push(pool.eq(rest, zero));
    literals
}

/// Two 32-bit fields with off <= 10000 and len <= 10000 - off.
pub fn offset_and_length(pool: &mut Pool) -> Vec<Term> {
    let (off, len) = (word(pool, 0), word(pool, 4));
    let size = pool.constant(32, 10_000);
    let rest = pool.sub(size, off);
    vec![pool.ule(off, size), pool.ule(len, rest)]
}

/// 64 bytes with a given sum modulo 256.
pub fn sum_of_bytes(pool: &mut Pool) -> Vec<Term> {
    let mut sum = pool.constant(8, 0);
    for offset in 0..64 {
        let byte = pool.input(0, offset);
        sum = pool.add(sum, byte);
    }
    let want = pool.constant(8, 0x5a);
    vec![pool.eq(sum, want)]
}

/// Sixteen pairs of equal bytes.
pub fn equal_pairs(pool: &mut Pool) -> Vec<Term> {
    (0..16)
        .map(|i| {
            let (a, b) = (pool.input(0, i), pool.input(0, 16 + i));
            pool.eq(a, b)
        })
        .collect()
}

/// Two equal strings of sixteen bytes, compared as numbers.
pub fn equal_strings(pool: &mut Pool) -> Vec<Term> {
    let mut sides = Vec::new();
    for start in [0, 16] {
        let first = pool.input(0, start);
        sides.push((1..16).fold(first, |high, i| {
            let low = pool.input(0, start + i);
            pool.concat(high, low)
        }));
    }
    vec![pool.eq(sides[0], sides[1])]
}

/// Five ASCII digits with a value above 255.
pub fn five_digits(pool: &mut Pool) -> Vec<Term> {
    let mut literals: Vec<Term> = (0..5).map(|offset| is_digit(pool, offset)).collect();
    let mut value = pool.constant(32, 0);
    for offset in 0..5 {
        let ten = pool.constant(32, 10);
        let shifted = pool.mul(value, ten);
        let next = digit(pool, 32, offset);
        value = pool.add(shifted, next);
    }
    let limit = pool.constant(32, 255);
    literals.push(pool.ugt(value, limit));
    literals
}

/// RESPA's figure 2: `find("matos", "joe emmet")`, its exclusions and the one match.
pub fn respa_figure(pool: &mut Pool) -> Vec<Term> {
    let excluded: [&[u8]; 5] = [b"joe e", b"oe emm", b"e mmme", b" emmet", b"emmet"];
    let mut literals = Vec::new();
    for (offset, values) in (0..).zip(excluded) {
        for &value in values {
            literals.push(differs(pool, offset, value));
        }
    }
    literals.extend(text(pool, 0, b"m"));
    literals
}

/// CRC-32 of eight bytes, by table, as zlib does it, equal to a constant.
pub fn crc32(pool: &mut Pool) -> Vec<Term> {
    let table: Vec<u64> = (0..256u64)
        .map(|i| (0..8).fold(i, |c, _| if c & 1 == 1 { c >> 1 ^ 0xedb8_8320 } else { c >> 1 }))
        .collect();
    let table = pool.add_table(32, table);
    let mut crc = pool.constant(32, 0xffff_ffff);
    for offset in 0..8 {
        let byte = pool.input(0, offset);
        let low = pool.extract(7, 0, crc);
        let index = pool.xor(low, byte);
        let entry = pool.table(table, index);
        let high = pool.extract(31, 8, crc);
        let shifted = pool.zero_extend(32, high);
        crc = pool.xor(shifted, entry);
    }
    let crc = pool.not(crc);
    let want = pool.constant(32, 0x1234_5678);
    vec![pool.eq(crc, want)]
}
