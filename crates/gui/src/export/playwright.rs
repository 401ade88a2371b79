//! A test for Playwright that fails as long as the page does.

use std::fmt::Write;

use serde_json::Value;

use super::{css_path, held, literal};
use crate::recording::Recording;

/// The test, as a file of JavaScript. The address can be given to it in STUNT_PAGE.
#[must_use]
pub fn playwright(recording: &Recording, title: &str, url: &str) -> String {
    let (width, height) = recording.viewport();
    let mut text = format!(
        "// Written by stunt from a report. It fails as long as the page does: `npx playwright test FILE`.\n\
         const {{ test, expect }} = require('@playwright/test');\n\n\
         test({}, async ({{ page }}) => {{\n  const errors = [];\n  const answers = [];\n  \
         page.on('pageerror', (error) => errors.push(error.stack || String(error)));\n  \
         page.on('dialog', (dialog) => {{\n    const answer = answers.length ? answers.shift() : true;\n    \
         return answer === false || answer === null ? dialog.dismiss() : dialog.accept(answer === true ? undefined : answer);\n  }});\n  \
         await page.setViewportSize({{ width: {width}, height: {height} }});\n",
        literal(title)
    );
    for stored in recording.value()["environment"]["storage"].as_array().into_iter().flatten() {
        let area = if stored["area"] == "session" { "sessionStorage" } else { "localStorage" };
        if let (Some(key), Some(value)) = (stored["key"].as_str(), stored["value"].as_str()) {
            let script = format!("{area}.setItem({}, {})", literal(key), literal(value));
            let _ = writeln!(text, "  await page.addInitScript({});", literal(&script));
        }
    }
    for answer in recording.value()["answers"].as_array().into_iter().flatten() {
        let Some(url) = answer["url"].as_str() else { continue };
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let path = path
            .split_once("://")
            .map_or(path, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
        let body = match (answer["body"].as_str(), answer["encoding"] == "base64") {
            (Some(body), true) => format!("Buffer.from({}, 'base64')", literal(body)),
            (body, _) => literal(body.unwrap_or_default()),
        };
        let kind = answer["headers"]["content-type"].as_str().unwrap_or("text/plain");
        let _ = writeln!(
            text,
            "  await page.route((url) => url.pathname === {}, (route) => route.fulfill({{ status: {}, contentType: {}, body: {body} }}), {{ times: 1 }});",
            literal(&format!("/{path}")),
            answer["status"].as_u64().unwrap_or(200),
            literal(kind)
        );
    }
    let _ = writeln!(text, "  await page.goto(process.env.STUNT_PAGE || {});", literal(url));
    for action in recording.actions() {
        for line in lines(action) {
            let _ = writeln!(text, "  {line}");
        }
    }
    text.push_str("  await page.waitForTimeout(300);\n  expect(errors).toEqual([]);\n});\n");
    text
}

fn lines(action: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for dialog in action["dialogs"].as_array().into_iter().flatten() {
        let answer = match &dialog["answer"] {
            Value::String(text) => literal(text),
            Value::Bool(false) | Value::Null => "false".to_owned(),
            _ => "true".to_owned(),
        };
        lines.push(format!("answers.push({answer});"));
    }
    let target = &action["target"];
    let frames: String = target["frame"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|at| format!(".frameLocator('iframe, frame').nth({})", at.as_u64().unwrap_or(0)))
        .collect();
    let widget = css_path(target)
        .map(|path| format!("page{frames}.locator({})", literal(&path.join(" >> "))));
    let widget = widget.unwrap_or_else(|| "page.locator('body')".to_owned());
    let mut options: Vec<String> = Vec::new();
    let keys = held(action);
    if !keys.is_empty() {
        options.push(format!(
            "modifiers: [{}]",
            keys.iter().map(|it| literal(it)).collect::<Vec<_>>().join(", ")
        ));
    }
    if let (Some(x), Some(y)) = (action["offset"]["x"].as_f64(), action["offset"]["y"].as_f64()) {
        options.push(format!("position: {{ x: {x}, y: {y} }}"));
    }
    let mut with = |extra: &str| {
        if !extra.is_empty() {
            options.push(extra.to_owned());
        }
        if options.is_empty() { String::new() } else { format!("{{ {} }}", options.join(", ")) }
    };
    lines.push(match action["kind"].as_str().unwrap_or_default() {
        "click" => format!("await {widget}.click({});", with("")),
        "dblclick" => format!("await {widget}.dblclick({});", with("")),
        "contextmenu" => format!("await {widget}.click({});", with("button: 'right'")),
        "auxclick" => format!("await {widget}.click({});", with("button: 'middle'")),
        "hover" => format!("await {widget}.hover();"),
        "type" => {
            let text = literal(action["text"].as_str().unwrap_or("secret"));
            format!("await {widget}.pressSequentially({text});")
        }
        "paste" => format!(
            "await {widget}.focus(); await page.keyboard.insertText({});",
            literal(action["text"].as_str().unwrap_or_default())
        ),
        "key" => {
            let mut key = keys.join("+");
            let own = action["key"].as_str().unwrap_or_default();
            key = if key.is_empty() { own.to_owned() } else { format!("{key}+{own}") };
            let press = if target.is_object() {
                format!("await {widget}.press({});", literal(&key))
            } else {
                format!("await page.keyboard.press({});", literal(&key))
            };
            match action["repeat"].as_u64() {
                Some(times) if times > 1 => format!("for (let i = 0; i < {}; i++) {press}", times.min(1000)),
                _ => press,
            }
        }
        "change" if action["values"].is_array() => {
            format!("await {widget}.selectOption({});", action["values"].to_string().replace("</", "<\\/"))
        }
        "change" => format!("await {widget}.fill({});", literal(action["value"].as_str().unwrap_or_default())),
        "file" => {
            let file = |file: &Value| {
                format!(
                    "{{ name: {}, mimeType: {}, buffer: Buffer.from({}, 'base64') }}",
                    literal(file["name"].as_str().unwrap_or("file")),
                    literal(file["type"].as_str().unwrap_or("")),
                    literal(file["body"].as_str().unwrap_or(""))
                )
            };
            let files: Vec<String> = action["files"].as_array().into_iter().flatten().map(file).collect();
            format!("await {widget}.setInputFiles([{}]);", files.join(", "))
        }
        "drag" => match css_path(&action["to"]) {
            Some(to) => format!("await {widget}.dragTo(page.locator({}));", literal(&to.join(" >> "))),
            None => "// A drag to a place that has no name.".to_owned(),
        },
        "wheel" => format!(
            "await {widget}.hover(); await page.mouse.wheel({}, {});",
            action["delta"]["x"].as_f64().unwrap_or(0.0),
            action["delta"]["y"].as_f64().unwrap_or(0.0)
        ),
        "scroll" => format!(
            "await {widget}.evaluate((it) => (it.localName === 'body' ? window : it).scrollTo({}, {}));",
            action["scroll"]["x"].as_f64().unwrap_or(0.0),
            action["scroll"]["y"].as_f64().unwrap_or(0.0)
        ),
        "resize" => format!(
            "await page.setViewportSize({{ width: {}, height: {} }});",
            action["viewport"]["width"].as_u64().unwrap_or(1280),
            action["viewport"]["height"].as_u64().unwrap_or(720)
        ),
        "navigate" if action["how"] == "load" => {
            format!("await page.goto({});", literal(action["url"].as_str().unwrap_or_default()))
        }
        other => format!("// Playwright has no step for this: {}", literal(other)),
    });
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::recording::examples::{on, recording};

    #[test]
    fn texts_are_literals_whatever_is_in_them() {
        let all = recording(&json!([
            on(1, "type", "#a", &json!({ "text": "'); process.exit(); ('</script>\u{2028}`${x}" })),
            on(2, "made\nup(); //", "#b", &json!({})),
        ]));
        let text = playwright(&all, "a\nb", "https://b.example/");
        assert!(
            text.contains(r#".pressSequentially("'); process.exit(); ('<\/script>\u2028`${x}");"#),
            "{text}"
        );
        assert!(text.contains(r#"// Playwright has no step for this: "made\nup(); //""#), "{text}");
        assert!(text.contains(r#"test("a\nb", async"#), "{text}");
        assert_eq!(text.matches("process.exit").count(), 1);
    }
}
