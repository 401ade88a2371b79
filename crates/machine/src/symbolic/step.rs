//! Ops on slots that stand for terms.
//!
//! Every op is done as always, on values; this file says what the results stand for. Terms are
//! made from the state before the op. What has no rule fixes its operands to their values: that
//! reveals them, so it is counted.

use stunt_path::{Pin, TestKind};
use stunt_terms::{Pool, Term};

use crate::{
    code::{Bit, BitOp, Effects, Op, Shift, Slot, Width, slots},
    cpu::{Cpu, Exception, FlagKind, step},
    memory::AddressSpace,
};

use super::{
    Symbolic, bits,
    flags::{FlagTerms, Flags, Origin, as_bits, flags_of_result, with_flag},
    shadow::put_flags,
    vector,
    words::{Cut, Word, low},
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
    Bits(Word, u64),
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
            Op::Move { d, a } => (d, Some(self.term(cpu, a).term()), NewFlags::Same),
            Op::Zext { w, d, a } => (d, Some(self.at_width(cpu, w, a).term()), NewFlags::Same),
            Op::Sext { from, w, d, a } => {
                let narrow = self.at_width(cpu, from, a).term();
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
                (d, Some(self.replaced(old, 0, new.term()).term()), NewFlags::Same)
            }
            Op::InsertHigh { d, a } => {
                let (old, new) = (self.term(cpu, d), self.at_width(cpu, Width::W8, a));
                (d, Some(self.replaced(old, 8, new.term()).term()), NewFlags::Same)
            }
            Op::High { d, a } => {
                let a = self.term(cpu, a).term();
                (d, Some(self.pool.extract(15, 8, a)), NewFlags::Same)
            }
            Op::Add { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(x.with(&mut self.pool, Pool::add, y).term()), NewFlags::Same)
            }
            Op::Sub { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(x.with(&mut self.pool, Pool::sub, y).term()), NewFlags::Same)
            }
            Op::And { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(x.with(&mut self.pool, Pool::and, y).term()), NewFlags::Same)
            }
            Op::Or { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(x.with(&mut self.pool, Pool::or, y).term()), NewFlags::Same)
            }
            Op::Xor { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(x.with(&mut self.pool, Pool::xor, y).term()), NewFlags::Same)
            }
            Op::Mul { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(x.with(&mut self.pool, Pool::mul, y).term()), NewFlags::Same)
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
                let a = self.at_width(cpu, w, a).term();
                (d, Some(self.pool.not(a)), NewFlags::Same)
            }
            Op::Bswap { w, d, a } => {
                let a = self.at_width(cpu, w, a).term();
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
                let (l, h) = bits::multiply(&mut self.pool, w, signed, x.term(), y.term());
                step(cpu, space, op)?;
                let [l, h] = [l, h].map(|half| self.wide(half));
                self.put(cpu, low, Some(l));
                self.put(cpu, high, Some(h));
                return Ok(());
            }
            Op::Divide { w, signed, a } => return self.divide(cpu, space, op, w, signed, a),
            Op::Select { d, c, a, b } => {
                let [c, a, b] = [c, a, b].map(|slot| self.term(cpu, slot).term());
                let zero = self.pool.constant(64, 0);
                let is_zero = self.pool.eq(c, zero);
                (d, Some(self.pool.ite(is_zero, b, a)), NewFlags::Same)
            }

            Op::AddF { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(x.with(&mut self.pool, Pool::add, y).term()), sum(x, y))
            }
            Op::SubF { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (d, Some(x.with(&mut self.pool, Pool::sub, y).term()), difference(x, y))
            }
            Op::CmpF { w, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                (slots::ZERO, None, difference(x, y))
            }
            Op::NegF { w, d, a } => {
                let y = self.at_width(cpu, w, a);
                let zero = Cut::constant(&mut self.pool, w, 0);
                (d, Some(self.pool.neg(y.term())), difference(zero, y))
            }
            Op::AndF { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                let r = x.with(&mut self.pool, Pool::and, y);
                (d, Some(r.term()), self.logic(r))
            }
            Op::OrF { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                let r = x.with(&mut self.pool, Pool::or, y);
                (d, Some(r.term()), self.logic(r))
            }
            Op::XorF { w, d, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                let r = x.with(&mut self.pool, Pool::xor, y);
                (d, Some(r.term()), self.logic(r))
            }
            Op::TestF { w, a, b, imm } => {
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                let r = x.with(&mut self.pool, Pool::and, y);
                (slots::ZERO, None, self.logic(r))
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
                let operand = self.wide(carry);
                let x = self.at_width(cpu, w, a);
                let one = Cut::constant(&mut self.pool, w, 1);
                let (origin, result) = match op {
                    Op::IncF { .. } => (Origin::Inc, x.with(&mut self.pool, Pool::add, one)),
                    _ => (Origin::Dec, x.with(&mut self.pool, Pool::sub, one)),
                };
                let terms = FlagTerms::Result { origin, result, operand };
                (d, Some(result.term()), NewFlags::From(terms))
            }
            Op::MulFlags { w, signed, low: l, high } => {
                let (l, h) = (self.at_width(cpu, w, l), self.at_width(cpu, w, high));
                let bits = w.bits() as u8;
                let plain = if signed {
                    let sign = l.sign(&mut self.pool);
                    self.pool.sign_extend(bits, sign)
                } else {
                    self.pool.constant(bits, 0)
                };
                let plain = Cut::of(&mut self.pool, w, plain);
                let over = h.is(&mut self.pool, Pool::ne, plain);
                let operand = self.wide(over);
                let terms = FlagTerms::Result { origin: Origin::Mul, result: l, operand };
                (slots::ZERO, None, NewFlags::From(terms))
            }
            Op::ShiftF { f, w, d, a, b, imm } => {
                return self.shift_with_flags(cpu, space, op, f, w, d, a, b, imm);
            }
            Op::ShiftDoubleF { right, w, d, a, b, c, imm } => {
                self.pin_slot(cpu, c, Pin::Operation);
                let (x, y) = (self.term(cpu, a).term(), self.term(cpu, b).term());
                let count = cpu.get(c).wrapping_add(u64::from(imm));
                let by = self.pool.constant(64, u128::from(count));
                let r = bits::shift_double(&mut self.pool, right, w, x, y, by);
                let Some(r) = r else { return self.pinned(cpu, space, op, Pin::Operation) };
                step(cpu, space, op)?;
                let wide = self.wide(r);
                self.put(cpu, d, Some(wide));
                let count = (count & if w == Width::W64 { 63 } else { 31 }) as u8;
                // Without a shift the flags stay.
                if count != 0 {
                    let [x, y, r] = [x, y, r].map(|term| Cut::of(&mut self.pool, w, term));
                    let word = self.flags_of_double_shift(right, x, y, r, count);
                    self.put_flag_bits(cpu, word);
                }
                return Ok(());
            }
            Op::BitTestF { f, w, d, a, b, imm } => {
                let (x, index) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                let (x, index) = (x.term(), index.term());
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
                let carry = self.wide(bit);
                (d, Some(value), NewFlags::Bits(carry, 1))
            }
            Op::BitF { f, w, d, a, b, quiet } => {
                let [old, x, y] = [d, a, b].map(|slot| self.term(cpu, slot).term());
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
                        BitOp::Tzcnt => (cpu.flag_bits(), u64::MAX),
                        _ => (0, 1 << 6),
                    };
                    let none = Word::constant(&mut self.pool, none);
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
                    Some(flags) => NewFlags::Bits(self.wide(flags), mask),
                    None => NewFlags::Same,
                };
                (d, Some(value), flags)
            }

            Op::Condition { cc, d } => {
                let holds =
                    Flags::of(&mut self.pool, cpu).expect("the flags are followed").holds(cc);
                (d, Some(holds), NewFlags::Same)
            }
            Op::Cmov { cc, w, d, a } => {
                let (new, old) = (self.at_width(cpu, w, a), self.at_width(cpu, w, d));
                let (new, old) = (new.term(), old.term());
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
                (d, Some(self.pool.or(word.term(), others)), NewFlags::Same)
            }
            Op::SetFlags { a, mask } => {
                let a = self.term(cpu, a);
                (slots::ZERO, None, NewFlags::Bits(a, u64::from(mask)))
            }
            Op::ComplementCarry => {
                let carry = Flags::of(&mut self.pool, cpu).expect("the flags are followed").carry();
                let flipped = self.pool.not(carry);
                let flipped = self.wide(flipped);
                (slots::ZERO, None, NewFlags::Bits(flipped, 1))
            }
            Op::Vector { f, d, a, b, imm } => {
                let x = [a, a + 1].map(|slot| self.term(cpu, slot).term());
                let y = [b, b + 1].map(|slot| self.term(cpu, slot).term());
                let Some([l, h]) = vector::vector(&mut self.pool, f, x, y, imm) else {
                    return self.pinned(cpu, space, op, Pin::Operation);
                };
                step(cpu, space, op)?;
                let [l, h] = [l, h].map(|half| self.wide(half));
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
    fn replaced(&mut self, old: Word, at: u8, new: Term) -> Word {
        let old = old.term();
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
        self.wide(value)
    }

    fn logic(&mut self, result: Cut) -> NewFlags {
        let operand = Word::constant(&mut self.pool, 0);
        NewFlags::From(FlagTerms::Result { origin: Origin::Logic, result, operand })
    }

    /// The bits of `mask` from `new`, the others from `old`.
    fn mixed(&mut self, old: Word, new: Word, mask: u64) -> Word {
        let (old, new) = (old.term(), new.term());
        if mask == 1 {
            let (others, carry) = (self.pool.extract(63, 1, old), self.pool.extract(0, 0, new));
            let word = self.pool.concat(others, carry);
            return self.wide(word);
        }
        let (keep, take) =
            (self.pool.constant(64, u128::from(!mask)), self.pool.constant(64, u128::from(mask)));
        let (old, new) = (self.pool.and(old, keep), self.pool.and(new, take));
        let word = self.pool.or(old, new);
        self.wide(word)
    }

    /// The flags are noted as bits; this is what they stand for.
    fn put_flag_bits(&mut self, cpu: &mut Cpu, word: Word) {
        let known = cpu.flag_bits();
        cpu.note(FlagKind::Bits, Width::W8, known, 0);
        if self.pool.as_const(word.term()).is_some() {
            cpu.shadow.forget_flags();
        } else {
            put_flags(cpu, FlagTerms::Bits(word));
        }
    }

    /// The flags after `shld` and `shrd` by a count that is not zero.
    fn flags_of_double_shift(&mut self, right: bool, x: Cut, y: Cut, r: Cut, count: u8) -> Word {
        let bits = x.width().bits() as u8;
        let pool = &mut self.pool;
        // The last bit that went out. Words can be shifted by more than their width; then it is a
        // bit of the second operand.
        let out = match (right, count <= bits) {
            (true, true) => x.bit(pool, count - 1),
            (false, true) => x.bit(pool, bits - count),
            (true, false) => y.bit(pool, count - 1 - bits),
            (false, false) => y.bit(pool, 2 * bits - count),
        };
        let over = r.with(pool, Pool::xor, x).sign(pool);
        let mut word = flags_of_result(pool, r);
        for (bit, place) in [(out, 0), (over, 11)] {
            word = with_bit(pool, word, place, bit);
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
        let count = self.second(cpu, Width::W64, b, imm).term();
        let a = self.term(cpu, a).term();
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
            let x = x.wide(&mut self.pool);
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
            let value = self.wide(value);
            self.put(cpu, d, Some(value));
            let pool = &mut self.pool;
            let r = value.cut(pool, w);
            let (first, second) =
                if f == Shift::Rol { (0, bits - 1) } else { (bits - 1, bits - 2) };
            let (carry, other) = (r.bit(pool, first), r.bit(pool, second));
            let over = pool.xor(carry, other);
            let new = Word::of(pool, carry);
            let new = with_bit(pool, new, 11, over);
            let word = self.mixed(before, new, 1 | 1 << 11);
            self.put_flag_bits(cpu, word);
            return Ok(());
        }
        let pool = &mut self.pool;
        let n = Cut::constant(pool, w, u64::from(count));
        let (origin, result, out) = match f {
            Shift::Shl => (Origin::Shl, x.with(pool, Pool::shl, n), bits - count),
            Shift::Shr => (Origin::Shr, x.with(pool, Pool::lshr, n), count - 1),
            _ => (Origin::Sar, x.with(pool, Pool::ashr, n), count - 1),
        };
        let mut operand = x.bit(pool, out);
        if f == Shift::Shr {
            let sign = x.sign(pool);
            operand = pool.concat(sign, operand);
        }
        let operand = Word::of(pool, operand);
        step(cpu, space, op)?;
        let wide = result.wide(&mut self.pool);
        self.put(cpu, d, Some(wide));
        put_flags(cpu, FlagTerms::Result { origin, result, operand });
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
        let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
        let carry = match Flags::of(&mut self.pool, cpu) {
            Some(mut flags) => flags.carry(),
            None => {
                let carry = cpu.carry();
                self.pool.boolean(carry)
            }
        };
        let pool = &mut self.pool;
        let extra = Cut::of(pool, w, carry);
        let r = if subtract {
            x.with(pool, Pool::sub, y).with(pool, Pool::sub, extra)
        } else {
            x.with(pool, Pool::add, y).with(pool, Pool::add, extra)
        };
        step(cpu, space, op)?;
        let wide = r.wide(&mut self.pool);
        self.put(cpu, d, Some(wide));
        let pool = &mut self.pool;
        if let Some(carry) = pool.as_const(carry) {
            let carry = carry != 0;
            let terms = match subtract {
                true => FlagTerms::Difference { a: x, b: y, borrow: carry },
                false => FlagTerms::Sum { a: x, b: y, carry },
            };
            put_flags(cpu, terms);
            return Ok(());
        }
        let (with, without) = if subtract {
            (x.is(pool, Pool::ule, y), x.is(pool, Pool::ult, y))
        } else {
            (r.is(pool, Pool::ule, y), r.is(pool, Pool::ult, y))
        };
        let out = pool.ite(carry, with, without);
        let (p, q) = if subtract {
            (x.with(pool, Pool::xor, y), x.with(pool, Pool::xor, r))
        } else {
            (x.with(pool, Pool::xor, r), y.with(pool, Pool::xor, r))
        };
        let over = p.with(pool, Pool::and, q).sign(pool);
        let one = pool.constant(1, 1);
        let over = pool.eq(over, one);
        // AF alone is not followed.
        let auxiliary = pool.constant(64, u128::from(cpu.flag_bits() & 1 << 4));
        let word = flags_of_result(pool, r).term();
        let word = pool.or(word, auxiliary);
        let mut word = Word::of(pool, word);
        for (condition, bit) in [(out, 0), (over, 11)] {
            word = with_flag(pool, word, bit, condition);
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
        let zero = Cut::constant(&mut self.pool, w, 0);
        let by_zero = divisor.is(&mut self.pool, Pool::eq, zero);
        let (low_half, whole) = (self.term(cpu, slots::RAX).term(), self.term(cpu, a).term());
        let high = if w == Width::W8 {
            let high = self.pool.extract(15, 8, low_half);
            self.wide(high).term()
        } else {
            self.term(cpu, slots::RDX).term()
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

fn sum(a: Cut, b: Cut) -> NewFlags {
    NewFlags::From(FlagTerms::Sum { a, b, carry: false })
}

fn difference(a: Cut, b: Cut) -> NewFlags {
    NewFlags::From(FlagTerms::Difference { a, b, borrow: false })
}

/// A word with one more bit, in this place.
fn with_bit(pool: &mut Pool, word: Word, place: u8, bit: Term) -> Word {
    let (wide, by) = (pool.zero_extend(64, bit), pool.constant(64, u128::from(place)));
    let flag = pool.shl(wide, by);
    let word = pool.or(word.term(), flag);
    Word::of(pool, word)
}
