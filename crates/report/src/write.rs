//! Writing a report: an archive in memory, then a file that is there whole or not at all.
//!
//! Always: the same report and doubles give the same bytes; times are fixed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::error::Error;
use crate::report::Report;
use crate::rules;

/// The entry with the report itself.
pub(crate) const JSON: &str = "report.json";

impl Report {
    /// The archive with the report and a double for each source, in the order of `sources`.
    ///
    /// Fails if the doubles do not fit the sources or if the report breaks a rule of the schema.
    pub fn to_bytes<D: AsRef<[u8]>>(&self, doubles: &[D]) -> Result<Vec<u8>, Error> {
        let lengths = self.sources.iter().map(|source| source.bytes);
        if !lengths.eq(doubles.iter().map(|double| double.as_ref().len() as u64)) {
            let what = "the doubles do not have the lengths of the sources";
            return Err(Error::Contradiction(what.to_owned()));
        }
        let report = self.tidied();
        rules::check(&report).map_err(Error::Contradiction)?;
        report.archive(doubles).map_err(|error| Error::Contradiction(error.to_string()))
    }

    fn archive<D: AsRef<[u8]>>(&self, doubles: &[D]) -> zip::result::ZipResult<Vec<u8>> {
        // The default date is the first that an archive can hold: 1 January 1980.
        let options = SimpleFileOptions::DEFAULT
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(9))
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(0o644);
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file(JSON, options)?;
        archive.write_all(self.to_json().as_bytes())?;
        for (source, double) in self.sources.iter().zip(doubles) {
            archive.start_file(source.entry.as_str(), options)?;
            archive.write_all(double.as_ref())?;
        }
        Ok(archive.finish()?.into_inner())
    }

    /// Writes the archive to a file. It is written beside its place, synchronised and renamed, so
    /// that an error or a crash leaves either nothing new or the whole report.
    pub fn write<D: AsRef<[u8]>>(
        &self,
        doubles: &[D],
        path: impl AsRef<Path>,
    ) -> Result<(), Error> {
        store_archive(&self.to_bytes(doubles)?, path)
    }
}

/// Writes an archive that [`Report::to_bytes`] has made, in the same way.
pub fn store_archive(bytes: &[u8], path: impl AsRef<Path>) -> Result<(), Error> {
    // A link stays a link: the file that it leads to is replaced.
    let path = path.as_ref();
    // But only where whoever runs this has put it, in a folder that others can write to.
    if fs::symlink_metadata(path).is_ok_and(|link| link.is_symlink() && !is_own(link.uid())) {
        return Err(Error::NotOurLink { path: path.to_owned() });
    }
    let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if place.file_name().is_none() || place.exists() && !place.is_file() {
        return Err(Error::NotAFile { path: path.to_owned() });
    }
    store(bytes, &place).map_err(|error| Error::Unwritable { path: path.to_owned(), error })
}

/// Whether this is the user who runs this.
fn is_own(user: u32) -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == user)
}

/// A file that disappears unless it is renamed to its place.
struct Draft {
    path: PathBuf,
    kept: bool,
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.kept {
            // The error that led here is the one to tell.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn store(bytes: &[u8], place: &Path) -> io::Result<()> {
    let folder = match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let (mut draft, mut file) = draft(folder)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&draft.path, place)?;
    draft.kept = true;
    // The name is on the disk when the folder is. Some file systems cannot synchronise folders;
    // the report is there all the same.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// A new file with a name that nobody has.
fn draft(folder: &Path) -> io::Result<(Draft, File)> {
    let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
    for attempt in 0..100 {
        let path = folder.join(format!(".stunt-{}-{attempt}.part", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((Draft { path, kept: false }, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}
