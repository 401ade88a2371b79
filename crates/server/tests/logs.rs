//! What a server logs: what was asked of it, and nothing of what anybody said.

mod common;

use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use common::client::Client;
use common::{Folder, Made, sealed};
use serde_json::json;
use stunt_parcel::messages::EventId;
use stunt_server::store::{Role, Settings};
use stunt_server::{Config, start};

/// Everything that was logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn logs_have_routes_and_no_payloads() {
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing::level_filters::LevelFilter::DEBUG)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .init();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = Folder::new();
    let mut config = Config::new(SocketAddr::from(([127, 0, 0, 1], 0)), folder.path());
    config.proxies = vec!["127.0.0.1".parse().unwrap()];
    let running = runtime.block_on(start(config)).unwrap();
    let store = running.app.store();
    let client = Client::new(format!("http://{}", running.address));
    let token = runtime.block_on(async {
        store.add_user("setup", "annabella", "correct horse", Role::Admin).await.unwrap();
        let handed_out = Settings { share_doubles: true, ..Settings::default() };
        store.change_settings("setup", &handed_out).await.unwrap();
        store.add_token("setup", "buildbot", Role::Maintainer).await.unwrap().1
    });
    let maintainer = client.with_token(&token);

    let made = Made { program: "zebraparser", ..Made::new("abcdef123456", &["okapi_field"]) };
    let report = made.report_on(b"quaggadouble and the like");
    let (parcel, digest) = sealed(&report, &client.recipient());
    let from = [("content-type", "application/age"), ("x-forwarded-for", "203.0.113.77")];
    let path = format!("/api/v1/reports/{digest}");
    assert_eq!(client.send("PUT", &path, &from, &parcel).unwrap().status, 201);
    assert_eq!(client.try_count("abcdef123456", EventId::random()).unwrap().status, 201);
    assert_eq!(client.get("/api/v1/doubles/abcdef123456").status, 200);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    for (password, status) in [("correct+horse", 303), ("battery+staple", 403)] {
        let body = format!("name=annabella&password={password}");
        let answer = client.send("POST", "/login", &form, body.as_bytes()).unwrap();
        assert_eq!(answer.status, status);
    }
    assert_eq!(maintainer.get("/api/v1/tickets?search=okapi_field").status, 200);
    assert_eq!(maintainer.get("/api/v1/tickets/T-1").status, 200);
    let note = json!({"text": "a gnu wrote this"});
    assert_eq!(maintainer.json("POST", "/api/v1/tickets/T-1/notes", &note).status, 201);
    // What goes wrong is logged, too.
    assert_eq!(client.put(b"tapir", stunt_parcel::Digest::of(b"tapir")).status, 422);
    assert_eq!(client.get("/tickets/ocelot").status, 303);
    runtime.block_on(running.stop());

    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for said in ["/api/v1/reports/{digest}", "status=201", "/api/v1/counts", "listening", "stopped"]
    {
        assert!(text.contains(said), "{said} is not in\n{text}");
    }
    let digest = digest.to_string();
    let double = String::from_utf8_lossy(b"quaggadouble");
    for secret in [
        digest.as_str(),
        &double,
        &token,
        "okapi",
        "zebra",
        "abcdef123456",
        "annabella",
        "correct",
        "battery",
        "203.0.113.77",
        "gnu",
        "tapir",
        "ocelot",
    ] {
        let line = text.lines().find(|line| line.contains(secret));
        assert_eq!(line, None, "{secret} is in the log");
    }
}
