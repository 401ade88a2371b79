//! Host and machine side by side: the same instruction in the same state, and what differs.

use std::fmt::Write as _;

use iced_x86::{Formatter, Instruction, IntelFormatter};
use rand::RngCore;
use rand_chacha::ChaCha8Rng;
use stunt_machine::code::Model;

use crate::{
    encode::Variant,
    host::Host,
    machine::Machine,
    place::DATA,
    prepare::Prepared,
    state::{Event, NAMES, State, differences, letters},
    undefined,
};

/// Both processors.
pub struct Pair {
    /// The real one.
    pub host: Host,
    /// The machine.
    pub machine: Machine,
}

/// How a comparison went.
pub enum Verdict {
    /// No difference.
    Same,
    /// The machine does not have the instruction.
    Unsupported,
    /// What differs, for people.
    Different(String),
}

/// An instruction as text.
pub fn text(i: &Instruction) -> String {
    let mut text = String::new();
    let mut formatter = IntelFormatter::new();
    formatter.options_mut().set_space_after_operand_separator(true);
    formatter.format(i, &mut text);
    text
}

impl Pair {
    /// With the same random data on both sides.
    pub fn new(rng: &mut ChaCha8Rng, model: Model) -> Self {
        let (mut host, mut machine) = (Host::new(), Machine::new(model));
        let mut bytes = vec![0; 0x2000];
        rng.fill_bytes(&mut bytes);
        host.write(DATA, &bytes);
        machine.write(DATA, &bytes);
        rng.fill_bytes(&mut bytes);
        host.set_constant(&bytes);
        machine.set_constant(&bytes);
        Self { host, machine }
    }

    /// Sets the instruction.
    pub fn set_code(&mut self, bytes: &[u8]) {
        self.host.set_code(bytes);
        self.machine.set_code(bytes);
    }

    /// Runs the instruction on both sides and compares everything.
    pub fn compare(&mut self, variant: &Variant, prepared: &Prepared) -> Verdict {
        for (address, bytes) in &prepared.writes {
            self.host.write(*address, bytes);
            self.machine.write(*address, bytes);
        }
        let (mut host, mut machine) = (prepared.state, prepared.state);
        let by_machine = self.machine.run(&mut machine);
        if by_machine == Event::Unsupported {
            return Verdict::Unsupported;
        }
        let by_host = self.host.run(&mut host);
        let i = &variant.instruction;
        if undefined::by_maker(i, &prepared.state, [(by_host, &host), (by_machine, &machine)]) {
            self.same_data();
            return Verdict::Same;
        }
        let mut found = String::new();
        if !alike(by_host, by_machine) {
            writeln!(found, "    host {by_host:x?}  machine {by_machine:x?}").unwrap();
        }
        let finished = by_host == Event::Finished;
        let (flags, conditions) = if finished {
            (undefined::flags(i, &prepared.state), undefined::conditions(i))
        } else {
            (0, 0)
        };
        if let Some(register) = undefined::upper_half(i, &host) {
            for state in [&mut host, &mut machine] {
                state.general[register] &= 0xffff_ffff;
            }
        }
        found += &differences(&host, &machine, flags, conditions);
        found += &self.memory(i, prepared.operand, finished);
        if found.is_empty() {
            return Verdict::Same;
        }
        self.same_data();
        Verdict::Different(format!(
            "{} [{}] {}\n{}{found}",
            text(i),
            hexadecimal(&variant.bytes),
            self.machine.way(),
            before(&prepared.state, i)
        ))
    }

    /// Runs code on both sides and compares all but some flags; gives what differs.
    pub fn compare_code(&mut self, before: &State, undefined: u64) -> String {
        let (mut host, mut machine) = (*before, *before);
        let (by_host, by_machine) = (self.host.run(&mut host), self.machine.run(&mut machine));
        let mut found = String::new();
        if !alike(by_host, by_machine) {
            writeln!(found, "    host {by_host:x?}  machine {by_machine:x?}").unwrap();
        }
        found += &differences(&host, &machine, undefined, 0);
        found += &self.memory(&Instruction::new(), 0, true);
        found
    }

    /// Where the data differ. What is undefined in them is made equal.
    fn memory(&mut self, i: &Instruction, operand: u64, finished: bool) -> String {
        let holes = if finished { undefined::holes(i) } else { &[] };
        let mut text = String::new();
        let machine = self.machine.data();
        let host = self.host.data();
        if machine == host {
            return text;
        }
        let open = |at: u64| {
            let offset = at.wrapping_sub(operand) as usize;
            holes.iter().any(|(from, to)| (*from..*to).contains(&offset))
        };
        for (k, (a, b)) in host.iter().zip(machine).enumerate() {
            let at = DATA + k as u64;
            if a != b && !open(at) && text.len() < 1000 {
                writeln!(text, "    [{at:x}]  host {a:02x}  machine {b:02x}").unwrap();
            }
        }
        if text.is_empty() {
            self.same_data();
        }
        text
    }

    /// Goes on with the host's data on both sides.
    fn same_data(&mut self) {
        let data = self.host.data().to_vec();
        self.machine.write(DATA, &data);
    }
}

/// Whether two ends are the same; the address counts for faults of memory only.
fn alike(host: Event, machine: Event) -> bool {
    match (host, machine) {
        (
            Event::Signal { number, code, address },
            Event::Signal { number: n, code: c, address: a },
        ) => number == n && code == c && (number != libc::SIGSEGV || address == a),
        _ => host == machine,
    }
}

/// Bytes as text.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn before(state: &State, i: &Instruction) -> String {
    let mut text = format!("    before {}", letters(state.flags));
    for (name, value) in NAMES.iter().zip(state.general) {
        write!(text, " {name}={value:x}").unwrap();
    }
    let mut vector = false;
    let mut x87 = format!("{:?}", i.mnemonic()).starts_with('F');
    for n in 0..i.op_count() {
        let register = i.op_register(n);
        vector |= register.is_xmm();
        x87 |= register.is_mm();
        if register.is_xmm() {
            write!(text, "\n    before {register:?} {:032x}", state.xmm(register.number()))
                .unwrap();
        }
    }
    if vector {
        write!(text, " mxcsr {:04x}", state.mxcsr()).unwrap();
    }
    if x87 {
        write!(
            text,
            "\n    before fcw {:04x} fsw {:04x} ftw {:08b}",
            state.control(),
            state.status(),
            state.fx[4]
        )
        .unwrap();
        for k in 0..8 {
            let (significand, exponent) = state.st(k);
            write!(text, " st{k}={exponent:04x}:{significand:016x}").unwrap();
        }
    }
    text.push('\n');
    text
}
