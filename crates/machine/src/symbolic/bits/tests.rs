//! Bit operations on terms against the processor's own.

use super::super::vector::trial::{A, B, C, D, Trial, Values, done};
use super::{bit_op, divide, multiply, shift, shift_double};
use crate::code::{BitOp, Op, Shift, Slot, Width, slots};

const WIDTHS: [Width; 4] = [Width::W8, Width::W16, Width::W32, Width::W64];
const ASSIGNMENTS: u32 = 8;

/// The flags that the processor has at first.
const FLAGS: u64 = 0x8d5;

/// Terms for the three operands, and a seed's worth of other choices.
fn operands(trial: &mut Trial, build: u32) -> [stunt_terms::Term; 3] {
    let a = if build.is_multiple_of(5) { trial.number() } else { trial.word() };
    let b = if build.is_multiple_of(2) { trial.number() } else { trial.word() };
    [trial.word(), a, b]
}

/// Runs `check` on many operands: it gets the trial, the operands and the number of the build.
fn builds(seed: u64, count: u32, mut check: impl FnMut(&mut Trial, [stunt_terms::Term; 3], u32)) {
    let mut trial = Trial::new(seed);
    for build in 0..count {
        if build % 32 == 0 {
            trial = Trial::new(seed << 16 | u64::from(build));
        }
        let terms = operands(&mut trial, build);
        check(&mut trial, terms, build);
    }
}

#[test]
fn bit_operations_agree_with_the_processor() {
    const ALL: [BitOp; 14] = [
        BitOp::Bsf,
        BitOp::Bsr,
        BitOp::Tzcnt,
        BitOp::Lzcnt,
        BitOp::Popcnt,
        BitOp::Andn,
        BitOp::Blsi,
        BitOp::Blsr,
        BitOp::Blsmsk,
        BitOp::Bextr,
        BitOp::Bzhi,
        BitOp::Pdep,
        BitOp::Pext,
        BitOp::Crc32,
    ];
    for (number, f) in ALL.into_iter().enumerate() {
        let is_scan = matches!(f, BitOp::Bsf | BitOp::Bsr);
        let mut states = 0;
        builds(number as u64, 280, |trial, [old, a, b], build| {
            let w = match f {
                BitOp::Crc32 => WIDTHS[build as usize % 4],
                // The scans and counts have 16 bits, the others do not.
                _ => WIDTHS[1 + build as usize % 3],
            };
            let b = match f {
                BitOp::Pdep | BitOp::Pext => trial.constant(),
                _ => b,
            };
            let old = match build % 3 {
                0 => a,
                1 => trial.number(),
                _ => old,
            };
            let (result, flags) =
                bit_op(&mut trial.pool, f, w, old, a, b).expect("a rule for these");
            for _ in 0..ASSIGNMENTS {
                let assignment = trial.assignment();
                let mut values = Values::new(&trial.pool, &assignment);
                let operands = [(D, values.of(old)), (A, values.of(a)), (B, values.of(b))];
                let before = [operands[0], operands[1], operands[2], (slots::FLAG_RESULT, FLAGS)];
                let cpu = done(Op::BitF { f, w, d: D, a: A, b: B, quiet: false }, &before)
                    .expect("no faults");
                let context = format!("{f:?} {w:?} of {operands:x?}");
                assert_eq!(values.of(result), cpu.get(D), "{context}");
                let all = FLAGS | 0x8d5;
                let wanted = match flags.map(|flags| values.of(flags)) {
                    None => FLAGS,
                    Some(flags) if is_scan => FLAGS & !0x40 | flags & 0x40,
                    Some(flags) => flags & all,
                };
                assert_eq!(cpu.rflags() & all, wanted, "{context}");
                states += 1;
            }
        });
        assert!(states >= 2000, "{f:?}");
    }
}

#[test]
fn a_mask_that_is_not_constant_has_no_rule() {
    let mut trial = Trial::new(0);
    let byte = trial.pool.input(0, 0);
    let x = trial.pool.zero_extend(64, byte);
    for f in [BitOp::Pdep, BitOp::Pext] {
        assert_eq!(bit_op(&mut trial.pool, f, Width::W64, x, x, x), None);
    }
}

#[test]
fn shifts_agree_with_the_processor() {
    for (number, f) in
        [Shift::Shl, Shift::Shr, Shift::Sar, Shift::Rol, Shift::Ror].into_iter().enumerate()
    {
        let mut states = 0;
        builds(100 + number as u64, 280, |trial, [_, a, b], build| {
            let w = WIDTHS[build as usize % 4];
            let result = shift(&mut trial.pool, f, w, a, b).expect("a rule");
            for _ in 0..ASSIGNMENTS {
                let assignment = trial.assignment();
                let mut values = Values::new(&trial.pool, &assignment);
                let operands = [(A, values.of(a)), (B, values.of(b))];
                let op = Op::ShiftF { f, w, d: D, a: A, b: B, imm: 0 };
                let cpu = done(op, &operands).expect("no faults");
                assert_eq!(values.of(result), cpu.get(D), "{f:?} {w:?} of {operands:x?}");
                states += 1;
            }
        });
        assert!(states >= 2000, "{f:?}");
    }
}

#[test]
fn rotations_through_the_carry_have_a_rule_for_none() {
    let mut trial = Trial::new(1);
    let byte = trial.pool.input(0, 0);
    let a = trial.pool.zero_extend(64, byte);
    for f in [Shift::Rcl, Shift::Rcr] {
        for (count, wanted) in [(0, Some(a)), (32, Some(a)), (1, None)] {
            let count = trial.pool.constant(64, count);
            assert_eq!(shift(&mut trial.pool, f, Width::W32, a, count), wanted);
        }
        assert_eq!(shift(&mut trial.pool, f, Width::W32, a, a), None);
    }
}

#[test]
fn double_shifts_agree_with_the_processor() {
    for right in [false, true] {
        let mut states = 0;
        builds(200 + u64::from(right), 280, |trial, [a, b, _], build| {
            let w = WIDTHS[1 + build as usize % 3];
            let n = trial.below(256) as u128;
            let count = trial.pool.constant(64, n);
            let result = shift_double(&mut trial.pool, right, w, a, b, count).expect("a rule");
            for _ in 0..ASSIGNMENTS {
                let assignment = trial.assignment();
                let mut values = Values::new(&trial.pool, &assignment);
                let operands = [(A, values.of(a)), (B, values.of(b)), (C, n as u64)];
                let op = Op::ShiftDoubleF { right, w, d: D, a: A, b: B, c: C, imm: 0 };
                let cpu = done(op, &operands).expect("no faults");
                assert_eq!(values.of(result), cpu.get(D), "{w:?} of {operands:x?}");
                states += 1;
            }
        });
        assert!(states >= 2000);
    }
}

#[test]
fn products_agree_with_the_processor() {
    for signed in [false, true] {
        let mut states = 0;
        builds(300 + u64::from(signed), 280, |trial, [_, a, b], build| {
            let w = WIDTHS[build as usize % 4];
            let (low, high) = multiply(&mut trial.pool, w, signed, a, b);
            for _ in 0..ASSIGNMENTS {
                let assignment = trial.assignment();
                let mut values = Values::new(&trial.pool, &assignment);
                let operands = [(A, values.of(a)), (B, values.of(b))];
                let op = Op::MulWide { w, signed, low: C, high: D, a: A, b: B };
                let cpu = done(op, &operands).expect("no faults");
                let made = (values.of(low), values.of(high));
                assert_eq!(made, (cpu.get(C), cpu.get(D)), "{w:?} of {operands:x?}");
                states += 1;
            }
        });
        assert!(states >= 2000);
    }
}

/// Quotient and remainder where the processor leaves them.
fn quotient(cpu: &crate::cpu::Cpu, w: Width) -> (u64, u64) {
    let (rax, rdx) = (cpu.get(slots::RAX), cpu.get(slots::RDX));
    match w {
        Width::W8 => (rax & 0xff, rax >> 8 & 0xff),
        _ => (rax & w.mask(), rdx & w.mask()),
    }
}

#[test]
fn quotients_agree_with_the_processor() {
    const BY: Slot = A;
    for signed in [false, true] {
        let (mut states, mut narrow) = (0, 0);
        // Many divisions fault, and do not count.
        builds(400 + u64::from(signed), 4000, |trial, [high, low, by], build| {
            let w = WIDTHS[build as usize % 4];
            let high = match build % 3 {
                // As compilers make it.
                0 if signed => {
                    let top = u128::from(w.bits() - 1);
                    let top = trial.pool.constant(64, top);
                    shift(&mut trial.pool, Shift::Sar, w, low, top).expect("a rule")
                }
                0 | 1 => trial.pool.constant(64, 0),
                _ => high,
            };
            let made = divide(&mut trial.pool, w, signed, high, low, by).expect("a rule");
            for _ in 0..ASSIGNMENTS {
                let assignment = trial.assignment();
                let mut values = Values::new(&trial.pool, &assignment);
                let (high, low, by) = (values.of(high), values.of(low), values.of(by));
                let operands = match w {
                    Width::W8 => [(slots::RAX, low & 0xff | (high & 0xff) << 8), (BY, by)].to_vec(),
                    _ => [(slots::RAX, low), (slots::RDX, high), (BY, by)].to_vec(),
                };
                let Ok(cpu) = done(Op::Divide { w, signed, a: BY }, &operands) else { continue };
                let made = (values.of(made.0), values.of(made.1));
                assert_eq!(made, quotient(&cpu, w), "{w:?} of {operands:x?}");
                states += 1;
                narrow += u32::from(build % 3 == 0);
            }
        });
        assert!(states >= 2000 && narrow >= 2000 && states - narrow >= 2000, "{states} {narrow}");
    }
}
