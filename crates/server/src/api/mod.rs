//! The interface for programs, under `/api/v1`.
//!
//! What reporters may do is in `reporter`, what maintainers may do in `maintainer`, settings in
//! `admin`. Always: an error is a problem document with a sentence, and a refused report leaves
//! nothing behind.

mod admin;
mod builds;
mod maintainer;
mod openapi;
mod problem;
mod reporter;
mod schema;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{delete, get, post, put};
use tower_http::catch_panic::CatchPanicLayer;

use crate::App;

pub use builds::{build_id, upload};
pub use openapi::document;
pub use problem::Problem;

/// The largest JSON document of a request.
const LARGEST_JSON: usize = 64 << 10;

/// All routes of the interface.
pub(crate) fn router(app: &App) -> Router<App> {
    let builds = Router::new()
        .route("/api/v1/builds", post(builds::add_by_form))
        .route("/api/v1/builds/{name}", put(builds::add))
        .layer(DefaultBodyLimit::max(app.max_build() + LARGEST_JSON));
    Router::new()
        .route("/api/v1/ask", post(reporter::ask))
        .route("/api/v1/counts", post(reporter::count))
        .route("/api/v1/doubles/{signature}", get(reporter::double))
        .route("/api/v1/reports/{digest}", put(reporter::submit))
        .route("/api/v1/recipient", get(reporter::recipient))
        .route("/api/v1/openapi.json", get(openapi::serve))
        .route("/api/v1/tickets", get(maintainer::list))
        .route("/api/v1/tickets/{ticket}", get(maintainer::ticket))
        .route("/api/v1/tickets/{ticket}/double", get(maintainer::double))
        .route("/api/v1/tickets/{ticket}/notes", post(maintainer::note))
        .route("/api/v1/tickets/{ticket}/state", put(maintainer::state))
        .route("/api/v1/tickets/{ticket}/replays", post(maintainer::replay))
        .route("/api/v1/tickets/{ticket}/issue", post(maintainer::issue))
        .route("/api/v1/replays/{replay}", get(maintainer::replay_result))
        .route("/api/v1/builds", get(builds::list))
        .route("/api/v1/builds/{name}", delete(builds::remove))
        .route("/api/v1/settings", get(admin::settings).put(admin::change_settings))
        .route("/api/v1/tokens", get(admin::tokens).post(admin::add_token))
        .route("/api/v1/tokens/{token}", delete(admin::revoke_token))
        .route("/api/v1/users", get(admin::users).post(admin::add_user))
        .route("/api/v1/audit", get(admin::audit))
        .route("/api/v1/noise", get(admin::noise))
        .layer(DefaultBodyLimit::max(LARGEST_JSON))
        .merge(builds)
        .route("/api/{*rest}", axum::routing::any(problem::nowhere))
        .method_not_allowed_fallback(problem::not_so)
        .layer(CatchPanicLayer::custom(problem::panicked))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    /// Routes that this file has, as it is written: axum does not tell.
    fn routes() -> BTreeSet<(String, String)> {
        let mut routes = BTreeSet::new();
        let text = include_str!("mod.rs");
        for line in text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")) {
            let Some(rest) = line.trim().strip_prefix(".route(\"/api/v1/") else { continue };
            let (path, handlers) = rest.split_once("\", ").expect("a route on one line");
            for method in ["get", "post", "put", "delete", "patch", "any"] {
                let calls = |before: &str| handlers.contains(&format!("{before}{method}("));
                if handlers.starts_with(&format!("{method}(")) || calls(".") {
                    routes.insert((format!("/api/v1/{path}"), method.to_owned()));
                }
            }
        }
        routes
    }

    #[test]
    fn every_route_is_described_and_nothing_else_is() {
        let document = serde_json::to_value(super::document()).unwrap();
        let mut described = BTreeSet::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for method in methods.as_object().unwrap().keys() {
                described.insert((path.clone(), method.clone()));
            }
        }
        let routes = routes();
        assert!(routes.len() > 20, "{routes:?}");
        assert_eq!(routes, described);
    }
}
