//! GitHub: a fake by the documentation of its REST interface, version 2022-11-28.

use serde_json::{Value, json};
use stunt_trackers::{Error, GitHub, Link, Secret, State, Tracker};

use crate::draft;
use crate::fake::{Fake, Request, Verdict, text};

const KEY: &str = "github_pat_11AAAA";

/// Issue 7 of `octo/program`, which is there after it was made.
fn rules(mut issue: Option<Value>) -> impl FnMut(&Request) -> Verdict {
    move |request| {
        if request.header("authorization")? != format!("Bearer {KEY}") {
            return Ok((401, json!({"message": "Bad credentials"})));
        }
        request.must_have("accept", "application/vnd.github+json")?;
        request.must_have("x-github-api-version", "2022-11-28")?;
        if request.header("user-agent")?.is_empty() {
            return Err("GitHub wants a user agent".to_owned());
        }
        request.must_not_have_more_than(&[
            "authorization",
            "x-github-api-version",
            "content-type",
        ])?;
        match (request.method.as_str(), request.path.as_str(), &mut issue) {
            ("POST", "/repos/octo/program/issues", issue) => {
                let new = request.object(&["title", "body"])?;
                if text(&new, "/title")?.chars().count() > 256 || text(&new, "/body")?.len() > 65536
                {
                    return Ok((422, json!({"message": "Validation Failed"})));
                }
                let made = json!({
                    "number": 7, "state": "open", "title": new["title"], "body": new["body"],
                    "html_url": "https://github.example/octo/program/issues/7",
                });
                *issue = Some(made.clone());
                Ok((201, made))
            }
            ("POST", "/repos/octo/busy/issues", _) => Ok((429, json!({"message": "slow down"}))),
            ("POST", "/repos/octo/moved/issues", _) => Ok((301, json!({"message": "Moved"}))),
            ("GET", "/repos/octo/program/issues/7", Some(issue)) => Ok((200, issue.clone())),
            ("GET", "/repos/octo/program/issues/8", _) => {
                Ok((404, json!({"message": "Not Found"})))
            }
            ("POST", "/repos/octo/program/issues/7/comments", Some(issue)) => {
                let comment = request.object(&["body"])?;
                // The test closes the issue by a comment, as people do.
                if text(&comment, "/body")?.contains("close it") {
                    issue["state"] = json!("closed");
                }
                Ok((201, json!({"id": 1, "body": comment["body"]})))
            }
            _ => Err("there is no such thing".to_owned()),
        }
    }
}

#[test]
fn github_gets_an_issue_with_a_link_to_the_double() {
    let fake = Fake::start(rules(None));
    let github = GitHub::new(&fake.url, "octo/program", &Secret::new(KEY)).unwrap();
    let link = github.create(&draft()).unwrap();
    assert_eq!(link.id, "7");
    assert_eq!(link.url, "https://github.example/octo/program/issues/7");
    assert_eq!(github.state(&link).unwrap(), State::Open);
    github.comment(&link, "no longer fails with build 17").unwrap();
    assert_eq!(github.state(&link).unwrap(), State::Open);
    github.comment(&link, "close it").unwrap();
    assert_eq!(github.state(&link).unwrap(), State::Closed);
    assert_eq!(fake.end(), Vec::<String>::new());
}

#[test]
fn what_goes_to_github_is_text() {
    let fake = Fake::start(|request| {
        let new = request.object(&["title", "body"])?;
        let title = "a write past the end of an array in process_message (webserver.c:31)";
        assert_eq!(text(&new, "/title")?, title);
        let body = text(&new, "/body")?;
        let (fence, rest) = body.split_once("text\n").ok_or("no block")?;
        if fence != "````" {
            return Err(format!("the fence {fence} is not longer than the one inside"));
        }
        let (inside, after) = rest.split_once("\n````\n").ok_or("no end of the block")?;
        if !inside.contains("@everyone") || after.contains('@') {
            return Err("somebody would be called".to_owned());
        }
        if !after.contains("https://stunt.example/tickets/T-12") {
            return Err("no link".to_owned());
        }
        Ok((201, json!({"number": 1, "html_url": "https://github.example/1"})))
    });
    GitHub::new(&fake.url, "octo/program", &Secret::new(KEY)).unwrap().create(&draft()).unwrap();
    assert_eq!(fake.end(), Vec::<String>::new());
}

#[test]
fn refusals_of_github_are_told_apart() {
    let fake = Fake::start(rules(None));
    let at = |repository: &str, key: &str| {
        GitHub::new(&fake.url, repository, &Secret::new(key)).unwrap().create(&draft()).unwrap_err()
    };
    assert!(matches!(at("octo/program", "wrong"), Error::NotAllowed { status: 401, .. }));
    assert!(matches!(at("octo/busy", KEY), Error::Busy { seconds: 7, .. }));
    assert!(matches!(at("octo/moved", KEY), Error::Refused { status: 301, .. }), "not followed");
    let github = GitHub::new(&fake.url, "octo/program", &Secret::new(KEY)).unwrap();
    let gone = Link { id: "8".to_owned(), url: String::new() };
    assert!(matches!(github.state(&gone), Err(Error::Refused { status: 404, .. })));
    assert_eq!(fake.end(), Vec::<String>::new());
}

#[test]
fn a_strange_answer_and_no_answer_are_errors() {
    let fake = Fake::start(|_| Ok((201, json!({"number": 7}))));
    let github = GitHub::new(&fake.url, "o/r", &Secret::new(KEY)).unwrap();
    assert!(matches!(github.create(&draft()), Err(Error::Strange { missing: "address", .. })));
    let url = fake.url.clone();
    fake.end();
    let github = GitHub::new(&url, "o/r", &Secret::new(KEY)).unwrap();
    let error = github.create(&draft()).unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
    assert!(!error.to_string().contains(KEY));
}

#[test]
fn the_fake_is_strict() {
    let fake = Fake::start(rules(None));
    let other = GitHub::new(&fake.url, "octo/another", &Secret::new(KEY)).unwrap();
    assert!(other.create(&draft()).is_err());
    assert_eq!(fake.end(), ["POST /repos/octo/another/issues: there is no such thing"]);
}
