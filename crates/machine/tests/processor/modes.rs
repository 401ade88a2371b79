//! What the host cannot show directly: a lesser processor, and the segment that threads use.
//!
//! On a processor without BMI1 the bytes of `tzcnt` and `lzcnt` mean `bsf` and `bsr`, which the
//! host runs from their own bytes. Its `fs` belongs to the C library, but `gs` works alike.

use iced_x86::{Decoder, DecoderOptions};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stunt_machine::code::Model;

use crate::{
    encode::Variant,
    machine::Machine,
    pair::{Pair, Verdict},
    place::{CODE, DATA, START},
    prepare::prepare,
    state::{Event, State},
};

/// `tzcnt` and `lzcnt` on a baseline processor are `bsf` and `bsr` on the host.
pub fn baseline(count: u32) {
    // bsf eax, ecx; bsr rax, rcx; bsf ax, cx; bsr r8d, [rbx]
    let plain: [&[u8]; 4] = [
        &[0x0f, 0xbc, 0xc1],
        &[0x48, 0x0f, 0xbd, 0xc1],
        &[0x66, 0x0f, 0xbc, 0xc1],
        &[0x44, 0x0f, 0xbd, 0x03],
    ];
    let mut rng = ChaCha8Rng::seed_from_u64(82);
    let mut pair = Pair::new(&mut rng, Model::Baseline);
    for bytes in plain {
        let instruction = Decoder::with_ip(64, bytes, START, DecoderOptions::NONE).decode();
        let variant = Variant { bytes: bytes.to_vec(), instruction };
        pair.host.set_code(bytes);
        let mut counting = bytes.to_vec();
        // The prefix stands before REX.
        counting.insert(usize::from(bytes[0] == 0x66), 0xf3);
        pair.machine.set_code(&counting);
        for _ in 0..count {
            let prepared = prepare(&mut rng, &instruction, None);
            let verdict = pair.compare(&variant, &prepared);
            if let Verdict::Different(text) = verdict {
                // The longer instruction ends one byte later, and that is all.
                let lines: Vec<&str> =
                    text.lines().filter(|line| line.contains("  machine ")).collect();
                assert!(matches!(lines[..], [rip] if rip.trim().starts_with("rip")), "{text}");
            }
        }
    }
}

/// A load through `fs` adds the base that the kernel set.
pub fn fs() {
    let mut machine = Machine::new(Model::Baseline);
    machine.write(DATA + 0x128, &0x1122_3344_5566_7788u64.to_le_bytes());
    // mov rax, fs:[28h]
    machine.set_code(&[0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0]);
    machine.set_fs(DATA + 0x100);
    let mut state = State::new();
    assert_eq!(machine.run(&mut state), Event::Finished);
    assert_eq!(state.general[0], 0x1122_3344_5566_7788);
    assert_eq!(state.rip, START + 9);
}

/// Jumps to where nothing can be fetched fault at their target, with the target's address.
pub fn nowhere() {
    for target in [0, 1, CODE - 1, DATA + 8, 0x7fff_ffff_efff, u64::MAX] {
        let mut machine = Machine::new(Model::Baseline);
        // Interpreted, then compiled.
        for _ in 0..2 {
            // jmp rax
            machine.set_code(&[0xff, 0xe0]);
            let mut state = State::new();
            state.general[0] = target;
            let Event::Signal { number, address, .. } = machine.run(&mut state) else {
                panic!("a jump to {target:x} must fault, {}", machine.way());
            };
            assert_eq!((number, address, state.rip), (libc::SIGSEGV, target, target));
        }
    }
}
