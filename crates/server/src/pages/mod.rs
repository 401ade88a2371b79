//! The pages: what maintainers see in a browser.
//!
//! ```text
//! login ─► list ─► ticket ─► replay, issue, notes, state
//!            └──► builds; settings, people, audit for admins
//! ```
//!
//! Always: a page is complete without scripts; scripts only save a reload. Everything that comes
//! from a report is a stranger's: templates escape it, and the few parts that are built as markup
//! here are built from numbers and from text that was escaped. A form that changes something is a
//! `POST` with the session's secret. The pages have no SQL and no rules of their own about tickets.

mod assets;
mod audit;
mod builds;
mod double;
mod figures;
mod list;
mod login;
mod people;
mod settings;
mod spark;
mod ticket;
mod work;

use std::any::Any;

use askama::Template;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use tower_http::catch_panic::CatchPanicLayer;

use crate::api::Problem;
use crate::store::{Role, Session};
use crate::{App, Error};

/// All pages.
pub fn router(app: &App) -> Router<App> {
    Router::new()
        .route("/", get(list::page))
        .route("/login", get(login::page).post(login::enter))
        .route("/logout", post(login::leave))
        .route("/tickets/{id}", get(ticket::page))
        .route("/tickets/{id}/work", get(work::part))
        .route("/tickets/{id}/report", get(double::report))
        .route("/tickets/{id}/double/{number}", get(double::file))
        .route("/tickets/{id}/notes", post(ticket::note))
        .route("/tickets/{id}/state", post(ticket::state))
        .route("/tickets/{id}/replays", post(work::replay))
        .route("/tickets/{id}/issue", post(work::issue))
        .route("/builds", get(builds::page).merge(builds::upload(app)))
        .route("/builds/{id}/remove", post(builds::remove))
        .route("/settings", get(settings::page).post(settings::change))
        .route("/people", get(people::page))
        .route("/people/users", post(people::add_user))
        .route("/people/users/{name}", post(people::change_user))
        .route("/people/tokens", post(people::add_token))
        .route("/people/tokens/{id}/revoke", post(people::revoke_token))
        .route("/audit", get(audit::page))
        .route("/assets/{version}/{name}", get(assets::file))
        .fallback(nowhere)
        .layer(caught())
}

/// What makes a page of a panic.
fn caught() -> CatchPanicLayer<fn(Box<dyn Any + Send + 'static>) -> Response> {
    CatchPanicLayer::custom(panicked)
}

/// A handler panicked: what it said may hold anything, so it is not repeated.
// The layer hands over a box.
#[allow(clippy::needless_pass_by_value)]
fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    Failure::internal().into_response()
}

/// What every page has around it.
pub struct Layout {
    /// What the server calls itself.
    pub site: String,
    /// Who is logged in.
    pub user: Option<String>,
    /// Whether they see the pages of admins.
    pub admin: bool,
    /// The session's secret, for forms.
    pub csrf: String,
    /// The part of the site that the page belongs to.
    pub part: &'static str,
    /// Changes when an asset changes, so that browsers may keep them.
    pub version: &'static str,
}

impl Layout {
    /// The layout of a page for a session.
    pub async fn of(app: &App, session: &Session, part: &'static str) -> Result<Layout, Failure> {
        Ok(Layout {
            site: app.store().settings().await?.title,
            user: Some(session.user.name.clone()),
            admin: session.user.role == Role::Admin,
            csrf: session.csrf.clone(),
            part,
            version: assets::version(),
        })
    }

    /// The layout of a page for nobody in particular.
    pub fn plain(site: String) -> Layout {
        let version = assets::version();
        Layout { site, user: None, admin: false, csrf: String::new(), part: "", version }
    }
}

/// A page, or why there is none.
pub type Answer = Result<Response, Failure>;

/// A template as an answer.
pub fn show(page: &impl Template) -> Answer {
    show_with(StatusCode::OK, page)
}

/// A template as an answer with a status.
pub fn show_with(status: StatusCode, page: &impl Template) -> Answer {
    match page.render() {
        Ok(text) => Ok((status, Html(text)).into_response()),
        Err(error) => {
            tracing::error!(%error, "a template");
            Err(Failure::internal())
        }
    }
}

/// Leads to another page after a form was done.
pub fn go(path: &str) -> Answer {
    Ok(Redirect::to(path).into_response())
}

/// Why there is no page.
#[derive(Debug)]
pub struct Failure {
    status: StatusCode,
    sentence: String,
}

impl Failure {
    /// No page, by its status, and why in a sentence.
    pub fn new(status: StatusCode, sentence: impl Into<String>) -> Failure {
        Failure { status, sentence: sentence.into() }
    }

    fn internal() -> Failure {
        Failure {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            sentence: "The server failed; see its log.".to_owned(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        let status = match error {
            Error::NotFound(_) => StatusCode::NOT_FOUND,
            Error::Conflict(_) => StatusCode::CONFLICT,
            Error::Invalid(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Error::NotWritten(_) => StatusCode::SERVICE_UNAVAILABLE,
            error => {
                tracing::error!(%error, "a page");
                return Failure::internal();
            }
        };
        Failure { status, sentence: sentence(&error.to_string()) }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        let problem = problem.document;
        let status = StatusCode::from_u16(problem.status).unwrap_or(StatusCode::BAD_REQUEST);
        Failure { status, sentence: sentence(&problem.detail.unwrap_or(problem.title)) }
    }
}

/// The words with a capital and a full stop.
fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    let first: String = characters.next().into_iter().flat_map(char::to_uppercase).collect();
    let stop = if words.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{first}{}{stop}", characters.as_str())
}

#[derive(Template)]
#[template(path = "failure.html")]
struct FailurePage {
    layout: Layout,
    status: u16,
    reason: &'static str,
    sentence: String,
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let page = FailurePage {
            layout: Layout::plain("stunt".to_owned()),
            status: self.status.as_u16(),
            reason: self.status.canonical_reason().unwrap_or("Error"),
            sentence: self.sentence,
        };
        match page.render() {
            Ok(text) => (self.status, Html(text)).into_response(),
            Err(_) => self.status.into_response(),
        }
    }
}

async fn nowhere() -> Failure {
    Failure { status: StatusCode::NOT_FOUND, sentence: "There is no such page.".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_begin_and_end_as_such() {
        assert_eq!(sentence("there is no such ticket"), "There is no such ticket.");
        assert_eq!(sentence("Done."), "Done.");
        assert_eq!(sentence(""), ".");
    }

    #[tokio::test]
    async fn a_panic_is_a_page_that_says_nothing_of_it() {
        use hyper::service::Service;
        async fn fails() -> Response {
            panic!("private");
        }
        let router: Router = Router::new().route("/", get(fails)).layer(caught());
        let service = hyper_util::service::TowerToHyperService::new(router);
        let request = axum::extract::Request::new(axum::body::Body::empty());
        let answer = service.call(request).await.unwrap();
        assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let text = axum::body::to_bytes(answer.into_body(), 1 << 20).await.unwrap();
        let text = String::from_utf8(text.to_vec()).unwrap();
        assert!(text.contains("<h1") && !text.contains("private"), "{text}");
    }

    #[test]
    fn a_failure_shows_no_markup_of_others() {
        let error = Error::Invalid("<script>".to_owned());
        let page = FailurePage {
            layout: Layout::plain("<b>".to_owned()),
            status: 422,
            reason: "",
            sentence: Failure::from(error).sentence,
        };
        let text = page.render().unwrap();
        assert!(!text.contains("<script>.") && !text.contains("<b>"), "{text}");
        assert!(text.contains("&#60;script&#62;."), "{text}");
    }
}
