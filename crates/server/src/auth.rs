//! Who may do what, in one place.
//!
//! A browser has a session by a cookie, a program has a token. Always: a request that changes
//! something through a session comes from one of our own pages: the browser says where it comes
//! from, and the form carries the session's secret. The interface for programs takes a cookie for
//! reading alone.

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::App;
use crate::api::Problem;
use crate::pages::Failure;
use crate::store::{Role, Session};

/// The name of the session's cookie.
const COOKIE: &str = "stunt_session";
/// The largest form, in bytes.
const LARGEST_FORM: usize = 64 << 10;

/// Why somebody is turned away.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Nobody is logged in; where they wanted to go.
    LogIn(String),
    /// Their role does not allow it.
    Role(Role),
    /// The form does not come from a page of ours, or of another session.
    Foreign,
    /// The form cannot be read.
    Malformed(String),
    /// The store failed.
    Failed,
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let (status, sentence) = match self {
            Refused::LogIn(next) => {
                return Redirect::to(&format!("/login?next={}", escaped(&next))).into_response();
            }
            Refused::Role(role) => {
                (StatusCode::FORBIDDEN, format!("This is for a user who is {role}."))
            }
            Refused::Foreign => (
                StatusCode::FORBIDDEN,
                "The form is not one of this session. Go back, load the page again, and repeat it."
                    .to_owned(),
            ),
            Refused::Malformed(what) => (StatusCode::UNPROCESSABLE_ENTITY, what),
            Refused::Failed => {
                (StatusCode::INTERNAL_SERVER_ERROR, "The server failed; see its log.".to_owned())
            }
        };
        Failure::new(status, sentence).into_response()
    }
}

/// Text as a value in a query.
fn escaped(text: &str) -> String {
    use std::fmt::Write;
    let mut result = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            result.push(char::from(byte));
        } else {
            let _ = write!(result, "%{byte:02X}");
        }
    }
    result
}

/// The secret in the session's cookie.
#[must_use]
pub fn cookie_secret(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|it| it.split_once('='));
    pairs.find(|(name, _)| name.trim() == COOKIE).map(|(_, value)| value.trim().to_owned())
}

/// `Set-Cookie` after a login.
#[must_use]
pub fn cookie(app: &App, secret: &str) -> HeaderValue {
    set_cookie(app, secret, 14 * 86_400)
}

/// `Set-Cookie` after a logout.
#[must_use]
pub fn no_cookie(app: &App) -> HeaderValue {
    set_cookie(app, "", 0)
}

fn set_cookie(app: &App, value: &str, seconds: u64) -> HeaderValue {
    let secure = if app.url().starts_with("https:") { "; Secure" } else { "" };
    let text =
        format!("{COOKIE}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}{secure}");
    HeaderValue::from_str(&text).expect("a secret is hexadecimal digits")
}

async fn session_of(headers: &HeaderMap, app: &App) -> Result<Option<Session>, Refused> {
    let Some(secret) = cookie_secret(headers) else { return Ok(None) };
    app.store().session(&secret).await.map_err(|error| {
        tracing::error!(%error, "sessions");
        Refused::Failed
    })
}

async fn required(parts: &Parts, app: &App, role: Role) -> Result<Session, Refused> {
    let session = session_of(&parts.headers, app).await?;
    let session = session.ok_or_else(|| Refused::LogIn(wanted(&parts.uri)))?;
    if session.user.role < role { Err(Refused::Role(role)) } else { Ok(session) }
}

fn wanted(uri: &Uri) -> String {
    uri.path_and_query().map_or_else(|| "/".to_owned(), ToString::to_string)
}

/// Anybody, with or without a session.
pub struct Visitor {
    /// The session, if they are logged in.
    pub session: Option<Session>,
}

impl FromRequestParts<App> for Visitor {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Visitor, Refused> {
        Ok(Visitor { session: session_of(&parts.headers, app).await? })
    }
}

/// A maintainer in a browser.
pub struct Maintainer {
    /// Their session.
    pub session: Session,
}

impl FromRequestParts<App> for Maintainer {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Maintainer, Refused> {
        Ok(Maintainer { session: required(parts, app, Role::Maintainer).await? })
    }
}

/// An admin in a browser.
pub struct Admin {
    /// Their session.
    pub session: Session,
}

impl FromRequestParts<App> for Admin {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Admin, Refused> {
        Ok(Admin { session: required(parts, app, Role::Admin).await? })
    }
}

/// Whether a browser says that a request comes from another site. Old browsers say nothing; for
/// them there is the secret in the form.
fn is_foreign(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site") {
        return !matches!(site, "same-origin" | "none");
    }
    match (text("origin"), text("host")) {
        (None, _) => false,
        (Some(origin), Some(host)) => {
            origin.split_once("://").is_none_or(|(_, origin)| !origin.eq_ignore_ascii_case(host))
        }
        (Some(_), None) => true,
    }
}

/// Whether two secrets are equal, in a time that tells nothing about where they differ.
#[must_use]
pub fn same_secret(one: &str, other: &str) -> bool {
    Sha256::digest(one) == Sha256::digest(other)
}

/// Checks that an upload belongs to a session: where it comes from, and the secret it carries.
pub fn check_upload(headers: &HeaderMap) -> Result<(), Refused> {
    if is_foreign(headers) { Err(Refused::Foreign) } else { Ok(()) }
}

/// The pairs of a form, for the one that is ours.
#[derive(serde::Deserialize)]
struct Csrf {
    #[serde(default)]
    csrf: String,
}

async fn form_bytes(request: Request, app: &App) -> Result<Bytes, Refused> {
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    if !kind.is_some_and(|kind| kind.starts_with("application/x-www-form-urlencoded")) {
        return Err(Refused::Malformed("This is not a form.".to_owned()));
    }
    let bytes = Bytes::from_request(request, app).await;
    let bytes = bytes.ok().filter(|bytes| bytes.len() <= LARGEST_FORM);
    bytes.ok_or_else(|| Refused::Malformed("The form is too long.".to_owned()))
}

async fn parse<T: DeserializeOwned>(bytes: &Bytes) -> Result<T, Refused> {
    let request = Request::post("/")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(Body::from(bytes.clone()))
        .expect("its head is fixed");
    let form = axum::Form::<T>::from_request(request, &()).await;
    form.map(|form| form.0)
        .map_err(|error| Refused::Malformed(format!("The form cannot be read: {error}.")))
}

/// A form of a session, from a page of ours.
pub struct Form<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for Form<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, app: &App) -> Result<Form<T>, Refused> {
        if is_foreign(request.headers()) {
            return Err(Refused::Foreign);
        }
        let wanted = wanted(request.uri());
        let session = session_of(request.headers(), app).await?.ok_or(Refused::LogIn(wanted))?;
        let bytes = form_bytes(request, app).await?;
        let Csrf { csrf } = parse(&bytes).await?;
        if !same_secret(&csrf, &session.csrf) {
            return Err(Refused::Foreign);
        }
        Ok(Form(parse(&bytes).await?))
    }
}

/// A form before there is a session, from a page of ours.
pub struct LoginForm<T>(pub T);

impl<T: DeserializeOwned> FromRequest<App> for LoginForm<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, app: &App) -> Result<LoginForm<T>, Refused> {
        if is_foreign(request.headers()) {
            return Err(Refused::Foreign);
        }
        Ok(LoginForm(parse(&form_bytes(request, app).await?).await?))
    }
}

/// Whoever uses the interface for programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    /// For the audit log.
    pub name: String,
    /// The user behind it, if there is one.
    pub user: Option<String>,
    /// What they may do.
    pub role: Role,
}

/// Who calls, if they say so: by a token, or by a session that only reads.
pub async fn caller(parts: &Parts, app: &App) -> Result<Option<Caller>, Problem> {
    if let Some(value) = parts.headers.get(header::AUTHORIZATION) {
        let secret = value.to_str().ok().and_then(|value| value.strip_prefix("Bearer "));
        let unknown = || Problem::new(401, "Unauthorized", "the token is unknown or revoked");
        let secret = secret.ok_or_else(unknown)?.trim();
        let token = app.store().token(secret).await?.ok_or_else(unknown)?;
        let (name, role) = (format!("token {}", token.name), token.role);
        return Ok(Some(Caller { name, user: token.owner, role }));
    }
    if parts.method.is_safe() {
        let session = session_of(&parts.headers, app).await;
        let session = session.map_err(|_| Problem::internal())?;
        return Ok(session.map(|it| Caller {
            user: Some(it.user.name.clone()),
            name: it.user.name,
            role: it.user.role,
        }));
    }
    Ok(None)
}

async fn caller_with(parts: &Parts, app: &App, role: Role) -> Result<Caller, Problem> {
    let caller = caller(parts, app).await?;
    let caller = caller.ok_or_else(|| {
        Problem::new(401, "Unauthorized", format!("this needs the token of a {role}"))
    })?;
    if caller.role < role {
        return Err(Problem::new(403, "Forbidden", format!("this is for a {role}")));
    }
    Ok(caller)
}

/// A program that reports; with a token, where the settings demand one.
pub struct ByReporter;

impl FromRequestParts<App> for ByReporter {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<ByReporter, Problem> {
        if app.store().settings().await?.reporters_need_token {
            caller_with(parts, app, Role::Reporter).await?;
        }
        Ok(ByReporter)
    }
}

/// A program of a maintainer.
pub struct ByMaintainer(pub Caller);

impl FromRequestParts<App> for ByMaintainer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<ByMaintainer, Problem> {
        Ok(ByMaintainer(caller_with(parts, app, Role::Maintainer).await?))
    }
}

/// A program of an admin.
pub struct ByAdmin(pub Caller);

impl FromRequestParts<App> for ByAdmin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<ByAdmin, Problem> {
        Ok(ByAdmin(caller_with(parts, app, Role::Admin).await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|&(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn forms_of_other_sites_are_foreign() {
        assert!(is_foreign(&headers(&[("sec-fetch-site", "cross-site")])));
        assert!(is_foreign(&headers(&[("sec-fetch-site", "same-site")])));
        assert!(!is_foreign(&headers(&[("sec-fetch-site", "same-origin")])));
        assert!(is_foreign(&headers(&[("origin", "https://evil.example"), ("host", "a.example")])));
        assert!(is_foreign(&headers(&[("origin", "null"), ("host", "a.example")])));
        assert!(!is_foreign(&headers(&[("origin", "https://a.example"), ("host", "a.example")])));
        assert!(!is_foreign(&headers(&[("host", "a.example")])));
    }

    #[test]
    fn the_cookie_is_found_among_others() {
        let found = cookie_secret(&headers(&[("cookie", "a=1; stunt_session=xyz; b=2")]));
        assert_eq!(found.as_deref(), Some("xyz"));
        assert_eq!(cookie_secret(&headers(&[("cookie", "xstunt_session=xyz")])), None);
    }

    #[test]
    fn where_somebody_wanted_to_go_stays_a_value() {
        assert_eq!(escaped("/tickets/T-1?a=b&c"), "/tickets/T-1%3Fa%3Db%26c");
    }
}
