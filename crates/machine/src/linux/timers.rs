//! POSIX timers: `timer_create` and its family, by the machine's clock.
//!
//! A timer belongs to a process. A child does not get it, and `execve` forgets it. Always: at most
//! one signal of a timer waits to be taken; what expires meanwhile is counted as an overrun, and
//! the waiting signal tells the count. Processor time goes as the machine's clock tells it, so that
//! all clocks run at one pace and differ only in where they begin.

use std::collections::BTreeMap;

use super::{
    Kernel, Tid,
    call::{Call, Flow},
    clock::SECOND,
    errno::Errno,
    numbers as n,
    process::Process,
    signal::{self, Effect, SIGALRM, Signal},
    time_calls,
};

/// Timers that a process may have.
const MOST: usize = 4096;
/// `SI_TIMER`: the signal comes from a timer.
const FROM_TIMER: i32 = -2;
/// `DELAYTIMER_MAX`: overruns are not counted further.
const MOST_OVERRUNS: u64 = i32::MAX as u64;

/// What happens when a timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notify {
    /// Nothing: the program looks.
    Nobody,
    /// A signal to the process, with a value.
    Process(u32, u64),
    /// A signal to one thread, with a value.
    Thread(Tid, u32, u64),
}

/// A timer.
#[derive(Clone, Copy, Debug)]
struct Timer {
    clock: u64,
    notify: Notify,
    /// When it expires next, by the machine's clock.
    next: Option<u64>,
    /// The time between two expirations; zero if there is one only.
    period: u64,
    /// Expirations that were not told by a signal of their own.
    overruns: u64,
}

/// The timers of a process, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Timers {
    by_number: BTreeMap<u32, Timer>,
    /// The number of the next one: numbers are not used again.
    fresh: u32,
}

impl Timer {
    /// How often it expires up to `now`; sets when it does so next.
    fn expire(&mut self, now: u64) -> u64 {
        let Some(next) = self.next.filter(|&next| next <= now) else { return 0 };
        let Some(more) = (now - next).checked_div(self.period) else {
            self.next = None;
            return 1;
        };
        self.next = next.checked_add((more + 1).saturating_mul(self.period));
        more + 1
    }

    /// `struct itimerspec`.
    fn encode(&self, now: u64) -> Vec<u8> {
        let left = self.next.map_or(0, |next| next.saturating_sub(now));
        [time_calls::timespec(self.period), time_calls::timespec(left)].concat()
    }
}

impl Timers {
    /// When the next timer expires that can be heard. One whose signal is ignored, or waits
    /// already, changes nothing for anybody.
    pub(crate) fn next(process: &Process) -> Option<u64> {
        let timers = process.timers.by_number.iter();
        let heard = timers.filter(|&(&number, timer)| {
            let signal = match timer.notify {
                Notify::Nobody => return false,
                Notify::Process(signal, _) | Notify::Thread(_, signal, _) => signal,
            };
            !ignored(process, signal) && !waits(process, number)
        });
        heard.filter_map(|(_, timer)| timer.next).min()
    }

    /// Lets the timers expire that are due; gives the signals to send, some to a single thread.
    fn ring(process: &mut Process, now: u64) -> Vec<(Option<Tid>, Signal)> {
        let mut due = Vec::new();
        let mut timers = std::mem::take(&mut process.timers);
        for (&number, timer) in &mut timers.by_number {
            let times = timer.expire(now);
            if times == 0 {
                continue;
            }
            if find(process, number).is_some() {
                timer.overruns = (timer.overruns + times).min(MOST_OVERRUNS);
                let told = value(number, timer.overruns);
                find(process, number).into_iter().for_each(|signal| signal.value = told);
                continue;
            }
            timer.overruns = (times - 1).min(MOST_OVERRUNS);
            let (to, signal, extra) = match timer.notify {
                Notify::Nobody => continue,
                Notify::Process(signal, extra) => (None, signal, extra),
                Notify::Thread(tid, signal, extra) => (Some(tid), signal, extra),
            };
            let value = value(number, timer.overruns);
            let signal = Signal { number: signal, code: FROM_TIMER, value, extra, trap: (0, 0) };
            due.push((to, signal));
        }
        process.timers = timers;
        due
    }
}

/// What `siginfo_t` tells of a timer: its number, and the overruns.
fn value(number: u32, overruns: u64) -> u64 {
    u64::from(number) | overruns << 32
}

fn is_of(signal: &Signal, number: u32) -> bool {
    signal.code == FROM_TIMER && signal.value as u32 == number
}

/// The signal of a timer that waits to be taken.
fn find(process: &mut Process, number: u32) -> Option<&mut Signal> {
    let of_threads = process.threads.iter_mut().flat_map(|thread| thread.pending.iter_mut());
    process.pending.iter_mut().chain(of_threads).find(|signal| is_of(signal, number))
}

fn waits(process: &Process, number: u32) -> bool {
    let of_threads = process.threads.iter().flat_map(|thread| thread.pending.iter());
    process.pending.iter().chain(of_threads).any(|signal| is_of(signal, number))
}

/// Whether sending this signal has no effect at all.
pub(crate) fn ignored(process: &Process, number: u32) -> bool {
    match process.actions[number as usize].handler {
        0 => signal::default_of(number) == Effect::Ignore,
        handler => handler == 1,
    }
}

impl Kernel {
    /// Sends the signals of all timers that are due.
    pub(crate) fn ring_timers(&mut self) {
        let now = self.clock.now();
        let mut due = Vec::new();
        for process in self.processes.0.values_mut() {
            if process.death.is_none() && !process.timers.by_number.is_empty() {
                let pid = process.pid;
                let signals = Timers::ring(process, now).into_iter();
                due.extend(signals.map(|(tid, signal)| (pid, tid, signal)));
            }
        }
        for (pid, tid, signal) in due {
            match tid {
                None => self.send(pid, signal),
                Some(tid) => self.send_to_thread(pid, tid, signal),
            }
        }
    }
}

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, ..] = call.arguments;
    let result = match call.number {
        n::TIMER_CREATE => create(call, a, b, c),
        n::TIMER_SETTIME => set(call, a as u32, b & 1 != 0, c, d),
        n::TIMER_GETTIME => {
            call.kernel.ring_timers();
            let now = call.kernel.clock.now();
            let bytes = timer(call, a as u32).map(|timer| timer.encode(now));
            bytes.and_then(|bytes| call.put(b, &bytes)).map(|()| 0)
        }
        n::TIMER_GETOVERRUN => timer(call, a as u32).map(|timer| timer.overruns),
        n::TIMER_DELETE => {
            let removed = call.process().timers.by_number.remove(&(a as u32));
            removed.map(|_| 0).ok_or(Errno::EINVAL)
        }
        _ => return None,
    };
    Some(result.into())
}

fn timer<'a>(call: &'a mut Call<'_>, number: u32) -> Result<&'a mut Timer, Errno> {
    call.process().timers.by_number.get_mut(&number).ok_or(Errno::EINVAL)
}

fn create(call: &mut Call<'_>, clock: u64, event: u64, to: u64) -> Result<u64, Errno> {
    // What the clock says now, or that there is no such clock.
    time_calls::clock(call, clock)?;
    if matches!(clock as i32, 4..=6) {
        // Raw and coarse clocks have no timers.
        return Err(Errno::EOPNOTSUPP);
    }
    let timers = &call.process().timers;
    let number = timers.fresh;
    if timers.by_number.len() >= MOST {
        return Err(Errno::EAGAIN);
    }
    let notify = match event {
        0 => Notify::Process(SIGALRM, u64::from(number)),
        at => notification(call, at)?,
    };
    call.put(to, &number.to_le_bytes())?;
    let timers = &mut call.process().timers;
    timers.fresh += 1;
    let timer = Timer { clock, notify, next: None, period: 0, overruns: 0 };
    timers.by_number.insert(number, timer);
    Ok(0)
}

/// Reads a `struct sigevent`.
fn notification(call: &mut Call<'_>, at: u64) -> Result<Notify, Errno> {
    const SIGNAL: u32 = 0;
    const NONE: u32 = 1;
    // The C library makes a thread of its own for this; to the kernel it is a signal.
    const THREAD: u32 = 2;
    const THREAD_ID: u32 = 4;
    let value = call.word(at)?;
    let (number, how) = (call.half(at.wrapping_add(8))?, call.half(at.wrapping_add(12))?);
    match how {
        NONE => return Ok(Notify::Nobody),
        SIGNAL | THREAD | THREAD_ID if (1..=64).contains(&number) => {}
        _ => return Err(Errno::EINVAL),
    }
    if how != THREAD_ID {
        return Ok(Notify::Process(number, value));
    }
    let tid = Tid(call.half(at.wrapping_add(16))?);
    call.process().thread(tid).ok_or(Errno::EINVAL)?;
    Ok(Notify::Thread(tid, number, value))
}

fn set(call: &mut Call<'_>, number: u32, absolute: bool, new: u64, old: u64) -> Result<u64, Errno> {
    if new == 0 {
        return Err(Errno::EINVAL);
    }
    let (period, after) = (time(call, new)?, time(call, new.wrapping_add(16))?);
    call.kernel.ring_timers();
    let now = call.kernel.clock.now();
    let clock = timer(call, number)?.clock;
    // An absolute time that has passed is due at once.
    let reading = if absolute { time_calls::clock(call, clock)? } else { 0 };
    let timer = timer(call, number)?;
    let before = timer.encode(now);
    timer.next = (after != 0).then(|| now.saturating_add(after.saturating_sub(reading)));
    timer.period = period;
    timer.overruns = 0;
    call.put_if(old, &before)?;
    Ok(0)
}

/// Reads a `struct timespec`.
fn time(call: &mut Call<'_>, at: u64) -> Result<u64, Errno> {
    let (seconds, nanoseconds) = (call.word(at)?, call.word(at.wrapping_add(8))?);
    if nanoseconds >= SECOND || (seconds as i64) < 0 {
        return Err(Errno::EINVAL);
    }
    Ok(seconds.saturating_mul(SECOND).saturating_add(nanoseconds))
}
