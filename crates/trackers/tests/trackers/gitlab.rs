//! GitLab: a fake by the documentation of version 4 of its REST interface.

use serde_json::{Value, json};
use stunt_trackers::{Error, GitLab, Secret, State, Tracker};

use crate::fake::{Fake, Request, Verdict, text};
use crate::{bytes, draft};

const KEY: &str = "glpat-1";
const PROJECT: &str = "/api/v4/projects/group%2Fsub%2Fprogram";
const MARKDOWN: &str = "[double.bin](/uploads/66dbcd/double.bin)";

fn rules() -> impl FnMut(&Request) -> Verdict {
    let mut issue: Option<Value> = None;
    let mut uploaded = false;
    move |request| {
        if request.header("private-token")? != KEY {
            return Ok((401, json!({"message": "401 Unauthorized"})));
        }
        request.must_not_have_more_than(&["private-token", "content-type"])?;
        let path = request.path.strip_prefix(PROJECT).ok_or("not this project")?;
        match (request.method.as_str(), path, &mut issue) {
            ("POST", "/uploads", _) => {
                let (field, name, file) = request.file()?;
                if (field.as_str(), name.as_str()) != ("file", "double.bin") || file != bytes() {
                    return Err("not the double".to_owned());
                }
                uploaded = true;
                let url = "/uploads/66dbcd/double.bin";
                Ok((201, json!({"alt": name, "url": url, "markdown": MARKDOWN})))
            }
            ("POST", "/issues", issue) => {
                let new = request.object(&["title", "description"])?;
                if !uploaded || !text(&new, "/description")?.contains(MARKDOWN) {
                    return Err("the double is not in the issue".to_owned());
                }
                if text(&new, "/title")?.chars().count() > 255 {
                    return Ok((400, json!({"message": {"title": ["is too long"]}})));
                }
                let url = "https://gitlab.example/group/sub/program/-/issues/3";
                let made = json!({"id": 91, "iid": 3, "state": "opened", "web_url": url});
                *issue = Some(made.clone());
                Ok((201, made))
            }
            ("GET", "/issues/3", Some(issue)) => Ok((200, issue.clone())),
            ("POST", "/issues/3/notes", Some(issue)) => {
                let note = request.object(&["body"])?;
                if text(&note, "/body")?.contains("close it") {
                    issue["state"] = json!("closed");
                }
                Ok((201, json!({"id": 5})))
            }
            _ => Err("there is no such thing".to_owned()),
        }
    }
}

#[test]
fn gitlab_gets_an_issue_with_the_double() {
    let fake = Fake::start(rules());
    let gitlab = GitLab::new(&fake.url, "group/sub/program", &Secret::new(KEY)).unwrap();
    let mut draft = draft();
    draft.title = "x".repeat(1000);
    let link = gitlab.create(&draft).unwrap();
    assert_eq!(link.id, "3", "the number within the project");
    assert_eq!(link.url, "https://gitlab.example/group/sub/program/-/issues/3");
    assert_eq!(gitlab.state(&link).unwrap(), State::Open);
    gitlab.comment(&link, "close it").unwrap();
    assert_eq!(gitlab.state(&link).unwrap(), State::Closed);
    assert_eq!(fake.end(), Vec::<String>::new());
}

#[test]
fn gitlab_refuses_a_wrong_token() {
    let fake = Fake::start(rules());
    let gitlab = GitLab::new(&fake.url, "group/sub/program", &Secret::new("wrong")).unwrap();
    assert!(matches!(gitlab.create(&draft()), Err(Error::NotAllowed { status: 401, .. })));
    assert_eq!(fake.end(), Vec::<String>::new());
}
