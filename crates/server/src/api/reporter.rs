//! What reporters may do: ask, fetch a known double, count, hand in a report.
//!
//! Always: a report is opened and checked before anything is written, within limits that hold
//! whatever it says about itself. Why one is refused is said in words and counted, and nothing that
//! it holds is repeated.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use axum::Json;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use stunt_parcel::messages::{self, Answer, Ask, Count, ServerKey, Stored};
use stunt_parcel::{Digest, Parcel};
use stunt_report::Report;

use super::problem::{Document, Path, Problem};
use crate::App;
use crate::auth::ByReporter;
use crate::room::{Opening, Passing};
use crate::store::Submission;

/// No input has more bits.
const LARGEST_LEAK: f64 = 1e15;
/// Frames of a stack that a ticket has at most.
const MOST_FRAMES: usize = 256;
/// A body that needs no room of its own: there are only so many connections.
const SMALL: usize = 64 << 10;

fn signature(text: &str) -> Result<&str, Problem> {
    if messages::is_signature(text) {
        return Ok(text);
    }
    Err(Problem::malformed("a signature is 1 to 64 letters and digits"))
}

/// Is this failure known?
pub(super) async fn ask(
    State(app): State<App>,
    _: ByReporter,
    Document(ask): Document<Ask>,
) -> Result<Json<Answer>, Problem> {
    let known = app.store().ask(signature(&ask.signature)?).await?;
    let Some((ticket, double)) = known else {
        return Ok(Json(Answer { known: false, ticket: None, double: None }));
    };
    let shared = app.store().settings().await?.share_doubles;
    let double = double.filter(|_| shared).map(|double| messages::KnownDouble {
        sha256: double.digest,
        bytes: double.bytes,
        leak_bits: double.leak_bits,
    });
    Ok(Json(Answer { known: true, ticket: Some(ticket.to_string()), double }))
}

/// The best report for a failure, if reporters are given any.
pub(super) async fn double(
    State(app): State<App>,
    _: ByReporter,
    Path(text): Path<String>,
) -> Result<Response, Problem> {
    let none = || Problem::not_found("double");
    let signature = signature(&text)?;
    if !app.store().settings().await?.share_doubles {
        return Err(none());
    }
    let known = app.store().ask(signature).await?;
    let (ticket, double) = known.ok_or_else(none)?;
    let double = double.ok_or_else(none)?;
    let digest = double.digest.to_string();
    let bytes = usize::try_from(double.bytes).unwrap_or(usize::MAX);
    let passing = match bytes > SMALL {
        true => Some(app.rooms().to_pass(bytes).await.ok_or_else(Problem::crowded)?),
        false => None,
    };
    let file = app.store().report_file(&digest).await?.ok_or_else(none)?;
    app.store().handed_out(ticket).await?;
    Ok(report_file(file, &digest).map(|body| Body::new(Held { body, _room: passing })))
}

/// An answer that has its room until it is sent.
struct Held {
    body: Body,
    _room: Option<Passing>,
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A report's file as an answer; a browser saves it.
pub(super) fn report_file(file: Vec<u8>, digest: &str) -> Response {
    let name = format!("attachment; filename=\"{}.stunt\"", &digest[..digest.len().min(12)]);
    let kind = messages::REPORT_TYPE.to_owned();
    ([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)], file).into_response()
}

/// This failure was met once more.
pub(super) async fn count(
    State(app): State<App>,
    _: ByReporter,
    Document(event): Document<Count>,
) -> Result<Response, Problem> {
    signature(&event.signature)?;
    let counted = app.store().count(&event).await?;
    let counted = counted.ok_or_else(|| Problem::not_found("failure; hand in a report of it"))?;
    if counted.new {
        app.metrics().counts.fetch_add(1, Ordering::Relaxed);
    }
    let status = if counted.new { StatusCode::CREATED } else { StatusCode::OK };
    let count = counted.count.unsigned_abs();
    let answer = messages::Counted { ticket: counted.ticket.to_string(), count };
    Ok((status, Json(answer)).into_response())
}

/// The server's public key.
pub(super) async fn recipient(State(app): State<App>) -> Json<ServerKey> {
    Json(ServerKey { recipient: app.identity().recipient() })
}

/// Takes a sealed report.
pub(super) async fn submit(
    State(app): State<App>,
    _: ByReporter,
    Path(named): Path<String>,
    headers: HeaderMap,
    request: axum::extract::Request,
) -> Result<Response, Problem> {
    let result = take(&app, &named, &headers, request).await;
    if let Err(problem) = &result {
        app.metrics().refused(match problem.document.status {
            400 => "digest",
            408 => "slow",
            413 => "size",
            422 => "content",
            429 | 503 => "busy",
            _ => "other",
        });
    }
    result
}

async fn take(
    app: &App,
    named: &str,
    headers: &HeaderMap,
    request: axum::extract::Request,
) -> Result<Response, Problem> {
    let named: Digest = named
        .parse()
        .map_err(|_| Problem::malformed("the path ends with the SHA-256 of the body"))?;
    let (body, passing) = parcel_of(app, headers, request.into_body()).await?;
    let parcel = Digest::of(&body);
    if parcel != named {
        return Err(Problem::malformed("the path is not the SHA-256 of the body"));
    }
    if let Some(ticket) = app.store().parcel(parcel).await? {
        app.metrics().repeated.fetch_add(1, Ordering::Relaxed);
        return Ok(stored(app, StatusCode::OK, &ticket.to_string()));
    }
    let opening = app.rooms().to_open(body.len()).await.ok_or_else(Problem::crowded)?;
    let (limits, identity, store) = (*app.limits(), app.identity_handle(), app.store().clone());
    // Room goes where the bytes are: a thread and a task that nobody can break off.
    let open = tokio::task::spawn_blocking(move || -> Result<(Submission, Opening), Problem> {
        let opened = stunt_parcel::open(&body, &identity, limits.report);
        drop((body, passing));
        let Parcel { report: data, signer, event } = opened.map_err(|error| match error {
            stunt_parcel::Error::TooLarge { most } => Problem::too_large(most),
            error => Problem::unusable(error.to_string()),
        })?;
        let report = check(&data, limits.unpacked)?;
        let opening = opening.opened(data.len());
        Ok((Submission { parcel, digest: Digest::of(&data), data, report, signer, event }, opening))
    });
    let (submission, opening) = open.await.map_err(|_| Problem::internal())??;
    let write = tokio::spawn(async move {
        let submitted = store.submit(submission).await;
        drop(opening);
        submitted
    });
    let submitted = write.await.map_err(|_| Problem::internal())??;
    let (status, counter) = match submitted.new {
        true => (StatusCode::CREATED, &app.metrics().reports),
        false => (StatusCode::OK, &app.metrics().repeated),
    };
    counter.fetch_add(1, Ordering::Relaxed);
    Ok(stored(app, status, &submitted.ticket.to_string()))
}

/// Reads a parcel. Many large ones at once wait for one another, not for memory; what is small
/// waits for nobody who sends, so that no stranger can keep it out.
async fn parcel_of(
    app: &App,
    headers: &HeaderMap,
    mut body: Body,
) -> Result<(Vec<u8>, Option<Passing>), Problem> {
    let most = app.limits().parcel;
    let length = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    let length = length.and_then(|length| length.parse::<usize>().ok()).unwrap_or(most);
    // A client that is cut off while it sends does not see why; so a little more is read.
    let patience = most.saturating_mul(2);
    if length > patience {
        return Err(Problem::too_large(most));
    }
    let (mut data, mut seen, mut room) = (Vec::new(), 0_usize, None);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let frame = frame.map_err(|error| Problem::of_body(&error, "the body ended too early"))?;
        let Ok(piece) = frame.into_data() else { continue };
        seen += piece.len();
        if seen > patience {
            break;
        }
        if seen > most || length > most {
            data = Vec::new();
            continue;
        }
        if seen > SMALL && room.is_none() {
            room = Some(app.rooms().to_pass(length).await.ok_or_else(Problem::crowded)?);
        }
        data.extend_from_slice(&piece);
    }
    if seen > most { Err(Problem::too_large(most)) } else { Ok((data, room)) }
}

fn stored(app: &App, status: StatusCode, ticket: &str) -> Response {
    let url = format!("{}/tickets/{ticket}", app.url());
    (status, Json(Stored { ticket: ticket.to_owned(), url })).into_response()
}

/// Reads a stranger's report; only what keeps all rules comes through, and of that only what the
/// store asks for: the rest is in the file.
fn check(data: &[u8], unpacked: usize) -> Result<Report, Problem> {
    let limits =
        stunt_report::Limits { file: data.len() as u64, json: 256 << 10, doubles: unpacked as u64 };
    let mut report = Report::check(data, limits).map_err(|error| match error {
        error @ stunt_report::Error::TooLarge { .. } => {
            Problem::new(413, "Too large", error.to_string())
        }
        error => Problem::unusable(error.to_string()),
    })?;
    if !messages::is_signature(&report.failure.signature) {
        return Err(Problem::unusable("the failure's signature is not one"));
    }
    if !(report.leak.percent.is_finite() && (0.0..=LARGEST_LEAK).contains(&report.leak.bits)) {
        return Err(Problem::unusable("the leak is not a number"));
    }
    report.leak.percent = report.leak.percent.clamp(0.0, 100.0);
    report.failure.frames.truncate(MOST_FRAMES);
    report.failure.frames.shrink_to_fit();
    report.per_byte = Vec::new();
    report.sources = Vec::new();
    report.arguments = Vec::new();
    report.notes = Vec::new();
    report.program.modules = Vec::new();
    report.algorithm.parameters = BTreeMap::new();
    Ok(report)
}
