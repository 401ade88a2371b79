//! Stopping before each test, and going back to before it.
//!
//! A *unit* is an instruction, or a comparison with the branch that it is part of: between units
//! there is a state. A run that stops does so behind a unit that made tests, with all that is needed
//! to go back: for a branch where else it leads, for other units the processor before, and what
//! was stored. Whoever goes on without going back has lost nothing; whoever binds another input goes
//! back, gives every value anew, and does the unit again.
//!
//! Always: `passed` tests of the unit were shown and agreed to; the others wait. A unit that fails
//! is undone at once and done again when its tests are passed: they are known then. What a system
//! call looked at is found out behind the call; the kernel keeps the state before it.

use stunt_path::{Test, TestKind};

use crate::{
    code::{Block, Effects, End, Helper, Op, Shift, Slot, SlotSet, StringOp, slots},
    cpu::{Cpu, Exception, Way},
    memory::{AddressSpace, Mark},
};

use super::{Symbolic, clauses::Held, guard::Guards, hooks::Hook};

/// What a store overwrote.
#[derive(Clone)]
struct Stored {
    at: u64,
    bytes: Vec<u8>,
    marks: Option<Vec<Option<Mark>>>,
}

/// The state before a unit.
#[derive(Clone)]
struct Before {
    cpu: Cpu,
    stores: Vec<Stored>,
    guards: Option<Guards>,
    resume: Option<Resume>,
}

/// Where in a block a run goes on. A block that began there could be cut elsewhere, and so tell more
/// or less about flags.
#[derive(Clone, Copy)]
pub(super) struct Resume {
    /// Where the block begins.
    pub(super) start: u64,
    instruction: usize,
    rip: u64,
    rsp: u64,
}

/// A branch at the end of a unit.
#[derive(Clone, Copy)]
struct Branch {
    held: Held,
    taken: bool,
}

/// How far a run is that stops before each test.
#[derive(Default)]
pub(crate) struct Steps {
    /// How many tests of the unit were passed.
    passed: usize,
    /// The state before the unit, if it was kept.
    before: Option<Box<Before>>,
    /// Whether that is the state before this unit, and not before an earlier one.
    armed: bool,
    /// Where to go on, if that is within a block.
    resume: Option<Resume>,
    /// The unit is none of the processor's.
    outside: bool,
    /// The branch at the end of the unit.
    branch: Option<Branch>,
    /// Which test is that of the branch.
    branch_test: Option<usize>,
}

impl Clone for Steps {
    fn clone(&self) -> Self {
        let before = if self.armed { self.before.clone() } else { None };
        Self { before, ..*self }
    }
}

impl Symbolic {
    /// Stops before each test from now on.
    pub(crate) fn stop_at_tests(&mut self) {
        self.steps = Some(Steps::default());
    }

    /// Whether the run stops before each test.
    pub(crate) fn in_steps(&self) -> bool {
        self.steps.is_some()
    }

    /// Whether the run stands before a test.
    #[inline]
    pub(crate) fn halted(&self) -> bool {
        self.steps.as_ref().is_some_and(|steps| self.tests.len() > steps.passed)
    }

    /// The test that the run stands before; for a branch, whether it is taken.
    pub(crate) fn next_test(&self) -> Option<(Test, Option<bool>)> {
        let steps = self.steps.as_ref()?;
        let test = *self.tests.get(steps.passed)?;
        let branch = steps.branch.filter(|_| steps.branch_test == Some(steps.passed));
        Some((test, branch.map(|branch| branch.taken)))
    }

    /// The processor before the unit, if that was kept.
    pub(crate) fn before(&self) -> Option<&Cpu> {
        let steps = self.steps.as_ref().filter(|steps| steps.armed)?;
        Some(&steps.before.as_ref()?.cpu)
    }

    /// Passes the test that the run stands before.
    pub(crate) fn pass(&mut self) {
        let Some(steps) = &mut self.steps else { return };
        debug_assert!(steps.armed || steps.branch.is_some() || steps.outside, "no way back");
        steps.passed += 1;
        if steps.passed >= self.tests.len() {
            (steps.passed, steps.armed, steps.outside) = (0, false, false);
            (steps.branch, steps.branch_test) = (None, None);
            self.forget_tests();
        }
    }

    /// Keeps the state before a unit that begins at `rip`.
    pub(super) fn arm(&mut self, cpu: &Cpu, rip: u64, executed: u64) {
        let Some(steps) = &mut self.steps else { return };
        let before = match &mut steps.before {
            Some(before) => {
                before.cpu.clone_from(cpu);
                before
            }
            none => none.insert(Box::new(Before {
                cpu: cpu.clone(),
                stores: Vec::new(),
                guards: None,
                resume: None,
            })),
        };
        before.cpu.set(slots::RIP, rip);
        before.cpu.executed = executed;
        before.stores.clear();
        before.resume = None;
        before.guards.clone_from(&self.guards);
        (steps.armed, steps.branch, steps.branch_test) = (true, None, None);
        self.begin_notes();
    }

    /// What comes is no unit of the processor: whoever goes back knows how.
    pub(crate) fn begin_outside(&mut self) {
        if let Some(steps) = &mut self.steps {
            (steps.armed, steps.branch, steps.branch_test) = (false, None, None);
            steps.outside = true;
            self.begin_notes();
        }
    }

    /// Makes a test of a branch at the end of a unit with `settle`.
    pub(super) fn at_branch(&mut self, held: Held, taken: bool, settle: impl FnOnce(&mut Self)) {
        let Some(steps) = &mut self.steps else { return settle(self) };
        steps.branch = Some(Branch { held, taken });
        if !steps.armed {
            self.begin_notes();
        }
        let count = self.tests.len();
        settle(self);
        // Choices may say all that there is to say.
        let settled = self.tests[count..].last().is_some_and(|test| test.kind == TestKind::Branch);
        if let Some(steps) = &mut self.steps
            && settled
        {
            steps.branch_test = Some(self.tests.len() - 1);
        }
    }

    /// Goes back to before the unit whose tests the run stands before. The values are those of the
    /// old input.
    pub(crate) fn go_back(&mut self, cpu: &mut Cpu, space: &mut AddressSpace) {
        self.roll_back();
        self.restore(cpu, space);
    }

    /// Puts the state before the unit back, as far as it is one of the processor; what was learned
    /// stays.
    pub(super) fn restore(&mut self, cpu: &mut Cpu, space: &mut AddressSpace) {
        let Some(steps) = &mut self.steps else { return };
        let Some(before) = steps.before.as_mut().filter(|_| steps.armed) else { return };
        cpu.clone_from(&before.cpu);
        for Stored { at, bytes, marks } in before.stores.drain(..).rev() {
            // It was written a moment ago.
            let _ = space.write(at, &bytes);
            if let Some(marks) = marks {
                space.mark(at, &marks);
            }
        }
        self.guards.clone_from(&before.guards);
        steps.resume = before.resume;
    }

    /// Where in a block a run goes on that stopped there.
    pub(super) fn resume(&mut self, cpu: &Cpu) -> Option<Resume> {
        let resume = self.steps.as_mut()?.resume.take()?;
        (resume.rip == cpu.rip() && resume.rsp == cpu.get(slots::RSP)).then_some(resume)
    }

    /// The op at which a block goes on.
    pub(super) fn first_op(block: &Block, resume: Resume) -> Option<usize> {
        let mark = block.marks.get(resume.instruction)?;
        let same =
            block.start == resume.start && block.address_of(resume.instruction) == resume.rip;
        same.then_some(usize::from(mark.0))
    }

    fn resume_at(&mut self, cpu: &Cpu, block: &Block, instruction: usize) -> Resume {
        let rip = block.address_of(instruction);
        Resume { start: block.start, instruction, rip, rsp: cpu.get(slots::RSP) }
    }

    /// Forgets the tests of the unit: the state before it is there by other means.
    pub(crate) fn take_back(&mut self) {
        self.roll_back();
    }

    /// Does a branch again, after values have changed; other units are done by running on.
    pub(crate) fn branch_again(&mut self, cpu: &mut Cpu) {
        let Some(steps) = &self.steps else { return };
        let Some(mut branch) = steps.branch.filter(|_| !steps.armed) else { return };
        let holds = match &mut self.input {
            Some((input, evaluator)) => evaluator.holds(&self.pool, branch.held.condition, input),
            None => true,
        };
        if !holds {
            let condition = self.pool.not(branch.held.condition);
            let other = std::mem::replace(&mut branch.held.other, cpu.rip());
            cpu.set(slots::RIP, other);
            branch =
                Branch { held: Held { condition, other: branch.held.other }, taken: !branch.taken };
        }
        self.at_branch(branch.held, branch.taken, |it| {
            it.test(branch.held.condition, TestKind::Branch);
        });
    }

    /// Fixes the sizes that a function which is known by name is given, before it is done.
    pub(super) fn fix_sizes(&mut self, cpu: &mut Cpu, rip: u64) {
        let fixed = match self.image.hooks.get(&rip) {
            Some(Hook::Sizes(slots)) => *slots,
            Some(Hook::Heap(call)) => call.sizes(),
            _ => return,
        };
        if self.steps.is_some() && fixed.iter().any(|&slot| cpu.shadow.set().has(slot)) {
            self.arm(cpu, rip, cpu.executed);
            self.at = rip;
            fixed.iter().for_each(|&slot| self.pin_slot(cpu, slot, stunt_path::Pin::Count));
        }
    }

    /// Runs a block unit by unit, from the op `first` on, which begins an instruction. Nothing comes
    /// of it if the run stops behind a unit before the last.
    pub(super) fn units(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        block: &Block,
        first: usize,
    ) -> Result<Option<Way>, (usize, Exception)> {
        let count = block.marks.len();
        let fused = matches!(block.end, End::CompareBranch { .. } | End::TestBranch { .. });
        let begun = block.instruction_of(first);
        let mut instruction = begun;
        loop {
            let last = instruction + if fused { 2 } else { 1 } >= count;
            let start = usize::from(block.marks[instruction].0);
            let end =
                if last { block.ops.len() } else { usize::from(block.marks[instruction + 1].0) };
            let ops = &block.ops[start..end];
            self.at = block.address_of(instruction);
            let keeps = may_test(cpu, space, ops, last.then_some(&block.end));
            match &mut self.steps {
                Some(_) if keeps => {
                    self.arm(cpu, self.at, cpu.executed + instruction as u64);
                    let resume = self.resume_at(cpu, block, instruction);
                    if let Some(Steps { before: Some(before), .. }) = &mut self.steps {
                        before.resume = Some(resume);
                    }
                }
                Some(steps) => (steps.armed, steps.outside, steps.branch) = (false, false, None),
                None => {}
            }
            for (op, index) in ops.iter().zip(start..) {
                if keeps {
                    self.keep(space, stored_by(cpu, op));
                }
                self.op(cpu, space, op).map_err(|exception| (index, exception))?;
            }
            if last {
                self.at = block.address_of(count - 1);
                self.followed += (count - begun) as u64;
                if keeps && matches!(block.end, End::Call(_) | End::CallIndirect(_)) {
                    self.keep(space, Some((cpu.get(slots::RSP).wrapping_sub(8), 8)));
                }
                let way = self
                    .leave(cpu, space, block)
                    .map_err(|exception| (block.ops.len(), exception))?;
                cpu.executed += block.instructions();
                return Ok(Some(way));
            }
            instruction += 1;
            if self.halted() {
                self.followed += (instruction - begun) as u64;
                cpu.set(slots::RIP, block.address_of(instruction));
                cpu.executed += instruction as u64;
                let resume = self.resume_at(cpu, block, instruction);
                if let Some(steps) = &mut self.steps {
                    steps.resume = Some(resume);
                }
                return Ok(None);
            }
        }
    }

    /// Keeps what a store is about to overwrite.
    fn keep(&mut self, space: &mut AddressSpace, place: Option<(u64, u64)>) {
        let Some((at, length)) = place.filter(|&(_, length)| length > 0) else { return };
        let Some(before) = self.steps.as_mut().and_then(|steps| steps.before.as_mut()) else {
            return;
        };
        let mut bytes = vec![0; length as usize];
        // What cannot be read will not be written.
        if space.read(at, &mut bytes).is_ok() {
            let marks = space
                .marked(at, length)
                .then(|| (0..length).map(|k| space.mark_of(at.wrapping_add(k))).collect());
            before.stores.push(Stored { at, bytes, marks });
        }
    }
}

/// Whether the ops of a unit can make a test, other than by a branch at its end.
fn may_test(cpu: &Cpu, space: &AddressSpace, ops: &[Op], end: Option<&End>) -> bool {
    let set = cpu.shadow.set();
    let at_end = |has: &dyn Fn(Slot) -> bool| match end {
        Some(&End::Indirect(a)) => has(a),
        Some(&End::CallIndirect(a)) => has(a) || has(slots::RSP),
        Some(End::Call(_)) => has(slots::RSP),
        Some(End::Return(_)) => has(slots::RSP) || space.marked(cpu.get(slots::RSP), 8),
        _ => false,
    };
    // First as if every temporary depended on the input.
    let has = |slot: Slot| slot >= slots::TEMPORARY || set.has(slot);
    if !ops.iter().any(|op| asks(op, &has, None)) && !at_end(&has) {
        return false;
    }
    let mut tainted = *set;
    for op in ops {
        if asks(op, &|slot| tainted.has(slot), Some(&tainted)) {
            return true;
        }
        let mut effects = Effects::default();
        effects.add(op);
        if loads(op) || tainted.meets(&effects.reads) {
            // Slots that are overwritten in part are among those that are read.
            tainted.add_all(&effects.writes);
            tainted.add_all(&effects.reads);
        } else {
            tainted.remove_all(&effects.writes);
        }
    }
    at_end(&|slot| tainted.has(slot))
}

/// Whether an op can make a test if `has` says which slots depend on the input.
fn asks(op: &Op, has: &dyn Fn(Slot) -> bool, set: Option<&SlotSet>) -> bool {
    match *op {
        Op::Load8 { base, index, .. }
        | Op::Load16 { base, index, .. }
        | Op::Load32 { base, index, .. }
        | Op::Load64 { base, index, .. }
        | Op::Load128 { base, index, .. }
        | Op::Store8 { base, index, .. }
        | Op::Store16 { base, index, .. }
        | Op::Store32 { base, index, .. }
        | Op::Store64 { base, index, .. }
        | Op::Store128 { base, index, .. } => has(base) || has(index),
        Op::StoreImm { base, .. } => has(base),
        Op::ProbeWrite { a, .. } => has(a),
        Op::Push { .. } | Op::Pop { .. } => has(slots::RSP),
        Op::Const { .. }
        | Op::Move { .. }
        | Op::Zext { .. }
        | Op::Sext { .. }
        | Op::Insert { .. }
        | Op::InsertHigh { .. }
        | Op::High { .. }
        | Op::Add { .. }
        | Op::Sub { .. }
        | Op::And { .. }
        | Op::Or { .. }
        | Op::Xor { .. }
        | Op::Mul { .. }
        | Op::Not { .. }
        | Op::Bswap { .. }
        | Op::Lea { .. }
        | Op::MulWide { .. }
        | Op::Select { .. }
        | Op::AddF { .. }
        | Op::SubF { .. }
        | Op::CmpF { .. }
        | Op::NegF { .. }
        | Op::AndF { .. }
        | Op::OrF { .. }
        | Op::XorF { .. }
        | Op::TestF { .. }
        | Op::AdcF { .. }
        | Op::SbbF { .. }
        | Op::IncF { .. }
        | Op::DecF { .. }
        | Op::MulFlags { .. }
        | Op::BitTestF { .. }
        | Op::Condition { .. }
        | Op::Cmov { .. }
        | Op::GetFlags { .. }
        | Op::SetFlags { .. }
        | Op::ComplementCarry => false,
        Op::ShiftF { f: Shift::Shl | Shift::Shr | Shift::Sar, w, b: slots::ZERO, imm, .. }
            if (1..w.bits() as i32).contains(&imm) =>
        {
            false
        }
        Op::String { f: StringOp::Movs | StringOp::Stos | StringOp::Lods, .. } => {
            [slots::RSI, slots::RDI, slots::RCX].into_iter().any(has)
        }
        Op::String { .. } | Op::Helper { .. } => true,
        _ => set.is_none_or(|set| {
            let mut effects = Effects::default();
            effects.add(op);
            set.meets(&effects.reads)
        }),
    }
}

/// Whether an op brings what is in memory into slots.
fn loads(op: &Op) -> bool {
    matches!(
        op,
        Op::Load8 { .. }
            | Op::Load16 { .. }
            | Op::Load32 { .. }
            | Op::Load64 { .. }
            | Op::Load128 { .. }
            | Op::Pop { .. }
            | Op::String { .. }
            | Op::Helper { .. }
    )
}

/// Where an op stores, and how much.
fn stored_by(cpu: &Cpu, op: &Op) -> Option<(u64, u64)> {
    let at = |base: Slot, index: Slot, shift: u8, disp: i32| {
        cpu.get(base).wrapping_add(cpu.get(index) << (shift & 63)).wrapping_add(disp as i64 as u64)
    };
    match *op {
        Op::Store8 { base, index, shift, disp, .. } => Some((at(base, index, shift, disp), 1)),
        Op::Store16 { base, index, shift, disp, .. } => Some((at(base, index, shift, disp), 2)),
        Op::Store32 { base, index, shift, disp, .. } => Some((at(base, index, shift, disp), 4)),
        Op::Store64 { base, index, shift, disp, .. } => Some((at(base, index, shift, disp), 8)),
        Op::Store128 { base, index, shift, disp, .. } => Some((at(base, index, shift, disp), 16)),
        Op::StoreImm { w, base, disp, .. } => Some((at(base, slots::ZERO, 0, disp), w.bytes())),
        Op::Push { .. } => Some((cpu.get(slots::RSP).wrapping_sub(8), 8)),
        Op::Helper { f: Helper::Fxsave, a, .. } => Some((cpu.get(a), 512)),
        Op::Helper { f: Helper::MaskedStore | Helper::MaskedStore64, .. } => {
            Some((cpu.get(slots::RDI), 16))
        }
        Op::Helper { f: Helper::Cmpxchg8b | Helper::Cmpxchg16b, a, .. } => Some((cpu.get(a), 16)),
        Op::String { f: StringOp::Movs | StringOp::Stos, w, repeat, narrow, .. } => {
            let mask = if narrow { u64::from(u32::MAX) } else { u64::MAX };
            let count = match repeat {
                crate::code::Repeat::Once => 1,
                _ => cpu.get(slots::RCX) & mask,
            };
            let length = count.saturating_mul(w.bytes());
            let to = cpu.get(slots::RDI) & mask;
            let down = cpu.get(slots::SYSTEM_FLAGS) & 1 << 10 != 0;
            let from = if down { to.wrapping_sub(length - w.bytes().min(length)) } else { to };
            // More would not fit in memory, and fails.
            (length < 1 << 30).then_some((from, length))
        }
        _ => None,
    }
}
