//! The shapes compute what the real functions compute, on values published with them.

use stunt_shapes as shapes;
use stunt_terms::{Assignment, Evaluator, Pool, Term};

fn value(build: impl FnOnce(&mut Pool, &[Term]) -> Term, text: &[u8]) -> u128 {
    let mut pool = Pool::new();
    let bytes = shapes::input(&mut pool, 0, text.len() as u32);
    let term = build(&mut pool, &bytes);
    Evaluator::new().eval(&pool, term, &Assignment::from_bytes(text))
}

#[test]
fn checksums() {
    assert_eq!(value(shapes::crc32_table, b"123456789"), 0xcbf4_3926);
    assert_eq!(value(shapes::crc32_bitwise, b"123456789"), 0xcbf4_3926);
    assert_eq!(value(shapes::crc32_branching, b"123456789"), 0xcbf4_3926);
    assert_eq!(value(|p, b| shapes::fnv1a(p, b, 32), b"foobar"), 0xbf9c_f968);
    assert_eq!(value(|p, b| shapes::fnv1a(p, b, 64), b"foobar"), 0x8594_4171_f739_67e8);
    assert_eq!(value(shapes::adler32, b"Wikipedia"), 0x11e6_0398);
    assert_eq!(value(|p, b| shapes::sum(p, b, 16), &[0xff; 300]), 0xff * 300 % 65536);
    // The header of RFC 1071's method: its checksum field makes the whole sum to zero.
    let header = [
        0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0x00,
        0x01, 0xc0, 0xa8, 0x00, 0xc7,
    ];
    assert_eq!(value(shapes::internet_checksum, &header), 0);
    assert_eq!(value(shapes::luhn, b"79927398713"), 1);
    assert_eq!(value(shapes::luhn, b"79927398710"), 0);
}

#[test]
fn numbers() {
    assert_eq!(value(shapes::decimal, b"65535"), 65535);
    assert_eq!(value(|p, b| shapes::numeral(p, b, 8), b"177777"), 65535);
    assert_eq!(value(shapes::little_endian, &[1, 2, 3, 4]), 0x0403_0201);
    assert_eq!(value(shapes::big_endian, &[1, 2, 3, 4]), 0x0102_0304);
    assert_eq!(value(|p, b| shapes::in_range(p, b[0], 3, 9), &[8]), 1);
    assert_eq!(value(|p, b| shapes::in_range(p, b[0], 3, 9), &[9]), 0);
}

#[test]
fn text() {
    let all = |pool: &mut Pool, conditions: Vec<Term>| pool.and_all(conditions);
    for text in ["é", "€", "𝄞"] {
        assert_eq!(
            value(|p, b| shapes::utf8(p, b).1, text.as_bytes()),
            text.chars().next().map_or(0, |c| c as u128)
        );
        let valid = |p: &mut Pool, b: &[Term]| {
            let (conditions, _) = shapes::utf8(p, b);
            all(p, conditions)
        };
        assert_eq!(value(valid, text.as_bytes()), 1);
        // Too long for its code point, and a surrogate.
        assert_eq!(value(valid, &[0xc0, 0x80]), 0);
        assert_eq!(value(valid, &[0xed, 0xa0, 0x80]), 0);
    }
    assert_eq!(value(|p, b| shapes::base64_value(p, b).1, b"TWFu"), 0x4d_616e);
    assert_eq!(value(|p, b| shapes::letter_class(p, b[0], 6), b"g"), 1);
    assert_eq!(value(|p, b| shapes::letter_class(p, b[0], 6), b"7"), 0);
    let keyword = |p: &mut Pool, b: &[Term]| {
        let conditions = shapes::equals(p, b, b"GET ");
        all(p, conditions)
    };
    assert_eq!((value(keyword, b"GET "), value(keyword, b"get ")), (1, 0));
}
