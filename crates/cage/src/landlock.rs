//! Landlock: a process gives up writing anywhere but below one folder, for good.
//!
//! Reading stays as it is. Where the kernel is new enough, signals to processes outside of the run
//! and TCP are given up, too. What the kernel does not know is left out; `version` tells. Landlock
//! does not cover modes, owners and times of files: those are the system call filter's.
#![allow(unsafe_code)] // Three system calls without a safe interface; each with its proof.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// From this version on, all ways to change a file's contents are covered (truncation came last).
pub const COMPLETE: i64 = 3;

const WRITE_FILE: u64 = 1 << 1;
/// Removing and making things, by versions: the first, then moves between folders.
const CHANGE_FOLDER: u64 = 0b1_1111_1111 << 4;
/// Nodes of character and block devices, which are among them.
const MAKE_DEVICE: u64 = 1 << 6 | 1 << 11;
const REFER: u64 = 1 << 13;
const TRUNCATE: u64 = 1 << 14;
const IOCTL_DEVICE: u64 = 1 << 15;
/// Listening and connecting.
const TCP: u64 = 0b11;
/// Abstract sockets and signals.
const SCOPES: u64 = 0b11;

/// Files that may be written to because nothing comes of it.
const HARMLESS: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// `struct landlock_ruleset_attr`.
#[repr(C)]
struct Ruleset {
    files: u64,
    network: u64,
    scopes: u64,
}

/// `struct landlock_path_beneath_attr`, which has no padding at its end.
#[repr(C, packed)]
struct Beneath {
    allowed: u64,
    parent: i32,
}

/// `LANDLOCK_RULE_PATH_BENEATH`.
const PATH_BENEATH: libc::c_int = 1;
/// `LANDLOCK_CREATE_RULESET_VERSION`.
const ASK_VERSION: libc::c_uint = 1;

/// The kernel's version of Landlock; 0 if it has none, or none that is switched on.
pub fn version() -> i64 {
    let none = std::ptr::null::<Ruleset>();
    // SAFETY: with this flag the kernel reads nothing and answers a number.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0, ASK_VERSION) };
    answer.max(0)
}

/// A rule for processes to be: writing is possible below the folder alone, and there is no network,
/// unless it is one of their own. Nothing if the kernel has no Landlock.
pub fn writes_only_below(folder: &Path, network: bool) -> io::Result<Option<OwnedFd>> {
    let version = version();
    if version == 0 {
        return Ok(None);
    }
    let since = |first: i64, right: u64| if version >= first { right } else { 0 };
    let on_files = WRITE_FILE | since(3, TRUNCATE) | since(5, IOCTL_DEVICE);
    let everything = on_files | CHANGE_FOLDER | since(2, REFER);
    let rules = Ruleset {
        files: everything,
        network: if network { 0 } else { since(4, TCP) },
        scopes: since(6, SCOPES),
    };
    // A structure that is longer than the kernel's is refused.
    let size = match version {
        ..=3 => 8,
        4..=5 => 16,
        _ => size_of::<Ruleset>(),
    };
    // SAFETY: the kernel reads `size` bytes of a structure of ours that is at least as long.
    let fd = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const rules, size, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let ruleset = unsafe { OwnedFd::from_raw_fd(fd as RawFd) };
    // A device would be a way out, wherever its node is.
    allow(&ruleset, folder, everything & !MAKE_DEVICE)?;
    for device in HARMLESS.map(Path::new).into_iter().filter(|device| device.exists()) {
        allow(&ruleset, device, on_files)?;
    }
    Ok(Some(ruleset))
}

fn allow(ruleset: &OwnedFd, path: &Path, allowed: u64) -> io::Result<()> {
    let parent = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path)?;
    let beneath = Beneath { allowed, parent: parent.as_raw_fd() };
    let (ruleset, beneath) = (ruleset.as_raw_fd(), &raw const beneath);
    // SAFETY: the kernel reads exactly this structure, which lives as long as the call; both
    // descriptors are open.
    let result =
        unsafe { libc::syscall(libc::SYS_landlock_add_rule, ruleset, PATH_BENEATH, beneath, 0) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
