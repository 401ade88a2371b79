//! What an admin decides, and the log of who did what.
//!
//! Always: a change and its line in the log are one transaction. The log never holds a secret, and
//! nothing of a report's contents.

use serde::{Deserialize, Serialize};
use sqlx::AnyConnection;

use super::{Columns, Error, Retention, Store};
use crate::clock::Moment;
use crate::grouping::cut;

pub use stunt_trackers::Settings as TrackerSettings;

/// What an admin decides.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What the pages call themselves.
    pub title: String,
    /// Reports and counts need a token.
    pub reporters_need_token: bool,
    /// Whoever knows the signature of a failure may fetch its double. Off, until an admin wants it:
    /// a double still tells something of somebody's input, and a signature is no secret.
    pub share_doubles: bool,
    /// How many of the best doubles of a ticket are kept, at least one; one to be tried comes on top.
    pub doubles_kept: u32,
    /// What is removed when.
    pub retention: Retention,
    /// The tracker, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracker: Option<TrackerSettings>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            title: "stunt".to_owned(),
            reporters_need_token: false,
            share_doubles: false,
            doubles_kept: 3,
            retention: Retention::default(),
            tracker: None,
        }
    }
}

/// Who did what.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct AuditEntry {
    /// Its number; they only grow.
    pub id: i64,
    /// When.
    pub at: Moment,
    /// Who: a user, `token NAME`, or `server`.
    pub who: String,
    /// What: `ticket.fixed`, `token.revoke`, …
    pub action: String,
    /// To what.
    pub target: String,
    /// More about it.
    pub detail: String,
}

/// The one row that holds the settings.
const KEY: &str = "settings";

/// Writes a line into the log.
pub(super) async fn note_action(
    on: &mut AnyConnection,
    at: Moment,
    who: &str,
    action: &str,
    target: &str,
    detail: &str,
) -> Result<(), Error> {
    let sql = "INSERT INTO audit (at, who, action, target, detail) VALUES ($1, $2, $3, $4, $5)";
    sqlx::query(sql)
        .bind(at.0)
        .bind(who)
        .bind(action)
        .bind(cut(target))
        .bind(cut(detail))
        .execute(on)
        .await?;
    Ok(())
}

async fn read(on: impl sqlx::AnyExecutor<'_>) -> Result<Settings, Error> {
    let sql = "SELECT value FROM settings WHERE key = $1";
    let row = sqlx::query(sql).bind(KEY).fetch_optional(on).await?;
    let Some(row) = row else { return Ok(Settings::default()) };
    serde_json::from_str(&row.text("value")?).map_err(|_| Error::Unknown("setting"))
}

/// How many doubles of a ticket are kept.
pub(super) async fn doubles_kept(on: &mut AnyConnection) -> Result<usize, Error> {
    Ok(read(on).await?.doubles_kept.max(1) as usize)
}

/// What is other than before, for the log. A key is said to be new, and nothing more.
fn changes(before: &Settings, after: &Settings) -> String {
    let tracker = |settings: &Settings| {
        let tracker = settings.tracker.as_ref();
        tracker.map_or("none".to_owned(), |it| format!("{} at {}", it.name(), it.url()))
    };
    let (old, new) = (before.retention, after.retention);
    let all = [
        ("title", before.title.clone(), after.title.clone()),
        (
            "token needed",
            before.reporters_need_token.to_string(),
            after.reporters_need_token.to_string(),
        ),
        ("doubles shared", before.share_doubles.to_string(), after.share_doubles.to_string()),
        ("doubles kept", before.doubles_kept.to_string(), after.doubles_kept.to_string()),
        ("days of fixed tickets", old.fixed_days.to_string(), new.fixed_days.to_string()),
        ("days of silent tickets", old.silent_days.to_string(), new.silent_days.to_string()),
        ("days of the log", old.audit_days.to_string(), new.audit_days.to_string()),
        ("tracker", tracker(before), tracker(after)),
    ];
    let changed = all.into_iter().filter(|(_, before, after)| before != after);
    let mut changed: Vec<String> =
        changed.map(|(what, before, after)| format!("{what}: {before} → {after}")).collect();
    if before.tracker != after.tracker && tracker(before) == tracker(after) {
        changed.push("tracker: a new key or project".to_owned());
    }
    if changed.is_empty() { "nothing".to_owned() } else { changed.join(", ") }
}

impl Store {
    /// What the admins decided.
    pub async fn settings(&self) -> Result<Settings, Error> {
        read(self.reading()).await
    }

    /// Decides anew.
    pub async fn change_settings(&self, by: &str, settings: &Settings) -> Result<(), Error> {
        if settings.doubles_kept == 0 || settings.doubles_kept > 100 {
            return Err(Error::Invalid("1 to 100 doubles of a ticket can be kept".to_owned()));
        }
        if settings.title.trim().is_empty() || settings.title.chars().count() > 100 {
            return Err(Error::Invalid("a title has 1 to 100 characters".to_owned()));
        }
        if let Some(tracker) = &settings.tracker {
            tracker.tracker().map_err(|error| Error::Invalid(error.to_string()))?;
        }
        let value = serde_json::to_string(settings).map_err(|_| Error::Unknown("setting"))?;
        let now = self.now();
        let mut writing = self.writing().await?;
        let before = read(writing.on()).await?;
        let sql = "INSERT INTO settings (key, value) VALUES ($1, $2) \
                   ON CONFLICT (key) DO UPDATE SET value = excluded.value";
        sqlx::query(sql).bind(KEY).bind(value).execute(writing.on()).await?;
        let detail = changes(&before, settings);
        note_action(writing.on(), now, by, "settings.change", "", &detail).await?;
        writing.commit().await
    }

    /// The log, the newest first; `before` goes on after a page.
    pub async fn audit(&self, before: Option<i64>, limit: u32) -> Result<Vec<AuditEntry>, Error> {
        let sql = "SELECT id, at, who, action, target, detail FROM audit WHERE id < $1 \
                   ORDER BY id DESC LIMIT $2";
        let rows = sqlx::query(sql)
            .bind(before.unwrap_or(i64::MAX))
            .bind(i64::from(limit.clamp(1, 1000)))
            .fetch_all(self.reading())
            .await?;
        let entry = |row: &sqlx::any::AnyRow| {
            Ok(AuditEntry {
                id: row.number("id")?,
                at: row.moment("at")?,
                who: row.text("who")?,
                action: row.text("action")?,
                target: row.text("target")?,
                detail: row.text("detail")?,
            })
        };
        rows.iter().map(entry).collect()
    }

    /// Writes a line into the log about something that changed nothing here, such as a download.
    pub async fn log_action(&self, who: &str, action: &str, target: &str) -> Result<(), Error> {
        let mut writing = self.writing().await?;
        note_action(writing.on(), self.now(), who, action, target, "").await?;
        writing.commit().await
    }
}
