//! One configuration file: its values with their lines, and everything that is wrong with it.
//!
//! Always: a problem names the file and the line, and does not stop the search for others. What a
//! secret key holds is not repeated in a problem.

use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::key::{KEYS, Key, Reach, is_table, key_of};
use super::suggest::nearest;
use super::value::{Ceiling, Shape, Value, ceiling};

/// The largest file that is read.
const MOST_BYTES: u64 = 1 << 20;

/// Whose file it is. Later ones go first where it is left to the key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Layer {
    /// The administrator's: `/etc/stunt/config.toml`.
    System,
    /// The user's: `~/.config/stunt/config.toml`.
    User,
    /// That of the project that the current folder belongs to: `.stunt.toml`.
    Project,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Layer::System => "system",
            Layer::User => "user",
            Layer::Project => "project",
        })
    }
}

/// Something that is wrong with a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trouble {
    /// The file.
    pub file: PathBuf,
    /// The line, from 1; `None` if it is about the whole file.
    pub line: Option<usize>,
    /// What is wrong, and what to do.
    pub words: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.words)
    }
}

/// A value and where it stands.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is a value of.
    pub key: &'static Key,
    /// The value.
    pub value: Value,
    /// The line, from 1.
    pub line: usize,
}

/// A file that was read.
#[derive(Clone, Debug)]
pub struct File {
    /// Whose it is.
    pub layer: Layer,
    /// Where it is.
    pub path: PathBuf,
    /// Its values, in the order of its lines.
    pub entries: Vec<Entry>,
}

/// Reads a file. `None` if there is none; problems are added to the list.
pub fn read(layer: Layer, path: &Path, troubles: &mut Vec<Trouble>) -> Option<File> {
    let mut trouble =
        |words: String| troubles.push(Trouble { file: path.to_owned(), line: None, words });
    let data = match fs::metadata(path) {
        Ok(data) => data,
        Err(error) if error.kind() == ErrorKind::NotFound => return None,
        Err(error) => {
            trouble(format!("cannot be read: {error}"));
            return None;
        }
    };
    if !data.is_file() || data.len() > MOST_BYTES {
        trouble("is no configuration file".to_owned());
        return None;
    }
    // The user that this process runs as owns its entry.
    let own = fs::metadata("/proc/self").map(|own| own.uid()).ok();
    if data.uid() != 0 && Some(data.uid()) != own {
        trouble("belongs to another user, so it is not read".to_owned());
        return None;
    }
    if data.mode() & 0o002 != 0 {
        trouble("can be written by everybody, so it is not read: chmod o-w it".to_owned());
        return None;
    }
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            trouble(format!("cannot be read: {error}"));
            return None;
        }
    };
    let file = parse(layer, path, &text, troubles);
    let token = file.entries.iter().find(|entry| entry.key.shape == Shape::Secret);
    if let (Some(entry), true) = (token, data.mode() & 0o077 != 0) {
        troubles.push(Trouble {
            file: path.to_owned(),
            line: Some(entry.line),
            words: format!(
                "{} is a secret, and others may read this file: chmod 600 it",
                entry.key.name
            ),
        });
    }
    Some(file)
}

/// The values of a file's text.
pub fn parse(layer: Layer, path: &Path, text: &str, troubles: &mut Vec<Trouble>) -> File {
    let mut reader = Reader { layer, path, text, entries: Vec::new(), troubles };
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        // What could be recovered of the rest is guesswork.
        for error in errors {
            // Messages of the parser may quote the text around them, on later lines.
            let words = error.message().lines().next().unwrap_or("is no TOML").to_owned();
            reader.trouble(error.span().unwrap_or(0..0), words);
        }
        return File { layer, path: path.to_owned(), entries: Vec::new() };
    }
    for (name, value) in table.get_ref() {
        let full = name.get_ref().as_ref();
        match value.get_ref() {
            DeValue::Table(inner) if is_table(full) => {
                for (name, value) in inner {
                    reader.entry(&format!("{full}.{}", name.get_ref()), &name.span(), value);
                }
            }
            _ => reader.entry(full, &name.span(), value),
        }
    }
    let Reader { mut entries, .. } = reader;
    entries.sort_by_key(|entry| entry.line);
    troubles.sort_by_key(|trouble| trouble.line);
    File { layer, path: path.to_owned(), entries }
}

struct Reader<'a> {
    layer: Layer,
    path: &'a Path,
    text: &'a str,
    entries: Vec<Entry>,
    troubles: &'a mut Vec<Trouble>,
}

impl Reader<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        1 + before.iter().filter(|&&byte| byte == b'\n').count()
    }

    fn trouble(&mut self, span: Range<usize>, words: String) {
        let line = Some(self.line(&span));
        self.troubles.push(Trouble { file: self.path.to_owned(), line, words });
    }

    fn entry(&mut self, name: &str, at: &Range<usize>, value: &Spanned<DeValue<'_>>) {
        // A limit is written as on the command line: in percent or in bits.
        let in_bits = match value.get_ref() {
            DeValue::String(text) if name == "max-leak" && text.ends_with("bits") => Some(text),
            _ => None,
        };
        let named = if in_bits.is_some() { "max-leak-bits" } else { name };
        let Some(key) = key_of(named) else {
            let words = match unknown(name) {
                Some(meant) => format!("there is no key {name}; is {meant} meant?"),
                None => format!("there is no key {name}; `stunt config show` lists all"),
            };
            return self.trouble(at.clone(), words);
        };
        let read = match in_bits {
            Some(text) => ceiling(text).and_then(|ceiling| match ceiling {
                Ceiling::Bits(bits) => key.shape.parse_text(&bits.to_string()),
                Ceiling::Percent(_) => Err(key.shape.expected()),
            }),
            None => self.value(key, value.get_ref()),
        };
        let value = match read {
            Ok(value) => value,
            Err(words) => return self.trouble(value.span(), format!("{name}: {words}")),
        };
        let denied = match (self.layer, key.reach, &value) {
            (Layer::Project, Reach::Own, _) => "only the user and the system may set it",
            (Layer::Project, Reach::OnlyOff, Value::Flag(true)) => {
                "a project may set it to false only"
            }
            _ => {
                let line = self.line(at);
                self.entries.push(Entry { key, value, line });
                return;
            }
        };
        self.trouble(at.clone(), format!("{name}: {denied}"));
    }

    fn value(&self, key: &Key, value: &DeValue<'_>) -> Result<Value, String> {
        let expected = || key.shape.expected();
        match (key.shape, value) {
            (Shape::Flag, DeValue::Boolean(flag)) => Ok(Value::Flag(*flag)),
            (Shape::Count { .. }, DeValue::Integer(number)) if number.radix() == 10 => {
                key.shape.parse_text(number.as_str())
            }
            (Shape::Percent, DeValue::Integer(number)) if number.radix() == 10 => {
                key.shape.parse_text(number.as_str())
            }
            (Shape::Percent, DeValue::Float(number)) => key.shape.parse_text(number.as_str()),
            (Shape::Names, DeValue::Array(words)) => {
                let word = |word: &Spanned<DeValue<'_>>| match word.get_ref() {
                    DeValue::String(word) if !word.is_empty() => Ok(word.to_string()),
                    _ => Err(expected()),
                };
                words.iter().map(word).collect::<Result<_, _>>().map(Value::Names)
            }
            (Shape::Flag | Shape::Count { .. } | Shape::Names, _) => Err(expected()),
            (Shape::Path, DeValue::String(text)) => {
                let folder = self.path.parent().unwrap_or(Path::new("."));
                key.shape.parse_text(text).map(|value| match value {
                    // What is absolute stays so.
                    Value::Path(path) => Value::Path(folder.join(path)),
                    value => value,
                })
            }
            (shape, DeValue::String(text)) => shape.parse_text(text),
            _ => Err(expected()),
        }
    }
}

/// The key that may be meant: one that is near, or one of that name in a table.
fn unknown(name: &str) -> Option<&'static str> {
    let bare = name.rsplit('.').next().unwrap_or(name);
    let last = |key: &Key| key.name.rsplit('.').next().unwrap_or(key.name);
    let same = KEYS.iter().find(|key| last(key) == bare).map(|key| key.name);
    let near = nearest(name, KEYS.iter().map(|key| key.name));
    let near_bare = || {
        let word = nearest(bare, KEYS.iter().map(last))?;
        KEYS.iter().find(|key| last(key) == word).map(|key| key.name)
    };
    near.or(same).or_else(near_bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn troubles(layer: Layer, text: &str) -> Vec<String> {
        let mut troubles = Vec::new();
        parse(layer, Path::new("/c.toml"), text, &mut troubles);
        troubles.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_problem_has_its_line() {
        let text = "\
sign = \"yes\"
colour = 1
[destination]
sever = \"https://a.example\"
server = \"http://a.example\"
[queue]
keep = 30
[netwrk]
proxy = \"x\"
";
        let expected = [
            "/c.toml:1: sign: true or false is expected",
            "/c.toml:2: there is no key colour; `stunt config show` lists all",
            "/c.toml:4: there is no key destination.sever; is destination.server meant?",
            "/c.toml:5: destination.server: http://a.example is not encrypted; an address that \
             begins with https:// is expected",
            "/c.toml:7: queue.keep: a length of time such as \"30s\", \"1h\" or \"30d\" is expected",
            "/c.toml:8: there is no key netwrk; `stunt config show` lists all",
        ];
        assert_eq!(troubles(Layer::User, text), expected);
    }

    #[test]
    fn a_key_outside_of_its_table_is_recognised() {
        let said = troubles(Layer::User, "server = \"https://a.example\"\n");
        assert_eq!(said, ["/c.toml:1: there is no key server; is destination.server meant?"]);
    }

    #[test]
    fn broken_text_has_a_line_too() {
        let said = troubles(Layer::User, "ask = true\nsign = = 1\n");
        assert!(said[0].starts_with("/c.toml:2: "), "{said:?}");
        assert!(troubles(Layer::User, "ask = true\nask = false\n")[0].starts_with("/c.toml:2: "));
    }

    #[test]
    fn a_project_cannot_loosen_anything() {
        for text in ["sign = true", "sign = false", "ask = true", "network.proxy = \"http://x:1\""]
        {
            assert_eq!(troubles(Layer::Project, text).len(), 1, "{text}");
            assert_eq!(troubles(Layer::User, text).len(), 0, "{text}");
        }
        assert!(troubles(Layer::Project, "ask = false\nmax-leak = \"2%\"").is_empty());
    }

    #[test]
    fn secrets_are_not_repeated() {
        let said = troubles(Layer::User, "[destination]\ntoken = \"pa55 word\"\n");
        assert!(said.len() == 1 && !said[0].contains("pa55"), "{said:?}");
        let said = troubles(Layer::User, "[destination]\ntoken = \"pa55word\n");
        assert!(!said.is_empty() && !said.concat().contains("pa55"), "{said:?}");
    }

    #[test]
    fn paths_start_at_the_file() {
        let mut none = Vec::new();
        let text = "[destination]\ncertificate = \"ca.pem\"\n";
        let file = parse(Layer::User, Path::new("/a/b/c.toml"), text, &mut none);
        assert_eq!(file.entries[0].value, Value::Path("/a/b/ca.pem".into()));
    }
}
