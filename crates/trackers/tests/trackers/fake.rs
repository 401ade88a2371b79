//! A web server for one test, that answers what its rules say and remembers what broke them.
//!
//! Always: a request is whole before the rules see it; a rule that is broken is answered with 400
//! and written down, and [`Fake::end`] fails the test unless all of that was expected.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use serde_json::Value;

/// A request as it came.
pub struct Request {
    pub method: String,
    /// With the query.
    pub path: String,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// What a rule says: a status and a body, or what is wrong with the request.
pub type Verdict = Result<(u16, Value), String>;

impl Request {
    /// The header's value; headers may come once.
    pub fn header(&self, name: &str) -> Result<&str, String> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let (_, value) = found.next().ok_or(format!("no header {name}"))?;
        if found.next().is_some() { Err(format!("header {name} comes twice")) } else { Ok(value) }
    }

    /// Fails unless the header has this value.
    pub fn must_have(&self, name: &str, value: &str) -> Result<(), String> {
        let found = self.header(name)?;
        if found == value { Ok(()) } else { Err(format!("header {name} is {found}, not {value}")) }
    }

    /// Fails if there is a header beside these and those that every request has.
    pub fn must_not_have_more_than(&self, names: &[&str]) -> Result<(), String> {
        let always = ["host", "user-agent", "accept", "accept-encoding", "content-length"];
        let mut others = self.headers.iter().map(|(name, _)| name.as_str());
        match others.find(|name| !always.contains(name) && !names.contains(name)) {
            Some(name) => Err(format!("header {name} should not be there")),
            None => Ok(()),
        }
    }

    /// The body as an object with exactly these members.
    pub fn object(&self, members: &[&str]) -> Result<Value, String> {
        self.must_have("content-type", "application/json")?;
        let value: Value = serde_json::from_slice(&self.body).map_err(|error| error.to_string())?;
        has_exactly(&value, members)?;
        Ok(value)
    }

    /// The one file of a form with nothing else: its field, its name and its bytes.
    pub fn file(&self) -> Result<(String, String, Vec<u8>), String> {
        let kind = self.header("content-type")?;
        let boundary = kind.strip_prefix("multipart/form-data; boundary=").ok_or("no form")?;
        let head = format!("--{boundary}\r\n");
        let tail = format!("\r\n--{boundary}--\r\n");
        let part = self.body.strip_prefix(head.as_bytes()).ok_or("no part")?;
        let part = part.strip_suffix(tail.as_bytes()).ok_or("no end")?;
        let inside = |text: &str| part.windows(text.len()).any(|found| found == text.as_bytes());
        if inside(boundary) {
            return Err("the boundary is in the file".to_owned());
        }
        let split = part.windows(4).position(|four| four == b"\r\n\r\n").ok_or("no head")?;
        let head = std::str::from_utf8(&part[..split]).map_err(|error| error.to_string())?;
        let line = head.lines().next().unwrap_or_default();
        let named = |key: &str| {
            let rest = line.split_once(&format!("; {key}=\"")).map(|(_, rest)| rest);
            rest.and_then(|rest| rest.split('"').next())
                .map(str::to_owned)
                .ok_or(format!("no {key}"))
        };
        if !line.starts_with("Content-Disposition: form-data; ") {
            return Err(format!("not a part of a form: {line}"));
        }
        Ok((named("name")?, named("filename")?, part[split + 4..].to_vec()))
    }
}

/// Fails unless the value is an object with exactly these members.
pub fn has_exactly(value: &Value, members: &[&str]) -> Result<(), String> {
    let object = value.as_object().ok_or("not an object")?;
    let mut found: Vec<&str> = object.keys().map(String::as_str).collect();
    let mut members = members.to_vec();
    found.sort_unstable();
    members.sort_unstable();
    if found == members { Ok(()) } else { Err(format!("{found:?} instead of {members:?}")) }
}

/// The text at a pointer of a value.
pub fn text<'a>(value: &'a Value, pointer: &str) -> Result<&'a str, String> {
    value.pointer(pointer).and_then(Value::as_str).ok_or(format!("no text at {pointer}"))
}

/// The server.
pub struct Fake {
    pub url: String,
    complaints: Arc<Mutex<Vec<String>>>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Fake {
    /// Starts the server. Rules are asked about one request at a time.
    pub fn start(rules: impl FnMut(&Request) -> Verdict + Send + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (complaints, ended) =
            (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (list, end) = (complaints.clone(), ended.clone());
        let thread = thread::spawn(move || serve(&listener, rules, &list, &end));
        Fake { url, complaints, ended, thread: Some(thread) }
    }

    /// Ends the server; gives back what broke its rules.
    pub fn end(mut self) -> Vec<String> {
        self.stop();
        std::mem::take(&mut *self.complaints.lock().unwrap())
    }

    fn stop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // The server waits for a connection: this is one.
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve(
    listener: &TcpListener,
    mut rules: impl FnMut(&Request) -> Verdict,
    complaints: &Mutex<Vec<String>>,
    ended: &AtomicBool,
) {
    for stream in listener.incoming() {
        if ended.load(Ordering::SeqCst) {
            return;
        }
        let Ok(mut stream) = stream else { continue };
        let Some(request) = read(&stream) else { continue };
        let (status, body) = rules(&request).unwrap_or_else(|complaint| {
            let complaint = format!("{} {}: {complaint}", request.method, request.path);
            complaints.lock().unwrap().push(complaint.clone());
            (400, Value::String(complaint))
        });
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let retry = if status == 429 { "Retry-After: 7\r\n" } else { "" };
        let head = format!(
            "HTTP/1.1 {status} Fake\r\nContent-Type: application/json\r\n{retry}\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let _ = stream.write_all(head.as_bytes());
    }
}

fn read(stream: &TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length = length.map_or(Ok(0), |(_, value)| value.parse()).ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Request { method, path, headers, body })
}
