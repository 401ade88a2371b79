//! A recording: what a person did in a page, as the recorder wrote it.
//!
//! Always: it is JSON of a schema that we know, its actions have ids that rise, and it is no larger than a person's
//! doings are. It may be an original, so nothing of it is in an error or in `Debug`. What it says is believed by
//! nobody: a report brings one from a stranger.

use std::fmt;

use serde_json::{Value, json};

use crate::failure::script_name;

/// The schema that is read and written.
pub const SCHEMA: &str = "stunt-recording-1";
/// The most bytes.
const MOST_BYTES: usize = 64 << 20;
/// The most actions.
const MOST_ACTIONS: usize = 100_000;

/// What is wrong with a recording.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Wrong {
    /// It is no JSON.
    #[error("it is no JSON (line {0})")]
    Json(usize),
    /// It is JSON of something else.
    #[error("it is no recording of a user interface: its schema is not {SCHEMA}")]
    Schema,
    /// A part is absent, or is something else.
    #[error("its `{0}` is absent, or not what it should be")]
    Part(&'static str),
    /// It is too large.
    #[error("it is too large")]
    Large,
}

/// A recording.
#[derive(Clone, PartialEq)]
pub struct Recording {
    value: Value,
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Recording of {} actions", self.actions().len())
    }
}

/// Parts of text, from the outside to the inside.
pub type Place = Vec<Step>;

/// One step into JSON.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Step {
    /// A member of an object.
    Name(&'static str),
    /// An element of a list.
    At(usize),
}

impl Recording {
    /// Reads one.
    ///
    /// # Errors
    /// It is none.
    pub fn read(bytes: &[u8]) -> Result<Self, Wrong> {
        if bytes.len() > MOST_BYTES {
            return Err(Wrong::Large);
        }
        let value = serde_json::from_slice(bytes).map_err(|error| Wrong::Json(error.line()))?;
        Self::new(value)
    }

    /// Takes what is one already.
    ///
    /// # Errors
    /// It is none.
    pub fn new(value: Value) -> Result<Self, Wrong> {
        if value["schema"] != SCHEMA {
            return Err(Wrong::Schema);
        }
        let actions = value["actions"].as_array().ok_or(Wrong::Part("actions"))?;
        if actions.len() > MOST_ACTIONS {
            return Err(Wrong::Large);
        }
        let mut last = 0;
        for action in actions {
            let id = action["id"].as_u64().filter(|&id| id > last).ok_or(Wrong::Part("id"))?;
            last = id;
            if !action["kind"].is_string() {
                return Err(Wrong::Part("kind"));
            }
        }
        if !value["page"]["url"].is_string() {
            return Err(Wrong::Part("page.url"));
        }
        for (list, name) in [("answers", "answers"), ("others", "others")] {
            if !(value[list].is_array() || value[list].is_null()) {
                return Err(Wrong::Part(name));
            }
        }
        Ok(Self { value })
    }

    /// All of it.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// All of it, to be changed: whoever does keeps it a recording.
    pub(crate) fn value_mut(&mut self) -> &mut Value {
        &mut self.value
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.value.to_string().into_bytes()
    }

    /// What was done.
    pub fn actions(&self) -> &[Value] {
        self.value["actions"].as_array().map_or(&[], Vec::as_slice)
    }

    /// Where the page is.
    pub fn url(&self) -> &str {
        self.value["page"]["url"].as_str().unwrap_or_default()
    }

    /// Whether the page lies on this machine: its place says who has it.
    pub fn is_local(&self) -> bool {
        is_local(self.url())
    }

    /// The page as it may be named: a local one by the name of its file.
    pub fn page(&self) -> String {
        let url = self.url();
        let end = url.find(['?', '#']).unwrap_or(url.len());
        if self.is_local() { script_name(&url[..end]) } else { url[..end].to_owned() }
    }

    /// The same without what tells where a local page lies. It can be replayed by who says where it is.
    #[must_use]
    pub(crate) fn placeless(&self) -> Self {
        let mut placeless = self.clone();
        if self.is_local() {
            let url = self.url();
            let query = &url[url.find(['?', '#']).unwrap_or(url.len())..];
            let short = format!("file:///{}{query}", self.page());
            placeless.value["page"]["url"] = json!(short);
        }
        placeless
    }

    /// How large the page is shown.
    pub fn viewport(&self) -> (u32, u32) {
        let size = |name: &str, usual: u32| {
            let size = self.value["page"]["viewport"][name].as_f64().unwrap_or_default() as u32;
            if (100..=8192).contains(&size) { size } else { usual }
        };
        (size("width", 1280), size("height", 720))
    }

    /// The same page with these actions, by their places: what was waited before each of them is.
    #[must_use]
    pub fn with_actions(&self, places: &[usize]) -> Self {
        let (all, waits) = (self.actions(), self.waits());
        let some = places.iter().filter_map(|&at| all.get(at)).cloned().collect();
        let mut fewer = self.clone();
        fewer.value["actions"] = Value::Array(some);
        let waits: Vec<f64> = places.iter().filter_map(|&at| waits.get(at)).copied().collect();
        fewer.set_waits(&waits);
        fewer
    }

    /// How many milliseconds went by before each action, since the one before it.
    pub(crate) fn waits(&self) -> Vec<f64> {
        let mut before = 0.0;
        let actions = self.actions().iter();
        actions
            .map(|action| {
                let at = action["at_ms"].as_f64().unwrap_or(before).max(before);
                at - std::mem::replace(&mut before, at)
            })
            .collect()
    }

    /// Changes how many there were.
    pub(crate) fn set_waits(&mut self, waits: &[f64]) {
        let mut at = 0.0;
        let actions = self.value["actions"].as_array_mut().into_iter().flatten();
        for (action, wait) in actions.zip(waits) {
            at += wait;
            action["at_ms"] = json!((at * 10.0).round() / 10.0);
        }
    }

    /// How many milliseconds after the last action the failure came; nothing if it came before, or not at all.
    pub(crate) fn lag(&self) -> Option<f64> {
        let (last, failure) = (self.actions().last()?, &self.value["failure"]);
        let lag = failure["at_ms"].as_f64()? - last["at_ms"].as_f64()?;
        (failure["after"] == last["id"] && lag >= 0.0).then_some(lag)
    }

    /// Of each action, the places of earlier ones that it needs: the graph in the recording.
    pub fn needs(&self) -> Vec<Vec<usize>> {
        let ids: Vec<u64> = self.actions().iter().filter_map(|it| it["id"].as_u64()).collect();
        let place = |id: &Value| ids.iter().position(|it| Some(*it) == id.as_u64());
        let needs = |action: &Value| {
            let needs = action["needs"].as_array().map_or(&[][..], Vec::as_slice);
            needs.iter().filter_map(place).collect()
        };
        self.actions().iter().map(needs).collect()
    }

    /// What a player is given before the page runs.
    pub(crate) fn prepared(&self) -> Value {
        let part = |name: &str| self.value[name].clone();
        let mut all = json!({});
        for name in ["page", "environment", "load", "answers"] {
            if !self.value[name].is_null() {
                all[name] = part(name);
            }
        }
        all
    }

    /// The text at a place.
    pub(crate) fn text(&self, place: &[Step]) -> Option<&str> {
        let mut at = &self.value;
        for step in place {
            at = match step {
                Step::Name(name) => at.get(name)?,
                Step::At(number) => at.get(number)?,
            };
        }
        at.as_str()
    }

    /// Another text at a place; nothing happens where there is none.
    pub(crate) fn set(&mut self, place: &[Step], text: &str) {
        let mut at = &mut self.value;
        for step in place {
            let next = match step {
                Step::Name(name) => at.get_mut(name),
                Step::At(number) => at.get_mut(number),
            };
            let Some(next) = next else { return };
            at = next;
        }
        *at = Value::String(text.to_owned());
    }
}

/// Whether an address is on this machine.
fn is_local(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else { return true };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    !matches!(scheme, "http" | "https")
        || host == "localhost"
        || host.ends_with(".localhost")
        || host.starts_with("127.")
        || host == "[::1]"
}

#[cfg(test)]
pub(crate) mod examples {
    use serde_json::json;

    use super::*;

    /// A recording with these actions.
    pub fn recording(actions: &Value) -> Recording {
        let page = json!({
            "url": "https://app.example/list?q=private#x", "title": "List",
            "viewport": { "width": 900, "height": 600, "scale": 1 },
            "language": "en", "agent": "",
        });
        Recording::new(json!({
            "schema": SCHEMA, "recorder": "0.2.0", "page": page, "begun": 0,
            "environment": { "clock": 0, "performance": 0, "zone": "", "dark": false,
                             "seed": null, "crypto": [], "storage": [] },
            "load": { "dialogs": [], "calls": [] }, "actions": actions, "answers": [],
            "failure": null, "others": [], "gaps": [], "dropped": 0,
        }))
        .expect("it is one")
    }

    /// An action on a widget.
    pub fn on(id: u64, kind: &str, widget: &str, more: &Value) -> Value {
        let mut action = json!({
            "id": id, "at_ms": 10 * id, "kind": kind, "dialogs": [], "calls": [], "needs": [],
            "target": { "selectors": [[widget]], "widget": widget, "tag": "button",
                        "role": "button", "name": "Save", "frame": [] },
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            action[name] = value.clone();
        }
        action
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::examples::{on, recording};
    use super::*;

    #[test]
    fn what_is_no_recording_says_why_and_quotes_nothing() {
        assert_eq!(Recording::read(b"{\"a\":\n private"), Err(Wrong::Json(2)));
        assert_eq!(Recording::read(b"[]"), Err(Wrong::Schema));
        let mut value = recording(&json!([on(2, "click", "#a", &json!({}))])).value().clone();
        value["actions"] = json!([{ "id": 2, "kind": "click" }, { "id": 2, "kind": "click" }]);
        assert_eq!(Recording::new(value.clone()), Err(Wrong::Part("id")));
        value["actions"] = json!([{ "id": 2 }]);
        assert_eq!(Recording::new(value.clone()), Err(Wrong::Part("kind")));
        value["actions"] = json!(7);
        assert_eq!(Recording::new(value), Err(Wrong::Part("actions")));
    }

    #[test]
    fn a_local_page_is_its_name() {
        let page = |url: &str| {
            let mut all = recording(&json!([]));
            all.value["page"]["url"] = json!(url);
            (all.page(), all.placeless().url().to_owned())
        };
        let same = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(page("file:///home/erika/a.html?x#y"), same("a.html", "file:///a.html?x#y"));
        assert_eq!(page("http://localhost:80/erika/"), same("page", "file:///page"));
        assert_eq!(page("http://127.0.0.1:9/b.html"), same("b.html", "file:///b.html"));
        let url = "https://app.example/list";
        assert_eq!(page(&format!("{url}?x")), same(url, &format!("{url}?x")));
    }

    #[test]
    fn needs_are_places() {
        let all = recording(&json!([
            on(3, "click", "#a", &json!({})),
            on(5, "click", "#b", &json!({ "needs": [3, 4] })),
        ]));
        assert_eq!(all.needs(), [vec![], vec![0]]);
        assert_eq!(all.with_actions(&[1]).needs(), [Vec::<usize>::new()]);
    }
}
