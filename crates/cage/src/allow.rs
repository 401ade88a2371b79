//! The system calls that a closed process has left: those that a run in the machine needs, listed.
//!
//! Always holds: a call that is not listed fails, whoever adds it to the kernel. There are threads, but
//! no other process is ever begun, named or looked into, so that nothing outlives the one that is closed;
//! there is no new namespace, no socket, no other program, and no memory that is writable and
//! executable at once. Which files may be opened is Landlock's business.

use libc::{EPERM, SECCOMP_RET_ALLOW, c_long, sock_filter};

use crate::bpf::{ESCAPES, argument, end, fails_with, head, if_any, if_equal, load, mask};

/// Calls that may be made with any arguments.
const PLAIN: [c_long; 70] = [
    // Files, as far as Landlock lets them be opened.
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_pread64,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_pwrite64,
    libc::SYS_lseek,
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_close,
    libc::SYS_dup,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_access,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_rmdir,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_ftruncate,
    libc::SYS_poll,
    libc::SYS_ppoll,
    // Its own memory.
    libc::SYS_brk,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    // Its own threads and signals.
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_get_robust_list,
    libc::SYS_rseq,
    libc::SYS_set_tid_address,
    libc::SYS_arch_prctl,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // Time, chance, and who and where it is.
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_time,
    libc::SYS_times,
    libc::SYS_getrusage,
    libc::SYS_getrlimit,
    libc::SYS_getrandom,
    libc::SYS_getpid,
    libc::SYS_getppid,
    libc::SYS_gettid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_uname,
    libc::SYS_sysinfo,
];

/// Said to have succeeded: modes are none of Landlock's business, and a folder of its own is private
/// without them.
const PRETENDED: [c_long; 3] = [libc::SYS_chmod, libc::SYS_fchmod, libc::SYS_fchmodat];

/// Commands of `fcntl`: about descriptors, never about signals and who gets them.
const DESCRIPTORS: [i32; 4] = [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_DUPFD_CLOEXEC];

/// Flags that a thread has, and another process has not all of.
const THREAD: u32 = (libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_SIGHAND) as u32;

/// Memory that can be written and executed.
const BOTH: u32 = (libc::PROT_WRITE | libc::PROT_EXEC) as u32;

/// The filter of the process with this number.
pub fn filter(own: u32) -> Vec<sock_filter> {
    let (allowed, refused) = (end(SECCOMP_RET_ALLOW), end(fails_with(EPERM)));
    let mut all = head().to_vec();
    for call in PLAIN {
        all.extend([if_equal(call as u32, 0, 1), allowed]);
    }
    for call in PRETENDED {
        all.extend([if_equal(call as u32, 0, 1), end(fails_with(0))]);
    }
    // Its flags cannot be looked at; a library that finds it absent uses `clone`.
    all.extend([if_equal(libc::SYS_clone3 as u32, 0, 1), end(fails_with(libc::ENOSYS))]);
    // From here on a call is let through by the values of arguments: its words, the last of which
    // skips none to allow it, and one to refuse it.
    let mut when = |call: c_long, words: &[sock_filter]| {
        let length = words.len() as u8 + 2;
        all.push(if_equal(call as u32, 0, length));
        all.extend_from_slice(words);
        all.extend([allowed, refused]);
    };
    for call in [libc::SYS_mmap, libc::SYS_mprotect] {
        when(call, &[load(argument(2)), mask(BOTH), if_equal(BOTH, 1, 0)]);
    }
    when(
        libc::SYS_clone,
        &[load(argument(0)), if_any(ESCAPES, 3, 0), mask(THREAD), if_equal(THREAD, 0, 1)],
    );
    when(libc::SYS_tgkill, &[load(argument(0)), if_equal(own, 0, 1)]);
    when(libc::SYS_prctl, &[load(argument(0)), if_equal(libc::PR_SET_NAME as u32, 0, 1)]);
    // Limits of its own, to be read: the new ones must be absent, in both halves of the pointer.
    when(
        libc::SYS_prlimit64,
        &[
            load(argument(0)),
            if_equal(0, 1, 0),
            if_equal(own, 0, 5),
            load(argument(2)),
            if_equal(0, 0, 3),
            load(argument(2) + 4),
            if_equal(0, 0, 1),
        ],
    );
    let [a, b, c, d] = DESCRIPTORS.map(|command| command as u32);
    when(
        libc::SYS_fcntl,
        &[
            load(argument(1)),
            if_equal(a, 3, 0),
            if_equal(b, 2, 0),
            if_equal(c, 1, 0),
            if_equal(d, 0, 1),
        ],
    );
    all.push(refused);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::{X32, X86_64, answer};

    const OWN: u32 = 4711;

    fn of(call: c_long, arguments: &[u64]) -> u32 {
        let mut all = [0; 6];
        all[..arguments.len()].copy_from_slice(arguments);
        answer(&filter(OWN), X86_64, call as u32, all)
    }

    #[test]
    fn what_is_not_listed_is_refused() {
        let by_arguments = [
            libc::SYS_mmap,
            libc::SYS_mprotect,
            libc::SYS_clone,
            libc::SYS_tgkill,
            libc::SYS_prctl,
            libc::SYS_prlimit64,
            libc::SYS_fcntl,
        ];
        for call in (0..1024).filter(|call| !by_arguments.contains(call)) {
            let expected = match call {
                _ if PLAIN.contains(&call) => SECCOMP_RET_ALLOW,
                _ if PRETENDED.contains(&call) => fails_with(0),
                libc::SYS_clone3 => fails_with(libc::ENOSYS),
                _ => fails_with(EPERM),
            };
            assert_eq!(of(call, &[7; 6]), expected, "{call}");
            assert_eq!(of(call, &[0; 6]), expected, "{call}");
        }
    }

    #[test]
    fn no_call_that_begins_another_process_is_listed() {
        for call in [libc::SYS_fork, libc::SYS_vfork, libc::SYS_execve, libc::SYS_execveat] {
            assert_eq!(of(call, &[]), fails_with(EPERM), "{call}");
        }
        let thread = u64::from(THREAD);
        assert_eq!(of(libc::SYS_clone, &[thread | 0x3d_0000]), SECCOMP_RET_ALLOW);
        for flags in [0, libc::SIGCHLD as u64, thread & !(libc::CLONE_THREAD as u64)] {
            assert_eq!(of(libc::SYS_clone, &[flags]), fails_with(EPERM), "{flags:#x}");
        }
        for bit in (0..32).map(|at| 1 << at).filter(|bit| ESCAPES & bit != 0) {
            let flags = thread | u64::from(bit);
            assert_eq!(of(libc::SYS_clone, &[flags]), fails_with(EPERM), "{flags:#x}");
        }
    }

    #[test]
    fn arguments_decide_where_they_must() {
        for call in [libc::SYS_mmap, libc::SYS_mprotect] {
            for protection in 0..8 {
                let both = protection & 6 == 6;
                let expected = if both { fails_with(EPERM) } else { SECCOMP_RET_ALLOW };
                assert_eq!(of(call, &[0, 4096, protection]), expected, "{call} {protection}");
            }
        }
        assert_eq!(of(libc::SYS_tgkill, &[u64::from(OWN), 1, 6]), SECCOMP_RET_ALLOW);
        for other in [0, 1, u64::from(OWN) + 1, u64::MAX] {
            assert_eq!(of(libc::SYS_tgkill, &[other, 1, 6]), fails_with(EPERM));
        }
        for whose in [0, u64::from(OWN)] {
            assert_eq!(of(libc::SYS_prlimit64, &[whose, 7, 0, 1]), SECCOMP_RET_ALLOW);
            for new in [1, 1 << 32] {
                assert_eq!(of(libc::SYS_prlimit64, &[whose, 7, new, 1]), fails_with(EPERM));
            }
        }
        assert_eq!(of(libc::SYS_prlimit64, &[1, 7, 0, 1]), fails_with(EPERM));
        assert_eq!(of(libc::SYS_prctl, &[libc::PR_SET_NAME as u64]), SECCOMP_RET_ALLOW);
        assert_eq!(of(libc::SYS_prctl, &[libc::PR_SET_DUMPABLE as u64, 1]), fails_with(EPERM));
        for command in 0..1100 {
            let expected =
                if DESCRIPTORS.contains(&command) { SECCOMP_RET_ALLOW } else { fails_with(EPERM) };
            assert_eq!(of(libc::SYS_fcntl, &[3, command as u64]), expected, "{command}");
        }
    }

    #[test]
    fn other_architectures_are_not_there() {
        let absent = fails_with(libc::ENOSYS);
        // 20 is `getpid` for 32-bit programs.
        assert_eq!(answer(&filter(OWN), 0x4000_0003, 20, [0; 6]), absent);
        assert_eq!(answer(&filter(OWN), X86_64, X32 | 39, [0; 6]), absent);
        assert_eq!(answer(&filter(OWN), X86_64, 39, [0; 6]), SECCOMP_RET_ALLOW);
    }
}
