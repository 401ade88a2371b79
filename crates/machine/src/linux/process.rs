//! Processes and threads: everything that the kernel knows about them.
//!
//! A process owns one address space, except while it has lent it to a child made by `vfork`.
//! Threads of a process are in the order in which they were made; a thread that has ended is gone.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    Pid, Tid,
    fs::{Descriptors, Node},
    signal::{Action, AlternateStack, Pending, SIGNALS},
    timers::Timers,
};
use crate::{cpu::Cpu, memory::AddressSpace};

/// What a thread waits for, and how its system call goes on.
#[derive(Clone, Debug)]
pub(crate) struct Blocked {
    /// The number of the system call, which is made again until it does not block.
    pub(crate) number: u64,
    /// Its arguments.
    pub(crate) arguments: [u64; 6],
    /// When it ends by itself, in nanoseconds of the machine's clock.
    pub(crate) deadline: Option<u64>,
    /// For `futex`: somebody woke it.
    pub(crate) woken: bool,
    /// For `futex`: the address and the bits that it waits for.
    pub(crate) futex: Option<(u64, u32)>,
    /// Bytes that the call has moved already.
    pub(crate) done: usize,
}

impl Blocked {
    /// A call that waits for nothing in particular: it is made again from the start.
    pub(crate) fn new(number: u64, arguments: [u64; 6], deadline: Option<u64>) -> Self {
        Self { number, arguments, deadline, woken: false, futex: None, done: 0 }
    }
}

/// Whether a thread can run.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// It can.
    Ready,
    /// It is in a system call that cannot finish yet.
    Blocked(Box<Blocked>),
}

/// A thread.
#[derive(Clone)]
pub(crate) struct Thread {
    pub(crate) tid: Tid,
    pub(crate) cpu: Cpu,
    pub(crate) state: State,
    /// Signals that are held back.
    pub(crate) mask: u64,
    /// The mask to go back to after a call that changed it for its own time.
    pub(crate) saved_mask: Option<u64>,
    pub(crate) pending: Pending,
    pub(crate) alternate: AlternateStack,
    /// Where to store zero, and wake, when the thread ends.
    pub(crate) clear_tid: u64,
    pub(crate) name: [u8; 16],
    /// The call to go on with: set while it is tried again.
    pub(crate) resumed: Option<Box<Blocked>>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Death {
    /// `exit`.
    Exited(u8),
    /// A signal, and whether it would leave a core.
    Killed {
        /// Which.
        signal: u32,
        /// Whether its default is to dump core.
        core: bool,
    },
}

impl Death {
    /// The status word of `wait4`.
    pub(crate) fn status(self) -> u32 {
        match self {
            Self::Exited(code) => u32::from(code) << 8,
            Self::Killed { signal, core } => signal | if core { 0x80 } else { 0 },
        }
    }
}

/// A process.
pub(crate) struct Process {
    pub(crate) pid: Pid,
    pub(crate) parent: Pid,
    pub(crate) group: u32,
    pub(crate) session: u32,
    /// None while lent to a child, and after death.
    pub(crate) space: Option<AddressSpace>,
    /// The parent that waits for its address space to come back.
    pub(crate) lender: Option<Pid>,
    pub(crate) threads: Vec<Thread>,
    pub(crate) descriptors: Descriptors,
    pub(crate) cwd: Node,
    pub(crate) umask: u32,
    pub(crate) actions: Arc<[Action; SIGNALS]>,
    pub(crate) pending: Pending,
    /// The signal that the parent gets when this ends.
    pub(crate) exit_signal: u32,
    pub(crate) death: Option<Death>,
    /// A stop or a continuation that the parent has not been told yet, as a `wait4` status.
    pub(crate) news: Option<u32>,
    pub(crate) stopped: bool,
    pub(crate) program: Program,
    pub(crate) limits: Arc<BTreeMap<u32, (u64, u64)>>,
    /// When `SIGALRM` comes next, and the period after that, in nanoseconds.
    pub(crate) alarm: Option<(u64, u64)>,
    pub(crate) timers: Timers,
    /// The clock when the process began.
    pub(crate) started: u64,
    /// The time that children used.
    pub(crate) children_time: u64,
}

/// What runs in a process.
#[derive(Clone)]
pub(crate) struct Program {
    /// Its path, absolute.
    pub(crate) path: Arc<[u8]>,
    /// Arguments, each ended by a zero.
    pub(crate) arguments: Arc<[u8]>,
    /// Environment, each entry ended by a zero.
    pub(crate) environment: Arc<[u8]>,
    /// The auxiliary vector as the program got it.
    pub(crate) auxiliary: Arc<[u8]>,
    /// Where the heap begins, and where it ends now.
    pub(crate) heap: (u64, u64),
    /// The top of the stack.
    pub(crate) stack: u64,
}

impl Process {
    /// The address space.
    ///
    /// # Panics
    /// If it is lent: threads of a lender do not run.
    pub(crate) fn space(&mut self) -> &mut AddressSpace {
        self.space.as_mut().expect("a running process has its address space")
    }

    /// The thread with this number.
    pub(crate) fn thread(&mut self, tid: Tid) -> Option<&mut Thread> {
        self.threads.iter_mut().find(|thread| thread.tid == tid)
    }

    /// A copy that shares nothing that can change.
    pub(crate) fn duplicate(&mut self) -> Self {
        Self {
            space: self.space.as_mut().map(AddressSpace::fork),
            threads: self.threads.clone(),
            descriptors: self.descriptors.clone(),
            actions: Arc::clone(&self.actions),
            pending: self.pending.clone(),
            program: self.program.clone(),
            limits: Arc::clone(&self.limits),
            timers: self.timers.clone(),
            ..*self
        }
    }
}
