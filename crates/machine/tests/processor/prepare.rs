//! A state to run an instruction in: registers and memory that make it do something.
//!
//! Always: an instruction prepared here reads and writes the mapped data of `place.rs`, or what
//! is not mapped at all. A test that wrote anywhere else would harm its own process.

use iced_x86::{Instruction, MemorySize, Mnemonic as M, OpKind, Register};
use rand::{Rng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use crate::{
    place::{CODE, CONSTANT, DATA, DATA_END, GS},
    state::{COMPARED_FLAGS, State},
    values::{self, Lanes, word},
};

/// A state, and what is in memory.
pub struct Prepared {
    /// The registers.
    pub state: State,
    /// Addresses and bytes, all within the data.
    pub writes: Vec<(u64, Vec<u8>)>,
    /// The address of the explicit memory operand.
    pub operand: u64,
}

/// What lanes an instruction expects, by its name.
pub fn lanes(i: &Instruction) -> Lanes {
    let name = format!("{:?}", i.mnemonic()).to_lowercase();
    if name.contains("ps") || name.contains("ss") {
        Lanes::Single
    } else if name.contains("pd") || name.contains("sd") || name.starts_with('f') {
        Lanes::Double
    } else {
        Lanes::Integer
    }
}

/// Where a general register is in the state.
pub fn number(register: Register) -> usize {
    register.full_register() as usize - Register::RAX as usize
}

/// The address of the explicit memory operand.
pub fn effective(i: &Instruction, state: &State) -> u64 {
    let value = |register: Register| match register {
        Register::None => 0,
        Register::AL => state.general[0] & 0xff,
        r if r.size() == 4 => state.general[number(r)] & 0xffff_ffff,
        r => state.general[number(r)],
    };
    let segment = if i.memory_segment() == Register::GS { GS } else { 0 };
    if i.is_ip_rel_memory_operand() {
        return i.ip_rel_memory_address().wrapping_add(segment);
    }
    let sum = value(i.memory_base())
        .wrapping_add(value(i.memory_index()).wrapping_mul(u64::from(i.memory_index_scale())))
        .wrapping_add(i.memory_displacement64());
    let narrow = i.memory_base().size() == 4 || i.memory_index().size() == 4;
    segment.wrapping_add(if narrow { sum & 0xffff_ffff } else { sum })
}

/// An address: usually in the data, sometimes at its rim, and rarely where nothing is.
fn somewhere(rng: &mut ChaCha8Rng) -> u64 {
    match rng.gen_range(0..100) {
        0..64 => rng.gen_range(DATA..DATA_END - 64) & !15,
        64..82 => rng.gen_range(DATA..DATA_END - 16),
        // Across the border of the two pages.
        82..88 => DATA + 0x1000 - rng.gen_range(0..20),
        // Over the end, over the start.
        88..92 => DATA_END - rng.gen_range(0..20),
        92..94 => DATA - rng.gen_range(0..20),
        94..96 => CONSTANT + rng.gen_range(0..0x1000),
        96 => CONSTANT - rng.gen_range(0..20),
        97 => *[0, 8, 0xffff, DATA_END + 0x800].choose(rng).expect("not empty"),
        98 => *[0xffff_8000_0000_2000, 0xffff_8000_0000_0010].choose(rng).expect("not empty"),
        _ => *[0x8000_0000_0100, 0x4141_4141_4141_4141, 0xfeed_0000_0000_0000]
            .choose(rng)
            .expect("not empty"),
    }
}

/// Where a jump may go: usually to a breakpoint in the page of code.
fn target(rng: &mut ChaCha8Rng) -> u64 {
    match rng.gen_range(0..40) {
        0 => DATA + rng.gen_range(0..0x2000),
        1 => *[DATA_END + 8, 0, u64::MAX].choose(rng).expect("not empty"),
        2 => *[0x8000_0000_0000, 0x4141_4141_4141_4141].choose(rng).expect("not empty"),
        _ => CODE + rng.gen_range(0..0x800),
    }
}

/// Gives base and index such values that the memory operand is near `want`.
fn aim(rng: &mut ChaCha8Rng, i: &Instruction, state: &mut State, want: u64) {
    let (base, index) = (i.memory_base(), i.memory_index());
    if base == Register::RIP || base == Register::EIP {
        return;
    }
    let segment = if i.memory_segment() == Register::GS { GS } else { 0 };
    let scale = u64::from(i.memory_index_scale());
    let rest = want.wrapping_sub(segment).wrapping_sub(i.memory_displacement64());
    if index == Register::AL {
        state.general[number(base)] = rest.wrapping_sub(state.general[0] & 0xff);
        return;
    }
    // Below 4 GiB the upper halves of registers do not count.
    let dirt = |rng: &mut ChaCha8Rng, value: u64, register: Register| {
        if register.size() == 4 { value & 0xffff_ffff | rng.r#gen::<u64>() << 32 } else { value }
    };
    if base == Register::None {
        if index != Register::None {
            let value = (rest as i64 / scale as i64) as u64;
            state.general[number(index)] = dirt(rng, value, index);
        }
        return;
    }
    if index == Register::None {
        state.general[number(base)] = dirt(rng, rest, base);
    } else if number(index) == number(base) {
        let value = (rest as i64 / (scale as i64 + 1)) as u64;
        state.general[number(base)] = dirt(rng, value, base);
    } else {
        let value = if rng.r#gen() { word(rng) } else { rng.gen_range(0..64) };
        state.general[number(index)] = value;
        let value = if index.size() == 4 { value & 0xffff_ffff } else { value };
        let rest = rest.wrapping_sub(value.wrapping_mul(scale));
        state.general[number(base)] = dirt(rng, rest, base);
    }
}

/// Adds what of `bytes` lies within the data.
fn write(writes: &mut Vec<(u64, Vec<u8>)>, address: u64, bytes: &[u8]) {
    let end = address.saturating_add(bytes.len() as u64);
    let (from, to) = (address.max(DATA), end.min(DATA_END));
    if from < to {
        let part = &bytes[(from - address) as usize..(to - address) as usize];
        writes.push((from, part.to_vec()));
    }
}

/// A random state for the instruction. `template` gives the x87 and vector registers where the
/// instruction has nothing to do with them.
pub fn prepare(rng: &mut ChaCha8Rng, i: &Instruction, template: Option<&[u8; 512]>) -> Prepared {
    let expected = lanes(i);
    let mut state = State::new();
    state.fx = template.map_or_else(|| values::vector_state(rng, expected), |fx| *fx);
    for register in &mut state.general {
        *register = word(rng);
    }
    state.flags = rng.r#gen::<u64>() & COMPARED_FLAGS & 0xfff | 0x202;
    let mut writes = Vec::new();
    let explicit = (0..i.op_count()).any(|n| i.op_kind(n) == OpKind::Memory);
    let uses = |r: Register| {
        explicit && (i.memory_base().full_register() == r || i.memory_index().full_register() == r)
    };
    special_registers(rng, i, &mut state);
    if i.is_stack_instruction() && !uses(Register::RSP) {
        let slot = if i.mnemonic() == M::Leave { 5 } else { 4 };
        let mut want = somewhere(rng) & if rng.gen_bool(0.8) { !7 } else { !0 };
        let pops_flags = matches!(i.mnemonic(), M::Popfq | M::Popf);
        if pops_flags && (CONSTANT - 64..CONSTANT + 0x1000).contains(&want) {
            // What is there cannot be chosen.
            want = DATA + 0x100;
        }
        state.general[slot] = want;
        let mut bytes = [0; 48];
        fill(rng, &mut bytes, expected);
        if i.mnemonic() == M::Ret {
            bytes[24..32].copy_from_slice(&target(rng).to_le_bytes());
        }
        if pops_flags {
            // No traps, no checks of alignment: the test itself would not survive them.
            bytes[25] &= !1;
            bytes[26] &= !4;
        }
        write(&mut writes, want.wrapping_sub(24), &bytes);
    }
    if i.is_string_instruction() || matches!(i.mnemonic(), M::Maskmovdqu | M::Maskmovq) {
        string_registers(rng, i, &mut state, &mut writes);
    }
    if explicit {
        let mut want = somewhere(rng);
        if i.memory_segment() == Register::GS && want >= 1 << 47 {
            // Processors differ in what must be canonical: the sum, or the address before the base
            // of the segment is added.
            want = DATA;
        }
        // Over the end of the lower half of all addresses. Which part of a large area counts first
        // differs.
        let large = matches!(i.mnemonic(), M::Fxsave | M::Fxsave64 | M::Fxrstor | M::Fxrstor64);
        if rng.gen_ratio(1, 200) && !large && i.memory_segment() != Register::GS {
            want = 0x8000_0000_0000 - rng.gen_range(1..20);
        }
        aim(rng, i, &mut state, want);
        // Nothing may be pushed onto the code that the test itself is made of.
        while i.is_stack_instruction() && (CODE..CODE + 0x1040).contains(&state.general[4]) {
            let want = DATA + rng.gen_range(0..0x800);
            aim(rng, i, &mut state, want);
        }
    }
    let mut operand = effective(i, &state);
    if explicit {
        let bytes = operand_bytes(rng, i, expected);
        write(&mut writes, operand, &bytes);
        if is_bit_string(i) {
            bit_index(rng, i, &mut state);
            operand = effective(i, &state);
        }
    } else if matches!(i.mnemonic(), M::Jmp | M::Call) && i.op0_kind() == OpKind::Register {
        state.general[number(i.op0_register())] = target(rng);
        if i.op0_register() == Register::RSP && i.mnemonic() == M::Call {
            // Also where the return address goes.
            state.general[4] = DATA + 0x800;
        }
    }
    agree_sometimes(rng, i, &mut state, operand, &mut writes);
    Prepared { state, writes, operand }
}

fn fill(rng: &mut ChaCha8Rng, bytes: &mut [u8], expected: Lanes) {
    for chunk in bytes.chunks_mut(16) {
        let value = values::lanes(rng, expected).to_le_bytes();
        chunk.copy_from_slice(&value[..chunk.len()]);
    }
}

fn operand_bytes(rng: &mut ChaCha8Rng, i: &Instruction, expected: Lanes) -> Vec<u8> {
    let mut bytes = vec![0; 32];
    match (i.mnemonic(), i.memory_size()) {
        (M::Fxrstor | M::Fxrstor64, _) => {
            let mut area = values::vector_state(rng, expected);
            if rng.gen_bool(0.1) {
                area[26] = 1;
            }
            bytes = area.to_vec();
        }
        (M::Fldenv | M::Frstor | M::Fnsave | M::Fnstenv, _) => {
            bytes = vec![0; 108];
            let area = values::vector_state(rng, expected);
            bytes[0..2].copy_from_slice(&area[0..2]);
            bytes[4..6].copy_from_slice(&area[2..4]);
            bytes[8..10].copy_from_slice(&rng.r#gen::<[u8; 2]>());
            for k in 0..8 {
                bytes[28 + 10 * k..38 + 10 * k].copy_from_slice(&area[32 + 16 * k..42 + 16 * k]);
            }
        }
        (M::Ldmxcsr, _) => {
            let value = if rng.gen_bool(0.9) { values::mxcsr(rng) } else { rng.r#gen() };
            bytes[0..4].copy_from_slice(&value.to_le_bytes());
        }
        (M::Fldcw, _) => {
            let area = values::vector_state(rng, expected);
            bytes[0..2].copy_from_slice(&area[0..2]);
        }
        (M::Fbld, _) => {
            for byte in &mut bytes[..10] {
                *byte = rng.gen_range(0..10) << 4 | rng.gen_range(0..10);
            }
            bytes[9] = if rng.r#gen() { 0x80 } else { 0 };
        }
        (M::Jmp | M::Call, _) => {
            bytes[0..8].copy_from_slice(&target(rng).to_le_bytes());
        }
        (_, MemorySize::Float80) => {
            let (significand, exponent) = values::extended(rng);
            bytes[0..8].copy_from_slice(&significand.to_le_bytes());
            bytes[8..10].copy_from_slice(&exponent.to_le_bytes());
        }
        (_, MemorySize::Float32) => fill(rng, &mut bytes, Lanes::Single),
        (_, MemorySize::Float64) => fill(rng, &mut bytes, Lanes::Double),
        (_, MemorySize::Int16 | MemorySize::Int32 | MemorySize::Int64) => {
            fill(rng, &mut bytes, Lanes::Integer);
        }
        _ => fill(rng, &mut bytes, expected),
    }
    bytes
}

/// `bt` and its family with a register: the index reaches far.
fn is_bit_string(i: &Instruction) -> bool {
    matches!(i.mnemonic(), M::Bt | M::Bts | M::Btr | M::Btc) && i.op1_kind() == OpKind::Register
}

fn bit_index(rng: &mut ChaCha8Rng, i: &Instruction, state: &mut State) {
    let register = number(i.op1_register());
    let uses = |r: Register| r != Register::None && r != Register::RIP && number(r) == register;
    if !uses(i.memory_base()) && !uses(i.memory_index()) {
        state.general[register] = rng.gen_range(-3000..3000i64) as u64;
    }
}

fn special_registers(rng: &mut ChaCha8Rng, i: &Instruction, state: &mut State) {
    match i.mnemonic() {
        // Quotients that fit.
        M::Div | M::Idiv if rng.gen_bool(0.7) => {
            let signed = i.mnemonic() == M::Idiv && rng.r#gen();
            let rax = state.general[0];
            state.general[2] = if signed { (rax as i64 >> 63) as u64 } else { 0 };
            if rng.r#gen() {
                state.general[0] = rax & 0xff;
            }
        }
        // A 16-bit double shift by more is not defined.
        M::Shld | M::Shrd if i.op1_register().size() == 2 => {
            state.general[1] = state.general[1] & !0x1f | rng.gen_range(0..17);
        }
        M::Jrcxz | M::Jecxz | M::Loop | M::Loope | M::Loopne => {
            let count = rng.gen_range(0..3);
            state.general[1] = if rng.r#gen() { count } else { count | rng.r#gen::<u64>() << 32 };
        }
        M::Pcmpestri | M::Pcmpestrm | M::Pcmpestri64 | M::Pcmpestrm64 => {
            state.general[0] = rng.gen_range(-20..20i64) as u64;
            state.general[2] = rng.gen_range(-20..20i64) as u64;
        }
        _ => {}
    }
}

fn string_registers(
    rng: &mut ChaCha8Rng,
    i: &Instruction,
    state: &mut State,
    writes: &mut Vec<(u64, Vec<u8>)>,
) {
    let narrow = (0..i.op_count())
        .any(|n| matches!(i.op_kind(n), OpKind::MemorySegESI | OpKind::MemoryESEDI));
    let dirt = |rng: &mut ChaCha8Rng, value: u64| {
        if narrow { value & 0xffff_ffff | rng.r#gen::<u64>() << 32 } else { value }
    };
    let segment = if i.memory_segment() == Register::GS { GS } else { 0 };
    let (mut from, to) = (somewhere(rng), somewhere(rng));
    if segment != 0 && from >= 1 << 47 {
        from = DATA;
    }
    // Often the strings overlap.
    let to = if rng.gen_bool(0.2) { from.wrapping_add(rng.gen_range(0..9)) } else { to };
    // Which of two faults comes first differs from processor to processor: at most one here.
    let compares = matches!(i.mnemonic(), M::Cmpsb | M::Cmpsw | M::Cmpsd | M::Cmpsq);
    let to = if compares && !(DATA + 0x200..DATA_END - 0x200).contains(&from) {
        rng.gen_range(DATA + 0x400..DATA + 0xc00)
    } else {
        to
    };
    state.general[6] = dirt(rng, from.wrapping_sub(segment));
    state.general[7] = dirt(rng, to);
    if i.has_rep_prefix() || i.has_repne_prefix() {
        let count = rng.gen_range(0..20) * u64::from(rng.r#gen::<bool>()) + rng.gen_range(0..4);
        state.general[1] = dirt(rng, count);
    }
    // Few letters, so that comparisons go on for a while.
    let letter = rng.r#gen::<u8>();
    for at in [from, to] {
        let mut bytes = [letter; 256];
        for _ in 0..rng.gen_range(0..6) {
            bytes[rng.gen_range(0..256)] = word(rng) as u8;
        }
        write(writes, at.wrapping_sub(128), &bytes);
    }
    if rng.r#gen() {
        state.general[0] = u64::from_le_bytes([letter; 8]);
    }
}

/// Lets the comparison of `cmpxchg` and its like succeed half of the time.
fn agree_sometimes(
    rng: &mut ChaCha8Rng,
    i: &Instruction,
    state: &mut State,
    operand: u64,
    writes: &mut Vec<(u64, Vec<u8>)>,
) {
    if rng.r#gen() {
        return;
    }
    let (rax, rdx) = (state.general[0], state.general[2]);
    match i.mnemonic() {
        M::Cmpxchg if i.op0_kind() == OpKind::Register => {
            let r = i.op0_register();
            let high = matches!(r, Register::AH | Register::BH | Register::CH | Register::DH);
            let value = state.general[number(r)];
            state.general[0] = if high { rax & !0xff | value >> 8 & 0xff } else { value };
        }
        M::Cmpxchg => write(writes, operand, &rax.to_le_bytes()),
        M::Cmpxchg8b => {
            write(writes, operand, &(rax as u32).to_le_bytes());
            write(writes, operand.saturating_add(4), &(rdx as u32).to_le_bytes());
        }
        M::Cmpxchg16b => {
            write(writes, operand, &rax.to_le_bytes());
            write(writes, operand.saturating_add(8), &rdx.to_le_bytes());
        }
        _ => {}
    }
}
