//! A script for WebDriver, in Python: it exits with 1 as long as the page fails.

use std::fmt::Write;

use serde_json::Value;

use super::{css_path, held, literal};
use crate::recording::Recording;

const HEAD: &str = r#"# Written by stunt from a report. It exits with 1 as long as the page fails: `pip install selenium`.
import os
import sys
import time

from selenium import webdriver
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

if os.environ.get("STUNT_BROWSER") == "firefox":
    options = webdriver.FirefoxOptions()
    options.add_argument("--headless")
    driver = webdriver.Firefox(options=options)
else:
    options = webdriver.ChromeOptions()
    options.add_argument("--headless=new")
    options.add_argument("--no-sandbox")
    driver = webdriver.Chrome(options=options)


def find(frames, path):
    driver.switch_to.default_content()
    for frame in frames:
        driver.switch_to.frame(frame)
    root = driver
    for number, selector in enumerate(path):
        found = root.find_element(By.CSS_SELECTOR, selector)
        root = found if number == len(path) - 1 else found.shadow_root
    return root


def do(frames, path, step, held=()):
    element = find(frames, path)
    chain = ActionChains(driver)
    for key in held:
        chain.key_down(key)
    step(chain, element)
    for key in held:
        chain.key_up(key)
    chain.perform()


def answer(accept, text=None):
    alert = driver.switch_to.alert
    if text is not None:
        alert.send_keys(text)
    alert.accept() if accept else alert.dismiss()


def key(name):
    return getattr(Keys, {"ArrowLeft": "LEFT", "ArrowRight": "RIGHT", "ArrowUp": "UP", "ArrowDown": "DOWN"}.get(
        name, name.upper()), name) if len(name) > 1 else name


"#;

/// The script. The address can be given to it in STUNT_PAGE.
#[must_use]
pub fn webdriver(recording: &Recording, title: &str, url: &str) -> String {
    let (width, height) = recording.viewport();
    let mut text = format!("# {}\n{HEAD}", literal(title));
    let _ = writeln!(text, "driver.set_window_size({width}, {height} + 120)");
    let _ = writeln!(text, "driver.get(os.environ.get(\"STUNT_PAGE\", {}))", literal(url));
    text.push_str(
        "driver.execute_script(\"window.stuntErrors = [];\"\n    \"addEventListener('error', e => stuntErrors.push(String(e.error && e.error.stack)));\"\n    \
         \"addEventListener('unhandledrejection', e => stuntErrors.push(String(e.reason && e.reason.stack)));\")\n",
    );
    for action in recording.actions() {
        let _ = writeln!(text, "{}", line(action));
        for dialog in action["dialogs"].as_array().into_iter().flatten() {
            let accept = !matches!(dialog["answer"], Value::Bool(false) | Value::Null);
            let answer = dialog["answer"].as_str().map_or("None".to_owned(), literal);
            let _ = writeln!(text, "answer({}, {answer})", if accept { "True" } else { "False" });
        }
    }
    text.push_str(
        "time.sleep(0.3)\ndriver.switch_to.default_content()\nerrors = driver.execute_script(\"return window.stuntErrors || []\")\n\
         driver.quit()\nprint(\"\\n\".join(errors) or \"The page does not fail.\")\nsys.exit(1 if errors else 0)\n",
    );
    text
}

fn line(action: &Value) -> String {
    let target = &action["target"];
    let path = css_path(target).unwrap_or_else(|| vec!["body".to_owned()]);
    let path = path.iter().map(|it| literal(it)).collect::<Vec<_>>().join(", ");
    let frames =
        if target["frame"].is_array() { target["frame"].to_string() } else { "[]".to_owned() };
    let keys: Vec<String> =
        held(action).iter().map(|it| format!("Keys.{}", it.to_uppercase())).collect();
    let keys = if keys.is_empty() { String::new() } else { format!(", [{}]", keys.join(", ")) };
    let step = |step: &str| format!("do({frames}, [{path}], lambda chain, it: {step}{keys})");
    let text = |name: &str| literal(action[name].as_str().unwrap_or_default());
    match action["kind"].as_str().unwrap_or_default() {
        "click" => step("chain.click(it)"),
        "dblclick" => step("chain.double_click(it)"),
        "contextmenu" => step("chain.context_click(it)"),
        "hover" => step("chain.move_to_element(it)"),
        "type" | "paste" => format!("find({frames}, [{path}]).send_keys({})", text("text")),
        "key" => {
            let times = action["repeat"].as_u64().unwrap_or(1).clamp(1, 1000);
            step(&format!("chain.send_keys(key({}) * {times})", text("key")))
        }
        "change" if action["values"].is_array() => {
            let value = literal(action["values"][0].as_str().unwrap_or_default());
            format!("Select(find({frames}, [{path}])).select_by_value({value})")
        }
        "change" => format!(
            "driver.execute_script(\"arguments[0].value = arguments[1]; for (const type of ['input', 'change']) \
             arguments[0].dispatchEvent(new Event(type, {{ bubbles: true }}))\", find({frames}, [{path}]), {})",
            text("value")
        ),
        "navigate" if action["how"] == "load" => format!("driver.get({})", text("url")),
        other => format!("# WebDriver has no step for this: {}", literal(other)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::recording::examples::{on, recording};

    #[test]
    fn a_script_has_a_line_for_each_step() {
        let all = recording(&json!([
            on(
                1,
                "click",
                "#a",
                &json!({ "modifiers": ["ctrl"], "dialogs": [{ "answer": false }] })
            ),
            on(2, "type", "#b", &json!({ "text": "\")\nimport os #" })),
        ]));
        let text = webdriver(&all, "a\nb", "https://b.example/");
        let line = "do([], [\"#a\"], lambda chain, it: chain.click(it), [Keys.CONTROL])\nanswer(False, None)\n";
        assert!(text.contains(line), "{text}");
        assert!(text.contains(r##"find([], ["#b"]).send_keys("\")\nimport os #")"##), "{text}");
        assert!(text.starts_with("# \"a\\nb\"\n"));
    }
}
