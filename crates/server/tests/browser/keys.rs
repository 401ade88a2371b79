//! By keys alone: the skip link, searching, walking through the list, and turning the keys off.

use std::time::Duration;

use stunt_server::store::{NewBuild, Outcome, ReplayResult, TicketId};

use crate::logged_in;
use crate::site::{Site, webserver};

const FOCUSED: &str = "document.activeElement.textContent.trim()";

#[test]
fn the_list_can_be_walked_by_keys() {
    let site = Site::start(None).with_tickets();
    let mut page = logged_in(&site, "max");

    // The first stop of the tab key leads past the navigation, and can be seen there.
    page.key("Tab");
    assert_eq!(page.eval(FOCUSED), "Skip to the content");
    assert_eq!(page.eval("document.activeElement.getBoundingClientRect().left >= 0"), true);
    page.key("Enter");
    assert_eq!(page.eval("document.activeElement.id"), "main");

    // j and k walk, and stop at the ends.
    page.key("j");
    let first = page.eval(FOCUSED);
    page.key("j");
    let second = page.eval(FOCUSED);
    assert_ne!(first, second);
    page.key("k");
    page.key("k");
    assert_eq!(page.eval(FOCUSED), first);
    let outline = page.eval("getComputedStyle(document.activeElement).outlineStyle");
    assert_eq!(outline, "solid", "the focus is to be seen");

    // A slash searches; letters are letters there; the list follows without a new page.
    page.key("/");
    assert_eq!(page.eval("document.activeElement.id"), "search");
    page.eval("window.stay = true; 1");
    for letter in ["j", "s", "o", "n"] {
        page.key(letter);
    }
    assert_eq!(page.eval("document.activeElement.value"), "json");
    page.wait_for("document.querySelectorAll('a.ticket').length === 1");
    assert!(page.text("a.ticket").contains("skip_string"));
    assert_eq!(page.eval("window.stay"), true, "the page was not loaded again");
    page.wait_for("location.search.includes('search=json')");
    assert_eq!(page.eval("document.activeElement.id"), "search", "the focus stays");

    page.wait_for("!document.querySelector('.htmx-request, .htmx-swapping, .htmx-settling')");

    // Escape leaves the search, j goes to the ticket, Enter opens it, u leads back.
    page.key("Escape");
    assert_eq!(page.eval("document.getElementById('search').value"), "json", "it is not emptied");
    page.key("j");
    assert!(
        page.eval(FOCUSED).as_str().unwrap().contains("skip_string"),
        "the ticket has the focus"
    );
    page.go(|page| page.key("Enter"));
    assert!(page.path().starts_with("/tickets/T-"));
    page.go(|page| page.key("u"));
    assert!(page.path().starts_with("/?search=json"), "the list is as it was: {}", page.path());
    assert_eq!(page.eval("document.querySelectorAll('a.ticket').length"), 1);

    // Keys can be turned off, and that is remembered.
    page.click("#keys");
    assert_eq!(page.text("#keys"), "Keys are off");
    page.go(|page| {
        page.call("Page.reload", &serde_json::json!({}));
    });
    page.wait_for("document.getElementById('keys').textContent === 'Keys are off'");
    page.key("j");
    assert_eq!(page.eval("document.activeElement === document.body"), true);
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn what_changes_by_itself_is_read_out() {
    let site = Site::start(None).with_tickets();
    let (store, ticket) = (site.store(), TicketId(1));
    let build_id = webserver().0.program.build_id.unwrap();
    site.wait(async {
        let build = NewBuild {
            build_id: build_id.clone(),
            name: "webserver".to_owned(),
            version: None,
            data: vec![0; 10],
        };
        store.add_build("max", &build).await.unwrap();
        store.request_replay("max", ticket, &build_id, None).await.unwrap();
    });
    let mut page = logged_in(&site, "max");
    page.open(&format!("{}/tickets/T-1", site.url));
    assert!(page.text("#work").contains("waits for a worker"));
    page.eval("for (const id of ['work', 'news']) document.getElementById(id).same = true; 1");
    // While there is no news, nothing is swapped under the reader.
    let asked = "performance.getEntriesByType('resource').filter((it) => \
                 it.name.includes('/work?seen=')).length";
    page.wait_for(&format!("{asked} >= 2"));
    assert_eq!(page.eval("document.getElementById('work').same"), true);
    assert_eq!(page.text("#news"), "");
    site.wait(async {
        let job = store.take_job("test", Duration::from_secs(60)).await.unwrap().unwrap();
        let result = ReplayResult { outcome: Outcome::Same, ..ReplayResult::untried("") };
        store.finish_job(job.replay, Some("test"), &result).await.unwrap();
    });
    page.wait_for("document.querySelector('.verdict').innerText === 'fails as reported'");
    page.wait_for("document.getElementById('news').textContent === 'Replay: fails as reported.'");
    assert_eq!(page.eval("document.getElementById('news').same"), true, "what is read out stays");
    assert_eq!(page.complaints(), Vec::<String>::new());
}
