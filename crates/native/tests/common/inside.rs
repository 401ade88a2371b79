//! The same run in the machine, without an input to follow.

use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

use stunt_machine::Machine;
use stunt_machine::linux::fs::{Allow, Config};
use stunt_machine::linux::{Limits, Setup};
use stunt_machine::symbolic::{Relaxations, Symbolic};
use stunt_native::Command;
use stunt_path::Failure;
use stunt_unwind::stack::Symbols;

/// A store that reads files of the host.
pub fn symbols() -> Symbols {
    Symbols::new(Box::new(|path| std::fs::read(path).ok().map(Arc::from)))
}

/// How a program fails in the machine.
pub fn in_machine(command: &Command, symbols: &Symbols) -> Option<Failure> {
    let program = command.program.as_os_str().as_bytes().to_vec();
    let mut arguments = vec![program.clone()];
    arguments.extend(command.arguments.iter().map(|word| word.as_bytes().to_vec()));
    let environment = command
        .environment
        .iter()
        .map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes()].concat());
    let environment = environment.collect();
    let mut files = Config { allow: Allow::Everything, ..Config::default() };
    if let Some(folder) = &command.folder {
        files.cwd = folder.as_os_str().as_bytes().to_vec();
    }
    let setup = Setup { files, program, arguments, environment, memory: 2 << 30 };
    let mut machine = Machine::new(setup).expect("it starts");
    machine.follow(&[], Symbolic::new(Relaxations::ALL)).expect("nothing to follow");
    let ending = machine.run(Limits { instructions: 1_000_000_000 });
    machine.failure(ending, symbols)
}
