//! The files of the project, as the chores see them.
//!
//! Paths are relative to the root and sorted, so that messages are the same everywhere. Build
//! output and hidden folders are left out, except those that hold files of the project.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Hidden folders that belong to the project.
const HIDDEN_BUT_OURS: [&str; 2] = [".ci", ".cargo"];

/// The root of the workspace.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the root").to_path_buf()
}

/// Where cargo puts what it builds, and where xtask puts its tools and logs.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// All files of the project, relative to `root`, in order.
pub fn all(root: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            if !entry.file_type()?.is_dir() {
                files.push(path.strip_prefix(root)?.to_path_buf());
            } else if name != "target"
                && (!name.starts_with('.') || HIDDEN_BUT_OURS.contains(&name.as_str()))
            {
                folders.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Whether the file's name ends in `.extension`.
pub fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found == extension)
}

/// The last part of a path, as text.
pub fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_itself_and_no_build_output() {
        let files = all(&root()).unwrap();
        assert!(files.contains(&PathBuf::from("xtask/src/files.rs")));
        assert!(files.contains(&PathBuf::from(".ci/run")));
        assert!(files.iter().all(|path| !path.starts_with("target") && !path.starts_with(".git")));
        assert!(files.is_sorted());
    }
}
