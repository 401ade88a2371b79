//! Waiting for files: `poll`, `select`, `epoll`.
//!
//! Each call looks at its files; if none is ready it sleeps, and is made again. Its own deadline
//! is kept as its progress, because it also wakes up when a timer that it watches goes off.

use super::{
    super::{
        abi::*,
        call::{Call, Flow},
        clock::SECOND,
        errno::Errno,
        fs::{EpollEvent, FileId},
        numbers as n,
        signal::{SIGKILL, SIGSTOP, bit},
        time_calls::{self, timespec, timeval},
    },
    Answer,
    user::{number, writable},
};

/// Bytes of `struct pollfd` and of `struct epoll_event`.
const ENTRY: usize = 8;
const EVENT: usize = 12;
/// What `select` calls readable, writable and exceptional.
const SETS: [u32; 3] = [
    POLLIN | POLLRDNORM | POLLRDBAND | POLLHUP | POLLERR,
    POLLOUT | POLLWRNORM | POLLWRBAND | POLLERR,
    POLLPRI,
];

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, e, f] = call.arguments;
    let held = match call.number {
        n::PPOLL => mask(call, d, e),
        n::PSELECT6 if f != 0 => call
            .word(f)
            .and_then(|at| Ok((at, call.word(f + 8)?)))
            .and_then(|(at, size)| mask(call, at, size)),
        n::EPOLL_PWAIT | n::EPOLL_PWAIT2 => mask(call, e, f),
        _ => Ok(None),
    };
    let held = match held {
        Ok(held) => held,
        Err(errno) => return Some(errno.into()),
    };
    let answer = match call.number {
        n::POLL => return Some(poll(call, a, b, Limit::Millis(c as i32), None)),
        n::PPOLL => return Some(poll(call, a, b, Limit::Timespec(c), held)),
        n::SELECT => return Some(select(call, a as i32, [b, c, d], Limit::Timeval(e), None)),
        n::PSELECT6 => return Some(select(call, a as i32, [b, c, d], Limit::Timespec(e), held)),
        n::EPOLL_WAIT | n::EPOLL_PWAIT => {
            return Some(events(call, a as i32, b, c as i32, Limit::Millis(d as i32), held));
        }
        n::EPOLL_PWAIT2 => {
            return Some(events(call, a as i32, b, c as i32, Limit::Fixed(d), held));
        }
        n::EPOLL_CREATE if (a as i32) <= 0 => Err(Errno::EINVAL),
        n::EPOLL_CREATE => new_epoll(call, 0),
        n::EPOLL_CREATE1 => new_epoll(call, a as u32),
        n::EPOLL_CTL => control(call, a as i32, b as u32, c as i32, d),
        _ => return None,
    };
    Some(answer.into())
}

/// How long a call may wait, as its argument says it.
#[derive(Clone, Copy)]
enum Limit {
    /// In milliseconds; a negative number is for ever.
    Millis(i32),
    /// The address of a `timespec`, where the rest is stored at the end.
    Timespec(u64),
    /// The address of a `timespec` that stays as it is.
    Fixed(u64),
    /// The address of a `timeval`, where the rest is stored at the end.
    Timeval(u64),
}

/// Signals to hold back meanwhile, instead of those that are held back now.
type Mask = Option<u64>;

/// The set of signals at an address, of a size that can only be one.
fn mask(call: &mut Call<'_>, at: u64, size: u64) -> Result<Mask, Errno> {
    match (at, size) {
        (0, _) => Ok(None),
        (_, 8) => call.word(at).map(Some),
        _ => Err(Errno::EINVAL),
    }
}

/// A call's end by its own wish; the largest number stands for never.
type Until = u64;
const NEVER: Until = u64::MAX - 1;

/// When the call gives up: known from before, or computed from its argument.
fn until(call: &mut Call<'_>, limit: Limit) -> Result<Until, Errno> {
    if let Some(known) = call.progress().checked_sub(1) {
        return Ok(known as u64);
    }
    let now = call.kernel.clock.now();
    let time = match limit {
        Limit::Millis(time) if time < 0 => return Ok(NEVER),
        Limit::Millis(time) => now.saturating_add(time as u64 * 1_000_000),
        Limit::Timespec(0) | Limit::Fixed(0) | Limit::Timeval(0) => return Ok(NEVER),
        Limit::Timespec(at) | Limit::Fixed(at) => time_calls::deadline(call, at, false, false)?,
        Limit::Timeval(at) => {
            let (seconds, micros) = (call.word(at)? as i64, call.word(at + 8)? as i64);
            if seconds < 0 || micros < 0 {
                return Err(Errno::EINVAL);
            }
            let time = (seconds as u64).saturating_mul(SECOND);
            now.saturating_add(time).saturating_add((micros as u64).saturating_mul(1000))
        }
    };
    Ok(time.min(NEVER))
}

/// Sleeps on, if the time is not up. `timer` is the time until something ready comes by itself.
fn sleep(call: &mut Call<'_>, until: Until, timer: Option<u64>, mask: Mask) -> Option<Flow> {
    let now = call.kernel.clock.now();
    if until <= now {
        return None;
    }
    if let Some(set) = mask
        && call.progress() == 0
    {
        let thread = call.thread();
        thread.saved_mask = Some(thread.mask);
        thread.mask = set & !(bit(SIGKILL) | bit(SIGSTOP));
    }
    let own = (until != NEVER).then_some(until);
    let timer = timer.map(|rest| now.saturating_add(rest));
    let wake = own.into_iter().chain(timer).min();
    Some(call.block(until as usize + 1, wake))
}

/// Ends a wait: the program is told how much of its time is left.
fn finish(call: &mut Call<'_>, until: Until, limit: Limit, count: u64) -> Flow {
    let rest = until.saturating_sub(call.kernel.clock.now());
    // Time that cannot be stored is lost, nothing else.
    let _ = match limit {
        Limit::Timespec(at) if until != NEVER => call.put(at, &timespec(rest)),
        Limit::Timeval(at) if until != NEVER => call.put(at, &timeval(rest)),
        _ => Ok(()),
    };
    Flow::Done(Ok(count))
}

/// The sooner of two timers.
fn sooner(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    a.into_iter().chain(b).min()
}

fn poll(call: &mut Call<'_>, list: u64, count: u64, limit: Limit, mask: Mask) -> Flow {
    let until = match until(call, limit) {
        Ok(until) => until,
        Err(errno) => return errno.into(),
    };
    if count > u64::from(call.process().descriptors.limit()) {
        return Errno::EINVAL.into();
    }
    let mut bytes = match call.bytes(list, count as usize * ENTRY) {
        Ok(bytes) => bytes,
        Err(errno) => return errno.into(),
    };
    let mut ready = 0;
    let mut timer = None;
    for entry in bytes.chunks_exact_mut(ENTRY) {
        let fd = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        let wanted = u32::from(u16::from_le_bytes([entry[4], entry[5]]));
        let found = match call.file(fd) {
            _ if fd < 0 => 0,
            Err(_) => POLLNVAL,
            Ok(file) => {
                timer = sooner(timer, call.kernel.files.next_timer(file));
                call.kernel.files.ready(file) & (wanted | POLLERR | POLLHUP | POLLNVAL)
            }
        };
        ready += u64::from(found != 0);
        entry[6..].copy_from_slice(&(found as u16).to_le_bytes());
    }
    if ready == 0
        && let Some(flow) = sleep(call, until, timer, mask)
    {
        return flow;
    }
    for (k, entry) in bytes.chunks_exact(ENTRY).enumerate() {
        if let Err(errno) = call.put(list + (k * ENTRY) as u64 + 6, &entry[6..]) {
            return errno.into();
        }
    }
    finish(call, until, limit, ready)
}

fn select(call: &mut Call<'_>, count: i32, sets: [u64; 3], limit: Limit, mask: Mask) -> Flow {
    match select_now(call, count, sets) {
        Err(errno) => errno.into(),
        Ok((ready, found, timer)) => {
            let until = match until(call, limit) {
                Ok(until) => until,
                Err(errno) => return errno.into(),
            };
            if ready == 0
                && let Some(flow) = sleep(call, until, timer, mask)
            {
                return flow;
            }
            for (at, set) in sets.into_iter().zip(found) {
                if let Err(errno) = call.put_if(at, &set) {
                    return errno.into();
                }
            }
            finish(call, until, limit, ready)
        }
    }
}

/// How many are ready, which, and when a timer goes off.
type Selected = (u64, [Vec<u8>; 3], Option<u64>);

fn select_now(call: &mut Call<'_>, count: i32, sets: [u64; 3]) -> Result<Selected, Errno> {
    if count < 0 {
        return Err(Errno::EINVAL);
    }
    // Nobody has more files than that: bits above are not looked at.
    let count = (count as u32).min(call.process().descriptors.limit()) as usize;
    let size = count.div_ceil(64) * 8;
    let mut wanted: [Vec<u8>; 3] = Default::default();
    let mut found: [Vec<u8>; 3] = Default::default();
    for (k, at) in sets.into_iter().enumerate() {
        wanted[k] = if at == 0 { vec![0; size] } else { call.bytes(at, size)? };
        found[k] = vec![0; size];
    }
    let mut ready = 0;
    let mut timer = None;
    for fd in 0..count {
        let (byte, bit) = (fd / 8, 1 << (fd % 8));
        if wanted.iter().all(|set| set[byte] & bit == 0) {
            continue;
        }
        let file = call.file(fd as i32)?;
        timer = sooner(timer, call.kernel.files.next_timer(file));
        let state = call.kernel.files.ready(file);
        for k in 0..3 {
            if wanted[k][byte] & bit != 0 && state & SETS[k] != 0 {
                found[k][byte] |= bit;
                ready += 1;
            }
        }
    }
    Ok((ready, found, timer))
}

fn new_epoll(call: &mut Call<'_>, flags: u32) -> Answer {
    let file = call.kernel.files.new_epoll(flags)?;
    number(call, file, flags)
}

fn control(call: &mut Call<'_>, epoll: i32, operation: u32, fd: i32, event: u64) -> Answer {
    let event = if operation == EPOLL_CTL_DEL {
        EpollEvent { events: 0, data: 0 }
    } else {
        let bytes: [u8; EVENT] = call.bytes(event, EVENT)?.try_into().expect("an event");
        EpollEvent::decode(&bytes)
    };
    let (epoll, file) = (call.file(epoll)?, call.file(fd)?);
    call.kernel.files.epoll_control(epoll, operation, fd, file, event).map(|()| 0)
}

fn events(call: &mut Call<'_>, epoll: i32, to: u64, most: i32, limit: Limit, mask: Mask) -> Flow {
    if most <= 0 || most > i32::MAX / EVENT as i32 {
        return Errno::EINVAL.into();
    }
    let (until, file) = match until(call, limit).and_then(|until| Ok((until, call.file(epoll)?))) {
        Ok(both) => both,
        Err(errno) => return errno.into(),
    };
    // Events that cannot be stored stay where they are.
    let room = writable(call, &[(to, most as usize * EVENT)]) / EVENT;
    match take(call, file, room) {
        Err(errno) => errno.into(),
        Ok(found) if found.is_empty() => {
            let timer = call.kernel.files.next_timer(file);
            sleep(call, until, timer, mask).unwrap_or(Flow::Done(Ok(0)))
        }
        Ok(found) => {
            let count = found.len() as u64;
            let bytes: Vec<u8> = found.into_iter().flat_map(EpollEvent::encode).collect();
            call.put(to, &bytes).map(|()| count).into()
        }
    }
}

fn take(call: &mut Call<'_>, epoll: FileId, room: usize) -> Result<Vec<EpollEvent>, Errno> {
    let files = &mut call.kernel.files;
    if room == 0 {
        return if files.ready(epoll) != 0 { Err(Errno::EFAULT) } else { Ok(Vec::new()) };
    }
    files.epoll_events(epoll, room)
}
