//! What is going on, for people who wait: a line on a terminal, nothing in a pipe.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A line that says what is going on.
pub struct Progress(ProgressBar);

impl Progress {
    /// A line on standard error, if that is a terminal and nobody asked for silence.
    pub fn new(silent: bool) -> Self {
        let bar = ProgressBar::new_spinner();
        if silent {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(Duration::from_millis(100));
        Self(bar)
    }

    /// Something else is going on.
    pub fn stage(&self, what: &'static str) {
        self.0.set_message(what);
        tracing::info!("{what}");
    }

    /// A search has got so far.
    pub fn falling(&self, bits: f64, effort: u64, of: &'static str) {
        self.0.set_message(format!("looking for a better double: {bits:.0} bits, {effort} {of}"));
        tracing::debug!(bits, effort, "better");
    }

    /// Nothing is going on any more: the line goes away.
    pub fn finish(&self) {
        self.0.finish_and_clear();
    }
}
