//! A ticket as an issue of somebody's tracker, and its state back.
//!
//! One trait, [`Tracker`], and one file a tracker. An issue gets a title, a text, the double as a
//! file, and a link back; later its state is read, and comments are added. Calls block: whoever is
//! in an asynchronous world makes them elsewhere.
//!
//! This crate must not know what a ticket is, how it is stored, or what a report says: it is given
//! text and a file that are meant to be seen. Text is a stranger's, so it goes into the tracker as
//! text that the tracker does not read as markup. Keys and passwords are [`Secret`]s, which nothing
//! prints.

mod draft;
mod error;
mod github;
mod gitlab;
mod http;
mod jira;
mod redmine;
mod settings;
mod trac;

pub use draft::{Attachment, Draft, Link, State};
pub use error::Error;
pub use github::GitHub;
pub use gitlab::GitLab;
pub use jira::Jira;
pub use redmine::Redmine;
pub use settings::{Secret, Settings};
pub use trac::Trac;

/// Where issues are.
pub trait Tracker: Send + Sync {
    /// Makes an issue. If the issue was made but is not complete, the error has its link.
    fn create(&self, draft: &Draft) -> Result<Link, Error>;

    /// Whether work on the issue is still to be done.
    fn state(&self, link: &Link) -> Result<State, Error>;

    /// Adds a comment to the issue.
    fn comment(&self, link: &Link, text: &str) -> Result<(), Error>;
}
