//! A small assembler: the host instructions that the templates use, and no others.
//!
//! Registers are named by their number. `rbx` points to the slots, `r12` and `r13` to the TLB's
//! lines for loads and stores, `r14` to the context, `r15` to the table for indirect jumps; `rax`,
//! `rcx`, `rdx`, `rsi`, `r8` and `r9` are free within a template.
//!
//! `rbp`, `r10`, `r11` and `rdi` hold copies of slots, to spare the way through memory from one op
//! to the next. Always: a copy equals its slot; every change goes to both. So control can leave at
//! any point without further ado, and copies can be dropped at any time.

use crate::code::{Condition, Slot, Width, slots};

/// A host register.
pub(super) type Register = u8;
pub(super) const RAX: Register = 0;
pub(super) const RCX: Register = 1;
pub(super) const RDX: Register = 2;
pub(super) const RBX: Register = 3;
pub(super) const RSI: Register = 6;
pub(super) const RDI: Register = 7;
pub(super) const R8: Register = 8;
pub(super) const R9: Register = 9;
pub(super) const R12: Register = 12;
pub(super) const R13: Register = 13;
pub(super) const R14: Register = 14;
pub(super) const R15: Register = 15;

/// Two-operand arithmetic, by the opcode of its `r/m, r` form at 32 and 64 bits.
#[derive(Clone, Copy)]
pub(super) enum Alu {
    Add = 0x01,
    Or = 0x09,
    And = 0x21,
    Sub = 0x29,
    Xor = 0x31,
    Cmp = 0x39,
    Test = 0x85,
}

/// Shifts, by the extension of their opcode.
#[derive(Clone, Copy)]
pub(super) enum Turn {
    Ror = 1,
    Shl = 4,
    Shr = 5,
    Sar = 7,
}

/// A place to jump to that is not known yet: where its four bytes are.
#[derive(Clone, Copy)]
pub(super) struct Hole(usize);

/// The registers that hold copies of slots.
const COPIES: [Register; 4] = [5, 10, 11, 7];

/// Which slot each of them holds.
pub(super) type Copies = [Option<Slot>; COPIES.len()];

/// Code under construction.
#[derive(Default)]
pub(super) struct Assembler {
    code: Vec<u8>,
    copies: Copies,
    /// The copy that makes room next.
    next: usize,
}

impl Assembler {
    pub(super) fn position(&self) -> usize {
        self.code.len()
    }

    pub(super) fn finish(self) -> Vec<u8> {
        self.code
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    fn word(&mut self, value: i32) {
        self.bytes(&value.to_le_bytes());
    }

    /// An instruction with a register and a memory operand `[base + offset]`.
    fn memory(&mut self, wide: bool, opcode: &[u8], r: Register, base: Register, offset: i32) {
        self.rex(wide, r, 0, base, false);
        self.bytes(opcode);
        self.place(r, base, offset);
    }

    fn rex(&mut self, wide: bool, r: Register, index: Register, base: Register, force: bool) {
        let rex = 0x40 | u8::from(wide) << 3 | (r >> 3) << 2 | (index >> 3) << 1 | base >> 3;
        if rex != 0x40 || force {
            self.code.push(rex);
        }
    }

    fn place(&mut self, r: Register, base: Register, offset: i32) {
        let (r, low) = ((r & 7) << 3, base & 7);
        let small = i8::try_from(offset);
        self.code.push(if small.is_ok() { 0x40 } else { 0x80 } | r | low);
        if low == 4 {
            self.code.push(0x24);
        }
        match small {
            Ok(offset) => self.code.push(offset as u8),
            Err(_) => self.word(offset),
        }
    }

    fn registers(&mut self, wide: bool, opcode: &[u8], r: Register, m: Register) {
        self.rex(wide, r, 0, m, false);
        self.bytes(opcode);
        self.code.push(0xc0 | (r & 7) << 3 | m & 7);
    }

    // ---- slots -----------------------------------------------------------------------------

    /// The register that holds a copy of a slot.
    fn copy_of(&self, slot: Slot) -> Option<Register> {
        let at = self.copies.iter().position(|&copied| copied == Some(slot))?;
        Some(COPIES[at])
    }

    /// A register for a copy of a slot, which the caller fills.
    fn new_copy(&mut self, slot: Slot) -> Register {
        if let Some(r) = self.copy_of(slot) {
            return r;
        }
        let at = self.next;
        self.next = (at + 1) % COPIES.len();
        self.copies[at] = Some(slot);
        COPIES[at]
    }

    fn drop_copy(&mut self, slot: Slot) {
        for copied in &mut self.copies {
            if *copied == Some(slot) {
                *copied = None;
            }
        }
    }

    /// The slots may have changed.
    pub(super) fn drop_copies(&mut self) {
        self.copies = Copies::default();
    }

    /// Which copies there are here.
    pub(super) fn copies(&self) -> Copies {
        self.copies
    }

    /// After a call: loads the copies that were there before it.
    pub(super) fn reload(&mut self, copies: Copies) {
        for (slot, r) in copies.into_iter().zip(COPIES) {
            if let Some(slot) = slot {
                self.memory(true, &[0x8b], r, RBX, i32::from(slot) * 8);
            }
        }
    }

    /// The lower part of a slot, zero-extended.
    pub(super) fn load(&mut self, r: Register, slot: Slot, w: Width) {
        let offset = i32::from(slot) * 8;
        if let Some(copy) = self.copy_of(slot) {
            self.copy(r, copy);
            return self.cut(r, w);
        }
        match w {
            Width::W8 => self.memory(false, &[0x0f, 0xb6], r, RBX, offset),
            Width::W16 => self.memory(false, &[0x0f, 0xb7], r, RBX, offset),
            Width::W32 => self.memory(false, &[0x8b], r, RBX, offset),
            Width::W64 if slot <= slots::R15 => {
                let copy = self.new_copy(slot);
                self.memory(true, &[0x8b], copy, RBX, offset);
                self.copy(r, copy);
            }
            Width::W64 => self.memory(true, &[0x8b], r, RBX, offset),
        }
    }

    /// The lower part of a slot, sign-extended to 64 bits.
    pub(super) fn load_signed(&mut self, r: Register, slot: Slot, w: Width) {
        let offset = i32::from(slot) * 8;
        if let Some(copy) = self.copy_of(slot) {
            match w {
                Width::W8 => self.registers(true, &[0x0f, 0xbe], r, copy),
                Width::W16 => self.registers(true, &[0x0f, 0xbf], r, copy),
                Width::W32 => self.registers(true, &[0x63], r, copy),
                Width::W64 => self.copy(r, copy),
            }
            return;
        }
        match w {
            Width::W8 => self.memory(true, &[0x0f, 0xbe], r, RBX, offset),
            Width::W16 => self.memory(true, &[0x0f, 0xbf], r, RBX, offset),
            Width::W32 => self.memory(true, &[0x63], r, RBX, offset),
            Width::W64 => self.memory(true, &[0x8b], r, RBX, offset),
        }
    }

    pub(super) fn store(&mut self, slot: Slot, r: Register) {
        self.memory(true, &[0x89], r, RBX, i32::from(slot) * 8);
        // The parts of the flags are seldom read again in the same block.
        if slot <= slots::R15 || slot >= slots::TEMPORARY {
            let copy = self.new_copy(slot);
            self.copy(copy, r);
        }
    }

    /// A constant that fits in 32 bits with its sign.
    pub(super) fn store_constant(&mut self, slot: Slot, value: i32) {
        self.drop_copy(slot);
        self.memory(true, &[0xc7], 0, RBX, i32::from(slot) * 8);
        self.word(value);
    }

    /// `xmm0` from a pair of slots, and back.
    pub(super) fn load_pair(&mut self, slot: Slot) {
        self.code.push(0xf3);
        self.memory(false, &[0x0f, 0x6f], 0, RBX, i32::from(slot) * 8);
    }

    pub(super) fn store_pair(&mut self, slot: Slot) {
        self.drop_copy(slot);
        self.drop_copy(slot + 1);
        self.code.push(0xf3);
        self.memory(false, &[0x0f, 0x7f], 0, RBX, i32::from(slot) * 8);
    }

    // ---- fields of the context, and memory ---------------------------------------------------

    pub(super) fn load_field(&mut self, r: Register, base: Register, offset: i32) {
        self.memory(true, &[0x8b], r, base, offset);
    }

    pub(super) fn store_field(&mut self, offset: i32, r: Register) {
        self.memory(true, &[0x89], r, R14, offset);
    }

    pub(super) fn store_field_constant(&mut self, offset: i32, value: i32) {
        self.memory(true, &[0xc7], 0, R14, offset);
        self.word(value);
    }

    pub(super) fn subtract_from_field(&mut self, offset: i32, value: i32) {
        self.memory(true, &[0x81], 5, R14, offset);
        self.word(value);
    }

    pub(super) fn compare_field_with_zero(&mut self, offset: i32) {
        self.memory(true, &[0x83], 7, R14, offset);
        self.code.push(0);
    }

    /// `r = base[index]`, where both are registers.
    pub(super) fn load_indexed(&mut self, r: Register, base: Register, index: Register, at: u8) {
        self.indexed(&[0x8b], r, base, index, at);
    }

    pub(super) fn compare_indexed(&mut self, r: Register, base: Register, index: Register, at: u8) {
        self.indexed(&[0x3b], r, base, index, at);
    }

    pub(super) fn add_indexed(&mut self, r: Register, base: Register, index: Register, at: u8) {
        self.indexed(&[0x03], r, base, index, at);
    }

    fn indexed(&mut self, opcode: &[u8], r: Register, base: Register, index: Register, at: u8) {
        self.rex(true, r, index, base, false);
        self.bytes(opcode);
        self.bytes(&[0x44 | (r & 7) << 3, (index & 7) << 3 | base & 7, at]);
    }

    /// Loads from the address in a register, zero-extended.
    pub(super) fn load_from(&mut self, r: Register, at: Register, w: Width) {
        match w {
            Width::W8 => self.memory(false, &[0x0f, 0xb6], r, at, 0),
            Width::W16 => self.memory(false, &[0x0f, 0xb7], r, at, 0),
            Width::W32 => self.memory(false, &[0x8b], r, at, 0),
            Width::W64 => self.memory(true, &[0x8b], r, at, 0),
        }
    }

    pub(super) fn store_to(&mut self, at: Register, r: Register, w: Width) {
        match w {
            Width::W8 => {
                // A prefix makes sil and dil of what would be dh and bh.
                self.rex(false, r, 0, at, true);
                self.code.push(0x88);
                self.place(r, at, 0);
            }
            Width::W16 => {
                self.code.push(0x66);
                self.memory(false, &[0x89], r, at, 0);
            }
            Width::W32 => self.memory(false, &[0x89], r, at, 0),
            Width::W64 => self.memory(true, &[0x89], r, at, 0),
        }
    }

    pub(super) fn load_pair_from(&mut self, at: Register) {
        self.code.push(0xf3);
        self.memory(false, &[0x0f, 0x6f], 0, at, 0);
    }

    pub(super) fn store_pair_to(&mut self, at: Register) {
        self.code.push(0xf3);
        self.memory(false, &[0x0f, 0x7f], 0, at, 0);
    }

    // ---- registers -----------------------------------------------------------------------------

    pub(super) fn constant(&mut self, r: Register, value: u64) {
        if let Ok(value) = u32::try_from(value) {
            self.rex(false, 0, 0, r, false);
            self.code.push(0xb8 | r & 7);
            self.bytes(&value.to_le_bytes());
        } else if let Ok(value) = i32::try_from(value as i64) {
            self.rex(true, 0, 0, r, false);
            self.bytes(&[0xc7, 0xc0 | r & 7]);
            self.word(value);
        } else {
            self.rex(true, 0, 0, r, false);
            self.code.push(0xb8 | r & 7);
            self.bytes(&value.to_le_bytes());
        }
    }

    pub(super) fn copy(&mut self, to: Register, from: Register) {
        self.registers(true, &[0x89], from, to);
    }

    /// Arithmetic at 32 or 64 bits.
    pub(super) fn alu(&mut self, op: Alu, wide: bool, to: Register, from: Register) {
        self.registers(wide, &[op as u8], from, to);
    }

    /// A comparison or test at any width: sets the host's flags.
    pub(super) fn compare(&mut self, op: Alu, w: Width, a: Register, b: Register) {
        match w {
            Width::W8 => {
                self.rex(false, b, 0, a, true);
                self.bytes(&[op as u8 - 1, 0xc0 | (b & 7) << 3 | a & 7]);
            }
            Width::W16 => {
                self.code.push(0x66);
                self.registers(false, &[op as u8], b, a);
            }
            Width::W32 => self.registers(false, &[op as u8], b, a),
            Width::W64 => self.registers(true, &[op as u8], b, a),
        }
    }

    /// A comparison with a constant, at any width.
    pub(super) fn compare_constant(&mut self, w: Width, r: Register, value: i32) {
        if w == Width::W16 {
            self.code.push(0x66);
        }
        self.rex(w == Width::W64, 0, 0, r, w == Width::W8);
        self.bytes(&[if w == Width::W8 { 0x80 } else { 0x81 }, 0xf8 | r & 7]);
        let bytes = value.to_le_bytes();
        self.bytes(&bytes[..w.bytes().min(4) as usize]);
    }

    pub(super) fn add_constant(&mut self, r: Register, value: i32) {
        if value != 0 {
            self.rex(true, 0, 0, r, false);
            self.bytes(&[0x81, 0xc0 | r & 7]);
            self.word(value);
        }
    }

    pub(super) fn and_constant(&mut self, r: Register, value: i32) {
        self.rex(false, 0, 0, r, false);
        self.bytes(&[0x81, 0xe0 | r & 7]);
        self.word(value);
    }

    pub(super) fn not(&mut self, r: Register) {
        self.rex(true, 0, 0, r, false);
        self.bytes(&[0xf7, 0xd0 | r & 7]);
    }

    pub(super) fn turn(&mut self, op: Turn, wide: bool, r: Register, count: u8) {
        self.rex(wide, 0, 0, r, false);
        self.bytes(&[0xc1, 0xc0 | (op as u8) << 3 | r & 7, count]);
    }

    /// By the count in `cl`.
    pub(super) fn turn_by_cl(&mut self, op: Turn, wide: bool, r: Register) {
        self.rex(wide, 0, 0, r, false);
        self.bytes(&[0xd3, 0xc0 | (op as u8) << 3 | r & 7]);
    }

    pub(super) fn byte_swap(&mut self, wide: bool, r: Register) {
        self.rex(wide, 0, 0, r, false);
        self.bytes(&[0x0f, 0xc8 | r & 7]);
    }

    /// `r = a + b * 2^shift + disp`.
    pub(super) fn lea(&mut self, r: Register, a: Register, b: Register, shift: u8, disp: i32) {
        self.rex(true, r, b, a, false);
        self.bytes(&[0x8d, 0x84 | (r & 7) << 3, shift << 6 | (b & 7) << 3 | a & 7]);
        self.word(disp);
    }

    /// `r = a + disp`.
    pub(super) fn lea_plus(&mut self, r: Register, a: Register, disp: i32) {
        self.memory(true, &[0x8d], r, a, disp);
    }

    /// The lower bits, zero-extended.
    pub(super) fn cut(&mut self, r: Register, w: Width) {
        match w {
            Width::W8 => {
                self.rex(false, r, 0, r, true);
                self.bytes(&[0x0f, 0xb6, 0xc0 | (r & 7) << 3 | r & 7]);
            }
            Width::W16 => self.registers(false, &[0x0f, 0xb7], r, r),
            Width::W32 => self.registers(false, &[0x89], r, r),
            Width::W64 => {}
        }
    }

    /// Two-operand `imul`.
    pub(super) fn multiply(&mut self, wide: bool, to: Register, from: Register) {
        self.registers(wide, &[0x0f, 0xaf], to, from);
    }

    /// `rdx:rax = rax * r`.
    pub(super) fn multiply_wide(&mut self, signed: bool, r: Register) {
        self.rex(true, 0, 0, r, false);
        self.bytes(&[0xf7, if signed { 0xe8 } else { 0xe0 } | r & 7]);
    }

    pub(super) fn set_if(&mut self, cc: Condition, r: Register) {
        self.rex(false, 0, 0, r, true);
        self.bytes(&[0x0f, 0x90 | cc as u8, 0xc0 | r & 7]);
        self.cut(r, Width::W8);
    }

    pub(super) fn move_if(&mut self, cc: Condition, to: Register, from: Register) {
        self.registers(true, &[0x0f, 0x40 | cc as u8], to, from);
    }

    // ---- control -------------------------------------------------------------------------------

    pub(super) fn jump_if(&mut self, cc: Condition) -> Hole {
        self.bytes(&[0x0f, 0x80 | cc as u8]);
        self.hole()
    }

    fn hole(&mut self) -> Hole {
        self.word(0);
        Hole(self.code.len() - 4)
    }

    /// Lets a jump lead here.
    pub(super) fn land(&mut self, hole: Hole) {
        let here = self.position();
        self.lead(hole, here);
    }

    /// Lets a jump lead to a position.
    pub(super) fn lead(&mut self, hole: Hole, target: usize) {
        let distance = target as i64 - (hole.0 as i64 + 4);
        self.code[hole.0..hole.0 + 4].copy_from_slice(&(distance as i32).to_le_bytes());
    }

    /// A jump to `distance` bytes from the start of this code.
    pub(super) fn jump_to(&mut self, distance: i64) {
        self.code.push(0xe9);
        let from = self.position() as i64 + 4;
        self.word((distance - from) as i32);
    }

    /// A jump to the address at `distance` bytes from the start of this code.
    pub(super) fn jump_through(&mut self, distance: i64) {
        self.bytes(&[0xff, 0x25]);
        let from = self.position() as i64 + 4;
        self.word((distance - from) as i32);
    }

    pub(super) fn jump_to_r8(&mut self) {
        self.bytes(&[0x41, 0xff, 0xe0]);
    }

    /// Calls the function at an address.
    pub(super) fn call(&mut self, function: usize) {
        self.constant(RAX, function as u64);
        self.bytes(&[0xff, 0xd0]);
    }
}
