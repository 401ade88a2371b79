//! Reading a report that a stranger wrote.
//!
//! Always: no file makes this panic, take more memory than the limits say, or give a report that
//! breaks a rule of the schema. What an archive says about sizes is not believed.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use serde::Deserialize;
use zip::ZipArchive;
use zip::result::ZipError;

use crate::error::Error;
use crate::report::{Report, Schema};
use crate::rules;
use crate::source::{FOLDER, is_safe};
use crate::text::visible;
use crate::write::JSON;

/// How large a report may be, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The file.
    pub file: u64,
    /// `report.json`, unpacked.
    pub json: u64,
    /// All doubles together, unpacked.
    pub doubles: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { file: 256 << 20, json: 1 << 20, doubles: 256 << 20 }
    }
}

/// A report and what came with it.
#[derive(Clone, PartialEq)]
pub struct Opened {
    /// The report.
    pub report: Report,
    /// The doubles, in the order of the report's sources.
    pub doubles: Vec<Vec<u8>>,
}

/// The only part that every version of the schema has.
#[derive(Deserialize)]
struct Head {
    schema: String,
}

impl Report {
    /// Reads a report with the limits that suit a person's own machine.
    pub fn read(path: impl AsRef<Path>) -> Result<Opened, Error> {
        Report::read_within(path, Limits::default())
    }

    /// Reads a report within the given limits.
    pub fn read_within(path: impl AsRef<Path>, limits: Limits) -> Result<Opened, Error> {
        let path = path.as_ref();
        let unreadable = |error| Error::Unreadable { path: path.to_owned(), error };
        let file = File::open(path).map_err(unreadable)?;
        let bytes = within(file, limits.file).map_err(unreadable)?;
        let Some(bytes) = bytes else { return Err(too_large("the file", limits.file)) };
        Report::from_bytes(&bytes, limits)
    }

    /// Reads a report from the bytes of its file.
    pub fn from_bytes(bytes: &[u8], limits: Limits) -> Result<Opened, Error> {
        let mut doubles = Vec::new();
        let report = Report::each_double(bytes, limits, |reader, limit| {
            let double = within(reader, limit)?;
            let length = double.as_ref().map_or(0, Vec::len) as u64;
            let fits = double.is_some();
            doubles.extend(double);
            Ok(fits.then_some(length))
        })?;
        Ok(Opened { report, doubles })
    }

    /// Reads a report from the bytes of its file and goes through its doubles by the same rules, but
    /// keeps none of them: for whoever takes files of many strangers at once.
    pub fn check(bytes: &[u8], limits: Limits) -> Result<Report, Error> {
        Report::each_double(bytes, limits, |reader, limit| {
            let length = io::copy(&mut reader.take(limit.saturating_add(1)), &mut io::sink())?;
            Ok((length <= limit).then_some(length))
        })
    }

    /// Reads a report, and has each of its doubles read up to its limit; `None` is more than that.
    fn each_double(
        bytes: &[u8],
        limits: Limits,
        mut read: impl FnMut(&mut dyn Read, u64) -> io::Result<Option<u64>>,
    ) -> Result<Report, Error> {
        if bytes.len() as u64 > limits.file {
            return Err(too_large("the file", limits.file));
        }
        let mut archive = open(bytes)?;
        let doubles = entries(&archive, bytes)?;
        let json = unpack(&mut archive, JSON, |entry| within(entry, limits.json))?;
        let json = json.ok_or_else(|| too_large(JSON, limits.json))?;
        let report = parse(&json)?;
        if doubles != report.sources.len() {
            let what = "it does not hold one double for each source".to_owned();
            return Err(Error::Contradiction(what));
        }
        let mut left = limits.doubles;
        for source in &report.sources {
            if source.bytes > left {
                return Err(too_large("what the report unpacks to", limits.doubles));
            }
            // One byte more would be a contradiction, so there is no need to read on.
            let length = unpack(&mut archive, &source.entry, |entry| read(entry, source.bytes))?;
            if length != Some(source.bytes) {
                let what = format!("{} does not have {} bytes", source.entry, source.bytes);
                return Err(Error::Contradiction(what));
            }
            left -= source.bytes;
        }
        Ok(report)
    }
}

fn too_large(what: &str, limit: u64) -> Error {
    Error::TooLarge { what: what.to_owned(), limit }
}

/// Whether an entry belongs to every report: `report.json`, and the folder that tools add when
/// they pack files.
fn is_frame(name: &str) -> bool {
    name == JSON || name == FOLDER
}

fn open(bytes: &[u8]) -> Result<ZipArchive<Cursor<&[u8]>>, Error> {
    if !bytes.starts_with(b"PK\x03\x04") {
        return Err(Error::NotAReport("a report is a zip archive, and this is none".to_owned()));
    }
    ZipArchive::new(Cursor::new(bytes)).map_err(|_| broken())
}

/// Refuses archives that have what a report has not; says how many doubles there are.
fn entries(archive: &ZipArchive<Cursor<&[u8]>>, bytes: &[u8]) -> Result<usize, Error> {
    if archive.index_for_name(JSON).is_none() {
        return Err(Error::NotAReport(format!("the archive has no {JSON}")));
    }
    let mut doubles = 0;
    for name in archive.file_names() {
        let name = name.map_err(|_| broken())?;
        if is_safe(&name) {
            doubles += 1;
        } else if !is_frame(&name) {
            let short: String = visible(&name).chars().take(100).collect();
            return Err(Error::Foreign(short));
        }
    }
    // Two entries of one name would be another report to another reader. How many there are is in
    // bytes 10 and 11 of the record that ends the archive, 22 bytes before its comment.
    let end = bytes.len().checked_sub(22 + archive.comment().len());
    let end = end.and_then(|end| bytes.get(end..end + 12));
    match end {
        Some([b'P', b'K', 5, 6, .., low, high])
            if usize::from(u16::from_le_bytes([*low, *high])) == archive.len() =>
        {
            Ok(doubles)
        }
        _ => Err(Error::Damaged("its list of entries is not what it seems".to_owned())),
    }
}

/// Has an entry of the archive read.
fn unpack<T>(
    archive: &mut ZipArchive<Cursor<&[u8]>>,
    name: &str,
    read: impl FnOnce(&mut dyn Read) -> io::Result<T>,
) -> Result<T, Error> {
    let mut entry = archive.by_name(name).map_err(|error| match error {
        ZipError::FileNotFound => Error::Contradiction(format!("{name} is missing")),
        _ => Error::Damaged(format!("{name} cannot be unpacked")),
    })?;
    // The error is about checksums and codes; what matters is which entry it is.
    read(&mut entry).map_err(|_| Error::Damaged(format!("{name} cannot be unpacked")))
}

/// All that there is to read, unless it is more than the limit.
fn within(reader: impl Read, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    reader.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

fn broken() -> Error {
    Error::Damaged("its archive is broken or not complete".to_owned())
}

fn parse(json: &[u8]) -> Result<Report, Error> {
    let wrong = |error: serde_json::Error| Error::Damaged(visible(&format!("{JSON}: {error}")));
    let head: Head = serde_json::from_slice(json).map_err(|error| {
        if error.is_data() {
            Error::NotAReport(format!("{JSON} does not name its schema"))
        } else {
            wrong(error)
        }
    })?;
    let version = Schema::version(&head.schema);
    if !version.is_some_and(Schema::can_read) {
        let name: String = visible(&head.schema).chars().take(100).collect();
        return Err(match version {
            Some(version) if version > Schema::VERSION => Error::Newer(name),
            _ => Error::NotAReport(format!("{JSON} has the schema \"{name}\"")),
        });
    }
    let report: Report = serde_json::from_slice(json).map_err(wrong)?;
    rules::check(&report).map_err(Error::Contradiction)?;
    Ok(report)
}
