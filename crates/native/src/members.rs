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

/// Bytes of a page on x86-64.
const PAGE: u64 = 4096;

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
