//! Runs commands, one thread to follow each, and reads what they print meanwhile.
//!
//! A [`Native`] keeps what it learns about files, and may be shared by threads. The thread that
//! calls reads output and looks at the clock; the one that follows does nothing else, because only
//! the thread that started a process can follow it, and it must not wait for others' children.

use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use stunt_path::Failure;

use crate::check::check;
use crate::command::{Command, Stdin};
use crate::error::Error;
use crate::files::Files;
use crate::follow::Follow;
use crate::os;
use crate::run::{Ending, Private, Run};
use crate::start::{Plan, start};

/// Processor time that all threads of a run together may have, as a multiple of its time.
const PROCESSORS: u64 = 16;

/// Runs programs on the host.
pub struct Native {
    files: Files,
}

impl Default for Native {
    fn default() -> Self {
        Self::new()
    }
}

/// What the thread that follows tells the one that waits, once the program runs.
struct Started {
    process: OwnedFd,
}

impl Native {
    /// A runner that knows no file yet.
    #[must_use]
    pub fn new() -> Self {
        Self { files: Files::new() }
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// The program cannot be run or followed here. A program that fails is no error.
    pub fn run(&self, command: &Command) -> Result<Run, Error> {
        check(&command.program)?;
        let path = || command.program.clone();
        let follow_error = |source| Error::Follow { path: path(), source };
        let (mut stdout, stdout_end) = io::pipe().map_err(follow_error)?;
        let (mut stderr, stderr_end) = io::pipe().map_err(follow_error)?;
        // Nothing is written to this one: it is at its end when the other thread is done.
        let (done, not_done) = io::pipe().map_err(follow_error)?;
        let (plan, stdin) = (plan(command)?, stdin(command)?);
        let ends = [stdin, stdout_end.into(), stderr_end.into()];
        let (sender, receiver) = channel();
        let start = Instant::now();
        thread::scope(|scope| {
            let followed = scope.spawn(move || {
                let result = self.follow(command, &plan, ends, &sender);
                drop(not_done);
                result
            });
            let limits = (start, command.time, command.output);
            let heard = listen(limits, &receiver, &mut stdout, &mut stderr, &done);
            let (ending, failure) = followed.join().unwrap_or_else(|panic| {
                std::panic::resume_unwind(panic);
            })?;
            let duration = start.elapsed();
            let Heard { stdout, stderr, expired } = heard.map_err(follow_error)?;
            let (stdout, stderr) = (Private::new(stdout), Private::new(stderr));
            let (ending, failure) =
                if expired { (Ending::TimedOut, None) } else { (ending, failure) };
            Ok(Run { ending, failure, stdout, stderr, duration })
        })
    }

    /// Starts a process and follows it to its end, in a thread that does only this.
    fn follow(
        &self,
        command: &Command,
        plan: &Plan,
        ends: [OwnedFd; 3],
        sender: &Sender<Started>,
    ) -> Result<(Ending, Option<Failure>), Error> {
        let path = || command.program.clone();
        let first = start(plan, [0, 1, 2].map(|at: usize| ends[at].as_fd()));
        let first = first.map_err(|source| match source.raw_os_error() {
            Some(libc::EPERM) => Error::NotPermitted,
            _ => Error::Start { path: path(), source },
        })?;
        // The pipes' other ends are the program's alone from now on.
        drop(ends);
        let error = |source| Error::Follow { path: path(), source };
        let follow = Follow::new(&self.files, first, command.tasks).map_err(|source| {
            // Nobody has waited for it: the number is still its own.
            os::kill(first);
            let _ = os::wait(Some(first));
            error(source)
        })?;
        // Without a handle nobody could end the run in time.
        match os::handle(first) {
            Ok(process) => {
                // If the other side is gone, so is this thread soon.
                let _ = sender.send(Started { process });
            }
            Err(source) => {
                os::kill(first);
                let _ = follow.finish();
                return Err(error(source));
            }
        }
        follow.finish().map_err(error)
    }
}

/// What was printed, and whether the time was over.
struct Heard {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    expired: bool,
}

/// Reads both outputs until the run is over, and ends it when its time is.
fn listen(
    (start, time, most): (Instant, Duration, usize),
    started: &Receiver<Started>,
    stdout: &mut PipeReader,
    stderr: &mut PipeReader,
    done: &PipeReader,
) -> io::Result<Heard> {
    let mut heard = Heard { stdout: Vec::new(), stderr: Vec::new(), expired: false };
    let (mut more_stdout, mut more_stderr) = (true, true);
    let mut buffer = vec![0; 64 << 10];
    loop {
        let left = time.saturating_sub(start.elapsed());
        if left.is_zero() && !heard.expired {
            heard.expired = true;
            // Until it has started there is nothing to end; starting takes no time to speak of.
            match started.recv() {
                Ok(started) => os::kill_by_handle(&started.process),
                Err(_) => heard.expired = false,
            }
        }
        let wait = if left.is_zero() { Duration::from_secs(3600) } else { left };
        let ends = [
            more_stdout.then(|| stdout.as_fd()),
            more_stderr.then(|| stderr.as_fd()),
            Some(done.as_fd()),
        ];
        let [from_stdout, from_stderr, over] = os::readable(ends, wait)?;
        if from_stdout {
            more_stdout = take(stdout, &mut buffer, &mut heard.stdout, most)?;
        }
        if from_stderr {
            more_stderr = take(stderr, &mut buffer, &mut heard.stderr, most)?;
        }
        // Whatever was printed is in the pipes by now: first empty them.
        if over && !from_stdout && !from_stderr {
            return Ok(heard);
        }
    }
}

/// Takes what there is to read; `false` at the end.
fn take(
    from: &mut PipeReader,
    buffer: &mut [u8],
    into: &mut Vec<u8>,
    most: usize,
) -> io::Result<bool> {
    let count = from.read(buffer)?;
    let kept = count.min(most.saturating_sub(into.len()));
    into.extend_from_slice(&buffer[..kept]);
    Ok(count > 0)
}

/// The process to be, without its descriptors.
fn plan(command: &Command) -> Result<Plan, Error> {
    let failed = |source| Error::Start { path: command.program.clone(), source };
    // No text of a program can have a null in it.
    let text = |text: &OsStr| CString::new(text.as_bytes()).map_err(|it| failed(it.into()));
    // The folder is entered before the program is looked for.
    let absolute = std::path::absolute(&command.program).map_err(failed)?;
    let name = command.name.as_deref().unwrap_or(command.program.as_os_str());
    let words = std::iter::once(name).chain(command.arguments.iter().map(|word| &**word));
    let environment = command.environment.iter().map(|(name, value)| {
        let mut both = name.clone();
        both.push("=");
        both.push(value);
        text(&both)
    });
    if let Some(folder) = &command.folder {
        let entered = std::fs::read_dir(folder).map(|_| ());
        entered.map_err(|source| Error::Folder { path: folder.clone(), source })?;
    }
    Ok(Plan {
        program: text(absolute.as_os_str())?,
        words: words.map(text).collect::<Result<_, _>>()?,
        environment: environment.collect::<Result<_, _>>()?,
        folder: command.folder.as_ref().map(|folder| text(folder.as_os_str())).transpose()?,
        memory: command.memory,
        seconds: (command.time.as_secs() + 1).saturating_mul(PROCESSORS),
        fixed_addresses: command.fixed_addresses,
    })
}

/// Standard input.
fn stdin(command: &Command) -> Result<OwnedFd, Error> {
    let file = match &command.stdin {
        Stdin::Empty => File::open("/dev/null"),
        Stdin::Bytes(bytes) => os::file_of(bytes),
        Stdin::File(path) => File::open(path),
    };
    file.map(Into::into).map_err(|source| Error::Input { source })
}
