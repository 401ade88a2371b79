//! The x87 operations.
//!
//! Arithmetic is named by its encoding: what the decoder understood is run by the host's own unit,
//! so a second list of the same eighty instructions would say nothing new. Only what moves parts of
//! the unit's state has a name.

/// An x87 operation. `escape` is the first byte of the opcode less `0xd8`, from 0 to 7. All raise
/// the pending exceptions first, except where they say that they do not wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum X87Op {
    /// Arithmetic on the stack; `i` is the second byte of the opcode less `0xc0`.
    Stack {
        /// The first byte.
        escape: u8,
    },
    /// The same for those that read or set the flags of the processor.
    Flags {
        /// The first byte.
        escape: u8,
    },
    /// With a memory operand, its bits in the pair `a`; `i` is the middle field of the second byte.
    Source {
        /// The first byte.
        escape: u8,
    },
    /// With a result for memory: the pair `d` holds what is there, and then what is to be there;
    /// an unmasked exception keeps it.
    Target {
        /// The first byte.
        escape: u8,
    },
    /// Raises the pending exceptions.
    Wait,
    /// The control word to `d`. Does not wait.
    Control,
    /// The status word to `d`. Does not wait.
    Status,
    /// The tag word, two bits a register, to `d`. Does not wait.
    Tags,
    /// Stack register `i` to the pair `d`. Does not wait.
    Register,
    /// Stack register `i` becomes the pair `a`; its tag stays. Does not wait.
    SetRegister,
    /// Control, status and tag word become `a` and the two slots behind it. Does not wait.
    SetEnvironment,
    /// Masks all exceptions. Does not wait.
    Mask,
    /// `fnclex`. Does not wait.
    Clear,
    /// `fninit`. Does not wait.
    Init,
    /// What an MMX instruction does to the unit, when it writes to register `i` (8: to none).
    Mmx,
    /// `emms`.
    Emms,
}
