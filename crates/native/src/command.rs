//! What is run, on what input, and within which limits.
//!
//! Nothing of the surroundings reaches the program but what is here: no environment, no descriptor.
//! Arguments and standard input may be private: `Debug` shows how many there are.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use stunt_path::{Connection, InputNames};

use crate::contain::Containment;

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

/// A file that is there for one run alone, in a folder that no other run uses at the time.
#[derive(Clone)]
pub struct InputFile {
    /// Its name, without a folder. Programs look at extensions.
    pub name: OsString,
    /// What is in it.
    pub bytes: Arc<[u8]>,
}

/// Whether a run may be a copy of a process that was loaded once, and from where on: for runs that differ
/// only in the bytes of files and of standard input, several times as fast.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Copied {
    /// Every run is a process of its own.
    #[default]
    Never,
    /// From the program's entry point on: all runs have the same addresses.
    FromEntry,
    /// From just before the program looks at its input, if that can be told and done, or else from its
    /// entry point: all runs also have the random numbers, the times and whatever else the program has
    /// asked for until then. Not for programs that fail now and then.
    FromInput,
}

/// Whether a run is followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Manner {
    /// It is, within limits of its own: where it fails is known by its stack.
    #[default]
    Followed,
    /// It is not, and has the limits that the caller has: whatever a program can notice of being
    /// watched is not there. How it ends is known, and what it prints. Not for runs that are contained
    /// or have connections, both of which need a follower.
    Plain,
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
    /// Whether it is the program's own time: while it could go on and the host has no processor for it, the
    /// time stands still. For runs whose failure is that they take long.
    pub own_time: bool,
    /// How many bytes of each output are kept; the rest is read and dropped.
    pub output: usize,
    /// How many bytes of memory each process may fill. What is only reserved does not count: sanitizers
    /// and languages with large heaps reserve more addresses than there is memory.
    pub memory: u64,
    /// How many bytes there may be in the run's own folder, if it has one and runs for a while.
    pub disk: u64,
    /// How many processes and threads there may be at a time.
    pub tasks: usize,
    /// Whether the addresses of modules and stacks are the same in every run.
    pub fixed_addresses: bool,
    /// Connections and what the other side of them sends. If there are any, the run has a network of
    /// its own, in which there is nothing else, and a process that dies while another goes on is how
    /// the run fails.
    pub connections: Vec<Connection>,
    /// Files for this run alone; [`Command::place`] stands for their paths.
    pub files: Vec<InputFile>,
    /// What the files of the input are called, wherever they are.
    pub inputs: InputNames,
    /// Whether it may do what its user may.
    pub containment: Containment,
    /// What a contained run may read beside its own folder, in files and below folders: the program
    /// itself and its libraries must be among it. Everything that its user may read, if absent.
    pub reads: Option<Arc<[PathBuf]>>,
    /// Whether the program may be a script whose first line names its interpreter.
    pub scripts: bool,
    /// Whether it may be a copy.
    pub copied: Copied,
    /// Whether it is followed.
    pub manner: Manner,
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
            own_time: false,
            output: 1 << 20,
            memory: 16 << 30,
            disk: 1 << 30,
            tasks: 256,
            fixed_addresses: false,
            connections: Vec::new(),
            files: Vec::new(),
            inputs: InputNames::default(),
            containment: Containment::Free,
            reads: None,
            scripts: false,
            copied: Copied::Never,
            manner: Manner::Followed,
        }
    }

    /// What stands for the path of a file of `files`, by its index, in arguments and in values of
    /// the environment. It has nulls in it, which no word of a program can have.
    #[must_use]
    pub fn place(file: usize) -> OsString {
        OsString::from_vec([b"\0", file.to_string().as_bytes(), b"\0"].concat())
    }

    /// What stands for the run's own folder, which is empty but for its files and is thrown away:
    /// in arguments, in values of the environment, and as the folder to run in.
    #[must_use]
    pub fn own_folder() -> PathBuf {
        OsString::from_vec(b"\0f\0".to_vec()).into()
    }

    /// Whether the run has a folder of its own.
    pub(crate) fn has_own_folder(&self) -> bool {
        let has_place = |word: &OsStr| word.as_bytes().contains(&0);
        self.containment == Containment::Contained
            || !self.files.is_empty()
            || self.folder.as_ref().is_some_and(|folder| has_place(folder.as_os_str()))
            || self.arguments.iter().any(|word| has_place(word))
            || self.environment.iter().any(|(_, value)| has_place(value))
    }
}

/// Where the files of a run came to lie.
#[derive(Default)]
pub struct Paths {
    /// The run's own folder.
    pub folder: PathBuf,
    /// Its files, in order.
    pub files: Vec<PathBuf>,
}

impl Paths {
    /// A word with paths in their places.
    pub fn placed(&self, word: &OsStr) -> OsString {
        if !word.as_bytes().contains(&0) {
            return word.to_owned();
        }
        let own = (Command::own_folder().into_os_string(), &self.folder);
        let files = self.files.iter().enumerate().map(|(at, path)| (Command::place(at), path));
        let mut bytes = word.as_bytes().to_vec();
        for (place, path) in std::iter::once(own).chain(files) {
            let (place, path) = (place.as_bytes(), path.as_os_str().as_bytes());
            while let Some(at) = bytes.windows(place.len()).position(|part| part == place) {
                bytes.splice(at..at + place.len(), path.iter().copied());
            }
        }
        OsString::from_vec(bytes)
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

impl fmt::Debug for InputFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InputFile({} bytes)", self.bytes.len())
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("arguments", &self.arguments.len())
            .field("stdin", &self.stdin)
            .field("files", &self.files.len())
            .field("connections", &self.connections.len())
            .field("containment", &self.containment)
            .field("time", &self.time)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_take_their_places() {
        let files = vec![PathBuf::from("/a/b.csv"), PathBuf::from("/a/c")];
        let paths = Paths { folder: "/a".into(), files };
        let mut word = OsString::from("--in=");
        word.push(Command::place(0));
        word.push(",");
        word.push(Command::place(1));
        word.push(Command::place(0));
        assert_eq!(paths.placed(&word), "--in=/a/b.csv,/a/c/a/b.csv");
        assert_eq!(paths.placed(OsStr::new("0 plain")), "0 plain");
        let below = Command::own_folder().join("out");
        assert_eq!(paths.placed(below.as_os_str()), "/a/out");
        // A file that is not there: the null stays, and the run is refused.
        assert_eq!(paths.placed(&Command::place(7)), Command::place(7));
    }

    #[test]
    fn nothing_private_is_shown() {
        let mut command = Command::new("/bin/true");
        command.files = vec![InputFile { name: "secret.txt".into(), bytes: b"secret"[..].into() }];
        command.arguments = vec!["secret".into()];
        let shown = format!("{command:?} {:?}", command.files);
        assert!(!shown.contains("secret") && shown.contains("6 bytes"), "{shown}");
    }
}
