//! The other side of runs in progress: what they print is read, and their time is kept.
//!
//! The threads that follow programs wait for those and for nothing else. One further thread attends
//! to all of them ([`attend`]): it reads pipes before they are full, and kills what takes too long.
//! Most runs are over before it looks for the first time, so that it costs them nothing; whoever
//! followed a run reads the rest.

use std::fs::File;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use stunt_tracee as tracee;

use crate::folders::holds_more;
use crate::members::{Members, processor_time};
use crate::os;
use crate::rest::{Rest, rest};

/// How long a run is left alone, and how long a new one may go unnoticed.
const TICK: Duration = Duration::from_millis(2);

/// How long it may take until a wish to stop is noticed.
const NOTICE: Duration = Duration::from_millis(20);

/// The part of its time for which a run that works, and does not wait, must have had a processor.
const OWN_SHARE: f64 = 0.6;

/// One that has had no processor for so many times its time gets none.
const STARVED: u32 = 10;

/// The ends of the pipes that a run writes to.
pub struct Ends {
    stdout: File,
    stderr: File,
}

/// Why a run was ended from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Its time was over.
    Expired,
    /// The host was too busy to tell whether it would have ended in its time.
    Starved,
    /// It filled its folder.
    TooMuchWritten,
    /// It filled the memory.
    TooMuchMemory,
    /// Somebody asked to stop.
    Stopped,
}

/// What a run may use.
pub struct Limits {
    /// How long it may take.
    pub time: Duration,
    /// Time in which the host had no processor for it does not count.
    pub own_time: bool,
    /// How much of each output is kept.
    pub output: usize,
    /// Its own folder, and how much may be there.
    pub folder: Option<(PathBuf, u64)>,
    /// Its processes, and how much memory each of them may fill.
    pub memory: (Arc<Members>, u64),
}

/// How long a run has been running. While whoever follows it looks at it, it does not: to read a
/// large program's tables for the first time may take longer than the program.
pub struct Clock {
    start: Instant,
    /// Nanoseconds that were spent with looking.
    looked: AtomicU64,
    /// Since when somebody is looking, in nanoseconds from the start and never 0; or 0.
    since: AtomicU64,
}

/// Somebody is looking as long as this lives.
pub struct Looking<'a>(&'a Clock);

impl Clock {
    /// A clock that goes from now on.
    pub fn new(start: Instant) -> Self {
        Self { start, looked: AtomicU64::new(0), since: AtomicU64::new(0) }
    }

    /// Somebody looks.
    pub fn look(&self) -> Looking<'_> {
        self.begin_look(Instant::now());
        Looking(self)
    }

    fn begin_look(&self, now: Instant) {
        self.since.store(self.nanoseconds(now).max(1), Ordering::SeqCst);
    }

    fn end_look(&self, now: Instant) {
        let since = self.since.swap(0, Ordering::SeqCst);
        self.looked.fetch_add(self.nanoseconds(now).saturating_sub(since), Ordering::SeqCst);
    }

    fn nanoseconds(&self, now: Instant) -> u64 {
        u64::try_from(now.saturating_duration_since(self.start).as_nanos()).unwrap_or(u64::MAX)
    }

    /// How long it has been running.
    pub fn ran(&self, now: Instant) -> Duration {
        let all = self.nanoseconds(now);
        // In this order, a look that ends meanwhile counts twice rather than not at all, and for one
        // moment only.
        let (since, looked) =
            (self.since.load(Ordering::SeqCst), self.looked.load(Ordering::SeqCst));
        let looking = if since == 0 { 0 } else { all.saturating_sub(since) };
        Duration::from_nanos(all.saturating_sub(looked).saturating_sub(looking))
    }
}

impl Drop for Looking<'_> {
    fn drop(&mut self) {
        self.0.end_look(Instant::now());
    }
}

/// A run in progress, as it is seen from outside.
pub struct Watch {
    start: Instant,
    clock: Arc<Clock>,
    limits: Limits,
    /// When its folder is to be looked at next.
    look: Instant,
    process: OwnedFd,
    ends: Arc<Ends>,
    heard: Heard,
    /// How much processor time it was seen to have had, and when that last grew.
    used: (Duration, Duration),
    /// Whether there may be more to read.
    open: [bool; 2],
}

/// What came out of a run.
#[derive(Default)]
pub struct Heard {
    /// The beginning of standard output.
    pub stdout: Vec<u8>,
    /// The beginning of standard error.
    pub stderr: Vec<u8>,
    /// Whether it was ended.
    pub cut: Option<Cut>,
}

/// A worker's run, if it has one at the moment.
#[derive(Default)]
pub struct Slot(Mutex<Option<Watch>>);

impl Ends {
    /// Two new pipes, and the ends for the program.
    pub fn new() -> io::Result<(Arc<Self>, [OwnedFd; 2])> {
        let (stdout, stdout_end) = pipe()?;
        let (stderr, stderr_end) = pipe()?;
        Ok((Arc::new(Self { stdout, stderr }), [stdout_end.into(), stderr_end.into()]))
    }
}

fn pipe() -> io::Result<(File, PipeWriter)> {
    let (reader, writer): (PipeReader, PipeWriter) = io::pipe()?;
    os::do_not_wait(reader.as_fd())?;
    Ok((File::from(OwnedFd::from(reader)), writer))
}

impl Watch {
    /// A run that has just begun.
    pub fn new(clock: Arc<Clock>, limits: Limits, process: OwnedFd, ends: Arc<Ends>) -> Self {
        let (heard, start) = (Heard::default(), clock.start);
        let look = start + NOTICE;
        let used = Default::default();
        Self { start, clock, limits, look, process, ends, heard, used, open: [true; 2] }
    }

    /// Reads what there is.
    fn read(&mut self) -> io::Result<()> {
        let most = self.limits.output;
        let [stdout, stderr] = &mut self.open;
        *stdout = *stdout && take(&self.ends.stdout, &mut self.heard.stdout, most)?;
        *stderr = *stderr && take(&self.ends.stderr, &mut self.heard.stderr, most)?;
        Ok(())
    }

    /// Looks at its memory, and at its folder from time to time, the more seldom the longer that takes.
    fn look(&mut self) {
        let now = Instant::now();
        let (members, most) = &self.limits.memory;
        if members.largest() > *most {
            self.cut(Cut::TooMuchMemory);
            return;
        }
        let Some((folder, most)) = &self.limits.folder else { return };
        if now >= self.look {
            let too_much = holds_more(folder, *most);
            self.look = Instant::now() + NOTICE.max(now.elapsed() * 10);
            if too_much {
                self.cut(Cut::TooMuchWritten);
            }
        }
    }

    /// Whether a run whose time is over is to be ended, and as what.
    fn is_due(&mut self, ran: Duration) -> Option<Cut> {
        let Limits { time, own_time, memory: (members, _), .. } = &self.limits;
        if !own_time {
            return Some(Cut::Expired);
        }
        let family = members.family();
        let used = processor_time(&family);
        if used >= time.mul_f64(OWN_SHARE) || rest(&family) != Rest::Busy {
            return Some(Cut::Expired);
        }
        if used > self.used.0 {
            self.used = (used, ran);
        }
        (ran.saturating_sub(self.used.1) >= *time * STARVED).then_some(Cut::Starved)
    }

    fn cut(&mut self, why: Cut) {
        if self.heard.cut.is_none() {
            self.heard.cut = Some(why);
            tracee::kill_by_handle(&self.process);
        }
    }

    /// The run is over: everything that it wrote is in the pipes by now.
    pub fn finish(mut self) -> io::Result<Heard> {
        self.read()?;
        Ok(self.heard)
    }
}

impl Slot {
    fn lock(&self) -> MutexGuard<'_, Option<Watch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run begins.
    pub fn begin(&self, watch: Watch) {
        *self.lock() = Some(watch);
    }

    /// It is over.
    pub fn end(&self) -> Option<Watch> {
        self.lock().take()
    }
}

/// Attends to the runs in these slots until `done` is at its end. After an error, runs go on until
/// they end by themselves.
pub fn attend(slots: &[&Slot], done: &PipeReader, stop: &AtomicBool) -> io::Result<()> {
    loop {
        let stopped = stop.load(Ordering::Relaxed);
        let mut wait = NOTICE;
        let mut polled: Vec<Arc<Ends>> = Vec::new();
        let mut open = Vec::new();
        for slot in slots {
            let mut slot = slot.lock();
            let age = slot.as_ref().map_or(Duration::ZERO, |watch| watch.start.elapsed());
            let Some(watch) = slot.as_mut().filter(|_| stopped || age >= TICK) else {
                // Also if there is no run: the next may begin at any moment.
                wait = wait.min(TICK);
                continue;
            };
            watch.read()?;
            watch.look();
            if stopped {
                watch.cut(Cut::Stopped);
            }
            let ran = watch.clock.ran(Instant::now());
            let left = watch.limits.time.saturating_sub(ran);
            if left.is_zero() {
                if let Some(why) = watch.is_due(ran) {
                    watch.cut(why);
                }
            } else {
                wait = wait.min(left);
            }
            polled.push(Arc::clone(&watch.ends));
            open.push(watch.open);
        }
        // The ends stay open while they are waited for, also if their run ends meanwhile.
        let ends = polled.iter().zip(&open).flat_map(|(ends, open)| {
            let stdout = open[0].then(|| ends.stdout.as_fd());
            let stderr = open[1].then(|| ends.stderr.as_fd());
            stdout.into_iter().chain(stderr)
        });
        let all: Vec<_> = std::iter::once(done.as_fd()).chain(ends).collect();
        if os::readable(&all, wait)?[0] {
            return Ok(());
        }
    }
}

/// Takes what there is to read; `false` at the end.
fn take(mut from: &File, into: &mut Vec<u8>, most: usize) -> io::Result<bool> {
    let mut buffer = [0; 16 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(count) => {
                let kept = count.min(most.saturating_sub(into.len()));
                into.extend_from_slice(&buffer[..kept]);
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_stands_still_while_somebody_looks() {
        let start = Instant::now();
        let clock = Clock::new(start);
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let ran = |seconds: u64| clock.ran(at(seconds)).as_secs();
        assert_eq!((ran(0), ran(3)), (0, 3));
        clock.begin_look(at(3));
        assert_eq!((ran(3), ran(100)), (3, 3));
        clock.end_look(at(100));
        assert_eq!((ran(100), ran(102)), (3, 5));
        clock.begin_look(at(102));
        assert_eq!(ran(110), 5);
        clock.end_look(at(110));
        assert_eq!(ran(111), 6);
        // A look at the very beginning counts, too.
        let clock = Clock::new(start);
        clock.begin_look(start);
        assert_eq!(clock.ran(at(7)), Duration::from_nanos(1));
    }
}
