//! The incident of a panic, written as stunt reads it.
//!
//! Always holds: it is there whole or not at all; folders have mode 0700 and files 0600.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::elf;
use crate::json::{string, word};

/// The largest program whose identity is looked for.
const LARGEST: u64 = 1 << 30;

/// Where the user's incidents are.
fn place() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .map(|folder| folder.join("stunt/incidents"))
}

/// Writes an incident of this process, which panicked at this source file and line.
pub fn write(panicked: Option<(&str, u32)>) -> io::Result<()> {
    let place = place().ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
    #[allow(clippy::disallowed_methods)] // When it happened is what an incident tells.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let id = format!("{}-hook-{}", now.as_secs(), std::process::id());
    DirBuilder::new().mode(0o700).recursive(true).create(&place)?;
    let beside = place.join(format!(".{id}.new"));
    let folder = |path: &Path| DirBuilder::new().mode(0o700).create(path);
    folder(&beside)?;
    let text = text(&id, now.as_secs(), panicked);
    let written = folder(&beside.join("data")).and_then(|()| {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        options.open(beside.join("incident.json"))?.write_all(text.as_bytes())
    });
    let moved = written.and_then(|()| fs::rename(&beside, place.join(&id)));
    if moved.is_err() {
        // Nothing half-written stays; what matters is the first error.
        let _ = fs::remove_dir_all(&beside);
    }
    moved
}

fn text(id: &str, made: u64, panicked: Option<(&str, u32)>) -> String {
    let program = std::env::current_exe().unwrap_or_default();
    let small = fs::metadata(&program).is_ok_and(|it| it.len() <= LARGEST);
    let file = if small { fs::read(&program).unwrap_or_default() } else { Vec::new() };
    let build_id = elf::build_id(&file).map_or_else(|| "null".to_owned(), |it| string(&it));
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let arguments: Vec<OsString> = words.collect();
    let folder = std::env::current_dir().unwrap_or_default();
    let files: Vec<String> =
        arguments.iter().filter_map(|it| noted_file(&folder.join(it))).collect();
    let shown = panicked.map(|(file, line)| (public(file), line));
    let at = shown.map_or_else(String::new, |(file, line)| format!(" at {file}:{line}"));
    let list: Vec<String> = arguments.iter().map(|it| word(it)).collect();
    let notes = [
        "A panic hook made this: standard input and connections are not known.",
        "Files that the arguments name are not copied.",
    ]
    .map(string);
    format!(
        "{{\n  \"schema\": \"stunt-incident/1\",\n  \"id\": {id},\n  \"made\": {made},\n  \
         \"maker\": \"hook\",\n  \"program\": {{\"path\": {program}, \"build_id\": {build_id}}},\n  \
         \"name\": {name},\n  \"arguments\": [{arguments}],\n  \"folder\": {folder},\n  \
         \"environment\": [],\n  \"sources\": [{files}],\n  \"ending\": {{\"exit\": 101}},\n  \
         \"failed_in\": \"first\",\n  \"failure\": {{\"kind\": \"panic\", \"signature\": \"\", \
         \"words\": {words}, \"frames\": []}},\n  \"state\": \"pending\",\n  \"notes\": [{notes}]\n}}\n",
        id = string(id),
        program = word(program.as_os_str()),
        name = word(&name),
        arguments = list.join(", "),
        folder = word(folder.as_os_str()),
        files = files.join(", "),
        words = string(&format!("panic{at}")),
        notes = notes.join(", "),
    )
}

/// A file that an argument names: its path and size.
fn noted_file(path: &Path) -> Option<String> {
    let data = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let (path, bytes) = (word(path.as_os_str()), data.len());
    Some(format!(
        "{{\"from\": \"file\", \"path\": {path}, \"bytes\": {bytes}, \"copied\": \"unread\"}}"
    ))
}

/// A source file without what names a user: the path from the last `src` on, else its name.
fn public(file: &str) -> &str {
    if let Some(at) = file.rfind("/src/") {
        return &file[at + 1..];
    }
    if file.starts_with('/') { file.rsplit('/').next().unwrap_or(file) } else { file }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_files_do_not_name_users() {
        assert_eq!(public("/home/alice/project/src/main.rs"), "src/main.rs");
        assert_eq!(public("src/main.rs"), "src/main.rs");
        assert_eq!(public("/home/alice/main.rs"), "main.rs");
        assert_eq!(public("/a/b/src/deep/src/x.rs"), "src/x.rs");
    }
}
