//! What the client sends, and what it makes of every kind of answer, against a strict receiver.

mod receiver;

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use receiver::{Certificate, Fault, Receiver};
use stunt_client::config::{Destination, Places, Settings, load};
use stunt_client::{Agent, Failure, Network, Request, Server, TlsTrouble};
use stunt_parcel::messages::{Ask, Count, EventId, KnownDouble};
use stunt_parcel::{Digest, seal};

/// A folder of a test's own, empty.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wire").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// A client whose configuration file says this about a server.
struct Client {
    settings: Settings,
    destination: Destination,
}

impl Client {
    fn new(name: &str, url: &str, certificate: Option<&str>, more: &str) -> Client {
        let folder = folder(name);
        let mut text = format!("[destination]\nserver = \"{url}\"\n");
        if let Some(pem) = certificate {
            fs::write(folder.join("server.pem"), pem).expect("a file");
            text += "certificate = \"server.pem\"\n";
        }
        text += more;
        let user = folder.join("config.toml");
        fs::write(&user, text).expect("a file");
        fs::set_permissions(&user, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        // Whoever runs the tests may have a proxy.
        let system = folder.join("system.toml");
        fs::write(&system, "[network]\nproxy = \"none\"\n").expect("a file");
        let places = Places { system, user: Some(user), project: None };
        let loaded = load(&places);
        assert!(loaded.troubles.is_empty(), "{:?}", loaded.troubles);
        let destination = loaded.settings.destination().expect("a destination");
        Client { settings: loaded.settings, destination }
    }

    fn of(name: &str, receiver: &Receiver, more: &str) -> Client {
        Client::new(name, &receiver.url(), receiver.certificate.as_deref(), more)
    }

    fn server(&self) -> Server {
        Server::new(&self.settings, &self.destination).expect("a server")
    }

    /// What comes of asking.
    fn ask(&self) -> Result<bool, Failure> {
        self.server().ask(&question(), &mut rng()).map(|answer| answer.known)
    }
}

/// One attempt, so that failures come at once.
const ONCE: &str = "[network]\nattempts = 1\ntimeout = \"20s\"\n";

fn rng() -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(1)
}

fn question() -> Ask {
    Ask {
        signature: "b1946ac92492".to_owned(),
        program: "webserver".to_owned(),
        build_id: Some("8c2b9f".to_owned()),
    }
}

fn event() -> Count {
    Count {
        id: EventId::random(),
        signature: "b1946ac92492".to_owned(),
        program: "webserver".to_owned(),
        build_id: None,
        version: None,
    }
}

#[test]
fn a_request_is_what_it_says_it_is() {
    let receiver = Receiver::start();
    receiver.state().token = Some("s3cret".to_owned());
    let client = Client::of("head", &receiver, "token = \"s3cret\"\n");
    let agent = Agent::new(&Network::of(&client.settings, &client.destination)).unwrap();
    let sealed = seal(b"no report", &receiver.identity.recipient(), None, None).unwrap();
    receiver.state().doubles.insert("b1946ac92492".to_owned(), b"file".to_vec());
    let requests = [
        Request::ask(&client.destination, &question()),
        Request::double(&client.destination, "b1946ac92492"),
        Request::count(&client.destination, &event()),
        Request::parcel(&client.destination, sealed),
    ];
    for request in &requests {
        let sent = agent.send(request);
        assert!(sent.is_ok(), "{:?}", sent.err());
    }
    let state = receiver.state();
    for (request, seen) in requests.iter().zip(&state.seen) {
        assert_eq!(request.head().replace("(hidden)", "s3cret"), seen.head);
        assert_eq!(request.body.as_ref().map_or(&[][..], |(_, body)| body), seen.body);
    }
    assert_eq!(state.seen.len(), 4);
    // The receiver complains about one thing only: what was sealed is no report.
    drop(state);
    let complaint = std::panic::catch_unwind(|| receiver.finish());
    let words = *complaint.unwrap_err().downcast::<String>().unwrap();
    assert!(words.contains("no report") && words.lines().count() == 3, "{words}");
}

#[test]
fn a_retry_stores_and_counts_once() {
    let receiver = Receiver::start();
    let client = Client::of("retry", &receiver, "");
    receiver.state().faults.extend([Fault::CloseAfter, Fault::Close]);
    let count = event();
    assert_eq!(client.server().count(&count, &mut rng()).unwrap().count, 1);
    assert_eq!(client.server().count(&count, &mut rng()).unwrap().count, 1);
    // Two attempts reached the receiver before there was an answer, and one came on its own.
    assert_eq!(receiver.lines(), ["POST /api/v1/counts"; 3]);
    receiver.finish();
}

#[test]
fn a_server_with_too_much_to_do_is_given_time() {
    let receiver = Receiver::start();
    let client = Client::of("busy", &receiver, "");
    let busy =
        |wait: &str| Fault::Status(429, vec![("retry-after", wait.to_owned())], String::new());
    receiver.state().faults.extend([busy("0"), Fault::Status(500, vec![], String::new())]);
    assert!(!client.ask().unwrap());
    assert_eq!(receiver.lines().len(), 3);
    // An hour is too long to wait for; nobody is bothered again.
    receiver.state().faults.extend([busy("3600")]);
    let failure = client.ask().unwrap_err();
    assert!(matches!(failure, Failure::Busy { status: 429, .. }), "{failure}");
    assert!(failure.to_string().contains("3600 s"), "{failure}");
    assert_eq!(receiver.lines().len(), 4);
    receiver.finish();
}

#[test]
fn a_refusal_is_told_in_the_servers_words_and_not_repeated() {
    let receiver = Receiver::start();
    let client = Client::of("refused", &receiver, "");
    let refusals = [
        (Fault::problem(422, "Not a report", "the archive is broken"), "the archive is broken"),
        (Fault::problem(413, "Too large", "at most 5 MB"), "at most 5 MB"),
        (Fault::Status(401, vec![], String::new()), "destination.token"),
        (Fault::Status(404, vec![], "<html>".to_owned()), "is destination.server the address"),
    ];
    for (number, (fault, words)) in refusals.into_iter().enumerate() {
        receiver.state().faults.push_back(fault);
        let failure = client.ask().unwrap_err();
        assert!(failure.is_final() && failure.to_string().contains(words), "{failure}");
        assert_eq!(receiver.lines().len(), number + 1, "{words}");
    }
}

#[test]
fn faults_of_a_server_are_told_after_all_attempts() {
    let receiver = Receiver::start();
    let client = Client::of("fault", &receiver, "[network]\nattempts = 2\n");
    let fault = Fault::problem(500, "Internal", "the disk is full");
    receiver.state().faults.extend([fault.clone(), fault]);
    let failure = client.ask().unwrap_err();
    assert!(failure.to_string().contains("the disk is full"), "{failure}");
    assert!(failure.is_temporary() && receiver.lines().len() == 2);
}

#[test]
fn no_redirect_is_followed() {
    let (receiver, other) = (Receiver::start(), Receiver::start());
    let client = Client::of("moved", &receiver, "");
    for status in [301, 302, 307, 308] {
        let to = vec![("location", other.url())];
        receiver.state().faults.push_back(Fault::Status(status, to, String::new()));
        let failure = client.ask().unwrap_err();
        assert!(matches!(&failure, Failure::Moved(place) if *place == other.url()), "{failure}");
    }
    assert!(other.state().raw.is_empty(), "not even a connection");
}

#[test]
fn each_trouble_with_tls_has_its_name() {
    let trouble = |name: &str, certificate: Option<Certificate>, pin: bool| {
        let receiver = Receiver::with(certificate);
        let pem = receiver.certificate.clone().filter(|_| pin);
        let url = format!("https://{}", receiver.address());
        let failure = Client::new(name, &url, pem.as_deref(), ONCE).ask().unwrap_err();
        assert!(receiver.state().plain.is_empty(), "nothing was sent");
        match failure {
            Failure::Tls { trouble, .. } => trouble,
            failure => panic!("{name}: {failure}"),
        }
    };
    let this = "127.0.0.1";
    let unknown = trouble("unknown", Some(Certificate::new(this, (2000, 4000))), false);
    assert_eq!(unknown, TlsTrouble::UnknownIssuer);
    let expired = trouble("expired", Some(Certificate::new(this, (2000, 2001))), true);
    assert_eq!(expired, TlsTrouble::Expired);
    let not_yet = trouble("not-yet", Some(Certificate::new(this, (3000, 4000))), true);
    assert_eq!(not_yet, TlsTrouble::NotYet);
    let other = trouble("other", Some(Certificate::new("other.example", (2000, 4000))), true);
    assert_eq!(other, TlsTrouble::OtherName);
}

#[test]
fn a_server_without_tls_is_no_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let came = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut hello = [0; 5];
        stream.read_exact(&mut hello).unwrap();
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n").unwrap();
        let _ = stream.shutdown(Shutdown::Write);
        hello
    });
    let pem = Certificate::new("127.0.0.1", (2000, 4000)).pem;
    let failure = Client::new("plain", &url, Some(&pem), ONCE).ask().unwrap_err();
    let not_tls = matches!(&failure, Failure::Tls { trouble: TlsTrouble::NotTls(_), .. });
    assert!(not_tls, "{failure}");
    assert_eq!(came.join().unwrap()[0], 22, "a handshake, and no request");
}

#[test]
fn what_does_not_answer_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    drop(listener);
    let pem = Certificate::new("127.0.0.1", (2000, 4000)).pem;
    let failure = Client::new("nobody", &url, Some(&pem), ONCE).ask().unwrap_err();
    assert!(matches!(failure, Failure::NoConnection { .. }), "{failure}");
    assert!(failure.to_string().contains("nothing listens there"), "{failure}");

    // Somebody who listens and says nothing.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", silent.local_addr().unwrap());
    let hasty = "[network]\nattempts = 1\ntimeout = \"1s\"\n";
    let failure = Client::new("silent", &url, Some(&pem), hasty).ask().unwrap_err();
    assert!(matches!(failure, Failure::TimedOut { .. }), "{failure}");
    drop(silent);
}

#[test]
fn answers_that_are_none_are_refused() {
    let receiver = Receiver::start();
    let client = Client::of("nonsense", &receiver, "");
    let huge = "x".repeat(2 << 20);
    for body in ["", "{}", "[1]", "<html>", r#"{"known":true}"#, huge.as_str()] {
        receiver.state().faults.push_back(Fault::Status(200, vec![], body.to_owned()));
        let failure = client.ask().unwrap_err();
        assert!(matches!(failure, Failure::NoAnswer { .. }), "{failure}");
        assert!(!failure.is_temporary());
    }
    receiver.finish();
}

#[test]
fn a_double_is_the_one_that_was_promised() {
    let receiver = Receiver::start();
    let client = Client::of("double", &receiver, ONCE);
    receiver.state().doubles.insert("s1".to_owned(), b"a report".to_vec());
    let promised =
        |bytes: u64, file: &[u8]| KnownDouble { sha256: Digest::of(file), bytes, leak_bits: 0.0 };
    let fetch = |promised: &KnownDouble| client.server().double("s1", promised, &mut rng());
    assert_eq!(fetch(&promised(8, b"a report")).unwrap(), b"a report");
    for wrong in [promised(8, b"b report"), promised(7, b"a report"), promised(9, b"a report")] {
        let failure = fetch(&wrong).unwrap_err();
        assert!(matches!(failure, Failure::NoAnswer { .. }), "{failure}");
    }
    let huge = fetch(&promised(1 << 40, b"a report")).unwrap_err();
    assert!(matches!(huge, Failure::NoAnswer { .. }), "{huge}");
    assert_eq!(receiver.lines().len(), 4, "the last was not even asked for");
}

/// A proxy that connects to wherever it is told; gives back what it was told.
fn proxy(answer: &'static str) -> (String, Arc<Mutex<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let told = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&told);
    thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && client.read(&mut byte).unwrap_or(0) == 1 {
                head.push(byte[0]);
            }
            let head = String::from_utf8(head).unwrap();
            kept.lock().unwrap().push_str(&head);
            let _ = client.write_all(answer.as_bytes());
            if !answer.starts_with("HTTP/1.1 200") {
                continue;
            }
            let target = head.split(' ').nth(1).unwrap().to_owned();
            let mut server = TcpStream::connect(target).unwrap();
            let (mut back, mut forth) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut back, &mut forth));
            thread::spawn(move || std::io::copy(&mut client, &mut server));
        }
    });
    (url, told)
}

#[test]
fn a_proxy_sees_where_and_nothing_else() {
    let receiver = Receiver::start();
    let (url, told) = proxy("HTTP/1.1 200 OK\r\n\r\n");
    let more = format!("[network]\nproxy = \"{url}\"\n");
    assert!(!Client::of("proxy", &receiver, &more).ask().unwrap());
    let told = told.lock().unwrap().clone();
    let address = receiver.address();
    assert!(told.starts_with(&format!("CONNECT {address} HTTP/1.1\r\n")), "{told}");
    for line in told.split("\r\n").skip(1).filter(|line| !line.is_empty()) {
        let name = line.split(':').next().unwrap().to_ascii_lowercase();
        assert!(["host", "user-agent", "proxy-connection"].contains(&name.as_str()), "{line}");
    }
    assert!(!told.contains("b1946ac92492") && told.contains(stunt_client::USER_AGENT), "{told}");
    receiver.finish();
}

#[test]
fn a_proxy_that_says_no_is_named() {
    let receiver = Receiver::start();
    let (url, _) = proxy("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
    let more = format!("[network]\nattempts = 1\nproxy = \"{url}\"\n");
    let failure = Client::of("no-proxy", &receiver, &more).ask().unwrap_err();
    assert!(matches!(failure, Failure::Proxy(_)), "{failure}");
    assert!(failure.to_string().contains("407"), "{failure}");
    assert!(receiver.state().raw.is_empty());
}

#[test]
fn certificates_that_are_none_are_said_to_be() {
    for (text, words) in
        [("", "there is no certificate"), ("-----BEGIN CERTIFICATE-----\n!", "PEM")]
    {
        let client = Client::new("pem", "https://127.0.0.1:9", Some(text), ONCE);
        let failure = client.ask_error();
        assert!(failure.contains(words) && failure.contains("server.pem"), "{failure}");
    }
}

impl Client {
    /// Why there is no server to talk with.
    fn ask_error(&self) -> String {
        match Server::new(&self.settings, &self.destination) {
            Err(failure) => failure.to_string(),
            Ok(_) => panic!("there is a server"),
        }
    }
}
