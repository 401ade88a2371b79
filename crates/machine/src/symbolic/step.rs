//! Ops on slots that stand for terms.
//!
//! Every op is done as always, on values; this file says what the results stand for. Terms are
//! made from the state before the op. What has no rule fixes its operands to their values: that
//! reveals them, so it is counted.

use stunt_path::{Pin, TestKind};
use stunt_terms::Term;

use crate::{
    code::{Bit, BitOp, Effects, Op, Shift, Slot, Width, slots},
    cpu::{Cpu, Exception, FlagKind, step},
    memory::AddressSpace,
};

use super::{
    Symbolic, bits,
    flags::{Flags, as_bits, flags_of_result, low},
    shadow::{FlagTerms, put_flags},
    vector,
};

/// What the flags come from after an op.
enum NewFlags {
    /// As before.
    Same,
    /// Whatever they are, nobody reads them.
    Unread,
    /// From these terms, in the way that the op noted.
    From(FlagTerms),
    /// Bits, where the op replaced those of the mask by those of the term.
    Bits(Term, u64),
}

impl Symbolic {
    /// Does an op that does not touch memory.
    pub(super) fn slot_op(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        op: &Op,
    ) -> Result<(), Exception> {
        let mut effects = Effects::default();
        effects.add(op);
        if !cpu.shadow.set().meets(&effects.reads) {
            step(cpu, space, op)?;
            cpu.shadow.overwritten(&effects.writes);
            return Ok(());
        }
        let (d, value, flags) = match *op {
            Op::Move { d, a } => (d, Some(self.term(cpu, a)), NewFlags::Same),
            Op::Zext { w, d, a } => (d, Some(self.at_width(cpu, w, a)), NewFlags::Same),
            Op::Sext { from, w, d, a } => {
                let narrow = self.at_width(cpu, from, a);
                let bits = w.bits() as u8;
                let value = if bits == self.pool.width(narrow) {
                    narrow
                } else if w > from {
                    self.pool.sign_extend(bits, narrow)
                } else {
                    low(&mut self.pool, w, narrow)
                };
                (d, Some(value), NewFlags::Same)
            }
            Op::Insert { w, d, a } => {
                let (old, new) = (self.term(cpu, d), self.at_width(cpu, w, a));
                (d, Some(self.replaced(old, 0, new)), NewFlags::Same)
            }
            Op::InsertHigh { d, a } => {
                let (old, new) = (self.term(cpu, d), self.at_width(cpu, Width::W8, a));
                (d, Some(self.replaced(old, 8, new)), NewFlags::Same)
            }
            Op::High { d, a } => {
                let a = self.term(cpu, a);
                (d, Some(self.pool.extract(15, 8, a)), NewFlags::Same)
            }
            Op::Add { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(self.pool.add(x, y)), NewFlags::Same)
            }
            Op::Sub { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(self.pool.sub(x, y)), NewFlags::Same)
            }
            Op::And { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(self.pool.and(x, y)), NewFlags::Same)
            }
            Op::Or { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(self.pool.or(x, y)), NewFlags::Same)
            }
            Op::Xor { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(self.pool.xor(x, y)), NewFlags::Same)
            }
            Op::Mul { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(self.pool.mul(x, y)), NewFlags::Same)
            }
            Op::Shl { w, d, a, b, imm } => {
                (d, self.shift(cpu, Shift::Shl, w, a, b, imm), NewFlags::Same)
            }
            Op::Shr { w, d, a, b, imm } => {
                (d, self.shift(cpu, Shift::Shr, w, a, b, imm), NewFlags::Same)
            }
            Op::Sar { w, d, a, b, imm } => {
                (d, self.shift(cpu, Shift::Sar, w, a, b, imm), NewFlags::Same)
            }
            Op::Ror { w, d, a, b, imm } => {
                (d, self.shift(cpu, Shift::Ror, w, a, b, imm), NewFlags::Same)
            }
            Op::Not { w, d, a } => {
                let a = self.at_width(cpu, w, a);
                (d, Some(self.pool.not(a)), NewFlags::Same)
            }
            Op::Bswap { w, d, a } => {
                let a = self.at_width(cpu, w, a);
                let mut swapped = self.pool.extract(7, 0, a);
                for byte in 1..w.bytes() as u8 {
                    let next = self.pool.extract(8 * byte + 7, 8 * byte, a);
                    swapped = self.pool.concat(swapped, next);
                }
                (d, Some(swapped), NewFlags::Same)
            }
            Op::Lea { w, d, base, index, shift, disp } => {
                let address = self.address_term(cpu, base, index, shift, disp);
                let value = address.map(|address| low(&mut self.pool, w, address));
                (d, value, NewFlags::Same)
            }
            Op::MulWide { w, signed, low, high, a, b } => {
                let (x, y) = (self.term(cpu, a), self.term(cpu, b));
                let (l, h) = bits::multiply(&mut self.pool, w, signed, x, y);
                step(cpu, space, op)?;
                self.put(cpu, low, Some(l));
                self.put(cpu, high, Some(h));
                return Ok(());
            }
            Op::Divide { w, signed, a } => return self.divide(cpu, space, op, w, signed, a),
            Op::Select { d, c, a, b } => {
                let (c, a, b) = (self.term(cpu, c), self.term(cpu, a), self.term(cpu, b));
                let zero = self.pool.constant(64, 0);
                let is_zero = self.pool.eq(c, zero);
                (d, Some(self.pool.ite(is_zero, b, a)), NewFlags::Same)
            }

            Op::AddF { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(self.pool.add(x, y)), self.operands(x, y))
            }
            Op::SubF { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(self.pool.sub(x, y)), self.operands(x, y))
            }
            Op::CmpF { w, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (slots::ZERO, None, self.operands(x, y))
            }
            Op::NegF { w, d, a } => {
                let y = self.at_width(cpu, w, a);
                let zero = self.pool.constant(w.bits() as u8, 0);
                (d, Some(self.pool.neg(y)), self.operands(zero, y))
            }
            Op::AndF { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                let r = self.pool.and(x, y);
                (d, Some(r), self.result(r))
            }
            Op::OrF { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                let r = self.pool.or(x, y);
                (d, Some(r), self.result(r))
            }
            Op::XorF { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                let r = self.pool.xor(x, y);
                (d, Some(r), self.result(r))
            }
            Op::TestF { w, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                let r = self.pool.and(x, y);
                (slots::ZERO, None, self.result(r))
            }
            Op::AdcF { w, d, a, b, imm } => {
                return self.with_carry(cpu, space, op, (w, d, a, b, imm), false);
            }
            Op::SbbF { w, d, a, b, imm } => {
                return self.with_carry(cpu, space, op, (w, d, a, b, imm), true);
            }
            Op::IncF { w, d, a } | Op::DecF { w, d, a } => {
                let carry = match Flags::of(&mut self.pool, cpu) {
                    Some(mut flags) => flags.carry(),
                    None => {
                        let carry = cpu.carry();
                        self.pool.boolean(carry)
                    }
                };
                let carry = self.pool.truth_as_bits(64, carry);
                let x = self.at_width(cpu, w, a);
                let one = self.pool.constant(w.bits() as u8, 1);
                let r = match op {
                    Op::IncF { .. } => self.pool.add(x, one),
                    _ => self.pool.sub(x, one),
                };
                let wide = self.wide(r);
                (d, Some(r), NewFlags::From(FlagTerms::Result(wide, carry)))
            }
            Op::MulFlags { w, signed, low: l, high } => {
                let (l, h) = (self.at_width(cpu, w, l), self.at_width(cpu, w, high));
                let bits = w.bits() as u8;
                let plain = if signed {
                    let sign = self.pool.extract(bits - 1, bits - 1, l);
                    self.pool.sign_extend(bits, sign)
                } else {
                    self.pool.constant(bits, 0)
                };
                let over = self.pool.ne(h, plain);
                let over = self.pool.truth_as_bits(64, over);
                let wide = self.wide(l);
                (slots::ZERO, None, NewFlags::From(FlagTerms::Result(wide, over)))
            }
            Op::ShiftF { f, w, d, a, b, imm } => {
                return self.shift_with_flags(cpu, space, op, f, w, d, a, b, imm);
            }
            Op::ShiftDoubleF { right, w, d, a, b, c, imm } => {
                self.pin_slot(cpu, c, Pin::Operation);
                let (x, y) = (self.term(cpu, a), self.term(cpu, b));
                let count = cpu.get(c).wrapping_add(u64::from(imm));
                let by = self.pool.constant(64, u128::from(count));
                let r = bits::shift_double(&mut self.pool, right, w, x, y, by);
                let Some(r) = r else { return self.pinned(cpu, space, op, Pin::Operation) };
                step(cpu, space, op)?;
                self.put(cpu, d, Some(r));
                let count = (count & if w == Width::W64 { 63 } else { 31 }) as u8;
                // Without a shift the flags stay.
                if count != 0 {
                    let (x, y) = (low(&mut self.pool, w, x), low(&mut self.pool, w, y));
                    let r = low(&mut self.pool, w, r);
                    let word = self.flags_of_double_shift(right, x, y, r, count);
                    self.put_flag_bits(cpu, word);
                }
                return Ok(());
            }
            Op::BitTestF { f, w, d, a, b, imm } => {
                let (x, index) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                let width = w.bits() as u8;
                let last = self.pool.constant(width, u128::from(width - 1));
                let index = self.pool.and(index, last);
                let bit = match self.pool.as_const(x) {
                    Some(set) => {
                        let narrow = self.pool.extract(width.ilog2() as u8 - 1, 0, index);
                        let bits: Vec<u64> =
                            (0..u32::from(width)).map(|k| (set >> k) as u64 & 1).collect();
                        let table = self.pool.add_table(1, bits);
                        self.pool.table(table, narrow)
                    }
                    None => {
                        let shifted = self.pool.lshr(x, index);
                        self.pool.extract(0, 0, shifted)
                    }
                };
                let one = self.pool.constant(width, 1);
                let mask = self.pool.shl(one, index);
                let value = match f {
                    Bit::Test => x,
                    Bit::Set => self.pool.or(x, mask),
                    Bit::Complement => self.pool.xor(x, mask),
                    Bit::Reset => {
                        let others = self.pool.not(mask);
                        self.pool.and(x, others)
                    }
                };
                let carry = self.pool.zero_extend(64, bit);
                (d, Some(value), NewFlags::Bits(carry, 1))
            }
            Op::BitF { f, w, d, a, b, quiet } => {
                let (old, x, y) = (self.term(cpu, d), self.term(cpu, a), self.term(cpu, b));
                if matches!(f, BitOp::Bsf | BitOp::Bsr | BitOp::Tzcnt)
                    && self.pool.as_const(x).is_none()
                    && cpu.get(a) & w.mask() != 0
                {
                    self.position(f == BitOp::Bsr, w, x, cpu.get(a));
                    if quiet {
                        step(cpu, space, op)?;
                        cpu.shadow.put(d, None);
                        cpu.shadow.forget_flags();
                        return Ok(());
                    }
                    let before = as_bits(&mut self.pool, cpu);
                    step(cpu, space, op)?;
                    cpu.shadow.put(d, None);
                    // Neither position is that of no bit.
                    let (none, mask) = match f {
                        BitOp::Tzcnt => {
                            (self.pool.constant(64, u128::from(cpu.flag_bits())), u64::MAX)
                        }
                        _ => (self.pool.constant(64, 0), 1 << 6),
                    };
                    let word = self.mixed(before, none, mask);
                    self.put_flag_bits(cpu, word);
                    return Ok(());
                }
                let Some((value, flags)) = bits::bit_op(&mut self.pool, f, w, old, x, y) else {
                    return self.pinned(cpu, space, op, Pin::Operation);
                };
                let mask = match f {
                    BitOp::Pdep | BitOp::Pext | BitOp::Crc32 => 0,
                    BitOp::Bsf | BitOp::Bsr => 1 << 6,
                    _ => u64::MAX,
                };
                let flags = match flags {
                    _ if quiet => NewFlags::Unread,
                    Some(flags) => NewFlags::Bits(flags, mask),
                    None => NewFlags::Same,
                };
                (d, Some(value), flags)
            }

            Op::Condition { cc, d } => {
                let holds =
                    Flags::of(&mut self.pool, cpu).expect("the flags are followed").holds(cc);
                (d, Some(self.pool.truth_as_bits(64, holds)), NewFlags::Same)
            }
            Op::Cmov { cc, w, d, a } => {
                let (new, old) = (self.at_width(cpu, w, a), self.at_width(cpu, w, d));
                let value = match Flags::of(&mut self.pool, cpu) {
                    Some(mut flags) => {
                        let holds = flags.holds(cc);
                        self.pool.ite(holds, new, old)
                    }
                    None if cpu.holds(cc) => new,
                    None => old,
                };
                (d, Some(value), NewFlags::Same)
            }
            Op::GetFlags { d } => {
                let others = cpu.rflags() & !cpu.flag_bits();
                let word = as_bits(&mut self.pool, cpu);
                self.put_flag_bits(cpu, word);
                let others = self.pool.constant(64, u128::from(others));
                (d, Some(self.pool.or(word, others)), NewFlags::Same)
            }
            Op::SetFlags { a, mask } => {
                let a = self.term(cpu, a);
                (slots::ZERO, None, NewFlags::Bits(a, u64::from(mask)))
            }
            Op::ComplementCarry => {
                let carry = Flags::of(&mut self.pool, cpu).expect("the flags are followed").carry();
                let flipped = self.pool.not(carry);
                let flipped = self.pool.truth_as_bits(64, flipped);
                (slots::ZERO, None, NewFlags::Bits(flipped, 1))
            }
            Op::Vector { f, d, a, b, imm } => {
                let x = [self.term(cpu, a), self.term(cpu, a + 1)];
                let y = [self.term(cpu, b), self.term(cpu, b + 1)];
                let Some([l, h]) = vector::vector(&mut self.pool, f, x, y, imm) else {
                    return self.pinned(cpu, space, op, Pin::Operation);
                };
                step(cpu, space, op)?;
                self.put(cpu, d, Some(l));
                self.put(cpu, d + 1, Some(h));
                return Ok(());
            }
            Op::Float { .. } | Op::X87 { .. } => return self.pinned(cpu, space, op, Pin::Float),
            _ => return self.pinned(cpu, space, op, Pin::Operation),
        };
        let before = match flags {
            NewFlags::Bits(_, mask) if mask != u64::MAX => Some(as_bits(&mut self.pool, cpu)),
            _ => None,
        };
        step(cpu, space, op)?;
        if d != slots::ZERO {
            let value = value.map(|value| self.wide(value));
            self.put(cpu, d, value);
        }
        match flags {
            NewFlags::Same => {}
            NewFlags::Unread => cpu.shadow.forget_flags(),
            NewFlags::From(terms) => put_flags(cpu, terms),
            NewFlags::Bits(bits, mask) => {
                let word = match before {
                    None => bits,
                    Some(before) => self.mixed(before, bits, mask),
                };
                self.put_flag_bits(cpu, word);
            }
        }
        Ok(())
    }

    /// Code asks where the first or the last set bit is, to go on from there: the position is what
    /// it finds out. That there is one, which it asks before, need not be said then.
    fn position(&mut self, last: bool, w: Width, term: Term, value: u64) {
        let term = low(&mut self.pool, w, term);
        let zero = self.pool.constant(w.bits() as u8, 0);
        let is_zero = self.pool.eq(term, zero);
        let some = self.pool.not(is_zero);
        self.retract(some);
        let value = value & w.mask();
        // From one end on, nothing but the bit itself is set.
        let (bits, pattern) = if last {
            let at = value.ilog2() as u8;
            (self.pool.extract(w.bits() as u8 - 1, at, term), 1)
        } else {
            let at = value.trailing_zeros() as u8;
            (self.pool.extract(at, 0, term), 1 << at)
        };
        let pattern = self.pool.constant(self.pool.width(bits), pattern);
        let same = self.pool.eq(bits, pattern);
        self.test(same, TestKind::Position);
    }

    /// `old` with the bits from `at` on replaced by `new`.
    fn replaced(&mut self, old: Term, at: u8, new: Term) -> Term {
        let top = at + self.pool.width(new);
        let mut value = new;
        if at > 0 {
            let below = self.pool.extract(at - 1, 0, old);
            value = self.pool.concat(value, below);
        }
        if top < 64 {
            let above = self.pool.extract(63, top, old);
            value = self.pool.concat(above, value);
        }
        value
    }

    fn operands(&mut self, a: Term, b: Term) -> NewFlags {
        NewFlags::From(FlagTerms::Operands(a, b))
    }

    fn result(&mut self, r: Term) -> NewFlags {
        let none = self.pool.constant(64, 0);
        NewFlags::From(FlagTerms::Result(r, none))
    }

    /// The bits of `mask` from `new`, the others from `old`.
    fn mixed(&mut self, old: Term, new: Term, mask: u64) -> Term {
        if mask == 1 {
            let (others, carry) = (self.pool.extract(63, 1, old), self.pool.extract(0, 0, new));
            return self.pool.concat(others, carry);
        }
        let (keep, take) =
            (self.pool.constant(64, u128::from(!mask)), self.pool.constant(64, u128::from(mask)));
        let (old, new) = (self.pool.and(old, keep), self.pool.and(new, take));
        self.pool.or(old, new)
    }

    /// The flags are noted as bits; this is what they stand for.
    fn put_flag_bits(&mut self, cpu: &mut Cpu, word: Term) {
        let known = cpu.flag_bits();
        cpu.note(FlagKind::Bits, Width::W8, known, 0);
        if self.pool.as_const(word).is_some() {
            cpu.shadow.forget_flags();
        } else {
            let none = self.pool.constant(64, 0);
            put_flags(cpu, FlagTerms::Result(word, none));
        }
    }

    /// The flags after `shld` and `shrd` by a count that is not zero.
    fn flags_of_double_shift(&mut self, right: bool, x: Term, y: Term, r: Term, count: u8) -> Term {
        let bits = self.pool.width(x);
        // The last bit that went out. Words can be shifted by more than their width; then it is a
        // bit of the second operand.
        let out = match (right, count <= bits) {
            (true, true) => self.pool.extract(count - 1, count - 1, x),
            (false, true) => self.pool.extract(bits - count, bits - count, x),
            (true, false) => self.pool.extract(count - 1 - bits, count - 1 - bits, y),
            (false, false) => self.pool.extract(2 * bits - count, 2 * bits - count, y),
        };
        let changed = self.pool.xor(r, x);
        let over = self.pool.extract(bits - 1, bits - 1, changed);
        let mut word = flags_of_result(&mut self.pool, r);
        for (bit, place) in [(out, 0), (over, 11)] {
            let (wide, by) = (self.pool.zero_extend(64, bit), self.pool.constant(64, place));
            let flag = self.pool.shl(wide, by);
            word = self.pool.or(word, flag);
        }
        word
    }

    fn shift(
        &mut self,
        cpu: &mut Cpu,
        f: Shift,
        w: Width,
        a: Slot,
        b: Slot,
        imm: i32,
    ) -> Option<Term> {
        let count = self.second(cpu, Width::W64, b, imm);
        let a = self.term(cpu, a);
        if let (Some(value), None) = (self.pool.as_const(a), self.pool.as_const(count)) {
            // A constant that is shifted: a table of what can come out.
            let bits = if w == Width::W64 { 6 } else { 5 };
            let narrow = self.pool.extract(bits - 1, 0, count);
            let entries: Vec<u64> = (0..1u64 << bits)
                .map(|count| Cpu::default().shift(f, w, value as u64, count))
                .collect();
            let table = self.pool.add_table(64, entries);
            return Some(self.pool.table(table, narrow));
        }
        bits::shift(&mut self.pool, f, w, a, count)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of an op")]
    fn shift_with_flags(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        op: &Op,
        f: Shift,
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    ) -> Result<(), Exception> {
        // By how much decides where the flags come from.
        self.pin_slot(cpu, b, Pin::Operation);
        let count = cpu.get(b).wrapping_add(imm as i64 as u64);
        let count = (count & if w == Width::W64 { 63 } else { 31 }) as u8;
        let bits = w.bits() as u8;
        let x = self.at_width(cpu, w, a);
        if count == 0 {
            step(cpu, space, op)?;
            let x = self.wide(x);
            self.put(cpu, d, Some(x));
            return Ok(());
        }
        if !matches!(f, Shift::Shl | Shift::Shr | Shift::Sar) || count >= bits {
            if matches!(f, Shift::Rcl | Shift::Rcr) || count >= bits {
                return self.pinned(cpu, space, op, Pin::Operation);
            }
            let value = self.shift(cpu, f, w, a, b, imm);
            let before = as_bits(&mut self.pool, cpu);
            step(cpu, space, op)?;
            let Some(value) = value else { unreachable!("rotations have rules") };
            self.put(cpu, d, Some(value));
            let r = low(&mut self.pool, w, value);
            let (first, second) =
                if f == Shift::Rol { (0, bits - 1) } else { (bits - 1, bits - 2) };
            let carry = self.pool.extract(first, first, r);
            let other = self.pool.extract(second, second, r);
            let over = self.pool.xor(carry, other);
            let (carry, over) = (self.pool.zero_extend(64, carry), self.pool.zero_extend(64, over));
            let eleven = self.pool.constant(64, 11);
            let over = self.pool.shl(over, eleven);
            let new = self.pool.or(carry, over);
            let word = self.mixed(before, new, 1 | 1 << 11);
            self.put_flag_bits(cpu, word);
            return Ok(());
        }
        let n = self.pool.constant(bits, u128::from(count));
        let (r, out) = match f {
            Shift::Shl => (self.pool.shl(x, n), bits - count),
            Shift::Shr => (self.pool.lshr(x, n), count - 1),
            _ => (self.pool.ashr(x, n), count - 1),
        };
        let out = self.pool.extract(out, out, x);
        let mut operand = self.pool.zero_extend(64, out);
        if f == Shift::Shr {
            let sign = self.pool.extract(bits - 1, bits - 1, x);
            let pair = self.pool.concat(sign, out);
            operand = self.pool.zero_extend(64, pair);
        }
        step(cpu, space, op)?;
        let r = self.wide(r);
        self.put(cpu, d, Some(r));
        put_flags(cpu, FlagTerms::Result(r, operand));
        Ok(())
    }

    /// `adc` and `sbb`.
    fn with_carry(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        op: &Op,
        (w, d, a, b, imm): (Width, Slot, Slot, Slot, i32),
        subtract: bool,
    ) -> Result<(), Exception> {
        let bits = w.bits() as u8;
        let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
        let carry = match Flags::of(&mut self.pool, cpu) {
            Some(mut flags) => flags.carry(),
            None => {
                let carry = cpu.carry();
                self.pool.boolean(carry)
            }
        };
        let extra = self.pool.truth_as_bits(bits, carry);
        let r = if subtract {
            let difference = self.pool.sub(x, y);
            self.pool.sub(difference, extra)
        } else {
            let sum = self.pool.add(x, y);
            self.pool.add(sum, extra)
        };
        step(cpu, space, op)?;
        let wide = self.wide(r);
        self.put(cpu, d, Some(wide));
        if self.pool.as_const(carry).is_some() {
            // The kind that was noted says whether there was a carry.
            let (x, y) = (self.wide(x), self.wide(y));
            put_flags(cpu, FlagTerms::Operands(x, y));
            return Ok(());
        }
        let (with, without) = if subtract {
            (self.pool.ule(x, y), self.pool.ult(x, y))
        } else {
            (self.pool.ule(r, y), self.pool.ult(r, y))
        };
        let out = self.pool.ite(carry, with, without);
        let (p, q) = if subtract {
            (self.pool.xor(x, y), self.pool.xor(x, r))
        } else {
            (self.pool.xor(x, r), self.pool.xor(y, r))
        };
        let over = self.pool.and(p, q);
        let over = self.pool.extract(bits - 1, bits - 1, over);
        let one = self.pool.constant(1, 1);
        let over = self.pool.eq(over, one);
        // AF alone is not followed.
        let auxiliary = self.pool.constant(64, u128::from(cpu.flag_bits() & 1 << 4));
        let mut word = flags_of_result(&mut self.pool, r);
        word = self.pool.or(word, auxiliary);
        for (condition, bit) in [(out, 0), (over, 11)] {
            let (set, clear) = (self.pool.constant(64, 1 << bit), self.pool.constant(64, 0));
            let flag = self.pool.ite(condition, set, clear);
            word = self.pool.or(word, flag);
        }
        self.put_flag_bits(cpu, word);
        Ok(())
    }

    fn divide(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        op: &Op,
        w: Width,
        signed: bool,
        a: Slot,
    ) -> Result<(), Exception> {
        let divisor = self.at_width(cpu, w, a);
        let zero = self.pool.constant(w.bits() as u8, 0);
        let by_zero = self.pool.eq(divisor, zero);
        let (low_half, whole) = (self.term(cpu, slots::RAX), self.term(cpu, a));
        let high = if w == Width::W8 {
            let high = self.pool.extract(15, 8, low_half);
            self.wide(high)
        } else {
            self.term(cpu, slots::RDX)
        };
        let rule = bits::divide(&mut self.pool, w, signed, high, low_half, whole);
        let is_zero = cpu.get(a) & w.mask() == 0;
        if is_zero {
            self.test(by_zero, TestKind::Fault);
            return step(cpu, space, op);
        }
        let Some((quotient, remainder)) = rule else {
            return self.pinned(cpu, space, op, Pin::Operation);
        };
        let not_zero = self.pool.not(by_zero);
        self.test(not_zero, TestKind::Division);
        let fits = self.quotient_fits(w, signed, high, low_half, whole);
        if let Some(fits) = fits.filter(|_| cpu.clone().divides(w, signed, a)) {
            self.test(fits, TestKind::Division);
        }
        if let Err(exception) = step(cpu, space, op) {
            // The quotient does not fit; that it did not is all that is known without a rule.
            for slot in [a, slots::RAX, slots::RDX] {
                self.pin_slot(cpu, slot, Pin::Operation);
            }
            return Err(exception);
        }
        self.put_quotient(cpu, w, quotient, remainder);
        Ok(())
    }

    /// That a quotient is not too large for its register; nothing where a divisor that is not zero
    /// is enough.
    fn quotient_fits(
        &mut self,
        w: Width,
        signed: bool,
        high: Term,
        low_half: Term,
        by: Term,
    ) -> Option<Term> {
        let bits = w.bits() as u8;
        let [high, low_half, by] = [high, low_half, by].map(|term| low(&mut self.pool, w, term));
        if !signed {
            let fits = self.pool.ult(high, by);
            return (self.pool.as_const(high) != Some(0)).then_some(fits);
        }
        let extended = self.pool.sign_extend(2 * bits, low_half);
        if self.pool.extract(2 * bits - 1, bits, extended) == high {
            let (least, minus_one) =
                (self.pool.constant(bits, 1 << (bits - 1)), self.pool.constant(bits, u128::MAX));
            let (a, b) = (self.pool.eq(low_half, least), self.pool.eq(by, minus_one));
            let over = self.pool.and(a, b);
            return Some(self.pool.not(over));
        }
        let (dividend, divisor) =
            (self.pool.concat(high, low_half), self.pool.sign_extend(2 * bits, by));
        let quotient = self.pool.sdiv(dividend, divisor);
        let narrow = self.pool.extract(bits - 1, 0, quotient);
        let back = self.pool.sign_extend(2 * bits, narrow);
        Some(self.pool.eq(quotient, back))
    }

    /// Quotient and remainder go to `rax` and `rdx`, or for bytes to `al` and `ah`.
    fn put_quotient(&mut self, cpu: &mut Cpu, w: Width, quotient: Term, remainder: Term) {
        let (q, r) = (low(&mut self.pool, w, quotient), low(&mut self.pool, w, remainder));
        match w {
            Width::W8 => {
                let rax = self.term(cpu, slots::RAX);
                let pair = self.pool.concat(r, q);
                let rax = self.replaced(rax, 0, pair);
                self.put(cpu, slots::RAX, Some(rax));
            }
            Width::W16 => {
                for (slot, value) in [(slots::RAX, q), (slots::RDX, r)] {
                    let old = self.term(cpu, slot);
                    let new = self.replaced(old, 0, value);
                    self.put(cpu, slot, Some(new));
                }
            }
            Width::W32 | Width::W64 => {
                let (q, r) = (self.wide(q), self.wide(r));
                self.put(cpu, slots::RAX, Some(q));
                self.put(cpu, slots::RDX, Some(r));
            }
        }
    }

    /// Does an op for which there is no rule: what it reads is fixed to its values.
    pub(super) fn pinned(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        op: &Op,
        why: Pin,
    ) -> Result<(), Exception> {
        let mut effects = Effects::default();
        effects.add(op);
        for slot in effects.reads.iter() {
            self.pin_slot(cpu, slot, why);
        }
        step(cpu, space, op)?;
        cpu.shadow.overwritten(&effects.writes);
        Ok(())
    }
}
