//! Builds of programs, for replays: how they come in, and what they are called.

use axum::Json;
use axum::extract::{Multipart, State};
use axum::http::{HeaderMap, StatusCode};
use object::Object;
use serde::Deserialize;
use stunt_parcel::Digest;

use super::problem::{Body, Path, Problem, Query};
use crate::App;
use crate::auth::{ByMaintainer, check_upload, same_secret};
use crate::store::{Build, NewBuild, Session};

/// The identity of a program's file: its build-id, or a digest if its linker gave it none. Nothing
/// if it is no program.
#[must_use]
pub fn build_id(data: &[u8]) -> Option<String> {
    let file = object::File::parse(data).ok()?;
    if !matches!(file.kind(), object::ObjectKind::Executable | object::ObjectKind::Dynamic) {
        return None;
    }
    let id = file.build_id().ok().flatten().filter(|id| (1..=64).contains(&id.len()));
    Some(match id {
        Some(id) => id.iter().map(|byte| format!("{byte:02x}")).collect(),
        None => Digest::of(data).to_string()[..40].to_owned(),
    })
}

async fn keep(
    app: &App,
    by: &str,
    name: String,
    version: Option<String>,
    data: Vec<u8>,
) -> Result<Build, Problem> {
    let none = || Problem::new(422, "Unprocessable", "this is not a program for Linux (ELF)");
    let build_id = build_id(&data).ok_or_else(none)?;
    let version = version.filter(|version| !version.trim().is_empty());
    Ok(app.store().add_build(by, &NewBuild { build_id, name, version, data }).await?)
}

/// The query of an upload.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AddQuery {
    version: Option<String>,
}

pub(super) async fn add(
    State(app): State<App>,
    ByMaintainer(by): ByMaintainer,
    Path(name): Path<String>,
    Query(query): Query<AddQuery>,
    Body(body): Body,
) -> Result<(StatusCode, Json<Build>), Problem> {
    let build = keep(&app, &by.name, name, query.version, body.to_vec()).await?;
    Ok((StatusCode::CREATED, Json(build)))
}

pub(super) async fn add_by_form(
    State(app): State<App>,
    ByMaintainer(by): ByMaintainer,
    multipart: Multipart,
) -> Result<(StatusCode, Json<Build>), Problem> {
    let build = upload(&app, &by.name, None, multipart).await?;
    Ok((StatusCode::CREATED, Json(build)))
}

/// Takes a form with a build: `version` where there is one, then `file`. With a session, `csrf`
/// comes first.
pub async fn upload(
    app: &App,
    by: &str,
    session: Option<(&Session, &HeaderMap)>,
    mut multipart: Multipart,
) -> Result<Build, Problem> {
    let foreign = || Problem::new(403, "Forbidden", "the form is not one of this session");
    let broken = |_| Problem::malformed("the form cannot be read, or is too large");
    if let Some((_, headers)) = session {
        check_upload(headers).map_err(|_| foreign())?;
    }
    let mut trusted = session.is_none();
    let mut version = None;
    while let Some(field) = multipart.next_field().await.map_err(broken)? {
        match field.name().unwrap_or_default() {
            "csrf" => {
                let text = field.text().await.map_err(broken)?;
                trusted = session.is_none_or(|(session, _)| same_secret(&text, &session.csrf));
            }
            "version" if trusted => version = Some(field.text().await.map_err(broken)?),
            "file" if trusted => {
                let name = field.file_name().unwrap_or_default();
                let name = name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
                let data = field.bytes().await.map_err(broken)?;
                return keep(app, by, name, version, data.to_vec()).await;
            }
            _ if trusted => {}
            _ => return Err(foreign()),
        }
    }
    if trusted { Err(Problem::malformed("the form has no file")) } else { Err(foreign()) }
}

/// The query of the list.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListQuery {
    program: Option<String>,
}

pub(super) async fn list(
    State(app): State<App>,
    _: ByMaintainer,
    Query(query): Query<ListQuery>,
) -> Result<Json<Vec<Build>>, Problem> {
    Ok(Json(app.store().builds(query.program.as_deref()).await?))
}

pub(super) async fn remove(
    State(app): State<App>,
    ByMaintainer(by): ByMaintainer,
    Path(build_id): Path<String>,
) -> Result<StatusCode, Problem> {
    app.store().remove_build(&by.name, &build_id).await?;
    Ok(StatusCode::NO_CONTENT)
}
