//! The processes of a run, and how much memory they fill.
//!
//! A limit on addresses or on data (`setrlimit`) is one that programs notice: sanitizers reserve terabytes
//! that they never fill, and abort on every input if they cannot. So memory is watched from outside.
//!
//! Always holds: a process is here from the moment that its run knows of it until its end was waited for,
//! so that no number is another's.

use std::collections::BTreeSet;
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Bytes of a page on x86-64.
const PAGE: u64 = 4096;
/// What the kernel counts processor time in.
const TICK: Duration = Duration::from_millis(10);

/// The processes of a run.
#[derive(Default)]
pub struct Members(Mutex<BTreeSet<i32>>);

impl Members {
    /// A process has begun, perhaps by a thread that was not known yet.
    pub fn add(&self, process: i32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(process);
    }

    /// It is gone.
    pub fn remove(&self, process: i32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&process);
    }

    /// How many bytes of memory the process has that has most.
    pub fn largest(&self) -> u64 {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().filter_map(|&process| resident(process)).max().unwrap_or(0)
    }

    /// All processes, and those that they have begun: of a run that nobody follows, only the first is known.
    pub fn family(&self) -> Vec<i32> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (mut family, mut at) = (known.into_iter().collect::<Vec<_>>(), 0);
        while let Some(&process) = family.get(at) {
            at += 1;
            for child in children(process) {
                if !family.contains(&child) {
                    family.push(child);
                }
            }
        }
        family
    }
}

/// How much processor time these processes have had, with those of their children that are gone.
pub fn processor_time(processes: &[i32]) -> Duration {
    let ticks = |&process: &i32| -> Option<u32> {
        let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name of the program may have anything in it.
        let fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        // In user mode and in the kernel, its own and its children's.
        Some(fields.skip(11).take(4).filter_map(|field| field.parse::<u32>().ok()).sum())
    };
    TICK * processes.iter().filter_map(ticks).sum::<u32>()
}

/// The processes that a process has begun, where the kernel tells.
fn children(process: i32) -> Vec<i32> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|it| fs::read_to_string(it.path().join("children")).ok());
    let numbers = |list: String| -> Vec<i32> {
        list.split_ascii_whitespace().filter_map(|number| number.parse().ok()).collect()
    };
    lists.flat_map(numbers).collect()
}

/// How many bytes of memory a process fills; nothing if it is gone.
fn resident(process: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = text.split_ascii_whitespace().nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(PAGE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_children_and_processor_time() {
        let mut child = std::process::Command::new("/bin/sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .expect("a shell");
        let members = Members::default();
        members.add(std::process::id().cast_signed());
        let number = child.id().cast_signed();
        assert!(members.family().contains(&number));
        // However busy the host is, it gets its share at some time.
        while processor_time(&[number]) < TICK * 5 {
            std::thread::sleep(TICK);
        }
        child.kill().expect("it is there");
        child.wait().expect("it is gone");
        assert!(!members.family().contains(&number));
        assert_eq!(processor_time(&[number]), Duration::ZERO);
    }

    #[test]
    fn what_is_filled_counts_and_not_what_is_reserved() {
        let members = Members::default();
        assert_eq!(members.largest(), 0);
        let own = std::process::id().cast_signed();
        members.add(own);
        let before = members.largest();
        let reserved: Vec<u8> = Vec::with_capacity(1 << 30);
        assert!(members.largest() < before + (512 << 20) && reserved.is_empty());
        let filled = vec![1u8; 256 << 20];
        assert!(members.largest() >= before + (200 << 20) && filled[7] == 1);
        members.remove(own);
        assert_eq!(members.largest(), 0);
    }
}
