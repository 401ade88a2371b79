//! A client: the requests of the wire, over one connection that stays.

use serde_json::Value;
use stunt_parcel::messages::{self, Count, EventId};
use stunt_parcel::{Digest, Recipient};
use ureq::Agent;

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub kind: String,
    pub retry_after: Option<String>,
    pub headers: ureq::http::HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    /// A header, or nothing as a text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("the answer is JSON")
    }
}

/// A client of a server.
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    pub base: String,
    pub token: Option<String>,
}

impl Client {
    pub fn new(base: impl Into<String>) -> Client {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(std::time::Duration::from_secs(60)))
            .build();
        Client { agent: Agent::new_with_config(config), base: base.into(), token: None }
    }

    pub fn with_token(&self, token: &str) -> Client {
        Client { token: Some(token.to_owned()), ..self.clone() }
    }

    /// Any request; an error if there was no answer.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, ureq::Error> {
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let answer = if body.is_empty() && matches!(method, "GET" | "DELETE" | "HEAD") {
            self.agent.run(request.body(()).unwrap())
        } else {
            self.agent.run(request.body(body).unwrap())
        };
        let mut answer = answer?;
        let header = |name: &str| {
            answer.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let (kind, retry_after) =
            (header("content-type").unwrap_or_default(), header("retry-after"));
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(64 << 20).read_to_vec()?;
        let headers = answer.headers().clone();
        Ok(Answer { status, kind, retry_after, headers, body })
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], &[]).unwrap()
    }

    pub fn json(&self, method: &str, path: &str, body: &Value) -> Answer {
        let body = serde_json::to_vec(body).unwrap();
        self.send(method, path, &[("content-type", "application/json")], &body).unwrap()
    }

    pub fn recipient(&self) -> Recipient {
        self.get(messages::RECIPIENT).json()["recipient"].as_str().unwrap().parse().unwrap()
    }

    pub fn try_put(&self, parcel: &[u8], digest: Digest) -> Result<Answer, ureq::Error> {
        let headers = [("content-type", messages::PARCEL_TYPE)];
        self.send("PUT", &messages::report_path(digest), &headers, parcel)
    }

    pub fn put(&self, parcel: &[u8], digest: Digest) -> Answer {
        self.try_put(parcel, digest).unwrap()
    }

    pub fn try_count(&self, signature: &str, id: EventId) -> Result<Answer, ureq::Error> {
        let count = Count {
            id,
            signature: signature.to_owned(),
            program: "parser".to_owned(),
            build_id: None,
            version: Some("1.0".to_owned()),
        };
        let body = serde_json::to_vec(&count).unwrap();
        self.send("POST", messages::COUNTS, &[("content-type", "application/json")], &body)
    }
}
