//! Runs commands, one or many at once, each followed by one thread to its end.
//!
//! A [`Native`] keeps what it learns about files, and may be shared by threads. The threads that
//! follow do nothing else, because only the thread that started a process can follow it, and it must
//! not wait for others' children; the thread that calls attends to their output and their time.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::command::Command;
use crate::error::Error;
use crate::files::Files;
use crate::folders::Folders;
use crate::loaded::Unfit;
use crate::run::Run;
use crate::watch::{Slot, attend};
use crate::worker::Worker;

/// Runs programs on the host.
pub struct Native {
    files: Files,
    folders: Folders,
    not_late: Unfit,
}

impl Default for Native {
    fn default() -> Self {
        Self::new()
    }
}

/// What is done with results: the index of the command, and its result.
type Each<'a> = dyn Fn(usize, Result<Run, Error>) + Sync + 'a;

impl Native {
    /// A runner that knows no file yet. Files of runs are kept in memory, if the host has a place
    /// for that.
    #[must_use]
    pub fn new() -> Self {
        Self::with(Folders::new(None))
    }

    /// A runner that keeps the files of runs below this folder.
    #[must_use]
    pub fn within(folder: &Path) -> Self {
        Self::with(Folders::new(Some(folder)))
    }

    fn with(folders: Folders) -> Self {
        Self { files: Files::new(), folders, not_late: Unfit::default() }
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    /// The program cannot be run or followed here. A program that fails is no error.
    pub fn run(&self, command: &Command) -> Result<Run, Error> {
        let never = AtomicBool::new(false);
        let mut all = self.run_all(std::slice::from_ref(command), &never);
        all.pop().unwrap_or(Err(Error::Stopped))
    }

    /// Runs commands on all processors; results are in the order of the commands. Once `stop` is
    /// set, runs in progress are killed and no other is begun, and both are [`Error::Stopped`].
    pub fn run_all(&self, commands: &[Command], stop: &AtomicBool) -> Vec<Result<Run, Error>> {
        let results = Mutex::new(commands.iter().map(|_| None).collect::<Vec<_>>());
        self.run_each(commands, stop, &|index, result| {
            results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(result);
        });
        let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.into_iter().map(|result| result.unwrap_or(Err(Error::Stopped))).collect()
    }

    /// As [`run_all`](Self::run_all), but each result is given away as soon as it is there, by the
    /// thread that followed the run.
    pub fn run_each(&self, commands: &[Command], stop: &AtomicBool, each: &Each<'_>) {
        let processors = thread::available_parallelism().map_or(1, Into::into);
        self.run_on(processors, commands, stop, each);
    }

    /// As [`run_each`](Self::run_each), with at most so many runs at a time.
    pub fn run_on(&self, workers: usize, commands: &[Command], stop: &AtomicBool, each: &Each<'_>) {
        let workers = workers.clamp(1, commands.len().max(1));
        let slots: Vec<Slot> = (0..workers).map(|_| Slot::default()).collect();
        let next = AtomicUsize::new(0);
        // Nothing is written to it: it is at its end when all workers are done.
        let (done, not_done) = match io::pipe() {
            Ok(ends) => ends,
            Err(error) => {
                let failed = |path: &PathBuf| Error::Follow {
                    path: path.clone(),
                    source: io::Error::from(error.kind()),
                };
                for (index, command) in commands.iter().enumerate() {
                    each(index, Err(failed(&command.program)));
                }
                return;
            }
        };
        let not_done = Arc::new(not_done);
        thread::scope(|scope| {
            let work = |slot| {
                let (next, not_done) = (&next, Arc::clone(&not_done));
                scope.spawn(move || {
                    let mut worker = Worker::new(&self.files, &self.folders, slot, &self.not_late);
                    loop {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(command) = commands.get(index) else { break };
                        let stopped = stop.load(Ordering::Relaxed);
                        let result =
                            if stopped { Err(Error::Stopped) } else { worker.run(command) };
                        each(index, result);
                    }
                    drop((worker, not_done));
                })
            };
            let workers: Vec<_> = slots.iter().map(work).collect();
            drop(not_done);
            // Without attention runs end by their own limits.
            let _ = attend(&slots, &done, stop);
            for worker in workers {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
        });
    }
}
