//! What can go wrong between us and a tracker, in sentences.
//!
//! What a tracker answers is shown in part, because it says what to change; it is a stranger's
//! text, so it comes without control characters. Keys are never in it: they are only ever sent.

use crate::draft::{Link, one_line};

/// Why a tracker did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The settings cannot be right.
    #[error("the tracker's settings cannot be right: {0}")]
    Settings(String),
    /// No answer came.
    #[error("the tracker at {url} cannot be reached: {reason}")]
    Unreachable {
        /// Whom we asked, without anything private.
        url: String,
        /// What happened instead.
        reason: String,
    },
    /// The tracker does not accept the key or the password.
    #[error("the tracker does not accept our key for {task} (status {status})")]
    NotAllowed {
        /// What was asked for.
        task: &'static str,
        /// The status of the answer.
        status: u16,
    },
    /// The tracker refuses.
    #[error("the tracker refuses {task} (status {status}): {reason}")]
    Refused {
        /// What was asked for.
        task: &'static str,
        /// The status of the answer.
        status: u16,
        /// What the tracker says about it.
        reason: String,
    },
    /// The tracker asks us to come back later.
    #[error("the tracker is too busy for {task}; ask again in {seconds} seconds")]
    Busy {
        /// What was asked for.
        task: &'static str,
        /// When to ask again.
        seconds: u64,
    },
    /// The answer is not what the tracker's documentation says.
    #[error("the tracker's answer to {task} has no {missing}")]
    Strange {
        /// What was asked for.
        task: &'static str,
        /// What the answer should have.
        missing: &'static str,
    },
    /// The issue is there, but something of it is not.
    #[error("the issue {} was made, but it is not complete: {reason}", link.url)]
    Incomplete {
        /// The issue.
        link: Link,
        /// What went wrong then.
        reason: Box<Error>,
    },
}

impl Error {
    /// The error for a status that is not the expected one.
    pub(crate) fn of_status(
        task: &'static str,
        status: u16,
        retry: Option<u64>,
        body: &[u8],
    ) -> Error {
        match status {
            401 | 403 if retry.is_none() => Error::NotAllowed { task, status },
            403 | 429 | 503 => Error::Busy { task, seconds: retry.unwrap_or(60) },
            _ => Error::Refused { task, status, reason: excerpt(body) },
        }
    }
}

/// The beginning of an answer, as one line.
fn excerpt(body: &[u8]) -> String {
    match one_line(&String::from_utf8_lossy(body), 200) {
        line if line.is_empty() => "without a reason".to_owned(),
        line => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_become_sentences() {
        let error = |status, retry, body: &str| {
            Error::of_status("a new issue", status, retry, body.as_bytes()).to_string()
        };
        assert_eq!(
            error(401, None, "secret"),
            "the tracker does not accept our key for a new issue (status 401)"
        );
        assert_eq!(
            error(403, Some(7), ""),
            "the tracker is too busy for a new issue; ask again in 7 seconds"
        );
        assert_eq!(
            error(422, None, "{\"errors\":\n[\"Subject\u{1b}[2J cannot be blank\"]}"),
            "the tracker refuses a new issue (status 422): \
             {\"errors\": [\"Subject [2J cannot be blank\"]}"
        );
        assert!(error(500, None, "").ends_with("without a reason"));
        assert!(error(500, None, &"x".repeat(5000)).len() < 300);
    }
}
