//! Terms that are as deep as an input is long, on a call stack that is small.
//!
//! Whoever chooses an input chooses how deep terms get: a checksum has an operator for every byte, a
//! search without branches a choice for every element. Each way to make a term deep is built, tested in
//! every form that a comparison has, evaluated, compiled, printed and read back, on a stack that a walk
//! by recursion would leave after some hundred levels.

use std::thread;

use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Program, Term, smtlib};

/// Operators one above the other.
const DEEP: u32 = 20_000;
/// Bytes of call stack.
const STACK: usize = 128 << 10;

/// Does something on a small call stack.
fn on_small_stack(work: impl FnOnce() + Send + 'static) {
    thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().expect("it fits");
}

fn byte(pool: &mut Pool, offset: u32, width: u8) -> Term {
    let byte = pool.input(0, offset);
    pool.zero_extend(width, byte)
}

type Level = fn(&mut Pool, Term, u32) -> Term;

/// How a term gets one level deeper, by a name.
const LEVELS: [(&str, u8, Level); 22] = [
    ("add", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        pool.add(term, more)
    }),
    ("sub", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        pool.sub(term, more)
    }),
    ("from", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        pool.sub(more, term)
    }),
    ("mul", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        pool.mul(term, more)
    }),
    ("and", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        let ones = pool.constant(32, 0xffff_ff00);
        let more = pool.or(more, ones);
        pool.and(term, more)
    }),
    ("or", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        pool.or(term, more)
    }),
    ("xor", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        pool.xor(term, more)
    }),
    ("shl", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        pool.shl(term, more)
    }),
    ("shr", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        pool.ashr(term, more)
    }),
    ("udiv", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        pool.udiv(term, more)
    }),
    ("srem", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        pool.srem(term, more)
    }),
    ("checksum", 32, |pool, term, at| {
        let (more, factor) = (byte(pool, at, 32), pool.constant(32, 31));
        let product = pool.mul(term, factor);
        pool.add(product, more)
    }),
    ("rotated", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        let turned = pool.rotate_left(5, term);
        pool.xor(turned, more)
    }),
    ("not and negated", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        let sum = pool.add(term, more);
        if at % 2 == 0 { pool.not(sum) } else { pool.neg(sum) }
    }),
    ("cut and extended", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        let sum = pool.add(term, more);
        let low = pool.extract(15, 0, sum);
        if at % 2 == 0 { pool.zero_extend(32, low) } else { pool.sign_extend(32, low) }
    }),
    ("quotients", 32, |pool, term, at| {
        let (more, seven) = (byte(pool, at, 32), pool.constant(32, 7));
        let sum = pool.xor(term, more);
        pool.udiv(sum, seven)
    }),
    ("chosen constants", 32, |pool, term, at| {
        let (tested, zero) = (pool.input(0, at), pool.constant(8, 0));
        let (is, value) = (pool.eq(tested, zero), pool.constant(32, u128::from(at)));
        pool.ite(is, value, term)
    }),
    ("chosen and moved", 32, |pool, term, at| {
        let (tested, limit) = (pool.input(0, at), pool.constant(8, 77));
        let (is, one) = (pool.ult(tested, limit), pool.constant(32, 1));
        let next = pool.add(term, one);
        pool.ite(is, next, term)
    }),
    ("least", 32, |pool, term, at| {
        let more = byte(pool, at, 32);
        let less = pool.ult(more, term);
        pool.ite(less, more, term)
    }),
    ("counted", 32, |pool, term, at| {
        let (tested, mark) = (pool.input(0, at), pool.constant(8, 61));
        let is = pool.eq(tested, mark);
        let one = pool.truth_as_bits(32, is);
        pool.add(term, one)
    }),
    ("table", 8, |pool, term, at| {
        let more = pool.input(0, at);
        let entries: Vec<u64> = (0..256).map(|k| k * 167 % 256).collect();
        let (table, index) = (pool.add_table(8, entries), pool.xor(term, more));
        pool.table(table, index)
    }),
    ("one bit", 1, |pool, term, at| {
        let more = pool.input(0, at);
        let bit = pool.extract(0, 0, more);
        match at % 3 {
            0 => pool.and(term, bit),
            1 => pool.or(term, bit),
            _ => pool.xor(term, bit),
        }
    }),
];

/// A term of so many levels, from the byte at `first` on.
fn deep(pool: &mut Pool, width: u8, level: Level, first: u32) -> Term {
    let start = pool.input(0, first);
    let mut term =
        if width < 8 { pool.extract(width - 1, 0, start) } else { pool.zero_extend(width, start) };
    for at in 1..DEEP {
        term = level(pool, term, at);
    }
    term
}

/// Every form of comparison of two terms, and with constants.
fn tests(pool: &mut Pool, a: Term, b: Term) -> Vec<Term> {
    let width = pool.width(a);
    let mut all = vec![pool.eq(a, b), pool.ult(a, b), pool.ult(b, a), pool.slt(a, b)];
    for value in [0, 1, 5, 0x7f, 0x80, 0x1234, u128::MAX >> 1, u128::MAX] {
        let constant = pool.constant(width, value);
        all.extend([pool.eq(a, constant), pool.ult(a, constant), pool.slt(constant, a)]);
        let (difference, sum) = (pool.sub(a, b), pool.add(a, constant));
        all.extend([pool.eq(difference, constant), pool.slt(difference, constant)]);
        all.push(pool.ule(sum, constant));
    }
    let negated: Vec<Term> = all.iter().map(|&test| pool.not(test)).collect();
    all.extend(negated);
    all
}

/// Evaluates, compiles, prints and reads back.
fn goes_round(pool: &mut Pool, roots: &[Term]) {
    let bytes: Vec<InputByte> = (0..=DEEP).map(|at| InputByte::new(0, at)).collect();
    let mut input = Assignment::new();
    for &byte in &bytes {
        input.set(byte, (byte.offset * 7 % 251) as u8);
    }
    let mut evaluator = Evaluator::new();
    let values: Vec<u128> = roots.iter().map(|&root| evaluator.eval(pool, root, &input)).collect();
    let columns: Vec<[u8; 1]> = bytes.iter().map(|&byte| [input.get(byte)]).collect();
    let columns: Vec<&[u8]> = columns.iter().map(<[u8; 1]>::as_slice).collect();
    let mut program = Program::compile(pool, roots, &bytes);
    program.run(&columns, |root, _, lanes| assert_eq!(lanes.get(0), values[root]));
    let conditions: Vec<Term> = roots.iter().copied().filter(|&root| pool.is_bool(root)).collect();
    let text = smtlib::print_script(pool, &conditions, true);
    let read = smtlib::parse_script(pool, &text).expect("what was printed can be read");
    assert_eq!(read.assertions(), conditions);
}

#[test]
fn attack_terms_as_deep_as_an_input_is_long() {
    on_small_stack(|| {
        for (name, width, level) in LEVELS {
            let mut pool = Pool::new();
            let a = deep(&mut pool, width, level, 0);
            let b = deep(&mut pool, width, level, DEEP);
            let all = tests(&mut pool, a, b);
            let other = pool.with_operands(a, &mut |_, operand| operand);
            assert_eq!(other, a, "{name}");
            assert!(pool.reachable(&[a]).len() > DEEP as usize / 2, "{name} is deep");
            goes_round(&mut pool, &all);
        }
    });
}

#[test]
fn attack_conditions_that_grow_clause_by_clause() {
    on_small_stack(|| {
        let mut pool = Pool::new();
        let mut roots = vec![pool.boolean(true); 3];
        for at in 0..DEEP {
            let (x, y) = (byte(&mut pool, at, 16), byte(&mut pool, at + 1, 16));
            let (less, sum) = (pool.ult(x, y), pool.add(x, y));
            let limit = pool.constant(16, 100);
            let small = pool.ult(sum, limit);
            roots[0] = pool.and(roots[0], less);
            let either = pool.or(roots[1], small);
            roots[1] = pool.and(either, less);
            roots[2] = pool.ite(small, roots[2], less);
            // Asked both ways after every clause, as a program does that branches on it.
            for root in roots.clone() {
                let (not, flag) = (pool.not(root), pool.truth_as_bits(32, root));
                let zero = pool.constant(32, 0);
                assert_eq!(pool.eq(flag, zero), not);
            }
        }
        goes_round(&mut pool, &roots);
    });
}
