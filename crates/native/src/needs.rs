//! What a program needs to run at all: its own file, who interprets it, its libraries, the system.
//!
//! This is all that a run on a stranger's bytes is allowed to read, so it errs towards too little: a
//! program that misses something fails in another way, and is not believed. Reads files, runs nothing.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use object::Endianness;
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH, FileHeader64};
use object::read::elf::{Dyn, FileHeader};

use crate::check::find;

/// Folders of the system beside those with libraries: packages that bring all they need.
const PACKAGES: [&str; 4] = ["/sbin", "/opt", "/nix/store", "/gnu/store"];
/// The most files that are looked at.
const MOST: usize = 1000;

/// Files, and folders with all that is below them, that this program needs to run at all. Nothing of the
/// folder that it lies in is among them but itself and its libraries.
#[must_use]
pub fn needs(program: &Path) -> Vec<PathBuf> {
    let path = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
    let given: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut needs: BTreeSet<PathBuf> =
        stunt_cage::SYSTEM.iter().chain(&PACKAGES).map(PathBuf::from).collect();
    let mut seen = BTreeSet::new();
    let mut waiting = vec![program.to_owned()];
    while let Some(file) = waiting.pop() {
        let Ok(file) = file.canonicalize() else { continue };
        if seen.len() >= MOST || !seen.insert(file.clone()) {
            continue;
        }
        let Ok(bytes) = fs::read(&file) else { continue };
        match interpreters(&bytes) {
            Some(interpreters) => {
                needs.extend(interpreters.iter().filter_map(|it| modules(it)));
                waiting.extend(interpreters);
            }
            None => waiting.extend(libraries(&file, &bytes, &given)),
        }
        needs.insert(file);
    }
    needs.into_iter().collect()
}

/// Who runs a script, by its first line; nothing if the file is none.
fn interpreters(bytes: &[u8]) -> Option<Vec<PathBuf>> {
    let line = bytes.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let mut words = words.map(OsStr::from_bytes);
    let first = PathBuf::from(words.next()?);
    let mut all = vec![first.clone()];
    if first.ends_with("env") {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let named = words.find(|word| !word.as_bytes().starts_with(b"-"));
        all.extend(named.and_then(|name| find(name, &path).ok()));
    }
    Some(all)
}

/// The modules that belong to an interpreter: `lib` beside the `bin` that it is in.
fn modules(interpreter: &Path) -> Option<PathBuf> {
    let real = interpreter.canonicalize().ok()?;
    let folder = real.parent().filter(|folder| folder.ends_with("bin"))?;
    Some(folder.parent()?.join("lib"))
}

/// The libraries that a file needs and that are found where it says, or where the user says. Those of
/// the system are the system's.
fn libraries(file: &Path, bytes: &[u8], given: &[PathBuf]) -> Vec<PathBuf> {
    let Some((needed, own)) = dynamic(bytes) else { return Vec::new() };
    let origin = file.parent().unwrap_or(Path::new("/"));
    let mut folders: Vec<PathBuf> = given.to_vec();
    for text in own {
        let text = text.replace("${ORIGIN}", "$ORIGIN");
        let text = text.replace("$ORIGIN", &origin.to_string_lossy());
        folders.extend(text.split(':').filter(|it| it.starts_with('/')).map(PathBuf::from));
    }
    let mut found = Vec::new();
    for name in needed {
        found.extend(folders.iter().map(|folder| folder.join(&name)).find(|path| path.is_file()));
    }
    found
}

/// The names of the libraries that a file needs, and the lists of folders that it looks into.
fn dynamic(bytes: &[u8]) -> Option<(Vec<String>, Vec<String>)> {
    let header = FileHeader64::<Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let sections = header.sections(endian, bytes).ok()?;
    let (entries, strings) = sections.dynamic(endian, bytes).ok()??;
    let strings = sections.strings(endian, bytes, strings).ok()?;
    let (mut needed, mut folders) = (Vec::new(), Vec::new());
    for entry in entries {
        let list = match entry.d_tag(endian) {
            DT_NEEDED => &mut needed,
            DT_RPATH | DT_RUNPATH => &mut folders,
            _ => continue,
        };
        let text = u32::try_from(entry.d_val(endian)).ok().and_then(|at| strings.get(at).ok());
        list.extend(text.map(|text| String::from_utf8_lossy(text).into_owned()));
    }
    Some((needed, folders))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_needs_itself_and_the_system() {
        let own = std::env::current_exe().unwrap();
        let needs = needs(&own);
        assert!(needs.contains(&own.canonicalize().unwrap()));
        assert!(needs.contains(&PathBuf::from("/usr")));
        // Not the folder that it lies in, nor what is above.
        for folder in own.ancestors().skip(1) {
            assert!(!needs.contains(&folder.to_owned()), "{}", folder.display());
        }
    }

    #[test]
    fn libraries_are_found_beside_a_program() {
        let bytes = fs::read(std::env::current_exe().unwrap()).unwrap();
        let (needed, _) = dynamic(&bytes).unwrap();
        assert!(needed.iter().any(|name| name.starts_with("libc.so")), "{needed:?}");
        let given = needed.iter().map(|name| Path::new("/lib/x86_64-linux-gnu").join(name));
        let given: Vec<PathBuf> = given.filter(|path| path.exists()).collect();
        let folder = [PathBuf::from("/lib/x86_64-linux-gnu")];
        assert_eq!(libraries(Path::new("/a/b"), &bytes, &folder), given);
        assert_eq!(dynamic(b"no program"), None);
    }

    #[test]
    fn a_script_needs_its_interpreter() {
        let found = interpreters(b"#! /usr/bin/env -S sh -x\nrest").unwrap();
        assert_eq!(found[0], PathBuf::from("/usr/bin/env"));
        assert!(found[1].ends_with("sh"), "{found:?}");
        assert_eq!(interpreters(b"\x7fELF"), None);
        assert_eq!(modules(Path::new("/usr/bin/env")), Some(PathBuf::from("/usr/lib")));
    }
}
