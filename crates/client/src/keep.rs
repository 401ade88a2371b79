//! Small things that stay on this machine: the key of the installation, notes about parcels that were
//! sealed ahead, the numbers of events that were counted, and what a report's owner alone is told about it.
//!
//! Always: the key is made when it is first needed, and never leaves. A parcel cannot be opened by
//! the one who sealed it; its note is how he knows that it holds the report that he looks at. A report
//! that is submitted again is the same event, which counts once.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rand::RngCore;
use serde::{Deserialize, Serialize};
use stunt_parcel::messages::EventId;
use stunt_parcel::{Digest, InstallationKey, Recipient};

use crate::folder;

/// The file of the key.
const KEY: &str = "installation.key";
/// The folder of the notes.
const SEALED: &str = "sealed";
/// The folder of the events.
const COUNTED: &str = "counted";
/// The folder of what owners are told.
const OWNED: &str = "owned";
/// What owners are told is kept as long as incidents usually are.
const OWNED_FOR: Duration = Duration::from_hours(30 * 24);

/// The key of this installation; made if there is none.
pub fn installation_key(state: &Path, rng: &mut dyn RngCore) -> io::Result<InstallationKey> {
    let path = state.join(KEY);
    let broken = || io::Error::new(ErrorKind::InvalidData, "it does not hold a key; remove it");
    match fs::read(&path) {
        Ok(bytes) => {
            let bytes: [u8; 32] = bytes.try_into().map_err(|_| broken())?;
            Ok(InstallationKey::from_bytes(&bytes))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let key = InstallationKey::generate();
            folder::make(state)?;
            folder::store(&path, &key.to_bytes(), rng)?;
            Ok(key)
        }
        Err(error) => Err(error),
    }
}

/// What a parcel was sealed from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Sealed {
    /// The digest of the report's file inside.
    pub report: Digest,
    /// The key that it was sealed for.
    pub recipient: Recipient,
    /// Whether it is signed.
    pub signed: bool,
}

fn note(state: &Path, parcel: Digest) -> PathBuf {
    state.join(SEALED).join(format!("{parcel}.json"))
}

/// Remembers what a parcel was sealed from.
pub fn remember(
    state: &Path,
    parcel: Digest,
    sealed: &Sealed,
    rng: &mut dyn RngCore,
) -> io::Result<()> {
    folder::make(&state.join(SEALED))?;
    let text = serde_json::to_vec(sealed).expect("a note has only text");
    folder::store(&note(state, parcel), &text, rng)
}

/// What a parcel was sealed from, if it was sealed here.
pub fn recall(state: &Path, parcel: Digest) -> Option<Sealed> {
    serde_json::from_slice(&fs::read(note(state, parcel)).ok()?).ok()
}

/// Forgets it: it has been sent.
pub fn forget(state: &Path, parcel: Digest) {
    // A note that stays tells of a digest; it does no harm.
    let _ = fs::remove_file(note(state, parcel));
}

/// The event that a report is about: drawn when it is first asked for, the same from then on.
pub fn event(state: &Path, report: Digest, rng: &mut dyn RngCore) -> io::Result<EventId> {
    let path = state.join(COUNTED).join(report.to_string());
    let known = fs::read_to_string(&path).ok().and_then(|text| text.parse().ok());
    if let Some(known) = known {
        return Ok(known);
    }
    let event = EventId::random();
    folder::make(&state.join(COUNTED))?;
    folder::store(&path, event.to_string().as_bytes(), rng)?;
    Ok(event)
}

/// Keeps what a report's owner alone is told about it; whatever it is, it is never sent. What was kept for long is
/// removed.
pub fn own(state: &Path, report: Digest, told: &[u8], rng: &mut dyn RngCore) -> io::Result<()> {
    let folder = state.join(OWNED);
    folder::make(&folder)?;
    for entry in fs::read_dir(&folder)?.flatten() {
        let age = entry.metadata().and_then(|data| data.modified()).map(|time| time.elapsed());
        if matches!(age, Ok(Ok(age)) if age > OWNED_FOR) {
            // One that stays is looked at the next time.
            let _ = fs::remove_file(entry.path());
        }
    }
    folder::store(&folder.join(report.to_string()), told, rng)
}

/// What was kept for the owner of a report, if it was made here.
pub fn owned(state: &Path, report: Digest) -> Option<Vec<u8>> {
    fs::read(state.join(OWNED).join(report.to_string())).ok()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;
    use stunt_parcel::Identity;

    use super::*;

    fn state(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("stunt-keep-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    #[test]
    fn an_installation_has_one_key() {
        let (state, mut rng) = (state("key"), ChaCha8Rng::seed_from_u64(1));
        let key = installation_key(&state, &mut rng).unwrap();
        assert_eq!(installation_key(&state, &mut rng).unwrap().public(), key.public());
        fs::write(state.join(KEY), b"short").unwrap();
        assert!(installation_key(&state, &mut rng).is_err());
    }

    #[test]
    fn a_report_is_one_event() {
        let (state, mut rng) = (state("event"), ChaCha8Rng::seed_from_u64(1));
        let (report, other) = (Digest::of(b"report"), Digest::of(b"other"));
        let first = event(&state, report, &mut rng).unwrap();
        assert_eq!(event(&state, report, &mut rng).unwrap(), first);
        assert_ne!(event(&state, other, &mut rng).unwrap(), first);
        fs::write(state.join(COUNTED).join(report.to_string()), b"damaged").unwrap();
        assert_ne!(event(&state, report, &mut rng).unwrap(), first);
    }

    #[test]
    fn notes_about_parcels_are_kept_until_they_are_forgotten() {
        let (state, mut rng) = (state("notes"), ChaCha8Rng::seed_from_u64(1));
        let parcel = Digest::of(b"parcel");
        assert_eq!(recall(&state, parcel), None);
        let recipient = Identity::generate().recipient();
        let sealed = Sealed { report: Digest::of(b"report"), recipient, signed: false };
        remember(&state, parcel, &sealed, &mut rng).unwrap();
        assert_eq!(recall(&state, parcel), Some(sealed));
        forget(&state, parcel);
        assert_eq!(recall(&state, parcel), None);
    }
    #[test]
    fn what_an_owner_is_told_is_for_nobody_else_and_goes_with_time() {
        use std::os::unix::fs::PermissionsExt;
        let (state, mut rng) = (state("owned"), ChaCha8Rng::seed_from_u64(1));
        let (old, new) = (Digest::of(b"old"), Digest::of(b"new"));
        assert_eq!(owned(&state, old), None);
        own(&state, old, b"told", &mut rng).unwrap();
        assert_eq!(owned(&state, old).as_deref(), Some(&b"told"[..]));
        let path = state.join(OWNED).join(old.to_string());
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let file = fs::File::options().write(true).open(&path).unwrap();
        let modified = file.metadata().unwrap().modified().unwrap();
        file.set_modified(modified - OWNED_FOR - Duration::from_secs(60)).unwrap();
        own(&state, new, b"more", &mut rng).unwrap();
        assert_eq!((owned(&state, old), owned(&state, new)), (None, Some(b"more".to_vec())));
    }
}
