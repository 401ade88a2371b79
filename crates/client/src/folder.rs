//! The folder where stunt keeps what outlives a command, and files in it that nobody else reads.
//!
//! Always: folders have mode 0700 and files 0600; a file is there whole or not at all.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rand::RngCore;

use crate::config::base_folder;

/// The state folder of whoever runs this process; it need not exist.
pub fn state() -> Option<PathBuf> {
    base_folder("XDG_STATE_HOME", ".local/state").map(|folder| folder.join("stunt"))
}

/// Makes a folder that is the user's alone, with those above it.
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    if folder.metadata()?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Writes a file beside its place, and renames it.
pub(crate) fn store(place: &Path, bytes: &[u8], rng: &mut dyn RngCore) -> io::Result<()> {
    let folder = place.parent().unwrap_or(Path::new("."));
    let draft = folder.join(format!(".{:016x}.part", rng.next_u64()));
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&draft)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&draft, place));
    if written.is_err() {
        // The error that led here is the one to tell.
        let _ = fs::remove_file(&draft);
    }
    written
}
