//! Everything that may leave: a request, complete, before it is sent.
//!
//! Always: these are all the headers there are. None of them tells who sends it, apart from the
//! token where the configuration has one. [`Request::head`] is what stands on the wire, byte for
//! byte (a test compares), but for the token, which is hidden.

use std::fmt::Write;

use serde::Serialize;
use stunt_parcel::Digest;
use stunt_parcel::messages::{
    ASK, Ask, COUNTS, Count, PARCEL_TYPE, REPORT_TYPE, double_path, report_path, ticket_double_path,
};

use crate::address::Address;
use crate::config::{Destination, Secret};

/// Who sends it: the tool and its version, for servers that refuse old ones.
pub const USER_AGENT: &str = concat!("stunt/", env!("CARGO_PKG_VERSION"));
const JSON: &str = "application/json";

/// What is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    /// Fetch something.
    Get,
    /// Tell something.
    Post,
    /// Store something under its name.
    Put,
}

impl Method {
    /// As it stands in a request.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
        }
    }
}

/// A request, complete.
#[derive(Clone)]
pub struct Request {
    /// What is done.
    pub method: Method,
    /// With which server.
    pub server: Address,
    /// With what of it: `/api/v1/ask`.
    pub path: String,
    /// The media type that is expected back.
    pub accept: &'static str,
    /// The media type of the body, and the body.
    pub body: Option<(&'static str, Vec<u8>)>,
    pub(crate) token: Option<Secret>,
}

impl Request {
    fn new(to: &Destination, method: Method, path: impl Into<String>) -> Request {
        Request {
            method,
            server: to.server.clone(),
            path: path.into(),
            accept: JSON,
            body: None,
            token: to.token.clone(),
        }
    }

    fn with_json(mut self, message: &impl Serialize) -> Request {
        let text = serde_json::to_vec(message).expect("messages have only text and numbers");
        self.body = Some((JSON, text));
        self
    }

    /// Is this failure known?
    pub fn ask(to: &Destination, ask: &Ask) -> Request {
        Request::new(to, Method::Post, ASK).with_json(ask)
    }

    /// The double that the server has for this failure.
    pub fn double(to: &Destination, signature: &str) -> Request {
        let request = Request::new(to, Method::Get, double_path(signature));
        Request { accept: REPORT_TYPE, ..request }
    }

    /// The double of a ticket, for a maintainer.
    pub fn ticket_double(to: &Destination, ticket: &str) -> Request {
        let request = Request::new(to, Method::Get, ticket_double_path(ticket));
        Request { accept: REPORT_TYPE, ..request }
    }

    /// This failure was met once more.
    pub fn count(to: &Destination, count: &Count) -> Request {
        Request::new(to, Method::Post, COUNTS).with_json(count)
    }

    /// The same with a message that was written earlier.
    pub fn count_again(to: &Destination, message: Vec<u8>) -> Request {
        let request = Request::new(to, Method::Post, COUNTS);
        Request { body: Some((JSON, message)), ..request }
    }

    /// A sealed parcel, under its digest.
    pub fn parcel(to: &Destination, sealed: Vec<u8>) -> Request {
        let request = Request::new(to, Method::Put, report_path(Digest::of(&sealed)));
        Request { body: Some((PARCEL_TYPE, sealed)), ..request }
    }

    /// All headers in order, with the token hidden or not.
    pub(crate) fn headers(&self, token: Shown) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if let Some((_, body)) = &self.body {
            headers.push(("content-length", body.len().to_string()));
        }
        headers.push(("host", self.server.authority().to_owned()));
        if let Some((media, _)) = &self.body {
            headers.push(("content-type", (*media).to_owned()));
        }
        headers.push(("user-agent", USER_AGENT.to_owned()));
        headers.push(("accept", self.accept.to_owned()));
        if let Some(secret) = &self.token {
            let value = match token {
                Shown::Yes => secret.expose(),
                Shown::No => "(hidden)",
            };
            headers.push(("authorization", format!("Bearer {value}")));
        }
        headers
    }

    /// The first line and the headers, as they are sent, with the token hidden.
    pub fn head(&self) -> String {
        let path = self.server.path_of(&self.path);
        let mut head = format!("{} {path} HTTP/1.1\r\n", self.method.name());
        for (name, value) in self.headers(Shown::No) {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head + "\r\n"
    }
}

/// Whether a secret is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    Yes,
    No,
}
