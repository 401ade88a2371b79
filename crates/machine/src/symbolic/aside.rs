//! Functions of a program that are called aside, to learn what they answer.

use crate::{
    code::{Code, Compile, Model, slots},
    cpu::{self, Cpu, Exception, Stop},
    memory::AddressSpace,
};

/// Where a function that returns must not come back to.
const NOWHERE: u64 = 0xfff0;
/// More than a function that chooses an implementation takes.
const MOST_INSTRUCTIONS: u64 = 100_000;
/// More than a comparison of a few words takes.
const MOST_COMPARING: u64 = 2_000;

/// A copy of a process, in which functions are called: those that choose an implementation, which read
/// what the processor can do and change nothing but their stack; and any other, in a copy of their own.
pub(super) struct Aside {
    cpu: Cpu,
    space: AddressSpace,
    code: Code,
}

impl Aside {
    pub(super) fn new(cpu: &Cpu, space: &mut AddressSpace) -> Self {
        let mut space = space.fork();
        space.set_blind(true);
        Self { cpu: cpu.clone(), space, code: Code::new(Model::Baseline, Compile::Never) }
    }

    /// Asks a function that chooses an implementation which one it chooses, as the dynamic linker
    /// does.
    pub(super) fn resolve(&mut self, resolver: u64) -> Option<u64> {
        let mut cpu = self.cpu.clone();
        returns(&mut cpu, &mut self.space, &mut self.code, resolver, MOST_INSTRUCTIONS)
    }

    /// What a function answers to two texts and a number, if it returns and leaves the texts alone.
    pub(super) fn compare(&mut self, function: u64, a: &[u8], b: &[u8], count: u64) -> Option<i32> {
        let (mut cpu, mut space) = (self.cpu.clone(), self.space.fork());
        space.set_blind(true);
        let top = cpu.get(slots::RSP) & !0xf;
        let places = [top.wrapping_sub(0x800), top.wrapping_sub(0x400)];
        for (place, text) in places.into_iter().zip([a, b]) {
            space.write(place, text).ok()?;
        }
        for (slot, value) in
            [slots::RDI, slots::RSI, slots::RDX].into_iter().zip([places[0], places[1], count])
        {
            cpu.set(slot, value);
        }
        let answer = returns(&mut cpu, &mut space, &mut self.code, function, MOST_COMPARING)?;
        for (place, text) in places.into_iter().zip([a, b]) {
            let mut after = vec![0; text.len()];
            space.read(place, &mut after).ok().filter(|()| after == text)?;
        }
        Some(answer as i32)
    }
}

/// Calls a function; what it returns, if it does so soon.
fn returns(
    cpu: &mut Cpu,
    space: &mut AddressSpace,
    code: &mut Code,
    function: u64,
    instructions: u64,
) -> Option<u64> {
    let rsp = (cpu.get(slots::RSP) & !0xf).wrapping_sub(0x1008);
    space.write(rsp, &NOWHERE.to_le_bytes()).ok()?;
    cpu.set(slots::RSP, rsp);
    cpu.set(slots::RIP, function);
    match cpu::run(cpu, space, code, instructions) {
        Stop::Exception(Exception::Memory(fault)) if fault.address == NOWHERE => {
            Some(cpu.get(slots::RAX))
        }
        _ => None,
    }
}
