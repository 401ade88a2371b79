//! Floating-point operations as the host's vector unit does them.
//!
//! Rounding, denormals, payloads of NaNs and exceptions are exactly those of a processor, because a
//! processor does them: with the guest's control bits, all exceptions masked, and the host's own
//! control put back. Nothing above SSE2 is asked of the host.
#![expect(unsafe_code, reason = "control of the vector unit is out of reach of plain Rust")]

use std::arch::asm;

use crate::code::Float as F;

use super::{
    float_round::round,
    vector::{guest, host},
};

/// The exception flags in MXCSR.
pub(super) const FLAGS: u32 = 0x3f;
/// All exceptions masked.
pub(super) const MASKS: u32 = 0x1f80;

/// Arithmetic flags that comparisons set: ZF, PF, CF.
const COMPARED: u64 = 0x45;

/// Runs an instruction `op x, y` on two vectors; gives `x` and the exceptions.
macro_rules! vectors {
    ($op:expr, $a:expr, $b:expr, $control:expr) => {{
        let mut x = host($a);
        let y = host($b);
        let mut control = [$control | MASKS, 0u32];
        // SAFETY: the pointer is to two words that live longer than the block, and nothing else is
        // written. The instruction works on registers only and cannot fault with all exceptions
        // masked. MXCSR is as before when the block ends.
        unsafe {
            asm!(
                "stmxcsr [{p} + 4]",
                "ldmxcsr [{p}]",
                concat!($op, " {x}, {y}"),
                "stmxcsr [{p}]",
                "ldmxcsr [{p} + 4]",
                p = in(reg) control.as_mut_ptr(),
                x = inout(xmm_reg) x,
                y = in(xmm_reg) y,
                options(nostack),
            );
        }
        (guest(x), control[0] & FLAGS)
    }};
}

/// Runs a comparison `op x, y`; gives the arithmetic flags and the exceptions.
macro_rules! compare {
    ($op:literal, $a:expr, $b:expr, $control:expr) => {{
        let (x, y) = (host($a), host($b));
        let mut control = [$control | MASKS, 0u32];
        let flags: u64;
        // SAFETY: as above; what is pushed is popped.
        unsafe {
            asm!(
                "stmxcsr [{p} + 4]",
                "ldmxcsr [{p}]",
                concat!($op, " {x}, {y}"),
                "stmxcsr [{p}]",
                "ldmxcsr [{p} + 4]",
                "pushfq",
                "pop {f}",
                p = in(reg) control.as_mut_ptr(),
                x = in(xmm_reg) x,
                y = in(xmm_reg) y,
                f = lateout(reg) flags,
            );
        }
        (u128::from(flags & COMPARED), control[0] & FLAGS)
    }};
}

/// Runs a conversion `op r, y` to an integer; `$r` is the template of the register.
macro_rules! to_integer {
    ($op:literal, $r:literal, $b:expr, $control:expr) => {{
        let y = host($b);
        let mut control = [$control | MASKS, 0u32];
        let r: u64;
        // SAFETY: as above. A 32-bit result clears the upper half of its register.
        unsafe {
            asm!(
                "stmxcsr [{p} + 4]",
                "ldmxcsr [{p}]",
                concat!($op, " ", $r, ", {y}"),
                "stmxcsr [{p}]",
                "ldmxcsr [{p} + 4]",
                p = in(reg) control.as_mut_ptr(),
                y = in(xmm_reg) y,
                r = out(reg) r,
                options(nostack),
            );
        }
        (u128::from(r), control[0] & FLAGS)
    }};
}

/// Runs a conversion `op x, r` from an integer.
macro_rules! from_integer {
    ($op:literal, $r:literal, $a:expr, $b:expr, $control:expr) => {{
        let mut x = host($a);
        let mut control = [$control | MASKS, 0u32];
        // SAFETY: as above.
        unsafe {
            asm!(
                "stmxcsr [{p} + 4]",
                "ldmxcsr [{p}]",
                concat!($op, " {x}, ", $r),
                "stmxcsr [{p}]",
                "ldmxcsr [{p} + 4]",
                p = in(reg) control.as_mut_ptr(),
                x = inout(xmm_reg) x,
                r = in(reg) $b as u64,
                options(nostack),
            );
        }
        (guest(x), control[0] & FLAGS)
    }};
}

/// Runs a comparison to a mask, by its predicate.
macro_rules! predicates {
    ($lane:literal, $a:expr, $b:expr, $imm:expr, $control:expr) => {
        match $imm & 7 {
            0 => vectors!(concat!("cmpeq", $lane), $a, $b, $control),
            1 => vectors!(concat!("cmplt", $lane), $a, $b, $control),
            2 => vectors!(concat!("cmple", $lane), $a, $b, $control),
            3 => vectors!(concat!("cmpunord", $lane), $a, $b, $control),
            4 => vectors!(concat!("cmpneq", $lane), $a, $b, $control),
            5 => vectors!(concat!("cmpnlt", $lane), $a, $b, $control),
            6 => vectors!(concat!("cmpnle", $lane), $a, $b, $control),
            _ => vectors!(concat!("cmpord", $lane), $a, $b, $control),
        }
    };
}

/// `f` of two vectors under the rounding and denormal bits of `c`; gives the result and the
/// exceptions that it raised. `None` for what takes several steps.
#[inline(never)]
pub(super) fn run(f: F, a: u128, b: u128, imm: u8, c: u32) -> Option<(u128, u32)> {
    Some(match f {
        F::Addss => vectors!("addss", a, b, c),
        F::Addsd => vectors!("addsd", a, b, c),
        F::Addps => vectors!("addps", a, b, c),
        F::Addpd => vectors!("addpd", a, b, c),
        F::Subss => vectors!("subss", a, b, c),
        F::Subsd => vectors!("subsd", a, b, c),
        F::Subps => vectors!("subps", a, b, c),
        F::Subpd => vectors!("subpd", a, b, c),
        F::Mulss => vectors!("mulss", a, b, c),
        F::Mulsd => vectors!("mulsd", a, b, c),
        F::Mulps => vectors!("mulps", a, b, c),
        F::Mulpd => vectors!("mulpd", a, b, c),
        F::Divss => vectors!("divss", a, b, c),
        F::Divsd => vectors!("divsd", a, b, c),
        F::Divps => vectors!("divps", a, b, c),
        F::Divpd => vectors!("divpd", a, b, c),
        F::Minss => vectors!("minss", a, b, c),
        F::Minsd => vectors!("minsd", a, b, c),
        F::Minps => vectors!("minps", a, b, c),
        F::Minpd => vectors!("minpd", a, b, c),
        F::Maxss => vectors!("maxss", a, b, c),
        F::Maxsd => vectors!("maxsd", a, b, c),
        F::Maxps => vectors!("maxps", a, b, c),
        F::Maxpd => vectors!("maxpd", a, b, c),
        F::Sqrtss => vectors!("sqrtss", a, b, c),
        F::Sqrtsd => vectors!("sqrtsd", a, b, c),
        F::Sqrtps => vectors!("sqrtps", a, b, c),
        F::Sqrtpd => vectors!("sqrtpd", a, b, c),
        F::Rcpss => vectors!("rcpss", a, b, c),
        F::Rcpps => vectors!("rcpps", a, b, c),
        F::Rsqrtss => vectors!("rsqrtss", a, b, c),
        F::Rsqrtps => vectors!("rsqrtps", a, b, c),
        F::Cmpss => predicates!("ss", a, b, imm, c),
        F::Cmpsd => predicates!("sd", a, b, imm, c),
        F::Cmpps => predicates!("ps", a, b, imm, c),
        F::Cmppd => predicates!("pd", a, b, imm, c),
        F::Comiss => compare!("comiss", a, b, c),
        F::Comisd => compare!("comisd", a, b, c),
        F::Ucomiss => compare!("ucomiss", a, b, c),
        F::Ucomisd => compare!("ucomisd", a, b, c),
        F::Cvtsi2ss32 => from_integer!("cvtsi2ss", "{r:e}", a, b, c),
        F::Cvtsi2ss64 => from_integer!("cvtsi2ss", "{r:r}", a, b, c),
        F::Cvtsi2sd32 => from_integer!("cvtsi2sd", "{r:e}", a, b, c),
        F::Cvtsi2sd64 => from_integer!("cvtsi2sd", "{r:r}", a, b, c),
        F::Cvtss2si32 => to_integer!("cvtss2si", "{r:e}", b, c),
        F::Cvtss2si64 => to_integer!("cvtss2si", "{r:r}", b, c),
        F::Cvtsd2si32 => to_integer!("cvtsd2si", "{r:e}", b, c),
        F::Cvtsd2si64 => to_integer!("cvtsd2si", "{r:r}", b, c),
        F::Cvttss2si32 => to_integer!("cvttss2si", "{r:e}", b, c),
        F::Cvttss2si64 => to_integer!("cvttss2si", "{r:r}", b, c),
        F::Cvttsd2si32 => to_integer!("cvttsd2si", "{r:e}", b, c),
        F::Cvttsd2si64 => to_integer!("cvttsd2si", "{r:r}", b, c),
        F::Cvtss2sd => vectors!("cvtss2sd", a, b, c),
        F::Cvtsd2ss => vectors!("cvtsd2ss", a, b, c),
        F::Cvtdq2ps => vectors!("cvtdq2ps", a, b, c),
        F::Cvtdq2pd => vectors!("cvtdq2pd", a, b, c),
        F::Cvtps2dq => vectors!("cvtps2dq", a, b, c),
        F::Cvttps2dq => vectors!("cvttps2dq", a, b, c),
        F::Cvtpd2dq => vectors!("cvtpd2dq", a, b, c),
        F::Cvttpd2dq => vectors!("cvttpd2dq", a, b, c),
        F::Cvtps2pd => vectors!("cvtps2pd", a, b, c),
        F::Cvtpd2ps => vectors!("cvtpd2ps", a, b, c),
        F::Roundss | F::Roundsd | F::Roundps | F::Roundpd => round(f, a, b, imm, c),
        // Made of several of the others.
        F::Haddps | F::Haddpd | F::Hsubps | F::Hsubpd => return None,
        F::Addsubps | F::Addsubpd | F::Dpps | F::Dppd => return None,
    })
}
