//! A process closes itself off, for good, before it touches anything of a stranger.
//!
//! After [`close_off`] the process reads the system's libraries and its own folder, writes into that
//! folder alone, makes the calls that `allow` lists, and uses so much time and memory at most. It has no
//! rights of an administrator, no descriptors but the first three, no network, and never another
//! process, so that nothing is left of it when it ends. What the kernel does not have is told, never
//! passed over.
#![allow(unsafe_code)] // System calls without a safe interface; each with its proof.

use std::io;
use std::path::{Path, PathBuf};

use crate::allow::filter;
use crate::landlock::{self, Rules};

/// What is the system's, and says nothing of its users: libraries, and what the loader needs to find
/// them.
pub const SYSTEM: [&str; 8] = [
    "/usr",
    "/lib",
    "/lib64",
    "/bin",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/locale.alias",
    "/etc/alternatives",
];

/// How much a closed process may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guards {
    /// Seconds of processor time.
    pub seconds: u64,
    /// Bytes of address space.
    pub memory: u64,
    /// Bytes of a file that it writes.
    pub file: u64,
}

/// What keeps a process from being closed off.
#[derive(Debug, thiserror::Error)]
pub enum CageError {
    /// There are other threads, which would stay outside.
    #[error("a worker closes itself off before it has threads, and this one has some already")]
    Threads,
    /// A limit cannot be set.
    #[error("cannot limit the worker: {0}")]
    Limit(io::Error),
    /// Landlock.
    #[error(
        "this kernel cannot keep the worker from files, their truncation among it (Landlock of \
         version 3, Linux 6.2 or newer): {0}"
    )]
    Files(String),
    /// Seccomp.
    #[error("this kernel cannot keep the worker from system calls (seccomp): {0}")]
    Calls(io::Error),
}

/// Closes this process off. It must have one thread, and nobody may use a descriptor above 2 any more:
/// they are closed.
pub fn close_off(folder: &Path, guards: Guards) -> Result<(), CageError> {
    let tasks = std::fs::read_dir("/proc/self/task").map_err(CageError::Limit)?;
    if tasks.count() != 1 {
        return Err(CageError::Threads);
    }
    limit(libc::RLIMIT_CPU, guards.seconds)?;
    limit(libc::RLIMIT_AS, guards.memory)?;
    limit(libc::RLIMIT_FSIZE, guards.file)?;
    limit(libc::RLIMIT_NOFILE, 256)?;
    // One byte, not none: a core file of no bytes is still piped to a program that wants them.
    limit(libc::RLIMIT_CORE, 1)?;
    rights().map_err(CageError::Limit)?;
    files(folder)?;
    calls().map_err(CageError::Calls)
}

fn limit(what: libc::__rlimit_resource_t, most: u64) -> Result<(), CageError> {
    let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one structure of ours that lives as long as the call.
    let read = unsafe { libc::getrlimit(what, &raw mut now) };
    if read != 0 {
        return Err(CageError::Limit(io::Error::last_os_error()));
    }
    // A limit is never raised.
    let most = most.min(now.rlim_max);
    let new = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the kernel reads one structure of ours that lives as long as the call.
    done(unsafe { libc::setrlimit(what, &raw const new) }.into()).map_err(CageError::Limit)
}

fn done(answer: libc::c_long) -> io::Result<()> {
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// `struct __user_cap_header_struct`, and its third version, which has two structures of data.
#[repr(C)]
struct RightsOf {
    version: u32,
    process: i32,
}
const THIRD: u32 = 0x2008_0522;

/// No rights of an administrator, none to be gained, no descriptors that somebody left open, and
/// nothing that others of this user could look into or find in a core file.
fn rights() -> io::Result<()> {
    let (own, none) = (RightsOf { version: THIRD, process: 0 }, [0_u32; 6]);
    // SAFETY: the kernel reads two structures of ours that live as long as the call; the others take
    // numbers only. Whoever calls has no use for the descriptors any more.
    unsafe {
        done(libc::syscall(libc::SYS_capset, &raw const own, &raw const none))?;
        done(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into())?;
        done(libc::prctl(libc::PR_SET_DUMPABLE, 0, 0, 0, 0).into())?;
        let (first, last) = (3 as libc::c_uint, libc::c_uint::MAX);
        done(libc::syscall(libc::SYS_close_range, first, last, 0))
    }
}

/// Reading the system and the folder, writing the folder alone.
fn files(folder: &Path) -> Result<(), CageError> {
    let failed = |error: &dyn std::fmt::Display| CageError::Files(error.to_string());
    let version = landlock::version();
    if version < landlock::COMPLETE {
        return Err(failed(&format_args!("its version is {version}")));
    }
    let system = SYSTEM.map(PathBuf::from);
    let rules = Rules { folder, reads: Some(&system), network: false };
    let ruleset = rules.ruleset().map_err(|error| failed(&error))?;
    let ruleset = ruleset.ok_or_else(|| failed(&"it is not there, or switched off"))?;
    landlock::restrict(&ruleset).map_err(|error| failed(&error))
}

fn calls() -> io::Result<()> {
    const NO_FLAGS: libc::c_ulong = 0;
    let mut filter = filter(std::process::id());
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).map_err(io::Error::other)?,
        filter: filter.as_mut_ptr(),
    };
    let (set, program) = (libc::SECCOMP_SET_MODE_FILTER, &raw const program);
    // SAFETY: the kernel copies a list of this length, which lives as long as the call.
    done(unsafe { libc::syscall(libc::SYS_seccomp, set, NO_FLAGS, program) })
}
