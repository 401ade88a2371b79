//! Why something could not be sent, in sentences that say what to do.
//!
//! Always: text of a server is a stranger's; it is shown with control characters escaped, and cut.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustls::CertificateError;
use stunt_parcel::messages::Problem;
use stunt_report::visible;

/// The most characters of a server's text that are shown.
const MOST_TEXT: usize = 500;

/// Why something could not be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// Nobody knows the server's name.
    #[error(
        "there is no server {0}: its name cannot be found. Is there a network, and is the name right?"
    )]
    NoSuchHost(String),
    /// Nothing answers.
    #[error("no connection to {server}: {why}")]
    NoConnection {
        /// The server.
        server: String,
        /// What the system says.
        why: String,
    },
    /// The proxy does not do it.
    #[error("the proxy does not connect to the server: {0}; see network.proxy and HTTPS_PROXY")]
    Proxy(String),
    /// The connection is not safe.
    #[error("the connection to {server} is not safe, so nothing was sent: {trouble}")]
    Tls {
        /// The server.
        server: String,
        /// What is wrong.
        trouble: TlsTrouble,
    },
    /// The server's certificates that are trusted cannot be read.
    #[error("{}: {why}", path.display())]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// This machine has no certificates to trust.
    #[error(
        "this machine has no root certificates (the package ca-certificates); or name one in destination.certificate"
    )]
    NoRoots,
    /// It takes too long.
    #[error("{server} does not answer in time; more of it is given by network.timeout")]
    TimedOut {
        /// The server.
        server: String,
    },
    /// The connection breaks, or what comes is no answer.
    #[error("the connection to {server} broke: {why}")]
    Broken {
        /// The server.
        server: String,
        /// How.
        why: String,
    },
    /// The server says that it is elsewhere.
    #[error(
        "the server says that it is at {0}; stunt sends nothing to where it was not told to. If that is right, change destination.server"
    )]
    Moved(String),
    /// The server does not want it.
    #[error("the server refuses it ({status}): {words}")]
    Refused {
        /// The status.
        status: u16,
        /// What it says.
        words: String,
    },
    /// The server wants to be asked later.
    #[error("the server has too much to do ({status}){}", later(.wait))]
    Busy {
        /// The status.
        status: u16,
        /// When it wants to be asked again.
        wait: Option<Duration>,
    },
    /// The server has a fault.
    #[error("the server has a fault of its own ({status}): {words}")]
    Fault {
        /// The status.
        status: u16,
        /// What it says.
        words: String,
    },
    /// The answer is none.
    #[error("the answer of {server} is not one of a stunt server: {why}")]
    NoAnswer {
        /// The server.
        server: String,
        /// What is wrong with it.
        why: String,
    },
}

fn later(wait: &Option<Duration>) -> String {
    match wait {
        Some(wait) => format!("; it asks for {} s of patience", wait.as_secs()),
        None => "; try again later".to_owned(),
    }
}

impl Failure {
    /// Whether it may be over soon, so that another attempt makes sense.
    pub fn is_temporary(&self) -> bool {
        match self {
            Failure::NoConnection { .. }
            | Failure::NoSuchHost(_)
            | Failure::TimedOut { .. }
            | Failure::Broken { .. }
            | Failure::Busy { .. }
            | Failure::Fault { .. } => true,
            Failure::Proxy(_)
            | Failure::Tls { .. }
            | Failure::Certificate { .. }
            | Failure::NoRoots
            | Failure::Moved(_)
            | Failure::Refused { .. }
            | Failure::NoAnswer { .. } => false,
        }
    }

    /// Whether the server has said no, so that it will say so again.
    pub fn is_final(&self) -> bool {
        matches!(self, Failure::Refused { .. })
    }
}

/// What is wrong with an encrypted connection.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsTrouble {
    /// Its time is over.
    #[error("the server's certificate has expired")]
    Expired,
    /// Its time has not come, or the clock is wrong.
    #[error("the server's certificate is not valid yet; is this machine's clock right?")]
    NotYet,
    /// It is another server's.
    #[error("the server's certificate is for another name")]
    OtherName,
    /// Nobody who is trusted vouches for it.
    #[error(
        "nobody whom this machine trusts vouches for the server's certificate; if it is the right one, name it in destination.certificate"
    )]
    UnknownIssuer,
    /// It was called back.
    #[error("the server's certificate was revoked")]
    Revoked,
    /// Something else with it.
    #[error("the server's certificate is not acceptable ({0})")]
    Certificate(String),
    /// The server talks in another way.
    #[error("the server does not speak TLS 1.2 or 1.3 ({0})")]
    NotTls(String),
}

impl From<&rustls::Error> for TlsTrouble {
    fn from(error: &rustls::Error) -> TlsTrouble {
        match error {
            rustls::Error::InvalidCertificate(error) => match error {
                CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                    TlsTrouble::Expired
                }
                CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                    TlsTrouble::NotYet
                }
                CertificateError::NotValidForName
                | CertificateError::NotValidForNameContext { .. } => TlsTrouble::OtherName,
                CertificateError::UnknownIssuer => TlsTrouble::UnknownIssuer,
                CertificateError::Revoked => TlsTrouble::Revoked,
                error => TlsTrouble::Certificate(short(&error.to_string())),
            },
            error => TlsTrouble::NotTls(short(&error.to_string())),
        }
    }
}

/// A stranger's text as it may be shown.
pub(crate) fn short(text: &str) -> String {
    let text = visible(text);
    if text.chars().count() <= MOST_TEXT {
        return text;
    }
    text.chars().take(MOST_TEXT).collect::<String>() + "…"
}

/// What an answer with an error status says.
pub(crate) fn of_status(status: u16, body: &[u8], wait: Option<Duration>) -> Failure {
    let words = match serde_json::from_slice::<Problem>(body) {
        Ok(problem) => {
            let title = short(&problem.title);
            problem.detail.map_or(title.clone(), |detail| format!("{title}: {}", short(&detail)))
        }
        Err(_) => match status {
            401 => "it wants a token; set destination.token".to_owned(),
            403 => "it does not take the token".to_owned(),
            404 => "it has nothing there; is destination.server the address of a stunt server?"
                .to_owned(),
            413 => "the report is too large for it".to_owned(),
            _ => "it does not say why".to_owned(),
        },
    };
    match status {
        429 | 503 => Failure::Busy { status, wait },
        // 408: the server has waited too long for the request.
        408 | 500..=599 => Failure::Fault { status, words },
        _ => Failure::Refused { status, words },
    }
}

/// What the library for HTTP says, in our words.
pub(crate) fn of_transport(error: ureq::Error, server: &str) -> Failure {
    let named = || server.to_owned();
    match error {
        ureq::Error::HostNotFound => Failure::NoSuchHost(named()),
        ureq::Error::Timeout(_) => Failure::TimedOut { server: named() },
        ureq::Error::Rustls(error) => {
            Failure::Tls { server: named(), trouble: TlsTrouble::from(&error) }
        }
        ureq::Error::Tls(why) => {
            Failure::Tls { server: named(), trouble: TlsTrouble::NotTls(why.to_owned()) }
        }
        ureq::Error::ConnectProxyFailed(why) => Failure::Proxy(short(&why)),
        ureq::Error::InvalidProxyUrl => Failure::Proxy("its address is none".to_owned()),
        ureq::Error::Io(error) => of_io(&error, server),
        ureq::Error::ConnectionFailed => {
            Failure::NoConnection { server: named(), why: "nothing answers there".to_owned() }
        }
        error => Failure::Broken { server: named(), why: short(&error.to_string()) },
    }
}

fn of_io(error: &io::Error, server: &str) -> Failure {
    let server = server.to_owned();
    if let Some(error) = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        return Failure::Tls { server, trouble: TlsTrouble::from(error) };
    }
    match error.kind() {
        io::ErrorKind::ConnectionRefused => {
            Failure::NoConnection { server, why: "nothing listens there".to_owned() }
        }
        io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable => {
            Failure::NoConnection { server, why: "there is no way to it from here".to_owned() }
        }
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => Failure::TimedOut { server },
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
            Failure::Broken { server, why: "the other side closed it".to_owned() }
        }
        _ => Failure::Broken { server, why: short(&error.to_string()) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_text_is_made_harmless() {
        let body = br#"{"title":"No\u001b[31m","status":422,"detail":"it is red\n"}"#;
        let words = of_status(422, body, None).to_string();
        assert!(!words.contains('\u{1b}') && !words.contains('\n'), "{words:?}");
        assert!(words.contains("it is red"), "{words}");
        assert!(short(&"x".repeat(9000)).chars().count() <= MOST_TEXT + 1);
    }

    #[test]
    fn what_may_be_over_soon_is_tried_again() {
        for (status, temporary, last) in [
            (400, false, true),
            (401, false, true),
            (404, false, true),
            (408, true, false),
            (413, false, true),
            (422, false, true),
            (429, true, false),
            (500, true, false),
            (503, true, false),
        ] {
            let failure = of_status(status, b"", None);
            assert_eq!((failure.is_temporary(), failure.is_final()), (temporary, last), "{status}");
        }
    }

    #[test]
    fn each_trouble_with_a_certificate_has_its_sentence() {
        let of = |error: CertificateError| {
            TlsTrouble::from(&rustls::Error::InvalidCertificate(error)).to_string()
        };
        let sentences = [
            of(CertificateError::Expired),
            of(CertificateError::NotValidYet),
            of(CertificateError::NotValidForName),
            of(CertificateError::UnknownIssuer),
            of(CertificateError::Revoked),
            of(CertificateError::BadSignature),
        ];
        for (at, sentence) in sentences.iter().enumerate() {
            assert!(!sentences[..at].contains(sentence), "{sentence}");
        }
    }
}
