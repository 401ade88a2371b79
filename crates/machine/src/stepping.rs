//! A run that can be stopped before any instruction: for debuggers.
//!
//! A place in a run is a number: how many instructions were tried before, in all processes. (An
//! instruction that a signal interrupts and that is made again later counts twice.) Always: a place is
//! the same however the run gets there, in one stretch or in steps, watched or not, because here, unlike
//! in other runs, a thread's turn is as long as it should be to the instruction. What is watched is seen
//! by the program in no way: breakpoints are not in its memory, and watched bytes are marked beside it.
//! Snapshots, and what came before, are not known here.

use std::{ops::Range, sync::Arc};

use rustc_hash::FxHashSet;
use stunt_unwind::stack::Module;

use crate::{
    Machine,
    code::{Code, LONGEST, Trap},
    cpu::{self, Cpu, Exception, Stop},
    linux::{Ending, Limits, Pid, Signal, ThreadId, Tid, of_trap},
    memory::{AddressSpace, Fault, Mark, Reason},
    tracer::Tracer,
};

/// The widest access of one instruction, in bytes.
const WIDEST: u64 = 16;

/// What is done to watched bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// They get another value.
    Change,
    /// They are read.
    Read,
    /// They are read or written, whatever is written.
    Access,
}

/// Bytes of the process that is looked at, and what about them is worth a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watch {
    /// Where.
    pub range: Range<u64>,
    /// What.
    pub touch: Touch,
}

/// What a run stops for, or notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It is where it was to stop.
    Reached,
    /// A thread is at a breakpoint.
    Breakpoint,
    /// A thread has touched what is watched; this is the number of the watch.
    Watch(usize),
    /// A thread has made its step.
    Stepped,
    /// The next instruction fails, and the thread gets this signal for it.
    Fault(Signal),
}

/// What a run is to do.
#[derive(Clone, Debug, Default)]
pub struct Wish {
    /// Where it stops at the latest.
    pub until: u64,
    /// It stops when this thread has executed an instruction.
    pub step: Option<Tid>,
    /// It stops for breakpoints, watches and faults; otherwise it only notes the last of the first two.
    pub stops: bool,
    /// A place at which a breakpoint does not count: where one has just stopped.
    pub passed: Option<u64>,
    /// The same for a fault.
    pub passed_fault: Option<u64>,
}

/// What a run has noted on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Notes {
    /// The last place where a breakpoint or a watch would have stopped it. For a watch it is the place
    /// before the bytes were touched.
    pub hit: Option<(u64, Event)>,
    /// Before the last instruction of the process that is looked at.
    pub last: Option<u64>,
    /// The same for the thread that [`Wish::step`] would name.
    pub last_of_thread: Option<u64>,
}

/// Stops a run, at a place or for an event.
pub struct Stepper {
    pid: Pid,
    position: u64,
    thread: ThreadId,
    breakpoints: Arc<FxHashSet<u64>>,
    watches: Vec<Watch>,
    /// What the watched bytes were when somebody looked last.
    known: Vec<Option<Vec<u8>>>,
    armed: bool,
    wish: Wish,
    /// The thread whose last instruction is noted.
    noted: Option<Tid>,
    notes: Notes,
    event: Option<Event>,
    /// The step is made, by a system call that is not over yet.
    stepped: bool,
}

impl Stepper {
    /// For a run that has not begun, looking at this process.
    #[must_use]
    pub fn new(pid: Pid) -> Self {
        Self {
            pid,
            position: 0,
            thread: ThreadId { pid, tid: pid.first_thread() },
            breakpoints: Arc::default(),
            watches: Vec::new(),
            known: Vec::new(),
            armed: false,
            wish: Wish::default(),
            noted: None,
            notes: Notes::default(),
            event: None,
            stepped: false,
        }
    }

    /// Where the run is.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Whose turn it is.
    #[must_use]
    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    /// The machine was taken to another place, where this thread has its turn.
    pub fn moved(&mut self, position: u64, thread: ThreadId) {
        (self.position, self.thread, self.stepped) = (position, thread, false);
        self.armed = false;
    }

    /// Addresses at which a thread of the process stops before it goes on.
    pub fn break_at(&mut self, addresses: impl IntoIterator<Item = u64>) {
        let addresses: FxHashSet<u64> = addresses.into_iter().collect();
        // Code is decoded anew for another set.
        if *self.breakpoints != addresses {
            self.breakpoints = Arc::new(addresses);
        }
    }

    /// Bytes that are watched.
    pub fn watch(&mut self, watches: Vec<Watch>) {
        if self.watches != watches {
            (self.watches, self.armed) = (watches, false);
        }
    }

    /// What was noted during the last run.
    #[must_use]
    pub fn notes(&self) -> Notes {
        self.notes
    }

    /// The thread whose last instruction is noted from now on.
    pub fn note_thread(&mut self, thread: Option<Tid>) {
        self.noted = thread;
    }

    fn halt(&mut self, event: Event) -> Stop {
        self.event = Some(event);
        Stop::Quantum
    }

    fn is_own(&self) -> bool {
        self.thread.pid == self.pid
    }

    /// Marks what is watched, and looks at it.
    fn arm(&mut self, space: &mut AddressSpace) {
        let mark = Mark::plain();
        if !self.watches.is_empty() || space.has_marks() {
            space.watch(self.watches.iter().map(|watch| watch.range.clone()), mark);
        }
        self.known = self.watches.iter().map(|watch| bytes(space, watch)).collect();
        self.armed = true;
    }

    /// Whether a watch is hit, now that something was done: by a change, or by an access to `touched`.
    fn hit(&mut self, space: &mut AddressSpace, touched: Option<Fault>) -> Option<usize> {
        let mut hit = None;
        for (number, watch) in self.watches.iter().enumerate() {
            let now = bytes(space, watch);
            let changed = now != self.known[number];
            self.known[number] = now;
            let near = touched.filter(|fault| {
                fault.address < watch.range.end && watch.range.start < fault.address + WIDEST
            });
            let is_read = near.is_some_and(|fault| fault.access == crate::memory::Access::Read);
            let counts = match watch.touch {
                Touch::Change => changed,
                Touch::Read => is_read,
                Touch::Access => changed || near.is_some(),
            };
            if counts && hit.is_none() {
                hit = Some(number);
            }
        }
        // Stores take marks away.
        let gone = |range: &Range<u64>| !range.clone().all(|at| space.mark_of(at).is_some());
        if self.watches.iter().any(|watch| gone(&watch.range)) {
            let mark = Mark::plain();
            space.watch(self.watches.iter().map(|watch| watch.range.clone()), mark);
        }
        hit
    }

    /// Something was done before this place that may have touched what is watched; gives whether to stop.
    fn look(&mut self, space: &mut AddressSpace, touched: Option<Fault>) -> bool {
        let Some(number) = self.hit(space, touched) else { return false };
        let event = Event::Watch(number);
        self.notes.hit = Some((self.position.saturating_sub(1), event));
        if self.wish.stops && self.event.is_none() {
            self.event = Some(event);
        }
        self.wish.stops
    }

    /// Goes on without a look at marks, for one instruction.
    fn blindly(cpu: &mut Cpu, space: &mut AddressSpace, code: &mut Code) -> Stop {
        space.set_blind(true);
        let stop = cpu::run_one(cpu, space, code);
        space.set_blind(false);
        stop
    }

    /// Instructions were tried.
    fn tried(&mut self, count: u64) {
        self.position += count;
        if count > 0 && self.is_own() {
            self.notes.last = Some(self.position - 1);
            if self.noted == Some(self.thread.tid) {
                self.notes.last_of_thread = Some(self.position - 1);
            }
        }
    }

    /// Whether a stop is one of an instruction that failed, and the signal for it.
    fn signal_of(stop: &Stop, rip: u64) -> Option<Signal> {
        match stop {
            Stop::Exception(Exception::Memory(fault)) if fault.reason == Reason::Limit => None,
            Stop::Exception(exception) => Some(Signal::of_exception(*exception, rip)),
            Stop::Trap(trap @ (Trap::InvalidOpcode | Trap::Privileged | Trap::Debug)) => {
                Some(of_trap(*trap, rip))
            }
            _ => None,
        }
    }
}

/// The bytes that are watched, if they are there.
fn bytes(space: &AddressSpace, watch: &Watch) -> Option<Vec<u8>> {
    let mut bytes = vec![0; (watch.range.end - watch.range.start) as usize];
    (space.peek(watch.range.start, &mut bytes) == bytes.len()).then_some(bytes)
}

impl Tracer for Stepper {
    fn take_turn(
        &mut self,
        thread: ThreadId,
        _program: &Arc<[u8]>,
        _entry: &dyn Fn() -> Option<u64>,
        _quiet: bool,
    ) {
        self.thread = thread;
    }

    fn run(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        quantum: u64,
    ) -> Stop {
        if self.event.is_some() {
            // A system call was it.
            return Stop::Quantum;
        }
        let limit = cpu.executed().saturating_add(quantum);
        let own = self.is_own();
        code.keep_flags(true);
        code.watch(&self.breakpoints);
        if own && !self.armed {
            self.arm(space);
        } else if own && !self.watches.is_empty() && self.look(space, None) {
            return Stop::Quantum;
        }
        if own && self.stepped {
            self.stepped = false;
            return self.halt(Event::Stepped);
        }
        loop {
            if cpu.executed() >= limit {
                return Stop::Quantum;
            }
            if self.position >= self.wish.until {
                return self.halt(Event::Reached);
            }
            let at_breakpoint = own && self.breakpoints.contains(&cpu.rip());
            if at_breakpoint && self.wish.passed != Some(self.position) {
                self.notes.hit = Some((self.position, Event::Breakpoint));
                if self.wish.stops {
                    return self.halt(Event::Breakpoint);
                }
            }
            let steps = own && self.wish.step == Some(self.thread.tid);
            let room = (limit - cpu.executed()).min(self.wish.until - self.position);
            let before = cpu.executed();
            let mut stop = if steps || at_breakpoint || room <= LONGEST as u64 {
                cpu::run_one(cpu, space, code)
            } else {
                // A block is not left in its middle.
                cpu::run(cpu, space, code, room - LONGEST as u64)
            };
            self.tried(cpu.executed() - before);
            if stop == Stop::Trap(Trap::Watched) {
                // Another process may have been meant, or it is passed in the next round.
                if own && self.breakpoints.contains(&cpu.rip()) {
                    continue;
                }
                let before = cpu.executed();
                stop = cpu::run_one(cpu, space, code);
                self.tried(cpu.executed() - before);
            }
            let mut touched = None;
            if let Stop::Exception(Exception::Memory(fault)) = stop
                && fault.reason == Reason::Marked
            {
                let before = cpu.executed();
                stop = Self::blindly(cpu, space, code);
                self.tried(cpu.executed() - before);
                touched = Some(fault);
            }
            if let Some(signal) = Self::signal_of(&stop, cpu.rip()) {
                if own && self.wish.stops && self.wish.passed_fault != Some(self.position) {
                    return self.halt(Event::Fault(signal));
                }
                self.tried(1);
            } else if matches!(stop, Stop::Exception(_) | Stop::Trap(Trap::Unsupported)) {
                self.tried(1);
            }
            // Who has made the step and a hit is told of the hit.
            if touched.is_some() && own && self.look(space, touched) {
                return Stop::Quantum;
            }
            if steps {
                if stop == Stop::Quantum {
                    return self.halt(Event::Stepped);
                }
                self.stepped = true;
            }
            if stop != Stop::Quantum {
                return stop;
            }
        }
    }

    fn halted(&self) -> bool {
        self.event.is_some()
    }

    fn in_steps(&self) -> bool {
        false
    }

    fn signal(&mut self, _cpu: &mut Cpu) {}

    fn system_call(&mut self, _cpu: &mut Cpu) {}

    fn call_looked_at(&mut self, _looks: Vec<(Mark, u8)>) {}

    fn code_looked_at(&mut self, _looks: Vec<(Mark, u8)>) {}

    fn call_is_over(&mut self, _cpu: Option<&Cpu>, space: &mut AddressSpace) {
        // What the kernel has read is not seen, but what it has changed is. The run stops when it goes on.
        if self.is_own() && self.armed && !self.watches.is_empty() {
            self.look(space, None);
        }
    }

    fn program_is_loaded(&mut self, _cpu: &Cpu, _space: &mut AddressSpace, _modules: Vec<Module>) {}

    fn knows_program(&self) -> bool {
        false
    }

    fn library_is_mapped(&mut self, _modules: &[Module]) {}
}

/// A thread, for whoever lists them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadSeen {
    /// Its number.
    pub tid: Tid,
    /// The name that it gave itself, or its program's.
    pub name: Vec<u8>,
}

impl Machine {
    /// Runs until the wish is met or an event stops it, or to the end, which is the second case.
    pub fn run_in_steps(&mut self, stepper: &mut Stepper, wish: Wish) -> Result<Event, Ending> {
        stepper.event = None;
        stepper.notes = Notes::default();
        (stepper.wish, stepper.stepped) = (wish, false);
        let limits = Limits { instructions: u64::MAX };
        let (kernel, engine) = self.parts();
        let ending = kernel.run(engine, Some(stepper), limits, &mut |_| {});
        stepper.event.take().ok_or(ending)
    }

    /// The first process.
    #[must_use]
    pub fn first_process(&self) -> Pid {
        crate::linux::FIRST_PID
    }

    /// The threads of a process.
    #[must_use]
    pub fn threads(&mut self, pid: Pid) -> Vec<ThreadSeen> {
        let process = self.kernel().process_if_there(pid).filter(|it| it.death.is_none());
        let threads = process.map_or(&[][..], |process| &process.threads).iter();
        let name = |name: &[u8]| name.split(|&byte| byte == 0).next().unwrap_or_default().to_vec();
        threads.map(|thread| ThreadSeen { tid: thread.tid, name: name(&thread.name) }).collect()
    }

    /// The processor of a thread, to look at or to change.
    pub fn processor(&mut self, thread: ThreadId) -> Option<&mut Cpu> {
        self.kernel().cpu(thread)
    }

    /// The memory of a process, unless it has lent it.
    pub fn memory(&mut self, pid: Pid) -> Option<&AddressSpace> {
        self.kernel().process_if_there(pid)?.space.as_ref()
    }

    /// Changes the memory of a process; gives whether all of it is there.
    pub fn poke(&mut self, pid: Pid, address: u64, bytes: &[u8]) -> bool {
        let process = self.kernel().process_if_there(pid);
        let space = process.and_then(|process| process.space.as_mut());
        space.is_some_and(|space| space.poke(address, bytes))
    }

    /// The path of a process's program, and its auxiliary vector.
    #[must_use]
    pub fn program(&mut self, pid: Pid) -> Option<[Arc<[u8]>; 2]> {
        let program = &self.kernel().process_if_there(pid)?.program;
        Some([Arc::clone(&program.path), Arc::clone(&program.auxiliary)])
    }

    /// Whether there is one thread, of one process.
    #[must_use]
    pub fn is_alone(&mut self) -> bool {
        let processes = &self.kernel().processes.0;
        processes.len() == 1 && processes.values().all(|process| process.threads.len() == 1)
    }

    /// How many pages were copied so far because a snapshot has them, too.
    #[must_use]
    pub fn copied_pages(&mut self) -> u64 {
        let spaces =
            self.kernel().processes.0.values().filter_map(|process| process.space.as_ref());
        spaces.map(AddressSpace::copied).sum()
    }
}
