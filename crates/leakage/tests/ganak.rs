//! Counts against Ganak, a model counter that shares nothing with ours: the conditions are
//! bit-blasted to clauses, and Ganak counts the models over the input bits.
//!
//! Needs a Python with `pyganak`, named by STUNT_PYTHON.

mod common;

use std::io::Write;
use std::process::{Command, Stdio};

use common::{random_terms, respa_figure};
use num_bigint::BigUint;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_circuit::{Blaster, Circuit, Cnf, Lit};
use stunt_leakage::{Accounts, Fraction, Ledger};
use stunt_models::Budget;
use stunt_shapes::random::narrow;
use stunt_shapes::{conditions, places};
use stunt_terms::{InputByte, Pool, Term};

/// Larger random formulas take Ganak too long.
const MOST_CLAUSES: usize = 800;

/// A condition's count, and its clauses.
struct Question {
    name: String,
    count: BigUint,
    clauses: usize,
    dimacs: String,
}

fn question(name: String, pool: &Pool, literals: &[Term], bytes: &[InputByte]) -> Option<Question> {
    let mut blaster = Blaster::new(Circuit::new());
    let asserted: Vec<Lit> = literals
        .iter()
        .map(|&literal| {
            let Ok(lit) = blaster.truth(pool, literal);
            lit
        })
        .collect();
    let cnf = Cnf::of(&blaster.algebra, bytes, &asserted);
    let mut accounts = Accounts::new(Budget::quick());
    let mut ledger = Ledger::new();
    for &literal in literals {
        ledger.push(pool, &mut accounts, literal);
    }
    match ledger.fraction(pool, &mut accounts) {
        // Bytes that are in no component are free.
        Fraction::Exact { count, size } => {
            let count = count << (8 * bytes.len() as u64 - size);
            Some(Question { name, count, clauses: cnf.clauses.len(), dimacs: cnf.dimacs() })
        }
        Fraction::AtLeast { .. } | Fraction::Estimate { .. } => None,
    }
}

type Builder = fn(&mut Pool) -> Vec<Term>;

fn golden() -> Vec<Question> {
    let cases: [(&str, Builder, u32); 6] = [
        ("request line", conditions::request_line, 25),
        ("field in range", conditions::field_in_range, 4),
        ("offset and length", conditions::offset_and_length, 8),
        ("equal pairs", conditions::equal_pairs, 32),
        ("five digits", conditions::five_digits, 5),
        // Two more bytes than the condition mentions: free bytes count.
        ("RESPA's figure", respa_figure, 7),
    ];
    cases
        .into_iter()
        .map(|(name, build, bytes)| {
            let mut pool = Pool::new();
            let literals = build(&mut pool);
            question(name.to_owned(), &pool, &literals, &places(bytes)).expect("small and counted")
        })
        .collect()
}

fn random(rng: &mut ChaCha8Rng, round: u32) -> Option<Question> {
    let mut pool = Pool::new();
    let terms = random_terms(rng.gen_range(2..=4));
    let mut literals: Vec<Term> =
        (0..rng.gen_range(1..=3)).map(|_| terms.truth(&mut pool, rng, 2)).collect();
    for &byte in &terms.bytes {
        if rng.gen_bool(0.4) {
            let size = rng.gen_range(2..=200);
            literals.push(narrow(&mut pool, rng, byte, size));
        }
    }
    // Mostly conditions that connect bytes.
    let connects = literals.iter().any(|&literal| pool.support(literal).len() > 1);
    if !connects && !round.is_multiple_of(8) {
        return None;
    }
    question(format!("round {round}"), &pool, &literals, &terms.bytes)
        .filter(|question| question.clauses <= MOST_CLAUSES)
        .filter(|question| question.count.bits() > 0 || round.is_multiple_of(8))
}

#[test]
fn counts_agree_with_ganak() {
    let Some(python) = std::env::var_os("STUNT_PYTHON") else {
        panic!(
            "STUNT_PYTHON is not set: it names a Python with pyganak. \
             Run `cargo xtask test`, which provides one."
        );
    };
    let mut rng = ChaCha8Rng::seed_from_u64(43);
    let mut questions = golden();
    let mut round = 0;
    while questions.len() < 110 {
        questions.extend(random(&mut rng, round));
        round += 1;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ganak.py");
    let mut child = Command::new(&python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{} does not start: {error}", python.display()));
    let text: String = questions.iter().map(|question| question.dimacs.as_str()).collect();
    let mut stdin = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("the script ends");
    assert!(output.status.success(), "ganak.py failed; is pyganak installed?");
    writer.join().expect("the writer ends").expect("the script reads all formulas");
    let counts = String::from_utf8(output.stdout).expect("numbers");
    let counts: Vec<BigUint> = counts
        .lines()
        .filter_map(|line| line.strip_prefix("count "))
        .map(|number| number.parse().expect("a count"))
        .collect();
    assert_eq!(counts.len(), questions.len());
    let mut nontrivial = 0;
    for (question, count) in questions.iter().zip(&counts) {
        assert_eq!(question.count, *count, "{}", question.name);
        nontrivial += u32::from(count.bits() > 1 && count.count_ones() > 1);
    }
    assert!(nontrivial > 30, "only {nontrivial} counts are more than a power of two");
}
