//! The wire: messages of the debugging protocol over two pipes, JSON between zero bytes.
//!
//! Always: an answer goes to whoever asked, an event to the session that it is of; what nobody waits for is
//! dropped. When the browser goes, everybody who waits learns it at once. What a method means is not known here.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::Error;

/// How long the browser may take for an answer that needs no page.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Who waits for what.
#[derive(Default)]
struct Waiting {
    answers: FxHashMap<u64, Sender<Value>>,
    sessions: FxHashMap<String, Sender<Value>>,
}

/// Both ends, shared by all who talk to one browser.
pub(crate) struct Wire {
    to: Mutex<Box<dyn Write + Send>>,
    waiting: Arc<Mutex<Waiting>>,
    gone: Arc<AtomicBool>,
    last: AtomicU64,
}

impl Wire {
    /// Begins to read; ends when the other side does.
    pub(super) fn new(
        to: impl Write + Send + 'static,
        from: impl Read + Send + 'static,
    ) -> Arc<Self> {
        let waiting = Arc::new(Mutex::new(Waiting::default()));
        let gone = Arc::new(AtomicBool::new(false));
        let (all, end) = (Arc::clone(&waiting), Arc::clone(&gone));
        thread::spawn(move || {
            read(BufReader::new(from), &all);
            end.store(true, Ordering::SeqCst);
            // Whoever waits sees that its channel has nobody at the other end.
            *locked(&all) = Waiting::default();
        });
        Arc::new(Self { to: Mutex::new(Box::new(to)), waiting, gone, last: AtomicU64::new(0) })
    }

    /// Whether the other side has ended.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.load(Ordering::SeqCst)
    }

    /// Sends a call; its answer goes to this channel.
    pub(super) fn send(
        &self,
        session: Option<&str>,
        method: &str,
        params: &Value,
        answer: Sender<Value>,
    ) -> Result<u64, Error> {
        let id = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        locked(&self.waiting).answers.insert(id, answer);
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_gone() || to.write_all(&bytes).and_then(|()| to.flush()).is_err() {
            return Err(Error::Gone);
        }
        Ok(id)
    }

    /// A call of the browser itself, and its answer.
    pub(super) fn call(&self, method: &str, params: &Value) -> Result<Value, Error> {
        let (sender, receiver) = channel();
        self.send(None, method, params, sender)?;
        let answer = receive(&receiver, Instant::now() + PATIENCE)?;
        result_of(method, answer)
    }

    /// From now on, events of this session go to this channel.
    pub(super) fn listen(&self, session: &str, events: Sender<Value>) {
        locked(&self.waiting).sessions.insert(session.to_owned(), events);
    }

    /// Nobody listens to this session any more.
    pub(super) fn forget(&self, session: &str) {
        locked(&self.waiting).sessions.remove(session);
    }
}

/// The next message, unless time is up before.
pub(super) fn receive(from: &Receiver<Value>, until: Instant) -> Result<Value, Error> {
    match from.recv_timeout(until.saturating_duration_since(Instant::now())) {
        Ok(message) => Ok(message),
        Err(RecvTimeoutError::Timeout) => Err(Error::Late),
        Err(RecvTimeoutError::Disconnected) => Err(Error::Gone),
    }
}

/// What an answer says. Its error's words are the browser's own, of the protocol and not of a page.
pub(super) fn result_of(method: &str, mut answer: Value) -> Result<Value, Error> {
    match answer.get("error") {
        None => Ok(answer["result"].take()),
        Some(error) => {
            let what = error["message"].as_str().unwrap_or("no reason given");
            Err(Error::Refused { method: method.to_owned(), what: what.to_owned() })
        }
    }
}

fn locked(waiting: &Mutex<Waiting>) -> MutexGuard<'_, Waiting> {
    // What is in it is whole after every step.
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read(mut from: impl BufRead, waiting: &Mutex<Waiting>) {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        match from.read_until(0, &mut bytes) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        bytes.pop();
        let Ok(message) = serde_json::from_slice::<Value>(&bytes) else { continue };
        let mut waiting = locked(waiting);
        // A receiver that is gone does not want it any more.
        if let Some(id) = message["id"].as_u64() {
            if let Some(sender) = waiting.answers.remove(&id) {
                let _ = sender.send(message);
            }
        } else if let Some(sender) =
            message["sessionId"].as_str().and_then(|it| waiting.sessions.get(it))
        {
            let _ = sender.send(message);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, pipe};

    use super::*;

    #[test]
    fn answers_find_who_asked_and_the_end_is_told() {
        let (from, mut to) = pipe().expect("there is room for a pipe");
        let wire = Wire::new(io::sink(), from);
        let (sender, events) = channel();
        wire.listen("S", sender.clone());
        let ids: Vec<u64> = (0..2)
            .map(|_| wire.send(Some("S"), "A.b", &json!({}), sender.clone()).expect("it is open"))
            .collect();
        drop(sender);
        let answers = format!(
            "{{\"id\":{},\"result\":1}}\0no JSON\0{{\"sessionId\":\"S\",\"method\":\"e\"}}\0\
             {{\"sessionId\":\"T\",\"method\":\"f\"}}\0{{\"id\":{},\"error\":{{\"message\":\"no\"}}}}\0",
            ids[1], ids[0]
        );
        to.write_all(answers.as_bytes()).expect("somebody reads");
        let soon = || Instant::now() + PATIENCE;
        assert_eq!(receive(&events, soon()).expect("an answer")["id"], ids[1]);
        assert_eq!(receive(&events, soon()).expect("an event")["method"], "e");
        let refused = result_of("A.b", receive(&events, soon()).expect("an answer"));
        assert!(matches!(refused, Err(Error::Refused { what, .. }) if what == "no"));
        drop(to);
        assert!(matches!(receive(&events, soon()), Err(Error::Gone)));
        assert!(matches!(wire.call("A.b", &json!({})), Err(Error::Gone)));
    }
}
