//! What admins may do by a token: settings, tokens, users, the audit log.
//!
//! Always: a secret leaves in the answer that made it, and never again; a tracker's key never does.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use super::problem::{Document, Path, Problem, Query};
use crate::App;
use crate::auth::ByAdmin;
use crate::store::{AuditEntry, Role, Settings, Token, User};

/// The settings as they are shown: a tracker by its name and place alone.
fn shown(settings: &Settings) -> serde_json::Value {
    let mut value = serde_json::to_value(settings).unwrap_or_default();
    if let Some(tracker) = value.get_mut("tracker").and_then(serde_json::Value::as_object_mut) {
        tracker.remove("key");
    }
    value
}

pub(super) async fn settings(
    State(app): State<App>,
    _: ByAdmin,
) -> Result<Json<serde_json::Value>, Problem> {
    Ok(Json(shown(&app.store().settings().await?)))
}

pub(super) async fn change_settings(
    State(app): State<App>,
    ByAdmin(by): ByAdmin,
    Document(new): Document<Settings>,
) -> Result<Json<serde_json::Value>, Problem> {
    app.store().change_settings(&by.name, &new).await?;
    Ok(Json(shown(&app.store().settings().await?)))
}

pub(super) async fn tokens(
    State(app): State<App>,
    _: ByAdmin,
) -> Result<Json<Vec<Token>>, Problem> {
    Ok(Json(app.store().tokens().await?))
}

/// A token to be made.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewToken {
    name: String,
    role: Role,
}

/// A token that was made.
#[derive(Serialize)]
pub(super) struct MadeToken {
    #[serde(flatten)]
    token: Token,
    secret: String,
}

pub(super) async fn add_token(
    State(app): State<App>,
    ByAdmin(by): ByAdmin,
    Document(new): Document<NewToken>,
) -> Result<(StatusCode, Json<MadeToken>), Problem> {
    let (token, secret) = app.store().add_token(&by.name, &new.name, new.role).await?;
    Ok((StatusCode::CREATED, Json(MadeToken { token, secret })))
}

pub(super) async fn revoke_token(
    State(app): State<App>,
    ByAdmin(by): ByAdmin,
    Path(token): Path<i64>,
) -> Result<StatusCode, Problem> {
    app.store().revoke_token(&by.name, token).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn users(State(app): State<App>, _: ByAdmin) -> Result<Json<Vec<User>>, Problem> {
    Ok(Json(app.store().users().await?))
}

/// A user to be added.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NewUser {
    name: String,
    password: String,
    role: Role,
}

pub(super) async fn add_user(
    State(app): State<App>,
    ByAdmin(by): ByAdmin,
    Document(new): Document<NewUser>,
) -> Result<(StatusCode, Json<User>), Problem> {
    let user = app.store().add_user(&by.name, &new.name, &new.password, new.role).await?;
    Ok((StatusCode::CREATED, Json(user)))
}

/// Which part of the log.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditQuery {
    before: Option<i64>,
    limit: Option<u32>,
}

pub(super) async fn audit(
    State(app): State<App>,
    _: ByAdmin,
    Query(query): Query<AuditQuery>,
) -> Result<Json<Vec<AuditEntry>>, Problem> {
    Ok(Json(app.store().audit(query.before, query.limit.unwrap_or(100)).await?))
}
