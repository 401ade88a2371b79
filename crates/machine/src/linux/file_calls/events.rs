//! Counters and timers that are files: `eventfd`, `timerfd`.

use super::{
    super::{
        abi::*,
        call::{Call, Flow},
        clock::SECOND,
        errno::Errno,
        fs::{TimerSetting, TimerStart},
        numbers as n,
        time_calls::timespec,
    },
    Answer,
    user::number,
};

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, ..] = call.arguments;
    let answer = match call.number {
        n::EVENTFD => counter(call, a as u32, 0),
        n::EVENTFD2 => counter(call, a as u32, b as u32),
        n::TIMERFD_CREATE => {
            let timer = call.kernel.files.new_timer(a as u32, b as u32);
            timer.and_then(|file| number(call, file, b as u32))
        }
        n::TIMERFD_SETTIME => set(call, a as i32, b as u32, c, d),
        n::TIMERFD_GETTIME => call.file(a as i32).and_then(|file| {
            let setting = call.kernel.files.timer_setting(file)?;
            call.put(b, &encode(setting)).map(|()| 0)
        }),
        _ => return None,
    };
    Some(answer.into())
}

fn counter(call: &mut Call<'_>, value: u32, flags: u32) -> Answer {
    let file = call.kernel.files.new_counter(value, flags)?;
    number(call, file, flags)
}

/// `struct itimerspec`.
fn encode(setting: TimerSetting) -> Vec<u8> {
    [timespec(setting.interval), timespec(setting.rest)].concat()
}

fn span(call: &mut Call<'_>, at: u64) -> Result<u64, Errno> {
    let (seconds, nanoseconds) = (call.word(at)?, call.word(at + 8)?);
    if nanoseconds >= SECOND || (seconds as i64) < 0 {
        return Err(Errno::EINVAL);
    }
    Ok(seconds.saturating_mul(SECOND).saturating_add(nanoseconds))
}

fn set(call: &mut Call<'_>, fd: i32, flags: u32, new: u64, old: u64) -> Answer {
    // All of it must be there before any of it is judged.
    call.bytes(new, 32)?;
    if flags & !(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET) != 0 {
        return Err(Errno::EINVAL);
    }
    let (interval, value) = (span(call, new)?, span(call, new + 16)?);
    let file = call.file(fd)?;
    let start = match value {
        0 => TimerStart::Stop,
        at if flags & TFD_TIMER_ABSTIME != 0 => TimerStart::At(at),
        rest => TimerStart::After(rest),
    };
    let before = call.kernel.files.set_timer(file, start, interval)?;
    call.put_if(old, &encode(before)).map(|()| 0)
}
