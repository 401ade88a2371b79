//! The calls of Linux that have no safe interface: following processes, and a few others.
//!
//! The `unsafe` code of the crate is here, in `start.rs`, and in the files of the guards, each call
//! with its proof. Functions here
//! decide nothing. A process is followed by the thread that started it, and by no other.
#![allow(unsafe_code)] // `ptrace`, `waitpid`, `poll`: each call names why it is sound.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use libc::{c_int, c_void, pid_t};

/// What a process that is followed did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It exited.
    Exited(u8),
    /// A signal killed it.
    Killed(u8),
    /// It stopped before a signal is delivered to it, or for an event if the second number is not 0.
    Stopped(c_int, c_int),
}

/// A process that goes on to its next call ([`go_on_to_call`]) is there: before the call, or after it.
pub const AT_CALL: Event = Event::Stopped(libc::SIGTRAP | 0x80, 0);

/// Waits for the next event of a process that this thread follows: of any, or of this one. Nothing
/// if there is none left.
pub fn wait(which: Option<pid_t>) -> io::Result<Option<(pid_t, Event)>> {
    loop {
        let mut status = 0;
        // SAFETY: the status is ours and lives as long as the call.
        let pid = unsafe {
            libc::waitpid(which.unwrap_or(-1), &raw mut status, libc::__WALL | libc::__WNOTHREAD)
        };
        if pid < 0 {
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => continue,
                Some(libc::ECHILD) => return Ok(None),
                _ => return Err(error),
            }
        }
        let event = if libc::WIFEXITED(status) {
            Event::Exited(libc::WEXITSTATUS(status) as u8)
        } else if libc::WIFSIGNALED(status) {
            Event::Killed(libc::WTERMSIG(status) as u8)
        } else {
            Event::Stopped(libc::WSTOPSIG(status), status >> 16)
        };
        return Ok(Some((pid, event)));
    }
}

/// Waits for the end of a child that is not followed, and kills what is left of its group.
pub fn wait_plainly(pid: pid_t) -> io::Result<Event> {
    loop {
        // SAFETY: the structure is integers and a union of them, for which zero is a value.
        let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
        let (which, how) = (pid.cast_unsigned(), libc::WEXITED | libc::WNOWAIT);
        // SAFETY: the kernel writes exactly this structure, which is ours.
        if unsafe { libc::waitid(libc::P_PID, which, &raw mut info, how) } == 0 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // Nobody has waited for it to the end yet: the number is its own, and so is the group's.
    kill(-pid);
    match wait(Some(pid))? {
        Some((_, event)) => Ok(event),
        None => Err(io::Error::other("the process is gone")),
    }
}

/// A request without memory of ours. A process may die at any moment; the next wait tells.
fn request(what: libc::c_uint, pid: pid_t, data: c_int) -> io::Result<()> {
    // SAFETY: with these requests the kernel reads and writes no memory of ours.
    let result = unsafe { libc::ptrace(what, pid, 0, libc::c_long::from(data)) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Has a stopped process tell about its children, threads and programs, and about calls that its
/// filter wants to be asked about, and die with us; and, if asked, stop once more before it exits.
pub fn tell_events(pid: pid_t, before_exit: bool) -> io::Result<()> {
    let exit = if before_exit { libc::PTRACE_O_TRACEEXIT } else { 0 };
    let options = libc::PTRACE_O_EXITKILL
        | libc::PTRACE_O_TRACECLONE
        | libc::PTRACE_O_TRACEFORK
        | libc::PTRACE_O_TRACEVFORK
        | libc::PTRACE_O_TRACEEXEC
        | libc::PTRACE_O_TRACESECCOMP
        // So that stops at calls are no signals.
        | libc::PTRACE_O_TRACESYSGOOD
        | exit;
    request(libc::PTRACE_SETOPTIONS, pid, options)
}

/// Lets a stopped process go on, with a signal if it is not 0.
pub fn go_on(pid: pid_t, signal: c_int) -> io::Result<()> {
    request(libc::PTRACE_CONT, pid, signal)
}

/// Lets a stopped process go on to its next system call, or, if it is in one, to the call's end.
pub fn go_on_to_call(pid: pid_t) -> io::Result<()> {
    request(libc::PTRACE_SYSCALL, pid, 0)
}

/// Lets a stopped process execute one instruction.
pub fn step(pid: pid_t) -> io::Result<()> {
    request(libc::PTRACE_SINGLESTEP, pid, 0)
}

/// What an event is about: a new process, or a status.
pub fn event_message(pid: pid_t) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the kernel writes one word, which is ours.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, pid, 0, &raw mut message) };
    if result == 0 { Ok(message) } else { Err(io::Error::last_os_error()) }
}

/// The registers of a stopped thread.
pub fn registers(pid: pid_t) -> io::Result<libc::user_regs_struct> {
    // SAFETY: all of the structure is integers, for which zero is a value.
    let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes exactly this structure, which is ours.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETREGS, pid, 0, &raw mut registers) };
    if result == 0 { Ok(registers) } else { Err(io::Error::last_os_error()) }
}

/// Gives a stopped thread registers.
pub fn set_registers(pid: pid_t, registers: &libc::user_regs_struct) -> io::Result<()> {
    let registers: *const libc::user_regs_struct = registers;
    // SAFETY: the kernel reads exactly this structure, which lives as long as the call.
    let result = unsafe { libc::ptrace(libc::PTRACE_SETREGS, pid, 0, registers) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The address of the fault that a stopped thread is about to get a signal for.
pub fn fault_address(pid: pid_t) -> Option<u64> {
    // SAFETY: the structure is integers and a union of them, for which zero is a value.
    let mut info: libc::siginfo_t = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes exactly this structure, which is ours.
    let result = unsafe { libc::ptrace(libc::PTRACE_GETSIGINFO, pid, 0, &raw mut info) };
    // A positive code is the kernel's own: the signal is about a fault.
    if result != 0 || info.si_code <= 0 {
        return None;
    }
    // SAFETY: for a fault, this is the member of the union that the kernel has filled.
    Some(unsafe { info.si_addr() } as u64)
}

/// Kills a process that this thread follows and has not waited for to the end, or its group.
pub fn kill(pid: pid_t) {
    // SAFETY: the call takes numbers only.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

/// Makes a child of ours that has not become another program the leader of a group.
pub fn own_group(pid: pid_t) -> io::Result<()> {
    // SAFETY: the call takes numbers only.
    let result = unsafe { libc::setpgid(pid, pid) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A handle of a process, which stays its own when the number is given to another.
pub fn handle(pid: pid_t) -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers only.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as c_int) })
}

/// Kills a process by its handle.
pub fn kill_by_handle(process: &OwnedFd) {
    let none = std::ptr::null::<c_void>();
    let (number, signal) = (process.as_raw_fd(), libc::SIGKILL);
    // SAFETY: the descriptor is open; the information about the signal may be absent.
    unsafe { libc::syscall(libc::SYS_pidfd_send_signal, number, signal, none, 0) };
}

/// A file in memory with these bytes, to be read from the start.
pub fn file_of(bytes: &[u8]) -> io::Result<File> {
    const NAME: &CStr = c"input";
    // SAFETY: the name ends with a null and lives as long as the call.
    let fd = unsafe { libc::memfd_create(NAME.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let mut file = unsafe { File::from_raw_fd(fd) };
    file.write_all(bytes)?;
    io::Seek::rewind(&mut file)?;
    Ok(file)
}

/// From now on, reading never waits.
pub fn do_not_wait(descriptor: BorrowedFd<'_>) -> io::Result<()> {
    set_flags(descriptor, libc::O_NONBLOCK)
}

/// Sets the flags of an open file that can be changed: whether it waits, appends and the like.
pub fn set_flags(descriptor: BorrowedFd<'_>, flags: c_int) -> io::Result<()> {
    // SAFETY: the descriptor is open; the call takes numbers only.
    let result = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_SETFL, flags) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Waits until one of the descriptors has something to read or is at its end; tells which. None of
/// them after the time.
pub fn readable(descriptors: &[BorrowedFd<'_>], time: Duration) -> io::Result<Vec<bool>> {
    let polled = |descriptor: &BorrowedFd<'_>| libc::pollfd {
        fd: descriptor.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let mut polled: Vec<libc::pollfd> = descriptors.iter().map(polled).collect();
    // Rounded up, so that nobody waits for the last part of a millisecond in a circle.
    let time = c_int::try_from(time.as_micros().div_ceil(1000)).unwrap_or(c_int::MAX);
    // SAFETY: the list is ours, has this length, and lives as long as the call.
    let result = unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, time) };
    if result < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted {
            Ok(vec![false; descriptors.len()])
        } else {
            Err(error)
        };
    }
    Ok(polled.iter().map(|polled| polled.revents != 0).collect())
}
