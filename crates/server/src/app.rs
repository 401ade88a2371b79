//! The server as its handlers see it, and all its routes together.
//!
//! Always: every answer carries the headers that keep a browser from doing what no page of ours
//! asks for; every request is measured by its route; whoever asks too much is told to wait, and
//! whoever sends too slowly is cut off.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use stunt_parcel::Identity;

use crate::api::{self, Problem};
use crate::auth;
use crate::limits::{self, Limiter, Rate};
use crate::metrics::Metrics;
use crate::pace::Paced;
use crate::pages::Failure;
use crate::places::{Place, Places};
use crate::room::Rooms;
use crate::store::{Role, Store};

/// What a stranger may make the server hold, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sizes {
    /// A sealed parcel.
    pub parcel: usize,
    /// The report's file in it.
    pub report: usize,
    /// The doubles of a report, unpacked.
    pub unpacked: usize,
    /// A build, which a maintainer brings.
    pub build: usize,
    /// All that strangers send, are sent, and have opened at a time.
    pub at_once: usize,
}

impl Default for Sizes {
    fn default() -> Sizes {
        Sizes {
            parcel: 16 << 20,
            report: 16 << 20,
            unpacked: 64 << 20,
            build: 512 << 20,
            at_once: 256 << 20,
        }
    }
}

/// What the server is made of.
pub struct Parts {
    /// What it remembers.
    pub store: Store,
    /// The secret half of the key that reports are sealed to.
    pub identity: Identity,
    /// Where people reach it.
    pub url: String,
    /// Sizes.
    pub sizes: Sizes,
    /// Proxies that say whose request it is.
    pub proxies: Vec<IpAddr>,
    /// How much a reporter's address may ask.
    pub rate: Rate,
    /// How many requests an address may have under way, where a proxy says whose they are.
    pub of_one_address: usize,
    /// Whether anybody may read the metrics.
    pub open_metrics: bool,
}

/// The server as its handlers see it. Clones are the same server.
#[derive(Clone)]
pub struct App {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Parts,
    identity: Arc<Identity>,
    metrics: Metrics,
    rooms: Rooms,
    under_way: Arc<Places>,
    /// Whether it was said that a proxy seems to be in front which nobody has named.
    proxy_was_said: AtomicBool,
    reporters: Limiter,
    logins: Limiter,
}

impl App {
    /// A server that does not listen yet.
    #[must_use]
    pub fn new(mut parts: Parts) -> App {
        while parts.url.ends_with('/') {
            parts.url.pop();
        }
        let identity = Arc::new(parts.identity.clone());
        let inner = Inner {
            identity,
            metrics: Metrics::default(),
            rooms: Rooms::new(parts.sizes.at_once),
            under_way: Places::new(parts.of_one_address),
            proxy_was_said: AtomicBool::new(false),
            reporters: Limiter::new(parts.rate),
            logins: Limiter::new(Rate { per_minute: 10, burst: 10 }),
            parts,
        };
        App { inner: Arc::new(inner) }
    }

    /// What it remembers.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.inner.parts.store
    }

    /// Where people reach it, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.inner.parts.url
    }

    /// The largest build, in bytes.
    #[must_use]
    pub fn max_build(&self) -> usize {
        self.inner.parts.sizes.build
    }

    pub(crate) fn limits(&self) -> &Sizes {
        &self.inner.parts.sizes
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.inner.identity
    }

    pub(crate) fn identity_handle(&self) -> Arc<Identity> {
        Arc::clone(&self.inner.identity)
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.inner.metrics
    }

    pub(crate) fn rooms(&self) -> &Rooms {
        &self.inner.rooms
    }

    /// All routes.
    pub fn router(&self) -> Router {
        Router::new()
            .merge(api::router(self))
            .merge(crate::pages::router(self))
            .route("/healthz", get(healthz))
            .route("/metrics", get(metrics))
            .layer(middleware::from_fn_with_state(self.clone(), around))
            .with_state(self.clone())
    }
}

/// Whether the server can do its work.
async fn healthz(State(app): State<App>) -> (StatusCode, &'static str) {
    if app.store().is_well().await {
        (StatusCode::OK, "ok\n")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n")
    }
}

async fn metrics(State(app): State<App>, request: Request) -> Result<Response, Problem> {
    if !app.inner.parts.open_metrics {
        let (parts, _) = request.into_parts();
        let caller = auth::caller(&parts, &app).await?;
        if caller.is_none_or(|caller| caller.role < Role::Maintainer) {
            return Err(Problem::new(401, "Unauthorized", "this needs a maintainer's token"));
        }
    }
    let totals = app.store().totals().await?;
    let waiting = app.store().replays_waiting().await?;
    let text = app.metrics().text(totals, waiting, app.store().connections());
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    Ok(([(header::CONTENT_TYPE, kind)], text).into_response())
}

/// What a page of ours may do: nothing but what it loads from us.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self'; font-src 'self'; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Around every request: rates, headers, times, a line in the log.
async fn around(State(app): State<App>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let route = route.unwrap_or_else(|| "none".to_owned());
    let from = origin(&app, &request);
    // Held until the handler has answered; what is left to send is the connection's.
    let (refused, _place) = admitted(&app, from, &method, &route, begun);
    let answer = match refused {
        // A browser that logs in is shown a page.
        Some(problem) if route == "/login" => {
            let wait = problem.wait();
            let mut answer = Failure::from(problem).into_response();
            answer.headers_mut().extend(wait.map(|wait| (header::RETRY_AFTER, wait)));
            answer
        }
        Some(problem) => problem.into_response(),
        None => next.run(request.map(Paced::of)).await,
    };
    let status = answer.status().as_u16();
    let took = begun.elapsed();
    app.metrics().answered(&route, word(&method), status, took);
    // No address, no path with a name in it, no payload.
    tracing::info!(
        method = word(&method),
        route,
        status,
        ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "request"
    );
    with_headers(answer)
}

/// Whose request it is, and whether a proxy of ours says so.
#[derive(Clone, Copy)]
enum Origin {
    /// The connection is theirs: it has a place of its own.
    Itself(IpAddr),
    /// The connection is a proxy's, which stands for many.
    Forwarded(IpAddr),
}

fn origin(app: &App, request: &Request) -> Option<Origin> {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>()?.0;
    let proxies = &app.inner.parts.proxies;
    let address = limits::address(peer, request.headers(), proxies);
    let forwarded = proxies.contains(&peer.ip().to_canonical());
    // Once, and without the address: anybody can write the header.
    if proxies.is_empty()
        && request.headers().contains_key("x-forwarded-for")
        && !app.inner.proxy_was_said.swap(true, Ordering::Relaxed)
    {
        tracing::warn!("X-Forwarded-For is not believed; if a proxy is in front, name it: --proxy");
    }
    Some(if forwarded { Origin::Forwarded(address) } else { Origin::Itself(address) })
}

/// Whether an address may ask that now: why not, or its place where it needs one.
fn admitted(
    app: &App,
    from: Option<Origin>,
    method: &Method,
    route: &str,
    now: Instant,
) -> (Option<Problem>, Option<Place>) {
    let (address, place) = match from {
        None => return (None, None),
        Some(Origin::Itself(address)) => (address, None),
        Some(Origin::Forwarded(address)) => match app.inner.under_way.take(address) {
            Some(place) => (address, Some(place)),
            None => return (Some(Problem::slow_down(Duration::from_secs(5))), None),
        },
    };
    let limiter = match route {
        "/login" if method == Method::POST => &app.inner.logins,
        "/api/v1/ask"
        | "/api/v1/counts"
        | "/api/v1/doubles/{signature}"
        | "/api/v1/reports/{digest}" => &app.inner.reporters,
        _ => return (None, place),
    };
    (limiter.take(address, now).err().map(Problem::slow_down), place)
}

/// Methods that labels have; a stranger may make up others.
fn word(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        _ => "OTHER",
    }
}

fn with_headers(mut answer: Response) -> Response {
    let headers = answer.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    answer
}
