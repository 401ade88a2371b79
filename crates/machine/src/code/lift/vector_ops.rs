//! The vector operations, by what they do to lanes.
//!
//! Each is a pure function of the 128-bit operands `a` and `b` and the constant `imm`. The names
//! are those of the instructions. Instructions that only move or combine bits have no operation
//! here: they become plain ops on the halves of the registers.

/// An operation on integer lanes. It changes no flags, and cannot fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are those of the instructions")]
pub enum VectorOp {
    // ---- SSE2 ----
    Paddb,
    Paddw,
    Paddd,
    Paddq,
    Paddsb,
    Paddsw,
    Paddusb,
    Paddusw,
    Psubb,
    Psubw,
    Psubd,
    Psubq,
    Psubsb,
    Psubsw,
    Psubusb,
    Psubusw,
    Pcmpeqb,
    Pcmpeqw,
    Pcmpeqd,
    Pcmpgtb,
    Pcmpgtw,
    Pcmpgtd,
    Pminub,
    Pmaxub,
    Pminsw,
    Pmaxsw,
    Pavgb,
    Pavgw,
    Pmullw,
    Pmulhw,
    Pmulhuw,
    Pmuludq,
    Pmaddwd,
    Psadbw,
    Packsswb,
    Packssdw,
    Packuswb,
    Punpcklbw,
    Punpcklwd,
    Punpckldq,
    Punpckhbw,
    Punpckhwd,
    Punpckhdq,
    /// All lane shifts: the count is the lower half of `b` plus `imm`, without overflow; the upper
    /// half of `b` does not matter.
    Psllw,
    Pslld,
    Psllq,
    Psrlw,
    Psrld,
    Psrlq,
    Psraw,
    Psrad,
    /// `a` by `imm` bytes, as `psrldq`; `b` does not matter.
    Pslldq,
    Psrldq,
    /// Lanes of `b`; `a` does not matter.
    Pshufd,
    Pshufhw,
    Pshuflw,
    Shufps,
    /// The signs of the lanes of `b`, as a number; `a` does not matter.
    Pmovmskb,
    Movmskps,
    Movmskpd,
    /// Of `b`, only the inserted bits matter.
    Pinsrb,
    Pinsrw,
    Pinsrd,

    // ---- SSSE3 ----
    Pshufb,
    Phaddw,
    Phaddd,
    Phaddsw,
    Phsubw,
    Phsubd,
    Phsubsw,
    /// Of `b`; `a` does not matter.
    Pabsb,
    Pabsw,
    Pabsd,
    Psignb,
    Psignw,
    Psignd,
    Pmulhrsw,
    Pmaddubsw,
    Palignr,

    // ---- SSE4.1 ----
    /// Each byte of `b` becomes ones where its sign is set, else zeros; `a` does not matter.
    SignMask,
    Pblendw,
    Pmulld,
    Pmuldq,
    Pminsb,
    Pminuw,
    Pminsd,
    Pminud,
    Pmaxsb,
    Pmaxuw,
    Pmaxsd,
    Pmaxud,
    Pcmpeqq,
    Packusdw,
    /// Extensions of the lower lanes of `b`; the rest of it and `a` do not matter.
    Pmovsxbw,
    Pmovsxbd,
    Pmovsxbq,
    Pmovsxwd,
    Pmovsxwq,
    Pmovsxdq,
    Pmovzxbw,
    Pmovzxbd,
    Pmovzxbq,
    Pmovzxwd,
    Pmovzxwq,
    Pmovzxdq,
    /// Of `b`; `a` does not matter.
    Phminposuw,
    Mpsadbw,
    /// ZF and CF, in their places in `rflags`.
    Ptest,
    /// With a memory operand, `imm` selects its only lane.
    Insertps,

    // ---- SSE4.2 ----
    Pcmpgtq,
    /// The index in the lower half, all six flags in the upper half, in their places in `rflags`.
    Pcmpistri,
    /// The mask; the flags are those of `Pcmpistri`.
    Pcmpistrm,
}

/// An operation on floating-point lanes: it rounds as MXCSR says, notes exceptions there, and fails
/// if one is not masked.
///
/// Scalar operations change the lowest lane of `a` and look at the lowest lane of `b` only.
/// Operations with one operand take it from `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are those of the instructions")]
pub enum Float {
    Addss,
    Addsd,
    Addps,
    Addpd,
    Subss,
    Subsd,
    Subps,
    Subpd,
    Mulss,
    Mulsd,
    Mulps,
    Mulpd,
    Divss,
    Divsd,
    Divps,
    Divpd,
    Minss,
    Minsd,
    Minps,
    Minpd,
    Maxss,
    Maxsd,
    Maxps,
    Maxpd,
    Sqrtss,
    Sqrtsd,
    Sqrtps,
    Sqrtpd,
    Rcpss,
    Rcpps,
    Rsqrtss,
    Rsqrtps,
    /// The predicate is `imm`.
    Cmpss,
    Cmpsd,
    Cmpps,
    Cmppd,
    /// Comparisons give all six flags, in their places in `rflags`.
    Comiss,
    Comisd,
    Ucomiss,
    Ucomisd,
    /// From 32 or 64 bits in the lower half of `b`.
    Cvtsi2ss32,
    Cvtsi2ss64,
    Cvtsi2sd32,
    Cvtsi2sd64,
    /// To 32 or 64 bits, zero-extended.
    Cvtss2si32,
    Cvtss2si64,
    Cvtsd2si32,
    Cvtsd2si64,
    Cvttss2si32,
    Cvttss2si64,
    Cvttsd2si32,
    Cvttsd2si64,
    Cvtss2sd,
    Cvtsd2ss,
    Cvtdq2ps,
    Cvtdq2pd,
    Cvtps2dq,
    Cvttps2dq,
    Cvtpd2dq,
    Cvttpd2dq,
    Cvtps2pd,
    Cvtpd2ps,

    // ---- SSE3 ----
    Haddps,
    Haddpd,
    Hsubps,
    Hsubpd,
    Addsubps,
    Addsubpd,

    // ---- SSE4.1 ----
    Dpps,
    Dppd,
    /// How to round is in `imm`.
    Roundss,
    Roundsd,
    Roundps,
    Roundpd,
}
