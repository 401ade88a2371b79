//! GitLab, by its REST interface: the double is uploaded to the project, and the text shows it.

use serde_json::json;

use crate::Tracker;
use crate::draft::{Draft, Link, State, fenced, plain_text};
use crate::error::Error;
use crate::http::{Body, Http, address, encoded, multipart, text};
use crate::settings::{Secret, given};

/// A project at a GitLab.
pub struct GitLab {
    http: Http,
    project: String,
}

impl GitLab {
    /// The project with the path `group/name`, or with this number.
    pub fn new(url: &str, project: &str, key: &Secret) -> Result<GitLab, Error> {
        let token = given("token", key.expose())?;
        if token.contains(|c: char| !c.is_ascii_graphic()) {
            return Err(Error::Settings("the token has characters it cannot have".to_owned()));
        }
        let http = Http::new(url, vec![("PRIVATE-TOKEN", Secret::new(token))])?;
        let project = format!("/api/v4/projects/{}", encoded(given("project", project)?));
        Ok(GitLab { http, project })
    }

    fn issue(&self, link: &Link) -> String {
        format!("{}/issues/{}", self.project, encoded(&link.id))
    }
}

impl Tracker for GitLab {
    fn create(&self, draft: &Draft) -> Result<Link, Error> {
        let path = format!("{}/uploads", self.project);
        let body = multipart(&[], "file", &draft.double.plain_name(), &draft.double.bytes);
        let answer = self.http.json("the double", 201, "POST", &path, body)?;
        let markdown = text(&answer, "/markdown", "the double", "markdown")?;

        let task = "a new issue";
        let path = format!("{}/issues", self.project);
        let description = format!("{}\n\n{markdown}\n\n{}", fenced(&draft.text()), draft.link);
        let issue = json!({"title": draft.title_line(), "description": description});
        let answer = self.http.json(task, 201, "POST", &path, Body::Json(issue))?;
        Ok(Link {
            id: text(&answer, "/iid", task, "number")?,
            url: address(&answer, "/web_url", task)?,
        })
    }

    fn state(&self, link: &Link) -> Result<State, Error> {
        let task = "the state of an issue";
        let answer = self.http.json(task, 200, "GET", &self.issue(link), Body::Nothing)?;
        match answer["state"].as_str() {
            Some("opened") => Ok(State::Open),
            Some("closed") => Ok(State::Closed),
            _ => Err(Error::Strange { task, missing: "state" }),
        }
    }

    fn comment(&self, link: &Link, text: &str) -> Result<(), Error> {
        let path = format!("{}/notes", self.issue(link));
        let body = Body::Json(json!({"body": fenced(&plain_text(text))}));
        self.http.json("a comment", 201, "POST", &path, body).map(drop)
    }
}
