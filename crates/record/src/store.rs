//! Incidents on disk: a folder each, for the user alone.
//!
//! Always holds: an incident is there whole or not at all (it is written beside, and moved into
//! place); folders have mode 0700 and files 0600. Folders that are not incidents are left alone.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::Error;
use crate::incident::{Draft, Incident, Kept, State};
use crate::ours;

/// A folder of incidents.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
}

/// How long incidents stay, and how much room they may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Older ones go.
    pub age: Duration,
    /// The oldest go until all together take no more bytes than this.
    pub bytes: u64,
}

impl Default for Retention {
    /// Thirty days, and 256 MiB.
    fn default() -> Self {
        Self { age: Duration::from_hours(30 * 24), bytes: 256 << 20 }
    }
}

/// An incident in a list.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The incident.
    pub kept: Kept,
    /// How many bytes its folder takes.
    pub bytes: u64,
}

impl Store {
    /// The user's own: `$XDG_STATE_HOME/stunt/incidents`, by default `~/.local/state/…`.
    ///
    /// # Errors
    /// The user has no home.
    pub fn of_user() -> Result<Self, Error> {
        state_folder().map(|folder| Self::at(folder.join("incidents")))
    }

    /// The incidents below this folder. It is made when it is needed.
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Where it is.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes an incident, and gives it its id.
    ///
    /// # Errors
    /// The disk says no; then nothing of it is there.
    pub fn create(&self, draft: &Draft) -> Result<Kept, Error> {
        private_folders(&self.folder).map_err(Error::place(&self.folder))?;
        for attempt in 0..1000u32 {
            let id = new_id(draft.incident.made, attempt);
            let (folder, beside) = (self.folder.join(&id), self.folder.join(format!(".{id}.new")));
            if folder.symlink_metadata().is_ok() {
                continue;
            }
            match private_folder(&beside) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                Err(source) => return Err(Error::Place { path: beside, source }),
            }
            let mut incident = draft.incident.clone();
            incident.id = id;
            let written = write_all(&beside, &incident, draft)
                // A folder that is not empty is not replaced: somebody else was first.
                .and_then(|()| fs::rename(&beside, &folder));
            match written {
                Ok(()) => return Ok(Kept { incident, folder }),
                Err(error) => {
                    // Nothing half-written stays; what matters is the first error.
                    let _ = fs::remove_dir_all(&beside);
                    let taken = [ErrorKind::DirectoryNotEmpty, ErrorKind::AlreadyExists];
                    if !taken.contains(&error.kind()) {
                        return Err(Error::Place { path: folder, source: error });
                    }
                }
            }
        }
        let source = io::Error::from(ErrorKind::AlreadyExists);
        Err(Error::Place { path: self.folder.clone(), source })
    }

    /// All incidents that can be understood, the newest first.
    ///
    /// # Errors
    /// The folder is there and cannot be read.
    pub fn list(&self) -> Result<Vec<Summary>, Error> {
        let mut all = Vec::new();
        for folder in self.folders()? {
            let Ok(kept) = Kept::load(&folder) else { continue };
            let bytes = size(&folder);
            all.push(Summary { kept, bytes });
        }
        all.sort_by(|a, b| {
            let key = |it: &Summary| (it.kept.incident.made, it.kept.incident.id.clone());
            key(b).cmp(&key(a))
        });
        Ok(all)
    }

    /// An incident by its id, by the beginning of its id, by `last`, or by its folder.
    ///
    /// A name means what is here, whatever lies in the current folder. A folder has a slash in it,
    /// and is the user's own and closed to all others: it says which program is run.
    ///
    /// # Errors
    /// There is none, or more than one; or the folder is not for the user alone.
    pub fn find(&self, name: &str) -> Result<Kept, Error> {
        let path = Path::new(name);
        if name.contains('/') {
            let not_ours = |why| Error::NotOurs { path: path.to_owned(), why };
            return Kept::load(&ours::own_folder(path).map_err(not_ours)?);
        }
        let not_found = || Error::NotFound { name: name.to_owned(), place: self.folder.clone() };
        if name == "last" {
            return self.list()?.into_iter().next().map(|it| it.kept).ok_or_else(not_found);
        }
        if !matches!(path.components().next(), Some(Component::Normal(_))) || name.starts_with('.')
        {
            return Err(not_found());
        }
        let begins = |folder: &PathBuf| {
            folder.file_name().and_then(|it| it.to_str()).is_some_and(|it| it.starts_with(name))
        };
        let mut found: Vec<PathBuf> = self.folders()?.into_iter().filter(begins).collect();
        if let Some(exact) = found.iter().position(|it| it.file_name() == Some(name.as_ref())) {
            found = vec![found.swap_remove(exact)];
        }
        match found.as_slice() {
            [] => Err(not_found()),
            [one] => Kept::load(one),
            more => Err(Error::Ambiguous { name: name.to_owned(), count: more.len() }),
        }
    }

    /// Writes down where an incident stands now.
    ///
    /// # Errors
    /// The disk says no; then it stands where it stood.
    pub fn set_state(kept: &mut Kept, state: State) -> Result<(), Error> {
        let mut changed = kept.incident.clone();
        changed.state = state;
        let path = kept.folder.join("incident.json");
        let beside = kept.folder.join(".incident.json.new");
        // What an interrupted attempt may have left.
        let _ = fs::remove_file(&beside);
        let written = write_incident(&beside, &changed).and_then(|()| fs::rename(&beside, &path));
        written.map_err(Error::place(path))?;
        kept.incident = changed;
        Ok(())
    }

    /// Removes an incident with everything in its folder.
    ///
    /// # Errors
    /// The disk says no.
    pub fn delete(kept: &Kept) -> Result<(), Error> {
        fs::remove_dir_all(&kept.folder).map_err(Error::place(&kept.folder))
    }

    /// Removes what is too old, and the oldest of what is too much. Says what went.
    ///
    /// # Errors
    /// The disk says no.
    pub fn prune(&self, retention: Retention, now: SystemTime) -> Result<Vec<Kept>, Error> {
        let now = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let oldest = now.saturating_sub(retention.age.as_secs());
        let (mut room, mut gone) = (retention.bytes, Vec::new());
        for Summary { kept, bytes } in self.list()? {
            // From the newest on: once there is no room for one, there is none for older ones.
            let fits = room.checked_sub(bytes);
            room = fits.unwrap_or(0);
            if fits.is_none() || kept.incident.made < oldest {
                Self::delete(&kept)?;
                gone.push(kept);
            }
        }
        Ok(gone)
    }

    fn folders(&self) -> Result<Vec<PathBuf>, Error> {
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(Error::Place { path: self.folder.clone(), source }),
        };
        let mut folders = Vec::new();
        for entry in entries {
            let entry = entry.map_err(Error::place(&self.folder))?;
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            if !hidden && entry.file_type().is_ok_and(|it| it.is_dir()) {
                folders.push(entry.path());
            }
        }
        Ok(folders)
    }
}

/// Whether a text is written as the name of an incident: `last`, an id, or the beginning of one.
#[must_use]
pub fn is_name(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_ascii_digit());
    text == "last" || begins && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// The time, for what tells when it was made and goes when it is old.
#[must_use]
#[allow(clippy::disallowed_methods)] // No result depends on it.
pub fn now() -> SystemTime {
    SystemTime::now()
}

/// `$XDG_STATE_HOME/stunt`.
pub(crate) fn state_folder() -> Result<PathBuf, Error> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")))
        .map(|folder| folder.join("stunt"))
        .ok_or(Error::NoPlace)
}

/// Makes a folder for the user alone; it must not be there.
pub(crate) fn private_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

/// Makes a folder and those above it for the user alone, where they are missing.
pub(crate) fn private_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).recursive(true).create(path)
}

fn private_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

fn write_incident(path: &Path, incident: &Incident) -> io::Result<()> {
    let mut text = serde_json::to_vec_pretty(incident)?;
    text.push(b'\n');
    let mut file = private_file(path)?;
    file.write_all(&text)?;
    file.sync_all()
}

pub(crate) fn write_all(folder: &Path, incident: &Incident, draft: &Draft) -> io::Result<()> {
    let data = folder.join("data");
    private_folder(&data)?;
    for (number, bytes) in draft.data.iter().enumerate() {
        private_file(&data.join(number.to_string()))?.write_all(bytes.reveal())?;
    }
    write_incident(&folder.join("incident.json"), incident)
}

/// Bytes of the files in a folder and those below it.
fn size(folder: &Path) -> u64 {
    let (mut folders, mut bytes) = (vec![folder.to_owned()], 0);
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else { continue };
        for entry in entries.flatten() {
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.is_dir() {
                folders.push(entry.path());
            } else {
                bytes += metadata.len();
            }
        }
    }
    bytes
}

/// A name that sorts by time: `20260131-235959`, and a suffix if there are several in one second.
fn new_id(made: u64, attempt: u32) -> String {
    let (days, second) = (made / 86_400, made % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let base = format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}");
    if attempt == 0 { base } else { format!("{base}-{attempt}") }
}

/// The date, so many days after the first of 1970, by the rules of 400 years that repeat.
fn civil(days: u64) -> (u64, u64, u64) {
    // Years begin in March here, so that the day that some have more comes last.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + u64::from(month <= 2), month, date)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::os::unix::fs::PermissionsExt;

    use stunt_path::Private;

    use super::*;
    use crate::incident::{
        FailedIn, Maker, NotedEnding, NotedStdin, Program, Schema, Source, StdinKind,
    };
    use crate::last::Last;
    use crate::word::Word;

    /// An incident that says little.
    pub fn incident() -> Incident {
        Incident {
            schema: Schema,
            id: String::new(),
            made: 1_700_000_000,
            maker: Maker::Record,
            program: Program { path: "/bin/true".into(), build_id: None },
            name: "true".into(),
            arguments: vec!["secret".into(), Word::from(b"\xff".to_vec())],
            folder: "/".into(),
            environment: vec![("LANG".into(), "C".into())],
            sources: Vec::new(),
            ending: NotedEnding::Signal(11),
            failed_in: FailedIn::First,
            failure: None,
            fails_if: None,
            request: None,
            state: State::Pending,
            notes: Vec::new(),
        }
    }

    fn draft(made: u64, bytes: usize) -> Draft {
        let mut draft = Draft { incident: Incident { made, ..incident() }, data: Vec::new() };
        let stored = Some(draft.store(Private::new(vec![b's'; bytes])));
        let stdin = NotedStdin { kind: StdinKind::Pipe, stored, complete: true, ended: true };
        draft.incident.sources.push(Source::Stdin(stdin));
        draft
    }

    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("store-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn incidents_come_back_and_are_private() {
        let place = Place::new("back");
        let store = Store::at(place.0.join("a/b"));
        assert!(store.list().unwrap().is_empty());
        let kept = store.create(&draft(1_700_000_000, 5)).unwrap();
        assert_eq!(kept.incident.id, "20231114-221320");
        let again = store.create(&draft(1_700_000_000, 6)).unwrap();
        assert_eq!(again.incident.id, "20231114-221320-1");
        let found = store.find("20231114-221320").unwrap();
        assert_eq!(found.incident, kept.incident);
        let stored = found.incident.sources[0].stored().unwrap();
        assert_eq!(found.data(stored).unwrap().reveal(), b"sssss");
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(store.folder().to_owned()), 0o700);
        assert_eq!(mode(kept.folder.clone()), 0o700);
        assert_eq!(mode(kept.folder.join("data")), 0o700);
        assert_eq!(mode(kept.folder.join("data/0")), 0o600);
        assert_eq!(mode(kept.folder.join("incident.json")), 0o600);
        assert_eq!(fs::read_dir(store.folder()).unwrap().count(), 2);
        // Nothing private is shown by accident.
        let shown = format!("{found:?} {:?}", draft(0, 5));
        assert!(!shown.contains("secret") && !shown.contains("sssss"), "{shown}");
    }

    #[test]
    fn incidents_are_found_by_what_is_written() {
        let place = Place::new("found");
        let store = Store::at(place.0.clone());
        let first = store.create(&draft(1_700_000_000, 1)).unwrap();
        let second = store.create(&draft(1_700_000_001, 1)).unwrap();
        assert_eq!(store.find("last").unwrap().incident.id, second.incident.id);
        assert!(matches!(store.find("2023"), Err(Error::Ambiguous { count: 2, .. })));
        assert_eq!(store.find("20231114-221320").unwrap().incident.id, first.incident.id);
        let by_path = store.find(first.folder.to_str().unwrap()).unwrap();
        assert_eq!(by_path.incident.id, first.incident.id);
        for none in ["", "x", "..", ".", "/", ".20231114-221320.new"] {
            assert!(store.find(none).is_err(), "{none:?}");
        }
        fs::set_permissions(&first.folder, fs::Permissions::from_mode(0o755)).unwrap();
        let open = store.find(first.folder.to_str().unwrap()).unwrap_err().to_string();
        assert!(open.contains("not closed to other users"), "{open}");
        Store::delete(&second).unwrap();
        assert_eq!(store.find("2023").unwrap().incident.id, first.incident.id);
    }

    #[test]
    fn changed_bytes_and_foreign_files_are_noticed() {
        let place = Place::new("changed");
        let store = Store::at(place.0.clone());
        let mut kept = store.create(&draft(1, 3)).unwrap();
        fs::write(kept.folder.join("data/0"), "sst").unwrap();
        let stored = kept.incident.sources[0].stored().unwrap();
        assert!(matches!(kept.data(stored), Err(Error::Changed { .. })));
        Store::set_state(&mut kept, State::Anonymised).unwrap();
        assert_eq!(store.find("last").unwrap().incident.state, State::Anonymised);
        let json = kept.folder.join("incident.json");
        let text = fs::read_to_string(&json).unwrap();
        fs::write(&json, text.replace("stunt-incident/1", "stunt-incident/9")).unwrap();
        let error = Kept::load(&kept.folder).unwrap_err().to_string();
        assert!(error.contains("not an incident") && !error.contains("secret"), "{error}");
        assert!(store.list().unwrap().is_empty());
    }

    #[test]
    fn the_oldest_go_first() {
        let place = Place::new("prune");
        let store = Store::at(place.0.clone());
        for made in [1000, 2000, 3000] {
            store.create(&draft(made, 10_000)).unwrap();
        }
        let now = UNIX_EPOCH + Duration::from_secs(3100);
        let all = Retention { age: Duration::from_secs(5000), bytes: 1 << 30 };
        assert!(store.prune(all, now).unwrap().is_empty());
        let gone = store.prune(Retention { age: Duration::from_secs(1500), ..all }, now).unwrap();
        assert_eq!(gone.iter().map(|it| it.incident.made).collect::<Vec<_>>(), [1000]);
        let gone = store.prune(Retention { bytes: 15_000, ..all }, now).unwrap();
        assert_eq!(gone.iter().map(|it| it.incident.made).collect::<Vec<_>>(), [2000]);
        assert_eq!(store.list().unwrap().len(), 1);
    }

    #[test]
    fn the_last_run_is_one_and_not_for_long() {
        let place = Place::new("last");
        let last = Last::at(place.0.clone());
        let (hour, now) = (Duration::from_hours(1), UNIX_EPOCH + Duration::from_secs(5000));
        assert!(last.find(hour, now).unwrap().is_none());
        last.keep(&draft(4000, 1)).unwrap();
        last.keep(&draft(4500, 2)).unwrap();
        let kept = last.find(hour, now).unwrap().unwrap();
        assert_eq!((kept.incident.made, kept.draft().unwrap().data[0].reveal().len()), (4500, 2));
        assert!(last.find(Duration::from_secs(100), now).unwrap().is_none());
        assert!(last.find(hour, now).unwrap().is_none());
        last.forget().unwrap();
    }

    #[test]
    fn names_of_incidents_are_told_from_files() {
        for name in ["last", "20231114-221320", "20231114-221320-1", "2023"] {
            assert!(is_name(name), "{name}");
        }
        for other in ["", "r.zip", "last.zip", "./last", "-1", "20231114-221320/", "1a"] {
            assert!(!is_name(other), "{other}");
        }
    }

    #[test]
    fn dates() {
        assert_eq!(civil(0), (1970, 1, 1));
        assert_eq!(civil(59), (1970, 3, 1));
        assert_eq!(civil(11_016), (2000, 2, 29));
        assert_eq!(civil(20_773), (2026, 11, 16));
    }
}
