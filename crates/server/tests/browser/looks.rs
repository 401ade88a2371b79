//! How pages look: no fault that a tool can find, on narrow screens, in the dark, and on paper.

use std::path::PathBuf;
use std::time::Duration;

use stunt_parcel::messages::{Count, EventId};
use stunt_server::store::{
    Figure, LinkState, NewBuild, Outcome, ReplayFrame, ReplayResult, Settings, State, TicketId,
    TrackerSettings,
};

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
        let build = NewBuild {
            build_id: build_id.clone(),
            name: "webserver".to_owned(),
            version: Some("2.4.1".to_owned()),
            data: vec![0; 48_128],
        };
        store.add_build("max", &build).await.unwrap();
        store.request_replay("max", id, &build_id, None).await.unwrap();
        let job = store.take_job("test", Duration::from_secs(60)).await.unwrap().unwrap();
        let frame = |symbol: &str, line: u32, offset: &str| ReplayFrame {
            module: "webserver".to_owned(),
            symbol: Some(symbol.to_owned()),
            location: Some(format!("webserver.c:{line}")),
            offset: offset.to_owned(),
        };
        let result = ReplayResult {
            figure: Some(Figure::Counted(24.0)),
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

/// Pages in states that pass or should not be: what `unusual_site` makes.
const STATES: [(&str, &str, &str); 4] = [
    ("/tickets/T-2", "parse_row", "no longer fails"),
    ("/tickets/T-3", "skip_string", "regressed"),
    ("/tickets/T-4", "scale_line", "Create issue in Redmine"),
    ("/tickets/T-5", "Header::decode", "waits for a worker"),
];

/// A full site whose other tickets are proposed to be fixed, regressed, without the issue that was
/// asked for, and waiting for a replay.
fn unusual_site() -> Site {
    let site = full_site();
    let store = site.store();
    site.wait(async {
        let bring = async |build_id: &str, name: &str| {
            let build = NewBuild {
                build_id: build_id.to_owned(),
                name: name.to_owned(),
                version: Some("9.0".to_owned()),
                data: vec![1; 100],
            };
            store.add_build("max", &build).await.unwrap();
        };
        bring("aaaa02", "tables").await;
        store.request_replay("max", TicketId(2), "aaaa02", None).await.unwrap();
        let job = store.take_job("test", Duration::from_secs(60)).await.unwrap().unwrap();
        let result = ReplayResult { outcome: Outcome::NoFailure, ..ReplayResult::untried("") };
        store.finish_job(job.replay, Some("test"), &result).await.unwrap();

        let signature = store.ticket(TicketId(3)).await.unwrap().signatures.remove(0);
        store.set_state("max", TicketId(3), State::Fixed, None).await.unwrap();
        site.pass(1000);
        let count = Count {
            id: EventId::random(),
            signature,
            program: "jsonq".to_owned(),
            build_id: Some("aaaa03".to_owned()),
            version: None,
        };
        store.count(&count).await.unwrap().unwrap();

        // Nothing listens there.
        let tracker = TrackerSettings::Redmine {
            url: "http://127.0.0.1:1".to_owned(),
            project: "p".to_owned(),
            key: stunt_trackers::Secret::new("k"),
        };
        let settings = Settings { tracker: Some(tracker), ..Settings::default() };
        store.change_settings("ada", &settings).await.unwrap();
        store.request_issue("max", TicketId(4)).await.unwrap();
        while store.link(TicketId(4)).await.unwrap().unwrap().state != LinkState::Failed {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }

        bring("aaaa05", "mailsort").await;
        store.request_replay("max", TicketId(5), "aaaa05", None).await.unwrap();
    });
    site
}

/// Shows a new token.
fn show_token(page: &mut Page, site: &Site) {
    open(page, site, "/people", "People and tokens");
    page.fill("#token-name", "builder");
    page.go(|page| page.click("form[action='/people/tokens'] button"));
    assert!(page.text("#secret").starts_with("stunt_"));
}

/// No fault, also in what is folded.
fn look(page: &mut Page, what: &str) {
    page.eval("document.querySelectorAll('details').forEach((it) => { it.open = true; }); 1");
    assert_eq!(page.faults(), Vec::<String>::new(), "{what}");
}

#[test]
fn axe_finds_no_serious_fault_in_unusual_states() {
    let site = unusual_site();
    let mut page = logged_in(&site, "ada");
    for dark in [false, true] {
        page.dark(dark);
        for (path, heading, words) in STATES {
            open(&mut page, &site, path, heading);
            assert!(page.text("main").contains(words), "{path}: {}", page.text("main"));
            look(&mut page, &format!("{path}, dark: {dark}"));
        }
        show_token(&mut page, &site);
        look(&mut page, &format!("a token, dark: {dark}"));
    }
    page.size(360, 740);
    for (path, heading, _) in STATES {
        open(&mut page, &site, path, heading);
        fits(&mut page, path);
    }
    show_token(&mut page, &site);
    fits(&mut page, "a token");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn a_ticket_shows_what_its_double_reveals() {
    let site = Site::start(None).with_tickets();
    let mut page = logged_in(&site, "max");
    open(&mut page, &site, "/tickets/T-1", "process_message");
    // The leak graph: a picture with a name, and a stretch in it for what is revealed.
    let picture = "document.querySelector('.source svg[role=img][aria-label]')";
    assert_eq!(page.eval(&format!("{picture}.querySelectorAll('rect').length > 0")), true);
    // The bytes: the four that the failure needs are marked as one, and the others are not.
    let first = ".source table.graph tbody tr td";
    let cells = page.eval(&format!("document.querySelector({first:?}).innerText"));
    let cells = cells.as_str().unwrap();
    assert!(cells.starts_with("47 45 54 20 "), "{cells}");
    assert_eq!(cells.split(' ').count(), 16, "{cells}");
    assert_eq!(page.text(&format!("{first} span[class]")), "47 45 54 20");
    // The text, with the same bytes marked.
    page.eval("document.querySelectorAll('details').forEach((it) => { it.open = true; }); 1");
    let mark = "document.querySelector('.source pre.text mark').textContent";
    assert_eq!(page.eval(mark), "GET ");
    let class = |selector: &str| format!("document.querySelector({selector:?}).className");
    let darkest = page.eval(&class(".source pre.text mark"));
    assert_eq!(page.eval(&class(&format!("{first} span[class]"))), darkest);
    let background = "getComputedStyle(document.querySelector('.source pre.text mark'))\
                      .backgroundColor !== getComputedStyle(document.body).backgroundColor";
    assert_eq!(page.eval(background), true, "a mark can be seen");
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
            look(&mut page, &format!("{path}, dark: {dark}"));
        }
    }
    assert_eq!(page.complaints(), Vec::<String>::new());
}

/// Nothing is wider than a narrow screen, and nothing is wrong there.
fn fits(page: &mut Page, what: &str) {
    let width = page.eval("document.scrollingElement.scrollWidth").as_u64().unwrap();
    assert!(width <= 360, "{what} is {width} wide");
    assert_eq!(page.faults(), Vec::<String>::new(), "{what}, narrow");
}

#[test]
fn pages_fit_a_narrow_screen() {
    let site = full_site();
    let mut page = logged_in(&site, "ada");
    page.size(360, 740);
    for (path, heading) in PAGES {
        open(&mut page, &site, path, heading);
        fits(&mut page, path);
    }
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
