//! Code run both ways, interpreted and compiled, from one state: what a program can see afterwards
//! must be the same. The fuzz target for the decoder is this, too.
//!
//! The first ten bytes of an input choose the processor, the protection of the page of code and the
//! registers; the rest is code, in the middle of a page or at its end, so that decoding meets the end
//! of what is mapped. A run ends at a limit, an exception or a system call.

use std::sync::Arc;

use stunt_machine::{
    code::{Code, Compile, Model, Slot, slots},
    cpu::{Cpu, Stop, run},
    memory::{AddressSpace, Backing, Protection, Region},
};

const CODE: u64 = 0x1000_0000;
const DATA: u64 = 0x1010_0000;
const CONSTANT: u64 = 0x1020_0000;
const PAGE: u64 = 0x1000;
const MOST_CODE: usize = 256;
/// A block may run over it, by as much as a block is long.
const QUANTUM: u64 = 400;
/// What a register holds at first.
const VALUES: [u64; 16] = [
    DATA,
    DATA + 8,
    DATA + PAGE - 4,
    DATA + 2 * PAGE - 7,
    DATA + 2 * PAGE,
    CONSTANT + 16,
    CODE + PAGE - 64,
    0,
    1,
    u64::MAX,
    0x80,
    0x7fff_ffff,
    1 << 31,
    1 << 47,
    1 << 63,
    0x3ff0_0000_0000_0000,
];

/// Everything that a program can see afterwards.
struct Seen {
    stop: Stop,
    executed: u64,
    general: Vec<u64>,
    rip: u64,
    flags: u64,
    vector: [u8; 512],
    memory: Vec<u8>,
}

fn region(start: u64, pages: u64, protection: Protection) -> Region {
    let backing = Backing::Anonymous;
    Region {
        start,
        end: start + pages * PAGE,
        protection,
        shared: false,
        backing,
        name: Arc::from(""),
    }
}

fn run_with(head: &[u8], code: &[u8], compile: Compile) -> Seen {
    let mut space = AddressSpace::new(1 << 24);
    let write = Protection::READ | Protection::WRITE;
    space.map(region(CODE, 1, write));
    space.map(region(DATA, 2, write));
    space.map(region(CONSTANT, 1, write));
    let pattern: Vec<u8> = (0..2 * PAGE).map(|at| (at * 7 + (at >> 8) * 31) as u8).collect();
    space.write(DATA, &pattern).expect("mapped");
    space.write(CONSTANT, &pattern[..PAGE as usize]).expect("mapped");
    assert!(space.protect(CONSTANT, CONSTANT + PAGE, Protection::READ));
    // Code that ends with the page, or a page that ends in breakpoints.
    let (model, writable, at_end) = (head[0] & 1, head[0] & 2 != 0, head[0] & 4 != 0);
    let start = if at_end { CODE + PAGE - code.len() as u64 } else { CODE + PAGE / 2 };
    space.write(CODE, &[0xcc; PAGE as usize]).expect("mapped");
    space.write(start, code).expect("mapped");
    let execute = Protection::READ | Protection::EXECUTE;
    let protection = if writable { execute | Protection::WRITE } else { execute };
    assert!(space.protect(CODE, CODE + PAGE, protection));

    let mut cpu = Cpu::default();
    for n in 0..16 {
        let nibble = head[1 + n / 2] >> (4 * (n % 2)) & 15;
        cpu.set(slots::RAX + n as Slot, VALUES[usize::from(nibble)]);
    }
    cpu.set(slots::RIP, start);
    cpu.set_rflags(u64::from(head[9]) << 4 & 0x8d5 | 2);
    let model = if model == 0 { Model::Baseline } else { Model::Full };
    let mut cache = Code::new(model, compile);
    let stop = run(&mut cpu, &mut space, &mut cache, QUANTUM);
    let mut memory = vec![0; 2 * PAGE as usize];
    space.read(DATA, &mut memory).expect("mapped");
    let mut own = vec![0; PAGE as usize];
    space.read(CODE, &mut own).expect("mapped");
    memory.extend(own);
    assert_eq!(cpu.get(slots::ZERO), 0, "the zero slot was written");
    Seen {
        stop,
        executed: cpu.executed(),
        general: (0..16).map(|n| cpu.get(slots::RAX + n)).collect(),
        rip: cpu.rip(),
        flags: cpu.rflags(),
        vector: cpu.vector_state(),
        memory,
    }
}

/// Runs an input both ways; anything that differs is a panic.
pub fn agree(data: &[u8]) {
    let Some((head, code)) = data.split_at_checked(10) else { return };
    let code = &code[..code.len().min(MOST_CODE)];
    if code.is_empty() {
        return;
    }
    let interpreted = run_with(head, code, Compile::Never);
    let compiled = run_with(head, code, Compile::AtOnce);
    // A limit may be met a block earlier or later.
    if interpreted.stop == Stop::Quantum && interpreted.executed != compiled.executed {
        return;
    }
    assert_eq!(interpreted.stop, compiled.stop, "stop");
    assert_eq!(interpreted.executed, compiled.executed, "executed");
    assert_eq!(interpreted.rip, compiled.rip, "rip");
    assert_eq!(interpreted.general, compiled.general, "general registers");
    assert!(interpreted.vector == compiled.vector, "vector and x87 registers");
    assert!(interpreted.memory == compiled.memory, "memory");
    // Flags that nobody reads may be old; a system call hands them to the kernel.
    if interpreted.stop == Stop::Syscall {
        assert_eq!(interpreted.flags, compiled.flags, "flags");
    }
}
