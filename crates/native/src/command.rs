//! What is run, on what input, and within which limits.
//!
//! Nothing of the surroundings reaches the program but what is here: no environment, no descriptor.
//! Arguments and standard input may be private: `Debug` shows how many there are.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// What the program reads as standard input.
#[derive(Clone, Default)]
pub enum Stdin {
    /// Nothing.
    #[default]
    Empty,
    /// These bytes, as a file that can be read again from the start.
    Bytes(Arc<[u8]>),
    /// This file.
    File(PathBuf),
}

/// One run to be.
#[derive(Clone)]
pub struct Command {
    /// The program's path; it is not searched for.
    pub program: PathBuf,
    /// The word by which the program is called, if it is not its path.
    pub name: Option<OsString>,
    /// The arguments after that, with the input's path in its place.
    pub arguments: Vec<OsString>,
    /// The whole environment.
    pub environment: Vec<(OsString, OsString)>,
    /// Standard input.
    pub stdin: Stdin,
    /// The folder to run in; that of the caller if absent.
    pub folder: Option<PathBuf>,
    /// How long it may take.
    pub time: Duration,
    /// How many bytes of each output are kept; the rest is read and dropped.
    pub output: usize,
    /// How many bytes of address space each process may have.
    pub memory: u64,
    /// How many processes and threads there may be at a time.
    pub tasks: usize,
    /// Whether the addresses of modules and stacks are the same in every run.
    pub fixed_addresses: bool,
}

impl Command {
    /// A run without arguments, environment and input, within ordinary limits.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            name: None,
            arguments: Vec::new(),
            environment: Vec::new(),
            stdin: Stdin::Empty,
            folder: None,
            time: Duration::from_secs(10),
            output: 1 << 20,
            memory: 16 << 30,
            tasks: 256,
            fixed_addresses: false,
        }
    }
}

impl fmt::Debug for Stdin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("Empty"),
            Self::Bytes(bytes) => write!(f, "Bytes({} bytes)", bytes.len()),
            Self::File(_) => f.write_str("File"),
        }
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("arguments", &self.arguments.len())
            .field("stdin", &self.stdin)
            .field("time", &self.time)
            .finish_non_exhaustive()
    }
}
