//! Templates: what each op becomes.
//!
//! Every op reads its operands from slots and writes its result to slots, so that the state is
//! complete wherever control may leave. Ops without a template are done by the interpreter's own
//! function. Where the flags came from is known within a block: a condition is then computed by
//! setting the host's flags in the same way.

use super::{
    assembler::{
        Alu, Assembler, Copies, Hole, R8, R9, R12, R13, R14, RAX, RCX, RDI, RDX, RSI, Register,
        Turn,
    },
    context,
};
use crate::{
    code::{Condition, Op, Shift, Slot, Width, slots},
    cpu::{FlagKind, flag_code},
    memory::LINES,
};

/// What happens away from the straight way, at the end of the block's code.
pub(super) enum Aside {
    /// A load that no line covers; the value goes to `rax`.
    Load { from: Hole, back: usize, w: Width, copies: Copies },
    /// A store that no line covers.
    Store { from: Hole, back: usize, w: Width, copies: Copies },
    /// A whole op for the interpreter.
    Interpret { from: Vec<Hole>, back: usize, op: *const Op, copies: Copies },
    /// Something failed.
    Fail { from: Hole },
}

/// A block under compilation.
pub(super) struct Compiler {
    pub(super) a: Assembler,
    /// With the op that they belong to.
    pub(super) asides: Vec<(usize, Aside)>,
    /// What the flags came from, if that is known.
    pub(super) flags: Option<(FlagKind, Width)>,
    /// The op that is being compiled.
    pub(super) at: usize,
}

impl Compiler {
    /// Compiles an op.
    pub(super) fn op(&mut self, op: &Op) {
        match *op {
            Op::Const { d, value } => match i32::try_from(value as i64) {
                Ok(value) => self.a.store_constant(d, value),
                Err(_) => {
                    self.a.constant(RAX, value);
                    self.a.store(d, RAX);
                }
            },
            Op::Move { d, a } => self.copy(d, a, Width::W64),
            Op::Zext { w, d, a } => self.copy(d, a, w),
            Op::Sext { from, w, d, a } => {
                self.a.load_signed(RAX, a, from);
                self.a.cut(RAX, w);
                self.a.store(d, RAX);
            }
            Op::Insert { w, d, a } => {
                self.a.load(RCX, a, w);
                self.a.load(RAX, d, Width::W64);
                self.a.bytes(match w {
                    // mov al, cl
                    Width::W8 => &[0x88, 0xc8],
                    // mov ax, cx
                    Width::W16 => &[0x66, 0x89, 0xc8],
                    // shr rax, 32; shl rax, 32; or rax, rcx
                    Width::W32 => {
                        &[0x48, 0xc1, 0xe8, 0x20, 0x48, 0xc1, 0xe0, 0x20, 0x48, 0x09, 0xc8]
                    }
                    // mov rax, rcx
                    Width::W64 => &[0x48, 0x89, 0xc8],
                });
                self.a.store(d, RAX);
            }
            Op::High { d, a } => {
                self.a.load(RAX, a, Width::W16);
                self.a.turn(Turn::Shr, false, RAX, 8);
                self.a.store(d, RAX);
            }
            Op::Add { w, d, a, b, imm } => self.plain(Alu::Add, w, d, a, b, imm),
            Op::Sub { w, d, a, b, imm } => self.plain(Alu::Sub, w, d, a, b, imm),
            Op::And { w, d, a, b, imm } => self.plain(Alu::And, w, d, a, b, imm),
            Op::Or { w, d, a, b, imm } => self.plain(Alu::Or, w, d, a, b, imm),
            Op::Xor { w, d, a, b, imm } => self.plain(Alu::Xor, w, d, a, b, imm),
            Op::AddF { w, d, a, b, imm } => self.flagged(Alu::Add, FlagKind::Add, w, d, a, b, imm),
            Op::SubF { w, d, a, b, imm } => self.flagged(Alu::Sub, FlagKind::Sub, w, d, a, b, imm),
            Op::AndF { w, d, a, b, imm } => {
                self.flagged(Alu::And, FlagKind::Logic, w, d, a, b, imm);
            }
            Op::OrF { w, d, a, b, imm } => self.flagged(Alu::Or, FlagKind::Logic, w, d, a, b, imm),
            Op::XorF { w, d, a, b, imm } => {
                self.flagged(Alu::Xor, FlagKind::Logic, w, d, a, b, imm);
            }
            Op::CmpF { w, a, b, imm } => {
                self.result(Alu::Sub, w, a, b, imm);
                self.note(FlagKind::Sub, w);
            }
            Op::TestF { w, a, b, imm } => {
                self.result(Alu::And, w, a, b, imm);
                self.note(FlagKind::Logic, w);
            }
            Op::NegF { w, d, a } => {
                self.a.load(RCX, a, w);
                self.a.constant(RAX, 0);
                self.a.alu(Alu::Sub, true, RAX, RCX);
                self.a.cut(RAX, w);
                self.note(FlagKind::Sub, w);
                self.a.store(d, RAX);
            }
            Op::Mul { w, d, a, b, imm } => {
                self.a.load(RAX, a, w);
                self.second(RCX, w, b, imm);
                self.a.multiply(true, RAX, RCX);
                self.a.cut(RAX, w);
                self.a.store(d, RAX);
            }
            Op::Shl { w, d, a, b, imm } => self.shift(Turn::Shl, w, d, a, b, imm),
            Op::Shr { w, d, a, b, imm } => self.shift(Turn::Shr, w, d, a, b, imm),
            Op::Sar { w, d, a, b, imm } => self.shift(Turn::Sar, w, d, a, b, imm),
            Op::Ror { w, d, a, b, imm } if w >= Width::W32 => {
                self.shift(Turn::Ror, w, d, a, b, imm);
            }
            Op::ShiftF { f, w, d, a, b: slots::ZERO, imm } if constant_shift(f, w, imm) => {
                self.shift_with_flags(f, w, d, a, imm as u8);
            }
            Op::Not { w, d, a } => {
                self.a.load(RAX, a, w);
                self.a.not(RAX);
                self.a.cut(RAX, w);
                self.a.store(d, RAX);
            }
            Op::Bswap { w, d, a } if w >= Width::W32 => {
                self.a.load(RAX, a, w);
                self.a.byte_swap(w == Width::W64, RAX);
                self.a.store(d, RAX);
            }
            Op::Lea { w, d, base, index, shift, disp } => {
                self.address(base, index, shift, disp);
                self.a.cut(RAX, w);
                self.a.store(d, RAX);
            }
            Op::MulWide { w, signed, low, high, a, b } if w >= Width::W32 => {
                self.multiply_wide(w, signed, low, high, a, b);
            }
            Op::MulFlags { w, signed, low, high } if w >= Width::W32 => {
                self.multiply_flags(w, signed, low, high);
            }
            Op::Select { d, c, a, b } => {
                self.a.load(RAX, b, Width::W64);
                self.a.load(RCX, a, Width::W64);
                self.a.load(RDX, c, Width::W64);
                self.a.alu(Alu::Test, true, RDX, RDX);
                self.a.move_if(Condition::Ne, RAX, RCX);
                self.a.store(d, RAX);
            }
            Op::Condition { cc, d } => {
                let cc = self.condition(cc);
                self.a.set_if(cc, RAX);
                self.a.store(d, RAX);
            }
            Op::Cmov { cc, w, d, a } => {
                let cc = self.condition(cc);
                // Moves leave the host's flags alone.
                self.a.load(R8, d, Width::W64);
                self.a.load(R9, a, Width::W64);
                self.a.move_if(cc, R8, R9);
                self.a.cut(R8, w);
                self.a.store(d, R8);
            }
            Op::Load8 { d, base, index, shift, disp } => {
                self.load(Width::W8, d, base, index, shift, disp);
            }
            Op::Load16 { d, base, index, shift, disp } => {
                self.load(Width::W16, d, base, index, shift, disp);
            }
            Op::Load32 { d, base, index, shift, disp } => {
                self.load(Width::W32, d, base, index, shift, disp);
            }
            Op::Load64 { d, base, index, shift, disp } => {
                self.load(Width::W64, d, base, index, shift, disp);
            }
            Op::Store8 { a, base, index, shift, disp } => {
                self.store(Width::W8, a, base, index, shift, disp);
            }
            Op::Store16 { a, base, index, shift, disp } => {
                self.store(Width::W16, a, base, index, shift, disp);
            }
            Op::Store32 { a, base, index, shift, disp } => {
                self.store(Width::W32, a, base, index, shift, disp);
            }
            Op::Store64 { a, base, index, shift, disp } => {
                self.store(Width::W64, a, base, index, shift, disp);
            }
            Op::StoreImm { w, base, disp, imm } => {
                self.address(base, slots::ZERO, 0, disp);
                self.a.constant(R9, imm as i64 as u64);
                self.store_at(w);
            }
            Op::Load128 { aligned, d, base, index, shift, disp } => {
                self.address(base, index, shift, disp);
                let holes = self.wide_line(R12, aligned);
                self.a.load_pair_from(RAX);
                self.a.store_pair(d);
                self.set_aside(holes, op);
            }
            Op::Store128 { aligned, a, base, index, shift, disp } => {
                self.address(base, index, shift, disp);
                let holes = self.wide_line(R13, aligned);
                self.a.load_pair(a);
                self.a.store_pair_to(RAX);
                self.set_aside(holes, op);
            }
            Op::ProbeWrite { w, a } => {
                self.a.load(RAX, a, Width::W64);
                let miss = self.line(R13, w.bytes() as i32);
                self.set_aside(vec![miss], op);
            }
            Op::Push { a } => {
                self.a.load(R9, a, Width::W64);
                self.push();
            }
            Op::Pop { d } => {
                self.pop(8);
                self.a.store(d, RAX);
            }
            _ => self.interpret(op),
        }
    }

    /// Lets the interpreter do an op.
    fn interpret(&mut self, op: &Op) {
        self.a.copy(RDI, R14);
        self.a.constant(RSI, std::ptr::from_ref(op) as u64);
        self.a.call(context::interpret as *const () as usize);
        self.a.alu(Alu::Test, false, RAX, RAX);
        let hole = self.a.jump_if(Condition::Ne);
        self.asides.push((self.at, Aside::Fail { from: hole }));
        self.a.drop_copies();
        if changes_flags(op) {
            self.flags = None;
        }
    }

    fn copy(&mut self, d: Slot, a: Slot, w: Width) {
        self.a.load(RAX, a, w);
        self.a.store(d, RAX);
    }

    /// A second operand, cut to the width.
    pub(super) fn second(&mut self, r: Register, w: Width, b: Slot, imm: i32) {
        if b == slots::ZERO {
            self.a.constant(r, imm as i64 as u64 & w.mask());
        } else if imm == 0 {
            self.a.load(r, b, w);
        } else {
            self.a.load(r, b, Width::W64);
            self.a.add_constant(r, imm);
            self.a.cut(r, w);
        }
    }

    /// The result goes to `rax`, the second operand to `rcx`.
    pub(super) fn result(&mut self, op: Alu, w: Width, a: Slot, b: Slot, imm: i32) {
        self.a.load(RAX, a, w);
        self.second(RCX, w, b, imm);
        self.a.alu(op, w == Width::W64, RAX, RCX);
        if w < Width::W32 {
            self.a.cut(RAX, w);
        }
    }

    fn plain(&mut self, op: Alu, w: Width, d: Slot, a: Slot, b: Slot, imm: i32) {
        self.result(op, w, a, b, imm);
        self.a.store(d, RAX);
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of an op")]
    fn flagged(&mut self, op: Alu, kind: FlagKind, w: Width, d: Slot, a: Slot, b: Slot, imm: i32) {
        self.result(op, w, a, b, imm);
        self.note(kind, w);
        self.a.store(d, RAX);
    }

    /// Notes what the flags come from: the result in `rax`, the operand in `rcx`.
    pub(super) fn note(&mut self, kind: FlagKind, w: Width) {
        self.a.store(slots::FLAG_RESULT, RAX);
        if kind == FlagKind::Logic {
            self.a.store_constant(slots::FLAG_OPERAND, 0);
        } else {
            self.a.store(slots::FLAG_OPERAND, RCX);
        }
        self.a.store_constant(slots::FLAG_KIND, flag_code(kind, w) as i32);
        self.flags = Some((kind, w));
    }

    fn shift(&mut self, op: Turn, w: Width, d: Slot, a: Slot, b: Slot, imm: i32) {
        let wide = w == Width::W64;
        if let Turn::Sar = op {
            self.a.load_signed(RAX, a, w);
        } else {
            self.a.load(RAX, a, w);
        }
        if b == slots::ZERO {
            let count = imm as u8 & if wide { 63 } else { 31 };
            self.a.turn(op, wide, RAX, count);
        } else {
            self.a.load(RCX, b, Width::W64);
            self.a.add_constant(RCX, imm);
            self.a.turn_by_cl(op, wide, RAX);
        }
        self.a.cut(RAX, w);
        self.a.store(d, RAX);
    }

    fn shift_with_flags(&mut self, f: Shift, w: Width, d: Slot, a: Slot, count: u8) {
        let bits = w.bits() as u8;
        let kind = match f {
            Shift::Shl => {
                self.a.load(RAX, a, w);
                self.a.copy(RCX, RAX);
                self.a.turn(Turn::Shl, true, RAX, count);
                self.a.turn(Turn::Shr, true, RCX, bits - count);
                self.a.and_constant(RCX, 1);
                FlagKind::Shl
            }
            Shift::Shr => {
                self.a.load(RAX, a, w);
                self.a.copy(RCX, RAX);
                self.a.copy(RDX, RAX);
                self.a.turn(Turn::Shr, true, RAX, count);
                self.a.turn(Turn::Shr, true, RCX, count - 1);
                self.a.and_constant(RCX, 1);
                self.a.turn(Turn::Shr, true, RDX, bits - 1);
                self.a.lea(RCX, RCX, RDX, 1, 0);
                FlagKind::Shr
            }
            _ => {
                self.a.load_signed(RAX, a, w);
                self.a.copy(RCX, RAX);
                self.a.turn(Turn::Sar, true, RAX, count);
                self.a.turn(Turn::Sar, true, RCX, count - 1);
                self.a.and_constant(RCX, 1);
                FlagKind::Sar
            }
        };
        self.a.cut(RAX, w);
        self.note(kind, w);
        self.a.store(d, RAX);
    }

    fn multiply_wide(&mut self, w: Width, signed: bool, low: Slot, high: Slot, a: Slot, b: Slot) {
        if w == Width::W64 {
            self.a.load(RAX, a, w);
            self.a.load(RCX, b, w);
            self.a.multiply_wide(signed, RCX);
        } else {
            if signed {
                self.a.load_signed(RAX, a, w);
                self.a.load_signed(RCX, b, w);
            } else {
                self.a.load(RAX, a, w);
                self.a.load(RCX, b, w);
            }
            self.a.multiply(true, RAX, RCX);
            self.a.copy(RDX, RAX);
            self.a.turn(Turn::Shr, true, RDX, 32);
            self.a.cut(RAX, w);
        }
        self.a.store(low, RAX);
        self.a.store(high, RDX);
    }

    fn multiply_flags(&mut self, w: Width, signed: bool, low: Slot, high: Slot) {
        self.a.load_signed(RDX, low, w);
        self.a.load(RAX, low, w);
        self.a.load(RCX, high, w);
        if signed {
            self.a.turn(Turn::Sar, true, RDX, 63);
        } else {
            self.a.constant(RDX, 0);
        }
        self.a.compare(Alu::Cmp, w, RCX, RDX);
        self.a.set_if(Condition::Ne, RCX);
        self.note(FlagKind::Mul, w);
    }

    /// Sets the host's flags so that the condition that is given back holds there if `cc` holds.
    pub(super) fn condition(&mut self, cc: Condition) -> Condition {
        let zero_sign_parity = matches!(
            cc,
            Condition::E
                | Condition::Ne
                | Condition::S
                | Condition::Ns
                | Condition::P
                | Condition::Np
        );
        match self.flags {
            Some((FlagKind::Sub, w)) => {
                // The first operand was the result plus the second.
                self.a.load(RAX, slots::FLAG_RESULT, Width::W64);
                self.a.load(RCX, slots::FLAG_OPERAND, Width::W64);
                self.a.alu(Alu::Add, true, RAX, RCX);
                self.a.compare(Alu::Cmp, w, RAX, RCX);
                cc
            }
            Some((FlagKind::Add, w)) => {
                self.a.load(RAX, slots::FLAG_RESULT, Width::W64);
                self.a.load(RCX, slots::FLAG_OPERAND, Width::W64);
                self.a.alu(Alu::Sub, true, RAX, RCX);
                self.a.compare(Alu::Add, w, RAX, RCX);
                cc
            }
            Some((FlagKind::Logic, w)) => {
                self.a.load(RAX, slots::FLAG_RESULT, Width::W64);
                self.a.compare(Alu::Test, w, RAX, RAX);
                cc
            }
            Some((kind, w)) if kind != FlagKind::Bits && zero_sign_parity => {
                self.a.load(RAX, slots::FLAG_RESULT, Width::W64);
                self.a.compare(Alu::Test, w, RAX, RAX);
                cc
            }
            _ => {
                self.a.copy(RDI, R14);
                self.a.constant(RSI, cc as u64);
                self.a.call(context::holds as *const () as usize);
                self.a.drop_copies();
                self.a.alu(Alu::Test, false, RAX, RAX);
                Condition::Ne
            }
        }
    }

    // ---- memory --------------------------------------------------------------------------------

    /// The address goes to `rax`.
    fn address(&mut self, base: Slot, index: Slot, shift: u8, disp: i32) {
        match (base, index) {
            (slots::ZERO, slots::ZERO) => self.a.constant(RAX, disp as i64 as u64),
            (_, slots::ZERO) => {
                self.a.load(RAX, base, Width::W64);
                if disp != 0 {
                    self.a.lea_plus(RAX, RAX, disp);
                }
            }
            _ if shift <= 3 => {
                self.a.load(RAX, base, Width::W64);
                self.a.load(RCX, index, Width::W64);
                self.a.lea(RAX, RAX, RCX, shift, disp);
            }
            _ => {
                self.a.load(RAX, base, Width::W64);
                self.a.load(RCX, index, Width::W64);
                self.a.turn(Turn::Shl, true, RCX, shift);
                self.a.lea(RAX, RAX, RCX, 0, disp);
            }
        }
    }

    /// Finds the line for `bytes` bytes at `rax`, and makes a host address of it. Gives the jump
    /// that is taken, with `rax` as it was, if there is no such line.
    fn line(&mut self, lines: Register, bytes: i32) -> Hole {
        self.a.copy(RCX, RAX);
        // Lines are 16 bytes, so the index is shifted by 12 - 4.
        self.a.turn(Turn::Shr, true, RCX, 8);
        self.a.and_constant(RCX, (LINES as i32 - 1) << 4);
        // The page of the last byte: if it is another one, it has another line, too.
        self.a.lea_plus(RDX, RAX, bytes - 1);
        self.a.turn(Turn::Shr, true, RDX, 12);
        self.a.compare_indexed(RDX, lines, RCX, 0);
        let miss = self.a.jump_if(Condition::Ne);
        self.a.add_indexed(RAX, lines, RCX, 8);
        miss
    }

    /// The same for 16 bytes, which may have to be aligned.
    fn wide_line(&mut self, lines: Register, aligned: bool) -> Vec<Hole> {
        let mut holes = Vec::new();
        if aligned {
            // test al, 15
            self.a.bytes(&[0xa8, 15]);
            holes.push(self.a.jump_if(Condition::Ne));
        }
        holes.push(self.line(lines, 16));
        holes
    }

    fn set_aside(&mut self, from: Vec<Hole>, op: &Op) {
        let (back, copies) = (self.a.position(), self.a.copies());
        self.asides.push((self.at, Aside::Interpret { from, back, op, copies }));
    }

    fn load(&mut self, w: Width, d: Slot, base: Slot, index: Slot, shift: u8, disp: i32) {
        self.address(base, index, shift, disp);
        self.load_at(w);
        self.a.store(d, RAX);
    }

    /// Loads from `rax` to `rax`.
    pub(super) fn load_at(&mut self, w: Width) {
        let from = self.line(R12, w.bytes() as i32);
        self.a.load_from(RAX, RAX, w);
        let (back, copies) = (self.a.position(), self.a.copies());
        self.asides.push((self.at, Aside::Load { from, back, w, copies }));
    }

    fn store(&mut self, w: Width, a: Slot, base: Slot, index: Slot, shift: u8, disp: i32) {
        self.address(base, index, shift, disp);
        self.a.load(R9, a, Width::W64);
        self.store_at(w);
    }

    /// Stores `r9` at `rax`.
    pub(super) fn store_at(&mut self, w: Width) {
        let from = self.line(R13, w.bytes() as i32);
        self.a.store_to(RAX, R9, w);
        let (back, copies) = (self.a.position(), self.a.copies());
        self.asides.push((self.at, Aside::Store { from, back, w, copies }));
    }

    /// Pushes `r9`.
    pub(super) fn push(&mut self) {
        self.a.load(RAX, slots::RSP, Width::W64);
        self.a.lea_plus(RAX, RAX, -8);
        self.store_at(Width::W64);
        self.a.load(RAX, slots::RSP, Width::W64);
        self.a.lea_plus(RAX, RAX, -8);
        self.a.store(slots::RSP, RAX);
    }

    /// Pops to `rax`, dropping `bytes` in all.
    pub(super) fn pop(&mut self, bytes: i32) {
        self.a.load(RAX, slots::RSP, Width::W64);
        self.load_at(Width::W64);
        self.a.load(RCX, slots::RSP, Width::W64);
        self.a.lea_plus(RCX, RCX, bytes);
        self.a.store(slots::RSP, RCX);
    }

    // ---- aside ---------------------------------------------------------------------------------

    /// Emits everything that was set aside; `exit` is where the common way out is, as a distance
    /// from the start of the code.
    pub(super) fn finish_asides(&mut self, block: u32, exit: i64) {
        for (at, aside) in std::mem::take(&mut self.asides) {
            match aside {
                Aside::Load { from, back, w, copies } => {
                    self.a.land(from);
                    self.a.copy(RSI, RAX);
                    self.a.copy(RDI, R14);
                    self.a.constant(RDX, context::number(w));
                    self.a.call(context::load as *const () as usize);
                    let good = self.unless_failed(RDX, block, at, exit);
                    self.go_back(good, back, copies);
                }
                Aside::Store { from, back, w, copies } => {
                    self.a.land(from);
                    self.a.copy(RSI, RAX);
                    self.a.copy(RDI, R14);
                    self.a.copy(RDX, R9);
                    self.a.constant(RCX, context::number(w));
                    self.a.call(context::store as *const () as usize);
                    let good = self.unless_failed(RAX, block, at, exit);
                    self.go_back(good, back, copies);
                }
                Aside::Interpret { from, back, op, copies } => {
                    from.into_iter().for_each(|hole| self.a.land(hole));
                    self.a.copy(RDI, R14);
                    self.a.constant(RSI, op as u64);
                    self.a.call(context::interpret as *const () as usize);
                    let good = self.unless_failed(RAX, block, at, exit);
                    self.go_back(good, back, copies);
                }
                Aside::Fail { from } => {
                    self.a.land(from);
                    self.fail(block, at, exit);
                }
            }
        }
    }

    /// After a call that tells in a register whether it failed: leaves if it did, and jumps if not.
    fn unless_failed(&mut self, failed: Register, block: u32, at: usize, exit: i64) -> Hole {
        self.a.alu(Alu::Test, false, failed, failed);
        let good = self.a.jump_if(Condition::E);
        self.fail(block, at, exit);
        good
    }

    /// Goes back to the straight way, with the copies that it relies on.
    fn go_back(&mut self, good: Hole, back: usize, copies: Copies) {
        self.a.land(good);
        self.a.reload(copies);
        self.a.jump_to(back as i64);
    }

    fn fail(&mut self, block: u32, at: usize, exit: i64) {
        self.a.store_field_constant(context::FAILED, at as i32);
        self.a.store_field_constant(context::BLOCK, block as i32);
        self.a.constant(RAX, super::FAILURE);
        self.a.jump_to(exit);
    }
}

/// Whether a shift by a constant has a template with flags.
fn constant_shift(f: Shift, w: Width, imm: i32) -> bool {
    matches!(f, Shift::Shl | Shift::Shr | Shift::Sar) && imm > 0 && (imm as u32) < w.bits()
}

/// Whether an op that the interpreter does may change the flags.
fn changes_flags(op: &Op) -> bool {
    !matches!(
        op,
        Op::InsertHigh { .. }
            | Op::Ror { .. }
            | Op::Bswap { .. }
            | Op::MulWide { .. }
            | Op::Divide { .. }
            | Op::GetFlags { .. }
            | Op::ProbeWrite { .. }
            | Op::Vector { .. }
            | Op::Float { .. }
    )
}
