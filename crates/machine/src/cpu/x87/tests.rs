//! The x87 and MMX instructions compared with the host's processor, form by form.
//!
//! The same bytes run natively, between a real `fxrstor` and a real `fxsave`, and in the machine,
//! from the same random state. Everything must be the same afterwards: stack, tags, status, vector
//! registers, flags, memory. The addresses of the last x87 instruction are not kept, so they are
//! left out; nor are states compared that would raise a signal here.
#![allow(unsafe_code)]

mod faults;

use std::{arch::asm, sync::Mutex};

use iced_x86::{
    CpuidFeature, Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, Mnemonic as M,
    OpKind, Register,
};
use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use super::super::{Cpu, Stop, flags::ALL, run};
use crate::{
    code::{Code, Model, slots},
    memory::{AddressSpace, Backing, Protection, Region},
};

const CODE: u64 = 0x10_000;
const DATA: u64 = 0x20_000;
/// Random states for each form.
const STATES: usize = 400;

/// All that an instruction can see and change here. Memory is at `rsi`, and `rdi` is the same.
#[derive(Clone, PartialEq)]
#[repr(C, align(64))]
struct State {
    area: [u8; 512],
    memory: [u8; 128],
    rax: u64,
    flags: u64,
}

/// A page of native code.
struct Native(*mut u8);

// SAFETY: the page belongs to this value alone, which is behind a lock.
unsafe impl Send for Native {}

static NATIVE: Mutex<Option<Native>> = Mutex::new(None);

impl Native {
    fn new() -> Self {
        let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new anonymous mapping at an address that the kernel chooses.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), 4096, all, kind, -1, 0) };
        assert_ne!(page, libc::MAP_FAILED);
        Self(page.cast())
    }

    fn run(&self, instruction: &[u8], state: &mut State) {
        let mut code = vec![0x49, 0x0f, 0xae, 0x0a, 0x52, 0x9d]; // fxrstor64 [r10]; push rdx; popf
        code.extend(instruction);
        code.extend([0x9c, 0x5a, 0x49, 0x0f, 0xae, 0x02]); // pushf; pop rdx; fxsave64 [r10]
        code.extend([0xdb, 0xe3, 0x41, 0x0f, 0xae, 0x13, 0xc3]); // fninit; ldmxcsr [r11]; ret
        let memory = state.memory.as_mut_ptr();
        let mxcsr = 0x1f80u32;
        // SAFETY: the code fits the page. It changes the state, which is aligned and large enough
        // for every instruction of these tests, and registers that are declared changed; MXCSR and
        // the x87 unit are brought back to what Rust expects.
        unsafe {
            std::ptr::copy_nonoverlapping(code.as_ptr(), self.0, code.len());
            asm!(
                "call {page}",
                "cld",
                page = in(reg) self.0,
                inout("rax") state.rax,
                inout("rdx") state.flags | 0x202 => state.flags,
                in("rsi") memory,
                in("rdi") memory,
                in("r10") &raw mut state.area,
                in("r11") &raw const mxcsr,
                clobber_abi("C"),
            );
        }
        state.flags &= ALL;
    }
}

fn region(start: u64, protection: Protection) -> Region {
    let (shared, backing) = (false, Backing::Anonymous);
    Region { start, end: start + 4096, protection, shared, backing, name: "".into() }
}

/// A machine with the instruction and a `syscall` behind it.
fn machine(instruction: &[u8]) -> (AddressSpace, Code) {
    let mut space = AddressSpace::new(1 << 20);
    space.map(region(CODE, Protection::READ | Protection::WRITE | Protection::EXECUTE));
    space.map(region(DATA, Protection::READ | Protection::WRITE));
    let mut bytes = instruction.to_vec();
    bytes.extend([0x0f, 0x05]);
    space.write(CODE, &bytes).expect("mapped");
    (space, Code::new(Model::Full, crate::code::Compile::Never))
}

fn cpu_of(state: &State) -> Cpu {
    let mut cpu = Cpu::default();
    cpu.restore_vector_state(&state.area).expect("a good state");
    cpu.set(slots::RAX, state.rax);
    cpu.set(slots::RSI, DATA);
    cpu.set(slots::RDI, DATA);
    cpu.set(slots::RIP, CODE);
    cpu.set_rflags(state.flags);
    cpu
}

fn step(space: &mut AddressSpace, code: &mut Code, state: &mut State) -> Stop {
    let mut cpu = cpu_of(state);
    space.write(DATA, &state.memory).expect("mapped");
    let stop = run(&mut cpu, space, code, 10);
    cpu.save_vector_state(&mut state.area);
    state.rax = cpu.get(slots::RAX);
    state.flags = cpu.rflags() & ALL;
    space.read(DATA, &mut state.memory).expect("mapped");
    stop
}

/// Significands and exponents where something happens.
fn number(rng: &mut ChaCha8Rng) -> (u64, u16) {
    let significand = match rng.gen_range(0..10) {
        0 => 0,
        1 => 1 << 63,
        2 => u64::MAX,
        3 => 3 << 62,
        4 => 1 << 63 | 1,
        5 => rng.r#gen(),
        6 => 1 << 63 | rng.gen_range(0..1 << 10) << 53,
        7 => 1 << 63 | rng.gen_range(0..1u64 << 40) << 23,
        _ => 1 << 63 | rng.r#gen::<u64>(),
    };
    let exponent = match rng.gen_range(0..10) {
        0 => 0,
        1 => 0x7fff,
        2 => 0x7ffe,
        3 => rng.gen_range(0..4),
        4 => rng.gen_range(0..0x7fff),
        5 => {
            *[0x3fff - 1022, 0x3fff + 1023, 0x3fff - 126, 0x3fff + 127, 0x3fff - 1074, 0x3fff + 62]
                .choose(rng)
                .expect("some")
        }
        _ => 0x3fff - 8 + rng.gen_range(0..72),
    };
    (significand, exponent | if rng.gen_bool(0.5) { 0x8000 } else { 0 })
}

/// A memory operand: a number in one of the formats, or anything.
fn operand(rng: &mut ChaCha8Rng, memory: &mut [u8; 128]) {
    rng.fill(&mut memory[..]);
    let small = f64::from(rng.gen_range(-1000..1000i32)) / 4.0;
    match rng.gen_range(0..8) {
        0 => memory[..8].copy_from_slice(&small.to_le_bytes()),
        1 => memory[..4].copy_from_slice(&(small as f32).to_le_bytes()),
        2 => memory[..8].copy_from_slice(&(small as i64).to_le_bytes()),
        3 => memory[..8].fill(0),
        4 => {
            let special = [f32::INFINITY, f32::NAN, f32::from_bits(0x7f80_0001), 1e-40, -0.0];
            let one = special.choose(rng).expect("some");
            memory[..4].copy_from_slice(&one.to_le_bytes());
        }
        5 => {
            let special = [f64::INFINITY, f64::NAN, f64::from_bits(0x7ff0 << 48 | 1), 1e-310, -0.0];
            let one = special.choose(rng).expect("some");
            memory[..8].copy_from_slice(&one.to_le_bytes());
        }
        _ => {
            let (significand, exponent) = number(rng);
            memory[..8].copy_from_slice(&significand.to_le_bytes());
            memory[8..10].copy_from_slice(&exponent.to_le_bytes());
        }
    }
}

/// A random state; exceptions are pending only where that does not matter.
fn state(rng: &mut ChaCha8Rng, pending: bool) -> State {
    let mut state = State { area: [0; 512], memory: [0; 128], rax: rng.r#gen(), flags: 0 };
    state.flags = rng.r#gen::<u64>() & ALL;
    operand(rng, &mut state.memory);
    let masks = if rng.gen_bool(0.6) { 0x3f } else { rng.r#gen::<u16>() & 0x3f };
    let precision = *[0x300, 0x300, 0x200, 0x000].choose(rng).expect("some");
    let control = masks | precision | rng.gen_range(0..4) << 10 | 0x40;
    let mut status = rng.r#gen::<u16>() & 0x7f7f;
    if !pending {
        status &= !(0x3f & !control);
    }
    state.area[0..2].copy_from_slice(&control.to_le_bytes());
    state.area[2..4].copy_from_slice(&status.to_le_bytes());
    state.area[4] = if rng.gen_bool(0.5) { 0xff } else { rng.r#gen() };
    let mxcsr = 0x1f80 | rng.gen_range(0..4u32) << 13 | rng.gen_range(0..2) << 6;
    state.area[24..28].copy_from_slice(&mxcsr.to_le_bytes());
    for i in 0..8 {
        let (significand, exponent) = number(rng);
        state.area[32 + 16 * i..][..8].copy_from_slice(&significand.to_le_bytes());
        state.area[40 + 16 * i..][..2].copy_from_slice(&exponent.to_le_bytes());
    }
    for lane in state.area[160..416].chunks_mut(4) {
        let value = match rng.gen_range(0..4) {
            0 => rng.r#gen(),
            1 => (rng.gen_range(-3000..3000i32) as f32 / 8.0).to_bits(),
            2 => 0x3ff0_0000 + (rng.gen_range(0..1u32 << 6) << 16),
            _ => 0,
        };
        lane.copy_from_slice(&value.to_le_bytes());
    }
    state
}

/// The x87 instructions, all registers and memory at `rsi`.
fn x87_forms() -> Vec<Vec<u8>> {
    let mut forms = vec![vec![0x9b]];
    for escape in 0xd8..=0xdf {
        forms.extend((0xc0..=0xff).map(|second| vec![escape, second]));
        forms.extend((0..8).map(|i| vec![escape, i << 3 | 6]));
    }
    // The environment in its 16-bit form.
    for (escape, i) in [(0xd9, 4), (0xd9, 6), (0xdd, 4), (0xdd, 6)] {
        forms.push(vec![0x66, escape, i << 3 | 6]);
    }
    forms
}

/// The instructions with MMX registers: two different ones, one twice, and memory.
fn mmx_forms() -> Vec<Vec<u8>> {
    let mut forms = vec![vec![0x0f, 0x77]];
    let modes = [0xdd, 0xd2, 0x1e, 0xc7, 0xd8, 0xc3];
    let mut add = |prefix: &[u8], opcode: &[u8], with_constant: bool| {
        for mode in modes {
            let mut form = [prefix, opcode, &[mode]].concat();
            if with_constant {
                for constant in [0, 1, 2, 3, 0x1b, 0x47, 0xe4, 9, 15, 16, 0xff] {
                    forms.push([&form[..], &[constant]].concat());
                }
            } else {
                forms.push(std::mem::take(&mut form));
            }
        }
    };
    for second in 0..=0xffu8 {
        add(&[], &[0x0f, second], matches!(second, 0x70..=0x73 | 0xc4 | 0xc5));
        add(&[0x66], &[0x0f, second], false);
        add(&[0x48], &[0x0f, second], false);
        add(&[], &[0x0f, 0x38, second], false);
    }
    add(&[], &[0x0f, 0x3a, 0x0f], true);
    add(&[0xf3], &[0x0f, 0xd6], false);
    add(&[0xf2], &[0x0f, 0xd6], false);
    forms
}

fn decode(bytes: &[u8]) -> Option<Instruction> {
    let mut decoder = Decoder::with_ip(64, bytes, CODE, DecoderOptions::NONE);
    let instruction = decoder.decode();
    // Of the general registers, the native side gives up `rax` alone.
    let others = (0..instruction.op_count())
        .filter(|n| instruction.op_kind(*n) == OpKind::Register)
        .map(|n| instruction.op_register(n))
        .any(|register| register.is_gpr() && register.full_register() != Register::RAX);
    let whole = !instruction.is_invalid() && instruction.len() == bytes.len();
    (whole && !others).then_some(instruction)
}

fn text(instruction: &Instruction) -> String {
    let mut text = String::new();
    IntelFormatter::new().format(instruction, &mut text);
    text
}

/// Whether this instruction is one of MMX: it has a register of it, or is about them.
fn is_mmx(instruction: &Instruction) -> bool {
    matches!(instruction.mnemonic(), M::Emms | M::Cvtpi2ps | M::Cvtpi2pd)
        || (0..instruction.op_count()).any(|n| {
            instruction.op_kind(n) == OpKind::Register && instruction.op_register(n).is_mm()
        })
}

/// Instructions that do not look for pending exceptions.
fn never_waits(instruction: &Instruction) -> bool {
    matches!(
        instruction.mnemonic(),
        M::Fninit
            | M::Fnclex
            | M::Fnstsw
            | M::Fnstcw
            | M::Fnstenv
            | M::Fnsave
            | M::Fneni
            | M::Fndisi
            | M::Fnsetpm
    )
}

/// What is not compared: the addresses of the last x87 instruction, and reserved bytes.
fn forget(instruction: &Instruction, state: &mut State) {
    state.area[5..24].fill(0);
    state.area[28..32].fill(0);
    for i in 0..8 {
        state.area[42 + 16 * i..48 + 16 * i].fill(0);
    }
    state.area[416..].fill(0);
    if matches!(instruction.mnemonic(), M::Fnstenv | M::Fnsave) {
        let wide = matches!(instruction.memory_size().size(), 28 | 108);
        let field = if wide { 4 } else { 2 };
        state.memory[3 * field..7 * field].fill(0);
    }
}

fn difference(native: &State, machine: &State) -> String {
    let mut text = String::new();
    let mut parts = |name: &str, a: &[u8], b: &[u8], size: usize| {
        for (k, (a, b)) in a.chunks(size).zip(b.chunks(size)).enumerate() {
            if a != b {
                text += &format!("\n  {name} {k}: native {a:02x?} machine {b:02x?}");
            }
        }
    };
    parts("head", &native.area[..32], &machine.area[..32], 2);
    parts("st", &native.area[32..160], &machine.area[32..160], 16);
    parts("xmm", &native.area[160..416], &machine.area[160..416], 16);
    parts("memory", &native.memory, &machine.memory, 4);
    parts("rax", &native.rax.to_le_bytes(), &machine.rax.to_le_bytes(), 8);
    parts("flags", &native.flags.to_le_bytes(), &machine.flags.to_le_bytes(), 8);
    text
}

/// Compares all these forms, and gives how many there were.
fn compare(forms: Vec<Vec<u8>>, wanted: impl Fn(&Instruction) -> bool) -> usize {
    let mut guard = NATIVE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let native = guard.get_or_insert_with(Native::new);
    let mut rng = ChaCha8Rng::seed_from_u64(87);
    let (mut count, mut wrong) = (0, Vec::new());
    for bytes in forms {
        let Some(instruction) = decode(&bytes).filter(&wanted) else { continue };
        if instruction.cpuid_features().contains(&CpuidFeature::SSSE3)
            && !is_x86_feature_detected!("ssse3")
        {
            continue;
        }
        count += 1;
        let (mut space, mut code) = machine(&bytes);
        for _ in 0..STATES {
            let before = state(&mut rng, never_waits(&instruction));
            let (mut real, mut ours) = (before.clone(), before.clone());
            let stop = step(&mut space, &mut code, &mut ours);
            if stop != Stop::Syscall {
                wrong.push(format!("{} ({bytes:02x?}): {stop:?}", text(&instruction)));
                break;
            }
            native.run(&bytes, &mut real);
            forget(&instruction, &mut real);
            forget(&instruction, &mut ours);
            if real != ours {
                let head = &before.area[..5];
                let what = difference(&real, &ours);
                wrong.push(format!("{} from {head:02x?}: {what}", text(&instruction)));
                break;
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} forms differ:\n{}", wrong.len(), wrong.join("\n"));
    count
}

#[test]
fn x87_instructions_are_those_of_the_host() {
    let count = compare(x87_forms(), |i| !matches!(i.mnemonic(), M::INVALID));
    assert!(count > 450, "only {count} forms");
}

#[test]
fn mmx_instructions_are_those_of_the_host() {
    let count = compare(mmx_forms(), is_mmx);
    assert!(count > 250, "only {count} forms");
}

#[test]
fn saved_states_are_those_of_the_host() {
    let mut guard = NATIVE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let native = guard.get_or_insert_with(Native::new);
    let mut rng = ChaCha8Rng::seed_from_u64(512);
    for _ in 0..20_000 {
        let mut before = state(&mut rng, true);
        // Any control word, status word and tags, also with bits that do not exist.
        rng.fill(&mut before.area[..5]);
        let (mut real, mut ours) = (before.clone(), before.clone());
        native.run(&[0x90], &mut real);
        cpu_of(&before).save_vector_state(&mut ours.area);
        let nop = decode(&[0x90]).expect("a nop");
        forget(&nop, &mut real);
        forget(&nop, &mut ours);
        let head = &before.area[..5];
        assert!(real == ours, "from {head:02x?}: {}", difference(&real, &ours));
    }
}
