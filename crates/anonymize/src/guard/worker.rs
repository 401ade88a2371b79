//! Work in a process of its own, which can be ended whatever it is doing.
//!
//! A thread that loops or takes all memory cannot be ended from outside, and one that overflows its stack
//! takes everything with it; a process can, and does not. The worker is a copy of this one: it has what
//! was read so far, and tells what it has found through a pipe. What always holds: a worker does not
//! outlive whoever started it; what was half told is not heard. What the messages mean is not known here.
#![allow(unsafe_code)] // Processes and their limits have no safe interface; each call has its proof.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::Host;

/// The exit code of a worker that had a panic.
pub(super) const PANICKED: i32 = 101;

/// The longest message: more than any report has.
const LONGEST: usize = 1 << 31;

/// How much is taken from the pipe at a time.
const AT_ONCE: usize = 1 << 16;

/// The worker's end of the pipe.
pub(super) struct Line(Mutex<File>);

impl Line {
    /// Tells something. If nobody listens any more, there is nobody to tell.
    pub(super) fn tell(&self, kind: u8, content: &[u8]) {
        let mut pipe = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut head = [0; 9];
        head[0] = kind;
        head[1..].copy_from_slice(&(content.len() as u64).to_le_bytes());
        let _ = pipe.write_all(&head).and_then(|()| pipe.write_all(content));
    }
}

/// How a worker ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ended {
    /// By itself, with this code.
    Code(i32),
    /// By a panic.
    Panic,
    /// By a signal: killed, out of stack, aborted.
    Signal(i32),
}

/// A process at work.
pub(super) struct Worker<'a> {
    pid: libc::pid_t,
    host: &'a dyn Host,
    pipe: File,
    heard: Vec<u8>,
    ended: Option<Ended>,
}

impl<'a> Worker<'a> {
    /// Starts one that does `work`, and ends with the code that this gives. To be called while there is no
    /// other thread than the one that waits for signals: of others, the copy would have nothing but the
    /// locks that they hold. That one holds none while it waits, and the copy starts its own.
    pub(super) fn start(host: &'a dyn Host, work: impl FnOnce(Line) -> i32) -> io::Result<Self> {
        let mut ends = [0; 2];
        // SAFETY: the kernel writes two numbers to memory of ours.
        if unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: both were just opened, and nobody else has them.
        let [here, there] = ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        let own = std::process::id();
        // SAFETY: no other thread holds a lock (see above), so the copy is whole.
        match unsafe { libc::fork() } {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(here);
                // SAFETY: these set when this process is to be killed, and ask who its parent is.
                let orphan = unsafe {
                    libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                    libc::getppid() as u32 != own
                };
                let line = Line(Mutex::new(File::from(there)));
                host.in_worker();
                let code = if orphan { PANICKED } else { run(work, line) };
                // SAFETY: ends the process. What its parent owns, such as folders, is not cleaned up here.
                unsafe { libc::_exit(code) }
            }
            pid => {
                drop(there);
                host.at_work(Some(pid));
                // SAFETY: the file is open, and the flag is one of those that files have.
                unsafe { libc::fcntl(here.as_raw_fd(), libc::F_SETFL, libc::O_NONBLOCK) };
                Ok(Self { pid, host, pipe: File::from(here), heard: Vec::new(), ended: None })
            }
        }
    }

    /// Waits for news, up to this long.
    pub(super) fn wait(&self, time: Duration) {
        let fd = self.pipe.as_raw_fd();
        let mut pipe = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: the one entry is ours.
        unsafe { libc::poll(&raw mut pipe, 1, time.as_millis() as i32) };
    }

    /// The next message that is there as a whole.
    pub(super) fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        loop {
            if let Some((head, rest)) = self.heard.split_first_chunk::<9>() {
                let (kind, size) = (head[0], head[1..].try_into().map_or(0, u64::from_le_bytes));
                let size = usize::try_from(size).ok().filter(|&size| size <= LONGEST)?;
                if rest.len() >= size {
                    let content = rest[..size].to_vec();
                    self.heard.drain(..9 + size);
                    return Some((kind, content));
                }
            }
            let mut more = [0; AT_ONCE];
            match self.pipe.read(&mut more) {
                Ok(0) => return None,
                Ok(count) => self.heard.extend_from_slice(&more[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }

    /// How it ended, if it has.
    pub(super) fn ended(&mut self) -> Option<Ended> {
        if self.ended.is_none() && self.has_ended() {
            // Nothing is passed on to a number that may soon be somebody else's.
            self.host.at_work(None);
            self.ended = self.collected();
        }
        self.ended
    }

    /// Whether it has ended; its number is still its own.
    fn has_ended(&self) -> bool {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        let flags = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
        // SAFETY: the process is a child that was not waited for yet; the account of it is ours, and of
        // integers alone, so that zero is one that says nothing.
        unsafe {
            libc::waitid(libc::P_PID, self.pid as libc::id_t, info.as_mut_ptr(), flags);
            info.assume_init().si_pid() == self.pid
        }
    }

    fn collected(&self) -> Option<Ended> {
        let mut status = 0;
        // SAFETY: the process is a child that was not waited for yet; the status is ours.
        let pid = unsafe { libc::waitpid(self.pid, &raw mut status, 0) };
        if pid != self.pid {
            return None;
        }
        Some(if libc::WIFSIGNALED(status) {
            Ended::Signal(libc::WTERMSIG(status))
        } else {
            match libc::WEXITSTATUS(status) {
                PANICKED => Ended::Panic,
                code => Ended::Code(code),
            }
        })
    }

    /// How much memory it has now, in bytes.
    pub(super) fn memory(&self) -> u64 {
        let pages = fs::read_to_string(format!("/proc/{}/statm", self.pid)).ok();
        let pages = pages.and_then(|text| text.split(' ').nth(1)?.parse::<u64>().ok());
        pages.unwrap_or(0) * 4096
    }

    /// Ends it, whatever it is doing.
    pub(super) fn kill(&mut self) {
        if self.ended().is_none() {
            self.host.at_work(None);
            // SAFETY: the process is a child that was not waited for, so the number is still its.
            unsafe { libc::kill(self.pid, libc::SIGKILL) };
            self.ended = self.collected();
        }
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.kill();
    }
}

fn run(work: impl FnOnce(Line) -> i32, line: Line) -> i32 {
    // What it leaves behind is not looked at: the process ends.
    catch_unwind(AssertUnwindSafe(|| work(line))).unwrap_or(PANICKED)
}
