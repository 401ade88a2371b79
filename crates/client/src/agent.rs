//! One request and its answer, over TLS.
//!
//! Always: TLS 1.2 or 1.3 by rustls with ring, against the roots of the system or the pinned
//! certificates alone; no redirect is followed, no cookie kept; an answer is read up to a limit.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ureq::http;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, TlsProvider, parse_pem};

use crate::config::{Destination, NO_PROXY, Secret, Settings};
use crate::failure::{self, Failure, short};
use crate::request::{Request, Shown, USER_AGENT};

/// The largest answer that is read, unless the caller expects more.
const MOST_ANSWER: u64 = 1 << 20;
/// The most headers of an answer, in bytes.
const MOST_HEAD: usize = 64 << 10;

/// How to reach a server.
#[derive(Clone, Debug)]
pub struct Network {
    /// The proxy, or `none`; otherwise what `HTTPS_PROXY` says.
    pub proxy: Option<Secret>,
    /// How long to wait for a connection, and for an answer.
    pub timeout: Duration,
    /// The only certificates that the server may be vouched for by.
    pub certificate: Option<PathBuf>,
}

impl Network {
    /// What the settings say about the way to this destination.
    pub fn of(settings: &Settings, destination: &Destination) -> Network {
        Network {
            proxy: settings.proxy().cloned(),
            timeout: settings.age("network.timeout").unwrap_or(Duration::from_secs(30)),
            certificate: destination.certificate.clone(),
        }
    }
}

/// An answer that is no error.
pub struct Reply {
    /// The status, 2xx.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

/// Sends requests.
pub struct Agent {
    agent: ureq::Agent,
}

impl Agent {
    /// One for this network.
    pub fn new(network: &Network) -> Result<Agent, Failure> {
        let roots = match &network.certificate {
            Some(path) => pinned(path)?,
            None => of_the_system()?,
        };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .unversioned_rustls_crypto_provider(provider)
            .root_certs(RootCerts::Specific(Arc::new(roots)))
            .build();
        let proxy = match &network.proxy {
            Some(proxy) if proxy.expose() == NO_PROXY => None,
            Some(proxy) => Some(
                ureq::Proxy::new(proxy.expose())
                    .map_err(|_| Failure::Proxy("its address is none".to_owned()))?,
            ),
            None => ureq::Proxy::try_from_env(),
        };
        let config = ureq::Agent::config_builder()
            .tls_config(tls)
            .proxy(proxy)
            .user_agent(USER_AGENT)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_response_header_size(MOST_HEAD)
            .timeout_resolve(Some(network.timeout))
            .timeout_connect(Some(network.timeout))
            .timeout_per_write(Some(network.timeout))
            .timeout_per_read(Some(network.timeout))
            .timeout_recv_response(Some(network.timeout))
            .build();
        Ok(Agent { agent: config.new_agent() })
    }

    /// Sends a request once.
    pub fn send(&self, request: &Request) -> Result<Reply, Failure> {
        self.send_for(request, MOST_ANSWER)
    }

    /// Sends a request once; the answer may have `most` bytes.
    pub fn send_for(&self, request: &Request, most: u64) -> Result<Reply, Failure> {
        let server = request.server.to_string();
        let mut head = http::Request::builder()
            .method(request.method.name())
            .uri(request.server.join(&request.path));
        for (name, value) in request.headers(Shown::Yes) {
            // These are written from the address and the body.
            if !["host", "content-length"].contains(&name) {
                head = head.header(name, value);
            }
        }
        let broken =
            |error: http::Error| Failure::Broken { server: server.clone(), why: error.to_string() };
        let answer = match &request.body {
            Some((_, body)) => {
                let request = head.body(body.as_slice()).map_err(broken)?;
                self.agent.run(request)
            }
            None => self.agent.run(head.body(()).map_err(broken)?),
        };
        let answer = answer.map_err(|error| failure::of_transport(error, &server))?;
        let status = answer.status().as_u16();
        let header = |name: &str| {
            let value = answer.headers().get(name)?;
            value.to_str().ok().map(str::to_owned)
        };
        let wait = header("retry-after").and_then(|text| text.trim().parse().ok());
        let (place, wait) = (header("location"), wait.map(Duration::from_secs));
        // The library refuses an answer that is as long as its limit.
        let limit = most.saturating_add(1);
        let body = answer.into_body().into_with_config().limit(limit).read_to_vec();
        let body = match body {
            Err(ureq::Error::BodyExceedsLimit(_)) => {
                let why = format!("it has more than {most} bytes");
                return Err(Failure::NoAnswer { server, why });
            }
            body => body.map_err(|error| failure::of_transport(error, &server))?,
        };
        match status {
            200..=299 => Ok(Reply { status, body }),
            300..=399 => Err(Failure::Moved(short(&place.unwrap_or_default()))),
            _ => Err(failure::of_status(status, &body, wait)),
        }
    }
}

fn pinned(path: &Path) -> Result<Vec<Certificate<'static>>, Failure> {
    let unusable = |why: String| Failure::Certificate { path: path.to_owned(), why };
    let text = fs::read(path)
        .map_err(|error| unusable(format!("the certificate cannot be read: {error}")))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&text) {
        match item {
            Ok(PemItem::Certificate(certificate)) => certificates.push(certificate),
            Ok(_) => {}
            Err(_) => return Err(unusable("this is no PEM file".to_owned())),
        }
    }
    if certificates.is_empty() {
        return Err(unusable("there is no certificate in it; PEM is expected".to_owned()));
    }
    Ok(certificates)
}

fn of_the_system() -> Result<Vec<Certificate<'static>>, Failure> {
    // Files that cannot be read are as good as absent, as long as others can.
    let found = rustls_native_certs::load_native_certs();
    let roots: Vec<_> =
        found.certs.iter().map(|root| Certificate::from_der(root.as_ref()).to_owned()).collect();
    if roots.is_empty() { Err(Failure::NoRoots) } else { Ok(roots) }
}
