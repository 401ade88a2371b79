//! A run, followed from its first instruction to its end.
//!
//! ```text
//! exec ─► entry point: modules are loaded ─► throws are marked ─► fatal signal, or exit
//! ```
//!
//! Marks are `int3` instructions: one at the program's entry point, then one at each function that
//! throws. A thread that meets the latter leaves its registers and its stack behind and goes on. A
//! thread of the first process that is about to die of a signal is looked at and then killed
//! without it, so that no core file can come of it. Other processes are only kept from getting
//! away.
//!
//! Always holds: when the run is over, every process of it is dead and waited for.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::rc::Rc;

use stunt_machine::failure::{Evidence, Status, at_stack_end, judge};
use stunt_machine::stack::{Mapping, Registers};
use stunt_path::Failure;

use crate::files::{Files, Modules, Moment};
use crate::filter::names_processes;
use crate::os::{self, Event};
use crate::process::{self, Effect, Memory};
use crate::run::Ending;
use crate::watch::Clock;

/// The instruction that stops a thread which is followed.
const MARK: u8 = 0xcc;

/// Bytes of a stack that are copied at a throw; a deeper stack is walked at once.
const COPIED: usize = 256 << 10;

/// Events by which a task tells that it has begun another.
const BIRTHS: [i32; 3] =
    [libc::PTRACE_EVENT_FORK, libc::PTRACE_EVENT_VFORK, libc::PTRACE_EVENT_CLONE];

/// Signals for whose fault the stack may be too small.
const FAULTS: [i32; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// An instruction of the program that was replaced by a mark.
#[derive(Clone)]
struct Marked {
    address: u64,
    original: u8,
}

/// What a thread left behind when it threw.
enum Thrown {
    /// Its registers, and its stack from the stack pointer on.
    Copied { registers: Registers, stack_pointer: u64, stack: Vec<u8> },
    /// What there was to see.
    Seen(Moment),
}

/// A run in progress.
pub struct Follow<'a> {
    files: &'a Files,
    first: i32,
    most_tasks: usize,
    memory: Memory,
    entry: Option<Marked>,
    throws: Vec<Marked>,
    /// What throws again: not a new throw.
    rethrows: Vec<Range<u64>>,
    /// The threads and processes, and to which process each belongs.
    tasks: BTreeMap<i32, i32>,
    /// The last throw of each thread of the first process.
    thrown: BTreeMap<i32, Thrown>,
    failure: Option<Failure>,
    /// The files that were mapped when last looked at, and their modules.
    mapped: (Vec<(String, Vec<Mapping>)>, Rc<Modules>),
    /// Whether there has been no task but the first.
    alone: bool,
}

/// A program that is loaded and at its entry point, with marks where exceptions are thrown.
pub struct AtEntry {
    /// The process, which is stopped.
    pub process: i32,
    /// Its memory.
    pub memory: Memory,
    throws: Vec<Marked>,
    rethrows: Vec<Range<u64>>,
    mapped: (Vec<(String, Vec<Mapping>)>, Rc<Modules>),
}

impl<'a> Follow<'a> {
    /// Follows a process that this thread has just started.
    pub fn new(files: &'a Files, first: i32, most_tasks: usize) -> io::Result<Self> {
        let (tasks, thrown) = (BTreeMap::from([(first, first)]), BTreeMap::new());
        let (entry, throws, rethrows, failure) = (None, Vec::new(), Vec::new(), None);
        // Started programs stop at once; until then there is nothing to look at.
        match os::wait(Some(first))? {
            Some((_, Event::Stopped(libc::SIGTRAP, _))) => {}
            _ => return Err(io::Error::other("it ended before it began")),
        }
        os::tell_events(first, false)?;
        let memory = Memory::of(first)?;
        let mut follow = Self {
            files,
            first,
            most_tasks,
            memory,
            entry,
            throws,
            rethrows,
            tasks,
            thrown,
            failure,
            mapped: Default::default(),
            alone: true,
        };
        follow.mark_entry();
        os::go_on(first, 0)?;
        Ok(follow)
    }

    /// Follows a process that is a copy of one at its entry point, and is stopped there.
    pub fn copy_of(
        loaded: &AtEntry,
        files: &'a Files,
        first: i32,
        memory: Memory,
        most_tasks: usize,
    ) -> Self {
        Self {
            files,
            first,
            most_tasks,
            memory,
            entry: None,
            throws: loaded.throws.clone(),
            rethrows: loaded.rethrows.clone(),
            tasks: BTreeMap::from([(first, first)]),
            thrown: BTreeMap::new(),
            failure: None,
            mapped: loaded.mapped.clone(),
            alone: true,
        }
    }

    /// Lets the program load, and stops it at its entry point. Nothing if anything but that happens;
    /// then, and after an error, nothing is left.
    pub fn until_entry(mut self) -> io::Result<Option<AtEntry>> {
        let at_entry = self.reaches_entry();
        if !matches!(at_entry, Ok(true)) {
            self.clear()?;
            return at_entry.map(|_| None);
        }
        let Self { first: process, memory, throws, rethrows, mapped, .. } = self;
        Ok(Some(AtEntry { process, memory, throws, rethrows, mapped }))
    }

    fn reaches_entry(&mut self) -> io::Result<bool> {
        let stopped = os::wait(Some(self.first))?;
        if let Some((_, Event::Exited(_) | Event::Killed(_))) = stopped {
            // The number may be another's by now.
            self.tasks.clear();
        }
        Ok(self.entry.is_some()
            && stopped == Some((self.first, Event::Stopped(libc::SIGTRAP, 0)))
            && self.at_mark(self.first, true)? == Some(0)
            && self.entry.is_none())
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
            Ok(Ending::TimedOut | Ending::TooManyTasks | Ending::TooMuchWritten) | Err(_) => false,
        };
        for &task in self.tasks.keys() {
            os::kill(task);
        }
        let alone = self.alone && by_itself && self.is_reaped();
        (ending.map(|ending| (ending, self.failure)), alone)
    }

    /// Waits for the first task, which was killed if it was still there.
    fn is_reaped(&mut self) -> bool {
        let first = self.first;
        while self.tasks.contains_key(&first) {
            match os::wait(Some(first)) {
                Ok(Some((_, Event::Stopped(..)))) => {
                    // On its way out.
                    if os::go_on(first, 0).is_err_and(|error| !is_gone(&error)) {
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
            let Some((pid, event)) = os::wait(None)? else {
                return Err(io::Error::other("the process is gone"));
            };
            match event {
                Event::Exited(status) if pid == self.first => {
                    self.tasks.remove(&pid);
                    return Ok(Ending::Exit(status));
                }
                Event::Killed(signal) if pid == self.first => {
                    self.tasks.remove(&pid);
                    // Nothing stops before it: there is nothing to look at.
                    let status = Status::Signal { number: signal, overflow: false };
                    self.failure = judge(Evidence { status, death: None, thrown: None });
                    return Ok(Ending::Signal(signal));
                }
                Event::Exited(_) | Event::Killed(_) => {
                    self.tasks.remove(&pid);
                    self.thrown.remove(&pid);
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
                let process = process::process_of(pid).unwrap_or(pid);
                self.tasks.insert(pid, process);
                self.alone = false;
                if self.tasks.len() > self.most_tasks {
                    return Ok(Some(Ending::TooManyTasks));
                }
                process
            }
        };
        let ours = process == self.first;
        if event != 0 {
            if event == libc::PTRACE_EVENT_EXEC && ours {
                self.becomes_another()?;
            }
            if event == libc::PTRACE_EVENT_EXIT && pid == self.first {
                self.exits();
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
        if signal == libc::SIGTRAP
            && let Some(signal) = self.at_mark(pid, ours)?
        {
            return go_on(pid, signal);
        }
        match process::effect(pid, signal) {
            Effect::GoesOn => go_on(pid, signal),
            // Nobody is there to tell it to go on.
            Effect::Stops => go_on(pid, 0),
            Effect::Dies if !ours => go_on(pid, signal),
            Effect::Dies => {
                let number = u8::try_from(signal).unwrap_or(0);
                match self.dies(pid, number) {
                    Ok(failure) => self.failure = failure,
                    Err(error) if is_gone(&error) => return Ok(None),
                    Err(error) => return Err(error),
                }
                Ok(Some(Ending::Signal(number)))
            }
        }
    }

    /// A task has begun another, which counts from now on: its parent may name it at once.
    fn is_born(&mut self, parent: i32) -> io::Result<()> {
        self.alone = false;
        if let Some(child) = alive(os::event_message(parent))?
            && let Ok(child) = i32::try_from(child)
        {
            let process = process::process_of(child).unwrap_or(child);
            self.tasks.entry(child).or_insert(process);
        }
        Ok(())
    }

    /// A contained task makes a call that names a process: that must be one of the run, or the call
    /// fails.
    fn police(&self, pid: i32) -> io::Result<()> {
        let mut registers = os::registers(pid)?;
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
        os::set_registers(pid, &registers)
    }

    /// The first process runs another program from now on.
    fn becomes_another(&mut self) -> io::Result<()> {
        self.memory = Memory::of(self.first)?;
        self.throws.clear();
        self.thrown.clear();
        // Its other threads are gone, without a word.
        let first = self.first;
        self.tasks.retain(|&task, process| task == first || *process != first);
        self.mark_entry();
        Ok(())
    }

    fn mark_entry(&mut self) {
        let entry = process::entry(self.first);
        self.entry = entry.and_then(|address| mark(&self.memory, address));
    }

    /// If a thread stopped at a mark: it is ready to go on, with this signal if it is not 0.
    fn at_mark(&mut self, pid: i32, ours: bool) -> io::Result<Option<i32>> {
        let Some(mut registers) = alive(os::registers(pid))? else { return Ok(Some(0)) };
        let address = registers.rip.wrapping_sub(1);
        if ours && self.entry.as_ref().is_some_and(|entry| entry.address == address) {
            let original = self.entry.take().map_or(MARK, |entry| entry.original);
            self.memory.write(address, &[original])?;
            registers.rip = address;
            alive(os::set_registers(pid, &registers))?;
            // Libraries that are loaded later are not covered.
            let modules = self.modules();
            self.rethrows.clone_from(&modules.rethrows);
            self.throws =
                modules.throw_points.iter().filter_map(|&at| mark(&self.memory, at)).collect();
            return Ok(Some(0));
        }
        let Some(marked) = self.throws.iter().find(|marked| marked.address == address) else {
            return Ok(None);
        };
        let original = marked.original;
        registers.rip = address;
        if ours && !self.is_again(registers.rsp) {
            let thrown = self.throws_now(&registers);
            self.thrown.insert(pid, thrown);
            if pid == self.first {
                // A panic may be why it exits; its modules have to be looked at before.
                alive(os::tell_events(pid, true))?;
            }
        }
        // A process that was forked has marks of its own, in the same places.
        let forked = (!ours).then(|| Memory::of(pid)).transpose();
        let Some(forked) = alive(forked)? else { return Ok(Some(0)) };
        let memory = forked.as_ref().unwrap_or(&self.memory);
        step_over(pid, memory, registers, original).map(Some)
    }

    /// Whether the function that throws was called for an exception that was thrown before.
    fn is_again(&self, stack_pointer: u64) -> bool {
        let mut caller = [0; 8];
        let known = self.memory.read(stack_pointer, &mut caller);
        let caller = u64::from_le_bytes(caller);
        known && self.rethrows.iter().any(|range| range.contains(&caller))
    }

    fn throws_now(&mut self, registers: &libc::user_regs_struct) -> Thrown {
        let stack_pointer = registers.rsp;
        let stack = self.memory.read_up_to(stack_pointer, COPIED);
        let registers = process::for_walk(registers);
        if stack.len() < COPIED {
            return Thrown::Copied { registers, stack_pointer, stack };
        }
        let modules = self.modules();
        Thrown::Seen(self.moment(&registers, Some(stack_pointer), &modules))
    }

    /// A throw as it was then.
    fn look_back(&self, thrown: Thrown, modules: &Modules) -> Moment {
        match thrown {
            Thrown::Seen(moment) => moment,
            Thrown::Copied { registers, stack_pointer, stack } => {
                let mut memory = |address: u64, bytes: &mut [u8]| {
                    let from = address.checked_sub(stack_pointer);
                    let from = from.and_then(|from| usize::try_from(from).ok());
                    let end = from.and_then(|from| from.checked_add(bytes.len()));
                    match from.zip(end).and_then(|(from, end)| stack.get(from..end)) {
                        Some(copied) => bytes.copy_from_slice(copied),
                        // A page that begins before the stack pointer, or is no stack at all.
                        None => return self.beside(stack_pointer, &stack, address, bytes),
                    }
                    true
                };
                self.files.moment(&registers, Some(stack_pointer), &mut memory, modules)
            }
        }
    }

    /// Reads what is not all in the copy of a stack: as it is now, with what is known of then.
    fn beside(&self, start: u64, stack: &[u8], address: u64, bytes: &mut [u8]) -> bool {
        if !self.memory.read(address, bytes) {
            return false;
        }
        let end = address.saturating_add(bytes.len() as u64);
        let (first, last) = (address.max(start), end.min(start + stack.len() as u64));
        if first < last {
            let from = &stack[(first - start) as usize..(last - start) as usize];
            bytes[(first - address) as usize..(last - address) as usize].copy_from_slice(from);
        }
        true
    }

    fn moment(&self, registers: &Registers, top: Option<u64>, modules: &Modules) -> Moment {
        let mut memory = |address: u64, bytes: &mut [u8]| self.memory.read(address, bytes);
        self.files.moment(registers, top, &mut memory, modules)
    }

    fn modules(&mut self) -> Rc<Modules> {
        let mapped = process::mapped_files(self.first);
        if mapped != self.mapped.0 {
            let modules = Rc::new(self.files.modules(&mapped));
            self.mapped = (mapped, modules);
        }
        Rc::clone(&self.mapped.1)
    }

    /// The failure of a thread that is about to die.
    fn dies(&mut self, pid: i32, number: u8) -> io::Result<Option<Failure>> {
        let registers = os::registers(pid)?;
        let fault = FAULTS.contains(&i32::from(number)).then(|| os::fault_address(pid)).flatten();
        let readable = |address: u64| self.memory.read(address, &mut [0]);
        let overflow = fault.is_some_and(|fault| at_stack_end(fault, registers.rsp, readable));
        let modules = self.modules();
        // A panic that may not be caught aborts.
        let top = (i32::from(number) == libc::SIGABRT).then_some(registers.rsp);
        let death = self.moment(&process::for_walk(&registers), top, &modules);
        let thrown = self.thrown.remove(&pid).map(|thrown| self.look_back(thrown, &modules));
        let thrown = thrown.as_ref().map(Moment::scene);
        let status = Status::Signal { number, overflow };
        Ok(judge(Evidence { status, death: Some(death.scene()), thrown }))
    }

    /// The first process is about to exit, after a throw of its first thread.
    fn exits(&mut self) {
        let Ok(status) = os::event_message(self.first) else { return };
        if status & 0x7f != 0 {
            return;
        }
        let Some(thrown) = self.thrown.remove(&self.first) else { return };
        let modules = self.modules();
        let thrown = self.look_back(thrown, &modules);
        let status = Status::Exit((status >> 8) as u8);
        self.failure = judge(Evidence { status, death: None, thrown: Some(thrown.scene()) });
    }

    /// Kills what is left and waits for it.
    fn clear(&mut self) -> io::Result<()> {
        for &task in self.tasks.keys() {
            os::kill(task);
        }
        kill_and_wait_for_all()
    }
}

/// Kills and waits for all that this thread follows. What was killed before dies of that.
pub fn kill_and_wait_for_all() -> io::Result<()> {
    // What was started meanwhile stopped at once, and is met here.
    while let Some((pid, event)) = os::wait(None)? {
        if let Event::Stopped(..) = event {
            os::kill(pid);
            // It may have stopped on its way out; otherwise it dies before it goes on.
            alive(os::go_on(pid, 0))?;
        }
    }
    Ok(())
}

/// Puts a mark at an address.
fn mark(memory: &Memory, address: u64) -> Option<Marked> {
    let mut original = [0];
    if !memory.read(address, &mut original) || original[0] == MARK {
        return None;
    }
    memory.write(address, &[MARK]).ok()?;
    Some(Marked { address, original: original[0] })
}

/// Executes the instruction under a mark, which `registers` point to. A signal that came meanwhile
/// is the answer, else 0.
///
/// Other threads may run meanwhile and must not miss the mark: the instructions with which such
/// functions begin are done by hand. Another instruction is executed with the mark taken away.
fn step_over(
    pid: i32,
    memory: &Memory,
    mut registers: libc::user_regs_struct,
    original: u8,
) -> io::Result<i32> {
    const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    const PUSH_RBP: u8 = 0x55;
    let address = registers.rip;
    let mut code = [0; 4];
    let known = memory.read(address, &mut code);
    code[0] = original;
    if known && code == ENDBR64 {
        registers.rip += 4;
        return alive(os::set_registers(pid, &registers)).map(|_| 0);
    }
    if original == PUSH_RBP {
        let top = registers.rsp.wrapping_sub(8);
        memory.write(top, &registers.rbp.to_le_bytes())?;
        (registers.rsp, registers.rip) = (top, address + 1);
        return alive(os::set_registers(pid, &registers)).map(|_| 0);
    }
    memory.write(address, &[original])?;
    let mut came = 0;
    if alive(os::set_registers(pid, &registers))?.is_some() {
        while alive(os::step(pid))?.is_some()
            && let Some((_, Event::Stopped(signal, _))) = os::wait(Some(pid))?
            && signal != libc::SIGTRAP
        {
            came = signal;
        }
    }
    memory.write(address, &[MARK])?;
    Ok(came)
}

/// Lets a thread go on; the run is not over.
fn go_on(pid: i32, signal: i32) -> io::Result<Option<Ending>> {
    alive(os::go_on(pid, signal)).map(|_| None)
}

/// Nothing if the process is gone, which the next wait tells.
fn alive<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if is_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ESRCH) || error.kind() == io::ErrorKind::NotFound
}
