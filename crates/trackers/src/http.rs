//! Requests to a tracker: one at a time, with a time limit, and without following redirects.
//!
//! Always: an answer is read up to a limit; a key goes only to the tracker that it was given for,
//! because no redirect is followed. What is sent and what comes back is not logged.

use std::time::Duration;

use serde_json::Value;
use ureq::Agent;
use ureq::http::Request;

use crate::error::Error;
use crate::settings::Secret;

/// How much of an answer is read.
const MOST: u64 = 4 << 20;
/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A tracker's address, and the headers that every request to it has.
pub struct Http {
    agent: Agent,
    base: String,
    headers: Vec<(&'static str, Secret)>,
}

/// What is sent along.
pub enum Body {
    /// Nothing.
    Nothing,
    /// A value.
    Json(Value),
    /// Bytes of this type.
    Bytes(String, Vec<u8>),
}

/// What came back.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The header `Location`, if it is there.
    pub location: Option<String>,
    /// The cookies that are set, as `name=value`.
    pub cookies: Vec<String>,
    /// The body.
    pub body: Vec<u8>,
    /// In how many seconds to ask again, if the tracker says so.
    pub retry: Option<u64>,
}

impl Http {
    /// Requests to the tracker at `base`.
    pub fn new(base: &str, headers: Vec<(&'static str, Secret)>) -> Result<Http, Error> {
        let base = base.trim_end_matches('/').to_owned();
        let host = base.strip_prefix("http://").or_else(|| base.strip_prefix("https://"));
        let wrong = |c: char| c.is_whitespace() || c.is_control() || "?#\"<>\\@".contains(c);
        let Some(host) = host.filter(|host| !host.is_empty() && !host.contains(wrong)) else {
            return Err(Error::Settings(
                "the address must be like https://tracker.example.org".to_owned(),
            ));
        };
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE))
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("stunt/", env!("CARGO_PKG_VERSION")));
        // A proxy is for what is elsewhere.
        let name = host.split(['/', ':']).next().unwrap_or(host);
        if matches!(name, "localhost" | "127.0.0.1" | "[") {
            config = config.proxy(None);
        }
        Ok(Http { agent: config.build().into(), base, headers })
    }

    /// The address, without a slash at its end.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// One request. `headers` are sent beside those of every request.
    pub fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Body,
    ) -> Result<Answer, Error> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        for (name, value) in &self.headers {
            request = request.header(*name, value.expose());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let wrong =
            |_| Error::Settings("a key or an address has characters it cannot have".to_owned());
        let answer = match body {
            Body::Nothing => self.agent.run(request.body(()).map_err(wrong)?),
            Body::Json(value) => {
                let request = request.header("Content-Type", "application/json");
                self.agent.run(request.body(value.to_string().into_bytes()).map_err(wrong)?)
            }
            Body::Bytes(kind, bytes) => {
                let request = request.header("Content-Type", kind);
                self.agent.run(request.body(bytes).map_err(wrong)?)
            }
        };
        let unreachable = |error: ureq::Error| Error::Unreachable {
            url: self.base.clone(),
            reason: error.to_string(),
        };
        let mut answer = answer.map_err(unreachable)?;
        let text = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
        let location = text("location").map(str::to_owned);
        let retry = text("retry-after").and_then(|value| value.trim().parse().ok());
        let cookies = answer.headers().get_all("set-cookie").iter();
        let cookies = cookies
            .filter_map(|value| value.to_str().ok()?.split(';').next())
            .map(|pair| pair.trim().to_owned())
            .collect();
        let status = answer.status().as_u16();
        let body =
            answer.body_mut().with_config().limit(MOST).read_to_vec().map_err(unreachable)?;
        Ok(Answer { status, location, cookies, body, retry })
    }

    /// A request whose answer is JSON with the status `expected`.
    pub fn json(
        &self,
        task: &'static str,
        expected: u16,
        method: &str,
        path: &str,
        body: Body,
    ) -> Result<Value, Error> {
        let answer = self.send(method, path, &[("Accept", "application/json")], body)?;
        answer.json(task, expected)
    }
}

impl Answer {
    /// The error that this answer is.
    pub fn error(&self, task: &'static str) -> Error {
        Error::of_status(task, self.status, self.retry, &self.body)
    }

    /// The body as JSON, if the status is the expected one. No body is null.
    pub fn json(&self, task: &'static str, expected: u16) -> Result<Value, Error> {
        if self.status != expected {
            return Err(self.error(task));
        }
        if self.body.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&self.body).map_err(|_| Error::Strange { task, missing: "JSON" })
    }
}

/// The text at a JSON pointer; a number counts as its digits.
pub fn text(
    value: &Value,
    pointer: &str,
    task: &'static str,
    missing: &'static str,
) -> Result<String, Error> {
    match value.pointer(pointer) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        _ => Err(Error::Strange { task, missing }),
    }
}

/// The address of a page at a JSON pointer. It becomes a link, so it is one of the web's.
pub fn address(value: &Value, pointer: &str, task: &'static str) -> Result<String, Error> {
    let address = text(value, pointer, task, "address")?;
    let web = address.starts_with("https://") || address.starts_with("http://");
    if web { Ok(address) } else { Err(Error::Strange { task, missing: "address" }) }
}

/// The text as a part of a path or a query.
pub fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// A form with fields and one file, as `multipart/form-data`.
pub fn multipart(fields: &[(&str, &str)], name: &str, file: &str, bytes: &[u8]) -> Body {
    let boundary = boundary(bytes, fields);
    let mut body = Vec::with_capacity(bytes.len() + 1024);
    for (name, value) in fields {
        let part = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
        );
        body.extend_from_slice(part.as_bytes());
    }
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"; filename=\"{file}\"\r\n\
         Content-Type: application/octet-stream\r\n\r\n"
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(bytes);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    Body::Bytes(format!("multipart/form-data; boundary={boundary}"), body)
}

/// A line that is nowhere in what is sent.
fn boundary(bytes: &[u8], fields: &[(&str, &str)]) -> String {
    let is_inside = |boundary: &str| {
        let inside =
            |text: &[u8]| text.windows(boundary.len()).any(|part| part == boundary.as_bytes());
        inside(bytes) || fields.iter().any(|(_, value)| inside(value.as_bytes()))
    };
    // Each number that is inside takes its own bytes there, so a free one comes soon.
    let numbers = 0_u64..;
    let mut boundaries = numbers.map(|number| format!("stunt-boundary-{number:016x}"));
    boundaries.find(|boundary| !is_inside(boundary)).unwrap_or_default()
}

/// A form as browsers send it.
pub fn form(fields: &[(&str, &str)]) -> Body {
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
        .collect();
    Body::Bytes("application/x-www-form-urlencoded".to_owned(), pairs.join("&").into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_checked() {
        for good in ["http://localhost:8080", "https://a.example/tracker/"] {
            assert!(Http::new(good, vec![]).is_ok(), "{good}");
        }
        for bad in
            ["", "a.example", "ftp://a", "https://", "https://a b", "https://u:p@a", "https://a?b"]
        {
            assert!(matches!(Http::new(bad, vec![]), Err(Error::Settings(_))), "{bad}");
        }
    }

    #[test]
    fn a_boundary_is_nowhere_in_the_file() {
        let first = boundary(b"", &[]);
        let bytes = format!("x{first}y");
        assert_ne!(boundary(bytes.as_bytes(), &[]), first);
        assert_ne!(boundary(b"", &[("a", &first)]), first);
    }

    #[test]
    fn parts_of_addresses_are_encoded() {
        assert_eq!(encoded("a b/c%é"), "a%20b%2Fc%25%C3%A9");
    }
}
