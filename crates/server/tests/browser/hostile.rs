//! A report of somebody who wants to run a script in a maintainer's browser, and forms of others.

use stunt_report::{ByteKind, ByteRuns, SourceName};

use crate::logged_in;
use crate::site::{Site, failure};

const SCRIPT: &str = "<script>window.taken=1</script><img src=x onerror=window.taken=1>";

#[test]
fn nothing_of_a_report_is_markup() {
    let site = Site::start(None);
    let (mut report, _) = failure("program", "signal 11", "f", "a.c:1", "caller", 440, 5.0);
    let double = SCRIPT.repeat(10).into_bytes()[..440].to_vec();
    let evil = format!("\"><svg onload=window.taken=1>{SCRIPT}{{{{7*7}}}}</pre></textarea>");
    report.failure.words = evil.clone();
    report.failure.kind = evil.chars().take(40).collect();
    report.arguments = vec![evil.clone(), "@@".to_owned()];
    report.notes = vec![evil.clone()];
    report.leak.words = evil.clone();
    for frame in &mut report.failure.frames {
        frame.symbol = Some(evil.clone());
        frame.location = Some(evil.clone());
    }
    let figures = (0..440).map(|at| (f64::from(at % 9), ByteKind::Exact));
    report.per_byte = vec![ByteRuns::new(SourceName::File, figures)];
    let stored = site.submit(&report, &double);
    let id: stunt_server::store::TicketId = stored.ticket.parse().unwrap();
    site.wait(site.store().add_note("max", id, &evil)).unwrap();

    let mut page = logged_in(&site, "max");
    for path in ["/", &format!("/tickets/{id}"), &format!("/tickets/{id}/work")] {
        page.open(&format!("{}{path}", site.url));
        page.eval("document.querySelectorAll('details').forEach((it) => { it.open = true; }); 1");
        assert_eq!(page.eval("window.taken ?? null"), serde_json::Value::Null, "{path}");
        let strange = "document.querySelectorAll('img, main script, main svg[onload]').length";
        assert_eq!(page.eval(strange), 0, "{path}");
    }
    page.open(&format!("{}/tickets/{id}", site.url));
    let text = page.text("main");
    assert!(text.contains("<script>window.taken=1</script>"), "it is shown as text");
    assert!(text.contains("{{7*7}}"), "and not computed");
    assert_eq!(page.complaints(), Vec::<String>::new(), "not even the policy had work");

    // What is downloaded is a file, byte by byte, and no page.
    let got = page.eval(&format!(
        "fetch('/tickets/{id}/double/0').then(async (it) => [it.headers.get('content-type'), \
         it.headers.get('content-disposition'), it.headers.get('x-content-type-options'), \
         await it.text()])"
    ));
    assert_eq!(got[0], "application/octet-stream");
    assert_eq!(got[1], format!("attachment; filename=\"{id}-file\""));
    assert_eq!(got[2], "nosniff");
    assert_eq!(got[3].as_str().unwrap().as_bytes(), double);
}

#[test]
fn forms_of_others_change_nothing() {
    let site = Site::start(None).with_tickets();
    let mut page = logged_in(&site, "ada");
    let secret = page.eval("document.querySelector('[name=csrf]').value");
    let secret = secret.as_str().unwrap().to_owned();
    let cookie = page.call("Network.getCookies", &serde_json::json!({}));
    let cookie = &cookie["cookies"][0];
    assert_eq!(cookie["httpOnly"], true);
    assert_eq!(cookie["sameSite"], "Lax");
    let cookie =
        format!("{}={}", cookie["name"].as_str().unwrap(), cookie["value"].as_str().unwrap());
    let post = |path: &str, headers: &[(&str, &str)], body: &str| {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .build()
            .into();
        let mut request = agent
            .post(format!("{}{path}", site.url))
            .header("Cookie", &cookie)
            .header("Content-Type", "application/x-www-form-urlencoded");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send(body).unwrap().status().as_u16()
    };
    let good = format!("csrf={secret}&text=x");
    let path = "/tickets/T-1/notes";
    assert_eq!(post(path, &[], "text=x"), 403, "without the secret");
    assert_eq!(post(path, &[], "csrf=0000&text=x"), 403, "with another");
    assert_eq!(post(path, &[("Sec-Fetch-Site", "cross-site")], &good), 403, "from another site");
    assert_eq!(post(path, &[("Origin", "https://evil.example")], &good), 403);
    assert_eq!(post(path, &[("Sec-Fetch-Site", "same-origin")], &good), 303);
    for path in [
        "/tickets/T-1/state",
        "/tickets/T-1/replays",
        "/tickets/T-1/issue",
        "/settings",
        "/people/users",
        "/people/users/max",
        "/people/tokens",
        "/people/tokens/1/revoke",
        "/builds/00/remove",
        "/logout",
    ] {
        assert_eq!(post(path, &[], "state=fixed&build=0&role=admin&name=x"), 403, "{path}");
    }
    let ticket = site.wait(site.store().ticket(stunt_server::store::TicketId(1))).unwrap();
    assert_eq!(ticket.notes.len(), 1);
}
