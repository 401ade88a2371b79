//! What a move is: one way to weaken the condition in hand.
//!
//! A move proposes changes and asks the [`Search`] about each; what surely lowers the figure is in hand afterwards.
//! The schedule knows in which order moves are made, and what each took and gained.

pub(super) mod drops;
pub(super) mod gaps;
pub(super) mod values;

use stunt_reduce::Broken;

use super::search::Search;

/// A way to weaken a condition.
pub(super) trait Move {
    /// By this name it is left out, to see what it is worth.
    fn name(&self) -> &'static str;

    /// Tries what it knows.
    ///
    /// # Errors
    /// The program cannot be run.
    fn make(&self, search: &mut Search<'_>) -> Result<(), Broken>;
}
