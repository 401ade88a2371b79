//! `cargo xtask subjects`: the crashing programs of `subjects/`, built into `target/subjects`.
//!
//! Rust subjects are packages with a lock file; C subjects have recipes in `subjects/build.sh`.
//! Sources come from the registries, by exact version. A subject is built again only if one of its
//! own files or the recipes changed: a stamp beside the program holds what it was built from.
//! Debian's own programs among the subjects are not built; they are packages.
//!
//! There are two sets. Everything builds and runs the first; the second, in `subjects/fresh`, is for
//! the evaluation alone, which asks for it by name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::files;
use crate::step::report;

/// Which subjects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    /// Those that tests run and that the search was developed on.
    Known,
    /// Those that nobody looks at while developing.
    Fresh,
}

/// A subject that has to be built.
struct Subject {
    name: String,
    set: Set,
    /// The files that it is built from, relative to the root.
    sources: Vec<PathBuf>,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Rust,
    C,
}

impl Set {
    /// Where it is written down.
    pub fn folder(self) -> &'static str {
        match self {
            Set::Known => "subjects",
            Set::Fresh => "subjects/fresh",
        }
    }

    /// Where its programs are built; they are in `bin` there.
    pub fn target(self) -> PathBuf {
        files::target().join(self.folder())
    }
}

/// Builds what is absent or out of date.
pub fn run() -> Result<()> {
    build(Set::Known, |_| true)
}

/// The same for the second set.
pub fn fresh() -> Result<()> {
    build(Set::Fresh, |_| true)
}

/// The same for one subject of the first set alone.
pub fn one(name: &str) -> Result<()> {
    build(Set::Known, |subject| subject.name == name)
}

fn build(set: Set, wanted: impl Fn(&Subject) -> bool) -> Result<()> {
    let folder = set.target();
    fs::create_dir_all(folder.join("bin"))
        .with_context(|| format!("creating {}", folder.display()))?;
    for subject in subjects(set)?.into_iter().filter(wanted) {
        let text = subject.fingerprint()?;
        let stamp = folder.join(format!("{}.stamp", subject.name));
        let built =
            subject.programs().iter().all(|program| folder.join("bin").join(program).exists());
        if built && fs::read(&stamp).is_ok_and(|found| found == text) {
            continue;
        }
        report(&subject.name, || subject.build(&folder))?;
        fs::write(&stamp, text)?;
    }
    Ok(())
}

/// All subjects of a set that have sources, in order.
fn subjects(set: Set) -> Result<Vec<Subject>> {
    let all = files::all(&files::root())?;
    let below = |folder: &Path| -> Vec<PathBuf> {
        let inputs = folder.join("inputs");
        all.iter()
            .filter(|path| path.starts_with(folder) && !path.starts_with(&inputs))
            .cloned()
            .collect()
    };
    let mut subjects = Vec::new();
    for path in &all {
        let Ok(inside) = path.strip_prefix(set.folder()) else { continue };
        let parts: Vec<String> = inside.iter().map(|part| part.to_string_lossy().into()).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let folder = path.parent().unwrap_or(Path::new(""));
        match parts[..] {
            ["rust", name, "Cargo.toml"] => subjects.push(Subject {
                name: name.to_string(),
                set,
                sources: below(folder),
                kind: Kind::Rust,
            }),
            ["c", name, "main.c"] => {
                let mut sources = below(folder);
                sources.extend(["subjects/build.sh", "subjects/c/slurp.h"].map(PathBuf::from));
                if set == Set::Fresh {
                    sources.push("subjects/fresh/recipes.sh".into());
                }
                subjects.push(Subject { name: name.to_string(), set, sources, kind: Kind::C });
            }
            _ => {}
        }
    }
    Ok(subjects)
}

impl Subject {
    /// The programs that building it makes.
    fn programs(&self) -> Vec<String> {
        match self.kind {
            Kind::Rust => vec![self.name.clone()],
            Kind::C => ["O1", "O2"].map(|level| format!("{}-{level}", self.name)).to_vec(),
        }
    }

    /// Everything that it is built from, one after the other.
    fn fingerprint(&self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        for path in &self.sources {
            let content = fs::read(files::root().join(path))
                .with_context(|| format!("reading {}", path.display()))?;
            text.extend_from_slice(format!("{} {}\n", path.display(), content.len()).as_bytes());
            text.extend(content);
        }
        Ok(text)
    }

    fn build(&self, folder: &Path) -> Result<()> {
        let mut command = match self.kind {
            Kind::Rust => {
                let mut cargo = Command::new("cargo");
                cargo.args(["build", "--quiet", "--release", "--locked", "--manifest-path"]);
                cargo.arg(format!("{}/rust/{}/Cargo.toml", self.set.folder(), self.name));
                cargo.arg("--target-dir").arg(folder.join("rust"));
                // Built the same whatever the surroundings say.
                cargo.env_remove("RUSTFLAGS");
                cargo
            }
            Kind::C => {
                let mut bash = Command::new("bash");
                let name = match self.set {
                    Set::Known => self.name.clone(),
                    Set::Fresh => format!("fresh/{}", self.name),
                };
                bash.args(["subjects/build.sh", &name]).arg(folder);
                bash
            }
        };
        command.current_dir(files::root()).stdin(Stdio::null());
        let output = command.output().context("cannot start it")?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            bail!("{text}\nbuilding {} failed. To repeat it:\n    {command:?}", self.name);
        }
        if self.kind == Kind::Rust {
            // Renamed into place: a test that runs the old program keeps it.
            let fresh = folder.join("bin").join(format!("{}.fresh", self.name));
            fs::copy(folder.join("rust/release").join(&self.name), &fresh)?;
            fs::rename(&fresh, folder.join("bin").join(&self.name))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_are_found_with_what_they_are_built_from() {
        let subjects = subjects(Set::Known).unwrap();
        let find = |name| subjects.iter().find(|subject| subject.name == name).unwrap();
        let (tiff, lmdb) = (find("tiff"), find("lmdb-div0"));
        assert_eq!((tiff.kind, lmdb.kind), (Kind::Rust, Kind::C));
        assert_eq!(lmdb.programs(), ["lmdb-div0-O1", "lmdb-div0-O2"]);
        assert!(lmdb.sources.contains(&PathBuf::from("subjects/build.sh")));
        assert!(tiff.sources.contains(&PathBuf::from("subjects/rust/tiff/Cargo.lock")));
        assert!(tiff.sources.iter().all(|path| !path.to_string_lossy().contains("inputs")));
        assert!(!tiff.fingerprint().unwrap().is_empty());
        assert!(subjects.iter().all(|subject| subject.name != "jq-todate"));
    }

    #[test]
    fn no_subject_is_in_both_sets() {
        let (known, fresh) = (subjects(Set::Known).unwrap(), subjects(Set::Fresh).unwrap());
        assert!(!fresh.is_empty());
        for one in &fresh {
            assert!(one.sources.iter().any(|path| path.starts_with("subjects/fresh")));
            assert!(known.iter().all(|other| other.name != one.name), "{}", one.name);
        }
        let inside = |one: &Subject| one.sources.iter().any(|it| it.starts_with("subjects/fresh"));
        assert!(!known.iter().any(inside));
    }
}
