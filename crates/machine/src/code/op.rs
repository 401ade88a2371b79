//! The operations: what a lifted instruction is made of.
//!
//! Names of fields: `d` is where the result goes, `a` and `b` are operands, `w` is a width. A
//! second operand is always the slot `b` *plus* the constant `imm`; with the zero slot it is the
//! constant alone, with constant zero the slot alone. Addresses are `base + (index << shift) + disp`.
//!
//! Always: results are zero-extended to 64 bits. Operands may have anything above their width,
//! unless the op says otherwise; an op looks only at the bits that its width covers. An op that
//! can fault changes nothing when it does, and an instruction makes no change that the program can
//! see before its last op that can fault, except where the processor does the same (`rep`).

use super::Slot;

/// The size of an integer operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Width {
    /// 8 bits.
    W8,
    /// 16 bits.
    W16,
    /// 32 bits.
    W32,
    /// 64 bits.
    W64,
}

impl Width {
    /// The number of bits.
    #[inline(always)]
    #[must_use]
    pub const fn bits(self) -> u32 {
        8 << self as u32
    }

    /// The number of bytes.
    #[inline(always)]
    #[must_use]
    pub const fn bytes(self) -> u64 {
        1 << self as u32
    }

    /// Ones in the bits that this width covers.
    #[inline(always)]
    #[must_use]
    pub const fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }

    /// The width of so many bytes.
    #[must_use]
    pub const fn of_bytes(bytes: usize) -> Option<Self> {
        match bytes {
            1 => Some(Self::W8),
            2 => Some(Self::W16),
            4 => Some(Self::W32),
            8 => Some(Self::W64),
            _ => None,
        }
    }

    /// `value` with the sign bit of this width copied to all bits above.
    #[inline(always)]
    #[must_use]
    pub const fn sign_extend(self, value: u64) -> u64 {
        let shift = 64 - self.bits();
        (((value << shift) as i64) >> shift) as u64
    }
}

/// The sixteen conditions of `jcc`, `setcc` and `cmovcc`, in the order of their encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are those of the processor's manual")]
pub enum Condition {
    O,
    No,
    B,
    Ae,
    E,
    Ne,
    Be,
    A,
    S,
    Ns,
    P,
    Np,
    L,
    Ge,
    Le,
    G,
}

/// Shifts and rotations that set flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the instructions")]
pub enum Shift {
    Shl,
    Shr,
    Sar,
    Rol,
    Ror,
    Rcl,
    Rcr,
}

/// What `bt` and its family do with the bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bit {
    /// Leave it.
    Test,
    /// Set it.
    Set,
    /// Clear it.
    Reset,
    /// Flip it.
    Complement,
}

/// Operations on the bits of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the instructions")]
pub enum BitOp {
    /// Sets ZF; a zero operand leaves the destination as it was.
    Bsf,
    /// Sets ZF; a zero operand leaves the destination as it was.
    Bsr,
    Tzcnt,
    Lzcnt,
    Popcnt,
    Andn,
    Blsi,
    Blsr,
    Blsmsk,
    Bextr,
    Bzhi,
    /// No flags.
    Pdep,
    /// No flags.
    Pext,
    /// SSE4.2's checksum step; the width is that of the data. No flags.
    Crc32,
}

/// The string instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are those of the instructions")]
pub enum StringOp {
    Movs,
    Stos,
    Lods,
    Scas,
    Cmps,
}

/// How often a string instruction runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Repeat {
    /// Once.
    Once,
    /// `rcx` times; comparisons stop at the first difference (`rep`, `repe`).
    WhileEqual,
    /// `rcx` times; comparisons stop at the first match (`repne`).
    WhileDifferent,
}

/// Rare instructions that work on the processor as a whole. What each does with its operands is
/// said where it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Helper {
    /// `cpuid`.
    Cpuid,
    /// `rdtsc`: a fixed step for each instruction counted.
    Rdtsc,
    /// `rdtscp`.
    Rdtscp,
    /// `xgetbv`.
    Xgetbv,
    /// `fxsave` at the address in `a`; `b` is 1 for the 64-bit form.
    Fxsave,
    /// `fxrstor` from the address in `a`.
    Fxrstor,
    /// `cmpxchg8b` at the address in `a`.
    Cmpxchg8b,
    /// `cmpxchg16b` at the address in `a`.
    Cmpxchg16b,
    /// The value in `a` becomes MXCSR; reserved bits fault.
    Ldmxcsr,
    /// `d` becomes the direction flag (bit 10 of `imm`).
    SetDirection,
    /// `xlatb` is a load; this is `maskmovdqu`: the pair `a`, masked by the pair `b`, to `[rdi]`.
    MaskedStore,
    /// The same with 64 bits.
    MaskedStore64,
    /// `pcmpestri`: from the slot `a` on there are two pairs with strings and one slot each with
    /// their lengths. The slot `a` becomes the index, and the slot `a + 2` all six flags.
    StringIndex,
    /// `pcmpestrm`: the same, but the pair `a` becomes the mask.
    StringMask,
}

pub use super::lift::{
    vector_ops::{Float, VectorOp},
    x87_ops::X87Op,
};

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the fields are explained at the head of the file")]
pub enum Op {
    // ---- moves ----
    /// `d` becomes `value`.
    Const {
        d: Slot,
        value: u64,
    },
    /// All 64 bits of `a`.
    Move {
        d: Slot,
        a: Slot,
    },
    /// The lower bits of `a`.
    Zext {
        w: Width,
        d: Slot,
        a: Slot,
    },
    /// The lower `from` bits of `a`, sign-extended to `w`.
    Sext {
        from: Width,
        w: Width,
        d: Slot,
        a: Slot,
    },
    /// Replaces the lower bits of `d`.
    Insert {
        w: Width,
        d: Slot,
        a: Slot,
    },
    /// Replaces bits 8 to 15 of `d`.
    InsertHigh {
        d: Slot,
        a: Slot,
    },
    /// Bits 8 to 15 of `a`.
    High {
        d: Slot,
        a: Slot,
    },

    // ---- arithmetic without flags ----
    Add {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    Sub {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    And {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    Or {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    Xor {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    /// The lower half of the product.
    Mul {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    /// Shifts take the count modulo 64 at 64 bits and modulo 32 below, as the processor does.
    Shl {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    Shr {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    Sar {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    Ror {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    Not {
        w: Width,
        d: Slot,
        a: Slot,
    },
    Bswap {
        w: Width,
        d: Slot,
        a: Slot,
    },
    /// An address, cut to `w`.
    Lea {
        w: Width,
        d: Slot,
        base: Slot,
        index: Slot,
        shift: u8,
        disp: i32,
    },
    /// Both halves of a product; `low` is written first, then `high`.
    MulWide {
        w: Width,
        signed: bool,
        low: Slot,
        high: Slot,
        a: Slot,
        b: Slot,
    },
    /// `rdx:rax` (or `ax`) by `a`; quotient and remainder go to their registers. Faults.
    Divide {
        w: Width,
        signed: bool,
        a: Slot,
    },
    /// `d` becomes `a` where `c` is not zero, else `b`.
    Select {
        d: Slot,
        c: Slot,
        a: Slot,
        b: Slot,
    },

    // ---- arithmetic with flags ----
    AddF {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    SubF {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    AndF {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    OrF {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    XorF {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    AdcF {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    SbbF {
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    CmpF {
        w: Width,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    TestF {
        w: Width,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    IncF {
        w: Width,
        d: Slot,
        a: Slot,
    },
    DecF {
        w: Width,
        d: Slot,
        a: Slot,
    },
    NegF {
        w: Width,
        d: Slot,
        a: Slot,
    },
    /// The flags of a product with these halves: CF and OF tell whether `high` matters.
    MulFlags {
        w: Width,
        signed: bool,
        low: Slot,
        high: Slot,
    },
    ShiftF {
        f: Shift,
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    /// `shld` or (`right`) `shrd`: `a` shifted, filled from `b`, by the slot `c` plus `imm`.
    ShiftDoubleF {
        right: bool,
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        c: Slot,
        imm: u8,
    },
    /// Bit `b + imm` of `a`, modulo the width, to CF.
    BitTestF {
        f: Bit,
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
    /// For `Bsf` and `Bsr`, `d` also holds what is kept for zero. Of one that is quiet nobody reads
    /// the flags: what they are afterwards does not matter.
    BitF {
        f: BitOp,
        w: Width,
        d: Slot,
        a: Slot,
        b: Slot,
        quiet: bool,
    },

    // ---- flags ----
    /// 1 if the condition holds, else 0.
    Condition {
        cc: Condition,
        d: Slot,
    },
    /// `a` if the condition holds, else `d`; cut to `w` (32 or 64).
    Cmov {
        cc: Condition,
        w: Width,
        d: Slot,
        a: Slot,
    },
    /// `rflags` as `pushf` shows it.
    GetFlags {
        d: Slot,
    },
    /// The arithmetic flags become those of `a`; the mask tells which.
    SetFlags {
        a: Slot,
        mask: u32,
    },
    /// `rflags` becomes `a`, as `popf` does.
    PopFlags {
        a: Slot,
    },
    /// CF is complemented.
    ComplementCarry,

    // ---- memory ----
    Load8 {
        d: Slot,
        base: Slot,
        index: Slot,
        shift: u8,
        disp: i32,
    },
    Load16 {
        d: Slot,
        base: Slot,
        index: Slot,
        shift: u8,
        disp: i32,
    },
    Load32 {
        d: Slot,
        base: Slot,
        index: Slot,
        shift: u8,
        disp: i32,
    },
    Load64 {
        d: Slot,
        base: Slot,
        index: Slot,
        shift: u8,
        disp: i32,
    },
    /// 16 bytes to `d` and the slot behind it. Faults if `aligned` and the address is not.
    Load128 {
        aligned: bool,
        d: Slot,
        base: Slot,
        index: Slot,
        shift: u8,
        disp: i32,
    },
    Store8 {
        a: Slot,
        base: Slot,
        index: Slot,
        shift: u8,
        disp: i32,
    },
    Store16 {
        a: Slot,
        base: Slot,
        index: Slot,
        shift: u8,
        disp: i32,
    },
    Store32 {
        a: Slot,
        base: Slot,
        index: Slot,
        shift: u8,
        disp: i32,
    },
    Store64 {
        a: Slot,
        base: Slot,
        index: Slot,
        shift: u8,
        disp: i32,
    },
    /// 16 bytes from `a` and the slot behind it.
    Store128 {
        aligned: bool,
        a: Slot,
        base: Slot,
        index: Slot,
        shift: u8,
        disp: i32,
    },
    /// A constant.
    StoreImm {
        w: Width,
        base: Slot,
        disp: i32,
        imm: i32,
    },
    Push {
        a: Slot,
    },
    Pop {
        d: Slot,
    },
    /// Faults as a store of `w` at the address in `a` would, and changes nothing.
    ProbeWrite {
        w: Width,
        a: Slot,
    },

    // ---- the rest ----
    String {
        f: StringOp,
        w: Width,
        repeat: Repeat,
        segment: Slot,
        narrow: bool,
    },
    /// The pair `d` becomes `f` of the pairs `a` and `b`.
    Vector {
        f: VectorOp,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: u8,
    },
    /// As `Vector`, but rounds, and may raise floating-point exceptions.
    Float {
        f: Float,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: u8,
    },
    /// An x87 instruction: `i` is a part of the encoding, the pair `a` a memory operand's bits, the pair `d`
    /// a result to be stored.
    X87 {
        f: X87Op,
        i: u8,
        d: Slot,
        a: Slot,
    },
    Helper {
        f: Helper,
        d: Slot,
        a: Slot,
        b: Slot,
        imm: i32,
    },
}
