//! Jira: a fake by the documentation of version 2 of its REST interface.

use serde_json::{Value, json};
use stunt_trackers::{Error, Jira, Secret, State, Tracker};

use crate::fake::{Fake, Request, Verdict, has_exactly, text};
use crate::{bytes, draft};

/// What follows when a file is attached.
#[derive(Clone, Copy)]
enum Files {
    Taken,
    Refused,
}

fn rules(authorization: &'static str, files: Files) -> impl FnMut(&Request) -> Verdict {
    let mut issue: Option<Value> = None;
    move |request| {
        request.must_have("authorization", authorization)?;
        request.must_have("accept", "application/json")?;
        match (request.method.as_str(), request.path.as_str(), &mut issue) {
            ("POST", "/jira/rest/api/2/issue", issue) => {
                request.must_not_have_more_than(&["authorization", "content-type"])?;
                let new = request.object(&["fields"])?;
                let fields = &new["fields"];
                has_exactly(fields, &["project", "issuetype", "summary", "description"])?;
                has_exactly(&fields["project"], &["key"])?;
                has_exactly(&fields["issuetype"], &["name"])?;
                let summary = text(fields, "/summary")?;
                if summary.contains('\n') || summary.chars().count() > 255 {
                    return Ok((400, json!({"errorMessages": [], "errors": {"summary": "bad"}})));
                }
                if text(fields, "/project/key")? != "PRG" {
                    let errors = json!({"project": "valid project is required"});
                    return Ok((400, json!({"errorMessages": [], "errors": errors})));
                }
                let description = text(fields, "/description")?;
                if description.matches("{noformat}").count() != 2 || description.len() > 32767 {
                    return Err("the text is not one block".to_owned());
                }
                *issue = Some(json!({"statusCategory": {"id": 2, "key": "new"}, "name": "To Do"}));
                Ok((201, json!({"id": "10000", "key": "PRG-24", "self": "x"})))
            }
            ("POST", "/jira/rest/api/2/issue/PRG-24/attachments", Some(_)) => {
                request.must_have("x-atlassian-token", "no-check")?;
                let (field, name, file) = request.file()?;
                if (field.as_str(), name.as_str()) != ("file", "double.bin") || file != bytes() {
                    return Err("not the double".to_owned());
                }
                Ok(match files {
                    Files::Taken => (200, json!([{"id": "1", "filename": name}])),
                    Files::Refused => (413, json!({"errorMessages": ["too large"]})),
                })
            }
            ("GET", "/jira/rest/api/2/issue/PRG-24?fields=status", Some(status)) => {
                Ok((200, json!({"key": "PRG-24", "fields": {"status": status}})))
            }
            ("POST", "/jira/rest/api/2/issue/PRG-24/comment", Some(status)) => {
                let comment = request.object(&["body"])?;
                if text(&comment, "/body")?.contains("close it") {
                    *status =
                        json!({"statusCategory": {"id": 3, "key": "done"}, "name": "Shipped"});
                }
                Ok((201, json!({"id": "1"})))
            }
            _ => Err("there is no such thing".to_owned()),
        }
    }
}

#[test]
fn jira_gets_an_issue_with_the_double() {
    // base64 of ada@example.org:token
    let fake = Fake::start(rules("Basic YWRhQGV4YW1wbGUub3JnOnRva2Vu", Files::Taken));
    let (url, key) = (format!("{}/jira/", fake.url), Secret::new("token"));
    let jira = Jira::new(&url, "PRG", Some("ada@example.org"), &key, "Bug").unwrap();
    let link = jira.create(&draft()).unwrap();
    assert_eq!(link.id, "PRG-24");
    assert_eq!(link.url, format!("{}/jira/browse/PRG-24", fake.url));
    assert_eq!(jira.state(&link).unwrap(), State::Open);
    jira.comment(&link, "close it").unwrap();
    assert_eq!(jira.state(&link).unwrap(), State::Closed);
    assert_eq!(fake.end(), Vec::<String>::new());
}

#[test]
fn a_jira_of_ones_own_takes_a_personal_token() {
    let fake = Fake::start(rules("Bearer pat", Files::Taken));
    let (url, key) = (format!("{}/jira", fake.url), Secret::new("pat"));
    assert!(Jira::new(&url, "PRG", None, &key, "Bug").unwrap().create(&draft()).is_ok());
    let wrong = Jira::new(&url, "ABC", Some(" "), &key, "Bug").unwrap().create(&draft());
    let error = wrong.unwrap_err();
    assert!(error.to_string().contains("valid project is required"), "{error}");
    assert_eq!(fake.end(), Vec::<String>::new());
}

#[test]
fn an_issue_without_its_double_is_not_lost() {
    let fake = Fake::start(rules("Bearer pat", Files::Refused));
    let url = format!("{}/jira", fake.url);
    let jira = Jira::new(&url, "PRG", None, &Secret::new("pat"), "Bug").unwrap();
    match jira.create(&draft()) {
        Err(Error::Incomplete { link, reason }) => {
            assert_eq!(link.id, "PRG-24");
            assert!(matches!(*reason, Error::Refused { status: 413, .. }));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(fake.end(), Vec::<String>::new());
}
