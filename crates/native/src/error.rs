//! Why a program cannot be run, in sentences that say what to do.
//!
//! Nothing here is about the program's behaviour: a crash is a result, not an error. No text of an
//! input is in any sentence.

use std::io;
use std::path::PathBuf;

/// Why there was no run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No such file.
    #[error("{} does not exist; give the path of a program", .path.display())]
    NotFound {
        /// The program.
        path: PathBuf,
    },
    /// No such program in the folders of `PATH`.
    #[error("no program called `{name}` is in the folders of PATH; give its path")]
    NotInPath {
        /// The name.
        name: String,
    },
    /// A folder or another thing that is no file.
    #[error("{} is not a file; give the path of a program", .path.display())]
    NotFile {
        /// The path.
        path: PathBuf,
    },
    /// The permission is missing.
    #[error("{0} is not executable; `chmod +x {0}` makes it so", .path.display())]
    NotExecutable {
        /// The program.
        path: PathBuf,
    },
    /// It cannot be looked into.
    #[error("{} cannot be read ({source}); stunt needs to read the program to find its functions", .path.display())]
    Unreadable {
        /// The program.
        path: PathBuf,
        /// What the host said.
        source: io::Error,
    },
    /// A script.
    #[error("{0} is a script for {interpreter}; run that, with the script as its argument: `{interpreter} {0} …`", .path.display())]
    Script {
        /// The script.
        path: PathBuf,
        /// What its first line names.
        interpreter: String,
    },
    /// Not a program for this processor and system.
    #[error("{} is {what}; stunt runs ELF programs for x86-64 Linux", .path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// What it is, with an article.
        what: String,
    },
    /// The folder to run in is not there.
    #[error("the folder {} cannot be entered ({source}); the program was to run there", .path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the host said.
        source: io::Error,
    },
    /// The input cannot be given to the program.
    #[error("standard input could not be prepared ({source})")]
    Input {
        /// What the host said.
        source: io::Error,
    },
    /// The files of a run cannot be given to the program.
    #[error("the program's input files could not be written ({source}); see TMPDIR")]
    Files {
        /// What the host said.
        source: io::Error,
    },
    /// The run cannot have a network of its own.
    #[error(
        "the program could not be given a network of its own ({source}); that needs namespaces: see \
         /proc/sys/user/max_net_namespaces and user namespaces, and in a container its settings"
    )]
    Network {
        /// What the host said.
        source: io::Error,
    },
    /// Somebody asked to stop.
    #[error("the run was stopped before its end")]
    Stopped,
    /// A plain run is nobody's charge.
    #[error("a run that is contained or has connections has to be followed")]
    NotPlain,
    /// Processes may not be followed.
    #[error(
        "this host does not let one process follow another (ptrace); in a container, allow it \
         with `--cap-add=SYS_PTRACE`, and see /proc/sys/kernel/yama/ptrace_scope"
    )]
    NotPermitted,
    /// It did not start.
    #[error("{} could not be started ({source})", .path.display())]
    Start {
        /// The program.
        path: PathBuf,
        /// What the host said.
        source: io::Error,
    },
    /// Following it failed.
    #[error("the run of {} could not be followed to its end ({source})", .path.display())]
    Follow {
        /// The program.
        path: PathBuf,
        /// What the host said.
        source: io::Error,
    },
}
