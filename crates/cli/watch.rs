//! `stunt watch`: incidents of programs that crashed without being recorded, from the system's list.
//!
//! Where systemd keeps core files, `coredumpctl` tells which program crashed when; nothing about how
//! the system handles crashes is changed. What the program read is not known: an incident names the
//! program, and has copies of small files that its arguments name by absolute paths. What was seen
//! once is not told again. Always: crashes of other users are passed over, and so are programs that
//! others could have put there, because an incident's program is run later.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use stunt_path::Private;
use stunt_record::{
    Copied, Draft, FailedIn, Incident, LARGEST_FILE, Maker, NotedEnding, NotedFailure, NotedFile,
    Schema, Source, State, Store, Word, own_program, program, user,
};
use stunt_report::quoted;

use crate::outcome::{Outcome, print};

/// Flags of `stunt watch`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The programs to look for: names, or paths
    #[arg(required = true, value_name = "PROGRAM", env = "STUNT_WATCH", value_delimiter = ':')]
    programs: Vec<PathBuf>,
    /// Look once, and end
    #[arg(long)]
    once: bool,
    /// Also take crashes from before stunt watched for the first time
    #[arg(long)]
    all: bool,
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
}

/// A line of the system's list.
#[derive(Debug, Deserialize)]
struct Crash {
    /// Microseconds since 1970.
    time: u64,
    pid: i64,
    /// Whose it was; a list that does not say it is of no use.
    uid: Option<u32>,
    sig: u8,
    exe: Option<PathBuf>,
}

/// Watches.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let store = Store::of_user()?;
    let mark = store.folder().with_file_name("watched");
    loop {
        for id in look(arguments, &store, &mark)? {
            print(format!("{id}\n").as_bytes())?;
        }
        if arguments.once {
            return Ok(Outcome::Done);
        }
        std::thread::sleep(Duration::from_secs(arguments.every));
    }
}

/// Makes incidents of what is new; says which.
fn look(arguments: &Arguments, store: &Store, mark: &Path) -> Result<Vec<String>> {
    let crashes = listed()?;
    let seen = match fs::read_to_string(mark) {
        Ok(text) => text.trim().parse().context("the file `watched` was changed; remove it")?,
        // The first time: what happened before is over.
        Err(_) if arguments.all => 0,
        Err(_) => crashes.iter().map(|crash| crash.time).max().unwrap_or(0),
    };
    let wanted = |crash: &&Crash| {
        crash.time > seen
            && crash.uid == Some(user())
            && crash.exe.as_deref().is_some_and(|exe| {
                arguments
                    .programs
                    .iter()
                    .any(|it| it == exe || Some(it.as_os_str()) == exe.file_name())
            })
    };
    let mut made = Vec::new();
    for crash in crashes.iter().filter(wanted) {
        if let Some(exe) = &crash.exe
            && let Err(why) = own_program(exe)
        {
            eprintln!("stunt: a crash of {} is passed over: {why}", quoted(exe.as_os_str()));
            continue;
        }
        let kept = store.create(&draft(crash))?;
        made.push(kept.incident.id);
    }
    let latest = crashes.iter().map(|crash| crash.time).max().unwrap_or(0).max(seen);
    if let Some(folder) = mark.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot use {}", folder.display()))?;
    }
    fs::write(mark, format!("{latest}\n"))
        .with_context(|| format!("cannot write {}", mark.display()))?;
    Ok(made)
}

/// Asks the system; standard output, if there was anything to tell.
fn ask(arguments: &[&str]) -> Result<Option<Vec<u8>>> {
    let output = Command::new("coredumpctl")
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    match output {
        Ok(output) if output.status.success() => Ok(Some(output.stdout)),
        // It exits so when there is no crash.
        Ok(_) => Ok(None),
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "this system has no coredumpctl, which lists crashes where systemd keeps core files; \
             start the program with `stunt record`, or use the crate stunt-hook in a Rust program"
        ),
        Err(error) => Err(error).context("cannot start coredumpctl"),
    }
}

fn listed() -> Result<Vec<Crash>> {
    let Some(text) = ask(&["list", "--json=short", "--no-pager"])? else { return Ok(Vec::new()) };
    serde_json::from_slice(&text)
        .context("coredumpctl printed a list that stunt does not understand")
}

/// The words by which a crashed program was called, as far as the system tells them.
fn words(crash: &Crash) -> Result<Vec<String>> {
    // Numbers of processes come again; that of another user's is not meant.
    let (pid, own) = (crash.pid.to_string(), format!("COREDUMP_UID={}", user()));
    let text = ask(&["info", "--no-pager", &pid, &own])?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix("Command Line:"));
    Ok(line.unwrap_or_default().split_whitespace().map(str::to_owned).collect())
}

fn draft(crash: &Crash) -> Draft {
    let exe = crash.exe.clone().unwrap_or_default();
    let words = words(crash).unwrap_or_default();
    let (name, arguments) =
        words.split_first().map_or((String::new(), &[][..]), |(name, rest)| (name.clone(), rest));
    let signal = stunt_path::signal_name(crash.sig);
    let failure = NotedFailure {
        kind: "signal".to_owned(),
        signal: Some(crash.sig),
        condition: None,
        // The stack is in the core file, which is not looked at.
        signature: String::new(),
        words: signal.map_or_else(|| format!("signal {}", crash.sig), str::to_owned),
        frames: Vec::new(),
    };
    let incident = Incident {
        schema: Schema,
        id: String::new(),
        made: crash.time / 1_000_000,
        maker: Maker::Watch,
        program: program(&exe),
        name: Word::from(name.as_str()),
        arguments: arguments.iter().map(|it| Word::from(it.as_str())).collect(),
        folder: Word::from("/"),
        environment: Vec::new(),
        sources: Vec::new(),
        ending: NotedEnding::Signal(crash.sig),
        failed_in: FailedIn::First,
        failure: Some(failure),
        fails_if: None,
        request: None,
        state: State::Pending,
        notes: vec![
            "It was not recorded: standard input and connections are not known.".to_owned(),
            "Arguments are as coredumpctl prints them, cut at spaces.".to_owned(),
        ],
    };
    let mut draft = Draft { incident, data: Vec::new() };
    let files = arguments.iter().map(PathBuf::from).filter(|path| path.is_absolute());
    for path in files {
        let Ok(data) = fs::metadata(&path) else { continue };
        if !data.is_file() {
            continue;
        }
        let bytes = (data.len() <= LARGEST_FILE).then(|| fs::read(&path).ok()).flatten();
        let copied = match (&bytes, data.len() > LARGEST_FILE) {
            (Some(_), _) => Copied::AsOpened,
            (None, true) => Copied::TooLarge,
            (None, false) => Copied::Unreadable,
        };
        let stored = bytes.map(|bytes| draft.store(Private::new(bytes)));
        draft.incident.sources.push(Source::File(NotedFile {
            path: path.into(),
            bytes: data.len(),
            modified: None,
            written: false,
            copied,
            stored,
        }));
    }
    draft
}
