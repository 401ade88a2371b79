//! How pages look: no fault that a tool can find, on narrow screens, in the dark, and on paper.

use std::path::PathBuf;

use stunt_server::store::{Outcome, ReplayFrame, ReplayResult, TicketId};

use crate::chromium::Page;
use crate::logged_in;
use crate::site::{Site, webserver};

/// Every page that an admin can see, with its heading.
const PAGES: [(&str, &str); 9] = [
    ("/", "Tickets"),
    ("/?search=nothing-has-this-name", "Tickets"),
    ("/?state=all&sort=count", "Tickets"),
    ("/tickets/T-1", "process_message"),
    ("/builds", "Builds"),
    ("/settings", "Settings"),
    ("/people", "People and tokens"),
    ("/audit", "Audit log"),
    ("/tickets/T-999", "Not Found"),
];

/// Tickets, a note, a build and a replay with its result: all that pages can show.
fn full_site() -> Site {
    let site = Site::start(None).with_tickets();
    let store = site.store();
    let id = TicketId(1);
    site.wait(async {
        store
            .add_note("max", id, "Seen since 2.3.0.\nIt is the length of the header.")
            .await
            .unwrap();
        let build_id = webserver().0.program.build_id.unwrap();
        let build = stunt_server::store::NewBuild {
            build_id: build_id.clone(),
            name: "webserver".to_owned(),
            version: Some("2.4.1".to_owned()),
            data: vec![0; 48_128],
        };
        store.add_build("max", &build).await.unwrap();
        store.request_replay("max", id, &build_id).await.unwrap();
        let job =
            store.take_job("test", std::time::Duration::from_secs(60)).await.unwrap().unwrap();
        let frame = |symbol: &str, line: u32, offset: &str| ReplayFrame {
            module: "webserver".to_owned(),
            symbol: Some(symbol.to_owned()),
            location: Some(format!("webserver.c:{line}")),
            offset: offset.to_owned(),
        };
        let result = ReplayResult {
            outcome: Outcome::Same,
            ending: Some("ended by SIGSEGV".to_owned()),
            failure: Some("a write past the end of an array in process_message".to_owned()),
            frames: vec![frame("process_message", 31, "0x11d6"), frame("main", 58, "0x1290")],
            stdout: "listening on 8080\n".to_owned(),
            stderr: String::new(),
            message: String::new(),
            seconds: 0.4,
        };
        store.finish_job(job.replay, Some("test"), &result).await.unwrap();
        store
            .add_token("ada", "continuous integration", stunt_server::store::Role::Reporter)
            .await
            .unwrap();
    });
    site
}

fn open(page: &mut Page, site: &Site, path: &str, heading: &str) {
    page.open(&format!("{}{path}", site.url));
    let found = page.text("h1");
    assert!(found.contains(heading), "{path}: {found}");
}

#[test]
fn axe_finds_no_serious_fault() {
    let site = full_site();
    let mut page = Page::start();
    page.open(&site.url);
    assert_eq!(page.faults(), Vec::<String>::new(), "login");
    crate::log_in(&mut page, "ada");
    for dark in [false, true] {
        page.dark(dark);
        for (path, heading) in PAGES {
            open(&mut page, &site, path, heading);
            // What is folded is looked at, too.
            page.eval(
                "document.querySelectorAll('details').forEach((it) => { it.open = true; }); 1",
            );
            assert_eq!(page.faults(), Vec::<String>::new(), "{path}, dark: {dark}");
        }
    }
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn pages_fit_a_narrow_screen() {
    let site = full_site();
    let mut page = logged_in(&site, "ada");
    page.size(360, 740);
    for (path, heading) in PAGES {
        open(&mut page, &site, path, heading);
        let width = page.eval("document.scrollingElement.scrollWidth").as_u64().unwrap();
        assert!(width <= 360, "{path} is {width} wide");
    }
    assert_eq!(page.faults(), Vec::<String>::new());
}

#[test]
fn pages_follow_the_readers_colours() {
    let site = Site::start(None).with_tickets();
    let mut page = logged_in(&site, "max");
    let background = "getComputedStyle(document.body).backgroundColor";
    assert_eq!(page.eval(background), "rgb(255, 255, 255)");
    page.dark(true);
    assert_eq!(page.eval(background), "rgb(20, 23, 23)");
    page.dark(false);
    page.print(true);
    let shown = "getComputedStyle(document.querySelector('header.top')).display";
    assert_eq!(page.eval(shown), "none", "paper has no navigation");
}

#[test]
fn pictures_of_the_pages() {
    let site = full_site();
    let folder = std::env::var_os("STUNT_SCREENSHOTS").map(PathBuf::from);
    let folder =
        folder.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("screenshots"));
    let mut page = logged_in(&site, "ada");
    let take = |page: &mut Page, name: &str| {
        let file = folder.join(format!("{name}.png"));
        page.screenshot(&file, false);
        let bytes = std::fs::metadata(&file).unwrap().len();
        assert!((5_000..400_000).contains(&bytes), "{name}: {bytes} bytes");
    };
    page.size(1280, 640);
    open(&mut page, &site, "/", "Tickets");
    take(&mut page, "tickets");
    page.size(1280, 1100);
    open(&mut page, &site, "/tickets/T-1", "process_message");
    take(&mut page, "ticket");
    page.dark(true);
    take(&mut page, "ticket-dark");
    page.dark(false);
    page.size(390, 800);
    open(&mut page, &site, "/", "Tickets");
    take(&mut page, "tickets-narrow");
    page.size(1280, 900);
    for (path, heading) in &PAGES[4..8] {
        open(&mut page, &site, path, heading);
        take(&mut page, path.trim_start_matches('/'));
    }
}
