//! A run in the machine on a double, from test to test: where the program looks at its input, and
//! which bytes it looks at.
//!
//! Bytes that are shown are those of the double, which may be shown to anybody.

use std::fmt::Write as _;
use std::io::{self, BufRead, Write as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use stunt_machine::symbolic::Relaxations;
use stunt_machine::{Following, Judge, Machine, Options};
use stunt_path::{Execution, Original, Run, Stop, Test, TestKind};
use stunt_report::Source;
use stunt_subject::{Error, Stopped, Subject};
use stunt_terms::{Pool, Support};
use stunt_unwind::stack::{CallStack, Frame, Symbols};

/// The most bytes of a run that are shown.
const SHOWN: usize = 32;

/// How fast to walk.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// Wait for Enter before each test.
    pub step: bool,
    /// Wait so long before each test.
    pub delay: Option<Duration>,
    /// Show nothing before this function is entered.
    pub until: Option<String>,
}

/// What the user wants next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    Next,
    RunOn,
    End,
}

/// Walks to the end; the result is the run, or nothing if the user has seen enough.
pub fn walk(
    subject: &Subject,
    doubles: &[Vec<u8>],
    pace: &Pace,
    check_memory: bool,
) -> Result<Result<Option<Run>, Error>> {
    let begun = Instant::now();
    let seen: Arc<Mutex<Option<Run>>> = Arc::default();
    let judge = {
        let seen = Arc::clone(&seen);
        move |run: Run| {
            let run = Run { duration: begun.elapsed(), ..run };
            let failure = run.failure.clone();
            *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(run);
            failure
        }
    };
    let mut pool = Pool::new();
    let judge: Option<Box<Judge>> = Some(Box::new(judge));
    let mut at = start(subject, doubles, check_memory, judge, &mut pool)?;
    let mut shows = pace.until.is_none();
    let mut silent = false;
    let mut number = 0_u64;
    while let Stop::Test(junction) = at.stop() {
        let test = junction.test;
        number += 1;
        if !silent {
            let stack = at.call_stack();
            shows = shows || pace.until.as_ref().is_some_and(|it| is_inside(stack.as_ref(), it));
            if shows {
                say(number, &test, stack.as_ref(), pool.support(test.condition), subject, doubles)?;
                match wait(pace)? {
                    Wish::Next => {}
                    Wish::RunOn => silent = true,
                    Wish::End => return Ok(Ok(None)),
                }
            }
        }
        at.advance(&mut pool);
    }
    if let Some(function) = pace.until.as_ref().filter(|_| !shows) {
        eprintln!("stunt: no test of the input is made in {function} or in what it calls");
    }
    if let Stop::Lost(why) = at.stop() {
        return Ok(Err(Stopped::Limit(format!("in the machine, {why}")).into()));
    }
    let run = seen.lock().unwrap_or_else(PoisonError::into_inner).take();
    Ok(Ok(Some(run.context("the run did not end")?)))
}

/// A run on a double, before its first test.
pub fn start(
    subject: &Subject,
    doubles: &[Vec<u8>],
    check_memory: bool,
    judge: Option<Box<Judge>>,
    pool: &mut Pool,
) -> Result<Following> {
    let (setup, inputs) = subject.in_machine_on_bytes(doubles)?;
    let machine = Machine::new(setup)
        .map_err(|errno| anyhow!("the program cannot be started: {}", errno.text()))?;
    let options = Options { relax: Relaxations::NONE, check_memory, judge, ..Options::default() };
    let mut input = Original::new();
    for bytes in doubles {
        input.push(bytes.clone(), Vec::new());
    }
    let symbols = Arc::new(Symbols::of_host());
    Following::start(machine, &inputs, &input.assignment(), symbols, options, pool)
        .map_err(|errno| anyhow!("the input cannot be followed: {}", errno.text()))
}

/// Whether a function of this name is on the stack: by its whole name, or by the last part of it.
fn is_inside(stack: Option<&CallStack>, function: &str) -> bool {
    let named = |frame: &Frame| {
        frame.symbol.as_ref().is_some_and(|symbol| {
            let rest = symbol.name.strip_suffix(function);
            rest.is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
        })
    };
    stack.is_some_and(|stack| stack.frames.iter().any(named))
}

/// What kind of test it is, in a word.
pub fn kind_of(test: &Test) -> &'static str {
    match test.kind {
        TestKind::Branch => "branch",
        TestKind::Jump => "jump",
        TestKind::Bounds => "bounds",
        TestKind::Choice => "choice",
        TestKind::Position => "position",
        TestKind::Division => "division",
        TestKind::Fault => "fault",
        TestKind::Summary => "comparison",
        TestKind::Pin(_) => "value",
    }
}

/// Shows a test: `12  parse (main.c:47)  branch  socket 0: 0-3 "GET "`.
fn say(
    number: u64,
    test: &Test,
    stack: Option<&CallStack>,
    support: &Support,
    subject: &Subject,
    doubles: &[Vec<u8>],
) -> Result<()> {
    let kind = kind_of(test);
    let mut line = format!("{number}  {}  {kind}", place(test.address, stack));
    let bytes: Vec<_> = support.iter().collect();
    for run in bytes.chunk_by(|a, b| a.source == b.source && a.offset + 1 == b.offset) {
        let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
        let source = &subject.sources[usize::from(first.source)];
        let double = &doubles[usize::from(first.source)];
        let shown = double.get(first.offset as usize..=last.offset as usize).unwrap_or_default();
        let _ = write!(line, "  {}", looked_at(source, first.offset, last.offset, shown));
    }
    writeln!(io::stdout().lock(), "{line}").or_else(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Ok(()),
        _ => Err(error),
    })?;
    Ok(())
}

/// Bytes of a double that were looked at.
pub fn looked_at(source: &Source, first: u32, last: u32, bytes: &[u8]) -> String {
    let range = if first == last { first.to_string() } else { format!("{first}-{last}") };
    let rest = if bytes.len() > SHOWN { "…" } else { "" };
    let shown = bytes[..bytes.len().min(SHOWN)].escape_ascii();
    format!("{}: {range} \"{shown}\"{rest}", source.name)
}

/// The innermost function whose source line is known, else the address.
pub fn place(address: u64, stack: Option<&CallStack>) -> String {
    let frames = stack.map_or(&[][..], |stack| &stack.frames);
    let own = frames.iter().find(|frame| frame.symbol.is_some() && frame.location.is_some());
    let inner = frames.first().and_then(|frame| frame.symbol.as_ref());
    let mut text = match inner {
        Some(symbol) => symbol.name.clone(),
        None => format!("{address:#x}"),
    };
    if let Some(Frame { symbol: Some(symbol), location: Some(location), .. }) = own {
        let file = location.file.rsplit('/').next().unwrap_or_default();
        if inner.is_some_and(|inner| inner.name != symbol.name) {
            let _ = write!(text, " from {}", symbol.name);
        }
        let _ = write!(text, " ({file}:{})", location.line);
    }
    text
}

fn wait(pace: &Pace) -> Result<Wish> {
    if let Some(delay) = pace.delay {
        std::thread::sleep(delay);
    }
    if !pace.step {
        return Ok(Wish::Next);
    }
    eprint!("[Enter: next, c: run on, q: end] ");
    io::stderr().flush()?;
    let mut line = String::new();
    if io::stdin().lock().read_line(&mut line).context("cannot read what to do next")? == 0 {
        // Nobody is there to wait for.
        return Ok(Wish::RunOn);
    }
    Ok(match line.trim() {
        "c" => Wish::RunOn,
        "q" => Wish::End,
        _ => Wish::Next,
    })
}
