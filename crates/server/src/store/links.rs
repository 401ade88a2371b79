//! Issues in a tracker: which ticket has one, and what is to be made or asked.
//!
//! Always: a ticket has at most one issue. Somebody asks for it, a task makes it, and later asks for
//! its state; two servers never make the same issue, because making it needs a lease. An issue that
//! a server began and did not finish is not made again by itself: it may be there already. An issue is
//! told that its ticket regressed, once or not at all.

use std::time::Duration;

use serde::Serialize;
use sqlx::any::AnyRow;

use super::settings::note_action;
use super::work::put_state;
use super::{Columns, Error, State, Store, TicketId};
use crate::clock::Moment;
use crate::grouping::cut;

/// How far an issue is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LinkState {
    /// It was asked for.
    Waiting,
    /// It is being made.
    Creating,
    /// It is there, with work to do.
    Open,
    /// It is there, and closed.
    Closed,
    /// It could not be made; `error` says why. It can be asked for again.
    Failed,
}

impl LinkState {
    /// The state as a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            LinkState::Waiting => "waiting",
            LinkState::Creating => "creating",
            LinkState::Open => "open",
            LinkState::Closed => "closed",
            LinkState::Failed => "failed",
        }
    }
}

/// The issue of a ticket.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Link {
    /// Of which ticket.
    pub ticket: TicketId,
    /// The kind of tracker: `Redmine`, `GitHub`, …
    pub tracker: String,
    /// How far it is.
    pub state: LinkState,
    /// Its name in the tracker.
    pub issue: Option<String>,
    /// Where people see it.
    pub url: Option<String>,
    /// Who asked for it.
    pub requested_by: String,
    /// When.
    pub at: Moment,
    /// When the tracker was last asked for its state.
    pub checked: Option<Moment>,
    /// What went wrong last.
    pub error: Option<String>,
}

const COLUMNS: &str = "ticket, tracker, state, issue, url, requested_by, at, checked, error";

fn link(row: &AnyRow) -> Result<Link, Error> {
    Ok(Link {
        ticket: TicketId(row.number("ticket")?),
        tracker: row.text("tracker")?,
        state: match row.text("state")?.as_str() {
            "waiting" => LinkState::Waiting,
            "creating" => LinkState::Creating,
            "open" => LinkState::Open,
            "closed" => LinkState::Closed,
            "failed" => LinkState::Failed,
            _ => return Err(Error::Unknown("state of an issue")),
        },
        issue: row.maybe_text("issue")?,
        url: row.maybe_text("url")?,
        requested_by: row.text("requested_by")?,
        at: row.moment("at")?,
        checked: row.maybe_moment("checked")?,
        error: row.maybe_text("error")?,
    })
}

impl Store {
    /// The issue of a ticket.
    pub async fn link(&self, ticket: TicketId) -> Result<Option<Link>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM links WHERE ticket = $1");
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(ticket.0);
        query.fetch_optional(self.reading()).await?.map(|row| link(&row)).transpose()
    }

    /// Asks for an issue. A task makes it soon.
    pub async fn request_issue(&self, by: &str, ticket: TicketId) -> Result<(), Error> {
        let tracker = self.settings().await?.tracker;
        let none = || Error::Conflict("no tracker is set up; an admin can do that".to_owned());
        let tracker = tracker.ok_or_else(none)?;
        let now = self.now();
        let mut writing = self.writing().await?;
        self.require(writing.on(), ticket).await?;
        let sql = "INSERT INTO links (ticket, tracker, requested_by, at, state) \
                   VALUES ($1, $2, $3, $4, 'waiting') ON CONFLICT (ticket) DO UPDATE SET \
                   tracker = excluded.tracker, requested_by = excluded.requested_by, \
                   at = excluded.at, state = 'waiting', error = NULL \
                   WHERE links.state = 'failed'";
        let asked = sqlx::query(sql)
            .bind(ticket.0)
            .bind(tracker.name())
            .bind(by)
            .bind(now.0)
            .execute(writing.on())
            .await?;
        if asked.rows_affected() == 0 {
            return Err(Error::Conflict("the ticket has an issue already".to_owned()));
        }
        let target = ticket.to_string();
        note_action(writing.on(), now, by, "issue.request", &target, tracker.name()).await?;
        writing.commit().await
    }

    /// Takes an issue that is to be made.
    pub async fn take_link(&self) -> Result<Option<Link>, Error> {
        let sql = "SELECT ticket FROM links WHERE state = 'waiting' ORDER BY at LIMIT 1";
        let row = sqlx::query(sql).fetch_optional(self.reading()).await?;
        let Some(row) = row else { return Ok(None) };
        let mut writing = self.writing().await?;
        let sql = "UPDATE links SET state = 'creating', lease = $1 \
                   WHERE ticket = $2 AND state = 'waiting' RETURNING ticket, tracker, state, \
                   issue, url, requested_by, at, checked, error";
        let lease = self.now().plus(Duration::from_secs(300));
        let query = sqlx::query(sql).bind(lease.0).bind(row.number("ticket")?);
        let row = query.fetch_optional(writing.on()).await?;
        writing.commit().await?;
        row.map(|row| link(&row)).transpose()
    }

    /// Gives up issues whose maker is gone.
    pub async fn give_up_links(&self) -> Result<(), Error> {
        let mut writing = self.writing().await?;
        let sql = "UPDATE links SET state = 'failed', error = $1 \
                   WHERE state = 'creating' AND lease < $2";
        let why = "the server stopped while it made the issue; look whether it is there";
        sqlx::query(sql).bind(why).bind(self.now().0).execute(writing.on()).await?;
        writing.commit().await
    }

    /// Writes down that an issue was made, or why not. A link is there in both cases if the tracker
    /// made an incomplete one.
    pub async fn finish_link(
        &self,
        ticket: TicketId,
        made: Option<&stunt_trackers::Link>,
        error: Option<&str>,
    ) -> Result<(), Error> {
        let state = if made.is_some() { LinkState::Open } else { LinkState::Failed };
        let now = self.now();
        let mut writing = self.writing().await?;
        let sql = "UPDATE links SET state = $1, issue = $2, url = $3, error = $4, checked = $5 \
                   WHERE ticket = $6";
        sqlx::query(sql)
            .bind(state.word())
            .bind(made.map(|link| link.id.clone()))
            .bind(made.map(|link| link.url.clone()))
            .bind(error.map(cut))
            .bind(now.0)
            .bind(ticket.0)
            .execute(writing.on())
            .await?;
        let detail = made.map_or("", |link| &link.id);
        let target = ticket.to_string();
        let action = if made.is_some() { "issue.made" } else { "issue.failed" };
        note_action(writing.on(), now, "server", action, &target, detail).await?;
        writing.commit().await
    }

    /// An issue that is to be told something, and what. It is taken: nobody else will tell it, and
    /// whether it arrives is the taker's business.
    pub async fn take_news(&self) -> Result<Option<(Link, String)>, Error> {
        let sql = "SELECT ticket, news FROM links WHERE news IS NOT NULL \
                   AND state IN ('open', 'closed') LIMIT 1";
        let row = sqlx::query(sql).fetch_optional(self.reading()).await?;
        let Some(row) = row else { return Ok(None) };
        let (ticket, news) = (row.number("ticket")?, row.text("news")?);
        let mut writing = self.writing().await?;
        let sql = format!(
            "UPDATE links SET news = NULL WHERE ticket = $1 AND news = $2 RETURNING {COLUMNS}"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(ticket).bind(&news);
        let row = query.fetch_optional(writing.on()).await?;
        writing.commit().await?;
        row.map(|row| Ok((link(&row)?, news))).transpose()
    }

    /// Writes down why an issue could not be told something.
    pub async fn news_failed(&self, ticket: TicketId, why: &str) -> Result<(), Error> {
        let mut writing = self.writing().await?;
        let sql = "UPDATE links SET error = $1 WHERE ticket = $2";
        sqlx::query(sql).bind(cut(why)).bind(ticket.0).execute(writing.on()).await?;
        writing.commit().await
    }

    /// An issue whose state was not asked for since `before`, if there is one.
    pub async fn stale_link(&self, before: Moment) -> Result<Option<Link>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM links WHERE state IN ('open', 'closed') AND checked < $1 \
             ORDER BY checked LIMIT 1"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(before.0);
        query.fetch_optional(self.reading()).await?.map(|row| link(&row)).transpose()
    }

    /// Writes down what the tracker answered. An issue that was closed since makes its ticket fixed,
    /// one that was opened again makes it open: both or neither is written, since the change is seen
    /// once.
    pub async fn link_checked(
        &self,
        link: &Link,
        answer: Result<LinkState, String>,
    ) -> Result<(), Error> {
        let now = self.now();
        let (state, error) = match answer {
            Ok(state) => (state, None),
            Err(error) => (link.state, Some(error)),
        };
        let mut writing = self.writing().await?;
        let sql = "UPDATE links SET state = $1, error = $2, checked = $3 WHERE ticket = $4 AND state = $5";
        let changed = sqlx::query(sql)
            .bind(state.word())
            .bind(error.as_deref().map(cut))
            .bind(now.0)
            .bind(link.ticket.0)
            .bind(link.state.word())
            .execute(writing.on())
            .await?;
        // Another server may have seen the change first.
        if changed.rows_affected() > 0 && state != link.state {
            let ticket = state_of(writing.on(), link.ticket).await?;
            let follows = match (state, ticket) {
                (LinkState::Closed, State::Open | State::Regressed) => Some(State::Fixed),
                (LinkState::Open, State::Fixed) => Some(State::Open),
                _ => None,
            };
            if let Some(follows) = follows {
                put_state(writing.on(), now, "tracker", link.ticket, follows, None).await?;
            }
        }
        writing.commit().await?;
        self.forget_totals().await;
        Ok(())
    }
}

/// Has a task tell something to the issue of a ticket, if it has one, in place of what it was not
/// told yet.
pub(super) async fn add_news(
    on: &mut sqlx::AnyConnection,
    ticket: i64,
    news: &str,
) -> Result<(), Error> {
    let sql = "UPDATE links SET news = $1 WHERE ticket = $2 AND issue IS NOT NULL";
    sqlx::query(sql).bind(news).bind(ticket).execute(on).await?;
    Ok(())
}

async fn state_of(on: &mut sqlx::AnyConnection, ticket: TicketId) -> Result<State, Error> {
    let sql = "SELECT state FROM tickets WHERE id = $1";
    let row = sqlx::query(sql).bind(ticket.0).fetch_optional(on).await?;
    row.ok_or(Error::NotFound("ticket"))?.text("state")?.parse()
}
