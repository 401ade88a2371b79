//! What a system call means for a process that is to be copied before it looks at its input.
//!
//! Always holds: only what is listed here is harmless, decided by number and arguments. The answer to
//! a harmless call does not depend on the input or on the process's number, and its effect is one that
//! `fork` hands on: memory of its own, handlers, masks. Whatever it opens must be closed again before
//! the copy point ([`Loaded::new`](crate::loaded::Loaded::new)), so that no position is shared.
//!
//! Not harmless, though they look it: advice that memory is not to be handed on or is to be wiped
//! (`MADV_DONTFORK`, `MADV_WIPEONFORK`), locked memory, clocks of processor time, which begin anew in
//! a copy, and `fstat` of standard input, which tells its size.
//!
//! The process has one thread, and is stopped: what it points to stays as it is until the call.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use libc::c_long;
use stunt_tracee::Memory;

/// Where glibc keeps the number of a thread, from the thread's pointer on.
pub const THREAD_NUMBER: u64 = 0x2d0;

/// Folders whose files are not as other files: they tell of the process, of devices, of descriptors.
/// The null device is among them: who opens it at the start puts it in place of a stream, and that
/// call is one for the copies anyway.
const SPECIAL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// What may be read there, by this very path. The mappings of a copy are those of its origin, with the
/// C library looking for the end of the stack in them; the others are the host's.
const READABLE: [&str; 5] = [
    "/proc/self/maps",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu/online",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
];

/// The link that may be read there: all copies have one program.
const PROGRAM: &str = "/proc/self/exe";

/// Flags with which a file may be opened: none that creates, truncates or writes.
const OPEN_FLAGS: i32 = libc::O_CLOEXEC
    | libc::O_NOFOLLOW
    | libc::O_DIRECTORY
    | libc::O_NONBLOCK
    | libc::O_NOCTTY
    | LARGE_FILE;
/// `O_LARGEFILE`, which `libc` says to be 0.
const LARGE_FILE: i32 = 0o100_000;

/// `ARCH_SET_GS`, `ARCH_SET_FS`, `ARCH_GET_FS`, `ARCH_GET_GS`, and `ARCH_CET_STATUS`, which no kernel
/// has and C libraries ask for.
const ARCHITECTURE: [u64; 5] = [0x1001, 0x1002, 0x1003, 0x1004, 0x3001];

/// Advice about memory that a copy's memory has, too, or that changes nothing.
const ADVICE: [i32; 12] = [
    libc::MADV_NORMAL,
    libc::MADV_RANDOM,
    libc::MADV_SEQUENTIAL,
    libc::MADV_WILLNEED,
    libc::MADV_DONTNEED,
    libc::MADV_FREE,
    libc::MADV_HUGEPAGE,
    libc::MADV_NOHUGEPAGE,
    libc::MADV_DONTDUMP,
    libc::MADV_DODUMP,
    libc::MADV_COLD,
    libc::MADV_PAGEOUT,
];

/// Clocks that are the same for all processes.
const CLOCKS: [i32; 7] = [
    libc::CLOCK_REALTIME,
    libc::CLOCK_MONOTONIC,
    libc::CLOCK_MONOTONIC_RAW,
    libc::CLOCK_REALTIME_COARSE,
    libc::CLOCK_MONOTONIC_COARSE,
    libc::CLOCK_BOOTTIME,
    libc::CLOCK_TAI,
];

/// `TCGETS`, `TIOCGWINSZ`: no terminal is among a run's streams, or can be opened.
const OF_TERMINALS: [u64; 2] = [0x5401, 0x5413];
/// `FIOCLEX`.
const CLOSE_ON_EXEC: u64 = 0x5451;

/// The longest path, with the zero at its end, and the links that may be on it.
const PATH: usize = 4096;
const MOST_LINKS: u32 = 40;

/// A call that is about to be made.
pub struct Call {
    /// Who makes it.
    pub process: i32,
    /// Its number.
    pub number: u64,
    /// What it is given.
    pub arguments: [u64; 6],
    /// Where the thread's own data are; 0 if it has none yet.
    pub thread: u64,
    /// The number that the process takes for its own.
    pub known_as: u32,
}

/// What a call is for a process that is to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// Copies may have it behind them.
    Harmless,
    /// It tells the process its number, and does nothing else that matters.
    TellsNumber,
    /// It is harmless, and names the process, with its first argument, by its number.
    NamesItself,
    /// Every copy has to make it for itself.
    Own,
}

/// What the input of a run is, by which calls that touch it are known.
pub struct Surroundings {
    /// The run's own folder, where its files are, with and without links.
    folders: Vec<PathBuf>,
    /// Whether standard input is part of the input.
    stdin: bool,
    /// Whether the filter refuses sockets, so that it does not matter whether one was asked for: the C
    /// library does, for the name of the user.
    no_sockets: bool,
}

impl Surroundings {
    /// Of a run with this folder of its own, if it has one.
    pub fn new(folder: Option<&Path>, stdin: bool, no_sockets: bool) -> Self {
        let mut folders: Vec<PathBuf> = folder.into_iter().map(Path::to_owned).collect();
        folders.extend(folder.and_then(|folder| fs::canonicalize(folder).ok()));
        Self { folders, stdin, no_sockets }
    }

    /// What a call means, of a process whose memory this is.
    pub fn meaning(&self, call: &Call, memory: &Memory) -> Meaning {
        match c_long::try_from(call.number) {
            Ok(libc::SYS_getpid | libc::SYS_gettid) => Meaning::TellsNumber,
            // What the kernel is to clear in the end must be where copies say it is, too.
            Ok(libc::SYS_set_tid_address)
                if call.thread != 0
                    && call.arguments[0] == call.thread.wrapping_add(THREAD_NUMBER) =>
            {
                Meaning::TellsNumber
            }
            Ok(libc::SYS_sched_getaffinity) => match call.arguments[0] {
                0 => Meaning::Harmless,
                named if named == u64::from(call.known_as) => Meaning::NamesItself,
                _ => Meaning::Own,
            },
            Ok(number) if self.is_harmless(number, call, memory) => Meaning::Harmless,
            _ => Meaning::Own,
        }
    }

    fn is_harmless(&self, number: c_long, call: &Call, memory: &Memory) -> bool {
        let arguments = call.arguments;
        let (first, second) = (arguments[0] as i32, arguments[1] as i32);
        match number {
            libc::SYS_brk
            | libc::SYS_munmap
            | libc::SYS_mprotect
            | libc::SYS_mremap
            | libc::SYS_set_robust_list
            | libc::SYS_rseq
            | libc::SYS_rt_sigaction
            | libc::SYS_rt_sigprocmask
            | libc::SYS_sigaltstack
            | libc::SYS_getrandom
            | libc::SYS_gettimeofday
            | libc::SYS_time
            | libc::SYS_uname
            | libc::SYS_sysinfo
            | libc::SYS_getuid
            | libc::SYS_geteuid
            | libc::SYS_getgid
            | libc::SYS_getegid
            | libc::SYS_getcwd
            | libc::SYS_getrlimit => true,
            libc::SYS_mmap => is_own_mapping(arguments[3] as i32, arguments[4] as i32),
            libc::SYS_socket => self.no_sockets,
            libc::SYS_madvise => ADVICE.contains(&(arguments[2] as i32)),
            libc::SYS_arch_prctl => ARCHITECTURE.contains(&arguments[0]),
            libc::SYS_clock_gettime | libc::SYS_clock_getres => CLOCKS.contains(&first),
            // Without a new limit, and of whoever calls.
            libc::SYS_prlimit64 => first == 0 && arguments[2] == 0,
            // Nobody is there to be woken.
            libc::SYS_futex => second & libc::FUTEX_CMD_MASK == libc::FUTEX_WAKE,
            libc::SYS_poll => only_asks_for_streams(arguments, memory),
            libc::SYS_read | libc::SYS_pread64 | libc::SYS_getdents64 | libc::SYS_close => {
                first > 2
            }
            libc::SYS_fstat | libc::SYS_lseek => self.is_no_input(first),
            libc::SYS_ioctl => {
                OF_TERMINALS.contains(&arguments[1]) || (first > 2 && arguments[1] == CLOSE_ON_EXEC)
            }
            libc::SYS_fcntl => match second {
                libc::F_GETFD | libc::F_GETFL => true,
                libc::F_SETFD => first > 2,
                _ => false,
            },
            libc::SYS_open => self.opens(libc::AT_FDCWD, arguments[0], second, call, memory),
            libc::SYS_openat => self.opens(first, arguments[1], arguments[2] as i32, call, memory),
            libc::SYS_stat | libc::SYS_lstat | libc::SYS_access => {
                self.looks_at(libc::AT_FDCWD, arguments[0], call, memory)
            }
            libc::SYS_faccessat | libc::SYS_faccessat2 => {
                self.looks_at(first, arguments[1], call, memory)
            }
            libc::SYS_newfstatat => {
                self.looks(first, arguments[1], arguments[3] as i32, call, memory)
            }
            libc::SYS_statx => self.looks(first, arguments[1], arguments[2] as i32, call, memory),
            libc::SYS_readlink => self.reads_link(libc::AT_FDCWD, arguments[0], call, memory),
            libc::SYS_readlinkat => self.reads_link(first, arguments[1], call, memory),
            _ => false,
        }
    }

    /// Whether what a descriptor is about is no part of the input. Output goes to the same pipes in all
    /// copies.
    fn is_no_input(&self, descriptor: i32) -> bool {
        descriptor > 0 || (descriptor == 0 && !self.stdin)
    }

    fn opens(&self, from: i32, path: u64, flags: i32, call: &Call, memory: &Memory) -> bool {
        if flags & !OPEN_FLAGS != 0 {
            return false;
        }
        let Some(path) = path_at(path, memory) else { return false };
        if READABLE.iter().any(|readable| Path::new(readable) == path) {
            return true;
        }
        // A pipe or a device gives each reader something else.
        let is_plain =
            |real: &Path| fs::metadata(real).map_or(true, |it| it.is_file() || it.is_dir());
        self.outside(from, &path, call).is_some_and(|real| is_plain(&real))
    }

    /// By a path, or about a descriptor.
    fn looks(&self, from: i32, path: u64, flags: i32, call: &Call, memory: &Memory) -> bool {
        let mut begins = [1];
        let names_nothing = path == 0 || (memory.read(path, &mut begins) && begins == [0]);
        if names_nothing {
            return flags & libc::AT_EMPTY_PATH != 0 && self.is_no_input(from);
        }
        self.looks_at(from, path, call, memory)
    }

    fn looks_at(&self, from: i32, path: u64, call: &Call, memory: &Memory) -> bool {
        path_at(path, memory).is_some_and(|path| self.outside(from, &path, call).is_some())
    }

    fn reads_link(&self, from: i32, path: u64, call: &Call, memory: &Memory) -> bool {
        let Some(path) = path_at(path, memory) else { return false };
        path == Path::new(PROGRAM) || self.outside(from, &path, call).is_some()
    }

    /// The file that a path leads to, if that has nothing to do with the input, by whatever links.
    fn outside(&self, from: i32, path: &Path, call: &Call) -> Option<PathBuf> {
        let path = if path.is_absolute() {
            path.to_owned()
        } else if from == libc::AT_FDCWD {
            // Changing the folder is not harmless: it is that of every copy.
            fs::read_link(format!("/proc/{}/cwd", call.process)).ok()?.join(path)
        } else {
            return None;
        };
        self.real(&path)
    }

    /// A path without links, as far as it is there. Nothing if it leads, at any step, to where the input
    /// or something special is: what is behind a link there depends on who looks.
    fn real(&self, path: &Path) -> Option<PathBuf> {
        let is_closed = |at: &Path| {
            let special = SPECIAL.iter().map(Path::new);
            special.chain(self.folders.iter().map(PathBuf::as_path)).any(|it| at.starts_with(it))
        };
        let names =
            |path: &Path| path.components().rev().map(|it| it.as_os_str().to_owned()).collect();
        let mut left: Vec<OsString> = names(path);
        let (mut at, mut links) = (PathBuf::from("/"), 0);
        while let Some(name) = left.pop() {
            if name == "." {
                continue;
            }
            if name == ".." {
                // Where something is not there, nobody can go back from it.
                if !at.is_dir() {
                    return None;
                }
                at.pop();
                continue;
            }
            let next = at.join(&name);
            if is_closed(&next) {
                return None;
            }
            match fs::read_link(&next) {
                Ok(to) => {
                    links += 1;
                    if links > MOST_LINKS {
                        return None;
                    }
                    let further: Vec<OsString> = names(&to);
                    left.extend(further);
                }
                Err(_) => at = next,
            }
        }
        Some(at)
    }
}

/// Whether a mapping is the process's own memory, or of a file that it has opened, which it can only
/// read, shared or not. Where memory is anonymous and shared, copies would share it.
fn is_own_mapping(flags: i32, descriptor: i32) -> bool {
    let kind = flags & libc::MAP_TYPE;
    let of_file = flags & libc::MAP_ANONYMOUS == 0 && descriptor > 2;
    let of_memory = flags & libc::MAP_ANONYMOUS != 0 && kind == libc::MAP_PRIVATE;
    flags & libc::MAP_LOCKED == 0
        && (of_memory || (of_file && [libc::MAP_PRIVATE, libc::MAP_SHARED].contains(&kind)))
}

/// Whether it is asked, without waiting, if streams are open and nothing else: programs in Rust begin
/// so.
fn only_asks_for_streams(arguments: [u64; 6], memory: &Memory) -> bool {
    let [list, count, time, ..] = arguments;
    let mut entries = [0; 3 * 8];
    if count > 3 || time as i32 != 0 || !memory.read(list, &mut entries[..count as usize * 8]) {
        return false;
    }
    entries[..count as usize * 8].chunks_exact(8).all(|entry| {
        let (stream, events) = (&entry[..4], &entry[4..6]);
        (0..=2_i32).any(|it| it.to_le_bytes() == stream) && events == [0, 0]
    })
}

/// The path at an address, if there is one that is not empty.
fn path_at(address: u64, memory: &Memory) -> Option<PathBuf> {
    let bytes = memory.read_up_to(address, PATH);
    let end = bytes.iter().position(|&byte| byte == 0)?;
    (end > 0).then(|| OsStr::from_bytes(&bytes[..end]).into())
}

#[cfg(test)]
mod tests;
