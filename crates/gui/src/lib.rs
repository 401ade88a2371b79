//! User interfaces in a browser: what people did in a page, replayed, minimised, made anonymous.
//!
//! A recording is a sequence of actions with what was typed and what came from outside; the browser is an oracle
//! that tells whether a recording fails as the original did. So steps are minimised by trials, and texts are reduced
//! and weakened as the input of any program. The crate must not know how programs are run or followed, what a
//! command line is, nor where a report goes.

mod anonymize;
mod case;
pub mod chromium;
mod claim;
mod content;
mod describe;
pub mod export;
mod failure;
pub mod gaudi;
mod leaves;
pub mod minimise;
mod pace;
mod plain;
mod pool;
pub mod record;
mod recording;
mod replay;
mod texts;
mod trusted;

pub use anonymize::{Algorithm, Double, NoDouble, Settings, anonymize};
pub use case::{Case, NoCase, Steps};
pub use claim::Claim;
pub use content::Content;
pub use failure::{PageFailure, PageFrame};
pub use pool::Pool;
pub use recording::{Place, Recording, SCHEMA, Step, Wrong};
pub use replay::{End, Manner, Plan, Ran, replay, walk};
