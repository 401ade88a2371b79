//! A failure of a page, as scripts have them: a type and a stack.
//!
//! Always: there is no message, for messages quote what was typed. Two failures are the same if their kinds and types
//! are, and the innermost frames of both lists as far as the shorter one goes: which of the outer ones a browser
//! keeps depends on how the event came about. A script is its name, or its content where that is known: the page
//! may lie elsewhere on another machine.

use serde_json::{Value, json};
use stunt_path::{FailureKind, Frame, Location, Role};

/// So many frames are compared at most.
const COMPARED: usize = 5;
/// An offset is a line and a column in one number.
const COLUMNS: u64 = 1 << 20;

/// How a page failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageFailure {
    /// `exception`, `rejection`, `assertion`, `console` or `assistance`.
    pub kind: String,
    /// The name of the error's constructor; empty if what was thrown is none.
    pub error: String,
    /// From the innermost outward.
    pub frames: Vec<PageFrame>,
    /// The id of the action after which it came.
    pub after: u64,
}

/// A call in a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PageFrame {
    /// The function's name, or nothing.
    pub function: String,
    /// The name of the script's file.
    pub script: String,
    /// From 1.
    pub line: u64,
    /// From 1.
    pub column: u64,
}

impl PageFailure {
    /// As recorder and player write it. Only what looks like one comes through.
    pub fn read(value: &Value) -> Option<Self> {
        let frame = |frame: &Value| PageFrame {
            function: identifier(&frame["function"]),
            script: script_name(frame["path"].as_str().unwrap_or_default()),
            line: frame["line"].as_u64().unwrap_or_default(),
            column: frame["column"].as_u64().unwrap_or_default(),
        };
        let frames = value["frames"].as_array()?;
        Some(Self {
            kind: value["kind"].as_str()?.to_owned(),
            error: identifier(&value["type"]),
            frames: frames.iter().take(32).map(frame).collect(),
            after: value["after"].as_u64().unwrap_or_default(),
        })
    }

    /// As the browser tells it of an exception. What a page does in a window that it has opened, scripts in it
    /// do not always hear of.
    pub(crate) fn of_details(details: &Value, after: u64) -> Self {
        let in_promise = details["text"].as_str().is_some_and(|it| it.contains("in promise"));
        let stack = details["exception"]["description"].as_str().unwrap_or_default();
        Self {
            kind: if in_promise { "rejection" } else { "exception" }.to_owned(),
            error: identifier(&details["exception"]["className"]),
            frames: stack.lines().filter_map(frame_of_line).take(32).collect(),
            after,
        }
    }

    /// The same for a double's recording.
    pub fn write(&self, after: u64) -> Value {
        let frames: Vec<Value> = self.frames.iter().map(|it| {
            json!({ "function": it.function, "path": it.script, "line": it.line, "column": it.column })
        }).collect();
        json!({ "kind": self.kind, "type": self.error, "after": after, "at_ms": 0, "frames": frames })
    }

    /// Whether both are the same failure, whenever they came.
    pub fn is_same(&self, other: &Self) -> bool {
        let frames = self.frames.iter().zip(&other.frames).take(COMPARED);
        self.kind == other.kind
            && self.error == other.error
            && self.frames.is_empty() == other.frames.is_empty()
            && frames.into_iter().all(|(a, b)| a == b)
    }

    /// As every failure here. `content` is the digest of a script, if its content is the same for all.
    pub fn to_path(&self, content: &dyn Fn(&str) -> Option<String>) -> stunt_path::Failure {
        let title = if self.error.is_empty() { "error" } else { &self.error };
        let title = match self.kind.as_str() {
            "exception" => title.to_owned(),
            "rejection" => format!("{title} in a promise"),
            "console" => format!("{title} on the console"),
            other => other.to_owned(),
        };
        let site = Frame {
            module: title,
            build_id: None,
            offset: 0,
            symbol: None,
            location: None,
            role: Role::Site,
        };
        let frame = |(number, frame): (usize, &PageFrame)| Frame {
            module: frame.script.clone(),
            build_id: content(&frame.script),
            offset: frame.line * COLUMNS + frame.column.min(COLUMNS - 1),
            symbol: (!frame.function.is_empty()).then(|| frame.function.clone()),
            location: Some(Location {
                file: frame.script.clone(),
                line: u32::try_from(frame.line).unwrap_or(u32::MAX),
            }),
            role: if number < COMPARED { Role::Counts } else { Role::Beyond },
        };
        let frames = [site].into_iter().chain(self.frames.iter().enumerate().map(frame));
        stunt_path::Failure { kind: FailureKind::Exception, frames: frames.collect() }
    }
}

/// A line of a stack as V8 writes them; nothing if it is the message, or a frame of our own.
fn frame_of_line(line: &str) -> Option<PageFrame> {
    let rest = line.trim_start().strip_prefix("at ")?;
    if rest.contains("stunt-replay.js") || rest.contains("stunt-recorder.js") {
        return None;
    }
    let (function, place) = match rest.strip_suffix(')').and_then(|it| it.rsplit_once(" (")) {
        Some((function, place)) => (function, place),
        None => ("", rest),
    };
    let place = place.rsplit_once(", ").map_or(place, |(_, place)| place);
    let (place, column) = place.rsplit_once(':')?;
    let (url, line) = place.rsplit_once(':')?;
    let function = function.strip_prefix("async ").unwrap_or(function);
    let function = function.strip_prefix("new ").unwrap_or(function);
    let function = function.split(" [as ").next().unwrap_or(function);
    let function = if function == "<anonymous>" { "" } else { function };
    Some(PageFrame {
        function: identifier(&Value::from(function)),
        script: script_name(url),
        line: line.parse().ok()?,
        column: column.parse().ok()?,
    })
}

/// The last part of a script's path. A page that is a folder has no name.
pub(crate) fn script_name(path: &str) -> String {
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default();
    let name = if name.is_empty() { "page" } else { name };
    name.chars().filter(|it| !it.is_control()).take(100).collect()
}

/// A name of a program: computed ones may quote anything, and are not kept.
fn identifier(value: &Value) -> String {
    let name = value.as_str().unwrap_or_default();
    let plain = |c: char| c.is_alphanumeric() || "_$.<>[] #".contains(c);
    if name.len() <= 100 && name.chars().all(plain) { name.to_owned() } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(frames: &[(&str, u64)]) -> PageFailure {
        let frames: Vec<Value> = frames
            .iter()
            .map(|(function, line)| json!({ "function": function, "path": "/a/b.js", "line": line, "column": 3 }))
            .collect();
        let value =
            json!({ "kind": "exception", "type": "TypeError", "after": 2, "frames": frames });
        PageFailure::read(&value).expect("it is one")
    }

    #[test]
    fn the_shorter_list_decides() {
        let long = failure(&[("f", 1), ("g", 2), ("h", 3)]);
        assert!(long.is_same(&failure(&[("f", 1), ("g", 2)])));
        assert!(!long.is_same(&failure(&[("f", 1), ("g", 3)])));
        assert!(!long.is_same(&failure(&[])));
        assert!(!long.is_same(&PageFailure { error: "RangeError".into(), ..long.clone() }));
    }

    #[test]
    fn a_failure_has_words_and_a_signature_by_content() {
        let failure = failure(&[("Editor.save", 7)]);
        let path = failure.to_path(&|_| None);
        assert_eq!(path.to_string(), "uncaught TypeError in Editor.save (b.js:7)");
        let other = failure.to_path(&|script| Some(format!("{}", script.len())));
        assert_ne!(path.signature(), other.signature());
        assert_eq!(PageFailure::read(&failure.write(2)), Some(failure));
    }

    #[test]
    fn the_browser_tells_it_alike() {
        let stack = "TypeError: private\n    at new Editor.save [as f] (https://a.b/x/b.js?v=1:7:9)\n    \
                     at one (stunt-replay.js:1:2)\n    at file:///x/page.html:3:4";
        let details = json!({ "text": "Uncaught", "exception": { "className": "TypeError", "description": stack } });
        let failure = PageFailure::of_details(&details, 3);
        let frame = |function: &str, script: &str, line, column| PageFrame {
            function: function.into(),
            script: script.into(),
            line,
            column,
        };
        assert_eq!(
            failure.frames,
            [frame("Editor.save", "b.js", 7, 9), frame("", "page.html", 3, 4)]
        );
        assert_eq!((failure.kind.as_str(), failure.after), ("exception", 3));
    }

    #[test]
    fn names_that_quote_are_not_kept() {
        let value = json!({ "kind": "exception", "type": "Error: it's \"private\"", "frames": [] });
        assert_eq!(PageFailure::read(&value).expect("it is one").error, "");
        assert_eq!(script_name("https://a/b/c.js?token=1"), "c.js");
        assert_eq!(script_name("app.example/"), "page");
    }
}
