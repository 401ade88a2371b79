//! Redmine, by its REST interface: the double is uploaded first, then the issue takes it along.
//!
//! Always: an issue has its double, because the two are made in one request; an upload that no
//! issue takes is dropped by Redmine after a day. The text stands in a `<pre>` block, which both of
//! Redmine's text formats show as it is.

use serde_json::{Value, json};

use crate::draft::{Draft, Link, State, apart, plain_text};
use crate::error::Error;
use crate::http::{Body, Http, encoded, text};
use crate::settings::{Secret, given};
use crate::{Attachment, Tracker};

/// A project of a Redmine.
pub struct Redmine {
    http: Http,
    project: String,
}

impl Redmine {
    /// The project with the identifier `project`.
    pub fn new(url: &str, project: &str, key: &Secret) -> Result<Redmine, Error> {
        given("key", key.expose())?;
        let http = Http::new(url, vec![("X-Redmine-API-Key", key.clone())])?;
        Ok(Redmine { http, project: given("project", project)?.to_owned() })
    }

    fn upload(&self, file: &Attachment) -> Result<String, Error> {
        let path = format!("/uploads.json?filename={}", encoded(&file.plain_name()));
        let body = Body::Bytes("application/octet-stream".to_owned(), file.bytes.clone());
        let answer = self.http.json("the double", 201, "POST", &path, body)?;
        text(&answer, "/upload/token", "the double", "token")
    }

    fn path(link: &Link) -> String {
        format!("/issues/{}.json", encoded(&link.id))
    }

    /// Whether a status is one of those that close. Redmine before 5.0 says so only in its list.
    fn closes(&self, status: &Value) -> Result<bool, Error> {
        let task = "the state of an issue";
        if let Some(closed) = status.get("is_closed").and_then(Value::as_bool) {
            return Ok(closed);
        }
        let missing = "status";
        let id = status.get("id").ok_or(Error::Strange { task, missing })?;
        let list = self.http.json(task, 200, "GET", "/issue_statuses.json", Body::Nothing)?;
        let list = list.get("issue_statuses").and_then(Value::as_array);
        let found = list.into_iter().flatten().find(|known| known.get("id") == Some(id));
        found.map(|known| known["is_closed"] == true).ok_or(Error::Strange { task, missing })
    }
}

/// The text as a block that no format reads. Which tags end a block depends on the format (in Textile
/// `</code>` ends `<pre>`, in CommonMark `</style>` does), in any case of letters: so there is no tag in
/// it, whatever it is called.
fn block(text: &str) -> String {
    let tag = |next: char| next.is_alphabetic() || "/!?".contains(next);
    let text = apart(text, |c, rest| c == '<' && rest.starts_with(tag));
    format!("<pre>\n{text}\n</pre>")
}

impl Tracker for Redmine {
    fn create(&self, draft: &Draft) -> Result<Link, Error> {
        let task = "a new issue";
        let token = self.upload(&draft.double)?;
        let issue = json!({"issue": {
            "project_id": self.project,
            "subject": draft.title_line(),
            "description": format!("{}\n\n{}", block(&draft.text()), draft.link),
            "uploads": [{
                "token": token,
                "filename": draft.double.plain_name(),
                "content_type": "application/octet-stream",
            }],
        }});
        let answer = self.http.json(task, 201, "POST", "/issues.json", Body::Json(issue))?;
        let id = text(&answer, "/issue/id", task, "id")?;
        let url = format!("{}/issues/{id}", self.http.base());
        Ok(Link { id, url })
    }

    fn state(&self, link: &Link) -> Result<State, Error> {
        let task = "the state of an issue";
        let answer = self.http.json(task, 200, "GET", &Self::path(link), Body::Nothing)?;
        let status =
            answer.pointer("/issue/status").ok_or(Error::Strange { task, missing: "status" })?;
        Ok(if self.closes(status)? { State::Closed } else { State::Open })
    }

    fn comment(&self, link: &Link, text: &str) -> Result<(), Error> {
        let body = Body::Json(json!({"issue": {"notes": block(&plain_text(text))}}));
        let answer = self.http.send("PUT", &Self::path(link), &[], body)?;
        // 204 in every version; older ones answered 200.
        if matches!(answer.status, 200 | 204) { Ok(()) } else { Err(answer.error("a comment")) }
    }
}
