//! The real Redmine: an issue with the double, its state, comments, and refusals.

use serde_json::{Value, json};
use stunt_trackers::{Draft, Error, Link, Redmine, Secret, State, Tracker};

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
    assert!(page.contains("&lt; script&gt;alert(1)"), "shown as text");
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

/// What ends a block of text in one format or the other, and what would come behind it.
const ENDINGS: [&str; 12] = [
    "</code>",
    "</pre>",
    "</CODE >",
    "</Pre>",
    "<pre>",
    "<code>",
    "</notextile>",
    "</kbd>",
    "</style>",
    "</script>",
    "</textarea>",
    "<notextile>",
];

#[test]
fn attack_markup_for_redmine() {
    let server = redmine();
    let look = |path: &str| {
        let page = fetch(&format!("{}{path}", server.url), &[("X-Redmine-API-Key", REDMINE_KEY)]);
        String::from_utf8(page.unwrap()).unwrap()
    };
    let tracker = Redmine::new(&server.url, "program", &Secret::new(REDMINE_KEY)).unwrap();
    let body: String = ENDINGS
        .iter()
        .map(|ending| {
            format!(
                "{ending}\n\nh1. heading\n\n# heading\n\n\"click\":https://evil.example/ \
                 [click](https://evil.example/) !https://evil.example/a.png! \
                 ![x](https://evil.example/a.png) *bold* **bold** {{{{collapse(x)\nin\n}}}}\n\
                 <img src=https://evil.example/b.png onerror=alert(1)>\n\n"
            )
        })
        .collect();
    for format in ["textile", "markdown", "common_mark"] {
        server.set_text_formatting(format);
        let link = tracker.create(&Draft { body: body.clone(), ..draft() }).unwrap();
        tracker.comment(&link, &body).unwrap();
        let page = look(&format!("/issues/{}", link.id));
        // Every text of ours begins with the first ending, as text; in a form it stands once more.
        let shown = page.matches("&lt; /code&gt;").count();
        assert!(shown >= 2, "{format}: both texts are there");
        let lower = page.to_lowercase();
        for made in [
            "href=\"https://evil.example",
            "src=\"https://evil.example",
            "<img src=https://evil",
            "<h1>heading",
            "<h1>\nheading",
            "<strong>bold",
            "collapse-block",
            "class=\"external\" href=\"https://evil",
        ] {
            assert!(!lower.contains(made), "{format}: {made}");
        }
    }
}
