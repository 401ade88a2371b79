//! One instruction in the machine, with all registers set before and read after it.
//!
//! The same shape as the host's side: the same addresses, the same answers. Ends of the machine
//! are translated to the signals that Linux would send.

use std::sync::Arc;

use stunt_machine::{
    code::{Code, Compile, Model, Slot, Trap, slots},
    cpu::{Cpu, Exception, Stop, run},
    memory::{AddressSpace, Backing, Protection, Reason, Region},
};

use crate::{
    place::{CODE, CONSTANT, CONSTANT_END, DATA, DATA_END, GS, START},
    state::{Event, State},
};

/// A processor, its memory and its decoded code.
pub struct Machine {
    cpu: Cpu,
    space: AddressSpace,
    code: Code,
    model: Model,
    /// How the next code is run. It alternates: both ways are compared all the time.
    compile: Compile,
    data: Vec<u8>,
}

fn region(start: u64, end: u64, protection: Protection) -> Region {
    let backing = Backing::Anonymous;
    Region { start, end, protection, shared: false, backing, name: Arc::from("") }
}

impl Machine {
    /// With the same pages as the host.
    pub fn new(model: Model) -> Self {
        let write = Protection::READ | Protection::WRITE;
        let mut space = AddressSpace::new(1 << 24);
        space.map(region(CODE, CODE + 0x1000, write | Protection::EXECUTE));
        space.map(region(DATA, DATA_END, write));
        space.map(region(CONSTANT, CONSTANT_END, write));
        let data = vec![0; (DATA_END - DATA) as usize];
        let compile = Compile::Never;
        let code = Code::new(model, compile);
        Self { cpu: Cpu::default(), space, code, model, compile, data }
    }

    /// Sets the content of the page that can only be read.
    pub fn set_constant(&mut self, bytes: &[u8]) {
        let write = Protection::READ | Protection::WRITE;
        assert!(self.space.protect(CONSTANT, CONSTANT_END, write));
        self.space.write(CONSTANT, &bytes[..0x1000]).unwrap();
        assert!(self.space.protect(CONSTANT, CONSTANT_END, Protection::READ));
    }

    /// Puts an instruction into the page of code, and breakpoints everywhere else.
    pub fn set_code(&mut self, instruction: &[u8]) {
        let mut page = [0xcc; 0x1000];
        let at = (START - CODE) as usize;
        page[at..at + instruction.len()].copy_from_slice(instruction);
        self.space.write(CODE, &page).unwrap();
        self.code = Code::new(self.model, self.compile);
        self.compile = match self.compile {
            Compile::Never => Compile::AtOnce,
            Compile::AtOnce | Compile::WhenHot => Compile::Never,
        };
    }

    /// Writes data.
    pub fn write(&mut self, address: u64, bytes: &[u8]) {
        self.space.write(address, bytes).unwrap();
    }

    /// All of the data.
    pub fn data(&mut self) -> &[u8] {
        self.space.read(DATA, &mut self.data).unwrap();
        &self.data
    }

    /// How the code that was set last is run.
    pub fn way(&self) -> &'static str {
        if self.compile == Compile::AtOnce { "interpreted" } else { "compiled" }
    }

    /// Sets the base of `fs`.
    pub fn set_fs(&mut self, base: u64) {
        self.cpu.set(slots::FS, base);
    }

    /// Runs the instruction.
    pub fn run(&mut self, state: &mut State) -> Event {
        let cpu = &mut self.cpu;
        for (i, value) in state.general.iter().enumerate() {
            cpu.set(slots::RAX + i as Slot, *value);
        }
        cpu.set(slots::RIP, START);
        cpu.set(slots::GS, GS);
        cpu.set_rflags(state.flags);
        cpu.set_vector_state(&state.fx).expect("states have no reserved bits");
        let mut stop = run(cpu, &mut self.space, &mut self.code, 1);
        if stop == Stop::Quantum {
            // A jump: go on to the breakpoint, or to a fault of the fetch.
            stop = run(cpu, &mut self.space, &mut self.code, 1);
        }
        for (i, value) in state.general.iter_mut().enumerate() {
            *value = cpu.get(slots::RAX + i as Slot);
        }
        state.rip = cpu.rip();
        state.flags = cpu.rflags();
        state.fx = cpu.vector_state();
        assert_eq!(cpu.get(slots::ZERO), 0, "the zero slot was written");
        let signal = |number, code, address| Event::Signal { number, code, address };
        match stop {
            Stop::Quantum => Event::Finished,
            Stop::Trap(Trap::Breakpoint) => {
                // As on the host: the breakpoint that a jump came to, or that is the instruction.
                state.rip -= 1;
                Event::Finished
            }
            Stop::Trap(Trap::Unsupported) | Stop::Syscall => Event::Unsupported,
            Stop::Trap(Trap::InvalidOpcode) => signal(libc::SIGILL, ILL_ILLOPN, 0),
            Stop::Trap(_) => signal(libc::SIGSEGV, SI_KERNEL, 0),
            Stop::Exception(exception) => match exception {
                Exception::Memory(fault) => match fault.reason {
                    Reason::Unmapped => signal(libc::SIGSEGV, SEGV_MAPERR, fault.address),
                    Reason::Protected => signal(libc::SIGSEGV, SEGV_ACCERR, fault.address),
                    Reason::NotCanonical => signal(libc::SIGSEGV, SI_KERNEL, 0),
                    Reason::BehindFile | Reason::Limit | Reason::Marked | Reason::Guarded => {
                        panic!("no files here, and few pages")
                    }
                },
                Exception::Divide => signal(libc::SIGFPE, FPE_INTDIV, 0),
                Exception::GeneralProtection => signal(libc::SIGSEGV, SI_KERNEL, 0),
                Exception::StackSegment => signal(libc::SIGBUS, SI_KERNEL, 0),
                Exception::InvalidOpcode => signal(libc::SIGILL, ILL_ILLOPN, 0),
                Exception::VectorFloat(bits) | Exception::X87Float(bits) => {
                    signal(libc::SIGFPE, float_code(bits), 0)
                }
            },
        }
    }
}

const SI_KERNEL: i32 = 0x80;
const SEGV_MAPERR: i32 = 1;
const SEGV_ACCERR: i32 = 2;
const FPE_INTDIV: i32 = 1;
const ILL_ILLOPN: i32 = 2;

/// The code that Linux makes of the exceptions that are set and not masked.
fn float_code(bits: u8) -> i32 {
    match bits {
        b if b & 0x01 != 0 => 7, // FPE_FLTINV
        b if b & 0x04 != 0 => 3, // FPE_FLTDIV
        b if b & 0x08 != 0 => 4, // FPE_FLTOVF
        b if b & 0x12 != 0 => 5, // FPE_FLTUND
        b if b & 0x20 != 0 => 6, // FPE_FLTRES
        _ => 0,
    }
}
