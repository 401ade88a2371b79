//! Without scripts everything works: forms, links, and looking again.

use std::time::Duration;

use stunt_server::store::{Outcome, ReplayResult};

use crate::chromium::Page;
use crate::site::Site;
use crate::{log_in, logged_in};

#[test]
fn a_maintainer_needs_no_scripts() {
    let site = Site::start(None).with_tickets();
    let mut page = Page::start();
    page.without_scripts();

    // Whoever is not logged in is, and comes to where they wanted to go.
    page.open(&format!("{}/tickets/T-3", site.url));
    assert!(page.path().starts_with("/login?next="), "{}", page.path());
    page.fill("#name", "max");
    page.fill("#password", "wrong password");
    page.go(|page| page.click("button.main"));
    assert!(page.text("[role=alert]").contains("wrong"));
    log_in(&mut page, "max");
    assert_eq!(page.path(), "/tickets/T-3");

    // Search by the form's button.
    page.open(&site.url);
    assert_eq!(page.eval("document.querySelectorAll('a.ticket').length"), 5);
    page.fill("#search", "skip_str");
    page.go(|page| page.click(".filters button"));
    assert_eq!(page.eval("document.querySelectorAll('a.ticket').length"), 1);
    page.go(|page| page.click("a.ticket"));
    assert!(page.text("h1").contains("skip_string"));

    // A note, as text.
    page.fill("#note", "<b>not bold</b>\nsecond line");
    page.go(|page| page.click("#notes button"));
    assert_eq!(page.text(".note .lines"), "<b>not bold</b>\nsecond line");

    // Fixed, gone from the list, and open again.
    page.go(|page| page.click("[aria-labelledby=state-h] button"));
    assert_eq!(page.text(".facts .state"), "fixed");
    page.open(&site.url);
    assert_eq!(page.eval("document.querySelectorAll('a.ticket').length"), 4);
    page.open(&format!("{}/?state=fixed", site.url));
    page.go(|page| page.click("a.ticket"));
    page.go(|page| page.click("[aria-labelledby=state-h] button"));
    assert_eq!(page.text(".facts .state"), "open");

    // Out.
    page.go(|page| page.click(".leave button"));
    assert_eq!(page.path(), "/login");
    page.open(&site.url);
    assert!(page.path().starts_with("/login"));
}

#[test]
fn a_replay_is_looked_at_again_without_scripts() {
    let site = Site::start(None).with_tickets();
    let mut page = Page::start();
    page.without_scripts();
    page.open(&format!("{}/builds", site.url));
    log_in(&mut page, "max");

    // Any program will do: nobody runs it here.
    let program = site.folder().join("jsonq");
    std::fs::copy("/bin/true", &program).unwrap();
    page.fill("#version", "1.0");
    page.choose_file("#file", &program);
    page.go(|page| page.click("main button.main"));
    assert!(page.text("table").contains("jsonq"));

    page.open(&format!("{}/tickets/T-3", site.url));
    page.go(|page| page.click("#work form button"));
    assert_eq!(page.text(".replay .verdict"), "waits for a worker");
    page.go(|page| page.click("a.again"));
    assert_eq!(page.text(".replay .verdict"), "waits for a worker");
    let store = site.store();
    site.wait(async {
        let job = store.take_job("test", Duration::from_secs(60)).await.unwrap().unwrap();
        let result = ReplayResult { outcome: Outcome::NoFailure, ..ReplayResult::untried("") };
        store.finish_job(job.replay, Some("test"), &result).await.unwrap();
    });
    page.go(|page| page.click("a.again"));
    assert_eq!(page.text(".replay .verdict"), "does not fail");
    assert_eq!(page.eval("document.querySelector('a.again')"), serde_json::Value::Null);
}

#[test]
fn admins_see_more_than_maintainers() {
    let site = Site::start(None);
    let mut page = logged_in(&site, "max");
    assert!(page.text(".empty").contains("no ticket"));
    assert!(!page.text(".top").contains("Settings"));
    page.open(&format!("{}/settings", site.url));
    assert!(page.text("body").contains("This is for a user who is admin"));

    let mut page = logged_in(&site, "ada");
    page.go(|page| page.click("a[href='/settings']"));
    page.fill("#title", "Failures of Program");
    page.go(|page| page.click("main button.main"));
    assert_eq!(page.text(".site"), "Failures of Program");

    // A user, a token that is shown once, and what the log says about them.
    page.go(|page| page.click("a[href='/people']"));
    page.fill("#user-name", "eve");
    page.fill("#user-password", "a long password");
    page.go(|page| page.click("form[action='/people/users'] button"));
    assert!(page.text("table").contains("eve"));
    page.fill("#token-name", "builder");
    page.go(|page| page.click("form[action='/people/tokens'] button"));
    let secret = page.text("#secret");
    assert!(secret.starts_with("stunt_"), "{secret}");
    page.open(&format!("{}/people", site.url));
    assert!(!page.text("body").contains(&secret), "shown once");
    page.go(|page| page.click("form[action$='/revoke'] button"));
    assert!(page.text("[aria-labelledby=tokens-h]").contains("revoked"));
    page.go(|page| page.click("a[href='/audit']"));
    let log = page.text("table");
    for action in ["user.add", "token.add", "token.revoke", "settings"] {
        assert!(log.contains(action), "{action} is not in the log: {log}");
    }
    assert!(!log.contains(&secret));
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn long_lists_have_pages() {
    let site = Site::start(None);
    for number in 0..53 {
        let function = format!("function_{number}");
        let (report, double) =
            crate::site::failure("program", "signal 11", &function, "a.c:1", "caller", 20, 5.0);
        site.submit(&report, &double);
        site.pass(1000);
    }
    let mut page = logged_in(&site, "max");
    assert_eq!(page.eval("document.querySelectorAll('a.ticket').length"), 50);
    page.go(|page| page.click("a[rel=next]"));
    assert_eq!(page.eval("document.querySelectorAll('a.ticket').length"), 3);
    assert!(page.text("#results").contains("function_0"));
    assert_eq!(page.eval("document.querySelector('a[rel=next]')"), serde_json::Value::Null);
    page.go(|page| page.click(".paging a"));
    assert_eq!(page.path(), "/");
}
