//! Operands: registers, constants and memory, as slots.

use iced_x86::{OpKind, Register};

use super::Lifter;
use crate::code::{Op, Slot, Width, slots};

/// A memory operand: `base + (index << shift) + disp`.
#[derive(Clone, Copy)]
pub(crate) struct Address {
    pub(crate) base: Slot,
    pub(crate) index: Slot,
    pub(crate) shift: u8,
    pub(crate) disp: i32,
}

impl Address {
    /// The address in a slot.
    pub(crate) const fn at(slot: Slot) -> Self {
        Self { base: slot, index: slots::ZERO, shift: 0, disp: 0 }
    }

    /// The same, so many bytes further.
    pub(crate) const fn plus(self, bytes: i32) -> Self {
        Self { disp: self.disp.wrapping_add(bytes), ..self }
    }
}

/// The slot and width of a general register; `true` for `ah` and its like.
pub(crate) fn general(register: Register) -> Option<(Slot, Width, bool)> {
    if !register.is_gpr() {
        return None;
    }
    let slot = (register.full_register() as u32 - Register::RAX as u32) as Slot;
    let high = matches!(register, Register::AH | Register::BH | Register::CH | Register::DH);
    Some((slot, Width::of_bytes(register.size())?, high))
}

/// The first slot of a vector register.
pub(crate) fn vector(register: Register) -> Option<Slot> {
    register.is_xmm().then(|| slots::XMM + 2 * register.number() as Slot)
}

/// The slot of an MMX register.
pub(crate) fn mmx(register: Register) -> Option<Slot> {
    register.is_mm().then(|| slots::MM + register.number() as Slot)
}

/// The slot with the base of a segment.
pub(crate) fn segment(register: Register) -> Slot {
    match register {
        Register::FS => slots::FS,
        Register::GS => slots::GS,
        // The other segments start at zero in 64-bit mode.
        _ => slots::ZERO,
    }
}

impl Lifter<'_> {
    /// Whether operand `n` is in memory.
    pub(crate) fn is_memory(&self, n: u32) -> bool {
        self.i.op_kind(n) == OpKind::Memory
    }

    /// Whether operand `n` is a constant.
    pub(crate) fn is_immediate(&self, n: u32) -> bool {
        self.immediate(n).is_some()
    }

    fn immediate(&self, n: u32) -> Option<u64> {
        match self.i.op_kind(n) {
            OpKind::Immediate8
            | OpKind::Immediate8_2nd
            | OpKind::Immediate16
            | OpKind::Immediate32
            | OpKind::Immediate64
            | OpKind::Immediate8to16
            | OpKind::Immediate8to32
            | OpKind::Immediate8to64
            | OpKind::Immediate32to64 => Some(self.i.immediate(n)),
            _ => None,
        }
    }

    /// The width of operand `n`, if it is an integer of the usual sizes.
    pub(crate) fn width(&self, n: u32) -> Option<Width> {
        match self.i.op_kind(n) {
            OpKind::Register => general(self.i.op_register(n)).map(|(_, width, _)| width),
            OpKind::Memory => Width::of_bytes(self.i.memory_size().size()),
            _ => None,
        }
    }

    /// A constant in a slot.
    pub(crate) fn constant(&mut self, value: u64) -> Slot {
        if value == 0 {
            return slots::ZERO;
        }
        let d = self.temporary();
        self.emit(Op::Const { d, value });
        d
    }

    /// The address of the memory operand.
    pub(crate) fn address(&mut self) -> Address {
        self.address_in(segment(self.i.memory_segment()))
    }

    /// The address of the memory operand, without the base of its segment, as `lea` sees it.
    pub(crate) fn address_within_segment(&mut self) -> Address {
        self.address_in(slots::ZERO)
    }

    /// The address of the memory operand in the segment with this base.
    fn address_in(&mut self, over: Slot) -> Address {
        let i = self.i;
        let narrow = i.memory_base().size() == 4 || i.memory_index().size() == 4;
        if narrow && over != slots::ZERO {
            // The base of the segment comes on top of 32-bit arithmetic.
            let Address { base, .. } = self.address_in(slots::ZERO);
            return Address { base: over, index: base, shift: 0, disp: 0 };
        }
        let mut base = over;
        let mut disp = i.memory_displacement64();
        let mut index = slots::ZERO;
        let mut shift = 0;
        if i.is_ip_rel_memory_operand() {
            disp = i.ip_rel_memory_address();
        } else {
            if let Some((slot, _, _)) = general(i.memory_base()) {
                if base == slots::ZERO {
                    base = slot;
                } else {
                    index = slot;
                }
            }
            if let Some((slot, _, _)) = general(i.memory_index()) {
                if index != slots::ZERO {
                    // A segment, a base and an index: one too many.
                    let d = self.temporary();
                    self.emit(Op::Lea { w: Width::W64, d, base, index, shift: 0, disp: 0 });
                    base = d;
                }
                index = slot;
                shift = i.memory_index_scale().trailing_zeros() as u8;
            }
        }
        if narrow {
            // Only 32 bits of the sum count, so that the displacement may as well be signed.
            disp = disp as u32 as i32 as i64 as u64;
        }
        let mut address = match i32::try_from(disp as i64) {
            Ok(disp) => Address { base, index, shift, disp },
            Err(_) if base == slots::ZERO => {
                Address { base: self.constant(disp), index, shift, disp: 0 }
            }
            Err(_) => {
                let far = self.constant(disp);
                let d = self.temporary();
                self.emit(Op::Add { w: Width::W64, d, a: base, b: far, imm: 0 });
                Address { base: d, index, shift, disp: 0 }
            }
        };
        if narrow {
            let (w, d) = (Width::W32, self.temporary());
            let Address { base, index, shift, disp } = address;
            self.emit(Op::Lea { w, d, base, index, shift, disp });
            address = Address::at(d);
        }
        address
    }

    /// An address that was computed from the one of the memory operand within its segment: where that
    /// has 32 bits, the sum wraps around, too, and the base of the segment comes on top.
    pub(crate) fn in_segment(&mut self, address: Address) -> Address {
        let i = self.i;
        let narrow = i.memory_base().size() == 4 || i.memory_index().size() == 4;
        let over = segment(i.memory_segment());
        if !narrow && over == slots::ZERO {
            return address;
        }
        let (w, d) = (if narrow { Width::W32 } else { Width::W64 }, self.temporary());
        let Address { base, index, shift, disp } = address;
        self.emit(Op::Lea { w, d, base, index, shift, disp });
        Address { base: over, index: d, shift: 0, disp: 0 }
    }

    /// The address of the memory operand in a slot.
    pub(crate) fn address_slot(&mut self) -> Slot {
        let Address { base, index, shift, disp } = self.address();
        let d = self.temporary();
        self.emit(Op::Lea { w: Width::W64, d, base, index, shift, disp });
        d
    }

    /// Loads into `d`.
    pub(crate) fn load_to(&mut self, w: Width, d: Slot, from: Address) {
        let Address { base, index, shift, disp } = from;
        self.emit(match w {
            Width::W8 => Op::Load8 { d, base, index, shift, disp },
            Width::W16 => Op::Load16 { d, base, index, shift, disp },
            Width::W32 => Op::Load32 { d, base, index, shift, disp },
            Width::W64 => Op::Load64 { d, base, index, shift, disp },
        });
    }

    /// Loads into a temporary.
    pub(crate) fn load(&mut self, w: Width, from: Address) -> Slot {
        let d = self.temporary();
        self.load_to(w, d, from);
        d
    }

    /// Stores `a`.
    pub(crate) fn store(&mut self, w: Width, a: Slot, to: Address) {
        let Address { base, index, shift, disp } = to;
        self.emit(match w {
            Width::W8 => Op::Store8 { a, base, index, shift, disp },
            Width::W16 => Op::Store16 { a, base, index, shift, disp },
            Width::W32 => Op::Store32 { a, base, index, shift, disp },
            Width::W64 => Op::Store64 { a, base, index, shift, disp },
        });
    }

    /// Operand `n` in a slot; above its width there may be anything.
    pub(crate) fn value(&mut self, n: u32) -> Option<Slot> {
        if let Some(value) = self.immediate(n) {
            return Some(self.constant(value));
        }
        match self.i.op_kind(n) {
            OpKind::Register => {
                let (a, _, high) = general(self.i.op_register(n))?;
                if !high {
                    return Some(a);
                }
                let d = self.temporary();
                self.emit(Op::High { d, a });
                Some(d)
            }
            OpKind::Memory => {
                let w = self.width(n)?;
                let from = self.address();
                Some(self.load(w, from))
            }
            _ => None,
        }
    }

    /// Operand `n` as a slot plus a constant.
    pub(crate) fn source(&mut self, n: u32) -> Option<(Slot, i32)> {
        if let Some(value) = self.immediate(n)
            && let Ok(imm) = i32::try_from(value as i64)
        {
            return Some((slots::ZERO, imm));
        }
        Some((self.value(n)?, 0))
    }

    /// Where a result for operand `n` is to be put: the register itself where all of it changes,
    /// else a temporary. [`Self::commit`] brings it home.
    pub(crate) fn destination(&mut self, n: u32) -> Option<Slot> {
        if self.i.op_kind(n) == OpKind::Register {
            let (slot, w, _) = general(self.i.op_register(n))?;
            if w >= Width::W32 {
                return Some(slot);
            }
        }
        Some(self.temporary())
    }

    /// Brings a result to operand `n`: see [`Self::destination`]. The result is zero-extended.
    pub(crate) fn commit(&mut self, n: u32, a: Slot) -> Option<()> {
        match self.i.op_kind(n) {
            OpKind::Register => {
                let (d, w, high) = general(self.i.op_register(n))?;
                match w {
                    _ if high => self.emit(Op::InsertHigh { d, a }),
                    _ if d == a => {}
                    Width::W8 | Width::W16 => self.emit(Op::Insert { w, d, a }),
                    Width::W32 => self.emit(Op::Zext { w, d, a }),
                    Width::W64 => self.emit(Op::Move { d, a }),
                }
                Some(())
            }
            OpKind::Memory => {
                let w = self.width(n)?;
                let to = self.address();
                self.store(w, a, to);
                Some(())
            }
            _ => None,
        }
    }
}
