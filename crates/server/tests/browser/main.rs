//! The ticket browser in a real browser: what people see, with and without scripts, by mouse and by
//! keys, on narrow and dark screens, and with tools for those who do not see it.
//!
//! Needs Debian's `chromium-headless-shell`, and axe-core, which STUNT_AXE names. Pictures of the
//! pages go to the folder that STUNT_SCREENSHOTS names, if it does.

mod chromium;
mod hostile;
mod keys;
mod looks;
mod plain;
// The same trackers as in the tests of `stunt-trackers`.
#[allow(dead_code)]
#[path = "../../../trackers/tests/trackers/real.rs"]
mod real;
mod site;
mod walk;

use chromium::Page;
use site::{PASSWORD, Site};

/// A browser with somebody logged in, at the list.
pub fn logged_in(site: &Site, name: &str) -> Page {
    let mut page = Page::start();
    page.open(&site.url);
    log_in(&mut page, name);
    page
}

/// Logs in at the page where that is asked for.
pub fn log_in(page: &mut Page, name: &str) {
    page.fill("#name", name);
    page.fill("#password", PASSWORD);
    page.go(|page| page.click("button.main"));
}
