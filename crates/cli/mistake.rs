//! Panics: a mistake in stunt is told by its place, never by its message.
//!
//! The message of a panic may quote what it was about, a piece of text or a number: of a private input,
//! in most commands. What always holds: nothing of it is printed; the place, which is in stunt's own
//! source, is enough to find the mistake.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

static MADE: AtomicBool = AtomicBool::new(false);

/// From now on, panics are told so.
pub fn tell_places_only() {
    panic::set_hook(Box::new(|info| {
        MADE.store(true, Ordering::SeqCst);
        let place = info.location().map_or_else(String::new, |at| format!(" (at {at})"));
        eprintln!("stunt: a mistake in stunt itself{place}; please tell its makers");
    }));
}

/// Whether there was a panic in any thread of this process.
pub fn was_made() -> bool {
    MADE.load(Ordering::SeqCst)
}
