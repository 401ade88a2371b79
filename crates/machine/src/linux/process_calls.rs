//! System calls about processes: identity, programs, limits, ends, and waiting for children.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Kernel, Pid,
    call::{Call, Flow},
    errno::Errno,
    fs::Object,
    kernel::{FIRST_PID, INIT},
    loader::{self, Binary, Format, Start},
    memory_calls::FileSource,
    numbers as n,
    process::Death,
    signal::{Action, AlternateStack, SIGNALS, Signal},
    timers::Timers,
};
use crate::code::slots;
use crate::memory::AddressSpace;

const INFINITY: u64 = u64::MAX;

/// The limits of a fresh process, by `RLIMIT_` number: as on a usual desktop.
pub(crate) fn initial_limits() -> Arc<BTreeMap<u32, (u64, u64)>> {
    let mut limits: BTreeMap<u32, (u64, u64)> =
        (0..16).map(|k| (k, (INFINITY, INFINITY))).collect();
    limits.insert(3, (loader::STACK, INFINITY));
    limits.insert(4, (0, INFINITY));
    let tasks = super::threads::MOST_TASKS as u64;
    limits.insert(6, (tasks, tasks));
    limits.insert(7, (1024, 1_048_576));
    limits.insert(8, (8 << 20, 8 << 20));
    let pending = super::signal::MOST_PENDING as u64;
    limits.insert(11, (pending, pending));
    limits.insert(12, (819_200, 819_200));
    limits.insert(13, (0, 0));
    limits.insert(14, (0, 0));
    Arc::new(limits)
}

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, ..] = call.arguments;
    let user = (call.kernel.user.uid, call.kernel.user.gid);
    let own = call.pid;
    let named = named_by(a, own);
    let result = match call.number {
        n::EXECVE => return Some(execve(call, a, b, c)),
        n::EXECVEAT => return Some(execveat(call)),
        n::EXIT_GROUP => {
            let pid = call.pid;
            call.kernel.end_process(pid, Death::Exited(a as u8));
            return Some(Flow::Leave);
        }
        n::WAIT4 => return Some(wait4(call)),
        n::WAITID => return Some(waitid(call)),
        n::GETPID => Ok(u64::from(call.pid.0)),
        n::GETPPID => Ok(u64::from(call.process().parent.0)),
        n::GETUID | n::GETEUID => Ok(u64::from(user.0)),
        n::GETGID | n::GETEGID => Ok(u64::from(user.1)),
        n::SETUID | n::SETFSUID => change_identity(call, a as u32, user.0),
        n::SETGID | n::SETFSGID => change_identity(call, a as u32, user.1),
        n::SETREUID | n::SETRESUID | n::SETREGID | n::SETRESGID => Ok(0),
        n::GETRESUID => three(call, user.0),
        n::GETRESGID => three(call, user.1),
        n::GETGROUPS => groups(call, a, b),
        n::SETGROUPS => {
            if user.0 == 0 {
                Ok(0)
            } else {
                Err(Errno::EPERM)
            }
        }
        n::GETPGRP => Ok(u64::from(call.process().group)),
        n::GETPGID => of_process(call, named, |process| process.group),
        n::GETSID => of_process(call, named, |process| process.session),
        n::SETPGID => set_group(call, named, b as u32),
        n::SETSID => {
            let pid = call.pid;
            let process = call.process();
            if process.group == pid.0 {
                Err(Errno::EPERM)
            } else {
                (process.group, process.session) = (pid.0, pid.0);
                Ok(u64::from(pid.0))
            }
        }
        n::GETRLIMIT => limits(call, own, a as u32, 0, b),
        n::SETRLIMIT => limits(call, own, a as u32, b, 0),
        n::PRLIMIT64 => limits(call, named, b as u32, c, d),
        n::UNAME => call.put(a, &uname()).map(|()| 0),
        n::SYSINFO => sysinfo(call, a),
        n::PRCTL => prctl(call),
        n::ARCH_PRCTL => arch_prctl(call, a, b),
        n::PERSONALITY => Ok(0),
        n::SCHED_GETAFFINITY => {
            if b < 8 || b % 8 != 0 {
                Err(Errno::EINVAL)
            } else {
                call.put(c, &1u64.to_le_bytes()).map(|()| 8)
            }
        }
        n::SCHED_SETAFFINITY | n::SCHED_SETSCHEDULER | n::SCHED_SETPARAM => Ok(0),
        n::SCHED_GETSCHEDULER => Ok(0),
        n::SCHED_GETPARAM => call.put(b, &0u32.to_le_bytes()).map(|()| 0),
        n::SCHED_GET_PRIORITY_MAX | n::SCHED_GET_PRIORITY_MIN => match a {
            0 | 3 | 5 => Ok(0),
            1 | 2 => Ok(if call.number == n::SCHED_GET_PRIORITY_MAX { 99 } else { 1 }),
            _ => Err(Errno::EINVAL),
        },
        n::GETPRIORITY => Ok(20),
        n::SETPRIORITY => Ok(0),
        n::GETCPU => call
            .put_if(a, &0u32.to_le_bytes())
            .and_then(|()| call.put_if(b, &0u32.to_le_bytes()))
            .map(|()| 0),
        n::CAPGET => capabilities(call, a, b),
        n::CAPSET => Err(Errno::EPERM),
        n::GETRANDOM => random(call, a, b, c),
        _ => return None,
    };
    Some(result.into())
}

fn change_identity(_: &mut Call<'_>, wanted: u32, now: u32) -> Result<u64, Errno> {
    // Whoever is root could become another user; files would then answer as to that user. There
    // is one user in this machine.
    if wanted == now || now == 0 { Ok(0) } else { Err(Errno::EPERM) }
}

fn three(call: &mut Call<'_>, value: u32) -> Result<u64, Errno> {
    for n in 0..3 {
        let at = call.arguments[n];
        call.put(at, &value.to_le_bytes())?;
    }
    Ok(0)
}

fn groups(call: &mut Call<'_>, size: u64, to: u64) -> Result<u64, Errno> {
    let groups = call.kernel.user.groups.clone();
    if size == 0 {
        return Ok(groups.len() as u64);
    }
    if size < groups.len() as u64 {
        return Err(Errno::EINVAL);
    }
    let bytes: Vec<u8> = groups.iter().flat_map(|group| group.to_le_bytes()).collect();
    call.put(to, &bytes)?;
    Ok(groups.len() as u64)
}

/// The process that an argument names: 0 is the caller's own.
fn named_by(number: u64, own: Pid) -> Pid {
    if number as u32 == 0 { own } else { Pid(number as u32) }
}

fn of_process(
    call: &mut Call<'_>,
    pid: Pid,
    what: fn(&super::process::Process) -> u32,
) -> Result<u64, Errno> {
    call.kernel.processes.0.get(&pid).map(|p| u64::from(what(p))).ok_or(Errno::ESRCH)
}

fn set_group(call: &mut Call<'_>, pid: Pid, group: u32) -> Result<u64, Errno> {
    let own = call.pid;
    let process = call.kernel.processes.0.get_mut(&pid).ok_or(Errno::ESRCH)?;
    if pid != own && process.parent != own {
        return Err(Errno::ESRCH);
    }
    process.group = if group == 0 { pid.0 } else { group };
    Ok(0)
}

fn limits(call: &mut Call<'_>, pid: Pid, which: u32, new: u64, old: u64) -> Result<u64, Errno> {
    if which >= 16 {
        return Err(Errno::EINVAL);
    }
    if pid != call.pid {
        return Err(Errno::ESRCH);
    }
    let (soft, hard) = call.process().limits[&which];
    if new != 0 {
        let wanted = (call.word(new)?, call.word(new + 8)?);
        if wanted.0 > wanted.1 {
            return Err(Errno::EINVAL);
        }
        if wanted.1 > hard && call.kernel.user.uid != 0 {
            return Err(Errno::EPERM);
        }
        let process = call.process();
        Arc::make_mut(&mut process.limits).insert(which, wanted);
        if which == 7 {
            process.descriptors.set_limit(wanted.0.min(1 << 20) as u32);
        }
    }
    if old != 0 {
        call.put(old, &[soft.to_le_bytes(), hard.to_le_bytes()].concat())?;
    }
    Ok(0)
}

fn uname() -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in ["Linux", "stunt", "6.1.0-stunt", "#1 SMP PREEMPT_DYNAMIC", "x86_64", "(none)"] {
        let mut field = [0; 65];
        field[..text.len()].copy_from_slice(text.as_bytes());
        bytes.extend_from_slice(&field);
    }
    bytes
}

fn sysinfo(call: &mut Call<'_>, to: u64) -> Result<u64, Errno> {
    let mut info = [0; 112];
    let uptime = call.kernel.clock.monotonic() / super::clock::SECOND;
    let memory: u64 = 8 << 30;
    let words = [uptime, 0, 0, 0, memory, memory / 2, 0, 0, 0, 0];
    for (k, word) in words.iter().enumerate() {
        info[8 * k..8 * k + 8].copy_from_slice(&word.to_le_bytes());
    }
    info[80..82].copy_from_slice(&(call.kernel.processes.0.len() as u16).to_le_bytes());
    info[104..108].copy_from_slice(&1u32.to_le_bytes());
    call.put(to, &info).map(|()| 0)
}

fn prctl(call: &mut Call<'_>) -> Result<u64, Errno> {
    let [option, a, ..] = call.arguments;
    match option {
        // PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_TIMERSLACK, PR_SET_THP_DISABLE,
        // PR_SET_NO_NEW_PRIVS, PR_SET_CHILD_SUBREAPER, PR_SET_VMA, PR_SET_PTRACER: nothing to see.
        1 | 4 | 8 | 29 | 36 | 38 | 41 | 0x53564d41 | 0x59616d61 => Ok(0),
        // PR_GET_PDEATHSIG
        2 => call.put(a, &0u32.to_le_bytes()).map(|()| 0),
        // PR_GET_DUMPABLE
        3 => Ok(1),
        // PR_SET_NAME
        15 => {
            let text = call.string(a, 15)?;
            let mut name = [0; 16];
            name[..text.len()].copy_from_slice(&text);
            call.thread().name = name;
            Ok(0)
        }
        // PR_GET_NAME
        16 => {
            let name = call.thread().name;
            call.put(a, &name).map(|()| 0)
        }
        // PR_CAPBSET_READ
        23 if a <= 40 => Ok(1),
        // PR_GET_TIMERSLACK
        30 => Ok(50_000),
        // PR_GET_NO_NEW_PRIVS, PR_GET_THP_DISABLE
        39 | 42 => Ok(0),
        _ => Err(Errno::EINVAL),
    }
}

fn arch_prctl(call: &mut Call<'_>, what: u64, value: u64) -> Result<u64, Errno> {
    let cpu = &mut call.thread().cpu;
    match what {
        0x1001 => cpu.set(slots::GS, value),
        0x1002 if value >= crate::memory::TOP => return Err(Errno::EPERM),
        0x1002 => cpu.set(slots::FS, value),
        0x1003 => {
            let base = cpu.get(slots::FS);
            call.put(value, &base.to_le_bytes())?;
        }
        0x1004 => {
            let base = cpu.get(slots::GS);
            call.put(value, &base.to_le_bytes())?;
        }
        _ => return Err(Errno::EINVAL),
    }
    Ok(0)
}

fn capabilities(call: &mut Call<'_>, header: u64, data: u64) -> Result<u64, Errno> {
    const VERSION: u32 = 0x2008_0522;
    let version = call.half(header)?;
    if version != VERSION {
        call.put(header, &VERSION.to_le_bytes())?;
        return if data == 0 { Ok(0) } else { Err(Errno::EINVAL) };
    }
    let all: u64 = if call.kernel.user.uid == 0 { 0x1ff_ffff_ffff } else { 0 };
    let mut bytes = Vec::new();
    for part in [all as u32, (all >> 32) as u32] {
        bytes.extend([part.to_le_bytes(), part.to_le_bytes(), [0; 4]].concat());
    }
    call.put_if(data, &bytes).map(|()| 0)
}

fn random(call: &mut Call<'_>, to: u64, length: u64, flags: u64) -> Result<u64, Errno> {
    if flags & !7 != 0 {
        return Err(Errno::EINVAL);
    }
    let mut bytes = vec![0; length.min(1 << 25) as usize];
    call.kernel.files.random(&mut bytes);
    call.put(to, &bytes)?;
    Ok(bytes.len() as u64)
}

// ---- programs -----------------------------------------------------------------------------

fn execve(call: &mut Call<'_>, path: u64, arguments: u64, environment: u64) -> Flow {
    let gathered =
        (|| Ok((call.path(path)?, call.strings(arguments)?, call.strings(environment)?)))();
    let (path, arguments, environment) = match gathered {
        Ok(gathered) => gathered,
        Err(errno) => return Flow::Done(Err(errno)),
    };
    match execute(call, &path, arguments, &environment) {
        Ok(()) => Flow::Leave,
        Err(errno) => Flow::Done(Err(errno)),
    }
}

fn execveat(call: &mut Call<'_>) -> Flow {
    let [fd, path, arguments, environment, flags, _] = call.arguments;
    let text = match call.path(path) {
        Ok(text) => text,
        Err(errno) => return errno.into(),
    };
    if text.first() == Some(&b'/') || fd as i32 == -100 {
        return execve(call, path, arguments, environment);
    }
    // A file by its descriptor has a name under /proc.
    if !text.is_empty() || flags & 0x1000 == 0 {
        return call.lacks();
    }
    let name = format!("/proc/self/fd/{}", fd as i32).into_bytes();
    let gathered = call.strings(arguments).and_then(|a| Ok((a, call.strings(environment)?)));
    match gathered.and_then(|(a, e)| execute(call, &name, a, &e)) {
        Ok(()) => Flow::Leave,
        Err(errno) => errno.into(),
    }
}

/// Opens a program; gives its content and its full path.
fn binary(call: &mut Call<'_>, path: &[u8]) -> Result<Binary, Errno> {
    const X_OK: u32 = 1;
    call.with_files(|files, caller| {
        let found = files.find(caller, caller.cwd, path, true)?;
        files.access(caller.user, found.node, X_OK)?;
        let opened = files.open(caller, caller.cwd, path, 0, 0)?;
        let result = (|| {
            let Object::Inode(inode) = files.description(opened.file)?.object else {
                return Err(Errno::EACCES);
            };
            let content = files.content(inode).map_err(|_| Errno::EACCES)?.clone();
            let path = files.file_name(opened.file)?.into();
            Ok(Binary { source: FileSource::shared(content, inode), path })
        })();
        files.release(opened.file);
        result
    })
}

/// Replaces the program of the calling process.
pub(crate) fn execute(
    call: &mut Call<'_>,
    path: &[u8],
    mut arguments: Vec<Vec<u8>>,
    environment: &[Vec<u8>],
) -> Result<(), Errno> {
    let mut name = path.to_vec();
    let mut depth = 0;
    let (elf, file) = loop {
        let file = binary(call, &name)?;
        match loader::recognise(&*file.source)? {
            Format::Elf(elf) => break (elf, file),
            Format::Script(interpreter, option) => {
                depth += 1;
                if depth > 5 {
                    return Err(Errno::ELOOP);
                }
                let rest = arguments.split_off(arguments.len().min(1));
                arguments = vec![interpreter.clone()];
                arguments.extend(option);
                arguments.push(name);
                arguments.extend(rest);
                name = interpreter;
            }
        }
    };
    let loader_file = match elf.interpreter(&*file.source)? {
        None => None,
        Some(path) => {
            let file = binary(call, &path)?;
            let Format::Elf(elf) = loader::recognise(&*file.source)? else {
                return Err(Errno::ELIBBAD);
            };
            Some((elf, file))
        }
    };
    let start = Start {
        arguments: &arguments,
        environment,
        uid: call.kernel.user.uid,
        gid: call.kernel.user.gid,
        name: path,
        memory: call.kernel.memory,
    };
    let interpreter = loader_file.as_ref().map(|(elf, file)| (elf, file));
    let (space, mut cpu, program) = loader::load(&elf, &file, interpreter, &start)?;

    // From here on there is no way back.
    let (pid, tid) = (call.pid, call.tid);
    call.kernel.sync_mappings_if_any(pid);
    let old = call.process().space.as_mut();
    let looks = old.map(AddressSpace::take_looks).unwrap_or_default();
    call.kernel.give_back_space(pid);
    let process = call.kernel.process(pid);
    process.space = Some(space);
    // What the call looked at is still to be told.
    looks.into_iter().for_each(|(mark, value)| process.space().look_elsewhere(mark, value));
    process.program = program;
    process.timers = Timers::default();
    // The other threads end; the caller becomes the first.
    process.threads.retain(|thread| thread.tid == tid);
    let base = path.rsplit(|&byte| byte == b'/').next().unwrap_or(path);
    let thread = &mut process.threads[0];
    cpu.executed = thread.cpu.executed;
    thread.cpu = cpu;
    thread.tid = pid.first_thread();
    thread.clear_tid = 0;
    thread.alternate = AlternateStack::default();
    thread.name = [0; 16];
    let length = base.len().min(15);
    thread.name[..length].copy_from_slice(&base[..length]);
    // Handlers were addresses in the old program.
    let mut actions = [Action::default(); SIGNALS];
    for (new, old) in actions.iter_mut().zip(process.actions.iter()) {
        if old.handler == 1 {
            new.handler = 1;
        }
    }
    process.actions = Arc::new(actions);
    let kernel = &mut *call.kernel;
    let process = kernel.processes.0.get_mut(&pid).expect("the caller exists");
    kernel.files.close_on_exec(&mut process.descriptors);
    kernel.release_mapped();
    Ok(())
}

// ---- ends -----------------------------------------------------------------------------------

impl Kernel {
    /// Gives a lent address space back to the parent, which goes on.
    pub(crate) fn give_back_space(&mut self, pid: Pid) {
        let process = self.process(pid);
        let (Some(lender), Some(space)) = (process.lender.take(), process.space.take()) else {
            return;
        };
        if let Some(parent) = self.processes.0.get_mut(&lender) {
            parent.space = Some(space);
        }
    }

    /// The same, for a process that may have no address space yet.
    pub(crate) fn sync_mappings_if_any(&mut self, pid: Pid) {
        if self.process(pid).space.is_some() {
            self.sync_mappings(pid);
        }
    }

    /// Ends a process.
    pub(crate) fn end_process(&mut self, pid: Pid, death: Death) {
        self.sync_mappings_if_any(pid);
        self.give_back_space(pid);
        let uid = self.user.uid;
        let process = self.process(pid);
        process.death = Some(death);
        process.space = None;
        process.threads.clear();
        let (parent, exit_signal) = (process.parent, process.exit_signal);
        let kernel = &mut *self;
        let process = kernel.processes.0.get_mut(&pid).expect("it exists");
        kernel.files.close_all(&mut process.descriptors);
        kernel.release_mapped();
        // Orphans go to the first process of the system, which is not here: nobody waits.
        for child in self.processes.0.values_mut().filter(|child| child.parent == pid) {
            child.parent = INIT;
        }
        self.processes.0.retain(|_, process| {
            process.parent != INIT || process.death.is_none() || process.pid == FIRST_PID
        });
        let Some(father) = self.processes.0.get(&parent) else { return };
        let action = father.actions[17];
        // Who ignores SIGCHLD, or asks not to be bothered, has no zombies.
        let no_zombie = exit_signal == 17 && (action.handler == 1 || action.flags & 2 != 0);
        if exit_signal != 0 {
            let code = match death {
                Death::Exited(_) => 1,
                Death::Killed { core: false, .. } => 2,
                Death::Killed { core: true, .. } => 3,
            };
            let mut signal = Signal::from_process(exit_signal, pid, uid, code);
            signal.extra = match death {
                Death::Exited(code) => u64::from(code),
                Death::Killed { signal, .. } => u64::from(signal),
            };
            self.send(parent, signal);
        }
        if no_zombie {
            self.processes.0.remove(&pid);
        }
    }
}

/// Which children a wait is for: `waitpid`'s first argument.
fn matches(child: &super::process::Process, wanted: i32, own_group: u32) -> bool {
    match wanted {
        -1 => true,
        0 => child.group == own_group,
        pid if pid > 0 => child.pid.0 == pid as u32,
        group => child.group == group.unsigned_abs(),
    }
}

fn wait4(call: &mut Call<'_>) -> Flow {
    const NOHANG: u64 = 1;
    const UNTRACED: u64 = 2;
    const CONTINUED: u64 = 8;
    let [pid, status, options, usage, ..] = call.arguments;
    let (own, group) = (call.pid, call.process().group);
    let mut any = false;
    let mut found = None;
    for child in call.kernel.processes.0.values_mut() {
        if child.parent != own || !matches(child, pid as i32, group) {
            continue;
        }
        any = true;
        if let Some(death) = child.death {
            found = Some((child.pid, death.status(), true));
            break;
        }
        let wanted = match child.news {
            Some(0xffff) => options & CONTINUED != 0,
            Some(_) => options & UNTRACED != 0,
            None => false,
        };
        if wanted {
            found = child.news.take().map(|news| (child.pid, news, false));
            break;
        }
    }
    match found {
        Some((child, word, dead)) => {
            let result = call
                .put_if(status, &word.to_le_bytes())
                .and_then(|()| call.put_if(usage, &[0; 144]));
            if let Err(errno) = result {
                return errno.into();
            }
            if dead {
                reap(call, child);
            }
            Flow::Done(Ok(u64::from(child.0)))
        }
        None if !any => Errno::ECHILD.into(),
        None if options & NOHANG != 0 => Flow::Done(Ok(0)),
        None => Flow::Block(None),
    }
}

/// Takes a dead child away, and counts its time.
fn reap(call: &mut Call<'_>, child: Pid) {
    let now = call.kernel.clock.now();
    if let Some(gone) = call.kernel.processes.0.remove(&child) {
        let used = now.saturating_sub(gone.started).saturating_add(gone.children_time);
        let own = &mut call.process().children_time;
        *own = own.saturating_add(used);
    }
}

fn waitid(call: &mut Call<'_>) -> Flow {
    const NOHANG: u64 = 1;
    const EXITED: u64 = 4;
    const NOWAIT: u64 = 0x0100_0000;
    let [kind, id, info, options, ..] = call.arguments;
    let (own, group) = (call.pid, call.process().group);
    let wanted = match kind {
        0 => -1,
        1 => id as i32,
        2 if id == 0 => 0,
        2 => -(id as i32),
        _ => return Errno::EINVAL.into(),
    };
    let children = call.kernel.processes.0.values();
    let mut any = false;
    let mut found = None;
    for child in children.filter(|child| child.parent == own && matches(child, wanted, group)) {
        any = true;
        if let (Some(death), true) = (child.death, options & EXITED != 0) {
            found = Some((child.pid, death));
            break;
        }
    }
    let Some((child, death)) = found else {
        return match any {
            false => Errno::ECHILD.into(),
            true if options & NOHANG != 0 => call.put_if(info, &[0; 128]).map(|()| 0).into(),
            true => Flow::Block(None),
        };
    };
    let (code, value) = match death {
        Death::Exited(code) => (1, u64::from(code)),
        Death::Killed { signal, core } => (if core { 3 } else { 2 }, u64::from(signal)),
    };
    let mut signal = Signal::from_process(17, child, call.kernel.user.uid, code);
    signal.extra = value;
    if let Err(errno) = call.put_if(info, &signal.encode()) {
        return errno.into();
    }
    if options & NOWAIT == 0 {
        reap(call, child);
    }
    Flow::Done(Ok(0))
}
