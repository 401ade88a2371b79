//! Starts a process that is followed from its first instruction, without copying the caller's.
//!
//! A search holds gigabytes, and runs a program hundreds of times a second: a fork would copy the
//! tables of all that memory each time, which was measured to be most of a run. So the child
//! borrows the caller's memory until it is the program (`CLONE_VM | CLONE_VFORK`), as `posix_spawn`
//! does it, which cannot ask to be followed. Until then it makes system calls and nothing else.
#![allow(unsafe_code)] // `clone` and what runs between it and `execve`; each with its proof.

use std::ffi::{CString, c_char, c_int, c_void};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use stunt_cage::landlock;

use crate::network::OwnNetwork;

/// What is started.
pub struct Plan {
    /// The program's path.
    pub program: CString,
    /// All words, the program's name first.
    pub words: Vec<CString>,
    /// The environment, `NAME=value`.
    pub environment: Vec<CString>,
    /// The folder to enter.
    pub folder: Option<CString>,
    /// Bytes of address space.
    pub memory: u64,
    /// Seconds of processor time.
    pub seconds: u64,
    /// Whether addresses are the same in every run.
    pub fixed_addresses: bool,
    /// What it gives up before it begins.
    pub cage: Option<Cage>,
    /// A network of its own.
    pub network: Option<OwnNetwork>,
}

/// What a contained process is bound by.
pub struct Cage {
    /// Landlock's rule, if there is one.
    pub rule: Option<OwnedFd>,
    /// Whether that rule is for this process alone and lets it read what the kernel says about it.
    pub own_entry: bool,
    /// The filter of system calls; none if empty.
    pub filter: Vec<libc::sock_filter>,
}

/// Bytes of a file that a program writes.
const FILE: u64 = 1 << 30;

/// The same, in a folder that may lie in memory.
const FILE_CONTAINED: u64 = 256 << 20;

/// Bytes of memory that a contained process may fill: several of them go on at a time, and a random
/// number in an input is soon taken for a size. What is only reserved does not count.
const DATA_CONTAINED: u64 = 2 << 30;

/// Bytes of stack: the usual limit, whatever the caller has.
const STACK: u64 = 8 << 20;

/// Bytes of the stack that the child has until it is the program.
const CHILD_STACK: usize = 64 << 10;

/// Rights of an administrator (capabilities): how many there may be, and those that a contained run
/// keeps. They let it read what it could read; the others let nobody but the host be changed.
const RIGHTS: c_int = 64;
///
/// In a network of its own, a run also keeps that of using low port numbers.
const NET_BIND_SERVICE: c_int = 10;
const KEPT_RIGHTS: [c_int; 8] = [
    0,  // CAP_CHOWN
    1,  // CAP_DAC_OVERRIDE
    2,  // CAP_DAC_READ_SEARCH
    3,  // CAP_FOWNER
    4,  // CAP_FSETID
    6,  // CAP_SETGID
    7,  // CAP_SETUID
    14, // CAP_IPC_LOCK
];

/// The highest number of a signal.
const SIGNALS: c_int = 64;

/// What the child needs, all of it made before.
struct Child<'a> {
    program: *const c_char,
    words: Vec<*const c_char>,
    environment: Vec<*const c_char>,
    folder: *const c_char,
    descriptors: [RawFd; 3],
    limits: [(libc::__rlimit_resource_t, libc::rlimit); 6],
    personality: libc::c_ulong,
    /// Whether it can never get more rights, and gives up those below.
    contained: bool,
    /// Landlock's rule, or -1.
    rule: RawFd,
    /// Whether it may read its own entry in `/proc`, which the rule cannot name before.
    own_entry: bool,
    /// The filter of system calls; none if it has no instructions.
    filter: libc::sock_fprog,
    /// The network that it makes, if it has one of its own.
    network: Option<&'a OwnNetwork>,
    /// Whether it is begun in a user namespace.
    own_users: bool,
    /// Why it did not become the program; 0 as long as nothing is known.
    error: AtomicI32,
}

/// Starts a process with these descriptors as its input, output and error, followed by the calling
/// thread; it stops before its first instruction.
///
/// `EPERM` if processes may not be followed.
pub fn start(plan: &Plan, descriptors: [BorrowedFd<'_>; 3]) -> io::Result<libc::pid_t> {
    // Numbers that are not among the three that they are to become.
    let descriptors = [above(descriptors[0])?, above(descriptors[1])?, above(descriptors[2])?];
    let limit = |resource, most: u64| {
        let mut old = libc::rlimit { rlim_cur: 0, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: the structure is ours and lives as long as the call.
        unsafe { libc::getrlimit(resource, &raw mut old) };
        // More than the hard limit cannot be had, and less is safe.
        let value = most.min(old.rlim_max);
        (resource, libc::rlimit { rlim_cur: value, rlim_max: value })
    };
    let list = |texts: &[CString]| {
        texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect::<Vec<_>>()
    };
    let filter = plan.cage.as_ref().map_or(&[][..], |cage| &cage.filter);
    // As above; the child marks all others to be closed, and uses this one before.
    let rule = plan.cage.as_ref().and_then(|cage| cage.rule.as_ref());
    let rule = rule.map(|rule| above(rule.as_fd())).transpose()?;
    let mut child = Child {
        program: plan.program.as_ptr(),
        words: list(&plan.words),
        environment: list(&plan.environment),
        folder: plan.folder.as_ref().map_or(ptr::null(), |folder| folder.as_ptr()),
        descriptors: [0, 1, 2].map(|at: usize| descriptors[at].as_raw_fd()),
        limits: [
            // One byte, not none: a core file of no bytes is still piped to a program that the host
            // may have for them, and the memory of a crash is private.
            limit(libc::RLIMIT_CORE, 1),
            limit(libc::RLIMIT_STACK, STACK),
            limit(libc::RLIMIT_AS, plan.memory),
            limit(
                libc::RLIMIT_DATA,
                if plan.cage.is_some() { DATA_CONTAINED } else { plan.memory },
            ),
            limit(libc::RLIMIT_CPU, plan.seconds),
            limit(libc::RLIMIT_FSIZE, if plan.cage.is_some() { FILE_CONTAINED } else { FILE }),
        ],
        personality: if plan.fixed_addresses {
            libc::ADDR_NO_RANDOMIZE as libc::c_ulong
        } else {
            0
        },
        contained: plan.cage.is_some(),
        rule: rule.as_ref().map_or(-1, AsRawFd::as_raw_fd),
        own_entry: plan.cage.as_ref().is_some_and(|cage| cage.own_entry),
        filter: libc::sock_fprog {
            len: u16::try_from(filter.len()).map_err(io::Error::other)?,
            filter: filter.as_ptr().cast_mut(),
        },
        network: plan.network.as_ref(),
        own_users: false,
        error: AtomicI32::new(0),
    };
    let mut stack = vec![0u128; CHILD_STACK / size_of::<u128>()];
    let mut begin = |child: &Child<'_>, namespaces: c_int| {
        let _quiet = Quiet::new();
        // The child writes to files of its own below /proc, which are an administrator's as long as the
        // memory that it shares with us is closed to others.
        let _open = (namespaces & libc::CLONE_NEWUSER != 0).then(OpenMemory::new);
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD | namespaces;
        let argument = (&raw const *child).cast_mut().cast::<c_void>();
        // SAFETY: the stack grows down from the end of memory that is ours, aligned as calls need it.
        // This thread sleeps until the child has left our memory, so that `child` and `stack` live
        // long enough and nobody else uses them; no handler of a signal runs in it meanwhile.
        let pid = unsafe {
            libc::clone(become_program, stack.as_mut_ptr_range().end.cast(), flags, argument)
        };
        if pid < 0 { Err(io::Error::last_os_error()) } else { Ok(pid) }
    };
    let pid = match child.network {
        None => begin(&child, 0)?,
        Some(_) => {
            let [alone, with_users] = OwnNetwork::NAMESPACES;
            match begin(&child, alone) {
                Ok(pid) => pid,
                Err(_) => {
                    child.own_users = true;
                    // Whatever it is, the sentence for it is not about following.
                    let refused = |error: io::Error| io::Error::other(NoNetwork(error));
                    begin(&child, with_users).map_err(refused)?
                }
            }
        }
    };
    let error = child.error.load(Ordering::Acquire);
    if error == 0 {
        return Ok(pid);
    }
    let mut status = 0;
    // SAFETY: the status is ours and lives as long as the call. The child is dead, or about to be.
    unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) };
    let error = io::Error::from_raw_os_error(error & !NO_NETWORK);
    let of_network = child.error.load(Ordering::Acquire) & NO_NETWORK != 0;
    Err(if of_network { io::Error::other(NoNetwork(error)) } else { error })
}

/// The child could not make its network.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NoNetwork(pub io::Error);

/// The bit that tells errors of the network from others; no error number is as large.
const NO_NETWORK: i32 = 1 << 20;

/// The child's part. It shares all memory with a thread that sleeps: it must not allocate, lock or
/// unwind, and it leaves nothing behind but the reason why it failed.
extern "C" fn become_program(argument: *mut c_void) -> c_int {
    // SAFETY: the argument is the structure that `start` made, which lives until we are gone.
    let child = unsafe { &*argument.cast::<Child<'_>>() };
    let errno = || {
        // SAFETY: the number is this thread's own.
        unsafe { *libc::__errno_location() }
    };
    // SAFETY: these are system calls, with numbers or with texts and lists that `start` made, each
    // ended by a null. Limits, masks, descriptors and the folder are this process's own.
    let error = unsafe {
        for (resource, limit) in &child.limits {
            libc::setrlimit(*resource, limit);
        }
        libc::umask(0o022);
        libc::personality(child.personality);
        // Not a session: where the kernel gives each its share of time, a new one has to wait for it.
        libc::setpgid(0, 0);
        for signal in 1..=SIGNALS {
            // What the caller ignores would stay ignored. Some cannot be set, and need not be.
            libc::signal(signal, libc::SIG_DFL);
        }
        let moved = (0..).zip(child.descriptors).all(|(to, from)| libc::dup2(from, to) == to);
        let entered = child.folder.is_null() || libc::chdir(child.folder) == 0;
        let connected = child.network.is_none_or(|network| network.enter(child.own_users));
        if !moved || !entered {
            errno()
        } else if !connected {
            errno() | NO_NETWORK
        } else {
            // Descriptors that the caller has, or itself inherited.
            let (first, last) = (3 as libc::c_uint, libc::c_uint::MAX);
            libc::syscall(libc::SYS_close_range, first, last, libc::CLOSE_RANGE_CLOEXEC);
            if libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) != 0 {
                libc::EPERM
            } else {
                let mut none: libc::sigset_t = std::mem::zeroed();
                libc::sigemptyset(&raw mut none);
                libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
                let (words, environment) = (child.words.as_ptr(), child.environment.as_ptr());
                if give_up(child) {
                    libc::execve(child.program, words, environment);
                }
                errno()
            }
        }
    };
    child.error.store(error, Ordering::Release);
    // SAFETY: ends this process alone, without the caller's clean-up.
    unsafe { libc::_exit(127) }
}

/// Gives up what the plan says; `false` if that failed, and the program must not run.
///
/// # Safety
/// For the child alone: its rights and filters are those of the calling thread.
unsafe fn give_up(child: &Child<'_>) -> bool {
    const NO_FLAGS: libc::c_ulong = 0;
    if !child.contained {
        return true;
    }
    let kept = |right: &c_int| {
        KEPT_RIGHTS.contains(right) || (child.network.is_some() && *right == NET_BIND_SERVICE)
    };
    for right in (0..RIGHTS).filter(|right| !kept(right)) {
        // SAFETY: the call takes numbers only. Users without such rights, and kernels without this
        // one, have nothing to give up.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, right as libc::c_ulong, 0, 0, 0) };
    }
    if child.own_entry {
        // Where there is no such entry, there is nothing to be read.
        landlock::allow_own_entry(child.rule);
    }
    // SAFETY: system calls with numbers, and with a filter that `start` made and that outlives us.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && (child.rule < 0
                || libc::syscall(libc::SYS_landlock_restrict_self, child.rule, NO_FLAGS) == 0)
            && (child.filter.len == 0
                || libc::syscall(
                    libc::SYS_seccomp,
                    libc::SECCOMP_SET_MODE_FILTER,
                    NO_FLAGS,
                    &raw const child.filter,
                ) == 0)
    }
}

/// The same descriptor with a number above the first three.
fn above(descriptor: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    // SAFETY: the descriptor is open; the call takes numbers only.
    let fd = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 3) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Memory that others of the user may look into, as long as this lives; then as it was before.
struct OpenMemory(c_int);

impl OpenMemory {
    fn new() -> Self {
        // SAFETY: the calls take numbers.
        unsafe {
            let before = libc::prctl(libc::PR_GET_DUMPABLE);
            libc::prctl(libc::PR_SET_DUMPABLE, 1 as libc::c_ulong, 0, 0, 0);
            Self(before)
        }
    }
}

impl Drop for OpenMemory {
    fn drop(&mut self) {
        if self.0 == 0 {
            // SAFETY: the call takes numbers.
            unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0 as libc::c_ulong, 0, 0, 0) };
        }
    }
}

/// While it lives, no signal reaches this thread.
struct Quiet(libc::sigset_t);

impl Quiet {
    fn new() -> Self {
        // SAFETY: signal sets are integers, for which zero is a value; both are ours.
        unsafe {
            let (mut all, mut old) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigfillset(&raw mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut old);
            Self(old)
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // SAFETY: the set is ours and was filled by the kernel.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}
