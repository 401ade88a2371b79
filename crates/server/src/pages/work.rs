//! The parts of a ticket's page that change by themselves: replays, and the issue in the tracker.
//!
//! While something is under way, a script asks for this part every second, and is answered when there
//! is news; without scripts there is a link to look again.

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde::Deserialize;

use super::figures::short;
use super::login::Nothing;
use super::{Answer, go, show};
use crate::auth::{Form, Maintainer};
use crate::store::{Build, Link, LinkState, Outcome, Replay, ReplayState, Ticket, TicketId};
use crate::{App, Error};

/// A build that can be used in a replay.
struct Choice {
    build_id: String,
    label: String,
    chosen: bool,
}

/// A replay as it is shown.
struct ReplayView {
    replay: Replay,
    build: String,
    class: &'static str,
    words: &'static str,
}

/// The part.
#[derive(Template)]
#[template(path = "work.html")]
pub struct Work {
    id: String,
    csrf: String,
    replayable: bool,
    choices: Vec<Choice>,
    replays: Vec<ReplayView>,
    tracker: Option<&'static str>,
    link: Option<Link>,
    /// The issue's address, if a browser may be sent there.
    address: Option<String>,
    may_ask: bool,
    busy: bool,
    /// How far everything is, for the next question.
    seen: String,
    /// The same in words, to be read out.
    news: String,
    /// Whether this is no part of a page, but an answer to a script.
    alone: bool,
}

impl Work {
    /// The part for a ticket.
    pub async fn of(app: &App, ticket: &Ticket, csrf: String) -> Result<Work, Error> {
        let store = app.store();
        let builds = store.builds(Some(&ticket.row.program)).await?;
        let failing = |build: &Build| {
            let known = ticket.builds.iter().filter_map(|known| known.build_id.as_deref());
            known.into_iter().any(|known| known == build.build_id)
        };
        let mut choices: Vec<Choice> = builds
            .iter()
            .map(|build| Choice {
                build_id: build.build_id.clone(),
                label: label(build, failing(build)),
                chosen: false,
            })
            .collect();
        // The newest comes first: whether it still fails is what people want to know.
        if let Some(first) = choices.first_mut() {
            first.chosen = true;
        }
        let replays = ticket.replays.iter().take(5).cloned().map(view);
        let link = ticket.link.clone();
        let waits = |link: &Link| matches!(link.state, LinkState::Waiting | LinkState::Creating);
        let busy = ticket.replays.iter().any(|replay| replay.state != ReplayState::Done)
            || link.as_ref().is_some_and(waits);
        let address = link.as_ref().and_then(|link| link.url.clone());
        let replays: Vec<ReplayView> = replays.collect();
        Ok(Work {
            seen: seen(ticket),
            news: news(replays.first(), link.as_ref()),
            alone: false,
            id: ticket.row.id.to_string(),
            csrf,
            replayable: ticket.doubles.iter().any(|double| double.kept),
            choices,
            replays,
            tracker: store.settings().await?.tracker.map(|tracker| tracker.name()),
            may_ask: link.as_ref().is_none_or(|link| link.state == LinkState::Failed),
            address: address.filter(|it| it.starts_with("https://") || it.starts_with("http://")),
            link,
            busy,
        })
    }
}

fn label(build: &Build, failing: bool) -> String {
    let version = build.version.as_deref().unwrap_or("no version");
    let known = if failing { ", has failed" } else { "" };
    format!("{} {version} · {} · {}{known}", build.name, short(&build.build_id), build.added.date())
}

fn view(replay: Replay) -> ReplayView {
    let outcome = replay.result.as_ref().map(|result| result.outcome);
    let (class, words) = match (replay.state, outcome) {
        (ReplayState::Waiting, _) => ("pending", "waits for a worker"),
        (ReplayState::Running, _) => ("pending", "is running"),
        (ReplayState::Done, Some(outcome)) => {
            let class = match outcome {
                Outcome::Same | Outcome::SameInAnotherBuild => "fails",
                Outcome::NoFailure => "works",
                Outcome::Different | Outcome::Untried => "unclear",
            };
            (class, outcome.words())
        }
        (ReplayState::Done, None) => ("unclear", "ended without a result"),
    };
    ReplayView { build: short(&replay.build_id), class, words, replay }
}

/// How far the replays and the issue of a ticket are, in a word for addresses.
fn seen(ticket: &Ticket) -> String {
    let newest = ticket.replays.first().map_or(0, |replay| replay.id);
    let states = ticket.replays.iter().take(5).map(|replay| replay.state.word());
    let link = ticket.link.as_ref().map_or("none", |link| link.state.word());
    format!("{newest}-{}-{link}", states.collect::<Vec<_>>().join("-"))
}

/// What is read out to those who do not see it change.
fn news(newest: Option<&ReplayView>, link: Option<&Link>) -> String {
    let replay = newest.map(|view| format!("Replay: {}.", view.words));
    let issue = link.map(|link| format!("Issue: {}.", link.state.word()));
    replay.into_iter().chain(issue).collect::<Vec<_>>().join(" ")
}

/// What a script knows already.
#[derive(Deserialize)]
pub struct Known {
    #[serde(default)]
    seen: String,
}

/// The part alone; nothing while there is no news.
pub async fn part(
    State(app): State<App>,
    Maintainer { session }: Maintainer,
    Path(id): Path<String>,
    Query(known): Query<Known>,
) -> Answer {
    let ticket = app.store().ticket(id.parse()?).await?;
    let work = Work::of(&app, &ticket, session.csrf).await?;
    if known.seen == work.seen {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    show(&Work { alone: true, ..work })
}

/// Which build to replay.
#[derive(Deserialize)]
pub struct Chosen {
    build: String,
    /// The double, where a certain one is meant.
    double: Option<String>,
}

/// Asks for a replay.
pub async fn replay(
    State(app): State<App>,
    Maintainer { session }: Maintainer,
    Path(id): Path<String>,
    Form(chosen): Form<Chosen>,
) -> Answer {
    let id: TicketId = id.parse()?;
    let double = chosen.double.as_deref().filter(|it| !it.is_empty());
    app.store().request_replay(&session.user.name, id, &chosen.build, double).await?;
    go(&format!("/tickets/{id}#work"))
}

/// Asks for an issue.
pub async fn issue(
    State(app): State<App>,
    Maintainer { session }: Maintainer,
    Path(id): Path<String>,
    _: Form<Nothing>,
) -> Answer {
    let id: TicketId = id.parse()?;
    app.store().request_issue(&session.user.name, id).await?;
    go(&format!("/tickets/{id}#work"))
}
