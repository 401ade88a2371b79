//! What reporters do: ask, count, and hand in a report.
//!
//! Always: nothing counts twice, however often it is sent: a parcel goes by its digest, a report by
//! the digest of its file, an event by the number that its sender drew. In SQLite everything that
//! waits is written in one transaction, so that many share one wait for the disk; in PostgreSQL
//! each has its own, and the database does the same.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{AnyConnection, AssertSqlSafe, Executor};
use stunt_parcel::messages::{Count, EventId};
use stunt_parcel::{Digest, SignerKey};
use stunt_report::Report;
use tokio::sync::{mpsc, oneshot};

use super::{Columns, Dialect, Error, State, Store, TicketId};
use crate::clock::Moment;
use crate::grouping::{self, cut};

/// A ticket's leak while it has no double: worse than any.
pub(super) const NO_DOUBLE: f64 = 1e300;
/// The best double first: by what this server has seen, never by what a report says of itself. In
/// front is what failed in a replay here and was counted here, by that count in bits (percentages of
/// unlike lengths do not compare); then what failed here and could not be counted, in the order in
/// which that was seen; then what nobody has tried, in the order in which it came; and at the end
/// what did not fail.
pub(super) const BEST: &str = "CASE WHEN confirmed = 1 AND measured_bits IS NOT NULL THEN 0 \
     WHEN confirmed = 1 THEN 1 WHEN confirmed IS NULL THEN 2 ELSE 3 END, \
     CASE WHEN confirmed = 1 THEN COALESCE(measured_bits, 0) ELSE 0 END, \
     CASE WHEN confirmed = 1 THEN COALESCE(confirmed_at, 0) ELSE 0 END, at, digest";
/// How many submissions share a transaction at most.
const BATCH: usize = 128;
/// How many may wait; who comes later waits outside.
const WAITING: usize = 1024;
/// Builds and versions of a ticket that are told apart on one day.
const BUILDS_A_DAY: i64 = 200;
/// How often a transaction is tried that another one was in the way of.
const TRIES: usize = 5;

/// A report that was opened and found to be in order.
#[derive(Clone)]
pub struct Submission {
    /// Of the sealed parcel.
    pub parcel: Digest,
    /// Of the report's file.
    pub digest: Digest,
    /// The report's file.
    pub data: Vec<u8>,
    /// What it says.
    pub report: Report,
    /// Who signed it.
    pub signer: Option<SignerKey>,
    /// The event that it is about, if its sender says so.
    pub event: Option<EventId>,
}

/// What became of a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Submitted {
    /// The ticket that it belongs to.
    pub ticket: TicketId,
    /// Whether the parcel was not here before.
    pub new: bool,
}

/// What became of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counted {
    /// The ticket.
    pub ticket: TicketId,
    /// Events in all.
    pub count: i64,
    /// Whether the event was not counted before.
    pub new: bool,
}

/// The double that a reporter may have.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KnownDouble {
    /// Of the report's file.
    pub digest: Digest,
    /// The size of the report's file.
    pub bytes: u64,
    /// What it reveals: as counted here, or else as its report says.
    pub leak_bits: f64,
}

/// Something to be written, and whom to tell.
pub(super) enum Item {
    Report(Arc<Submission>, oneshot::Sender<Result<Submitted, Error>>),
    Count(Arc<Count>, oneshot::Sender<Result<Option<Counted>, Error>>),
}

/// Where submissions wait in SQLite.
pub(super) type Queue = mpsc::Sender<Item>;
/// The other end.
pub(super) type Waiting = mpsc::Receiver<Item>;

pub(super) fn queue() -> (Queue, Waiting) {
    mpsc::channel(WAITING)
}

/// Starts to write what waits, until the store is gone.
pub(super) fn start(store: &Store, mut waiting: Waiting) {
    if store.inner.dialect == Dialect::Postgres {
        return;
    }
    let weak = Arc::downgrade(&store.inner);
    tokio::spawn(async move {
        let mut items = Vec::with_capacity(BATCH);
        while waiting.recv_many(&mut items, BATCH).await > 0 {
            let Some(inner) = weak.upgrade() else { return };
            Store { inner }.write_batch(&mut items).await;
        }
    });
}

/// An answer that is known, but not yet true.
enum Pending {
    Report(Submitted, oneshot::Sender<Result<Submitted, Error>>),
    Count(Option<Counted>, oneshot::Sender<Result<Option<Counted>, Error>>),
}

impl Pending {
    /// Tells whoever asked; one who no longer listens has asked for nothing.
    fn tell(self, lost: Option<&str>) {
        let lost = lost.map(|why| Error::NotWritten(why.to_owned()));
        match (self, lost) {
            (Pending::Report(_, to), Some(lost)) => drop(to.send(Err(lost))),
            (Pending::Count(_, to), Some(lost)) => drop(to.send(Err(lost))),
            (Pending::Report(answer, to), None) => drop(to.send(Ok(answer))),
            (Pending::Count(answer, to), None) => drop(to.send(Ok(answer))),
        }
    }
}

impl Store {
    /// Takes a report. When this returns, it is on disk.
    pub async fn submit(&self, submission: Submission) -> Result<Submitted, Error> {
        let submission = Arc::new(submission);
        if self.inner.dialect == Dialect::Sqlite {
            let (to, answer) = oneshot::channel();
            self.enqueue(Item::Report(submission, to)).await?;
            return answer.await.map_err(|_| stopping())?;
        }
        let mut tries = 0;
        loop {
            let result = async {
                let mut writing = self.writing().await?;
                let now = self.now();
                let submitted = report(writing.on(), &submission, now).await?;
                writing.commit().await?;
                Ok(submitted)
            };
            match result.await {
                Err(error) if tries < TRIES && in_the_way(&error) => tries += 1,
                other => return other,
            }
        }
    }

    /// Counts an event; nothing if its signature is unknown. When this returns, it is on disk.
    pub async fn count(&self, event: &Count) -> Result<Option<Counted>, Error> {
        let event = Arc::new(event.clone());
        if self.inner.dialect == Dialect::Sqlite {
            let (to, answer) = oneshot::channel();
            self.enqueue(Item::Count(event, to)).await?;
            return answer.await.map_err(|_| stopping())?;
        }
        let mut tries = 0;
        loop {
            let result = async {
                let mut writing = self.writing().await?;
                let now = self.now();
                let counted = count(writing.on(), &event, now).await?;
                writing.commit().await?;
                Ok(counted)
            };
            match result.await {
                Err(error) if tries < TRIES && in_the_way(&error) => tries += 1,
                other => return other,
            }
        }
    }

    async fn enqueue(&self, item: Item) -> Result<(), Error> {
        self.inner.submissions.send(item).await.map_err(|_| stopping())
    }

    /// Writes all items in one transaction. One that fails leaves the others alone.
    async fn write_batch(&self, items: &mut Vec<Item>) {
        let mut pending = Vec::with_capacity(items.len());
        let result = async {
            let mut writing = self.writing().await?;
            let now = self.now();
            for item in items.drain(..) {
                writing.on().execute("SAVEPOINT item").await?;
                let failed = match item {
                    Item::Report(submission, to) => {
                        match report(writing.on(), &submission, now).await {
                            Ok(answer) => {
                                pending.push(Pending::Report(answer, to));
                                false
                            }
                            Err(error) => {
                                drop(to.send(Err(error)));
                                true
                            }
                        }
                    }
                    Item::Count(event, to) => match count(writing.on(), &event, now).await {
                        Ok(answer) => {
                            pending.push(Pending::Count(answer, to));
                            false
                        }
                        Err(error) => {
                            drop(to.send(Err(error)));
                            true
                        }
                    },
                };
                if failed {
                    writing.on().execute("ROLLBACK TO item").await?;
                }
                writing.on().execute("RELEASE item").await?;
            }
            writing.commit().await
        };
        let lost = result.await.err().map(|error| error.to_string());
        // What was not even tried is told by the end of its channel.
        items.clear();
        for answer in pending {
            answer.tell(lost.as_deref());
        }
    }

    /// What is known of a failure: its ticket, and the best double.
    pub async fn ask(
        &self,
        signature: &str,
    ) -> Result<Option<(TicketId, Option<KnownDouble>)>, Error> {
        let Some(ticket) = self.ticket_of(signature).await? else { return Ok(None) };
        // Who asks has one build, and a double of that build is the one that will fail there.
        // What did not fail here is of no use to anybody.
        let sql = format!(
            "SELECT digest, bytes, COALESCE(measured_bits, leak_bits) AS bits FROM doubles \
             WHERE ticket = $1 AND kept = 1 AND COALESCE(confirmed, 1) = 1 ORDER BY CASE WHEN build_id = (SELECT build_id FROM signatures \
             WHERE signature = $2) THEN 0 ELSE 1 END, {BEST} LIMIT 1"
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(ticket.0).bind(signature);
        let found = query.fetch_optional(self.reading()).await?;
        let double = found.map(|row| {
            Ok::<_, Error>(KnownDouble {
                digest: row.text("digest")?.parse().map_err(|_| Error::Unknown("digest"))?,
                bytes: u64::try_from(row.number("bytes")?).unwrap_or(0),
                leak_bits: row.figure("bits")?,
            })
        });
        Ok(Some((ticket, double.transpose()?)))
    }

    /// The file of a report, by its digest.
    pub async fn report_file(&self, digest: &str) -> Result<Option<Vec<u8>>, Error> {
        use sqlx::Row;
        let sql = "SELECT data FROM double_data WHERE digest = $1";
        let found = sqlx::query(sql).bind(digest).fetch_optional(self.reading()).await?;
        Ok(found.map(|row| row.try_get("data")).transpose()?)
    }

    /// The ticket of a parcel that was taken.
    pub async fn parcel(&self, parcel: Digest) -> Result<Option<TicketId>, Error> {
        let sql = "SELECT ticket FROM parcels WHERE digest = $1";
        let found =
            sqlx::query(sql).bind(parcel.to_string()).fetch_optional(self.reading()).await?;
        found.map(|row| row.number("ticket").map(TicketId)).transpose()
    }
}

fn stopping() -> Error {
    Error::NotWritten("the server is stopping, or the database failed".to_owned())
}

/// Whether another transaction was in the way, and trying again helps.
fn in_the_way(error: &Error) -> bool {
    let Error::Database(sqlx::Error::Database(error)) = error else { return false };
    matches!(error.code().as_deref(), Some("40001" | "40P01" | "23505"))
}

/// A report in a transaction.
async fn report(
    on: &mut AnyConnection,
    submission: &Submission,
    now: Moment,
) -> Result<Submitted, Error> {
    let parcel = submission.parcel.to_string();
    let sql = "INSERT INTO parcels (digest, at) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let new = sqlx::query(sql).bind(&parcel).bind(now.0).execute(&mut *on).await?;
    if new.rows_affected() == 0 {
        let sql = "SELECT ticket FROM parcels WHERE digest = $1";
        let row = sqlx::query(sql).bind(&parcel).fetch_one(&mut *on).await?;
        return Ok(Submitted { ticket: TicketId(row.number("ticket")?), new: false });
    }
    let digest = submission.digest.to_string();
    let sql = "SELECT ticket FROM doubles WHERE digest = $1";
    let known = sqlx::query(sql).bind(&digest).fetch_optional(&mut *on).await?;
    let ticket = match known {
        // The same report, sealed once more.
        Some(row) => row.number("ticket")?,
        None => new_report(on, submission, &digest, now).await?,
    };
    let sql = "UPDATE parcels SET ticket = $1 WHERE digest = $2";
    sqlx::query(sql).bind(ticket).bind(&parcel).execute(&mut *on).await?;
    Ok(Submitted { ticket: TicketId(ticket), new: true })
}

async fn new_report(
    on: &mut AnyConnection,
    submission: &Submission,
    digest: &str,
    now: Moment,
) -> Result<i64, Error> {
    let report = &submission.report;
    let program = cut(&report.program.name);
    let build = report.program.build_id.as_deref().and_then(build_id);
    let sql = "INSERT INTO programs (name, first_seen) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    sqlx::query(sql).bind(&program).bind(now.0).execute(&mut *on).await?;
    meet(on, build.as_deref(), None, now).await?;
    let ticket = ticket_for(on, report, &program, build.as_deref(), now).await?;
    // Whoever asked before has counted it, perhaps.
    let new = match submission.event {
        Some(event) => is_new(on, event, ticket, now).await?,
        None => true,
    };
    if new {
        seen(on, ticket, build.as_deref(), None, now).await?;
    }
    // Who came first is told apart within a millisecond, too.
    let sql = "INSERT INTO doubles (digest, ticket, at, leak_bits, leak_percent, leak_words, \
               bytes, build_id, signer, kept) SELECT $1, $2, \
               CASE WHEN MAX(at) >= $3 THEN MAX(at) + 1 ELSE $3 END, $4, $5, $6, $7, $8, $9, 1 \
               FROM doubles WHERE ticket = $2";
    sqlx::query(sql)
        .bind(digest)
        .bind(ticket)
        .bind(now.0)
        .bind(report.leak.bits)
        .bind(report.leak.percent)
        .bind(cut(&report.leak.words))
        .bind(i64::try_from(submission.data.len()).unwrap_or(i64::MAX))
        .bind(build)
        .bind(submission.signer.map(|signer| signer.to_string()))
        .execute(&mut *on)
        .await?;
    let sql = "INSERT INTO double_data (digest, data) VALUES ($1, $2)";
    sqlx::query(sql).bind(digest).bind(submission.data.as_slice()).execute(&mut *on).await?;
    keep_best(on, ticket).await?;
    Ok(ticket)
}

/// The ticket of a report's failure, old or new. The first report describes the ticket, until a
/// replay here has seen the failure; whoever reports it later changes no word of that.
async fn ticket_for(
    on: &mut AnyConnection,
    report: &Report,
    program: &str,
    build: Option<&str>,
    now: Moment,
) -> Result<i64, Error> {
    let name = grouping::name(report);
    let failure = &report.failure;
    let sql = "SELECT ticket FROM signatures WHERE signature = $1";
    let known = sqlx::query(sql).bind(&failure.signature).fetch_optional(&mut *on).await?;
    if let Some(row) = known {
        return row.number("ticket");
    }
    let frames = serde_json::to_string(&failure.frames).map_err(|_| Error::Unknown("stack"))?;
    // The update changes nothing; it gives the row, whoever has made it.
    let sql = "INSERT INTO tickets (grouping_key, program, kind, title, words, frames, state, \
               first_seen, last_seen, count, leak) \
               VALUES ($1, $2, $3, $4, $5, $6, 'open', $7, $7, 0, $8) \
               ON CONFLICT (grouping_key) DO UPDATE SET kind = tickets.kind RETURNING id, count";
    let row = sqlx::query(sql)
        .bind(&name.key)
        .bind(program)
        .bind(cut(&failure.kind))
        .bind(&name.title)
        .bind(cut(&failure.words))
        .bind(frames)
        .bind(now.0)
        .bind(NO_DOUBLE)
        .fetch_one(&mut *on)
        .await?;
    // Whoever made it has counted its first event in the same transaction.
    let (ticket, new) = (row.number("id")?, row.number("count")? == 0);
    let sql = "INSERT INTO signatures (signature, ticket, build_id, first_seen) \
               VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING";
    sqlx::query(sql)
        .bind(&failure.signature)
        .bind(ticket)
        .bind(build)
        .bind(now.0)
        .execute(&mut *on)
        .await?;
    let mut texts: Vec<&str> = vec![&failure.signature];
    if new {
        texts.extend([name.title.as_str(), &report.program.name, &failure.kind, &failure.words]);
        texts.extend(failure.frames.iter().take(8).filter_map(|frame| frame.symbol.as_deref()));
    }
    index(on, ticket, &texts).await?;
    Ok(ticket)
}

/// Makes a ticket findable by the words of these texts.
async fn index(on: &mut AnyConnection, ticket: i64, texts: &[&str]) -> Result<(), Error> {
    let terms = grouping::terms(texts);
    if terms.is_empty() {
        return Ok(());
    }
    let rows: Vec<String> = (0..terms.len()).map(|n| format!("(${}, $1)", n + 2)).collect();
    let sql = format!(
        "INSERT INTO terms (term, ticket) VALUES {} ON CONFLICT DO NOTHING",
        rows.join(", ")
    );
    // The text is made of numbers alone.
    let mut query = sqlx::query(AssertSqlSafe(sql)).bind(ticket);
    for term in terms {
        query = query.bind(term);
    }
    query.execute(on).await?;
    Ok(())
}

/// An event in a transaction; nothing if its signature is unknown.
async fn count(
    on: &mut AnyConnection,
    event: &Count,
    now: Moment,
) -> Result<Option<Counted>, Error> {
    let sql = "SELECT ticket FROM signatures WHERE signature = $1";
    let known = sqlx::query(sql).bind(&event.signature).fetch_optional(&mut *on).await?;
    let Some(row) = known else { return Ok(None) };
    let ticket = row.number("ticket")?;
    let new = is_new(on, event.id, ticket, now).await?;
    if new {
        let build = event.build_id.as_deref().and_then(build_id);
        let version = event.version.as_deref().map(cut).filter(|text| !text.is_empty());
        meet(on, build.as_deref(), version.as_deref(), now).await?;
        seen(on, ticket, build.as_deref(), version.as_deref(), now).await?;
    }
    let sql = "SELECT count FROM tickets WHERE id = $1";
    let count = sqlx::query(sql).bind(ticket).fetch_one(on).await?.number("count")?;
    Ok(Some(Counted { ticket: TicketId(ticket), count, new }))
}

/// Notes an event; whether nobody has told of it before.
async fn is_new(
    on: &mut AnyConnection,
    event: EventId,
    ticket: i64,
    now: Moment,
) -> Result<bool, Error> {
    let sql = "INSERT INTO events (id, ticket, at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
    let query = sqlx::query(sql).bind(event.to_string()).bind(ticket).bind(now.0);
    Ok(query.execute(&mut *on).await?.rows_affected() > 0)
}

/// A build-id as it is kept; nothing if it is none.
fn build_id(text: &str) -> Option<String> {
    let hex = (2..=128).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_hexdigit());
    hex.then(|| text.to_ascii_lowercase())
}

/// What a build is known by: its id, or else its version.
fn identity(build: Option<&str>, version: Option<&str>) -> Option<String> {
    match (build, version) {
        (Some(build), _) => Some(build.to_owned()),
        (None, Some(version)) => Some(format!("version {version}")),
        (None, None) => None,
    }
}

/// Remembers since when a build is known.
pub(super) async fn meet(
    on: &mut AnyConnection,
    build: Option<&str>,
    version: Option<&str>,
    now: Moment,
) -> Result<(), Error> {
    let Some(identity) = identity(build, version) else { return Ok(()) };
    let sql =
        "INSERT INTO known_builds (identity, first_seen) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    sqlx::query(sql).bind(identity).bind(now.0).execute(on).await?;
    Ok(())
}

/// Counts an event of a ticket, and reopens the ticket if it is a regression.
async fn seen(
    on: &mut AnyConnection,
    ticket: i64,
    build: Option<&str>,
    version: Option<&str>,
    now: Moment,
) -> Result<(), Error> {
    let sql = "UPDATE tickets SET count = count + 1, \
               last_seen = CASE WHEN last_seen < $1 THEN $1 ELSE last_seen END WHERE id = $2 \
               RETURNING state, fixed_at, fixed_build";
    let row = sqlx::query(sql).bind(now.0).bind(ticket).fetch_one(&mut *on).await?;
    let state: State = row.text("state")?.parse()?;
    tally(on, ticket, build.unwrap_or(""), version.unwrap_or(""), now).await?;
    if state != State::Fixed {
        return Ok(());
    }
    let fixed_at = row.maybe_number("fixed_at")?.unwrap_or(i64::MAX);
    let fixed_build = row.maybe_text("fixed_build")?;
    let Some(identity) = identity(build, version) else { return Ok(()) };
    let sql = "SELECT first_seen FROM known_builds WHERE identity = $1";
    let first = sqlx::query(sql).bind(&identity).fetch_one(&mut *on).await?.number("first_seen")?;
    // A build that came after the fix should have it; the build that was said to have it, too.
    if first > fixed_at || fixed_build.is_some_and(|fixed| fixed == identity) {
        let sql = "UPDATE tickets SET state = 'regressed' WHERE id = $1";
        sqlx::query(sql).bind(ticket).execute(&mut *on).await?;
        let target = TicketId(ticket).to_string();
        super::settings::note_action(
            &mut *on,
            now,
            "server",
            "ticket.regressed",
            &target,
            &identity,
        )
        .await?;
        super::links::add_news(on, ticket, &format!("This failed again, in build {identity}."))
            .await?;
    }
    Ok(())
}

/// One more event of a build on a day.
async fn tally(
    on: &mut AnyConnection,
    ticket: i64,
    build: &str,
    version: &str,
    now: Moment,
) -> Result<(), Error> {
    let sql = "UPDATE daily SET count = count + 1 \
               WHERE ticket = $1 AND day = $2 AND build_id = $3 AND version = $4";
    let query = sqlx::query(sql).bind(ticket).bind(now.day()).bind(build).bind(version);
    if query.execute(&mut *on).await?.rows_affected() > 0 {
        return Ok(());
    }
    // Strangers could make up builds without end.
    let sql = "SELECT COUNT(*) AS n FROM daily WHERE ticket = $1 AND day = $2";
    let row = sqlx::query(sql).bind(ticket).bind(now.day()).fetch_one(&mut *on).await?;
    let full = row.number("n")? >= BUILDS_A_DAY;
    let (build, version) = if full { ("", "") } else { (build, version) };
    let sql = "INSERT INTO daily (ticket, day, build_id, version, count) \
               VALUES ($1, $2, $3, $4, 1) ON CONFLICT (ticket, day, build_id, version) \
               DO UPDATE SET count = daily.count + 1";
    let query = sqlx::query(sql).bind(ticket).bind(now.day()).bind(build).bind(version);
    query.execute(on).await?;
    Ok(())
}

/// Keeps the files of the best reports and drops the others, as the settings say. One more is kept:
/// of those that nobody has tried, the one that says to reveal least. It has a chance to be replayed,
/// and lies about bits fight for that one place alone.
pub(super) async fn keep_best(on: &mut AnyConnection, ticket: i64) -> Result<(), Error> {
    let keep = super::settings::doubles_kept(on).await?;
    let sql = format!(
        "SELECT digest, leak_bits, confirmed, COALESCE(measured_bits, leak_bits) AS bits \
         FROM doubles WHERE ticket = $1 AND kept = 1 ORDER BY {BEST}"
    );
    let rows = sqlx::query(AssertSqlSafe(sql)).bind(ticket).fetch_all(&mut *on).await?;
    let mut challenger: Option<(f64, usize)> = None;
    for (rank, row) in rows.iter().enumerate().skip(keep) {
        let bits = row.figure("leak_bits")?;
        let untried = row.maybe_number("confirmed")?.is_none();
        if untried && challenger.is_none_or(|(least, _)| bits < least) {
            challenger = Some((bits, rank));
        }
    }
    for (rank, row) in rows.iter().enumerate().skip(keep) {
        if challenger.is_some_and(|(_, stays)| stays == rank) {
            continue;
        }
        let digest = row.text("digest")?;
        let sql = "DELETE FROM double_data WHERE digest = $1";
        sqlx::query(sql).bind(&digest).execute(&mut *on).await?;
        let sql = "UPDATE doubles SET kept = 0 WHERE digest = $1";
        sqlx::query(sql).bind(&digest).execute(&mut *on).await?;
    }
    let best = rows.first().map_or(Ok(NO_DOUBLE), |row| row.figure("bits"))?;
    let sql = "UPDATE tickets SET leak = $1 WHERE id = $2";
    sqlx::query(sql).bind(best).bind(ticket).execute(on).await?;
    Ok(())
}

/// How long the digest of a parcel and the number of an event are kept at least: longer than any
/// client tries again.
pub(super) const IDEMPOTENT: Duration = Duration::from_secs(90 * 86_400);
