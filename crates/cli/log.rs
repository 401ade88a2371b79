//! `-v`: what is done, and how long it takes, on standard error.
//!
//! Spans and events carry counts, sizes and times, and never a value of an input.

use tracing::Level;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::fmt::time::uptime;

/// Starts logging: nothing, what is done, or every detail.
pub fn start(verbose: u8) {
    let level = match verbose {
        0 => return,
        1 => Level::INFO,
        2 => Level::DEBUG,
        _ => Level::TRACE,
    };
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_writer(std::io::stderr)
        .with_span_events(FmtSpan::CLOSE)
        .with_target(false)
        .with_timer(uptime())
        .init();
}
