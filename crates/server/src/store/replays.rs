//! Replays: jobs for workers, and what came of them.
//!
//! Always: a job belongs to one worker at a time, for as long as its lease says; when a worker is
//! gone, another takes the job, a few times at most. A result is written once.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe};
use stunt_report::Frame;

use super::settings::note_action;
use super::submit::BEST;
use super::{Columns, Error, Store, TicketId};
use crate::clock::Moment;
use crate::grouping::{self, cut};

/// How often a job is begun before it is given up.
const TRIES: i64 = 3;

/// How far a replay is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReplayState {
    /// No worker has it yet.
    Waiting,
    /// A worker has it.
    Running,
    /// There is a result.
    Done,
}

impl ReplayState {
    /// The state as a word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ReplayState::Waiting => "waiting",
            ReplayState::Running => "running",
            ReplayState::Done => "done",
        }
    }
}

/// How the run compares with the report.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It fails as the report says.
    Same,
    /// Another build fails in the same way in the same function.
    SameInAnotherBuild,
    /// It fails in another way.
    Different,
    /// It does not fail.
    NoFailure,
    /// Nobody knows; the message says why.
    Untried,
}

impl Outcome {
    /// For people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Outcome::Same => "fails as reported",
            Outcome::SameInAnotherBuild => "fails as reported, in another build",
            Outcome::Different => "fails in another way",
            Outcome::NoFailure => "does not fail",
            Outcome::Untried => "could not be tried",
        }
    }
}

/// A place on the call stack of a replay.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReplayFrame {
    /// The file of code.
    pub module: String,
    /// The function, where it has a name.
    pub symbol: Option<String>,
    /// The source line: `parse.c:12`.
    pub location: Option<String>,
    /// Where in the file: `0x11d6`.
    pub offset: String,
}

impl ReplayFrame {
    /// The same as reports have it.
    fn as_reported(&self) -> Frame {
        let digits = self.offset.trim_start_matches("0x");
        Frame {
            module: cut(&self.module),
            build_id: None,
            offset: u64::from_str_radix(digits, 16).unwrap_or(0),
            symbol: self.symbol.as_deref().map(cut),
            location: self.location.as_deref().map(cut),
        }
    }
}

/// What the double reveals, as counted here: the path that it takes, all of its bytes taken for
/// private. A report's own figure may be lower, if its double was drawn from more than one path; the
/// report does not hold what it takes to see that, so it is shown, and nothing is ranked by it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// So many bits.
    Counted(f64),
    /// It could not be counted; this is why.
    Uncounted(String),
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Figure::Counted(bits) => {
                write!(f, "A double that takes this path reveals {bits:.2} bits, as counted here.")
            }
            Figure::Uncounted(why) => {
                write!(f, "What it reveals could not be counted here: {why}.")
            }
        }
    }
}

/// What came of a replay.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReplayResult {
    /// How it compares with the report.
    pub outcome: Outcome,
    /// How the run ended, in words.
    pub ending: Option<String>,
    /// The failure in words, if there was one.
    pub failure: Option<String>,
    /// Its call stack, from the failing frame outward.
    pub frames: Vec<ReplayFrame>,
    /// What the program printed to standard output; invisible characters are escaped.
    pub stdout: String,
    /// What it printed to standard error.
    pub stderr: String,
    /// What the worker said, above all why it could not be tried.
    pub message: String,
    /// What the double reveals, where it failed as reported.
    #[serde(default)]
    pub figure: Option<Figure>,
    /// How long it took.
    pub seconds: f64,
}

/// A replay of a ticket's double.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Replay {
    /// Its number.
    pub id: i64,
    /// Of which ticket.
    pub ticket: TicketId,
    /// With which build.
    pub build_id: String,
    /// On which double.
    pub double: String,
    /// Who asked for it.
    pub requested_by: String,
    /// When.
    pub at: Moment,
    /// How far it is.
    pub state: ReplayState,
    /// When it ended.
    pub finished: Option<Moment>,
    /// What came of it.
    pub result: Option<ReplayResult>,
}

/// A replay that a worker has taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    /// The number of the replay.
    pub replay: i64,
    /// Of which ticket.
    pub ticket: TicketId,
    /// With which build.
    pub build_id: String,
    /// On which double.
    pub double: String,
}

const COLUMNS: &str =
    "id, ticket, build_id, double_digest, requested_by, at, state, finished, result";

fn replay(row: &AnyRow) -> Result<Replay, Error> {
    let result = row.maybe_text("result")?;
    let result = result.map(|text| serde_json::from_str(&text)).transpose();
    Ok(Replay {
        id: row.number("id")?,
        ticket: TicketId(row.number("ticket")?),
        build_id: row.text("build_id")?,
        double: row.text("double_digest")?,
        requested_by: row.text("requested_by")?,
        at: row.moment("at")?,
        state: match row.text("state")?.as_str() {
            "waiting" => ReplayState::Waiting,
            "running" => ReplayState::Running,
            "done" => ReplayState::Done,
            _ => return Err(Error::Unknown("state of a replay")),
        },
        finished: row.maybe_moment("finished")?,
        result: result.map_err(|_| Error::Unknown("result of a replay"))?,
    })
}

impl Store {
    /// Asks for a replay with a build: of the double that is named; or else of one that this build can
    /// confirm and nobody has tried, the least revealing first if it says the truth; or else of the
    /// best.
    pub async fn request_replay(
        &self,
        by: &str,
        ticket: TicketId,
        build_id: &str,
        double: Option<&str>,
    ) -> Result<Replay, Error> {
        let build = self.build(build_id).await?;
        let now = self.now();
        let mut writing = self.writing().await?;
        self.require(writing.on(), ticket).await?;
        let sql = "SELECT COUNT(*) AS n FROM replays WHERE state <> 'done'";
        if sqlx::query(sql).fetch_one(writing.on()).await?.number("n")? >= 100 {
            return Err(Error::Conflict("100 replays are waiting; try again later".to_owned()));
        }
        let sql = format!(
            "SELECT digest FROM doubles WHERE ticket = $1 AND kept = 1 \
             AND ($2 = '' OR digest = $2) \
             ORDER BY CASE WHEN confirmed IS NULL AND build_id = $3 THEN 0 ELSE 1 END, \
             CASE WHEN confirmed IS NULL AND build_id = $3 THEN leak_bits ELSE 0 END, {BEST} LIMIT 1"
        );
        let found = sqlx::query(AssertSqlSafe(sql))
            .bind(ticket.0)
            .bind(double.unwrap_or(""))
            .bind(&build.build_id)
            .fetch_optional(writing.on())
            .await?;
        let none = || Error::Conflict("the ticket has no double that could be replayed".to_owned());
        let double = found.ok_or_else(none)?.text("digest")?;
        let sql = "INSERT INTO replays (ticket, build_id, double_digest, requested_by, at, state, \
                   tries) VALUES ($1, $2, $3, $4, $5, 'waiting', 0) RETURNING id, ticket, \
                   build_id, double_digest, requested_by, at, state, finished, result";
        let row = sqlx::query(sql)
            .bind(ticket.0)
            .bind(&build.build_id)
            .bind(double)
            .bind(by)
            .bind(now.0)
            .fetch_one(writing.on())
            .await?;
        let target = ticket.to_string();
        note_action(writing.on(), now, by, "replay.request", &target, &build.build_id).await?;
        writing.commit().await?;
        replay(&row)
    }

    /// The replays of a ticket, the newest first.
    pub async fn replays(&self, ticket: TicketId) -> Result<Vec<Replay>, Error> {
        let sql =
            format!("SELECT {COLUMNS} FROM replays WHERE ticket = $1 ORDER BY id DESC LIMIT 20");
        let query = sqlx::query(AssertSqlSafe(sql)).bind(ticket.0);
        query.fetch_all(self.reading()).await?.iter().map(replay).collect()
    }

    /// A replay by its number.
    pub async fn replay(&self, id: i64) -> Result<Replay, Error> {
        let sql = format!("SELECT {COLUMNS} FROM replays WHERE id = $1");
        let query = sqlx::query(AssertSqlSafe(sql)).bind(id);
        let row = query.fetch_optional(self.reading()).await?;
        replay(&row.ok_or(Error::NotFound("replay"))?)
    }

    /// Takes a job that waits, or whose worker is gone. The lease ends after `lease`.
    pub async fn take_job(&self, worker: &str, lease: Duration) -> Result<Option<Job>, Error> {
        let now = self.now();
        let sql = "SELECT id, tries FROM replays WHERE state = 'waiting' \
                   OR (state = 'running' AND lease < $1) ORDER BY id LIMIT 1";
        let Some(row) = sqlx::query(sql).bind(now.0).fetch_optional(self.reading()).await? else {
            return Ok(None);
        };
        let id = row.number("id")?;
        if row.number("tries")? >= TRIES {
            let result =
                ReplayResult::untried("every worker that began it was gone before its end");
            self.finish_job(id, None, &result).await?;
            return Ok(None);
        }
        let mut writing = self.writing().await?;
        // Another worker may have been faster.
        let sql = "UPDATE replays SET state = 'running', worker = $1, lease = $2, tries = tries + 1 \
                   WHERE id = $3 AND (state = 'waiting' OR (state = 'running' AND lease < $4)) \
                   RETURNING ticket, build_id, double_digest";
        let row = sqlx::query(sql)
            .bind(worker)
            .bind(now.plus(lease).0)
            .bind(id)
            .bind(now.0)
            .fetch_optional(writing.on())
            .await?;
        writing.commit().await?;
        row.map(|row| {
            Ok(Job {
                replay: id,
                ticket: TicketId(row.number("ticket")?),
                build_id: row.text("build_id")?,
                double: row.text("double_digest")?,
            })
        })
        .transpose()
    }

    /// Gives back a job that its worker will not finish, as if it had never been taken: another may
    /// have it at once.
    pub async fn release_job(&self, id: i64, worker: &str) -> Result<(), Error> {
        let mut writing = self.writing().await?;
        let sql = "UPDATE replays SET state = 'waiting', worker = NULL, lease = NULL, \
                   tries = tries - 1 WHERE id = $1 AND state = 'running' AND worker = $2";
        sqlx::query(sql).bind(id).bind(worker).execute(writing.on()).await?;
        writing.commit().await
    }

    /// Writes down what came of a job, and what follows from it: whether the double is as good as
    /// its report says, and whether the build seems to have the failure fixed. Nothing happens if
    /// `worker` lost the job in the meantime; without a worker the server itself gives it up.
    pub async fn finish_job(
        &self,
        id: i64,
        worker: Option<&str>,
        result: &ReplayResult,
    ) -> Result<(), Error> {
        let now = self.now();
        let result = &result.clone().sound();
        let text = serde_json::to_string(result).map_err(|_| Error::Unknown("result"))?;
        let mut writing = self.writing().await?;
        let sql = "UPDATE replays SET state = 'done', finished = $1, result = $2 WHERE id = $3 \
                   AND state <> 'done' AND ($4 = '' OR worker = $4) \
                   RETURNING ticket, build_id, double_digest";
        let row = sqlx::query(sql)
            .bind(now.0)
            .bind(text)
            .bind(id)
            .bind(worker.unwrap_or(""))
            .fetch_optional(writing.on())
            .await?;
        let Some(row) = row else { return Ok(()) };
        let (ticket, build) = (row.number("ticket")?, row.text("build_id")?);
        let double = row.text("double_digest")?;
        let fails = match result.outcome {
            Outcome::Same | Outcome::SameInAnotherBuild => true,
            Outcome::Different | Outcome::NoFailure => false,
            Outcome::Untried => return writing.commit().await,
        };
        let sql = "SELECT COUNT(*) AS n FROM doubles WHERE digest = $1 AND build_id = $2";
        let own = sqlx::query(sql).bind(&double).bind(&build).fetch_one(writing.on()).await?;
        let own = own.number("n")? > 0;
        if own {
            judge(writing.on(), ticket, &double, result, now).await?;
            super::submit::keep_best(writing.on(), ticket).await?;
        }
        if fails {
            let sql = "UPDATE tickets SET proposed_build = NULL \
                       WHERE id = $1 AND proposed_build = $2";
            sqlx::query(sql).bind(ticket).bind(&build).execute(writing.on()).await?;
        } else if !own && result.outcome == Outcome::NoFailure {
            let sql = "UPDATE tickets SET proposed_build = $1 WHERE id = $2 AND state <> 'fixed'";
            sqlx::query(sql).bind(&build).bind(ticket).execute(writing.on()).await?;
        }
        writing.commit().await
    }
}

/// What a replay with a double's own build says about that double, and about its ticket. A double
/// that fails as its report says, but at another place than its ticket is about, came here by a
/// stack that was made up: it is as bad as one that does not fail. So is one whose own build is
/// another than its stack says.
async fn judge(
    on: &mut AnyConnection,
    ticket: i64,
    double: &str,
    result: &ReplayResult,
    now: Moment,
) -> Result<(), Error> {
    let sql = "SELECT grouping_key, described FROM tickets WHERE id = $1";
    let row = sqlx::query(sql).bind(ticket).fetch_one(&mut *on).await?;
    let frames: Vec<Frame> = result.frames.iter().map(ReplayFrame::as_reported).collect();
    let same = result.outcome == Outcome::Same;
    let confirmed = same && grouping::belongs(&row.text("grouping_key")?, &frames);
    let bits = match &result.figure {
        Some(Figure::Counted(bits)) if confirmed => Some(*bits),
        _ => None,
    };
    let sql = "UPDATE doubles SET confirmed = $1, measured_bits = NULL, \
               confirmed_at = CASE WHEN confirmed = 1 THEN confirmed_at ELSE $2 END \
               WHERE digest = $3";
    let query = sqlx::query(sql).bind(i64::from(confirmed)).bind(now.0).bind(double);
    query.execute(&mut *on).await?;
    if let Some(bits) = bits {
        let sql = "UPDATE doubles SET measured_bits = $1 WHERE digest = $2";
        sqlx::query(sql).bind(bits).bind(double).execute(&mut *on).await?;
    }
    // What was seen here describes the ticket from now on.
    if let Some(words) = &result.failure
        && confirmed
        && row.number("described")? == 0
    {
        let frames = serde_json::to_string(&frames).map_err(|_| Error::Unknown("stack"))?;
        let sql = "UPDATE tickets SET words = $1, frames = $2, described = 1 WHERE id = $3";
        sqlx::query(sql).bind(cut(words)).bind(frames).bind(ticket).execute(on).await?;
    }
    Ok(())
}

impl ReplayResult {
    /// The same without a count that is none.
    fn sound(mut self) -> ReplayResult {
        if let Some(Figure::Counted(bits)) = self.figure
            && !(bits.is_finite() && bits >= 0.0)
        {
            self.figure = Some(Figure::Uncounted("the count is no number of bits".to_owned()));
        }
        self
    }

    /// A result that is none.
    #[must_use]
    pub fn untried(why: &str) -> ReplayResult {
        ReplayResult {
            outcome: Outcome::Untried,
            ending: None,
            failure: None,
            frames: Vec::new(),
            stdout: String::new(),
            stderr: String::new(),
            message: why.to_owned(),
            figure: None,
            seconds: 0.0,
        }
    }
}
