//! Running: from block to block, interpreted at first, compiled when hot.
//!
//! Always: when [`run`] returns, the state is between two instructions, `rip` tells where.

use iced_x86::{Decoder, DecoderOptions, OpKind, Register};

use crate::{
    code::{Block, Code, Condition, End, NONE, Slot, Trap, Width, slots},
    jit::Left,
    memory::{AddressSpace, Fault, Reason},
};

use super::{
    Cpu, Exception, FlagKind,
    step::{push, second, step},
    strings,
};

/// Why the interpreter returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// So many instructions were executed as were asked for, or a few more.
    Quantum,
    /// A `syscall` instruction was executed; `rip` is behind it.
    Syscall,
    /// An instruction could not be finished; `rip` is at it.
    Exception(Exception),
    /// An instruction that is for the kernel; `rip` is at it, and behind it for `int3`.
    Trap(Trap),
}

/// Runs until something happens, or about `quantum` instructions were executed.
pub fn run(cpu: &mut Cpu, space: &mut AddressSpace, code: &mut Code, quantum: u64) -> Stop {
    code.synchronise(space);
    let limit = cpu.executed.saturating_add(quantum);
    let mut id = code.find(cpu.rip(), space);
    loop {
        let compiled = code.compiled(id, space);
        let way = match compiled {
            Some(compiled) => {
                let granted = (limit - cpu.executed).min(i64::MAX as u64) as i64;
                let before = cpu.executed;
                let (left, rest) = code.enter(cpu, space, compiled, granted);
                cpu.executed = before + (granted - rest) as u64;
                match left {
                    Left::Unlinked { block, side } => {
                        id = block;
                        Way::Link(side, code.entry(id).block.target(side))
                    }
                    Left::AtEnd { block } => {
                        id = block;
                        match finish(cpu, space, &code.entry(id).block) {
                            Ok(way) => way,
                            Err(exception) => {
                                let block = &code.entry(id).block;
                                return fail(cpu, space, block, block.ops.len(), exception);
                            }
                        }
                    }
                    Left::Before { block } => {
                        let start = code.entry(block).block.start;
                        cpu.set(slots::RIP, start);
                        if cpu.executed >= limit {
                            return Stop::Quantum;
                        }
                        code.synchronise(space);
                        id = code.find(start, space);
                        continue;
                    }
                    Left::Failed { block, op, exception } => {
                        return fail(cpu, space, &code.entry(block).block, op, exception);
                    }
                }
            }
            None => {
                code.warm(id);
                let block = &code.entry(id).block;
                let mut at = 0;
                let done = body(cpu, space, block, &mut at);
                match done.and_then(|()| finish(cpu, space, block)) {
                    Ok(way) => way,
                    Err(exception) => return fail(cpu, space, block, at, exception),
                }
            }
        };
        let target = match way {
            Way::Link(_, target) | Way::Computed(target) => target,
            Way::Trap(trap) => return stop(cpu, space, &code.entry(id).block, trap),
        };
        if cpu.executed >= limit || space.code_written() {
            cpu.set(slots::RIP, target);
            if cpu.executed >= limit {
                return Stop::Quantum;
            }
            code.synchronise(space);
            id = code.find(target, space);
            continue;
        }
        id = match way {
            Way::Link(side, _) => match code.entry(id).links[side] {
                NONE => {
                    let next = code.find(target, space);
                    code.link(id, side, next);
                    next
                }
                next => {
                    if compiled.is_some() {
                        code.link(id, side, next);
                    }
                    next
                }
            },
            _ => {
                let next = code.find(target, space);
                if compiled.is_some() {
                    code.remember(target, next);
                }
                next
            }
        };
    }
}

/// Executes one instruction, watched or not. [`Stop::Quantum`] says that nothing else happened.
pub(crate) fn run_one(cpu: &mut Cpu, space: &mut AddressSpace, code: &mut Code) -> Stop {
    code.synchronise(space);
    let id = code.find_single(cpu.rip(), space);
    let block = &code.entry(id).block;
    let mut at = 0;
    let done = body(cpu, space, block, &mut at);
    match done.and_then(|()| finish(cpu, space, block)) {
        Ok(Way::Link(_, target) | Way::Computed(target)) => {
            cpu.set(slots::RIP, target);
            Stop::Quantum
        }
        Ok(Way::Trap(trap)) => stop(cpu, space, block, trap),
        Err(exception) => fail(cpu, space, block, at, exception),
    }
}

/// The state after an op failed: that before its instruction.
#[cold]
pub(crate) fn fail(
    cpu: &mut Cpu,
    space: &mut AddressSpace,
    block: &Block,
    op: usize,
    exception: Exception,
) -> Stop {
    let instruction = block.instruction_of(op);
    cpu.executed += instruction as u64;
    cpu.set(slots::RIP, block.address_of(instruction));
    Stop::Exception(precisely(cpu, space, exception))
}

/// What is for the kernel. Traps are reported at the instruction, system calls and breakpoints
/// behind it.
pub(crate) fn stop(cpu: &mut Cpu, space: &mut AddressSpace, block: &Block, trap: Trap) -> Stop {
    let behind = matches!(trap, Trap::Syscall | Trap::Breakpoint);
    let last = block.address_of(block.marks.len() - 1);
    if !behind {
        cpu.executed -= 1;
    }
    cpu.set(slots::RIP, if behind { block.next } else { last });
    match trap {
        Trap::Syscall => Stop::Syscall,
        Trap::Fetch => fetch_fault(cpu, space),
        _ => Stop::Trap(trap),
    }
}

/// Does the end of a block, and counts its instructions.
#[inline(always)]
pub(crate) fn finish(
    cpu: &mut Cpu,
    space: &mut AddressSpace,
    block: &Block,
) -> Result<Way, Exception> {
    let way = leave(cpu, space, block)?;
    cpu.executed += block.instructions();
    Ok(way)
}

/// The stack has a segment of its own, and what goes wrong there has another name.
#[cold]
fn precisely(cpu: &Cpu, space: &mut AddressSpace, exception: Exception) -> Exception {
    let Exception::Memory(Fault { reason: Reason::NotCanonical, address, .. }) = exception else {
        return exception;
    };
    let mut bytes = [0; 15];
    let rip = cpu.rip();
    let Ok(have) = space.fetch(rip, &mut bytes) else { return exception };
    let i = Decoder::with_ip(64, &bytes[..have], rip, DecoderOptions::NONE).decode();
    let explicit = (0..i.op_count()).any(|n| i.op_kind(n) == OpKind::Memory);
    let rsp = cpu.get(slots::RSP);
    let pushed = rsp.wrapping_add_signed(i64::from(i.stack_pointer_increment()).min(0));
    let implicit = i.is_stack_instruction() && (!explicit || address == pushed);
    // What other prefixes say about segments is not heard in 64-bit mode.
    let on_stack = matches!(i.memory_base().full_register(), Register::RSP | Register::RBP)
        && !matches!(i.memory_segment(), Register::FS | Register::GS);
    if implicit || explicit && on_stack { Exception::StackSegment } else { exception }
}

/// Where control goes after a block.
pub(crate) enum Way {
    /// To a fixed address, by this side.
    Link(usize, u64),
    /// To an address that was computed.
    Computed(u64),
    /// To the kernel.
    Trap(Trap),
}

fn fetch_fault(cpu: &Cpu, space: &mut AddressSpace) -> Stop {
    let mut byte = [0; 15];
    let rip = cpu.rip();
    match space.fetch(rip, &mut byte) {
        Err(fault) => Stop::Exception(Exception::Memory(fault)),
        // The instruction starts on a good page and runs into a bad one.
        Ok(good) => match space.fetch(rip.wrapping_add(good as u64), &mut byte[..1]) {
            Err(fault) => Stop::Exception(Exception::Memory(fault)),
            Ok(_) => Stop::Trap(Trap::InvalidOpcode),
        },
    }
}

#[inline(always)]
pub(crate) fn leave(
    cpu: &mut Cpu,
    space: &mut AddressSpace,
    block: &Block,
) -> Result<Way, Exception> {
    let branch = |taken: bool, target: u64| {
        if taken { Way::Link(0, target) } else { Way::Link(1, block.next) }
    };
    Ok(match block.end {
        End::Next => Way::Link(1, block.next),
        End::Jump(target) => Way::Link(0, target),
        End::Branch { cc, taken } => branch(cpu.holds(cc), taken),
        End::CompareBranch { cc, w, a, b, imm, taken, .. } => {
            branch(compare_holds(cpu, cc, w, a, b, imm), taken)
        }
        End::TestBranch { cc, w, a, b, imm, taken, .. } => {
            let r = cpu.get(a) & second(cpu, b, imm) & w.mask();
            cpu.note(FlagKind::Logic, w, r, 0);
            let sign = r >> (w.bits() - 1) != 0;
            let holds = match cc {
                Condition::E | Condition::Be => r == 0,
                Condition::Ne | Condition::A => r != 0,
                Condition::S | Condition::L => sign,
                Condition::Ns | Condition::Ge => !sign,
                Condition::Le => r == 0 || sign,
                Condition::G => r != 0 && !sign,
                _ => cpu.holds(cc),
            };
            branch(holds, taken)
        }
        End::ZeroBranch { a, not, taken } => branch((cpu.get(a) == 0) != not, taken),
        End::Indirect(a) => Way::Computed(canonical(cpu.get(a))?),
        End::Call(target) => {
            push(cpu, space, block.next)?;
            Way::Link(0, target)
        }
        End::CallIndirect(a) => {
            let target = cpu.get(a);
            if canonical(target).is_err() {
                // A stack that cannot be written counts more.
                let rsp = cpu.get(slots::RSP).wrapping_sub(8);
                strings::probe_write(space, Width::W64, rsp)?;
            }
            let target = canonical(target)?;
            push(cpu, space, block.next)?;
            Way::Computed(target)
        }
        End::Return(extra) => {
            let rsp = cpu.get(slots::RSP);
            let target = canonical(u64::from_le_bytes(space.load(rsp)?))?;
            cpu.set(slots::RSP, rsp.wrapping_add(8 + u64::from(extra)));
            Way::Computed(target)
        }
        End::Trap(trap) => Way::Trap(trap),
    })
}

/// A jump to an address that is not canonical fails at the jump, not at its target.
#[inline(always)]
fn canonical(target: u64) -> Result<u64, Exception> {
    if ((target << 16) as i64 >> 16) as u64 == target {
        Ok(target)
    } else {
        Err(Exception::GeneralProtection)
    }
}

#[inline(always)]
fn compare_holds(cpu: &mut Cpu, cc: Condition, w: Width, a: Slot, b: Slot, imm: i32) -> bool {
    let shift = 64 - w.bits();
    // At the upper end of the word one comparison serves all widths.
    let x = cpu.get(a) << shift;
    let y = second(cpu, b, imm) << shift;
    let r = x.wrapping_sub(y) >> shift;
    cpu.note(FlagKind::Sub, w, r, y >> shift);
    match cc {
        Condition::E => x == y,
        Condition::Ne => x != y,
        Condition::B => x < y,
        Condition::Ae => x >= y,
        Condition::Be => x <= y,
        Condition::A => x > y,
        Condition::L => (x as i64) < y as i64,
        Condition::Ge => x as i64 >= y as i64,
        Condition::Le => x as i64 <= y as i64,
        Condition::G => x as i64 > y as i64,
        _ => cpu.holds(cc),
    }
}

/// Runs the ops of a block; `at` is the op that failed, if one did, and else behind the last one.
#[inline(always)]
pub(crate) fn body(
    cpu: &mut Cpu,
    space: &mut AddressSpace,
    block: &Block,
    at: &mut usize,
) -> Result<(), Exception> {
    for (index, op) in block.ops.iter().enumerate() {
        if let Err(exception) = step(cpu, space, op) {
            *at = index;
            return Err(exception);
        }
    }
    *at = block.ops.len();
    Ok(())
}
