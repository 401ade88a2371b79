//! `stunt measure`: how much a condition reveals, and a random solution of it.
//!
//! The condition is SMT-LIB 2 text of logic QF_BV. Input bytes are constants called `in0@12`
//! (source 0, offset 12). If all constants are bytes of one source, a double is that source's
//! bytes as they are; otherwise it is a list of definitions, also in SMT-LIB 2.

use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};
use stunt_leakage::{Accounts, Ledger};
use stunt_solver::{Answer, Budget, Solver};
use stunt_terms::smtlib::{self, Symbol};
use stunt_terms::{Assignment, Evaluator, InputByte, Pool, Sort, Term};

use crate::double::{self, Attempt, Double};
use crate::figures::{Figures, runs};
use crate::outcome::{self, Outcome};
use crate::view;

/// A double with a byte beyond this offset is not written as plain bytes.
const LAST_OFFSET: u32 = 1 << 24;

/// Flags of `stunt measure`.
#[derive(clap::Args)]
pub struct Arguments {
    /// A file of SMT-LIB 2 text (logic QF_BV), or - for standard input
    condition: PathBuf,
    /// Draw a double, a uniform random solution, and write it to standard output; the figures then
    /// go to standard error
    #[arg(long)]
    double: bool,
    /// Write the double to this file instead
    #[arg(short, long, value_name = "FILE", requires = "double")]
    output: Option<PathBuf>,
    /// Repeat a draw; without it the randomness is fresh, as it should be for a real double
    #[arg(long, value_name = "N", requires = "double")]
    seed: Option<u64>,
    /// Print JSON; it includes the double
    #[arg(long)]
    json: bool,
}

/// What the constants of a script are.
enum Input {
    /// Bytes of one source, written as they are.
    Bytes { source: u16, length: u32 },
    /// Anything else.
    Constants(Vec<Symbol>),
}

impl Input {
    fn of(symbols: Vec<Symbol>) -> Input {
        let source = symbols.first().map_or(0, |symbol| symbol.bytes[0].source);
        let plain = |symbol: &Symbol| {
            let byte = symbol.bytes[0];
            symbol.name == byte.to_string() && byte.source == source && byte.offset <= LAST_OFFSET
        };
        if symbols.iter().all(plain) {
            let length = symbols.iter().map(|symbol| symbol.bytes[0].offset + 1).max().unwrap_or(0);
            Input::Bytes { source, length }
        } else {
            Input::Constants(symbols)
        }
    }

    fn bytes(&self) -> Vec<InputByte> {
        match self {
            Input::Bytes { source, length } => {
                (0..*length).map(|offset| InputByte::new(*source, offset)).collect()
            }
            Input::Constants(symbols) => {
                symbols.iter().flat_map(|symbol| symbol.bytes.iter().copied()).collect()
            }
        }
    }

    /// How many bits the constants have together.
    fn bits(&self) -> usize {
        match self {
            Input::Bytes { length, .. } => 8 * *length as usize,
            Input::Constants(symbols) => {
                symbols.iter().map(|symbol| usize::from(symbol.sort.bits())).sum()
            }
        }
    }

    /// Bytes by the names that the script has for them.
    fn name(&self, bytes: &[InputByte]) -> String {
        match self {
            Input::Bytes { .. } => runs(bytes),
            Input::Constants(symbols) => {
                let within =
                    |symbol: &&Symbol| symbol.bytes.iter().any(|byte| bytes.contains(byte));
                symbols
                    .iter()
                    .filter(within)
                    .map(|s| s.name.as_str())
                    .collect::<Vec<_>>()
                    .join(", ")
            }
        }
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let mut pool = Pool::new();
    let text = read(&arguments.condition)?;
    let script = smtlib::parse_script(&mut pool, &text)
        .with_context(|| format!("{} is not a condition", arguments.condition.display()))?;
    let literals = script.assertions();
    let input = Input::of(script.symbols);
    let bytes = input.bytes();

    let (mut accounts, mut ledger) = (Accounts::default(), Ledger::new());
    for &literal in &literals {
        ledger.push(&pool, &mut accounts, literal);
    }
    // The solver first: a bound is one only for a condition that can be satisfied.
    let mut solver = Solver::new(Budget::default());
    let answer = solver.model(&pool, ledger.condition());
    if answer == Answer::Unsat {
        return unsatisfiable(arguments);
    }
    let figures = Figures::of(&pool, &mut accounts, &mut ledger, &bytes, input.bits());
    if let Answer::Unknown(why) = answer {
        // An exact count decides it, too.
        if !figures.total.is_exact() {
            return undecided(arguments, &why.to_string());
        } else if figures.total.value().is_infinite() {
            return unsatisfiable(arguments);
        }
    }
    let double = if arguments.double {
        let condition = ledger.condition();
        match double::draw(
            &pool,
            &mut accounts,
            &mut solver,
            condition,
            &literals,
            &bytes,
            arguments.seed,
        )? {
            Attempt::Drawn(double) => Some(double),
            Attempt::Unsatisfiable => return unsatisfiable(arguments),
            Attempt::Undecided(why) => return undecided(arguments, &why.to_string()),
        }
    } else {
        None
    };
    present(arguments, &pool, &input, &figures, double.as_ref())?;
    Ok(Outcome::Done)
}

fn read(path: &Path) -> Result<String> {
    let mut text = String::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    } else {
        text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    }
    Ok(text)
}

fn unsatisfiable(arguments: &Arguments) -> Result<Outcome> {
    if arguments.json {
        outcome::print(format!("{:#}\n", json!({ "satisfiable": false })).as_bytes())?;
    } else {
        outcome::print(
            b"unsatisfiable: no input satisfies this condition, so no run has left it\n",
        )?;
    }
    Ok(Outcome::Unsatisfiable)
}

fn undecided(arguments: &Arguments, why: &str) -> Result<Outcome> {
    if arguments.json {
        let value = json!({ "satisfiable": null, "why": why });
        outcome::print(format!("{value:#}\n").as_bytes())?;
    } else {
        outcome::print(format!("undecided: {why}\n").as_bytes())?;
    }
    Ok(Outcome::Undecided)
}

/// Prints the figures and writes the double, each to its place.
fn present(
    arguments: &Arguments,
    pool: &Pool,
    input: &Input,
    figures: &Figures,
    double: Option<&Double>,
) -> Result<()> {
    if let Some(reason) = double.and_then(|double| double.not_uniform) {
        eprintln!(
            "stunt: the double is not a uniform draw: {reason}. The figures are about the \
             condition; this double may reveal more."
        );
    }
    if let (Some(double), Some(file)) = (double, &arguments.output) {
        fs::write(file, written(pool, input, double))
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    if arguments.json {
        let mut value = json!({
            "satisfiable": true,
            "leak": figures.leak_json(),
            "components": figures.components_json(),
            "per_byte": figures.per_byte_json(),
        });
        if let Some(double) = double {
            value["double"] = double_json(pool, input, double);
        }
        return outcome::print(format!("{value:#}\n").as_bytes());
    }
    let text = text(input, figures);
    match double {
        Some(double) if arguments.output.is_none() => {
            eprint!("{text}");
            outcome::print(&written(pool, input, double))
        }
        _ => outcome::print(text.as_bytes()),
    }
}

fn text(input: &Input, figures: &Figures) -> String {
    let mut text = format!("satisfiable\nreveals {}\n\n", figures.sentence());
    text += &figures.components(|bytes| input.name(bytes));
    text += "\nwhat each byte reveals by itself:\n";
    if let Input::Constants(symbols) = input {
        for symbol in symbols {
            let _ = writeln!(text, "{} is {}", symbol.name, runs(&symbol.bytes));
        }
    }
    text + &figures.graph()
}

/// The double as it is handed over.
fn written(pool: &Pool, input: &Input, double: &Double) -> Vec<u8> {
    match input {
        Input::Bytes { source, .. } => double.input.source(*source).to_vec(),
        Input::Constants(symbols) => {
            let mut text = String::new();
            for symbol in symbols {
                let (name, sort) = (quoted(&symbol.name), sort_text(symbol.sort));
                let value = value_text(pool, symbol.sort, symbol.term, &double.input);
                let _ = writeln!(text, "(define-fun {name} () {sort} {value})");
            }
            text.into_bytes()
        }
    }
}

fn double_json(pool: &Pool, input: &Input, double: &Double) -> Value {
    let uniform = double.not_uniform.is_none();
    match input {
        Input::Bytes { source, .. } => {
            json!({ "uniform": uniform, "bytes": view::hex(double.input.source(*source)) })
        }
        Input::Constants(symbols) => {
            let constant = |symbol: &Symbol| {
                let value = value_text(pool, symbol.sort, symbol.term, &double.input);
                (symbol.name.clone(), Value::String(value))
            };
            let constants: Map<String, Value> = symbols.iter().map(constant).collect();
            json!({ "uniform": uniform, "constants": constants })
        }
    }
}

fn sort_text(sort: Sort) -> String {
    match sort {
        Sort::Bool => "Bool".to_string(),
        Sort::Bits(width) => format!("(_ BitVec {width})"),
    }
}

/// The value of a constant under the double, as SMT-LIB writes it.
fn value_text(pool: &Pool, sort: Sort, term: Term, double: &Assignment) -> String {
    let value = Evaluator::new().eval(pool, term, double);
    match sort {
        Sort::Bool => (value == 1).to_string(),
        Sort::Bits(width) if width % 4 == 0 => {
            format!("#x{value:0digits$x}", digits = usize::from(width / 4))
        }
        Sort::Bits(width) => format!("#b{value:0digits$b}", digits = usize::from(width)),
    }
}

/// A name as SMT-LIB writes it: in bars unless it is made of plain characters.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "~!@$%^&*_-+=<>.?/".contains(c);
    if name.chars().all(plain)
        && !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
    {
        name.to_string()
    } else {
        format!("|{name}|")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_and_names_are_smt_lib() {
        let mut pool = Pool::new();
        let mut text = |sort, value| {
            let term = pool.constant_of(sort, value);
            value_text(&pool, sort, term, &Assignment::new())
        };
        assert_eq!(text(Sort::Bits(8), 10), "#x0a");
        assert_eq!(text(Sort::Bits(3), 2), "#b010");
        assert_eq!(text(Sort::Bool, 1), "true");
        assert_eq!(quoted("in0@1"), "in0@1");
        assert_eq!(quoted("a b"), "|a b|");
        assert_eq!(quoted("1a"), "|1a|");
    }
}
