//! What is known about a run that failed: which program, on what, and how it failed.
//!
//! An [`Incident`] is a file `incident.json` of a versioned schema; the private bytes lie beside it,
//! one file each, and an incident names them by number. Nothing here can print them: words and
//! bytes have types whose `Debug` tells a length. Arguments and paths are the owner's business, too.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use stunt_path::{Failure, Private};

use crate::error::Error;
use crate::failure::NotedFailure;
use crate::word::{Word, hex};

/// The schema that is written, and the only one that is read.
const SCHEMA: &str = "stunt-incident/1";

/// The version of the schema.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schema;

impl Serialize for Schema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(SCHEMA)
    }
}

impl<'de> Deserialize<'de> for Schema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let known = text == SCHEMA;
        known.then_some(Self).ok_or_else(|| serde::de::Error::custom("another schema"))
    }
}

/// Who made an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Maker {
    /// `stunt record`: what the program read is known.
    Record,
    /// `stunt request`: a recorded run that did not crash, and a user who says that it went wrong.
    Request,
    /// A panic hook in the program: the arguments are known, and files that they name.
    Hook,
    /// `stunt watch`: as a hook, from the system's list of crashes.
    Watch,
}

/// Where an incident stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// There is no double yet.
    Pending,
    /// There is a double and a report, `report.stunt` in the incident's folder.
    Anonymised,
    /// The report was sent.
    Sent,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::Anonymised => "anonymised",
            Self::Sent => "sent",
        })
    }
}

/// A program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its absolute path.
    pub path: Word,
    /// Its identity in hexadecimal digits, if its linker gave it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_id: Option<String>,
}

/// How a recorded run ended, or how the process ended that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotedEnding {
    /// It exited with this status.
    Exit(u8),
    /// This signal killed it.
    Signal(u8),
    /// Nobody knows: it was still running when the incident was made.
    Unknown,
}

impl fmt::Display for NotedEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(status) => write!(f, "exited with status {status}"),
            Self::Signal(number) => match stunt_path::signal_name(*number) {
                Some(name) => write!(f, "was killed by {name}"),
                None => write!(f, "was killed by signal {number}"),
            },
            Self::Unknown => f.write_str("was still running"),
        }
    }
}

/// Which process failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailedIn {
    /// The one that was started.
    First,
    /// A process that it forked, with the same program (a server's worker).
    Fork,
    /// A process that runs another program, started by it.
    Other(Program),
}

/// What standard input was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StdinKind {
    /// A regular file.
    File,
    /// A pipe.
    Pipe,
    /// A terminal.
    Terminal,
    /// A socket.
    Socket,
    /// `/dev/null`, or closed.
    Nothing,
    /// Something else.
    Other,
}

/// Private bytes that are kept, in `data/N` of the incident's folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stored {
    /// N.
    pub data: u32,
    /// How many bytes.
    pub bytes: u64,
    /// Their SHA-256, in hexadecimal digits.
    pub sha256: String,
}

/// Standard input, as far as the program read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedStdin {
    /// What it was.
    pub kind: StdinKind,
    /// The bytes. Of a file: all from where it stood at the start, read or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<Stored>,
    /// Whether these are all the bytes that the program read.
    pub complete: bool,
    /// Whether the program saw the end of it.
    pub ended: bool,
}

/// Why there is a copy of a file, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Copied {
    /// It is as it was when the program first opened it.
    AsOpened,
    /// It belongs to the system: `/usr`, `/lib`, `/etc`, `/proc`, `/sys`, `/dev` and the like.
    System,
    /// It is larger than the limit.
    TooLarge,
    /// It was changed after the program had opened it, and there was no copy yet.
    Changed,
    /// It could not be read.
    Unreadable,
    /// The program was the first to make it: nothing was there to be read.
    Made,
    /// It is a library that the program was loaded with.
    Code,
    /// Nobody who could copy it was there: a panic hook names it only.
    Unread,
}

/// A file that the program opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedFile {
    /// Its absolute path, as the program named it.
    pub path: Word,
    /// Its size when it was first opened.
    pub bytes: u64,
    /// When it was changed last before that, in nanoseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<i64>,
    /// Whether the program could write to it.
    #[serde(default)]
    pub written: bool,
    /// Whether there is a copy.
    pub copied: Copied,
    /// The copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<Stored>,
}

/// Which way a connection was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// The program accepted it on this port (0 if it has none).
    Accepted(u16),
    /// The program connected to this address: `192.0.2.1:80`, `[2001:db8::1]:80`, a path.
    Connected(String),
    /// The program was given it, or received from everybody on this port.
    Bound(u16),
}

/// How bytes come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// A socket of the host.
    Unix,
}

/// A connection, and what the program received on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotedSocket {
    /// Which one it is of all connections of the run, from 0, in the order in which they were made.
    pub ordinal: u32,
    /// Which way it was made.
    pub way: Way,
    /// How bytes came.
    pub transport: Transport,
    /// The bytes, in the order in which they were received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<Stored>,
    /// How many bytes each call received: datagrams keep their borders.
    #[serde(default)]
    pub pieces: Vec<u64>,
    /// Whether these are all the bytes that the program received.
    pub complete: bool,
    /// Whether the program saw the peer close its side.
    pub ended: bool,
    /// Whether the process that failed was the one that used this connection last.
    pub of_failed: bool,
}

/// Something that the program read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "from")]
pub enum Source {
    /// Standard input.
    Stdin(NotedStdin),
    /// A file.
    File(NotedFile),
    /// A connection.
    Socket(NotedSocket),
}

impl Source {
    /// The bytes of it that are kept.
    #[must_use]
    pub fn stored(&self) -> Option<&Stored> {
        match self {
            Self::Stdin(stdin) => stdin.stored.as_ref(),
            Self::File(file) => file.stored.as_ref(),
            Self::Socket(socket) => socket.stored.as_ref(),
        }
    }
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Incident {
    /// The version of the schema.
    pub schema: Schema,
    /// Its name, and that of its folder.
    pub id: String,
    /// When it was made, in seconds since 1970.
    pub made: u64,
    /// Who made it.
    pub maker: Maker,
    /// What was run.
    pub program: Program,
    /// The word by which the program was called.
    pub name: Word,
    /// The words after that.
    pub arguments: Vec<Word>,
    /// The folder in which it was run.
    pub folder: Word,
    /// The variables that the user chose to keep.
    #[serde(default)]
    pub environment: Vec<(String, Word)>,
    /// What it read: standard input first, then files in the order in which they were first opened,
    /// then connections in the order in which they were made.
    #[serde(default)]
    pub sources: Vec<Source>,
    /// How it ended.
    pub ending: NotedEnding,
    /// Which process failed.
    pub failed_in: FailedIn,
    /// How it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<NotedFailure>,
    /// What the user said is a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails_if: Option<String>,
    /// What went wrong, in the user's words; for the user alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Word>,
    /// Where it stands.
    pub state: State,
    /// What else is worth knowing: what could not be recorded.
    #[serde(default)]
    pub notes: Vec<String>,
}

impl Incident {
    /// The failure with its identity, if it is known in full.
    #[must_use]
    pub fn failure(&self) -> Option<Failure> {
        self.failure.as_ref().and_then(NotedFailure::failure)
    }

    /// Standard input, if the program read it.
    #[must_use]
    pub fn stdin(&self) -> Option<&NotedStdin> {
        self.sources.iter().find_map(|source| match source {
            Source::Stdin(stdin) => Some(stdin),
            _ => None,
        })
    }

    /// The files, in the order in which they were first opened.
    pub fn files(&self) -> impl Iterator<Item = &NotedFile> {
        self.sources.iter().filter_map(|source| match source {
            Source::File(file) => Some(file),
            _ => None,
        })
    }

    /// The connections, in the order in which they were made.
    pub fn sockets(&self) -> impl Iterator<Item = &NotedSocket> {
        self.sources.iter().filter_map(|source| match source {
            Source::Socket(socket) => Some(socket),
            _ => None,
        })
    }
}

/// An incident to be: not on disk yet.
#[derive(Clone, Debug)]
pub struct Draft {
    /// What is known; its id is chosen when it is kept.
    pub incident: Incident,
    /// The bytes, by their numbers.
    pub data: Vec<Private>,
}

impl Draft {
    /// Keeps bytes, and says how they are named.
    pub fn store(&mut self, bytes: Private) -> Stored {
        let data = u32::try_from(self.data.len()).unwrap_or(u32::MAX);
        let stored =
            Stored { data, bytes: bytes.reveal().len() as u64, sha256: digest(bytes.reveal()) };
        self.data.push(bytes);
        stored
    }
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// An incident on disk.
#[derive(Clone, Debug)]
pub struct Kept {
    /// What is known.
    pub incident: Incident,
    /// Its folder.
    pub folder: PathBuf,
}

impl Kept {
    /// The file that holds bytes.
    #[must_use]
    pub fn data_path(&self, stored: &Stored) -> PathBuf {
        self.folder.join("data").join(stored.data.to_string())
    }

    /// The bytes of a source.
    ///
    /// # Errors
    /// They cannot be read, or are not those that were recorded.
    pub fn data(&self, stored: &Stored) -> Result<Private, Error> {
        let path = self.data_path(stored);
        let bytes = fs::read(&path).map_err(Error::place(&path))?;
        if bytes.len() as u64 != stored.bytes || digest(&bytes) != stored.sha256 {
            return Err(Error::Changed { path });
        }
        Ok(Private::new(bytes))
    }

    /// Where the report of this incident is, once there is one.
    #[must_use]
    pub fn report_path(&self) -> PathBuf {
        self.folder.join("report.stunt")
    }

    /// Reads an incident from its folder.
    ///
    /// # Errors
    /// There is none, or it cannot be understood.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        let path = folder.join("incident.json");
        let text = fs::read(&path).map_err(Error::place(&path))?;
        // The parser's own words may quote what it found.
        let incident: Incident =
            serde_json::from_slice(&text).map_err(|error| Error::Malformed {
                path,
                why: format!("line {}, column {}", error.line(), error.column()),
            })?;
        Ok(Self { incident, folder: folder.to_owned() })
    }
}
