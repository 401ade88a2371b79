//! Signals: what they do, how they wait, and how a handler is entered and left.

use super::{
    Kernel, Pid, Tid,
    errno::Errno,
    process::{Process, Thread},
};
use crate::{
    code::slots,
    cpu::Exception,
    memory::{Fault, Reason},
};

/// One more than the highest signal number.
pub(crate) const SIGNALS: usize = 65;
/// Signals that may wait in line; more are lost.
pub(crate) const MOST_PENDING: usize = 4096;

macro_rules! signals {
    ($($name:ident = $number:literal,)*) => {
        $(#[doc = concat!("`", stringify!($name), "`.")]
        #[allow(dead_code, reason = "the table is complete on purpose")]
        pub const $name: u32 = $number;)*

        /// The name of a signal.
        #[must_use]
        pub fn signal_name(signal: u32) -> &'static str {
            match signal {
                $($number => stringify!($name),)*
                _ => "a real-time signal",
            }
        }
    };
}

signals! {
    SIGHUP = 1, SIGINT = 2, SIGQUIT = 3, SIGILL = 4, SIGTRAP = 5, SIGABRT = 6, SIGBUS = 7,
    SIGFPE = 8, SIGKILL = 9, SIGUSR1 = 10, SIGSEGV = 11, SIGUSR2 = 12, SIGPIPE = 13,
    SIGALRM = 14, SIGTERM = 15, SIGSTKFLT = 16, SIGCHLD = 17, SIGCONT = 18, SIGSTOP = 19,
    SIGTSTP = 20, SIGTTIN = 21, SIGTTOU = 22, SIGURG = 23, SIGXCPU = 24, SIGXFSZ = 25,
    SIGVTALRM = 26, SIGPROF = 27, SIGWINCH = 28, SIGIO = 29, SIGPWR = 30, SIGSYS = 31,
}

const SA_ONSTACK: u64 = 0x0800_0000;
const SA_RESTART: u64 = 0x1000_0000;
const SA_NODEFER: u64 = 0x4000_0000;
const SA_RESETHAND: u64 = 0x8000_0000;
const SS_ONSTACK: u32 = 1;
const SS_DISABLE: u32 = 2;
const SS_AUTODISARM: u32 = 1 << 31;

/// What a process wants done about a signal: `struct sigaction` of the kernel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Action {
    /// 0 for the default, 1 to ignore, else an address.
    pub(crate) handler: u64,
    pub(crate) flags: u64,
    pub(crate) restorer: u64,
    pub(crate) mask: u64,
}

/// A signal on its way, with what a handler is told about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Which.
    pub number: u32,
    /// `si_code`: where it comes from.
    pub code: i32,
    /// The address of a fault; the sender's pid and uid for others.
    pub value: u64,
    /// The status of a child, or what `sigqueue` sends.
    pub extra: u64,
    /// The processor's trap number and error code, for faults.
    pub(crate) trap: (u64, u64),
}

impl Signal {
    /// A signal that a process sends.
    pub(crate) fn from_process(number: u32, pid: Pid, uid: u32, code: i32) -> Self {
        let value = u64::from(pid.0) | u64::from(uid) << 32;
        Self { number, code, value, extra: 0, trap: (0, 0) }
    }

    /// A signal that the kernel sends for no one.
    pub(crate) fn from_kernel(number: u32) -> Self {
        Self { number, code: 0x80, value: 0, extra: 0, trap: (0, 0) }
    }

    /// The signal that stands for an access that checked memory does not allow. No kernel sends one
    /// with this code.
    pub(crate) fn of_invalid_access(address: u64) -> Self {
        Self { number: SIGSEGV, code: -100, value: address, extra: 0, trap: (0, 0) }
    }

    /// Whether checked memory was accessed in a way that is not allowed.
    #[must_use]
    pub fn is_invalid_access(&self) -> bool {
        self.code == -100
    }

    /// What the kernel makes of an exception.
    pub(crate) fn of_exception(exception: Exception, rip: u64) -> Self {
        let fault = |number, code, value, trap| Self { number, code, value, extra: 0, trap };
        match exception {
            Exception::Memory(Fault { address, access, reason }) => {
                let error = match access {
                    crate::memory::Access::Read => 4,
                    crate::memory::Access::Write => 6,
                    crate::memory::Access::Execute => 0x14,
                };
                match reason {
                    Reason::Unmapped | Reason::Limit | Reason::Marked | Reason::Guarded => {
                        fault(SIGSEGV, 1, address, (14, error))
                    }
                    Reason::Protected => fault(SIGSEGV, 2, address, (14, error | 1)),
                    Reason::NotCanonical => fault(SIGSEGV, 0x80, 0, (13, 0)),
                    Reason::BehindFile => fault(SIGBUS, 2, address, (14, error)),
                }
            }
            Exception::Divide => fault(SIGFPE, 1, rip, (0, 0)),
            Exception::GeneralProtection => fault(SIGSEGV, 0x80, 0, (13, 0)),
            Exception::StackSegment => fault(SIGBUS, 0x80, 0, (12, 0)),
            Exception::InvalidOpcode => fault(SIGILL, 2, rip, (6, 0)),
            Exception::VectorFloat(bits) => fault(SIGFPE, float_code(bits), rip, (19, 0)),
            Exception::X87Float(bits) => fault(SIGFPE, float_code(bits), rip, (16, 0)),
        }
    }

    /// `siginfo_t`, as a handler is given it.
    #[must_use]
    pub fn siginfo(&self) -> [u8; 128] {
        self.encode()
    }

    /// `siginfo_t`.
    pub(crate) fn encode(&self) -> [u8; 128] {
        let mut info = [0; 128];
        info[0..4].copy_from_slice(&self.number.to_le_bytes());
        info[8..12].copy_from_slice(&self.code.to_le_bytes());
        info[16..24].copy_from_slice(&self.value.to_le_bytes());
        info[24..32].copy_from_slice(&self.extra.to_le_bytes());
        info
    }
}

/// `si_code` of a floating-point exception, by the order in which the kernel looks.
fn float_code(bits: u8) -> i32 {
    match bits {
        b if b & 0x01 != 0 => 7,
        b if b & 0x04 != 0 => 3,
        b if b & 0x08 != 0 => 4,
        b if b & 0x12 != 0 => 5,
        _ => 6,
    }
}

/// Signals that have been sent and not yet taken. Ordinary ones wait once, real-time ones in line.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pending(Vec<Signal>);

impl Pending {
    pub(crate) fn add(&mut self, signal: Signal) {
        let fresh = self.0.iter().all(|old| old.number != signal.number);
        if fresh || signal.number >= 32 && !self.is_full() {
            self.0.push(signal);
        }
    }

    /// Takes the first signal of the lowest number in `set`. Faults go before all.
    pub(crate) fn take(&mut self, set: u64) -> Option<Signal> {
        let at = (0..self.0.len())
            .filter(|&at| set & bit(self.0[at].number) != 0)
            .min_by_key(|&at| (!is_synchronous(self.0[at].number), self.0[at].number, at))?;
        Some(self.0.remove(at))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Signal> {
        self.0.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Signal> {
        self.0.iter_mut()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= MOST_PENDING
    }

    pub(crate) fn set(&self) -> u64 {
        self.0.iter().fold(0, |set, signal| set | bit(signal.number))
    }

    pub(crate) fn discard(&mut self, set: u64) {
        self.0.retain(|signal| set & bit(signal.number) == 0);
    }
}

fn is_synchronous(number: u32) -> bool {
    matches!(number, SIGSEGV | SIGBUS | SIGILL | SIGTRAP | SIGFPE | SIGSYS)
}

/// The place of a signal in a set.
pub(crate) const fn bit(number: u32) -> u64 {
    1 << (number - 1)
}

/// `stack_t`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AlternateStack {
    pub(crate) start: u64,
    pub(crate) size: u64,
    pub(crate) flags: u32,
}

impl Default for AlternateStack {
    fn default() -> Self {
        Self { start: 0, size: 0, flags: SS_DISABLE }
    }
}

impl AlternateStack {
    pub(crate) fn decode(bytes: &[u8; 24]) -> Self {
        let word = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        Self { start: word(0), flags: word(8) as u32, size: word(16) }
    }

    pub(crate) fn encode(&self, on_it: bool) -> [u8; 24] {
        let flags = if on_it { self.flags | SS_ONSTACK } else { self.flags };
        let mut bytes = [0; 24];
        bytes[0..8].copy_from_slice(&self.start.to_le_bytes());
        bytes[8..12].copy_from_slice(&flags.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.size.to_le_bytes());
        bytes
    }

    /// Whether this stack pointer is on it.
    pub(crate) fn holds(&self, rsp: u64) -> bool {
        self.flags & SS_AUTODISARM == 0
            && rsp > self.start
            && rsp - self.start <= self.size
            && self.size != 0
    }

    /// Sets a new one, as `sigaltstack` does.
    pub(crate) fn replace(&mut self, new: Self) -> Result<(), Errno> {
        match new.flags & !SS_AUTODISARM {
            SS_DISABLE => *self = Self::default(),
            0 | SS_ONSTACK if new.size < 2048 => return Err(Errno::ENOMEM),
            0 | SS_ONSTACK => *self = Self { flags: new.flags & SS_AUTODISARM, ..new },
            _ => return Err(Errno::EINVAL),
        }
        Ok(())
    }
}

/// What a signal does where no handler is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Ignore,
    Terminate,
    Core,
    Stop,
    Continue,
}

pub(crate) fn default_of(number: u32) -> Effect {
    match number {
        SIGCHLD | SIGURG | SIGWINCH => Effect::Ignore,
        SIGCONT => Effect::Continue,
        SIGSTOP | SIGTSTP | SIGTTIN | SIGTTOU => Effect::Stop,
        SIGQUIT | SIGILL | SIGTRAP | SIGABRT | SIGBUS | SIGFPE | SIGSEGV | SIGXCPU | SIGXFSZ
        | SIGSYS => Effect::Core,
        _ => Effect::Terminate,
    }
}

/// The registers in the order of `struct sigcontext`.
const CONTEXT: [u8; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 7, 6, 5, 3, 2, 0, 1, 4];
const CONTEXT_AT: usize = 48;
const FRAME: usize = 440;

/// Makes the thread enter the handler.
///
/// # Errors
/// The stack cannot take the frame.
pub(crate) fn enter(process: &mut Process, tid: Tid, signal: &Signal) -> Result<(), Fault> {
    let action = process.actions[signal.number as usize];
    let Process { space, threads, .. } = process;
    let space = space.as_mut().expect("it runs");
    let thread = threads.iter_mut().find(|thread| thread.tid == tid).expect("it runs");
    let cpu = &mut thread.cpu;
    let rsp = cpu.get(slots::RSP);
    let on_alternate = thread.alternate.holds(rsp);
    // The compiler may use 128 bytes below the stack pointer.
    let mut sp = rsp.wrapping_sub(128);
    if action.flags & SA_ONSTACK != 0 && !on_alternate && thread.alternate.size != 0 {
        sp = thread.alternate.start.wrapping_add(thread.alternate.size);
    }
    let saved = sp.wrapping_sub(512) & !63;
    let frame = (saved.wrapping_sub(FRAME as u64) & !15).wrapping_sub(8);
    let mut bytes = [0; FRAME];
    let mut put = |at: usize, value: u64| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    put(0, action.restorer);
    // uc_flags: the floating-point state is there, and ss is valid.
    put(8, 6);
    for (k, &slot) in CONTEXT.iter().enumerate() {
        put(CONTEXT_AT + 8 * k, cpu.get(slot));
    }
    put(CONTEXT_AT + 128, cpu.rip());
    put(CONTEXT_AT + 136, cpu.rflags());
    put(CONTEXT_AT + 144, 0x002b_0000_0000_0033);
    put(CONTEXT_AT + 152, signal.trap.1);
    put(CONTEXT_AT + 160, signal.trap.0);
    put(CONTEXT_AT + 168, thread.mask);
    put(CONTEXT_AT + 176, if signal.trap.0 == 14 { signal.value } else { 0 });
    put(CONTEXT_AT + 184, saved);
    put(304, thread.saved_mask.take().unwrap_or(thread.mask));
    bytes[24..48].copy_from_slice(&thread.alternate.encode(on_alternate));
    bytes[312..440].copy_from_slice(&signal.encode());
    let mut area = [0; 512];
    cpu.save_vector_state(&mut area);
    space.write(saved, &area)?;
    space.write(frame, &bytes)?;
    if thread.alternate.flags & SS_AUTODISARM != 0 {
        thread.alternate = AlternateStack::default();
    }
    cpu.set(slots::RSP, frame);
    cpu.set(slots::RIP, action.handler);
    cpu.set(slots::RDI, u64::from(signal.number));
    cpu.set(slots::RSI, frame + 312);
    cpu.set(slots::RDX, frame + 8);
    cpu.set(slots::RAX, 0);
    let flags = cpu.rflags();
    // Direction, trap and resume are cleared.
    cpu.set_rflags(flags & !0x1_0500);
    let own = if action.flags & SA_NODEFER != 0 { 0 } else { bit(signal.number) };
    thread.mask |= (action.mask | own) & !(bit(SIGKILL) | bit(SIGSTOP));
    if action.flags & SA_RESETHAND != 0 {
        let actions = std::sync::Arc::make_mut(&mut process.actions);
        actions[signal.number as usize] = Action { flags: action.flags, ..Action::default() };
    }
    Ok(())
}

/// `rt_sigreturn`: takes the frame off again.
pub(crate) fn leave(process: &mut Process, tid: Tid) -> Result<(), Fault> {
    let Process { space, threads, .. } = process;
    let space = space.as_mut().expect("it runs");
    let thread = threads.iter_mut().find(|thread| thread.tid == tid).expect("it runs");
    // The handler's `ret` took the restorer's address.
    let frame = thread.cpu.get(slots::RSP).wrapping_sub(8);
    let mut bytes = [0; FRAME];
    space.read(frame, &mut bytes)?;
    // A handler may have changed what was saved; terms cannot follow that.
    space.look(frame, FRAME as u64);
    let get = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
    let saved = get(CONTEXT_AT + 184);
    if saved != 0 {
        let mut area = [0; 512];
        space.read(saved, &mut area)?;
        space.look(saved, 512);
        // The kernel ignores bits that do not exist.
        area[26] = 0;
        area[27] = 0;
        let _ = thread.cpu.restore_vector_state(&area);
    }
    for (k, &slot) in CONTEXT.iter().enumerate() {
        thread.cpu.set(slot, get(CONTEXT_AT + 8 * k));
    }
    thread.cpu.set(slots::RIP, get(CONTEXT_AT + 128));
    thread.cpu.set_rflags(get(CONTEXT_AT + 136));
    thread.mask = get(304) & !(bit(SIGKILL) | bit(SIGSTOP));
    let alternate = AlternateStack::decode(&bytes[24..48].try_into().expect("24 bytes"));
    if alternate.flags & SS_AUTODISARM != 0 {
        let _ = thread
            .alternate
            .replace(AlternateStack { flags: alternate.flags & !SS_ONSTACK, ..alternate });
    }
    Ok(())
}

/// Whether a call that a handler interrupts is made again, by the handler's flags.
pub(crate) fn restarts(action: &Action) -> bool {
    action.flags & SA_RESTART != 0
}

impl Kernel {
    /// Sends a signal to a process. What is ignored is dropped at once, unless held back.
    pub(crate) fn send(&mut self, pid: Pid, signal: Signal) {
        let Some(process) = self.processes.0.get_mut(&pid) else { return };
        if process.death.is_none() && prepare(process, signal.number) {
            process.pending.add(signal);
        }
    }

    /// Sends a signal to one thread.
    pub(crate) fn send_to_thread(&mut self, pid: Pid, tid: Tid, signal: Signal) {
        let Some(process) = self.processes.0.get_mut(&pid) else { return };
        if process.death.is_none()
            && prepare(process, signal.number)
            && let Some(thread) = process.thread(tid)
        {
            thread.pending.add(signal);
        }
    }
}

/// The effects of sending alone: stops and continuations cancel each other. Tells whether the
/// signal is to be kept.
fn prepare(process: &mut Process, number: u32) -> bool {
    let stops = bit(SIGSTOP) | bit(SIGTSTP) | bit(SIGTTIN) | bit(SIGTTOU);
    if number == SIGCONT {
        process.pending.discard(stops);
        process.threads.iter_mut().for_each(|thread| thread.pending.discard(stops));
        if process.stopped {
            process.stopped = false;
            process.news = Some(0xffff);
        }
    } else if stops & bit(number) != 0 {
        process.pending.discard(bit(SIGCONT));
    }
    let ignored = match process.actions[number as usize].handler {
        0 => matches!(default_of(number), Effect::Ignore | Effect::Continue),
        handler => handler == 1,
    };
    let held = process.threads.iter().all(|thread: &Thread| thread.mask & bit(number) != 0);
    !ignored || held
}
