//! Recording: an unchanged page with the recorder in it, and a person, or a script, in front of it.
//!
//! Always: the recorder runs before every script of the page; what it has noted is asked for, and goes nowhere else. A
//! script is for tests and demonstrations: it does with mouse and keys what its lines say.

use std::time::Duration;

use serde_json::{Value, json};

use crate::chromium::{Browser, Error, Tab};
use crate::recording::Recording;
use crate::trusted;

/// The recorder, as it is injected.
pub(crate) const RECORDER: &str = include_str!("../../../gui/recorder/dist/stunt-recorder.js");
/// The size of the page.
const SIZE: (u32, u32) = (1280, 720);
/// How long a session may take.
const LONGEST: Duration = Duration::from_secs(12 * 3600);
/// How often the page is asked.
const OFTEN: Duration = Duration::from_millis(400);

/// A line of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Line {
    /// `click`, `dblclick`, `contextmenu` or `hover`, and a CSS selector.
    Point(String, String),
    /// `type`, a selector, and a text.
    Type(String, String),
    /// `key`, and a key, with `Ctrl+` and the like before it.
    Key(String),
    /// `choose`, a selector, and a value of the list.
    Choose(String, String),
    /// `wait`, and milliseconds.
    Wait(u64),
}

/// What is wrong with a script.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "line {0} of the script is none of: click, dblclick, contextmenu, hover SELECTOR; type SELECTOR | TEXT; \
         choose SELECTOR | VALUE; key KEY; wait MS"
)]
pub struct NoLine(usize);

/// Reads a script: a line for each action; empty ones and those that begin with `#` are skipped.
///
/// # Errors
/// A line is none.
pub fn script(text: &str) -> Result<Vec<Line>, NoLine> {
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (verb, rest) = line.split_once(' ').ok_or(NoLine(number))?;
        let both = || {
            let (selector, text) = rest.split_once('|').ok_or(NoLine(number))?;
            let text = text.strip_prefix(' ').unwrap_or(text);
            Ok((selector.trim().to_owned(), text.to_owned()))
        };
        lines.push(match verb {
            "click" | "dblclick" | "contextmenu" | "hover" => {
                Line::Point(verb.to_owned(), rest.trim().to_owned())
            }
            "type" => both().map(|(selector, text)| Line::Type(selector, text))?,
            "choose" => both().map(|(selector, text)| Line::Choose(selector, text))?,
            "key" => Line::Key(rest.trim().to_owned()),
            "wait" => Line::Wait(rest.trim().parse().map_err(|_| NoLine(number))?),
            _ => return Err(NoLine(number)),
        });
    }
    Ok(lines)
}

/// A page that is being recorded.
pub struct Session {
    tab: Tab,
}

impl Session {
    /// Opens the page. `console`: an error on the console is a failure.
    ///
    /// # Errors
    /// It does not load, or the browser does not do its part.
    pub fn open(browser: &Browser, url: &str, console: bool) -> Result<Self, Error> {
        let mut tab = Tab::open(browser, SIZE, Duration::from_secs(60))?;
        // A session may go over several documents.
        let settings = json!({ "persist": true, "console": console });
        tab.before_pages(&format!("window.__stuntConfig = {settings};\n{RECORDER}"))?;
        tab.go(url)?;
        tab.extend(LONGEST);
        Ok(Self { tab })
    }

    /// Does what a script says. A widget that is not there is an error: its line.
    ///
    /// # Errors
    /// The browser does not do its part.
    pub fn perform(&mut self, lines: &[Line]) -> Result<Result<(), usize>, Error> {
        for (number, line) in lines.iter().enumerate() {
            let place = |selector: &str| {
                format!(
                    "(() => {{ const it = document.querySelector({}); if (!it) return null; \
                     it.scrollIntoView({{ block: 'nearest' }}); const box = it.getBoundingClientRect(); \
                     return {{ x: box.x + box.width / 2, y: box.y + box.height / 2 }}; }})()",
                    Value::from(selector)
                )
            };
            match line {
                Line::Wait(ms) => self.tab.pause(Duration::from_millis((*ms).min(60_000)))?,
                Line::Point(kind, selector) => {
                    let at = self.tab.evaluate(&place(selector))?;
                    let (Some(x), Some(y)) = (at["x"].as_f64(), at["y"].as_f64()) else {
                        return Ok(Err(number));
                    };
                    trusted::point(&mut self.tab, kind, (x, y), 0)?;
                }
                Line::Type(selector, text) => {
                    let focus = format!(
                        "(() => {{ const it = document.querySelector({}); if (!it) return false; it.focus(); return true; }})()",
                        Value::from(selector.as_str())
                    );
                    if self.tab.evaluate(&focus)? != true {
                        return Ok(Err(number));
                    }
                    trusted::write(&mut self.tab, text)?;
                }
                Line::Key(key) => {
                    let mut parts: Vec<&str> = key.split('+').collect();
                    let key = parts.pop().unwrap_or_default();
                    let held: Vec<String> = parts.iter().map(|it| it.to_lowercase()).collect();
                    trusted::press(&mut self.tab, &json!({ "key": key, "modifiers": held }))?;
                }
                Line::Choose(selector, value) => {
                    // A list of the browser's own has no place on the page: arrow keys are what is left.
                    let steps = format!(
                        "(() => {{ const it = document.querySelector({}); if (!it) return null; it.focus(); \
                         return [...it.options].findIndex(option => option.value === {}) - it.selectedIndex; }})()",
                        Value::from(selector.as_str()),
                        Value::from(value.as_str())
                    );
                    let Some(steps) = self.tab.evaluate(&steps)?.as_i64() else {
                        return Ok(Err(number));
                    };
                    let key = if steps < 0 { "ArrowUp" } else { "ArrowDown" };
                    for _ in 0..steps.unsigned_abs().min(1000) {
                        trusted::press(&mut self.tab, &json!({ "key": key, "code": key }))?;
                    }
                }
            }
            self.tab.pause(Duration::from_millis(30))?;
        }
        Ok(Ok(()))
    }

    /// Waits until the page fails, or is closed; what was recorded until then.
    ///
    /// # Errors
    /// The browser was closed before there was anything.
    pub fn until_failure(&mut self, enough: &dyn Fn() -> bool) -> Result<Option<Recording>, Error> {
        self.tab.leave_dialogs();
        let mut last = None;
        loop {
            match self.taken() {
                Ok(Some(recording)) => {
                    if !recording.value()["failure"].is_null() || enough() {
                        return Ok(Some(recording));
                    }
                    last = Some(recording);
                }
                // Between two documents.
                Ok(None) | Err(Error::Refused { .. } | Error::Script(_)) => {}
                Err(Error::Gone) if last.is_some() => return Ok(last),
                Err(error) => return Err(error),
            }
            self.tab.pause(OFTEN)?;
        }
    }

    /// What was recorded up to now.
    ///
    /// # Errors
    /// The browser does not do its part.
    pub fn taken(&mut self) -> Result<Option<Recording>, Error> {
        let taken = self.tab.evaluate("window.__stunt ? __stunt.taken() : null")?;
        Ok(Recording::new(taken).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_lines() {
        let text = "# a session\nclick #new\n\ntype #name | Erika | M\nchoose #sort | sum\nkey Ctrl+a\nwait 5\n";
        let expected = [
            Line::Point("click".into(), "#new".into()),
            Line::Type("#name".into(), "Erika | M".into()),
            Line::Choose("#sort".into(), "sum".into()),
            Line::Key("Ctrl+a".into()),
            Line::Wait(5),
        ];
        assert_eq!(script(text).expect("it is one"), expected);
        for wrong in ["click", "type #name", "wait x", "jump #a"] {
            assert_eq!(script(&format!("\n{wrong}")), Err(NoLine(2)), "{wrong}");
        }
    }
}
