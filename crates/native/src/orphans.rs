//! What a plain run left behind: processes that lost their parent, in groups and sessions of their own.
//!
//! Nobody follows a plain run, so what it starts is not known. While one is going on, whoever loses its
//! parent there becomes a child of this process, instead of the system's first one, and can be found and
//! ended. Always: nobody is ended but children of this process that came during the run, have become other
//! programs, and are followed by nobody.
#![allow(unsafe_code)] // `prctl` and `waitpid`: each call names why it is sound.

use std::fs;
use std::path::PathBuf;

use libc::pid_t;
use stunt_tracee as tracee;

/// So often it is looked for those that came while others were ended.
const ROUNDS: usize = 1000;

/// The children that there were before a plain run.
pub struct Orphans {
    before: Vec<pid_t>,
}

impl Orphans {
    /// From now on, who loses its parent becomes a child of this process.
    pub fn adopt() -> Self {
        // SAFETY: the call takes numbers only, and says who is told of a death that nobody else is told of.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
        Self { before: children() }
    }

    /// Ends those that came since, and those that they leave behind.
    pub fn end(self) {
        for _ in 0..ROUNDS {
            let all = children();
            let left: Vec<pid_t> = all.into_iter().filter(|it| self.is_left(*it)).collect();
            if left.is_empty() {
                return;
            }
            for process in left {
                // A child that nobody has waited for: the number is its own.
                tracee::kill(process);
                let mut status = 0;
                // SAFETY: it was just killed, and the status is ours.
                unsafe { libc::waitpid(process, &raw mut status, 0) };
            }
        }
    }

    /// Who is followed, or is still a copy of this process, was started here for another run.
    fn is_left(&self, process: pid_t) -> bool {
        if self.before.contains(&process) {
            return false;
        }
        let of = |name: &str| PathBuf::from(format!("/proc/{process}/{name}"));
        let status = fs::read_to_string(of("status")).unwrap_or_default();
        let line = |key: &str| status.lines().find_map(|line| line.strip_prefix(key));
        let alone = line("TracerPid:").is_some_and(|pid| pid.trim() == "0");
        let dead = line("State:").is_some_and(|state| state.trim_start().starts_with('Z'));
        let ours = fs::read_link(of("exe")).ok() == std::env::current_exe().ok();
        // The dead do no harm, and somebody may be about to wait for them.
        alone && !dead && !ours
    }
}

/// All children of this process.
fn children() -> Vec<pid_t> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists.flat_map(|list| numbers(&list)).collect()
}

fn numbers(list: &str) -> Vec<pid_t> {
    list.split_ascii_whitespace().filter_map(|number| number.parse().ok()).collect()
}
