//! System calls about time.

use super::{
    call::{Call, Flow},
    clock::SECOND,
    errno::Errno,
    numbers as n,
};

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, ..] = call.arguments;
    let result = match call.number {
        n::TIME => {
            let seconds = call.kernel.clock.real() / SECOND;
            call.put_if(a, &seconds.to_le_bytes()).map(|()| seconds)
        }
        n::GETTIMEOFDAY => {
            let now = call.kernel.clock.real();
            call.put_if(a, &timeval(now)).and_then(|()| call.put_if(b, &[0; 8])).map(|()| 0)
        }
        n::CLOCK_GETTIME => clock(call, a).and_then(|now| call.put(b, &timespec(now))).map(|()| 0),
        n::CLOCK_GETRES => clock(call, a).and_then(|_| call.put_if(b, &timespec(1))).map(|()| 0),
        n::CLOCK_SETTIME | n::SETTIMEOFDAY | n::CLOCK_ADJTIME | n::ADJTIMEX => Err(Errno::EPERM),
        n::NANOSLEEP => return Some(sleep(call, a, b, false, false)),
        n::CLOCK_NANOSLEEP => return Some(sleep(call, c, d, b & 1 != 0, a == 0)),
        n::TIMES => {
            let ticks = |ns: u64| ns / (SECOND / 100);
            let used = call.kernel.clock.now() - call.process().started;
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&ticks(used).to_le_bytes());
            let up = ticks(call.kernel.clock.monotonic());
            call.put_if(a, &bytes).map(|()| up)
        }
        n::GETRUSAGE => usage(call, a as i32, b),
        _ => return None,
    };
    Some(result.into())
}

/// `struct timespec`.
pub(crate) fn timespec(nanoseconds: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&(nanoseconds / SECOND).to_le_bytes());
    bytes[8..].copy_from_slice(&(nanoseconds % SECOND).to_le_bytes());
    bytes
}

/// `struct timeval`.
pub(crate) fn timeval(nanoseconds: u64) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&(nanoseconds / SECOND).to_le_bytes());
    bytes[8..].copy_from_slice(&(nanoseconds % SECOND / 1000).to_le_bytes());
    bytes
}

/// What a clock says now, in nanoseconds.
pub(super) fn clock(call: &mut Call<'_>, id: u64) -> Result<u64, Errno> {
    let clock = call.kernel.clock;
    Ok(match id as i32 {
        // CLOCK_REALTIME, its coarse form, CLOCK_TAI
        0 | 5 | 11 => clock.real(),
        // CLOCK_MONOTONIC, raw, coarse, CLOCK_BOOTTIME
        1 | 4 | 6 | 7 => clock.monotonic(),
        // processor time of the process and of the thread
        2 | 3 => clock.now() - call.process().started,
        id if id < 0 => clock.now(),
        _ => return Err(Errno::EINVAL),
    })
}

/// Reads a `timespec` and makes a deadline of it, in the machine's clock. An absolute time is by
/// the date (`real`) or by the time since the machine is up.
pub(crate) fn deadline(
    call: &mut Call<'_>,
    at: u64,
    absolute: bool,
    real: bool,
) -> Result<u64, Errno> {
    let (seconds, nanoseconds) = (call.word(at)?, call.word(at.wrapping_add(8))?);
    if nanoseconds >= SECOND || (seconds as i64) < 0 {
        return Err(Errno::EINVAL);
    }
    let time = seconds.saturating_mul(SECOND).saturating_add(nanoseconds);
    let clock = call.kernel.clock;
    if !absolute {
        return Ok(clock.now().saturating_add(time));
    }
    let now = if real { clock.real() } else { clock.monotonic() };
    Ok(clock.now().saturating_add(time.saturating_sub(now)))
}

fn sleep(call: &mut Call<'_>, wanted: u64, _left: u64, absolute: bool, real: bool) -> Flow {
    let deadline = match call.deadline() {
        Some(deadline) => Ok(deadline),
        None => deadline(call, wanted, absolute, real),
    };
    match deadline {
        Err(errno) => errno.into(),
        Ok(deadline) if deadline <= call.kernel.clock.now() => Flow::Done(Ok(0)),
        Ok(deadline) => Flow::Block(Some(deadline)),
    }
}

fn usage(call: &mut Call<'_>, who: i32, to: u64) -> Result<u64, Errno> {
    let used = match who {
        0 | 1 => call.kernel.clock.now() - call.process().started,
        -1 => call.process().children_time,
        _ => return Err(Errno::EINVAL),
    };
    let mut bytes = [0; 144];
    bytes[..16].copy_from_slice(&timeval(used));
    call.put(to, &bytes).map(|()| 0)
}
