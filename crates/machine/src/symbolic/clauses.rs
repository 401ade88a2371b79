//! Conditions of several clauses: `if (a || b)` asks whether one of them holds, not which.
//!
//! A compiler makes a branch of each clause, and the branches share a target. Where control comes
//! to that target by one of them, it is looked whether it could have come by a neighbour, too, with
//! nothing but pure code in between, and nothing different afterwards. Then both branches are one
//! test (Camouflage's multi-clause conditionals).

use stunt_path::TestKind;
use stunt_terms::Term;

use crate::{
    code::{Block, Code, End, Op, Slot, slots},
    cpu::{Cpu, Way},
    memory::AddressSpace,
};

use super::Symbolic;

/// How many clauses after a branch are looked at.
const MOST_CLAUSES: u32 = 4;
/// The most ops of a clause.
const MOST_OPS: usize = 24;
/// How many instructions that lead straight on are followed to where branches meet again.
const MOST_STRAIGHT: usize = 6;
/// How many blocks are looked at to see whether a register is read.
const FORESIGHT: usize = 12;

/// A branch that was just taken, and whose condition is not a test yet.
#[derive(Clone, Copy)]
pub(super) struct Held {
    /// What held.
    pub(super) condition: Term,
    /// Where control would have gone otherwise.
    pub(super) other: u64,
}

/// A clause that held, while it is not known yet what comes of the next one.
pub(super) struct Pending {
    /// All clauses so far.
    condition: Term,
    /// The block of the next clause.
    into: u64,
    /// Where control would have gone if one of them had not held.
    other: u64,
    /// The state before the next clause.
    before: Box<Cpu>,
    /// How many tests there were before the first clause, and after the last one.
    tests: (usize, usize),
}

/// How a look straight on ended.
enum Straight {
    /// Whoever looks has seen enough.
    Stopped,
    /// An instruction says something about the input, or fails: it would do so again.
    Said,
    /// There is no straight way on, or it is too long. The state is the last one of it.
    End,
}

impl Symbolic {
    /// Makes a test of a branch that was taken, together with its neighbours. Control is at
    /// `target`; the branch was the end of the block at `start`.
    pub(super) fn settle(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        start: u64,
        held: Held,
    ) {
        let target = cpu.rip();
        let Held { condition, other } = held;
        if !self.relax.clauses || self.pool.as_const(condition).is_some() || target == other {
            self.test(condition, TestKind::Branch);
            return;
        }
        let first = self.tests.len();
        if let Some(pending) =
            self.pending.take().filter(|it| it.into == start && it.tests.1 == first)
        {
            if target == pending.other {
                // Clauses that were not asked any more could have led here as well.
                let wider = self.widen(cpu, space, code, condition, other);
                if self.join(cpu, space, code, &pending, wider.unwrap_or(condition)) {
                    return;
                }
            } else if other == pending.other {
                self.test(condition, TestKind::Branch);
                let both = self.pool.and(pending.condition, condition);
                let tests = (pending.tests.0, self.tests.len());
                let known = Pending { condition: both, into: target, tests, ..pending };
                self.pending = self.is_next(space, code, target, known.other).then_some(known);
                return;
            }
        }
        let relaxed = self.widen(cpu, space, code, condition, other);
        self.test(relaxed.unwrap_or(condition), TestKind::Branch);
        if relaxed.is_none() && self.is_next(space, code, target, other) {
            self.pending = Some(Pending {
                condition,
                into: target,
                other,
                before: Box::new(cpu.clone()),
                tests: (first, self.tests.len()),
            });
        }
    }

    fn is_clause(&self, space: &mut AddressSpace, code: &mut Code, start: u64) -> bool {
        if self.image.watched.contains(&start) {
            return false;
        }
        let id = code.find(start, space);
        is_pure(&code.entry(id).block)
    }

    /// Whether the block at `start` may be the next clause of a condition that leads to `other` if
    /// a clause does not hold.
    fn is_next(&self, space: &mut AddressSpace, code: &mut Code, start: u64, other: u64) -> bool {
        if !self.is_clause(space, code, start) {
            return false;
        }
        let id = code.find(start, space);
        let block = &code.entry(id).block;
        block.target(0) == other || block.target(1) == other
    }

    /// Control came to where an earlier clause would have led as well: both are one test.
    fn join(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        pending: &Pending,
        condition: Term,
    ) -> bool {
        if !self.agree(cpu, &pending.before, space, code) {
            return false;
        }
        self.retract_after(pending.tests.0);
        cpu.shadow.forget_flags();
        let earlier = self.pool.not(pending.condition);
        let either = self.pool.or(earlier, condition);
        self.test(either, TestKind::Branch);
        true
    }

    /// Control skipped a clause that could have led to the same place.
    fn widen(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        condition: Term,
        other: u64,
    ) -> Option<Term> {
        let target = cpu.rip();
        let asked = self.can_lead(space, code, target, other, MOST_CLAUSES);
        let computed = !asked && self.can_meet(space, code, target, other);
        if !asked && !computed {
            return None;
        }
        let at = self.at;
        // Where ways can meet, with the states in which control comes there.
        let mut goals = Vec::with_capacity(1);
        let mut ahead = cpu.clone();
        self.straight_on(&mut ahead, space, code, |it, state, space, code| {
            if it.can_agree(state.rip(), space, code) {
                goals.push(state.clone());
            }
            false
        });
        let mut aside = ahead;
        aside.clone_from(cpu);
        aside.set(slots::RIP, other);
        let led = if computed {
            self.meets(&mut aside, space, code, &goals).0
        } else {
            self.clause(&mut aside, space, code, &goals, target, MOST_CLAUSES)
        };
        self.at = at;
        let led = led.filter(|&led| self.pool.as_const(led) != Some(0))?;
        Some(self.pool.or(condition, led))
    }

    /// Whether the code allows that a clause leads to where control is, or a little further on: what
    /// [`Self::clause`] finds for some state. That depends on no state, so that it is found out once
    /// for a branch, and tells most of them.
    fn can_lead(
        &self,
        space: &mut AddressSpace,
        code: &mut Code,
        target: u64,
        at: u64,
        depth: u32,
    ) -> bool {
        if depth == 0 {
            return false;
        }
        if let Some(known) = code.foreseen((target, at, depth)) {
            return known;
        }
        // A way that leads back to here adds nothing.
        code.foresee((target, at, depth), false);
        let leads = self.is_clause(space, code, at) && {
            let goals = self.straight_addresses(target, space, code);
            let id = code.find(at, space);
            let block = &code.entry(id).block;
            [block.target(0), block.target(1)].into_iter().any(|side| {
                let way = self.straight_addresses(side, space, code);
                let meets =
                    way.iter().any(|it| goals.contains(it) && self.can_agree(*it, space, code));
                meets || way.iter().any(|&it| self.can_lead(space, code, target, it, depth - 1))
            })
        };
        code.foresee((target, at, depth), leads);
        leads
    }

    /// Whether the code allows that the way from an address on comes straight to where control is, or a
    /// little further on: a last clause whose outcome is computed, and not branched on.
    fn can_meet(&self, space: &mut AddressSpace, code: &mut Code, target: u64, at: u64) -> bool {
        // Known in the same way as what clauses lead to; there, no depth is none.
        const STRAIGHT: u32 = 0;
        if let Some(known) = code.foreseen((target, at, STRAIGHT)) {
            return known;
        }
        let goals = self.straight_addresses(target, space, code);
        let way = self.straight_addresses(at, space, code);
        let meets = way.iter().any(|it| goals.contains(it) && self.can_agree(*it, space, code));
        code.foresee((target, at, STRAIGHT), meets);
        meets
    }

    /// Goes straight on to one of the goals; gives when the state there is the goal's, and how it ended.
    fn meets(
        &mut self,
        state: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        goals: &[Cpu],
    ) -> (Option<Term>, Straight) {
        let mut met = None;
        let way = self.straight_on(state, space, code, |it, state, space, code| {
            let here = goals.iter().filter(|goal| goal.rip() == state.rip());
            met = here.filter_map(|goal| it.agreement(goal, state, space, code)).next();
            met.is_some()
        });
        (met, way)
    }

    /// Where [`Self::straight_on`] can come to.
    fn straight_addresses(
        &self,
        start: u64,
        space: &mut AddressSpace,
        code: &mut Code,
    ) -> Vec<u64> {
        let mut all = vec![start];
        while all.len() <= MOST_STRAIGHT {
            let at = all[all.len() - 1];
            if self.image.watched.contains(&at) {
                break;
            }
            let id = code.find(at, space);
            let block = &code.entry(id).block;
            for instruction in 1..inner_marks(block) {
                let ops = usize::from(block.marks[instruction - 1].0)
                    ..usize::from(block.marks[instruction].0);
                if all.len() > MOST_STRAIGHT || !block.ops[ops].iter().all(is_harmless) {
                    return all;
                }
                all.push(block.address_of(instruction));
            }
            let last = usize::from(block.marks[block.marks.len() - 1].0);
            let straight = matches!(block.end, End::Next | End::Jump(_));
            if !straight || !block.ops[last..].iter().all(is_harmless) {
                break;
            }
            all.push(block.target(usize::from(block.end == End::Next)));
        }
        all
    }

    /// When the clause where a state is leads to one of the goals, which are on the way from
    /// `target` on. What becomes of the state is nobody's business.
    fn clause(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        goals: &[Cpu],
        target: u64,
        depth: u32,
    ) -> Option<Term> {
        if !self.can_lead(space, code, target, cpu.rip(), depth) {
            return None;
        }
        let id = code.find(cpu.rip(), space);
        let block = &code.entry(id).block;
        let sides = [block.target(0), block.target(1)];
        if !self.aside(cpu, space, block) {
            return None;
        }
        let went = match self.held.take() {
            Some(held) => held.condition,
            None => self.pool.boolean(true),
        };
        let here = cpu.rip();
        let other = sides[usize::from(here == sides[0])];
        let not = self.pool.not(went);
        let mut led: Option<Term> = None;
        let mut start = cpu.clone();
        for (first, side, condition) in [(true, here, went), (false, other, not)] {
            if self.pool.as_const(condition) == Some(0) {
                continue;
            }
            let state = if first { &mut start } else { &mut *cpu };
            state.set(slots::RIP, side);
            let (met, way) = self.meets(state, space, code, goals);
            let leads = match way {
                Straight::Stopped => met.map(|met| self.pool.and(condition, met)),
                Straight::Said => None,
                Straight::End => {
                    let later = self.clause(state, space, code, goals, target, depth - 1);
                    later.map(|later| self.pool.and(condition, later))
                }
            };
            if let Some(leads) = leads {
                led = Some(match led {
                    Some(led) => self.pool.or(led, leads),
                    None => leads,
                });
            }
        }
        led
    }

    /// Runs on as long as the next instructions are pure and lead straight on: ways meet again also
    /// inside what is one block from above. `visit` sees the state before and after each of them,
    /// and says when to stop.
    fn straight_on(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        mut visit: impl FnMut(&mut Self, &Cpu, &mut AddressSpace, &mut Code) -> bool,
    ) -> Straight {
        let mut seen = 0;
        loop {
            seen += 1;
            if visit(self, cpu, space, code) {
                return Straight::Stopped;
            }
            if seen > MOST_STRAIGHT || self.image.watched.contains(&cpu.rip()) {
                return Straight::End;
            }
            // The first instruction, which is the whole block if nothing else is in it.
            let id = code.find(cpu.rip(), space);
            let block = &code.entry(id).block;
            let (ops, next) = if inner_marks(block) > 1 {
                (&block.ops[..usize::from(block.marks[1].0)], block.address_of(1))
            } else if matches!(block.end, End::Next | End::Jump(_)) {
                (&block.ops[..], block.target(usize::from(block.end == End::Next)))
            } else {
                return Straight::End;
            };
            if !ops.iter().all(is_harmless) {
                return Straight::End;
            }
            if !self.quietly(cpu, space, ops) {
                return Straight::Said;
            }
            cpu.set(slots::RIP, next);
        }
    }

    /// Runs ops on a copy of the state; gives whether they say nothing about the input.
    fn quietly(&mut self, cpu: &mut Cpu, space: &mut AddressSpace, ops: &[Op]) -> bool {
        let tests = self.tests.len();
        let quiet =
            ops.iter().all(|op| self.op(cpu, space, op).is_ok() && self.tests.len() == tests);
        self.retract_after(tests);
        quiet
    }

    /// Runs a block on a copy of the state; gives whether it says nothing about the input but how it
    /// ends.
    fn aside(&mut self, cpu: &mut Cpu, space: &mut AddressSpace, block: &Block) -> bool {
        if !self.quietly(cpu, space, &block.ops) {
            return false;
        }
        let tests = self.tests.len();
        let way = self.leave(cpu, space, block);
        let quiet = self.tests.len() == tests;
        self.retract_after(tests);
        match way {
            Ok(Way::Link(_, target) | Way::Computed(target)) if quiet => {
                cpu.set(slots::RIP, target);
                true
            }
            _ => {
                self.held = None;
                false
            }
        }
    }

    /// Whether two states that come to the same place go on alike: what differs is not read.
    fn agree(&mut self, cpu: &Cpu, aside: &Cpu, space: &mut AddressSpace, code: &mut Code) -> bool {
        let when = self.agreement(cpu, aside, space, code);
        when.is_some_and(|when| self.pool.as_const(when) == Some(1))
    }

    /// When two states that come to the same place go on alike: what differs is not read, or is a value
    /// here and depends on the input there, as the outcome of a clause does.
    fn agreement(
        &mut self,
        cpu: &Cpu,
        aside: &Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
    ) -> Option<Term> {
        let rip = cpu.rip();
        if !self.can_agree(rip, space, code) {
            return None;
        }
        let mut outcome = None;
        for slot in (0..slots::TEMPORARY).filter(|&slot| !is_flag(slot) && slot != slots::RIP) {
            let terms = (cpu.shadow.get(slot), aside.shadow.get(slot));
            if cpu.get(slot) == aside.get(slot) && terms.0 == terms.1
                || self.is_dead(space, code, slot, rip, &mut Vec::new())
            {
                continue;
            }
            match terms {
                (None, Some(term)) if outcome.is_none() => outcome = Some((term, cpu.get(slot))),
                _ => return None,
            }
        }
        Some(match outcome {
            None => self.pool.boolean(true),
            Some((word, value)) => {
                let value = self.pool.constant(64, u128::from(value));
                self.pool.eq(word.term(), value)
            }
        })
    }

    /// Whether states may go on alike from an address: nothing looks at what came before.
    fn can_agree(&self, at: u64, space: &mut AddressSpace, code: &mut Code) -> bool {
        if self.image.watched.contains(&at) {
            return false;
        }
        let id = code.find(at, space);
        code.entry(id).block.flags_unread
    }

    /// Whether what a function answers may be read where it returns to.
    pub(super) fn is_answer_read(
        &self,
        space: &mut AddressSpace,
        code: &mut Code,
        at: u64,
    ) -> bool {
        !self.is_dead(space, code, slots::RAX, at, &mut Vec::new())
    }

    /// Whether a register is overwritten before it is read, on every way from an address on. Ways that
    /// lead back to where the look has been add nothing.
    fn is_dead(
        &self,
        space: &mut AddressSpace,
        code: &mut Code,
        slot: Slot,
        at: u64,
        seen: &mut Vec<u64>,
    ) -> bool {
        if seen.contains(&at) {
            return true;
        }
        if seen.len() >= FORESIGHT || self.image.watched.contains(&at) {
            return false;
        }
        seen.push(at);
        let id = code.find(at, space);
        let block = &code.entry(id).block;
        if block.effects.reads.has(slot) {
            return false;
        }
        if block.effects.writes.has(slot) {
            return true;
        }
        let (end, sides) = (block.end, [block.target(0), block.target(1)]);
        match end {
            End::Next => self.is_dead(space, code, slot, sides[1], seen),
            End::Jump(target) => self.is_dead(space, code, slot, target, seen),
            End::Branch { .. }
            | End::CompareBranch { .. }
            | End::TestBranch { .. }
            | End::ZeroBranch { .. } => {
                sides.into_iter().all(|side| self.is_dead(space, code, slot, side, seen))
            }
            // What a caller may not expect to be kept, and a callee may not expect to be given.
            // How many vectors it is given is said right before the call, if at all.
            End::Call(_) | End::CallIndirect(_) => matches!(slot, slots::RAX | 10 | 11),
            End::Return(_) => matches!(slot, 1 | 6..=11),
            End::Indirect(_) | End::Trap(_) => false,
        }
    }
}

/// The instructions of a block with a state before them. A comparison that is part of the branch has
/// no ops of its own: between the two there is no state.
fn inner_marks(block: &Block) -> usize {
    let fused = matches!(block.end, End::CompareBranch { .. } | End::TestBranch { .. });
    block.marks.len() - usize::from(fused)
}

fn is_flag(slot: Slot) -> bool {
    (slots::FLAG_RESULT..=slots::FLAG_KIND).contains(&slot)
}

/// Whether a block does nothing but compute a condition.
fn is_pure(block: &Block) -> bool {
    let ends = matches!(
        block.end,
        End::Branch { .. } | End::CompareBranch { .. } | End::TestBranch { .. }
    );
    ends && is_short(block)
}

fn is_short(block: &Block) -> bool {
    block.ops.len() <= MOST_OPS && block.ops.iter().all(is_harmless)
}

fn is_harmless(op: &Op) -> bool {
    !matches!(
        op,
        Op::Store8 { .. }
            | Op::Store16 { .. }
            | Op::Store32 { .. }
            | Op::Store64 { .. }
            | Op::Store128 { .. }
            | Op::StoreImm { .. }
            | Op::Push { .. }
            | Op::Pop { .. }
            | Op::ProbeWrite { .. }
            | Op::Divide { .. }
            | Op::String { .. }
            | Op::Float { .. }
            | Op::X87 { .. }
            | Op::Helper { .. }
            | Op::PopFlags { .. }
    )
}
