//! Any file as `incident.json`: it is refused in a sentence that quotes nothing of it, or it is an incident
//! that stays the same when it is written and read again. The fuzz target for incidents is this, too.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use stunt_record::{Incident, Kept};

/// The folder of this process.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("stunt-fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder of its own");
        folder
    })
}

/// Panics if that does not hold.
pub fn check(data: &[u8]) {
    let folder = folder();
    fs::write(folder.join("incident.json"), data).expect("writable");
    let kept = match Kept::load(folder) {
        Ok(kept) => kept,
        Err(error) => {
            let (message, path) = (error.to_string(), folder.display().to_string());
            assert!(!message.is_empty() && !message.contains(char::is_control), "{message:?}");
            let rest = message.replace(&path, "");
            assert!(rest.len() < 200, "it quotes what it found: {message}");
            return;
        }
    };
    let incident = &kept.incident;
    let written = serde_json::to_vec(incident).expect("incidents have only text and numbers");
    let again: Incident = serde_json::from_slice(&written).expect("what is written can be read");
    assert!(again == *incident, "it changes while it is written");
    if let Some(failure) = incident.failure() {
        assert!(!failure.signature().is_empty());
        let _ = failure.to_string();
    }
    let _ = (incident.stdin(), incident.sockets().count());
    for file in incident.files() {
        // Whatever a file is called, its bytes are looked for in the incident's own folder.
        if let Some(stored) = &file.stored {
            assert_eq!(kept.data_path(stored).parent(), Some(folder.join("data").as_path()));
            assert!(kept.data(stored).is_err(), "there is no data");
        }
    }
}
