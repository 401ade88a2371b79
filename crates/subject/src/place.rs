//! Places of code, as messages name them: the function, and the file with the offset in it, which are
//! the same in every run.

use stunt_machine::Machine;
use stunt_machine::linux::syscall_name;
use stunt_unwind::stack::{Frame, Symbols};

/// A system call that the machine does not have.
#[derive(Clone, Debug)]
pub struct MissingCall {
    /// Its name.
    pub name: String,
    /// How often it was tried.
    pub count: u64,
    /// Where it was tried first.
    pub place: String,
}

/// What the C library tries at every start, and does without.
const OPTIONAL: &str = "rseq";

/// `check+0x1c, parser+0x11a9`; the address, where no file is known.
pub fn in_words(frame: &Frame) -> String {
    let Some(module) = &frame.module else { return format!("{:#x}", frame.address) };
    let within = format!("{}+{:#x}", module.name, module.offset);
    match &frame.symbol {
        Some(symbol) => format!("{}+{:#x}, {within}", symbol.name, symbol.offset),
        None => within,
    }
}

/// The place of an instruction that the machine does not have.
pub fn of_instruction(machine: &mut Machine, address: u64) -> String {
    let frame = machine.frame_at(address, &Symbols::of_host());
    frame.map_or_else(|| format!("{address:#x}"), |frame| in_words(&frame))
}

/// The system calls that a run asked for in vain.
pub fn missing_calls(machine: &mut Machine) -> Vec<MissingCall> {
    missing(machine, |_| true)
}

/// Those of them that may matter.
pub fn needed_calls(machine: &mut Machine) -> Vec<MissingCall> {
    missing(machine, |name| name != OPTIONAL)
}

fn missing(machine: &mut Machine, wanted: impl Fn(&str) -> bool) -> Vec<MissingCall> {
    let named = |number| syscall_name(number).map_or_else(|| number.to_string(), str::to_owned);
    let calls = machine.kernel().missing_calls().iter();
    let calls: Vec<(u64, String, u64)> = calls
        .map(|(&number, missing)| (number, named(number), missing.count))
        .filter(|(_, name, _)| wanted(name))
        .collect();
    let symbols = Symbols::of_host();
    let call = |(number, name, count)| {
        let frame = machine.missing_call_at(number, &symbols);
        let place = frame.map_or_else(|| "an unknown place".to_owned(), |frame| in_words(&frame));
        MissingCall { name, count, place }
    };
    calls.into_iter().map(call).collect()
}
