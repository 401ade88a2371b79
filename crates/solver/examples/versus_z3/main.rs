//! Throughput on questions like those of path conditions: this solver and z3 on the same text.
//!
//! Each class is one SMT-LIB script: definitions, then every question in a scope of its own. Both
//! solvers get that script. z3 also gets the questions as separate scripts with `(reset)` between
//! them, which lets it choose another strategy, and its faster way counts. This solver's time
//! includes parsing; the last column is the time without it, as a search uses the solver: terms
//! in memory. Verdicts are compared.

mod corpus;
mod z3;

use std::time::{Duration, Instant};

use stunt_solver::{Answer, Budget, Solver, Truth, answer_script};
use stunt_terms::Pool;
use stunt_terms::smtlib::parse_script;

fn main() {
    let wanted: Option<String> = std::env::args().nth(1);
    let columns = "questions | z3 /s | stunt /s | ratio | without text /s | sat, unsat, open";
    println!("| class | {columns} | parts answered by |");
    println!("|---|---:|---:|---:|---:|---:|---:|---|");
    let mut ratios = Vec::new();
    for (name, build) in corpus::CLASSES {
        if wanted.as_ref().is_some_and(|wanted| !name.contains(wanted.as_str())) {
            continue;
        }
        let class = build();
        let theirs = z3::answers(&class);
        let (ours, from_text, from_terms, layers) = answers(&class.script);
        compare(name, &theirs.verdicts, &ours);
        let rate = |time: Duration| ours.len() as f64 / time.as_secs_f64();
        // Where z3 answered nothing in its time, it would have answered less than one.
        let is_bound = theirs.rate() == 0.0;
        let ratio = rate(from_text) / theirs.rate().max(1.0 / theirs.time.as_secs_f64());
        let over = if is_bound { "> " } else { "" };
        let tally = |truth: fn(&Truth) -> bool| ours.iter().filter(|&t| truth(t)).count();
        println!(
            "| {name} | {} | {:.1} | {:.0} | {over}{ratio:.1} | {:.0} | {}, {}, {} | {layers} |",
            ours.len(),
            theirs.rate(),
            rate(from_text),
            rate(from_terms),
            tally(|t| *t == Truth::Yes),
            tally(|t| *t == Truth::No),
            tally(|t| matches!(t, Truth::Unknown(_))),
        );
        ratios.push((ratio, *name));
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    if let (Some(lower), Some(upper)) =
        (ratios.get((ratios.len().max(1) - 1) / 2), ratios.get(ratios.len() / 2))
    {
        println!(
            "\nMedian: {:.1} times z3's throughput (middle classes: {}, {:.1}; {}, {:.1}).",
            (lower.0 + upper.0) / 2.0,
            lower.1,
            lower.0,
            upper.1,
            upper.0
        );
    }
}

/// The verdicts, the time from text, the time of answering alone, and which layers answered.
fn answers(text: &str) -> (Vec<Truth>, Duration, Duration, String) {
    let start = Instant::now();
    let mut pool = Pool::new();
    let script = parse_script(&mut pool, text).expect("the corpus is well-formed");
    let parsed = Instant::now();
    let mut solver = Solver::new(Budget::default());
    let found = answer_script(&mut solver, &pool, &script);
    let verdicts = found.iter().map(Answer::truth).collect();
    let (from_text, from_terms) = (start.elapsed(), parsed.elapsed());
    (verdicts, from_text, from_terms, solver.statistics().to_string())
}

/// Two answers must not contradict each other; either may be open.
fn compare(class: &str, theirs: &[Option<bool>], ours: &[Truth]) {
    assert_eq!(theirs.len(), ours.len(), "{class}: as many answers as questions");
    for (number, (theirs, ours)) in theirs.iter().zip(ours).enumerate() {
        let ours = match ours {
            Truth::Yes => Some(true),
            Truth::No => Some(false),
            Truth::Unknown(_) => None,
        };
        if let (Some(theirs), Some(ours)) = (theirs, ours) {
            assert_eq!(*theirs, ours, "{class}: question {number} has two answers");
        }
    }
}
