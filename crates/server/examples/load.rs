//! What a server on this machine can take: reports a second, a list of a million tickets, and kills.
//!
//! The server is a process of its own, reached over loopback; clients are threads of this one.
//! Reports are sealed beforehand, because that is work of the reporters' machines. Prints a table;
//! nothing passes or fails by a time, but a lost or doubly counted report ends it.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use common::client::Client;
use common::load::{self, Speed};
use common::postgres::Postgres;
use common::process::{Server, serve_if_told};
use common::{Folder, Made, sealed};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyPoolOptions;
use stunt_parcel::messages::EventId;
use stunt_server::command;
use stunt_server::store::{Place, Role};

const TICKETS: u64 = 1_000_000;
const KILLS: u32 = 50;

fn main() {
    serve_if_told();
    let reports: usize = std::env::var("STUNT_LOAD_REPORTS").map_or(3000, |n| n.parse().unwrap());
    let tickets: u64 = std::env::var("STUNT_LOAD_TICKETS").map_or(TICKETS, |n| n.parse().unwrap());
    let kills: u32 = std::env::var("STUNT_LOAD_KILLS").map_or(KILLS, |n| n.parse().unwrap());
    println!("| what | SQLite | PostgreSQL |");
    println!("| --- | ---: | ---: |");
    let postgres = Postgres::start();
    speeds(&postgres, reports);
    lists(&postgres, tickets);
    sizes(&postgres);
    eprintln!("killing");
    let folder = Folder::new();
    let kept = load::killed(folder.path(), kills);
    assert_eq!((kept.lost, kept.counted), (0, kept.expected), "{kept:?}");
    println!(
        "| kill -9 × {}: acknowledged reports and events / lost / counted twice | {} / 0 / 0 | |",
        kept.kills, kept.acknowledged
    );
    let folder = Folder::new();
    let kept = load::one_of_two(folder.path(), &postgres.database("replicas"));
    assert_eq!((kept.lost, kept.counted), (0, kept.expected), "{kept:?}");
    println!(
        "| one of two replicas killed: acknowledged / lost / counted twice | | {} / 0 / 0 |",
        kept.acknowledged
    );
}

fn speeds(postgres: &Postgres, reports: usize) {
    for clients in [1, 8, 32] {
        eprintln!("{clients} clients");
        let on = |database: Option<&str>| {
            let folder = Folder::new();
            let server = Server::start(folder.path(), database, None);
            let speed = load::speed(&server.base, clients, reports.min(clients * 400));
            server.stop();
            speed
        };
        let sqlite = on(None);
        let shared = on(Some(&postgres.database(&format!("speed{clients}"))));
        let words = |speed: &Speed| {
            format!("{:.0}/s; {:.1} ms; {:.1} ms", speed.per_second, speed.median, speed.p99)
        };
        println!(
            "| reports of {:.1} KB from {clients} clients: a second; half within; 99 % within | {} | {} |",
            sqlite.bytes as f64 / 1000.0,
            words(&sqlite),
            words(&shared)
        );
    }
}

/// Questions to a list.
const QUESTIONS: [(&str, &str); 9] = [
    ("first page", "state=unfixed"),
    ("most frequent first", "state=all&sort=count"),
    ("one program", "state=unfixed&program=program7"),
    ("search for a rare word", "state=all&search=function123456"),
    ("search for a common word", "state=unfixed&search=sigsegv"),
    ("search for two words", "state=all&search=program7+module57"),
    ("search for two words that no ticket has together", "state=all&search=program7+module42"),
    ("search for two common words that no ticket has together", "state=all&search=reader+writer"),
    ("search for the beginning of many words", "state=all&search=func"),
];

fn lists(postgres: &Postgres, tickets: u64) {
    let folder = Folder::new();
    let url = postgres.database("list");
    let places = [
        (Place::Sqlite(folder.path().join("stunt.db")), None),
        (Place::Postgres(url.clone()), Some(url.as_str())),
    ];
    let (mut times, mut pages): (Vec<Vec<(f64, f64)>>, Vec<f64>) = (Vec::new(), Vec::new());
    for (place, database) in &places {
        // Makes the tables.
        Server::start(folder.path(), *database, None).stop();
        let begun = Instant::now();
        fill(place, tickets);
        eprintln!("{tickets} tickets made in {:.0} s", begun.elapsed().as_secs_f64());
        let secret = command::add_token(place, "bench", Role::Maintainer).unwrap();
        let server = Server::start(folder.path(), *database, None);
        let client = Client::new(&server.base).with_token(&secret);
        times.push(QUESTIONS.iter().map(|(_, query)| ask(&client, query)).collect());
        pages.push(page(place, &server));
        server.stop();
    }
    for (at, (what, _)) in QUESTIONS.iter().enumerate() {
        let words = |(first, last): (f64, f64)| format!("{first:.0} ms; {last:.0} ms");
        println!(
            "| list of {tickets} tickets, {what}: first page; tenth page | {} | {} |",
            words(times[0][at]),
            words(times[1][at])
        );
    }
    println!(
        "| list of {tickets} tickets, as a page of the browser | {:.0} ms | {:.0} ms |",
        pages[0], pages[1]
    );
}

/// What things take on disk, with all that belongs to them.
fn sizes(postgres: &Postgres) {
    const MANY: usize = 1000;
    eprintln!("sizes");
    let url = postgres.database("sizes");
    let folder = Folder::new();
    let places = [
        (Place::Sqlite(folder.path().join("stunt.db")), None),
        (Place::Postgres(url.clone()), Some(url.as_str())),
    ];
    let grown: Vec<[u64; 3]> = places
        .iter()
        .map(|(place, database)| {
            // What was written is in the file once the server has ended.
            let after = |work: &dyn Fn(&Client)| {
                let server = Server::start(folder.path(), *database, None);
                work(&Client::new(&server.base));
                server.stop();
                bytes_on_disk(place)
            };
            let submit = |client: &Client, made: &dyn Fn(usize) -> Made| {
                let to = client.recipient();
                for number in 0..MANY {
                    let (parcel, digest) = sealed(&made(number).report(), &to);
                    assert_eq!(client.put(&parcel, digest).status, 201);
                }
            };
            let made = |number: usize| {
                let functions = [format!("function{number}"), "parse".into(), "main".into()];
                let functions = functions.each_ref().map(String::as_str);
                Made { bytes: 4000, ..Made::new(&format!("{number:012x}"), &functions) }
            };
            let empty = after(&|_| {});
            let tickets = after(&|client| submit(client, &made));
            let reports = after(&|client| submit(client, &|_| Made { leak: 90.0, ..made(0) }));
            let events = after(&|client| {
                for _ in 0..MANY {
                    let signature = made(0).signature;
                    assert_eq!(
                        client.try_count(&signature, EventId::random()).unwrap().status,
                        201
                    );
                }
            });
            [(empty, tickets), (tickets, reports), (reports, events)]
                .map(|(before, after)| after.saturating_sub(before) / MANY as u64)
        })
        .collect();
    for (at, what) in [
        "a ticket with its first report, of 4.9 KB",
        "a report that is dropped for better ones",
        "an event, for 90 days",
    ]
    .iter()
    .enumerate()
    {
        println!("| bytes on disk of {what} | {} | {} |", grown[0][at], grown[1][at]);
    }
}

fn bytes_on_disk(place: &Place) -> u64 {
    match place {
        Place::Sqlite(file) => std::fs::metadata(file).unwrap().len(),
        Place::Postgres(url) => tokio::runtime::Runtime::new().unwrap().block_on(async {
            sqlx::any::install_default_drivers();
            let pool = AnyPoolOptions::new().max_connections(1).connect(url).await.unwrap();
            let sql = "SELECT pg_database_size(current_database())";
            let (bytes,): (i64,) = sqlx::query_as(sql).fetch_one(&pool).await.unwrap();
            pool.close().await;
            bytes.unsigned_abs()
        }),
    }
}

/// How long an answer takes: the median of five, in milliseconds.
fn time(client: &Client, path: &str, headers: &[(&str, &str)]) -> f64 {
    let mut times: Vec<f64> = (0..5)
        .map(|_| {
            let begun = Instant::now();
            assert_eq!(client.send("GET", path, headers, &[]).unwrap().status, 200);
            begun.elapsed().as_secs_f64() * 1000.0
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[2]
}

/// How long the list takes as a page, for somebody who is logged in.
fn page(place: &Place, server: &Server) -> f64 {
    let password = command::add_admin(place, "bench", None).unwrap();
    let client = Client::new(&server.base);
    let form = [("content-type", "application/x-www-form-urlencoded")];
    let body = format!("name=bench&password={password}");
    let entered = client.send("POST", "/login", &form, body.as_bytes()).unwrap();
    assert_eq!(entered.status, 303);
    let cookie = entered.header("set-cookie").split(';').next().unwrap().to_owned();
    time(&client, "/", &[("cookie", cookie.as_str())])
}

/// How long the first and the tenth page take.
fn ask(client: &Client, query: &str) -> (f64, f64) {
    let time = |path: &str| time(client, path, &[]);
    let first = format!("/api/v1/tickets?{query}");
    let mut path = first.clone();
    for _ in 1..10 {
        let page = client.get(&path).json();
        match page["next"].as_str() {
            Some(next) => path = format!("{first}&after={next}"),
            None => break,
        }
    }
    (time(&first), time(&path))
}

/// Fills the tables by themselves: a million reports one by one would take an hour.
fn fill(place: &Place, tickets: u64) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        sqlx::any::install_default_drivers();
        let (url, numbers) = match place {
            Place::Sqlite(file) => (
                format!("sqlite://{}", file.display()),
                format!(
                    "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n \
                     WHERE i < {tickets}) SELECT i FROM n) AS numbers"
                ),
            ),
            Place::Postgres(url) => (
                url.clone(),
                format!("generate_series(CAST(1 AS BIGINT), {tickets}) AS numbers(i)"),
            ),
        };
        let pool = AnyPoolOptions::new().max_connections(1).connect(&url).await.unwrap();
        let now = 1_794_825_360_000_u64;
        let day = now / 86_400_000;
        // Whoever fills a database by the million does not wait for the disk at each step.
        let quick = match place {
            Place::Sqlite(_) => "PRAGMA synchronous = OFF; PRAGMA cache_size = -500000",
            Place::Postgres(_) => "SET synchronous_commit = off",
        };
        let statements = [
            quick.to_owned(),
            format!(
                "INSERT INTO tickets (id, grouping_key, program, kind, title, words, frames, state, \
                 fixed_at, first_seen, last_seen, count, leak) SELECT i, 'key' || i, \
                 'program' || (i % 50), 'signal', 'SIGSEGV in function' || i || ' ← module' || \
                 (i % 1000) || ' ← main', 'SIGSEGV in function' || i, '[]', \
                 CASE WHEN i % 3 = 0 THEN 'fixed' ELSE 'open' END, \
                 CASE WHEN i % 3 = 0 THEN {now} END, \
                 {now} - (i * 7919 % 1000003) * 31000 - 86400000, \
                 {now} - (i * 7919 % 1000003) * 31000, 1 + i * 104729 % 5003, \
                 (i * 31 % 1000) / 10.0 FROM {numbers}"
            ),
            format!("INSERT INTO terms (term, ticket) SELECT 'sigsegv', i FROM {numbers}"),
            format!("INSERT INTO terms (term, ticket) SELECT 'function' || i, i FROM {numbers} ORDER BY 1, 2"),
            format!("INSERT INTO terms (term, ticket) SELECT 'module' || (i % 1000), i FROM {numbers} ORDER BY 1, 2"),
            format!("INSERT INTO terms (term, ticket) SELECT 'program' || (i % 50), i FROM {numbers} ORDER BY 1, 2"),
            format!("INSERT INTO terms (term, ticket) SELECT 'reader', i FROM {numbers} WHERE i % 10 = 1"),
            format!("INSERT INTO terms (term, ticket) SELECT 'writer', i FROM {numbers} WHERE i % 10 = 2"),
            format!(
                "INSERT INTO daily (ticket, day, build_id, version, count) \
                 SELECT i, {day} - i % 30, '', '1.0', 1 + i % 9 FROM {numbers}"
            ),
        ];
        // An index over a table that is there is quicker made than one that grows with it.
        let indexes = match place {
            Place::Sqlite(_) => {
                "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
            }
            Place::Postgres(_) => {
                "SELECT CAST(indexname AS TEXT) AS name, indexdef AS sql FROM pg_indexes \
                 WHERE schemaname = 'public' AND indexdef LIKE 'CREATE INDEX%'"
            }
        };
        let indexes: Vec<(String, String)> =
            sqlx::query_as(indexes).fetch_all(&pool).await.unwrap();
        let dropped = indexes.iter().map(|(name, _)| format!("DROP INDEX {name}"));
        let made = indexes.iter().map(|(_, sql)| sql.clone());
        // What autovacuum does by itself within a minute; SQLite has the server's own sweeps.
        let analyze = matches!(place, Place::Postgres(_)).then(|| "VACUUM ANALYZE".to_owned());
        for statement in dropped.chain(statements).chain(made).chain(analyze) {
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&pool).await.unwrap();
        }
        pool.close().await;
    });
}
