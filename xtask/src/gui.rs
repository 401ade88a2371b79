//! The recorder of user interfaces: what it is built and tried with, its tests, its benchmark.
//!
//! npm packages of exact versions, those of `subjects/gui/package-lock.json`, are installed into
//! `target/tools/gui`. Nothing of them is part of the project, and no script of theirs is run by npm.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::files;
use crate::step::Step;

/// What names the packages, and what fixes their versions and contents.
const LISTS: [&str; 2] = ["package.json", "package-lock.json"];
const TESTS: [&str; 3] = ["known", "promises", "subjects"];

/// Where the packages are.
pub fn folder() -> PathBuf {
    files::target().join("tools/gui")
}

/// Installs the packages if the lists have changed since.
pub fn prepare() -> Result<()> {
    let folder = folder();
    let stamp = folder.join("installed");
    let mut wanted = String::new();
    for list in LISTS {
        let path = files::root().join("subjects/gui").join(list);
        wanted +=
            &fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    }
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    eprintln!("packages of subjects/gui: installing them into {}", folder.display());
    fs::create_dir_all(&folder)?;
    for list in LISTS {
        fs::copy(files::root().join("subjects/gui").join(list), folder.join(list))?;
    }
    let prefix = folder.to_str().context("the target folder's path is not UTF-8")?;
    let flags = ["ci", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", prefix];
    Step::new("gui packages", "npm", &flags).run()?;
    fs::write(&stamp, wanted)?;
    Ok(())
}

/// Whether `dist` is what `src` makes, then the tests in a real browser.
pub fn test() -> Result<()> {
    node("gui dist", &["gui/recorder/build.mjs", "--check"])?.run()?;
    let files: Vec<String> =
        TESTS.iter().map(|name| format!("gui/recorder/test/{name}.test.mjs")).collect();
    let arguments: Vec<&str> =
        std::iter::once("--test").chain(files.iter().map(String::as_str)).collect();
    node("gui", &arguments)?.run()
}

/// The table of what the recorder costs.
pub fn bench() -> Result<String> {
    prepare()?;
    let step = node("gui bench", &["gui/recorder/bench.mjs"])?;
    step.run()?;
    Ok(fs::read_to_string(files::target().join("xtask/gui-bench.log"))?.trim_end().to_string())
}

fn node(name: &'static str, arguments: &[&str]) -> Result<Step> {
    let folder = folder();
    let folder = folder.to_str().context("the target folder's path is not UTF-8")?;
    Ok(Step::new(name, "node", arguments).with("STUNT_GUI_TOOLS", folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_file_is_run_and_every_alias_is_exact() {
        let mut found: Vec<String> = fs::read_dir(files::root().join("gui/recorder/test"))
            .unwrap()
            .filter_map(|entry| {
                let name = entry.unwrap().file_name().into_string().unwrap();
                name.strip_suffix(".test.mjs").map(str::to_string)
            })
            .collect();
        found.sort();
        assert_eq!(found, TESTS);
        let list = fs::read_to_string(files::root().join("subjects/gui/package.json")).unwrap();
        let versions = list.lines().skip_while(|line| !line.contains("dependencies")).skip(1);
        for line in versions.take_while(|line| line.contains(':')) {
            assert!(!line.contains(['^', '~', '*', '>', '<']), "{line}");
        }
    }
}
