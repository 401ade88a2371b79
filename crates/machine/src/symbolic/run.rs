//! Running with terms: concretely as long as nothing depends on the input, op by op where something
//! does.
//!
//! Always: when [`Symbolic::run`] returns, the state is between two instructions, as for a run
//! without terms, and is the same state.

use stunt_path::{Pin, TestKind};
use stunt_terms::{Pool, Term};

use crate::{
    code::{Block, Code, End, Helper, Op, Trap, slots},
    cpu::{self, Cpu, Exception, Stop, Way},
    memory::{AddressSpace, Mark, Reason},
};

use super::{
    Shadow, Symbolic,
    access::{Address, gap_around},
    clauses::Held,
    flags::{FlagTerms, Flags, Origin},
    hooks::Hook,
    session::Ignored,
    shadow::{Meaning, put_flags},
    words::Word,
};

/// What came of a function that is known by name.
enum Hooked {
    /// Nothing is known about it yet.
    Unknown,
    /// It was done as a whole.
    Returned,
    /// It runs as it is.
    Runs,
}

/// The system call that ends a signal handler.
const SIGRETURN: u64 = 15;
/// The system call that writes, and the descriptor of standard error.
const WRITE: u64 = 1;
const STANDARD_ERROR: u64 = 2;

/// These ops were done on values alone.
fn overwritten(cpu: &mut Cpu, ops: &[Op]) {
    let mut effects = crate::code::Effects::default();
    ops.iter().for_each(|op| effects.add(op));
    cpu.shadow.overwritten(&effects.writes);
}

/// Runs a block on values alone.
fn plainly(cpu: &mut Cpu, space: &mut AddressSpace, block: &Block) -> Result<(), Stop> {
    let mut at = 0;
    let done = cpu::body(cpu, space, block, &mut at).and_then(|()| cpu::finish(cpu, space, block));
    match done {
        Ok(Way::Link(_, target) | Way::Computed(target)) => {
            cpu.set(slots::RIP, target);
            Ok(())
        }
        Ok(Way::Trap(trap)) => Err(cpu::stop(cpu, space, block, trap)),
        Err(exception) => Err(cpu::fail(cpu, space, block, at, exception)),
    }
}

impl Symbolic {
    /// Runs until something happens, or about `quantum` instructions were executed.
    pub(crate) fn run(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        quantum: u64,
    ) -> Stop {
        (self.ignored, self.lost) = (cpu.shadow.ignored, cpu.shadow.lost);
        let stop = self.run_on(cpu, space, code, quantum);
        (cpu.shadow.ignored, cpu.shadow.lost) = (self.ignored, self.lost);
        stop
    }

    fn run_on(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        quantum: u64,
    ) -> Stop {
        let limit = cpu.executed.saturating_add(quantum);
        code.watch(&self.image.watched);
        code.keep_flags(self.keeps_tests());
        loop {
            if cpu.executed >= limit {
                return Stop::Quantum;
            }
            if self.lost {
                match self.run_lost(cpu, space, code, limit) {
                    Some(stop) => return stop,
                    None => continue,
                }
            }
            if let Some(call) = self.ignored {
                match self.ignore(cpu, space, code, call, limit) {
                    Some(stop) => return stop,
                    None => continue,
                }
            }
            if cpu.shadow.set().is_only(slots::FLAG_RESULT) {
                code.synchronise(space);
                let id = code.find(cpu.rip(), space);
                if code.entry(id).block.flags_unread {
                    cpu.shadow.forget_flags();
                }
            }
            let resume = self.resume(cpu);
            if cpu.shadow.set().is_empty() && resume.is_none() {
                match cpu::run(cpu, space, code, limit - cpu.executed) {
                    Stop::Exception(Exception::Memory(fault)) if fault.reason == Reason::Marked => {
                    }
                    Stop::Trap(Trap::Watched) => {}
                    stop => return stop,
                }
            }
            let rip = cpu.rip();
            code.synchronise(space);
            let mut id = code.find(resume.map_or(rip, |resume| resume.start), space);
            let watched = code.entry(id).block.end == End::Trap(Trap::Watched);
            if watched && let Some(resume) = resume {
                id = code.find_behind(resume.start, space);
            } else if watched {
                self.fix_sizes(cpu, rip);
                if self.halted() {
                    return Stop::Quantum;
                }
                match self.hook(cpu, space, code, rip) {
                    Hooked::Unknown => return Stop::Trap(Trap::Watched),
                    Hooked::Returned => continue,
                    Hooked::Runs => id = code.find_behind(rip, space),
                }
            }
            let block = &code.entry(id).block;
            let within = resume.and_then(|resume| Self::first_op(block, resume));
            if resume.is_some() && within.is_none() {
                continue;
            }
            let done = match within {
                Some(first) => {
                    // The end counts all instructions of the block.
                    cpu.executed -= block.instruction_of(first) as u64;
                    self.units(cpu, space, block, first)
                }
                None => self.block(cpu, space, block),
            };
            match done {
                Ok(Some(way @ (Way::Link(_, target) | Way::Computed(target)))) => {
                    let start = block.start;
                    cpu.set(slots::RIP, target);
                    if let Some(held) = self.held.take() {
                        self.at_branch(held, matches!(way, Way::Link(0, _)), |it| {
                            it.settle(cpu, space, code, start, held);
                        });
                    }
                    if self.halted() {
                        return Stop::Quantum;
                    }
                }
                Ok(Some(Way::Trap(trap))) => {
                    let stop = cpu::stop(cpu, space, block, trap);
                    if trap == Trap::Syscall && self.stops_at_call(cpu) {
                        return Stop::Quantum;
                    }
                    return stop;
                }
                Ok(None) => return Stop::Quantum,
                Err(_) if self.halted() => {
                    self.restore(cpu, space);
                    return Stop::Quantum;
                }
                Err((at, exception)) => return cpu::fail(cpu, space, block, at, exception),
            }
        }
    }

    /// A run that stops before each test fixes the arguments of a system call before it is made;
    /// gives whether it stops for that.
    fn stops_at_call(&mut self, cpu: &mut Cpu) -> bool {
        if self.steps.is_none() || cpu.shadow.set().is_empty() {
            return false;
        }
        let (behind, executed) = (cpu.rip(), cpu.executed);
        self.arm(cpu, behind.wrapping_sub(2), executed - 1);
        self.system_call(cpu);
        if self.halted() {
            cpu.set(slots::RIP, behind.wrapping_sub(2));
            cpu.executed = executed - 1;
        }
        self.halted()
    }

    /// Control is at a function that is known by name.
    fn hook(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        rip: u64,
    ) -> Hooked {
        let Some(&hook) = self.image.hooks.get(&rip) else { return Hooked::Unknown };
        self.at = rip;
        match hook {
            Hook::Throw => {
                self.throw(cpu, space);
                self.forget_canaries(space);
            }
            Hook::Leave => self.forget_canaries(space),
            Hook::Heap(call) => {
                if self.heap_call(cpu, space, call) {
                    return Hooked::Returned;
                }
            }
            Hook::Doom => {
                self.doom();
                return Hooked::Returned;
            }
            Hook::Catch => {}
            Hook::Sizes(slots) => {
                slots.iter().for_each(|&slot| self.pin_slot(cpu, slot, Pin::Count));
            }
            Hook::Compare(how) => {
                if self.compare(cpu, space, how) {
                    return Hooked::Returned;
                }
            }
            Hook::Search => {
                if self.search(cpu, space) {
                    return Hooked::Returned;
                }
            }
            Hook::Output(output) => {
                if let Some(call) = self.output(cpu, space, code, output) {
                    self.ignored = Some(call);
                    return Hooked::Returned;
                }
            }
        }
        Hooked::Runs
    }

    /// Runs a doomed program, without a look at what values stand for. If somebody catches what is
    /// thrown, registers stand for nothing any more.
    fn run_lost(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        limit: u64,
    ) -> Option<Stop> {
        space.set_blind(true);
        let stop = loop {
            if cpu.executed >= limit {
                break Some(Stop::Quantum);
            }
            match cpu::run(cpu, space, code, limit - cpu.executed) {
                Stop::Trap(Trap::Watched) => {}
                stop => break Some(stop),
            }
            let rip = cpu.rip();
            match self.image.hooks.get(&rip) {
                None => break Some(Stop::Trap(Trap::Watched)),
                Some(Hook::Throw) => self.throw(cpu, space),
                Some(Hook::Catch) => {
                    self.catch();
                    cpu.shadow = Shadow::default();
                    break None;
                }
                Some(
                    Hook::Doom
                    | Hook::Compare(_)
                    | Hook::Search
                    | Hook::Output(_)
                    | Hook::Sizes(_)
                    | Hook::Heap(_)
                    | Hook::Leave,
                ) => {}
            }
            let id = code.find_behind(rip, space);
            if let Err(stop) = plainly(cpu, space, &code.entry(id).block) {
                break Some(stop);
            }
        };
        space.set_blind(false);
        stop
    }

    /// Runs without a look at what values stand for, until a call returns. What it leaves in the
    /// registers that it may use freely stands for nothing.
    fn ignore(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        call: Ignored,
        limit: u64,
    ) -> Option<Stop> {
        space.set_blind(true);
        let stop = loop {
            let rip = cpu.rip();
            if rip == call.to && cpu.get(slots::RSP) > call.above {
                self.ignored = None;
                cpu.shadow.forget_scratch();
                self.put(cpu, slots::RAX, call.answer);
                break None;
            }
            if cpu.executed >= limit {
                break Some(Stop::Quantum);
            }
            code.synchronise(space);
            let id = if self.image.watched.contains(&rip) {
                match self.image.hooks.get(&rip).copied() {
                    Some(Hook::Throw) => self.throw(cpu, space),
                    Some(Hook::Doom) => {
                        self.ignored = None;
                        self.doom();
                        break None;
                    }
                    Some(Hook::Heap(heap)) if self.guards.is_some() => {
                        // What the registers stood for before the call is over.
                        cpu.shadow.forget_scratch();
                        if self.heap_call(cpu, space, heap) {
                            continue;
                        }
                    }
                    _ => {}
                }
                code.find_behind(rip, space)
            } else {
                code.find(rip, space)
            };
            if let Err(stop) = plainly(cpu, space, &code.entry(id).block) {
                break Some(stop);
            }
        };
        space.set_blind(false);
        stop
    }

    /// Runs a block; an error names the op that failed. Nothing comes of it if the run stops before
    /// its end.
    fn block(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        block: &Block,
    ) -> Result<Option<Way>, (usize, Exception)> {
        let mut first = 0;
        if !cpu.shadow.set().meets(&block.effects.reads) {
            let mut at = 0;
            let done =
                cpu::body(cpu, space, block, &mut at).and_then(|()| cpu::finish(cpu, space, block));
            match done {
                Ok(way) => {
                    cpu.shadow.overwritten(&block.effects.writes);
                    return Ok(Some(way));
                }
                Err(Exception::Memory(fault)) if fault.reason == Reason::Marked => {
                    // From the beginning of that instruction on, with terms.
                    let instruction = block.instruction_of(at);
                    first = usize::from(block.marks[instruction].0);
                    overwritten(cpu, &block.ops[..first]);
                }
                Err(exception) => {
                    // What was done before it failed was done on values.
                    overwritten(cpu, &block.ops[..at.min(block.ops.len())]);
                    return Err((at, exception));
                }
            }
        }
        if self.steps.is_some() {
            return self.units(cpu, space, block, first);
        }
        let mut instruction = block.instruction_of(first);
        self.at = block.address_of(instruction);
        for (index, op) in block.ops.iter().enumerate().skip(first) {
            while let Some(mark) = block.marks.get(instruction + 1)
                && usize::from(mark.0) <= index
            {
                instruction += 1;
                self.at = block.address_of(instruction);
            }
            self.op(cpu, space, op).map_err(|exception| (index, exception))?;
        }
        self.at = block.address_of(block.marks.len() - 1);
        self.followed += block.instructions();
        let way =
            self.leave(cpu, space, block).map_err(|exception| (block.ops.len(), exception))?;
        cpu.executed += block.instructions();
        cpu.shadow.forget_temporaries();
        Ok(Some(way))
    }

    pub(super) fn op(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        op: &Op,
    ) -> Result<(), Exception> {
        match op {
            Op::Load8 { .. }
            | Op::Load16 { .. }
            | Op::Load32 { .. }
            | Op::Load64 { .. }
            | Op::Load128 { .. }
            | Op::Store8 { .. }
            | Op::Store16 { .. }
            | Op::Store32 { .. }
            | Op::Store64 { .. }
            | Op::Store128 { .. }
            | Op::StoreImm { .. }
            | Op::Push { .. }
            | Op::Pop { .. }
            | Op::ProbeWrite { .. } => self.memory_op(cpu, space, op),
            Op::String { .. } => self.string_op(cpu, space, op),
            Op::Helper { f, a, b, .. } => self.helper(cpu, space, op, *f, *a, *b),
            _ => self.slot_op(cpu, space, op),
        }
    }

    /// Rare instructions. `fxsave` and `fxrstor`, which the dynamic linker puts around every first
    /// call of a function, carry the vector registers along; the others fix what they read.
    fn helper(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        op: &Op,
        f: Helper,
        a: u8,
        b: u8,
    ) -> Result<(), Exception> {
        let address = Address { at: cpu.get(a), term: cpu.shadow.get(a).map(Word::term) };
        let registers = (0..32u8).map(|k| (slots::XMM + k, 160 + 8 * u64::from(k)));
        match f {
            Helper::Fxsave => {
                (0..8).for_each(|k| self.pin_slot(cpu, slots::MM + k, Pin::Float));
                self.blindly(cpu, space, op, address)?;
                self.pin_address(address, Pin::StoreAddress);
                for (slot, offset) in registers {
                    if let Some(term) = cpu.shadow.get(slot) {
                        self.write_term(space, address.at.wrapping_add(offset), term.term());
                    }
                }
            }
            Helper::Fxrstor => {
                self.blindly(cpu, space, op, address)?;
                self.pin_address(address, Pin::LoadAddress);
                // What is not a vector register: the other unit's state.
                for at in (address.at..address.at.wrapping_add(160)).step_by(8) {
                    let mut bytes = [0; 8];
                    if let Some(term) = self.read_term(space, at, 8)
                        && space.read(at, &mut bytes).is_ok()
                    {
                        self.pin(term, u64::from_le_bytes(bytes), Pin::Float);
                    }
                }
                (0..8).for_each(|k| cpu.shadow.put(slots::MM + k, None));
                for (slot, offset) in registers {
                    let word = self.read_word(space, address.at.wrapping_add(offset));
                    self.put(cpu, slot, word);
                }
            }
            Helper::SetDirection => return cpu::step(cpu, space, op),
            Helper::Cpuid | Helper::Rdtsc | Helper::Rdtscp | Helper::Xgetbv => {
                let registers = [slots::RAX, slots::RBX, slots::RCX, slots::RDX];
                if f == Helper::Cpuid {
                    registers.into_iter().for_each(|slot| self.pin_slot(cpu, slot, Pin::Operation));
                }
                cpu::step(cpu, space, op)?;
                registers[..].iter().for_each(|&slot| {
                    if f == Helper::Cpuid || slot == slots::RAX || slot == slots::RDX {
                        cpu.shadow.put(slot, None);
                    }
                });
                if f == Helper::Rdtscp {
                    cpu.shadow.put(slots::RCX, None);
                }
            }
            Helper::Cmpxchg8b
            | Helper::Cmpxchg16b
            | Helper::Ldmxcsr
            | Helper::MaskedStore
            | Helper::MaskedStore64
            | Helper::StringIndex
            | Helper::StringMask => {
                let general = [slots::RAX, slots::RBX, slots::RCX, slots::RDX, slots::RDI];
                let operands = [a, a + 1, a + 2, a + 3, a + 4, a + 5, b, b + 1];
                let flags = [slots::FLAG_RESULT];
                for slot in general.into_iter().chain(operands).chain(flags) {
                    if slot != slots::ZERO {
                        self.pin_slot(cpu, slot, Pin::Operation);
                    }
                }
                let at = match f {
                    Helper::MaskedStore | Helper::MaskedStore64 => cpu.get(slots::RDI),
                    _ => cpu.get(a),
                };
                let touches =
                    !matches!(f, Helper::Ldmxcsr | Helper::StringIndex | Helper::StringMask);
                if touches {
                    for at in [at, at.wrapping_add(8)] {
                        if let Some(term) = self.read_term(space, at, 8) {
                            let mut bytes = [0; 8];
                            if space.read(at, &mut bytes).is_ok() {
                                self.pin(term, u64::from_le_bytes(bytes), Pin::Operation);
                            }
                        }
                    }
                }
                self.blindly(cpu, space, op, Address { at, term: None })?;
            }
        }
        Ok(())
    }

    /// How control leaves a block, and what that says about the input.
    pub(super) fn leave(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        block: &Block,
    ) -> Result<Way, Exception> {
        match block.end {
            End::Branch { cc, .. } => {
                let condition = Flags::of(&mut self.pool, cpu).map(|mut flags| flags.holds(cc));
                let way = cpu::leave(cpu, space, block)?;
                self.branch(condition, &way, block);
                Ok(way)
            }
            End::CompareBranch { cc, w, a, b, imm, quiet, .. }
            | End::TestBranch { cc, w, a, b, imm, quiet, .. } => {
                if !cpu.shadow.set().has(a) && !cpu.shadow.set().has(b) {
                    cpu.shadow.forget_flags();
                    return cpu::leave(cpu, space, block);
                }
                let (x, y) = (self.at_width(cpu, w, a), self.second(cpu, w, b, imm));
                let terms = if matches!(block.end, End::CompareBranch { .. }) {
                    FlagTerms::Difference { a: x, b: y, borrow: false }
                } else {
                    let (result, origin) = (x.with(&mut self.pool, Pool::and, y), Origin::Logic);
                    let operand = Word::constant(&mut self.pool, 0);
                    FlagTerms::Result { origin, result, operand }
                };
                let way = cpu::leave(cpu, space, block)?;
                put_flags(cpu, terms);
                let condition = Flags::of(&mut self.pool, cpu).map(|mut flags| flags.holds(cc));
                if quiet {
                    cpu.shadow.forget_flags();
                }
                self.branch(condition, &way, block);
                Ok(way)
            }
            End::ZeroBranch { a, not, .. } => {
                let condition = cpu.shadow.get(a).map(|term| {
                    let zero = self.pool.constant(64, 0);
                    let is_zero = self.pool.eq(term.term(), zero);
                    if not { self.pool.not(is_zero) } else { is_zero }
                });
                let way = cpu::leave(cpu, space, block)?;
                self.branch(condition, &way, block);
                Ok(way)
            }
            End::Indirect(a) => {
                self.jump(cpu, space, a);
                cpu::leave(cpu, space, block)
            }
            End::CallIndirect(a) => {
                self.jump(cpu, space, a);
                self.stack_op(cpu, space, block)
            }
            End::Return(_) => {
                let rsp = cpu.get(slots::RSP);
                if let Some(term) = self.read_term(space, rsp, 8) {
                    let mut bytes = [0; 8];
                    if space.read(rsp, &mut bytes).is_ok() {
                        self.target(space, term, u64::from_le_bytes(bytes));
                    }
                }
                self.stack_op(cpu, space, block)
            }
            End::Call(_) => self.stack_op(cpu, space, block),
            End::Next | End::Jump(_) | End::Trap(_) => cpu::leave(cpu, space, block),
        }
    }

    /// A call or a return, whose stack pointer may depend on the input.
    fn stack_op(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        block: &Block,
    ) -> Result<Way, Exception> {
        self.pin_slot(cpu, slots::RSP, Pin::StoreAddress);
        space.set_blind(true);
        let way = cpu::leave(cpu, space, block);
        space.set_blind(false);
        way
    }

    /// A branch was taken; what it says about the input is settled when it is known where it led.
    fn branch(&mut self, condition: Option<Term>, way: &Way, block: &Block) {
        let Some(condition) = condition else { return };
        self.held = Some(match way {
            Way::Link(0, _) => Held { condition, other: block.target(1) },
            _ => Held { condition: self.pool.not(condition), other: block.target(0) },
        });
    }

    fn jump(&mut self, cpu: &Cpu, space: &AddressSpace, slot: u8) {
        if let Some(term) = cpu.shadow.get(slot) {
            self.target(space, term.term(), cpu.get(slot));
        }
    }

    /// Control goes to where a term says. If that leads nowhere, it is enough that it does so
    /// again.
    fn target(&mut self, space: &AddressSpace, term: Term, target: u64) {
        let executable = space
            .region(target)
            .is_some_and(|region| region.protection.contains(crate::memory::Protection::EXECUTE));
        if executable {
            if !self.relax.switches {
                self.pin_index(term);
            }
            let value = self.pool.constant(64, u128::from(target));
            let same = self.pool.eq(term, value);
            self.test(same, TestKind::Jump);
        } else {
            let (first, last) = gap_around(space, target);
            let same = self.within(term, first, last);
            self.test(same, TestKind::Fault);
        }
    }

    /// Without the relaxation of switches a jump through a table fixes the index.
    fn pin_index(&mut self, term: Term) {
        for part in self.pool.reachable(&[term]) {
            if let stunt_terms::Op::Table(_, index) = self.pool.op(part)
                && let Some(&value) = self.indices.get(&index)
            {
                let value = self.pool.constant(self.pool.width(index), u128::from(value));
                let same = self.pool.eq(index, value);
                self.test(same, TestKind::Jump);
            }
        }
    }

    /// Fixes the arguments of a system call.
    pub(crate) fn system_call(&mut self, cpu: &mut Cpu) {
        if (cpu.get(slots::RAX), cpu.get(slots::RDI)) == (WRITE, STANDARD_ERROR) {
            self.tells(cpu.get(slots::RDX));
        }
        if self.ignored.is_some() || self.lost {
            return;
        }
        self.at = cpu.rip().wrapping_sub(2);
        if cpu.get(slots::RAX) == SIGRETURN {
            // All registers come back from where they were saved, which was after they were fixed.
            cpu.shadow = Shadow::default();
            return;
        }
        for slot in [slots::RAX, slots::RDI, slots::RSI, slots::RDX, 10, slots::R8, slots::R9] {
            self.pin_slot(cpu, slot, Pin::SystemCall);
        }
        // The instruction overwrites these two, and the kernel the first.
        for slot in [slots::RCX, slots::R11, slots::RAX] {
            cpu.shadow.put(slot, None);
        }
    }

    /// Fixes all registers: they are about to be saved where terms cannot follow.
    pub(crate) fn signal(&mut self, cpu: &mut Cpu) {
        self.at = cpu.rip();
        if !cpu.shadow.set().is_empty() {
            self.arm(cpu, cpu.rip(), cpu.executed);
        }
        for slot in cpu.shadow.set().iter() {
            self.pin_slot(cpu, slot, Pin::Signal);
        }
    }

    /// Fixes bytes that were looked at as values: by the kernel, or as code.
    pub(crate) fn looked_at(&mut self, looks: Vec<(Mark, u8)>) {
        if self.ignored.is_some() || self.lost {
            return;
        }
        for (mark, value) in looks {
            let term = match Meaning::of(mark) {
                Some(Meaning::Input(byte)) => self.pool.byte(byte),
                Some(Meaning::Piece(term, piece)) => {
                    self.pool.extract(8 * piece + 7, 8 * piece, term)
                }
                None => continue,
            };
            if self.pool.as_const(term).is_none() {
                self.pin(term, u64::from(value), Pin::SystemCall);
            }
        }
    }
}
