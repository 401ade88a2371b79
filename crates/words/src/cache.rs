//! Words that were found before, by build-id, in a folder for the user alone.
//!
//! What always holds: the cache has what is in files of programs, and nothing of an input. A cache that cannot be
//! read or written is none: the words are found again.

use std::fs::{self, DirBuilder};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use object::Object;

use crate::VERSION;
use crate::extract::words_in;

/// A file that is read in no time is not worth a cache.
const SMALL: usize = 1 << 18;
/// A file is not searched beyond this.
const LARGEST: u64 = 1 << 28;

/// Where words are kept.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// The user's own: `$XDG_CACHE_HOME/stunt/words-1`, by default in `~/.cache`.
    #[must_use]
    pub fn of_user() -> Cache {
        let absolute =
            |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
        let base =
            absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|it| it.join(".cache")));
        Cache { folder: base.map(|it| it.join("stunt").join(format!("words-{VERSION}"))) }
    }

    /// In a folder.
    #[must_use]
    pub fn within(folder: &Path) -> Cache {
        Cache { folder: Some(folder.to_owned()) }
    }

    /// None.
    #[must_use]
    pub fn none() -> Cache {
        Cache::default()
    }

    /// The words of a file; none if it cannot be read.
    #[must_use]
    pub fn words(&self, file: &Path) -> Vec<Vec<u8>> {
        if fs::metadata(file).map_or(true, |it| it.len() > LARGEST) {
            return Vec::new();
        }
        let Ok(bytes) = fs::read(file) else { return Vec::new() };
        let name = if bytes.len() > SMALL { self.place(&bytes) } else { None };
        if let Some(kept) = name.as_ref().and_then(|name| fs::read(name).ok()) {
            return kept.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        }
        let words = words_in(&bytes);
        if let Some(name) = name {
            // Without a cache it takes longer, and that is all.
            let _ = keep(&name, &words.join(&b'\n'));
        }
        words
    }

    fn place(&self, bytes: &[u8]) -> Option<PathBuf> {
        let object = object::File::parse(bytes).ok()?;
        let id = object.build_id().ok()??;
        let digits: String = id.iter().take(32).map(|byte| format!("{byte:02x}")).collect();
        // A build-id may be forged or reused; a file of another length is another one.
        Some(self.folder.as_ref()?.join(format!("{digits}-{}", bytes.len())))
    }
}

fn keep(name: &Path, words: &[u8]) -> std::io::Result<()> {
    let folder = name.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let draft = folder.join(format!(".{}.part", std::process::id()));
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    file.write_all(words)?;
    drop(file);
    fs::rename(&draft, name)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_was_kept_is_what_is_found() {
        let folder = std::env::temp_dir().join(format!("stunt-words-{}", std::process::id()));
        let cache = Cache::within(&folder.join("words"));
        let file = std::env::current_exe().unwrap();
        let (first, second, fresh) =
            (cache.words(&file), cache.words(&file), Cache::none().words(&file));
        assert!(!first.is_empty() && first == second && first == fresh);
        if let Ok(made) = fs::metadata(folder.join("words")) {
            assert_eq!(made.permissions().mode() & 0o777, 0o700);
        }
        let _ = fs::remove_dir_all(&folder);
    }
}
