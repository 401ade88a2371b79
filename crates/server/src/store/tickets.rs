//! Tickets as they are shown: a line of the list, one ticket, its doubles and its history.
//!
//! How tickets are searched for is in `list`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use sqlx::AssertSqlSafe;
use sqlx::any::AnyRow;
use stunt_report::Frame;

use super::submit::{BEST, NO_DOUBLE};
use super::{Columns, Error, Link, Replay, Store};
use crate::clock::Moment;

/// How many days a sparkline has.
pub(super) const SPARK_DAYS: i64 = 30;
/// How long the totals are believed.
const TOTALS_LAST: Duration = Duration::from_secs(20);

/// The number of a ticket; people write `T-1042`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TicketId(pub i64);

impl fmt::Display for TicketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "T-{}", self.0)
    }
}

impl FromStr for TicketId {
    type Err = Error;

    fn from_str(text: &str) -> Result<TicketId, Error> {
        let digits = text.strip_prefix("T-").or_else(|| text.strip_prefix("t-")).unwrap_or(text);
        let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let number = digits.parse().ok().filter(|_| plain);
        number.map(TicketId).ok_or(Error::NotFound("ticket"))
    }
}

impl Serialize for TicketId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What is known about the failure's future.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nobody said that it is fixed.
    Open,
    /// A maintainer said so, and no newer build has shown it since.
    Fixed,
    /// A build that came after the fix failed again.
    Regressed,
}

impl State {
    /// The state as a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            State::Open => "open",
            State::Fixed => "fixed",
            State::Regressed => "regressed",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for State {
    type Err = Error;

    fn from_str(text: &str) -> Result<State, Error> {
        let all = [State::Open, State::Fixed, State::Regressed];
        all.into_iter().find(|state| state.word() == text).ok_or(Error::Unknown("state"))
    }
}

/// Which states the list shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StateFilter {
    /// Open and regressed.
    #[default]
    Unfixed,
    /// Open alone.
    Open,
    /// Regressed alone.
    Regressed,
    /// Fixed alone.
    Fixed,
    /// Every ticket.
    All,
}

impl StateFilter {
    /// All of them.
    pub const ALL: [StateFilter; 5] = [
        StateFilter::Unfixed,
        StateFilter::Open,
        StateFilter::Regressed,
        StateFilter::Fixed,
        StateFilter::All,
    ];

    /// The filter as a word, as in a URL.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            StateFilter::Unfixed => "unfixed",
            StateFilter::Open => "open",
            StateFilter::Regressed => "regressed",
            StateFilter::Fixed => "fixed",
            StateFilter::All => "all",
        }
    }

    pub(super) fn sql(self) -> Option<&'static str> {
        Some(match self {
            StateFilter::Unfixed => "t.state <> 'fixed'",
            StateFilter::Open => "t.state = 'open'",
            StateFilter::Regressed => "t.state = 'regressed'",
            StateFilter::Fixed => "t.state = 'fixed'",
            StateFilter::All => return None,
        })
    }
}

/// The order of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sort {
    /// What failed last comes first.
    #[default]
    LastSeen,
    /// The newest ticket comes first.
    FirstSeen,
    /// What fails most often comes first.
    Count,
    /// The least revealing double comes first; tickets without a double come last.
    Leak,
}

impl Sort {
    /// All of them.
    pub const ALL: [Sort; 4] = [Sort::LastSeen, Sort::FirstSeen, Sort::Count, Sort::Leak];

    /// The order as a word, as in a URL.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Sort::LastSeen => "last-seen",
            Sort::FirstSeen => "first-seen",
            Sort::Count => "count",
            Sort::Leak => "leak",
        }
    }

    pub(super) fn column(self) -> &'static str {
        match self {
            Sort::LastSeen => "last_seen",
            Sort::FirstSeen => "first_seen",
            Sort::Count => "count",
            Sort::Leak => "leak",
        }
    }
}

/// Where a page begins: after this ticket. Opaque text in URLs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cursor {
    pub(super) value: f64,
    pub(super) id: i64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}-{}", self.value.to_bits(), self.id)
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Cursor, Error> {
        let parse = || {
            let (value, id) = text.split_once('-')?;
            let value = f64::from_bits(u64::from_str_radix(value, 16).ok()?);
            value.is_finite().then_some(Cursor { value, id: id.parse().ok()? })
        };
        parse().ok_or_else(|| Error::Invalid("this is not a page of the list".to_owned()))
    }
}

/// What to list.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Words that all must be found: in the title, the program, functions, files. The beginning of a
    /// word is enough. `T-12` finds that ticket.
    pub search: String,
    /// Which states.
    pub state: StateFilter,
    /// Only this program.
    pub program: Option<String>,
    /// The order.
    pub sort: Sort,
    /// Where to go on.
    pub after: Option<Cursor>,
    /// How many at most; 0 is 50, and 200 is the most.
    pub limit: usize,
}

/// A line of the list.
#[derive(Clone, Debug, Serialize)]
pub struct TicketRow {
    /// Its number.
    pub id: TicketId,
    /// The failure for people.
    pub title: String,
    /// The program.
    pub program: String,
    /// `signal`, `abort`, `panic`, …
    pub kind: String,
    /// Its state.
    pub state: State,
    /// Events in all.
    pub count: i64,
    /// The first event.
    pub first_seen: Moment,
    /// The last event.
    pub last_seen: Moment,
    /// What the best double reveals, in bits: as counted here, or else as its report says.
    pub leak_bits: Option<f64>,
    /// A build in which a replay no longer fails, while nobody said that it is fixed.
    pub proposed_build: Option<String>,
    /// Events on each of the last 30 days, today last.
    pub spark: Vec<i64>,
}

/// A part of the list.
#[derive(Clone, Debug, Serialize)]
pub struct Page {
    /// The tickets.
    pub tickets: Vec<TicketRow>,
    /// Where the next page begins, if there is one.
    #[serde(serialize_with = "as_text")]
    pub next: Option<Cursor>,
}

fn as_text<S: serde::Serializer>(next: &Option<Cursor>, serializer: S) -> Result<S::Ok, S::Error> {
    match next {
        Some(cursor) => serializer.collect_str(cursor),
        None => serializer.serialize_none(),
    }
}

/// How many tickets there are in which state; a few seconds old at most.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Totals {
    /// Open.
    pub open: i64,
    /// Fixed.
    pub fixed: i64,
    /// Regressed.
    pub regressed: i64,
}

/// Events of a day.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Day {
    /// Days since 1970.
    #[serde(serialize_with = "as_date", rename = "date")]
    pub day: i64,
    /// How many.
    pub count: i64,
}

// Serde asks for a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn as_date<S: serde::Serializer>(day: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&Moment::of_day(*day).date())
}

/// Events of a build.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ByBuild {
    /// The build, where it was told.
    pub build_id: Option<String>,
    /// The version, where it was told.
    pub version: Option<String>,
    /// How many.
    pub count: i64,
    /// The first day.
    #[serde(serialize_with = "as_date")]
    pub first_day: i64,
    /// The last day.
    #[serde(serialize_with = "as_date")]
    pub last_day: i64,
    /// Whether the build is here and can be used in a replay.
    pub uploaded: bool,
}

/// A report that came for a ticket.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Double {
    /// The SHA-256 of the report's file.
    pub digest: String,
    /// When it came.
    pub at: Moment,
    /// What it reveals, in bits, as its report says.
    pub leak_bits: f64,
    /// What its path reveals, in bits, as counted here in a replay: confirmed doubles are ranked by it.
    pub measured_bits: Option<f64>,
    /// What its report says, in percent of the double's own bits.
    pub leak_percent: f64,
    /// What it reveals, in words.
    pub leak_words: String,
    /// The size of the report's file.
    pub bytes: i64,
    /// The build that failed.
    pub build_id: Option<String>,
    /// Who signed it.
    pub signer: Option<String>,
    /// Whether a replay with that build failed as the report says; unknown if there was none.
    pub confirmed: Option<bool>,
    /// Whether the file is still here; only the best are.
    pub kept: bool,
}

/// What a maintainer wrote.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Note {
    /// Its number.
    pub id: i64,
    /// Who wrote it.
    pub author: String,
    /// When.
    pub at: Moment,
    /// What; plain text.
    pub text: String,
}

/// A ticket with all that belongs to it.
#[derive(Clone, Debug, Serialize)]
pub struct Ticket {
    /// What the list shows.
    #[serde(flatten)]
    pub row: TicketRow,
    /// The failure as a replay here has seen it, or else as the first report says it: `SIGSEGV in
    /// field (parser.c:12)`.
    pub words: String,
    /// Its call stack, from the failing frame outward.
    pub frames: Vec<Frame>,
    /// Whether a replay here has seen these words and frames.
    pub described_here: bool,
    /// The signatures of all builds that failed.
    pub signatures: Vec<String>,
    /// When it was said to be fixed.
    pub fixed_at: Option<Moment>,
    /// In which build, if that was said.
    pub fixed_build: Option<String>,
    /// Events of each day that had any, in order.
    pub days: Vec<Day>,
    /// Events of each build, most first.
    pub builds: Vec<ByBuild>,
    /// The reports that came, best first; at most 50.
    pub doubles: Vec<Double>,
    /// Notes in the order in which they were written.
    pub notes: Vec<Note>,
    /// Replays, the newest first; at most 20.
    pub replays: Vec<Replay>,
    /// The issue in the tracker.
    pub link: Option<Link>,
}

pub(super) const ROW: &str = "t.id, t.title, t.program, t.kind, t.state, t.count, t.first_seen, \
                   t.last_seen, t.leak, t.proposed_build";

pub(super) fn row(row: &AnyRow) -> Result<TicketRow, Error> {
    let state: State = row.text("state")?.parse()?;
    let leak = row.figure("leak")?;
    let proposed = row.maybe_text("proposed_build")?;
    Ok(TicketRow {
        id: TicketId(row.number("id")?),
        title: row.text("title")?,
        program: row.text("program")?,
        kind: row.text("kind")?,
        state,
        count: row.number("count")?,
        first_seen: row.moment("first_seen")?,
        last_seen: row.moment("last_seen")?,
        leak_bits: (leak < NO_DOUBLE).then_some(leak),
        proposed_build: proposed.filter(|_| state != State::Fixed),
        spark: Vec::new(),
    })
}

impl Store {
    pub(super) async fn fill_sparks(&self, tickets: &mut [TicketRow]) -> Result<(), Error> {
        if tickets.is_empty() {
            return Ok(());
        }
        let today = self.now().day();
        let first = today - SPARK_DAYS + 1;
        let ids: Vec<String> = tickets.iter().map(|ticket| ticket.id.0.to_string()).collect();
        let sql = format!(
            "SELECT ticket, day, CAST(SUM(count) AS BIGINT) AS n FROM daily \
             WHERE ticket IN ({}) AND day >= {first} GROUP BY ticket, day",
            ids.join(", ")
        );
        let mut counts: FxHashMap<(i64, i64), i64> = FxHashMap::default();
        for row in sqlx::query(AssertSqlSafe(sql)).fetch_all(self.reading()).await? {
            counts.insert((row.number("ticket")?, row.number("day")?), row.number("n")?);
        }
        for ticket in tickets {
            let of = |day| counts.get(&(ticket.id.0, day)).copied().unwrap_or(0);
            ticket.spark = (first..=today).map(of).collect();
        }
        Ok(())
    }

    /// How many tickets there are in which state.
    pub async fn totals(&self) -> Result<Totals, Error> {
        let mut known = self.inner.totals.lock().await;
        let now = self.now();
        if let Some((at, totals)) = *known
            && at.plus(TOTALS_LAST) > now
        {
            return Ok(totals);
        }
        let mut totals = Totals::default();
        let sql = "SELECT state, COUNT(*) AS n FROM tickets GROUP BY state";
        for row in sqlx::query(sql).fetch_all(self.reading()).await? {
            let n = row.number("n")?;
            match row.text("state")?.parse()? {
                State::Open => totals.open = n,
                State::Fixed => totals.fixed = n,
                State::Regressed => totals.regressed = n,
            }
        }
        *known = Some((now, totals));
        Ok(totals)
    }

    /// The programs that anything was heard of, in order.
    pub async fn programs(&self) -> Result<Vec<String>, Error> {
        let sql = "SELECT name FROM programs ORDER BY name LIMIT 1000";
        let rows = sqlx::query(sql).fetch_all(self.reading()).await?;
        rows.iter().map(|row| row.text("name")).collect()
    }

    /// The ticket of a signature, if it is known.
    pub async fn ticket_of(&self, signature: &str) -> Result<Option<TicketId>, Error> {
        let sql = "SELECT ticket FROM signatures WHERE signature = $1";
        let found = sqlx::query(sql).bind(signature).fetch_optional(self.reading()).await?;
        found.map(|row| row.number("ticket").map(TicketId)).transpose()
    }

    /// A ticket with all that belongs to it.
    pub async fn ticket(&self, id: TicketId) -> Result<Ticket, Error> {
        let sql = "SELECT t.id, t.title, t.program, t.kind, t.state, t.count, t.first_seen, \
                   t.last_seen, t.leak, t.proposed_build, t.words, t.frames, t.fixed_at, \
                   t.fixed_build, t.described FROM tickets t WHERE t.id = $1";
        let found = sqlx::query(sql).bind(id.0).fetch_optional(self.reading()).await?;
        let found = found.ok_or(Error::NotFound("ticket"))?;
        let mut rows = [row(&found)?];
        self.fill_sparks(&mut rows).await?;
        let [head] = rows;
        let frames = serde_json::from_str(&found.text("frames")?);
        Ok(Ticket {
            row: head,
            words: found.text("words")?,
            frames: frames.map_err(|_| Error::Unknown("call stack"))?,
            described_here: found.number("described")? != 0,
            signatures: self.signatures(id).await?,
            fixed_at: found.maybe_moment("fixed_at")?,
            fixed_build: found.maybe_text("fixed_build")?,
            days: self.days(id).await?,
            builds: self.by_build(id).await?,
            doubles: self.doubles(id).await?,
            notes: self.notes(id).await?,
            replays: self.replays(id).await?,
            link: self.link(id).await?,
        })
    }

    async fn signatures(&self, id: TicketId) -> Result<Vec<String>, Error> {
        let sql = "SELECT signature FROM signatures WHERE ticket = $1 ORDER BY first_seen, signature LIMIT 100";
        let rows = sqlx::query(sql).bind(id.0).fetch_all(self.reading()).await?;
        rows.iter().map(|row| row.text("signature")).collect()
    }

    async fn days(&self, id: TicketId) -> Result<Vec<Day>, Error> {
        let sql = "SELECT day, CAST(SUM(count) AS BIGINT) AS n FROM daily WHERE ticket = $1 \
                   GROUP BY day ORDER BY day";
        let rows = sqlx::query(sql).bind(id.0).fetch_all(self.reading()).await?;
        let day = |row: &AnyRow| Ok(Day { day: row.number("day")?, count: row.number("n")? });
        rows.iter().map(day).collect()
    }

    async fn by_build(&self, id: TicketId) -> Result<Vec<ByBuild>, Error> {
        // Reports name no version: it is that of the build, if a maintainer has brought it.
        let sql = "SELECT d.build_id AS build, \
                   COALESCE(NULLIF(d.version, ''), b.version, '') AS version, \
                   CAST(SUM(d.count) AS BIGINT) AS n, MIN(d.day) AS first_day, \
                   MAX(d.day) AS last_day, COUNT(b.build_id) AS here \
                   FROM daily d LEFT JOIN builds b ON b.build_id = d.build_id \
                   WHERE d.ticket = $1 \
                   GROUP BY d.build_id, COALESCE(NULLIF(d.version, ''), b.version, '') \
                   ORDER BY n DESC LIMIT 200";
        let rows = sqlx::query(sql).bind(id.0).fetch_all(self.reading()).await?;
        let told = |text: String| Some(text).filter(|text| !text.is_empty());
        let build = |row: &AnyRow| {
            Ok(ByBuild {
                build_id: told(row.text("build")?),
                version: told(row.text("version")?),
                count: row.number("n")?,
                first_day: row.number("first_day")?,
                last_day: row.number("last_day")?,
                uploaded: row.number("here")? > 0,
            })
        };
        rows.iter().map(build).collect()
    }

    async fn doubles(&self, id: TicketId) -> Result<Vec<Double>, Error> {
        let sql = format!(
            "SELECT digest, at, leak_bits, measured_bits, leak_percent, leak_words, bytes, build_id, signer, \
             confirmed, kept FROM doubles WHERE ticket = $1 ORDER BY kept DESC, {BEST} LIMIT 50"
        );
        let rows = sqlx::query(AssertSqlSafe(sql)).bind(id.0).fetch_all(self.reading()).await?;
        let double = |row: &AnyRow| {
            Ok(Double {
                digest: row.text("digest")?,
                at: row.moment("at")?,
                leak_bits: row.figure("leak_bits")?,
                measured_bits: row.maybe_figure("measured_bits")?,
                leak_percent: row.figure("leak_percent")?,
                leak_words: row.text("leak_words")?,
                bytes: row.number("bytes")?,
                build_id: row.maybe_text("build_id")?,
                signer: row.maybe_text("signer")?,
                confirmed: row.maybe_number("confirmed")?.map(|confirmed| confirmed != 0),
                kept: row.number("kept")? != 0,
            })
        };
        rows.iter().map(double).collect()
    }

    async fn notes(&self, id: TicketId) -> Result<Vec<Note>, Error> {
        let sql = "SELECT id, author, at, text FROM notes WHERE ticket = $1 ORDER BY id";
        let rows = sqlx::query(sql).bind(id.0).fetch_all(self.reading()).await?;
        let note = |row: &AnyRow| {
            Ok(Note {
                id: row.number("id")?,
                author: row.text("author")?,
                at: row.moment("at")?,
                text: row.text("text")?,
            })
        };
        rows.iter().map(note).collect()
    }
}
