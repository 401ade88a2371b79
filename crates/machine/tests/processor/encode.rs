//! Encodings of an instruction code: every operand chosen at random among what its form allows.
//!
//! A [`Variant`] is one encoded instruction. Registers are drawn from all that fit, also the same
//! one twice; memory operands from all shapes of addresses. What cannot be encoded (`ah` with a
//! REX prefix) is drawn again.

use iced_x86::{
    Code, Decoder, DecoderOptions, Encoder, Instruction, OpCodeOperandKind as K, OpKind, Register,
};
use rand::{Rng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;

use crate::place::{CODE, DATA, DATA_END, GS, START};

/// Whether an operand that may be a register or in memory is one or the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// In a register, or there is no such operand.
    Register,
    /// In memory.
    Memory,
}

/// One encoded instruction.
pub struct Variant {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What they decode to.
    pub instruction: Instruction,
}

/// The forms that a code has.
pub fn forms(code: Code) -> Vec<Form> {
    let kinds = code.op_code().op_kinds();
    let either = kinds.iter().any(|kind| may_be_memory(*kind));
    let memory = kinds.iter().any(|kind| matches!(kind, K::mem | K::mem_offs));
    match (either, memory) {
        (true, _) => vec![Form::Register, Form::Memory],
        (false, true) => vec![Form::Memory],
        (false, false) => vec![Form::Register],
    }
}

fn may_be_memory(kind: K) -> bool {
    matches!(
        kind,
        K::r8_or_mem | K::r16_or_mem | K::r32_or_mem | K::r64_or_mem | K::mm_or_mem | K::xmm_or_mem
    )
}

/// A random encoding; `None` if none was found.
pub fn variant(rng: &mut ChaCha8Rng, code: Code, form: Form) -> Option<Variant> {
    (0..50).find_map(|_| attempt(rng, code, form, START))
}

/// One attempt at a random encoding of an instruction at this address.
pub fn attempt(rng: &mut ChaCha8Rng, code: Code, form: Form, at: u64) -> Option<Variant> {
    let mut i = Instruction::new();
    i.set_code(code);
    let info = code.op_code();
    for n in 0..info.op_count() {
        operand(rng, &mut i, n, info.op_kind(n), form)?;
    }
    if form == Form::Memory && info.can_use_lock_prefix() && rng.gen_bool(0.2) {
        i.set_has_lock_prefix(true);
    }
    if info.can_use_rep_prefix() && i.is_string_instruction() {
        match rng.gen_range(0..3) {
            0 => i.set_has_rep_prefix(true),
            1 if info.can_use_repne_prefix() => i.set_has_repne_prefix(true),
            _ => {}
        }
    }
    let mut encoder = Encoder::new(64);
    encoder.encode(&i, at).ok()?;
    let bytes = encoder.take_buffer();
    let instruction = Decoder::with_ip(64, &bytes, at, DecoderOptions::NONE).decode();
    // Some codes share their bytes with others, which the decoder prefers.
    (instruction.code() == code).then_some(Variant { bytes, instruction })
}

fn general(rng: &mut ChaCha8Rng, first: Register) -> Register {
    first + rng.gen_range(0..16)
}

fn byte_register(rng: &mut ChaCha8Rng) -> Register {
    // al, cl, dl, bl, ah, ch, dh, bh, spl, bpl, sil, dil, r8b to r15b
    Register::AL + rng.gen_range(0..20)
}

fn operand(rng: &mut ChaCha8Rng, i: &mut Instruction, n: u32, kind: K, form: Form) -> Option<()> {
    if may_be_memory(kind) && form == Form::Memory {
        return memory(rng, i, n);
    }
    let register = |i: &mut Instruction, r: Register| {
        i.set_op_kind(n, OpKind::Register);
        i.set_op_register(n, r);
        Some(())
    };
    match kind {
        K::mem => memory(rng, i, n),
        K::mem_offs => {
            i.set_op_kind(n, OpKind::Memory);
            i.set_memory_displ_size(8);
            i.set_memory_displacement64(rng.gen_range(DATA..DATA_END));
            Some(())
        }
        K::r8_or_mem | K::r8_reg | K::r8_opcode => register(i, byte_register(rng)),
        K::r16_or_mem | K::r16_reg | K::r16_rm | K::r16_opcode => {
            register(i, general(rng, Register::AX))
        }
        K::r32_or_mem | K::r32_reg | K::r32_rm | K::r32_opcode | K::r32_vvvv => {
            register(i, general(rng, Register::EAX))
        }
        K::r64_or_mem | K::r64_reg | K::r64_rm | K::r64_opcode | K::r64_vvvv => {
            register(i, general(rng, Register::RAX))
        }
        K::xmm_or_mem | K::xmm_reg | K::xmm_rm => register(i, general(rng, Register::XMM0)),
        K::mm_or_mem | K::mm_reg | K::mm_rm => register(i, Register::MM0 + rng.gen_range(0..8)),
        K::seg_reg => register(i, *[Register::CS, Register::SS].choose(rng)?),
        K::fs => register(i, Register::FS),
        K::gs => register(i, Register::GS),
        K::al => register(i, Register::AL),
        K::cl => register(i, Register::CL),
        K::ax => register(i, Register::AX),
        K::dx => register(i, Register::DX),
        K::eax => register(i, Register::EAX),
        K::rax => register(i, Register::RAX),
        K::st0 => register(i, Register::ST0),
        K::sti_opcode => register(i, Register::ST0 + rng.gen_range(0..8)),
        K::imm8 => {
            let value = small(rng);
            i.set_op_kind(
                n,
                if n == 2 && i.op_count() > 3 {
                    OpKind::Immediate8_2nd
                } else {
                    OpKind::Immediate8
                },
            );
            if i.op_kind(n) == OpKind::Immediate8 {
                i.set_immediate8(value);
            } else {
                i.set_immediate8_2nd(value);
            }
            Some(())
        }
        K::imm8_const_1 => {
            i.set_op_kind(n, OpKind::Immediate8);
            i.set_immediate8(1);
            Some(())
        }
        K::imm8sex16 => {
            i.set_op_kind(n, OpKind::Immediate8to16);
            i.set_immediate8to16(i16::from(small(rng) as i8));
            Some(())
        }
        K::imm8sex32 => {
            i.set_op_kind(n, OpKind::Immediate8to32);
            i.set_immediate8to32(i32::from(small(rng) as i8));
            Some(())
        }
        K::imm8sex64 => {
            i.set_op_kind(n, OpKind::Immediate8to64);
            i.set_immediate8to64(i64::from(small(rng) as i8));
            Some(())
        }
        K::imm16 => {
            i.set_op_kind(n, OpKind::Immediate16);
            i.set_immediate16(crate::values::word(rng) as u16);
            Some(())
        }
        K::imm32 => {
            i.set_op_kind(n, OpKind::Immediate32);
            i.set_immediate32(crate::values::word(rng) as u32);
            Some(())
        }
        K::imm32sex64 => {
            i.set_op_kind(n, OpKind::Immediate32to64);
            i.set_immediate32to64(i64::from(crate::values::word(rng) as i32));
            Some(())
        }
        K::imm64 => {
            i.set_op_kind(n, OpKind::Immediate64);
            i.set_immediate64(crate::values::word(rng));
            Some(())
        }
        K::br64_1 => {
            i.set_op_kind(n, OpKind::NearBranch64);
            i.set_near_branch64(START + rng.gen_range(0..0x100) - rng.gen_range(0..0x80));
            breakpoint(i.near_branch64())
        }
        K::br64_4 => {
            i.set_op_kind(n, OpKind::NearBranch64);
            // Sometimes to where there is no code.
            let target = if rng.gen_bool(0.9) { CODE } else { DATA };
            i.set_near_branch64(target + rng.gen_range(0..0x1000));
            breakpoint(i.near_branch64())
        }
        K::seg_rSI => {
            i.set_op_kind(
                n,
                *[OpKind::MemorySegRSI, OpKind::MemorySegRSI, OpKind::MemorySegESI].choose(rng)?,
            );
            if rng.gen_bool(0.1) {
                i.set_segment_prefix(Register::GS);
            }
            agree(i)
        }
        K::es_rDI => {
            i.set_op_kind(
                n,
                *[OpKind::MemoryESRDI, OpKind::MemoryESRDI, OpKind::MemoryESEDI].choose(rng)?,
            );
            agree(i)
        }
        K::seg_rDI => {
            i.set_op_kind(n, OpKind::MemorySegRDI);
            Some(())
        }
        K::seg_rBX_al => {
            i.set_op_kind(n, OpKind::Memory);
            i.set_memory_base(if rng.gen_bool(0.8) { Register::RBX } else { Register::EBX });
            i.set_memory_index(Register::AL);
            if rng.gen_bool(0.1) {
                i.set_segment_prefix(Register::GS);
            }
            Some(())
        }
        _ => None,
    }
}

/// A jump must not go to itself, nor to the way back behind it.
fn breakpoint(target: u64) -> Option<()> {
    (!(START - 16..START + 160).contains(&target)).then_some(())
}

/// Both addresses of a string instruction have the same size.
fn agree(i: &Instruction) -> Option<()> {
    let narrow = |kind| matches!(kind, OpKind::MemorySegESI | OpKind::MemoryESEDI);
    let wide = |kind| matches!(kind, OpKind::MemorySegRSI | OpKind::MemoryESRDI);
    let kinds = [i.op0_kind(), i.op1_kind()];
    (!(kinds.into_iter().any(narrow) && kinds.into_iter().any(wide))).then_some(())
}

/// A constant of eight bits: often one that means something as a count, an order or a comparison.
fn small(rng: &mut ChaCha8Rng) -> u8 {
    match rng.gen_range(0..3) {
        0 => {
            *[0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 255].choose(rng).unwrap()
        }
        1 => rng.gen_range(0..32),
        _ => rng.r#gen(),
    }
}

fn memory(rng: &mut ChaCha8Rng, i: &mut Instruction, n: u32) -> Option<()> {
    i.set_op_kind(n, OpKind::Memory);
    if rng.gen_bool(0.04) {
        i.set_segment_prefix(Register::GS);
    }
    let inside = || DATA + 64;
    match rng.gen_range(0..20) {
        // Nothing but a displacement.
        0 => {
            let mut at = rng.gen_range(DATA..DATA_END - 16) & if rng.r#gen() { !15 } else { !0 };
            if i.segment_prefix() == Register::GS {
                at -= GS;
            }
            i.set_memory_displ_size(4);
            i.set_memory_displacement64(at);
        }
        // Relative to the instruction pointer.
        1 | 2 => {
            i.set_segment_prefix(Register::None);
            i.set_memory_base(Register::RIP);
            i.set_memory_displ_size(8);
            let at = rng.gen_range(DATA..DATA_END - 16) & if rng.r#gen() { !15 } else { !0 };
            i.set_memory_displacement64(at);
        }
        shape => {
            let narrow = shape == 3;
            let first = if narrow { Register::EAX } else { Register::RAX };
            let index = shape >= 10;
            if !(index && rng.gen_bool(0.1)) {
                i.set_memory_base(general(rng, first));
            }
            if index {
                let register = general(rng, first);
                if register.full_register() == Register::RSP {
                    return None;
                }
                i.set_memory_index(register);
                i.set_memory_index_scale(1 << rng.gen_range(0..4));
            }
            let displacement = match rng.gen_range(0..4) {
                0 => 0,
                1 => i64::from(rng.r#gen::<i8>()),
                2 => i64::from(rng.r#gen::<i16>()),
                _ => i64::from(rng.r#gen::<i32>()),
            };
            if i.memory_base() == Register::None {
                // Far displacements are reached by a small index.
                i.set_memory_displ_size(if narrow { 4 } else { 8 });
                i.set_memory_displacement64(inside());
            } else if displacement != 0 {
                let short = i8::try_from(displacement).is_ok();
                i.set_memory_displ_size(if short {
                    1
                } else if narrow {
                    4
                } else {
                    8
                });
                i.set_memory_displacement64(if narrow {
                    u64::from(displacement as u32)
                } else {
                    displacement as u64
                });
            }
        }
    }
    Some(())
}
