//! The subjects that nobody tuned to: table, folders and versions belong together.
//!
//! Nothing builds or runs them but the evaluation, so a mistake would go unnoticed until then. Checked is
//! what text can show: every folder has its runs in the table and the other way round, private inputs
//! fail and healthy ones do not, inputs are of ordinary size, versions are exact and locked.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::fresh::{self, Row};

/// How large a private input is, in bytes.
const SIZES: std::ops::RangeInclusive<u64> = 400..=4096;
/// The other set must not run these.
const OTHER: &str = "subjects/subjects.table";

/// Adds what is wrong.
pub fn check(root: &Path, paths: &[PathBuf], problems: &mut Vec<String>) -> Result<()> {
    let rows = fresh::read(root)?;
    let recipes = fs::read_to_string(root.join("subjects/fresh/recipes.sh")).unwrap_or_default();
    let folders = folders(paths);
    let mut complain = |what: String| problems.push(format!("{}: {what}", fresh::TABLE));
    for folder in &folders {
        let runs: Vec<&Row> = rows.iter().filter(|row| row.folder == *folder).collect();
        for (kind, private) in [("private", true), ("healthy", false)] {
            if !runs.iter().any(|row| row.is_private() == private) {
                complain(format!("{folder} has no run on a {kind} input"));
            }
        }
        if let Err(why) = pinned(root, folder, &runs, &recipes) {
            complain(format!("{folder}: {why}"));
        }
    }
    for row in &rows {
        if !folders.contains(&row.folder) {
            complain(format!("{}: there is no subjects/{}", row.name, row.folder));
        }
        if let Err(why) = sound(root, row) {
            complain(format!("{}: {why}", row.name));
        }
    }
    let other = fs::read_to_string(root.join(OTHER)).unwrap_or_default();
    if other.lines().any(|line| line.starts_with("subject: fresh/")) {
        problems.push(format!("{OTHER}: runs a subject that nobody may look at"));
    }
    Ok(())
}

/// The folders of the subjects, below `subjects`: those with inputs.
fn folders(paths: &[PathBuf]) -> BTreeSet<String> {
    let subject = |path: &PathBuf| {
        let inside = path.strip_prefix("subjects").ok()?;
        let inputs = inside.parent()?;
        (inside.starts_with("fresh") && inputs.ends_with("inputs"))
            .then(|| inputs.parent().map(|folder| folder.to_string_lossy().into_owned()))?
    };
    paths.iter().filter_map(subject).collect()
}

/// Whether a run is as its input says.
fn sound(root: &Path, row: &Row) -> Result<(), String> {
    let input = row.input().ok_or("its command has no input")?;
    let path = root.join("subjects").join(&row.folder).join("inputs").join(input);
    let size = fs::metadata(&path).map_err(|_| format!("there is no {input}"))?.len();
    if !row.name.starts_with(row.subject()) {
        return Err("it is not called as its subject".to_owned());
    }
    if row.is_private() != row.ends.is_some() {
        return Err("private inputs fail, and healthy ones do not".to_owned());
    }
    if row.is_private() && !SIZES.contains(&size) {
        return Err(format!("{size} bytes; {} to {} are wanted", SIZES.start(), SIZES.end()));
    }
    if row.is_private() && row.format.is_none() {
        return Err("it does not tell the format".to_owned());
    }
    Ok(())
}

/// Whether it is always the same program: a package of Debian with its version, a recipe, or a crate whose
/// version is exact and locked.
fn pinned(root: &Path, folder: &str, runs: &[&Row], recipes: &str) -> Result<(), String> {
    let here = root.join("subjects").join(folder);
    let name = folder.rsplit('/').next().unwrap_or_default();
    if here.join("main.c").exists() {
        let label = format!("  {name})");
        let known = recipes.lines().any(|line| line.starts_with(&label));
        return known.then_some(()).ok_or_else(|| "it has no recipe".to_owned());
    }
    let Ok(manifest) = fs::read_to_string(here.join("Cargo.toml")) else {
        let packaged = !runs.is_empty() && runs.iter().all(|row| row.debian.is_some());
        return packaged.then_some(()).ok_or_else(|| "no package and version".to_owned());
    };
    let lock = fs::read_to_string(here.join("Cargo.lock")).map_err(|_| "it has no lock file")?;
    let pins = pins(&manifest);
    if pins.is_empty() {
        return Err("no dependency has an exact version (`=`)".to_owned());
    }
    for (crate_name, version) in pins {
        let entry = format!("name = \"{crate_name}\"\nversion = \"{version}\"\n");
        if !lock.contains(&entry) {
            return Err(format!("the lock file has no {crate_name} {version}"));
        }
    }
    Ok(())
}

/// The dependencies with an exact version.
fn pins(manifest: &str) -> Vec<(&str, &str)> {
    let dependencies = manifest.split("[dependencies]").nth(1).unwrap_or_default();
    let lines = dependencies.lines().take_while(|line| !line.starts_with('['));
    lines
        .filter_map(|line| {
            let (name, rest) = line.split_once(" = ")?;
            let (version, _) = rest.split_once("\"=")?.1.split_once('"')?;
            Some((name, version))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_versions_are_found() {
        let manifest = "[package]\nversion = \"=0\"\n[dependencies]\na = \"=1.2.3\"\nb = \"1\"\n\
                        c-d = { version = \"=0.4.0\", features = [\"x\"] }\n\n[profile.release]\n";
        assert_eq!(pins(manifest), [("a", "1.2.3"), ("c-d", "0.4.0")]);
        assert!(pins("[package]\n").is_empty());
    }

    #[test]
    fn folders_are_those_with_inputs() {
        let paths = ["subjects/fresh/c/a/inputs/private.x", "subjects/fresh/c/a/main.c"];
        let others = ["subjects/c/b/inputs/private.x", "subjects/fresh/recipes.sh", "README.md"];
        let paths: Vec<PathBuf> = paths.iter().chain(&others).map(PathBuf::from).collect();
        assert_eq!(folders(&paths), BTreeSet::from(["fresh/c/a".to_owned()]));
    }

    #[test]
    fn a_run_must_be_as_its_input_says() {
        let root = std::env::temp_dir().join(format!("xtask-fresh-{}", std::process::id()));
        let inputs = root.join("subjects/fresh/c/a/inputs");
        fs::create_dir_all(&inputs).unwrap();
        fs::write(inputs.join("private.x"), [0; 500]).unwrap();
        fs::write(inputs.join("healthy.x"), [0; 5]).unwrap();
        let row = |name: &str, run: &str, ends: Option<&str>| Row {
            name: name.to_owned(),
            folder: "fresh/c/a".to_owned(),
            program: None,
            debian: None,
            format: Some("X".to_owned()),
            run: run.to_owned(),
            says: None,
            ends: ends.map(str::to_owned),
        };
        let good = row("a-private", "a private.x", Some("signal 6"));
        assert_eq!(sound(&root, &good), Ok(()));
        assert_eq!(sound(&root, &row("a-healthy", "a healthy.x", None)), Ok(()));
        assert!(sound(&root, &row("a-private", "a private.x", None)).is_err());
        assert!(sound(&root, &row("a-healthy", "a healthy.x", Some("exit 1"))).is_err());
        assert!(sound(&root, &row("b-private", "a private.x", Some("exit 1"))).is_err());
        assert!(sound(&root, &row("a-private", "a private.y", Some("exit 1"))).is_err());
        fs::write(inputs.join("private.x"), [0; 5]).unwrap();
        assert!(sound(&root, &good).is_err());
        let packaged = Row { debian: Some(("a".to_owned(), "1".to_owned())), ..good.clone() };
        assert!(pinned(&root, "fresh/c/a", &[&packaged], "").is_ok());
        assert!(pinned(&root, "fresh/c/a", &[&good], "").is_err());
        fs::write(inputs.with_file_name("main.c"), "").unwrap();
        assert!(pinned(&root, "fresh/c/a", &[&good], "case $name in\n  a) # A\n").is_ok());
        assert!(pinned(&root, "fresh/c/a", &[&good], "  ab) # A\n").is_err());
        fs::remove_dir_all(&root).unwrap();
    }
}
