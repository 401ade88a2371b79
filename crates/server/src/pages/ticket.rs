//! A ticket: what fails and where, how often, its double, and what people did about it.
//!
//! The parts that change by themselves, replays and the issue, are in `work`.

use askama::Template;
use axum::extract::{Path, State};
use serde::Deserialize;

use super::double::{self, View};
use super::figures::{ago, bits, percent, short};
use super::work::Work;
use super::{Answer, Layout, go, show, spark};
use crate::App;
use crate::auth::{Form, Maintainer};
use crate::clock::Moment;
use crate::store::{self, Double, Ticket, TicketId};

/// Events of a build, as a line of a table.
struct BuildLine {
    version: String,
    build: String,
    full: String,
    count: i64,
    first: String,
    last: String,
    uploaded: bool,
}

/// A report that came, as a line of a table.
struct ReportLine {
    at: String,
    leak: String,
    percent: String,
    state: String,
    signed: bool,
}

#[derive(Template)]
#[template(path = "ticket.html")]
struct TicketPage {
    layout: Layout,
    ticket: Ticket,
    id: String,
    seen: String,
    leak: String,
    days: String,
    builds: Vec<BuildLine>,
    reports: Vec<ReportLine>,
    double: Option<View>,
    work: Work,
}

/// The page.
pub async fn page(
    State(app): State<App>,
    Maintainer { session }: Maintainer,
    Path(id): Path<String>,
) -> Answer {
    let id: TicketId = id.parse()?;
    let store = app.store();
    let ticket = store.ticket(id).await?;
    let double = double::view(&app, &ticket).await?;
    let now = store.now();
    let builds = ticket.builds.iter().map(|build| BuildLine {
        version: build.version.clone().unwrap_or_default(),
        build: short(build.build_id.as_deref().unwrap_or_default()),
        full: build.build_id.clone().unwrap_or_default(),
        count: build.count,
        first: Moment::of_day(build.first_day).date(),
        last: Moment::of_day(build.last_day).date(),
        uploaded: build.uploaded,
    });
    let reports = ticket.doubles.iter().map(|double| ReportLine {
        at: double.at.words(),
        leak: double.leak_words.clone(),
        percent: percent(double.leak_percent),
        state: state_of(double),
        signed: double.signer.is_some(),
    });
    show(&TicketPage {
        layout: Layout::of(&app, &session, "tickets").await?,
        id: id.to_string(),
        seen: ago(now, ticket.row.last_seen),
        leak: ticket.row.leak_bits.map(bits).unwrap_or_default(),
        days: spark::days(&ticket.days, now.day()),
        builds: builds.collect(),
        reports: reports.collect(),
        work: Work::of(&app, &ticket, session.csrf.clone()).await?,
        double,
        ticket,
    })
}

/// What is known here about a report's double.
fn state_of(double: &Double) -> String {
    let words = match (double.confirmed, double.measured_bits, double.kept) {
        (Some(true), Some(counted), _) => {
            return format!("confirmed by a replay, its path counted here as {}", bits(counted));
        }
        (Some(true), None, _) => "confirmed by a replay, its figure not counted here",
        (Some(false), ..) => "did not fail so when replayed",
        (None, _, true) => "not tried here",
        (None, _, false) => "dropped, as there are others",
    };
    words.to_owned()
}

/// A note, as it is typed.
#[derive(Deserialize)]
pub struct NewNote {
    text: String,
}

/// Adds a note.
pub async fn note(
    State(app): State<App>,
    Maintainer { session }: Maintainer,
    Path(id): Path<String>,
    Form(note): Form<NewNote>,
) -> Answer {
    let id: TicketId = id.parse()?;
    app.store().add_note(&session.user.name, id, &note.text).await?;
    go(&format!("/tickets/{id}#notes"))
}

/// What a maintainer says about the failure.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Open,
    Fixed,
}

/// The verdict, and the build that is meant.
#[derive(Deserialize)]
pub struct NewState {
    state: Verdict,
    #[serde(default)]
    build: String,
}

/// Says that the failure is fixed, or that it is not.
pub async fn state(
    State(app): State<App>,
    Maintainer { session }: Maintainer,
    Path(id): Path<String>,
    Form(new): Form<NewState>,
) -> Answer {
    let id: TicketId = id.parse()?;
    let (state, build) = match new.state {
        Verdict::Open => (store::State::Open, None),
        Verdict::Fixed => (store::State::Fixed, Some(new.build.trim()).filter(|it| !it.is_empty())),
    };
    app.store().set_state(&session.user.name, id, state, build).await?;
    go(&format!("/tickets/{id}"))
}
