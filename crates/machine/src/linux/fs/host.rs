//! The only place that touches the host's files: it reads, within what is allowed, and never
//! writes.
//!
//! A path is looked at only if it lies under an allowed prefix, or leads to one; the host's
//! `/proc`, `/sys` and `/dev` are hidden behind the kernel's own before anything asks for them.
//! Paths that arrive here have no symbolic links left in them except at the end, and the end is
//! never followed: the walk through links happens in the kernel's own tree, where every step is
//! checked again. The host tree is expected to stand still during a run.

use std::fs::{self, File, OpenOptions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::inode::Name;
use super::stat::Timestamp;
use crate::linux::abi::*;
use crate::linux::errno::Errno;

/// Which part of the host's tree the program may see.
///
/// Whatever is not visible does not exist: looking it up is an `ENOENT`, and listings omit it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Allow {
    /// All that the user can read.
    Everything,
    /// Only what lies under these absolute paths, and the directories that lead there.
    Under(Arc<[PathBuf]>),
    /// Nothing.
    Nothing,
}

impl Allow {
    /// What lies under these paths. A path through symbolic links counts both as written and as
    /// where it leads.
    pub fn under<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Allow {
        let mut prefixes = Vec::new();
        for path in paths {
            let path = path.as_ref();
            if !path.is_absolute() {
                continue;
            }
            prefixes.push(path.components().collect::<PathBuf>());
            if let Ok(real) = fs::canonicalize(path) {
                prefixes.push(real);
            }
        }
        prefixes.sort();
        prefixes.dedup();
        Allow::Under(prefixes.into())
    }

    /// Whether the program may know that this path exists.
    pub fn shows(&self, path: &Path) -> bool {
        match self {
            Allow::Everything => true,
            Allow::Nothing => path == Path::new("/"),
            Allow::Under(prefixes) => {
                prefixes.iter().any(|prefix| path.starts_with(prefix) || prefix.starts_with(path))
            }
        }
    }

    /// Whether the program may read what is there, and not only pass through.
    pub fn reads(&self, path: &Path) -> bool {
        match self {
            Allow::Everything => true,
            Allow::Nothing => false,
            Allow::Under(prefixes) => prefixes.iter().any(|prefix| path.starts_with(prefix)),
        }
    }
}

/// What the host tells about one of its files.
#[derive(Clone, Debug)]
pub struct HostEntry {
    /// Device and number there.
    pub identity: (u64, u64),
    /// Type and permissions.
    pub mode: u32,
    /// Names.
    pub nlink: u64,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// The device it stands for.
    pub rdev: u64,
    /// Bytes.
    pub size: u64,
    /// Units of 512 bytes.
    pub blocks: u64,
    /// Last read, last written, last changed.
    pub times: [Timestamp; 3],
    /// Made, if known.
    pub btime: Option<Timestamp>,
    /// The target, if it is a symbolic link.
    pub target: Option<Arc<[u8]>>,
}

/// Looks at a path without following a link at its end; none if there is nothing to see.
pub fn look(allow: &Allow, path: &Path) -> Result<Option<HostEntry>, Errno> {
    if !allow.shows(path) {
        return Ok(None);
    }
    let meta = match fs::symlink_metadata(path) {
        Ok(meta) => meta,
        Err(error) => {
            return match Errno::from(error) {
                Errno::ENOENT => Ok(None),
                errno => Err(errno),
            };
        }
    };
    let kind = meta.mode() & S_IFMT;
    // What merely leads to an allowed place is a directory or a link; anything else is hidden.
    if !allow.reads(path) && kind != S_IFDIR && kind != S_IFLNK {
        return Ok(None);
    }
    let target = if kind == S_IFLNK {
        Some(fs::read_link(path)?.as_os_str().as_bytes().into())
    } else {
        None
    };
    let time = |seconds, nanoseconds: i64| Timestamp { seconds, nanoseconds: nanoseconds as u32 };
    Ok(Some(HostEntry {
        identity: (meta.dev(), meta.ino()),
        mode: meta.mode(),
        nlink: meta.nlink(),
        uid: meta.uid(),
        gid: meta.gid(),
        rdev: meta.rdev(),
        size: meta.size(),
        blocks: meta.blocks(),
        times: [
            time(meta.atime(), meta.atime_nsec()),
            time(meta.mtime(), meta.mtime_nsec()),
            time(meta.ctime(), meta.ctime_nsec()),
        ],
        btime: meta.created().ok().and_then(birth),
        target,
    }))
}

fn birth(time: std::time::SystemTime) -> Option<Timestamp> {
    let since = time.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Timestamp { seconds: since.as_secs() as i64, nanoseconds: since.subsec_nanos() })
}

/// The names in a host directory that the program may see, with number and type, sorted.
pub fn list(allow: &Allow, path: &Path) -> Result<Vec<(Name, u64, u8)>, Errno> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let full = path.join(entry.file_name());
        let visible =
            allow.reads(&full) || allow.shows(&full) && (kind.is_dir() || kind.is_symlink());
        if !visible {
            continue;
        }
        let kind = if kind.is_dir() {
            DT_DIR
        } else if kind.is_symlink() {
            DT_LNK
        } else if kind.is_fifo() {
            DT_FIFO
        } else if kind.is_socket() {
            DT_SOCK
        } else if kind.is_char_device() {
            DT_CHR
        } else if kind.is_block_device() {
            DT_BLK
        } else {
            DT_REG
        };
        names.push((entry.file_name().as_bytes().into(), entry.ino(), kind));
    }
    names.sort();
    Ok(names)
}

/// Opens a regular file for reading by position.
pub fn open(allow: &Allow, path: &Path) -> Result<(Arc<File>, u64), Errno> {
    if !allow.reads(path) {
        return Err(Errno::ENOENT);
    }
    // Without blocking and without following: should the host have put a pipe or a link there
    // meanwhile, this must neither hang nor lead out of what is allowed.
    let flags = (O_NOFOLLOW | O_NONBLOCK | O_NOCTTY) as i32;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(Errno::EIO);
    }
    Ok((Arc::new(file), meta.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_prefixes_and_what_leads_to_them_are_visible() {
        let allow = Allow::under(["/nowhere/a/b", "/nowhere/c", "relative"]);
        let shows = |path: &str| allow.shows(Path::new(path));
        let reads = |path: &str| allow.reads(Path::new(path));
        assert!(shows("/") && shows("/nowhere") && shows("/nowhere/a") && shows("/nowhere/a/b/x"));
        assert!(!shows("/nowhere/a/bb") && !shows("/nowhere/d") && !shows("/etc"));
        assert!(reads("/nowhere/c") && reads("/nowhere/c/d"));
        assert!(!reads("/nowhere") && !reads("/nowhere/cc") && !reads("relative"));
        assert!(Allow::Everything.reads(Path::new("/etc/passwd")));
        assert!(!Allow::Nothing.shows(Path::new("/etc")));
    }

    #[test]
    fn what_is_hidden_does_not_exist() {
        let allow = Allow::under(["/usr"]);
        assert!(look(&allow, Path::new("/etc/passwd")).unwrap().is_none());
        assert!(look(&allow, Path::new("/usr/bin")).unwrap().is_some());
        assert_eq!(open(&allow, Path::new("/etc/passwd")).unwrap_err(), Errno::ENOENT);
        let names = list(&allow, Path::new("/")).unwrap();
        assert!(names.iter().all(|(name, ..)| &**name == b"usr"));
    }
}
