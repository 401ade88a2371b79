//! What the server does by itself: replays in a closed worker, issues in a tracker.

mod issues;
mod replays;

pub use issues::issues;
pub use replays::{Worker, replays};
