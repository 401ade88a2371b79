//! System calls about signals.

use std::sync::Arc;

use super::{
    Pid, Tid,
    call::{Call, Flow},
    clock::SECOND,
    errno::Errno,
    numbers as n,
    signal::{self, Action, AlternateStack, SIGKILL, SIGSTOP, Signal, bit},
    time_calls,
};
use crate::code::slots;

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, ..] = call.arguments;
    let result = match call.number {
        n::RT_SIGACTION => action(call, a, b, c, d),
        n::RT_SIGPROCMASK => mask(call, a, b, c, d),
        n::RT_SIGPENDING => {
            let set = call.process().pending.set() | call.thread().pending.set();
            let set = set & call.thread().mask;
            call.put(a, &set.to_le_bytes()).map(|()| 0)
        }
        n::RT_SIGRETURN => {
            let (pid, tid) = (call.pid, call.tid);
            if signal::leave(call.process(), tid).is_err() {
                let signal = Signal::from_kernel(signal::SIGSEGV);
                call.kernel.send_to_thread(pid, tid, signal);
            }
            return Some(Flow::Leave);
        }
        n::RT_SIGSUSPEND => return Some(suspend(call, a)),
        n::PAUSE => return Some(Flow::Block(None)),
        n::RT_SIGTIMEDWAIT => return Some(timed_wait(call)),
        n::SIGALTSTACK => alternate(call, a, b),
        n::KILL => kill(call, a as i32, b as u32),
        n::TKILL => to_thread(call, None, Tid(a as u32), b as u32, -6),
        n::TGKILL => to_thread(call, Some(Pid(a as u32)), Tid(b as u32), c as u32, -6),
        n::RT_SIGQUEUEINFO => queue(call, Pid(a as u32), b as u32, c),
        n::ALARM => alarm(call, a.saturating_mul(SECOND), 0).map(|left| left.div_ceil(SECOND)),
        n::SETITIMER => set_timer(call, a, b, c),
        n::GETITIMER => get_timer(call, a, b),
        _ => return None,
    };
    Some(result.into())
}

fn valid(number: u64) -> Result<u32, Errno> {
    if (1..=64).contains(&number) { Ok(number as u32) } else { Err(Errno::EINVAL) }
}

fn action(call: &mut Call<'_>, number: u64, new: u64, old: u64, size: u64) -> Result<u64, Errno> {
    let number = valid(number)?;
    if size != 8 {
        return Err(Errno::EINVAL);
    }
    let before = call.process().actions[number as usize];
    if new != 0 {
        if number == SIGKILL || number == SIGSTOP {
            return Err(Errno::EINVAL);
        }
        let action = Action {
            handler: call.word(new)?,
            // The upper half may come sign-extended; no flag is there.
            flags: call.word(new + 8)? & 0xffff_ffff,
            restorer: call.word(new + 16)?,
            mask: call.word(new + 24)? & !(bit(SIGKILL) | bit(SIGSTOP)),
        };
        let process = call.process();
        Arc::make_mut(&mut process.actions)[number as usize] = action;
        let ignored = action.handler == 1
            || action.handler == 0 && signal::default_of(number) == signal::Effect::Ignore;
        if ignored {
            process.pending.discard(bit(number));
            process.threads.iter_mut().for_each(|thread| thread.pending.discard(bit(number)));
        }
    }
    if old != 0 {
        let words = [before.handler, before.flags, before.restorer, before.mask];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        call.put(old, &bytes)?;
    }
    Ok(0)
}

fn mask(call: &mut Call<'_>, how: u64, new: u64, old: u64, size: u64) -> Result<u64, Errno> {
    if size != 8 {
        return Err(Errno::EINVAL);
    }
    let before = call.thread().mask;
    if new != 0 {
        let set = call.word(new)?;
        let after = match how {
            0 => before | set,
            1 => before & !set,
            2 => set,
            _ => return Err(Errno::EINVAL),
        };
        call.thread().mask = after & !(bit(SIGKILL) | bit(SIGSTOP));
    }
    call.put_if(old, &before.to_le_bytes())?;
    Ok(0)
}

fn suspend(call: &mut Call<'_>, set: u64) -> Flow {
    // Made again after a block: the mask is already in place, and only a handler ends it.
    if call.thread().saved_mask.is_none() {
        match call.word(set) {
            Ok(set) => {
                let thread = call.thread();
                thread.saved_mask = Some(thread.mask);
                thread.mask = set & !(bit(SIGKILL) | bit(SIGSTOP));
            }
            Err(errno) => return errno.into(),
        }
    }
    Flow::Block(None)
}

fn timed_wait(call: &mut Call<'_>) -> Flow {
    let [set, info, timeout, ..] = call.arguments;
    let set = match call.word(set) {
        Ok(set) => set,
        Err(errno) => return errno.into(),
    };
    let taken = call.thread().pending.take(set).or_else(|| call.process().pending.take(set));
    if let Some(signal) = taken {
        return match call.put_if(info, &signal.encode()) {
            Ok(()) => Flow::Done(Ok(u64::from(signal.number))),
            Err(errno) => errno.into(),
        };
    }
    if timeout == 0 {
        return Flow::Block(None);
    }
    let deadline = match call.deadline() {
        Some(deadline) => Ok(deadline),
        None => time_calls::deadline(call, timeout, false, false),
    };
    match deadline {
        Err(errno) => errno.into(),
        Ok(deadline) if deadline <= call.kernel.clock.now() => Errno::EAGAIN.into(),
        Ok(deadline) => Flow::Block(Some(deadline)),
    }
}

fn alternate(call: &mut Call<'_>, new: u64, old: u64) -> Result<u64, Errno> {
    let thread = call.thread();
    let before = thread.alternate;
    let on_it = before.holds(thread.cpu.get(slots::RSP));
    if new != 0 {
        let bytes: [u8; 24] = call.bytes(new, 24)?.try_into().expect("24 bytes");
        if on_it {
            return Err(Errno::EPERM);
        }
        call.thread().alternate.replace(AlternateStack::decode(&bytes))?;
    }
    call.put_if(old, &before.encode(on_it))?;
    Ok(0)
}

fn kill(call: &mut Call<'_>, target: i32, number: u32) -> Result<u64, Errno> {
    if number > 64 {
        return Err(Errno::EINVAL);
    }
    let (own, uid) = (call.pid, call.kernel.user.uid);
    let group = call.process().group;
    let targets: Vec<Pid> = call
        .kernel
        .processes
        .0
        .values()
        .filter(|process| match target {
            -1 => process.pid != own,
            0 => process.group == group,
            pid if pid > 0 => process.pid.0 == pid as u32,
            minus => process.group == minus.unsigned_abs(),
        })
        .map(|process| process.pid)
        .collect();
    if targets.is_empty() {
        return Err(Errno::ESRCH);
    }
    if number != 0 {
        for pid in targets {
            call.kernel.send(pid, Signal::from_process(number, own, uid, 0));
        }
    }
    Ok(0)
}

fn to_thread(
    call: &mut Call<'_>,
    pid: Option<Pid>,
    tid: Tid,
    number: u32,
    code: i32,
) -> Result<u64, Errno> {
    if number > 64 {
        return Err(Errno::EINVAL);
    }
    let (own, uid) = (call.pid, call.kernel.user.uid);
    let found = call.kernel.processes.0.values().find(|process| {
        pid.is_none_or(|pid| process.pid == pid)
            && process.threads.iter().any(|thread| thread.tid == tid)
    });
    let pid = found.map(|process| process.pid).ok_or(Errno::ESRCH)?;
    if number != 0 {
        call.kernel.send_to_thread(pid, tid, Signal::from_process(number, own, uid, code));
    }
    Ok(0)
}

fn queue(call: &mut Call<'_>, pid: Pid, number: u32, info: u64) -> Result<u64, Errno> {
    valid(u64::from(number))?;
    let code = call.half(info.wrapping_add(8))? as i32;
    let (value, extra) = (call.word(info.wrapping_add(16))?, call.word(info.wrapping_add(24))?);
    let target = call.kernel.processes.0.get(&pid).ok_or(Errno::ESRCH)?;
    if number >= 32 && target.pending.is_full() {
        return Err(Errno::EAGAIN);
    }
    call.kernel.send(pid, Signal { number, code, value, extra, trap: (0, 0) });
    Ok(0)
}

/// Sets the alarm of the process; gives what was left of the one before.
fn alarm(call: &mut Call<'_>, after: u64, period: u64) -> Result<u64, Errno> {
    let now = call.kernel.clock.now();
    let process = call.process();
    let left = process.alarm.map_or(0, |(at, _)| at.saturating_sub(now).max(1));
    process.alarm = (after != 0).then_some((now.saturating_add(after), period));
    Ok(left)
}

fn timeval(call: &mut Call<'_>, at: u64) -> Result<u64, Errno> {
    let (seconds, micros) = (call.word(at)?, call.word(at + 8)?);
    if micros >= 1_000_000 {
        return Err(Errno::EINVAL);
    }
    Ok(seconds.saturating_mul(SECOND).saturating_add(micros * 1000))
}

fn get_timer(call: &mut Call<'_>, which: u64, to: u64) -> Result<u64, Errno> {
    let now = call.kernel.clock.now();
    let (left, period) = match which {
        0 => call.process().alarm.map_or((0, 0), |(at, period)| (at.saturating_sub(now), period)),
        1 | 2 => (0, 0),
        _ => return Err(Errno::EINVAL),
    };
    call.put(to, &[time_calls::timeval(period), time_calls::timeval(left)].concat()).map(|()| 0)
}

fn set_timer(call: &mut Call<'_>, which: u64, new: u64, old: u64) -> Result<u64, Errno> {
    if old != 0 {
        get_timer(call, which, old)?;
    }
    let (period, after) = (timeval(call, new)?, timeval(call, new + 16)?);
    match which {
        0 => alarm(call, after, period).map(|_| 0),
        // Timers by processor time: programs use them to profile, and see no ticks.
        1 | 2 => Ok(0),
        _ => Err(Errno::EINVAL),
    }
}
