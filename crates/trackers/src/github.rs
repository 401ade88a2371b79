//! GitHub, by its REST interface. There is no way to attach a file: the text says where it is.
//!
//! Always: the text stands in a fenced block, so that a name in it calls nobody.

use serde_json::{Value, json};

use crate::Tracker;
use crate::draft::{Draft, Link, State, fenced, plain_text};
use crate::error::Error;
use crate::http::{Body, Http, address, encoded, text};
use crate::settings::{Secret, given};

/// A repository at GitHub.
pub struct GitHub {
    http: Http,
    issues: String,
}

impl GitHub {
    /// The repository `owner/name`.
    pub fn new(url: &str, repository: &str, key: &Secret) -> Result<GitHub, Error> {
        let token = given("token", key.expose())?;
        let (owner, name) = repository
            .split_once('/')
            .filter(|(owner, name)| !owner.is_empty() && !name.is_empty() && !name.contains('/'))
            .ok_or_else(|| Error::Settings("the repository must be like owner/name".to_owned()))?;
        let headers = vec![
            ("Authorization", Secret::new(format!("Bearer {token}"))),
            ("Accept", Secret::new("application/vnd.github+json")),
            ("X-GitHub-Api-Version", Secret::new("2022-11-28")),
        ];
        let issues = format!("/repos/{}/{}/issues", encoded(owner), encoded(name));
        Ok(GitHub { http: Http::new(url, headers)?, issues })
    }

    fn ask(
        &self,
        task: &'static str,
        expected: u16,
        path: &str,
        body: Option<Value>,
    ) -> Result<Value, Error> {
        let answer = match body {
            None => self.http.send("GET", path, &[], Body::Nothing)?,
            Some(body) => self.http.send("POST", path, &[], Body::Json(body))?,
        };
        answer.json(task, expected)
    }
}

impl Tracker for GitHub {
    fn create(&self, draft: &Draft) -> Result<Link, Error> {
        let task = "a new issue";
        let body = format!(
            "{}\n\nThe double ({} bytes), its leak graph and its replay: {}",
            fenced(&draft.text()),
            draft.double.bytes.len(),
            draft.link
        );
        let issue = json!({"title": draft.title_line(), "body": body});
        let answer = self.ask(task, 201, &self.issues, Some(issue))?;
        Ok(Link {
            id: text(&answer, "/number", task, "number")?,
            url: address(&answer, "/html_url", task)?,
        })
    }

    fn state(&self, link: &Link) -> Result<State, Error> {
        let task = "the state of an issue";
        let path = format!("{}/{}", self.issues, encoded(&link.id));
        let answer = self.ask(task, 200, &path, None)?;
        match answer["state"].as_str() {
            Some("open") => Ok(State::Open),
            Some("closed") => Ok(State::Closed),
            _ => Err(Error::Strange { task, missing: "state" }),
        }
    }

    fn comment(&self, link: &Link, text: &str) -> Result<(), Error> {
        let path = format!("{}/{}/comments", self.issues, encoded(&link.id));
        let body = json!({"body": fenced(&plain_text(text))});
        self.ask("a comment", 201, &path, Some(body)).map(drop)
    }
}
