//! Who are you? Name and password in, a session out.
//!
//! Always: after the login a browser goes to a page of ours, whatever the address says. A wrong
//! name and a wrong password look the same.

use askama::Template;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::Deserialize;

use super::{Answer, Failure, Layout, show_with};
use crate::App;
use crate::auth::{self, Form, LoginForm, Visitor};

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage {
    layout: Layout,
    next: String,
    name: String,
    wrong: bool,
}

/// Where to go afterwards.
#[derive(Deserialize)]
pub struct Next {
    #[serde(default)]
    next: String,
}

/// What is typed into the form.
#[derive(Deserialize)]
pub struct Entry {
    name: String,
    password: String,
    #[serde(default)]
    next: String,
}

/// Nothing is typed.
#[derive(Deserialize)]
pub struct Nothing {}

/// A path of ours, or the first page. `//host` and `/\host` are somebody else's.
fn ours(next: &str) -> &str {
    let plain = |c: char| c.is_ascii_graphic() && c != '\\';
    let path = next.starts_with('/') && !next.starts_with("//") && next.chars().all(plain);
    if path && !next.starts_with("/login") { next } else { "/" }
}

/// The form.
pub async fn page(
    State(app): State<App>,
    visitor: Visitor,
    Query(Next { next }): Query<Next>,
) -> Answer {
    if visitor.session.is_some() {
        return Ok(Redirect::to(ours(&next)).into_response());
    }
    shown(&app, StatusCode::OK, next, String::new(), false).await
}

async fn shown(app: &App, status: StatusCode, next: String, name: String, wrong: bool) -> Answer {
    let layout = Layout::plain(app.store().settings().await?.title);
    show_with(status, &LoginPage { layout, next, name, wrong })
}

/// Logs in.
pub async fn enter(State(app): State<App>, LoginForm(entry): LoginForm<Entry>) -> Answer {
    match app.store().log_in(&entry.name, &entry.password).await? {
        Some((_, secret)) => {
            let cookie = auth::cookie(&app, &secret);
            let there = Redirect::to(ours(&entry.next));
            Ok(([(header::SET_COOKIE, cookie)], there).into_response())
        }
        None => shown(&app, StatusCode::FORBIDDEN, entry.next, entry.name, true).await,
    }
}

/// Logs out.
pub async fn leave(
    State(app): State<App>,
    headers: HeaderMap,
    _: Form<Nothing>,
) -> Result<Response, Failure> {
    if let Some(secret) = auth::cookie_secret(&headers) {
        app.store().log_out(&secret).await?;
    }
    Ok(([(header::SET_COOKIE, auth::no_cookie(&app))], Redirect::to("/login")).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for path in ["/tickets/T-1", "/?search=a&state=open", "/"] {
            assert_eq!(ours(path), path);
        }
        for path in
            ["", "//evil.example", "/\\evil.example", "https://evil.example", "/a\nb", "/login"]
        {
            assert_eq!(ours(path), "/", "{path:?}");
        }
    }
}
