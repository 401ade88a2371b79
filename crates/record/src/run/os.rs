//! The calls of Linux that have no safe interface: following processes and looking into them.
//!
//! Most `unsafe` code of the crate is here, each call with its proof; the rest is in `start.rs` and
//! `signals.rs`. Functions here decide nothing. A process is followed by the thread that started it,
//! and by no other.
#![allow(unsafe_code)] // `ptrace`, `process_vm_readv`: each call names why it is sound.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use libc::{c_int, c_void, pid_t};

pub use stunt_native::{Event, wait};

/// What tells that a stop is at the end of a system call.
pub const CALL: c_int = libc::SIGTRAP | 0x80;

fn checked(result: libc::c_long) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What every process of a run is asked to tell.
const OPTIONS: c_int = libc::PTRACE_O_EXITKILL
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACEEXEC
    | libc::PTRACE_O_TRACESECCOMP
    | libc::PTRACE_O_TRACESYSGOOD;

/// Follows a child of this thread from now on, and whatever it starts.
pub fn seize(pid: pid_t) -> io::Result<()> {
    // SAFETY: the request takes numbers only.
    checked(unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, 0, libc::c_long::from(OPTIONS)) })
}

/// No core file of this process from now on, and nobody attaches to it: it holds what the program reads.
/// Children that become a program are open again; so this comes after the child was seized.
pub fn close_memory() {
    // SAFETY: the call takes numbers, as wide as the kernel reads them. A refusal cannot be helped.
    unsafe { libc::prctl(libc::PR_SET_DUMPABLE, 0 as libc::c_ulong, 0, 0, 0) };
}

/// Has a stopped thread stop once more before it exits.
pub fn tell_exit(pid: pid_t) -> io::Result<()> {
    let options = OPTIONS | libc::PTRACE_O_TRACEEXIT;
    // SAFETY: the request takes numbers only.
    checked(unsafe { libc::ptrace(libc::PTRACE_SETOPTIONS, pid, 0, libc::c_long::from(options)) })
}

/// How a stopped thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Onward {
    /// Until something happens.
    Free,
    /// Until its system call is at its end, or the next begins.
    ToCall,
    /// It stays stopped, as its group is, until that goes on.
    Listen,
}

/// Lets a stopped thread go on, with a signal if it is not 0.
pub fn go_on(pid: pid_t, how: Onward, signal: c_int) -> io::Result<()> {
    let request = match how {
        Onward::Free => libc::PTRACE_CONT,
        Onward::ToCall => libc::PTRACE_SYSCALL,
        Onward::Listen => libc::PTRACE_LISTEN,
    };
    // SAFETY: these requests take numbers only.
    checked(unsafe { libc::ptrace(request, pid, 0, libc::c_long::from(signal)) })
}

/// What an event is about: a new process, or a thread's former number.
pub fn event_message(pid: pid_t) -> io::Result<u64> {
    let mut message: libc::c_ulong = 0;
    // SAFETY: the kernel writes one word, which is ours.
    checked(unsafe { libc::ptrace(libc::PTRACE_GETEVENTMSG, pid, 0, &raw mut message) })?;
    Ok(message)
}

/// The registers of a stopped thread.
pub fn registers(pid: pid_t) -> io::Result<libc::user_regs_struct> {
    let mut registers = MaybeUninit::<libc::user_regs_struct>::zeroed();
    // SAFETY: the kernel writes exactly this structure, which is ours.
    checked(unsafe { libc::ptrace(libc::PTRACE_GETREGS, pid, 0, registers.as_mut_ptr()) })?;
    // SAFETY: all of it is integers, for which zero is a value.
    Ok(unsafe { registers.assume_init() })
}

/// Gives a stopped thread registers.
pub fn set_registers(pid: pid_t, registers: &libc::user_regs_struct) -> io::Result<()> {
    let registers: *const libc::user_regs_struct = registers;
    // SAFETY: the kernel reads exactly this structure, which lives as long as the call.
    checked(unsafe { libc::ptrace(libc::PTRACE_SETREGS, pid, 0, registers) })
}

/// Reads memory of a process; says how many bytes could be read from the start on.
pub fn read_memory(pid: pid_t, address: u64, bytes: &mut [u8]) -> usize {
    if bytes.is_empty() {
        return 0;
    }
    let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let remote = libc::iovec { iov_base: address as *mut c_void, iov_len: bytes.len() };
    // SAFETY: the kernel writes at most as many bytes as the buffer has, which is ours; the address
    // is the other process's business.
    let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).unwrap_or(0)
}

/// A descriptor of another process, as our own.
pub fn borrow_descriptor(pid: pid_t, descriptor: c_int) -> io::Result<OwnedFd> {
    // SAFETY: the call takes numbers only.
    let process = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if process < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new and nobody else's.
    let process = unsafe { OwnedFd::from_raw_fd(process as c_int) };
    // SAFETY: the descriptor is open; the call takes numbers only.
    let copy = unsafe { libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), descriptor, 0) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: as above.
    Ok(unsafe { OwnedFd::from_raw_fd(copy as c_int) })
}

/// A number that a socket has as an option.
fn option(socket: BorrowedFd<'_>, which: c_int) -> Option<c_int> {
    let (mut value, mut size) = (0, size_of::<c_int>() as libc::socklen_t);
    let place: *mut c_int = &raw mut value;
    // SAFETY: the kernel writes at most `size` bytes, which are ours.
    let result = unsafe {
        let socket = socket.as_raw_fd();
        libc::getsockopt(socket, libc::SOL_SOCKET, which, place.cast(), &raw mut size)
    };
    (result == 0).then_some(value)
}

/// The family and the type of a socket: `AF_INET`, `SOCK_STREAM`.
pub fn socket_kind(socket: BorrowedFd<'_>) -> Option<(c_int, c_int)> {
    Some((option(socket, libc::SO_DOMAIN)?, option(socket, libc::SO_TYPE)?))
}

/// The address that a socket has, as the kernel writes it.
pub fn local_address(socket: BorrowedFd<'_>) -> Option<Vec<u8>> {
    let mut bytes = [0; 128];
    let mut size = bytes.len() as libc::socklen_t;
    // SAFETY: the kernel writes at most `size` bytes, which are ours.
    let result =
        unsafe { libc::getsockname(socket.as_raw_fd(), bytes.as_mut_ptr().cast(), &raw mut size) };
    (result == 0).then(|| bytes[..bytes.len().min(size as usize)].to_vec())
}

/// Kills a process that this thread follows and has not waited for to the end.
pub fn kill(pid: pid_t) {
    // SAFETY: the call takes numbers only.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

/// Sends a thread that this thread follows a signal.
pub fn send(thread: pid_t, signal: c_int) {
    // SAFETY: the call takes numbers only.
    unsafe { libc::syscall(libc::SYS_tkill, thread, signal) };
}
