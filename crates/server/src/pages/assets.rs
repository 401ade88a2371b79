//! The style, the scripts and the icon: part of the program, and kept by browsers for good.
//!
//! Always: the address of an asset has a version made from its bytes, so a new server is not shown
//! in an old style. `htmx.min.js` is htmx 2.0.11 as its authors publish it; its licence lies beside
//! it.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use stunt_parcel::Digest;

const HTMX: &str = include_str!("../../assets/htmx.min.js");
const KEYS: &str = include_str!("../../assets/keys.js");
const ICON: &str = include_str!("../../assets/icon.svg");

/// The style, with the colours that leak graphs have everywhere.
static STYLE: LazyLock<String> = LazyLock::new(|| {
    format!("{}\n{}\n", include_str!("../../assets/style.css"), stunt_graph::svg::COLOURS)
});

static VERSION: LazyLock<String> = LazyLock::new(|| {
    let digest = Digest::of([HTMX, KEYS, ICON, &STYLE].concat().as_bytes()).to_string();
    digest[..12].to_owned()
});

/// The version of all assets together.
pub fn version() -> &'static str {
    &VERSION
}

/// An asset by its name.
pub async fn file(Path((version, name)): Path<(String, String)>) -> Response {
    let (kind, text) = match name.as_str() {
        "style.css" => ("text/css; charset=utf-8", STYLE.as_str()),
        "htmx.min.js" => ("text/javascript; charset=utf-8", HTMX),
        "keys.js" => ("text/javascript; charset=utf-8", KEYS),
        "icon.svg" => ("image/svg+xml", ICON),
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    // A page of another version of the server may still ask; it gets what there is, for now.
    let keep = if version == *VERSION { "public, max-age=31536000, immutable" } else { "no-cache" };
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, keep)], text).into_response()
}
