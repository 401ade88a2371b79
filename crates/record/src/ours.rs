//! Whose a file is: whether others could have put there what is about to be believed or run.
//!
//! A program may be run without a question if it is the system's or the user's own and nobody else
//! can change or replace it. A folder may be believed to be an incident if it is the user's own and
//! closed to all others. Every folder on the way counts: whoever may rename one of them may put
//! another in its place. Refuses to know what is in the files.
#![allow(unsafe_code)] // The number of the user has no safe interface; the call has its proof.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Why something is not taken for the user's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    /// Its path depends on where one is.
    #[error("its path does not begin with /")]
    Relative,
    /// There is nothing, or nothing of that kind.
    #[error("it is not there")]
    Absent,
    /// It is somebody else's.
    #[error("it belongs to another user")]
    Foreign,
    /// Others may change it.
    #[error("other users may change it; `chmod go-w` forbids that")]
    Writable,
    /// Others may look into it.
    #[error("it is not closed to other users; `chmod 700` does that")]
    Open,
    /// A folder on the way is somebody else's, or others may rename what is in it.
    #[error("other users may replace it, because of the folders that it is in")]
    Replaceable,
}

/// The number of the user.
#[must_use]
pub fn user() -> u32 {
    // SAFETY: the call takes nothing, changes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// Whether a program may be run without a question: an absolute path, a file of the system's or of
/// the user's own, that nobody else can change or replace.
///
/// # Errors
/// It may not, and this is why.
pub fn own_program(path: &Path) -> Result<(), Distrust> {
    if !path.is_absolute() {
        return Err(Distrust::Relative);
    }
    let (real, data) = found(path)?;
    if !data.is_file() {
        return Err(Distrust::Absent);
    }
    if !is_ours(&data) {
        return Err(Distrust::Foreign);
    }
    if others_write(&data) {
        return Err(Distrust::Writable);
    }
    way_to(&real)?;
    // A link that others may turn elsewhere is as good as the file.
    way_to(path)
}

/// Whether a folder is the user's own and closed to all others; its real path.
///
/// # Errors
/// It is not, and this is why.
pub fn own_folder(path: &Path) -> Result<PathBuf, Distrust> {
    let (real, data) = found(path)?;
    if !data.is_dir() {
        return Err(Distrust::Absent);
    }
    if data.uid() != user() {
        return Err(Distrust::Foreign);
    }
    if data.mode() & 0o077 != 0 {
        return Err(Distrust::Open);
    }
    way_to(&real)?;
    Ok(real)
}

fn found(path: &Path) -> Result<(PathBuf, Metadata), Distrust> {
    let real = fs::canonicalize(path).map_err(|_| Distrust::Absent)?;
    let data = fs::symlink_metadata(&real).map_err(|_| Distrust::Absent)?;
    Ok((real, data))
}

fn is_ours(data: &Metadata) -> bool {
    data.uid() == 0 || data.uid() == user()
}

/// Whether others may write. A group that has the number of its user is that user's alone, by the
/// convention of the systems that let it write.
fn others_write(data: &Metadata) -> bool {
    // The mode of a link means nothing: who may change it is up to its folder.
    if data.is_symlink() {
        return false;
    }
    let group = data.mode() & 0o020 != 0 && data.gid() != data.uid();
    group || data.mode() & 0o002 != 0
}

/// No other user can rename or remove anything on the way. In a folder with the sticky bit (`/tmp`)
/// everybody can do that with what is their own alone.
fn way_to(path: &Path) -> Result<(), Distrust> {
    const STICKY: u32 = 0o1000;
    let mut child = fs::symlink_metadata(path).map_err(|_| Distrust::Absent)?;
    for folder in path.ancestors().skip(1) {
        let data = fs::symlink_metadata(folder).map_err(|_| Distrust::Absent)?;
        let sticky = data.mode() & STICKY != 0 && is_ours(&child);
        if !is_ours(&data) || (others_write(&data) && !sticky) {
            return Err(Distrust::Replaceable);
        }
        child = data;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, chown, symlink};

    use super::*;

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn programs_of_others_and_for_others_are_told_apart() {
        let place = std::env::temp_dir().join(format!("stunt-ours-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        let folder = place.join("folder");
        fs::create_dir_all(&folder).unwrap();
        mode(&place, 0o755);
        mode(&folder, 0o755);
        let file = folder.join("program");
        fs::write(&file, "").unwrap();
        mode(&file, 0o755);
        assert_eq!(own_program(&file), Ok(()));
        assert_eq!(own_program(Path::new("/bin/sh")), Ok(()));
        assert_eq!(own_program(Path::new("program")), Err(Distrust::Relative));
        assert_eq!(own_program(&folder), Err(Distrust::Absent));
        assert_eq!(own_program(&folder.join("none")), Err(Distrust::Absent));
        mode(&file, 0o757);
        assert_eq!(own_program(&file), Err(Distrust::Writable));
        mode(&file, 0o755);
        mode(&folder, 0o777);
        assert_eq!(own_program(&file), Err(Distrust::Replaceable));
        // As in /tmp: others cannot rename what is not theirs.
        mode(&folder, 0o1777);
        assert_eq!(own_program(&file), Ok(()));
        let link = folder.join("link");
        symlink("/bin/sh", &link).unwrap();
        assert_eq!(own_program(&link), Ok(()));
        mode(&folder, 0o777);
        assert_eq!(own_program(&link), Err(Distrust::Replaceable));
        mode(&folder, 0o755);
        assert_eq!(own_folder(&folder), Err(Distrust::Open));
        mode(&folder, 0o700);
        assert_eq!(own_folder(&folder), Ok(folder.canonicalize().unwrap()));
        // Only an administrator can give files away.
        if user() == 0 {
            chown(&file, Some(4242), None).unwrap();
            assert_eq!(own_program(&file), Err(Distrust::Foreign));
            chown(&folder, Some(4242), None).unwrap();
            assert_eq!(own_folder(&folder), Err(Distrust::Foreign));
        }
        fs::remove_dir_all(&place).unwrap();
    }
}
