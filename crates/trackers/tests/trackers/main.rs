//! Trackers, as they really are where they can be installed, and as strict fakes where not.
//!
//! Redmine and Trac are the real servers, started for the test and ended with it. GitHub, GitLab
//! and Jira are fakes that know their documented interfaces and refuse everything else; a test
//! fails if its fake had anything to refuse that the test did not ask for.

mod fake;
mod github;
mod gitlab;
mod jira;
mod real;
mod redmine;
mod trac;

use stunt_trackers::{Attachment, Draft};

/// An issue whose text tries to be markup in every tracker.
pub fn draft() -> Draft {
    Draft {
        title: "a write past the end of an array\nin process_message (webserver.c:31)".to_owned(),
        body: "process_message  webserver.c:31\nmain  webserver.c:58\n\n\
               @everyone {{{ }}} </pre> {noformat} ``` <script>alert(1)</script> [[Image(x)]]"
            .to_owned(),
        double: Attachment { name: "double.bin".to_owned(), bytes: bytes() },
        link: "https://stunt.example/tickets/T-12".to_owned(),
    }
}

/// Every byte, and what looks like the end of a form.
pub fn bytes() -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..=255).collect();
    bytes.extend_from_slice(b"\r\n--stunt-boundary-0000000000000000--\r\n");
    bytes
}
