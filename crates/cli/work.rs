//! `stunt work`: makes doubles of what is pending, while nobody needs the machine.
//!
//! Each incident is the work of a child, `stunt anonymize ID`, which inherits the low priority and is
//! ended with the budget; its incident is pending then, as before. One `stunt work` at a time.
#![allow(unsafe_code)] // Priorities and signals have no safe interface; each call has its proof.

use std::fs::File;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use stunt_record::{Kept, State, Store, own_program};

use crate::outcome::Outcome;

/// How often a child is looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long a child may take to clean up when it is asked to end.
const GRACE: Duration = Duration::from_secs(10);

/// The longest budget, in seconds: a year.
const LONGEST: u64 = 366 * 86_400;

/// Flags of `stunt work`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Take the processor and the disk only when nobody else wants them
    #[arg(long)]
    idle: bool,
    /// How long to work at most: seconds, or a number with s, m or h
    #[arg(long, value_name = "BUDGET", default_value = "8h", value_parser = duration)]
    time: Duration,
}

fn duration(text: &str) -> Result<Duration, String> {
    let (digits, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1),
        Some((at, 'm')) => (&text[..at], 60),
        Some((at, 'h')) => (&text[..at], 3600),
        _ => (text, 1),
    };
    let number: u64 = digits.parse().map_err(|_| "a time is a number with s, m or h".to_owned())?;
    let seconds = number.checked_mul(unit).filter(|&seconds| seconds <= LONGEST);
    seconds.map(Duration::from_secs).ok_or_else(|| "that is longer than a year".to_owned())
}

/// Works.
pub fn run(arguments: &Arguments) -> Result<Outcome> {
    let until = Instant::now() + arguments.time;
    let store = Store::of_user()?;
    let mut pending: Vec<Kept> = store
        .list()?
        .into_iter()
        .map(|it| it.kept)
        .filter(|it| it.incident.state == State::Pending)
        .collect();
    if pending.is_empty() {
        eprintln!("stunt: no incident is pending");
        return Ok(Outcome::Done);
    }
    let lock = File::open(store.folder()).context("cannot open the folder of incidents")?;
    if lock.try_lock().is_err() {
        bail!("another `stunt work` is at it");
    }
    if arguments.idle {
        yield_to_all();
    }
    // The oldest has waited longest.
    pending.reverse();
    let (mut made, mut failed) = (0, 0);
    for mut kept in pending {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            eprintln!("stunt: the time is over; the rest stays pending");
            break;
        }
        let id = kept.incident.id.clone();
        // Nobody looks on: only what is the system's or the user's own is run.
        if let Err(why) = own_program(kept.incident.program.path.path()) {
            eprintln!("stunt: incident {id} stays pending: its program is not run, because {why}");
            failed += 1;
            continue;
        }
        eprintln!("stunt: incident {id}");
        match anonymize(&id, until)? {
            None => eprintln!("stunt: incident {id} took too long, and stays pending"),
            Some(status) if status.success() && kept.report_path().is_file() => {
                Store::set_state(&mut kept, State::Anonymised)?;
                made += 1;
            }
            Some(_) => {
                eprintln!("stunt: incident {id} stays pending");
                failed += 1;
            }
        }
    }
    eprintln!("stunt: {made} doubles were made, {failed} could not be");
    Ok(if made == 0 && failed > 0 { Outcome::Unproved } else { Outcome::Done })
}

/// Makes a double of one incident; nothing if the time was over before.
fn anonymize(id: &str, until: Instant) -> Result<Option<ExitStatus>> {
    let own = std::env::current_exe().context("cannot find stunt itself")?;
    let child = Command::new(own)
        .args(["anonymize", id])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .context("cannot start stunt itself")?;
    let mut child = Ended(child);
    loop {
        if let Some(status) = child.0.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= until {
            return Ok(None);
        }
        std::thread::sleep(TICK);
    }
}

/// A child that does not outlive us. It is asked to end first: only then does it take its temporary
/// files with it, which hold the original.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        if let Ok(pid) = libc::pid_t::try_from(self.0.id()) {
            // SAFETY: the call takes numbers; the child is not waited for yet, so that its number is its own.
            unsafe { libc::kill(pid, libc::SIGTERM) };
        }
        let patience = Instant::now() + GRACE;
        while Instant::now() < patience {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(TICK);
        }
        // One that has ended is not there to be killed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Takes the processor and the disk only when nobody else wants them. Children inherit it. A system
/// that refuses any of it gives us more than we asked for, which is no error.
fn yield_to_all() {
    const LEAST: libc::c_int = 19;
    /// `ioprio_set`: a process; the class of those that wait for all others.
    const PROCESS: libc::c_long = 1;
    const IDLE: libc::c_long = 3 << 13;
    let parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: the calls take numbers, and a structure of ours that outlives them; 0 is ourselves.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, LEAST);
        libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const parameter);
        libc::syscall(libc::SYS_ioprio_set, PROCESS, 0, IDLE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        assert!(duration("soon").is_err() && duration("").is_err());
        assert!(duration("5124095576030431h").is_err(), "nobody can add that to a clock");
    }
}
