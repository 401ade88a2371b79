//! The documents of the interface, for its description alone.
//!
//! These types are never filled. A test compares them with the answers of a running server, so a
//! field that is missing here, or is not there in truth, does not go unnoticed.
#![allow(dead_code)] // Only their shapes are used.

use utoipa::ToSchema;

/// Is this failure known?
#[derive(ToSchema)]
pub(super) struct Ask {
    /// The failure's signature.
    signature: String,
    /// The name of the program's file.
    program: String,
    /// Its build-id in hexadecimal digits.
    build_id: Option<String>,
}

/// What is known of a failure.
#[derive(ToSchema)]
pub(super) struct Answer {
    /// Whether there is a ticket.
    known: bool,
    /// The ticket: `T-12`.
    ticket: Option<String>,
    /// A double that may be fetched.
    double: Option<KnownDouble>,
}

/// A double that may be fetched.
#[derive(ToSchema)]
pub(super) struct KnownDouble {
    /// The SHA-256 of the report's file.
    sha256: String,
    /// The size of the report's file.
    bytes: u64,
    /// What it reveals, in bits.
    leak_bits: f64,
}

/// A failure was met once more.
#[derive(ToSchema)]
pub(super) struct Count {
    /// 32 random hexadecimal digits: whatever is sent twice under them counts once.
    id: String,
    /// The failure's signature.
    signature: String,
    /// The name of the program's file.
    program: String,
    /// Its build-id in hexadecimal digits.
    build_id: Option<String>,
    /// Its version.
    version: Option<String>,
}

/// An event was counted.
#[derive(ToSchema)]
pub(super) struct Counted {
    /// The ticket.
    ticket: String,
    /// Events in all.
    count: u64,
}

/// A report was taken.
#[derive(ToSchema)]
pub(super) struct Stored {
    /// The ticket.
    ticket: String,
    /// Where maintainers see it.
    url: String,
}

/// The server's public key.
#[derive(ToSchema)]
pub(super) struct ServerKey {
    /// `age1…`.
    recipient: String,
}

/// What went wrong (RFC 9457).
#[derive(ToSchema)]
pub(super) struct Problem {
    /// `about:blank`.
    r#type: String,
    /// In a few words.
    title: String,
    /// The HTTP status.
    status: u16,
    /// What is wrong with this request.
    detail: Option<String>,
}

/// A line of the list.
#[derive(ToSchema)]
pub(super) struct TicketRow {
    /// `T-12`.
    id: String,
    /// The failure for people.
    title: String,
    /// The program.
    program: String,
    /// `signal`, `abort`, `panic`, …
    kind: String,
    /// What is known about its future.
    state: State,
    /// Events in all.
    count: i64,
    /// The first event.
    first_seen: String,
    /// The last event.
    last_seen: String,
    /// What the best double reveals, in bits: as counted here, or else as its report says.
    leak_bits: Option<f64>,
    /// A build in which a replay no longer fails.
    proposed_build: Option<String>,
    /// Events on each of the last 30 days.
    spark: Vec<i64>,
}

/// A part of the list.
#[derive(ToSchema)]
pub(super) struct Page {
    /// The tickets.
    tickets: Vec<TicketRow>,
    /// The value of `after` for the next page.
    next: Option<String>,
}

/// A ticket with all that belongs to it.
#[derive(ToSchema)]
pub(super) struct Ticket {
    #[schema(inline)]
    #[serde(flatten)]
    row: TicketRow,
    /// The failure as a replay here has seen it, or else as the first report says it.
    words: String,
    /// The call stack, as in `report.json`.
    #[schema(value_type = Vec<Object>)]
    frames: Vec<String>,
    /// Whether a replay here has seen these words and frames.
    described_here: bool,
    /// The signatures of all builds that failed.
    signatures: Vec<String>,
    /// When it was said to be fixed.
    fixed_at: Option<String>,
    /// In which build.
    fixed_build: Option<String>,
    /// Events by day: `date` and `count`.
    #[schema(value_type = Vec<Object>)]
    days: Vec<String>,
    /// Events by build and version.
    #[schema(value_type = Vec<Object>)]
    builds: Vec<String>,
    /// The reports that came, best first.
    #[schema(value_type = Vec<Object>)]
    doubles: Vec<String>,
    /// Notes.
    notes: Vec<Note>,
    /// Replays, the newest first.
    replays: Vec<Replay>,
    /// The issue in the tracker.
    link: Option<Link>,
}

/// A note.
#[derive(ToSchema)]
pub(super) struct Note {
    /// Its number.
    id: i64,
    /// Who wrote it.
    author: String,
    /// When.
    at: String,
    /// Plain text.
    text: String,
}

/// A note to be written.
#[derive(ToSchema)]
pub(super) struct NewNote {
    /// Plain text.
    text: String,
}

/// What is known about a failure's future.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    Open,
    Fixed,
    Regressed,
}

/// What can be said about a failure's future.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum NewStateWord {
    Open,
    Fixed,
}

/// A state to be set.
#[derive(ToSchema)]
pub(super) struct NewState {
    /// What is said.
    state: NewStateWord,
    /// The build that has the fix.
    build_id: Option<String>,
}

/// A replay to be done.
#[derive(ToSchema)]
pub(super) struct NewReplay {
    /// With which build.
    build_id: String,
    /// On which double, by the SHA-256 of its report; without it, on one that this build can confirm
    /// and nobody has tried, or else on the best.
    double: Option<String>,
}

/// A replay.
#[derive(ToSchema)]
pub(super) struct Replay {
    /// Its number.
    id: i64,
    /// Of which ticket.
    ticket: String,
    /// With which build.
    build_id: String,
    /// On which double, by the SHA-256 of its report.
    double: String,
    /// Who asked for it.
    requested_by: String,
    /// When.
    at: String,
    /// How far it is.
    state: ReplayState,
    /// When it ended.
    finished: Option<String>,
    /// What came of it.
    result: Option<ReplayResult>,
}

/// How far a replay is.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ReplayState {
    Waiting,
    Running,
    Done,
}

/// How a run compares with the report.
#[derive(ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Outcome {
    Same,
    SameInAnotherBuild,
    Different,
    NoFailure,
    Untried,
}

/// What came of a replay.
#[derive(ToSchema)]
pub(super) struct ReplayResult {
    /// How it compares with the report.
    outcome: Outcome,
    /// How the run ended, in words.
    ending: Option<String>,
    /// The failure in words.
    failure: Option<String>,
    /// Its call stack: `module`, `symbol`, `location`, `offset`.
    #[schema(value_type = Vec<Object>)]
    frames: Vec<String>,
    /// What the program printed.
    stdout: String,
    /// What it printed to standard error.
    stderr: String,
    /// What the worker said, above all why it could not be tried.
    message: String,
    /// What the double's path reveals: `counted` with bits, or `uncounted` with a reason.
    #[schema(value_type = Option<Object>)]
    figure: Option<String>,
    /// How long it took.
    seconds: f64,
}

/// The issue of a ticket.
#[derive(ToSchema)]
pub(super) struct Link {
    /// The ticket.
    ticket: String,
    /// The kind of tracker.
    tracker: String,
    /// How far it is.
    state: LinkState,
    /// Its name in the tracker.
    issue: Option<String>,
    /// Where people see it.
    url: Option<String>,
    /// Who asked for it.
    requested_by: String,
    /// When.
    at: String,
    /// When the tracker was last asked.
    checked: Option<String>,
    /// What went wrong last.
    error: Option<String>,
}

/// How far an issue is.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum LinkState {
    Waiting,
    Creating,
    Open,
    Closed,
    Failed,
}

/// A build.
#[derive(ToSchema)]
pub(super) struct Build {
    /// Its identity in hexadecimal digits.
    build_id: String,
    /// The name of its file.
    name: String,
    /// What its maintainers call it.
    version: Option<String>,
    /// Its size.
    bytes: i64,
    /// The SHA-256 of its file.
    digest: String,
    /// Since when it is here.
    added: String,
    /// Who brought it.
    added_by: String,
}

/// What admins decide.
#[derive(ToSchema)]
pub(super) struct Settings {
    /// What the pages call themselves.
    title: String,
    /// Reports and counts need a token.
    reporters_need_token: bool,
    /// Whoever knows a signature may fetch its double; off unless an admin wants it.
    share_doubles: bool,
    /// How many doubles of a ticket are kept.
    doubles_kept: u32,
    /// What is removed when.
    retention: Retention,
    /// The tracker, if there is one.
    tracker: Option<Tracker>,
}

/// What admins decide anew; what is left out stays as it is.
#[derive(ToSchema)]
pub(super) struct NewSettings {
    /// What the pages call themselves: 1 to 100 characters.
    title: Option<String>,
    /// Reports and counts need a token.
    reporters_need_token: Option<bool>,
    /// Whoever knows a signature may fetch its double.
    share_doubles: Option<bool>,
    /// How many doubles of a ticket are kept: 1 to 100.
    doubles_kept: Option<u32>,
    /// What is removed when.
    retention: Option<NewRetention>,
    /// The tracker; `null` for none.
    tracker: Option<Tracker>,
}

/// What is removed after so many days; 0 is never.
#[derive(ToSchema)]
pub(super) struct Retention {
    /// Fixed tickets that were silent.
    fixed_days: u32,
    /// All tickets that were silent.
    silent_days: u32,
    /// Lines of the audit log.
    audit_days: u32,
}

/// What is removed after so many days; what is left out stays as it is.
#[derive(ToSchema)]
pub(super) struct NewRetention {
    /// Fixed tickets that were silent.
    fixed_days: Option<u32>,
    /// All tickets that were silent.
    silent_days: Option<u32>,
    /// Lines of the audit log.
    audit_days: Option<u32>,
}

/// A tracker. Its key is written, never read: without one, that of before is meant, as long as it goes
/// to the same kind of tracker at the same address.
#[derive(ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Tracker {
    Redmine {
        url: String,
        project: String,
        #[schema(write_only)]
        key: Option<String>,
    },
    Trac {
        url: String,
        user: String,
        #[schema(write_only)]
        key: Option<String>,
    },
    GitHub {
        url: Option<String>,
        project: String,
        #[schema(write_only)]
        key: Option<String>,
    },
    GitLab {
        url: Option<String>,
        project: String,
        #[schema(write_only)]
        key: Option<String>,
    },
    Jira {
        url: String,
        project: String,
        user: Option<String>,
        #[schema(write_only)]
        key: Option<String>,
        issue_type: Option<String>,
    },
}

/// A token, without its secret.
#[derive(ToSchema)]
pub(super) struct Token {
    /// Its number.
    id: i64,
    /// What it is for.
    name: String,
    /// What it may do.
    role: RoleWord,
    /// Since when.
    created: String,
    /// Who made it.
    created_by: String,
    /// The user who answers for it, and with whom it ends.
    owner: Option<String>,
    /// When it was last used.
    used: Option<String>,
    /// Since when it is worth nothing.
    revoked: Option<String>,
}

/// What a token may do.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RoleWord {
    Reporter,
    Maintainer,
    Admin,
}

/// What a user may do.
#[derive(ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum UserRole {
    Maintainer,
    Admin,
}

/// A token to be made.
#[derive(ToSchema)]
pub(super) struct NewToken {
    /// What it is for.
    name: String,
    /// What it may do.
    role: RoleWord,
}

/// A token that was made.
#[derive(ToSchema)]
pub(super) struct MadeToken {
    #[schema(inline)]
    #[serde(flatten)]
    token: Token,
    /// The secret; it is not shown again.
    secret: String,
}

/// A user.
#[derive(ToSchema)]
pub(super) struct User {
    /// Its number.
    id: i64,
    /// The name to log in with.
    name: String,
    /// What it may do.
    role: UserRole,
    /// Since when.
    created: String,
    /// Since when it may not log in.
    disabled: Option<String>,
}

/// A user to be added.
#[derive(ToSchema)]
pub(super) struct NewUser {
    /// The name to log in with.
    name: String,
    /// At least 10 characters.
    password: String,
    /// What it may do.
    role: UserRole,
}

/// A line of the audit log.
#[derive(ToSchema)]
pub(super) struct AuditEntry {
    /// Its number.
    id: i64,
    /// When.
    at: String,
    /// Who.
    who: String,
    /// What.
    action: String,
    /// To what.
    target: String,
    /// More about it.
    detail: String,
}

/// What strangers did in an hour.
#[derive(ToSchema)]
pub(super) struct Noise {
    /// When the hour began.
    hour: String,
    /// What: `login.refused`, `double.download`.
    action: String,
    /// To what: a user who exists, a ticket; empty for all others together.
    target: String,
    /// How often.
    count: i64,
    /// The last time.
    last: String,
}
