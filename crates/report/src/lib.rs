//! The report: the only data that leaves the user's machine, and its schema.
//!
//! A report is one file, a zip archive with `report.json` and the doubles under `input/`. This
//! crate has the data, the file and the sentence that sums it up. It must not know anything else:
//! no terms, no machine, no paths, and no original input. What it is given is meant to be seen.
//!
//! Always: what is written can be read back and is the same ([`Report::tidied`] says what writing
//! rounds and shortens); a file that is read was written by a stranger, and gives a report that
//! keeps every rule of the schema, or an error in a sentence.

mod command;
mod error;
mod figure;
mod per_byte;
mod read;
mod report;
mod rules;
mod shell;
mod source;
mod steps;
mod tells;
mod text;
mod tidy;
mod words;
mod write;

pub use command::{HIDDEN, PATH};
pub use error::Error;
pub use figure::{Kind, Leak};
pub use per_byte::{ByteKind, ByteRuns, Run};
pub use read::{Limits, Opened};
pub use report::{
    Algorithm, Draw, Failure, Frame, LONGEST_COMMENT, Module, Program, Replay, Report, Schema,
    Verified,
};
pub use shell::{command_line, quoted};
pub use source::{Connection, Source, SourceName, Way};
pub use steps::steps;
pub use tells::{Tells, Told};
pub use text::{grouped, visible};
pub use words::summary;
pub use write::store_archive;
