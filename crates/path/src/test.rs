//! A test: something that the program found out about its input on the way.
//!
//! The condition of a test is written as it came out in the run: the run's own input satisfies it.
//! All conditions of a path together are the path condition.

use std::fmt;

use stunt_terms::Term;

/// Why a value had to be fixed to what it was in the run. Pins are the last resort: each reveals
/// all that there is to know about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pin {
    /// A load from an address that depends on the input, and no table could be made of what is there.
    LoadAddress,
    /// A store to an address that depends on the input.
    StoreAddress,
    /// A number of repetitions.
    Count,
    /// An argument of a system call, or memory that it looks at.
    SystemCall,
    /// Floating point.
    Float,
    /// An operation for which there is no rule.
    Operation,
    /// Registers that are saved for a signal handler.
    Signal,
}

impl Pin {
    /// All reasons.
    pub const ALL: [Pin; 7] = [
        Pin::LoadAddress,
        Pin::StoreAddress,
        Pin::Count,
        Pin::SystemCall,
        Pin::Float,
        Pin::Operation,
        Pin::Signal,
    ];

    /// The reason in a few words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Pin::LoadAddress => "load address",
            Pin::StoreAddress => "store address",
            Pin::Count => "count",
            Pin::SystemCall => "system call",
            Pin::Float => "floating point",
            Pin::Operation => "operation",
            Pin::Signal => "signal",
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What kind of test it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TestKind {
    /// A conditional branch.
    Branch,
    /// The target of an indirect jump, call or return.
    Jump,
    /// That an index stays within a table.
    Bounds,
    /// Which of two values was taken.
    Choice,
    /// Where the first or last of several things was found.
    Position,
    /// That a divisor is not zero.
    Division,
    /// What made the program fail.
    Fault,
    /// What a library function found out, as a whole.
    Summary,
    /// A value fixed to what it was.
    Pin(Pin),
}

/// A test with its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// What held: a term of sort Bool.
    pub condition: Term,
    /// The address of the instruction, in the machine's fixed layout.
    pub address: u64,
    /// What kind of test it was.
    pub kind: TestKind,
}
