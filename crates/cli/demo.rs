//! `stunt demo`: the main job on a built-in example.
//!
//! A web server fails on a private request; the demo shows what the run found out about the
//! request, draws a double from all requests that would have led there too, says how much the
//! double reveals, and runs the server on it. The request is built in, which is why it, alone of
//! all originals, may be shown.

use std::fmt::Write;

use anyhow::{Result, bail, ensure};
use serde_json::json;
use stunt_leakage::{Accounts, Ledger};
use stunt_solver::{Budget, Solver};
use stunt_terms::{Assignment, InputByte, Pool, Term, smtlib};

use crate::double::{self, Attempt, Double};
use crate::figures::{Figures, runs};
use crate::outcome::{self, Outcome};
use crate::server::{Outcome as Failure, Run, process_message};
use crate::view;

/// The private request.
const REQUEST: &[u8] = b"GET /home/alice/letters/resignation.html HTTP/1.1\r\n\
Host: intranet.example\r\nCookie: session=6f2c9a81\r\n\r\n";

/// How many literals are shown as text; `--json` has the whole condition.
const SHOWN: usize = 6;

/// Flags of `stunt demo`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Repeat a run; without it the randomness is fresh, as it should be for a real double
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the demo.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let mut pool = Pool::new();
    let original = Assignment::from_bytes(REQUEST);
    let mut execution = Run::new(&mut pool, &original);
    let failure = process_message(&mut execution);
    let path = execution.path;
    let Failure::Overflow { at } = failure else { bail!("the built-in request does not fail") };

    let (mut accounts, mut ledger) = (Accounts::default(), Ledger::new());
    for &test in &path {
        ledger.push(&pool, &mut accounts, test);
    }
    let bytes: Vec<InputByte> =
        (0..).map(|offset| InputByte::new(0, offset)).take(REQUEST.len()).collect();
    let figures = Figures::of(&pool, &mut accounts, &mut ledger, &bytes, 8 * bytes.len());
    let mut solver = Solver::new(Budget::default());
    let condition = ledger.condition();
    let drawn =
        double::draw(&pool, &mut accounts, &mut solver, condition, &path, &bytes, arguments.seed)?;
    let Attempt::Drawn(double) = drawn else { bail!("the built-in condition has no solution") };

    // The last word has the server itself.
    let again = process_message(&mut Run::new(&mut pool, &double.input));
    ensure!(
        again == failure,
        "the double fails differently. This is a mistake in stunt: please report it"
    );

    if arguments.json {
        let bytes = view::hex(double.input.source(0));
        let value = json!({
            "bytes": REQUEST.len(),
            "tests": path.len(),
            "condition": smtlib::print_script(&pool, &path, true),
            "leak": figures.leak_json(),
            "components": figures.components_json(),
            "per_byte": figures.per_byte_json(),
            "double": { "uniform": double.not_uniform.is_none(), "bytes": bytes },
            "checked": { "tests": true, "same_failure": true },
        });
        outcome::print(format!("{value:#}\n").as_bytes())?;
    } else {
        outcome::print(text(&pool, &path, &figures, &double, at).as_bytes())?;
    }
    Ok(Outcome::Done)
}

fn text(pool: &Pool, path: &[Term], figures: &Figures, double: &Double, at: u32) -> String {
    let double = double.input.source(0);
    let mut text = String::new();
    let mut say = |line: &str| {
        let _ = writeln!(text, "{line}");
    };
    let indented = |say: &mut dyn FnMut(&str), lines: &[String]| {
        say("");
        lines.iter().for_each(|line| say(format!("    {line}").trim_end()));
        say("");
    };
    say(
        "A web server copies the URL of a request into an array of 20 bytes, and fails on this one:",
    );
    indented(&mut say, &view::printable(REQUEST));
    say(&format!(
        "Say it is private. Until it failed, the server made {} tests on it. They are the path\n\
         condition, here as SMT-LIB 2:",
        path.len()
    ));
    let mut literals: Vec<String> = path
        .iter()
        .take(SHOWN)
        .map(|&test| format!("(assert {})", smtlib::print_term(pool, test)))
        .collect();
    literals.push(format!("; {} more like the last two", path.len() - SHOWN));
    indented(&mut say, &literals);
    say("A double, drawn uniformly at random from all requests that pass the same tests:");
    indented(&mut say, &view::printable(double));
    say(&format!("It reveals {}:", figures.sentence()));
    let components = figures.components(runs);
    indented(&mut say, &components.lines().map(str::to_string).collect::<Vec<_>>());
    say("Byte by byte:");
    indented(&mut say, &figures.graph().lines().map(str::to_string).collect::<Vec<_>>());
    say(&format!(
        "Checked: the double satisfies all {} tests, and the server fails on it as on the original:\n\
         at byte {at}, the 21st of the URL. {} of {} bytes are the same in both.",
        path.len(),
        REQUEST.iter().zip(double).filter(|(a, b)| a == b).count(),
        REQUEST.len()
    ));
    text
}
