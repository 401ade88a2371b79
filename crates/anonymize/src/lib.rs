//! The main job: from a crash on a private input to a double that may be sent.
//!
//! The program is run natively to see how it fails (`failure`), what the failure does not need is
//! removed and what it does need is found out (`search`, with `oracle` to run candidates), every double is
//! proved by runs that must fail in the same way (`crash`), and what may leave the user's machine is
//! written down (`telling`, `report`). What always holds: what is not proved is not handed out, and text of
//! the original run goes nowhere. Values go in ([`Options`], a subject), values come out ([`Made`], or a
//! [`Refusal`]), and an [`Observer`] hears what is going on.
//!
//! This crate must not know flags, terminals and exit codes: who asks for a double, and who is told.

mod crash;
mod failure;
mod guard;
mod job;
mod observer;
mod options;
mod oracle;
mod refusal;
mod report;
mod search;
mod stage;
mod target;
mod telling;

pub use guard::{Guarded, Host, guarded};
pub use job::{Conditions, Way, make};
pub use observer::{Observer, Silent};
pub use options::{Method, Options, PathSearch, Relaxation, Resize, parts};
pub use oracle::Runner;
pub use refusal::{Error, Refusal};
pub use report::{
    Account, ForOwner, Made, Seconds, USUAL_REMAINS, USUAL_SHARE, USUAL_SHARE_CUT, as_described,
    of_description,
};
pub use search::{Found, Origin, Proved, Searched, USUAL_TIME, search};
pub use stage::Stage;
pub use stunt_document::Remains;
pub use stunt_machine::symbolic::Relaxations;
pub use stunt_search::weaken::Readable;
pub use stunt_subject::Followed;
pub use target::Target;
pub use telling::{Why, Wishes, secrets_of};
