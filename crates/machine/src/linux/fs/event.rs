//! Counters and timers that are read like files: `eventfd2` and `timerfd_create`.
//!
//! Timers go by the clock that the kernel sets; nothing here lets time pass.

use std::sync::Arc;

use super::description::{Description, Object};
use super::epoll::Epoll;
use super::ids::{EventId, FileId, Halt, Moved, Wait};
use super::{Clock, Files};
use crate::linux::abi::*;
use crate::linux::errno::Errno;

/// What a nameless file of this kind holds.
#[derive(Clone, Debug)]
pub enum Event {
    /// An eventfd.
    Counter {
        /// The sum of what was written and not read.
        value: u64,
        /// Whether a read takes one at a time.
        semaphore: bool,
        /// Counts changes, for edge-triggered waits.
        activity: u64,
    },
    /// A timerfd.
    Timer {
        /// Whether it goes by the date.
        real: bool,
        /// When it goes off next, in nanoseconds of its clock.
        next: Option<u64>,
        /// After how many nanoseconds it goes off again; zero for never.
        interval: u64,
    },
    /// An epoll instance.
    Poll(Epoll),
}

/// When a timer starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerStart {
    /// Never: it is stopped.
    Stop,
    /// After so many nanoseconds.
    After(u64),
    /// At a time of its clock, in nanoseconds.
    At(u64),
}

/// How a timer stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimerSetting {
    /// Nanoseconds until it goes off; zero if it is stopped.
    pub rest: u64,
    /// Nanoseconds between further times.
    pub interval: u64,
}

fn now(clock: Clock, real: bool) -> u64 {
    if real {
        clock.real.seconds as u64 * 1_000_000_000 + u64::from(clock.real.nanoseconds)
    } else {
        clock.monotonic
    }
}

impl Event {
    /// Which `POLL` bits hold.
    pub(super) fn ready(&self, clock: Clock) -> u32 {
        match *self {
            Event::Counter { value, .. } => {
                let mut bits = 0;
                if value > 0 {
                    bits |= POLLIN;
                }
                if value < u64::MAX - 1 {
                    bits |= POLLOUT;
                }
                bits
            }
            Event::Timer { real, next, .. } => {
                if next.is_some_and(|next| next <= now(clock, real)) { POLLIN } else { 0 }
            }
            Event::Poll(_) => 0,
        }
    }
}

impl Files {
    pub(super) fn event_mut(&mut self, id: EventId) -> Result<&mut Event, Errno> {
        self.events.get_mut(&id).map(Arc::make_mut).ok_or(Errno::EBADF)
    }

    pub(super) fn make_event(&mut self, event: Event, flags: u32) -> FileId {
        let id = EventId(self.number());
        self.events.insert(id, Arc::new(event));
        self.describe(Description::new(Object::Event(id), O_RDWR | flags & O_NONBLOCK))
    }

    /// `eventfd2`.
    pub fn new_counter(&mut self, value: u32, flags: u32) -> Result<FileId, Errno> {
        if flags & !(EFD_SEMAPHORE | EFD_CLOEXEC | EFD_NONBLOCK) != 0 {
            return Err(Errno::EINVAL);
        }
        let semaphore = flags & EFD_SEMAPHORE != 0;
        let counter = Event::Counter { value: value.into(), semaphore, activity: 0 };
        Ok(self.make_event(counter, flags))
    }

    /// `timerfd_create`.
    pub fn new_timer(&mut self, clock: u32, flags: u32) -> Result<FileId, Errno> {
        if flags & !(TFD_CLOEXEC | TFD_NONBLOCK) != 0 {
            return Err(Errno::EINVAL);
        }
        let real = match clock {
            CLOCK_REALTIME | CLOCK_REALTIME_ALARM => true,
            CLOCK_MONOTONIC | CLOCK_BOOTTIME | CLOCK_BOOTTIME_ALARM => false,
            _ => return Err(Errno::EINVAL),
        };
        Ok(self.make_event(Event::Timer { real, next: None, interval: 0 }, flags))
    }

    fn timer(&self, file: FileId) -> Result<EventId, Errno> {
        match self.description(file)?.object {
            Object::Event(id)
                if matches!(self.events.get(&id).map(|e| &**e), Some(Event::Timer { .. })) =>
            {
                Ok(id)
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// `timerfd_gettime`.
    pub fn timer_setting(&self, file: FileId) -> Result<TimerSetting, Errno> {
        let id = self.timer(file)?;
        match self.events.get(&id).map(|event| &**event) {
            Some(&Event::Timer { real, next, interval }) => {
                let now = now(self.clock, real);
                let rest = match next {
                    None => 0,
                    Some(next) if next > now => next - now,
                    Some(_) if interval == 0 => 0,
                    Some(next) => interval - (now - next) % interval,
                };
                Ok(TimerSetting { rest, interval })
            }
            _ => Err(Errno::EINVAL),
        }
    }

    /// `timerfd_settime`; gives the setting before.
    pub fn set_timer(
        &mut self,
        file: FileId,
        start: TimerStart,
        interval: u64,
    ) -> Result<TimerSetting, Errno> {
        let before = self.timer_setting(file)?;
        let id = self.timer(file)?;
        let clock = self.clock;
        if let Event::Timer { real, next, interval: every } = self.event_mut(id)? {
            *next = match start {
                TimerStart::Stop => None,
                TimerStart::After(rest) => Some(now(clock, *real).saturating_add(rest)),
                TimerStart::At(at) => Some(at),
            };
            *every = interval;
        }
        Ok(before)
    }

    /// Nanoseconds until the timer behind a file goes off; none if it is no running timer.
    pub fn timer_rest(&self, file: FileId) -> Option<u64> {
        let setting = self.timer_setting(file).ok()?;
        if self.ready(file) != 0 { Some(0) } else { Some(setting.rest).filter(|&rest| rest > 0) }
    }

    pub(super) fn read_event(
        &mut self,
        file: FileId,
        id: EventId,
        into: &mut [u8],
    ) -> Result<Moved, Halt> {
        let nonblocking = self.description(file)?.nonblocking();
        let clock = self.clock;
        let event = self.event_mut(id)?;
        if matches!(event, Event::Poll(_)) || into.len() < 8 {
            return Err(Errno::EINVAL.into());
        }
        let got = match event {
            Event::Counter { value: 0, .. } => None,
            Event::Counter { value, semaphore, activity } => {
                let taken = if *semaphore { 1 } else { *value };
                *value -= taken;
                *activity += 1;
                Some(taken)
            }
            Event::Timer { real, next, interval } => {
                let now = now(clock, *real);
                match *next {
                    Some(at) if at <= now => {
                        let times = 1 + (now - at).checked_div(*interval).unwrap_or(0);
                        *next = if *interval == 0 { None } else { Some(at + times * *interval) };
                        Some(times)
                    }
                    _ => None,
                }
            }
            Event::Poll(_) => return Err(Errno::EINVAL.into()),
        };
        match got {
            Some(value) => {
                into[..8].copy_from_slice(&value.to_le_bytes());
                Ok(Moved::bytes(8))
            }
            None if nonblocking => Err(Errno::EAGAIN.into()),
            None => Err(Halt::Wait(Wait { file, events: POLLIN, done: 0 })),
        }
    }

    pub(super) fn write_event(
        &mut self,
        file: FileId,
        id: EventId,
        bytes: &[u8],
    ) -> Result<Moved, Halt> {
        let nonblocking = self.description(file)?.nonblocking();
        let Event::Counter { value, activity, .. } = self.event_mut(id)? else {
            return Err(Errno::EINVAL.into());
        };
        let Some(bytes) = bytes.first_chunk::<8>() else { return Err(Errno::EINVAL.into()) };
        let add = u64::from_le_bytes(*bytes);
        if add == u64::MAX {
            return Err(Errno::EINVAL.into());
        }
        match value.checked_add(add) {
            Some(sum) if sum < u64::MAX => {
                *value = sum;
                *activity += 1;
                Ok(Moved::bytes(8))
            }
            _ if nonblocking => Err(Errno::EAGAIN.into()),
            _ => Err(Halt::Wait(Wait { file, events: POLLOUT, done: 0 })),
        }
    }
}
