//! A browser: started, watched, ended.
//!
//! Always: a profile is a folder for the user alone and goes with the browser; so do all its processes, which end
//! when their pipe is closed.

use std::fs::{self, DirBuilder};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::Error;
use super::wire::Wire;

/// Without a window first: a fresh context takes it a fifth of the time that a whole browser needs.
const HEADLESS: [&str; 4] = [
    "/usr/lib/chromium/chromium-headless-shell",
    "chromium-headless-shell",
    "chrome-headless-shell",
    "/usr/lib/chromium/chromium",
];
/// With a window.
const WHOLE: [&str; 4] =
    ["/usr/lib/chromium/chromium", "chromium", "google-chrome-stable", "google-chrome"];

const FLAGS: [&str; 17] = [
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-quic",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-default-browser-check",
    "--no-first-run",
    "--mute-audio",
    "--password-store=basic",
];

/// How long it may take to end when asked to.
const PATIENCE: Duration = Duration::from_secs(2);

static PROFILES: AtomicU32 = AtomicU32::new(0);

/// Whether anybody sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// Nobody does.
    Headless,
    /// In a window.
    Window,
}

/// A running browser.
pub struct Browser {
    child: Child,
    wire: Arc<Wire>,
    profile: PathBuf,
}

impl Browser {
    /// Starts one. `program` is tried in place of the usual ones.
    ///
    /// # Errors
    /// There is none, or it does not start.
    pub fn start(look: Look, program: Option<&Path>) -> Result<Self, Error> {
        let number = PROFILES.fetch_add(1, Ordering::Relaxed);
        let name = format!("stunt-gui-{}-{number}", std::process::id());
        let profile = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&profile).map_err(Error::Start)?;
        let usual: &[&str] = if look == Look::Window { &WHOLE } else { &HEADLESS };
        let programs: Vec<PathBuf> = match program {
            Some(program) => vec![program.to_owned()],
            None => usual.iter().map(PathBuf::from).collect(),
        };
        let found = programs.iter().find_map(|it| found(it));
        let started = found.ok_or(Error::Absent).and_then(|it| start(&it, look, &profile));
        match started {
            Ok((child, wire)) => Ok(Self { child, wire, profile }),
            Err(error) => {
                // It is empty.
                let _ = fs::remove_dir_all(&profile);
                Err(error)
            }
        }
    }

    pub(super) fn wire(&self) -> &Arc<Wire> {
        &self.wire
    }

    /// Whether it has ended.
    pub fn is_gone(&self) -> bool {
        self.wire.is_gone()
    }

    /// Its name and version.
    ///
    /// # Errors
    /// It does not answer.
    pub fn version(&self) -> Result<String, Error> {
        let version = self.wire.call("Browser.getVersion", &json!({}))?;
        Ok(version["product"].as_str().unwrap_or("Chromium").to_owned())
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // One that does not answer is ended below.
        let (sender, _) = std::sync::mpsc::channel();
        let _ = self.wire.send(None, "Browser.close", &json!({}), sender);
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Its helpers may still write for a moment.
        for _ in 0..20 {
            if fs::remove_dir_all(&self.profile).is_ok() || !self.profile.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
    }
}

/// The program's path, if it is there.
fn found(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.is_file().then(|| program.to_owned());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|it| it.is_file())
}

fn start(program: &Path, look: Look, profile: &Path) -> Result<(Child, Arc<Wire>), Error> {
    // The protocol's pipes are 3 and 4; a shell puts them there.
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"]);
    command.arg(program).args(FLAGS).arg(format!("--user-data-dir={}", profile.display()));
    if look == Look::Headless {
        command.args(["--headless", "--hide-scrollbars"]);
    }
    if is_root() {
        // Its sandbox does not work for root.
        command.arg("--no-sandbox");
    }
    command.arg("about:blank").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(Error::Start)?;
    let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(Error::Gone);
    };
    Ok((child, Wire::new(to, from)))
}

/// Whose process this is, without a call to the C library.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_that_is_absent_is_named_with_its_package() {
        let absent = Browser::start(Look::Headless, Some(Path::new("/no/such/browser")));
        let error = absent.err().expect("it cannot start");
        assert!(error.to_string().contains("chromium-headless-shell"), "{error}");
    }

    #[test]
    fn what_is_no_browser_ends_and_says_so() {
        let other = Browser::start(Look::Headless, Some(Path::new("/bin/true"))).expect("it runs");
        assert!(matches!(other.version(), Err(Error::Gone)));
    }
}
