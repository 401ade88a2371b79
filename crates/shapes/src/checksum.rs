//! Checksums, as the usual C code computes them. Whether one is right is for others to ask.

use stunt_terms::{Pool, TableId, Term};

const CRC32_POLYNOMIAL: u32 = 0xedb8_8320;

fn crc32_entries(pool: &mut Pool) -> TableId {
    let entry = |index: u32| {
        (0..8).fold(index, |crc, _| crc >> 1 ^ if crc & 1 == 1 { CRC32_POLYNOMIAL } else { 0 })
    };
    let entries: Vec<u64> = (0..256).map(|index| u64::from(entry(index))).collect();
    pool.add_table(32, entries)
}

/// CRC-32 (as in zip and PNG), a table read for every byte.
pub fn crc32_table(pool: &mut Pool, bytes: &[Term]) -> Term {
    let table = crc32_entries(pool);
    let mut crc = pool.constant(32, 0xffff_ffff);
    for &byte in bytes {
        let low = pool.extract(7, 0, crc);
        let index = pool.xor(low, byte);
        let (entry, eight) = (pool.table(table, index), pool.constant(32, 8));
        let rest = pool.lshr(crc, eight);
        crc = pool.xor(rest, entry);
    }
    pool.not(crc)
}

/// CRC-32, bit by bit: `crc = (crc >> 1) ^ (polynomial & -(crc & 1))`.
pub fn crc32_bitwise(pool: &mut Pool, bytes: &[Term]) -> Term {
    crc32_by_bits(pool, bytes, |pool, crc| {
        let (one, polynomial) = crc32_constants(pool);
        let low = pool.and(crc, one);
        let mask = pool.neg(low);
        let flip = pool.and(polynomial, mask);
        let rest = pool.lshr(crc, one);
        pool.xor(rest, flip)
    })
}

/// CRC-32, bit by bit: `crc = crc & 1 ? (crc >> 1) ^ polynomial : crc >> 1`.
pub fn crc32_branching(pool: &mut Pool, bytes: &[Term]) -> Term {
    crc32_by_bits(pool, bytes, |pool, crc| {
        let (one, polynomial) = crc32_constants(pool);
        let low = pool.and(crc, one);
        let (odd, rest) = (pool.eq(low, one), pool.lshr(crc, one));
        let changed = pool.xor(rest, polynomial);
        pool.ite(odd, changed, rest)
    })
}

fn crc32_constants(pool: &mut Pool) -> (Term, Term) {
    (pool.constant(32, 1), pool.constant(32, u128::from(CRC32_POLYNOMIAL)))
}

fn crc32_by_bits(pool: &mut Pool, bytes: &[Term], step: impl Fn(&mut Pool, Term) -> Term) -> Term {
    let mut crc = pool.constant(32, 0xffff_ffff);
    for &byte in bytes {
        let wide = pool.zero_extend(32, byte);
        crc = pool.xor(crc, wide);
        for _ in 0..8 {
            crc = step(pool, crc);
        }
    }
    pool.not(crc)
}

/// The hash FNV-1a in 32 or 64 bits. No stage can count what it mixes from many bytes.
///
/// # Panics
/// If the width is neither 32 nor 64.
pub fn fnv1a(pool: &mut Pool, bytes: &[Term], width: u8) -> Term {
    let (start, prime) = match width {
        32 => (0x811c_9dc5, 0x0100_0193),
        64 => (0xcbf2_9ce4_8422_2325, 0x0100_0000_01b3),
        _ => panic!("FNV-1a has 32 or 64 bits"),
    };
    let (mut hash, prime) = (pool.constant(width, start), pool.constant(width, prime));
    for &byte in bytes {
        let wide = pool.zero_extend(width, byte);
        let mixed = pool.xor(hash, wide);
        hash = pool.mul(mixed, prime);
    }
    hash
}

/// Adler-32, the remainders taken at the end as zlib does for short blocks.
pub fn adler32(pool: &mut Pool, bytes: &[Term]) -> Term {
    let (mut low, mut high) = (pool.constant(32, 1), pool.constant(32, 0));
    for &byte in bytes {
        let wide = pool.zero_extend(32, byte);
        low = pool.add(low, wide);
        high = pool.add(high, low);
    }
    let base = pool.constant(32, 65521);
    let [high, low] = [high, low].map(|sum| {
        let sum = pool.urem(sum, base);
        pool.extract(15, 0, sum)
    });
    pool.concat(high, low)
}

/// The sum of the bytes in `width` bits, width 8 or more.
pub fn sum(pool: &mut Pool, bytes: &[Term], width: u8) -> Term {
    let mut total = pool.constant(width, 0);
    for &byte in bytes {
        let wide = pool.zero_extend(width, byte);
        total = pool.add(total, wide);
    }
    total
}

/// The ones' complement sum of 16-bit big-endian words, as in IP headers, folded and complemented.
pub fn internet_checksum(pool: &mut Pool, bytes: &[Term]) -> Term {
    let mut total = pool.constant(32, 0);
    for pair in bytes.chunks(2) {
        let word = crate::big_endian(pool, pair);
        let word = pool.zero_extend(32, word);
        total = pool.add(total, word);
    }
    for _ in 0..2 {
        let (low, high) = (pool.extract(15, 0, total), pool.extract(31, 16, total));
        let (low, high) = (pool.zero_extend(32, low), pool.zero_extend(32, high));
        total = pool.add(low, high);
    }
    let folded = pool.extract(15, 0, total);
    pool.not(folded)
}

/// That ASCII digits pass the Luhn check; the conditions that they are digits are separate.
pub fn luhn(pool: &mut Pool, bytes: &[Term]) -> Term {
    let mut total = pool.constant(32, 0);
    for (place, &byte) in bytes.iter().rev().enumerate() {
        let (zero, nine) = (pool.constant(32, 0x30), pool.constant(32, 9));
        let digit = pool.zero_extend(32, byte);
        let mut digit = pool.sub(digit, zero);
        if place % 2 == 1 {
            let doubled = pool.add(digit, digit);
            let (too_large, reduced) = (pool.ugt(doubled, nine), pool.sub(doubled, nine));
            digit = pool.ite(too_large, reduced, doubled);
        }
        total = pool.add(total, digit);
    }
    let (ten, zero) = (pool.constant(32, 10), pool.constant(32, 0));
    let remainder = pool.urem(total, ten);
    pool.eq(remainder, zero)
}
