//! The string instructions. Each element is a step of its own: a fault in the middle leaves the
//! registers as after the elements before it, as on the processor.

use crate::{
    code::{Repeat, Slot, StringOp, Width, slots},
    memory::{AddressSpace, Reason},
};

use super::{
    Cpu, Exception, FlagKind,
    flags::{DF, ZF},
};

pub(super) fn load(space: &mut AddressSpace, w: Width, at: u64) -> Result<u64, Exception> {
    Ok(match w {
        Width::W8 => u64::from(u8::from_le_bytes(space.load(at)?)),
        Width::W16 => u64::from(u16::from_le_bytes(space.load(at)?)),
        Width::W32 => u64::from(u32::from_le_bytes(space.load(at)?)),
        Width::W64 => u64::from_le_bytes(space.load(at)?),
    })
}

pub(super) fn store(
    space: &mut AddressSpace,
    w: Width,
    at: u64,
    value: u64,
) -> Result<(), Exception> {
    match w {
        Width::W8 => space.store(at, (value as u8).to_le_bytes())?,
        Width::W16 => space.store(at, (value as u16).to_le_bytes())?,
        Width::W32 => space.store(at, (value as u32).to_le_bytes())?,
        Width::W64 => space.store(at, value.to_le_bytes())?,
    }
    Ok(())
}

/// Faults as a store would: at the first byte that cannot be written.
pub(super) fn probe_write(space: &mut AddressSpace, w: Width, at: u64) -> Result<(), Exception> {
    match load(space, w, at) {
        Ok(old) => return store(space, w, at, old),
        Err(Exception::Memory(fault))
            if matches!(fault.reason, Reason::Marked | Reason::NotCanonical) =>
        {
            return Err(fault.into());
        }
        Err(_) => {}
    }
    for k in 0..w.bytes() {
        let at = at.wrapping_add(k);
        let old = load(space, Width::W8, at).map_err(Exception::of_store)?;
        store(space, Width::W8, at, old)?;
    }
    Ok(())
}

pub(super) fn string(
    cpu: &mut Cpu,
    space: &mut AddressSpace,
    f: StringOp,
    w: Width,
    repeat: Repeat,
    segment: Slot,
    narrow: bool,
) -> Result<(), Exception> {
    let mask = if narrow { u64::from(u32::MAX) } else { u64::MAX };
    let down = cpu.get(slots::SYSTEM_FLAGS) & DF != 0;
    let step = if down { w.bytes().wrapping_neg() } else { w.bytes() };
    let segment = cpu.get(segment);
    loop {
        let count = cpu.get(slots::RCX) & mask;
        if repeat != Repeat::Once && count == 0 {
            return Ok(());
        }
        let (rsi, rdi) = (cpu.get(slots::RSI) & mask, cpu.get(slots::RDI) & mask);
        let from = segment.wrapping_add(rsi);
        let (mut source, mut target) = (false, false);
        match f {
            StringOp::Movs => {
                let value = load(space, w, from)?;
                store(space, w, rdi, value)?;
                (source, target) = (true, true);
            }
            StringOp::Stos => {
                store(space, w, rdi, cpu.get(slots::RAX))?;
                target = true;
            }
            StringOp::Lods => {
                let value = load(space, w, from)?;
                let rax = cpu.get(slots::RAX);
                cpu.set(
                    slots::RAX,
                    match w {
                        Width::W8 | Width::W16 => rax & !w.mask() | value,
                        Width::W32 | Width::W64 => value,
                    },
                );
                source = true;
            }
            StringOp::Scas => {
                let b = load(space, w, rdi)?;
                let a = cpu.get(slots::RAX);
                cpu.note(FlagKind::Sub, w, a.wrapping_sub(b) & w.mask(), b);
                target = true;
            }
            StringOp::Cmps => {
                let a = load(space, w, from)?;
                let b = load(space, w, rdi)?;
                cpu.note(FlagKind::Sub, w, a.wrapping_sub(b) & w.mask(), b);
                (source, target) = (true, true);
            }
        }
        if source {
            cpu.set(slots::RSI, rsi.wrapping_add(step) & mask);
        }
        if target {
            cpu.set(slots::RDI, rdi.wrapping_add(step) & mask);
        }
        if repeat == Repeat::Once {
            return Ok(());
        }
        cpu.set(slots::RCX, count.wrapping_sub(1) & mask);
        let compares = matches!(f, StringOp::Scas | StringOp::Cmps);
        let equal = cpu.flag_bits() & ZF != 0;
        if compares && equal == (repeat == Repeat::WhileDifferent) {
            return Ok(());
        }
    }
}
