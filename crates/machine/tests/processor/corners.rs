//! The corners of common instructions as text that a person can check against the manual.
//!
//! Each line of `corners.txt` is an instruction, what was in its registers, what changed, and the
//! flags as letters (`?` where the manual leaves one open). The file comes from the host; the
//! machine must give the same lines, and so must every later host.

use std::fmt::Write as _;

use iced_x86::{Code, Encoder, Instruction, Register as R};

use crate::{
    host::Host,
    machine::Machine,
    pair::text,
    place::START,
    prepare::number,
    state::{AF, CF, DF, Event, NAMES, OF, PF, SF, State, ZF},
    undefined,
};

/// An instruction and what its registers hold.
struct Corner {
    instruction: Instruction,
    flags: u64,
    general: Vec<(R, u64)>,
    vector: Vec<(R, u128)>,
}

fn corner(instruction: Instruction, general: &[(R, u64)]) -> Corner {
    Corner { instruction, flags: 0, general: general.to_vec(), vector: Vec::new() }
}

fn two(code: Code, a: R, b: R) -> Instruction {
    Instruction::with2(code, a, b).expect("two registers")
}

fn one(code: Code, a: R) -> Instruction {
    Instruction::with1(code, a).expect("a register")
}

fn arithmetic(corners: &mut Vec<Corner>) {
    let pairs =
        [(0x7f, 0x01), (0xff, 0x01), (0x80, 0x80), (0x00, 0x01), (0x80, 0xff), (0x0f, 0x0f)];
    for code in [
        Code::Add_rm8_r8,
        Code::Sub_rm8_r8,
        Code::Cmp_rm8_r8,
        Code::And_rm8_r8,
        Code::Or_rm8_r8,
        Code::Xor_rm8_r8,
        Code::Test_rm8_r8,
    ] {
        for (a, b) in pairs {
            corners.push(corner(two(code, R::AL, R::CL), &[(R::AL, a), (R::CL, b)]));
        }
    }
    for code in [Code::Adc_rm8_r8, Code::Sbb_rm8_r8] {
        for (a, b) in pairs {
            let mut with_carry = corner(two(code, R::AL, R::CL), &[(R::AL, a), (R::CL, b)]);
            with_carry.flags = CF;
            corners.push(with_carry);
        }
    }
    for code in [Code::Add_rm64_r64, Code::Sub_rm64_r64] {
        for (a, b) in [(i64::MAX as u64, 1), (u64::MAX, 1), (1 << 63, 1 << 63)] {
            corners.push(corner(two(code, R::RAX, R::RCX), &[(R::RAX, a), (R::RCX, b)]));
        }
    }
    // A result of 32 bits clears the upper half, one of 16 or 8 bits does not.
    let ones = u64::MAX;
    corners.push(corner(two(Code::Add_rm32_r32, R::EAX, R::ECX), &[(R::RAX, ones), (R::RCX, 1)]));
    corners.push(corner(two(Code::Add_rm16_r16, R::AX, R::CX), &[(R::RAX, ones), (R::RCX, 1)]));
    corners.push(corner(two(Code::Add_rm8_r8, R::AH, R::CL), &[(R::RAX, ones), (R::RCX, 1)]));
    for code in [Code::Inc_rm8, Code::Dec_rm8, Code::Neg_rm8, Code::Not_rm8] {
        for a in [0x00, 0x01, 0x7f, 0x80, 0xff] {
            let mut with_carry = corner(one(code, R::AL), &[(R::AL, a)]);
            with_carry.flags = CF;
            corners.push(with_carry);
        }
    }
}

fn shifts(corners: &mut Vec<Corner>) {
    for code in [
        Code::Shl_rm8_CL,
        Code::Shr_rm8_CL,
        Code::Sar_rm8_CL,
        Code::Rol_rm8_CL,
        Code::Ror_rm8_CL,
        Code::Rcl_rm8_CL,
        Code::Rcr_rm8_CL,
    ] {
        for count in [0, 1, 7, 8, 9, 32] {
            corners.push(corner(two(code, R::AL, R::CL), &[(R::AL, 0x81), (R::CL, count)]));
        }
    }
    for code in [Code::Shl_rm32_CL, Code::Sar_rm32_CL, Code::Shl_rm64_CL, Code::Sar_rm64_CL] {
        let a = if matches!(code, Code::Shl_rm32_CL | Code::Sar_rm32_CL) { R::EAX } else { R::RAX };
        for count in [31, 32, 63, 64] {
            let set = [(R::RAX, 0x8000_0000_8000_0001), (R::CL, count)];
            corners.push(corner(two(code, a, R::CL), &set));
        }
    }
    for code in [Code::Shld_rm32_r32_CL, Code::Shrd_rm32_r32_CL] {
        for count in [0, 1, 31] {
            let i = Instruction::with3(code, R::EAX, R::EDX, R::CL).expect("three registers");
            let set = [(R::EAX, 0x8000_0001), (R::EDX, 0x1234_5678), (R::CL, count)];
            corners.push(corner(i, &set));
        }
    }
    for (code, a, b) in [
        (Code::Bsf_r32_rm32, R::EAX, R::ECX),
        (Code::Bsr_r32_rm32, R::EAX, R::ECX),
        (Code::Bsf_r64_rm64, R::RAX, R::RCX),
        (Code::Bsr_r64_rm64, R::RAX, R::RCX),
    ] {
        for value in [0, 1, 0x8000_0000, 0x60] {
            corners
                .push(corner(two(code, a, b), &[(R::RAX, 0xffff_ffff_0000_0000), (R::RCX, value)]));
        }
    }
    for code in [Code::Bt_rm32_r32, Code::Bts_rm32_r32, Code::Btr_rm32_r32, Code::Btc_rm32_r32] {
        for index in [0, 31, 33] {
            corners.push(corner(two(code, R::EAX, R::ECX), &[(R::EAX, 5), (R::ECX, index)]));
        }
    }
}

fn products(corners: &mut Vec<Corner>) {
    for (code, a, b) in [
        (Code::Mul_rm8, 0x10, 0x10),
        (Code::Mul_rm8, 0x0f, 0x11),
        (Code::Imul_rm8, 0x80, 0x80),
        (Code::Imul_rm8, 0xff, 0xff),
        (Code::Imul_rm8, 0x7f, 0x02),
        (Code::Div_rm8, 0x00ff, 0x10),
        (Code::Div_rm8, 0x1000, 0x10),
        (Code::Div_rm8, 0x0001, 0x00),
        (Code::Idiv_rm8, 0xff80, 0xff),
        (Code::Idiv_rm8, 0xff81, 0xff),
        (Code::Idiv_rm8, 0xfff9, 0x02),
    ] {
        corners.push(corner(one(code, R::CL), &[(R::AX, a), (R::CL, b)]));
    }
    let least = 1 << 63;
    for (code, high, low, by) in [
        (Code::Mul_rm64, 0, u64::MAX, u64::MAX),
        (Code::Imul_rm64, 0, least, u64::MAX),
        (Code::Div_rm64, 1, 0, 2),
        (Code::Div_rm64, 2, 0, 2),
        (Code::Idiv_rm64, u64::MAX, least, u64::MAX),
        (Code::Idiv_rm64, u64::MAX, least, 1),
        (Code::Idiv_rm64, 0, 7, (-2i64) as u64),
        (Code::Idiv_rm64, 0, 7, 0),
    ] {
        corners.push(corner(one(code, R::RCX), &[(R::RDX, high), (R::RAX, low), (R::RCX, by)]));
    }
    for (a, b) in [(0x7fff_ffff, 2), (0xffff_ffff, 0xffff_ffff), (0x1_0000, 0x1_0000)] {
        let i = two(Code::Imul_r32_rm32, R::EAX, R::ECX);
        corners.push(corner(i, &[(R::EAX, a), (R::ECX, b)]));
    }
}

fn moves(corners: &mut Vec<Corner>) {
    let set = [(R::RAX, 0x8899_aabb_ccdd_eeff), (R::RCX, 0x0102_0304_0506_0780)];
    for (code, a, b) in [
        (Code::Mov_rm8_r8, R::AL, R::CL),
        (Code::Mov_rm8_r8, R::AH, R::CL),
        (Code::Mov_rm16_r16, R::AX, R::CX),
        (Code::Mov_rm32_r32, R::EAX, R::ECX),
        (Code::Mov_rm32_r32, R::EAX, R::EAX),
        (Code::Movzx_r16_rm8, R::AX, R::CL),
        (Code::Movzx_r32_rm8, R::EAX, R::CL),
        (Code::Movsx_r16_rm8, R::AX, R::CL),
        (Code::Movsx_r32_rm8, R::EAX, R::CL),
        (Code::Movsx_r64_rm8, R::RAX, R::CL),
        (Code::Movsxd_r64_rm32, R::RCX, R::EAX),
        (Code::Xchg_rm32_r32, R::EAX, R::ECX),
        (Code::Xchg_rm8_r8, R::AH, R::AL),
        (Code::Xadd_rm32_r32, R::EAX, R::ECX),
        (Code::Xadd_rm32_r32, R::EAX, R::EAX),
        (Code::Cmpxchg_rm64_r64, R::RCX, R::RDX),
        (Code::Cmpxchg_rm64_r64, R::RAX, R::RDX),
        // The upper half is cleared even where nothing is moved.
        (Code::Cmove_r32_rm32, R::EAX, R::ECX),
        (Code::Cmovne_r32_rm32, R::EAX, R::ECX),
    ] {
        corners.push(corner(two(code, a, b), &set));
    }
    for code in [Code::Cbw, Code::Cwde, Code::Cdqe, Code::Cwd, Code::Cdq, Code::Cqo] {
        corners.push(corner(Instruction::with(code), &set));
    }
    for code in [Code::Lahf, Code::Sahf, Code::Cmc, Code::Clc, Code::Stc, Code::Cld, Code::Std] {
        let mut with_flags = corner(Instruction::with(code), &set);
        with_flags.flags = CF | ZF | OF;
        corners.push(with_flags);
    }
    corners.push(corner(one(Code::Bswap_r32, R::EAX), &set));
    corners.push(corner(one(Code::Bswap_r64, R::RAX), &set));
}

/// The numbers that floating-point instructions are tried with.
const NUMBERS: [f64; 8] = [0.0, -0.0, 1.0, -1.5, f64::MAX, f64::INFINITY, f64::NAN, 5e-324];

fn floats(corners: &mut Vec<Corner>) {
    let pairs = [(0, 1), (2, 0), (5, 5), (4, 4), (6, 2), (2, 6), (7, 3), (0, 0)]
        .map(|(a, b): (usize, usize)| (NUMBERS[a].to_bits(), NUMBERS[b].to_bits()));
    for code in [
        Code::Addsd_xmm_xmmm64,
        Code::Subsd_xmm_xmmm64,
        Code::Mulsd_xmm_xmmm64,
        Code::Divsd_xmm_xmmm64,
        Code::Minsd_xmm_xmmm64,
        Code::Maxsd_xmm_xmmm64,
        Code::Ucomisd_xmm_xmmm64,
    ] {
        for (a, b) in pairs {
            let mut c = corner(two(code, R::XMM0, R::XMM1), &[]);
            c.vector = vec![(R::XMM0, u128::from(a)), (R::XMM1, u128::from(b))];
            corners.push(c);
        }
    }
    for (code, target) in
        [(Code::Cvttsd2si_r32_xmmm64, R::EAX), (Code::Cvtsd2si_r64_xmmm64, R::RAX)]
    {
        for value in [0.5, 1.5, 2.5, -1.5, 2147483647.5, -2147483648.5, 1e300, f64::NAN] {
            let mut c = corner(two(code, target, R::XMM0), &[]);
            c.vector = vec![(R::XMM0, u128::from(value.to_bits()))];
            corners.push(c);
        }
    }
    for value in [-1.0, -0.0, 2.0, f64::NEG_INFINITY] {
        let mut c = corner(two(Code::Sqrtsd_xmm_xmmm64, R::XMM0, R::XMM1), &[]);
        c.vector = vec![(R::XMM1, u128::from(f64::to_bits(value)))];
        corners.push(c);
    }
    let (a, b) =
        (0x00ff_7f80_8001_fe7f_0102_ff00_10f0_aa55, 0x0101_0180_80ff_fe80_0102_00ff_f010_55aa);
    for code in [
        Code::Paddb_xmm_xmmm128,
        Code::Paddusb_xmm_xmmm128,
        Code::Paddsb_xmm_xmmm128,
        Code::Psubusb_xmm_xmmm128,
        Code::Pcmpeqb_xmm_xmmm128,
        Code::Pcmpgtb_xmm_xmmm128,
        Code::Pminub_xmm_xmmm128,
        Code::Pavgb_xmm_xmmm128,
        Code::Packuswb_xmm_xmmm128,
        Code::Packsswb_xmm_xmmm128,
        Code::Pmulhw_xmm_xmmm128,
        Code::Pmulhuw_xmm_xmmm128,
        Code::Pmaddwd_xmm_xmmm128,
        Code::Psadbw_xmm_xmmm128,
        Code::Punpcklbw_xmm_xmmm128,
        Code::Punpckhdq_xmm_xmmm128,
    ] {
        let mut c = corner(two(code, R::XMM0, R::XMM1), &[]);
        c.vector = vec![(R::XMM0, a), (R::XMM1, b)];
        corners.push(c);
    }
}

fn all() -> Vec<Corner> {
    let mut corners = Vec::new();
    arithmetic(&mut corners);
    shifts(&mut corners);
    products(&mut corners);
    moves(&mut corners);
    floats(&mut corners);
    corners
}

/// The flags as letters, `?` for what is undefined.
fn letters(flags: u64, undefined: u64) -> String {
    [(OF, 'O'), (DF, 'D'), (SF, 'S'), (ZF, 'Z'), (AF, 'A'), (PF, 'P'), (CF, 'C')]
        .into_iter()
        .map(|(bit, letter)| match (undefined & bit != 0, flags & bit != 0) {
            (true, _) => '?',
            (false, true) => letter,
            (false, false) => '.',
        })
        .collect()
}

fn state(corner: &Corner) -> State {
    let mut state = State::new();
    state.flags = corner.flags | 2;
    for (register, value) in &corner.general {
        let n = number(*register);
        state.general[n] = match register.size() {
            1 => state.general[n] & !0xff | value & 0xff,
            2 => state.general[n] & !0xffff | value & 0xffff,
            _ => *value,
        };
    }
    for (register, value) in &corner.vector {
        let at = 160 + 16 * register.number();
        state.fx[at..at + 16].copy_from_slice(&value.to_le_bytes());
    }
    state
}

/// The line of a corner, as one processor sees it.
fn line(corner: &Corner, run: &mut dyn FnMut(&[u8], &mut State) -> Event) -> String {
    let mut encoder = Encoder::new(64);
    encoder.encode(&corner.instruction, START).expect("corners can be encoded");
    let before = state(corner);
    let mut after = before;
    let event = run(&encoder.take_buffer(), &mut after);
    let mut set = String::new();
    for (register, value) in &corner.general {
        write!(set, "{}={value:x} ", format!("{register:?}").to_lowercase()).unwrap();
    }
    for (register, value) in &corner.vector {
        write!(set, "{}={value:x} ", format!("{register:?}").to_lowercase()).unwrap();
    }
    if corner.flags != 0 {
        write!(set, "{} ", letters(corner.flags, 0)).unwrap();
    }
    let mut got = String::new();
    for (k, name) in NAMES.iter().enumerate() {
        if before.general[k] != after.general[k] {
            write!(got, "{name}={:x} ", after.general[k]).unwrap();
        }
    }
    for k in 0..16 {
        if before.xmm(k) != after.xmm(k) {
            write!(got, "xmm{k}={:x} ", after.xmm(k)).unwrap();
        }
    }
    if before.mxcsr() != after.mxcsr() {
        write!(got, "mxcsr={:x} ", after.mxcsr()).unwrap();
    }
    match event {
        Event::Finished => {
            let undefined = undefined::flags(&corner.instruction, &before);
            got += &letters(after.flags, undefined);
        }
        Event::Signal { number, .. } => write!(got, "signal {number}").unwrap(),
        Event::Unsupported => got += "unsupported",
    }
    format!("{:<24} {set:<44} -> {got}", text(&corner.instruction))
}

/// All lines as the host sees them.
pub fn host() -> String {
    let mut host = Host::new();
    let mut lines = String::new();
    for corner in all() {
        let mut run = |code: &[u8], state: &mut State| {
            host.set_code(code);
            host.run(state)
        };
        lines += &line(&corner, &mut run);
        lines.push('\n');
    }
    lines
}

/// All lines as the machine sees them.
pub fn machine() -> String {
    let mut machine = Machine::new(stunt_machine::code::Model::Full);
    let mut lines = String::new();
    for corner in all() {
        let mut run = |code: &[u8], state: &mut State| {
            machine.set_code(code);
            machine.run(state)
        };
        lines += &line(&corner, &mut run);
        lines.push('\n');
    }
    lines
}
