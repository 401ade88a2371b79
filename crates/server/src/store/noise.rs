//! What strangers did: sign-ins that were refused, doubles that were handed out. Counted by the hour.
//!
//! Always: however much strangers do, an hour has so many rows at most, and none of them is in the log
//! of what people did: that log goes by its age alone. No address is kept.

use serde::Serialize;
use sqlx::AnyConnection;

use super::{Columns, Error, Store, TicketId};
use crate::clock::Moment;

/// Milliseconds of an hour.
const HOUR: i64 = 3_600_000;
/// Tickets that are told apart in one hour.
const TICKETS_AN_HOUR: i64 = 50;

/// What strangers did in an hour.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Noise {
    /// When the hour began.
    pub hour: Moment,
    /// What: `login.refused`, `double.download`.
    pub action: String,
    /// To what: a user who exists, a ticket; empty for all others together.
    pub target: String,
    /// How often.
    pub count: i64,
    /// The last time.
    pub last: Moment,
}

/// Counts something that a stranger did. The caller sees to it that there are not many targets.
pub(super) async fn count(
    on: &mut AnyConnection,
    now: Moment,
    action: &str,
    target: &str,
) -> Result<(), Error> {
    let sql = "INSERT INTO noise (hour, action, target, count, last) VALUES ($1, $2, $3, 1, $4) \
               ON CONFLICT (hour, action, target) \
               DO UPDATE SET count = noise.count + 1, last = excluded.last";
    sqlx::query(sql)
        .bind(now.0.div_euclid(HOUR))
        .bind(action)
        .bind(target)
        .bind(now.0)
        .execute(on)
        .await?;
    Ok(())
}

impl Store {
    /// A double was handed out to somebody who knew its signature.
    pub async fn handed_out(&self, ticket: TicketId) -> Result<(), Error> {
        let (now, action, ticket) = (self.now(), "double.download", ticket.to_string());
        let mut writing = self.writing().await?;
        let sql = "SELECT COUNT(*) AS n, SUM(CASE WHEN target = $3 THEN 1 ELSE 0 END) AS known \
                   FROM noise WHERE hour = $1 AND action = $2";
        let query = sqlx::query(sql).bind(now.0.div_euclid(HOUR)).bind(action).bind(&ticket);
        let row = query.fetch_one(writing.on()).await?;
        let known = row.maybe_number("known")?.unwrap_or(0) > 0;
        let full = !known && row.number("n")? >= TICKETS_AN_HOUR;
        count(writing.on(), now, action, if full { "" } else { &ticket }).await?;
        writing.commit().await
    }

    /// What strangers did lately, the newest hour first.
    pub async fn noise(&self, limit: u32) -> Result<Vec<Noise>, Error> {
        let sql = "SELECT hour, action, target, count, last FROM noise \
                   ORDER BY hour DESC, count DESC, action, target LIMIT $1";
        let query = sqlx::query(sql).bind(i64::from(limit.clamp(1, 1000)));
        let noise = |row: &sqlx::any::AnyRow| {
            Ok(Noise {
                hour: Moment(row.number("hour")?.saturating_mul(HOUR)),
                action: row.text("action")?,
                target: row.text("target")?,
                count: row.number("count")?,
                last: row.moment("last")?,
            })
        };
        query.fetch_all(self.reading()).await?.iter().map(noise).collect()
    }
}
