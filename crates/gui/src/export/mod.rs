//! Exports: a recording for other tools, so that a maintainer's regression test is one command away.
//!
//! Always: texts of the recording are written as literals and nothing else, whatever is in them. What a format has no
//! step for is kept in a comment or a custom step, and said.

mod playwright;
mod recorder;
mod webdriver;

pub use playwright::playwright;
pub use recorder::{from_recorder, to_recorder};
pub use webdriver::webdriver;

use serde_json::Value;

/// A text as a literal of JavaScript, and of Python.
fn literal(text: &str) -> String {
    // Two characters that end a line in old JavaScript, and what would end a script in a page.
    let json = Value::from(text).to_string();
    json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029").replace("</", "<\\/")
}

/// The path of selectors to the widget of an action: the best alternative that is CSS alone.
fn css_path(target: &Value) -> Option<Vec<String>> {
    let is_css = |it: &str| {
        !["aria/", "text/", "xpath/", "pierce/"].iter().any(|prefix| it.starts_with(prefix))
    };
    let alternatives = target["selectors"].as_array()?.iter();
    let paths = alternatives.filter_map(|path| {
        path.as_array()?
            .iter()
            .map(|it| it.as_str().map(str::to_owned))
            .collect::<Option<Vec<String>>>()
    });
    paths.into_iter().find(|path| !path.is_empty() && path.iter().all(|it| is_css(it)))
}

/// The keys that are held, as browsers name them.
fn held(action: &Value) -> Vec<&'static str> {
    let names = action["modifiers"].as_array().into_iter().flatten();
    names
        .filter_map(|name| match name.as_str()? {
            "ctrl" => Some("Control"),
            "shift" => Some("Shift"),
            "alt" => Some("Alt"),
            "meta" => Some("Meta"),
            _ => None,
        })
        .collect()
}
