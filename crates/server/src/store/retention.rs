//! What is removed when: nobody has to keep what nobody looks at.
//!
//! Always: what makes sending again harmless is kept for longer than any client tries.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::submit::IDEMPOTENT;
use super::{Dialect, Error, Store};

/// What is removed when. Zero days is never.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retention {
    /// Fixed tickets that were silent for so long.
    pub fixed_days: u32,
    /// All tickets that were silent for so long.
    pub silent_days: u32,
    /// Lines of the audit log that are so old.
    pub audit_days: u32,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { fixed_days: 365, silent_days: 0, audit_days: 730 }
    }
}

/// How much was removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Swept {
    /// Tickets with all that belongs to them.
    pub tickets: u64,
    /// Numbers of events and digests of parcels that nobody will send again.
    pub receipts: u64,
    /// Sessions that ended.
    pub sessions: u64,
    /// Lines of the audit log.
    pub audit: u64,
    /// Counts of what strangers did.
    pub noise: u64,
    /// Names of programs that no ticket has any more.
    pub programs: u64,
}

const DAY: Duration = Duration::from_secs(86_400);
/// How long counts of what strangers did are kept.
const NOISE: Duration = Duration::from_secs(90 * 86_400);
/// How many rows one transaction removes.
const BITE: i64 = 500;

impl Store {
    /// Removes what the settings say.
    pub async fn sweep(&self) -> Result<Swept, Error> {
        let retention = self.settings().await?.retention;
        let now = self.now();
        let before = |days: u32| match days {
            0 => i64::MIN,
            days => now.minus(DAY * days).0,
        };
        let mut swept = Swept::default();
        swept.tickets += self
            .bite(
                "DELETE FROM tickets WHERE id IN (SELECT id FROM tickets \
                 WHERE state = 'fixed' AND last_seen < $1 LIMIT $2)",
                before(retention.fixed_days),
            )
            .await?;
        swept.tickets += self
            .bite(
                "DELETE FROM tickets WHERE id IN (SELECT id FROM tickets \
                 WHERE last_seen < $1 LIMIT $2)",
                before(retention.silent_days),
            )
            .await?;
        let receipts = now.minus(IDEMPOTENT).0;
        swept.receipts += self
            .bite(
                "DELETE FROM events WHERE id IN (SELECT id FROM events WHERE at < $1 LIMIT $2)",
                receipts,
            )
            .await?;
        swept.receipts += self
            .bite(
                "DELETE FROM parcels WHERE digest IN (SELECT digest FROM parcels \
                 WHERE at < $1 LIMIT $2)",
                receipts,
            )
            .await?;
        swept.sessions += self
            .bite(
                "DELETE FROM sessions WHERE digest IN (SELECT digest FROM sessions \
                 WHERE expires < $1 LIMIT $2)",
                now.0,
            )
            .await?;
        swept.audit += self
            .bite(
                "DELETE FROM audit WHERE id IN (SELECT id FROM audit WHERE at < $1 LIMIT $2)",
                before(retention.audit_days),
            )
            .await?;
        swept.noise += self
            .bite(
                "DELETE FROM noise WHERE hour IN (SELECT DISTINCT hour FROM noise \
                 WHERE hour < $1 LIMIT $2)",
                now.minus(NOISE).0.div_euclid(3_600_000),
            )
            .await?;
        // A report that is under way has named its program, and has no ticket yet.
        swept.programs += self
            .bite(
                "DELETE FROM programs WHERE name IN (SELECT name FROM programs \
                 WHERE first_seen < $1 AND NOT EXISTS (SELECT 1 FROM tickets \
                 WHERE tickets.program = programs.name) LIMIT $2)",
                now.minus(DAY).0,
            )
            .await?;
        self.optimize().await?;
        Ok(swept)
    }

    /// Lets SQLite look at its tables, where they have changed much, for better plans. PostgreSQL
    /// does that by itself.
    async fn optimize(&self) -> Result<(), Error> {
        if self.inner.dialect == Dialect::Sqlite {
            let _turn = self.inner.writer.lock().await;
            // All tables (0x10000), whether this connection has used them or not, by a part of their
            // rows (0x10), so that reports do not wait for long.
            sqlx::query("PRAGMA optimize = 0x10012").execute(self.reading()).await?;
        }
        Ok(())
    }

    /// Removes in small transactions, so that reports do not wait.
    async fn bite(&self, sql: &'static str, before: i64) -> Result<u64, Error> {
        let mut removed = 0;
        loop {
            let mut writing = self.writing().await?;
            let done = sqlx::query(sql).bind(before).bind(BITE).execute(writing.on()).await?;
            writing.commit().await?;
            removed += done.rows_affected();
            if done.rows_affected() < BITE.unsigned_abs() {
                return Ok(removed);
            }
        }
    }
}
