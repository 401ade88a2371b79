//! Random bytes as code: nothing panics, and whatever the machine runs, it runs as the host does.
//!
//! Bytes that jump, trap or name segments that the host uses itself run in the machine only.

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic as M, OpKind, Register,
};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stunt_machine::code::Model;

use crate::{
    encode::Variant,
    machine::Machine,
    pair::{Pair, Verdict, hexadecimal, text},
    place::{CODE, START},
    prepare::{Prepared, prepare},
    state::Event,
    undefined,
};

/// Fifteen bytes, with prefixes and the larger tables of opcodes more often than chance would.
fn bytes(rng: &mut ChaCha8Rng) -> [u8; 15] {
    const PREFIXES: [u8; 10] = [0x66, 0x67, 0xf2, 0xf3, 0xf0, 0x65, 0x2e, 0x3e, 0x66, 0xf3];
    let mut bytes = [0; 15];
    rng.fill_bytes(&mut bytes);
    let mut at = 0;
    while at < 3 && rng.gen_bool(0.3) {
        bytes[at] = PREFIXES[rng.gen_range(0..PREFIXES.len())];
        at += 1;
    }
    if rng.gen_bool(0.4) {
        bytes[at] = 0x40 | rng.r#gen::<u8>() & 0xf;
        at += 1;
    }
    if rng.gen_bool(0.5) {
        bytes[at] = 0x0f;
        at += 1;
        if rng.gen_bool(0.2) {
            bytes[at] = if rng.r#gen() { 0x38 } else { 0x3a };
        }
    }
    bytes
}

/// Whether the host survives the instruction, and means the same as everyone else.
fn comparable(i: &Instruction, prepared: &Prepared) -> bool {
    let own = matches!(
        i.mnemonic(),
        M::Cpuid
            | M::Rdtsc
            | M::Rdtscp
            | M::Xgetbv
            | M::Incsspd
            | M::Incsspq
            | M::Rdsspd
            | M::Rdsspq
    );
    let open = undefined::hopeless(i)
        || i.mnemonic() == M::Bswap && i.op0_register().size() == 2
        || i.mnemonic() == M::Movsxd && i.op0_register().size() == 2
        || i.mnemonic() == M::Reservednop
        // With a REX prefix it is an exchange, or not, depending on whom one asks.
        || i.mnemonic() == M::Pause;
    let memory = (0..i.op_count()).any(|n| i.op_kind(n) == OpKind::Memory);
    let at = prepared.operand;
    // Neither the code itself nor anything that may belong to the process.
    let harmless = !(CODE - 0x1000..CODE + 0x2000).contains(&at)
        && !(1 << 32..1 << 47).contains(&at)
        && at < 0xffff_ffff_ff00_0000;
    i.flow_control() == FlowControl::Next
        && i.memory_segment() != Register::FS
        && i.segment_prefix() != Register::FS
        && !own
        && !open
        && (!memory || i.mnemonic() == M::Lea || harmless)
}

/// Random bytes in the machine alone: any end is fine, a panic is not.
pub fn never_panic(count: u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(77);
    let mut machine = Machine::new(Model::Baseline);
    let mut ends = [0u32; 3];
    for _ in 0..count {
        let code = bytes(&mut rng);
        machine.set_code(&code);
        let i = Decoder::with_ip(64, &code, START, DecoderOptions::NONE).decode();
        let mut state = prepare(&mut rng, &i, None).state;
        ends[match machine.run(&mut state) {
            Event::Finished => 0,
            Event::Signal { .. } => 1,
            Event::Unsupported => 2,
        }] += 1;
    }
    let [finished, signals, unsupported] = ends;
    println!("{finished} finished, {signals} signals, {unsupported} not supported");
    assert!(ends.iter().all(|end| *end > 0), "random bytes that all end alike are not random");
}

/// Random bytes on both sides, where the host may run them.
pub fn agree(count: u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(78);
    let mut pair = Pair::new(&mut rng, Model::Full);
    let (mut compared, mut unsupported) = (0, 0);
    let mut different = Vec::new();
    for _ in 0..count {
        let code = bytes(&mut rng);
        let instruction = Decoder::with_ip(64, &code, START, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            continue;
        }
        let bytes = code[..instruction.len()].to_vec();
        let variant = Variant { bytes, instruction };
        let prepared = prepare(&mut rng, &instruction, None);
        if !comparable(&instruction, &prepared) {
            continue;
        }
        pair.set_code(&variant.bytes);
        match pair.compare(&variant, &prepared) {
            Verdict::Same => compared += 1,
            Verdict::Unsupported => unsupported += 1,
            Verdict::Different(text) => different.push(text),
        }
    }
    for text in different.iter().take(20) {
        println!("DIFFERENT {text}");
    }
    println!("{compared} compared, {unsupported} not supported, {} differ", different.len());
    assert!(different.is_empty());
    assert!(compared > count / 10, "too few encodings could be compared");
}

/// Encodings that were run wrongly once, and are rare in random bytes.
const ONCE_WRONG: [&[u8]; 12] = [
    &[0x66, 0xc9],                                                 // data16 leave
    &[0x66, 0x0f, 0xa0],                                           // data16 push fs
    &[0x65, 0xd7],                                                 // xlat gs:[rbx]
    &[0x67, 0x65, 0xd7],                                           // xlat gs:[ebx]
    &[0x67, 0x65, 0x48, 0x81, 0x6c, 0x3d, 0xac, 1, 2, 3, 4],       // sub gs:[ebp+edi-54h], imm32
    &[0x65, 0x67, 0x4d, 0x03, 0xb3, 0x20, 0x36, 0x45, 0xa2],       // add r14, gs:[r11d-5DBAC9E0h]
    &[0x65, 0x67, 0x41, 0x8d, 0x56, 0x34],                         // lea edx, gs:[r14d+34h]
    &[0x67, 0x4d, 0x0f, 0xa3, 0xbd, 0x60, 0x81, 0xff, 0xff],       // bt [r13d-7EA0h], r15
    &[0x36, 0xa2, 0x85, 0x56, 0x45, 0x0d, 0xe3, 0xa8, 0xc4, 0x60], // mov ss:[moffs], al
    &[0x65, 0x67, 0x48, 0x0f, 0xa3, 0xb6, 0x8b, 0x3c, 0x00, 0x00], // bt gs:[esi+3C8Bh], rsi
    &[0x41, 0x0f, 0xc7, 0x88, 0x2a, 0xa1, 0x3d, 0xd7],             // cmpxchg8b [r8-28C25ED6h]
    &[0x4b, 0x0f, 0xab, 0xbc, 0xdb, 0x83, 0x8f, 0x69, 0xf8],       // bts [r11+r11*8-796707Dh], rdi
];

/// What was wrong once is right, or at least not supported.
pub fn once_wrong(count: u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(80);
    let mut pair = Pair::new(&mut rng, Model::Full);
    for bytes in ONCE_WRONG {
        let instruction = Decoder::with_ip(64, bytes, START, DecoderOptions::NONE).decode();
        assert_eq!(instruction.len(), bytes.len(), "{}", hexadecimal(bytes));
        let variant = Variant { bytes: bytes.to_vec(), instruction };
        pair.set_code(bytes);
        for _ in 0..count {
            let prepared = prepare(&mut rng, &instruction, None);
            if let Verdict::Different(text) = pair.compare(&variant, &prepared) {
                panic!("{text}");
            }
        }
    }
}

/// Bytes that are no instruction must not be run as one, and must not stop for want of support.
pub fn invalid(count: u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(79);
    let mut machine = Machine::new(Model::Full);
    let mut seen = 0;
    for _ in 0..count {
        let code = bytes(&mut rng);
        let i = Decoder::with_ip(64, &code, START, DecoderOptions::NONE).decode();
        if !i.is_invalid() {
            continue;
        }
        seen += 1;
        machine.set_code(&code);
        let mut state = prepare(&mut rng, &i, None).state;
        let end = machine.run(&mut state);
        let ill = matches!(end, Event::Signal { number: libc::SIGILL, .. });
        assert!(ill, "{} [{}]: {end:?}", text(&i), hexadecimal(&code));
    }
    assert!(seen > count / 100, "too few invalid encodings");
}
