//! The interpreter: what each op does.
//!
//! Everything common is in line; everything rare is a call.

use crate::{
    code::{Op, Slot, slots},
    memory::AddressSpace,
};

use super::{
    Cpu, Exception, FlagKind, bits, float,
    helpers::help,
    strings::{self, string},
    vector, x87,
};

#[inline(always)]
pub(super) fn push(cpu: &mut Cpu, space: &mut AddressSpace, value: u64) -> Result<(), Exception> {
    let rsp = cpu.get(slots::RSP).wrapping_sub(8);
    space.store(rsp, value.to_le_bytes())?;
    cpu.set(slots::RSP, rsp);
    Ok(())
}

/// A second operand: a slot plus a constant.
#[inline(always)]
pub(super) fn second(cpu: &Cpu, b: Slot, imm: i32) -> u64 {
    cpu.get(b).wrapping_add(imm as i64 as u64)
}

#[inline(always)]
fn address(cpu: &Cpu, base: Slot, index: Slot, shift: u8, disp: i32) -> u64 {
    cpu.get(base).wrapping_add(cpu.get(index) << (shift & 63)).wrapping_add(disp as i64 as u64)
}

/// Does an op.
#[inline(always)]
pub(crate) fn step(cpu: &mut Cpu, space: &mut AddressSpace, op: &Op) -> Result<(), Exception> {
    match *op {
        Op::Const { d, value } => cpu.set(d, value),
        Op::Move { d, a } => cpu.set(d, cpu.get(a)),
        Op::Zext { w, d, a } => cpu.set(d, cpu.get(a) & w.mask()),
        Op::Sext { from, w, d, a } => cpu.set(d, from.sign_extend(cpu.get(a)) & w.mask()),
        Op::Insert { w, d, a } => {
            let m = w.mask();
            cpu.set(d, cpu.get(d) & !m | cpu.get(a) & m);
        }
        Op::InsertHigh { d, a } => cpu.set(d, cpu.get(d) & !0xff00 | (cpu.get(a) & 0xff) << 8),
        Op::High { d, a } => cpu.set(d, cpu.get(a) >> 8 & 0xff),

        Op::Add { w, d, a, b, imm } => {
            cpu.set(d, cpu.get(a).wrapping_add(second(cpu, b, imm)) & w.mask());
        }
        Op::Sub { w, d, a, b, imm } => {
            cpu.set(d, cpu.get(a).wrapping_sub(second(cpu, b, imm)) & w.mask());
        }
        Op::And { w, d, a, b, imm } => cpu.set(d, cpu.get(a) & second(cpu, b, imm) & w.mask()),
        Op::Or { w, d, a, b, imm } => cpu.set(d, (cpu.get(a) | second(cpu, b, imm)) & w.mask()),
        Op::Xor { w, d, a, b, imm } => cpu.set(d, (cpu.get(a) ^ second(cpu, b, imm)) & w.mask()),
        Op::Mul { w, d, a, b, imm } => {
            cpu.set(d, cpu.get(a).wrapping_mul(second(cpu, b, imm)) & w.mask());
        }
        Op::Shl { w, d, a, b, imm } => cpu.set(d, bits::shl(w, cpu.get(a), second(cpu, b, imm))),
        Op::Shr { w, d, a, b, imm } => cpu.set(d, bits::shr(w, cpu.get(a), second(cpu, b, imm))),
        Op::Sar { w, d, a, b, imm } => cpu.set(d, bits::sar(w, cpu.get(a), second(cpu, b, imm))),
        Op::Ror { w, d, a, b, imm } => cpu.set(d, bits::ror(w, cpu.get(a), second(cpu, b, imm))),
        Op::Not { w, d, a } => cpu.set(d, !cpu.get(a) & w.mask()),
        Op::Bswap { w, d, a } => {
            let shift = 64 - w.bits();
            cpu.set(d, cpu.get(a).swap_bytes() >> shift);
        }
        Op::Lea { w, d, base, index, shift, disp } => {
            cpu.set(d, address(cpu, base, index, shift, disp) & w.mask());
        }
        Op::MulWide { w, signed, low, high, a, b } => {
            let (l, h) = Cpu::multiply(w, signed, cpu.get(a), cpu.get(b));
            cpu.set(low, l);
            cpu.set(high, h);
        }
        Op::Divide { w, signed, a } => cpu.divide(w, signed, a)?,
        Op::Select { d, c, a, b } => {
            let from = if cpu.get(c) != 0 { a } else { b };
            cpu.set(d, cpu.get(from));
        }

        Op::AddF { w, d, a, b, imm } => {
            let y = second(cpu, b, imm) & w.mask();
            let r = cpu.get(a).wrapping_add(y) & w.mask();
            cpu.note(FlagKind::Add, w, r, y);
            cpu.set(d, r);
        }
        Op::SubF { w, d, a, b, imm } => {
            let y = second(cpu, b, imm) & w.mask();
            let r = cpu.get(a).wrapping_sub(y) & w.mask();
            cpu.note(FlagKind::Sub, w, r, y);
            cpu.set(d, r);
        }
        Op::AndF { w, d, a, b, imm } => {
            let r = cpu.get(a) & second(cpu, b, imm) & w.mask();
            cpu.note(FlagKind::Logic, w, r, 0);
            cpu.set(d, r);
        }
        Op::OrF { w, d, a, b, imm } => {
            let r = (cpu.get(a) | second(cpu, b, imm)) & w.mask();
            cpu.note(FlagKind::Logic, w, r, 0);
            cpu.set(d, r);
        }
        Op::XorF { w, d, a, b, imm } => {
            let r = (cpu.get(a) ^ second(cpu, b, imm)) & w.mask();
            cpu.note(FlagKind::Logic, w, r, 0);
            cpu.set(d, r);
        }
        Op::AdcF { w, d, a, b, imm } => {
            let carry = cpu.carry();
            let y = second(cpu, b, imm) & w.mask();
            let r = cpu.get(a).wrapping_add(y).wrapping_add(u64::from(carry)) & w.mask();
            let kind = if carry { FlagKind::AddCarry } else { FlagKind::Add };
            cpu.note(kind, w, r, y);
            cpu.set(d, r);
        }
        Op::SbbF { w, d, a, b, imm } => {
            let borrow = cpu.carry();
            let y = second(cpu, b, imm) & w.mask();
            let r = cpu.get(a).wrapping_sub(y).wrapping_sub(u64::from(borrow)) & w.mask();
            let kind = if borrow { FlagKind::SubBorrow } else { FlagKind::Sub };
            cpu.note(kind, w, r, y);
            cpu.set(d, r);
        }
        Op::CmpF { w, a, b, imm } => {
            let y = second(cpu, b, imm) & w.mask();
            let r = cpu.get(a).wrapping_sub(y) & w.mask();
            cpu.note(FlagKind::Sub, w, r, y);
        }
        Op::TestF { w, a, b, imm } => {
            let r = cpu.get(a) & second(cpu, b, imm) & w.mask();
            cpu.note(FlagKind::Logic, w, r, 0);
        }
        Op::IncF { w, d, a } => {
            let carry = cpu.carry();
            let r = cpu.get(a).wrapping_add(1) & w.mask();
            cpu.note(FlagKind::Inc, w, r, u64::from(carry));
            cpu.set(d, r);
        }
        Op::DecF { w, d, a } => {
            let carry = cpu.carry();
            let r = cpu.get(a).wrapping_sub(1) & w.mask();
            cpu.note(FlagKind::Dec, w, r, u64::from(carry));
            cpu.set(d, r);
        }
        Op::NegF { w, d, a } => {
            let y = cpu.get(a) & w.mask();
            let r = y.wrapping_neg() & w.mask();
            cpu.note(FlagKind::Sub, w, r, y);
            cpu.set(d, r);
        }
        Op::MulFlags { w, signed, low, high } => {
            cpu.multiply_flags(w, signed, cpu.get(low), cpu.get(high));
        }
        Op::ShiftF { f, w, d, a, b, imm } => {
            let r = cpu.shift(f, w, cpu.get(a), second(cpu, b, imm));
            cpu.set(d, r);
        }
        Op::ShiftDoubleF { right, w, d, a, b, c, imm } => {
            let count = second(cpu, c, i32::from(imm));
            let r = cpu.shift_double(right, w, cpu.get(a), cpu.get(b), count);
            cpu.set(d, r);
        }
        Op::BitTestF { f, w, d, a, b, imm } => {
            let r = cpu.bit_test(f, w, cpu.get(a), second(cpu, b, imm));
            cpu.set(d, r);
        }
        Op::BitF { f, w, d, a, b, quiet } => {
            let (kind, of, result, operand) = cpu.lazy();
            let r = cpu.bit_op(f, w, cpu.get(d), cpu.get(a), cpu.get(b));
            cpu.set(d, r);
            if quiet {
                // Whoever follows keeps what the flags stand for: they stay those of one instruction.
                cpu.note(kind, of, result, operand);
            }
        }

        Op::Condition { cc, d } => cpu.set(d, u64::from(cpu.holds(cc))),
        Op::Cmov { cc, w, d, a } => {
            let from = if cpu.holds(cc) { a } else { d };
            cpu.set(d, cpu.get(from) & w.mask());
        }
        Op::GetFlags { d } => cpu.set(d, cpu.rflags()),
        Op::SetFlags { a, mask } => cpu.set_flag_bits(cpu.get(a), u64::from(mask)),
        Op::PopFlags { a } => cpu.set_rflags(cpu.get(a)),
        Op::ComplementCarry => {
            let carry = u64::from(!cpu.carry());
            cpu.set_flag_bits(carry, 1);
        }

        Op::Load8 { d, base, index, shift, disp } => {
            let value = space.load(address(cpu, base, index, shift, disp))?;
            cpu.set(d, u64::from(u8::from_le_bytes(value)));
        }
        Op::Load16 { d, base, index, shift, disp } => {
            let value = space.load(address(cpu, base, index, shift, disp))?;
            cpu.set(d, u64::from(u16::from_le_bytes(value)));
        }
        Op::Load32 { d, base, index, shift, disp } => {
            let value = space.load(address(cpu, base, index, shift, disp))?;
            cpu.set(d, u64::from(u32::from_le_bytes(value)));
        }
        Op::Load64 { d, base, index, shift, disp } => {
            let value = space.load(address(cpu, base, index, shift, disp))?;
            cpu.set(d, u64::from_le_bytes(value));
        }
        Op::Load128 { aligned, d, base, index, shift, disp } => {
            let at = address(cpu, base, index, shift, disp);
            if aligned && !at.is_multiple_of(16) {
                return Err(Exception::GeneralProtection);
            }
            let value = u128::from_le_bytes(space.load(at)?);
            cpu.set_pair(d, value);
        }
        Op::Store8 { a, base, index, shift, disp } => {
            let at = address(cpu, base, index, shift, disp);
            space.store(at, (cpu.get(a) as u8).to_le_bytes())?;
        }
        Op::Store16 { a, base, index, shift, disp } => {
            let at = address(cpu, base, index, shift, disp);
            space.store(at, (cpu.get(a) as u16).to_le_bytes())?;
        }
        Op::Store32 { a, base, index, shift, disp } => {
            let at = address(cpu, base, index, shift, disp);
            space.store(at, (cpu.get(a) as u32).to_le_bytes())?;
        }
        Op::Store64 { a, base, index, shift, disp } => {
            let at = address(cpu, base, index, shift, disp);
            space.store(at, cpu.get(a).to_le_bytes())?;
        }
        Op::Store128 { aligned, a, base, index, shift, disp } => {
            let at = address(cpu, base, index, shift, disp);
            if aligned && !at.is_multiple_of(16) {
                return Err(Exception::GeneralProtection);
            }
            space.store(at, cpu.pair(a).to_le_bytes())?;
        }
        Op::StoreImm { w, base, disp, imm } => {
            let at = cpu.get(base).wrapping_add(disp as i64 as u64);
            strings::store(space, w, at, imm as i64 as u64)?;
        }
        Op::Push { a } => push(cpu, space, cpu.get(a))?,
        Op::Pop { d } => {
            let rsp = cpu.get(slots::RSP);
            let value = u64::from_le_bytes(space.load(rsp)?);
            // In this order: `pop rsp` keeps what was popped.
            cpu.set(slots::RSP, rsp.wrapping_add(8));
            cpu.set(d, value);
        }
        Op::ProbeWrite { w, a } => {
            strings::probe_write(space, w, cpu.get(a))?;
        }

        Op::String { f, w, repeat, segment, narrow } => {
            string(cpu, space, f, w, repeat, segment, narrow)?;
        }
        Op::Vector { f, d, a, b, imm } => {
            let value = vector::vector(f, cpu.pair(a), cpu.pair(b), imm);
            cpu.set_pair(d, value);
        }
        Op::Float { f, d, a, b, imm } => {
            let mut mxcsr = cpu.get(slots::MXCSR);
            let value = float::float(f, cpu.pair(a), cpu.pair(b), imm, &mut mxcsr);
            cpu.set(slots::MXCSR, mxcsr);
            cpu.set_pair(d, value?);
        }
        Op::X87 { f, i, d, a } => x87::x87(cpu, f, i, d, a)?,
        Op::Helper { f, d: _, a, b, imm } => help(cpu, space, f, a, b, imm)?,
    }
    Ok(())
}
