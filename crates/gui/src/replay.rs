//! One replay: a page in a fresh context, prepared as it was recorded, and the actions one after the other.
//!
//! For the search, the player in the page does all of it in one call, by events that it makes itself. For the proof,
//! mouse and keys come from the browser, as from a person: trusted events. Whatever happens, a replay ends: a page
//! that does not come back is one that did not fail.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::chromium::{Browser, Error, Tab};
use crate::failure::PageFailure;
use crate::recording::Recording;
use crate::trusted;

/// The player, as it is injected.
pub(crate) const PLAYER: &str = include_str!("../../../gui/recorder/dist/stunt-replay.js");

/// How long a page is listened to that has not failed yet.
const AFTERWARDS: Duration = Duration::from_millis(80);

/// How the actions are done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// By the player in the page: fast.
    InPage,
    /// By the browser's own mouse and keys where it has them, one action after the other.
    Trusted,
}

/// A replay that is wanted.
#[derive(Clone)]
pub struct Plan {
    /// What to replay.
    pub recording: Recording,
    /// Where the page is, if not where it was recorded.
    pub url: Option<String>,
    /// How.
    pub manner: Manner,
    /// How long it may take.
    pub time: Duration,
    /// Whether it ends at the first failure, whichever it is.
    pub stop: bool,
    /// For how many milliseconds of the page's time it is listened to after the last action.
    pub afterwards: f64,
}

/// How a replay ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// All actions were done or skipped, or it failed.
    Done,
    /// It took too long: an endless loop, perhaps.
    Late,
    /// The page's process died.
    Crashed,
    /// The page did not load.
    NotLoaded,
    /// The page keeps the player from its work.
    Unplayable,
}

/// What came of a replay.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How it ended.
    pub end: End,
    /// The ids of the actions that were done.
    pub done: Vec<u64>,
    /// The ids of those that were not, and why: words of the player's list.
    pub skipped: Vec<(u64, String)>,
    /// All failures, in their order.
    pub failures: Vec<PageFailure>,
    /// How long it took.
    pub took: Duration,
}

impl Ran {
    fn ended(end: End) -> Self {
        let (done, skipped, failures) = (Vec::new(), Vec::new(), Vec::new());
        Self { end, done, skipped, failures, took: Duration::ZERO }
    }

    pub(crate) fn crashed() -> Self {
        Self::ended(End::Crashed)
    }

    pub(crate) fn unplayable() -> Self {
        Self::ended(End::Unplayable)
    }

    pub(crate) fn late() -> Self {
        Self::ended(End::Late)
    }

    /// The failure that is the same as this one, if there is one.
    pub fn same(&self, wanted: &PageFailure) -> Option<&PageFailure> {
        self.failures.iter().find(|it| it.is_same(wanted))
    }
}

/// A tab in which the page of a recording has loaded, prepared as it was.
///
/// # Errors
/// The page does not load, or the browser is gone.
pub fn open(browser: &Browser, plan: &Plan, scripts: &[&str]) -> Result<Tab, Error> {
    let recording = &plan.recording;
    let mut tab = Tab::open(browser, recording.viewport(), plan.time)?;
    for script in scripts {
        tab.before_pages(script)?;
    }
    let environment = &recording.value()["environment"];
    if let Some(zone) = environment["zone"].as_str().filter(|it| !it.is_empty()) {
        tab.send("Emulation.setTimezoneOverride", &json!({ "timezoneId": zone }))?;
    }
    if environment["dark"] == true {
        let dark = json!([{ "name": "prefers-color-scheme", "value": "dark" }]);
        tab.send("Emulation.setEmulatedMedia", &json!({ "features": dark }))?;
    }
    if let Some(language) =
        recording.value()["page"]["language"].as_str().filter(|it| !it.is_empty())
    {
        tab.send("Emulation.setLocaleOverride", &json!({ "locale": language }))?;
    }
    let prepare = format!(
        "{PLAYER}\n;__stuntReplay.prepare({}, {{ missing: 'fail' }});",
        recording.prepared()
    );
    tab.before_pages(&prepare)?;
    tab.send_nothing()?;
    tab.go(&address(recording.url(), plan.url.as_deref()))?;
    Ok(tab)
}

/// Where to go: another place of the page keeps the query that was recorded, unless it has its own.
fn address(recorded: &str, other: Option<&str>) -> String {
    let query = |url: &str| url.find(['?', '#']);
    match other {
        None => recorded.to_owned(),
        Some(other) if query(other).is_some() => other.to_owned(),
        Some(other) => format!("{other}{}", query(recorded).map_or("", |at| &recorded[at..])),
    }
}

/// Replays.
///
/// # Errors
/// The browser is gone, or late.
pub fn replay(browser: &Browser, plan: &Plan) -> Result<Ran, Error> {
    let begun = Instant::now();
    let mut tab = match open(browser, plan, &[]) {
        Ok(tab) => tab,
        Err(Error::Load(_)) => return Ok(Ran::ended(End::NotLoaded)),
        Err(error) => return Err(error),
    };
    let ran = match plan.manner {
        Manner::InPage => match in_page(&mut tab, plan) {
            // Another document: the player went with the old one.
            Err(Error::Refused { .. }) => {
                drop(tab);
                let mut tab = open(browser, plan, &[])?;
                one_by_one(&mut tab, plan, Manner::InPage, &mut |_, _| Ok(()))
            }
            other => other,
        },
        Manner::Trusted => one_by_one(&mut tab, plan, Manner::Trusted, &mut |_, _| Ok(())),
    };
    ran.map(|ran| Ran { took: begun.elapsed(), ..ran })
}

/// Replays before somebody's eyes: `before` is called before each action, with its number and the tab.
///
/// # Errors
/// The page does not load, or the browser is gone, or late.
pub fn walk(
    browser: &Browser,
    plan: &Plan,
    before: &mut dyn FnMut(usize, &mut Tab) -> Result<(), Error>,
) -> Result<Ran, Error> {
    let mut tab = open(browser, plan, &[])?;
    let ran = one_by_one(&mut tab, plan, plan.manner, before)?;
    before(plan.recording.actions().len(), &mut tab)?;
    Ok(ran)
}

fn in_page(tab: &mut Tab, plan: &Plan) -> Result<Ran, Error> {
    let actions = Value::Array(plan.recording.actions().to_vec());
    let options = json!({ "stop": plan.stop, "last": plan.afterwards });
    let result = tab.evaluate(&format!("__stuntReplay.run({actions}, {options})"))?;
    if result.is_null() {
        return Err(Error::Script("nothing came back".to_owned()));
    }
    let ids = |list: &Value| -> Vec<u64> {
        list.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()
    };
    let skipped = result["skipped"].as_array().into_iter().flatten();
    let skipped =
        skipped.filter_map(|it| Some((it["id"].as_u64()?, it["why"].as_str()?.to_owned())));
    let found =
        |value: &Value| value.is_object() || value.as_array().is_some_and(|it| !it.is_empty());
    let late = if found(&result["failure"]) || found(&result["others"]) {
        Value::Null
    } else {
        // What a page reads, files above all, comes when it comes; nobody in the page can wait for it.
        tab.pause(AFTERWARDS)?;
        tab.evaluate("__stuntReplay.failures()")?
    };
    let late = late.as_array().map_or(&[][..], Vec::as_slice);
    let others = result["others"].as_array().map_or(&[][..], Vec::as_slice);
    let mut failures: Vec<&Value> = others.iter().chain([&result["failure"]]).chain(late).collect();
    // The player tells the one that counts by itself: who was first is another matter.
    let at = |failure: &Value| failure["at_ms"].as_f64().unwrap_or(f64::INFINITY);
    failures.sort_by(|a, b| at(a).total_cmp(&at(b)));
    Ok(Ran {
        end: End::Done,
        done: ids(&result["done"]),
        skipped: skipped.collect(),
        failures: failures.into_iter().filter_map(PageFailure::read).collect(),
        took: Duration::ZERO,
    })
}

/// The actions one after the other, over as many documents as there are.
fn one_by_one(
    tab: &mut Tab,
    plan: &Plan,
    manner: Manner,
    before: &mut dyn FnMut(usize, &mut Tab) -> Result<(), Error>,
) -> Result<Ran, Error> {
    let mut ran = Ran::ended(End::Done);
    let waits = plan.recording.waits();
    if let Some(first) = waits.first() {
        settle(tab, tab.seen().loads.len(), *first)?;
    }
    for (number, action) in plan.recording.actions().iter().enumerate() {
        before(number, tab)?;
        let id = action["id"].as_u64().unwrap_or_default();
        let loads = tab.seen().loads.len();
        let done = match do_one(tab, action, manner) {
            Err(Error::Refused { .. }) => Ok(None),
            other => other,
        };
        match done? {
            None => ran.done.push(id),
            Some(why) => ran.skipped.push((id, why)),
        }
        settle(tab, loads, *waits.get(number + 1).unwrap_or(&plan.afterwards))?;
        let before = ran.failures.len();
        collect(tab, &mut ran, id)?;
        if plan.stop && ran.failures.len() > before {
            break;
        }
    }
    if ran.failures.is_empty() || !plan.stop {
        tab.pause(Duration::from_millis(300))?;
        collect(tab, &mut ran, 0)?;
    }
    Ok(ran)
}

/// Does one action. Why not, if it could not be done.
pub(crate) fn do_one(
    tab: &mut Tab,
    action: &Value,
    manner: Manner,
) -> Result<Option<String>, Error> {
    if action["kind"] == "navigate" && action["how"] == "load" {
        let url = action["url"].as_str().unwrap_or_default().to_owned();
        return match tab.go(&url) {
            Err(Error::Load(_)) => Ok(Some("unsupported".to_owned())),
            other => other.map(|()| None),
        };
    }
    if manner == Manner::Trusted && trusted::is_one(action) {
        // The clock, and what is answered to dialogs; then what the server said by now.
        let before =
            json!({ "id": action["id"], "at_ms": action["at_ms"], "dialogs": action["dialogs"] });
        tab.evaluate(&format!("__stuntReplay.begin({before})"))?;
        let result = trusted::perform(tab, action)?;
        let deliver = format!("window.__stuntReplay?.deliver({})", action["id"]);
        match tab.evaluate(&deliver) {
            // The document is going.
            Err(Error::Refused { .. } | Error::Script(_)) => {}
            other => drop(other?),
        }
        return Ok(result.err().map(str::to_owned));
    }
    let result = tab.evaluate(&format!("__stuntReplay.one({action})"))?;
    if result["done"] == true {
        return Ok(None);
    }
    Ok(Some(result["why"].as_str().unwrap_or("unsupported").to_owned()))
}

/// Waits for what an action has started, within so many milliseconds of the page's time; for the next document, if
/// there is one.
pub(crate) fn settle(tab: &mut Tab, loads: usize, gap: f64) -> Result<(), Error> {
    let settle = format!(
        "window.__stuntReplay ? __stuntReplay.settle({{ gap: {gap} }}).then(() => true) : true"
    );
    for _ in 0..2 {
        match tab.evaluate(&settle) {
            Err(Error::Refused { .. } | Error::Script(_)) => {}
            other => return other.map(drop),
        }
        // The document is going.
        let until = Instant::now() + Duration::from_secs(5);
        while tab.seen().loads.len() == loads && Instant::now() < until && !tab.is_late() {
            tab.pause(Duration::from_millis(20))?;
        }
    }
    Ok(())
}

/// The failures of the document that is there now.
fn collect(tab: &mut Tab, ran: &mut Ran, after: u64) -> Result<(), Error> {
    let failures = match tab.evaluate("window.__stuntReplay ? __stuntReplay.failures() : []") {
        Err(Error::Refused { .. } | Error::Script(_)) => Value::Null,
        other => other?,
    };
    let mut all: Vec<PageFailure> =
        failures.as_array().into_iter().flatten().filter_map(PageFailure::read).collect();
    all.extend(tab.seen().exceptions.iter().map(|it| PageFailure::of_details(it, after)));
    for failure in all {
        if !ran.failures.iter().any(|it| it.is_same(&failure)) {
            let after = if after == 0 { failure.after } else { after };
            ran.failures.push(PageFailure { after, ..failure });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_elsewhere_keeps_the_query() {
        assert_eq!(address("file:///a.html?x#y", None), "file:///a.html?x#y");
        assert_eq!(address("file:///a.html?x#y", Some("http://b/")), "http://b/?x#y");
        assert_eq!(address("file:///a.html?x#y", Some("http://b/#z")), "http://b/#z");
    }
}
