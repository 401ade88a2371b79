//! The requests of ptrace and what goes with them, each call with its proof.
#![allow(unsafe_code)] // `ptrace`, `waitpid`, `kill`: each call names why it is sound.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

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

/// What tells that a stop is at a system call.
pub const CALL: c_int = libc::SIGTRAP | 0x80;

/// A process that goes on to its next call ([`Onward::ToCall`]) is there: before the call, or after it.
pub const AT_CALL: Event = Event::Stopped(CALL, 0);

/// Events by which a task tells that it has begun another.
pub const BIRTHS: [c_int; 3] =
    [libc::PTRACE_EVENT_FORK, libc::PTRACE_EVENT_VFORK, libc::PTRACE_EVENT_CLONE];

/// Waits for the next event of a process that this thread follows: of any, or of this one. Nothing
/// if there is none left.
///
/// # Errors
/// The kernel refuses to wait.
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

fn checked(result: libc::c_long) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A request without memory of ours.
fn request(what: libc::c_uint, pid: pid_t, data: c_int) -> io::Result<()> {
    // SAFETY: with these requests the kernel reads and writes no memory of ours.
    checked(unsafe { libc::ptrace(what, pid, 0, libc::c_long::from(data)) })
}

/// What every process is asked to tell: its children, threads and programs, and calls that its filter
/// wants to be asked about; and to die with us.
const OPTIONS: c_int = libc::PTRACE_O_EXITKILL
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACESECCOMP
    // So that stops at calls are no signals.
    | libc::PTRACE_O_TRACESYSGOOD;

/// Follows a child of this thread from now on, and whatever it starts.
///
/// # Errors
/// It may not be followed.
pub fn seize(pid: pid_t) -> io::Result<()> {
    request(libc::PTRACE_SEIZE, pid, OPTIONS)
}

/// Has a stopped process tell about its events, and, if asked, stop once more before it exits.
///
/// # Errors
/// The process is gone, or is not stopped.
pub fn tell_events(pid: pid_t, before_exit: bool) -> io::Result<()> {
    let exit = if before_exit { libc::PTRACE_O_TRACEEXIT } else { 0 };
    request(libc::PTRACE_SETOPTIONS, pid, OPTIONS | exit)
}

/// How a stopped thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onward {
    /// Until something happens.
    Free,
    /// Until its system call is at its end, or the next begins.
    ToCall,
    /// For one instruction.
    Step,
    /// It stays stopped, as its group is, until that goes on.
    Listen,
}

/// Lets a stopped thread go on, with a signal if it is not 0.
///
/// # Errors
/// The thread is gone, or is not stopped.
pub fn go_on(pid: pid_t, how: Onward, signal: c_int) -> io::Result<()> {
    let what = match how {
        Onward::Free => libc::PTRACE_CONT,
        Onward::ToCall => libc::PTRACE_SYSCALL,
        Onward::Step => libc::PTRACE_SINGLESTEP,
        Onward::Listen => libc::PTRACE_LISTEN,
    };
    request(what, pid, signal)
}

/// What an event is about: a new process, a thread's former number, or a status.
///
/// # Errors
/// The thread is gone, or is not stopped.
pub fn event_message(pid: pid_t) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the kernel writes one word, which is ours.
    checked(unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, pid, 0, &raw mut message) })?;
    Ok(message)
}

/// The registers of a stopped thread.
///
/// # Errors
/// The thread is gone, or is not stopped.
pub fn registers(pid: pid_t) -> io::Result<libc::user_regs_struct> {
    // SAFETY: all of the structure is integers, for which zero is a value.
    let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
    // SAFETY: the kernel writes exactly this structure, which is ours.
    checked(unsafe { libc::ptrace(libc::PTRACE_GETREGS, pid, 0, &raw mut registers) })?;
    Ok(registers)
}

/// Gives a stopped thread registers.
///
/// # Errors
/// The process is gone, or is not stopped.
pub fn set_registers(pid: pid_t, registers: &libc::user_regs_struct) -> io::Result<()> {
    let registers: *const libc::user_regs_struct = registers;
    // SAFETY: the kernel reads exactly this structure, which lives as long as the call.
    checked(unsafe { libc::ptrace(libc::PTRACE_SETREGS, pid, 0, registers) })
}

/// The address of the fault that a stopped thread is about to get a signal for.
#[must_use]
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

/// Sends a thread that this thread follows a signal.
pub fn send(thread: pid_t, signal: c_int) {
    // SAFETY: the call takes numbers only.
    unsafe { libc::syscall(libc::SYS_tkill, thread, signal) };
}

/// A handle of a process, which stays its own when the number is given to another.
///
/// # Errors
/// The process is gone.
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
