//! What is going on, for people who wait: a line on a terminal, nothing in a pipe.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::anonymize::Stage;

/// A line that says what is going on.
pub struct Progress {
    bar: ProgressBar,
    /// Who else wants to know.
    listener: Option<Box<dyn Fn(Stage)>>,
}

impl Progress {
    /// A line on standard error, if that is a terminal and nobody asked for silence.
    pub fn new(silent: bool, listener: Option<Box<dyn Fn(Stage)>>) -> Self {
        let bar = ProgressBar::new_spinner();
        if silent {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.enable_steady_tick(Duration::from_millis(100));
        Self { bar, listener }
    }

    /// Something else is going on.
    pub fn stage(&self, stage: Stage) {
        if let Some(listener) = &self.listener {
            listener(stage);
        }
        let what = stage.words();
        self.bar.set_message(what);
        tracing::info!("{what}");
        stage.may_fail();
    }

    /// A search has got so far.
    pub fn falling(&self, bits: f64, effort: u64, of: &'static str) {
        self.bar.set_message(format!("looking for a better double: {bits:.0} bits, {effort} {of}"));
        tracing::debug!(bits, effort, "better");
    }

    /// Nothing is going on any more: the line goes away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
