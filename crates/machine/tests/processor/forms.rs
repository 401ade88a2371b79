//! The table of forms: every instruction code of `codes.list`, in its register and memory forms,
//! compared in so many random states.
//!
//! `STUNT_STATES` sets how many states a form gets, `STUNT_FORM` restricts the table to the codes
//! whose names contain it.

use std::{collections::BTreeMap, fmt::Write as _};

use iced_x86::{
    Code, CpuidFeature, FlowControl, Instruction, Mnemonic as M, OpCodeOperandKind as K,
};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use stunt_machine::code::Model;

use crate::{
    encode::{self, Form},
    pair::{Pair, Verdict},
    prepare::{lanes, prepare},
    undefined, values,
};

const CODES: &str = include_str!("codes.list");
const STATES: u32 = 2000;
/// States for each encoding.
const EACH: u32 = 40;

/// A family of instructions: a test each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// General registers and flags.
    Integer,
    /// Jumps, calls, returns, and what never finishes.
    Control,
    /// String instructions.
    Strings,
    /// Vector registers, integers and moves.
    Vector,
    /// Vector registers, floating point.
    Float,
    /// MMX registers.
    Mmx,
    /// x87.
    X87,
}

/// How many states a form gets.
fn states() -> u32 {
    std::env::var("STUNT_STATES").map_or(STATES, |n| n.parse().expect("a number"))
}

/// As many as `usual`, or more in proportion to the states that were asked for.
pub fn scaled(usual: u32) -> u32 {
    usual.saturating_mul(states().div_ceil(STATES))
}

/// The codes of the list.
pub fn codes() -> Vec<Code> {
    let names: BTreeMap<String, Code> = Code::values().map(|c| (format!("{c:?}"), c)).collect();
    CODES
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| *names.get(line).unwrap_or_else(|| panic!("{line} is no code")))
        .collect()
}

/// The family of a code.
pub fn family(code: Code) -> Family {
    let kinds = code.op_code().op_kinds();
    let mut i = Instruction::new();
    i.set_code(code);
    let has = |wanted: &[K]| kinds.iter().any(|kind| wanted.contains(kind));
    let x87 = |feature: &CpuidFeature| {
        matches!(feature, CpuidFeature::FPU | CpuidFeature::FPU287 | CpuidFeature::FPU387)
    };
    let saves = matches!(i.mnemonic(), M::Fxsave | M::Fxsave64 | M::Fxrstor | M::Fxrstor64);
    if i.is_string_instruction() {
        Family::Strings
    } else if has(&[K::mm_reg, K::mm_or_mem, K::mm_rm]) || i.mnemonic() == M::Emms {
        Family::Mmx
    } else if has(&[K::xmm_reg, K::xmm_or_mem, K::xmm_rm]) {
        vector(&i)
    } else if code.cpuid_features().iter().any(x87) || saves || i.mnemonic() == M::Wait {
        Family::X87
    } else if i.flow_control() != FlowControl::Next {
        Family::Control
    } else {
        Family::Integer
    }
}

fn vector(i: &Instruction) -> Family {
    match lanes(i) {
        values::Lanes::Integer => Family::Vector,
        _ => Family::Float,
    }
}

/// The feature that a code needs and this processor lacks.
pub fn absent(code: Code) -> Option<CpuidFeature> {
    use std::arch::is_x86_feature_detected as has;
    code.cpuid_features().iter().copied().find(|feature| match feature {
        CpuidFeature::SSE3 => !has!("sse3"),
        CpuidFeature::SSSE3 => !has!("ssse3"),
        CpuidFeature::SSE4_1 => !has!("sse4.1"),
        CpuidFeature::SSE4_2 => !has!("sse4.2"),
        CpuidFeature::POPCNT => !has!("popcnt"),
        CpuidFeature::LZCNT => !has!("lzcnt"),
        CpuidFeature::BMI1 => !has!("bmi1"),
        CpuidFeature::BMI2 => !has!("bmi2"),
        CpuidFeature::MOVBE => !has!("movbe"),
        CpuidFeature::CMPXCHG16B => !has!("cmpxchg16b"),
        _ => false,
    })
}

/// Compares every form of a family, prints the table, and fails if anything differs.
pub fn check(family: Family) {
    let states = states();
    let wanted = std::env::var("STUNT_FORM").unwrap_or_default().to_lowercase();
    let mut table = String::new();
    let (mut passed, mut skipped) = (0, 0);
    let (mut unsupported, mut different) = (Vec::new(), Vec::new());
    let mut uncompared = Vec::new();
    for code in codes() {
        let name = format!("{code:?}");
        if self::family(code) != family || !name.to_lowercase().contains(&wanted) {
            continue;
        }
        if let Some(feature) = absent(code) {
            writeln!(table, "{name:<32} skipped: this processor has no {feature:?}").unwrap();
            skipped += 1;
            continue;
        }
        let before = passed;
        for form in encode::forms(code) {
            let label = format!("{name:<32} {form:<8?}");
            match form_of(code, form, states) {
                Outcome::Passed(states) => {
                    writeln!(table, "{label} {states} states").unwrap();
                    passed += 1;
                }
                Outcome::NotEncodable => {
                    writeln!(table, "{label} skipped: no such encoding").unwrap();
                    skipped += 1;
                }
                Outcome::Unsupported(text) => unsupported.push(format!("{label} {text}")),
                Outcome::Different(text) => different.push(format!("{label}\n  {text}")),
            }
        }
        if passed == before {
            uncompared.push(name);
        }
    }
    println!("{table}");
    for line in &different {
        println!("DIFFERENT {line}");
    }
    for line in &unsupported {
        println!("UNSUPPORTED {line}");
    }
    println!(
        "{family:?}: {passed} forms agree, {} differ, {} are not supported, {skipped} skipped",
        different.len(),
        unsupported.len()
    );
    assert!(different.is_empty() && unsupported.is_empty(), "see the table above");
    assert!(uncompared.is_empty(), "no form of these was compared: {uncompared:?}");
    assert!(passed > 0 || !wanted.is_empty(), "no form of this family was compared");
}

enum Outcome {
    Passed(u32),
    NotEncodable,
    Unsupported(String),
    Different(String),
}

fn form_of(code: Code, form: Form, states: u32) -> Outcome {
    let mut rng = ChaCha8Rng::seed_from_u64(code as u64 * 2 + form as u64);
    let mut pair = Pair::new(&mut rng, Model::Full);
    let plain = matches!(family(code), Family::Integer | Family::Control | Family::Strings);
    let mut done = 0;
    while done < states {
        let Some(variant) = encode::variant(&mut rng, code, form) else {
            // A short jump is rarely near enough; among so many states it misses often in a row.
            if done > 0 {
                continue;
            }
            return Outcome::NotEncodable;
        };
        if undefined::hopeless(&variant.instruction) {
            continue;
        }
        pair.set_code(&variant.bytes);
        let template = values::vector_state(&mut rng, values::Lanes::Integer);
        for _ in 0..EACH {
            let prepared = prepare(&mut rng, &variant.instruction, plain.then_some(&template));
            match pair.compare(&variant, &prepared) {
                Verdict::Same => done += 1,
                Verdict::Unsupported => {
                    return Outcome::Unsupported(crate::pair::text(&variant.instruction));
                }
                Verdict::Different(text) => return Outcome::Different(text),
            }
        }
    }
    Outcome::Passed(done)
}
