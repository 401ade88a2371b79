//! Threads and new processes: `clone`, `fork`, `futex`, and the end of a thread.

use std::sync::Arc;

use super::{
    Pid, Tid,
    call::{Call, Flow},
    errno::Errno,
    numbers as n,
    process::{Blocked, Death, Process, State, Thread},
};
use crate::{code::slots, memory::AddressSpace};

/// Threads and processes, with those that nobody has waited for yet, that may exist at a time.
pub(crate) const MOST_TASKS: usize = 4096;

const CLONE_VM: u64 = 0x100;
const CLONE_VFORK: u64 = 0x4000;
const CLONE_PARENT: u64 = 0x8000;
const CLONE_THREAD: u64 = 0x1_0000;
const CLONE_SETTLS: u64 = 0x8_0000;
const CLONE_PARENT_SETTID: u64 = 0x10_0000;
const CLONE_CHILD_CLEARTID: u64 = 0x20_0000;
const CLONE_CHILD_SETTID: u64 = 0x100_0000;
const CLONE_CLEAR_SIGHAND: u64 = 0x1_0000_0000;

pub(super) fn dispatch(call: &mut Call<'_>) -> Option<Flow> {
    let [a, b, c, d, e, _] = call.arguments;
    Some(match call.number {
        n::CLONE => {
            let request = Request {
                flags: a & !0xff,
                signal: a as u32 & 0xff,
                stack: b,
                parent_tid: c,
                child_tid: d,
                tls: e,
            };
            clone(call, &request)
        }
        n::CLONE3 => clone3(call, a, b),
        n::FORK => clone(call, &Request { signal: 17, ..Request::default() }),
        n::VFORK => {
            let flags = CLONE_VM | CLONE_VFORK;
            clone(call, &Request { flags, signal: 17, ..Request::default() })
        }
        n::EXIT => exit_thread(call, a),
        n::GETTID => Flow::Done(Ok(u64::from(call.tid.0))),
        n::SET_TID_ADDRESS => {
            call.thread().clear_tid = a;
            Flow::Done(Ok(u64::from(call.tid.0)))
        }
        n::SET_ROBUST_LIST => {
            if b == 24 {
                Flow::Done(Ok(0))
            } else {
                Errno::EINVAL.into()
            }
        }
        // Restartable sequences need a kernel that preempts: the C library does without.
        n::RSEQ => call.lacks(),
        n::SCHED_YIELD => {
            call.kernel.turn = call.tid;
            Flow::Done(Ok(0))
        }
        n::FUTEX => futex(call),
        _ => return None,
    })
}

#[derive(Default)]
struct Request {
    flags: u64,
    signal: u32,
    stack: u64,
    parent_tid: u64,
    child_tid: u64,
    tls: u64,
}

fn clone3(call: &mut Call<'_>, at: u64, size: u64) -> Flow {
    if !(64..=4096).contains(&size) {
        return Errno::EINVAL.into();
    }
    let mut words = [0; 8];
    for (k, word) in words.iter_mut().enumerate() {
        match call.word(at.wrapping_add(8 * k as u64)) {
            Ok(value) => *word = value,
            Err(errno) => return errno.into(),
        }
    }
    let [flags, _, child_tid, parent_tid, signal, stack, stack_size, tls] = words;
    if (stack == 0) != (stack_size == 0) {
        return Errno::EINVAL.into();
    }
    let stack = if stack == 0 { 0 } else { stack.wrapping_add(stack_size) };
    let request = Request { flags, signal: signal as u32, stack, parent_tid, child_tid, tls };
    clone(call, &request)
}

fn clone(call: &mut Call<'_>, request: &Request) -> Flow {
    let flags = request.flags;
    if flags & CLONE_THREAD == 0 && flags & CLONE_VM != 0 && flags & CLONE_VFORK == 0 {
        // A process that shares memory and runs at the same time: nobody needs it.
        return call.lacks();
    }
    let processes = call.kernel.processes.0.values();
    if processes.map(|process| process.threads.len().max(1)).sum::<usize>() >= MOST_TASKS {
        return Errno::EAGAIN.into();
    }
    let new = call.kernel.next_pid;
    call.kernel.next_pid += 1;
    if flags & CLONE_PARENT_SETTID != 0
        && let Err(errno) = call.put(request.parent_tid, &new.to_le_bytes())
    {
        return errno.into();
    }
    let old = call.thread();
    let mut cpu = old.cpu.clone();
    cpu.set(slots::RAX, 0);
    if request.stack != 0 {
        cpu.set(slots::RSP, request.stack);
    }
    if flags & CLONE_SETTLS != 0 {
        cpu.set(slots::FS, request.tls);
    }
    let thread = Thread {
        tid: Tid(new),
        cpu,
        state: State::Ready,
        mask: old.mask,
        saved_mask: None,
        pending: Default::default(),
        alternate: if flags & CLONE_VM != 0 && flags & CLONE_VFORK == 0 {
            Default::default()
        } else {
            old.alternate
        },
        clear_tid: if flags & CLONE_CHILD_CLEARTID != 0 { request.child_tid } else { 0 },
        name: old.name,
        resumed: None,
    };
    if flags & CLONE_THREAD != 0 {
        call.process().threads.push(thread);
        if flags & CLONE_CHILD_SETTID != 0
            && let Err(errno) = call.put(request.child_tid, &new.to_le_bytes())
        {
            return errno.into();
        }
        return Flow::Done(Ok(u64::from(new)));
    }
    new_process(call, request, thread)
}

fn new_process(call: &mut Call<'_>, request: &Request, thread: Thread) -> Flow {
    let (pid, flags, new) = (call.pid, request.flags, Pid(thread.tid.0));
    call.kernel.sync_mappings(pid);
    let clock = call.kernel.clock.now();
    let kernel = &mut *call.kernel;
    let parent = kernel.processes.0.get_mut(&pid).expect("the caller exists");
    let lent = flags & CLONE_VFORK != 0 && flags & CLONE_VM != 0;
    let space =
        if lent { parent.space.take() } else { parent.space.as_mut().map(AddressSpace::fork) };
    let mut actions = Arc::clone(&parent.actions);
    if flags & CLONE_CLEAR_SIGHAND != 0 {
        for action in Arc::make_mut(&mut actions) {
            if action.handler > 1 {
                *action = Default::default();
            }
        }
    }
    let child = Process {
        pid: new,
        parent: if flags & CLONE_PARENT != 0 { parent.parent } else { pid },
        group: parent.group,
        session: parent.session,
        space,
        lender: lent.then_some(pid),
        threads: vec![thread],
        descriptors: kernel.files.fork(&parent.descriptors),
        cwd: parent.cwd,
        umask: parent.umask,
        actions,
        pending: Default::default(),
        exit_signal: request.signal,
        death: None,
        news: None,
        stopped: false,
        program: parent.program.clone(),
        limits: Arc::clone(&parent.limits),
        alarm: None,
        timers: Default::default(),
        started: clock,
        children_time: 0,
    };
    kernel.processes.0.insert(new, child);
    if flags & CLONE_CHILD_SETTID != 0 {
        let child = kernel.process(new);
        // As in the kernel, a bad address is the child's own trouble.
        let _ = child.space().write(request.child_tid, &new.0.to_le_bytes());
    }
    Flow::Done(Ok(u64::from(new.0)))
}

fn exit_thread(call: &mut Call<'_>, code: u64) -> Flow {
    let (pid, tid) = (call.pid, call.tid);
    let clear = call.thread().clear_tid;
    if call.process().threads.len() == 1 {
        call.kernel.end_process(pid, Death::Exited(code as u8));
        return Flow::Leave;
    }
    if clear != 0 && call.put(clear, &0u32.to_le_bytes()).is_ok() {
        wake(call, clear, 1, u32::MAX);
    }
    call.process().threads.retain(|thread| thread.tid != tid);
    Flow::Leave
}

// ---- futex ----------------------------------------------------------------------------------

/// Wakes up to `count` waiters; gives how many there were.
fn wake(call: &mut Call<'_>, address: u64, count: u64, bits: u32) -> u64 {
    let mut woken = 0;
    for thread in &mut call.process().threads {
        if woken == count {
            break;
        }
        if let State::Blocked(blocked) = &mut thread.state
            && !blocked.woken
            && blocked.futex.is_some_and(|(at, b)| at == address && b & bits != 0)
        {
            blocked.woken = true;
            woken += 1;
        }
    }
    woken
}

/// Moves up to `count` waiters to another futex.
fn requeue(call: &mut Call<'_>, from: u64, to: u64, count: u64) -> u64 {
    let mut moved = 0;
    for thread in &mut call.process().threads {
        if let State::Blocked(blocked) = &mut thread.state
            && let (Some((at, bits)), false) = (blocked.futex, blocked.woken)
            && at == from
            && moved < count
        {
            blocked.futex = Some((to, bits));
            moved += 1;
        }
    }
    moved
}

fn futex(call: &mut Call<'_>) -> Flow {
    const WAIT: u64 = 0;
    const WAKE: u64 = 1;
    const REQUEUE: u64 = 3;
    const CMP_REQUEUE: u64 = 4;
    const WAKE_OP: u64 = 5;
    const WAIT_BITSET: u64 = 9;
    const WAKE_BITSET: u64 = 10;
    const CLOCK_REALTIME: u64 = 256;
    let [address, operation, value, timeout, second, third] = call.arguments;
    if address % 4 != 0 {
        return Errno::EINVAL.into();
    }
    match operation & 0x7f {
        WAIT | WAIT_BITSET => {
            let absolute = operation & 0x7f == WAIT_BITSET;
            let bits = if absolute { third as u32 } else { u32::MAX };
            if bits == 0 {
                return Errno::EINVAL.into();
            }
            if let Some(blocked) = call.thread().resumed.clone() {
                return still_waiting(call, &blocked);
            }
            match call.half(address) {
                Err(errno) => return errno.into(),
                Ok(now) if now != value as u32 => return Errno::EAGAIN.into(),
                Ok(_) => {}
            }
            let deadline = match timeout {
                0 => None,
                at => {
                    let real = operation & CLOCK_REALTIME != 0;
                    match super::time_calls::deadline(call, at, absolute, real) {
                        Ok(deadline) => Some(deadline),
                        Err(errno) => return errno.into(),
                    }
                }
            };
            let blocked = Blocked::new(call.number, call.arguments, deadline);
            let futex = Some((address, bits));
            call.thread().resumed = Some(Box::new(Blocked { futex, ..blocked }));
            Flow::Block(deadline)
        }
        WAKE => Flow::Done(Ok(wake(call, address, value, u32::MAX))),
        WAKE_BITSET if third as u32 == 0 => Errno::EINVAL.into(),
        WAKE_BITSET => Flow::Done(Ok(wake(call, address, value, third as u32))),
        REQUEUE | CMP_REQUEUE => {
            if operation & 0x7f == CMP_REQUEUE {
                match call.half(address) {
                    Err(errno) => return errno.into(),
                    Ok(now) if now != third as u32 => return Errno::EAGAIN.into(),
                    Ok(_) => {}
                }
            }
            let woken = wake(call, address, value, u32::MAX);
            let moved = requeue(call, address, second, timeout);
            let counted = if operation & 0x7f == REQUEUE { woken } else { woken + moved };
            Flow::Done(Ok(counted))
        }
        WAKE_OP => wake_op(call, address, value, timeout, second, third),
        _ => call.lacks(),
    }
}

fn still_waiting(call: &mut Call<'_>, blocked: &Blocked) -> Flow {
    if blocked.woken {
        return Flow::Done(Ok(0));
    }
    match blocked.deadline {
        Some(deadline) if deadline <= call.kernel.clock.now() => Errno::ETIMEDOUT.into(),
        deadline => Flow::Block(deadline),
    }
}

fn wake_op(
    call: &mut Call<'_>,
    first: u64,
    count: u64,
    second_count: u64,
    second: u64,
    code: u64,
) -> Flow {
    let old = match call.half(second) {
        Ok(old) => old,
        Err(errno) => return errno.into(),
    };
    let code = code as u32;
    // Twelve bits each, signed.
    let operand = ((code << 8) as i32 >> 20) as u32;
    let compared = ((code << 20) as i32 >> 20) as u32;
    let operand = if code >> 31 != 0 { 1u32.wrapping_shl(operand) } else { operand };
    let new = match code >> 28 & 7 {
        0 => operand,
        1 => old.wrapping_add(operand),
        2 => old | operand,
        3 => old & !operand,
        4 => old ^ operand,
        _ => return call.lacks(),
    };
    if let Err(errno) = call.put(second, &new.to_le_bytes()) {
        return errno.into();
    }
    let holds = match code >> 24 & 15 {
        0 => old == compared,
        1 => old != compared,
        2 => (old as i32) < compared as i32,
        3 => old as i32 <= compared as i32,
        4 => old as i32 > compared as i32,
        5 => old as i32 >= compared as i32,
        _ => return call.lacks(),
    };
    let mut woken = wake(call, first, count, u32::MAX);
    if holds {
        woken += wake(call, second, second_count, u32::MAX);
    }
    Flow::Done(Ok(woken))
}
