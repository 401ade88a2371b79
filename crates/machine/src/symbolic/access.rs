//! Loads and stores: terms go to memory byte by byte and come back whole; addresses that depend on
//! the input become reads from tables where they can, and are fixed where they cannot.

use smallvec::SmallVec;
use stunt_path::{Pin, TestKind};
use stunt_terms::{Op as TermOp, Term};

use crate::{
    code::{Op, Slot, Width, slots},
    cpu::{Cpu, Exception, step},
    memory::{Access, AddressSpace, Fault, Mark, PAGE, TOP, is_behind_heap},
};

use super::{Symbolic, shadow::Meaning, words::Word};

/// Most entries of a table that a load makes.
const MOST_ENTRIES: u128 = 1 << 13;
/// How many entries a table is taken to have if nothing says how many.
const GUESSED_ENTRIES: u64 = 256;

/// A place in memory: where it is, and what the address stands for.
#[derive(Clone, Copy)]
pub(super) struct Address {
    pub(super) at: u64,
    pub(super) term: Option<Term>,
}

impl Symbolic {
    /// What `base + (index << shift) + disp` stands for.
    pub(super) fn address_term(
        &mut self,
        cpu: &Cpu,
        base: Slot,
        index: Slot,
        shift: u8,
        disp: i32,
    ) -> Option<Term> {
        let set = cpu.shadow.set();
        if !set.has(base) && !set.has(index) {
            return None;
        }
        let mut constant = disp as i64 as u64;
        let mut sum = None;
        match cpu.shadow.get(index) {
            Some(term) => {
                let shift = self.pool.constant(64, u128::from(shift));
                sum = Some(self.pool.shl(term.term(), shift));
            }
            None => constant = constant.wrapping_add(cpu.get(index) << (shift & 63)),
        }
        match cpu.shadow.get(base) {
            Some(term) => {
                sum = Some(match sum {
                    Some(sum) => self.pool.add(sum, term.term()),
                    None => term.term(),
                });
            }
            None => constant = constant.wrapping_add(cpu.get(base)),
        }
        let constant = self.pool.constant(64, u128::from(constant));
        let sum = sum.expect("one of the two is followed");
        let sum = self.pool.add(sum, constant);
        Some(sum).filter(|&sum| self.pool.as_const(sum).is_none())
    }

    pub(super) fn address(
        &mut self,
        cpu: &Cpu,
        base: Slot,
        index: Slot,
        shift: u8,
        disp: i32,
    ) -> Address {
        let at = cpu
            .get(base)
            .wrapping_add(cpu.get(index) << (shift & 63))
            .wrapping_add(disp as i64 as u64);
        Address { at, term: self.address_term(cpu, base, index, shift, disp) }
    }

    /// What the `length` bytes at an address stand for, as one term.
    pub(super) fn read_term(
        &mut self,
        space: &mut AddressSpace,
        at: u64,
        length: u64,
    ) -> Option<Term> {
        let mut marks = [None; 8];
        let marks = &mut marks[..length as usize];
        if !space.copy_marks(at, marks) {
            return None;
        }
        // Most often it is one value that was stored as a whole.
        if let Some(Meaning::Piece(term, 0)) = marks[0].and_then(Meaning::of)
            && u64::from(self.pool.width(term)) == 8 * length
            && (1..length).all(|k| {
                marks[k as usize].and_then(Meaning::of) == Some(Meaning::Piece(term, k as u8))
            })
        {
            return Some(term).filter(|term| !self.known.contains_key(term));
        }
        let mut bytes = [0; 8];
        space.read(at, &mut bytes[..length as usize]).ok()?;
        let mut whole: Option<Term> = None;
        let mut k = 0;
        while k < length as usize {
            let (piece, count) = match marks[k].and_then(Meaning::of) {
                None => (self.pool.constant(8, u128::from(bytes[k])), 1),
                Some(Meaning::Input(byte)) => (self.pool.byte(byte), 1),
                Some(Meaning::Piece(term, first)) => {
                    // As many of its neighbours as there are.
                    let follows = |n: usize| {
                        marks.get(k + n).copied().flatten().and_then(Meaning::of)
                            == Some(Meaning::Piece(term, first + n as u8))
                    };
                    let count = (1..).take_while(|&n| follows(n)).count() + 1;
                    let lowest = 8 * first;
                    let highest = lowest + 8 * count as u8 - 1;
                    (self.pool.extract(highest, lowest, term), count)
                }
            };
            whole = Some(match whole {
                Some(below) => self.pool.concat(piece, below),
                None => piece,
            });
            k += count;
        }
        whole.filter(|&term| self.pool.as_const(term).is_none())
    }

    /// What the eight bytes at an address stand for, as a slot holds them.
    pub(super) fn read_word(&mut self, space: &mut AddressSpace, at: u64) -> Option<Word> {
        self.read_term(space, at, 8).map(|term| self.wide(term))
    }

    /// The bytes at an address, which were just stored, stand for a term.
    pub(super) fn write_term(&mut self, space: &mut AddressSpace, at: u64, term: Term) {
        let facts = self.pool.facts(term);
        let known = facts.zeros | facts.ones;
        let count = usize::from(self.pool.width(term) / 8);
        let mut marks = [None; 16];
        for (mark, byte) in marks[..count].iter_mut().zip(0u8..) {
            let is_known = known >> (8 * byte) & 0xff == 0xff;
            *mark = (!is_known).then(|| Meaning::Piece(term, byte).mark());
        }
        space.mark(at, &marks[..count]);
    }

    /// Loads as always, and says what the value stands for.
    fn load(
        &mut self,
        space: &mut AddressSpace,
        address: Address,
        w: Width,
    ) -> Result<(u64, Option<Term>), Exception> {
        let at = address.at;
        self.allowed(space, address, w.bytes(), Access::Read)?;
        space.set_blind(true);
        let value = match w {
            Width::W8 => space.load(at).map(|v| u64::from(u8::from_le_bytes(v))),
            Width::W16 => space.load(at).map(|v| u64::from(u16::from_le_bytes(v))),
            Width::W32 => space.load(at).map(|v| u64::from(u32::from_le_bytes(v))),
            Width::W64 => space.load(at).map(u64::from_le_bytes),
        };
        space.set_blind(false);
        let value = value.map_err(|fault| self.fault(space, address, fault))?;
        let term = match address.term {
            None => self.read_term(space, at, w.bytes()),
            Some(_) => match self.table(space, address, w) {
                Some(term) => Some(term),
                None => match self.cells(space, address, w) {
                    Some(cells) => Some(self.select(&cells)),
                    None => {
                        self.pin_address(address, Pin::LoadAddress);
                        self.read_term(space, at, w.bytes())
                    }
                },
            },
        };
        Ok((value, term))
    }

    fn store(
        &mut self,
        space: &mut AddressSpace,
        address: Address,
        w: Width,
        value: u64,
        term: Option<Term>,
    ) -> Result<(), Exception> {
        let at = address.at;
        self.allowed(space, address, w.bytes(), Access::Write)?;
        let cells = self.cells(space, address, w);
        space.set_blind(true);
        let stored = match w {
            Width::W8 => space.store(at, (value as u8).to_le_bytes()),
            Width::W16 => space.store(at, (value as u16).to_le_bytes()),
            Width::W32 => space.store(at, (value as u32).to_le_bytes()),
            Width::W64 => space.store(at, value.to_le_bytes()),
        };
        space.set_blind(false);
        stored.map_err(|fault| self.fault(space, address, fault))?;
        if let Some(cells) = cells {
            let constant = u128::from(value & w.mask());
            let value = term.unwrap_or_else(|| self.pool.constant(w.bits() as u8, constant));
            self.spread(space, &cells, value);
            return Ok(());
        }
        self.pin_address(address, Pin::StoreAddress);
        if let Some(term) = term {
            self.write_term(space, at, term);
        }
        Ok(())
    }

    pub(super) fn pin_address(&mut self, address: Address, why: Pin) {
        if let Some(term) = address.term {
            self.pin(term, address.at, why);
        }
    }

    /// An access failed. If the address depends on the input, it is enough for the same failure
    /// that it stays in the same gap between what is mapped.
    pub(super) fn fault(
        &mut self,
        space: &AddressSpace,
        address: Address,
        fault: Fault,
    ) -> Exception {
        if let Some(term) = address.term {
            if is_behind_heap(space, fault.address) {
                self.stays_forbidden(space, term, 1, fault);
                return fault.into();
            }
            let gap = gap_around(space, address.at);
            let condition = self.within(term, gap.0, gap.1);
            self.test(condition, TestKind::Fault);
        }
        fault.into()
    }

    /// `min <= term <= max`.
    pub(super) fn within(&mut self, term: Term, min: u64, max: u64) -> Term {
        let (low, span) = (
            self.pool.constant(64, u128::from(min)),
            self.pool.constant(64, u128::from(max - min)),
        );
        let offset = self.pool.sub(term, low);
        self.pool.ule(offset, span)
    }

    /// A load at an address that depends on the input, as a read from a table of what is in memory
    /// where the address can lead.
    fn table(&mut self, space: &mut AddressSpace, address: Address, w: Width) -> Option<Term> {
        if !self.relax.reads {
            return None;
        }
        let term = address.term?;
        let (mut min, mut max) = self.range(term);
        if max - min >= MOST_ENTRIES * 8 {
            (min, max) = self.guess(space, address, w)?;
        }
        let low = self.pool.constant(64, min);
        let offset = self.pool.sub(term, low);
        let shift = (!self.pool.facts(offset).zeros).trailing_zeros().min(6) as u8;
        let entries = ((max - min) >> shift) + 1;
        if entries > MOST_ENTRIES {
            return None;
        }
        let (start, length) = (min as u64, (max - min) as u64 + w.bytes());
        if space.marked(start, length) {
            return None;
        }
        let mut bytes: SmallVec<[u8; 512]> = SmallVec::from_elem(0, length as usize);
        space.read(start, &mut bytes).ok()?;
        let index_bits = (128 - (entries - 1).leading_zeros()).max(1) as u8;
        let index = self.pool.extract(shift + index_bits - 1, shift, offset);
        self.indices.insert(index, (address.at - start) >> shift);
        let table = self.pool.table_of_bytes(w.bits() as u8, shift, &bytes);
        let read = self.pool.table(table, index);
        // The pool may have found a simpler index: `c - '0'` into a whole table is `c` into another.
        if let (TermOp::Table(_, simpler), Some((input, evaluator))) =
            (self.pool.op(read), &mut self.input)
        {
            let value = evaluator.eval(&self.pool, simpler, input);
            self.indices.insert(simpler, value as u64);
        }
        Some(read)
    }

    /// Where an array would be, if the address is one of an array's elements: a constant plus an
    /// index. That the index stays within is a test of its own.
    fn guess(&mut self, space: &AddressSpace, address: Address, w: Width) -> Option<(u128, u128)> {
        let term = address.term?;
        let TermOp::Add(index, base) = self.pool.op(term) else { return None };
        let base = u64::try_from(self.pool.as_const(base)?).ok()?;
        let shift = (!self.pool.facts(index).zeros).trailing_zeros().min(6);
        let last = (GUESSED_ENTRIES - 1) << shift;
        if address.at.wrapping_sub(base) > last || !space.mapped(base, base + last + w.bytes()) {
            return None;
        }
        let limit = self.pool.constant(64, u128::from(last));
        let inside = self.pool.ule(index, limit);
        self.test(inside, TestKind::Bounds);
        Some((u128::from(base), u128::from(base + last)))
    }

    /// The least and the greatest value of a term, by its form and by what tests have shown.
    pub(super) fn range(&self, term: Term) -> (u128, u128) {
        self.range_within(term, 8)
    }

    fn range_within(&self, term: Term, depth: u8) -> (u128, u128) {
        let facts = self.pool.facts(term);
        let (mut min, mut max) = (facts.min, facts.max);
        if let Some(&(low, high)) = self.bounds.get(&term) {
            (min, max) = (min.max(low), max.min(high));
        }
        if depth == 0 || min >= max {
            return (min.min(max), max);
        }
        let all = self.pool.sort(term).mask();
        let inner = |term| self.range_within(term, depth - 1);
        let other = match self.pool.op(term) {
            TermOp::ZeroExtend(a) => Some(inner(a)),
            TermOp::SignExtend(a) => {
                let (low, high) = inner(a);
                (high <= self.pool.sort(a).mask() / 2).then_some((low, high))
            }
            TermOp::Add(a, b) => {
                let ((a, b), (c, d)) = (inner(a), inner(b));
                // A sum may run over, if all of it does.
                let (low, high) = (a + c, b + d);
                if high <= all {
                    Some((low, high))
                } else if low > all && high <= 2 * all {
                    Some((low - all - 1, high - all - 1))
                } else {
                    None
                }
            }
            TermOp::Mul(a, b) => {
                let ((a, b), (c, d)) = (inner(a), inner(b));
                b.checked_mul(d).filter(|&high| high <= all).map(|high| (a * c, high))
            }
            TermOp::Shl(a, b) => self.pool.as_const(b).and_then(|by| {
                let (low, high) = inner(a);
                (by < 64 && high <= all >> by).then(|| (low << by, high << by))
            }),
            TermOp::Concat(high, low) => {
                let by = self.pool.width(low);
                let ((a, b), (_, d)) = (inner(high), inner(low));
                Some((a << by, b << by | d))
            }
            TermOp::Ite(_, a, b) => {
                let ((a, b), (c, d)) = (inner(a), inner(b));
                Some((a.min(c), b.max(d)))
            }
            _ => None,
        };
        match other {
            Some((low, high)) => (min.max(low).min(max), max.min(high).max(min)),
            None => (min, max),
        }
    }

    /// Does an op that loads or stores.
    pub(super) fn memory_op(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        op: &Op,
    ) -> Result<(), Exception> {
        let load = |it: &mut Self, cpu: &mut Cpu, space: &mut AddressSpace, d, address, w| {
            let (value, term) = it.load(space, address, w)?;
            cpu.set(d, value);
            let term = term.map(|term| it.wide(term));
            it.put(cpu, d, term);
            Ok(())
        };
        let store = |it: &mut Self, cpu: &Cpu, space: &mut AddressSpace, a, address, w| {
            let term = cpu.shadow.get(a).is_some().then(|| it.at_width(cpu, w, a).term());
            it.store(space, address, w, cpu.get(a), term)?;
            if w == Width::W64 {
                it.stored(cpu, space, address.at, cpu.get(a));
            }
            Ok(())
        };
        match *op {
            Op::Load8 { d, base, index, shift, disp } => {
                let address = self.address(cpu, base, index, shift, disp);
                load(self, cpu, space, d, address, Width::W8)
            }
            Op::Load16 { d, base, index, shift, disp } => {
                let address = self.address(cpu, base, index, shift, disp);
                load(self, cpu, space, d, address, Width::W16)
            }
            Op::Load32 { d, base, index, shift, disp } => {
                let address = self.address(cpu, base, index, shift, disp);
                load(self, cpu, space, d, address, Width::W32)
            }
            Op::Load64 { d, base, index, shift, disp } => {
                let address = self.address(cpu, base, index, shift, disp);
                load(self, cpu, space, d, address, Width::W64)
            }
            Op::Load128 { d, base, index, shift, disp, .. } => {
                let address = self.address(cpu, base, index, shift, disp);
                self.blindly(cpu, space, op, address)?;
                self.pin_address(address, Pin::LoadAddress);
                for (slot, at) in [(d, address.at), (d + 1, address.at.wrapping_add(8))] {
                    let word = self.read_word(space, at);
                    self.put(cpu, slot, word);
                }
                Ok(())
            }
            Op::Store8 { a, base, index, shift, disp } => {
                let address = self.address(cpu, base, index, shift, disp);
                store(self, cpu, space, a, address, Width::W8)
            }
            Op::Store16 { a, base, index, shift, disp } => {
                let address = self.address(cpu, base, index, shift, disp);
                store(self, cpu, space, a, address, Width::W16)
            }
            Op::Store32 { a, base, index, shift, disp } => {
                let address = self.address(cpu, base, index, shift, disp);
                store(self, cpu, space, a, address, Width::W32)
            }
            Op::Store64 { a, base, index, shift, disp } => {
                let address = self.address(cpu, base, index, shift, disp);
                store(self, cpu, space, a, address, Width::W64)
            }
            Op::Store128 { a, base, index, shift, disp, .. } => {
                let address = self.address(cpu, base, index, shift, disp);
                self.blindly(cpu, space, op, address)?;
                self.pin_address(address, Pin::StoreAddress);
                for (slot, at) in [(a, address.at), (a + 1, address.at.wrapping_add(8))] {
                    if let Some(word) = cpu.shadow.get(slot) {
                        self.write_term(space, at, word.term());
                    }
                }
                Ok(())
            }
            Op::StoreImm { w, base, disp, imm } => {
                let address = self.address(cpu, base, slots::ZERO, 0, disp);
                let cells = self.cells(space, address, w);
                self.blindly(cpu, space, op, address)?;
                match cells {
                    Some(cells) => {
                        let value = u128::from(imm as i64 as u64 & w.mask());
                        let value = self.pool.constant(w.bits() as u8, value);
                        self.spread(space, &cells, value);
                    }
                    None => self.pin_address(address, Pin::StoreAddress),
                }
                Ok(())
            }
            Op::Push { a } => {
                let address = self.address(cpu, slots::RSP, slots::ZERO, 0, -8);
                let word = cpu.shadow.get(a);
                self.blindly(cpu, space, op, address)?;
                self.pin_address(address, Pin::StoreAddress);
                if let Some(word) = word {
                    self.write_term(space, address.at, word.term());
                }
                Ok(())
            }
            Op::Pop { d } => {
                let address = self.address(cpu, slots::RSP, slots::ZERO, 0, 0);
                self.blindly(cpu, space, op, address)?;
                self.pin_address(address, Pin::LoadAddress);
                let word = self.read_word(space, address.at);
                self.put(cpu, d, word);
                Ok(())
            }
            Op::ProbeWrite { w, a } => {
                let address = self.address(cpu, a, slots::ZERO, 0, 0);
                let marks: SmallVec<[Option<Mark>; 8]> =
                    (0..w.bytes()).map(|k| space.mark_of(address.at.wrapping_add(k))).collect();
                let cells = self.cells(space, address, w);
                self.blindly(cpu, space, op, address)?;
                space.mark(address.at, &marks);
                if cells.is_none() {
                    self.pin_address(address, Pin::StoreAddress);
                }
                Ok(())
            }
            _ => unreachable!("the others do not touch memory"),
        }
    }

    /// Does an op on values alone; if it fails at an address that depends on the input, the address
    /// must fail again.
    pub(super) fn blindly(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        op: &Op,
        address: Address,
    ) -> Result<(), Exception> {
        let (length, access) = extent(op);
        self.allowed(space, address, length, access)?;
        space.set_blind(true);
        let done = step(cpu, space, op);
        space.set_blind(false);
        done.map_err(|exception| match exception {
            Exception::Memory(fault) => self.fault(space, address, fault),
            other => {
                self.pin_address(address, Pin::LoadAddress);
                other
            }
        })
    }
}

/// How many bytes an op touches at its address, and how.
fn extent(op: &Op) -> (u64, Access) {
    match *op {
        Op::Load128 { .. } => (16, Access::Read),
        Op::Pop { .. } => (8, Access::Read),
        Op::Store128 { .. } => (16, Access::Write),
        Op::StoreImm { w, .. } => (w.bytes(), Access::Write),
        Op::Push { .. } => (8, Access::Write),
        _ => (0, Access::Read),
    }
}

/// The addresses around `at` that are not mapped either, first and last.
pub(super) fn gap_around(space: &AddressSpace, at: u64) -> (u64, u64) {
    let canonical = (TOP + PAGE, !(TOP + PAGE - 1));
    if (canonical.0..canonical.1).contains(&at) {
        return (canonical.0, canonical.1 - 1);
    }
    let (mut first, mut last) =
        if at < canonical.0 { (0, canonical.0 - 1) } else { (canonical.1, u64::MAX) };
    for region in space.regions() {
        if region.end <= at {
            first = first.max(region.end);
        } else if region.start > at {
            last = last.min(region.start - 1);
        } else {
            // Mapped, but not for this: the region as a whole is.
            return (region.start, region.end - 1);
        }
    }
    (first, last)
}
