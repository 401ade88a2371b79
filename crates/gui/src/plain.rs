//! Making plain: what a recording has beside steps and texts, and the failure does not need.
//!
//! The time, chance, the size of the window, where exactly something was clicked, what was stored and what the
//! network said: each becomes what it is for everybody, if it still fails so. All at once first, then one by one. What
//! has to stay is counted, in bits.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use stunt_reduce::Broken;

use crate::case::Case;
use crate::recording::Recording;

/// What a part costs if it stays.
#[derive(Clone, PartialEq, Debug)]
pub struct Stays {
    /// What it is.
    pub what: String,
    /// In bits.
    pub bits: f64,
}

/// A change, and what is to be counted where it cannot be made.
struct Edit {
    what: String,
    bits: f64,
    make: Box<dyn Fn(&mut Value)>,
}

/// What nobody needs for a replay goes without a trial: names of listeners, what the page looked like. Times are the
/// pace's.
#[must_use]
pub fn bare(recording: &Recording) -> Recording {
    let mut bare = recording.clone();
    let value = bare.value_mut();
    value["page"]["title"] = json!("");
    value["page"]["agent"] = json!("");
    value["begun"] = json!(0);
    value["others"] = json!([]);
    value["gaps"] = json!([]);
    value["dropped"] = json!(0);
    value["failure"] = Value::Null;
    if value["load"].is_object() {
        value["load"]["calls"] = json!([]);
    }
    for action in list(&mut value["actions"]) {
        action["calls"] = json!([]);
        action["needs"] = json!([]);
        for file in list(&mut action["files"]) {
            // Of one that is not there not even how large it is.
            let body = file["body"].as_str().and_then(|it| STANDARD.decode(it).ok());
            file["size"] = json!(body.map_or(0, |it| it.len()));
        }
        if action["files"].is_null()
            && let Some(action) = action.as_object_mut()
        {
            action.remove("files");
        }
        if let Some(action) = action.as_object_mut() {
            action.remove("more_calls");
        }
    }
    let page = value["page"]["url"].clone();
    for (number, answer) in (1..).zip(list(&mut value["answers"])) {
        if let Some(url) = answer["url"].as_str() {
            answer["url"] = json!(from_page(url, page.as_str().unwrap_or_default()));
        }
        answer["at_ms"] = json!(100 * number);
        let kind = answer["headers"]["content-type"].clone();
        answer["headers"] =
            if kind.is_string() { json!({ "content-type": kind }) } else { json!({}) };
    }
    bare
}

fn list(value: &mut Value) -> impl Iterator<Item = &mut Value> {
    value.as_array_mut().into_iter().flatten()
}

/// An address on the page's own server, from there on: where the page lies is another matter.
fn from_page<'a>(url: &'a str, page: &str) -> &'a str {
    let server = |url: &str| {
        let rest = url.split_once("://").map_or("", |(_, rest)| rest);
        rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())].to_owned()
    };
    let folder = &page[..page.rfind('/').map_or(0, |at| at + 1)];
    if page.starts_with("file:") {
        return url.strip_prefix(folder).filter(|it| !it.is_empty()).unwrap_or(url);
    }
    let (here, there) = (server(page), server(url));
    if here.is_empty() || here != there || !page.starts_with("http") {
        return url;
    }
    let rest = &url[url.find(&there).unwrap_or_default() + there.len()..];
    if rest.starts_with('/') { rest } else { url }
}

/// The recording made plain, and what had to stay.
///
/// # Errors
/// Nothing can be tried any more.
pub fn plain(case: &Case<'_>, recording: &Recording) -> Result<(Recording, Vec<Stays>), Broken> {
    let edits = edits(recording);
    let made = |recording: &Recording, edits: &[&Edit]| {
        let mut plain = recording.clone();
        edits.iter().for_each(|edit| (edit.make)(plain.value_mut()));
        plain
    };
    let mut current = recording.clone();
    let mut stays = Vec::new();
    // Halves of what could not be done at once, down to single ones.
    let all: Vec<&Edit> = edits.iter().collect();
    let mut open: Vec<Vec<&Edit>> = vec![all];
    while let Some(group) = open.pop() {
        if group.is_empty() {
            continue;
        }
        let candidate = made(&current, &group);
        if candidate == current || case.fails(std::slice::from_ref(&candidate))?[0].is_some() {
            current = candidate;
        } else if let [edit] = group[..] {
            stays.push(Stays { what: edit.what.clone(), bits: edit.bits });
        } else {
            let (first, second) = group.split_at(group.len() / 2);
            open.push(second.to_vec());
            open.push(first.to_vec());
        }
    }
    Ok((current, stays))
}

/// Everything that may become plain. Lists lose what is in them from behind, so that places stay right.
fn edits(recording: &Recording) -> Vec<Edit> {
    let mut all: Vec<Edit> = Vec::new();
    let mut edit = |what: String, bits: f64, make: Box<dyn Fn(&mut Value)>| {
        all.push(Edit { what, bits, make });
    };
    let value = recording.value();
    let environment = &value["environment"];
    let mut set = |what: &str, bits: f64, name: &'static str, plain: Value| {
        if !environment[name].is_null() && environment[name] != plain {
            edit(
                what.to_owned(),
                bits,
                Box::new(move |it| it["environment"][name] = plain.clone()),
            );
        }
    };
    // 2001-09-09T01:46:40Z; milliseconds within some centuries.
    set("the time", 43.0, "clock", json!(1_000_000_000_000_u64));
    set("how long the page was open", 32.0, "performance", json!(0));
    set("the time zone", 9.3, "zone", json!("UTC"));
    set("whether it was dark", 1.0, "dark", json!(false));
    set("random numbers", 128.0, "seed", json!([1, 2, 3, 4]));
    let crypto = 4.0 * environment["crypto"].to_string().len() as f64;
    set("random numbers", crypto, "crypto", json!([]));
    if value["page"]["language"] != "en-US" {
        edit("the language".into(), 13.0, Box::new(|it| it["page"]["language"] = json!("en-US")));
    }
    let viewport = json!({ "width": 1280, "height": 720, "scale": 1 });
    if value["page"]["viewport"] != viewport {
        let make = move |it: &mut Value| it["page"]["viewport"] = viewport.clone();
        edit("the size of the window".into(), 28.0, Box::new(make));
    }
    let stored = environment["storage"].as_array().map_or(&[][..], Vec::as_slice);
    for (number, entry) in stored.iter().enumerate().rev() {
        // Its value is a leaf.
        let bits = 2.0 + 8.0 * entry["key"].as_str().unwrap_or_default().len() as f64;
        let make = move |it: &mut Value| remove(&mut it["environment"]["storage"], number);
        edit("that something was stored".into(), bits, Box::new(make));
    }
    let answers = value["answers"].as_array().map_or(&[][..], Vec::as_slice);
    for (number, answer) in answers.iter().enumerate().rev() {
        // Method and status, and all of the path, in which the user's names may be.
        let url = answer["url"].as_str().unwrap_or_default();
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let bits = 13.0 + 8.0 * path.len() as f64;
        // What was asked for is a text; mostly the answer is found without it.
        if url.len() > path.len() {
            let path = json!(path);
            let make = move |it: &mut Value| {
                if let Some(answer) = it["answers"].get_mut(number) {
                    answer["url"] = path.clone();
                }
            };
            edit("what was asked of the network".into(), 0.0, Box::new(make));
        }
        let make = move |it: &mut Value| remove(&mut it["answers"], number);
        edit("an answer of the network".into(), bits, Box::new(make));
    }
    for (number, action) in recording.actions().iter().enumerate() {
        let mut drop = |name: &'static str, what: &str, bits: f64, plain: Option<Value>| {
            let now = &action[name];
            if now.is_null() || Some(now) == plain.as_ref() {
                return;
            }
            let make = move |it: &mut Value| {
                let Some(action) = it["actions"][number].as_object_mut() else { return };
                match &plain {
                    Some(plain) => drop_in(action, name, plain.clone()),
                    None => drop_out(action, name),
                }
            };
            edit(format!("{what} in step {}", number + 1), bits, Box::new(make));
        };
        drop("offset", "where exactly it was pointed to", 24.0, None);
        drop("selection", "what was selected", 24.0, None);
        drop("modifiers", "keys that were held", 8.0, Some(json!([])));
        drop("pointer", "what was pointed with", 2.0, None);
        drop("html", "the form of what was pasted", 1.0, None);
        drop("path", "the way of the pointer", 192.0, Some(json!([])));
        drop("to_offset", "where exactly it was dropped", 24.0, None);
        drop("repeat", "how long a key was held", 8.0, Some(json!(1)));
        drop("delta", "how far it was turned", 24.0, Some(json!({ "x": 0, "y": 100 })));
        drop("scroll", "how far it was scrolled", 24.0, Some(json!({ "x": 0, "y": 100 })));
        drop(
            "viewport",
            "the size of the window",
            28.0,
            Some(json!({ "width": 1280, "height": 720, "scale": 1 })),
        );
        if let Some(dialogs) = action["dialogs"].as_array().filter(|it| !it.is_empty()) {
            let bits = 3.0 * dialogs.len() as f64;
            drop("dialogs", "what was answered to the page", bits, Some(json!([])));
        }
        let files = action["files"].as_array().map_or(&[][..], Vec::as_slice);
        for (file, content) in files.iter().enumerate() {
            if content["type"].as_str().is_some_and(|it| !it.is_empty()) {
                let what = format!("the type of a file in step {}", number + 1);
                let make = move |it: &mut Value| {
                    it["actions"][number]["files"][file]["type"] = json!("");
                };
                edit(what, 7.0, Box::new(make));
            }
            let name = content["name"].as_str().unwrap_or_default().to_owned();
            let extension = name.rsplit_once('.').map_or(String::new(), |(_, it)| format!(".{it}"));
            let plain =
                format!("file{}", if extension.len() <= 5 { extension } else { String::new() });
            let make = move |it: &mut Value| {
                let file = &mut it["actions"][number]["files"][file];
                (file["name"], file["modified"]) = (json!(plain), json!(0));
            };
            let bits = 43.0 + 8.0 * name.len() as f64;
            edit(format!("the name of a file in step {}", number + 1), bits, Box::new(make));
        }
    }
    all
}

fn drop_in(action: &mut serde_json::Map<String, Value>, name: &str, plain: Value) {
    action.insert(name.to_owned(), plain);
}

fn drop_out(action: &mut serde_json::Map<String, Value>, name: &str) {
    action.remove(name);
}

/// Takes one out of a list; its place is emptied first, so that places before it stay what they are.
fn remove(list: &mut Value, number: usize) {
    if let Some(list) = list.as_array_mut().filter(|list| number < list.len()) {
        list.remove(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::examples::{on, recording};

    #[test]
    fn what_came_from_the_page_s_own_server_is_told_from_there() {
        let page = "https://a.example:8/list?x";
        assert_eq!(from_page("https://a.example:8/api?q=1", page), "/api?q=1");
        assert_eq!(from_page("wss://a.example:8/chat", page), "/chat");
        assert_eq!(from_page("https://a.example/api", page), "https://a.example/api");
        assert_eq!(from_page("https://a.example:8", page), "https://a.example:8");
        assert_eq!(from_page("/api", page), "/api");
        assert_eq!(from_page("file:///home/erika/a?b", "file:///home/erika/c.html"), "a?b");
        assert_eq!(from_page("file:///x/a", "file:///home/erika/c.html"), "file:///x/a");
    }

    #[test]
    fn a_file_is_as_large_as_what_is_there_of_it() {
        let files = json!([{ "name": "a.csv", "size": 4711, "body": "QUJD", "type": "text/csv" },
                           { "name": "b.csv", "size": 4711, "body": null, "type": "" }]);
        let all = recording(&json!([on(1, "file", "#a", &json!({ "files": files }))]));
        let mut bare = bare(&all);
        let size = |number: usize| bare.actions()[0]["files"][number]["size"].clone();
        assert_eq!((size(0), size(1)), (json!(3), json!(0)));
        for edit in edits(&bare) {
            (edit.make)(bare.value_mut());
        }
        assert_eq!(bare.actions()[0]["files"][0]["type"], "");
    }

    #[test]
    fn what_is_plain_already_needs_no_edit_and_the_rest_becomes_so() {
        let more = json!({ "offset": { "x": 1, "y": 2 }, "modifiers": ["ctrl"], "repeat": 1,
                           "calls": [{ "reads": [{ "value": "private" }] }] });
        let mut all = recording(&json!([on(7, "click", "#a", &more)]));
        all.value_mut()["answers"] = json!([
            { "id": 1, "url": "https://a.example/private?x", "headers": { "etag": "private" } },
            { "id": 2, "url": "https://a.example/b", "headers": {} },
        ]);
        all.value_mut()["page"]["title"] = json!("private");
        all.value_mut()["failure"] = json!({ "frames": "private" });
        let mut bare = bare(&all);
        let edits = edits(&bare);
        for edit in &edits {
            (edit.make)(bare.value_mut());
        }
        let text = bare.value().to_string().replace("?q=private", "");
        assert!(!text.contains("private"), "{text}");
        let action = &bare.actions()[0];
        assert_eq!((&action["offset"], &action["modifiers"]), (&Value::Null, &json!([])));
        assert_eq!(bare.value()["answers"], json!([]));
        let plain: Vec<String> = super::edits(&bare).into_iter().map(|it| it.what).collect();
        assert_eq!(plain, ["whether it was dark"; 0]);
    }
}
