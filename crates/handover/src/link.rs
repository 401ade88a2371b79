//! The address of a form that is filled in already.

use crate::issue::Issue;
use crate::way::{Project, Tracker};

/// The longest address that servers and browsers take without a question.
const LONGEST: usize = 7500;

/// The address at which an issue of a project is filled in; nothing if the text does not fit. Without the text it
/// always fits: see `bare`.
pub fn link(tracker: Tracker, project: &Project, issue: &Issue, bare: bool) -> Option<String> {
    let (path, title, body) = match tracker {
        Tracker::GitHub => ("issues/new", "title", "body"),
        Tracker::GitLab => ("-/issues/new", "issue%5Btitle%5D", "issue%5Bdescription%5D"),
    };
    let mut address = format!("{project}/{path}?{title}={}", encoded(&issue.title));
    if !bare {
        address += &format!("&{body}={}", encoded(&issue.body));
    }
    (address.len() <= LONGEST).then_some(address)
}

/// As a value in an address.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out += &format!("%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::way::Way;

    fn project(text: &str) -> (Tracker, Project) {
        match text.parse() {
            Ok(Way::Issue(tracker, Some(project))) => (tracker, project),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn forms_are_filled_in() {
        let mut issue =
            Issue { title: "a: b & c".into(), body: "```\nx=1#\n```".into(), is_whole: true };
        let (tracker, of) = project("github:o/r");
        assert_eq!(
            link(tracker, &of, &issue, false).unwrap(),
            "https://github.com/o/r/issues/new?title=a%3A%20b%20%26%20c&body=%60%60%60%0Ax%3D1%23%0A%60%60%60"
        );
        let (other, there) = project("gitlab:g/p");
        assert_eq!(
            link(other, &there, &issue, true).unwrap(),
            "https://gitlab.com/g/p/-/issues/new?issue%5Btitle%5D=a%3A%20b%20%26%20c"
        );
        issue.body = "x".repeat(LONGEST);
        assert_eq!(link(tracker, &of, &issue, false), None);
        assert!(link(tracker, &of, &issue, true).is_some());
    }
}
