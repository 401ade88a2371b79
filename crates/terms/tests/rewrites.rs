//! Every rewrite rule, checked: whatever the constructors make of an expression has the value that
//! the standard gives the expression.
//!
//! Exhaustively for small widths: all pairs of operators, over all constants and under all
//! assignments. Randomly for the widths of real programs. Facts, support and normal form are
//! checked on the way. Failures are rewrite rules to mend, not tests.

mod common;

use std::rc::Rc;

use common::generate::{Dice, INPUTS, expression};
use common::lab::{Lab, Report, Sample};
use common::normal_form::{broken_rule, rebuilt};
use common::reference::{BINARY, COMPARE, CONNECTIVE, Expr, Kind, build, value};
use proptest::prelude::*;
use stunt_terms::smtlib::print_term;
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Sort};

/// All constants of a width.
fn constants(lab: &mut Lab, width: u8) -> Vec<Sample> {
    (0..1 << width).map(|value| lab.constant(width, value)).collect()
}

/// Operators on one bit vector of `width` bits.
fn unary(width: u8) -> Vec<Kind> {
    let mut kinds = vec![Kind::BvNot, Kind::BvNeg, Kind::ZeroExtend(1), Kind::SignExtend(2)];
    kinds.extend((1..width).map(Kind::RotateLeft));
    for lo in 0..width {
        kinds.extend((lo..width).map(|hi| Kind::Extract(hi, lo)));
    }
    kinds
}

/// All binary operators and comparisons.
fn binary() -> impl Iterator<Item = Kind> {
    BINARY.into_iter().chain(COMPARE)
}

/// `outer(inner(x, y), z)` and `outer(z, inner(x, y))` for all operators, `x`, `y` and `z` being
/// two variables or any constant.
fn pairs_of_operators(width: u8, inners: &[Kind]) -> Report {
    let mut lab = Lab::new(&[(width, 0), (width, 2)]);
    for &inner in inners {
        for outer in binary() {
            lab.clear();
            let mut leaves = vec![lab.variable(0), lab.variable(1)];
            leaves.extend(constants(&mut lab, width));
            for (i, x) in leaves.iter().enumerate() {
                for (j, y) in leaves.iter().enumerate() {
                    if i >= 2 && j >= 2 {
                        continue;
                    }
                    let first = lab.apply(inner, &[x, y]);
                    if first.sort != Sort::Bits(width) {
                        continue;
                    }
                    for z in &leaves {
                        lab.apply(outer, &[&first, z]);
                        lab.apply(outer, &[z, &first]);
                    }
                }
            }
        }
    }
    lab.into_report()
}

/// The same with one variable: more bits, and three levels where the third is a constant.
fn one_variable(width: u8, few: &[u16], deep: bool) -> Report {
    let mut lab = Lab::new(&[(width, 1)]);
    if width == 8 {
        lab = Lab::new(&[(8, 0)]);
    }
    for inner in binary() {
        lab.clear();
        let x = lab.variable(0);
        let some: Vec<Sample> = few.iter().map(|&value| lab.constant(width, value)).collect();
        for c in &some {
            for first in [lab.apply(inner, &[&x, c]), lab.apply(inner, &[c, &x])] {
                if first.sort != Sort::Bits(width) {
                    continue;
                }
                for outer in binary() {
                    for d in some.iter().chain([&x]) {
                        let second = lab.apply(outer, &[&first, d]);
                        lab.apply(outer, &[d, &first]);
                        if deep && second.sort == Sort::Bits(width) {
                            for compare in [Kind::Eq, Kind::Ult, Kind::Sle] {
                                lab.apply(compare, &[&second, &some[1]]);
                                lab.apply(compare, &[&second, c]);
                            }
                        }
                    }
                }
            }
        }
    }
    lab.into_report()
}

#[test]
fn pairs_at_widths_one_and_two() {
    let mut report = pairs_of_operators(1, &BINARY);
    report.absorb(pairs_of_operators(2, &BINARY));
    report.finish();
}

#[test]
fn pairs_at_width_three_bitwise() {
    pairs_of_operators(3, &BINARY[..6]).finish();
}

#[test]
fn pairs_at_width_three_sums() {
    pairs_of_operators(3, &BINARY[6..9]).finish();
}

#[test]
fn pairs_at_width_three_divisions() {
    pairs_of_operators(3, &[Kind::UDiv, Kind::URem, Kind::SDiv, Kind::SRem]).finish();
}

#[test]
fn pairs_at_width_three_shifts() {
    pairs_of_operators(3, &[Kind::Shl, Kind::LShr, Kind::AShr]).finish();
}

#[test]
fn one_variable_of_four_bits() {
    let all: Vec<u16> = (0..16).collect();
    one_variable(4, &all, false).finish();
}

#[test]
fn one_variable_of_five_and_six_bits() {
    let mut report = one_variable(5, &[0, 1, 2, 3, 7, 8, 15, 16, 17, 24, 31], false);
    report.absorb(one_variable(6, &[0, 1, 5, 31, 32, 33, 48, 63], false));
    report.finish();
}

#[test]
fn three_levels_of_one_variable() {
    one_variable(3, &[0, 1, 2, 3, 4, 5, 6, 7], true).finish();
}

#[test]
fn one_whole_byte() {
    one_variable(8, &[0, 1, 0x30, 0x80, 0xf0, 0xff], false).finish();
}

#[test]
fn extensions_extracts_and_concatenations() {
    let mut lab = Lab::new(&[(3, 0), (2, 3)]);
    for outer in binary() {
        lab.clear();
        let (x, y) = (lab.variable(0), lab.variable(1));
        // Everything of one or two levels of slicing over the two, and constants, by width.
        let mut parts: Vec<Sample> = vec![x.clone(), y.clone()];
        for width in 1..=3 {
            parts.extend(constants(&mut lab, width));
        }
        let mut slices: Vec<Sample> = vec![x.clone(), y.clone()];
        for a in [&x, &y] {
            for kind in unary(a.sort.bits()) {
                slices.push(lab.apply(kind, &[a]));
            }
            for b in &parts {
                slices.push(lab.apply(Kind::Concat, &[a, b]));
                slices.push(lab.apply(Kind::Concat, &[b, a]));
            }
        }
        let mut second: Vec<Sample> = Vec::new();
        for a in &slices {
            for kind in unary(a.sort.bits()) {
                second.push(lab.apply(kind, &[a]));
            }
            for b in [&x, &y] {
                if a.sort.bits() + b.sort.bits() <= 8 {
                    second.push(lab.apply(Kind::Concat, &[a, b]));
                }
            }
        }
        for a in slices.iter().chain(second.iter().step_by(11)) {
            let width = a.sort.bits();
            for b in slices.iter().chain(&parts).filter(|b| b.sort == a.sort) {
                lab.apply(outer, &[a, b]);
            }
            if width > 3 && width <= 6 {
                for value in 0..1 << width {
                    let c = lab.constant(width, value);
                    lab.apply(outer, &[a, &c]);
                }
            }
        }
    }
    lab.into_report().finish();
}

/// Comparisons of two variables and constants at a width: the atoms of conditions.
fn atoms(lab: &mut Lab, width: u8) -> Vec<Sample> {
    let (x, y) = (lab.variable(0), lab.variable(1));
    let mut atoms = Vec::new();
    for kind in COMPARE {
        atoms.push(lab.apply(kind, &[&x, &y]));
        for c in constants(lab, width) {
            atoms.push(lab.apply(kind, &[&x, &c]));
            atoms.push(lab.apply(kind, &[&c, &y]));
            let moved = lab.apply(Kind::Add, &[&x, &c]);
            for bound in constants(lab, width).into_iter().step_by(2) {
                atoms.push(lab.apply(kind, &[&moved, &bound]));
            }
        }
    }
    atoms
}

#[test]
fn connectives_of_comparisons() {
    for width in [2, 3] {
        let mut lab = Lab::new(&[(width, 0), (width, 1)]);
        for kind in CONNECTIVE {
            lab.clear();
            let atoms = atoms(&mut lab, width);
            let step = if width == 2 { 1 } else { 3 };
            for a in atoms.iter().step_by(step) {
                let negated = lab.apply(Kind::Not, &[a]);
                lab.apply(Kind::Not, &[&negated]);
                for b in atoms.iter().step_by(step) {
                    let both = lab.apply(kind, &[a, b]);
                    lab.apply(Kind::Not, &[&both]);
                    lab.apply(kind, &[&negated, b]);
                }
            }
        }
        lab.into_report().finish();
    }
}

/// Two connectives of three comparisons, of which every `step`th is taken.
fn triples_of_comparisons(step: usize) -> Report {
    let mut lab = Lab::new(&[(2, 0), (2, 1)]);
    for outer in CONNECTIVE {
        for inner in CONNECTIVE {
            lab.clear();
            let atoms = atoms(&mut lab, 2);
            let some: Vec<&Sample> = atoms.iter().step_by(step).collect();
            for (i, a) in some.iter().enumerate() {
                for b in &some[i..] {
                    let first = lab.apply(inner, &[a, b]);
                    for c in &some {
                        lab.apply(outer, &[&first, c]);
                        lab.apply(outer, &[c, &first]);
                    }
                }
            }
        }
    }
    lab.into_report()
}

#[test]
fn three_connectives() {
    triples_of_comparisons(6).finish();
}

#[test]
fn choices_between_values() {
    for width in [1, 2, 3] {
        let mut lab = Lab::new(&[(width, 0), (width, 1)]);
        for outer in binary() {
            lab.clear();
            let (x, y) = (lab.variable(0), lab.variable(1));
            let mut leaves = vec![x.clone(), y.clone()];
            leaves.extend(constants(&mut lab, width).into_iter().step_by(if width == 3 {
                3
            } else {
                1
            }));
            let atoms = atoms(&mut lab, width);
            for c in atoms.iter().step_by([1, 5, 41][usize::from(width) - 1]) {
                let negated = lab.apply(Kind::Not, &[c]);
                for a in &leaves {
                    for b in &leaves {
                        let chosen = lab.apply(Kind::Ite, &[c, a, b]);
                        lab.apply(Kind::Ite, &[&negated, a, b]);
                        for d in &leaves {
                            let result = lab.apply(outer, &[&chosen, d]);
                            lab.apply(outer, &[d, &chosen]);
                            if result.sort == Sort::Bits(width) {
                                lab.apply(Kind::Ite, &[c, &result, d]);
                            }
                        }
                    }
                }
            }
        }
        lab.into_report().finish();
    }
}

#[test]
fn choices_between_truths_and_within_choices() {
    let mut lab = Lab::new(&[(2, 0), (2, 1)]);
    let (yes, no) = (Kind::Bool(true), Kind::Bool(false));
    for step in [3, 5, 7] {
        lab.clear();
        let atoms = atoms(&mut lab, 2);
        let mut some: Vec<Sample> = atoms.into_iter().step_by(step).collect();
        some.push(lab.apply(yes, &[]));
        some.push(lab.apply(no, &[]));
        let (x, y) = (lab.variable(0), lab.variable(1));
        for a in &some {
            for b in &some {
                for c in &some {
                    lab.apply(Kind::Ite, &[a, b, c]);
                }
                let inner = lab.apply(Kind::Ite, &[b, &x, &y]);
                lab.apply(Kind::Ite, &[a, &inner, &x]);
                lab.apply(Kind::Ite, &[a, &y, &inner]);
            }
        }
    }
    lab.into_report().finish();
}

/// Truth values as numbers and masks, under all operators.
fn numbers_of_truths() -> Report {
    let mut lab = Lab::new(&[(2, 0), (2, 1)]);
    let atoms_width = 2;
    for width in [1u8, 2, 4] {
        for outer in binary() {
            lab.clear();
            let atoms = atoms(&mut lab, atoms_width);
            let all = (1u16 << width) - 1;
            for (yes, no) in [(1, 0), (0, 1), (all, 0), (0, all)] {
                let (yes, no) = (lab.constant(width, yes), lab.constant(width, no));
                let numbers: Vec<Sample> = atoms
                    .iter()
                    .step_by(4)
                    .map(|c| lab.apply(Kind::Ite, &[c, &yes, &no]))
                    .collect();
                for a in &numbers {
                    for c in constants(&mut lab, width) {
                        lab.apply(outer, &[a, &c]);
                        lab.apply(outer, &[&c, a]);
                    }
                    let wide = lab.apply(Kind::ZeroExtend(2), &[a]);
                    let zero = lab.constant(width + 2, 0);
                    lab.apply(outer, &[&wide, &zero]);
                    for b in numbers.iter().step_by(3) {
                        let result = lab.apply(outer, &[a, b]);
                        if result.sort == Sort::Bits(width) {
                            let zero = lab.constant(width, 0);
                            lab.apply(Kind::Eq, &[&result, &zero]);
                        }
                    }
                }
            }
        }
    }
    lab.into_report()
}

#[test]
fn truths_as_numbers() {
    numbers_of_truths().finish();
}

/// Minima and maxima, and numbers chosen by the term that they are added to, against all
/// constants and against what they are made of.
fn vector_idioms(width: u8) -> Report {
    let mut lab = Lab::new(&[(width, 0), (width, 1)]);
    for order in [Kind::Ult, Kind::Slt, Kind::Ule, Kind::Sge] {
        lab.clear();
        let (x, y) = (lab.variable(0), lab.variable(1));
        let values = constants(&mut lab, width);
        let one = lab.constant(width, 1);
        let next = lab.apply(Kind::Add, &[&x, &one]);
        let flipped = lab.apply(Kind::BvNot, &[&y]);
        let mut leaves = vec![x.clone(), y.clone(), next, flipped];
        leaves.extend(values.iter().step_by(3).cloned());
        let mut extremes = Vec::new();
        for a in &leaves {
            for b in &leaves {
                let less = lab.apply(order, &[a, b]);
                extremes.push(lab.apply(Kind::Ite, &[&less, a, b]));
                extremes.push(lab.apply(Kind::Ite, &[&less, b, a]));
            }
        }
        let mut nested = extremes.clone();
        for extreme in extremes.iter().step_by(3) {
            for other in [&y, &extremes[5], &extremes[8]] {
                let less = lab.apply(order, &[extreme, other]);
                nested.push(lab.apply(Kind::Ite, &[&less, extreme, other]));
                nested.push(lab.apply(Kind::Ite, &[&less, other, extreme]));
            }
        }
        for k in &values {
            let chosen = lab.apply(order, &[&x, k]);
            for (yes, no) in [(&values[1], &values[0]), (k, &values[1]), (&values[0], k)] {
                let choice = lab.apply(Kind::Ite, &[&chosen, yes, no]);
                for outer in [Kind::Add, Kind::Sub, Kind::BvOr] {
                    nested.push(lab.apply(outer, &[&x, &choice]));
                    nested.push(lab.apply(outer, &[&choice, &x]));
                }
            }
        }
        for number in &nested {
            for other in values.iter().chain(&leaves) {
                for compare in COMPARE {
                    lab.apply(compare, &[number, other]);
                }
            }
        }
    }
    lab.into_report()
}

#[test]
fn minima_and_masked_sums() {
    let mut report = vector_idioms(2);
    report.absorb(vector_idioms(3));
    report.finish();
}

/// A bit decides whether others are turned round, as in the steps of a checksum, one after the other.
fn steps_of_checksums(width: u8) -> Report {
    let mut lab = Lab::new(&[(width, 0), (width, 1)]);
    let (x, y) = (lab.variable(0), lab.variable(1));
    let (values, one) = (constants(&mut lab, width), lab.constant(width, 1));
    for shift in [Kind::LShr, Kind::Shl] {
        for k in &values {
            for from in [&x, &y] {
                let mut register = x.clone();
                for _ in 0..3 {
                    let shifted = lab.apply(shift, &[&register, &one]);
                    let turned = lab.apply(Kind::BvXor, &[&shifted, k]);
                    let bit = lab.apply(Kind::Extract(0, 0), &[from]);
                    for value in [0, 1] {
                        let value = lab.constant(1, value);
                        let holds = lab.apply(Kind::Eq, &[&bit, &value]);
                        let next = lab.apply(Kind::Ite, &[&holds, &turned, &shifted]);
                        register = lab.apply(Kind::Ite, &[&holds, &shifted, &turned]);
                        lab.apply(Kind::Eq, &[&next, &register]);
                        lab.apply(Kind::Ult, &[&next, &y]);
                    }
                }
            }
        }
    }
    lab.into_report()
}

#[test]
fn bits_that_turn_others_round() {
    let mut report = steps_of_checksums(2);
    report.absorb(steps_of_checksums(4));
    report.finish();
}

/// Bitwise operators on concatenations, complemented or not, that are cut at different places.
fn cuts_of_all_kinds() -> Report {
    let mut lab = Lab::new(&[(2, 0), (2, 1), (2, 3)]);
    for outer in [Kind::BvAnd, Kind::BvOr, Kind::BvXor, Kind::Add, Kind::Eq] {
        lab.clear();
        let [x, y, z] = [0, 1, 2].map(|n| lab.variable(n));
        let (one, two) = (lab.constant(2, 1), lab.constant(2, 2));
        let less = lab.apply(Kind::Ult, &[&x, &two]);
        let (ones, none) = (lab.constant(4, 15), lab.constant(4, 0));
        let mask = lab.apply(Kind::Ite, &[&less, &ones, &none]);
        let pairs: Vec<Sample> = [(&x, &y), (&y, &x), (&one, &x), (&z, &two), (&y, &y)]
            .into_iter()
            .map(|(a, b)| lab.apply(Kind::Concat, &[a, b]))
            .collect();
        let sum = lab.apply(Kind::Add, &[&pairs[0], &pairs[3]]);
        let mut fours = pairs.clone();
        fours.push(sum);
        fours.push(mask);
        fours.push(lab.apply(Kind::ZeroExtend(2), &[&z]));
        for four in fours.clone() {
            fours.push(lab.apply(Kind::BvNot, &[&four]));
        }
        let mut sixes = Vec::new();
        for four in &fours {
            for a in [lab.apply(Kind::Concat, &[four, &z]), lab.apply(Kind::Concat, &[&z, four])] {
                sixes.push(lab.apply(Kind::BvNot, &[&a]));
                sixes.push(a);
            }
        }
        for a in &sixes {
            for b in &sixes {
                lab.apply(outer, &[a, b]);
            }
        }
    }
    lab.into_report()
}

#[test]
fn pieces_at_different_cuts() {
    cuts_of_all_kinds().finish();
}

#[test]
fn table_reads() {
    let mut lab = Lab::new(&[(4, 0), (2, 0)]);
    for number in [0, 1, 3] {
        for outer in binary() {
            lab.clear();
            let (x, y) = (lab.variable(0), lab.variable(1));
            let mut indices = vec![x.clone(), y.clone()];
            for kind in binary() {
                for c in [0, 1, 3, 8, 12, 15] {
                    let c = lab.constant(4, c);
                    let index = lab.apply(kind, &[&x, &c]);
                    if index.sort == Sort::Bits(4) {
                        indices.push(index);
                    }
                }
            }
            indices.push(lab.apply(Kind::ZeroExtend(4), &[&x]));
            indices.push(lab.apply(Kind::SignExtend(3), &[&x]));
            let high = lab.constant(4, 3);
            indices.push(lab.apply(Kind::Concat, &[&high, &x]));
            indices.push(lab.apply(Kind::Concat, &[&y, &x]));
            for index in &indices {
                let read = lab.apply(Kind::Table(number), &[index]);
                let width = read.sort.bits();
                for value in [0, 1, 2, 3, 5, 7].into_iter().chain((width == 8).then_some(0xff)) {
                    let c = lab.constant(width, value);
                    let result = lab.apply(outer, &[&read, &c]);
                    lab.apply(outer, &[&c, &read]);
                    if result.sort == read.sort {
                        let zero = lab.constant(width, 0);
                        lab.apply(Kind::Eq, &[&result, &zero]);
                    }
                }
            }
        }
    }
    lab.into_report().finish();
}

/// Builds an expression and compares it under some inputs; facts, support and form of every part.
fn check_random(e: &Rc<Expr>, inputs: &[Vec<u8>]) -> Result<Pool, String> {
    let mut pool = Pool::new();
    let term = build(e, &mut pool);
    let mut evaluator = Evaluator::new();
    for bytes in inputs {
        let (sort, expected) = value(e, bytes);
        let assignment = Assignment::from_bytes(bytes.clone());
        evaluator.reset();
        let actual = evaluator.eval(&pool, term, &assignment);
        if (pool.sort(term), actual) != (sort, expected) {
            let after = print_term(&pool, term);
            return Err(format!(
                "WRONG VALUE: {e} => {after} at {bytes:x?}: {actual:#x} not {expected:#x}"
            ));
        }
        for part in pool.reachable(&[term]) {
            let (v, facts) = (evaluator.eval(&pool, part, &assignment), pool.facts(part));
            if v & facts.zeros != 0
                || v & facts.ones != facts.ones
                || v < facts.min
                || v > facts.max
            {
                return Err(format!(
                    "a fact does not hold: {} is {v:#x}, but {facts:x?}",
                    print_term(&pool, part)
                ));
            }
        }
        // Bytes that are not in the support change nothing.
        let mut changed = bytes.clone();
        for offset in (0..INPUTS).filter(|&o| !pool.support(term).contains(InputByte::new(0, o))) {
            changed[offset as usize] ^= 0x91;
        }
        if value(e, &changed).1 != expected {
            return Err(format!("a byte that matters is not in the support: {e}"));
        }
    }
    for part in pool.reachable(&[term]) {
        if let Some(rule) = broken_rule(&pool, part) {
            return Err(format!("not in normal form, rule {rule}: {}", print_term(&pool, part)));
        }
        let again = rebuilt(&mut pool, part);
        if again != part {
            let (before, after) = (print_term(&pool, part), print_term(&pool, again));
            return Err(format!("a term is not rebuilt as itself: {before} => {after}"));
        }
    }
    Ok(pool)
}

/// Inputs of all kinds: extremes, text, and whatever the seed gives.
fn inputs(mut seed: u64) -> Vec<Vec<u8>> {
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as u8
    };
    let mut inputs = vec![vec![0; INPUTS as usize], vec![0xff; INPUTS as usize]];
    for round in 0..14 {
        let pick = |byte: u8| match round % 3 {
            0 => b"09azAZ \n\"\\\x7f\x80\xff\x01-+"[usize::from(byte) % 16],
            1 => [0, 1, 0x7f, 0x80, 0xff][usize::from(byte) % 5],
            _ => byte,
        };
        inputs.push((0..INPUTS).map(|_| pick(next())).collect());
    }
    inputs
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn random_vectors(choices in proptest::collection::vec(any::<u8>(), 0..160), seed in any::<u64>()) {
        let mut dice = Dice::new(&choices);
        let width = [8, 16, 32, 64, 128, 24][dice.below(6)];
        let e = expression(&mut dice, Sort::Bits(width), 7);
        let checked = check_random(&e, &inputs(seed));
        prop_assert!(checked.is_ok(), "{}", checked.err().unwrap_or_default());
    }

    #[test]
    fn random_conditions(choices in proptest::collection::vec(any::<u8>(), 0..160), seed in any::<u64>()) {
        let mut dice = Dice::new(&choices);
        let e = expression(&mut dice, Sort::Bool, 7);
        let checked = check_random(&e, &inputs(seed));
        prop_assert!(checked.is_ok(), "{}", checked.err().unwrap_or_default());
    }
}

/// Random expressions from a fixed list of seeds; their failures and the rules that they used.
fn seeded(count: u64) -> Report {
    let mut report = Report::default();
    for seed in 0..count {
        let mut state = seed;
        let choices: Vec<u8> = (0..120)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 56) as u8
            })
            .collect();
        let mut dice = Dice::new(&choices);
        let sort = [Sort::Bool, Sort::Bits(8), Sort::Bits(32), Sort::Bits(64)][dice.below(4)];
        let e = expression(&mut dice, sort, 6);
        let some = &inputs(seed)[..4];
        report.compared += some.len() as u64;
        match check_random(&e, some) {
            Ok(pool) => report.note_rules(&pool),
            Err(text) => report.fail("random", || text),
        }
    }
    report
}

#[test]
fn every_rule_is_applied() {
    let mut report = pairs_of_operators(1, &BINARY);
    report.absorb(pairs_of_operators(2, &BINARY));
    report.absorb(one_variable(4, &[0, 1, 2, 3, 5, 7, 8, 12, 15], true));
    report.absorb(numbers_of_truths());
    report.absorb(vector_idioms(2));
    report.absorb(steps_of_checksums(3));
    report.absorb(triples_of_comparisons(9));
    report.absorb(seeded(4000));
    let unused: Vec<&str> =
        report.rules.iter().filter(|&(_, &count)| count == 0).map(|(&rule, _)| rule).collect();
    assert!(unused.is_empty(), "never applied, so never checked: {unused:?}");
    assert!(!report.rules.is_empty(), "there are rules");
    report.finish();
}

#[test]
fn the_lab_notices_a_wrong_rule() {
    let mut lab = Lab::new(&[(3, 0), (3, 0)]);
    let (x, y) = (lab.variable(0), lab.variable(1));
    lab.apply_as(Kind::SRem, Kind::SMod, &[&x, &y]);
    assert_eq!(lab.report.kinds(), ["WRONG VALUE"]);
    lab.apply_as(Kind::Ult, Kind::BvAnd, &[&x, &y]);
    assert_eq!(lab.report.kinds(), ["WRONG VALUE", "wrong sort"]);
}
