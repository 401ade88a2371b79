//! A panic hook that notes a failure for stunt.
//!
//! ```no_run
//! stunt_hook::install();
//! ```
//!
//! One line at the beginning of `main`. When the program panics, the hook that was there before runs
//! first; then an incident is written to the folder of the user's incidents
//! (`$XDG_STATE_HOME/stunt/incidents`), which `stunt incidents` lists: the program, its arguments, the
//! files that they name, and where it panicked. Nothing is ever sent.
//!
//! Always holds: the message of the panic is not looked at, because it may quote private input. At
//! most one incident comes of a process. A hook that cannot write says nothing and changes nothing.
//!
//! This crate must not know stunt: it has no dependencies, and writes the file that stunt reads.

mod elf;
mod incident;
mod json;

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether an incident was written already.
static WRITTEN: AtomicBool = AtomicBool::new(false);

/// From now on, a panic of this program leaves an incident behind.
///
/// Panics that are caught leave one, too: the hook cannot know.
pub fn install() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |information| {
        before(information);
        if !WRITTEN.swap(true, Ordering::SeqCst) {
            let place = information.location().map(|it| (it.file(), it.line()));
            // Nobody is there who could be told.
            let _ = incident::write(place);
        }
    }));
}
