//! Programs that are followed instruction by instruction: at each one the walker must find exactly
//! the calls that were made and have not returned.
//!
//! What was called is known from the instructions alone: a call pushes an address, a return takes
//! one away. This visits what no crash does: prologues and epilogues, the linkage table, the
//! dynamic linker that binds a function at its first call.

use std::path::Path;

use stunt_unwind::stack::{End, Limits, Module, Symbols, Trust, WalkedFrame};

use crate::native::{Stopped, compile, symbols};

/// What an instruction does to the list of calls.
enum Effect {
    Calls,
    Returns,
    Nothing,
}

/// The kind of instruction at an address, by its bytes.
fn effect(program: &Stopped, address: u64) -> Effect {
    let mut code = [0; 15];
    assert!((1..=15).rev().any(|count| program.read(address, &mut code[..count])));
    let mut decoder =
        iced_x86::Decoder::with_ip(64, &code, address, iced_x86::DecoderOptions::NONE);
    let instruction = decoder.decode();
    match instruction.flow_control() {
        iced_x86::FlowControl::Call | iced_x86::FlowControl::IndirectCall
            if instruction.mnemonic() == iced_x86::Mnemonic::Call =>
        {
            Effect::Calls
        }
        iced_x86::FlowControl::Return => Effect::Returns,
        _ => Effect::Nothing,
    }
}

fn word(program: &Stopped, address: u64) -> u64 {
    let mut bytes = [0; 8];
    assert!(program.read(address, &mut bytes));
    u64::from_le_bytes(bytes)
}

fn is_static(modules: &[Module]) -> bool {
    modules.len() == 1
}

/// Walks one stack; gives the addresses behind the first, why it ended, and whether it was sure.
fn walked(program: &Stopped, symbols: &Symbols, modules: &[Module]) -> (Vec<u64>, End, bool) {
    let walk = symbols.walk(&mut &*program, modules, Limits::default());
    // The linkage table of a static program has no call frame information: there the return
    // address on top of the stack is the way.
    let sure = |(index, step): (usize, &WalkedFrame)| {
        step.trust <= Trust::Cfi || index == 1 && step.trust == Trust::Scan && is_static(modules)
    };
    let sure = walk.frames.iter().enumerate().all(sure);
    (walk.frames.iter().skip(1).map(|step| step.address).collect(), walk.end, sure)
}

/// Follows a program from the start of `main` to its end.
fn follow(path: &Path) -> usize {
    let program = Stopped::start(path);
    let symbols = symbols();
    let modules = program.modules();
    let named = |modules: &[Module]| {
        let limits = Limits { innermost: 1, outermost: 0, total: 1 };
        let walk = symbols.walk(&mut &program, modules, limits);
        symbols.name(&walk, modules).frames[0].symbol.clone()
    };
    // `main` begins in the program itself, long after the dynamic linker began elsewhere.
    let own = modules.iter().find(|module| Path::new(&*module.path) == path).expect("itself");
    let own = own.executable.clone();
    loop {
        program.step();
        let address = program.raw_registers().rip;
        if own.iter().any(|range| range.contains(&address))
            && named(&modules).is_some_and(|symbol| symbol.name == "main" && symbol.offset == 0)
        {
            break;
        }
    }
    let modules = program.modules();
    let (mut calls, ..) = walked(&program, &symbols, &modules);
    calls.reverse();
    let depth = calls.len();
    let mut steps = 0;
    while calls.len() >= depth {
        let (found, end, sure) = walked(&program, &symbols, &modules);
        let expected: Vec<u64> = calls.iter().rev().copied().collect();
        if found != expected || end != End::Outermost || !sure {
            let stack = program.call_stack(&symbols);
            let limits = format!("{} calls, {} found", expected.len(), found.len());
            panic!("after {steps} steps: {limits}\n{stack}");
        }
        let before = program.raw_registers();
        let effect = effect(&program, before.rip);
        program.step();
        let after = program.raw_registers();
        match effect {
            Effect::Calls => calls.push(word(&program, after.rsp)),
            // The dynamic linker enters what it has bound by a return, too: to an address that was
            // never called from.
            Effect::Returns if calls.last() == Some(&after.rip) => {
                calls.pop();
            }
            Effect::Returns | Effect::Nothing => {}
        }
        steps += 1;
    }
    steps
}

#[test]
fn every_instruction_of_a_dynamic_program_bound_lazily() {
    let steps = follow(&compile("steps.c", "lazy", &["-O2", "-Wl,-z,lazy"]));
    assert!(steps > 2_000, "{steps}");
}

#[test]
fn every_instruction_without_optimisation() {
    let steps = follow(&compile("steps.c", "plain", &["-O0", "-Wl,-z,lazy"]));
    assert!(steps > 2_000, "{steps}");
}

#[test]
fn every_instruction_of_a_static_program() {
    let steps = follow(&compile("steps.c", "static", &["-O2", "-static"]));
    assert!(steps > 2_000, "{steps}");
}
