//! What went wrong, as RFC 9457 has it.
//!
//! Always: the words are ours. Nothing that a request carried is quoted.

use std::any::Any;
use std::time::Duration;

use axum::Json;
use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use stunt_parcel::messages;

use crate::error::Error;
use crate::pace::was_too_slow;

/// An answer that says what went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The document.
    pub document: messages::Problem,
    /// When it is worth to try again.
    pub retry_after: Option<Duration>,
}

impl Problem {
    /// A problem by its status, in words.
    pub fn new(status: u16, title: &str, detail: impl Into<String>) -> Problem {
        Problem { document: messages::Problem::new(status, title, detail), retry_after: None }
    }

    /// The request cannot be read.
    pub fn malformed(detail: impl Into<String>) -> Problem {
        Problem::new(400, "Bad request", detail)
    }

    /// A body that could not be read: because it is too slow, or for another reason.
    pub fn of_body(error: &(dyn std::error::Error + 'static), other: &str) -> Problem {
        if was_too_slow(error) {
            return Problem::new(408, "Request timeout", "the body comes too slowly");
        }
        Problem::malformed(other)
    }

    /// The request can be read, and what it holds is refused.
    pub fn unusable(detail: impl Into<String>) -> Problem {
        Problem::new(422, "The report cannot be taken", detail)
    }

    /// There is no such thing.
    pub fn not_found(what: &str) -> Problem {
        Problem::new(404, "Not found", format!("there is no such {what}"))
    }

    /// It is too large.
    pub fn too_large(most: usize) -> Problem {
        let detail = format!("at most {most} bytes are taken");
        Problem::new(413, "Too large", detail)
    }

    /// Too many requests.
    pub fn slow_down(wait: Duration) -> Problem {
        let detail = "this address has asked for too much; wait a moment";
        let problem = Problem::new(429, "Too many requests", detail);
        Problem { retry_after: Some(wait), ..problem }
    }

    /// Too much is under way.
    pub fn crowded() -> Problem {
        let detail = "many reports are under way; try again";
        let problem = Problem::new(503, "Unavailable", detail);
        Problem { retry_after: Some(Duration::from_secs(15)), ..problem }
    }

    /// When it is worth to try again, as a header has it: whole seconds.
    pub fn wait(&self) -> Option<HeaderValue> {
        let wait = self.retry_after?;
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        Some(HeaderValue::from(seconds.max(1)))
    }

    /// Something failed on our side.
    pub fn internal() -> Problem {
        Problem::new(500, "Internal error", "the server failed; its log says why")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.document.status);
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let wait = self.wait();
        let mut response = (status, Json(self.document)).into_response();
        let headers = response.headers_mut();
        let kind = HeaderValue::from_static(messages::PROBLEM_TYPE);
        headers.insert(header::CONTENT_TYPE, kind);
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait) = wait {
            headers.insert(header::RETRY_AFTER, wait);
        }
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Problem {
        match error {
            Error::NotFound(what) => Problem::not_found(what),
            Error::Conflict(why) => Problem::new(409, "Conflict", why),
            Error::Invalid(why) => Problem::new(422, "Unprocessable", why),
            Error::NotWritten(why) => {
                tracing::error!(%why, "the store");
                let detail = "nothing was written; try again";
                let problem = Problem::new(503, "Unavailable", detail);
                Problem { retry_after: Some(Duration::from_secs(5)), ..problem }
            }
            error => {
                tracing::error!(%error, "the store");
                Problem::internal()
            }
        }
    }
}

/// The body as it is, or a problem.
pub struct Body(pub axum::body::Bytes);

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = Problem;

    async fn from_request(request: axum::extract::Request, state: &S) -> Result<Body, Problem> {
        let bytes = axum::body::Bytes::from_request(request, state).await;
        bytes.map(Body).map_err(|rejection: BytesRejection| match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => {
                Problem::new(413, "Too large", "the body is larger than this server takes")
            }
            _ => Problem::of_body(&rejection, "the body ended too early"),
        })
    }
}

/// A JSON body, or a problem.
pub struct Document<T>(pub T);

impl<T: serde::de::DeserializeOwned, S: Send + Sync> FromRequest<S> for Document<T> {
    type Rejection = Problem;

    async fn from_request(
        request: axum::extract::Request,
        state: &S,
    ) -> Result<Document<T>, Problem> {
        let json = Json::<T>::from_request(request, state).await;
        json.map(|json| Document(json.0)).map_err(|rejection: JsonRejection| {
            match rejection.status() {
                StatusCode::PAYLOAD_TOO_LARGE => {
                    Problem::new(413, "Too large", "the document is larger than any should be")
                }
                StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                    Problem::new(415, "Unsupported media type", "this should be application/json")
                }
                _ => {
                    let other = "the document does not have the form that is described";
                    Problem::of_body(&rejection, other)
                }
            }
        })
    }
}

/// A part of the path, or a problem.
pub struct Path<T>(pub T);

impl<T: serde::de::DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        state: &S,
    ) -> Result<Path<T>, Problem> {
        let path = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        let failed = |_: PathRejection| Problem::malformed("the path cannot be read");
        path.map(|path| Path(path.0)).map_err(failed)
    }
}

/// A query, or a problem.
pub struct Query<T>(pub T);

impl<T: serde::de::DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(
        parts: &mut axum::http::request::Parts,
        state: &S,
    ) -> Result<Query<T>, Problem> {
        let query = axum::extract::Query::<T>::from_request_parts(parts, state).await;
        let failed = |_: QueryRejection| Problem::malformed("the query cannot be read");
        query.map(|query| Query(query.0)).map_err(failed)
    }
}

/// Nothing is here.
pub(super) async fn nowhere() -> Problem {
    Problem::not_found("resource")
}

/// Something is here, for another method.
pub(super) async fn not_so() -> Problem {
    Problem::new(405, "Method not allowed", "this cannot be done here; see /api/v1/openapi.json")
}

/// A handler panicked: what it said may hold anything, so it is not repeated.
// The layer hands over a box.
#[allow(clippy::needless_pass_by_value)]
pub(super) fn panicked(_: Box<dyn Any + Send + 'static>) -> Response {
    Problem::internal().into_response()
}
