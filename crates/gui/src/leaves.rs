//! Leaves: the texts of a recording that are inputs: typed, chosen, pasted, uploaded, answered, stored.
//!
//! Always: a leaf is found by its place and can be replaced where it stands; what is public is none. Bytes that are
//! not text can fill only what is a file. Whether an other text still fails is not known here.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::recording::{Place, Recording, Step};

/// How the bytes of a leaf are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    /// As text.
    Text,
    /// In base 64.
    Base64,
    /// Behind the path of an address: from its `?` or `#` on.
    Query,
}

/// A leaf.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leaf {
    /// Where it is.
    pub place: Place,
    /// How.
    pub written: Written,
    /// What it is: `what was typed`.
    pub what: &'static str,
}

/// What goes in by keys.
const TYPED: &str = "what was typed";

use Step::{At, Name};

/// All leaves that have bytes, in their order.
pub fn leaves(recording: &Recording) -> Vec<Leaf> {
    let mut all = Vec::new();
    let value = recording.value();
    let mut leaf = |place: Place, written, what| all.push(Leaf { place, written, what });
    leaf(vec![Name("page"), Name("url")], Written::Query, "the query of the address");
    for (number, stored) in items(&value["environment"]["storage"]) {
        if stored["value"].is_string() {
            let place = vec![Name("environment"), Name("storage"), At(number), Name("value")];
            leaf(place, Written::Text, "what was stored");
        }
    }
    for (number, action) in items(&value["actions"]) {
        if action["public"] == true || action["target"]["public"] == true {
            continue;
        }
        let at = |rest: &[Step]| -> Place {
            [Name("actions"), At(number)].iter().chain(rest).cloned().collect()
        };
        for (name, what) in [
            ("text", if action["kind"] == "paste" { "what was pasted" } else { TYPED }),
            ("html", "what was pasted"),
            ("value", "what was set"),
        ] {
            if action[name].is_string() {
                leaf(at(&[Name(name)]), Written::Text, what);
            }
        }
        if action["url"].is_string() {
            leaf(at(&[Name("url")]), Written::Query, "the query of an address");
        }
        for (file, content) in items(&action["files"]) {
            if content["body"].is_string() {
                leaf(at(&[Name("files"), At(file), Name("body")]), Written::Base64, "a file");
            }
        }
        for (dialog, content) in items(&action["dialogs"]) {
            if content["answer"].is_string() {
                leaf(
                    at(&[Name("dialogs"), At(dialog), Name("answer")]),
                    Written::Text,
                    "an answer to the page",
                );
            }
        }
    }
    for (number, answer) in items(&value["answers"]) {
        let written = if answer["encoding"] == "base64" { Written::Base64 } else { Written::Text };
        leaf(vec![Name("answers"), At(number), Name("body")], written, "what the network said");
        if answer["url"].is_string() {
            let place = vec![Name("answers"), At(number), Name("url")];
            leaf(place, Written::Query, "the query of an address");
        }
    }
    all.retain(|leaf| bytes_of(recording, leaf).is_some_and(|bytes| !bytes.is_empty()));
    all
}

fn items(list: &Value) -> impl Iterator<Item = (usize, &Value)> {
    list.as_array().into_iter().flatten().enumerate()
}

/// The bytes of a leaf.
pub fn bytes_of(recording: &Recording, leaf: &Leaf) -> Option<Vec<u8>> {
    let text = recording.text(&leaf.place)?;
    match leaf.written {
        Written::Text => Some(text.as_bytes().to_vec()),
        Written::Base64 => STANDARD.decode(text).ok(),
        Written::Query => Some(text.as_bytes()[query_of(text)..].to_vec()),
    }
}

/// Where the query of an address begins.
fn query_of(url: &str) -> usize {
    url.find(['?', '#']).unwrap_or(url.len())
}

/// The recording with these bytes in its leaves; nothing if that is no recording any more.
pub fn filled(recording: &Recording, leaves: &[Leaf], bytes: &[Vec<u8>]) -> Option<Recording> {
    let mut filled = recording.clone();
    for (leaf, bytes) in leaves.iter().zip(bytes) {
        let text = match leaf.written {
            Written::Base64 => STANDARD.encode(bytes),
            Written::Text => {
                let text = String::from_utf8(bytes.clone()).ok()?;
                // There is no key for a control character.
                if leaf.what == TYPED && text.contains(|it: char| it.is_control() && it != '\n') {
                    return None;
                }
                text
            }
            Written::Query => {
                let old = recording.text(&leaf.place)?;
                let rest = std::str::from_utf8(bytes).ok()?;
                let is_one = rest.is_empty() || rest.starts_with(['?', '#']);
                if !is_one || !rest.bytes().all(|it| it.is_ascii_graphic()) {
                    return None;
                }
                format!("{}{rest}", &old[..query_of(old)])
            }
        };
        filled.set(&leaf.place, &text);
        if let [Name("actions"), At(action), Name("files"), At(file), _] = leaf.place[..] {
            filled.value_mut()["actions"][action]["files"][file]["size"] = bytes.len().into();
        }
    }
    Some(filled)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::recording::examples::{on, recording};

    #[test]
    fn all_texts_are_leaves_and_public_ones_are_not() {
        let mut all = recording(&json!([
            on(1, "type", "#a", &json!({ "text": "private" })),
            on(2, "type", "#a", &json!({ "text": "shown", "public": true })),
            on(3, "file", "#b", &json!({ "files": [{ "name": "x.csv", "body": "QUJD" }] })),
            on(4, "click", "#c", &json!({ "dialogs": [{ "type": "prompt", "answer": "name" }] })),
            on(5, "type", "#d", &json!({ "secret": { "length": "1-8", "classes": [] } })),
        ]));
        all.value_mut()["answers"] =
            json!([{ "id": 1, "url": "/a?private", "body": "[]", "encoding": "text" }]);
        let found = leaves(&all);
        let bytes: Vec<Vec<u8>> = found.iter().filter_map(|it| bytes_of(&all, it)).collect();
        let expected: [&[u8]; 6] =
            [b"?q=private#x", b"private", b"ABC", b"name", b"[]", b"?private"];
        assert_eq!(bytes, expected);
        let other =
            [b"#y".to_vec(), b"x".to_vec(), vec![255], b"".to_vec(), b"{}".to_vec(), b"".to_vec()];
        let other_filled = filled(&all, &found, &other).expect("it can be written");
        assert_eq!(other_filled.url(), "https://app.example/list#y");
        assert_eq!(other_filled.actions()[2]["files"][0]["body"], "/w==");
        assert_eq!(other_filled.actions()[2]["files"][0]["size"], 1);
        assert_eq!(other_filled.value()["answers"][0]["url"], "/a");
        let bytes: Vec<Option<Vec<u8>>> =
            found.iter().map(|it| bytes_of(&other_filled, it)).collect();
        assert_eq!(bytes, other.map(Some));
        // Typed text is what keys can type, an address is one.
        let key = [b"".to_vec(), b"\x01".to_vec()];
        assert_eq!(filled(&all, &found, &key), None);
        assert_eq!(filled(&all, &found, &[b"".to_vec(), vec![255]]), None);
        assert_eq!(filled(&all, &found, &[b"x".to_vec()]), None);
    }
}
