//! What maintainers do with a ticket: notes and states.
//!
//! Always: every change is in the audit log, in the same transaction.

use super::settings::note_action;
use super::{Columns, Error, Note, State, Store, TicketId};
use crate::clock::Moment;

/// The longest note, in bytes.
const LONGEST: usize = 20_000;

impl Store {
    /// Writes a note.
    pub async fn add_note(&self, by: &str, ticket: TicketId, text: &str) -> Result<Note, Error> {
        let text = text.trim();
        if text.is_empty() || text.len() > LONGEST || text.contains('\0') {
            return Err(Error::Invalid(format!("a note has 1 to {LONGEST} bytes of text")));
        }
        let at = self.now();
        let mut writing = self.writing().await?;
        self.require(writing.on(), ticket).await?;
        let sql =
            "INSERT INTO notes (ticket, author, at, text) VALUES ($1, $2, $3, $4) RETURNING id";
        let row =
            sqlx::query(sql).bind(ticket.0).bind(by).bind(at.0).bind(text).fetch_one(writing.on());
        let id = row.await?.number("id")?;
        note_action(writing.on(), at, by, "note.add", &ticket.to_string(), "").await?;
        writing.commit().await?;
        Ok(Note { id, author: by.to_owned(), at, text: text.to_owned() })
    }

    /// Says that a ticket is open or fixed. A fix may name the build that has it: a failure of that
    /// build, or of one that was not known before, is a regression.
    pub async fn set_state(
        &self,
        by: &str,
        ticket: TicketId,
        state: State,
        build: Option<&str>,
    ) -> Result<(), Error> {
        let now = self.now();
        let mut writing = self.writing().await?;
        self.require(writing.on(), ticket).await?;
        put_state(writing.on(), now, by, ticket, state, build).await?;
        writing.commit().await?;
        self.forget_totals().await;
        Ok(())
    }

    /// Counts anew how many tickets are in which state, when that is asked for next.
    pub(super) async fn forget_totals(&self) {
        *self.inner.totals.lock().await = None;
    }

    /// Checks that there is such a ticket.
    pub(super) async fn require(
        &self,
        on: &mut sqlx::AnyConnection,
        ticket: TicketId,
    ) -> Result<(), Error> {
        let sql = "SELECT id FROM tickets WHERE id = $1";
        let found = sqlx::query(sql).bind(ticket.0).fetch_optional(on).await?;
        found.map(|_| ()).ok_or(Error::NotFound("ticket"))
    }
}

/// Sets a ticket's state in a transaction, and says so in the log.
pub(super) async fn put_state(
    on: &mut sqlx::AnyConnection,
    now: Moment,
    by: &str,
    ticket: TicketId,
    state: State,
    build: Option<&str>,
) -> Result<(), Error> {
    let fixed = state == State::Fixed;
    let sql = "UPDATE tickets SET state = $1, fixed_at = $2, fixed_build = $3, \
               proposed_build = NULL WHERE id = $4";
    sqlx::query(sql)
        .bind(state.word())
        .bind(fixed.then_some(now.0))
        .bind(build.filter(|_| fixed).map(str::to_ascii_lowercase))
        .bind(ticket.0)
        .execute(&mut *on)
        .await?;
    let (target, detail) = (ticket.to_string(), build.unwrap_or(""));
    note_action(on, now, by, &format!("ticket.{state}"), &target, detail).await
}
