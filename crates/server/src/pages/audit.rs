//! The audit log: who did what, the newest first; and on its first page what strangers did, counted.

use askama::Template;
use axum::extract::{Query, State};
use serde::Deserialize;

use super::{Answer, Layout, show};
use crate::App;
use crate::auth::Admin;
use crate::store::{AuditEntry, Noise};

/// How many lines a page has.
const PAGE: u32 = 100;

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    layout: Layout,
    entries: Vec<AuditEntry>,
    older: Option<i64>,
    later: bool,
    noise: Vec<Noise>,
}

/// Where to go on.
#[derive(Deserialize)]
pub struct Before {
    before: Option<i64>,
}

/// The page.
pub async fn page(
    State(app): State<App>,
    Admin { session }: Admin,
    Query(Before { before }): Query<Before>,
) -> Answer {
    let entries = app.store().audit(before, PAGE).await?;
    let older = entries.last().map(|entry| entry.id).filter(|_| entries.len() == PAGE as usize);
    let layout = Layout::of(&app, &session, "audit").await?;
    let noise = match before {
        None => app.store().noise(PAGE).await?,
        Some(_) => Vec::new(),
    };
    show(&AuditPage { layout, entries, older, later: before.is_some(), noise })
}
