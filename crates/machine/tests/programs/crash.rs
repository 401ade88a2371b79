//! Where a run dies that a signal ends: the same calls on the host and in the machine.
//!
//! Compared are the frames' modules and the offsets in them, which say more than names and lines.
//! Frames of the C library are left out: on the host it chooses its string functions by the
//! processor, in the machine it finds a baseline.

use std::fs::File;
use std::process::{Command, Stdio};

use stunt_unwind::stack::{CallStack, Kind};

use crate::machine;
use crate::place::{self, Place};
use crate::stopped::{self, Stopped};
use crate::table::{self, Ending, Run};

/// Modules whose code differs between the host and the machine.
const CHOOSY: [&str; 3] = ["libc.so.6", "ld-linux-x86-64.so.2", "libm.so.6"];

/// Whether a signal ends the run's own program, in its first thread, where it can be stopped on the
/// host: nothing stops at `SIGKILL`, and the other threads are not followed.
pub fn is_one(run: &Run) -> bool {
    let table::Command::Words(words) = &run.command else { return false };
    let in_thread = words.iter().any(|word| word == "thread");
    let killed = Ending::Signal(libc::SIGKILL as u8);
    matches!(run.ends, Ending::Signal(_)) && run.ends != killed && !in_thread
}

/// Dies on both sides, and compares where.
pub fn compare(run: &Run) -> Result<(), String> {
    let place = place::prepare(run, "crash")?;
    let symbols = stopped::symbols();
    let in_machine = machine::call_stack(&place, &symbols)?;
    let native = Stopped::at_death_of(command(&place)?).call_stack(&symbols);
    let (expected, found) = (frames(&native), frames(&in_machine));
    if expected.is_empty() {
        return Err(format!("no frames natively:\n{native}"));
    }
    if expected == found {
        return Ok(());
    }
    Err(format!("natively:\n{native}\nin the machine:\n{in_machine}"))
}

fn command(place: &Place) -> Result<Command, String> {
    let say = |error: std::io::Error| format!("{}: {error}", place.folder.display());
    let stdin = match &place.stdin {
        Some(path) => Stdio::from(File::open(path).map_err(say)?),
        None => Stdio::null(),
    };
    let mut command = Command::new(&place.program);
    command
        .args(&place.words[1..])
        .env_clear()
        .envs(place.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(&place.folder)
        .stdin(stdin)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Ok(command)
}

/// A place that comes so often is in a recursion that has used up the stack.
const ROUNDS: usize = 100;

/// The frames that must be the same: which module, and where in it.
fn frames(stack: &CallStack) -> Vec<(String, u64)> {
    let calls = stack.frames.iter().filter(|frame| frame.kind == Kind::Call);
    let places = calls.filter_map(|frame| frame.module.as_ref());
    let places: Vec<(String, u64)> = places
        .filter(|module| !CHOOSY.contains(&&*module.name))
        .map(|module| (module.name.to_string(), module.offset))
        .collect();
    let many = |place: &(String, u64)| places.iter().filter(|it| *it == place).count() > ROUNDS;
    let (Some(first), Some(last)) = (places.iter().position(many), places.iter().rposition(many))
    else {
        return places;
    };
    // Where a stack ends is chance: in which round, and at which instruction of the function.
    let mut round = places[first..=last].to_vec();
    round.sort();
    round.dedup();
    [&places[..first.saturating_sub(1)], &round, &places[last + 1..]].concat()
}
