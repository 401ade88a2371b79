//! What compiled code and Rust tell each other, and the Rust functions that compiled code calls.
//!
//! Compiled code holds a pointer to a [`Context`]. The functions here are called with that pointer
//! while the code is suspended; they finish what is too rare or too long for a template.

#![allow(unsafe_code)]

use crate::{
    code::{Condition, Op, Width},
    cpu::{Cpu, Exception, step},
    memory::AddressSpace,
};

/// Shared with compiled code: the offsets below must agree.
#[repr(C)]
pub(super) struct Context {
    pub(super) slots: *mut u64,
    pub(super) loads: *const u8,
    pub(super) stores: *const u8,
    pub(super) indirect: *const u8,
    /// Instructions that may still be executed; a block is not entered when it is used up.
    pub(super) budget: i64,
    /// The budget, set aside: code was written, and must be looked at before the next block.
    pub(super) held: i64,
    /// Where control goes, after a computed jump.
    pub(super) target: u64,
    /// The block that was left.
    pub(super) block: u64,
    /// The op that failed.
    pub(super) failed: u64,
    /// The budget at the start, and what was executed before.
    pub(super) granted: i64,
    pub(super) executed: u64,
    pub(super) cpu: *mut Cpu,
    pub(super) space: *mut AddressSpace,
    pub(super) exception: Option<Exception>,
}

pub(super) const SLOTS: i32 = 0;
pub(super) const LOADS: i32 = 8;
pub(super) const STORES: i32 = 16;
pub(super) const INDIRECT: i32 = 24;
pub(super) const BUDGET: i32 = 32;
pub(super) const TARGET: i32 = 48;
pub(super) const BLOCK: i32 = 56;
pub(super) const FAILED: i32 = 64;

/// A value and whether it could be had, in two registers.
#[repr(C)]
pub(super) struct Loaded {
    value: u64,
    failed: u64,
}

/// Loads what no line of the TLB covers.
pub(super) extern "sysv64" fn load(context: *mut Context, address: u64, w: u64) -> Loaded {
    // SAFETY: compiled code passes the context that `enter` made; its pointers are those of the
    // borrowed processor and address space, which nobody else uses while code runs.
    let (context, space) = unsafe { (&mut *context, &mut *(*context).space) };
    let value = match w {
        0 => space.load(address).map(|bytes| u64::from(u8::from_le_bytes(bytes))),
        1 => space.load(address).map(|bytes| u64::from(u16::from_le_bytes(bytes))),
        2 => space.load(address).map(|bytes| u64::from(u32::from_le_bytes(bytes))),
        _ => space.load(address).map(u64::from_le_bytes),
    };
    match value {
        Ok(value) => Loaded { value, failed: 0 },
        Err(fault) => {
            context.exception = Some(fault.into());
            Loaded { value: 0, failed: 1 }
        }
    }
}

/// Stores what no line of the TLB covers; gives whether it failed.
pub(super) extern "sysv64" fn store(
    context: *mut Context,
    address: u64,
    value: u64,
    w: u64,
) -> u64 {
    // SAFETY: as for `load`.
    let (context, space) = unsafe { (&mut *context, &mut *(*context).space) };
    let result = match w {
        0 => space.store(address, (value as u8).to_le_bytes()),
        1 => space.store(address, (value as u16).to_le_bytes()),
        2 => space.store(address, (value as u32).to_le_bytes()),
        _ => space.store(address, value.to_le_bytes()),
    };
    hold_if_written(context, space);
    match result {
        Ok(()) => 0,
        Err(fault) => {
            context.exception = Some(fault.into());
            1
        }
    }
}

/// Does an op as the interpreter does; gives whether it failed.
pub(super) extern "sysv64" fn interpret(context: *mut Context, op: *const Op) -> u64 {
    // SAFETY: as for `load`; the op is one of a block that lives as long as its code.
    let (context, cpu, space, op) =
        unsafe { (&mut *context, &mut *(*context).cpu, &mut *(*context).space, &*op) };
    // Some ops tell the time.
    cpu.executed = context.executed + (context.granted - context.left()) as u64;
    let result = step(cpu, space, op);
    hold_if_written(context, space);
    match result {
        Ok(()) => 0,
        Err(exception) => {
            context.exception = Some(exception);
            1
        }
    }
}

/// Whether a condition holds, whatever the flags came from.
pub(super) extern "sysv64" fn holds(context: *mut Context, cc: u64) -> u64 {
    // SAFETY: as for `load`.
    let cpu = unsafe { &*(*context).cpu };
    const ALL: [Condition; 16] = [
        Condition::O,
        Condition::No,
        Condition::B,
        Condition::Ae,
        Condition::E,
        Condition::Ne,
        Condition::Be,
        Condition::A,
        Condition::S,
        Condition::Ns,
        Condition::P,
        Condition::Np,
        Condition::L,
        Condition::Ge,
        Condition::Le,
        Condition::G,
    ];
    u64::from(cpu.holds(ALL[cc as usize & 15]))
}

impl Context {
    /// What is left of the budget, set aside or not.
    pub(super) fn left(&self) -> i64 {
        if self.held != 0 { self.held + self.budget } else { self.budget }
    }
}

/// Code was written: what runs now may be stale at the next block.
fn hold_if_written(context: &mut Context, space: &AddressSpace) {
    if space.code_written() && context.held == 0 {
        // A zero is set aside as one too many, which the next stop puts right.
        context.held = context.budget;
        context.budget = 0;
    }
}

/// The width as the functions above take it.
pub(super) const fn number(w: Width) -> u64 {
    w as u64
}
