//! The idioms of compiled code in `rewrites.txt`, and what the constructors make of them.
//!
//! `STUNT_BLESS=1 cargo test -p stunt-terms --test golden` writes the file's after sides; whoever
//! does that reads the difference. z3 proves that before and after are equal.

mod common;

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use common::reference::table_id;
use stunt_terms::smtlib::{Names, Parser, print_script, print_term_with};
use stunt_terms::{InputByte, Op, Pool, Sort, TableId, Term};

/// The tables' names, by their number in the tests' list.
const TABLES: [(&str, usize); 3] = [("ctype", 0), ("hexval", 1), ("crc", 2)];

/// A line of the file.
enum Line<'l> {
    /// An abbreviation.
    Definition(&'l str),
    Rewrite {
        before: &'l str,
        after: &'l str,
        comment: &'l str,
    },
    Other(&'l str),
}

fn path() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/rewrites.txt")
}

fn lines(text: &str) -> Vec<Line<'_>> {
    text.lines()
        .map(|line| match line.split_once(" =>") {
            _ if line.starts_with(';') => Line::Other(line),
            _ if line.starts_with("(define-fun") => Line::Definition(line),
            None => {
                assert!(line.trim().is_empty(), "not a line of rewrites.txt: {line}");
                Line::Other(line)
            }
            Some((before, rest)) => {
                let (after, comment) = rest.split_once(';').unwrap_or((rest, ""));
                Line::Rewrite { before, after: after.trim(), comment: comment.trim() }
            }
        })
        .collect()
}

fn definitions(lines: &[Line<'_>]) -> String {
    let text = lines.iter().filter_map(|line| match line {
        Line::Definition(text) => Some(*text),
        _ => None,
    });
    text.collect::<Vec<_>>().join("\n")
}

/// Letters for the first bytes.
fn letters() -> impl Iterator<Item = (char, InputByte)> {
    ('a'..='h').zip(0..).map(|(letter, offset)| (letter, InputByte::new(0, offset)))
}

/// Reads a term in the file's language, into a pool of its own.
fn read(definitions: &str, text: &str) -> (Pool, Term) {
    let mut pool = Pool::new();
    let tables = TABLES.map(|(name, number)| (name, table_id(&mut pool, number)));
    let bytes: Vec<(char, Term)> =
        letters().map(|(letter, byte)| (letter, pool.byte(byte))).collect();
    let mut parser = Parser::new(&mut pool);
    for (name, table) in tables {
        parser.name_table(name, table);
    }
    for (letter, term) in bytes {
        parser.name_term(&letter.to_string(), term);
    }
    parser
        .script(definitions)
        .unwrap_or_else(|error| panic!("definitions of rewrites.txt: {error}"));
    let term = parser.term(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    (pool, term)
}

/// A table by its contents: a set for truth values, else the width, the length and a checksum.
fn contents(pool: &Pool, table: TableId) -> String {
    let table = pool.table_data(table);
    if table.width > 1 {
        let sum = table.entries.iter().fold(7u64, |sum, &e| sum.wrapping_mul(0x100_0000_01b3) ^ e);
        return format!("table<{} x {} bits, {:04x}>", table.entries.len(), table.width, sum >> 48);
    }
    let mut text = String::from("set<");
    let mut i = 0;
    while i < table.entries.len() {
        let run = table.entries[i..].iter().take_while(|&&e| e == 1).count();
        if run > 0 {
            let space = if text.ends_with('<') { "" } else { " " };
            let _ = write!(text, "{space}{i:02x}");
            if run > 1 {
                let _ = write!(text, "-{:02x}", i + run - 1);
            }
        }
        i += run + 1;
    }
    text + ">"
}

fn print(pool: &mut Pool, term: Term) -> String {
    let mut names = letters().fold(Names::new(), |names, (letter, byte)| names.byte(byte, letter));
    let known = TABLES.map(|(name, number)| (name, table_id(pool, number)));
    for part in pool.reachable(&[term]) {
        if let Op::Table(table, _) = pool.op(part) {
            let name = match known.iter().find(|&&(_, id)| id == table) {
                Some((name, _)) => (*name).to_owned(),
                None => contents(pool, table),
            };
            names = names.table(table, name);
        }
    }
    print_term_with(pool, &names, term)
}

#[test]
fn idioms_become_what_was_meant() {
    let text = std::fs::read_to_string(path()).expect("rewrites.txt is there");
    let lines = lines(&text);
    let definitions = definitions(&lines);
    let (mut new, mut wrong, mut count) = (String::new(), String::new(), 0);
    for line in &lines {
        match *line {
            Line::Definition(text) | Line::Other(text) => new += text,
            Line::Rewrite { before, after, comment } => {
                count += 1;
                let (mut pool, term) = read(&definitions, before);
                let actual = print(&mut pool, term);
                if actual != after {
                    let _ = write!(wrong, "\n{before}\n  expected {after}\n  got      {actual}");
                }
                let _ = write!(new, "{before} => {actual}");
                if !comment.is_empty() {
                    let _ = write!(new, " ; {comment}");
                }
            }
        }
        new.push('\n');
    }
    assert!(count >= 150, "{count}");
    if std::env::var_os("STUNT_BLESS").is_some() {
        std::fs::write(path(), new).expect("rewrites.txt can be written");
    } else {
        assert!(
            wrong.is_empty(),
            "{wrong}\nIf these are better, run with STUNT_BLESS=1 and read the difference."
        );
    }
}

#[test]
fn z3_finds_the_idioms_unchanged() {
    let text = std::fs::read_to_string(path()).expect("rewrites.txt is there");
    let lines = lines(&text);
    let definitions = definitions(&lines);
    let mut script = String::new();
    let mut asked = Vec::new();
    for line in &lines {
        let Line::Rewrite { before, .. } = *line else { continue };
        let (mut pool, term) = read(&definitions, before);
        match pool.sort(term) {
            // One holds and the other does not: impossible, both ways.
            Sort::Bool => {
                let negated = pool.not(term);
                for (after, before_text) in
                    [(term, format!("(not {before})")), (negated, before.to_owned())]
                {
                    query(&mut script, &pool, &definitions, after, &before_text);
                    asked.push(before);
                }
            }
            // A value that one has and the other has not.
            Sort::Bits(width) => {
                let other =
                    (0..u32::from(width.div_ceil(8))).map(|i| pool.input(1, i)).collect::<Vec<_>>();
                let other = other
                    .into_iter()
                    .reduce(|high, low| pool.concat(high, low))
                    .expect("a byte or more");
                let other = pool.extract(width - 1, 0, other);
                let equal = pool.eq(term, other);
                let mut value = String::from("in1@0");
                for i in 1..width.div_ceil(8) {
                    value = format!("(concat {value} in1@{i})");
                }
                let differs = format!("(distinct {before} ((_ extract {} 0) {value}))", width - 1);
                query(&mut script, &pool, &definitions, equal, &differs);
                asked.push(before);
            }
        }
    }
    let mut z3 = Command::new("z3")
        .args(["-in", "-smt2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 is installed");
    let mut stdin = z3.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let output = z3.wait_with_output().expect("z3 ends");
    writer.join().expect("written").expect("z3 reads");
    let answers = String::from_utf8_lossy(&output.stdout);
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), asked.len(), "{answers:?}");
    let mut undecided = 0;
    for (before, answer) in asked.iter().zip(&answers) {
        match *answer {
            "unsat" => {}
            "unknown" | "timeout" => undecided += 1,
            _ => panic!("{before}: {answer}"),
        }
    }
    // Divisions are hard to prove equal; most questions are not.
    assert!(undecided * 20 < asked.len(), "{undecided} of {}", asked.len());
}

/// Asks whether `after` and the text can hold together.
fn query(script: &mut String, pool: &Pool, definitions: &str, after: Term, text: &str) {
    let printed = print_script(pool, &[after], false);
    let logic = "(set-logic QF_BV)\n";
    *script += "(reset)\n(set-option :timeout 250)\n(set-logic QF_BV)\n";
    // All bytes are declared, whether the term has them or not.
    for (letter, byte) in letters() {
        if !printed.contains(&format!("(declare-const {byte} ")) {
            let _ = writeln!(script, "(declare-const {byte} (_ BitVec 8))");
        }
        let _ = writeln!(script, "(define-fun {letter} () (_ BitVec 8) {byte})");
    }
    for i in 0..16 {
        let declaration = format!("(declare-const in1@{i} (_ BitVec 8))\n");
        if text.contains(&format!("in1@{i}")) && !printed.contains(&declaration) {
            *script += &declaration;
        }
    }
    // The definitions use bytes that the printed script declares.
    let rest = printed.strip_prefix(logic).expect("a script begins with its logic");
    let (declared, rest): (Vec<&str>, Vec<&str>) =
        rest.lines().partition(|line| line.starts_with("(declare-const"));
    let head = script.rfind("(set-logic QF_BV)\n").expect("just written") + logic.len();
    script.insert_str(head, &(declared.join("\n") + "\n"));
    for (name, number) in TABLES {
        if text.contains(name) {
            // Indices in the file are bytes, or bytes extended to 64 bits.
            let width = if text.contains(&format!("({name} ((_ zero_extend 56)")) { 64 } else { 8 };
            *script += &table_text(number, name, width);
        }
    }
    *script += definitions;
    *script += "\n";
    *script += &rest.join("\n");
    let _ = write!(script, "\n(assert {text})\n(check-sat)\n");
}

/// A table as a chain of choices.
fn table_text(number: usize, name: &str, index: u8) -> String {
    let (width, entries) = common::reference::table(number);
    let mut body = format!("(_ bv0 {width})");
    for (i, entry) in entries.iter().enumerate() {
        body = format!("(ite (= i (_ bv{i} {index})) (_ bv{entry} {width}) {body})");
    }
    format!("(define-fun {name} ((i (_ BitVec {index}))) (_ BitVec {width}) {body})\n")
}
