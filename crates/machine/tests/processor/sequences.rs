//! Straight pieces of code: what is dropped or fused between instructions must not be missed.
//!
//! One instruction at a time never meets the passes that look at a whole block: flags that nobody
//! reads are not computed, comparisons are fused with the jump behind them. Here a few random
//! instructions follow each other, and often a jump ends them. No instruction reads a flag that
//! one before it left undefined.

use iced_x86::{
    Code, ConditionCode, Encoder, FlowControl, Instruction, MemoryOperand, Mnemonic as M, Register,
    RflagsBits,
};
use rand::{Rng, SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha8Rng;
use stunt_machine::code::Model;

use crate::{
    encode::{self, Form},
    forms::{self, Family},
    pair::{Pair, hexadecimal, text},
    place::{CONSTANT, DATA, DATA_END, START},
    prepare::prepare,
    state::{AF, CF, OF, PF, SF, ZF, letters},
};

/// The flags of iced-x86 as bits of `rflags`.
fn flags(bits: u32) -> u64 {
    [
        (RflagsBits::OF, OF),
        (RflagsBits::SF, SF),
        (RflagsBits::ZF, ZF),
        (RflagsBits::AF, AF),
        (RflagsBits::CF, CF),
        (RflagsBits::PF, PF),
    ]
    .into_iter()
    .filter(|(bit, _)| bits & bit != 0)
    .fold(0, |flags, (_, flag)| flags | flag)
}

/// Whether the instruction can stand in a sequence: it does not fault, and all of its results are
/// defined.
fn suitable(code: Code) -> bool {
    let mut i = Instruction::new();
    i.set_code(code);
    let feature = forms::absent(code).is_none();
    let faults = matches!(
        i.mnemonic(),
        M::Div
            | M::Idiv
            | M::Xlatb
            | M::Clflush
            | M::In
            | M::Out
            | M::Cli
            | M::Sti
            | M::Hlt
            | M::Invd
            | M::Wbinvd
            | M::Clts
    );
    let open = matches!(i.mnemonic(), M::Shld | M::Shrd | M::Cmpxchg | M::Pushf | M::Pushfq);
    let state = matches!(i.mnemonic(), M::Ldmxcsr | M::Stmxcsr | M::Rdsspd | M::Rdsspq);
    feature && !faults && !open && !state && !i.is_stack_instruction()
}

/// Whether how many flags it writes depends on a count.
fn shifts(i: &Instruction) -> bool {
    matches!(i.mnemonic(), M::Shl | M::Sal | M::Shr | M::Sar | M::Rol | M::Ror | M::Rcl | M::Rcr)
}

struct Sequence {
    bytes: Vec<u8>,
    text: String,
    undefined: u64,
    first: Instruction,
    /// Whether an instruction in it faults: then the flags may be older, and nothing else.
    faults: bool,
}

/// An instruction that faults, whatever the registers hold.
fn faulting(rng: &mut ChaCha8Rng, at: u64) -> (Vec<u8>, Instruction) {
    let nothing = MemoryOperand::with_base_displ(Register::RIP, (DATA_END + 0x100) as i64);
    let constant = MemoryOperand::with_base_displ(Register::RIP, (CONSTANT + 0x100) as i64);
    let i = match rng.gen_range(0..4) {
        0 => Instruction::with2(Code::Mov_r64_rm64, Register::RAX, nothing),
        1 => Instruction::with2(Code::Add_rm64_r64, constant, Register::RCX),
        2 => Instruction::with2(Code::Xchg_rm32_r32, constant, Register::EDX),
        _ => Instruction::with1(Code::Setb_rm8, nothing),
    }
    .expect("a register and memory");
    let mut encoder = Encoder::new(64);
    encoder.encode(&i, at).expect("near enough");
    (encoder.take_buffer(), i)
}

fn sequence(rng: &mut ChaCha8Rng, plain: &[Code], jumps: &[Code]) -> Sequence {
    let mut made = Sequence {
        bytes: Vec::new(),
        text: String::new(),
        undefined: 0,
        first: Instruction::new(),
        faults: false,
    };
    let length = rng.gen_range(2..9);
    let fault = if rng.gen_bool(0.2) { rng.gen_range(0..length) } else { length };
    let mut count = 0;
    while count < length {
        if count == fault && !made.faults {
            let at = START + made.bytes.len() as u64;
            let (bytes, instruction) = faulting(rng, at);
            made.bytes.extend(bytes);
            made.text += &format!("  {}\n", text(&instruction));
            made.faults = true;
        }
        let last = count + 1 == length && rng.gen_bool(0.7);
        let code = *if last { jumps } else { plain }.choose(rng).expect("not empty");
        let form = *encode::forms(code).choose(rng).expect("not empty");
        let at = START + made.bytes.len() as u64;
        let Some(variant) = encode::attempt(rng, code, form, at) else { continue };
        let i = variant.instruction;
        if form == Form::Memory && !reachable(&i) {
            continue;
        }
        if flags(i.rflags_read()) & made.undefined != 0 {
            continue;
        }
        let undefined = flags(i.rflags_undefined());
        if shifts(&i) {
            made.undefined |= undefined | OF | AF | CF;
        } else {
            made.undefined = made.undefined & !flags(i.rflags_modified()) | undefined;
        }
        if count == 0 {
            made.first = i;
        }
        made.bytes.extend(&variant.bytes);
        made.text += &format!("  {}\n", text(&i));
        count += 1;
    }
    made
}

/// Memory in a sequence is at a fixed address within the data, or not accessed at all.
fn reachable(i: &Instruction) -> bool {
    let at = i.memory_displacement64();
    let touches_nothing = matches!(i.mnemonic(), M::Lea | M::Nop | M::Prefetchw | M::Prefetcht0);
    let fixed = i.is_ip_rel_memory_operand() && (DATA..DATA_END - 16).contains(&at);
    let bits = matches!(i.mnemonic(), M::Bt | M::Bts | M::Btr | M::Btc | M::Cmpxchg16b);
    touches_nothing || fixed && !bits
}

/// Compares so many random sequences, in a few states each.
pub fn agree(count: u32) {
    let mut rng = ChaCha8Rng::seed_from_u64(81);
    let mut pair = Pair::new(&mut rng, Model::Full);
    let codes: Vec<Code> = forms::codes();
    let plain: Vec<Code> = codes
        .iter()
        .copied()
        .filter(|code| forms::family(*code) == Family::Integer && suitable(*code))
        .collect();
    let jumps: Vec<Code> = codes
        .into_iter()
        .filter(|code| {
            let mut i = Instruction::new();
            i.set_code(*code);
            i.flow_control() == FlowControl::ConditionalBranch
                && i.condition_code() != ConditionCode::None
        })
        .filter(|code| format!("{code:?}").ends_with("rel8_64"))
        .collect();
    assert!(plain.len() > 300 && jumps.len() >= 16, "{} and {}", plain.len(), jumps.len());
    for _ in 0..count {
        let made = sequence(&mut rng, &plain, &jumps);
        pair.set_code(&made.bytes);
        for _ in 0..5 {
            let state = prepare(&mut rng, &made.first, None).state;
            let undefined = if made.faults { u64::MAX } else { made.undefined };
            let found = pair.compare_code(&state, undefined);
            assert!(
                found.is_empty(),
                "{}  [{}] {}\n  before {} {:x?}\n{found}",
                made.text,
                hexadecimal(&made.bytes),
                pair.machine.way(),
                letters(state.flags),
                state.general
            );
        }
    }
}
