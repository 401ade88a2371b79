//! Ctrl-C: stunt goes at once, and takes with it what it has made.
//!
//! Always: a file that is being written when the signal comes is there whole or not at all, and
//! scratch folders are gone. Programs that run natively die with the thread that follows them,
//! which the kernel sees to. Signals that whoever started stunt has ignored stay ignored. A search
//! that has something to show already ends with that at the first Ctrl-C.
#![allow(unsafe_code)] // Signal sets and `sigwait` have no safe interface; each call has its proof.

use std::fs;
use std::io::{IsTerminal, Write};
use std::mem::MaybeUninit;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// The signals that ask a command to stop.
const STOPS: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Folders that must not be left behind. Whoever holds the lock cannot be interrupted.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn folders() -> MutexGuard<'static, Vec<PathBuf>> {
    // A panic in between leaves a list that is still a list.
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does something that is either done or not begun when stunt is interrupted.
pub fn whole<T>(work: impl FnOnce() -> T) -> T {
    let _held = folders();
    work()
}

/// A search is under way that can end with what it has.
static SEARCHING: AtomicBool = AtomicBool::new(false);
/// The search is asked to end.
static ENOUGH: AtomicBool = AtomicBool::new(false);

/// Searches; the flag is set when the user has had enough, and the search ends with what it has.
pub fn search<T>(work: impl FnOnce(&'static AtomicBool) -> T) -> T {
    SEARCHING.store(true, Ordering::SeqCst);
    let found = work(&ENOUGH);
    SEARCHING.store(false, Ordering::SeqCst);
    found
}

/// Makes a folder for the user alone that goes away if stunt is interrupted.
pub fn make_folder(path: &Path) -> std::io::Result<()> {
    let mut folders = folders();
    fs::DirBuilder::new().mode(0o700).create(path)?;
    folders.push(path.to_owned());
    Ok(())
}

/// The folder is somebody else's business from now on.
pub fn forget_folder(path: &Path) {
    folders().retain(|folder| folder != path);
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
    let mut signal = 0;
    loop {
        // SAFETY: the set is a valid one, and the number is ours; both outlive the call.
        let waited = unsafe { libc::sigwait(&raw const *heeded, &raw mut signal) };
        if waited != 0 {
            return;
        }
        let first = || !ENOUGH.swap(true, Ordering::SeqCst);
        if signal != libc::SIGINT || !SEARCHING.load(Ordering::SeqCst) || !first() {
            break;
        }
    }
    // Held for ever: nobody begins anything new.
    let folders = folders();
    for folder in folders.iter() {
        // What it holds are doubles; a folder that cannot be removed cannot be helped.
        let _ = fs::remove_dir_all(folder);
    }
    let mut stderr = std::io::stderr().lock();
    // On a terminal there may be a line about progress, which is no longer true.
    let erase = if stderr.is_terminal() { "\r\x1b[K" } else { "" };
    let _ = writeln!(stderr, "{erase}stunt: interrupted");
    // SAFETY: ends the process without running the clean-up of libraries whose threads still run.
    unsafe { libc::_exit(128 + signal) }
}
