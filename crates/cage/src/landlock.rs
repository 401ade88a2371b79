//! Landlock: a process gives up writing anywhere but below one folder, for good; and, if wanted,
//! reading anything but what is listed.
//!
//! Where the kernel is new enough, signals to processes outside of the run and TCP are given up, too.
//! What the kernel does not know is left out; [`version`] tells. Landlock does not cover modes, owners
//! and times of files: those are the system call filter's. Nor does it hide that a file is there.
#![allow(unsafe_code)] // System calls without a safe interface; each with its proof.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// From this version on, all ways to change a file's contents are covered (truncation came last).
pub const COMPLETE: i64 = 3;

/// Running a file, reading one, listing a folder.
const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_FOLDER: u64 = 1 << 3;
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

/// What processes may still do with files.
pub struct Rules<'a> {
    /// Below this folder they may do anything, and change nothing elsewhere.
    pub folder: &'a Path,
    /// What they may read and run beside it: files, or all that is below folders. Without a list,
    /// reading stays as it is.
    pub reads: Option<&'a [PathBuf]>,
    /// Whether TCP stays, because they have a network of their own.
    pub network: bool,
}

impl Rules<'_> {
    /// The rules, for processes to be. Nothing if the kernel has no Landlock.
    pub fn ruleset(&self) -> io::Result<Option<OwnedFd>> {
        let version = version();
        if version == 0 {
            return Ok(None);
        }
        let since = |first: i64, right: u64| if version >= first { right } else { 0 };
        let reads = if self.reads.is_some() { EXECUTE | READ_FILE | READ_FOLDER } else { 0 };
        let changes = WRITE_FILE | since(3, TRUNCATE) | since(5, IOCTL_DEVICE);
        let everything = reads | changes | CHANGE_FOLDER | since(2, REFER);
        let rules = Ruleset {
            files: everything,
            network: if self.network { 0 } else { since(4, TCP) },
            scopes: since(6, SCOPES),
        };
        // A structure that is longer than the kernel's is refused.
        let size = match version {
            ..=3 => 8,
            4..=5 => 16,
            _ => size_of::<Ruleset>(),
        };
        let rules = &raw const rules;
        // SAFETY: the kernel reads `size` bytes of a structure of ours that is at least as long.
        let fd = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, rules, size, 0) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and nobody else's.
        let ruleset = unsafe { OwnedFd::from_raw_fd(fd as RawFd) };
        // A device would be a way out, wherever its node is.
        allow(&ruleset, self.folder, everything & !MAKE_DEVICE)?;
        for device in HARMLESS.map(Path::new).into_iter().filter(|device| device.exists()) {
            allow(&ruleset, device, changes | reads & READ_FILE)?;
        }
        for path in self.reads.unwrap_or_default() {
            match allow(&ruleset, path, reads) {
                // What is not there, or may not be seen anyway, needs no right.
                Err(error) if !is_out_of_reach(&error) => return Err(error),
                _ => {}
            }
        }
        Ok(Some(ruleset))
    }
}

fn is_out_of_reach(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
    matches!(error.kind(), NotFound | PermissionDenied | NotADirectory)
}

fn allow(ruleset: &OwnedFd, path: &Path, allowed: u64) -> io::Result<()> {
    let parent = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path)?;
    // Rights that only folders can have are refused for others.
    let of_files = EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE | IOCTL_DEVICE;
    let allowed = if parent.metadata()?.is_dir() { allowed } else { allowed & of_files };
    let answer = add(ruleset.as_raw_fd(), parent.as_raw_fd(), allowed);
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn add(ruleset: RawFd, parent: RawFd, allowed: u64) -> libc::c_long {
    let beneath = Beneath { allowed, parent };
    let beneath = &raw const beneath;
    // SAFETY: the kernel reads exactly this structure, which lives as long as the call, and looks at
    // numbers of descriptors, which it refuses if they are not what it needs.
    unsafe { libc::syscall(libc::SYS_landlock_add_rule, ruleset, PATH_BENEATH, beneath, 0) }
}

/// Lets a process that is about to be bound by these rules read what the kernel says about it, and
/// about no other; whether that was done. It makes system calls and nothing else, so that it can be
/// called between `clone` and `execve`.
pub fn allow_own_entry(ruleset: RawFd) -> bool {
    let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
    // SAFETY: the kernel reads a text that ends with a null and lives forever; the descriptor is
    // closed once, by whoever opened it.
    unsafe {
        let entry = libc::open(c"/proc/self".as_ptr(), flags);
        let added = entry >= 0 && add(ruleset, entry, READ_FILE | READ_FOLDER) == 0;
        libc::close(entry);
        added
    }
}

/// Binds the calling thread, and all that it begins, for good. It must not be able to gain rights any
/// more (`PR_SET_NO_NEW_PRIVS`).
pub fn restrict(ruleset: &OwnedFd) -> io::Result<()> {
    const NO_FLAGS: libc::c_ulong = 0;
    let ruleset = ruleset.as_raw_fd();
    // SAFETY: the call takes numbers only.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, NO_FLAGS) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
