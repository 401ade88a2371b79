//! What a server on this machine can take: reports a second, a list of a million tickets, and kills.
//!
//! The server is a process of its own, reached over loopback; clients are threads of this one.
//! Reports are sealed beforehand, because that is work of the reporters' machines. Prints a table;
//! nothing passes or fails by a time, but a lost or doubly counted report ends it.

#[path = "../tests/common/mod.rs"]
mod common;

use std::time::Instant;

use common::Folder;
use common::client::Client;
use common::load::{self, Speed};
use common::postgres::Postgres;
use common::process::{Server, serve_if_told};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyPoolOptions;
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
const QUESTIONS: [(&str, &str); 7] = [
    ("first page", "state=unfixed"),
    ("most frequent first", "state=all&sort=count"),
    ("one program", "state=unfixed&program=program7"),
    ("search for a rare word", "state=all&search=function123456"),
    ("search for a common word", "state=unfixed&search=sigsegv"),
    ("search for two words", "state=all&search=program7+module42"),
    ("search for the beginning of many words", "state=all&search=func"),
];

fn lists(postgres: &Postgres, tickets: u64) {
    let folder = Folder::new();
    let url = postgres.database("list");
    let places = [
        (Place::Sqlite(folder.path().join("stunt.db")), None),
        (Place::Postgres(url.clone()), Some(url.as_str())),
    ];
    let mut times: Vec<Vec<(f64, f64)>> = Vec::new();
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
}

/// How long the first and the tenth page take: the median of five, in milliseconds.
fn ask(client: &Client, query: &str) -> (f64, f64) {
    let time = |path: &str| {
        let mut times: Vec<f64> = (0..5)
            .map(|_| {
                let begun = Instant::now();
                assert_eq!(client.get(path).status, 200);
                begun.elapsed().as_secs_f64() * 1000.0
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[2]
    };
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
            format!(
                "INSERT INTO daily (ticket, day, build_id, version, count) \
                 SELECT i, {day} - i % 30, '', '1.0', 1 + i % 9 FROM {numbers}"
            ),
            "ANALYZE".to_owned(),
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
        let [fill @ .., analyze] = statements;
        for statement in dropped.chain(fill).chain(made).chain([analyze]) {
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&pool).await.unwrap();
        }
        pool.close().await;
    });
}
