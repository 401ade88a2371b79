//! Chrome DevTools Recorder: its JSON, out and in.
//!
//! Checked against the reference runner, `@puppeteer/replay`: it refuses steps that it does not know and drops keys
//! that it does not, so all that is ours is in a custom step, which it skips. There the whole recording is, and a
//! flow that comes back with it comes back whole.

use serde_json::{Value, json};

use super::held;
use crate::recording::{Recording, SCHEMA, Wrong};

/// The name of our custom step.
const OURS: &str = "stunt";
/// Where a widget is pointed to, if nothing else is known: inside of everything that can be seen.
const INSIDE: u64 = 3;

/// A flow.
#[must_use]
pub fn to_recorder(recording: &Recording, title: &str, url: &str) -> Value {
    let (width, height) = recording.viewport();
    let mut steps = vec![
        json!({ "type": "customStep", "name": OURS, "parameters": { "recording": recording.value() } }),
        json!({ "type": "setViewport", "width": width, "height": height, "deviceScaleFactor": 1,
                "isMobile": false, "hasTouch": false, "isLandscape": true }),
        json!({ "type": "navigate", "url": url, "assertedEvents": [{ "type": "navigation", "url": url }] }),
    ];
    recording.actions().iter().for_each(|action| steps.extend(steps_of(action)));
    json!({ "title": title, "steps": steps })
}

fn steps_of(action: &Value) -> Vec<Value> {
    let target = &action["target"];
    let with = |kind: &str, own: Value| {
        let mut step = json!({ "type": kind, "target": "main" });
        if target.is_object() {
            step["selectors"] = target["selectors"].clone();
            if target["frame"].as_array().is_some_and(|it| !it.is_empty()) {
                step["frame"] = target["frame"].clone();
            }
        }
        for (name, value) in own.as_object().into_iter().flatten() {
            step[name] = value.clone();
        }
        step
    };
    let offset = |name: &str| action["offset"][name].as_f64().unwrap_or(INSIDE as f64);
    let click =
        |button: &str| json!({ "offsetX": offset("x"), "offsetY": offset("y"), "button": button });
    let within_keys = |inner: Vec<Value>| {
        let key = |kind: &str, key: &&str| json!({ "type": kind, "key": key, "target": "main" });
        let down = held(action).iter().map(|it| key("keyDown", it)).collect::<Vec<_>>();
        let up = held(action).iter().rev().map(|it| key("keyUp", it)).collect::<Vec<_>>();
        down.into_iter().chain(inner).chain(up).collect()
    };
    let custom = || {
        let mut own = action.clone();
        own["calls"] = json!([]);
        vec![json!({ "type": "customStep", "name": "stunt-action", "parameters": own })]
    };
    match action["kind"].as_str().unwrap_or_default() {
        "click" => within_keys(vec![with("click", click("primary"))]),
        "dblclick" => within_keys(vec![with("doubleClick", click("primary"))]),
        "contextmenu" => within_keys(vec![with("click", click("secondary"))]),
        "auxclick" => {
            let button = match action["button"].as_u64() {
                Some(3) => "back",
                Some(4) => "forward",
                _ => "auxiliary",
            };
            within_keys(vec![with("click", click(button))])
        }
        "type" if action["text"].is_string() && target.is_object() => {
            vec![with("change", json!({ "value": action["text"] }))]
        }
        "change" if action["value"].is_string() => {
            vec![with("change", json!({ "value": action["value"] }))]
        }
        "change" if action["values"][0].is_string() => {
            vec![with("change", json!({ "value": action["values"][0] }))]
        }
        "key" => {
            let key = action["key"].as_str().unwrap_or_default();
            let press = |kind: &str| json!({ "type": kind, "key": key, "target": "main" });
            let times = action["repeat"].as_u64().unwrap_or(1).clamp(1, 100);
            within_keys((0..times).flat_map(|_| [press("keyDown"), press("keyUp")]).collect())
        }
        "hover" => vec![with("hover", json!({}))],
        "scroll" => {
            vec![with("scroll", json!({ "x": action["scroll"]["x"], "y": action["scroll"]["y"] }))]
        }
        "resize" => vec![json!({
            "type": "setViewport", "width": action["viewport"]["width"], "height": action["viewport"]["height"],
            "deviceScaleFactor": 1, "isMobile": false, "hasTouch": false, "isLandscape": true,
        })],
        "navigate" if action["how"] == "load" => {
            vec![json!({ "type": "navigate", "url": action["url"] })]
        }
        _ => custom(),
    }
}

/// A flow as a recording: one of ours whole, another one as far as its steps go.
///
/// # Errors
/// It is no flow, or has a step of another kind.
pub fn from_recorder(flow: &Value) -> Result<Recording, Wrong> {
    let steps = flow["steps"].as_array().ok_or(Wrong::Part("steps"))?;
    let ours = steps.iter().find(|it| it["type"] == "customStep" && it["name"] == OURS);
    if let Some(ours) = ours {
        return Recording::new(ours["parameters"]["recording"].clone());
    }
    let mut actions: Vec<Value> = Vec::new();
    let mut held: Vec<&str> = Vec::new();
    let (mut url, mut viewport) = (None, json!({ "width": 1280, "height": 720, "scale": 1 }));
    for step in steps {
        let kind = step["type"].as_str().ok_or(Wrong::Part("type"))?;
        let modifiers = json!(held);
        let mut action = match kind {
            "setViewport" => {
                let size = json!({ "width": step["width"], "height": step["height"], "scale": 1 });
                if url.is_none() {
                    viewport = size;
                    continue;
                }
                json!({ "kind": "resize", "viewport": size })
            }
            "navigate" => {
                let to = step["url"].as_str().ok_or(Wrong::Part("url"))?;
                if url.is_none() {
                    url = Some(to.to_owned());
                    continue;
                }
                json!({ "kind": "navigate", "how": "load", "url": to })
            }
            "click" | "doubleClick" => {
                let (kind, button) = match (kind, step["button"].as_str()) {
                    ("doubleClick", _) => ("dblclick", 0),
                    (_, Some("secondary")) => ("contextmenu", 2),
                    (_, Some("auxiliary")) => ("auxclick", 1),
                    (_, Some("back")) => ("auxclick", 3),
                    (_, Some("forward")) => ("auxclick", 4),
                    _ => ("click", 0),
                };
                let offset = json!({ "x": step["offsetX"], "y": step["offsetY"] });
                json!({ "kind": kind, "button": button, "offset": offset, "modifiers": modifiers })
            }
            "change" => json!({ "kind": "change", "value": step["value"] }),
            "hover" => json!({ "kind": "hover" }),
            "scroll" => json!({ "kind": "scroll", "scroll": { "x": step["x"], "y": step["y"] } }),
            "keyDown" => match step["key"].as_str().ok_or(Wrong::Part("key"))? {
                "Control" => {
                    held.push("ctrl");
                    continue;
                }
                "Shift" => {
                    held.push("shift");
                    continue;
                }
                "Alt" => {
                    held.push("alt");
                    continue;
                }
                "Meta" => {
                    held.push("meta");
                    continue;
                }
                key => {
                    json!({ "kind": "key", "key": key, "code": "", "modifiers": modifiers, "repeat": 1 })
                }
            },
            "keyUp" => {
                let name = match step["key"].as_str() {
                    Some("Control") => "ctrl",
                    Some("Shift") => "shift",
                    Some("Alt") => "alt",
                    Some("Meta") => "meta",
                    _ => continue,
                };
                held.retain(|it| *it != name);
                continue;
            }
            // What waits says nothing of what was done.
            "waitForElement"
            | "waitForExpression"
            | "close"
            | "emulateNetworkConditions"
            | "customStep" => continue,
            _ => return Err(Wrong::Part("type")),
        };
        let number = actions.len() + 1;
        (action["id"], action["at_ms"]) = (json!(number), json!(100 * number));
        for name in ["dialogs", "calls", "needs"] {
            action[name] = json!([]);
        }
        if !step["selectors"].is_null() {
            let path = |it: &Value| if it.is_string() { json!([it]) } else { it.clone() };
            let selectors = step["selectors"].as_array().ok_or(Wrong::Part("selectors"))?;
            let selectors: Vec<Value> = selectors.iter().map(path).collect();
            let frame = if step["frame"].is_array() { step["frame"].clone() } else { json!([]) };
            // What kind of element it is, a flow does not say.
            action["target"] = json!({ "selectors": selectors, "widget": "", "tag": "", "role": "", "name": "",
                                       "frame": frame });
        }
        actions.push(action);
    }
    let url = url.ok_or(Wrong::Part("url"))?;
    Recording::new(json!({
        "schema": SCHEMA, "recorder": "",
        "page": { "url": url, "title": "", "viewport": viewport, "language": "", "agent": "" },
        "begun": 0,
        "environment": { "clock": 0, "performance": 0, "zone": "", "dark": false, "seed": null, "crypto": [],
                         "storage": [] },
        "load": { "dialogs": [], "calls": [] }, "actions": actions, "answers": [], "failure": null, "others": [],
        "gaps": [], "dropped": 0,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::examples::{on, recording};

    #[test]
    fn a_flow_comes_back_whole_and_a_strangers_as_far_as_it_goes() {
        let all = recording(&json!([
            on(1, "click", "#a", &json!({ "modifiers": ["ctrl"] })),
            on(2, "type", "#b", &json!({ "text": "x" })),
            on(3, "drag", "#b", &json!({ "path": [] })),
            on(4, "key", "#b", &json!({ "key": "a", "modifiers": ["ctrl", "shift"], "repeat": 2 })),
        ]));
        let mut flow = to_recorder(&all, "a flow", "https://b.example/");
        let kinds: Vec<&str> = flow["steps"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|it| it["type"].as_str())
            .collect();
        let key = ["keyDown", "keyUp"];
        let keys = ["keyDown", "keyDown", key[0], key[1], key[0], key[1], "keyUp", "keyUp"];
        let mut expected = vec![
            "customStep",
            "setViewport",
            "navigate",
            "keyDown",
            "click",
            "keyUp",
            "change",
            "customStep",
        ];
        expected.extend(keys);
        assert_eq!(kinds, expected);
        assert_eq!(from_recorder(&flow).expect("it is a flow"), all);
        flow["steps"][0] = json!({ "type": "waitForElement" });
        let other = from_recorder(&flow).expect("it is a flow");
        let kinds: Vec<&str> =
            other.actions().iter().filter_map(|it| it["kind"].as_str()).collect();
        assert_eq!(kinds, ["click", "change", "key", "key"]);
        assert_eq!(other.actions()[0]["modifiers"], json!(["ctrl"]));
        assert_eq!(other.actions()[3]["modifiers"], json!(["ctrl", "shift"]));
        assert_eq!(other.url(), "https://b.example/");
        flow["steps"][0] = json!({ "type": "somethingNew" });
        assert_eq!(from_recorder(&flow), Err(Wrong::Part("type")));
    }
}
