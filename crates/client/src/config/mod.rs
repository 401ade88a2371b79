//! The configuration: three TOML files, read into settings that hold.
//!
//! The system's, the user's and the project's; who may set what is in [`Key`], what holds if more
//! than one sets it in [`Settings`]. Everything that is wrong is found at once, with its line.
//!
//! Always: a file with a problem is not half believed. Whoever wants to send something stops at
//! the first problem; only `stunt config` goes on.

mod file;
mod key;
mod settings;
mod suggest;
mod value;

use std::env;
use std::path::{Path, PathBuf};

pub use file::{Entry, File, Layer, Trouble};
pub use key::{KEYS, Key, Reach};
pub use settings::{Destination, Origin, Setting, Settings};
pub use value::{Ceiling, NO_PROXY, Secret, Shape, Value, ceiling, without_password};

/// The administrator's file.
const SYSTEM: &str = "/etc/stunt/config.toml";
/// The name of a project's file.
const PROJECT: &str = ".stunt.toml";

/// Where the files are, whether they exist or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Places {
    /// The administrator's.
    pub system: PathBuf,
    /// The user's; `None` where there is no home folder.
    pub user: Option<PathBuf>,
    /// The project's, if a folder on the way up has one.
    pub project: Option<PathBuf>,
}

impl Places {
    /// Where the files are for whoever runs this process.
    pub fn usual() -> Places {
        let current = env::current_dir().ok();
        let upwards = current.as_deref().map(Path::ancestors).into_iter().flatten();
        let project = upwards.map(|folder| folder.join(PROJECT)).find(|file| file.is_file());
        Places {
            system: PathBuf::from(SYSTEM),
            user: base_folder("XDG_CONFIG_HOME", ".config")
                .map(|folder| folder.join("stunt/config.toml")),
            project,
        }
    }
}

/// A folder of the XDG Base Directory Specification: what the variable says if that is absolute,
/// otherwise its usual place in the home folder.
pub fn base_folder(variable: &str, usual: &str) -> Option<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|it| it.is_absolute());
    absolute(variable).or_else(|| absolute("HOME").map(|home| home.join(usual)))
}

/// What was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The files that are there.
    pub files: Vec<File>,
    /// What holds.
    pub settings: Settings,
    /// Everything that is wrong.
    pub troubles: Vec<Trouble>,
}

/// Some file has a problem.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the configuration cannot be used:\n{}", lines(.0))]
pub struct Unusable(pub Vec<Trouble>);

fn lines(troubles: &[Trouble]) -> String {
    troubles.iter().map(|trouble| format!("  {trouble}")).collect::<Vec<_>>().join("\n")
}

/// Reads the files.
pub fn load(places: &Places) -> Loaded {
    let mut troubles = Vec::new();
    let layers = [
        (Layer::System, Some(&places.system)),
        (Layer::User, places.user.as_ref()),
        (Layer::Project, places.project.as_ref()),
    ];
    let mut files = Vec::new();
    for (layer, path) in layers {
        let mut own = Vec::new();
        files.extend(path.and_then(|path| file::read(layer, path, &mut own)));
        troubles.extend(own);
    }
    Loaded { settings: Settings::merged(&files), files, troubles }
}

/// The settings of whoever runs this process, if nothing is wrong with any file.
pub fn settings() -> Result<Settings, Unusable> {
    let loaded = load(&Places::usual());
    if loaded.troubles.is_empty() { Ok(loaded.settings) } else { Err(Unusable(loaded.troubles)) }
}
