//! Where the bytes of an input come from.
//!
//! Names of files and variables may be private: no `Debug`, no `Display`.

/// Where an input comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum Source {
    /// A file, by its path as the program sees it.
    File(Vec<u8>),
    /// Standard input.
    StandardInput,
    /// An argument, by its number; 0 is the program's name.
    Argument(usize),
    /// The value of an environment variable.
    Variable(Vec<u8>),
    /// What the other side of a recorded connection sends, by its number.
    Connection(usize),
}
