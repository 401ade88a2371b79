//! Whoever wants to know what a job is doing, and may end its searches.

use std::sync::atomic::AtomicBool;

use crate::report::Account;
use crate::stage::Stage;

/// Nobody ends a search.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Hears what a job is doing. Nothing that it hears is text of the original.
pub trait Observer {
    /// Something else is going on.
    fn stage(&self, _stage: Stage) {}

    /// The failure is known: from here on the time counts.
    fn known(&self) {}

    /// A search has got so far: to so many bits, by so many runs or tests.
    fn better(&self, _bits: f64, _effort: u64, _of: &'static str) {}

    /// A double was proved that may be handed out if nothing better comes.
    fn held(&self, _account: &Account<'_>) {}

    /// A search begins, or has ended, that can end with what it has.
    fn searching(&self, _is_searching: bool) {}

    /// Set when a search shall end with what it has.
    fn enough(&self) -> &AtomicBool {
        &NEVER
    }
}

/// Wants to know nothing.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Observer for Silent {}
