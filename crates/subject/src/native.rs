//! The command lines of native runs: on the original, on a double, on a candidate.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use stunt_native::{Command, Containment, Copied, InputFile, Manner, NO_LEAKS, Native, Stdin};
use stunt_path::InputNames;
use stunt_report::{Connection, SourceName, Way};

use crate::error::Error;
use crate::subject::{Subject, scratch_name};

impl Subject {
    /// Who runs it natively: what runs need lies in the subject's own folder.
    pub fn native(&self) -> Native {
        Native::within(self.scratch.path())
    }

    /// A native run on the original.
    pub fn on_original(&self) -> Command {
        self.command(&self.files, None)
    }

    /// A native run on a double.
    ///
    /// # Errors
    /// Its files cannot be written.
    pub fn on_double(&self, double: &[Vec<u8>]) -> Result<Command, Error> {
        let mut files = Vec::new();
        for (source, bytes) in self.sources.iter().zip(double) {
            let is_file = source.name.is_file();
            let file = is_file.then(|| self.scratch.write(&scratch_name(source), bytes));
            files.push(file.transpose()?);
        }
        Ok(self.command(&files, Some(double)))
    }

    /// The same run as nobody watches it, if it can be had: a program that serves needs somebody at the
    /// other side of its connections who knows what it does.
    pub fn plainly(&self, mut command: Command) -> Option<Command> {
        if !command.connections.is_empty() {
            return None;
        }
        (command.manner, command.copied) = (Manner::Plain, Copied::Never);
        // What was set for runs that are followed is as it was.
        for name in [QUIET.0, NO_LEAKS.0] {
            let own = SourceName::Environment(name.to_owned());
            if self.sources.iter().any(|source| source.name == own) {
                continue;
            }
            let kept = self.variables.iter().find(|(it, _)| it == name);
            let value = kept.map(|(_, value)| value.clone()).or_else(|| std::env::var_os(name));
            command.environment.retain(|(it, _)| it != name);
            command.environment.extend(value.map(|value| (name.into(), value)));
        }
        command.environment.sort();
        Some(command)
    }

    /// Whether a program can be given this input at all: arguments and variables end at their first zero.
    pub fn can_be_given(&self, input: &[Vec<u8>]) -> bool {
        let mut sources = self.sources.iter().zip(input);
        sources.all(|(source, bytes)| !source.name.is_text() || !bytes.contains(&0))
    }

    /// A native run on an input that may make the program do anything: it is contained, and its files
    /// are there for this run alone.
    pub fn on_candidate(&self, input: &[Vec<u8>]) -> Command {
        debug_assert!(self.can_be_given(input), "arguments end at a zero");
        let (mut files, mut places) = (Vec::new(), Vec::new());
        for (source, bytes) in self.sources.iter().zip(input) {
            places.push(source.name.is_file().then(|| match source.name.is_member() {
                // The run's own folder has nothing else in it.
                true => Command::own_folder().join(source.file_name()),
                false => PathBuf::from(Command::place(files.len())),
            }));
            if source.name.is_file() {
                let (name, bytes) = (source.file_name().into(), bytes.as_slice().into());
                files.push(InputFile { name, bytes });
            }
        }
        let mut command = self.command(&places, Some(input));
        command.files = files;
        command.containment = Containment::Contained;
        command.copied = Copied::FromEntry;
        command
    }

    /// A native run on a double or on the original, with files at these paths, by source.
    pub(crate) fn command(&self, files: &[Option<PathBuf>], double: Option<&[Vec<u8>]>) -> Command {
        let mut command = Command::new(&self.program);
        command.name = Some(self.words[0].clone());
        let places = self.sources.iter().zip(files).filter_map(|(source, file)| {
            let (place, file) = (source.name.place()?, file.as_deref()?);
            let is_member = source.name.is_member();
            Some((place, if is_member { file.parent()? } else { file }))
        });
        let mut places: Vec<(String, &Path)> = places.collect();
        // A folder has one place, however many files are in it.
        places.dedup_by(|(place, _), (kept, _)| place == kept);
        command.arguments = self.words[1..].iter().map(|word| placed(word, &places)).collect();
        let mut environment = environment();
        if let Some(confined) = &self.confined {
            environment.retain(|name, _| confined.knows(name));
            command.reads = Some(confined.reads.iter().cloned().collect());
        }
        environment.extend(self.variables.iter().cloned());
        if self.sanitized {
            let (name, option) = NO_LEAKS;
            let options = environment.entry(name.into()).or_default();
            if !options.is_empty() {
                options.push(":");
            }
            options.push(option);
        }
        command.stdin = match &self.stdin {
            Some(bytes) => Stdin::Bytes(Arc::clone(bytes)),
            None => Stdin::Empty,
        };
        let original = double.is_none().then(|| self.original.reveal());
        let bytes = double.or(original.as_deref()).unwrap_or_default();
        for (source, bytes) in self.sources.iter().zip(bytes) {
            match &source.name {
                SourceName::File | SourceName::NumberedFile(_) | SourceName::Member(_) => {}
                SourceName::Stdin => command.stdin = Stdin::Bytes(bytes.as_slice().into()),
                SourceName::Argument(number) => {
                    command.arguments[*number as usize - 1] = OsString::from_vec(bytes.clone());
                }
                SourceName::Environment(name) => {
                    environment.insert(name.into(), OsString::from_vec(bytes.clone()));
                }
                SourceName::Socket(_) => {
                    command.connections.extend(source.connection.map(|it| other_side(it, bytes)));
                }
            }
        }
        command.environment = environment.into_iter().collect();
        command.folder.clone_from(&self.folder);
        command.time = self.limits.timeout;
        command.own_time = self.limits.own_time;
        command.memory = self.limits.native_memory.unwrap_or(command.memory);
        command.scripts = self.script;
        command.inputs = self.input_names();
        command
    }

    /// What the files of the input are called: the originals, and doubles and candidates.
    #[must_use]
    pub fn input_names(&self) -> InputNames {
        let name = |file: &PathBuf| Some(file.file_name()?.to_string_lossy().into_owned());
        let originals = self.files.iter().flatten().filter_map(name);
        let files = self.sources.iter().filter(|source| source.name.is_file());
        InputNames::new(originals.chain(files.map(|source| source.file_name().to_owned())))
    }
}

/// What keeps a Rust program from telling its stack.
const QUIET: (&str, &str) = ("RUST_BACKTRACE", "0");

/// The environment of every run that is followed. A Rust program that panics shall not look for its source lines:
/// stunt does that itself.
fn environment() -> BTreeMap<OsString, OsString> {
    let mut all: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    all.insert(QUIET.0.into(), QUIET.1.into());
    all
}

/// The other side of a connection that sends these bytes.
fn other_side(connection: Connection, bytes: &[u8]) -> stunt_path::Connection {
    stunt_path::Connection {
        way: match connection.way {
            Way::Accepted => stunt_path::Way::Accepted,
            Way::Made => stunt_path::Way::Made,
        },
        port: connection.port,
        bytes: bytes.into(),
        closes: connection.closes,
    }
}

/// The word with the paths of inputs in their places.
fn placed(word: &OsStr, places: &[(String, &Path)]) -> OsString {
    // `@@12` is not `@@1` and a 2.
    let mut places: Vec<_> = places.iter().collect();
    places.sort_by_key(|(place, _)| std::cmp::Reverse(place.len()));
    let mut rest = word.as_bytes();
    let mut bytes = Vec::new();
    while let Some(&first) = rest.first() {
        match places.iter().find(|(place, _)| rest.starts_with(place.as_bytes())) {
            Some((place, path)) => {
                bytes.extend_from_slice(path.as_os_str().as_bytes());
                rest = &rest[place.len()..];
            }
            None => {
                bytes.push(first);
                rest = &rest[1..];
            }
        }
    }
    OsString::from_vec(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_takes_every_place() {
        let path = [("@@".to_owned(), Path::new("/x"))];
        assert_eq!(placed(OsStr::new("--in=@@,@@."), &path), "--in=/x,/x.");
        assert_eq!(placed(OsStr::new("plain"), &path), "plain");
        assert_eq!(placed(OsStr::new("@@"), &[]), "@@");
        let many = [("@@1", "/a"), ("@@12", "/l"), ("@@2", "/b")];
        let many = many.map(|(place, path)| (place.to_owned(), Path::new(path)));
        assert_eq!(placed(OsStr::new("@@1:@@12:@@2"), &many), "/a:/l:/b");
    }
}
