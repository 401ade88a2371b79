//! Where a run takes place: a fresh copy of the fixture, a fixed environment, the words to start.
//!
//! Both runs of a comparison see the same folder under the same path, so that a program that
//! prints its path prints the same. Times and modes of the fixture are fixed. Nothing else of the
//! surroundings reaches the program: the environment is made here, from nothing.

use std::fs::{self, File, FileTimes, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::{Duration, SystemTime};

use crate::own;
use crate::table::{Command, Run};

/// The first second of 2020: the time of every file of the fixture.
const TIME: Duration = Duration::from_secs(1_577_836_800);

/// A run that is ready to start.
pub struct Place {
    /// The fresh folder, in which the program starts.
    pub folder: PathBuf,
    /// The program's full path.
    pub program: PathBuf,
    /// All words of the command, the program's full path first.
    pub words: Vec<String>,
    /// The whole environment.
    pub environment: Vec<(String, String)>,
    /// The file that is standard input, if it is not empty.
    pub stdin: Option<PathBuf>,
}

/// The folder of this test in the project.
pub fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs")
}

/// Where tests may write.
pub fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs")
}

/// The folder of the subjects in the project.
fn subjects() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects")
}

/// The program of a subject, which is built beforehand: that takes minutes.
fn subject(run: &Run) -> Result<PathBuf, String> {
    let (_, program) = run.subject.as_ref().ok_or("`@` is neither our own nor a subject")?;
    let program = program.as_ref().ok_or("the subject has no program of its own")?;
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().ok_or("no target folder")?;
    let path = target.join("subjects/bin").join(program);
    let absent = || format!("{} is absent: `cargo xtask subjects` builds it", path.display());
    path.exists().then(|| path.clone()).ok_or_else(absent)
}

/// Makes everything ready; `side` keeps tests that run at the same time apart.
pub fn prepare(run: &Run, side: &str) -> Result<Place, String> {
    let folder = scratch().join(side).join(&run.name);
    let mut words = match &run.command {
        Command::Words(words) => words.clone(),
        Command::Script(script) => vec!["sh".to_string(), "-c".to_string(), script.clone()],
    };
    let program = match (&run.own, words[0].as_str()) {
        (Some((source, flags)), "@") => own::build(source, flags)?,
        (None, "@") => subject(run)?,
        _ => find(&words[0], &run.packages)?,
    };
    words[0] = program.to_string_lossy().into_owned();
    let place = Place {
        words,
        environment: environment(&folder),
        stdin: run.stdin.as_ref().map(|name| folder.join(name)),
        program,
        folder,
    };
    refresh(run, &place)
        .map_err(|error| format!("preparing {}: {error}", place.folder.display()))?;
    Ok(place)
}

/// Empties the folder and fills it anew.
pub fn refresh(run: &Run, place: &Place) -> io::Result<()> {
    if place.folder.exists() {
        open_up(&place.folder)?;
        fs::remove_dir_all(&place.folder)?;
    }
    let files = match &run.subject {
        Some((folder, _)) => subjects().join(folder).join("inputs"),
        None => home().join("fixture"),
    };
    copy(&files, &place.folder)?;
    if let Some(script) = &run.before {
        let status = Process::new("/bin/sh")
            .args(["-c", script])
            .env_clear()
            .envs(place.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(&place.folder)
            .stdin(Stdio::null())
            .status()?;
        if !status.success() {
            return Err(io::Error::other(format!("`{script}` failed")));
        }
    }
    Ok(())
}

/// The one environment of all runs.
fn environment(folder: &Path) -> Vec<(String, String)> {
    let folder = folder.to_string_lossy().into_owned();
    [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", &folder),
        ("PWD", &folder),
        ("LC_ALL", "C.UTF-8"),
        ("TZ", "UTC"),
        ("TERM", "dumb"),
        ("SHELL", "/bin/sh"),
        ("SOURCE_DATE_EPOCH", "1577836800"),
        ("PERL_HASH_SEED", "0"),
        ("PYTHONHASHSEED", "0"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_OPTIONAL_LOCKS", "0"),
        ("GIT_PAGER", "cat"),
        // The mathematics of a baseline processor: with FMA the last bit of some results differs.
        ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-SSE4_1"),
    ]
    .map(|(name, value)| (name.to_string(), value.to_string()))
    .to_vec()
}

/// The program's path, as `PATH` gives it.
fn find(name: &str, packages: &[String]) -> Result<PathBuf, String> {
    let candidates = if name.contains('/') {
        vec![PathBuf::from(name)]
    } else {
        vec![Path::new("/usr/bin").join(name), Path::new("/bin").join(name)]
    };
    candidates.into_iter().find(|path| path.exists()).ok_or_else(|| {
        let packages = packages.join(" ");
        format!("there is no `{name}`: `cargo xtask test` installs it (apt-get install {packages})")
    })
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy(&source, &target)?;
        } else {
            fs::copy(&source, &target)?;
            let name = entry.file_name();
            let runs =
                [".sh", ".elf", ".so"].iter().any(|end| name.to_string_lossy().ends_with(end));
            date(&target, if runs { 0o755 } else { 0o644 })?;
        }
    }
    date(to, 0o755)
}

fn date(path: &Path, mode: u32) -> io::Result<()> {
    fs::set_permissions(path, Permissions::from_mode(mode))?;
    let time = SystemTime::UNIX_EPOCH + TIME;
    File::open(path)?.set_times(FileTimes::new().set_accessed(time).set_modified(time))
}

/// Makes folders writable again, so that they can be removed.
fn open_up(folder: &Path) -> io::Result<()> {
    fs::set_permissions(folder, Permissions::from_mode(0o755))?;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_up(&entry.path())?;
        }
    }
    Ok(())
}
