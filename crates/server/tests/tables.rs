//! The tables from version to version, and copies of them.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use common::postgres::Postgres;
use common::tables::{submission, tables};
use common::{Folder, Made};
use sqlx::AssertSqlSafe;
use stunt_server::store::{Place, TicketId};
use stunt_server::{Clock, Store};

#[test]
fn tables_go_both_ways() {
    let postgres = Postgres::start();
    let folder = Folder::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for place in [
        Place::Sqlite(folder.path().join("stunt.db")),
        Place::Postgres(postgres.database("both_ways")),
    ] {
        runtime.block_on(async {
            for _ in 0..2 {
                let store = Store::open(&place, Clock::Host).await.unwrap();
                let made = Made::new("0f", &["f", "main"]);
                store.submit(submission(&made.report())).await.unwrap();
                assert_eq!(store.totals().await.unwrap().open, 1);
                store.close().await;
                Store::migrate_down(&place, 0).await.unwrap();
            }
        });
    }
}

#[test]
fn what_older_tables_know_is_kept() {
    let postgres = Postgres::start();
    let folder = Folder::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for place in
        [Place::Sqlite(folder.path().join("stunt.db")), Place::Postgres(postgres.database("older"))]
    {
        runtime.block_on(async {
            let store = Store::open(&place, Clock::Host).await.unwrap();
            let made = Made::new("0f", &["f", "main"]);
            for (leak, bytes) in [(32.25, 25), (40.5, 400), (0.0, 2)] {
                let made = Made { leak, bytes, ..made.clone() };
                store.submit(submission(&made.report())).await.unwrap();
            }
            let before = store.ticket(TicketId(1)).await.unwrap();
            store.close().await;
            Store::migrate_down(&place, 1).await.unwrap();
            let tables = tables(&place).await;
            let percent = "SELECT leak FROM tickets";
            let (percent,): (f64,) = sqlx::query_as(percent).fetch_one(&tables).await.unwrap();
            assert_eq!(percent, 0.0, "older servers have percent");
            tables.close().await;
            let store = Store::open(&place, Clock::Host).await.unwrap();
            let after = store.ticket(TicketId(1)).await.unwrap();
            assert_eq!(after.doubles, before.doubles);
            let bits: Vec<f64> = after.doubles.iter().map(|double| double.leak_bits).collect();
            assert_eq!(bits, [32.25, 40.5, 0.0], "in the order in which they came");
            store.close().await;
        });
    }
}

#[test]
fn words_that_say_no_bits_are_not_the_best() {
    let postgres = Postgres::start();
    let folder = Folder::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let said = [
        ("exactly 32.24 bits", 32.24),
        ("at most 40.5 bits", 40.5),
        ("about 12 bits (at most 14.5 with 95 % confidence)", 12.0),
        ("at most 99999999999999999999 bits", 1e15),
        ("nonsense 0", 1e15),
        ("exactly nothing", 1e15),
        ("0 bits", 1e15),
        ("", 1e15),
    ];
    for place in
        [Place::Sqlite(folder.path().join("stunt.db")), Place::Postgres(postgres.database("words"))]
    {
        runtime.block_on(async {
            let store = Store::open(&place, Clock::Host).await.unwrap();
            let made = Made { leak: 16.0, bytes: 20, ..Made::new("0f", &["f", "main"]) };
            store.submit(submission(&made.report())).await.unwrap();
            store.close().await;
            Store::migrate_down(&place, 1).await.unwrap();
            let pool = tables(&place).await;
            let insert = "INSERT INTO doubles (digest, ticket, at, leak_percent, leak_words, bytes, \
                          kept) VALUES ($1, 1, 1, 50, $2, 1, 1)";
            for (number, (words, _)) in said.iter().enumerate() {
                let digest = format!("d{number}");
                sqlx::query(insert).bind(digest).bind(*words).execute(&pool).await.unwrap();
            }
            let none = "UPDATE doubles SET leak_words = 'nothing' WHERE leak_percent < 50";
            sqlx::query(none).execute(&pool).await.unwrap();
            pool.close().await;
            let store = Store::open(&place, Clock::Host).await.unwrap();
            let ticket = store.ticket(TicketId(1)).await.unwrap();
            assert_eq!(ticket.row.leak_bits, Some(12.0));
            for (number, (words, bits)) in said.iter().enumerate() {
                let digest = format!("d{number}");
                let double = ticket.doubles.iter().find(|double| double.digest == digest).unwrap();
                assert_eq!(double.leak_bits, *bits, "{words}");
            }
            // A server of the older version still writes, and says no bits.
            let pool = tables(&place).await;
            sqlx::query(insert).bind("late").bind("exactly 0 bits").execute(&pool).await.unwrap();
            pool.close().await;
            let ticket = store.ticket(TicketId(1)).await.unwrap();
            let late = ticket.doubles.iter().find(|double| double.digest == "late").unwrap();
            assert_eq!(late.leak_bits, 1e15);
            store.close().await;
            // Down again: the best by percent, as that version has it.
            Store::migrate_down(&place, 1).await.unwrap();
            let pool = tables(&place).await;
            let percent = "SELECT leak FROM tickets";
            let (percent,): (f64,) = sqlx::query_as(percent).fetch_one(&pool).await.unwrap();
            assert_eq!(percent, 10.0);
            pool.close().await;
        });
    }
}

/// Whoever goes to this version and has never said so hands out no double; whoever goes back does
/// not begin to.
#[test]
fn nobody_has_said_that_doubles_are_handed_out() {
    let postgres = Postgres::start();
    let folder = Folder::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    for place in [
        Place::Sqlite(folder.path().join("stunt.db")),
        Place::Postgres(postgres.database("handed_out")),
    ] {
        runtime.block_on(async {
            let settings = async |place: &Place| {
                let pool = tables(place).await;
                let sql = "SELECT value FROM settings WHERE key = 'settings'";
                let (value,): (String,) = sqlx::query_as(sql).fetch_one(&pool).await.unwrap();
                pool.close().await;
                value.replace(' ', "")
            };
            Store::open(&place, Clock::Host).await.unwrap().close().await;
            Store::migrate_down(&place, 3).await.unwrap();
            assert_eq!(settings(&place).await, r#"{"share_doubles":false}"#);
            let pool = tables(&place).await;
            let sql = r#"UPDATE settings SET value = '{"title":"x","share_doubles":true}'"#;
            sqlx::query(sql).execute(&pool).await.unwrap();
            pool.close().await;
            let store = Store::open(&place, Clock::Host).await.unwrap();
            let mut now = store.settings().await.unwrap();
            assert_eq!((now.title.as_str(), now.share_doubles), ("x", false));
            now.share_doubles = true;
            store.change_settings("anna", &now).await.unwrap();
            store.close().await;
            // What an admin has said stays.
            Store::migrate_down(&place, 3).await.unwrap();
            assert!(settings(&place).await.contains(r#""share_doubles":true"#));
        });
    }
}

#[test]
fn a_backup_has_the_tables_of_its_time() {
    let folder = Folder::new();
    let place = Place::Sqlite(folder.path().join("stunt.db"));
    let copy = folder.path().join("copy.db");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let store = Store::open(&place, Clock::Host).await.unwrap();
        store.submit(submission(&Made::new("0f", &["f"]).report())).await.unwrap();
        store.close().await;
        Store::migrate_down(&place, 1).await.unwrap();
    });
    stunt_server::command::backup(&place, &copy).unwrap();
    let copy = Place::Sqlite(copy);
    runtime.block_on(async {
        for place in [&place, &copy] {
            let pool = tables(place).await;
            let version = "SELECT MAX(version) FROM _sqlx_migrations";
            let (version,): (i64,) = sqlx::query_as(version).fetch_one(&pool).await.unwrap();
            assert_eq!(version, 1, "{place:?}");
            pool.close().await;
        }
        // And a server goes on from it.
        let store = Store::open(&copy, Clock::Host).await.unwrap();
        assert_eq!(store.totals().await.unwrap().open, 1);
        store.close().await;
    });
}

#[test]
fn a_backup_under_load_is_of_one_moment() {
    let folder = Folder::new();
    let place = Place::Sqlite(folder.path().join("stunt.db"));
    let copy = folder.path().join("copy.db");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let store = runtime.block_on(Store::open(&place, Clock::Host)).unwrap();
    let (stop, taken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicI64::new(0)));
    let clients: Vec<_> = (0..4)
        .map(|_| {
            let (store, stop, taken) = (store.clone(), Arc::clone(&stop), Arc::clone(&taken));
            runtime.spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    let report = Made::new("0f", &["f"]).report();
                    store.submit(submission(&report)).await.unwrap();
                    taken.fetch_add(1, Ordering::SeqCst);
                }
            })
        })
        .collect();
    let wait = |more: i64| {
        let until = taken.load(Ordering::SeqCst) + more;
        while taken.load(Ordering::SeqCst) < until {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    wait(20);
    let before = taken.load(Ordering::SeqCst);
    stunt_server::command::backup(&place, &copy).unwrap();
    wait(20);
    stop.store(true, Ordering::SeqCst);
    runtime.block_on(async {
        for client in clients {
            client.await.unwrap();
        }
        store.close().await;
        let copy = Place::Sqlite(copy);
        let store = Store::open(&copy, Clock::Host).await.unwrap();
        let ticket = store.ticket(TicketId(1)).await.unwrap();
        store.close().await;
        let pool = tables(&copy).await;
        for table in ["parcels", "doubles"] {
            let sql = format!("SELECT COUNT(*) FROM {table}");
            let query = sqlx::query_as(AssertSqlSafe(sql));
            let (rows,): (i64,) = query.fetch_one(&pool).await.unwrap();
            assert_eq!(rows, ticket.row.count, "{table}");
        }
        let (sound,): (String,) =
            sqlx::query_as("PRAGMA integrity_check").fetch_one(&pool).await.unwrap();
        assert_eq!(sound, "ok");
        pool.close().await;
        assert!((before..taken.load(Ordering::SeqCst)).contains(&ticket.row.count));
    });
}
