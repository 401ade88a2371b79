//! Signals that reach stunt while it records: they are the program's.
//!
//! What a terminal sends goes to the whole group, and the program has it already. What somebody
//! sends to stunt alone is passed on. Stunt itself goes on, until the program ends; it stops when
//! the program was stopped from the terminal, so that a shell sees the job stopped. When the program
//! has ended, what is left to do is short, and signals are not heeded.
#![allow(unsafe_code)] // Signal sets, `sigwaitinfo` and `kill`: each call names why it is sound.

use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

use libc::c_int;

/// The signals that are waited for.
const HEEDED: [c_int; 13] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGWINCH,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGPIPE,
    libc::SIGIO,
];

/// Stops that come from a terminal.
const TERMINAL_STOPS: [c_int; 3] = [libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// Signals while a program runs.
pub struct Signals {
    old: libc::sigset_t,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The program, or 0 while there is none.
    program: AtomicI32,
    /// Whether a terminal has asked to stop since the program last stopped.
    asked_to_stop: AtomicBool,
}

impl Signals {
    /// From now on signals are held back. To be called by the thread that follows the program.
    pub fn hold() -> Self {
        let heeded = set_of(&HEEDED);
        let mut old = set_of(&[]);
        // SAFETY: both sets are valid and ours.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const heeded, &raw mut old) };
        Self { old, shared: Arc::default() }
    }

    /// The signals that were blocked before.
    pub fn old(&self) -> libc::sigset_t {
        self.old
    }

    /// From now on signals are passed on to this process.
    pub fn pass_to(&self, program: i32) {
        self.shared.program.store(program, Ordering::SeqCst);
        let shared = Arc::clone(&self.shared);
        thread::spawn(move || pass(&shared));
    }

    /// The program is gone: nothing is passed on.
    pub fn end(&self) {
        self.shared.program.store(0, Ordering::SeqCst);
    }

    /// The program was stopped by a signal; stunt stops, too, if that came from a terminal.
    pub fn program_stopped(&self, signal: c_int) {
        let asked = self.shared.asked_to_stop.swap(false, Ordering::SeqCst);
        if asked || TERMINAL_STOPS.contains(&signal) {
            // SAFETY: the call takes numbers only. We go on when somebody tells the group to.
            unsafe { libc::kill(libc::getpid(), libc::SIGSTOP) };
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        // Signals stay held back: one that came for the program at its end would end us, and with
        // that lose its status and what is to be kept.
        self.end();
    }
}

fn set_of(signals: &[c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call fills the set, which is ours; the numbers are those of signals.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for &signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// Passes signals on until the program is gone.
fn pass(shared: &Shared) {
    let heeded = set_of(&HEEDED);
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: the set is valid, and the kernel writes one structure, which is ours.
        let signal = unsafe { libc::sigwaitinfo(&raw const heeded, info.as_mut_ptr()) };
        if signal < 0 {
            continue;
        }
        // SAFETY: the structure is integers, and was filled by the kernel.
        let info = unsafe { info.assume_init() };
        if TERMINAL_STOPS.contains(&signal) {
            shared.asked_to_stop.store(true, Ordering::SeqCst);
        }
        // A positive code is the kernel's: a terminal's, for the whole group.
        let program = shared.program.load(Ordering::SeqCst);
        if info.si_code <= 0 && program > 0 {
            // SAFETY: for a signal of a process, this member was filled; the call takes numbers.
            let from = unsafe { info.si_pid() };
            if from != program {
                // SAFETY: the call takes numbers only.
                unsafe { libc::kill(program, signal) };
            }
        }
    }
}
