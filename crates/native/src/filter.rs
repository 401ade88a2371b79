//! The system calls that a contained run does not get, as a program for the kernel (seccomp).
//!
//! Files are Landlock's business; here is what it does not cover: sockets, other processes, mounts,
//! clocks, modules and the like. Ordinary programs do not notice: what they may well try fails as it
//! does for a user with fewer rights, and changes of modes, owners and times are said to have
//! succeeded. Calls that name a process stop the run, and whoever follows it decides by whether the
//! process is one of the run ([`names_processes`]).
//!
//! Always holds: a call that is not listed is allowed; one of another architecture is not there.

use libc::{
    EACCES, EINVAL, ENOSYS, ENOTSUP, ENOTTY, EPERM, SECCOMP_RET_ALLOW, SECCOMP_RET_TRACE, c_long,
    sock_filter,
};
use stunt_cage::bpf::{
    ESCAPES, NUMBER, argument, end, fails_with, head, if_any, if_equal, load, mask,
};

/// Commands of `fcntl`: which signal tells about a file, and to whom.
const F_SETSIG: i32 = 10;
const F_SETOWN_EX: i32 = 15;
/// `FIOSETOWN` and `SIOCSPGRP`: who gets the signals of a socket.
const SET_OWNER: [u32; 2] = [0x8901, 0x8902];
/// What changes a terminal: `TCSETS` and its relatives of three ages, its size, groups and sessions,
/// and `TIOCSTI` and `TIOCLINUX`, which are input for it.
const TERMINAL: [u32; 15] = [
    0x5402,
    0x5403,
    0x5404,
    0x5406,
    0x5407,
    0x5408,
    0x402c_542b,
    0x402c_542c,
    0x402c_542d,
    0x5414,
    0x5410,
    0x540e,
    0x5422,
    0x5412,
    0x541c,
];
/// Kinds of `ioctl` that file systems have: flags of files, freezing, snapshots. A file that is open
/// for reading is enough for many.
const FILE_SYSTEMS: [u32; 3] = [0x58, 0x66, 0x94];
/// `SECCOMP_FILTER_FLAG_NEW_LISTENER`: a filter whose listener could allow what this one traces.
const LISTENER: u32 = 1 << 3;

/// Calls of kernels that are newer than `libc`.
const FCHMODAT2: c_long = 452;
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const FILE_SETATTR: c_long = 469;

/// Said to have succeeded.
const PRETENDED: [c_long; 13] = [
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_chown,
    libc::SYS_fchown,
    libc::SYS_lchown,
    libc::SYS_fchownat,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_utimensat,
    FILE_SETATTR,
];

/// Not supported by the file system, it is said.
const UNSUPPORTED: [c_long; 8] = [
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SETXATTRAT,
    REMOVEXATTRAT,
];

/// Not there, as in an older or smaller kernel: `clone3` hides its flags from us, `io_uring` its
/// calls, a handle its process; objects of System V outlive the run.
const ABSENT: [c_long; 19] = [
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_pidfd_send_signal,
    libc::SYS_pidfd_getfd,
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semctl,
    libc::SYS_semtimedop,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Refused.
const REFUSED: [c_long; 56] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_open_by_handle_at,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_setpriority,
    libc::SYS_ioprio_set,
];

/// Calls that name a process or a group, and by which argument. Without a name (0), they are about
/// the caller or its group.
const NAMING: [(c_long, u32); 9] = [
    (libc::SYS_kill, 0),
    (libc::SYS_tkill, 0),
    (libc::SYS_tgkill, 0),
    (libc::SYS_rt_sigqueueinfo, 0),
    (libc::SYS_rt_tgsigqueueinfo, 0),
    (libc::SYS_prlimit64, 0),
    (libc::SYS_setpgid, 0),
    (libc::SYS_setpgid, 1),
    (libc::SYS_sched_setaffinity, 0),
];

/// The processes or groups that a call names, by its number and arguments; nothing if it is no such
/// call. 0 is the caller, a negative number a group, -1 everybody.
pub fn names_processes(number: u64, arguments: [u64; 2]) -> Option<[i32; 2]> {
    if !NAMING.iter().any(|(call, _)| u64::try_from(*call) == Ok(number)) {
        return None;
    }
    let [first, second] = arguments.map(|argument| argument as i32);
    // The group that a process is to join.
    let joined = number == libc::SYS_setpgid as u64;
    Some([first, if joined { second } else { 0 }])
}

/// The filter; of a run that has a network of its own, or of one that has none.
pub fn filter(network: bool) -> Vec<sock_filter> {
    let mut all = head().to_vec();
    let mut always = |calls: &[c_long], answer: u32| {
        for &call in calls {
            all.extend([if_equal(call as u32, 0, 1), end(answer)]);
        }
    };
    always(&PRETENDED, fails_with(0));
    always(&UNSUPPORTED, fails_with(ENOTSUP));
    always(&ABSENT, fails_with(ENOSYS));
    always(&REFUSED, fails_with(EPERM));
    if network {
        // Others lead out of the network: local sockets to the host's servers, some to its host.
        all.extend([
            if_equal(libc::SYS_socket as u32, 0, 5),
            load(argument(0)),
            if_equal(libc::AF_INET as u32, 2, 0),
            if_equal(libc::AF_INET6 as u32, 1, 0),
            end(fails_with(EACCES)),
            load(NUMBER),
        ]);
    } else {
        all.extend([if_equal(libc::SYS_socket as u32, 0, 1), end(fails_with(EACCES))]);
    }
    let mut sometimes = |call: c_long, index: u32, test: sock_filter, answer: u32| {
        all.extend([
            if_equal(call as u32, 0, 4),
            load(argument(index)),
            test,
            end(answer),
            // The number again, for what follows.
            load(NUMBER),
        ]);
    };
    sometimes(libc::SYS_clone, 0, if_any(ESCAPES, 0, 1), fails_with(EPERM));
    sometimes(libc::SYS_seccomp, 1, if_any(LISTENER, 0, 1), fails_with(EINVAL));
    for command in [libc::F_SETOWN, F_SETSIG, F_SETOWN_EX] {
        sometimes(libc::SYS_fcntl, 1, if_equal(command as u32, 0, 1), fails_with(EPERM));
    }
    for command in SET_OWNER.into_iter().chain(TERMINAL) {
        sometimes(libc::SYS_ioctl, 1, if_equal(command, 0, 1), fails_with(EPERM));
    }
    for (call, index) in NAMING {
        sometimes(call, index, if_equal(0, 1, 0), SECCOMP_RET_TRACE);
    }
    for kind in FILE_SYSTEMS {
        all.extend([
            if_equal(libc::SYS_ioctl as u32, 0, 5),
            load(argument(1)),
            mask(0xff00),
            if_equal(kind << 8, 0, 1),
            end(fails_with(ENOTTY)),
            load(NUMBER),
        ]);
    }
    all.push(end(SECCOMP_RET_ALLOW));
    all
}

#[cfg(test)]
mod tests {
    use libc::SECCOMP_RET_ERRNO;
    use stunt_cage::bpf::{X32, X86_64, answer as answer_of};

    use super::*;

    /// What the kernel would answer.
    fn answer(architecture: u32, number: u32, arguments: [u64; 6]) -> u32 {
        answer_of(&filter(false), architecture, number, arguments)
    }

    fn of(call: c_long, arguments: &[u64]) -> u32 {
        let mut all = [0; 6];
        all[..arguments.len()].copy_from_slice(arguments);
        answer(X86_64, call as u32, all)
    }

    #[test]
    fn a_network_of_its_own_has_internet_sockets_alone() {
        let program = filter(true);
        for family in 0..64 {
            let arguments = [family, 1, 0, 0, 0, 0];
            let answer = answer_of(&program, X86_64, libc::SYS_socket as u32, arguments);
            let inside = [libc::AF_INET, libc::AF_INET6].contains(&(family as i32));
            let expected = if inside { SECCOMP_RET_ALLOW } else { fails_with(EACCES) };
            assert_eq!(answer, expected, "{family}");
        }
        for call in 0..480_u32 {
            if i64::from(call) != libc::SYS_socket {
                let same = answer_of(&filter(false), X86_64, call, [7; 6]);
                assert_eq!(answer_of(&program, X86_64, call, [7; 6]), same, "{call}");
            }
        }
    }

    #[test]
    fn ordinary_calls_are_allowed() {
        let listed =
            [&PRETENDED[..], &UNSUPPORTED, &ABSENT, &REFUSED, &[libc::SYS_socket]].concat();
        let naming = NAMING.map(|(call, _)| call);
        for call in (0..480).filter(|call| !listed.contains(call)) {
            assert_eq!(of(call, &[]), SECCOMP_RET_ALLOW, "{call}");
            if !naming.contains(&call) {
                let special =
                    [libc::SYS_clone, libc::SYS_seccomp, libc::SYS_fcntl, libc::SYS_ioctl];
                let any = of(call, &[0xffff_ffff, 0xffff_ffff]);
                assert_eq!(any == SECCOMP_RET_ALLOW, any == of(call, &[7, 7]), "{call}");
                assert!(any == SECCOMP_RET_ALLOW || special.contains(&call), "{call}");
            }
        }
    }

    #[test]
    fn each_list_has_its_answer() {
        assert_eq!(of(libc::SYS_chmod, &[]), SECCOMP_RET_ERRNO);
        assert_eq!(of(libc::SYS_setxattr, &[]), fails_with(ENOTSUP));
        assert_eq!(of(libc::SYS_clone3, &[]), fails_with(ENOSYS));
        assert_eq!(of(libc::SYS_mount, &[]), fails_with(EPERM));
        assert_eq!(of(libc::SYS_socket, &[1, 1]), fails_with(EACCES));
        assert_eq!(of(libc::SYS_socketpair, &[1, 1]), SECCOMP_RET_ALLOW);
    }

    #[test]
    fn arguments_decide_where_they_must() {
        let thread = libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_SIGHAND;
        assert_eq!(of(libc::SYS_clone, &[thread as u64]), SECCOMP_RET_ALLOW);
        for flag in [libc::CLONE_NEWUSER, libc::CLONE_UNTRACED, libc::CLONE_NEWNS] {
            assert_eq!(of(libc::SYS_clone, &[(thread | flag) as u64]), fails_with(EPERM));
        }
        assert_eq!(of(libc::SYS_fcntl, &[3, libc::F_SETOWN as u64]), fails_with(EPERM));
        assert_eq!(of(libc::SYS_fcntl, &[3, libc::F_SETFL as u64]), SECCOMP_RET_ALLOW);
        assert_eq!(of(libc::SYS_ioctl, &[0, 0x5412]), fails_with(EPERM));
        assert_eq!(of(libc::SYS_ioctl, &[0, 0x5401]), SECCOMP_RET_ALLOW);
        assert_eq!(of(libc::SYS_ioctl, &[0, 0x4008_6602]), fails_with(ENOTTY));
        assert_eq!(of(libc::SYS_ioctl, &[0, 0xc004_5877]), fails_with(ENOTTY));
        assert_eq!(of(libc::SYS_seccomp, &[1, 8]), fails_with(EINVAL));
        for call in [libc::SYS_kill, libc::SYS_tgkill, libc::SYS_prlimit64] {
            assert_eq!(of(call, &[0, 9]), SECCOMP_RET_ALLOW, "{call}");
            assert_eq!(of(call, &[1, 9]), SECCOMP_RET_TRACE, "{call}");
            assert_eq!(of(call, &[u64::MAX, 9]), SECCOMP_RET_TRACE, "{call}");
        }
        assert_eq!(of(libc::SYS_setpgid, &[0, 0]), SECCOMP_RET_ALLOW);
        assert_eq!(of(libc::SYS_setpgid, &[0, 17]), SECCOMP_RET_TRACE);
        assert_eq!(of(libc::SYS_setpgid, &[17, 0]), SECCOMP_RET_TRACE);
    }

    #[test]
    fn other_architectures_are_not_there() {
        // 20 is `getpid` for 32-bit programs.
        assert_eq!(answer(0x4000_0003, 20, [0; 6]), fails_with(ENOSYS));
        assert_eq!(answer(X86_64, X32 | 39, [0; 6]), fails_with(ENOSYS));
        assert_eq!(answer(X86_64, 39, [0; 6]), SECCOMP_RET_ALLOW);
    }

    #[test]
    fn processes_are_named() {
        let kill = libc::SYS_kill as u64;
        assert_eq!(names_processes(kill, [17, 9]), Some([17, 0]));
        assert_eq!(names_processes(kill, [u64::from(u32::MAX), 9]), Some([-1, 0]));
        assert_eq!(names_processes(libc::SYS_getpid as u64, [1, 1]), None);
        assert_eq!(names_processes(libc::SYS_setpgid as u64, [0, 17]), Some([0, 17]));
    }
}
