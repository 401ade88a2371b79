//! Files that a program opened: which, as they were then.
//!
//! A file that is only read is not copied while the program runs: it is held open, and its stamp
//! (size, times of change) tells at the end whether it is still what the program saw. A small file
//! that the program can write to is copied before. Files of the system are named and nothing more.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use stunt_path::Private;

use crate::incident::{Copied, Draft, NotedFile};
use crate::word::Word;

/// The most files that are noted, and that are held open.
const NOTED: usize = 4096;
const HELD: usize = 200;

/// Where the system's own files are.
const SYSTEM: [&str; 15] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/bin",
    "/sbin",
    "/etc",
    "/proc",
    "/sys",
    "/dev",
    "/run",
    "/boot",
    "/nix/store",
    "/var/cache",
];

/// What is inside those and belongs to users nevertheless.
const USERS: [&str; 3] = ["/dev/shm", "/run/user", "/run/media"];

/// How a program opened a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manner {
    /// It may write to it.
    pub writes: bool,
    /// The file's contents go.
    pub truncates: bool,
    /// The dynamic linker did, before the program began.
    pub loads: bool,
}

/// When a file counts as unchanged: device, node, size, times of change of bytes and of anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    node: (u64, u64),
    bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl From<&Metadata> for Stamp {
    fn from(data: &Metadata) -> Self {
        Self {
            node: (data.dev(), data.ino()),
            bytes: data.size(),
            modified: (data.mtime(), data.mtime_nsec()),
            changed: (data.ctime(), data.ctime_nsec()),
        }
    }
}

/// What there is of a file.
#[derive(Debug)]
enum Held {
    /// It is open.
    Open(File),
    /// It was copied before the program could change it.
    Copy(Private),
    /// It can only be looked for by its name.
    Name,
    /// It is not copied, for this reason.
    Not(Copied),
}

#[derive(Debug)]
struct Opened {
    path: PathBuf,
    stamp: Option<Stamp>,
    written: bool,
    held: Held,
}

/// All files of a run.
#[derive(Debug)]
pub struct Files {
    all: Vec<Opened>,
    by_path: BTreeMap<PathBuf, usize>,
    /// The largest file that is copied.
    largest: u64,
    held: usize,
    /// Whether there were more than could be noted.
    pub more: bool,
}

impl Files {
    /// None yet; copies are made of files up to this size.
    pub fn new(largest: u64) -> Self {
        Self { all: Vec::new(), by_path: BTreeMap::new(), largest, held: 0, more: false }
    }

    /// A program is about to open a file. Says whether it is a pipe, which has to be listened to.
    pub fn opens(&mut self, path: &Path, manner: Manner) -> bool {
        if let Some(&at) = self.by_path.get(path) {
            if manner.writes || manner.truncates {
                let largest = self.largest;
                self.all[at].is_written(largest);
            }
            return matches!(fs::metadata(path), Ok(data) if is_pipe(&data));
        }
        let system = is_system(path);
        let Ok(data) = fs::metadata(path) else {
            // A file that is made now has nothing to be read; others are not found.
            if manner.writes && !system {
                self.note(path, None, Held::Not(Copied::Made), true);
            }
            return false;
        };
        if is_pipe(&data) {
            return true;
        }
        if !data.is_file() {
            return false;
        }
        let stamp = Stamp::from(&data);
        let held = if system {
            Held::Not(Copied::System)
        } else if manner.loads {
            Held::Not(Copied::Code)
        } else if stamp.bytes > self.largest {
            Held::Not(Copied::TooLarge)
        } else if manner.writes || manner.truncates {
            read(path, stamp, self.largest)
        } else if self.held < HELD {
            match open(path) {
                Some(file) => {
                    self.held += 1;
                    Held::Open(file)
                }
                None => Held::Not(Copied::Unreadable),
            }
        } else {
            Held::Name
        };
        self.note(path, Some(stamp), held, manner.writes || manner.truncates);
        false
    }

    fn note(&mut self, path: &Path, stamp: Option<Stamp>, held: Held, written: bool) {
        if self.all.len() >= NOTED {
            self.more = true;
            return;
        }
        self.by_path.insert(path.to_owned(), self.all.len());
        self.all.push(Opened { path: path.to_owned(), stamp, written, held });
    }

    /// Everything as an incident names it, with copies in the draft while there is room.
    pub fn describe(&self, draft: &mut Draft, room: &mut u64) -> Vec<NotedFile> {
        self.all.iter().map(|file| file.describe(draft, room, self.largest)).collect()
    }
}

impl Opened {
    /// The program is about to change it.
    fn is_written(&mut self, largest: u64) {
        if self.written {
            return;
        }
        self.written = true;
        if let (Held::Open(_) | Held::Name, Some(stamp)) = (&self.held, self.stamp) {
            self.held = match &self.held {
                Held::Open(file) => read_open(file, stamp, largest),
                _ => read(&self.path, stamp, largest),
            };
        }
    }

    fn describe(&self, draft: &mut Draft, room: &mut u64, largest: u64) -> NotedFile {
        let now;
        let held = match (&self.held, self.stamp) {
            (Held::Open(file), Some(stamp)) => {
                now = read_open(file, stamp, largest);
                &now
            }
            (Held::Name, Some(stamp)) => {
                now = read(&self.path, stamp, largest);
                &now
            }
            (held, _) => held,
        };
        let (copied, stored) = match held {
            Held::Copy(bytes) => match room.checked_sub(bytes.reveal().len() as u64) {
                Some(left) => {
                    *room = left;
                    (Copied::AsOpened, Some(draft.store(bytes.clone())))
                }
                None => (Copied::TooLarge, None),
            },
            Held::Not(reason) => (*reason, None),
            Held::Open(_) | Held::Name => (Copied::Unreadable, None),
        };
        NotedFile {
            path: Word::from(self.path.clone()),
            bytes: self.stamp.map_or(0, |stamp| stamp.bytes),
            modified: self.stamp.and_then(|stamp| nanoseconds(stamp.modified)),
            written: self.written,
            copied,
            stored,
        }
    }
}

/// A file as it is now, to be read later if it has not changed.
#[derive(Debug)]
pub struct Snapshot {
    file: File,
    stamp: Stamp,
}

impl Snapshot {
    /// Of the file that this path leads to now.
    pub fn of(path: &Path) -> Option<Self> {
        let file = open(path)?;
        let stamp = Stamp::from(&file.metadata().ok()?);
        Some(Self { file, stamp })
    }

    /// What is in it, unless it has changed or is too large.
    pub fn bytes(&self, largest: u64) -> Option<Private> {
        match read_open(&self.file, self.stamp, largest) {
            Held::Copy(bytes) => Some(bytes),
            _ => None,
        }
    }
}

fn nanoseconds((seconds, rest): (i64, i64)) -> Option<i64> {
    seconds.checked_mul(1_000_000_000)?.checked_add(rest)
}

/// Opens a file without waiting, whatever it has become meanwhile.
fn open(path: &Path) -> Option<File> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    OpenOptions::new().read(true).custom_flags(flags).open(path).ok()
}

/// Reads a file by its name, if it is still as it was.
fn read(path: &Path, stamp: Stamp, largest: u64) -> Held {
    open(path).map_or(Held::Not(Copied::Unreadable), |file| read_open(&file, stamp, largest))
}

/// Reads a file, if it is still as it was, before and after.
fn read_open(mut file: &File, stamp: Stamp, largest: u64) -> Held {
    // Removing a file or linking to it changes the last time, but not what is in it.
    let same = |data: &Metadata| {
        let now = Stamp::from(data);
        let untouched = now.changed == stamp.changed || data.nlink() == 0;
        now.node == stamp.node
            && now.bytes == stamp.bytes
            && now.modified == stamp.modified
            && untouched
    };
    let unchanged = |file: &File| file.metadata().is_ok_and(|data| same(&data));
    let mut bytes = Vec::new();
    if !unchanged(file) {
        return Held::Not(Copied::Changed);
    }
    let rewound = std::io::Seek::rewind(&mut file).is_ok();
    if !rewound || file.take(largest.saturating_add(1)).read_to_end(&mut bytes).is_err() {
        return Held::Not(Copied::Unreadable);
    }
    if bytes.len() as u64 != stamp.bytes || !unchanged(file) {
        return Held::Not(Copied::Changed);
    }
    Held::Copy(Private::new(bytes))
}

fn is_pipe(data: &Metadata) -> bool {
    data.mode() & libc::S_IFMT == libc::S_IFIFO
}

/// Whether a path belongs to the system.
pub fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
        && !USERS.iter().any(|user| path.starts_with(user))
}

#[cfg(test)]
mod tests {
    use super::*;

    const READS: Manner = Manner { writes: false, truncates: false, loads: false };
    const WRITES: Manner = Manner { writes: true, truncates: true, loads: false };

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("opened-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn file(&self, name: &str, text: &str) -> PathBuf {
            let path = self.0.join(name);
            fs::write(&path, text).unwrap();
            path
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn described(files: &Files) -> (Vec<NotedFile>, Draft) {
        let mut draft = Draft { incident: crate::store::tests::incident(), data: Vec::new() };
        let noted = files.describe(&mut draft, &mut (1 << 20));
        (noted, draft)
    }

    fn copy(noted: &NotedFile, draft: &Draft) -> Option<String> {
        let stored = noted.stored.as_ref()?;
        let bytes = draft.data[stored.data as usize].reveal().to_vec();
        Some(String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn files_are_kept_as_the_program_found_them() {
        let folder = Folder::new("kept");
        let mut files = Files::new(100);
        let paths = ["read", "written", "changed", "removed", "large", "later", "made"];
        let of = |name: &str| folder.0.join(name);
        for name in &paths[..6] {
            folder.file(name, if *name == "large" { "x".repeat(101).leak() } else { name });
        }
        for name in ["read", "changed", "removed", "large", "later"] {
            assert!(!files.opens(&of(name), READS));
        }
        files.opens(&of("written"), WRITES);
        files.opens(&of("made"), WRITES);
        files.opens(&of("absent"), READS);
        files.opens(Path::new("/etc/passwd"), READS);
        // What a program does meanwhile.
        for name in ["written", "made"] {
            folder.file(name, "after");
        }
        files.opens(&of("later"), WRITES);
        folder.file("later", "after");
        folder.file("changed", "changed by somebody else");
        fs::remove_file(of("removed")).unwrap();
        let (noted, draft) = described(&files);
        let by = |name: &str| {
            let found = noted.iter().find(|it| it.path.path().ends_with(name)).unwrap();
            (found.copied, copy(found, &draft), found.written)
        };
        assert_eq!(by("read"), (Copied::AsOpened, Some("read".into()), false));
        assert_eq!(by("written"), (Copied::AsOpened, Some("written".into()), true));
        assert_eq!(by("later"), (Copied::AsOpened, Some("later".into()), true));
        assert_eq!(by("removed"), (Copied::AsOpened, Some("removed".into()), false));
        assert_eq!(by("changed"), (Copied::Changed, None, false));
        assert_eq!(by("large"), (Copied::TooLarge, None, false));
        assert_eq!(by("made"), (Copied::Made, None, true));
        assert_eq!(by("passwd"), (Copied::System, None, false));
        assert!(!noted.iter().any(|it| it.path.path().ends_with("absent")));
    }

    #[test]
    fn folders_of_users_are_not_the_system() {
        assert!(is_system(Path::new("/usr/lib/x")) && is_system(Path::new("/etc/hosts")));
        assert!(!is_system(Path::new("/home/a/usr")) && !is_system(Path::new("/dev/shm/x")));
        assert!(!is_system(Path::new("/library/x")));
    }
}
