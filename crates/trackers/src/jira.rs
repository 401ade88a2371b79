//! Jira, by version 2 of its REST interface, which both the cloud and one's own Jira speak.
//!
//! The issue comes first and the double second; if the second fails, the error has the issue.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use crate::Tracker;
use crate::draft::{Draft, Link, State, apart, plain_text};
use crate::error::Error;
use crate::http::{Body, Http, encoded, multipart, text};
use crate::settings::{Secret, given};

/// A project at a Jira.
pub struct Jira {
    http: Http,
    project: String,
    issue_type: String,
}

impl Jira {
    /// The project with this key. With a user it is a token of the cloud, without one of one's own.
    pub fn new(
        url: &str,
        project: &str,
        user: Option<&str>,
        key: &Secret,
        issue_type: &str,
    ) -> Result<Jira, Error> {
        let token = given("token", key.expose())?;
        let authorization = match user.map(str::trim).filter(|user| !user.is_empty()) {
            Some(user) => format!("Basic {}", STANDARD.encode(format!("{user}:{token}"))),
            None => format!("Bearer {token}"),
        };
        Ok(Jira {
            http: Http::new(url, vec![("Authorization", Secret::new(authorization))])?,
            project: given("project", project)?.to_owned(),
            issue_type: given("type of issue", issue_type)?.to_owned(),
        })
    }

    fn path(link: &Link) -> String {
        format!("/rest/api/2/issue/{}", encoded(&link.id))
    }

    fn attach(&self, link: &Link, draft: &Draft) -> Result<(), Error> {
        let path = format!("{}/attachments", Self::path(link));
        let body = multipart(&[], "file", &draft.double.plain_name(), &draft.double.bytes);
        let headers = [("Accept", "application/json"), ("X-Atlassian-Token", "no-check")];
        self.http.send("POST", &path, &headers, body)?.json("the double", 200).map(drop)
    }
}

/// What begins and ends a block, in any case of letters.
const NOFORMAT: &str = "noformat";

/// The text as a block that Jira does not read as markup.
fn block(text: &str) -> String {
    let text = apart(text, |c, rest| {
        let name = rest.get(..NOFORMAT.len());
        c == '{' && name.is_some_and(|name| name.eq_ignore_ascii_case(NOFORMAT))
    });
    format!("{{{NOFORMAT}}}\n{text}\n{{{NOFORMAT}}}")
}

impl Tracker for Jira {
    fn create(&self, draft: &Draft) -> Result<Link, Error> {
        let task = "a new issue";
        let issue = json!({"fields": {
            "project": {"key": self.project},
            "issuetype": {"name": self.issue_type},
            "summary": draft.title_line(),
            "description": format!("{}\n\n{}", block(&draft.text()), draft.link),
        }});
        let path = "/rest/api/2/issue";
        let answer = self.http.json(task, 201, "POST", path, Body::Json(issue))?;
        let id = text(&answer, "/key", task, "key")?;
        let url = format!("{}/browse/{}", self.http.base(), encoded(&id));
        let link = Link { id, url };
        match self.attach(&link, draft) {
            Ok(()) => Ok(link),
            Err(reason) => Err(Error::Incomplete { link, reason: Box::new(reason) }),
        }
    }

    fn state(&self, link: &Link) -> Result<State, Error> {
        let task = "the state of an issue";
        let path = format!("{}?fields=status", Self::path(link));
        let answer = self.http.json(task, 200, "GET", &path, Body::Nothing)?;
        // Names of states are the project's own; categories are Jira's.
        match answer.pointer("/fields/status/statusCategory/key").and_then(|key| key.as_str()) {
            Some("done") => Ok(State::Closed),
            Some(_) => Ok(State::Open),
            None => Err(Error::Strange { task, missing: "category of a state" }),
        }
    }

    fn comment(&self, link: &Link, text: &str) -> Result<(), Error> {
        let path = format!("{}/comment", Self::path(link));
        let body = Body::Json(json!({"body": block(&plain_text(text))}));
        self.http.json("a comment", 201, "POST", &path, body).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attack_noformat_in_any_case() {
        for end in ["{noformat}", "{NOFORMAT}", "{NoFormat:title=x}", "{{noformat}}", "{noFORMAT"] {
            let block = block(&format!("a {end} [click|https://evil.example] {end}é{{"));
            let inner = block.strip_prefix("{noformat}\n").unwrap();
            let inner = inner.strip_suffix("\n{noformat}").unwrap();
            assert!(!inner.to_lowercase().contains("{noformat"), "{inner}");
            assert_eq!(
                inner.replace("{ ", "{"),
                format!("a {end} [click|https://evil.example] {end}é{{")
            );
        }
    }
}
