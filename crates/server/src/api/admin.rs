//! What admins may do by a token: settings, tokens, users, the audit log.
//!
//! Always: a secret leaves in the answer that made it, and never again; a tracker's key never does.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::problem::{Document, Path, Problem, Query};
use crate::App;
use crate::auth::ByAdmin;
use crate::store::{AuditEntry, Noise, Role, Settings, Token, TrackerSettings, User};

/// The settings as they are shown: a tracker by its name and place alone.
fn shown(settings: &Settings) -> Value {
    let mut value = serde_json::to_value(settings).unwrap_or_default();
    if let Some(tracker) = value.get_mut("tracker").and_then(Value::as_object_mut) {
        tracker.remove("key");
    }
    value
}

pub(super) async fn settings(State(app): State<App>, _: ByAdmin) -> Result<Json<Value>, Problem> {
    Ok(Json(shown(&app.store().settings().await?)))
}

/// The settings before, with what the document says in their place. What it leaves out stays as it
/// is, so that nothing is removed by forgetting it; a tracker is removed by `null`. A tracker without
/// a key has the one from before, as long as that goes to the same place.
fn changed(before: &Settings, document: Map<String, Value>) -> Result<Settings, Problem> {
    let wrong = || Problem::malformed("the document does not have the form that is described");
    let Ok(Value::Object(mut settings)) = serde_json::to_value(before) else {
        return Err(Problem::internal());
    };
    for (name, mut value) in document {
        match (settings.get_mut(&name), &mut value) {
            (Some(Value::Object(old)), Value::Object(new)) if name == "retention" => {
                old.append(new);
                continue;
            }
            (_, Value::Object(tracker)) if name == "tracker" && !tracker.contains_key("key") => {
                let mut probe = tracker.clone();
                probe.insert("key".to_owned(), Value::String(String::new()));
                let probe: TrackerSettings =
                    serde_json::from_value(Value::Object(probe)).map_err(|_| wrong())?;
                let kept = before.tracker.as_ref().filter(|before| before.is_where(&probe));
                let none = || Problem::new(422, "Unprocessable", "a tracker needs a key");
                let key = kept.ok_or_else(none)?.key().expose();
                tracker.insert("key".to_owned(), Value::String(key.to_owned()));
            }
            _ => {}
        }
        settings.insert(name, value);
    }
    serde_json::from_value(Value::Object(settings)).map_err(|_| wrong())
}

pub(super) async fn change_settings(
    State(app): State<App>,
    ByAdmin(by): ByAdmin,
    Document(document): Document<Map<String, Value>>,
) -> Result<Json<Value>, Problem> {
    let new = changed(&app.store().settings().await?, document)?;
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
    let owner = by.user.as_deref();
    let made = app.store().add_token_for(&by.name, owner, &new.name, new.role).await?;
    let (token, secret) = made;
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

/// How much of what strangers did.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoiseQuery {
    limit: Option<u32>,
}

pub(super) async fn noise(
    State(app): State<App>,
    _: ByAdmin,
    Query(query): Query<NoiseQuery>,
) -> Result<Json<Vec<Noise>>, Problem> {
    Ok(Json(app.store().noise(query.limit.unwrap_or(100)).await?))
}
