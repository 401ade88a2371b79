//! What the server does by itself: replays in a closed worker, issues in a tracker.

mod contain;
mod issues;
mod replays;

pub use contain::{ContainError, Guards, close_off};
pub use issues::issues;
pub use replays::{Worker, replays};
