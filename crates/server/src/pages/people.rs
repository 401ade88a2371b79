//! Users and tokens: who may log in, and which programs may talk to the server.
//!
//! Always: the secret of a new token is shown once, on the answer to the form that made it.

use askama::Template;
use axum::extract::{Path, State};
use axum::response::Response;
use serde::Deserialize;

use super::login::Nothing;
use super::{Answer, Failure, Layout, go, show};
use crate::auth::{Admin, Form};
use crate::store::{Role, Session, Token, User};
use crate::{App, Error};

/// A token that was just made.
struct Made {
    name: String,
    secret: String,
}

#[derive(Template)]
#[template(path = "people.html")]
struct PeoplePage {
    layout: Layout,
    users: Vec<User>,
    tokens: Vec<Token>,
    made: Option<Made>,
}

async fn shown(app: &App, session: &Session, made: Option<Made>) -> Answer {
    let store = app.store();
    let (users, tokens) = (store.users().await?, store.tokens().await?);
    show(&PeoplePage { layout: Layout::of(app, session, "people").await?, users, tokens, made })
}

/// The page.
pub async fn page(State(app): State<App>, Admin { session }: Admin) -> Answer {
    shown(&app, &session, None).await
}

/// A new user, as typed.
#[derive(Deserialize)]
pub struct NewUser {
    name: String,
    password: String,
    role: Role,
}

/// Adds a user.
pub async fn add_user(
    State(app): State<App>,
    Admin { session }: Admin,
    Form(new): Form<NewUser>,
) -> Result<Response, Failure> {
    app.store().add_user(&session.user.name, new.name.trim(), &new.password, new.role).await?;
    go("/people")
}

/// What becomes of a user: a role, nothing any more, or another password.
#[derive(Deserialize)]
pub struct Change {
    #[serde(default)]
    role: String,
    #[serde(default)]
    password: String,
}

/// Changes a user.
pub async fn change_user(
    State(app): State<App>,
    Admin { session }: Admin,
    Path(name): Path<String>,
    Form(change): Form<Change>,
) -> Result<Response, Failure> {
    let by = &session.user.name;
    let store = app.store();
    match change.role.as_str() {
        "" => {}
        "disabled" => store.set_role(by, &name, None).await?,
        role => {
            let unknown = |_| Error::Invalid("there is no such role".to_owned());
            store.set_role(by, &name, Some(role.parse().map_err(unknown)?)).await?;
        }
    }
    if !change.password.is_empty() {
        store.set_password(by, &name, &change.password).await?;
    }
    go("/people")
}

/// A new token, as typed.
#[derive(Deserialize)]
pub struct NewToken {
    name: String,
    role: Role,
}

/// Makes a token and shows its secret.
pub async fn add_token(
    State(app): State<App>,
    Admin { session }: Admin,
    Form(new): Form<NewToken>,
) -> Result<Response, Failure> {
    let (token, secret) = app.store().add_token(&session.user.name, &new.name, new.role).await?;
    shown(&app, &session, Some(Made { name: token.name, secret })).await
}

/// Makes a token worth nothing.
pub async fn revoke_token(
    State(app): State<App>,
    Admin { session }: Admin,
    Path(id): Path<i64>,
    _: Form<Nothing>,
) -> Result<Response, Failure> {
    app.store().revoke_token(&session.user.name, id).await?;
    go("/people")
}
