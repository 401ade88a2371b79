//! Ctrl-C: stunt goes at once, and takes with it what it has made.
//!
//! Always: a file that is being written when the signal comes is there whole or not at all, and
//! scratch folders are gone. Programs that run natively die with the thread that follows them,
//! which the kernel sees to. Signals that whoever started stunt has ignored stay ignored. A search
//! that has something to show already ends with that at the first Ctrl-C. Where a worker does the work,
//! it is the worker that is asked to stop, and this process ends as it does. What is said is how far it got.
#![allow(unsafe_code)] // Signal sets and `sigwait` have no safe interface; each call has its proof.

use std::io::{IsTerminal, Write};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use stunt_anonymize::Stage;
use stunt_subject::remove_all;

/// The signals that ask a command to stop.
const STOPS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// What the kernel says of a signal that it sends by itself, as for a terminal.
const SI_KERNEL: libc::c_int = 0x80;

/// A search is under way that can end with what it has.
static SEARCHING: AtomicBool = AtomicBool::new(false);
/// The search is asked to end.
static ENOUGH: AtomicBool = AtomicBool::new(false);

/// What a job is doing, by its number; none has this one.
static STAGE: AtomicU8 = AtomicU8::new(u8::MAX);
/// When the job began, and when the search was asked to end.
static TIMES: Mutex<(Option<Instant>, Option<Instant>)> = Mutex::new((None, None));

/// The process that does the work, if that is another one.
static WORKER: AtomicI32 = AtomicI32::new(0);

/// From now on, signals are for this process; with 0, for this one again.
pub fn pass_on_to(worker: libc::pid_t) {
    WORKER.store(worker, Ordering::SeqCst);
}

/// Watches in a copy of a process that did: the thread that watched is not in the copy.
pub fn watch_again() {
    pass_on_to(0);
    watch();
}

/// A search begins that can end with what it has, or has ended.
pub fn set_searching(is_searching: bool) {
    SEARCHING.store(is_searching, Ordering::SeqCst);
}

/// A job does this now.
pub fn set_stage(stage: Stage) {
    STAGE.store(stage as u8, Ordering::SeqCst);
    TIMES.lock().unwrap_or_else(PoisonError::into_inner).0.get_or_insert_with(Instant::now);
}

/// After how many seconds the user had enough, if that was so.
pub fn cut_short() -> Option<u64> {
    let (begun, ended) = *TIMES.lock().unwrap_or_else(PoisonError::into_inner);
    Some((ended? - begun?).as_secs())
}

/// What was going on when a signal came, for a sentence: ` after 3 s, while reducing the input`.
fn progress() -> String {
    let Some(stage) = Stage::of(STAGE.load(Ordering::SeqCst)) else { return String::new() };
    let begun = TIMES.lock().unwrap_or_else(PoisonError::into_inner).0;
    let seconds = begun.map_or(0, |begun| begun.elapsed().as_secs());
    format!(" after {seconds} s, while {}; nothing was written", stage.words())
}

/// Set when the user has had enough: a search ends with what it has.
pub fn enough() -> &'static AtomicBool {
    &ENOUGH
}

/// From now on, signals that ask to stop end the command cleanly. To be called before there is a
/// second thread: threads inherit what is blocked.
pub fn watch() {
    let heeded = heeded();
    // SAFETY: the set is a valid one, made by `heeded`; the old one is not asked for.
    let blocked =
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const heeded, ptr::null_mut()) };
    if blocked == 0 {
        thread::spawn(move || stop_on(&heeded));
    }
}

/// The signals to stop on that are not ignored.
fn heeded() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the call fills the set, which is ours.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    for signal in STOPS {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: no new action is given; the kernel writes the old one to memory of ours, whose
        // parts are integers and pointers, for which zero is a value.
        let ignored = unsafe {
            libc::sigaction(signal, ptr::null(), action.as_mut_ptr());
            action.assume_init().sa_sigaction == libc::SIG_IGN
        };
        if !ignored {
            // SAFETY: the set was filled above, and the number is that of a signal.
            unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
        }
    }
    // SAFETY: it was filled above.
    unsafe { set.assume_init() }
}

/// Waits for a signal; then cleans up and ends the process.
fn stop_on(heeded: &libc::sigset_t) {
    let mut signal;
    loop {
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: the set is a valid one, and the account of the signal is ours; both outlive the call.
        signal = unsafe { libc::sigwaitinfo(&raw const *heeded, info.as_mut_ptr()) };
        if signal < 0 {
            if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted {
                continue;
            }
            return;
        }
        let worker = WORKER.load(Ordering::SeqCst);
        if worker != 0 {
            // SAFETY: the kernel has filled the account, whose parts are integers.
            let from_terminal = unsafe { info.assume_init() }.si_code == SI_KERNEL;
            // A terminal tells all of its foreground; whoever else sends a signal means this process.
            if !from_terminal {
                // SAFETY: the worker is a child that was not waited for: see `Worker`.
                unsafe { libc::kill(worker, signal) };
            }
            continue;
        }
        let first = || {
            let mut times = TIMES.lock().unwrap_or_else(PoisonError::into_inner);
            times.1.get_or_insert_with(Instant::now);
            !ENOUGH.swap(true, Ordering::SeqCst)
        };
        if signal != libc::SIGINT || !SEARCHING.load(Ordering::SeqCst) || !first() {
            break;
        }
    }
    // Held for ever: nobody begins anything new.
    let _held = remove_all();
    let mut stderr = std::io::stderr().lock();
    // On a terminal there may be a line about progress, which is no longer true.
    let erase = if stderr.is_terminal() { "\r\x1b[K" } else { "" };
    let _ = writeln!(stderr, "{erase}stunt: interrupted{}", progress());
    // SAFETY: ends the process without running the clean-up of libraries whose threads still run.
    unsafe { libc::_exit(128 + signal) }
}
