//! The block compiler: hot blocks become host code.
//!
//! ```text
//! block ──(templates)──► host code in an arena ──(cells)──► the next block
//!                              └──► interpreter's functions, for what is rare
//! ```
//!
//! The host has the same architecture as the guest, but not its state: guest registers stay in
//! slots, in memory, and each op becomes a few host instructions between slots. That is quick to
//! make (a block takes microseconds), needs no register allocation, and leaves the state complete
//! at every point where control may leave. A block means exactly what it means to the interpreter;
//! the tests run both. This module must not know Linux.

#![allow(unsafe_code)]

mod arena;
mod assembler;
mod context;
mod templates;

use arena::Arena;
use assembler::{Alu, Assembler, R8, R9, R12, R13, R14, R15, RAX, RBX, RCX, RDI, Turn};
use context::Context;
use templates::Compiler;

use crate::{
    code::{Block, Condition, End, Width, slots},
    cpu::{Cpu, Exception, FlagKind},
    memory::AddressSpace,
};

const INDIRECT: usize = 4096;

/// A table for indirect jumps that knows no address: each line names one that belongs elsewhere.
static NOWHERE: [(u64, u64); INDIRECT] = {
    let mut table = [(0, 0); INDIRECT];
    table[0].0 = 1;
    table
};

// What compiled code returns. Values below are a block and a side.
const FAILURE: u64 = u64::MAX >> 32;
const AT_END: u64 = FAILURE - 1;
const QUANTUM: u64 = FAILURE - 2;

/// How compiled code was left.
pub(crate) enum Left {
    /// Towards a block that it is not linked to yet.
    Unlinked { block: u32, side: usize },
    /// Behind the last op of a block: how it ends is for the caller to do.
    AtEnd { block: u32 },
    /// Before a block, because the budget is used up or code was written.
    Before { block: u32 },
    /// In the middle of a block.
    Failed { block: u32, op: usize, exception: Exception },
}

/// Compiled code.
pub(crate) struct Jit {
    arena: Arena,
    /// By address: where the code is.
    indirect: Box<[(u64, u64); INDIRECT]>,
    /// Where the common way out is.
    exit: usize,
}

/// Where a block's code and its ways out are, as offsets in the arena.
#[derive(Clone, Copy)]
pub(crate) struct Compiled {
    code: usize,
    outs: [usize; 2],
}

impl Jit {
    /// Nothing if the host does not allow executable memory.
    pub(crate) fn new() -> Option<Self> {
        let mut jit = Self { arena: Arena::new()?, indirect: Box::new(NOWHERE), exit: 0 };
        jit.begin();
        Some(jit)
    }

    /// Emits the way in and the way out.
    fn begin(&mut self) {
        let mut a = Assembler::default();
        // push rbx, rbp, r12 to r15; keep the stack aligned for calls
        a.bytes(&[0x53, 0x55, 0x41, 0x54, 0x41, 0x55, 0x41, 0x56, 0x41, 0x57]);
        a.bytes(&[0x48, 0x83, 0xec, 0x08]);
        a.copy(R14, RDI);
        a.load_field(RBX, R14, context::SLOTS);
        a.load_field(R12, R14, context::LOADS);
        a.load_field(R13, R14, context::STORES);
        a.load_field(R15, R14, context::INDIRECT);
        // jmp rsi
        a.bytes(&[0xff, 0xe6]);
        let exit = a.position();
        a.bytes(&[0x48, 0x83, 0xc4, 0x08]);
        a.bytes(&[0x41, 0x5f, 0x41, 0x5e, 0x41, 0x5d, 0x41, 0x5c, 0x5d, 0x5b, 0xc3]);
        let at = self.arena.add(&a.finish()).expect("the arena is empty");
        debug_assert_eq!(at, 0);
        self.exit = exit;
    }

    /// Forgets all code.
    pub(crate) fn clear(&mut self) {
        self.arena.clear();
        self.indirect.copy_from_slice(&NOWHERE);
        self.begin();
    }

    /// Undoes all links, so that every way out leads back.
    pub(crate) fn unlink(&mut self, all: impl Iterator<Item = (u32, Compiled)>) {
        for (id, compiled) in all {
            for side in 0..2 {
                if let Some(cell) = Arena::cell(id, side) {
                    self.arena.set_cell(cell, compiled.outs[side]);
                }
            }
        }
        self.indirect.copy_from_slice(&NOWHERE);
    }

    /// Lets control go straight from one block to another.
    pub(crate) fn link(&mut self, from: u32, side: usize, to: Compiled) {
        if let Some(cell) = Arena::cell(from, side) {
            self.arena.set_cell(cell, to.code);
        }
    }

    /// Lets computed jumps to this address go straight to the block.
    pub(crate) fn remember(&mut self, address: u64, block: Compiled) {
        let at = (address ^ (address >> 12)) as usize % INDIRECT;
        self.indirect[at] = (address, self.arena.address(block.code));
    }

    /// Compiles a block. Its ops must stay where they are. Nothing if there is no room left.
    pub(crate) fn compile(&mut self, id: u32, block: &Block) -> Option<Compiled> {
        let start = self.arena.next();
        let cells = [Arena::cell(id, 0)?, Arena::cell(id, 1)?];
        let exit = self.exit as i64 - start as i64;
        let mut c = Compiler { a: Assembler::default(), asides: Vec::new(), flags: None, at: 0 };
        c.a.compare_field_with_zero(context::BUDGET);
        let spent = c.a.jump_if(Condition::Le);
        for (at, op) in block.ops.iter().enumerate() {
            c.at = at;
            c.op(op);
        }
        c.at = block.ops.len();
        let ways = cells.map(|cell| cell as i64 - start as i64);
        self.end(&mut c, id, block, ways, exit);
        c.finish_asides(id, exit);
        c.a.land(spent);
        c.a.store_field_constant(context::BLOCK, id as i32);
        c.a.constant(RAX, QUANTUM);
        c.a.jump_to(exit);
        let outs = [0, 1].map(|side| {
            let at = c.a.position();
            c.a.store_field_constant(context::BLOCK, id as i32);
            c.a.constant(RAX, side);
            c.a.jump_to(exit);
            start + at
        });
        let code = self.arena.add(&c.a.finish())?;
        debug_assert_eq!(code, start);
        for (cell, out) in cells.into_iter().zip(outs) {
            self.arena.set_cell(cell, out);
        }
        Some(Compiled { code, outs })
    }

    /// Compiles the end of a block. The instructions are counted before the flags of a branch are
    /// set, and after everything that can fail.
    fn end(&self, c: &mut Compiler, id: u32, block: &Block, ways: [i64; 2], exit: i64) {
        let count = block.instructions() as i32;
        let branch = |c: &mut Compiler, cc: Condition| {
            let taken = c.a.jump_if(cc);
            c.a.jump_through(ways[1]);
            c.a.land(taken);
            c.a.jump_through(ways[0]);
        };
        match block.end {
            End::Next => {
                c.a.subtract_from_field(context::BUDGET, count);
                c.a.jump_through(ways[1]);
            }
            End::Jump(_) => {
                c.a.subtract_from_field(context::BUDGET, count);
                c.a.jump_through(ways[0]);
            }
            End::Branch { cc, .. } => {
                c.a.subtract_from_field(context::BUDGET, count);
                let cc = c.condition(cc);
                branch(c, cc);
            }
            End::CompareBranch { cc, w, a, b, imm, quiet, .. } => {
                c.a.subtract_from_field(context::BUDGET, count);
                c.a.load(R9, a, w);
                if !quiet {
                    c.result(Alu::Sub, w, a, b, imm);
                    c.note(FlagKind::Sub, w);
                    c.a.compare(Alu::Cmp, w, R9, RCX);
                } else if b == slots::ZERO {
                    c.a.compare_constant(w, R9, imm);
                } else {
                    c.second(RCX, w, b, imm);
                    c.a.compare(Alu::Cmp, w, R9, RCX);
                }
                branch(c, cc);
            }
            End::TestBranch { cc, w, a, b, imm, quiet, .. } => {
                c.a.subtract_from_field(context::BUDGET, count);
                if quiet {
                    c.a.load(RAX, a, w);
                    if b != a || imm != 0 {
                        c.second(RCX, w, b, imm);
                        c.a.compare(Alu::Test, w, RAX, RCX);
                    } else {
                        c.a.compare(Alu::Test, w, RAX, RAX);
                    }
                } else {
                    c.result(Alu::And, w, a, b, imm);
                    c.note(FlagKind::Logic, w);
                    c.a.compare(Alu::Test, w, RAX, RAX);
                }
                branch(c, cc);
            }
            End::ZeroBranch { a, not, .. } => {
                c.a.subtract_from_field(context::BUDGET, count);
                c.a.load(RAX, a, Width::W64);
                c.a.alu(Alu::Test, true, RAX, RAX);
                branch(c, if not { Condition::Ne } else { Condition::E });
            }
            End::Call(_) => {
                c.a.constant(R9, block.next);
                c.push();
                c.a.subtract_from_field(context::BUDGET, count);
                c.a.jump_through(ways[0]);
            }
            End::CallIndirect(a) => {
                c.a.load(RAX, a, Width::W64);
                look_up(c, id, exit);
                // The push needs all registers.
                c.a.store_field(context::TARGET, R8);
                c.a.constant(R9, block.next);
                c.push();
                c.a.subtract_from_field(context::BUDGET, count);
                c.a.load_field(R8, R14, context::TARGET);
                c.a.jump_to_r8();
            }
            End::Indirect(a) => {
                c.a.load(RAX, a, Width::W64);
                look_up(c, id, exit);
                c.a.subtract_from_field(context::BUDGET, count);
                c.a.jump_to_r8();
            }
            End::Return(extra) => {
                c.a.load(RAX, slots::RSP, Width::W64);
                c.load_at(Width::W64);
                look_up(c, id, exit);
                c.a.load(RCX, slots::RSP, Width::W64);
                c.a.lea_plus(RCX, RCX, 8 + i32::from(extra));
                c.a.store(slots::RSP, RCX);
                c.a.subtract_from_field(context::BUDGET, count);
                c.a.jump_to_r8();
            }
            End::Trap(_) => at_end(c, id, exit),
        }
    }

    /// Runs compiled code, from the start of a block. `budget` is how many instructions may be
    /// executed; what is left of it is given back.
    pub(crate) fn enter(
        &self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        at: Compiled,
        budget: i64,
    ) -> (Left, i64) {
        let (loads, stores) = space.lines();
        let mut context = Context {
            slots: cpu.slots.as_mut_ptr(),
            loads,
            stores,
            indirect: self.indirect.as_ptr().cast(),
            budget,
            held: 0,
            target: 0,
            block: 0,
            failed: 0,
            granted: budget,
            executed: cpu.executed,
            cpu,
            space,
            exception: None,
        };
        let way_in = self.arena.address(0);
        // SAFETY: the arena's first bytes are a function of this type, emitted by `begin`; it keeps
        // the registers that the host's convention wants kept. The code that it enters was made by
        // `compile` from a block that is still there, and touches the context, the slots, the
        // TLB's lines and the pages behind them, all of which are borrowed here for as long as it
        // runs. Its jumps lead to such code, or back here.
        let result = unsafe {
            let enter: extern "sysv64" fn(*mut Context, u64) -> u64 =
                std::mem::transmute(way_in as *const ());
            enter(&raw mut context, self.arena.address(at.code))
        };
        let block = context.block as u32;
        let left = match result & u64::from(u32::MAX) {
            FAILURE => Left::Failed {
                block,
                op: context.failed as usize,
                exception: context.exception.expect("a failure has a reason"),
            },
            AT_END => Left::AtEnd { block },
            QUANTUM => Left::Before { block },
            side => Left::Unlinked { block, side: side as usize },
        };
        (left, context.left())
    }
}

/// Looks the address in `rax` up in the table: `r8` is where its code is. What is not there is for
/// the caller, before anything has changed.
fn look_up(c: &mut Compiler, id: u32, exit: i64) {
    c.a.copy(RCX, RAX);
    c.a.turn(Turn::Shr, true, RCX, 12);
    c.a.alu(Alu::Xor, true, RCX, RAX);
    c.a.and_constant(RCX, INDIRECT as i32 - 1);
    c.a.turn(Turn::Shl, true, RCX, 4);
    c.a.compare_indexed(RAX, R15, RCX, 0);
    let known = c.a.jump_if(Condition::E);
    at_end(c, id, exit);
    c.a.land(known);
    c.a.load_indexed(R8, R15, RCX, 8);
}

fn at_end(c: &mut Compiler, id: u32, exit: i64) {
    c.a.store_field_constant(context::BLOCK, id as i32);
    c.a.constant(RAX, AT_END);
    c.a.jump_to(exit);
}
