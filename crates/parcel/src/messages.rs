//! The messages under `/api/v1`, as both sides see them.
//!
//! Always: a message has no field that could tell who sends it. A reader refuses fields that it
//! does not know in what reporters send, so that nothing slips in unseen.

use rand::RngCore;
use rand::rngs::OsRng;
use serde::{Deserialize, Serialize};

use crate::hex::as_digits;
use crate::{Digest, Recipient};

/// `POST`: is this failure known?
pub const ASK: &str = "/api/v1/ask";
/// `POST`: this failure was met once more.
pub const COUNTS: &str = "/api/v1/counts";
/// `GET`: the server's public key.
pub const RECIPIENT: &str = "/api/v1/recipient";
/// The media type of a parcel.
pub const PARCEL_TYPE: &str = "application/age";
/// The media type of a report's file.
pub const REPORT_TYPE: &str = "application/zip";
/// The media type of a [`Problem`].
pub const PROBLEM_TYPE: &str = "application/problem+json";

/// `PUT`: where the parcel with this digest goes.
pub fn report_path(parcel: Digest) -> String {
    format!("/api/v1/reports/{parcel}")
}

/// `GET`: the best report for this failure, where the server hands out any.
pub fn double_path(signature: &str) -> String {
    format!("/api/v1/doubles/{signature}")
}

/// `GET`: the best report of this ticket, for maintainers.
pub fn ticket_double_path(ticket: &str) -> String {
    format!("/api/v1/tickets/{ticket}/double")
}

/// Whether a text has the form of a ticket's number, and so may stand in a path.
pub fn is_ticket(text: &str) -> bool {
    let number = text.strip_prefix("T-").unwrap_or_default();
    (1..=19).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a text has the form of a failure's signature, and so may stand in a path.
pub fn is_signature(text: &str) -> bool {
    (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Is this failure known?
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// The failure's signature.
    pub signature: String,
    /// The name of the program's file, without the folder.
    pub program: String,
    /// Its build-id in hexadecimal digits, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
}

/// The answer to [`Ask`].
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// Whether the server has a ticket for this failure.
    pub known: bool,
    /// The ticket, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
    /// A double that reporters may fetch, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub double: Option<KnownDouble>,
}

/// A double that the server has.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct KnownDouble {
    /// The digest of the report's file.
    pub sha256: Digest,
    /// How large that file is.
    pub bytes: u64,
    /// What it reveals about somebody's input, in bits.
    pub leak_bits: f64,
}

/// The name of one event, drawn at random: whatever is sent twice under it counts once.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId([u8; 16]);

as_digits!(EventId, "an event in 32 lower-case hexadecimal digits");

impl EventId {
    /// A new one, fresh from the system: nobody should be able to tell it from another.
    pub fn random() -> EventId {
        let mut id = [0; 16];
        OsRng.fill_bytes(&mut id);
        EventId(id)
    }
}

/// This failure was met once more.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// The event.
    pub id: EventId,
    /// The failure's signature.
    pub signature: String,
    /// The name of the program's file, without the folder.
    pub program: String,
    /// Its build-id in hexadecimal digits, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
    /// Its version, if its owner told stunt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
}

/// The answer to [`Count`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Counted {
    /// The ticket that it was counted for.
    pub ticket: String,
    /// How often the failure was met in all.
    pub count: u64,
}

/// The answer to a parcel.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stored {
    /// The ticket that it belongs to.
    pub ticket: String,
    /// Where maintainers see it.
    pub url: String,
}

/// The answer to [`RECIPIENT`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ServerKey {
    /// To whom reports are sealed.
    pub recipient: Recipient,
}

/// What went wrong, as RFC 9457 has it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// What kind of problem it is; `about:blank` if the status says it all.
    #[serde(rename = "type", default = "Problem::blank")]
    pub kind: String,
    /// The kind in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What is wrong with this very request, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

impl Problem {
    fn blank() -> String {
        "about:blank".to_owned()
    }

    /// A problem whose status says what kind it is.
    pub fn new(status: u16, title: impl Into<String>, detail: impl Into<String>) -> Problem {
        let (title, detail) = (title.into(), Some(detail.into()));
        Problem { kind: Problem::blank(), title, status, detail }
    }
}
