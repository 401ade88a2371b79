//! What waits to be sent: sealed parcels and counts that their owner has agreed to.
//!
//! Always: what waits is sealed already, so that the queue holds nothing that could be read, and
//! names its server, which nothing can change. A payload has its digest as its name; its note is
//! written last and removed first, so that there is no note without a payload. One process at a time
//! sends what waits.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rand::RngCore;
use serde::{Deserialize, Serialize};
use stunt_parcel::Digest;

use crate::config::Settings;
use crate::folder;

/// What waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A sealed report.
    Parcel,
    /// A failure that was met once more.
    Count,
}

/// A note about something that waits. It stays on this machine.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Waiting {
    /// The digest of what waits, and its name.
    pub id: Digest,
    /// What it is.
    pub kind: Kind,
    /// The server that it was agreed for.
    pub server: String,
    /// The failure in words.
    pub what: String,
    /// When it came, in seconds since 1970.
    pub since: u64,
    /// How large it is.
    pub bytes: u64,
    /// Why it could not be sent the last time.
    pub why: String,
}

/// All that is in a queue.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Contents {
    /// What waits, the oldest first.
    pub waiting: Vec<Waiting>,
    /// What has a note that cannot be read; it can only be dropped.
    pub damaged: Vec<Digest>,
}

/// While it is there, no other process sends what waits.
#[derive(Debug)]
pub struct Turn(#[allow(dead_code)] File); // Closing the file ends it.

/// How much may wait, and how long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// How many.
    pub parcels: u64,
    /// How many bytes together.
    pub bytes: u64,
    /// How long.
    pub keep: Duration,
}

impl Limits {
    /// What the settings say.
    pub fn of(settings: &Settings) -> Limits {
        Limits {
            parcels: settings.number("queue.max-parcels").unwrap_or(0),
            bytes: settings.number("queue.max-size").unwrap_or(0),
            keep: settings.age("queue.keep").unwrap_or(Duration::ZERO),
        }
    }
}

/// Why nothing could be put into the queue, or taken out.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nowhere to keep it.
    #[error("there is no home folder to keep parcels in; set HOME or XDG_STATE_HOME")]
    NoHome,
    /// The folder cannot be used.
    #[error("the queue in {} cannot be used: {error}", folder.display())]
    Unusable {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// It would be too much.
    #[error("the queue is full ({0}); make room with `stunt queue send` or `stunt queue drop`")]
    Full(&'static str),
    /// A file is not what it was.
    #[error("what waits under {0} is damaged; `stunt queue drop {0}` throws it away")]
    Damaged(Digest),
}

/// The queue.
pub struct Queue {
    folder: PathBuf,
}

impl Queue {
    /// The queue of whoever runs this process.
    pub fn usual() -> Result<Queue, Error> {
        Ok(Queue::at(folder::state().ok_or(Error::NoHome)?.join("queue")))
    }

    /// A queue in a folder, which need not exist.
    pub fn at(folder: PathBuf) -> Queue {
        Queue { folder }
    }

    fn unusable(&self) -> impl FnOnce(io::Error) -> Error + '_ {
        |error| Error::Unusable { folder: self.folder.clone(), error }
    }

    fn payload_path(&self, id: Digest) -> PathBuf {
        self.folder.join(format!("{id}.payload"))
    }

    fn note_path(&self, id: Digest) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    /// Puts something into the queue; its digest is its name.
    pub fn put(
        &self,
        kind: Kind,
        payload: &[u8],
        note: Note<'_>,
        limits: Limits,
        rng: &mut dyn RngCore,
    ) -> Result<Waiting, Error> {
        let id = Digest::of(payload);
        folder::make(&self.folder).map_err(self.unusable())?;
        let Contents { waiting: others, damaged } = self.list()?;
        let others: Vec<Waiting> = others.into_iter().filter(|it| it.id != id).collect();
        if (others.len() + damaged.len()) as u64 >= limits.parcels {
            return Err(Error::Full("queue.max-parcels"));
        }
        let bytes =
            others.iter().fold(payload.len() as u64, |sum, it| sum.saturating_add(it.bytes));
        if bytes > limits.bytes {
            return Err(Error::Full("queue.max-size"));
        }
        let waiting = Waiting {
            id,
            kind,
            server: note.server.to_owned(),
            what: note.what.to_owned(),
            since: note.now,
            bytes: payload.len() as u64,
            why: note.why.to_owned(),
        };
        folder::store(&self.payload_path(id), payload, rng).map_err(self.unusable())?;
        self.note(&waiting, rng)?;
        Ok(waiting)
    }

    /// Writes a note anew.
    pub fn note(&self, waiting: &Waiting, rng: &mut dyn RngCore) -> Result<(), Error> {
        let text = serde_json::to_vec_pretty(waiting).expect("a note has only text and numbers");
        folder::store(&self.note_path(waiting.id), &text, rng).map_err(self.unusable())
    }

    /// All that is in it.
    pub fn list(&self) -> Result<Contents, Error> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Contents::default()),
            entries => entries.map_err(self.unusable())?,
        };
        let mut all = Contents::default();
        for entry in entries {
            let path = entry.map_err(self.unusable())?.path();
            let Some(id) = id_of(&path) else { continue };
            let note = match fs::read(&path) {
                // Another process has just sent it.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                note => note.ok(),
            };
            let note = note.and_then(|note| serde_json::from_slice::<Waiting>(&note).ok());
            match note.filter(|note| note.id == id) {
                Some(note) => all.waiting.push(note),
                None => all.damaged.push(id),
            }
        }
        all.waiting.sort_by_key(|waiting| (waiting.since, waiting.id));
        all.damaged.sort();
        Ok(all)
    }

    /// The turn to send what waits; nothing while another process has it.
    pub fn turn(&self) -> Result<Option<Turn>, Error> {
        folder::make(&self.folder).map_err(self.unusable())?;
        let path = self.folder.join("lock");
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        let file = file.map_err(self.unusable())?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Turn(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(self.unusable()(error)),
        }
    }

    /// What waits under a note.
    pub fn payload(&self, waiting: &Waiting) -> Result<Vec<u8>, Error> {
        let payload = fs::read(self.payload_path(waiting.id)).map_err(self.unusable())?;
        if Digest::of(&payload) == waiting.id {
            Ok(payload)
        } else {
            Err(Error::Damaged(waiting.id))
        }
    }

    /// Takes something out.
    pub fn remove(&self, id: Digest) -> Result<(), Error> {
        for path in [self.note_path(id), self.payload_path(id)] {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(self.unusable()(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Takes out what has waited too long, and says what it was.
    pub fn expire(&self, now: u64, keep: Duration) -> Result<Vec<Waiting>, Error> {
        let old = |it: &Waiting| now.saturating_sub(it.since) > keep.as_secs();
        let gone: Vec<Waiting> = self.list()?.waiting.into_iter().filter(old).collect();
        for waiting in &gone {
            self.remove(waiting.id)?;
        }
        Ok(gone)
    }
}

/// What is noted beside something that waits.
#[derive(Clone, Copy, Debug)]
pub struct Note<'a> {
    /// The server that it was agreed for.
    pub server: &'a str,
    /// The failure in words.
    pub what: &'a str,
    /// Why it could not be sent.
    pub why: &'a str,
    /// The time, in seconds since 1970.
    pub now: u64,
}

fn id_of(path: &Path) -> Option<Digest> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(".json")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    const LIMITS: Limits = Limits { parcels: 2, bytes: 100, keep: Duration::from_secs(10) };

    fn queue(name: &str) -> Queue {
        let folder =
            std::env::temp_dir().join(format!("stunt-queue-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        Queue::at(folder.join("state/queue"))
    }

    fn put(queue: &Queue, payload: &[u8], now: u64) -> Result<Waiting, Error> {
        let note = Note { server: "https://a.example", what: "it fails", why: "offline", now };
        queue.put(Kind::Parcel, payload, note, LIMITS, &mut ChaCha8Rng::seed_from_u64(now))
    }

    #[test]
    fn what_is_put_in_comes_out_in_order_and_is_nobody_elses() {
        let queue = queue("order");
        assert!(queue.list().unwrap().waiting.is_empty(), "there is no folder yet");
        let (second, first) = (put(&queue, b"two", 2).unwrap(), put(&queue, b"one", 1).unwrap());
        assert_eq!(queue.list().unwrap().waiting, [first.clone(), second.clone()]);
        assert_eq!(queue.payload(&first).unwrap(), b"one");
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&queue.folder), 0o700);
        assert_eq!(mode(&queue.payload_path(first.id)), 0o600);
        assert_eq!(mode(&queue.note_path(first.id)), 0o600);
        // The same once more is the same.
        put(&queue, b"two", 2).unwrap();
        queue.remove(first.id).unwrap();
        queue.remove(first.id).unwrap();
        assert_eq!(queue.list().unwrap().waiting, [second]);
    }

    #[test]
    fn there_are_limits() {
        let queue = queue("limits");
        assert!(matches!(put(&queue, &[0; 101], 1), Err(Error::Full("queue.max-size"))));
        put(&queue, &[1; 60], 1).unwrap();
        assert!(matches!(put(&queue, &[2; 60], 1), Err(Error::Full("queue.max-size"))));
        put(&queue, &[3; 40], 5).unwrap();
        assert!(matches!(put(&queue, &[4; 1], 1), Err(Error::Full("queue.max-parcels"))));
        assert_eq!(queue.expire(11, LIMITS.keep).unwrap().len(), 0);
        assert_eq!(queue.expire(12, LIMITS.keep).unwrap().len(), 1);
        assert_eq!(queue.list().unwrap().waiting.len(), 1);
    }

    #[test]
    fn what_was_changed_is_not_sent() {
        let queue = queue("changed");
        let waiting = put(&queue, b"sealed", 1).unwrap();
        fs::write(queue.payload_path(waiting.id), b"other").unwrap();
        assert!(matches!(queue.payload(&waiting), Err(Error::Damaged(id)) if id == waiting.id));
        fs::write(queue.note_path(waiting.id), b"{}").unwrap();
        // What cannot be read does not keep the others from being sent, and can be dropped.
        let other = put(&queue, b"another", 2).unwrap();
        let contents = queue.list().unwrap();
        assert_eq!(contents, Contents { waiting: vec![other], damaged: vec![waiting.id] });
        queue.remove(waiting.id).unwrap();
        assert!(queue.list().unwrap().damaged.is_empty());
    }

    #[test]
    fn one_process_sends_at_a_time() {
        let queue = queue("turns");
        let turn = queue.turn().unwrap().expect("nobody else has it");
        assert!(queue.turn().unwrap().is_none());
        drop(turn);
        assert!(queue.turn().unwrap().is_some());
        assert_eq!(queue.list().unwrap(), Contents::default());
    }
}
