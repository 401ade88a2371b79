//! Runs commands, one or many at once, each followed by one thread to its end.
//!
//! A [`Native`] keeps what it learns about files, and the threads that follow runs, for as long as it is
//! there; it may be shared by threads. The threads that follow do nothing else, because only the thread that
//! started a process can follow it, and it must not wait for others' children; the thread that calls attends
//! to their output and their time.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use stunt_path::Run;

use crate::command::Command;
use crate::crew::{Hand, Shared, work};
use crate::error::Error;
use crate::files::Files;
use crate::folders::Folders;
use crate::loaded::Unfit;
use crate::texts::Executed;

/// Runs programs on the host.
pub struct Native {
    shared: Arc<Shared>,
    /// Those that have nothing to do.
    idle: Mutex<Vec<Hand>>,
}

impl Default for Native {
    fn default() -> Self {
        Self::new()
    }
}

impl Native {
    /// A runner that knows no file yet. Files of runs are kept in memory, if the host has a place
    /// for that.
    #[must_use]
    pub fn new() -> Self {
        Self::keeping(Folders::new(None))
    }

    /// A runner that keeps the files of runs below this folder.
    #[must_use]
    pub fn within(folder: &Path) -> Self {
        Self::keeping(Folders::new(Some(folder)))
    }

    fn keeping(folders: Folders) -> Self {
        let (files, not_late) = (Files::new(), Unfit::default());
        Self { shared: Arc::new(Shared { files, folders, not_late }), idle: Mutex::default() }
    }

    /// Programs that runs have executed, be it by way of a wrapper.
    #[must_use]
    pub fn executed(&self) -> Vec<Executed> {
        self.shared.files.executed()
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
        let mut results: Vec<Option<Result<Run, Error>>> = commands.iter().map(|_| None).collect();
        self.run_each(commands, stop, &mut |index, result| results[index] = Some(result));
        results.into_iter().map(|result| result.unwrap_or(Err(Error::Stopped))).collect()
    }

    /// As [`run_all`](Self::run_all), but each result is given away as soon as it is there.
    pub fn run_each(
        &self,
        commands: &[Command],
        stop: &AtomicBool,
        each: &mut dyn FnMut(usize, Result<Run, Error>),
    ) {
        let processors = thread::available_parallelism().map_or(1, Into::into);
        self.run_on(processors, commands, stop, each);
    }

    /// As [`run_each`](Self::run_each), with at most so many runs at a time.
    pub fn run_on(
        &self,
        workers: usize,
        commands: &[Command],
        stop: &AtomicBool,
        each: &mut dyn FnMut(usize, Result<Run, Error>),
    ) {
        let told = match io::pipe() {
            Ok(told) => told,
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
        let mut hands = self.take(workers.clamp(1, commands.len().max(1)));
        work(&hands, commands, told, stop, each);
        // A panic in one of them goes on here, when it is dropped.
        hands.retain(Hand::is_there);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(hands);
    }

    /// So many hands: those that wait, and new ones.
    fn take(&self, count: usize) -> Vec<Hand> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hands: Vec<Hand> = Vec::with_capacity(count);
        while hands.len() < count {
            let waiting = idle.pop();
            hands.push(waiting.unwrap_or_else(|| Hand::new(&self.shared)));
        }
        hands
    }
}
