//! A strict receiver: a small HTTP server over TLS that takes what the wire allows and nothing else.
//!
//! Every byte that arrives is kept, as it came over the socket and as it was decrypted. Anything
//! that the protocol does not know (a header, a field, a path, a missing length) is a problem, and
//! [`Receiver::finish`] fails with it. Replies can be scripted, to see what a client does about
//! them.
#![allow(dead_code)] // Each of the tests that share this uses a part of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};
use stunt_parcel::messages::{Ask, Count, is_signature};
use stunt_parcel::{Digest, Identity, SignerKey, open};
use stunt_report::{Limits, Report};

/// What happens to a request instead of a proper answer.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Nothing: this request has its proper answer.
    Nothing,
    /// This status, with these headers and this body.
    Status(u16, Vec<(&'static str, String)>, String),
    /// The connection is closed before anything is done.
    Close,
    /// All is done, and then the connection is closed without an answer.
    CloseAfter,
}

impl Fault {
    /// A problem as RFC 9457 has it.
    pub fn problem(status: u16, title: &str, detail: &str) -> Fault {
        let body =
            json!({"type": "about:blank", "title": title, "status": status, "detail": detail});
        let media = ("content-type", "application/problem+json".to_owned());
        Fault::Status(status, vec![media], body.to_string())
    }
}

/// A request that came.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The first line and the headers, with the empty line behind them.
    pub head: String,
    /// `POST /api/v1/ask`.
    pub line: String,
    /// The body.
    pub body: Vec<u8>,
}

/// All that has come so far.
#[derive(Default)]
pub struct State {
    /// Every byte from the sockets, encrypted ones as they were.
    pub raw: Vec<u8>,
    /// Every byte of requests.
    pub plain: Vec<u8>,
    /// The requests.
    pub seen: Vec<Seen>,
    /// Reports, by the digest of their parcel, with who signed them.
    pub reports: BTreeMap<Digest, (Vec<u8>, Option<SignerKey>)>,
    /// Events that were counted.
    pub counts: BTreeSet<String>,
    /// What will happen to the next requests.
    pub faults: VecDeque<Fault>,
    /// Files of reports that may be fetched, by the signature of their failure.
    pub doubles: BTreeMap<String, Vec<u8>>,
    /// The token that is demanded.
    pub token: Option<String>,
    problems: Vec<String>,
}

/// A running receiver.
pub struct Receiver {
    address: SocketAddr,
    scheme: &'static str,
    /// Who can open parcels.
    pub identity: Identity,
    /// The certificate in PEM, if there is TLS.
    pub certificate: Option<String>,
    state: Arc<Mutex<State>>,
}

/// A certificate and its key.
pub struct Certificate {
    /// The certificate in PEM.
    pub pem: String,
    config: Arc<ServerConfig>,
}

impl Certificate {
    /// A certificate for this name that vouches for itself, from the first to the last year.
    pub fn new(name: &str, years: (i32, i32)) -> Certificate {
        let mut parameters = rcgen::CertificateParams::new(vec![name.to_owned()]).expect("a name");
        parameters.not_before = rcgen::date_time_ymd(years.0, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(years.1, 1, 1);
        let key = rcgen::KeyPair::generate().expect("a key");
        let certificate = parameters.self_signed(&key).expect("a certificate");
        let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], secret)
            .expect("a pair");
        Certificate { pem: certificate.pem(), config: Arc::new(config) }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Receiver {
    /// A receiver with TLS, for this machine.
    pub fn start() -> Receiver {
        Receiver::with(Some(Certificate::new("127.0.0.1", (2000, 4000))))
    }

    /// A receiver with this certificate, or without TLS.
    pub fn with(certificate: Option<Certificate>) -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("its number");
        let state = Arc::new(Mutex::new(State::default()));
        let identity = Identity::generate();
        let (tls, pem) = match certificate {
            Some(certificate) => (Some(certificate.config), Some(certificate.pem)),
            None => (None, None),
        };
        let scheme = if tls.is_some() { "https" } else { "http" };
        let (kept, opener) = (Arc::clone(&state), identity.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (state, identity, tls) = (Arc::clone(&kept), opener.clone(), tls.clone());
                thread::spawn(move || serve(stream, tls, address, &identity, &state));
            }
        });
        Receiver { address, scheme, identity, certificate: pem, state }
    }

    /// Its address: `https://127.0.0.1:40000`.
    pub fn url(&self) -> String {
        format!("{}://{}", self.scheme, self.address)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All that has come so far.
    pub fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// The requests so far: `POST /api/v1/ask`.
    pub fn lines(&self) -> Vec<String> {
        self.state().seen.iter().map(|seen| seen.line.clone()).collect()
    }

    /// Nothing came that the protocol does not have.
    #[track_caller]
    pub fn finish(&self) {
        let state = self.state();
        assert!(state.problems.is_empty(), "{:#?}", state.problems);
    }
}

/// A socket whose incoming bytes are kept.
struct Tap {
    stream: TcpStream,
    state: Arc<Mutex<State>>,
}

impl Read for Tap {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        locked(&self.state).raw.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

impl Write for Tap {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn serve(
    stream: TcpStream,
    tls: Option<Arc<ServerConfig>>,
    address: SocketAddr,
    identity: &Identity,
    state: &Arc<Mutex<State>>,
) {
    let tap = Tap { stream, state: Arc::clone(state) };
    let _ = match tls {
        Some(config) => {
            let connection = ServerConnection::new(config).expect("a connection");
            talk(StreamOwned::new(connection, tap), address, identity, state)
        }
        None => talk(tap, address, identity, state),
    };
}

/// Requests and answers until the client has enough.
fn talk(
    mut stream: impl Read + Write,
    address: SocketAddr,
    identity: &Identity,
    state: &Arc<Mutex<State>>,
) -> io::Result<()> {
    while let Some((head, body)) = request(&mut stream, state)? {
        let mut state = locked(state);
        let fault = state.faults.pop_front();
        let answer = match fault {
            Some(Fault::Close) => None,
            Some(Fault::Status(status, headers, text)) => {
                note(&mut state, &head, body);
                Some((status, headers, text.into_bytes()))
            }
            Some(Fault::CloseAfter) => {
                answer(&mut state, &head, &body, address, identity);
                None
            }
            None | Some(Fault::Nothing) => {
                Some(answer(&mut state, &head, &body, address, identity))
            }
        };
        drop(state);
        let Some((status, headers, body)) = answer else { return Ok(()) };
        let mut text = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            text += &format!("{name}: {value}\r\n");
        }
        stream.write_all(text.as_bytes())?;
        stream.write_all(b"\r\n")?;
        stream.write_all(&body)?;
        stream.flush()?;
    }
    Ok(())
}

/// The head and the body of the next request.
fn request(
    stream: &mut impl Read,
    state: &Arc<Mutex<State>>,
) -> io::Result<Option<(String, Vec<u8>)>> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte)? == 0 {
            return Ok(None);
        }
        head.push(byte[0]);
    }
    locked(state).plain.extend_from_slice(&head);
    let head = String::from_utf8(head).expect("a head is text");
    let length = header(&head, "content-length").map_or(0, |text| text.parse().expect("a number"));
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    locked(state).plain.extend_from_slice(&body);
    Ok(Some((head, body)))
}

/// The value of a header, whose name is in lower case.
pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = head.split("\r\n").skip(1).filter_map(|line| line.split_once(": "));
    lines.find(|(key, _)| *key == name).map(|(_, value)| value)
}

fn note(state: &mut State, head: &str, body: Vec<u8>) {
    let line = head.split(" HTTP/1.1\r\n").next().unwrap_or_default().to_owned();
    state.seen.push(Seen { head: head.to_owned(), line, body });
}

type Reply = (u16, Vec<(&'static str, String)>, Vec<u8>);

fn reply(status: u16, media: &str, body: Vec<u8>) -> Reply {
    (status, vec![("content-type", media.to_owned())], body)
}

fn answer(
    state: &mut State,
    head: &str,
    body: &[u8],
    address: SocketAddr,
    identity: &Identity,
) -> Reply {
    note(state, head, body.to_vec());
    check_head(state, head, body, address);
    let line = head.split(" HTTP/1.1\r\n").next().unwrap_or_default();
    let (method, path) = line.split_once(' ').unwrap_or((line, ""));
    let token = state.token.as_ref().map(|token| format!("Bearer {token}"));
    if header(head, "authorization") != token.as_deref() {
        if token.is_none() {
            state.problems.push("a token that nobody asked for".to_owned());
        }
        return problem(401, "No token");
    }
    match (method, path) {
        ("POST", "/api/v1/ask") => ask(state, head, body),
        ("POST", "/api/v1/counts") => count(state, head, body),
        ("GET", path) if path.starts_with("/api/v1/doubles/") => {
            expect_media(state, head, None, "application/zip");
            match state.doubles.get(&path["/api/v1/doubles/".len()..]) {
                Some(file) => reply(200, "application/zip", file.clone()),
                None => problem(404, "No double"),
            }
        }
        ("PUT", path) if path.starts_with("/api/v1/reports/") => {
            let name = &path["/api/v1/reports/".len()..];
            store(state, head, name, body, identity)
        }
        _ => {
            state.problems.push(format!("there is no {line}"));
            problem(404, "No such thing")
        }
    }
}

fn problem(status: u16, title: &str) -> Reply {
    let body = json!({"type": "about:blank", "title": title, "status": status});
    reply(status, "application/problem+json", body.to_string().into_bytes())
}

fn check_head(state: &mut State, head: &str, body: &[u8], address: SocketAddr) {
    let allowed =
        ["host", "content-type", "content-length", "user-agent", "accept", "authorization"];
    let mut problems = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for line in head.split("\r\n").skip(1).take_while(|line| !line.is_empty()) {
        let Some((name, _)) = line.split_once(": ") else {
            problems.push(format!("no header: {line:?}"));
            continue;
        };
        if !allowed.contains(&name) {
            problems.push(format!("a header that nobody needs: {line:?}"));
        }
        if names.contains(&name) {
            problems.push(format!("a header that is there twice: {line:?}"));
        }
        names.push(name);
    }
    let must = |name: &str, value: &str| {
        (header(head, name) != Some(value)).then(|| format!("{name} is not {value}: {head:?}"))
    };
    problems.extend(must("host", &address.to_string()));
    problems.extend(must("user-agent", concat!("stunt/", env!("CARGO_PKG_VERSION"))));
    let get = head.starts_with("GET ");
    if get != header(head, "content-length").is_none() || get && !body.is_empty() {
        problems.push(format!("a length is missing or too much: {head:?}"));
    }
    state.problems.extend(problems);
}

fn expect_media(state: &mut State, head: &str, sent: Option<&str>, accepted: &str) {
    if header(head, "content-type") != sent || header(head, "accept") != Some(accepted) {
        state.problems.push(format!("other media than {sent:?} and {accepted}: {head:?}"));
    }
}

/// A message must be what its type writes, to the byte: no field more, no other order.
fn message<T: serde::de::DeserializeOwned + serde::Serialize>(
    state: &mut State,
    head: &str,
    body: &[u8],
) -> Option<T> {
    expect_media(state, head, Some("application/json"), "application/json");
    match serde_json::from_slice::<T>(body) {
        Ok(message) if serde_json::to_vec(&message).expect("a message") == body => Some(message),
        _ => {
            state.problems.push(format!("no message: {}", String::from_utf8_lossy(body)));
            None
        }
    }
}

fn as_json(status: u16, value: &Value) -> Reply {
    reply(status, "application/json", value.to_string().into_bytes())
}

fn ask(state: &mut State, head: &str, body: &[u8]) -> Reply {
    let Some(ask) = message::<Ask>(state, head, body) else { return problem(400, "No message") };
    if !is_signature(&ask.signature) {
        state.problems.push("no signature".to_owned());
    }
    match state.doubles.get(&ask.signature) {
        None => as_json(200, &json!({"known": false})),
        Some(file) => as_json(
            200,
            &json!({
                "known": true,
                "ticket": "T-1",
                "double": {"sha256": Digest::of(file), "bytes": file.len(), "leak_bits": 1.0},
            }),
        ),
    }
}

fn count(state: &mut State, head: &str, body: &[u8]) -> Reply {
    let Some(count) = message::<Count>(state, head, body) else {
        return problem(400, "No message");
    };
    let fresh = state.counts.insert(count.id.to_string());
    let all = state.counts.len();
    as_json(if fresh { 201 } else { 200 }, &json!({"ticket": "T-1", "count": all}))
}

fn store(state: &mut State, head: &str, name: &str, body: &[u8], identity: &Identity) -> Reply {
    expect_media(state, head, Some("application/age"), "application/json");
    let digest = Digest::of(body);
    if digest.to_string() != name {
        state.problems.push("the digest is not that of the body".to_owned());
        return problem(400, "Another digest");
    }
    let parcel = match open(body, identity, 1 << 20) {
        Ok(parcel) => parcel,
        Err(error) => return problem(422, &error.to_string()),
    };
    if let Err(error) = Report::from_bytes(&parcel.report, Limits::default()) {
        state.problems.push(format!("no report: {error}"));
    }
    let fresh = state.reports.insert(digest, (parcel.report, parcel.signer)).is_none();
    let stored = json!({"ticket": "T-1", "url": "https://crashes.example.org/t/T-1"});
    as_json(if fresh { 201 } else { 200 }, &stored)
}
