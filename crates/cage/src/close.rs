//! A process closes itself off, for good, before it touches anything of a stranger.
//!
//! After [`close_off`] the process reads the system's libraries and their
//! own folder, writes into that folder alone, reaches no network and no other process, and uses so much
//! time and memory at most. What the kernel does not have is told, never passed over.
#![allow(unsafe_code)] // One system call without a safe interface; with its proof.

use std::collections::BTreeMap;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, PathBeneath, PathFd, RestrictionStatus, Ruleset, RulesetAttr,
    RulesetCreatedAttr, RulesetStatus,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// What is the system's, and may be read: libraries, and what the loader needs to find them.
const SYSTEM: [&str; 8] = [
    "/usr",
    "/lib",
    "/lib64",
    "/bin",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/locale.alias",
    "/etc/alternatives",
];
/// Devices that anybody may use.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];

/// How much a closed process may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guards {
    /// Seconds of processor time.
    pub seconds: u64,
    /// Bytes of address space.
    pub memory: u64,
    /// Bytes of a file that it writes.
    pub file: u64,
}

/// What keeps a process from being closed off.
#[derive(Debug, thiserror::Error)]
pub enum ContainError {
    /// A limit cannot be set.
    #[error("cannot limit the worker: {0}")]
    Limit(std::io::Error),
    /// Landlock.
    #[error("this kernel cannot keep the worker from files (Landlock, Linux 5.13 or newer): {0}")]
    Files(String),
    /// Seccomp.
    #[error("this kernel cannot keep the worker from the network (seccomp): {0}")]
    Calls(String),
}

/// Closes this process off. It must have one thread.
pub fn close_off(folder: &Path, guards: Guards) -> Result<(), ContainError> {
    limit(libc::RLIMIT_CPU, guards.seconds)?;
    limit(libc::RLIMIT_AS, guards.memory)?;
    limit(libc::RLIMIT_FSIZE, guards.file)?;
    limit(libc::RLIMIT_NOFILE, 256)?;
    limit(libc::RLIMIT_CORE, 0)?;
    files(folder)?;
    calls()
}

fn limit(what: libc::__rlimit_resource_t, most: u64) -> Result<(), ContainError> {
    let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes one structure of ours that lives as long as the call.
    let read = unsafe { libc::getrlimit(what, &raw mut now) };
    if read != 0 {
        return Err(ContainError::Limit(std::io::Error::last_os_error()));
    }
    // A limit is never raised.
    let most = most.min(now.rlim_max);
    let new = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: the kernel reads one structure of ours that lives as long as the call.
    if unsafe { libc::setrlimit(what, &raw const new) } == 0 {
        return Ok(());
    }
    Err(ContainError::Limit(std::io::Error::last_os_error()))
}

/// Reading the system and the folder, writing the folder alone.
fn files(folder: &Path) -> Result<(), ContainError> {
    let failed = |error: &dyn std::fmt::Display| ContainError::Files(error.to_string());
    // What newer kernels add is used where it is there.
    let abi = ABI::V6;
    let all = AccessFs::from_all(abi);
    let read = AccessFs::from_read(abi);
    let ruleset = Ruleset::default().handle_access(all).map_err(|error| failed(&error))?;
    let mut ruleset = ruleset.create().map_err(|error| failed(&error))?;
    let mut allow = |path: &Path, access| -> Result<(), ContainError> {
        // What is not there needs no right.
        let Ok(fd) = PathFd::new(path) else { return Ok(()) };
        let access = if path.is_dir() { access } else { access & AccessFs::from_file(abi) };
        let rule = PathBeneath::new(fd, access);
        (&mut ruleset).add_rule(rule).map(drop).map_err(|error| failed(&error))
    };
    for path in SYSTEM {
        allow(Path::new(path), read)?;
    }
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    for path in DEVICES {
        allow(Path::new(path), device)?;
    }
    allow(folder, all)?;
    let status: RestrictionStatus = ruleset.restrict_self().map_err(|error| failed(&error))?;
    if status.ruleset == RulesetStatus::NotEnforced {
        return Err(failed(&"it is not there, or switched off"));
    }
    Ok(())
}

/// Calls that are refused whatever they ask for: networks, other processes, the system.
const REFUSED: [libc::c_long; 34] = [
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_io_uring_setup,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_userfaultfd,
    libc::SYS_shmget,
    libc::SYS_msgget,
];

/// Calls that name a process by their first argument, which must be this one.
const NAMING: [libc::c_long; 5] = [
    libc::SYS_kill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_prlimit64,
];

fn calls() -> Result<(), ContainError> {
    let failed = |error: &dyn std::fmt::Display| ContainError::Calls(error.to_string());
    let own = u64::from(std::process::id());
    let other = |value: u64| {
        let length = SeccompCmpArgLen::Dword;
        SeccompCondition::new(0, length, SeccompCmpOp::Ne, value)
    };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        REFUSED.iter().map(|&call| (call, Vec::new())).collect();
    for call in NAMING {
        // 0 is this process, or its group, which holds nobody else.
        let conditions = [other(own), other(0)].into_iter().collect::<Result<Vec<_>, _>>();
        let conditions = conditions.map_err(|error| failed(&error))?;
        let rule = SeccompRule::new(conditions).map_err(|error| failed(&error))?;
        rules.insert(call, vec![rule]);
    }
    rules.insert(libc::SYS_tkill, Vec::new());
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, TargetArch::x86_64);
    let program: BpfProgram = filter
        .and_then(TryInto::try_into)
        .map_err(|error: seccompiler::BackendError| failed(&error))?;
    seccompiler::apply_filter(&program).map_err(|error| failed(&error))
}
