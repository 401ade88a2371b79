//! The interface of a running server: reporters, strangers, maintainers, admins; on both databases.

mod common;

use std::io::Write;
use std::net::{SocketAddr, TcpStream};

use common::client::{Answer, Client};
use common::postgres::Postgres;
use common::{Folder, Made, sealed};
use serde_json::{Value, json};
use stunt_parcel::messages::EventId;
use stunt_parcel::{Digest, Identity, InstallationKey};
use stunt_server::store::{NewBuild, Place, ReplayState, Role};
use stunt_server::{Clock, Config, Rate, Running, Store, Worker, start};
use tokio::runtime::Runtime;

/// On which database.
struct At<'a> {
    postgres: Option<&'a Postgres>,
    name: &'static str,
}

type Test = fn(&At);

macro_rules! suite {
    ($($name:ident),+ $(,)?) => {
        const SUITE: &[(&str, Test)] = &[$((stringify!($name), $name)),+];
        mod sqlite {
            $(#[test] fn $name() {
                super::$name(&super::At { postgres: None, name: stringify!($name) });
            })+
        }
    };
}

suite![
    a_report_becomes_a_ticket_with_a_double,
    attack_fetch_a_double_by_its_signature,
    a_signature_is_kept_with_the_report,
    what_is_refused_leaves_nothing_behind,
    who_sends_slowly_keeps_nobody_out,
    another_method_is_a_problem_in_words,
    documents_that_say_more_are_refused,
    everybody_may_do_what_their_role_says,
    a_session_reads_but_does_not_write_through_the_interface,
    maintainers_work_on_tickets,
    a_trackers_key_does_not_come_back,
    whoever_asks_too_much_waits,
    health_and_metrics,
    the_description_is_true,
    browsers_are_kept_to_our_pages,
    forms_of_others_are_refused,
    the_words_of_a_reporter_are_on_the_ticket,
    settings_that_are_left_out_stay,
    a_replay_under_way_is_given_back,
    downloads_and_changes_are_logged,
];

#[test]
fn everything_on_postgres() {
    let postgres = Postgres::start();
    for (name, test) in SUITE {
        eprintln!("{name}");
        test(&At { postgres: Some(&postgres), name });
    }
}

/// A server in this process, and tokens for it.
struct World {
    runtime: Runtime,
    running: Option<Running>,
    client: Client,
    maintainer: Client,
    admin: Client,
    place: Place,
    folder: Folder,
}

impl World {
    fn new(at: &At) -> World {
        World::with(at, |_| {})
    }

    fn with(at: &At, change: impl FnOnce(&mut Config)) -> World {
        let folder = Folder::new();
        let runtime = Runtime::new().unwrap();
        let mut config = Config::new(SocketAddr::from(([127, 0, 0, 1], 0)), folder.path());
        config.rate = Rate { per_minute: 0, burst: 0 };
        config.url = Some("https://crashes.example/".to_owned());
        config.database = at.postgres.map(|postgres| postgres.database(at.name));
        change(&mut config);
        let place = config.place();
        let running = runtime.block_on(start(config)).unwrap();
        let client = Client::new(format!("http://{}", running.address));
        let token = |role| {
            let store = running.app.store();
            runtime.block_on(store.add_token("test", "test", role)).unwrap().1
        };
        let (maintainer, admin) = (token(Role::Maintainer), token(Role::Admin));
        World {
            maintainer: client.with_token(&maintainer),
            admin: client.with_token(&admin),
            client,
            running: Some(running),
            runtime,
            place,
            folder,
        }
    }

    fn submit(&self, made: &Made) -> Answer {
        let (parcel, digest) = sealed(&made.report(), &self.client.recipient());
        self.client.put(&parcel, digest)
    }

    fn tickets(&self) -> Vec<Value> {
        let list = self.maintainer.get("/api/v1/tickets?state=all");
        assert_eq!(list.status, 200);
        list.json()["tickets"].as_array().unwrap().clone()
    }

    fn change_settings(&self, change: &Value) {
        let mut settings = self.admin.get("/api/v1/settings").json();
        for (key, value) in change.as_object().unwrap() {
            settings[key] = value.clone();
        }
        assert_eq!(self.admin.json("PUT", "/api/v1/settings", &settings).status, 200);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.stop());
        }
    }
}

/// A problem of this status, in words.
fn refused(answer: &Answer, status: u16, words: &str) {
    assert_eq!(answer.status, status, "{}", String::from_utf8_lossy(&answer.body));
    assert_eq!(answer.kind, "application/problem+json");
    let problem = answer.json();
    assert_eq!(problem["status"], status);
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains(words), "{detail}");
}

fn a_report_becomes_a_ticket_with_a_double(at: &At) {
    let world = World::new(at);
    let made = Made::new("1111", &["field", "main"]);
    let ask = json!({"signature": "1111", "program": "parser"});
    assert_eq!(world.client.json("POST", "/api/v1/ask", &ask).json(), json!({"known": false}));
    let report = made.report();
    let (parcel, digest) = sealed(&report, &world.client.recipient());
    let first = world.client.put(&parcel, digest);
    assert_eq!(first.status, 201);
    let expected = json!({"ticket": "T-1", "url": "https://crashes.example/tickets/T-1"});
    assert_eq!(first.json(), expected);
    let again = world.client.put(&parcel, digest);
    assert_eq!((again.status, again.json()), (200, expected));
    world.change_settings(&json!({"share_doubles": true}));
    let known = world.client.json("POST", "/api/v1/ask", &ask).json();
    assert_eq!(known["known"], true);
    assert_eq!(known["double"]["sha256"], Digest::of(&report).to_string());
    assert_eq!(known["double"]["bytes"], report.len());
    let double = world.client.get("/api/v1/doubles/1111");
    assert_eq!((double.status, double.kind.as_str()), (200, "application/zip"));
    assert_eq!(double.body, report);
    // Counting: once for each event.
    let event = EventId::random();
    let counted = world.client.try_count("1111", event).unwrap();
    assert_eq!((counted.status, counted.json()), (201, json!({"ticket": "T-1", "count": 2})));
    let counted = world.client.try_count("1111", event).unwrap();
    assert_eq!((counted.status, counted.json()), (200, json!({"ticket": "T-1", "count": 2})));
    refused(&world.client.try_count("2222", event).unwrap(), 404, "no such failure");
    // Doubles can be kept from reporters.
    world.change_settings(&json!({"share_doubles": false}));
    refused(&world.client.get("/api/v1/doubles/1111"), 404, "double");
    let known = world.client.json("POST", "/api/v1/ask", &ask).json();
    assert_eq!(known, json!({"known": true, "ticket": "T-1"}));
    assert_eq!(world.maintainer.get("/api/v1/tickets/T-1/double").body, report);
}

fn attack_fetch_a_double_by_its_signature(at: &At) {
    let world = World::new(at);
    let made = Made::new("1111", &["field", "main"]);
    assert_eq!(world.submit(&made).status, 201);
    // A signature is no secret: whoever has the program can compute it.
    refused(&world.client.get("/api/v1/doubles/1111"), 404, "double");
    let ask = json!({"signature": "1111", "program": "parser"});
    let known = world.client.json("POST", "/api/v1/ask", &ask).json();
    assert_eq!(known, json!({"known": true, "ticket": "T-1"}));
    assert_eq!(world.client.get("/api/v1/tickets/T-1/double").status, 401);
    // An admin may want it; maintainers have it anyway.
    assert_eq!(world.admin.get("/api/v1/settings").json()["share_doubles"], false);
    assert_eq!(world.maintainer.get("/api/v1/tickets/T-1/double").status, 200);
    world.change_settings(&json!({"share_doubles": true}));
    assert_eq!(world.client.get("/api/v1/doubles/1111").status, 200);
}

fn a_signature_is_kept_with_the_report(at: &At) {
    let world = World::new(at);
    let key = InstallationKey::generate();
    let report = Made::new("1111", &["f"]).report();
    let parcel = stunt_parcel::seal(&report, &world.client.recipient(), Some(&key), None).unwrap();
    assert_eq!(world.client.put(&parcel, Digest::of(&parcel)).status, 201);
    let ticket = world.maintainer.get("/api/v1/tickets/T-1").json();
    assert_eq!(ticket["doubles"][0]["signer"], key.public().to_string());
}

fn what_is_refused_leaves_nothing_behind(at: &At) {
    let world = World::with(at, |config| {
        config.sizes.parcel = 200_000;
        config.sizes.report = 100_000;
        config.sizes.unpacked = 1_000_000;
    });
    let to = world.client.recipient();
    let send = |parcel: &[u8]| world.client.put(parcel, Digest::of(parcel));
    let seal = |report: &[u8]| sealed(report, &to).0;
    let good = Made::new("1111", &["f"]).report();
    // Not what the path says.
    let (parcel, _) = sealed(&good, &to);
    refused(&world.client.put(&parcel, Digest::of(b"other")), 400, "SHA-256");
    let headers = [("content-type", "application/age")];
    let nonsense = world.client.send("PUT", "/api/v1/reports/xyz", &headers, &parcel).unwrap();
    refused(&nonsense, 400, "SHA-256");
    // Not a parcel, damaged, or somebody else's.
    refused(&send(b"nothing of the kind"), 422, "not a parcel");
    refused(&send(&good), 422, "not a parcel");
    let mut damaged = parcel.clone();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    assert_eq!(send(&damaged).status, 422);
    assert_eq!(send(&parcel[..parcel.len() / 2]).status, 422);
    let stranger = Identity::generate().recipient();
    refused(&send(&sealed(&good, &stranger).0), 422, "not encrypted to this server");
    // Not a report.
    refused(&send(&seal(b"PK nonsense")), 422, "zip");
    refused(&send(&seal(&good[..good.len() - 30])), 422, "");
    // Too large: sealed, opened, and unpacked from very little.
    refused(&send(&vec![0; 200_001]), 413, "");
    let large = Made { bytes: 150_000, ..Made::new("1111", &["f"]) };
    refused(&send(&seal(&large.report())), 413, "");
    let bomb = Made::new("1111", &["f"]).report_on(&vec![0; 1_000_001]);
    assert!(bomb.len() < 20_000);
    refused(&send(&seal(&bomb)), 413, "unpacks");
    // Names that are none.
    refused(&send(&seal(&Made::new("../../x", &["f"]).report())), 422, "signature");
    refused(&send(&seal(&Made::new("", &["f"]).report())), 422, "signature");
    assert!(world.tickets().is_empty());
    // The server is as well as before.
    assert_eq!(send(&parcel).status, 201);
    assert_eq!(world.tickets().len(), 1);
}

/// Sends the head of a large parcel and its first bytes, and then nothing.
fn begun(world: &World, promised: usize) -> TcpStream {
    let address = world.client.base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "PUT /api/v1/reports/{} HTTP/1.1\r\nHost: x\r\nContent-Length: {promised}\r\n\r\n",
        "0".repeat(64)
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&vec![0; promised.min(100_000)]).unwrap();
    stream
}

fn who_sends_slowly_keeps_nobody_out(at: &At) {
    let world = World::with(at, |config| config.sizes.at_once = 1 << 20);
    // Each of these holds all the room there is, or waits for it.
    let slow: Vec<TcpStream> = (0..20).map(|_| begun(&world, 1 << 20)).collect();
    assert_eq!(world.submit(&Made::new("1111", &["f"])).status, 201);
    drop(slow);
    // What is large needs that room, and has it again.
    let mut large = Made::new("2222", &["g"]);
    large.bytes = 300_000;
    assert_eq!(world.submit(&large).status, 201);
}

fn another_method_is_a_problem_in_words(at: &At) {
    let world = World::new(at);
    refused(&world.client.send("DELETE", "/api/v1/ask", &[], &[]).unwrap(), 405, "openapi.json");
    refused(&world.client.json("POST", "/api/v1/recipient", &json!({})), 405, "openapi.json");
}

fn documents_that_say_more_are_refused(at: &At) {
    let world = World::new(at);
    for (path, body) in [
        ("/api/v1/ask", json!({"signature": "11", "program": "p", "user": "anna"})),
        ("/api/v1/ask", json!({"program": "p"})),
        ("/api/v1/ask", json!({"signature": "a/b", "program": "p"})),
        ("/api/v1/counts", json!({"id": "short", "signature": "11", "program": "p"})),
    ] {
        refused(&world.client.json("POST", path, &body), 400, "");
    }
    let text = world.client.send("POST", "/api/v1/ask", &[("content-type", "text/plain")], b"x");
    refused(&text.unwrap(), 415, "application/json");
    refused(&world.client.get("/api/v1/doubles/a%2Fb"), 400, "signature");
    refused(&world.client.get("/api/v1/nothing"), 404, "");
    refused(&world.maintainer.get("/api/v1/tickets/T-99"), 404, "ticket");
    refused(&world.maintainer.get("/api/v1/tickets/x"), 404, "ticket");
    refused(&world.maintainer.get("/api/v1/tickets?sort=random"), 400, "query");
    refused(&world.maintainer.get("/api/v1/tickets?after=zzz"), 422, "page");
}

fn everybody_may_do_what_their_role_says(at: &At) {
    let world = World::new(at);
    assert_eq!(world.submit(&Made::new("1111", &["f"])).status, 201);
    for path in
        ["/api/v1/tickets", "/api/v1/tickets/T-1", "/api/v1/tickets/T-1/double", "/api/v1/builds"]
    {
        refused(&world.client.get(path), 401, "maintainer");
        refused(&world.client.with_token("stunt_wrong").get(path), 401, "token");
        assert_eq!(world.maintainer.get(path).status, 200);
        assert_eq!(world.admin.get(path).status, 200);
    }
    for path in
        ["/api/v1/settings", "/api/v1/tokens", "/api/v1/users", "/api/v1/audit", "/api/v1/noise"]
    {
        refused(&world.client.get(path), 401, "admin");
        refused(&world.maintainer.get(path), 403, "admin");
        assert_eq!(world.admin.get(path).status, 200);
    }
    // A token is needed to report, if the settings say so; a revoked one is none.
    let new = json!({"name": "ci", "role": "reporter"});
    let made = world.admin.json("POST", "/api/v1/tokens", &new);
    assert_eq!(made.status, 201);
    let (secret, id) =
        (made.json()["secret"].as_str().unwrap().to_owned(), made.json()["id"].clone());
    assert!(!String::from_utf8(world.admin.get("/api/v1/tokens").body).unwrap().contains(&secret));
    world.change_settings(&json!({"reporters_need_token": true}));
    let ask = json!({"signature": "1111", "program": "parser"});
    let reporter = world.client.with_token(&secret);
    refused(&world.client.json("POST", "/api/v1/ask", &ask), 401, "reporter");
    refused(&world.submit(&Made::new("2222", &["g"])), 401, "reporter");
    assert_eq!(reporter.json("POST", "/api/v1/ask", &ask).status, 200);
    refused(&reporter.get("/api/v1/tickets"), 403, "maintainer");
    let path = format!("/api/v1/tokens/{id}");
    assert_eq!(world.admin.send("DELETE", &path, &[], &[]).unwrap().status, 204);
    refused(&reporter.json("POST", "/api/v1/ask", &ask), 401, "revoked");
    assert_eq!(world.tickets().len(), 1);
}

fn a_session_reads_but_does_not_write_through_the_interface(at: &At) {
    let world = World::new(at);
    let user = json!({"name": "anna", "password": "correct horse", "role": "maintainer"});
    assert_eq!(world.admin.json("POST", "/api/v1/users", &user).status, 201);
    world.submit(&Made::new("1111", &["f"]));
    let store = world.running.as_ref().unwrap().app.store();
    let (_, cookie) =
        world.runtime.block_on(store.log_in("anna", "correct horse")).unwrap().unwrap();
    let cookie = format!("stunt_session={cookie}");
    let headers = [("cookie", cookie.as_str()), ("content-type", "application/json")];
    let read = world.client.send("GET", "/api/v1/tickets/T-1", &headers[..1], &[]).unwrap();
    assert_eq!(read.status, 200);
    let note =
        world.client.send("POST", "/api/v1/tickets/T-1/notes", &headers, b"{\"text\":\"x\"}");
    refused(&note.unwrap(), 401, "token");
}

fn maintainers_work_on_tickets(at: &At) {
    let world = World::new(at);
    world.submit(&Made::new("1111", &["field", "main"]));
    let note = json!({"text": "known since spring"});
    let note = world.maintainer.json("POST", "/api/v1/tickets/T-1/notes", &note);
    assert_eq!((note.status, note.json()["author"].as_str()), (201, Some("token test")));
    let fixed = json!({"state": "fixed", "build_id": "ABCD"});
    assert_eq!(world.maintainer.json("PUT", "/api/v1/tickets/T-1/state", &fixed).status, 204);
    let ticket = world.maintainer.get("/api/v1/tickets/t-1").json();
    assert_eq!(
        (ticket["state"].as_str(), ticket["fixed_build"].as_str()),
        (Some("fixed"), Some("abcd"))
    );
    let regressed = json!({"state": "regressed"});
    refused(
        &world.maintainer.json("PUT", "/api/v1/tickets/T-1/state", &regressed),
        422,
        "open or fixed",
    );
    assert_eq!(world.maintainer.get("/api/v1/tickets").json()["tickets"], json!([]));
    let found = world.maintainer.get("/api/v1/tickets?state=fixed&search=field").json();
    assert_eq!(found["tickets"][0]["id"], "T-1");
    refused(
        &world.maintainer.json("POST", "/api/v1/tickets/T-1/issue", &json!({})),
        409,
        "tracker",
    );
    // Builds: this very program is one.
    let program = std::fs::read("/proc/self/exe").unwrap();
    let headers = [("content-type", "application/octet-stream")];
    let brought =
        world.maintainer.send("PUT", "/api/v1/builds/parser?version=2", &headers, &program);
    let brought = brought.unwrap();
    assert_eq!(brought.status, 201);
    let id = brought.json()["build_id"].as_str().unwrap().to_owned();
    assert_eq!(Some(&id), stunt_server::build_id(&program).as_ref());
    let text = world.maintainer.send("PUT", "/api/v1/builds/x", &headers, b"#!/bin/sh\n").unwrap();
    refused(&text, 422, "ELF");
    // The program holds every text of this file, so the edge is none of them.
    let edge = &Digest::of(&program).to_string()[..30];
    let form = format!(
        "--{edge}\r\ncontent-disposition: form-data; name=\"version\"\r\n\r\n3\r\n--{edge}\r\n\
         content-disposition: form-data; name=\"file\"; filename=\"dir/other\"\r\n\r\n"
    );
    let end = format!("\r\n--{edge}--\r\n");
    let form = [form.as_bytes(), &program, end.as_bytes()].concat();
    let kind = format!("multipart/form-data; boundary={edge}");
    let kind = [("content-type", kind.as_str())];
    let brought = world.maintainer.send("POST", "/api/v1/builds", &kind, &form).unwrap();
    assert_eq!((brought.status, brought.json()["name"].as_str()), (201, Some("other")));
    let replay = json!({"build_id": id});
    let replay = world.maintainer.json("POST", "/api/v1/tickets/T-1/replays", &replay);
    assert_eq!((replay.status, replay.json()["state"].as_str()), (202, Some("waiting")));
    let path = format!("/api/v1/replays/{}", replay.json()["id"]);
    assert_eq!(world.maintainer.get(&path).json(), replay.json());
    let path = format!("/api/v1/builds/{id}");
    assert_eq!(world.maintainer.send("DELETE", &path, &[], &[]).unwrap().status, 204);
    assert_eq!(world.maintainer.get("/api/v1/builds").json(), json!([]));
}

fn a_trackers_key_does_not_come_back(at: &At) {
    let world = World::new(at);
    let tracker =
        json!({"kind": "redmine", "url": "https://r.example", "project": "p", "key": "hunter2"});
    world.change_settings(&json!({"tracker": tracker}));
    for path in ["/api/v1/settings", "/api/v1/audit"] {
        let text = String::from_utf8(world.admin.get(path).body).unwrap();
        assert!(text.contains("edmine") && !text.contains("hunter2"), "{text}");
    }
    let bad = json!({"doubles_kept": 0});
    refused(&world.admin.json("PUT", "/api/v1/settings", &bad), 422, "doubles");
}

fn whoever_asks_too_much_waits(at: &At) {
    let world = World::with(at, |config| {
        config.rate = Rate { per_minute: 1, burst: 3 };
        config.proxies = vec!["127.0.0.1".parse().unwrap()];
    });
    let ask = |from: &str| {
        let headers = [("content-type", "application/json"), ("x-forwarded-for", from)];
        let body = b"{\"signature\":\"11\",\"program\":\"p\"}";
        world.client.send("POST", "/api/v1/ask", &headers, body).unwrap()
    };
    for _ in 0..3 {
        assert_eq!(ask("203.0.113.1").status, 200);
    }
    let waiting = ask("203.0.113.1");
    refused(&waiting, 429, "wait");
    assert!(waiting.retry_after.unwrap().parse::<u64>().unwrap() > 0);
    assert_eq!(ask("203.0.113.2").status, 200);
    // Guessing passwords is slower still.
    let headers = [("content-type", "application/x-www-form-urlencoded")];
    let form = b"name=anna&password=guess";
    let statuses: Vec<u16> = (0..12)
        .map(|_| world.client.send("POST", "/login", &headers, form).unwrap().status)
        .collect();
    assert_eq!(statuses.last(), Some(&429), "{statuses:?}");
    assert_ne!(statuses[0], 429);
    let shown = world.client.send("POST", "/login", &headers, form).unwrap();
    assert!(shown.status == 429 && shown.retry_after.is_some());
    assert!(shown.kind.starts_with("text/html"), "a browser is shown a page: {}", shown.kind);
}

fn health_and_metrics(at: &At) {
    let world = World::new(at);
    assert_eq!(world.client.get("/healthz").body, b"ok\n");
    world.submit(&Made::new("1111", &["secret_function"]));
    world.client.put(b"x", Digest::of(b"x"));
    refused(&world.client.get("/metrics"), 401, "token");
    let text = String::from_utf8(world.maintainer.get("/metrics").body).unwrap();
    for line in [
        "stunt_reports_total 1",
        "stunt_tickets{state=\"open\"} 1",
        "stunt_reports_refused_total{reason=\"content\"} 1",
        "stunt_request_seconds_count{route=\"/api/v1/reports/{digest}\",method=\"PUT\",status=\"201\"} 1",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("secret_function"));
    // Every line is one that Prometheus reads: a comment, or a name, labels and a number.
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("stunt_") && value.parse::<f64>().is_ok(), "{line}");
    }
}

#[test]
fn the_key_is_for_the_server_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let path = folder.path().join("identity");
    let identity = stunt_server::identity(&path, true).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let again = stunt_server::identity(&path, true).unwrap();
    assert_eq!(again.recipient().to_string(), identity.recipient().to_string());
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    assert!(stunt_server::identity(&path, true).is_err());
    assert!(stunt_server::identity(&folder.path().join("none"), false).is_err());
}

/// Walks over a document, and checks that it has the shape of the schema.
fn fits(value: &Value, schema: &Value, all: &Value, place: &str) {
    if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
        let name = name.rsplit('/').next().unwrap();
        return fits(value, &all["components"]["schemas"][name], all, place);
    }
    if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
        // Flattened: all parts together are the object.
        let mut joined = json!({"type": "object", "properties": {}, "required": []});
        for part in parts {
            let part = match part.get("$ref").and_then(Value::as_str) {
                Some(name) => &all["components"]["schemas"][name.rsplit('/').next().unwrap()],
                None => part,
            };
            for (key, value) in part["properties"].as_object().unwrap() {
                joined["properties"][key] = value.clone();
            }
            let required = part["required"].as_array().cloned().unwrap_or_default();
            joined["required"].as_array_mut().unwrap().extend(required);
        }
        return fits(value, &joined, all, place);
    }
    if let Some(choices) = schema.get("oneOf").and_then(Value::as_array) {
        if value.is_null() && choices.iter().any(|choice| choice["type"] == "null") {
            return;
        }
        // One of several is known by its kind.
        let of_kind = |choice: &&Value| {
            let kinds = &choice["properties"]["kind"]["enum"];
            choice["type"] != "null"
                && (kinds.is_null() || kinds.as_array().unwrap().contains(&value["kind"]))
        };
        let Some(real) = choices.iter().find(of_kind) else { panic!("{place}: {value} is none") };
        return fits(value, real, all, place);
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array) {
        assert!(words.contains(value), "{place}: {value} is not one of {words:?}");
    }
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.clone(),
        kind => vec![kind.clone()],
    };
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let number = kind == "integer" && kinds.contains(&json!("number"));
    assert!(number || kinds.contains(&json!(kind)), "{place}: {value} is not {kinds:?}");
    match value {
        Value::Array(values) => {
            for value in values {
                fits(value, &schema["items"], all, place);
            }
        }
        Value::Object(fields) => {
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
                return;
            };
            for (key, value) in fields {
                let place = format!("{place}.{key}");
                let Some(schema) = properties.get(key) else { panic!("{place} is not described") };
                fits(value, schema, all, &place);
            }
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            for key in required {
                let key = key.as_str().unwrap();
                assert!(fields.contains_key(key), "{place}.{key} is not there");
            }
        }
        _ => {}
    }
}

fn the_description_is_true(at: &At) {
    let world = World::new(at);
    let all = world.client.get("/api/v1/openapi.json").json();
    assert!(all["openapi"].as_str().unwrap().starts_with("3."));
    world.submit(&Made::new("1111", &["field", "main"]));
    let event = EventId::random();
    let (parcel, digest) =
        sealed(&Made::new("1111", &["field", "main"]).report(), &world.client.recipient());
    let tracker = json!({"kind": "jira", "url": "https://j.example", "project": "P", "key": "k"});
    let new_settings = json!({"tracker": tracker});
    let program = std::fs::read("/proc/self/exe").unwrap();
    let headers = [("content-type", "application/octet-stream")];
    let build =
        world.maintainer.send("PUT", "/api/v1/builds/parser", &headers, &program).unwrap().json();
    let ask = json!({"signature": "1111", "program": "parser"});
    let id = build["build_id"].as_str().unwrap();
    let new_token = json!({"name": "x", "role": "reporter"});
    let user = json!({"name": "anna", "password": "correct horse", "role": "admin"});
    let answers = [
        ("post", "/api/v1/ask", world.client.json("POST", "/api/v1/ask", &ask)),
        ("get", "/api/v1/recipient", world.client.get("/api/v1/recipient")),
        ("post", "/api/v1/counts", world.client.try_count("1111", event).unwrap()),
        ("post", "/api/v1/counts", world.client.try_count("1111", event).unwrap()),
        ("put", "/api/v1/reports/{digest}", world.client.put(&parcel, digest)),
        ("put", "/api/v1/reports/{digest}", world.client.put(&parcel, digest)),
        ("put", "/api/v1/settings", world.admin.json("PUT", "/api/v1/settings", &new_settings)),
        (
            "post",
            "/api/v1/tickets/{ticket}/issue",
            world.maintainer.json("POST", "/api/v1/tickets/T-1/issue", &json!({})),
        ),
        (
            "post",
            "/api/v1/tickets/{ticket}/notes",
            world.maintainer.json("POST", "/api/v1/tickets/T-1/notes", &json!({"text": "x"})),
        ),
        (
            "post",
            "/api/v1/tickets/{ticket}/replays",
            world.maintainer.json("POST", "/api/v1/tickets/T-1/replays", &json!({"build_id": id})),
        ),
        ("get", "/api/v1/replays/{replay}", world.maintainer.get("/api/v1/replays/1")),
        ("get", "/api/v1/tickets", world.maintainer.get("/api/v1/tickets")),
        ("get", "/api/v1/tickets/{ticket}", world.maintainer.get("/api/v1/tickets/T-1")),
        ("get", "/api/v1/builds", world.maintainer.get("/api/v1/builds")),
        ("get", "/api/v1/settings", world.admin.get("/api/v1/settings")),
        ("post", "/api/v1/tokens", world.admin.json("POST", "/api/v1/tokens", &new_token)),
        ("get", "/api/v1/tokens", world.admin.get("/api/v1/tokens")),
        ("post", "/api/v1/users", world.admin.json("POST", "/api/v1/users", &user)),
        ("get", "/api/v1/users", world.admin.get("/api/v1/users")),
        ("get", "/api/v1/audit", world.admin.get("/api/v1/audit")),
        ("get", "/api/v1/noise", world.admin.get("/api/v1/noise")),
    ];
    for (method, path, answer) in &answers {
        let operation = &all["paths"][path][method];
        let response = &operation["responses"][answer.status.to_string()];
        assert!(response.is_object(), "{method} {path}: {} is not described", answer.status);
        let schema = &response["content"]["application/json"]["schema"];
        fits(&answer.json(), schema, &all, &format!("{method} {path}"));
    }
    fits(&new_settings, &json!({"$ref": "/NewSettings"}), &all, "new settings");
    let paths = &all["paths"];
    let sort = &paths["/api/v1/tickets"]["get"]["parameters"][3];
    assert_eq!(
        (&sort["name"], &sort["schema"]["enum"]),
        (&json!("sort"), &json!(["last-seen", "first-seen", "count", "leak"]))
    );
    assert_eq!(paths["/api/v1/ask"]["post"]["security"], json!([{}, {"token": []}]));
    assert_eq!(paths["/api/v1/tickets"]["get"]["security"], json!([{"token": []}]));
    let limit = &paths["/api/v1/audit"]["get"]["parameters"][1];
    assert_eq!((&limit["name"], &limit["schema"]["type"]), (&json!("limit"), &json!("integer")));
    let problem = world.client.get("/api/v1/tickets");
    fits(&problem.json(), &json!({"$ref": "/Problem"}), &all, "problem");
    // Everything that is described is there, and nobody may do more than it says.
    for (path, methods) in all["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let real = path.replace("{ticket}", "T-1").replace("{replay}", "1");
            let real = real
                .replace("{signature}", "1111")
                .replace("{digest}", "00")
                .replace("{token}", "999");
            let real = real.replace("{name}", "x");
            let answer = world.client.send(&method.to_uppercase(), &real, &[], b"").unwrap();
            assert_ne!(answer.status, 405, "{method} {path}");
            let tag = operation["tags"][0].as_str().unwrap();
            let expected_refusal = matches!(tag, "maintainer" | "admin");
            assert_eq!(
                answer.status == 401,
                expected_refusal,
                "{method} {path}: {}",
                answer.status
            );
        }
    }
}

/// What a page of ours may do.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

fn browsers_are_kept_to_our_pages(at: &At) {
    let world = World::new(at);
    let login = world.client.get("/login");
    let text = String::from_utf8(login.body).unwrap();
    let (_, asset) = text.split_once("stylesheet\" href=\"").unwrap();
    let asset = asset.split_once('"').unwrap().0;
    for (path, status) in [
        ("/login", 200),
        (asset, 200),
        ("/api/v1/recipient", 200),
        ("/healthz", 200),
        ("/", 303),
        ("/nothing", 404),
        ("/api/v1/nothing", 404),
        ("/api/v1/tickets", 401),
    ] {
        let answer = world.client.get(path);
        assert_eq!(answer.status, status, "{path}");
        assert_eq!(answer.header("content-security-policy"), POLICY, "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin", "{path}");
        let kept = answer.header("cache-control");
        assert_eq!(kept == "no-store", path != asset, "{path}: {kept}");
    }
}

/// A form with files, its fields in this order: a name, and what it says.
fn multipart(fields: &[(&str, &str)]) -> (String, Vec<u8>) {
    let mut form = String::new();
    for (name, value) in fields {
        let file = if *name == "file" { "; filename=\"x\"" } else { "" };
        form += &format!(
            "--edge\r\ncontent-disposition: form-data; name=\"{name}\"{file}\r\n\r\n{value}\r\n"
        );
    }
    ("multipart/form-data; boundary=edge".to_owned(), (form + "--edge--\r\n").into_bytes())
}

fn the_words_of_a_reporter_are_on_the_ticket(at: &At) {
    let world = World::new(at);
    let comment = Some("<b>since</b> Tuesday\u{202e}".to_owned());
    world.submit(&Made { comment, ..Made::new("1111", &["f"]) });
    let store = world.running.as_ref().unwrap().app.store();
    let (_, cookie) = world.runtime.block_on(async {
        store.add_user("test", "anna", "correct horse", Role::Maintainer).await.unwrap();
        store.log_in("anna", "correct horse").await.unwrap().unwrap()
    });
    let cookie = format!("stunt_session={cookie}");
    let headers = [("cookie", cookie.as_str())];
    let page = world.client.send("GET", "/tickets/T-1", &headers, &[]).unwrap();
    let text = String::from_utf8(page.body).unwrap();
    assert_eq!(page.status, 200, "{text}");
    assert!(text.contains("since") && text.contains(" Tuesday\\u{202e}"), "{text}");
    assert!(!text.contains("<b>since"), "{text}");
}

fn forms_of_others_are_refused(at: &At) {
    let world = World::new(at);
    world.submit(&Made::new("1111", &["f"]));
    let store = world.running.as_ref().unwrap().app.store();
    let (session, cookie) = world.runtime.block_on(async {
        store.add_user("test", "anna", "correct horse", Role::Maintainer).await.unwrap();
        store.log_in("anna", "correct horse").await.unwrap().unwrap()
    });
    let cookie = format!("stunt_session={cookie}");
    let send = |path: &str, kind: &str, site: &str, body: &[u8]| {
        let headers =
            [("cookie", cookie.as_str()), ("content-type", kind), ("sec-fetch-site", site)];
        world.client.send("POST", path, &headers, body).unwrap()
    };
    let foreign = |answer: &Answer, what: &str| {
        assert_eq!(answer.status, 403, "{what}");
        assert!(answer.kind.starts_with("text/html"), "{what}: a browser is shown a page");
        let text = String::from_utf8_lossy(&answer.body);
        assert!(text.contains("not one of this session"), "{what}: {text}");
    };
    let csrf = session.csrf.as_str();
    // No program, so that a form that gets through is told apart from one that does not.
    let file = ("file", "#!/bin/sh");
    for (what, fields) in [
        ("without", vec![file]),
        ("wrong", vec![("csrf", "0000"), file]),
        ("late", vec![file, ("csrf", csrf)]),
        ("after another field", vec![("version", "1"), ("csrf", csrf), file]),
        ("empty", vec![("csrf", ""), file]),
    ] {
        let (kind, form) = multipart(&fields);
        foreign(&send("/builds", &kind, "same-origin", &form), what);
    }
    let (kind, form) = multipart(&[("csrf", csrf), file]);
    foreign(&send("/builds", &kind, "cross-site", &form), "of another site");
    assert_eq!(send("/builds", &kind, "same-origin", &form).status, 422, "this is none of others");
    let kind = "application/x-www-form-urlencoded";
    for (what, site, form) in [
        ("without", "same-origin", "text=x".to_owned()),
        ("wrong", "same-origin", "text=x&csrf=0000".to_owned()),
        ("of another site", "cross-site", format!("text=x&csrf={csrf}")),
    ] {
        foreign(&send("/tickets/T-1/notes", kind, site, form.as_bytes()), what);
    }
    let notes = || world.maintainer.get("/api/v1/tickets/T-1").json()["notes"].clone();
    assert_eq!(notes(), json!([]));
    let form = format!("text=x&csrf={csrf}");
    assert_eq!(send("/tickets/T-1/notes", kind, "same-origin", form.as_bytes()).status, 303);
    assert_eq!(notes()[0]["text"], "x");
}

fn settings_that_are_left_out_stay(at: &At) {
    let world = World::new(at);
    let put = |settings: &Value| world.admin.json("PUT", "/api/v1/settings", settings);
    let key = || {
        let store = world.running.as_ref().unwrap().app.store();
        let tracker = world.runtime.block_on(store.settings()).unwrap().tracker;
        tracker.map(|tracker| tracker.key().expose().to_owned())
    };
    let mut tracker =
        json!({"kind": "redmine", "url": "https://r.example", "project": "p", "key": "hunter2"});
    let retention = json!({"fixed_days": 10});
    let first = json!({"title": "Failures", "tracker": tracker, "retention": retention});
    assert_eq!(put(&first).status, 200);
    // What was got is put again, without the key.
    let got = world.admin.get("/api/v1/settings").json();
    assert_eq!(got["retention"], json!({"fixed_days": 10, "silent_days": 0, "audit_days": 730}));
    assert!(got["tracker"]["key"].is_null());
    assert_eq!(put(&got).json(), got);
    assert_eq!(key().as_deref(), Some("hunter2"));
    // What is left out stays.
    let changed = put(&json!({"doubles_kept": 5, "retention": {"audit_days": 7}})).json();
    assert_eq!((&changed["title"], &changed["doubles_kept"]), (&json!("Failures"), &json!(5)));
    assert_eq!(changed["retention"], json!({"fixed_days": 10, "silent_days": 0, "audit_days": 7}));
    assert_eq!(key().as_deref(), Some("hunter2"));
    // A key does not go elsewhere, and a new one is taken.
    tracker.as_object_mut().unwrap().remove("key");
    tracker["url"] = json!("https://evil.example");
    refused(&put(&json!({"tracker": tracker})), 422, "key");
    refused(&put(&json!({"tracker": {"kind": "bugzilla"}})), 400, "form");
    refused(&put(&json!({"titel": "Failures"})), 400, "form");
    tracker["url"] = json!("https://r.example/");
    tracker["project"] = json!("q");
    assert_eq!(put(&json!({"tracker": tracker})).json()["tracker"]["project"], "q");
    assert_eq!(key().as_deref(), Some("hunter2"));
    tracker["key"] = json!("other");
    assert_eq!(put(&json!({"tracker": tracker})).status, 200);
    assert_eq!(key().as_deref(), Some("other"));
    // Only who says so has none.
    assert_eq!(put(&json!({"tracker": null})).status, 200);
    assert_eq!(key(), None);
}

fn downloads_and_changes_are_logged(at: &At) {
    let world = World::new(at);
    world.submit(&Made::new("1111", &["f"]));
    world.change_settings(&json!({"share_doubles": true}));
    assert_eq!(world.client.get("/api/v1/doubles/1111").status, 200);
    assert_eq!(world.maintainer.get("/api/v1/tickets/T-1/double").status, 200);
    world.change_settings(&json!({"title": "Failures", "retention": {"silent_days": 9}}));
    let log = world.admin.get("/api/v1/audit").json();
    let lines: Vec<(&str, &str, &str)> = log
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| ["who", "action", "detail"].map(|name| entry[name].as_str().unwrap()).into())
        .collect();
    assert!(!lines.iter().any(|line| line.0 == "reporter"), "{lines:?}");
    let noise = world.admin.get("/api/v1/noise").json();
    assert_eq!(
        (&noise[0]["action"], &noise[0]["target"]),
        (&json!("double.download"), &json!("T-1"))
    );
    assert!(lines.contains(&("token test", "double.download", "")), "{lines:?}");
    let change = "title: stunt → Failures, days of silent tickets: 0 → 9";
    assert!(lines.contains(&("token test", "settings.change", change)), "{lines:?}");
}

fn a_replay_under_way_is_given_back(at: &At) {
    let mut world = World::with(at, |config| {
        // A worker that takes its time.
        let program = config.data.join("worker");
        std::fs::write(&program, "#!/bin/sh\nexec sleep 10000\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&program, mode).unwrap();
        config.worker = Some(Worker { program, seconds: 10_000, memory: 1 << 20 });
    });
    let made = Made::new("1111", &["f"]);
    world.submit(&made);
    let store = world.running.as_ref().unwrap().app.store().clone();
    let build = NewBuild {
        build_id: made.build.clone(),
        name: "parser".to_owned(),
        version: None,
        data: vec![0; 10],
    };
    let replay = world.runtime.block_on(async {
        store.add_build("anna", &build).await.unwrap();
        let ticket = "T-1".parse().unwrap();
        let replay = store.request_replay("anna", ticket, &made.build, None).await.unwrap().id;
        while store.replay(replay).await.unwrap().state != ReplayState::Running {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        replay
    });
    let running = world.running.take().unwrap();
    world.runtime.block_on(async {
        running.stop().await;
        let store = Store::open(&world.place, Clock::Host).await.unwrap();
        assert_eq!(store.replay(replay).await.unwrap().state, ReplayState::Waiting);
        let lease = std::time::Duration::from_secs(60);
        let job = store.take_job("another", lease).await.unwrap();
        assert_eq!(job.map(|job| job.replay), Some(replay));
        store.close().await;
    });
    let left = std::fs::read_dir(world.folder.path().join("scratch")).unwrap().count();
    assert_eq!(left, 0, "nothing stays behind");
}
