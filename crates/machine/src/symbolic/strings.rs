//! String instructions on marked memory.
//!
//! Copies carry marks along; comparisons are tests, element by element. Pointers and counts that
//! depend on the input are fixed.

use stunt_path::{Pin, TestKind};
use stunt_terms::Pool;

use crate::{
    code::{Op, Repeat, StringOp, Width, slots},
    cpu::{Cpu, Exception, step},
    memory::{Access, AddressSpace, Mark},
};

use super::{Symbolic, access::Address, flags::FlagTerms, shadow::put_flags, words::Cut};

impl Symbolic {
    /// Does a string instruction.
    pub(super) fn string_op(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        op: &Op,
    ) -> Result<(), Exception> {
        let Op::String { f, w, repeat, segment, narrow } = *op else {
            unreachable!("only string instructions come here")
        };
        for slot in [slots::RSI, slots::RDI] {
            self.pin_slot(cpu, slot, Pin::StoreAddress);
        }
        if repeat != Repeat::Once {
            self.pin_slot(cpu, slots::RCX, Pin::Count);
        }
        let mask = if narrow { u64::from(u32::MAX) } else { u64::MAX };
        let count = if repeat == Repeat::Once { 1 } else { cpu.get(slots::RCX) & mask };
        let length = count.saturating_mul(w.bytes());
        let down = cpu.get(slots::SYSTEM_FLAGS) & 1 << 10 != 0;
        let from = cpu.get(segment).wrapping_add(cpu.get(slots::RSI) & mask);
        let to = cpu.get(slots::RDI) & mask;
        let apart = from.abs_diff(to) >= length;
        let (loads, stores) = match f {
            StringOp::Movs => (Some(from), Some(to)),
            StringOp::Stos => (None, Some(to)),
            StringOp::Lods => (Some(from), None),
            // How far these go depends on what they find.
            StringOp::Scas | StringOp::Cmps => (None, None),
        };
        if !down && length < 1 << 24 {
            if let Some(at) = loads {
                self.guarded(space, at, length, Access::Read)?;
            }
            if let Some(at) = stores {
                self.guarded(space, at, length, Access::Write)?;
            }
        }
        match f {
            StringOp::Movs if apart && !down && length < 1 << 24 => {
                let marks: Option<Vec<Option<Mark>>> = space
                    .marked(from, length)
                    .then(|| (0..length).map(|k| space.mark_of(from.wrapping_add(k))).collect());
                let before = cpu.get(slots::RDI);
                let done = self.string_blindly(cpu, space, op);
                if let Some(mut marks) = marks {
                    // A fault in the middle leaves the elements before it copied.
                    let copied = cpu.get(slots::RDI).wrapping_sub(before) & mask;
                    marks.truncate(copied as usize);
                    space.mark(to, &marks);
                }
                done
            }
            StringOp::Stos if !cpu.shadow.set().has(slots::RAX) => {
                self.string_blindly(cpu, space, op)
            }
            _ => self.element_by_element(cpu, space, (f, w, repeat, narrow), op),
        }
    }

    fn string_blindly(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        op: &Op,
    ) -> Result<(), Exception> {
        space.set_blind(true);
        let done = step(cpu, space, op);
        space.set_blind(false);
        done
    }

    fn element_by_element(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        (f, w, repeat, narrow): (StringOp, Width, Repeat, bool),
        op: &Op,
    ) -> Result<(), Exception> {
        let Op::String { segment, .. } = *op else { unreachable!("checked before") };
        let mask = if narrow { u64::from(u32::MAX) } else { u64::MAX };
        let once = Op::String { f, w, repeat: Repeat::Once, segment, narrow };
        loop {
            let count = cpu.get(slots::RCX) & mask;
            if repeat != Repeat::Once && count == 0 {
                return Ok(());
            }
            let from = cpu.get(segment).wrapping_add(cpu.get(slots::RSI) & mask);
            let to = cpu.get(slots::RDI) & mask;
            let bits = w.bits() as u8;
            let source = self.read_term(space, from, w.bytes());
            let target = self.read_term(space, to, w.bytes());
            let place = Address { at: from, term: None };
            self.blindly(cpu, space, &once, place)?;
            match f {
                StringOp::Movs => {
                    if let Some(term) = source {
                        self.write_term(space, to, term);
                    }
                }
                StringOp::Stos => {
                    if let Some(term) = cpu.shadow.get(slots::RAX) {
                        let term = term.cut(&mut self.pool, w).term();
                        self.write_term(space, to, term);
                    }
                }
                StringOp::Lods => {
                    let old = self.term(cpu, slots::RAX).term();
                    let value = source.unwrap_or_else(|| {
                        self.pool.constant(bits, u128::from(cpu.get(slots::RAX) & w.mask()))
                    });
                    let term = match w {
                        Width::W8 | Width::W16 => {
                            let above = self.pool.extract(63, bits, old);
                            self.pool.concat(above, value)
                        }
                        Width::W32 | Width::W64 => value,
                    };
                    let word = self.wide(term);
                    self.put(cpu, slots::RAX, Some(word));
                }
                StringOp::Scas | StringOp::Cmps => {
                    let value = |it: &mut Self, space: &mut AddressSpace, at| {
                        let mut bytes = [0; 8];
                        // It was just read.
                        let _ = space.read(at, &mut bytes[..w.bytes() as usize]);
                        Cut::constant(&mut it.pool, w, u64::from_le_bytes(bytes))
                    };
                    let left_symbolic = match f {
                        StringOp::Scas => cpu.shadow.set().has(slots::RAX),
                        _ => source.is_some(),
                    };
                    if !left_symbolic && target.is_none() {
                        cpu.shadow.forget_flags();
                    } else {
                        let a = match (f, source) {
                            (StringOp::Scas, _) => self.at_width(cpu, w, slots::RAX),
                            (_, Some(term)) => Cut::of(&mut self.pool, w, term),
                            (_, None) => value(self, space, from),
                        };
                        let b = match target {
                            Some(term) => Cut::of(&mut self.pool, w, term),
                            None => value(self, space, to),
                        };
                        put_flags(cpu, FlagTerms::Difference { a, b, borrow: false });
                        if repeat != Repeat::Once {
                            let equal = a.is(&mut self.pool, Pool::eq, b);
                            let held = if cpu.flag_bits() & 1 << 6 != 0 {
                                equal
                            } else {
                                self.pool.not(equal)
                            };
                            self.test(held, TestKind::Branch);
                        }
                    }
                }
            }
            if repeat == Repeat::Once {
                return Ok(());
            }
            cpu.set(slots::RCX, count.wrapping_sub(1) & mask);
            let compares = matches!(f, StringOp::Scas | StringOp::Cmps);
            let equal = cpu.flag_bits() & 1 << 6 != 0;
            if compares && equal == (repeat == Repeat::WhileDifferent) {
                return Ok(());
            }
        }
    }
}
