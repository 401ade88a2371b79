//! The borders between the crates: what the code uses, and what `ARCHITECTURE.md` allows.
//!
//! The document has a table between `<!-- borders -->` and `<!-- /borders -->`: a row per package
//! with the packages that it uses, and those that only its tests use. The test here compares the
//! table with what cargo knows, in both directions, so neither can change alone.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::files;

/// A package of the workspace, and the packages of the workspace that it uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Package {
    /// Its name, as cargo knows it.
    pub name: String,
    /// Where it is, relative to the root.
    pub folder: PathBuf,
    /// What its code uses, in order.
    pub uses: Vec<String>,
    /// What only its tests and examples use, in order.
    pub tests_use: Vec<String>,
}

/// All packages of the workspace, in order of name, from `cargo metadata`.
pub fn packages() -> Result<Vec<Package>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(files::root())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let mut packages = metadata["packages"]
        .as_array()
        .context("cargo metadata lists no packages")?
        .iter()
        .map(package)
        .collect::<Result<Vec<Package>>>()?;
    packages.sort();
    Ok(packages)
}

fn package(value: &Value) -> Result<Package> {
    let text = |value: &Value| value.as_str().map(str::to_string).context("not a string");
    let manifest = PathBuf::from(text(&value["manifest_path"])?);
    let folder = manifest.parent().context("a manifest lies in a folder")?;
    let folder = folder.strip_prefix(files::root())?.to_path_buf();
    let (mut uses, mut tests_use) = (Vec::new(), Vec::new());
    for dependency in value["dependencies"].as_array().context("no dependencies")? {
        // A dependency within the workspace has a path.
        if dependency["path"].is_string() {
            let list = if dependency["kind"] == "dev" { &mut tests_use } else { &mut uses };
            list.push(text(&dependency["name"])?);
        }
    }
    uses.sort();
    uses.dedup();
    tests_use.sort();
    tests_use.retain(|name| !uses.contains(name));
    Ok(Package { name: text(&value["name"])?, folder, uses, tests_use })
}

/// A border: the package, what it uses, what its tests use besides.
#[cfg(test)]
type Border = (String, Vec<String>, Vec<String>);

/// The rows of the table in the document.
#[cfg(test)]
fn documented(document: &str) -> Result<Vec<Border>> {
    let (_, rest) = document.split_once("<!-- borders -->").context("no `<!-- borders -->`")?;
    let (table, _) = rest.split_once("<!-- /borders -->").context("no `<!-- /borders -->`")?;
    let mut rows = Vec::new();
    // Every second piece between back quotes is a name.
    let names = |cell: &str| -> Vec<String> {
        let mut names: Vec<String> =
            cell.split('`').skip(1).step_by(2).map(str::to_string).collect();
        names.sort();
        names
    };
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').collect();
        let [package, uses, tests_use, ignorance] = cells[..] else {
            bail!("the row does not have four cells: {line}");
        };
        let [package] = &names(package)[..] else { bail!("not one package in: {line}") };
        if ignorance.trim().is_empty() {
            bail!("`{package}` must not know something; the row says nothing");
        }
        rows.push((package.clone(), names(uses), names(tests_use)));
    }
    rows.sort();
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_document_agree_on_the_borders() {
        let document = std::fs::read_to_string(files::root().join("ARCHITECTURE.md")).unwrap();
        let documented = documented(&document).unwrap();
        let real: Vec<_> = packages()
            .unwrap()
            .into_iter()
            .map(|package| (package.name, package.uses, package.tests_use))
            .collect();
        for row in &real {
            assert!(documented.contains(row), "ARCHITECTURE.md does not have the border {row:?}");
        }
        for row in &documented {
            assert!(real.contains(row), "ARCHITECTURE.md has a border that is not so: {row:?}");
        }
    }

    #[test]
    fn tables_are_read() {
        let row = |text: &str| documented(&format!("<!-- borders -->\n{text}\n<!-- /borders -->"));
        let expected = ("a".to_string(), vec!["b".to_string(), "c".to_string()], vec![]);
        assert_eq!(row("| `a` | `c`, `b` | nothing | x |").unwrap(), [expected]);
        assert!(row("| `a` | `c`, `b` | nothing | |").is_err());
        assert!(row("| `a` | `c`, `b` | x |").is_err());
        assert!(documented("no table").is_err());
    }
}
