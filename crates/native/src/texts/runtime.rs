//! Constants of what runs a program: an interpreter's binary and libraries, Java's class library, and
//! programs that bring their runtime along (Go).
//!
//! There are hundreds of thousands, so they are looked up by the first word of a message.

use std::fs;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;

use super::class;
use super::template::{Fit, fit, pieces, words};
use crate::needs::needs;

/// The most that is read of all files, in bytes.
const MOST: u64 = 512 << 20;
/// The longest constant that is kept, in bytes.
const LONGEST: usize = 200;

/// Interpreters by the beginnings of their names, and libraries that belong to them.
const INTERPRETERS: [(&str, &str); 7] = [
    ("python", "libpython"),
    ("node", "libnode"),
    ("ruby", "libruby"),
    ("php", "libphp"),
    ("perl", "libperl"),
    ("lua", "liblua"),
    ("texlua", "liblua"),
];

/// The constants of some binaries.
#[derive(Default)]
pub struct Runtime {
    /// All constants, one after the other.
    arena: String,
    /// Where they begin and end, by the first word.
    by_word: FxHashMap<Box<str>, Vec<(u32, u32)>>,
    /// Programs in whose binaries texts have no ends.
    endless: Vec<Vec<u8>>,
}

impl Runtime {
    /// Those of the programs among these that are known to run others, or to be of Go.
    pub fn of<'a>(programs: impl Iterator<Item = &'a Path>) -> Self {
        let mut all = Self::default();
        let mut left = MOST;
        for program in programs {
            for file in files(program) {
                let Ok(length) = fs::metadata(&file).map(|it| it.len()) else { continue };
                if length > left {
                    continue;
                }
                left -= length;
                let Ok(bytes) = fs::read(&file) else { continue };
                if is_go(&bytes) {
                    all.endless.push(bytes);
                } else if file.ends_with("lib/modules") {
                    all.add_classes(&bytes);
                } else {
                    all.add_binary(&bytes);
                }
            }
        }
        all
    }

    /// The constant that says most of how a message begins, with so many words at least.
    pub fn beginning(&self, message: &str, least: usize) -> Option<Fit> {
        let known = self.by_word.get(first_word(message)?);
        let constants = known.into_iter().flatten();
        let fits = constants
            .filter_map(|&(from, to)| fit(&self.arena[from as usize..to as usize], message, least));
        fits.max_by_key(|it| it.literal).or_else(|| self.endless(message, least))
    }

    /// The longest beginning of a message, up to a word's end, that stands in a binary where nothing tells
    /// where a text ends.
    fn endless(&self, message: &str, least: usize) -> Option<Fit> {
        if self.endless.is_empty() {
            return None;
        }
        let ends = message
            .char_indices()
            .filter(|(at, c)| !c.is_alphabetic() && message[..*at].ends_with(char::is_alphabetic));
        let whole = message.ends_with(char::is_alphabetic).then_some(message.len());
        let ends: Vec<usize> = ends.map(|(at, _)| at).chain(whole).take(20).collect();
        let stands = |end: usize| {
            let text = memchr::memmem::Finder::new(&message[..end]);
            self.endless.iter().any(|bytes| text.find(bytes).is_some())
        };
        let count = ends.partition_point(|&end| stands(end));
        let end = *ends.get(count.checked_sub(1)?)?;
        let text = &message[..end];
        let enough = words([text]) >= least;
        enough.then(|| Fit { text: text.trim().to_owned(), literal: end, end })
    }

    /// Texts of a binary end with a null, or stand between quotes in source text.
    fn add_binary(&mut self, bytes: &[u8]) {
        let mut at = 1;
        while at < bytes.len() {
            let before = bytes[at - 1];
            let quote = matches!(before, b'"' | b'\'' | b'`');
            if (before == 0 || quote) && bytes[at].is_ascii_alphabetic() {
                let most = &bytes[at..bytes.len().min(at + LONGEST)];
                let ends = |&byte: &u8| byte == 0 || byte == b'\n' || (quote && byte == before);
                let length = most.iter().position(ends).unwrap_or(0);
                if let Ok(text) = std::str::from_utf8(&most[..length]) {
                    self.add(text);
                }
                if !quote {
                    // Nothing begins within it but what is quoted there.
                    at += most[..length]
                        .iter()
                        .position(|byte| b"\"'`".contains(byte))
                        .unwrap_or(length);
                }
            }
            at += 1;
        }
    }

    fn add_classes(&mut self, bytes: &[u8]) {
        for at in memchr::memmem::find_iter(bytes, class::MAGIC) {
            for text in class::constants(&bytes[at..]) {
                if text.len() <= LONGEST {
                    self.add(&text);
                }
            }
        }
    }

    fn add(&mut self, text: &str) {
        let Some(word) = first_word(text) else { return };
        // One word is what anything may begin with.
        if !text.contains(' ')
            || text.chars().any(|c| c.is_control() && c != '\u{1}')
            || words(pieces(text)) < 2
        {
            return;
        }
        let from = self.arena.len();
        let Ok(to) = u32::try_from(from + text.len()) else { return };
        self.arena.push_str(text);
        self.by_word.entry(word.into()).or_default().push((from as u32, to));
    }
}

/// The word that a text begins with, if it has two letters.
fn first_word(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
    (end >= 2).then(|| &text[..end])
}

/// Whether a binary is of Go.
fn is_go(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"\xff Go buildinf:").is_some()
}

/// The files in which constants of a program that runs others are.
fn files(program: &Path) -> Vec<PathBuf> {
    let name = program.file_name().map(|it| it.to_string_lossy().into_owned()).unwrap_or_default();
    let prefix = program.parent().and_then(Path::parent).unwrap_or(Path::new("/usr"));
    if name == "java" {
        return ["lib/server/libjvm.so", "lib/modules"].map(|it| prefix.join(it)).into();
    }
    let known = INTERPRETERS.iter().find(|(it, _)| name.starts_with(it));
    let Some((kind, library)) = known else {
        let go = fs::metadata(program).is_ok_and(|it| it.len() < MOST)
            && fs::read(program).is_ok_and(|bytes| is_go(&bytes));
        return if go { vec![program.to_owned()] } else { Vec::new() };
    };
    let mut all = vec![program.to_owned()];
    let of_library = |path: &PathBuf| {
        path.file_name().is_some_and(|it| it.to_string_lossy().starts_with(library))
    };
    all.extend(needs(program).into_iter().filter(of_library));
    let folders: Vec<PathBuf> = match *kind {
        "python" => below(&prefix.join("lib"), |it| it.starts_with("python3"))
            .into_iter()
            .map(|it| it.join("lib-dynload"))
            .collect(),
        "ruby" => ["lib/x86_64-linux-gnu/ruby", "lib/ruby"]
            .iter()
            .flat_map(|it| {
                below(&prefix.join(it), |name| name.starts_with(|c: char| c.is_ascii_digit()))
            })
            .flat_map(|it| {
                let own = below(&it, |name| name.starts_with("x86_64"));
                own.into_iter().chain([it])
            })
            .collect(),
        "php" => below(&prefix.join("lib/php"), |it| it.starts_with("20")),
        _ => Vec::new(),
    };
    all.extend(folders.iter().flat_map(|it| below(it, |name| name.ends_with(".so"))));
    all
}

/// What a folder has by such a name, in order.
fn below(folder: &Path, wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries
        .filter(|it| it.file_name().to_str().is_some_and(&wanted))
        .map(|it| it.path())
        .collect();
    all.sort();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_binary() {
        let mut runtime = Runtime::default();
        runtime.add_binary(
            b"\x7fELF\0month must be in 1..12\0x\0Index %d out of bounds\0a = 'no such key: %s';\0",
        );
        let text = |message: &str| runtime.beginning(message, 2).map(|it| it.text);
        assert_eq!(text("month must be in 1..12").as_deref(), Some("month must be in 1..12"));
        assert_eq!(text("month must be private"), None);
        assert_eq!(text("Index 7 out of bounds").as_deref(), Some("Index … out of bounds"));
        assert_eq!(text("no such key: private").as_deref(), Some("no such key: …"));
        assert_eq!(text("private words of a person"), None);
    }

    #[test]
    fn texts_without_ends() {
        let endless = vec![b"abcbad row of %sindex out of range [%x] with".to_vec()];
        let runtime = Runtime { endless, ..Runtime::default() };
        let text = |message: &str| runtime.beginning(message, 2).map(|it| it.text);
        assert_eq!(
            text("index out of range [22] with length 12").as_deref(),
            Some("index out of range")
        );
        assert_eq!(text("bad row of Ada").as_deref(), Some("bad row of"));
        assert_eq!(text("Ada is a bad row"), None);
    }
}
