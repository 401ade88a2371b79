//! SMT-LIB text: what is printed is read back as the same terms, what is read means what the
//! standard says, and z3 agrees.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use common::generate::{Dice, INPUTS, expression};
use common::reference::{TABLES, build, table_id, value};
use proptest::prelude::*;
use stunt_terms::smtlib::{
    Names, Parser, Problem, Step, parse_script, parse_term, print_script, print_term,
    print_term_with,
};
use stunt_terms::{Assignment, Evaluator, InputByte, Op, Pool, Program, Sort, TableId, Term};

/// A term as a Bool that depends on all of it.
fn as_bool(pool: &mut Pool, term: Term) -> Term {
    if pool.is_bool(term) {
        return term;
    }
    let zero = pool.constant(pool.width(term), 0x5a);
    pool.ult(term, zero)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printed_scripts_are_read_back(choices in proptest::collection::vec(any::<u8>(), 0..300)) {
        let mut dice = Dice::new(&choices);
        let mut pool = Pool::new();
        let asserts: Vec<Term> = (0..=dice.below(3))
            .map(|_| {
                let e = expression(&mut dice, Sort::Bool, 7);
                build(&e, &mut pool)
            })
            .collect();
        let text = print_script(&pool, &asserts, true);
        let script = parse_script(&mut pool, &text);
        prop_assert!(script.is_ok(), "{:?}\n{}", script, text);
        let script = script.unwrap_or_default();
        prop_assert_eq!(script.assertions(), asserts, "{}", text);
        let asked = script.steps.last().is_some_and(|step| matches!(step, Step::CheckSat { .. }));
        prop_assert!(asked);
        prop_assert!(text.lines().all(|line| nesting(line) < 40));
    }

    #[test]
    fn printed_terms_are_read_back(choices in proptest::collection::vec(any::<u8>(), 0..300), width in 1u8..=128) {
        let mut dice = Dice::new(&choices);
        let mut pool = Pool::new();
        let e = expression(&mut dice, Sort::Bits(width), 7);
        let term = build(&e, &mut pool);
        let tables: Vec<TableId> = pool
            .reachable(&[term])
            .into_iter()
            .filter_map(|t| match pool.op(t) {
                Op::Table(table, _) => Some(table),
                _ => None,
            })
            .collect();
        let names = tables.iter().enumerate().fold(Names::new(), |names, (i, &id)| names.table(id, format!("class{i}")));
        let text = print_term_with(&pool, &names, term);
        let mut parser = Parser::new(&mut pool);
        for (i, &id) in tables.iter().enumerate() {
            parser.name_table(&format!("class{i}"), id);
        }
        prop_assert_eq!(parser.term(&text), Ok(term), "{}", text);
    }

    #[test]
    fn damaged_scripts_are_errors_or_scripts(
        choices in proptest::collection::vec(any::<u8>(), 0..120),
        damage in proptest::collection::vec((any::<u16>(), any::<u8>(), 0usize..4), 1..6),
    ) {
        let mut pool = Pool::new();
        let e = expression(&mut Dice::new(&choices), Sort::Bool, 4);
        let term = build(&e, &mut pool);
        let mut text = print_script(&pool, &[term], true);
        // Single characters and whole words are put in, taken away or exchanged.
        let words = ["(", ")", "#b", "#x1", "(_ bv9 3)", "concat", "ite", "let", "(_ extract 3 4)", "128", "|", "\"",
            "(_ BitVec 0)", "push", "in0@1", "=", "!", ":named", "t0", "true"];
        for (place, what, how) in damage {
            let at = usize::from(place) % text.len();
            let end = (at + how).min(text.len());
            text.replace_range(at..end, words[usize::from(what) % words.len()]);
        }
        if let Err(error) = parse_script(&mut pool, &text) {
            prop_assert!(error.line <= text.lines().count().max(1), "{}", error);
            prop_assert!(!error.problem.to_string().is_empty());
        }
    }

    #[test]
    fn read_expressions_mean_what_the_standard_says(
        choices in proptest::collection::vec(any::<u8>(), 0..200),
        input in proptest::array::uniform8(any::<u8>()),
    ) {
        let mut dice = Dice::new(&choices);
        let e = expression(&mut dice, Sort::Bits(32), 5);
        let mut pool = Pool::new();
        let tables: Vec<_> = (0..TABLES).map(|number| table_id(&mut pool, number)).collect();
        let mut parser = Parser::new(&mut pool);
        for (i, &id) in tables.iter().enumerate() {
            parser.name_table(&format!("table{i}"), id);
        }
        let term = parser.term(&e.to_string());
        prop_assert!(term.is_ok(), "{:?}: {}", term, e);
        if let Ok(term) = term {
            let actual = Evaluator::new().eval(&pool, term, &Assignment::from_bytes(input));
            prop_assert_eq!(actual, value(&e, &input).1, "{}", e);
        }
    }
}

fn nesting(line: &str) -> usize {
    let mut depth = 0usize;
    let mut most = 0;
    for c in line.chars() {
        match c {
            '(' => depth += 1,
            // A table's definition ends on another line than it begins.
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

fn z3(script: &str) -> String {
    let mut child = Command::new("z3")
        .args(["-in", "-smt2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 is installed");
    child.stdin.take().expect("piped").write_all(script.as_bytes()).expect("z3 reads");
    let output = child.wait_with_output().expect("z3 ends");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A deterministic list of choices.
fn choices(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_add(1);
    (0..len)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect()
}

#[test]
fn z3_accepts_what_is_printed_and_finds_it_equal() {
    // The expression as it was written, by the standard, against the printed term that the
    // constructors made of it: z3 must find no input on which they differ.
    let mut text = String::from("(set-logic QF_BV)\n(set-option :timeout 2000)\n");
    for offset in 0..INPUTS {
        text += &format!("(declare-const in0@{offset} (_ BitVec 8))\n");
    }
    let mut asked = 0;
    for seed in 0..150 {
        let bytes = choices(seed, 60);
        let mut dice = Dice::new(&bytes);
        let e = expression(&mut dice, Sort::Bits([4, 8, 16, 32][seed as usize % 4]), 4);
        let written = e.to_string();
        if written.contains("table")
            || written.contains("div")
            || written.contains("rem")
            || written.contains("bvmul")
        {
            continue;
        }
        let mut pool = Pool::new();
        let term = build(&e, &mut pool);
        let printed = print_term(&pool, term);
        text += &format!("(push)(assert (distinct {written} {printed}))(check-sat)(pop)\n");
        asked += 1;
    }
    assert!(asked > 30, "only {asked} expressions were suitable");
    let answers = z3(&text);
    let unsat = answers.lines().filter(|&line| line == "unsat").count();
    let unknown = answers.lines().filter(|&line| line == "unknown" || line == "timeout").count();
    assert!(!answers.contains("error") && !answers.lines().any(|line| line == "sat"), "{answers}");
    assert!(unsat + unknown == asked && unsat > asked / 2, "{unsat} of {asked}:\n{answers}");
}

#[test]
fn z3_reads_tables_and_scripts_alike() {
    // A model that z3 finds for the printed script satisfies the terms; an unsatisfiable one has none.
    for number in 0..TABLES {
        let mut pool = Pool::new();
        let table = table_id(&mut pool, number);
        let (x, y) = (pool.input(0, 0), pool.input(0, 1));
        let nibble = pool.extract(3, 1, y);
        let index = pool.zero_extend(16, x);
        let index = pool.add(index, index);
        let (a, b, c) = (pool.table(table, x), pool.table(table, nibble), pool.table(table, index));
        let last = u128::from(*pool.table_data(table).entries.last().expect("not empty"));
        let last = pool.constant(pool.width(a), last);
        let wanted = [pool.eq(a, last), pool.ne(b, last), pool.ne(c, last)];
        let text = print_script(&pool, &wanted, true);
        assert_eq!(
            parse_script(&mut pool, &text).map(|script| script.assertions()),
            Ok(wanted.to_vec())
        );
        let bytes: Vec<InputByte> = [InputByte::new(0, 0), InputByte::new(0, 1)]
            .into_iter()
            .filter(|byte| text.contains(&byte.to_string()))
            .collect();
        let shown: Vec<String> = bytes.iter().map(InputByte::to_string).collect();
        let answer = z3(&format!("{text}(get-value ({}))\n", shown.join(" ")));
        // Is there a model at all? All inputs are tried.
        let mut program =
            Program::compile(&pool, &wanted, &[InputByte::new(0, 0), InputByte::new(0, 1)]);
        let satisfiable = (0..=0xffffu16)
            .any(|input| program.run_one(&input.to_le_bytes()).iter().all(|&truth| truth == 1));
        assert!(
            answer.starts_with(if satisfiable { "sat" } else { "unsat" }),
            "table {number}: {answer}"
        );
        if satisfiable {
            let values = answer.split("#x").skip(1).map(|rest| u8::from_str_radix(&rest[..2], 16));
            let mut model = Assignment::new();
            for (&byte, value) in bytes.iter().zip(values) {
                model.set(byte, value.expect("two digits"));
            }
            let mut evaluator = Evaluator::new();
            assert!(wanted.iter().all(|&t| evaluator.holds(&pool, t, &model)), "{answer}");
        }
        // No index gives an entry that the table does not have.
        let entries = pool.table_data(table).entries.clone();
        let width = pool.width(a);
        if let Some(absent) =
            (1..=stunt_terms::mask(width)).find(|&v| !entries.iter().any(|&e| u128::from(e) == v))
        {
            let absent = pool.constant(width, absent);
            let never = pool.eq(c, absent);
            assert!(z3(&print_script(&pool, &[never], true)).starts_with("unsat"));
        }
    }
}

#[test]
fn tables_longer_than_their_index_are_kept() {
    let mut pool = Pool::new();
    let table = pool.add_table(7, (0..9u64).collect::<Vec<_>>());
    let x = pool.input(0, 0);
    let x = pool.extract(1, 0, x);
    let read = pool.table(table, x);
    let asserted = as_bool(&mut pool, read);
    let text = print_script(&pool, &[asserted], false);
    assert_eq!(
        parse_script(&mut pool, &text).map(|s| s.assertions()),
        Ok(vec![asserted]),
        "{text}"
    );
}

#[test]
fn deep_chains_are_printed_and_read() {
    let mut pool = Pool::new();
    let (x, y) = (pool.input(0, 0), pool.input(0, 1));
    let mut term = x;
    for i in 0..100_000 {
        term = if i % 2 == 0 { pool.mul(term, y) } else { pool.xor(term, x) };
    }
    let asserted = as_bool(&mut pool, term);
    let text = print_script(&pool, &[asserted], false);
    assert!(text.lines().all(|line| nesting(line) < 40));
    assert_eq!(parse_script(&mut pool, &text).map(|s| s.assertions()), Ok(vec![asserted]));
    let text = print_term(&pool, term);
    assert_eq!(parse_term(&mut pool, &text), Ok(term));
    // As one tree of that depth, and as nested lets.
    let tree = "(bvxor in0@0 (bvmul in0@1 ".repeat(50_000) + "in0@0" + &"))".repeat(50_000);
    assert_eq!(parse_term(&mut pool, &tree), Ok(term));
    let lets: String = (0..50_000)
        .map(|i| format!("(let ((x{} (bvxor (bvmul x{i} in0@1) in0@0))) ", i + 1))
        .collect();
    let lets = format!("(let ((x0 in0@0)) {lets}x50000{})", ")".repeat(50_000));
    assert_eq!(parse_term(&mut pool, &lets), Ok(term));
}

#[test]
fn sharing_does_not_explode() {
    let mut pool = Pool::new();
    let y = pool.input(0, 1);
    let mut term = pool.input(0, 0);
    for _ in 0..200 {
        let product = pool.mul(term, y);
        term = pool.udiv(product, term);
    }
    let text = print_term(&pool, term);
    assert!(text.len() < 20_000);
    assert_eq!(parse_term(&mut pool, &text), Ok(term));
    // Functions that call each other twice are expanded once for each argument.
    let mut script =
        String::from("(define-fun f0 ((x (_ BitVec 8))) (_ BitVec 8) (bvmul x in0@1))\n");
    for i in 1..100 {
        let j = i - 1;
        script += &format!(
            "(define-fun f{i} ((x (_ BitVec 8))) (_ BitVec 8) (bvudiv (f{j} x) (bvxor (f{j} x) x)))\n"
        );
    }
    script += "(assert (= (f99 in0@0) #x00))";
    assert!(parse_script(&mut pool, &script).is_ok());
}

#[test]
fn other_constants_become_fresh_bytes() {
    let mut pool = Pool::new();
    let text = "(declare-fun |a b| () (_ BitVec 12))(declare-const p Bool)(declare-const in0@3 (_ BitVec 8))
        (assert (= |a b| #xabc)) (assert (and p (= in0@3 #x01)))";
    let script = parse_script(&mut pool, text).expect("well formed");
    let [wide, p, byte] = &script.symbols[..] else { panic!("three constants") };
    assert_eq!(wide.bytes, [InputByte::new(1, 0), InputByte::new(1, 1)]);
    assert_eq!((p.bytes.as_slice(), p.sort), ([InputByte::new(1, 2)].as_slice(), Sort::Bool));
    assert_eq!(byte.bytes, [InputByte::new(0, 3)]);
    let mut model = Assignment::new();
    for (byte, value) in
        [(wide.bytes[0], 0xbc), (wide.bytes[1], 0xfa), (p.bytes[0], 0xff), (byte.bytes[0], 1)]
    {
        model.set(byte, value);
    }
    let mut evaluator = Evaluator::new();
    assert_eq!(evaluator.eval(&pool, wide.term, &model), 0xabc);
    assert!(script.assertions().iter().all(|&t| evaluator.holds(&pool, t, &model)));
}

#[test]
fn scopes_functions_and_annotations() {
    let mut pool = Pool::new();
    let text = "(set-logic QF_BV)(set-info :status sat)
        (declare-const x (_ BitVec 8))
        (define-fun twice ((y (_ BitVec 8))) (_ BitVec 8) (bvadd y y))
        (push 1)
        (define-fun z () (_ BitVec 8) (twice (twice x)))
        (assert (! (= z #x08) :named first))
        (check-sat-assuming (first))
        (pop 1)
        (define-fun z () Bool (let ((x #x01) (y x)) (bvult y (bvadd x #x04))))
        (assert z)
        (check-sat)(get-model)(exit)(nonsense)";
    let script = parse_script(&mut pool, text).expect("well formed");
    let x = script.symbols[0].term;
    let five = pool.constant(8, 5);
    let below_five = pool.ult(x, five);
    assert_eq!(script.assertions(), [below_five]);
    let times_four = parse_term(&mut pool, "(= (bvmul in0@0 #x04) #x08)").expect("a term");
    let assuming = vec![times_four];
    let expected = [
        Step::Push(1),
        Step::Assert(times_four),
        Step::CheckSat { assuming },
        Step::Pop(1),
        Step::Assert(below_five),
        Step::CheckSat { assuming: vec![] },
    ];
    // Four times x may be written in several ways; the evaluator decides.
    assert_eq!(script.steps.len(), expected.len());
    let Step::Assert(first) = script.steps[1] else { panic!("an assertion") };
    for value in 0..=255 {
        let model = Assignment::from_bytes([value]);
        let mut evaluator = Evaluator::new();
        assert_eq!(evaluator.holds(&pool, first, &model), value.wrapping_mul(4) == 8);
    }
    assert_eq!(script.steps[3..], expected[3..]);
}

#[test]
fn every_operator_is_read() {
    // Closed formulas: each must fold to true.
    let truths = "(= (bvnand #xc #xa) #x7) (= (bvnor #xc #xa) #x1) (= (bvxnor #xc #xa) #x9)
        (= (bvcomp #xc #xc) #b1) (= (bvcomp #xc #xa) #b0) (= (bvsub #x3 #x5) #xe) (= (bvneg #x1) #xf)
        (= (bvsmod #xb #x3) #x1) (= (bvsmod #x5 #xd) #xf) (= (bvsmod #x5 #x0) #x5) (= (bvsrem #xb #x3) #xe)
        (= (bvsdiv #xb #x3) #xf) (= (bvudiv #xb #x0) #xf) (= (bvurem #xb #x0) #xb)
        (= ((_ rotate_left 1) #x9) #x3) (= ((_ rotate_right 5) #x9) #xc) (= ((_ repeat 3) #b01) #b010101)
        (= ((_ extract 2 1) #xa) #b01) (= ((_ zero_extend 2) #b11) #x3) (= ((_ sign_extend 2) #b10) #xe)
        (= ((_ zero_extend 0) #b11) #b11) (= (concat #b1 #b0 #b11) #xb) (= (_ bv10 4) #xa)
        (= (bvshl #x3 #x1) #x6) (= (bvlshr #xc #x1) #x6) (= (bvashr #xc #x1) #xe) (= (bvashr #xc #xf) #xf)
        (bvult #x1 #xf) (bvule #x1 #x1) (bvugt #xf #x1) (bvuge #x1 #x1)
        (bvslt #xf #x1) (bvsle #xf #xf) (bvsgt #x1 #xf) (bvsge #x1 #x1)
        (= #x1 #x1 #x1) (not (= #x1 #x1 #x2)) (distinct #x1 #x2 #x3) (not (distinct #x1 #x2 #x1))
        (and true) (and true true true) (or false false true) (xor true true true) (not (xor true true))
        (=> false false false) (not (=> true true false)) (=> true false true)
        (= (ite true #x1 #x2) #x1) (= (bvadd #x1 #x2 #x3) #x6) (= (bvmul #x2 #x2 #x3) #xc)
        (= (bvand #xf #x7 #x3) #x3) (= (bvor #x1 #x2 #x4) #x7) (= (bvxor #x1 #x3 #x7) #x5) (= (bvnot #x5) #xa)
        (bvnego #x8) (not (bvnego #x7)) (bvuaddo #xf #x1) (not (bvuaddo #xe #x1)) (bvsaddo #x7 #x1)
        (not (bvsaddo #xf #x1)) (bvusubo #x1 #x2) (bvssubo #x8 #x1) (not (bvssubo #x7 #x1))
        (bvumulo #x4 #x4) (not (bvumulo #x5 #x3)) (bvsmulo #x3 #x3) (not (bvsmulo #xd #x2)) (bvsmulo #x8 #xf)
        (bvsmulo #xf #x8) (bvsdivo #x8 #xf) (not (bvsdivo #x8 #x1)) (= #xfF #b11111111)";
    let mut pool = Pool::new();
    let yes = pool.boolean(true);
    let script: String = truths.replace("\n", " ");
    // Each top-level tree is one formula.
    let mut depth = 0;
    let mut start = 0;
    let mut count = 0;
    for (i, c) in script.char_indices() {
        match c {
            '(' => {
                if depth == 0 {
                    start = i;
                }
                depth += 1;
            }
            ')' => {
                depth -= 1;
                if depth == 0 {
                    assert_eq!(
                        parse_term(&mut pool, &script[start..=i]),
                        Ok(yes),
                        "{}",
                        &script[start..=i]
                    );
                    count += 1;
                }
            }
            _ => {}
        }
    }
    assert!(count > 70, "{count}");
}

#[test]
fn overflow_predicates_are_right_on_all_small_numbers() {
    let signed = |v: i32| if v >= 8 { v - 16 } else { v };
    let fits = |v: i32| (-8..8).contains(&v);
    let mut pool = Pool::new();
    for a in 0..16 {
        for b in 0..16 {
            let (x, y) = (signed(a), signed(b));
            let cases = [
                ("bvuaddo", a + b > 15),
                ("bvsaddo", !fits(x + y)),
                ("bvusubo", a < b),
                ("bvssubo", !fits(x - y)),
                ("bvumulo", a * b > 15),
                ("bvsmulo", !fits(x * y)),
                ("bvsdivo", x == -8 && y == -1),
            ];
            for (name, expected) in cases {
                let expected = pool.boolean(expected);
                let text = format!("({name} #x{a:x} #x{b:x})");
                assert_eq!(parse_term(&mut pool, &text), Ok(expected), "{text}");
            }
        }
    }
}

#[test]
fn errors_say_where_and_what() {
    let mut pool = Pool::new();
    let mut error = |text: &str| parse_script(&mut pool, text).expect_err("an error").to_string();
    assert_eq!(error("(assert\n  (foo in0@0))"), "2:4: nothing is called \"foo\"");
    assert_eq!(
        error("(assert (bvult in0@0 #b1))"),
        "1:9: the sorts do not fit: the arguments must be bit vectors of one width"
    );
    assert_eq!(error("(assert #x1)"), "1:9: the sorts do not fit: a Bool is needed");
    assert_eq!(error("(assert (not true false))"), "1:9: not takes one arguments, not 2");
    assert_eq!(
        error("(declare-const a (_ BitVec 129))"),
        "1:18: a bit vector has 1 to 128 bits, not 129"
    );
    assert_eq!(
        error("(declare-fun f (Bool) Bool)"),
        "1:16: an uninterpreted function is not supported"
    );
    assert_eq!(
        error("(declare-const a Bool)(declare-const a Bool)"),
        "1:38: \"a\" has a meaning already"
    );
    assert_eq!(error("(assert (= #x1 (_ bv16 4)))"), "1:16: this number does not fit 4 bits");
    assert_eq!(
        error("(assert (= #b1 ((_ extract 8 8) in0@0)))"),
        "1:16: this index is out of range"
    );
    assert_eq!(error("(assert true"), "1:1: this list is never closed");
    assert_eq!(error("(pop 1)"), "1:1: there is no scope to pop");
    assert_eq!(
        error("(assert (= (concat ((_ repeat 16) in0@0) #b1) #b1))"),
        "1:12: a bit vector has 1 to 128 bits, not 129"
    );
    // A function does not see itself.
    let text = "(define-fun f ((x Bool)) Bool (f x))(assert (f true))";
    assert_eq!(error(text), "1:32: nothing is called \"f\"");
    assert_eq!(parse_term(&mut pool, "").expect_err("empty").problem, Problem::Expected("a term"));
    assert_eq!(parse_term(&mut pool, "#x1 #x2").expect_err("two").problem, Problem::Trailing);
}

#[test]
fn what_was_built_before_is_found_again() {
    // Each test thrice, among so many others that places for remembered terms are fought over.
    let mut pool = Pool::new();
    let tests: Vec<String> = (0..3000)
        .map(|i| format!("(bvult (bvadd in0@{} #x{:02x}) #x{:02x})", i % 7, i % 251, i % 241))
        .collect();
    let once: Vec<Term> =
        tests.iter().map(|test| parse_term(&mut pool, test).expect("a term")).collect();
    let text: String =
        tests.iter().map(|test| format!("(assert {test})").repeat(3) + "\n").collect();
    let script = parse_script(&mut pool, &text.repeat(2)).expect("well formed");
    let thrice: Vec<Term> = once.iter().flat_map(|&term| [term; 3]).collect();
    assert_eq!(script.assertions(), [&thrice[..], &thrice[..]].concat());
}

#[test]
fn errors_come_in_the_order_of_reading() {
    let mut pool = Pool::new();
    let mut error = |text: &str| parse_script(&mut pool, text).expect_err("an error").to_string();
    // A text that is no list of trees is refused before anything in it is understood.
    assert_eq!(error("(assert (foo))\n(assert"), "2:1: this list is never closed");
    // A let is looked at as a whole, then its values, then its body.
    assert_eq!(
        error("(assert (let ((a foo) (b)) bar))"),
        "1:23: a name with its value is expected here"
    );
    assert_eq!(error("(assert (let ((a foo)) bar))"), "1:18: nothing is called \"foo\"");
    assert_eq!(error("(assert (let ((a true)) (and a bar)))"), "1:32: nothing is called \"bar\"");
    // Arguments come before the operator's own complaints.
    assert_eq!(
        error("(assert (not true (bvnot false)))"),
        "1:19: the sorts do not fit: the arguments must be bit vectors"
    );
    // What a function or a let binds is gone after it.
    let text = "(define-fun f ((x Bool)) Bool (let ((y x)) y))(assert (and (f true) y))";
    assert_eq!(error(text), "1:69: nothing is called \"y\"");
}
