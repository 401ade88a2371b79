//! What maintainers may do with tickets, by a token.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::problem::{Document, Path, Problem, Query};
use super::reporter::report_file;
use crate::App;
use crate::auth::ByMaintainer;
use crate::store::{self, Filter, Note, Page, Replay, Sort, StateFilter, Ticket, TicketId};

/// The query of the list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    #[serde(default)]
    search: String,
    #[serde(default)]
    state: StateFilter,
    program: Option<String>,
    #[serde(default)]
    sort: Sort,
    after: Option<String>,
    #[serde(default)]
    limit: usize,
}

pub(super) async fn list(
    State(app): State<App>,
    _: ByMaintainer,
    Query(query): Query<ListQuery>,
) -> Result<Json<Page>, Problem> {
    let ListQuery { search, state, program, sort, after, limit } = query;
    let after = after.map(|after| after.parse()).transpose()?;
    let filter = Filter { search, state, program, sort, after, limit };
    Ok(Json(app.store().list(&filter).await?))
}

fn number(text: &str) -> Result<TicketId, Problem> {
    Ok(text.parse()?)
}

pub(super) async fn ticket(
    State(app): State<App>,
    _: ByMaintainer,
    Path(ticket): Path<String>,
) -> Result<Json<Ticket>, Problem> {
    Ok(Json(app.store().ticket(number(&ticket)?).await?))
}

pub(super) async fn double(
    State(app): State<App>,
    ByMaintainer(by): ByMaintainer,
    Path(ticket): Path<String>,
) -> Result<Response, Problem> {
    let ticket = app.store().ticket(number(&ticket)?).await?;
    let none = || Problem::not_found("double");
    let double = ticket.doubles.iter().find(|double| double.kept).ok_or_else(none)?;
    let file = app.store().report_file(&double.digest).await?.ok_or_else(none)?;
    app.store().log_action(&by.name, "double.download", &ticket.row.id.to_string()).await?;
    Ok(report_file(file, &double.digest))
}

/// A note to be written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewNote {
    text: String,
}

pub(super) async fn note(
    State(app): State<App>,
    ByMaintainer(by): ByMaintainer,
    Path(ticket): Path<String>,
    Document(note): Document<NewNote>,
) -> Result<(StatusCode, Json<Note>), Problem> {
    let note = app.store().add_note(&by.name, number(&ticket)?, &note.text).await?;
    Ok((StatusCode::CREATED, Json(note)))
}

/// A state to be set.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewState {
    state: store::State,
    build_id: Option<String>,
}

pub(super) async fn state(
    State(app): State<App>,
    ByMaintainer(by): ByMaintainer,
    Path(ticket): Path<String>,
    Document(new): Document<NewState>,
) -> Result<StatusCode, Problem> {
    if new.state == store::State::Regressed {
        return Err(Problem::new(422, "Unprocessable", "a ticket is set to open or fixed"));
    }
    let build = new.build_id.as_deref();
    app.store().set_state(&by.name, number(&ticket)?, new.state, build).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A replay to be done.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewReplay {
    build_id: String,
    double: Option<String>,
}

pub(super) async fn replay(
    State(app): State<App>,
    ByMaintainer(by): ByMaintainer,
    Path(ticket): Path<String>,
    Document(new): Document<NewReplay>,
) -> Result<(StatusCode, Json<Replay>), Problem> {
    let (build, double) = (&new.build_id, new.double.as_deref());
    let replay = app.store().request_replay(&by.name, number(&ticket)?, build, double).await?;
    Ok((StatusCode::ACCEPTED, Json(replay)))
}

pub(super) async fn replay_result(
    State(app): State<App>,
    _: ByMaintainer,
    Path(replay): Path<i64>,
) -> Result<Json<Replay>, Problem> {
    Ok(Json(app.store().replay(replay).await?))
}

pub(super) async fn issue(
    State(app): State<App>,
    ByMaintainer(by): ByMaintainer,
    Path(ticket): Path<String>,
) -> Result<Response, Problem> {
    let ticket = number(&ticket)?;
    app.store().request_issue(&by.name, ticket).await?;
    let link = app.store().link(ticket).await?;
    Ok((StatusCode::ACCEPTED, Json(link)).into_response())
}
