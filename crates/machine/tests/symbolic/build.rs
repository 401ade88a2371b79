//! The small programs of this test, compiled when a case needs them.
//!
//! A program is built once for each text of its source and set of flags, under a lock, because
//! test processes run side by side.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of this test in the project.
pub fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/symbolic")
}

/// Where this test may write.
pub fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("symbolic")
}

/// Compiles a source of `own/` with gcc, if that was not done before; the program's path.
pub fn build(source: &str, flags: &[&str]) -> Result<PathBuf, String> {
    let path = home().join("own").join(source);
    let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut hasher = DefaultHasher::new();
    (&text, flags).hash(&mut hasher);
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let folder = scratch().join("own");
    let program = folder.join(format!("{stem}-{:08x}", hasher.finish() as u32));
    let say = |error: std::io::Error| format!("building {}: {error}", program.display());
    fs::create_dir_all(&folder).map_err(say)?;
    let lock = File::create(program.with_extension("lock")).map_err(say)?;
    lock.lock().map_err(say)?;
    if program.exists() {
        return Ok(program);
    }
    // Written under another name first: a build that is broken off leaves no program behind.
    let fresh = program.with_extension("fresh");
    let mut compiler = Command::new("gcc");
    compiler.args(["-w", "-g"]).args(flags).arg("-o").arg(&fresh).arg(&path);
    let output = compiler.output().map_err(say)?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{compiler:?} failed:\n{text}"));
    }
    fs::rename(&fresh, &program).map_err(say)?;
    Ok(program)
}
