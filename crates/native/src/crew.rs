//! Threads that follow runs, and wait for more between lists of commands.
//!
//! What a worker keeps (a folder, a process that was loaded to be copied) is worth most if it outlives a
//! list: searches ask for a few runs at a time, thousands of times. Only the thread that started a process
//! can follow it, so it is the thread that is kept.
//!
//! Always holds: a hand is busy with one list at a time, and lists are told apart by who began them; when a
//! hand is dropped, its thread is over and nothing of its runs is left.

use std::io::{ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use stunt_path::Run;

use crate::command::Command;
use crate::error::Error;
use crate::files::Files;
use crate::folders::Folders;
use crate::loaded::Unfit;
use crate::watch::{Slot, attend};
use crate::worker::Worker;

/// What all hands know.
pub struct Shared {
    /// What was learned about files.
    pub files: Files,
    /// Folders for the files of runs.
    pub folders: Folders,
    /// What cannot be copied late.
    pub not_late: Unfit,
}

/// Commands that several hands work on.
#[derive(Default)]
struct List {
    commands: Vec<Command>,
    /// The first that nobody has begun.
    next: AtomicUsize,
    stopped: AtomicBool,
    /// Results that nobody has taken yet.
    results: Mutex<Vec<(usize, Result<Run, Error>)>>,
}

/// A thread that follows runs.
pub struct Hand {
    slot: Arc<Slot>,
    /// Where it gets lists from, and where it says that there are results. Nothing once it is to end.
    lists: Option<Sender<(Arc<List>, Arc<PipeWriter>)>>,
    thread: Option<JoinHandle<()>>,
}

impl Hand {
    /// One that has nothing to do yet.
    pub fn new(shared: &Arc<Shared>) -> Self {
        let slot = Arc::new(Slot::default());
        let (lists, given) = channel::<(Arc<List>, Arc<PipeWriter>)>();
        let (shared, own) = (Arc::clone(shared), Arc::clone(&slot));
        let thread = thread::spawn(move || {
            let Shared { files, folders, not_late } = &*shared;
            let mut worker = Worker::new(files, folders, &own, not_late);
            for (list, told) in given {
                while let Some((index, command)) = list.begin() {
                    let stopped = list.stopped.load(Ordering::Relaxed);
                    let result = if stopped { Err(Error::Stopped) } else { worker.run(command) };
                    list.results().push((index, result));
                    // Who has gone away does not want to know.
                    let _ = (&*told).write_all(&[0]);
                }
            }
        });
        Self { slot, lists: Some(lists), thread: Some(thread) }
    }

    /// Whether its thread goes on.
    pub fn is_there(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.lists = None;
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join)
            && !thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

impl List {
    fn begin(&self) -> Option<(usize, &Command)> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        self.commands.get(index).map(|command| (index, command))
    }

    fn results(&self) -> std::sync::MutexGuard<'_, Vec<(usize, Result<Run, Error>)>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has commands run by some hands, and attends to their output and their time; gives each result away as
/// soon as it is there. Once `stop` is set, runs in progress are killed and no other is begun.
pub fn work(
    hands: &[Hand],
    commands: &[Command],
    (mut done, told): (PipeReader, PipeWriter),
    stop: &AtomicBool,
    each: &mut dyn FnMut(usize, Result<Run, Error>),
) {
    let (commands, told) = (commands.to_vec(), Arc::new(told));
    let list = Arc::new(List { commands, ..List::default() });
    for hand in hands {
        if let Some(lists) = &hand.lists {
            // A hand whose thread is gone takes nothing; the others go on without it.
            let _ = lists.send((Arc::clone(&list), Arc::clone(&told)));
        }
    }
    // At its end, all hands are done.
    drop(told);
    let slots: Vec<&Slot> = hands.iter().map(|hand| &*hand.slot).collect();
    let mut at_end = false;
    while !at_end {
        // Without attention runs end by their own limits.
        let _ = attend(&slots, &done, stop);
        at_end = match done.read(&mut [0; 256]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() != ErrorKind::Interrupted,
        };
        for (index, result) in std::mem::take(&mut *list.results()) {
            each(index, result);
        }
        list.stopped.fetch_or(stop.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}
