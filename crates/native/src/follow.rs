//! A run, followed from its first instruction to its end.
//!
//! ```text
//! exec ─► entry point: modules are loaded ─► throws are marked ─► fatal signal, or exit
//! ```
//!
//! Each process has a [`Witness`]. A thread of the first one that is about to die of a signal is looked at
//! and then killed without it, so that no core file can come of it. How another process fails is how the run
//! fails if the first one tells it on as its own status, as shells do; or if the run has connections: then
//! whoever serves one may be a process of its own.
//!
//! Always holds: when the run is over, every process of it is dead and waited for.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use stunt_path::{Ending, Failure};
use stunt_tracee::{self as tracee, BIRTHS, Effect, Event, Memory, Onward, alive, is_gone};
use stunt_unwind::failure::{Evidence, Status, judge};

use crate::files::Files;
use crate::filter::names_processes;
use crate::harmless::Surroundings;
use crate::late::{Arrival, Late, until_input};
use crate::members::Members;
use crate::peer::Processes;
use crate::watch::Clock;
use crate::witness::{AtMark, Marks, Witness};

/// Signals that kill a process because of what it did itself.
const FAILS: [i32; 8] = [
    libc::SIGQUIT,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGSYS,
];

/// What shells add to the number of the signal that killed a command, for a status of their own.
const BY_SIGNAL: u8 = 128;

/// A run in progress.
pub struct Follow<'a> {
    files: &'a Files,
    first: i32,
    most_tasks: usize,
    /// Its processes, for whoever watches their memory.
    members: Arc<Members>,
    witness: Witness<'a>,
    /// The threads and processes, and to which process each belongs.
    tasks: BTreeMap<i32, i32>,
    failure: Option<Failure>,
    /// What is known of the processes that the first one, or another of the run, has begun.
    others: BTreeMap<i32, Witness<'a>>,
    /// How the ones of these fail that are about to exit.
    exits: BTreeMap<i32, Failure>,
    /// How the last of these failed, with the status by which a shell tells it on as its own.
    child: Option<(u8, Failure)>,
    /// Whether there has been no task but the first.
    alone: bool,
    /// If the run has connections: its processes, for whoever is at their other side. Then each of them can
    /// be the one that fails.
    network: Option<Arc<Processes>>,
    /// How the first process ended, if others go on.
    ended: Option<Ending>,
}

/// A program that is loaded and waits, with marks where exceptions are thrown.
pub struct Waiting {
    /// The process, which is stopped.
    pub process: i32,
    /// Its memory.
    pub memory: Memory,
    /// Where it waits.
    pub point: Point,
    marks: Marks,
}

/// Where a program waits.
pub enum Point {
    /// At its entry point.
    Entry,
    /// Before it looks at its input.
    Input(Box<Late>),
}

impl<'a> Follow<'a> {
    /// Follows a process that this thread has just started.
    pub fn new(
        files: &'a Files,
        first: i32,
        most_tasks: usize,
        members: Arc<Members>,
        processes: Option<Arc<Processes>>,
    ) -> io::Result<Self> {
        // Started programs stop at once; until then there is nothing to look at.
        match tracee::wait(Some(first))? {
            Some((_, Event::Stopped(libc::SIGTRAP, _))) => {}
            _ => return Err(io::Error::other("it ended before it began")),
        }
        tracee::tell_events(first, false)?;
        members.add(first);
        let witness = Witness::new(files, first)?;
        if let Some(processes) = &processes {
            processes.add(first);
        }
        tracee::go_on(first, Onward::Free, 0)?;
        Ok(Self::begun(files, first, most_tasks, members, witness, processes))
    }

    /// A run of which nothing has been seen.
    fn begun(
        files: &'a Files,
        first: i32,
        most_tasks: usize,
        members: Arc<Members>,
        witness: Witness<'a>,
        network: Option<Arc<Processes>>,
    ) -> Self {
        Self {
            files,
            first,
            most_tasks,
            members,
            witness,
            tasks: BTreeMap::from([(first, first)]),
            failure: None,
            others: BTreeMap::new(),
            exits: BTreeMap::new(),
            child: None,
            alone: true,
            network,
            ended: None,
        }
    }

    /// Follows a process that is a copy of one that waits, and is stopped there.
    pub fn copy_of(
        loaded: &Waiting,
        files: &'a Files,
        first: i32,
        memory: Memory,
        most_tasks: usize,
        members: Arc<Members>,
    ) -> Self {
        members.add(first);
        let witness = Witness::with(files, first, memory, loaded.marks.clone());
        Self::begun(files, first, most_tasks, members, witness, None)
    }

    /// Lets the program load, and stops it at its entry point; or, given what its input is, before it
    /// looks at that. Nothing if anything else happens; then, and after an error, nothing is left.
    pub fn until(mut self, input: Option<&Surroundings>) -> io::Result<Option<Waiting>> {
        let point = self.reaches(input);
        let Ok(Some(point)) = point else {
            self.clear()?;
            return point.map(|_| None);
        };
        let (process, (memory, marks)) = (self.first, self.witness.into_marked());
        Ok(Some(Waiting { process, memory, point, marks }))
    }

    fn reaches(&mut self, input: Option<&Surroundings>) -> io::Result<Option<Point>> {
        if !self.reaches_entry()? {
            return Ok(None);
        }
        let Some(input) = input else { return Ok(Some(Point::Entry)) };
        match until_input(self.first, self.witness.memory(), input)? {
            Arrival::BeforeInput(late) => Ok(Some(Point::Input(late))),
            Arrival::Elsewhere => Ok(None),
            Arrival::Gone => {
                // The number may be another's by now.
                self.tasks.clear();
                Ok(None)
            }
        }
    }

    fn reaches_entry(&mut self) -> io::Result<bool> {
        let stopped = tracee::wait(Some(self.first))?;
        if let Some((_, Event::Exited(_) | Event::Killed(_))) = stopped {
            // The number may be another's by now.
            self.tasks.clear();
        }
        Ok(self.witness.is_loading()
            && stopped == Some((self.first, Event::Stopped(libc::SIGTRAP, 0)))
            && self.witness.at_mark(self.first)? == AtMark::GoesOn(0)
            && !self.witness.is_loading())
    }

    /// Follows it to its end. Then, and also after an error, nothing of it is left.
    pub fn finish(mut self, clock: &Clock) -> io::Result<(Ending, Option<Failure>)> {
        let ending = self.until_ending(clock);
        let cleared = self.clear();
        Ok((ending.and_then(|ending| cleared.map(|()| ending))?, self.failure))
    }

    /// As [`finish`](Self::finish), while this thread has another process that is stopped. Whether
    /// that one can stay is the last part of the answer: if it cannot be told that nothing else is
    /// left of the run, the other has to be killed, and all be waited for.
    pub fn finish_beside(mut self, clock: &Clock) -> (io::Result<(Ending, Option<Failure>)>, bool) {
        let ending = self.until_ending(clock);
        // Who is killed from outside may have been about to begin another task.
        let by_itself = match &ending {
            Ok(Ending::Exit(_)) => true,
            Ok(Ending::Signal(number)) => i32::from(*number) != libc::SIGKILL,
            Ok(
                Ending::Idle
                | Ending::TimedOut
                | Ending::TooManyTasks
                | Ending::TooMuchWritten
                | Ending::TooMuchMemory
                | Ending::Deadlocked
                | Ending::Unsupported,
            )
            | Err(_) => false,
        };
        for &task in self.tasks.keys() {
            tracee::kill(task);
        }
        let alone = self.alone && by_itself && self.is_reaped();
        (ending.map(|ending| (ending, self.failure)), alone)
    }

    /// Waits for the first task, which was killed if it was still there.
    fn is_reaped(&mut self) -> bool {
        let first = self.first;
        while self.tasks.contains_key(&first) {
            match tracee::wait(Some(first)) {
                Ok(Some((_, Event::Stopped(..)))) => {
                    // On its way out.
                    if tracee::go_on(first, Onward::Free, 0).is_err_and(|error| !is_gone(&error)) {
                        return false;
                    }
                }
                Ok(_) => drop(self.tasks.remove(&first)),
                Err(_) => return false,
            }
        }
        true
    }

    fn until_ending(&mut self, clock: &Clock) -> io::Result<Ending> {
        loop {
            let Some((pid, event)) = tracee::wait(None)? else {
                return self.ended.ok_or_else(|| io::Error::other("the process is gone"));
            };
            if let Event::Exited(_) | Event::Killed(_) = event {
                self.members.remove(pid);
            }
            if let Event::Exited(_) | Event::Killed(_) = event {
                self.others.remove(&pid);
                if let Some(processes) = &self.network {
                    processes.remove(pid);
                }
            }
            if let (Event::Exited(status @ 1..), Some(failure)) = (event, self.exits.remove(&pid)) {
                self.child = Some((status, failure));
            }
            match event {
                Event::Exited(status) if pid == self.first => {
                    self.tasks.remove(&pid);
                    let ending = Ending::Exit(status);
                    if let Some((told, failure)) = &self.child
                        && status == *told
                    {
                        self.failure.get_or_insert_with(|| failure.clone());
                    }
                    // Who serves may have sent its parent away.
                    if self.network.is_none() || self.tasks.is_empty() {
                        return Ok(ending);
                    }
                    self.ended = Some(ending);
                }
                Event::Killed(signal) if pid == self.first => {
                    self.tasks.remove(&pid);
                    // Nothing stops before it: there is nothing to look at.
                    let status = Status::Signal { number: signal, overflow: false };
                    self.failure = judge(Evidence::of_death(status, None));
                    return Ok(Ending::Signal(signal));
                }
                Event::Exited(_) | Event::Killed(_) => {
                    self.tasks.remove(&pid);
                    if let (Event::Killed(9), Some(_)) = (event, self.ended) {
                        // Nobody but the other side ends who is left.
                        self.ended = Some(Ending::Signal(9));
                    }
                    if let Some(ending) = self.ended.filter(|_| self.tasks.is_empty()) {
                        return Ok(ending);
                    }
                }
                Event::Stopped(signal, event) => {
                    let _looking = clock.look();
                    if let Some(ending) = self.stopped(pid, signal, event)? {
                        return Ok(ending);
                    }
                }
            }
        }
    }

    /// A thread stopped: looks, and lets it go on unless the run is over.
    fn stopped(&mut self, pid: i32, signal: i32, event: i32) -> io::Result<Option<Ending>> {
        let process = match self.tasks.get(&pid) {
            Some(&process) => process,
            None => {
                // A thread or process that has just begun.
                let process = tracee::process_of(pid).unwrap_or(pid);
                self.tasks.insert(pid, process);
                self.members.add(process);
                self.alone = false;
                if self.tasks.len() > self.most_tasks {
                    return Ok(Some(Ending::TooManyTasks));
                }
                process
            }
        };
        let ours = process == self.first;
        if !ours {
            self.is_known(process, None)?;
        }
        if event != 0 {
            if event == libc::PTRACE_EVENT_EXEC && ours {
                self.becomes_another()?;
            }
            if event == libc::PTRACE_EVENT_EXEC && !ours {
                match self.others.get_mut(&process) {
                    Some(witness) => drop(alive(witness.becomes_another())?),
                    None => self.files.executes(process),
                }
            }
            if event == libc::PTRACE_EVENT_EXIT
                && pid == self.first
                && let Some(failure) = self.witness.exits()
            {
                self.failure = Some(failure);
            }
            if event == libc::PTRACE_EVENT_EXIT
                && pid == process
                && let Some(failure) = self.others.get_mut(&process).and_then(Witness::exits)
            {
                self.exits.insert(pid, failure);
            }
            if BIRTHS.contains(&event) {
                self.is_born(pid)?;
                if self.tasks.len() > self.most_tasks {
                    return Ok(Some(Ending::TooManyTasks));
                }
            }
            if event == libc::PTRACE_EVENT_SECCOMP {
                alive(self.police(pid))?;
            }
            return go_on(pid, 0);
        }
        if signal == libc::SIGTRAP {
            let at = if ours {
                self.witness.at_mark(pid)?
            } else if let Some(witness) = self.others.get_mut(&process) {
                witness.at_mark(pid)?
            } else {
                self.witness.at_mark_of_fork(pid)?
            };
            match at {
                AtMark::Elsewhere => {}
                AtMark::GoesOn(signal) => return go_on(pid, signal),
                AtMark::Threw(signal) => {
                    if pid == process {
                        // A panic may be why it exits; its modules have to be looked at before.
                        alive(tracee::tell_events(pid, true))?;
                    }
                    return go_on(pid, signal);
                }
            }
        }
        match tracee::effect(pid, signal) {
            Effect::GoesOn => go_on(pid, signal),
            // Nobody is there to tell it to go on.
            Effect::Stops => go_on(pid, 0),
            Effect::Dies if !ours && (self.network.is_none() || !FAILS.contains(&signal)) => {
                if FAILS.contains(&signal) {
                    alive(self.child_dies(pid, process, signal))?;
                }
                go_on(pid, signal)
            }
            Effect::Dies => {
                let number = u8::try_from(signal).unwrap_or(0);
                let dies = match self.others.get_mut(&process) {
                    Some(witness) => witness.dies(pid, number),
                    None => self.witness.dies(pid, number),
                };
                match dies {
                    Ok(failure) => self.failure = failure,
                    Err(error) if is_gone(&error) => return Ok(None),
                    Err(error) => return Err(error),
                }
                Ok(Some(Ending::Signal(number)))
            }
        }
    }

    /// A thread of another process than the first is about to kill that with a signal.
    fn child_dies(&mut self, thread: i32, process: i32, signal: i32) -> io::Result<()> {
        let number = u8::try_from(signal).unwrap_or(0);
        let Some(witness) = self.others.get_mut(&process) else { return Ok(()) };
        let told = number.saturating_add(BY_SIGNAL);
        self.child = witness.dies(thread, number)?.map(|failure| (told, failure));
        Ok(())
    }

    /// From now on a process that was forked has a witness, with the marks of the one that forked it.
    fn is_known(&mut self, process: i32, parent: Option<i32>) -> io::Result<()> {
        if self.others.contains_key(&process) || process == self.first {
            return Ok(());
        }
        // Its first stop may be seen before its parent's.
        let parent = parent.or_else(|| tracee::parent_of(process)).unwrap_or(self.first);
        let forks = self.others.get(&parent).unwrap_or(&self.witness);
        if let Some(witness) = alive(forks.fork(process))? {
            if let Some(processes) = &self.network {
                processes.add(process);
            }
            self.others.insert(process, witness);
        }
        Ok(())
    }

    /// A task has begun another, which counts from now on: its parent may name it at once.
    fn is_born(&mut self, parent: i32) -> io::Result<()> {
        self.alone = false;
        if let Some(child) = alive(tracee::event_message(parent))?
            && let Ok(child) = i32::try_from(child)
        {
            let process = tracee::process_of(child).unwrap_or(child);
            self.tasks.entry(child).or_insert(process);
            self.members.add(process);
            // Before its parent goes on: who waits for both to rest must see both.
            if process == child {
                if let Some(processes) = &self.network {
                    processes.add(child);
                }
                let parent = self.tasks.get(&parent).copied();
                self.is_known(child, parent)?;
            }
        }
        Ok(())
    }

    /// A contained task makes a call that names a process: that must be one of the run, or the call
    /// fails.
    fn police(&self, pid: i32) -> io::Result<()> {
        let mut registers = tracee::registers(pid)?;
        let arguments = [registers.rdi, registers.rsi];
        let Some(named) = names_processes(registers.orig_rax, arguments) else { return Ok(()) };
        let ours = |named: i32| {
            // Of groups, those count that a task of the run leads.
            let whose = named.checked_abs().unwrap_or(1);
            self.tasks.contains_key(&whose) || self.tasks.values().any(|&process| process == whose)
        };
        if named.into_iter().all(|named| named == 0 || (named != -1 && ours(named))) {
            return Ok(());
        }
        registers.orig_rax = u64::MAX;
        registers.rax = i64::from(-libc::EPERM).cast_unsigned();
        tracee::set_registers(pid, &registers)
    }

    /// The first process runs another program from now on.
    fn becomes_another(&mut self) -> io::Result<()> {
        self.witness.becomes_another()?;
        // Its other threads are gone, without a word.
        let first = self.first;
        self.tasks.retain(|&task, process| task == first || *process != first);
        Ok(())
    }

    /// Kills what is left and waits for it.
    fn clear(&mut self) -> io::Result<()> {
        for &task in self.tasks.keys() {
            tracee::kill(task);
        }
        kill_and_wait_for_all()
    }
}

/// Kills and waits for all that this thread follows. What was killed before dies of that.
pub fn kill_and_wait_for_all() -> io::Result<()> {
    // What was started meanwhile stopped at once, and is met here.
    while let Some((pid, event)) = tracee::wait(None)? {
        if let Event::Stopped(..) = event {
            tracee::kill(pid);
            // It may have stopped on its way out; otherwise it dies before it goes on.
            alive(tracee::go_on(pid, Onward::Free, 0))?;
        }
    }
    Ok(())
}

/// Lets a thread go on; the run is not over.
fn go_on(pid: i32, signal: i32) -> io::Result<Option<Ending>> {
    alive(tracee::go_on(pid, Onward::Free, signal)).map(|_| None)
}
