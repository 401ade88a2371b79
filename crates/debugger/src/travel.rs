//! A run that is gone through in both directions.
//!
//! Always: a place has one state, however it is reached; what a debugger changes at a place belongs to
//! it, and is done again whenever the run comes there. A change drops what came after it, because the run
//! goes another way from there. The run has an end: the last place at which the process that is looked at
//! was about to do something. It is never passed, so that the process is always there to look at.

use std::collections::BTreeMap;

use stunt_machine::{
    Machine,
    cpu::Cpu,
    linux::{Ending, Pid, Signal, ThreadId, Tid},
    memory::AddressSpace,
    stepping::{Event, Stepper, ThreadSeen, Watch, Wish},
};

use crate::snapshots::Snapshots;

/// How many instructions are run between two looks whether the user has had enough.
const STRETCH: u64 = 5_000_000;

/// Why the run stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// It is where it was to be.
    Reached,
    /// A thread is at a breakpoint.
    Breakpoint,
    /// A thread has touched what is watched (backwards: is about to); the number of the watch.
    Watch(usize),
    /// A thread has made its step.
    Stepped,
    /// The next instruction fails with this signal.
    Fault(Signal),
    /// There is nothing before this.
    Start,
    /// There is nothing after this, and it ends so.
    End(Ending),
    /// The user has had enough.
    Interrupted,
}

/// Something that a debugger changed.
#[derive(Clone)]
enum Change {
    Memory(u64, Vec<u8>),
    Processor(ThreadId, Box<Cpu>),
}

/// Asks whether the user has had enough.
pub type Enough<'a> = dyn FnMut() -> bool + 'a;

/// A run, and where it is looked at.
pub struct TimeTravel {
    machine: Machine,
    pid: Pid,
    stepper: Stepper,
    snapshots: Snapshots,
    end: Option<(u64, Ending)>,
    changes: BTreeMap<u64, Vec<Change>>,
    /// A fault at this place was told.
    told: Option<u64>,
    /// That fault.
    fault: Option<Signal>,
    /// The last place before an instruction of the process, as far as the run went.
    last: u64,
    /// The machine is behind the end.
    over: bool,
}

/// What was found on a way.
#[derive(Clone, Copy, Default)]
struct Found {
    hit: Option<(u64, Event)>,
    last_of_thread: Option<u64>,
}

impl TimeTravel {
    /// At the start of a run. Snapshots may take about so many bytes.
    #[must_use]
    pub fn new(mut machine: Machine, memory: u64) -> Self {
        let pid = machine.first_process();
        let mut stepper = Stepper::new(pid);
        // The first thread has the first turn; nothing is executed.
        let _ = machine.run_in_steps(&mut stepper, Wish::default());
        let snapshots = Snapshots::new(&mut machine, stepper.thread(), memory);
        Self {
            machine,
            pid,
            stepper,
            snapshots,
            end: None,
            changes: BTreeMap::new(),
            told: None,
            fault: None,
            last: 0,
            over: false,
        }
    }

    /// Where the run is: how many instructions were executed before.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.stepper.position()
    }

    /// Where the run ends, and how, if that is known.
    #[must_use]
    pub fn end(&self) -> Option<(u64, Ending)> {
        self.end
    }

    /// How many moments are kept.
    #[must_use]
    pub fn snapshots(&self) -> usize {
        self.snapshots.count()
    }

    /// The process that is looked at.
    #[must_use]
    pub fn process(&self) -> Pid {
        self.pid
    }

    /// The threads of the process.
    #[must_use]
    pub fn threads(&mut self) -> Vec<ThreadSeen> {
        self.machine.threads(self.pid)
    }

    /// The thread whose turn it is, or the first one.
    #[must_use]
    pub fn thread(&mut self) -> Tid {
        let ThreadId { pid, tid } = self.stepper.thread();
        let threads = self.threads();
        let has = |tid| threads.iter().any(|thread| thread.tid == tid);
        if pid == self.pid && has(tid) {
            return tid;
        }
        threads.first().map_or(self.pid.first_thread(), |thread| thread.tid)
    }

    /// The processor of a thread.
    #[must_use]
    pub fn processor(&mut self, tid: Tid) -> Option<&Cpu> {
        self.machine.processor(ThreadId { pid: self.pid, tid }).map(|cpu| &*cpu)
    }

    /// The memory of the process.
    #[must_use]
    pub fn memory(&mut self) -> Option<&AddressSpace> {
        self.machine.memory(self.pid)
    }

    /// The path of the program, and its auxiliary vector.
    #[must_use]
    pub fn program(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        self.machine.program(self.pid).map(|[path, auxiliary]| (path.to_vec(), auxiliary.to_vec()))
    }

    /// The machine, to ask it what it knows.
    #[must_use]
    pub fn machine(&mut self) -> &mut Machine {
        &mut self.machine
    }

    /// Whether a fault at this place was told.
    #[must_use]
    pub fn was_told(&self) -> bool {
        self.told == Some(self.position())
    }

    /// What a handler would be told about the fault that was told here.
    #[must_use]
    pub fn siginfo(&self) -> Option<[u8; 128]> {
        let signal = self.fault.filter(|_| self.was_told())?;
        Some(signal.siginfo())
    }

    /// Where to stop from now on.
    pub fn set_stops(&mut self, breakpoints: impl IntoIterator<Item = u64>, watches: Vec<Watch>) {
        self.stepper.break_at(breakpoints);
        self.stepper.watch(watches);
    }

    /// Changes memory here. What came after is dropped. Gives whether all of it is mapped.
    pub fn write_memory(&mut self, address: u64, bytes: &[u8]) -> bool {
        let mapped = self.memory().is_some_and(|space| {
            let mut old = vec![0; bytes.len()];
            space.peek(address, &mut old) == bytes.len()
        });
        if mapped {
            self.change(Change::Memory(address, bytes.to_vec()));
        }
        mapped
    }

    /// Changes a processor here. What came after is dropped.
    pub fn write_processor(&mut self, tid: Tid, cpu: Cpu) {
        self.change(Change::Processor(ThreadId { pid: self.pid, tid }, Box::new(cpu)));
    }

    fn change(&mut self, change: Change) {
        let here = self.position();
        self.changes.split_off(&(here + 1));
        self.snapshots.forget_from(here);
        (self.end, self.told) = (None, None);
        self.apply(&change);
        self.changes.entry(here).or_default().push(change);
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Memory(address, bytes) => {
                self.machine.poke(self.pid, *address, bytes);
            }
            Change::Processor(thread, cpu) => {
                if let Some(processor) = self.machine.processor(*thread) {
                    processor.take_registers(cpu);
                }
            }
        }
        self.stepper.moved(self.position(), self.stepper.thread());
    }

    /// Does again what was changed here.
    fn change_again(&mut self) {
        for change in self.changes.get(&self.position()).cloned().unwrap_or_default() {
            self.apply(&change);
        }
    }

    fn restore(&mut self, at: u64) {
        let Some(thread) = self.snapshots.restore(&mut self.machine, at) else { return };
        self.stepper.moved(at, thread);
        self.over = false;
        // All other snapshots are from after the changes of their places.
        if at == 0 {
            self.change_again();
        }
    }

    /// Runs on from here, and keeps moments on the way; `Halt::End` leaves the machine behind the end.
    fn advance(
        &mut self,
        wish: &Wish,
        near: bool,
        found: &mut Found,
        enough: &mut Enough<'_>,
    ) -> Halt {
        let until = wish.until;
        loop {
            let here = self.position();
            let worth = self.snapshots.next(here, near.then_some(until));
            let changed = self.changes.range(here + 1..).next().map_or(u64::MAX, |(at, _)| *at);
            let next = until.min(worth).min(changed).min(here.saturating_add(STRETCH));
            let wish = Wish { until: next, ..wish.clone() };
            let outcome = self.machine.run_in_steps(&mut self.stepper, wish);
            let notes = self.stepper.notes();
            self.last = notes.last.unwrap_or(self.last);
            found.hit = notes.hit.or(found.hit);
            found.last_of_thread = notes.last_of_thread.or(found.last_of_thread);
            match outcome {
                Ok(Event::Reached) => {
                    let here = self.position();
                    self.change_again();
                    let thread = self.stepper.thread();
                    self.snapshots.keep(&mut self.machine, here, thread, near && here < until);
                    if here >= until {
                        return Halt::Reached;
                    }
                    if enough() {
                        return Halt::Interrupted;
                    }
                }
                Ok(Event::Breakpoint) => return Halt::Breakpoint,
                Ok(Event::Watch(number)) => return Halt::Watch(number),
                Ok(Event::Stepped) => return Halt::Stepped,
                Ok(Event::Fault(signal)) => return Halt::Fault(signal),
                Err(ending) => {
                    self.end = Some((self.last, ending));
                    self.over = true;
                    return Halt::End(ending);
                }
            }
        }
    }

    /// Goes to a place, or to the end if that comes before it.
    pub fn goto(&mut self, place: u64, enough: &mut Enough<'_>) -> Halt {
        let end = self.end;
        let place = end.map_or(place, |(end, _)| place.min(end));
        let kept = self.snapshots.last(place);
        let here = self.position();
        let back = self.over || here > place;
        if back || kept > here {
            self.restore(kept);
        }
        self.snapshots.leave(place);
        let wish = Wish { until: place, ..Wish::default() };
        match self.advance(&wish, back, &mut Found::default(), enough) {
            Halt::End(ending) => {
                let last = self.last;
                self.goto(last, &mut || false);
                Halt::End(ending)
            }
            halt => match end {
                Some((at, ending)) if at == place => Halt::End(ending),
                _ => halt,
            },
        }
    }

    /// Goes to the end of the run.
    pub fn goto_end(&mut self, enough: &mut Enough<'_>) -> Halt {
        self.goto(u64::MAX, enough)
    }

    /// Goes on to the next stop; with a thread, until this has executed an instruction.
    pub fn forward(&mut self, step: Option<Tid>, enough: &mut Enough<'_>) -> Halt {
        let here = self.position();
        let passed_fault = self.told.filter(|&told| told == here);
        let wish = Wish { until: u64::MAX, step, stops: true, passed: Some(here), passed_fault };
        match self.advance(&wish, false, &mut Found::default(), enough) {
            Halt::Fault(signal) => {
                (self.told, self.fault) = (Some(self.position()), Some(signal));
                Halt::Fault(signal)
            }
            Halt::End(ending) => {
                let last = self.last;
                self.goto(last, &mut || false);
                Halt::End(ending)
            }
            halt => halt,
        }
    }

    /// Goes back to the last stop before this place, or to the start.
    pub fn back(&mut self, enough: &mut Enough<'_>) -> Halt {
        let now = self.position();
        let mut upper = now;
        while upper > 0 {
            let from = self.snapshots.last(upper - 1);
            let found = match self.look(from, upper, None, enough) {
                Some(found) => found,
                None => {
                    self.goto(now, &mut || false);
                    return Halt::Interrupted;
                }
            };
            if let Some((at, event)) = found.hit {
                self.goto(at, &mut || false);
                return match event {
                    Event::Watch(number) => Halt::Watch(number),
                    _ => Halt::Breakpoint,
                };
            }
            upper = from;
        }
        self.goto(0, &mut || false);
        Halt::Start
    }

    /// Goes back to before the last instruction of a thread.
    pub fn back_step(&mut self, thread: Tid, enough: &mut Enough<'_>) -> Halt {
        let now = self.position();
        if now > 0 && self.machine.is_alone() {
            self.goto(now - 1, enough);
            return Halt::Stepped;
        }
        let mut upper = now;
        while upper > 0 {
            let from = self.snapshots.last(upper - 1);
            let Some(found) = self.look(from, upper, Some(thread), enough) else {
                self.goto(now, &mut || false);
                return Halt::Interrupted;
            };
            if let Some(at) = found.last_of_thread {
                self.goto(at, &mut || false);
                return Halt::Stepped;
            }
            upper = from;
        }
        self.goto(0, &mut || false);
        Halt::Start
    }

    /// What is found between two places; nothing if the user has had enough.
    fn look(
        &mut self,
        from: u64,
        until: u64,
        thread: Option<Tid>,
        enough: &mut Enough<'_>,
    ) -> Option<Found> {
        self.restore(from);
        self.stepper.note_thread(thread);
        let wish = Wish { until, ..Wish::default() };
        let mut found = Found::default();
        let halt = self.advance(&wish, false, &mut found, enough);
        self.stepper.note_thread(None);
        (halt != Halt::Interrupted).then_some(found)
    }
}
