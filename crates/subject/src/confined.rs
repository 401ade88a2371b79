//! What a program may read and know while it runs on bytes that a server chose.
//!
//! The bytes may make the program open any file and fail or not by what is in it, and whoever sent them
//! is told. So the program gets what it needs to run at all: nothing of the user's home but itself and
//! its libraries, and no variables but those that say where programs are, and how to speak.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Variables that a confined program has.
const KNOWN: [&str; 7] =
    ["PATH", "LD_LIBRARY_PATH", "LANG", "LANGUAGE", "TZ", "TERM", "RUST_BACKTRACE"];

/// What a program may read, and know of this machine.
#[derive(Clone, Debug)]
pub struct Confined {
    /// Files, and folders with all that is below them.
    pub reads: Vec<PathBuf>,
}

impl Confined {
    /// What this program needs to run at all.
    pub fn new(program: &Path) -> Self {
        Self { reads: stunt_native::needs(program) }
    }

    /// Whether the program has this variable.
    pub fn knows(&self, name: &OsStr) -> bool {
        KNOWN.iter().any(|known| name == OsStr::new(known)) || name.as_bytes().starts_with(b"LC_")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_say_how_to_run_are_known() {
        let confined = Confined { reads: Vec::new() };
        assert!(confined.knows("LC_ALL".as_ref()) && confined.knows("PATH".as_ref()));
        assert!(!confined.knows("HOME".as_ref()) && !confined.knows("TOKEN".as_ref()));
    }
}
