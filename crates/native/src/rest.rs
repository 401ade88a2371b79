//! Whether a run has come to rest: all of its threads sleep, and for what.
//!
//! `/proc` tells of each thread whether it sleeps, in which system call, and how often it has
//! slept. Two looks that see the same thing have nothing between them: nobody ran. A server that
//! waits for the next connection, and for nothing else, would wait for ever.

use std::fs;
use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

/// What the threads of a run do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Somebody runs, or stands still to be looked at.
    Busy,
    /// All sleep, somebody for a certain time; the number is the same as long as nobody wakes up.
    ForAWhile(u64),
    /// All sleep, and none of them for a certain time.
    ForEver(u64),
}

/// What the threads of these processes do.
pub fn rest(processes: &[i32]) -> Rest {
    let mut hash = FxHasher::default();
    let mut for_ever = true;
    for process in processes {
        let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { continue };
        for thread in threads.flatten() {
            let folder = thread.path();
            let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
            let line = |key: &str| status.lines().find_map(|line| line.strip_prefix(key));
            let state = line("State:").unwrap_or_default().trim_start().chars().next();
            match state {
                Some('S') => {}
                // Dead, and not yet waited for by its parent.
                Some('Z' | 'X') => continue,
                _ => return Rest::Busy,
            }
            let call = fs::read_to_string(folder.join("syscall")).unwrap_or_default();
            match waits_for_ever(&call) {
                Some(it) => for_ever &= it,
                None => return Rest::Busy,
            }
            (thread.file_name(), &call).hash(&mut hash);
            (line("voluntary_ctxt"), line("nonvoluntary_ctxt")).hash(&mut hash);
        }
    }
    let same = hash.finish();
    if for_ever { Rest::ForEver(same) } else { Rest::ForAWhile(same) }
}

/// Whether a call, as `/proc/PID/syscall` shows it, ends by itself only if something happens; nothing
/// if the thread is in none.
fn waits_for_ever(line: &str) -> Option<bool> {
    let mut fields = line.split_ascii_whitespace();
    let number: i64 = fields.next()?.parse().ok()?;
    let arguments: Vec<u64> = fields
        .take(6)
        .map(|text| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap_or(0))
        .collect();
    let argument = |at: usize| arguments.get(at).copied().unwrap_or(0);
    let negative = |at: usize| (argument(at) as i32) < 0;
    Some(match number {
        libc::SYS_accept
        | libc::SYS_accept4
        | libc::SYS_connect
        | libc::SYS_read
        | libc::SYS_readv
        | libc::SYS_recvfrom
        | libc::SYS_recvmsg
        | libc::SYS_wait4
        | libc::SYS_waitid
        | libc::SYS_pause
        | libc::SYS_rt_sigsuspend => true,
        libc::SYS_poll => negative(2),
        libc::SYS_ppoll | libc::SYS_rt_sigtimedwait => argument(2) == 0,
        libc::SYS_select | libc::SYS_pselect6 => argument(4) == 0,
        libc::SYS_epoll_wait | libc::SYS_epoll_pwait => negative(3),
        libc::SYS_epoll_pwait2 | libc::SYS_futex => argument(3) == 0,
        number if number < 0 => return None,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_wait_for_ever() {
        let accept = "43 0x3 0x0 0x0 0x0 0x0 0x0 0x7ffc 0x7f65\n";
        assert_eq!(waits_for_ever(accept), Some(true));
        assert_eq!(waits_for_ever("7 0x7ffc 0x1 0xffffffff 0x0 0x0 0x0 0x1 0x2"), Some(true));
        assert_eq!(waits_for_ever("7 0x7ffc 0x1 0x3e8 0x0 0x0 0x0 0x1 0x2"), Some(false));
        assert_eq!(waits_for_ever("230 0x0 0x0 0x7ffc 0x7ffc 0x0 0x0 0x1 0x2"), Some(false));
        assert_eq!(waits_for_ever("running\n"), None);
        assert_eq!(waits_for_ever("-1 0x7ffc 0x1"), None);
        assert_eq!(waits_for_ever(""), None);
    }

    #[test]
    fn who_looks_is_busy() {
        assert_eq!(rest(&[std::process::id().cast_signed()]), Rest::Busy);
        assert!(matches!(rest(&[]), Rest::ForEver(_)));
    }
}
