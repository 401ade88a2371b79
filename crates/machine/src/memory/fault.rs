//! Why a memory access failed, in the words of the kernel that would have to explain it.
//!
//! A fault names the first byte that could not be accessed, as the processor reports it in CR2.

/// What was attempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An instruction fetch.
    Execute,
}

/// Why it did not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Nothing is mapped there: `SIGSEGV`, `SEGV_MAPERR`.
    Unmapped,
    /// Something is mapped, but not for this access: `SIGSEGV`, `SEGV_ACCERR`.
    Protected,
    /// The address is not one of the 2^48 canonical ones: `SIGSEGV`, sent by the kernel with
    /// address zero.
    NotCanonical,
    /// A page of a mapped file that lies behind the file's end: `SIGBUS`, `BUS_ADRERR`.
    BehindFile,
    /// A byte stands for more than its value: whoever marked it must look. Not a fault of the
    /// program.
    Marked,
    /// A byte that must not be touched while memory is checked.
    Guarded,
    /// The memory limit of the machine is used up. Not a fault of the program.
    Limit,
}

/// An access that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The first byte that could not be accessed.
    pub address: u64,
    /// What was attempted.
    pub access: Access,
    /// Why it failed.
    pub reason: Reason,
}
