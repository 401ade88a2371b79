//! Builds of programs that replays can use: a list, an upload, a removal.

use askama::Template;
use axum::extract::{DefaultBodyLimit, Multipart, Path, State};
use axum::http::HeaderMap;
use axum::routing::{MethodRouter, post};

use super::figures::{short, size};
use super::login::Nothing;
use super::{Answer, Layout, go, show};
use crate::App;
use crate::api;
use crate::auth::{Form, Maintainer};
use crate::store::Build;

/// A build, as a line of the table.
struct Line {
    build: Build,
    short: String,
    size: String,
}

#[derive(Template)]
#[template(path = "builds.html")]
struct BuildsPage {
    layout: Layout,
    lines: Vec<Line>,
    most: String,
}

/// The page.
pub async fn page(State(app): State<App>, Maintainer { session }: Maintainer) -> Answer {
    let builds = app.store().builds(None).await?;
    let lines = builds.into_iter().map(|build| Line {
        short: short(&build.build_id),
        size: size(build.bytes),
        build,
    });
    show(&BuildsPage {
        layout: Layout::of(&app, &session, "builds").await?,
        lines: lines.collect(),
        most: size(i64::try_from(app.max_build()).unwrap_or(i64::MAX)),
    })
}

/// The route that takes a build: it may be larger than other forms.
pub fn upload(app: &App) -> MethodRouter<App> {
    post(add).layer(DefaultBodyLimit::max(app.max_build() + (64 << 10)))
}

async fn add(
    State(app): State<App>,
    Maintainer { session }: Maintainer,
    headers: HeaderMap,
    form: Multipart,
) -> Answer {
    api::upload(&app, &session.user.name, Some((&session, &headers)), form).await?;
    go("/builds")
}

/// Removes a build.
pub async fn remove(
    State(app): State<App>,
    Maintainer { session }: Maintainer,
    Path(id): Path<String>,
    _: Form<Nothing>,
) -> Answer {
    app.store().remove_build(&session.user.name, &id).await?;
    go("/builds")
}
