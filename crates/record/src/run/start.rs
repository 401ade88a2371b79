//! Starts the program that is recorded: with the streams, folder, environment and signals that
//! stunt itself was given.
//!
//! The child waits until it is followed, sets its filter, and becomes the program. Until then it
//! makes system calls and nothing else, because other threads of its parent may have held locks.
#![allow(unsafe_code)] // `fork` and what runs between it and `execve`; each with its proof.

use std::ffi::{CString, c_char, c_int};
use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use stunt_tracee::{self as tracee, Event, Onward};

/// What is started.
pub struct Plan {
    /// The program's path.
    pub program: CString,
    /// All words, the program's name first.
    pub words: Vec<CString>,
    /// The environment, `NAME=value`.
    pub environment: Vec<CString>,
    /// The filter of system calls.
    pub filter: Vec<libc::sock_filter>,
    /// The signals that are blocked in the program.
    pub mask: libc::sigset_t,
}

/// Two ends of a pipe that programs do not inherit.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: the kernel writes two numbers, which are ours.
    if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both descriptors are new and nobody else's.
    Ok(unsafe { (OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])) })
}

/// Starts it, followed by the calling thread. The error is that of `execve`, if that failed.
pub fn start(plan: &Plan) -> io::Result<libc::pid_t> {
    let list = |texts: &[CString]| {
        texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect::<Vec<*const c_char>>()
    };
    let (words, environment) = (list(&plan.words), list(&plan.environment));
    let filter = libc::sock_fprog {
        len: u16::try_from(plan.filter.len()).map_err(io::Error::other)?,
        filter: plan.filter.as_ptr().cast_mut(),
    };
    let (followed, follow) = pipe()?;
    let (failed, failure) = pipe()?;
    // SAFETY: the child makes system calls only, as is shown at each.
    let pid = unsafe { libc::fork() };
    if pid < 0 {
        return Err(io::Error::last_os_error());
    }
    if pid == 0 {
        let wait = (followed.as_raw_fd(), follow.as_raw_fd());
        // SAFETY: we are the child, with one thread; texts and lists were made before the fork and
        // live in our copy of the memory.
        unsafe {
            let error = become_program(plan, &words, &environment, &filter, wait);
            let bytes = error.to_le_bytes();
            libc::write(failure.as_raw_fd(), bytes.as_ptr().cast(), bytes.len());
            libc::_exit(127)
        }
    }
    drop((followed, failure));
    if let Err(error) = tracee::seize(pid) {
        // It waits for a word that does not come, and ends.
        drop(follow);
        let mut status = 0;
        // SAFETY: the status is ours; the child is ours.
        unsafe { libc::waitpid(pid, &raw mut status, 0) };
        return Err(error);
    }
    // SAFETY: one byte of ours is written to a descriptor that is open.
    unsafe { libc::write(follow.as_raw_fd(), b"x".as_ptr().cast(), 1) };
    // It stops at its new program, or says why there is none. Following stops it at the end of
    // `execve` before its end of the pipe closes: that is the first thing to be waited for.
    loop {
        match tracee::wait(Some(pid))? {
            Some((_, Event::Stopped(_, libc::PTRACE_EVENT_EXEC))) => return Ok(pid),
            Some((_, Event::Stopped(signal, event))) => {
                let signal = if event == 0 { signal } else { 0 };
                tracee::go_on(pid, Onward::Free, signal)?;
            }
            _ => break,
        }
    }
    let mut number = [0; 4];
    std::fs::File::from(failed).read_exact(&mut number)?;
    Err(io::Error::from_raw_os_error(c_int::from_le_bytes(number)))
}

/// The child's part: gives the reason if it fails.
///
/// # Safety
/// For a child that was just forked; `words` and `environment` end with a null.
unsafe fn become_program(
    plan: &Plan,
    words: &[*const c_char],
    environment: &[*const c_char],
    filter: &libc::sock_fprog,
    (followed, follow): (c_int, c_int),
) -> c_int {
    const NO_FLAGS: libc::c_ulong = 0;
    let mut byte = 0u8;
    // SAFETY: system calls with numbers, and with memory of ours that outlives them.
    unsafe {
        libc::close(follow);
        loop {
            match libc::read(followed, (&raw mut byte).cast(), 1) {
                1 => break,
                -1 if *libc::__errno_location() == libc::EINTR => {}
                // Nobody follows us.
                _ => return libc::EPERM,
            }
        }
        // The runtime of Rust ignores it; programs expect it.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let set = |flags: libc::c_ulong| {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                &raw const *filter,
            )
        };
        // An administrator may set a filter and keep the right to gain others.
        if set(NO_FLAGS) != 0
            && (libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || set(NO_FLAGS) != 0)
        {
            return *libc::__errno_location();
        }
        libc::sigprocmask(libc::SIG_SETMASK, &raw const plan.mask, ptr::null_mut());
        libc::execve(plan.program.as_ptr(), words.as_ptr(), environment.as_ptr());
        *libc::__errno_location()
    }
}
