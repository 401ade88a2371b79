//! Our own programs, compiled when a run needs them.
//!
//! A program is built once for each text of its source and set of flags, under a lock, because
//! test processes run side by side. What the compiler says about the source is of no interest
//! unless it fails: some programs are wrong on purpose.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::process::Command;

use crate::place;

/// Compiles a source of `own/` if that was not done before; the program's path.
pub fn build(source: &str, flags: &[String]) -> Result<PathBuf, String> {
    let path = place::home().join("own").join(source);
    let text = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut hasher = DefaultHasher::new();
    (&text, flags).hash(&mut hasher);
    let (stem, kind) = source.rsplit_once('.').ok_or("a source has an extension")?;
    let folder = place::scratch().join("own");
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
    let mut compiler = match kind {
        "c" | "s" => Command::new("gcc"),
        "cpp" => Command::new("g++"),
        _ => Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())),
    };
    if kind == "rs" {
        compiler.args(["--edition=2024", "--cap-lints=allow", "-g"]);
    } else {
        compiler.args(["-w", "-g"]);
    }
    // Libraries come after what needs them.
    let (libraries, options): (Vec<&String>, Vec<&String>) =
        flags.iter().partition(|flag| flag.starts_with("-l"));
    compiler.args(options).arg("-o").arg(&fresh).arg(source).args(libraries);
    compiler.current_dir(place::home().join("own"));
    let output = compiler.output().map_err(say)?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{compiler:?} failed:\n{text}"));
    }
    fs::rename(&fresh, &program).map_err(say)?;
    Ok(program)
}
