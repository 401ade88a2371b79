//! Vector operations on terms against the processor's own.

use super::trial::{A, B, D, Trial, Values, done};
use super::vector;
use crate::code::{Op, VectorOp as V};

/// All operations, in the order of the enum.
const ALL: [V; 112] = [
    V::Paddb,
    V::Paddw,
    V::Paddd,
    V::Paddq,
    V::Paddsb,
    V::Paddsw,
    V::Paddusb,
    V::Paddusw,
    V::Psubb,
    V::Psubw,
    V::Psubd,
    V::Psubq,
    V::Psubsb,
    V::Psubsw,
    V::Psubusb,
    V::Psubusw,
    V::Pcmpeqb,
    V::Pcmpeqw,
    V::Pcmpeqd,
    V::Pcmpgtb,
    V::Pcmpgtw,
    V::Pcmpgtd,
    V::Pminub,
    V::Pmaxub,
    V::Pminsw,
    V::Pmaxsw,
    V::Pavgb,
    V::Pavgw,
    V::Pmullw,
    V::Pmulhw,
    V::Pmulhuw,
    V::Pmuludq,
    V::Pmaddwd,
    V::Psadbw,
    V::Packsswb,
    V::Packssdw,
    V::Packuswb,
    V::Punpcklbw,
    V::Punpcklwd,
    V::Punpckldq,
    V::Punpckhbw,
    V::Punpckhwd,
    V::Punpckhdq,
    V::Psllw,
    V::Pslld,
    V::Psllq,
    V::Psrlw,
    V::Psrld,
    V::Psrlq,
    V::Psraw,
    V::Psrad,
    V::Pslldq,
    V::Psrldq,
    V::Pshufd,
    V::Pshufhw,
    V::Pshuflw,
    V::Shufps,
    V::Pmovmskb,
    V::Movmskps,
    V::Movmskpd,
    V::Pinsrb,
    V::Pinsrw,
    V::Pinsrd,
    V::Pshufb,
    V::Phaddw,
    V::Phaddd,
    V::Phaddsw,
    V::Phsubw,
    V::Phsubd,
    V::Phsubsw,
    V::Pabsb,
    V::Pabsw,
    V::Pabsd,
    V::Psignb,
    V::Psignw,
    V::Psignd,
    V::Pmulhrsw,
    V::Pmaddubsw,
    V::Palignr,
    V::SignMask,
    V::Pblendw,
    V::Pmulld,
    V::Pmuldq,
    V::Pminsb,
    V::Pminuw,
    V::Pminsd,
    V::Pminud,
    V::Pmaxsb,
    V::Pmaxuw,
    V::Pmaxsd,
    V::Pmaxud,
    V::Pcmpeqq,
    V::Packusdw,
    V::Pmovsxbw,
    V::Pmovsxbd,
    V::Pmovsxbq,
    V::Pmovsxwd,
    V::Pmovsxwq,
    V::Pmovsxdq,
    V::Pmovzxbw,
    V::Pmovzxbd,
    V::Pmovzxbq,
    V::Pmovzxwd,
    V::Pmovzxwq,
    V::Pmovzxdq,
    V::Phminposuw,
    V::Mpsadbw,
    V::Ptest,
    V::Insertps,
    V::Pcmpgtq,
    V::Pcmpistri,
    V::Pcmpistrm,
];

/// A result of `f` with its operands, some of which are results of other operations.
fn states_of(f: V, seed: u64) -> u32 {
    const BUILDS: u32 = 260;
    const ASSIGNMENTS: u32 = 8;
    let mut states = 0;
    let mut trial = Trial::new(seed);
    for build in 0..BUILDS {
        if build % 32 == 0 {
            trial = Trial::new(seed << 16 | u64::from(build));
        }
        let mut operands = [(); 2].map(|()| [trial.word(), trial.word()]);
        if build % 4 == 0 {
            operands[1][0] = trial.number();
        }
        if build % 3 == 0 {
            // What comparisons and packing leave behind.
            let inner = ALL[trial.below(ALL.len())];
            let imm = trial.below(256) as u8;
            if let Some(made) = vector(&mut trial.pool, inner, operands[0], operands[1], imm) {
                operands[usize::from(build % 2 == 0)] = made;
            }
        }
        let imm = trial.below(256) as u8 & [0xff, 0x0f, 0][build as usize % 3];
        let [a, b] = operands;
        let Some(result) = vector(&mut trial.pool, f, a, b, imm) else { continue };
        for _ in 0..ASSIGNMENTS {
            let assignment = trial.assignment();
            let mut values = Values::new(&trial.pool, &assignment);
            let slots = [(A, a[0]), (A + 1, a[1]), (B, b[0]), (B + 1, b[1])]
                .map(|(slot, term)| (slot, values.of(term)));
            let cpu = done(Op::Vector { f, d: D, a: A, b: B, imm }, &slots).expect("no faults");
            let wanted = [cpu.get(D), cpu.get(D + 1)];
            let made = result.map(|term| values.of(term));
            assert_eq!(made, wanted, "{f:?} with {imm} of {slots:x?}");
            states += 1;
        }
    }
    states
}

#[test]
fn every_operation_is_listed() {
    for (place, f) in ALL.into_iter().enumerate() {
        assert_eq!(f as usize, place);
    }
    assert_eq!(V::Pcmpistrm as usize + 1, ALL.len());
}

/// The operations without a rule.
fn has_no_rule(f: V) -> bool {
    matches!(f, V::Pcmpistri | V::Pcmpistrm)
}

/// Every `parts`th operation, from `part` on.
fn compare(part: usize, parts: usize) {
    for (number, f) in ALL.into_iter().enumerate().skip(part).step_by(parts) {
        let states = states_of(f, number as u64);
        if has_no_rule(f) {
            assert_eq!(states, 0, "{f:?}");
        } else {
            assert!(states >= 2000, "{f:?}: {states}");
        }
    }
}

#[test]
fn operations_agree_with_the_processor_1() {
    compare(0, 4);
}

#[test]
fn operations_agree_with_the_processor_2() {
    compare(1, 4);
}

#[test]
fn operations_agree_with_the_processor_3() {
    compare(2, 4);
}

#[test]
fn operations_agree_with_the_processor_4() {
    compare(3, 4);
}

#[test]
fn constants_stay_constant() {
    let mut trial = Trial::new(7);
    for f in ALL.into_iter().filter(|&f| !has_no_rule(f)) {
        for _ in 0..50 {
            let [a, b] = [(); 2].map(|()| [trial.constant(), trial.constant()]);
            let imm = trial.below(256) as u8;
            let made = vector(&mut trial.pool, f, a, b, imm).expect("a rule");
            for half in made {
                assert!(trial.pool.as_const(half).is_some(), "{f:?}");
            }
        }
    }
}

/// Operations whose lanes look only at the same lanes of the operands.
const LANE_BY_LANE: [(V, usize); 12] = [
    (V::Paddb, 1),
    (V::Psubb, 1),
    (V::Pcmpeqb, 1),
    (V::Pcmpgtb, 1),
    (V::Pminub, 1),
    (V::Pmaxub, 1),
    (V::Paddusb, 1),
    (V::Psubusb, 1),
    (V::Pavgb, 1),
    (V::Pcmpeqw, 2),
    (V::Paddd, 4),
    (V::Pcmpeqd, 4),
];

#[test]
fn constant_lanes_stay_constant() {
    let mut trial = Trial::new(11);
    for (f, bytes) in LANE_BY_LANE {
        for _ in 0..200 {
            let [a, b] = [(); 2].map(|()| [trial.word(), trial.word()]);
            let made = vector(&mut trial.pool, f, a, b, 0).expect("a rule");
            let [a, b, made] = [a, b, made].map(|v| super::split_pair(&mut trial.pool, v, 8));
            for lane in 0..16 / bytes {
                let here = lane * bytes..(lane + 1) * bytes;
                let is_constant =
                    |v: &[_]| v[here.clone()].iter().all(|&t| trial.pool.as_const(t).is_some());
                assert!(!is_constant(&a) || !is_constant(&b) || is_constant(&made), "{f:?}");
            }
        }
    }
}
