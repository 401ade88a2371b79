//! What is left of vector code after a test of its result: the text of the conditions.
//!
//! These are the loops of the C library's string functions and of parsers, on sixteen input
//! bytes. A condition must read as a programmer would have written it.

use stunt_terms::smtlib::print_term;
use stunt_terms::{Op, Pool, Term};

use super::super::bits::bit_op;
use super::{V, split_pair, vector};
use crate::code::{BitOp, Width};

/// A piece of vector code.
struct Code {
    pool: Pool,
}

type Pair = [Term; 2];

impl Code {
    fn new() -> Code {
        Code { pool: Pool::new() }
    }

    /// Sixteen input bytes from `offset` on.
    fn input(&mut self, offset: u32) -> Pair {
        [0, 8].map(|half| {
            let first = self.pool.input(0, offset + half);
            (1..8).fold(first, |low, k| {
                let byte = self.pool.input(0, offset + half + k);
                self.pool.concat(byte, low)
            })
        })
    }

    fn constant(&mut self, bytes: [u8; 16]) -> Pair {
        let value = u128::from_le_bytes(bytes);
        [value, value >> 64].map(|half| self.pool.constant(64, half))
    }

    fn all(&mut self, byte: u8) -> Pair {
        self.constant([byte; 16])
    }

    fn op(&mut self, f: V, a: Pair, b: Pair) -> Pair {
        vector(&mut self.pool, f, a, b, 0).expect("a rule")
    }

    fn halves(&mut self, f: fn(&mut Pool, Term, Term) -> Term, a: Pair, b: Pair) -> Pair {
        [f(&mut self.pool, a[0], b[0]), f(&mut self.pool, a[1], b[1])]
    }

    /// `pmovmskb` to a register of 32 bits.
    fn signs(&mut self, a: Pair) -> Term {
        let mask = self.op(V::Pmovmskb, a, a)[0];
        self.pool.extract(31, 0, mask)
    }

    /// `term = value`, as `cmp` or `sub` and `je` ask it.
    fn equals(&mut self, term: Term, value: u32) -> Term {
        let value = self.pool.constant(32, u128::from(value));
        let difference = self.pool.sub(term, value);
        let zero = self.pool.constant(32, 0);
        self.pool.eq(difference, zero)
    }

    /// The lane `k` of a mask, as the truth value behind it.
    fn lane(&mut self, mask: Term, k: u8) -> String {
        let (bit, one) = (self.pool.extract(k, k, mask), self.pool.constant(1, 1));
        let truth = self.pool.eq(bit, one);
        self.text(truth)
    }

    fn text(&self, term: Term) -> String {
        print_term(&self.pool, term)
    }

    /// The operands of nested conjunctions (or disjunctions), in the order of their text.
    fn parts(&self, term: Term, conjunction: bool) -> Vec<String> {
        let (mut stack, mut parts) = (vec![term], Vec::new());
        while let Some(term) = stack.pop() {
            match self.pool.op(term) {
                Op::And(a, b) if conjunction => stack.extend([a, b]),
                Op::Or(a, b) if !conjunction => stack.extend([a, b]),
                _ => parts.push(self.text(term)),
            }
        }
        parts.sort();
        parts
    }

    fn conjuncts(&self, term: Term) -> Vec<String> {
        self.parts(term, true)
    }

    fn disjuncts(&self, term: Term) -> Vec<String> {
        self.parts(term, false)
    }
}

/// What `text` makes of each byte from `0` to `n`, sorted.
fn each_byte(n: u32, text: impl Fn(u32) -> String) -> Vec<String> {
    let mut texts: Vec<String> = (0..n).map(text).collect();
    texts.sort();
    texts
}

/// The mask of bytes that end a string, as `strlen` makes it.
fn ends(c: &mut Code) -> Term {
    let (x, zero) = (c.input(0), c.all(0));
    let equal = c.op(V::Pcmpeqb, zero, x);
    c.signs(equal)
}

/// The place of the first set bit, 32 if there is none.
fn first_or_none(c: &mut Code, mask: Term) -> Term {
    let (place, _) =
        bit_op(&mut c.pool, BitOp::Tzcnt, Width::W32, mask, mask, mask).expect("a rule");
    c.pool.extract(31, 0, place)
}

#[test]
fn no_byte_ends_the_string() {
    let mut c = Code::new();
    let mask = ends(&mut c);
    let goes_on = c.equals(mask, 0);
    let nonzero = each_byte(16, |k| format!("(not (= in0@{k} #x00))"));
    assert_eq!(c.conjuncts(goes_on), nonzero);
    let stops = c.pool.not(goes_on);
    assert_eq!(c.disjuncts(stops), each_byte(16, |k| format!("(= in0@{k} #x00)")));
}

#[test]
fn the_first_byte_that_ends_the_string() {
    let mut c = Code::new();
    let mask = ends(&mut c);
    let wide = c.pool.zero_extend(64, mask);
    let (place, _) = bit_op(&mut c.pool, BitOp::Bsf, Width::W32, wide, wide, wide).expect("a rule");
    let place = c.pool.extract(31, 0, place);
    for k in [1, 3, 15] {
        let here = c.equals(place, k);
        let mut wanted = each_byte(k, |k| format!("(not (= in0@{k} #x00))"));
        wanted.insert(0, format!("(= in0@{k} #x00)"));
        assert_eq!(c.conjuncts(here), wanted);
    }
    for k in [16, 17, 31, 1000] {
        let here = c.equals(place, k);
        assert_eq!(c.text(here), "false");
    }
    let (eight, more) = (c.pool.constant(32, 8), c.pool.constant(32, 16));
    let place_or_none = first_or_none(&mut c, wide);
    let is_early = c.pool.ult(place_or_none, eight);
    assert_eq!(c.disjuncts(is_early), each_byte(8, |k| format!("(= in0@{k} #x00)")));
    let is_there = c.pool.ult(place_or_none, more);
    assert_eq!(c.disjuncts(is_there), each_byte(16, |k| format!("(= in0@{k} #x00)")));
    // The same as a number that code goes on with.
    let before = c.pool.constant(32, 100);
    let length = c.pool.add(place, before);
    let is_102 = c.equals(length, 102);
    assert_eq!(
        c.conjuncts(is_102),
        ["(= in0@2 #x00)", "(not (= in0@0 #x00))", "(not (= in0@1 #x00))"]
    );
}

#[test]
fn four_masks_in_one_word() {
    // The loop of strlen: four masks, shifted together, scanned as 64 bits.
    let mut c = Code::new();
    let zero = c.all(0);
    let mut word = c.pool.constant(64, 0);
    for part in [48, 32, 16, 0] {
        let x = c.input(part);
        let equal = c.op(V::Pcmpeqb, zero, x);
        let mask = c.op(V::Pmovmskb, equal, equal)[0];
        let sixteen = c.pool.constant(64, 16);
        word = c.pool.shl(word, sixteen);
        word = c.pool.or(word, mask);
    }
    let nothing = c.pool.constant(64, 0);
    let goes_on = c.pool.eq(word, nothing);
    assert_eq!(c.conjuncts(goes_on), each_byte(64, |k| format!("(not (= in0@{k} #x00))")));
    let (place, _) =
        bit_op(&mut c.pool, BitOp::Tzcnt, Width::W64, word, word, word).expect("a rule");
    let place = c.pool.extract(31, 0, place);
    let here = c.equals(place, 40);
    let mut wanted = each_byte(40, |k| format!("(not (= in0@{k} #x00))"));
    wanted.insert(0, "(= in0@40 #x00)".to_owned());
    assert_eq!(c.conjuncts(here), wanted);
    // And its inner loop: the least of four bytes.
    let least = [0, 16, 32, 48]
        .map(|part| c.input(part))
        .into_iter()
        .reduce(|a, b| c.op(V::Pminub, a, b))
        .expect("four");
    let equal = c.op(V::Pcmpeqb, least, zero);
    let mask = c.signs(equal);
    let goes_on = c.equals(mask, 0);
    assert_eq!(c.conjuncts(goes_on), each_byte(64, |k| format!("(not (= in0@{k} #x00))")));
}

#[test]
fn sixteen_bytes_are_a_word() {
    let mut c = Code::new();
    let text = *b"Content-Length: ";
    let (x, wanted) = (c.input(0), c.constant(text));
    let equal = c.op(V::Pcmpeqb, x, wanted);
    let mask = c.signs(equal);
    let same = c.equals(mask, 0xffff);
    let literals = each_byte(16, |k| format!("(= in0@{k} #x{:02x})", text[k as usize]));
    assert_eq!(c.conjuncts(same), literals);
    let differ = c.pool.not(same);
    let literals = each_byte(16, |k| format!("(not (= in0@{k} #x{:02x}))", text[k as usize]));
    assert_eq!(c.disjuncts(differ), literals);
    // Of wider lanes, too.
    let equal = c.op(V::Pcmpeqd, x, wanted);
    let mask = c.signs(equal);
    let still_same = c.equals(mask, 0xffff);
    assert_eq!(c.conjuncts(still_same), c.conjuncts(same));
}

#[test]
fn equal_up_to_the_end() {
    // strcmp: ones where the strings agree and go on.
    let mut c = Code::new();
    let (x, y, zero) = (c.input(0), c.input(16), c.all(0));
    let (end, equal) = (c.op(V::Pcmpeqb, zero, x), c.op(V::Pcmpeqb, x, y));
    let goes_on = c.op(V::Psubb, equal, end);
    let mask = c.signs(goes_on);
    assert_eq!(c.lane(mask, 3), "(and (= in0@3 in0@19) (not (= in0@3 #x00)))");
    let all = c.equals(mask, 0xffff);
    let mut wanted = each_byte(16, |k| format!("(= in0@{k} in0@{})", k + 16));
    wanted.extend(each_byte(16, |k| format!("(not (= in0@{k} #x00))")));
    assert_eq!(c.conjuncts(all), wanted);
}

#[test]
fn one_of_two_characters() {
    // strchr, three ways.
    let mut c = Code::new();
    let (x, zero, slash) = (c.input(0), c.all(0), c.all(b'/'));
    let (end, found) = (c.op(V::Pcmpeqb, x, zero), c.op(V::Pcmpeqb, x, slash));
    let either = c.halves(Pool::or, end, found);
    let mask = c.signs(either);
    assert_eq!(c.lane(mask, 3), "(or (= in0@3 #x00) (= in0@3 #x2f))");
    let by_maximum = c.op(V::Pmaxub, end, found);
    assert_eq!(by_maximum, either);
    let apart = c.halves(Pool::xor, x, slash);
    let least = c.op(V::Pminub, apart, x);
    let by_minimum = c.op(V::Pcmpeqb, least, zero);
    let mask = c.signs(by_minimum);
    assert_eq!(c.lane(mask, 3), "(or (= in0@3 #x00) (= in0@3 #x2f))");
    // And neither of them.
    let ones = c.all(0xff);
    let not_end = c.halves(Pool::xor, end, ones);
    let mine = c.halves(Pool::and, not_end, found);
    let mask = c.signs(mine);
    assert_eq!(c.lane(mask, 3), "(= in0@3 #x2f)");
}

#[test]
fn case_is_folded_byte_by_byte() {
    // Upper case letters are moved to the bottom of the signed numbers, and get bit 5.
    let mut c = Code::new();
    let (x, to_bottom, end, bit) = (c.input(0), c.all(0x3f), c.all(0x9a), c.all(0x20));
    let moved = c.op(V::Paddb, x, to_bottom);
    let is_upper = c.op(V::Pcmpgtb, end, moved);
    let bits = c.halves(Pool::and, is_upper, bit);
    let lower = c.op(V::Paddb, x, bits);
    let lanes = split_pair(&mut c.pool, lower, 8);
    for (k, &lane) in lanes.iter().enumerate() {
        let wanted = format!("(bvadd in0@{k} (ite (bvult (bvadd in0@{k} #xbf) #x1a) #x20 #x00))");
        assert_eq!(c.text(lane), wanted);
    }
    let word = c.constant(*b"content-length: ");
    let equal = c.op(V::Pcmpeqb, lower, word);
    let mask = c.signs(equal);
    assert_eq!(c.lane(mask, 0), "(or (= in0@0 #x43) (= in0@0 #x63))");
    assert_eq!(c.lane(mask, 7), "(= in0@7 #x2d)");
}

#[test]
fn ranges_by_saturation_and_minimum() {
    let mut c = Code::new();
    let (x, zero, nine, start) = (c.input(0), c.all(0), c.all(9), c.all(b'0'));
    let digit = c.op(V::Psubb, x, start);
    let least = c.op(V::Pminub, digit, nine);
    let is_digit = c.op(V::Pcmpeqb, least, digit);
    let mask = c.signs(is_digit);
    assert_eq!(c.lane(mask, 5), "(bvult (bvadd in0@5 #xd0) #x0a)");
    let above = c.op(V::Psubusb, x, start);
    let below = c.op(V::Pcmpeqb, above, zero);
    let mask = c.signs(below);
    assert_eq!(c.lane(mask, 5), "(bvult in0@5 #x31)");
    let mask = c.signs(x);
    let ascii = c.equals(mask, 0);
    assert_eq!(c.conjuncts(ascii), each_byte(16, |k| format!("(bvult in0@{k} #x80)")));
}

#[test]
fn bytes_that_are_widened_and_packed_are_themselves() {
    let mut c = Code::new();
    let (x, zero) = (c.input(0), c.all(0));
    let (low, high) = (c.op(V::Punpcklbw, x, zero), c.op(V::Punpckhbw, x, zero));
    assert_eq!(c.op(V::Packuswb, low, high), x);
    // Masks of words become masks of bytes.
    let ten = c.constant([10, 0, 10, 0, 10, 0, 10, 0, 10, 0, 10, 0, 10, 0, 10, 0]);
    let (low, high) = (c.op(V::Pcmpgtw, low, ten), c.op(V::Pcmpgtw, high, ten));
    let packed = c.op(V::Packsswb, low, high);
    let mask = c.signs(packed);
    assert_eq!(c.lane(mask, 9), "(not (bvult in0@9 #x0b))");
}
