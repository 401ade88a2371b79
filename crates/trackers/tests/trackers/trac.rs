//! The real Trac: a ticket with the double, its state, comments, and refusals.

use std::process::Command;

use stunt_trackers::{Error, Link, Secret, State, Trac, Tracker};

use crate::real::{Real, TRAC_USER, get, trac};
use crate::{bytes, draft};

fn at(server: &Real, password: &str) -> Trac {
    Trac::new(&server.url, TRAC_USER.0, &Secret::new(password)).unwrap()
}

#[test]
fn trac_gets_a_ticket_with_the_double() {
    let server = trac();
    let trac = at(&server, TRAC_USER.1);
    let look = |path: &str| get(&format!("{}{path}", server.url));

    let link = trac.create(&draft()).unwrap();
    assert_eq!(link, Link { id: "1".to_owned(), url: format!("{}/ticket/1", server.url) });
    assert_eq!(look("/raw-attachment/ticket/1/double.bin").unwrap(), bytes(), "byte by byte");
    let page = || String::from_utf8(look("/ticket/1").unwrap()).unwrap();
    let shown = page();
    assert!(shown.contains("a write past the end of an array in process_message"));
    assert!(shown.contains("https://stunt.example/tickets/T-12"));
    assert!(shown.contains("&lt;script&gt;alert(1)") && !shown.contains("<script>alert(1)"));
    assert!(shown.contains("[[Image(x)]]"), "no macro is run");

    assert_eq!(trac.state(&link).unwrap(), State::Open);
    trac.comment(&link, "no longer fails with build 17").unwrap();
    trac.comment(&link, "still so").unwrap();
    let shown = page();
    assert!(shown.contains("no longer fails with build 17") && shown.contains("still so"));

    // Another ticket does not take the first one's number or file.
    let second = trac.create(&draft()).unwrap();
    assert_eq!(second.id, "2");

    close(&server, "1");
    assert_eq!(trac.state(&link).unwrap(), State::Closed);
    assert_eq!(trac.state(&second).unwrap(), State::Open);

    assert!(matches!(at(&server, "wrong").create(&draft()), Err(Error::NotAllowed { .. })));
    let gone = Link { id: "999".to_owned(), url: String::new() };
    assert!(matches!(trac.state(&gone), Err(Error::Refused { status: 404, .. })));
    assert!(matches!(trac.comment(&gone, "x"), Err(Error::Refused { status: 404, .. })));
}

/// What a maintainer does in Trac's own page.
fn close(server: &Real, id: &str) {
    let script = r#"
import sys
from trac.env import open_environment
from trac.ticket.model import Ticket
ticket = Ticket(open_environment(sys.argv[1]), int(sys.argv[2]))
ticket['status'] = 'closed'
ticket['resolution'] = 'fixed'
ticket.save_changes('maintainer', 'done')
"#;
    let python = std::env::var_os("STUNT_PYTHON").unwrap();
    let status =
        Command::new(python).args(["-c", script]).arg(server.folder().join("env")).arg(id).status();
    assert!(status.unwrap().success());
}
