//! Rare instructions that concern the processor as a whole.

use crate::{
    code::{Helper, Slot, slots},
    memory::{AddressSpace, Reason},
};

use super::{
    Cpu, Exception,
    flags::{DF, ZF},
    vector_strings,
};

/// Bits of MXCSR that exist.
pub(crate) const MXCSR_MASK: u32 = 0xffff;

pub(super) fn help(
    cpu: &mut Cpu,
    space: &mut AddressSpace,
    f: Helper,
    a: Slot,
    b: Slot,
    imm: i32,
) -> Result<(), Exception> {
    match f {
        Helper::Cpuid => cpuid(cpu),
        Helper::Rdtsc | Helper::Rdtscp => {
            // Time goes by with the instructions, so that loops that wait for it end.
            let now = cpu.executed;
            cpu.set(slots::RAX, now & 0xffff_ffff);
            cpu.set(slots::RDX, now >> 32);
            if f == Helper::Rdtscp {
                cpu.set(slots::RCX, 0);
            }
        }
        Helper::Xgetbv => return Err(Exception::InvalidOpcode),
        Helper::Fxsave => {
            let at = cpu.get(a);
            let end = touch_end(space, at).map_err(Exception::of_store)?;
            space.store(at.wrapping_add(511), end)?;
            // The last 96 bytes belong to the program and stay.
            let mut area = [0; 512];
            space.read(at, &mut area)?;
            cpu.save_vector_state(&mut area);
            space.write(at, &area[..416])?;
        }
        Helper::Fxrstor => {
            let at = cpu.get(a);
            touch_end(space, at)?;
            space.stop_at_marks(at, 512)?;
            let mut area = [0; 512];
            space.read(at, &mut area)?;
            cpu.restore_vector_state(&area)?;
        }
        Helper::Cmpxchg8b => {
            let at = cpu.get(a);
            let old = u64::from_le_bytes(space.load(at)?);
            let low = |slot| cpu.get(slot) & 0xffff_ffff;
            let expected = low(slots::RAX) | low(slots::RDX) << 32;
            let new = low(slots::RBX) | low(slots::RCX) << 32;
            let equal = old == expected;
            space.store(at, if equal { new } else { old }.to_le_bytes())?;
            if !equal {
                cpu.set(slots::RAX, old & 0xffff_ffff);
                cpu.set(slots::RDX, old >> 32);
            }
            cpu.set_flag_bits(if equal { ZF } else { 0 }, ZF);
        }
        Helper::Cmpxchg16b => {
            let at = cpu.get(a);
            if !at.is_multiple_of(16) {
                return Err(Exception::GeneralProtection);
            }
            let old = u128::from_le_bytes(space.load(at)?);
            let both = |low, high| u128::from(cpu.get(low)) | u128::from(cpu.get(high)) << 64;
            let equal = old == both(slots::RAX, slots::RDX);
            let new = if equal { both(slots::RBX, slots::RCX) } else { old };
            space.store(at, new.to_le_bytes())?;
            if !equal {
                cpu.set(slots::RAX, old as u64);
                cpu.set(slots::RDX, (old >> 64) as u64);
            }
            cpu.set_flag_bits(if equal { ZF } else { 0 }, ZF);
        }
        Helper::Ldmxcsr => {
            let value = cpu.get(a) as u32;
            if value & !MXCSR_MASK != 0 {
                return Err(Exception::GeneralProtection);
            }
            cpu.set(slots::MXCSR, u64::from(value));
        }
        Helper::SetDirection => {
            let others = cpu.get(slots::SYSTEM_FLAGS) & !DF;
            cpu.set(slots::SYSTEM_FLAGS, others | if imm != 0 { DF } else { 0 });
        }
        Helper::StringIndex | Helper::StringMask => {
            let (x, y) = (cpu.pair(a), cpu.pair(a + 2));
            let lengths = [cpu.get(a + 4), cpu.get(a + 5)];
            let result = vector_strings::explicit(x, y, lengths, imm as u8);
            let index = f == Helper::StringIndex;
            cpu.set_pair(a, if index { u128::from(result.index) } else { result.mask });
            cpu.set(a + 2, result.flags);
        }
        Helper::MaskedStore | Helper::MaskedStore64 => {
            let bytes = if f == Helper::MaskedStore { 16 } else { 8 };
            let (data, mask) = (cpu.pair(a).to_le_bytes(), cpu.pair(b).to_le_bytes());
            let at = cpu.get(slots::RDI);
            // The bytes that stay count as touched, too.
            space.stop_at_marks(at, bytes as u64)?;
            let mut whole = [0; 16];
            if let Err(fault) = space.read(at, &mut whole[..bytes]) {
                // What cannot be read cannot be written, but it is the store that faults.
                space.write(at, &whole[..bytes])?;
                return Err(fault.into());
            }
            for k in 0..bytes {
                if mask[k] & 0x80 != 0 {
                    whole[k] = data[k];
                }
            }
            space.write(at, &whole[..bytes])?;
        }
    }
    Ok(())
}

/// The processor touches the last byte of an area of 512 first; an address that is none counts
/// before a misaligned one, and that before a page that is not there.
fn touch_end(space: &mut AddressSpace, at: u64) -> Result<[u8; 1], Exception> {
    let end = space.load(at.wrapping_add(511));
    match end {
        Err(fault) if fault.reason == Reason::NotCanonical => Err(fault.into()),
        _ if !at.is_multiple_of(16) => Err(Exception::GeneralProtection),
        _ => Ok(end?),
    }
}

/// A baseline processor. The vendor must be one that the C library knows, or it refuses to start;
/// the cache sizes keep its `memcpy` from using non-temporal stores early.
fn cpuid(cpu: &mut Cpu) {
    let (leaf, sub) = (cpu.get(slots::RAX) as u32, cpu.get(slots::RCX) as u32);
    let [a, b, c, d] = match (leaf, sub) {
        // AuthenticAMD
        (0, _) => [1u32, 0x6874_7541, 0x444d_4163, 0x6974_6e65],
        (1, _) => [0x0006_0fb1, 0x0000_0800, 0x8000_0000, 0x078b_fbfd],
        (0x8000_0000, _) => [0x8000_0008, 0x6874_7541, 0x444d_4163, 0x6974_6e65],
        (0x8000_0001, _) => [0x0006_0fb1, 0, 0, 0x2193_fbfd],
        (0x8000_0005, _) => [0x01ff_01ff, 0x01ff_01ff, 0x4002_0140, 0x4002_0140],
        (0x8000_0006, _) => [0, 0x4200_4200, 0x0200_8140, 0x0080_8140],
        (0x8000_0008, _) => [0x0000_3028, 0, 0, 0],
        _ => [0; 4],
    };
    for (slot, value) in [(slots::RAX, a), (slots::RBX, b), (slots::RCX, c), (slots::RDX, d)] {
        cpu.set(slot, u64::from(value));
    }
}
