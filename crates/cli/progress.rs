//! What is going on, for people who wait: a line on a terminal, nothing in a pipe.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use stunt_anonymize::{Observer, Stage};

use crate::interrupt;

/// A line that says what is going on. It goes away with its owner.
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
}

impl Observer for Progress {
    fn stage(&self, stage: Stage) {
        interrupt::set_stage(stage);
        self.0.set_message(stage.words());
    }

    fn better(&self, bits: f64, effort: u64, of: &'static str) {
        self.0.set_message(format!(
            "looking for a better double: {bits:.0} bits, {effort} {of}; Ctrl-C takes what there is"
        ));
        tracing::debug!(bits, effort, "better");
    }

    fn searching(&self, is_searching: bool) {
        interrupt::set_searching(is_searching);
    }

    fn enough(&self) -> &AtomicBool {
        interrupt::enough()
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
