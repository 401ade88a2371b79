//! An incident as a subject: what was recorded is the input.
//!
//! A file that an argument names is an input, and `@@` takes the place of its path. The program is
//! given the recorded bytes: where the file was, if it is still the same, else from a copy elsewhere.
//! Files that the program opened by itself are given to it in the machine as they were; natively they
//! must not have changed. They are in no report, and neither are paths of the user's.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};
use stunt_native::code_words;
use stunt_record::{Kept, Maker, Store, Transport, Word, own_program};
use stunt_report::{Connection, SourceName, Way, quoted};
use stunt_subject::{FailsIf, Public, Subject};

/// The most connections that are replayed.
const MOST_CONNECTIONS: usize = 48;

/// The incident of this name, or in this folder, which has a slash in its name then.
pub fn find(name: &OsStr) -> Result<Kept> {
    let name = name.to_str().context("an incident's name is plain text")?;
    Ok(Store::of_user()?.find(name)?)
}

/// Whether an incident is meant and no file, whatever lies in the current folder.
pub fn is_meant(name: &Path) -> bool {
    name.to_str().is_some_and(stunt_record::is_name)
}

/// The report of an incident that is named in place of a file; nothing if no incident is meant and
/// there is none.
pub fn report_of(name: &Path) -> Result<Option<PathBuf>> {
    let kept = match find(name.as_os_str()) {
        Ok(kept) => kept,
        Err(error) if is_meant(name) => return Err(error),
        Err(_) => return Ok(None),
    };
    let (id, report) = (&kept.incident.id, kept.report_path());
    if !report.is_file() {
        bail!("incident {id} has no double yet; `stunt anonymize {id}` makes one");
    }
    Ok(Some(report))
}

/// The incident that a report was made of, if it is kept: by its name, or where the file lies.
pub fn of_report(name: &Path) -> Option<Kept> {
    if is_meant(name) {
        return find(name.as_os_str()).ok();
    }
    let store = Store::of_user().ok()?;
    if name.is_file() {
        let folder = name.canonicalize().ok()?.parent()?.to_owned();
        let is_there = folder.parent() == store.folder().canonicalize().ok().as_deref();
        return if is_there { Kept::load(&folder).ok() } else { None };
    }
    store.find(name.to_str()?).ok()
}

/// The number of the argument that names an input of an incident, from 1.
pub fn argument_of(kept: &Kept, file: &Path) -> Option<usize> {
    let is_input = named_files(kept).iter().any(|named| named == file);
    let folder = kept.incident.folder.path();
    let names = |word: &Word| with_place(word.reveal(), file, folder, "@@").is_some();
    let at = kept.incident.arguments.iter().position(names);
    at.filter(|_| is_input).map(|at| at + 1)
}

/// Whether the program of an incident may be run: one that the system's list of crashes names, and
/// that nobody has run from here, must be the system's or the user's own.
pub fn check_program(kept: &Kept) -> Result<()> {
    let program = kept.incident.program.path.path();
    if kept.incident.maker == Maker::Watch {
        own_program(program)
            .with_context(|| format!("{} is not run", quoted(program.as_os_str())))?;
    }
    Ok(())
}

/// What was run: the program, and its words with places for the paths of inputs.
pub fn command(kept: &Kept) -> (PathBuf, Vec<OsString>) {
    let incident = &kept.incident;
    let named = named_files(kept);
    let mut words = vec![incident.name.reveal().to_owned()];
    for argument in &incident.arguments {
        let mut word = argument.reveal().to_owned();
        for (number, file) in named.iter().enumerate() {
            let place = name_of(number, named.len()).place().unwrap_or_default();
            if let Some(with) = with_place(&word, file, incident.folder.path(), &place) {
                word = with;
            }
        }
        words.push(word);
    }
    (incident.program.path.path().to_owned(), words)
}

/// The files that arguments name, in the order in which they were opened; what an interpreter is given to run is
/// no input.
fn named_files(kept: &Kept) -> Vec<PathBuf> {
    let incident = &kept.incident;
    let program = incident.program.path.path();
    let arguments: Vec<&OsStr> = incident.arguments.iter().map(Word::reveal).collect();
    let words = std::iter::once(incident.name.reveal()).chain(arguments.iter().copied());
    let code = code_words(program, &words.map(OsStr::to_owned).collect::<Vec<_>>());
    let is_named = |path: &Path| {
        let numbered = (1..).zip(&arguments).filter(|(number, _)| !code.contains(number));
        let folder = incident.folder.path();
        numbered.map(|(_, word)| word).any(|word| with_place(word, path, folder, "@@").is_some())
    };
    let copied = incident.files().filter(|file| file.stored.is_some());
    copied.map(|file| file.path.path().to_owned()).filter(|path| is_named(path)).collect()
}

/// Whether an argument names a file.
fn argument_named(kept: &Kept, file: &Path) -> bool {
    let folder = kept.incident.folder.path();
    let mut words = kept.incident.arguments.iter().map(Word::reveal);
    words.any(|word| with_place(word, file, folder, "@@").is_some())
}

fn name_of(number: usize, count: usize) -> SourceName {
    if count == 1 { SourceName::File } else { SourceName::NumberedFile(number as u32 + 1) }
}

/// A word with a place for a path that it names: as a whole, or behind an equals sign.
fn with_place(word: &OsStr, file: &Path, folder: &Path, place: &str) -> Option<OsString> {
    let names = |part: &[u8]| {
        !part.is_empty() && plain(&folder.join(OsStr::from_bytes(part))) == plain(file)
    };
    let bytes = word.as_bytes();
    if names(bytes) {
        return Some(place.into());
    }
    let at = bytes.iter().position(|&byte| byte == b'=')? + 1;
    names(&bytes[at..]).then(|| OsString::from_vec([&bytes[..at], place.as_bytes()].concat()))
}

/// A path without `.` and with `..` taken back, by its text alone.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

/// Gives a subject everything that was recorded.
pub fn fill(subject: &mut Subject, kept: &Kept, public: &mut Public) -> Result<()> {
    let incident = &kept.incident;
    let folder = incident.folder.path();
    if !folder.is_dir() {
        bail!(
            "the folder in which the program was run is gone; make it again to replay the incident"
        );
    }
    let variables = incident.environment.iter();
    let variables = variables.map(|(name, value)| (name.into(), value.reveal().to_owned()));
    subject.set_surroundings(folder.to_owned(), variables.collect());
    let parse = |text: &String| text.parse::<FailsIf>().map_err(anyhow::Error::msg);
    subject.fails_if = incident.fails_if.as_ref().map(parse).transpose()?;
    if let Some(stdin) = incident.stdin()
        && let Some(stored) = &stdin.stored
    {
        subject.add_stdin(kept.data(stored)?.reveal().to_vec(), public);
        if !stdin.complete {
            subject.notes.push("Not all of standard input was recorded.".to_owned());
        }
    }
    add_files(subject, kept, public)?;
    let names = subject.input_names();
    subject.recorded = incident.failure().map(|failure| names.as_one(failure));
    add_connections(subject, kept, public)
}

fn add_files(subject: &mut Subject, kept: &Kept, public: &mut Public) -> Result<()> {
    let named = named_files(kept);
    let mut beside = 0;
    for file in kept.incident.files() {
        let (path, Some(stored)) = (file.path.path(), &file.stored) else { continue };
        let bytes = kept.data(stored)?.reveal().to_vec();
        let unchanged = fs::read(path).is_ok_and(|now| now == bytes);
        let Some(number) = named.iter().position(|named| named == path) else {
            // What an interpreter is given to run is the program, as it were.
            let is_code = argument_named(kept, path);
            beside += usize::from(!is_code);
            if !unchanged && !subject.is_script() {
                tracing::warn!("a file that the program opens by itself has changed");
            }
            // What is there as it was is there with its mode: it may be run, as a launcher is.
            if !unchanged {
                subject.add_beside(path.to_owned(), bytes.into());
            }
            continue;
        };
        let name = name_of(number, named.len());
        let extension = path.extension().and_then(OsStr::to_str);
        let original = if unchanged {
            path.to_owned()
        } else {
            let end = extension.map_or_else(String::new, |extension| format!(".{extension}"));
            subject.keep_original(&format!("original{number}{end}"), &bytes)?
        };
        subject.add_file(name, bytes, extension, original, public);
    }
    if beside > 0 {
        subject.notes.push(format!(
            "The program also reads {beside} files that no argument names; they are not in the report, \
             and a replay needs them."
        ));
    }
    Ok(())
}

fn add_connections(subject: &mut Subject, kept: &Kept, public: &mut Public) -> Result<()> {
    let (streams, others): (Vec<_>, Vec<_>) =
        kept.incident.sockets().partition(|socket| socket.transport == Transport::Tcp);
    if streams.len() > MOST_CONNECTIONS {
        bail!(
            "the program had {} connections, and stunt replays {MOST_CONNECTIONS} at most",
            streams.len()
        );
    }
    if !others.is_empty() {
        subject.notes.push(format!(
            "{} sockets were not TCP; what came through them is not replayed.",
            others.len()
        ));
    }
    for socket in streams {
        let bytes = match &socket.stored {
            Some(stored) => kept.data(stored)?.reveal().to_vec(),
            None => Vec::new(),
        };
        let port = |text: &str| text.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        let (way, port) = match &socket.way {
            stunt_record::Way::Accepted(port) | stunt_record::Way::Bound(port) => {
                (Way::Accepted, Some(*port).filter(|&port| port != 0))
            }
            stunt_record::Way::Connected(address) => (Way::Made, port(address)),
        };
        subject.add_connection(bytes, Connection { way, port, closes: socket.ended }, public);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_files_in_several_ways() {
        let place = |word: &str| {
            with_place(OsStr::new(word), Path::new("/srv/a/data.csv"), Path::new("/srv/a"), "@@")
        };
        assert_eq!(place("data.csv"), Some("@@".into()));
        assert_eq!(place("./data.csv"), Some("@@".into()));
        assert_eq!(place("../a/data.csv"), Some("@@".into()));
        assert_eq!(place("/srv/a/data.csv"), Some("@@".into()));
        assert_eq!(place("--in=data.csv"), Some("--in=@@".into()));
        for other in ["", "-", "data", "--in=", "xdata.csv", "/srv/data.csv"] {
            assert_eq!(place(other), None, "{other}");
        }
    }
}
