//! The scheduler: whose turn it is, what a stop of the processor means, and how a run ends.
//!
//! One thread runs at a time, until it blocks or its quantum is used up; then the next one in the
//! order of their numbers. A blocked call is simply made again when it is its thread's turn. If
//! nobody can run, the clock jumps to the next deadline. All of this is a function of the state
//! alone, so that the same state always goes on in the same way.

use super::{
    Kernel, Pid, ThreadId, Tid,
    call::{Call, Flow},
    errno::Errno,
    kernel::{self, FIRST_PID},
    modules::entry_point,
    numbers as n,
    process::{Blocked, Death, Process, State},
    signal::{self, Effect, SIGKILL, SIGSEGV, SIGTRAP, Signal, bit},
    timers::{self, Timers},
};
use crate::{
    code::{Code, Compile, Model, Trap, slots},
    cpu::{self, Cpu, Exception, Stop},
    memory::{AddressSpace, PAGE, Reason, is_behind_heap},
    tracer::Tracer,
};

/// Instructions in a turn.
const QUANTUM: u64 = 200_000;
/// Block caches to keep for programs that run by turns.
const CACHES: usize = 8;
/// How long a program may wait, in nanoseconds of its time, for connections that do not come.
const QUIET: u64 = 1_000_000_000;
/// Processes that may use all of their memory at a time.
const FULL_PROCESSES: u64 = 8;

/// How long a run may go on.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Instructions, over all processes.
    pub instructions: u64,
}

/// What was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitReached {
    /// The instructions of [`Limits`].
    Instructions,
    /// The memory of a process, of all processes, or of the files that they wrote.
    Memory,
    /// Every thread waits for another one.
    Deadlock,
}

/// How a run ended: the fate of the first process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It exited.
    Exited(u8),
    /// A signal killed it; [`Kernel::crash`] tells where.
    Killed(Signal),
    /// There is no more input: all recorded connections are over, and it waits for the next.
    Idle,
    /// A limit was reached.
    Limit(LimitReached),
    /// It needs something that the machine does not have: an instruction at this address, in the
    /// process where the run stopped, which need not be the first.
    Unsupported(u64),
}

/// A process at the moment when a signal killed it.
pub struct Crash {
    /// The process.
    pub pid: Pid,
    /// The signal.
    pub signal: Signal,
    /// The registers of the thread that got it.
    pub cpu: Cpu,
    /// The memory.
    pub space: AddressSpace,
}

impl Crash {
    /// A copy.
    pub(crate) fn fork(&mut self) -> Self {
        Self { pid: self.pid, signal: self.signal, cpu: self.cpu.clone(), space: self.space.fork() }
    }
}

/// What runs processors: block caches, which are a convenience and cost only time when dropped.
#[derive(Default)]
pub(crate) struct Engine {
    caches: Vec<Code>,
    /// Where a run that stops before each test does so: process and thread.
    pub(crate) stopped: Option<ThreadId>,
    /// The state before a system call that looked at what is followed, while the run stands before the
    /// tests that this makes.
    pub(crate) before_call: Option<Box<Kernel>>,
}

impl Engine {
    /// The cache for this address space; the least lately used one makes room.
    fn cache_for(&mut self, space: &AddressSpace) -> &mut Code {
        match self.caches.iter().position(|code| code.fits(space)) {
            Some(at) => self.caches[..=at].rotate_right(1),
            None => {
                self.caches.truncate(CACHES - 1);
                self.caches.insert(0, Code::new(Model::Baseline, Compile::WhenHot));
            }
        }
        &mut self.caches[0]
    }

    /// Runs a processor for a while.
    fn run(
        &mut self,
        tracer: &mut Traced<'_>,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        quantum: u64,
    ) -> Stop {
        let code = self.cache_for(space);
        match tracer {
            None => cpu::run(cpu, space, code, quantum),
            Some(tracer) => tracer.run(cpu, space, code, quantum),
        }
    }
}

/// Whoever follows the run, if it is followed.
pub(crate) type Traced<'a> = Option<&'a mut dyn Tracer>;

/// What a turn came to.
enum Turn {
    /// The next thread may run.
    Over,
    /// The run is over.
    Ended(Ending),
}

impl Kernel {
    /// Runs until the first process has ended and no other can go on, or a limit is reached.
    /// `watch` is called now and then, so that output can be shown as it comes.
    pub(crate) fn run(
        &mut self,
        engine: &mut Engine,
        mut tracer: Traced<'_>,
        limits: Limits,
        watch: &mut dyn FnMut(&mut Self),
    ) -> Ending {
        loop {
            let executed = self.executed;
            if executed >= limits.instructions {
                return Ending::Limit(LimitReached::Instructions);
            }
            if self.takes_too_much() {
                return Ending::Limit(LimitReached::Memory);
            }
            let next = match self.interrupted.take() {
                Some(rest) => Some(rest),
                None => {
                    self.ring_alarms();
                    self.ring_timers();
                    let end = executed.saturating_add(QUANTUM);
                    self.choose().map(|thread| (thread, end))
                }
            };
            match next {
                Some(next) => {
                    let turn = self.turn(engine, &mut tracer, next, limits.instructions);
                    if let Turn::Ended(ending) = turn {
                        return ending;
                    }
                    if let Some(signal) = self.failed_connection() {
                        return Ending::Killed(signal);
                    }
                    watch(self);
                }
                None if self.processes.0.keys().any(|&pid| self.exhausted(pid)) => {
                    return Ending::Limit(LimitReached::Memory);
                }
                None => match self.next_event() {
                    Some(_) if self.is_quiet() => return self.ending().unwrap_or(Ending::Idle),
                    Some(time) => self.clock.advance_to(time),
                    None if self.files.let_next_client_come() => {}
                    None => {
                        let waits = match self.files.has_connections() {
                            true => Ending::Idle,
                            false => Ending::Limit(LimitReached::Deadlock),
                        };
                        return self.ending().unwrap_or(waits);
                    }
                },
            }
        }
    }

    /// The signal that killed a process, if there are connections: whoever handles one stands for
    /// the program, which may well go on without it.
    fn failed_connection(&self) -> Option<Signal> {
        let signal = self.crash.as_ref().filter(|_| self.files.has_connections())?.signal;
        let fails = signal::default_of(signal.number) == Effect::Core;
        (fails || signal.is_invalid_access()).then_some(signal)
    }

    /// Whether nothing has happened for a while since the last connection was closed. A server may
    /// wake up again and again, and find nothing to do.
    fn is_quiet(&mut self) -> bool {
        if !self.files.has_connections() || !self.files.connections_are_over() {
            return false;
        }
        let now = self.clock.now();
        now.saturating_sub(*self.quiet_since.get_or_insert(now)) > QUIET
    }

    /// How the first process ended, if it has.
    fn ending(&self) -> Option<Ending> {
        match self.processes.0.get(&FIRST_PID)?.death? {
            Death::Exited(code) => Some(Ending::Exited(code)),
            Death::Killed { signal, .. } => Some(match &self.crash {
                Some(crash) if crash.pid == FIRST_PID => Ending::Killed(crash.signal),
                _ => Ending::Killed(Signal::from_kernel(signal)),
            }),
        }
    }

    /// The next thread that can run.
    fn choose(&mut self) -> Option<ThreadId> {
        let mut threads: Vec<(Tid, Pid)> = Vec::new();
        for process in self.processes.0.values() {
            // Who has lent its memory waits.
            if process.death.is_none() && process.space.is_some() {
                threads.extend(process.threads.iter().map(|thread| (thread.tid, process.pid)));
            }
        }
        threads.sort_unstable();
        let after = threads.partition_point(|&(tid, _)| tid <= self.turn);
        threads.rotate_left(after);
        let mut threads = threads.into_iter().map(|(tid, pid)| ThreadId { pid, tid });
        threads.find(|&ThreadId { pid, tid }| self.can_run(pid, tid))
    }

    /// Whether a thread can go on; tries its blocked call again.
    fn can_run(&mut self, pid: Pid, tid: Tid) -> bool {
        let process = self.process(pid);
        let process_pending = process.pending.set();
        let stopped = process.stopped;
        let Some(thread) = process.thread(tid) else { return false };
        let signals = (thread.pending.set() | process_pending) & !thread.mask;
        if stopped {
            return signals & bit(SIGKILL) != 0;
        }
        let State::Blocked(blocked) = &thread.state else { return true };
        let blocked = blocked.clone();
        let (number, arguments) = (blocked.number, blocked.arguments);
        thread.resumed = Some(blocked);
        self.tell_time();
        let mut call = Call { kernel: self, pid, tid, number, arguments };
        match kernel::dispatch(&mut call) {
            Flow::Block(deadline) => {
                let thread = call.thread();
                let next = thread.resumed.take();
                thread.state = State::Blocked(
                    next.unwrap_or_else(|| Box::new(Blocked::new(number, arguments, deadline))),
                );
                if signals == 0 {
                    return false;
                }
                self.interrupt(pid, tid, number)
            }
            flow => {
                let thread = call.thread();
                thread.state = State::Ready;
                thread.resumed = None;
                if let Flow::Done(result) = flow {
                    thread.cpu.set(slots::RAX, encode(result));
                    // A mask for the time of the call goes with it.
                    if let (Some(mask), true) = (thread.saved_mask, signals == 0) {
                        thread.mask = mask;
                        thread.saved_mask = None;
                    }
                }
                true
            }
        }
    }

    /// A signal comes while a call is blocked. Gives whether the thread can run now.
    fn interrupt(&mut self, pid: Pid, tid: Tid, number: u64) -> bool {
        let process = self.process(pid);
        let shared = process.pending.set();
        let actions = std::sync::Arc::clone(&process.actions);
        let thread = process.thread(tid).expect("it is blocked");
        let set = (thread.pending.set() | shared) & !thread.mask;
        // The one that will be delivered first decides.
        let Some(first) = (1..=64).find(|&number| set & bit(number) != 0) else { return false };
        let action = actions[first as usize];
        if action.handler == 0
            && matches!(signal::default_of(first), Effect::Ignore | Effect::Continue)
            || action.handler == 1
        {
            thread.pending.discard(bit(first));
            process.pending.discard(bit(first));
            return false;
        }
        thread.state = State::Ready;
        if action.handler > 1 {
            if signal::restarts(&action) && restartable(number) {
                let rip = thread.cpu.rip().wrapping_sub(2);
                thread.cpu.set(slots::RIP, rip);
                thread.cpu.set(slots::RAX, number);
            } else {
                thread.cpu.set(slots::RAX, encode(Err(Errno::EINTR)));
            }
        }
        true
    }

    /// The next time at which something happens by itself.
    fn next_event(&self) -> Option<u64> {
        let mut next: Option<u64> = None;
        // What is already due did not help.
        let clock = self.clock;
        let mut consider = |time: u64| {
            if clock.awaits(time) {
                next = Some(next.map_or(time, |best| best.min(time)));
            }
        };
        for process in self.processes.0.values().filter(|process| process.death.is_none()) {
            // An alarm that nobody hears changes nothing, however often it comes.
            let heard = !timers::ignored(process, signal::SIGALRM)
                && process.pending.set() & bit(signal::SIGALRM) == 0;
            if let (Some((at, _)), true) = (process.alarm, heard) {
                consider(at);
            }
            Timers::next(process).into_iter().for_each(&mut consider);
            for thread in &process.threads {
                if let State::Blocked(blocked) = &thread.state {
                    blocked.deadline.into_iter().for_each(&mut consider);
                }
            }
        }
        next
    }

    fn ring_alarms(&mut self) {
        let now = self.clock.now();
        let mut due = Vec::new();
        for process in self.processes.0.values_mut() {
            if let Some((at, period)) = process.alarm
                && at <= now
                && process.death.is_none()
            {
                due.push(process.pid);
                process.alarm = (period != 0).then(|| (now.saturating_add(period), period));
            }
        }
        for pid in due {
            self.send(pid, Signal::from_kernel(signal::SIGALRM));
        }
    }

    /// Lets a thread run to the end of its turn, or to a limit. In the latter case the turn goes on
    /// when the run does: where a run is stopped must not show in how it goes on.
    fn turn(
        &mut self,
        engine: &mut Engine,
        tracer: &mut Traced<'_>,
        next: (ThreadId, u64),
        limit: u64,
    ) -> Turn {
        let (thread @ ThreadId { pid, tid }, end) = next;
        self.turn = tid;
        let until = end.min(limit);
        let cut = loop {
            if self.end_refused(pid, tid) {
                break false;
            }
            if self.executed >= until {
                break self.executed < end;
            }
            if let Some(tracer) = tracer
                && self.will_be_handled(pid, tid)
                && let Some(thread) = self.process(pid).thread(tid)
            {
                tracer.signal(&mut thread.cpu);
                if tracer.halted() {
                    return self.halt(engine, next, true);
                }
            }
            let runs = self.deliver(pid, tid);
            if self.exhausted(pid) {
                return Turn::Ended(Ending::Limit(LimitReached::Memory));
            }
            if !runs {
                break false;
            }
            let quantum = until - self.executed;
            if let Some(tracer) = tracer {
                let quiet = self.is_quiet_output(pid);
                let program = &self.process(pid).program;
                let entry = || entry_point(program);
                tracer.take_turn(thread, &program.auxiliary, &entry, quiet);
            }
            let Process { space, threads, stopped, .. } = self.process(pid);
            let thread = threads.iter_mut().find(|thread| thread.tid == tid);
            let (Some(space), Some(thread), false) = (space, thread, *stopped) else {
                break false;
            };
            let before = thread.cpu.executed();
            let stop = engine.run(tracer, &mut thread.cpu, space, quantum);
            let done = thread.cpu.executed() - before;
            let rip = thread.cpu.rip();
            let invalid = invalid_access(space, &stop);
            if let Some(tracer) = tracer {
                tracer.code_looked_at(space.take_looks());
            }
            self.executed += done;
            self.clock.advance(done);
            if tracer.as_ref().is_some_and(|tracer| tracer.halted()) {
                return self.halt(engine, next, true);
            }
            if let Some(address) = invalid {
                self.kill(pid, tid, Signal::of_invalid_access(address), true);
                break false;
            }
            match stop {
                Stop::Quantum => {}
                Stop::Syscall => {
                    let in_steps = tracer.as_ref().is_some_and(|tracer| tracer.in_steps());
                    let before = if in_steps { self.before_call(next) } else { None };
                    if let Some(tracer) = tracer
                        && let Some(thread) = self.process(pid).thread(tid)
                    {
                        tracer.system_call(&mut thread.cpu);
                    }
                    let goes_on = self.system_call(pid, tid);
                    if let Some(tracer) = tracer
                        && let Some(process) = self.processes.0.get_mut(&pid)
                        && let Some(space) = &mut process.space
                    {
                        tracer.call_looked_at(space.take_looks());
                        if tracer.halted() {
                            engine.before_call = before;
                            return self.halt(engine, next, goes_on);
                        }
                    }
                    if let Some(tracer) = tracer {
                        self.tell_after_call(ThreadId { pid, tid }, *tracer);
                    }
                    if self.exhausted(pid) || self.files.held() > self.memory {
                        return Turn::Ended(Ending::Limit(LimitReached::Memory));
                    }
                    if self.end_refused(pid, tid) || !goes_on {
                        break false;
                    }
                }
                Stop::Exception(Exception::Memory(fault)) if fault.reason == Reason::Limit => {
                    return Turn::Ended(Ending::Limit(LimitReached::Memory));
                }
                Stop::Exception(exception) => {
                    self.force(pid, tid, Signal::of_exception(exception, rip));
                }
                Stop::Trap(Trap::Unsupported) => {
                    self.stuck = Some(pid);
                    return Turn::Ended(Ending::Unsupported(rip));
                }
                Stop::Trap(Trap::Watched) => {
                    if let Some(tracer) = tracer {
                        self.tell_program(pid, *tracer);
                    }
                }
                Stop::Trap(trap) => self.force(pid, tid, of_trap(trap, rip)),
            }
        };
        if cut {
            self.interrupted = Some(next);
            return Turn::Over;
        }
        self.sync_after_turn(pid);
        Turn::Over
    }

    /// Tells a tracer that a system call is over, and what it has mapped.
    fn tell_after_call(&mut self, ThreadId { pid, tid }: ThreadId, tracer: &mut dyn Tracer) {
        if let Some(at) = self.mapped_code.take()
            && tracer.knows_program()
            && self.processes.0.contains_key(&pid)
        {
            self.tell_library(pid, at, tracer);
        }
        if let Some(Process { space: Some(space), threads, .. }) = self.process_if_there(pid) {
            let thread = threads.iter().find(|thread| thread.tid == tid);
            tracer.call_is_over(thread.map(|thread| &thread.cpu), space);
        }
    }

    /// Ends a process that told the kernel to store where memory is checked and nobody may; gives
    /// whether it did.
    fn end_refused(&mut self, pid: Pid, tid: Tid) -> bool {
        let space = self.process_if_there(pid).and_then(|process| process.space.as_mut());
        let Some(address) = space.and_then(AddressSpace::take_refused) else { return false };
        self.kill(pid, tid, Signal::of_invalid_access(address), true);
        true
    }

    /// Whether nobody inside the machine reads what a process writes to its standard streams.
    fn is_quiet_output(&self, pid: Pid) -> bool {
        let Some(process) = self.processes.0.get(&pid) else { return false };
        [1, 2].into_iter().all(|fd| {
            // Who has closed one writes nothing to it.
            process.descriptors.get(fd).map_or(true, |file| self.files.is_output(file))
        })
    }

    /// Stops in the middle of a turn, which goes on when the run does, unless the thread does not.
    fn halt(&mut self, engine: &mut Engine, next: (ThreadId, u64), goes_on: bool) -> Turn {
        engine.stopped = Some(next.0);
        if goes_on {
            self.interrupted = Some(next);
        } else {
            self.sync_after_turn(next.0.pid);
        }
        Turn::Ended(Ending::Limit(LimitReached::Instructions))
    }

    /// The state before the system call that a thread is about to make, in case that the call looks
    /// at what is followed.
    fn before_call(&mut self, next: (ThreadId, u64)) -> Option<Box<Self>> {
        let (ThreadId { pid, tid }, _) = next;
        let process = self.process(pid);
        let marked = process.space.as_ref().is_some_and(AddressSpace::has_marks);
        let number = process.thread(tid)?.cpu.get(slots::RAX);
        if !marked || never_looks(number) {
            return None;
        }
        let mut before = Box::new(self.fork());
        before.interrupted = Some(next);
        before.executed -= 1;
        before.clock.take_back(1);
        let cpu = &mut before.process(pid).thread(tid)?.cpu;
        cpu.set(slots::RIP, cpu.rip().wrapping_sub(2));
        cpu.executed -= 1;
        Some(before)
    }

    /// Whether the memory of a process was not enough, also inside a system call, which can only
    /// answer that an address is bad.
    fn exhausted(&self, pid: Pid) -> bool {
        let space = self.processes.0.get(&pid).and_then(|process| process.space.as_ref());
        space.is_some_and(AddressSpace::exhausted)
    }

    /// Whether all processes together, or the files, take more than the host should give. What
    /// processes share is counted for each, so that the answer depends on nothing else.
    fn takes_too_much(&self) -> bool {
        let limit = self.memory / PAGE;
        let spaces = self.processes.0.values().filter_map(|process| process.space.as_ref());
        let pages: u64 = spaces.map(|space| limit.saturating_sub(space.pages_left())).sum();
        pages > limit.saturating_mul(FULL_PROCESSES)
    }

    fn sync_after_turn(&mut self, pid: Pid) {
        if self.processes.0.get(&pid).is_some_and(|process| process.space.is_some()) {
            self.sync_mappings(pid);
        }
    }

    /// Makes the system call that the thread asks for. Gives whether it goes on at once.
    fn system_call(&mut self, pid: Pid, tid: Tid) -> bool {
        self.tell_time();
        let cpu = &mut self.process(pid).thread(tid).expect("it runs").cpu;
        let number = cpu.get(slots::RAX);
        let arguments = [7, 6, 2, 10, 8, 9].map(|slot| cpu.get(slot));
        // The instruction keeps the return address and the flags in registers.
        let (rip, flags) = (cpu.rip(), cpu.rflags());
        cpu.set(slots::RCX, rip);
        cpu.set(slots::R11, flags);
        let mut call = Call { kernel: self, pid, tid, number, arguments };
        match kernel::dispatch(&mut call) {
            Flow::Done(result) => {
                let thread = call.thread();
                thread.resumed = None;
                thread.cpu.set(slots::RAX, encode(result));
                number != n::SCHED_YIELD && self.process(pid).space.is_some()
            }
            Flow::Block(deadline) => {
                let thread = call.thread();
                let next = thread.resumed.take();
                thread.state = State::Blocked(
                    next.unwrap_or_else(|| Box::new(Blocked::new(number, arguments, deadline))),
                );
                false
            }
            Flow::Leave => self.processes.0.get_mut(&pid).is_some_and(|process| {
                process.death.is_none()
                    && process.threads.iter().any(|t| t.tid == tid || t.tid == pid.first_thread())
            }),
        }
    }

    /// Sends a signal that cannot be held back: the instruction that caused it would come again.
    fn force(&mut self, pid: Pid, tid: Tid, signal: Signal) {
        let process = self.process(pid);
        let action = process.actions[signal.number as usize];
        let thread = process.thread(tid).expect("it runs");
        if thread.mask & bit(signal.number) != 0 || action.handler == 1 {
            thread.mask &= !bit(signal.number);
            let actions = std::sync::Arc::make_mut(&mut process.actions);
            actions[signal.number as usize] = Default::default();
        }
        let thread = self.process(pid).thread(tid).expect("it runs");
        thread.pending.add(signal);
    }

    /// Whether a signal is about to interrupt a thread for a handler.
    fn will_be_handled(&mut self, pid: Pid, tid: Tid) -> bool {
        let Some(process) = self.processes.0.get_mut(&pid) else { return false };
        let shared = process.pending.set();
        let Some(thread) = process.threads.iter().find(|thread| thread.tid == tid) else {
            return false;
        };
        let set = (thread.pending.set() | shared) & !thread.mask;
        set != 0
            && (1..=64).any(|number| {
                set & bit(number) != 0 && process.actions[number as usize].handler > 1
            })
    }

    /// Delivers what is pending; gives whether the thread still runs.
    fn deliver(&mut self, pid: Pid, tid: Tid) -> bool {
        loop {
            let Some(process) = self.processes.0.get_mut(&pid) else { return false };
            if process.death.is_some() {
                return false;
            }
            let Some(thread) = process.threads.iter_mut().find(|thread| thread.tid == tid) else {
                return false;
            };
            if thread.pending.set() == 0 && process.pending.set() == 0 {
                return true;
            }
            let wanted = !thread.mask;
            let taken = thread.pending.take(wanted).or_else(|| process.pending.take(wanted));
            let Some(signal) = taken else { return true };
            let action = process.actions[signal.number as usize];
            match action.handler {
                1 => {}
                0 => match signal::default_of(signal.number) {
                    Effect::Ignore | Effect::Continue => {}
                    Effect::Stop => {
                        process.stopped = true;
                        process.news = Some(signal.number << 8 | 0x7f);
                        return false;
                    }
                    effect => {
                        self.kill(pid, tid, signal, effect == Effect::Core);
                        return false;
                    }
                },
                _ => {
                    if signal::enter(process, tid, &signal).is_err() {
                        // No room for the frame: as the kernel does, a segmentation fault, and if
                        // that has no room either, the end.
                        if self.exhausted(pid) {
                            return false;
                        }
                        let fault = Signal::from_kernel(SIGSEGV);
                        if signal.number == SIGSEGV {
                            self.kill(pid, tid, fault, true);
                            return false;
                        }
                        self.force(pid, tid, fault);
                    }
                }
            }
        }
    }

    /// Ends a process by a signal, and keeps what is needed to tell where.
    fn kill(&mut self, pid: Pid, tid: Tid, signal: Signal, core: bool) {
        let first_is_kept = self.crash.as_ref().is_some_and(|crash| crash.pid == FIRST_PID);
        let process = self.process(pid);
        let cpu = process.thread(tid).map(|thread| thread.cpu.clone());
        let space = process.space.as_mut().map(AddressSpace::fork);
        if let (Some(cpu), Some(space), false) = (cpu, space, first_is_kept) {
            self.crash = Some(Box::new(Crash { pid, signal, cpu, space }));
        }
        self.end_process(pid, Death::Killed { signal: signal.number, core });
    }

    /// The last process that a signal killed; the first process, if it is among them.
    #[must_use]
    pub fn crash(&mut self) -> Option<&mut Crash> {
        self.crash.as_deref_mut()
    }

    /// Instructions executed, over all processes.
    #[must_use]
    pub fn executed(&self) -> u64 {
        self.executed
    }
}

/// Where checked memory was accessed in a way that is not allowed, if that is why a processor stopped.
fn invalid_access(space: &AddressSpace, stop: &Stop) -> Option<u64> {
    let Stop::Exception(Exception::Memory(fault)) = stop else { return None };
    let invalid = fault.reason == Reason::Guarded || is_behind_heap(space, fault.address);
    invalid.then_some(fault.address)
}

/// Calls that are given no memory to look at.
fn never_looks(number: u64) -> bool {
    matches!(
        number,
        n::READ
            | n::CLOSE
            | n::FSTAT
            | n::LSEEK
            | n::MMAP
            | n::MUNMAP
            | n::MPROTECT
            | n::MREMAP
            | n::MADVISE
            | n::BRK
            | n::EXIT
            | n::EXIT_GROUP
            | n::SCHED_YIELD
            | n::GETPID
            | n::GETTID
    )
}

/// A result as it is returned in `rax`.
fn encode(result: Result<u64, Errno>) -> u64 {
    match result {
        Ok(value) => value,
        Err(errno) => (-i64::from(errno.number())) as u64,
    }
}

pub(crate) fn of_trap(trap: Trap, rip: u64) -> Signal {
    let of = |number, code, value, trap| Signal { number, code, value, extra: 0, trap };
    match trap {
        Trap::Breakpoint => of(SIGTRAP, 0x80, 0, (3, 0)),
        Trap::Debug => of(SIGTRAP, 1, rip, (1, 0)),
        Trap::Privileged => of(SIGSEGV, 0x80, 0, (13, 0)),
        Trap::InvalidOpcode | Trap::Unsupported | Trap::Fetch | Trap::Syscall | Trap::Watched => {
            of(signal::SIGILL, 2, rip, (6, 0))
        }
    }
}

/// Calls that go on after a handler with `SA_RESTART`; the others return `EINTR` whatever it says.
fn restartable(number: u64) -> bool {
    !matches!(
        number,
        n::NANOSLEEP
            | n::CLOCK_NANOSLEEP
            | n::POLL
            | n::PPOLL
            | n::SELECT
            | n::PSELECT6
            | n::EPOLL_WAIT
            | n::EPOLL_PWAIT
            | n::EPOLL_PWAIT2
            | n::PAUSE
            | n::RT_SIGSUSPEND
            | n::RT_SIGTIMEDWAIT
    )
}
