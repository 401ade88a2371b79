//! The real Redmine: an issue with the double, its state, comments, and refusals.

use serde_json::{Value, json};
use stunt_trackers::{Error, Link, Redmine, Secret, State, Tracker};

use crate::real::{REDMINE_KEY, fetch, redmine};
use crate::{bytes, draft};

#[test]
fn redmine_gets_an_issue_with_the_double() {
    let server = redmine();
    let key = Secret::new(REDMINE_KEY);
    let redmine = Redmine::new(&server.url, "program", &key).unwrap();
    let look =
        |path: &str| fetch(&format!("{}{path}", server.url), &[("X-Redmine-API-Key", REDMINE_KEY)]);

    let link = redmine.create(&draft()).unwrap();
    assert_eq!(link.url, format!("{}/issues/{}", server.url, link.id));
    let page = String::from_utf8(look(&format!("/issues/{}", link.id)).unwrap()).unwrap();
    assert!(page.contains("&lt;script&gt;alert(1)"), "shown as text");
    assert!(!page.contains("<script>alert(1)"));

    let path = format!("/issues/{}.json?include=attachments,journals", link.id);
    let issue = || -> Value { serde_json::from_slice(&look(&path).unwrap()).unwrap() };
    let made = issue();
    let title = "a write past the end of an array in process_message (webserver.c:31)";
    assert_eq!(made["issue"]["subject"], title);
    let text = made["issue"]["description"].as_str().unwrap();
    assert!(
        text.contains("process_message") && text.contains("https://stunt.example/tickets/T-12")
    );
    let files = made["issue"]["attachments"].as_array().unwrap();
    assert_eq!(files.len(), 1);
    assert_eq!(files[0]["filename"], "double.bin");
    let path = format!("/attachments/download/{}/double.bin", files[0]["id"]);
    assert_eq!(look(&path).unwrap(), bytes(), "byte by byte");

    assert_eq!(redmine.state(&link).unwrap(), State::Open);
    redmine.comment(&link, "no longer fails with build 17").unwrap();
    let notes = issue()["issue"]["journals"][0]["notes"].as_str().unwrap().to_owned();
    assert!(notes.contains("no longer fails with build 17"), "{notes}");

    // A person closes it: 5 is Closed, 2 is In Progress.
    let set = |status: u32| {
        ureq::put(format!("{}/issues/{}.json", server.url, link.id))
            .header("X-Redmine-API-Key", REDMINE_KEY)
            .send_json(json!({"issue": {"status_id": status}}))
            .unwrap();
    };
    set(5);
    assert_eq!(redmine.state(&link).unwrap(), State::Closed);
    set(2);
    assert_eq!(redmine.state(&link).unwrap(), State::Open, "opened again");

    let wrong = Redmine::new(&server.url, "program", &Secret::new("0".repeat(40))).unwrap();
    assert!(matches!(wrong.create(&draft()), Err(Error::NotAllowed { .. })));
    let other = Redmine::new(&server.url, "another", &key).unwrap();
    assert!(matches!(other.create(&draft()), Err(Error::Refused { status: 422, .. })));
    let gone = Link { id: "999".to_owned(), url: String::new() };
    assert!(matches!(redmine.state(&gone), Err(Error::Refused { status: 404, .. })));
    assert!(redmine.comment(&gone, "x").is_err());
}
