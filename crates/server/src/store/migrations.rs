//! The versions of the tables, and the ways between them, up and down.
//!
//! Listed by hand: the macro that reads a folder would build every database driver twice.
//!
//! Always: a version that was released does not change; what comes later is another version.

use sqlx::SqlSafeStr;
use sqlx::migrate::{Migration, MigrationType, Migrator};

use super::Dialect;

/// A version: its number, its name, how to get there and how to get back.
type Version = (i64, &'static str, &'static str, &'static str);

const SQLITE: [Version; 5] = [
    (
        1,
        "first",
        include_str!("../../migrations/sqlite/0001_first.up.sql"),
        include_str!("../../migrations/sqlite/0001_first.down.sql"),
    ),
    (
        2,
        "bits",
        include_str!("../../migrations/sqlite/0002_bits.up.sql"),
        include_str!("../../migrations/sqlite/0002_bits.down.sql"),
    ),
    (
        3,
        "news",
        include_str!("../../migrations/sqlite/0003_news.up.sql"),
        include_str!("../../migrations/sqlite/0003_news.down.sql"),
    ),
    (
        4,
        "seen_here",
        include_str!("../../migrations/sqlite/0004_seen_here.up.sql"),
        include_str!("../../migrations/sqlite/0004_seen_here.down.sql"),
    ),
    (
        5,
        "people_and_strangers",
        include_str!("../../migrations/sqlite/0005_people_and_strangers.up.sql"),
        include_str!("../../migrations/sqlite/0005_people_and_strangers.down.sql"),
    ),
];

const POSTGRES: [Version; 5] = [
    (
        1,
        "first",
        include_str!("../../migrations/postgres/0001_first.up.sql"),
        include_str!("../../migrations/postgres/0001_first.down.sql"),
    ),
    (
        2,
        "bits",
        include_str!("../../migrations/postgres/0002_bits.up.sql"),
        include_str!("../../migrations/postgres/0002_bits.down.sql"),
    ),
    (
        3,
        "news",
        include_str!("../../migrations/postgres/0003_news.up.sql"),
        include_str!("../../migrations/postgres/0003_news.down.sql"),
    ),
    (
        4,
        "seen_here",
        include_str!("../../migrations/postgres/0004_seen_here.up.sql"),
        include_str!("../../migrations/postgres/0004_seen_here.down.sql"),
    ),
    (
        5,
        "people_and_strangers",
        include_str!("../../migrations/postgres/0005_people_and_strangers.up.sql"),
        include_str!("../../migrations/postgres/0005_people_and_strangers.down.sql"),
    ),
];

/// The versions for a database.
pub(super) fn of(dialect: Dialect) -> Migrator {
    let versions = match dialect {
        Dialect::Sqlite => &SQLITE,
        Dialect::Postgres => &POSTGRES,
    };
    let step = |&(version, name, up, down): &Version| {
        [(MigrationType::ReversibleUp, up), (MigrationType::ReversibleDown, down)].map(
            |(way, text)| Migration::new(version, name.into(), way, text.into_sql_str(), false),
        )
    };
    Migrator::with_migrations(versions.iter().flat_map(step).collect())
}
