//! A report on its way without a server: the text of an issue, a link that fills one in, a mail.
//!
//! People report where the project already is. So a report becomes a text in Markdown with the double in it
//! ([`issue`]), the address of a form with that text filled in ([`link`]), or a message that a mail program opens
//! as a draft ([`mail`]). What always holds: all that is told is from the report; its texts stand where they are no
//! markup and end nothing; a shell that is given the lines of an issue writes exactly the double, and nothing else.
//!
//! This crate must not know who is asked, where files are, and what was private.

mod inline;
mod issue;
mod link;
mod mail;
mod way;

pub use inline::{LONGEST, unpacking};
pub use issue::{Issue, issue};
pub use link::link;
pub use mail::mail;
pub use way::{Address, Project, Tracker, Way};
