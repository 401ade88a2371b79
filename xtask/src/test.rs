//! `cargo xtask test`: everything that must hold before a change goes in.
//!
//! CI runs this and nothing else. Steps are ordered by how quickly they find a mistake.

use anyhow::{Context, Result};

use crate::step::{Step, report, side_by_side};
use crate::{gui, subjects, tidy, tools};

/// Installs what is absent, then runs all checks; stops at the first that fails.
pub fn run() -> Result<()> {
    let tools = tools::prepare()?;
    let python = tools.python.to_str().context("the target folder's path is not UTF-8")?;

    Step::cargo("fmt", &["fmt", "--all", "--check", "--", "--color=never"]).run()?;
    report("tidy", tidy::check)?;
    // Compilers leave a processor idle where crates wait for each other, browsers where they wait for frames.
    side_by_side(|| checked(tools.deny), || gui::test().and_then(|()| subjects::run()))?;
    let test =
        Step::cargo("test", &["nextest", "run", "--workspace", "--no-fail-fast", "--color=never"]);
    let axe = tools.axe.to_str().context("the target folder's path is not UTF-8")?;
    let test = test.with("STUNT_PYTHON", python).with("STUNT_AXE", axe);
    test.run()?;
    test.quote("tests run:")?;
    Step::cargo("doc test", &["test", "--doc", "--workspace"]).run()
}

/// What compilers say, and all that the tests need of them.
fn checked(deny_is_there: bool) -> Result<()> {
    Step::cargo("clippy", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
        .run()?;
    Step::cargo("doc", &["doc", "--no-deps", "--workspace"])
        .with("RUSTDOCFLAGS", "-Dwarnings")
        .run()?;
    deny(deny_is_there)?;
    Step::cargo("build", &["nextest", "run", "--workspace", "--no-run"]).run()
}

/// Licences, bans and sources always; advisories where their database can be fetched.
fn deny(present: bool) -> Result<()> {
    if !present {
        eprintln!(
            "deny         skipped: cargo-deny is absent (`cargo install --locked cargo-deny`)"
        );
        return Ok(());
    }
    Step::cargo("deny", &["deny", "check", "bans", "licenses", "sources"]).run()?;
    if !tools::works(&["cargo", "deny", "fetch", "db"]) {
        eprintln!("advisories   skipped: the advisory database cannot be fetched from here");
        return Ok(());
    }
    Step::cargo("advisories", &["deny", "check", "--disable-fetch", "advisories"]).run()
}
