//! Trusted input: mouse and keys as the browser makes them of a person's.
//!
//! What the browser's input cannot do alike (a choice in a list, files, the clipboard, a drag of text) is left to
//! the player. Where a widget is, the player in the page says.

use serde_json::{Value, json};

use crate::chromium::{Error, Tab};

const FOCUS: &str = include_str!("page/focus.js");

/// Whether an action is one for mouse and keys.
pub(crate) fn is_one(action: &Value) -> bool {
    let kinds = ["click", "dblclick", "contextmenu", "auxclick", "hover", "type", "key"];
    action["selection"].is_null() && action["kind"].as_str().is_some_and(|it| kinds.contains(&it))
}

/// Does one that is. Whether it could be done, or why not.
pub(crate) fn perform(tab: &mut Tab, action: &Value) -> Result<Result<(), &'static str>, Error> {
    match action["kind"].as_str().unwrap_or_default() {
        "hover" => hover(tab, action),
        "type" => type_text(tab, action),
        "key" => key(tab, action),
        _ => click(tab, action),
    }
}

/// Where to point to.
fn locate(tab: &mut Tab, action: &Value) -> Result<Result<(f64, f64), &'static str>, Error> {
    let expression = format!(
        "Promise.resolve(__stuntReplay.locate({}, {})).then(it => JSON.parse(JSON.stringify(it)))",
        action["target"], action["offset"]
    );
    let place = tab.evaluate(&expression)?;
    Ok(if place["found"] != true {
        Err("missing")
    } else if place["enabled"] == false {
        Err("disabled")
    } else if place["visible"] == false {
        Err("hidden")
    } else {
        let number = |name: &str| place[name].as_f64().unwrap_or_default();
        Ok((number("x"), number("y")))
    })
}

/// The bits of modifiers.
fn modifiers(action: &Value) -> u64 {
    let names = action["modifiers"].as_array().into_iter().flatten();
    names
        .map(|name| match name.as_str() {
            Some("alt") => 1,
            Some("ctrl") => 2,
            Some("meta") => 4,
            Some("shift") => 8,
            _ => 0,
        })
        .sum()
}

fn click(tab: &mut Tab, action: &Value) -> Result<Result<(), &'static str>, Error> {
    let (x, y) = match locate(tab, action)? {
        Ok(place) => place,
        Err(why) => return Ok(Err(why)),
    };
    let kind = action["kind"].as_str().unwrap_or_default();
    let kind = match action["button"].as_u64() {
        Some(3) => "back",
        Some(4) => "forward",
        _ => kind,
    };
    point(tab, kind, (x, y), modifiers(action))?;
    Ok(Ok(()))
}

/// Does with the mouse what a kind of action says, at a place.
pub(crate) fn point(
    tab: &mut Tab,
    kind: &str,
    (x, y): (f64, f64),
    modifiers: u64,
) -> Result<(), Error> {
    let (button, bit) = match kind {
        "auxclick" => ("middle", 4),
        "contextmenu" => ("right", 2),
        "back" => ("back", 8),
        "forward" => ("forward", 16),
        _ => ("left", 1),
    };
    let mut mouse = |kind: &str, button: &str, buttons: u64, count: u64| {
        let event = json!({
            "type": kind, "x": x, "y": y, "button": button, "buttons": buttons,
            "clickCount": count, "modifiers": modifiers,
        });
        tab.call("Input.dispatchMouseEvent", &event).map(drop)
    };
    mouse("mouseMoved", "none", 0, 0)?;
    let clicks = match kind {
        "hover" => 0,
        "dblclick" => 2,
        _ => 1,
    };
    for count in 1..=clicks {
        mouse("mousePressed", button, bit, count)?;
        mouse("mouseReleased", button, 0, count)?;
    }
    Ok(())
}

fn hover(tab: &mut Tab, action: &Value) -> Result<Result<(), &'static str>, Error> {
    let (x, y) = match locate(tab, action)? {
        Ok(place) => place,
        Err(why) => return Ok(Err(why)),
    };
    point(tab, "hover", (x, y), 0)?;
    Ok(Ok(()))
}

/// Puts the caret into the widget of an action, unless it is there: by a script, as the player does.
fn focus(tab: &mut Tab, action: &Value) -> Result<Result<(), &'static str>, Error> {
    if action["target"].is_null() {
        return Ok(Ok(()));
    }
    if let Err(why) = locate(tab, action)? {
        return Ok(Err(why));
    }
    tab.evaluate(&format!("({FOCUS})({})", action["target"]))?;
    Ok(Ok(()))
}

fn type_text(tab: &mut Tab, action: &Value) -> Result<Result<(), &'static str>, Error> {
    let text = match action["text"].as_str() {
        Some(text) => text.to_owned(),
        None => {
            let stand_in = format!("__stuntReplay.stand_in({})", action["secret"]);
            tab.evaluate(&stand_in)?.as_str().unwrap_or_default().to_owned()
        }
    };
    if let Err(why) = focus(tab, action)? {
        return Ok(Err(why));
    }
    write(tab, &text)?;
    Ok(Ok(()))
}

/// Types a text where the caret is.
pub(crate) fn write(tab: &mut Tab, text: &str) -> Result<(), Error> {
    for character in text.chars() {
        let text = if character == '\n' { '\r' } else { character }.to_string();
        let (key, code) = match character {
            '\n' => ("Enter".to_owned(), 13),
            other => (text.clone(), virtual_code(&other.to_string())),
        };
        let down = json!({
            "type": "keyDown", "text": text, "unmodifiedText": text, "key": key,
            "windowsVirtualKeyCode": code,
        });
        tab.call("Input.dispatchKeyEvent", &down)?;
        let up = json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code });
        tab.call("Input.dispatchKeyEvent", &up)?;
    }
    Ok(())
}

fn key(tab: &mut Tab, action: &Value) -> Result<Result<(), &'static str>, Error> {
    if let Err(why) = focus(tab, action)? {
        return Ok(Err(why));
    }
    press(tab, action)?;
    Ok(Ok(()))
}

/// Presses a key.
pub(crate) fn press(tab: &mut Tab, action: &Value) -> Result<(), Error> {
    let name = action["key"].as_str().unwrap_or_default();
    let bits = modifiers(action);
    let mut down = json!({
        "type": "rawKeyDown", "key": name, "code": action["code"].as_str().unwrap_or_default(),
        "modifiers": bits, "windowsVirtualKeyCode": virtual_code(name),
    });
    let plain = bits & !8 == 0;
    let text = match name {
        "Enter" => Some("\r"),
        other if other.chars().count() == 1 && plain => Some(other),
        _ => None,
    };
    if let Some(text) = text {
        (down["type"], down["text"]) = (json!("keyDown"), json!(text));
    }
    // What the operating system makes of it.
    let command = match (bits & (2 | 4) != 0, bits & 8 != 0, name) {
        (true, _, "a" | "A") => Some("selectAll"),
        (true, false, "z") => Some("undo"),
        (true, true, "z" | "Z") | (true, false, "y") => Some("redo"),
        (true, _, "c") => Some("copy"),
        (true, _, "x") => Some("cut"),
        (true, _, "v") => Some("paste"),
        _ => None,
    };
    if let Some(command) = command {
        down["commands"] = json!([command]);
    }
    let up = json!({
        "type": "keyUp", "key": name, "code": down["code"], "modifiers": bits,
        "windowsVirtualKeyCode": down["windowsVirtualKeyCode"],
    });
    for number in 0..action["repeat"].as_u64().unwrap_or(1).clamp(1, 1000) {
        down["autoRepeat"] = json!(number > 0);
        tab.call("Input.dispatchKeyEvent", &down)?;
    }
    tab.call("Input.dispatchKeyEvent", &up)?;
    Ok(())
}

/// What old pages call `keyCode`.
fn virtual_code(key: &str) -> u32 {
    match key {
        "Backspace" => 8,
        "Tab" => 9,
        "Enter" => 13,
        "Shift" => 16,
        "Control" => 17,
        "Alt" => 18,
        "Escape" => 27,
        " " => 32,
        "PageUp" => 33,
        "PageDown" => 34,
        "End" => 35,
        "Home" => 36,
        "ArrowLeft" => 37,
        "ArrowUp" => 38,
        "ArrowRight" => 39,
        "ArrowDown" => 40,
        "Insert" => 45,
        "Delete" => 46,
        _ => match key.as_bytes() {
            [byte] if byte.is_ascii_alphanumeric() => u32::from(byte.to_ascii_uppercase()),
            [b'F', number @ ..] => std::str::from_utf8(number)
                .ok()
                .and_then(|it| it.parse::<u32>().ok())
                .map_or(0, |it| 111 + it),
            _ => 0,
        },
    }
}
