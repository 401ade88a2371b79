//! A layer for tests: every verdict is compared with an external SMT-LIB solver.
//!
//! The other program gets the whole condition, not the part that independence left over, so that
//! it checks all layers together. It is given terms only, never values. A contradiction between
//! the two is a fault of one of them and ends this program.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use stunt_models::Condition;
use stunt_terms::{Pool, Term, smtlib};

use crate::query::Truth;

/// A running SMT-LIB solver that reads commands and writes answers.
pub struct CrossCheck {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    compared: usize,
    undecided: usize,
}

impl CrossCheck {
    /// Starts the program: for example `z3` with the argument `-in`.
    pub fn start(program: &str, arguments: &[&str]) -> io::Result<CrossCheck> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let missing = || io::Error::other("the solver has no pipes");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        Ok(CrossCheck { child, input, output, compared: 0, undecided: 0 })
    }

    /// How many verdicts agreed, and on how many one of the two had none.
    pub fn compared(&self) -> (usize, usize) {
        (self.compared, self.undecided)
    }

    /// Whether all terms can hold together, in the other solver's opinion; `None` if it has none.
    pub fn satisfiable(&mut self, pool: &Pool, terms: &[Term]) -> io::Result<Option<bool>> {
        // Declarations last as long as the assertions, so every question starts from nothing.
        let text = smtlib::print_script(pool, terms, true);
        writeln!(self.input, "(reset)\n{text}")?;
        self.input.flush()?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line)? == 0 {
                return Err(io::Error::other("the solver ended"));
            }
            match line.trim() {
                "" => {}
                "sat" => return Ok(Some(true)),
                "unsat" => return Ok(Some(false)),
                "unknown" | "timeout" => return Ok(None),
                _ => return Err(io::Error::other("the solver did not understand the question")),
            }
        }
    }

    /// Compares a verdict on `exists I: C(I) and q(I) for all questions q`.
    ///
    /// # Panics
    /// If the other solver disagrees, or fails.
    pub(crate) fn compare(
        &mut self,
        pool: &Pool,
        condition: &Condition,
        questions: &[Term],
        verdict: Truth,
    ) {
        let terms: Vec<Term> = condition.literals().chain(questions.iter().copied()).collect();
        let theirs = self.satisfiable(pool, &terms).expect("the external solver answers");
        match (verdict, theirs) {
            (Truth::Unknown(_), _) | (_, None) => self.undecided += 1,
            (ours, Some(theirs)) => {
                assert!(
                    (ours == Truth::Yes) == theirs,
                    "another solver disagrees: it says {theirs}"
                );
                self.compared += 1;
            }
        }
    }
}

impl Drop for CrossCheck {
    fn drop(&mut self) {
        // It waits for commands for ever otherwise. That it may be gone already is fine.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
