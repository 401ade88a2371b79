//! Chromium, through its debugging protocol: a client of the few dozen messages that are needed.
//!
//! Always: the browser is a process of ours with a profile of its own, spoken to through two pipes (no port
//! that others could reach), and goes with its owner. What is done on a page, and why, is not known here.

mod browser;
mod tab;
mod wire;

pub use browser::{Browser, Look};
pub use tab::{Seen, Tab};

/// Why the browser could not do something. No text of a page is in it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no browser.
    #[error(
        "there is no Chromium to replay in: install the package chromium-headless-shell \
         (`apt-get install chromium-headless-shell`), or chromium to see it"
    )]
    Absent,
    /// It could not be started.
    #[error("Chromium does not start: {0}")]
    Start(#[source] std::io::Error),
    /// It has ended, or crashed.
    #[error("Chromium has ended by itself")]
    Gone,
    /// It took too long.
    #[error("Chromium did not answer in time")]
    Late,
    /// It does not want to.
    #[error("Chromium refuses {method}: {what}")]
    Refused {
        /// The call.
        method: String,
        /// The reason, in the words of the protocol.
        what: String,
    },
    /// The page cannot be loaded.
    #[error("the page does not load: {0}")]
    Load(String),
    /// A script of ours failed in the page.
    #[error("a script of the replay failed in the page ({0})")]
    Script(String),
}
