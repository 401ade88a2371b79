//! The words that a program and its libraries have in them: what anybody has who has the program.
//!
//! A program has its keywords and names as strings in its read-only data, and as numbers in its code, where a
//! compiler made one comparison of four bytes. They are found in the file alone, without a run, in the same order
//! wherever the file is the same: `stunt-belief` counts in these lists. What always holds: nothing depends on an
//! input, on a run, or on the machine but for the files of the libraries, which have to be the same.
//!
//! Words are found once for each file and kept in the user's cache folder, by build-id (`cache`). A cache has
//! what the program's file has, and nothing else.
//!
//! This crate must not know runs, inputs and doubles.

mod cache;
mod extract;
mod formats;
mod libraries;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use stunt_belief::List;

pub use cache::Cache;
pub use extract::words_in;

/// How words are found: changes whenever other words may be found in the same file.
pub const VERSION: u32 = 2;

/// The words of a program: its own, those of its libraries, and those of libraries that nearly every program has.
#[must_use]
pub fn of_program(program: &Path, cache: &Cache) -> Vec<List> {
    let mut lists: [Vec<Vec<u8>>; 3] = Default::default();
    lists[0] = cache.words(program);
    for (file, is_common) in libraries::of(program) {
        lists[if is_common { 2 } else { 1 }].extend(cache.words(&file));
    }
    named(lists)
}

/// The words of a program, or of a script and its interpreter.
#[must_use]
pub fn of(program: &Path, cache: &Cache) -> Vec<List> {
    match interpreter(program) {
        Some(interpreter) => of_script(program, &interpreter, cache),
        None => of_program(program, cache),
    }
}

/// The words of a script, and those of its interpreter.
#[must_use]
pub fn of_script(script: &Path, interpreter: &Path, cache: &Cache) -> Vec<List> {
    let own = std::fs::read(script).map(|bytes| extract::words_in_text(&bytes)).unwrap_or_default();
    let mut lists = of_program(interpreter, cache);
    let others = lists.drain(..).flat_map(|list| list.words().to_vec()).collect();
    named([own, Vec::new(), others])
}

/// The interpreter that a script names in its first line, if the file is a script; `env` is looked through.
#[must_use]
pub fn interpreter(script: &Path) -> Option<PathBuf> {
    let mut first = [0; 256];
    let length = File::open(script).ok()?.read(&mut first).ok()?;
    let line = first[..length].strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line.split_ascii_whitespace();
    let program = PathBuf::from(words.next()?);
    if program.file_name() != Some("env".as_ref()) {
        return Some(program);
    }
    let name = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|it| it.is_file())
}

fn named([own, libraries, common]: [Vec<Vec<u8>>; 3]) -> Vec<List> {
    vec![
        List::new("the program", own),
        List::new("its libraries", libraries),
        List::new("the system's libraries", common),
        List::new("common formats", formats::words()),
    ]
}

/// A short name of some lists: equal for equal lists.
#[must_use]
pub fn identity(lists: &[List]) -> String {
    let mut hash = Sha256::new();
    hash.update(VERSION.to_le_bytes());
    for list in lists {
        hash.update((list.len() as u64).to_le_bytes());
        for word in list.words() {
            hash.update((word.len() as u64).to_le_bytes());
            hash.update(word);
        }
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
