//! The worker: takes replays, does each in a process of its own that is closed off, and writes down
//! what came of it.
//!
//! Always: the program of a build runs in the machine, inside a process that has closed itself off,
//! in a folder that is thrown away. The server itself never reads what a run wrote beyond a limit,
//! and ends the whole group of processes when time is up.
#![allow(unsafe_code)] // One system call without a safe interface; with its proof.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde::Deserialize;
use stunt_report::{Report, visible};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, Command};
use tokio::sync::watch;

use crate::App;
use crate::error::Error;
use crate::store::{Figure, Job, Outcome, ReplayFrame, ReplayResult};

/// How often the worker looks for a job.
const LOOK: Duration = Duration::from_millis(500);
/// The most that is read of what a worker says.
const MOST: u64 = 4 << 20;
/// The most of a program's output that is kept.
const OUTPUT: usize = 64 << 10;

/// How replays are done.
#[derive(Clone, Debug)]
pub struct Worker {
    /// The program that closes itself off and replays: `stunt serve worker`.
    pub program: PathBuf,
    /// Seconds that a run may take.
    pub seconds: u64,
    /// Bytes of memory that the replayed program may use.
    pub memory: u64,
}

/// Does replays, one after the other, until it is told to stop.
pub async fn replays(
    app: App,
    worker: Worker,
    scratch: PathBuf,
    mut stopped: watch::Receiver<bool>,
) {
    let name = format!("{}-{}", std::process::id(), &crate::store::random_name()[..8]);
    let lease = Duration::from_secs(worker.seconds * 2 + 120);
    loop {
        let job = app.store().take_job(&name, lease).await;
        let found = match job {
            Ok(Some(job)) => {
                let begun = Instant::now();
                let result = tokio::select! {
                    result = one(&app, &worker, &scratch, &job) => Some(result),
                    _ = stopped.wait_for(|stop| *stop) => None,
                };
                let Some(result) = result else {
                    // If this fails, another server takes the job when the lease is over.
                    if let Err(error) = app.store().release_job(job.replay, &name).await {
                        tracing::error!(%error, "giving a replay back");
                    }
                    return;
                };
                let mut result = result.unwrap_or_else(|error| {
                    tracing::error!(%error, "a replay");
                    ReplayResult::untried("the server failed; its log says why")
                });
                result.seconds = begun.elapsed().as_secs_f64();
                if let Err(error) = app.store().finish_job(job.replay, Some(&name), &result).await {
                    tracing::error!(%error, "the result of a replay");
                }
                app.metrics().replays.fetch_add(1, Ordering::Relaxed);
                true
            }
            Ok(None) => false,
            Err(error) => {
                tracing::error!(%error, "looking for replays");
                false
            }
        };
        if !found {
            tokio::select! {
                _ = stopped.wait_for(|stop| *stop) => return,
                () = tokio::time::sleep(LOOK) => {}
            }
        }
    }
}

/// A folder that goes away.
struct Scratch(PathBuf);

impl Scratch {
    fn new(within: &Path) -> Result<Scratch, Error> {
        use std::os::unix::fs::DirBuilderExt;
        let path = within.join(crate::store::random_name());
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| Error::File { path: path.clone(), error })?;
        // A program finds itself by a path without links and dots.
        let path = path.canonicalize().map_err(|error| Error::File { path, error })?;
        Ok(Scratch(path))
    }

    fn write(&self, name: &str, data: &[u8], mode: u32) -> Result<PathBuf, Error> {
        use std::io::Write;
        use std::os::unix::fs::OpenOptionsExt;
        let path = self.0.join(name);
        let file = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&path);
        file.and_then(|mut file| file.write_all(data))
            .map_err(|error| Error::File { path: path.clone(), error })?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays behind is swept with the folder around it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn one(app: &App, worker: &Worker, scratch: &Path, job: &Job) -> Result<ReplayResult, Error> {
    let build = match app.store().build(&job.build_id).await {
        Err(Error::NotFound(_)) => return Ok(ReplayResult::untried("the build was removed")),
        build => build?,
    };
    let Some(file) = app.store().report_file(&job.double).await? else {
        return Ok(ReplayResult::untried("the double was dropped for a better one"));
    };
    let program = app.store().build_file(&build).await?;
    let limits = stunt_report::Limits {
        file: file.len() as u64,
        json: 1 << 20,
        doubles: app.limits().unpacked as u64,
    };
    let Ok(report) = Report::check(&file, limits) else {
        return Ok(ReplayResult::untried("the report cannot be read by this version"));
    };
    let name = &report.program.name;
    let plain = |c: char| c != '/' && c != '\0';
    if name.is_empty() || name == "." || name == ".." || !name.chars().all(plain) {
        return Ok(ReplayResult::untried("the report names no program"));
    }
    let folder = Scratch::new(scratch)?;
    let within = Scratch::new(&folder.0)?;
    folder.write("report.stunt", &file, 0o400)?;
    // The report's arguments go with the program of the report's name in the folder.
    std::fs::create_dir(folder.0.join("program"))
        .map_err(|error| Error::File { path: folder.0.clone(), error })?;
    if folder.write(&format!("program/{name}"), &program, 0o500).is_err() {
        return Ok(ReplayResult::untried("the program's name cannot be a file here"));
    }
    let child = Command::new(&worker.program)
        .args(["serve", "worker", "--seconds", &worker.seconds.to_string()])
        .args(["--address-space", &worker.memory.to_string()])
        .args(["--timeout", &worker.seconds.to_string()])
        .args(["--memory", &worker.memory.to_string()])
        .arg(&folder.0)
        .current_dir(folder.0.join("program"))
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LANG", "C.UTF-8")
        .env("HOME", &within.0)
        .env("TMPDIR", &within.0)
        .env("XDG_RUNTIME_DIR", &within.0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn();
    let child = child.map_err(|error| Error::File { path: worker.program.clone(), error })?;
    let patience = Duration::from_secs(worker.seconds * 2 + 60);
    Ok(watch(child, patience).await)
}

/// Ends the group when it goes out of scope.
struct Group(i32);

impl Drop for Group {
    fn drop(&mut self) {
        // SAFETY: no memory is involved. The group is that of a child which is not waited for
        // before this, so its number is not somebody else's.
        unsafe { libc::kill(-self.0, libc::SIGKILL) };
    }
}

/// Waits for the worker, and reads what it says: how the run ended, and then what the double reveals.
/// The first is worth something without the second.
async fn watch(mut child: Child, patience: Duration) -> ReplayResult {
    let group = child.id().and_then(|id| i32::try_from(id).ok()).map(Group);
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (mut said, mut complained) = (Vec::new(), Vec::new());
    let read = async {
        let out = async {
            if let Some(stdout) = stdout {
                let _ = stdout.take(MOST).read_to_end(&mut said).await;
            }
        };
        let err = async {
            if let Some(stderr) = stderr {
                let _ = stderr.take(MOST).read_to_end(&mut complained).await;
            }
        };
        tokio::join!(out, err);
    };
    let in_time = tokio::time::timeout(patience, read).await.is_ok();
    drop(group);
    let status = child.wait().await;
    let message = shown(&complained);
    let mut lines = said.split(|&byte| byte == b'\n');
    match lines.next().map(serde_json::from_slice::<Said>) {
        Some(Ok(said)) => {
            let counted = lines.next().map(serde_json::from_slice::<Counted>);
            said.result(message, counted.and_then(Result::ok))
        }
        _ if !in_time => ReplayResult::untried("the replay did not end in time"),
        _ => {
            let why = status.map_or_else(|error| error.to_string(), |status| status.to_string());
            let why = if message.is_empty() { format!("the worker ended: {why}") } else { message };
            ReplayResult::untried(&why)
        }
    }
}

/// The beginning of some text, with what cannot be seen escaped.
fn shown(bytes: &[u8]) -> String {
    let part = &bytes[..bytes.len().min(OUTPUT)];
    let text = String::from_utf8_lossy(part);
    let lines: Vec<String> = text.lines().map(visible).collect();
    lines.join("\n")
}

/// What a worker prints in its second line.
#[derive(Deserialize)]
struct Counted {
    /// What the double's path reveals.
    bits: Option<f64>,
    /// Why that is not known.
    #[serde(default)]
    why: String,
}

/// What a worker prints in its first line.
#[derive(Deserialize)]
struct Said {
    same: bool,
    #[serde(default)]
    another_build: bool,
    ending: String,
    failure: Option<SaidFailure>,
    #[serde(default)]
    stdout: String,
    #[serde(default)]
    stderr: String,
}

#[derive(Deserialize)]
struct SaidFailure {
    words: String,
    #[serde(default)]
    frames: Vec<ReplayFrame>,
}

impl Said {
    fn result(self, message: String, counted: Option<Counted>) -> ReplayResult {
        let outcome = match (self.same, self.another_build, &self.failure) {
            (true, false, _) => Outcome::Same,
            (true, true, _) => Outcome::SameInAnotherBuild,
            (false, _, Some(_)) => Outcome::Different,
            (false, _, None) => Outcome::NoFailure,
        };
        let (failure, frames) = match self.failure {
            Some(failure) => (Some(visible(&failure.words)), failure.frames),
            None => (None, Vec::new()),
        };
        let figure = match (outcome == Outcome::Same, counted) {
            (false, _) => None,
            (true, Some(Counted { bits: Some(bits), .. })) => Some(Figure::Counted(bits)),
            (true, Some(Counted { bits: None, why })) => Some(Figure::Uncounted(visible(&why))),
            (true, None) => Some(Figure::Uncounted("it takes too long, or too much".to_owned())),
        };
        ReplayResult {
            figure,
            outcome,
            ending: Some(visible(&self.ending)),
            failure,
            frames,
            stdout: shown(self.stdout.as_bytes()),
            stderr: shown(self.stderr.as_bytes()),
            message,
            seconds: 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_says_becomes_a_result() {
        let text = r#"{"same": false, "ending": "exited with status 0", "failure": null,
            "stdout": "a\u001b[2Jb\nc", "expected": {"words": "x"}}"#;
        let result = serde_json::from_str::<Said>(text).unwrap().result(String::new(), None);
        assert_eq!(result.outcome, Outcome::NoFailure);
        assert_eq!(result.figure, None);
        assert!(!result.stdout.contains('\u{1b}'));
        assert!(result.stdout.contains('\n'));
    }

    #[tokio::test]
    async fn a_worker_that_does_not_end_is_ended_with_its_children() {
        let folder = std::env::temp_dir().join(crate::store::random_name());
        std::fs::create_dir(&folder).unwrap();
        let script = "sleep 1000 & echo $! > child; wait";
        let child = Command::new("/bin/sh")
            .args(["-c", script])
            .current_dir(&folder)
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap();
        let result = watch(child, Duration::from_secs(2)).await;
        assert_eq!(result.outcome, Outcome::Untried);
        let id = std::fs::read_to_string(folder.join("child")).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        // Nobody waits for an orphan at once.
        for _ in 0..200 {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.trim()));
            if stat.is_err() || stat.is_ok_and(|stat| stat.contains(") Z ")) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the worker's child lives on");
    }
}
