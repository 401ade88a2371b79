//! Where an input came from, and where its double lies in the archive.
//!
//! The name of the user's file never appears: names of files can be private. What stays is the
//! extension, and only if it is one of a fixed list, because many programs go by it.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The folder of the archive that holds the doubles.
pub(crate) const FOLDER: &str = "input/";

/// Extensions that say what kind of file it is and nothing about its owner.
const EXTENSIONS: [&str; 133] = [
    "7z", "aac", "arrow", "asc", "asm", "avi", "avif", "avro", "bin", "bmp", "bz2", "c", "cbor",
    "cc", "cfg", "cil", "class", "conf", "cpp", "css", "csv", "dat", "db", "dcm", "der", "doc",
    "docm", "docx", "dotx", "elf", "eml", "emlx", "epub", "exe", "feather", "flac", "gif", "gpx",
    "gz", "h", "har", "heic", "hex", "htm", "html", "ico", "ics", "ini", "ipynb", "jar", "jpeg",
    "jpg", "js", "json", "jsonl", "kml", "kmz", "log", "lua", "lz4", "mbox", "md", "mid", "midi",
    "mkv", "mov", "mp3", "mp4", "mpeg", "mpg", "msg", "msgpack", "nmea", "o", "obj", "odg", "odp",
    "ods", "odt", "ofx", "ogg", "ole", "orc", "otf", "parquet", "pb", "pcap", "pcapng", "pdf",
    "pem", "php", "plist", "png", "ppm", "ppt", "pptx", "ps", "py", "rar", "rb", "rs", "rtf", "sh",
    "so", "sql", "sqlite", "sqlite3", "svg", "tar", "tga", "tgz", "tif", "tiff", "toml", "ts",
    "tsv", "ttf", "txt", "vcf", "wasm", "wav", "webm", "webp", "xls", "xlsb", "xlsm", "xlsx",
    "xml", "xz", "yaml", "yml", "zip", "zst",
];

/// Where an input came from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SourceName {
    /// The file whose path is `@@` in the arguments.
    File,
    /// One of several files, counted from 1: that whose path is `@@2` in the arguments.
    NumberedFile(u32),
    /// A file of the folder whose path is `@@` in the arguments, counted from 1 in the order of their names.
    Member(u32),
    /// Standard input.
    Stdin,
    /// An argument, counted from 1.
    Argument(u32),
    /// An environment variable, by its name.
    Environment(String),
    /// What the other side of a connection sent, counted from 0 in the order in which the program
    /// accepted or made connections.
    Socket(u32),
}

impl SourceName {
    /// What stands in the arguments in place of an argument that is itself an input. Which
    /// argument it is says the source; this is for people.
    pub fn placeholder(&self) -> String {
        format!("<{self}>")
    }

    /// The source with its article, for sentences: `the file`.
    pub fn words(&self) -> String {
        match self {
            SourceName::File => "the file".to_owned(),
            SourceName::NumberedFile(number) => format!("file {number}"),
            SourceName::Member(number) => format!("file {number} of the folder"),
            SourceName::Stdin => "standard input".to_owned(),
            SourceName::Argument(number) => format!("argument {number}"),
            SourceName::Environment(name) => format!("the environment variable {name}"),
            SourceName::Socket(number) => format!("connection {number}"),
        }
    }

    /// What stands for the path of a file in the arguments, or for that of its folder: `@@`, `@@2`; nothing
    /// for others.
    pub fn place(&self) -> Option<String> {
        match self {
            SourceName::File | SourceName::Member(_) => Some("@@".to_owned()),
            SourceName::NumberedFile(number) => Some(format!("@@{number}")),
            _ => None,
        }
    }

    /// Whether a program reads it to its end, so that a double of it may have another length.
    pub fn may_be_resized(&self) -> bool {
        self.is_file() || *self == SourceName::Stdin
    }

    /// Whether it is the content of a file that the program opens by its path, or finds in its folder.
    pub fn is_file(&self) -> bool {
        matches!(self, SourceName::File | SourceName::NumberedFile(_) | SourceName::Member(_))
    }

    /// Whether it is a file of a folder.
    pub fn is_member(&self) -> bool {
        matches!(self, SourceName::Member(_))
    }

    /// Whether it is an argument or a variable, which ends at its first zero.
    pub fn is_text(&self) -> bool {
        matches!(self, SourceName::Argument(_) | SourceName::Environment(_))
    }

    fn parse(text: &str) -> Option<SourceName> {
        let number = |digits: &str| -> Option<u32> {
            let plain = digits.bytes().all(|digit| digit.is_ascii_digit());
            // One way to write a number, so that a name read is a name written.
            let plain = plain && (digits == "0" || !digits.starts_with('0'));
            digits.parse().ok().filter(|_| plain)
        };
        let from_one = |digits: &str| number(digits).filter(|&number| number > 0);
        match text.split_once(' ') {
            None if text == "file" => Some(SourceName::File),
            None if text == "stdin" => Some(SourceName::Stdin),
            Some(("file", digits)) => from_one(digits).map(SourceName::NumberedFile),
            Some(("member", digits)) => from_one(digits).map(SourceName::Member),
            Some(("arg", digits)) => from_one(digits).map(SourceName::Argument),
            Some(("socket", digits)) => number(digits).map(SourceName::Socket),
            Some(("env", name)) if !name.is_empty() && !name.contains(['=', '\0']) => {
                Some(SourceName::Environment(name.to_owned()))
            }
            _ => None,
        }
    }
}

/// As the file names it: `file`, `file 2`, `member 3`, `stdin`, `arg 2`, `env HOME`, `socket 0`.
impl fmt::Display for SourceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceName::File => f.write_str("file"),
            SourceName::NumberedFile(number) => write!(f, "file {number}"),
            SourceName::Member(number) => write!(f, "member {number}"),
            SourceName::Stdin => f.write_str("stdin"),
            SourceName::Argument(number) => write!(f, "arg {number}"),
            SourceName::Environment(name) => write!(f, "env {name}"),
            SourceName::Socket(number) => write!(f, "socket {number}"),
        }
    }
}

impl Serialize for SourceName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SourceName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SourceName, D::Error> {
        let text = String::deserialize(deserializer)?;
        SourceName::parse(&text).ok_or_else(|| {
            serde::de::Error::custom(
                "a source is not one of `file`, `file N`, `member N`, `stdin`, `arg N`, `env NAME`, `socket N`",
            )
        })
    }
}

/// An input, and its double in the archive.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Source {
    /// Where it came from.
    pub name: SourceName,
    /// How long the double is.
    pub bytes: u64,
    /// The entry of the archive that holds the double: `input/file.json`.
    pub entry: String,
    /// Of a connection, what else the other side has to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection: Option<Connection>,
}

/// Who made a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Way {
    /// The other side, a client; the program is a server, and accepted it.
    Accepted,
    /// The program, a client; the other side is a server.
    Made,
}

/// How a connection came about and ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Connection {
    /// Who made it.
    pub way: Way,
    /// The port of the server; without one, the first that the program listens on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// Whether the other side says that this is all, once it has sent its bytes.
    pub closes: bool,
}

impl Source {
    /// A source of `bytes` bytes. The extension of the user's file is kept if it is a common one;
    /// other sources have none.
    pub fn new(name: SourceName, bytes: u64, extension: Option<&str>) -> Source {
        let known = extension
            .map(str::to_ascii_lowercase)
            .and_then(|extension| EXTENSIONS.iter().find(|&&known| known == extension));
        let ending = known.map_or_else(String::new, |extension| format!(".{extension}"));
        let entry = match &name {
            SourceName::File => format!("{FOLDER}file{ending}"),
            SourceName::NumberedFile(number) => format!("{FOLDER}file{number}{ending}"),
            // In the order of their names.
            SourceName::Member(number) => format!("{FOLDER}member{number:02}{ending}"),
            SourceName::Stdin => format!("{FOLDER}stdin"),
            SourceName::Argument(number) => format!("{FOLDER}arg{number}"),
            SourceName::Environment(name) => format!("{FOLDER}env-{}", plain(name)),
            SourceName::Socket(number) => format!("{FOLDER}socket{number}"),
        };
        Source { name, bytes, entry, connection: None }
    }

    /// What the other side of the n-th connection sends, from 0.
    pub fn of_connection(number: u32, bytes: u64, connection: Connection) -> Source {
        let source = Source::new(SourceName::Socket(number), bytes, None);
        Source { connection: Some(connection), ..source }
    }

    /// The name that a file with the double gets, without a folder: `file.json`.
    pub fn file_name(&self) -> &str {
        self.entry.strip_prefix(FOLDER).unwrap_or(&self.entry)
    }
}

/// Whether an entry lies in the folder of the doubles and has a name that is safe as a file's name
/// everywhere: no folder, no dot at its start, nothing but letters, digits, and `.`, `_`, `-`.
pub(crate) fn is_safe(entry: &str) -> bool {
    entry.strip_prefix(FOLDER).is_some_and(|name| {
        let safe = |c: u8| c.is_ascii_alphanumeric() || b"._-".contains(&c);
        (1..=100).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(safe)
    })
}

/// The name of a variable with everything replaced that a file's name should not have.
fn plain(name: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    name.chars().take(64).map(safe).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: SourceName, extension: Option<&str>) -> String {
        Source::new(name, 1, extension).entry
    }

    #[test]
    fn entries_have_the_kind_and_never_the_name() {
        assert_eq!(entry(SourceName::File, None), "input/file");
        assert_eq!(entry(SourceName::File, Some("JSON")), "input/file.json");
        assert_eq!(entry(SourceName::File, Some("alice")), "input/file");
        assert_eq!(entry(SourceName::NumberedFile(2), Some("csv")), "input/file2.csv");
        assert_eq!(entry(SourceName::Member(7), Some("txt")), "input/member07.txt");
        assert_eq!(entry(SourceName::Socket(0), Some("csv")), "input/socket0");
        assert_eq!(entry(SourceName::Stdin, Some("json")), "input/stdin");
        assert_eq!(entry(SourceName::Argument(2), None), "input/arg2");
        let variable = SourceName::Environment("A/../B".to_owned());
        assert_eq!(entry(variable, None), "input/env-A____B");
        assert_eq!(Source::new(SourceName::File, 1, Some("png")).file_name(), "file.png");
    }

    #[test]
    fn every_entry_is_safe_and_tricks_are_not() {
        for extension in EXTENSIONS {
            assert!(is_safe(&entry(SourceName::File, Some(extension))));
        }
        assert!(is_safe(&entry(SourceName::Environment("é=\n".repeat(99)), None)));
        let tricks = [
            "file",
            "input/",
            "input",
            "input/../x",
            "input//x",
            "/input/x",
            "input/.x",
            "input/a/b",
            "input/a\\b",
            "input/a\0",
            "input/a b",
            "../input/x",
            "input/..",
            "C:input/x",
        ];
        for trick in tricks {
            assert!(!is_safe(trick), "{trick:?}");
        }
        assert!(!is_safe(&format!("input/{}", "a".repeat(101))));
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        let names = [
            SourceName::File,
            SourceName::Stdin,
            SourceName::Argument(12),
            SourceName::Environment("LC_ALL".to_owned()),
            SourceName::NumberedFile(2),
            SourceName::Member(3),
            SourceName::Socket(0),
            SourceName::Socket(17),
        ];
        for name in names {
            assert_eq!(SourceName::parse(&name.to_string()), Some(name));
        }
        for wrong in ["", "File", "arg", "arg 0", "arg +1", "arg x", "env", "env ", "env A=B", "x"]
            .into_iter()
            .chain(["file 0", "file x", "file 01", "socket", "socket ", "socket -1", "socket 00"])
        {
            assert_eq!(SourceName::parse(wrong), None, "{wrong:?}");
        }
    }
}
