//! A recording of a user interface in words: what a reader of a report does to see the failure.
//!
//! A double may be such a recording: JSON that names its schema. What is read here a stranger wrote, so whatever does
//! not look as it should is left out, and nothing of it is more than text: whoever shows it sees to that.

use serde_json::Value;

use crate::per_byte::ByteRuns;

/// How the schemas of recordings are named.
const FAMILY: &str = "stunt-recording-";
/// The most steps in words; nobody reads more.
const MOST: usize = 500;
/// The longest text that is shown of a step.
const LONGEST: usize = 60;
/// Bytes that tell less than this are free: nearly everything does as well.
const FREE: f64 = 2.0;

/// The steps of a recording in words, if it is one: `click *Save* in the dialog *Invoice*`. `runs` are what its bytes
/// reveal: what is free is not spelt out.
pub fn steps(recording: &[u8], runs: Option<&ByteRuns>) -> Option<Vec<String>> {
    // Nothing else begins so: keys are in order, and actions are the first.
    let value: Value = if recording.first() == Some(&b'{') {
        serde_json::from_slice(recording).ok()?
    } else {
        return None;
    };
    if !value["schema"].as_str()?.starts_with(FAMILY) {
        return None;
    }
    let mut texts = texts(recording);
    let mut steps = Vec::new();
    for action in value["actions"].as_array()? {
        let own = action["text"].is_string().then(|| texts.next()).flatten();
        if steps.len() == MOST {
            steps.push("and so on".to_owned());
            break;
        }
        let free = own.zip(runs).map_or(0, |(at, runs)| free(runs, at, action["text"].as_str()));
        steps.push(words(action, free));
    }
    Some(steps)
}

/// Where the texts of actions begin, in their order. A quotation mark within a text has a backslash before it.
fn texts(recording: &[u8]) -> impl Iterator<Item = usize> + '_ {
    const KEY: &[u8] = b"\"text\":\"";
    let is_it =
        |&at: &usize| recording[at..].starts_with(KEY) && (at == 0 || recording[at - 1] != b'\\');
    (0..recording.len()).filter(is_it).map(|at| at + KEY.len())
}

/// How many characters of a text are free.
fn free(runs: &ByteRuns, at: usize, text: Option<&str>) -> usize {
    let text = text.unwrap_or_default();
    let is_free = |place: usize| runs.at((at + place) as u64).is_none_or(|(bits, _)| bits < FREE);
    text.char_indices().filter(|(place, _)| is_free(*place)).count()
}

fn words(action: &Value, free: usize) -> String {
    let on = widget(&action["target"]);
    let held: String = action["modifiers"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|key| format!("{}+", capital(key)))
        .collect();
    let step = match action["kind"].as_str().unwrap_or_default() {
        "click" => format!("{held}click {on}"),
        "dblclick" => format!("{held}double-click {on}"),
        "contextmenu" => format!("{held}right-click {on}"),
        "auxclick" => format!("{held}click {on} with another button"),
        "type" => format!("type {} into {on}", typed(action, free)),
        "key" => {
            let times = match action["repeat"].as_u64() {
                Some(times) if times > 1 => format!(" {times} times"),
                _ => String::new(),
            };
            let key = text(&action["key"]);
            let place =
                if action["target"].is_object() { format!(" in {on}") } else { String::new() };
            format!("press {held}{}{times}{place}", if key == " " { "Space" } else { &key })
        }
        "change" => {
            let values = action["values"].as_array();
            let chosen =
                |all: &Vec<Value>| all.iter().map(quoted).collect::<Vec<_>>().join(" and ");
            let value = match values {
                Some(all) if all.is_empty() => "nothing".to_owned(),
                Some(all) => chosen(all),
                None if action["secret"].is_object() => "something secret".to_owned(),
                None => quoted(&action["value"]),
            };
            format!("{} {value} in {on}", if values.is_some() { "choose" } else { "set" })
        }
        "file" => {
            let files = action["files"].as_array().map_or(0, Vec::len);
            format!(
                "give {on} {}",
                if files == 1 { "a file".to_owned() } else { format!("{files} files") }
            )
        }
        "paste" => format!("paste {} into {on}", typed(action, free)),
        "cut" => format!("cut what is selected in {on}"),
        "copy" => format!("copy what is selected in {on}"),
        "drag" => format!("drag {on} to {}", widget(&action["to"])),
        "wheel" => format!("turn the wheel over {on}"),
        "scroll" => format!("scroll {on}"),
        "hover" => format!("point to {on}"),
        "resize" => "change the size of the window".to_owned(),
        "navigate" => "go to another place".to_owned(),
        other => format!("do something else ({other})"),
    };
    let dialogs = action["dialogs"].as_array().into_iter().flatten();
    dialogs.fold(step, |step, dialog| format!("{step}; {}", answer(dialog)))
}

/// What was typed, as far as it matters.
fn typed(action: &Value, free: usize) -> String {
    if action["secret"].is_object() {
        return "something secret".to_owned();
    }
    let text = action["text"].as_str().unwrap_or_default();
    let all = text.chars().count();
    let characters = |count: usize| match count {
        1 => "one free character".to_owned(),
        count => format!("{count} free characters"),
    };
    match (all, free) {
        (0, _) => "nothing".to_owned(),
        (all, free) if all == free => characters(free),
        (_, 0) => quoted(&action["text"]),
        (_, free) => format!("{}, with {} in it,", quoted(&action["text"]), characters(free)),
    }
}

/// How a dialog is answered.
fn answer(dialog: &Value) -> String {
    match (dialog["type"].as_str(), &dialog["answer"]) {
        (Some("alert"), _) => "close the message".to_owned(),
        (Some("prompt"), Value::String(_)) => format!("answer {}", quoted(&dialog["answer"])),
        (_, Value::Bool(true)) => "answer OK".to_owned(),
        _ => "answer Cancel".to_owned(),
    }
}

/// A widget: `*Save* in the dialog *Invoice*`.
fn widget(target: &Value) -> String {
    if !target.is_object() {
        return "the page".to_owned();
    }
    let (name, role, tag) = (text(&target["name"]), text(&target["role"]), text(&target["tag"]));
    let named = match (name.as_str(), role.as_str()) {
        ("", "") => format!("the {tag} {}", selector(target)),
        ("", role) => format!("the {role} {}", selector(target)),
        (name, _) => format!("*{name}*"),
    };
    let within = &target["within"];
    match (text(&within["role"]).as_str(), text(&within["name"]).as_str()) {
        ("", _) => named,
        (role, "") => format!("{named} in the {role}"),
        (role, name) => format!("{named} in the {role} *{name}*"),
    }
}

/// A widget without a name, by its place.
fn selector(target: &Value) -> String {
    let last = target["selectors"][0].as_array().and_then(|path| path.last());
    last.map(text).unwrap_or_default()
}

fn quoted(value: &Value) -> String {
    format!("“{}”", text(value))
}

/// A text, cut where it is long.
fn text(value: &Value) -> String {
    let text = value.as_str().unwrap_or_default();
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::per_byte::{ByteKind, ByteRuns};
    use crate::source::SourceName;

    fn told(actions: &Value, runs: Option<&ByteRuns>) -> Vec<String> {
        let recording = json!({ "schema": "stunt-recording-1", "actions": actions });
        steps(recording.to_string().as_bytes(), runs).expect("it is a recording")
    }

    #[test]
    fn steps_are_told_as_people_do() {
        let save = json!({ "name": "Save", "role": "button", "tag": "button",
                           "within": { "role": "dialog", "name": "Invoice" } });
        let bare = json!({ "name": "", "role": "", "tag": "div", "selectors": [["#e > div"]] });
        let actions = json!([
            { "kind": "click", "target": save, "modifiers": ["ctrl"],
              "dialogs": [{ "type": "confirm", "answer": false }] },
            { "kind": "dblclick", "target": bare },
            { "kind": "type", "target": save, "text": "a\"text\":\"b" },
            { "kind": "key", "key": "z", "modifiers": ["ctrl"], "repeat": 3 },
            { "kind": "change", "target": save, "values": ["x", "y"] },
            { "kind": "paste", "target": save, "secret": {} },
        ]);
        let expected = [
            "Ctrl+click *Save* in the dialog *Invoice*; answer Cancel",
            "double-click the div #e > div",
            "type “a\"text\":\"b” into *Save* in the dialog *Invoice*",
            "press Ctrl+z 3 times",
            "choose “x” and “y” in *Save* in the dialog *Invoice*",
            "paste something secret into *Save* in the dialog *Invoice*",
        ];
        assert_eq!(told(&actions, None), expected);
    }

    #[test]
    fn what_is_free_is_not_spelt_out() {
        let actions = json!([{ "kind": "type", "text": "free" }, { "kind": "type", "text": "(é" }]);
        let recording = json!({ "schema": "stunt-recording-1", "actions": actions }).to_string();
        let open = recording.find('(').expect("it is there");
        let figures =
            (0..recording.len()).map(|at| (if at == open { 8.0 } else { 0.5 }, ByteKind::Exact));
        let runs = ByteRuns::new(SourceName::File, figures);
        let expected = [
            "type 4 free characters into the page",
            "type “(é”, with one free character in it, into the page",
        ];
        assert_eq!(told(&actions, Some(&runs)), expected);
    }

    #[test]
    fn other_bytes_are_no_steps() {
        for other in [&b""[..], b"{", b"{}", b"{\"schema\":\"stunt-report-2\"}", b"[]", b"\0"] {
            assert_eq!(steps(other, None), None);
        }
        assert_eq!(told(&json!([7, {}]), None), ["do something else ()"; 2]);
        assert_eq!(told(&json!(vec![json!({ "kind": "scroll" }); 600]), None).len(), MOST + 1);
    }
}
