//! What the double's own run says of its steps: which widget of how many, and in which words.
//!
//! A selector of the recording, and the name of a widget, were taken from the page as the user saw it, with the
//! user's data on it. So the report has neither: a double is replayed, and each widget is described from scratch as it
//! is there.

use serde_json::Value;

use crate::case::Case;
use crate::chromium::Error;
use crate::recording::Recording;
use crate::replay::{do_one, open, settle};

const DESCRIBE: &str = include_str!("page/describe.js");

/// What is known of the widget of a step.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Described {
    /// The target, for the recording; nothing if it was not found so.
    pub target: Value,
    /// The widget to which something is dragged, alike.
    pub to: Value,
    /// Whether it is one of those that people use.
    pub usable: bool,
    /// Of how many it is one.
    pub count: u64,
    /// The values of its options, if it is a list.
    pub options: Vec<String>,
}

/// Replays, and describes the widget of each step just before the step is done.
///
/// # Errors
/// The browser does not do its part.
pub fn describe(case: &Case<'_>, recording: &Recording) -> Result<Vec<Described>, Error> {
    let browser = case.pool().browser()?;
    let manner = case.manner();
    let plan = case.plan(recording.clone(), manner);
    let mut tab = open(&browser, &plan, &[])?;
    let mut all = Vec::new();
    let waits = recording.waits();
    if let Some(first) = waits.first() {
        let loads = tab.seen().loads.len();
        settle(&mut tab, loads, *first)?;
    }
    for (number, action) in recording.actions().iter().enumerate() {
        let mut described = Described::default();
        if action["target"].is_object() {
            let found = tab.evaluate(&format!("({DESCRIBE})({})", action["target"]))?;
            described.target = found["target"].clone();
            described.usable = found["usable"] == true;
            described.count = found["count"].as_u64().unwrap_or_default();
            let options = found["options"].as_array().into_iter().flatten();
            described.options = options.filter_map(|it| Some(it.as_str()?.to_owned())).collect();
        }
        if action["to"].is_object() {
            described.to =
                tab.evaluate(&format!("({DESCRIBE})({})", action["to"]))?["target"].clone();
        }
        all.push(described);
        let loads = tab.seen().loads.len();
        match do_one(&mut tab, action, manner) {
            Err(Error::Refused { .. }) | Ok(_) => {}
            Err(error) => return Err(error),
        }
        settle(&mut tab, loads, *waits.get(number + 1).unwrap_or(&0.0))?;
    }
    Ok(all)
}
