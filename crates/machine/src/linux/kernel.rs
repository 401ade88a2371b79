//! The kernel's state, and how a system call finds its function.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    Pid, ThreadId, Tid,
    call::{Call, Flow},
    clock::Clock,
    errno::Errno,
    file_calls,
    fs::{Config, Files, InodeId, User},
    inputs::Inputs,
    loader, memory_calls,
    modules::Mapped,
    numbers,
    process::{Process, Program, State, Thread},
    process_calls,
    schedule::Crash,
    signal::{Action, AlternateStack, Pending, SIGNALS},
    signal_calls, threads, time_calls,
    timers::{self, Timers},
};

/// The processes, by number.
pub(crate) struct Processes(pub(crate) BTreeMap<Pid, Process>);

/// The kernel.
pub struct Kernel {
    pub(crate) files: Files,
    pub(crate) processes: Processes,
    pub(crate) user: User,
    pub(crate) clock: Clock,
    pub(crate) next_pid: u32,
    pub(crate) memory: u64,
    /// System calls that are not here, and how often they were tried.
    pub(crate) missing: BTreeMap<u64, Missing>,
    /// The thread that had the last turn.
    pub(crate) turn: Tid,
    /// A turn that a limit cut short: the thread, and the count of instructions at which it ends.
    pub(crate) interrupted: Option<(ThreadId, u64)>,
    /// Instructions executed, over all processes.
    pub(crate) executed: u64,
    /// The last process that a signal killed.
    pub(crate) crash: Option<Box<Crash>>,
    /// Since when all recorded connections have been over and nobody could run.
    pub(crate) quiet_since: Option<u64>,
    /// The process in which an instruction stopped the run that the machine does not have.
    pub(crate) stuck: Option<Pid>,
    /// Files that a shared mapping keeps.
    pub(crate) mapped: BTreeSet<InodeId>,
    /// Files that are followed.
    pub(crate) inputs: Inputs,
    /// Where a file with code was just mapped.
    pub(crate) mapped_code: Option<u64>,
}

/// What a machine is started with.
pub struct Setup {
    /// The files.
    pub files: Config,
    /// The program: a path.
    pub program: Vec<u8>,
    /// Its arguments, the first one being its name.
    pub arguments: Vec<Vec<u8>>,
    /// Its environment, as `NAME=value`.
    pub environment: Vec<Vec<u8>>,
    /// How much memory each process may use, in bytes.
    pub memory: u64,
}

/// The number of the first process.
pub(crate) const FIRST_PID: Pid = Pid(1000);
/// The first process of the system, which is not here.
pub(crate) const INIT: Pid = Pid(1);

impl Kernel {
    /// A kernel with one process that is about to start.
    ///
    /// # Errors
    /// What `execve` would answer.
    pub fn new(setup: Setup) -> Result<Self, Errno> {
        let user = setup.files.user.clone();
        let (mut files, descriptors) = Files::new(setup.files)?;
        let cwd = files.start()?;
        let empty: Arc<[u8]> = Arc::new([]);
        let process = Process {
            pid: FIRST_PID,
            parent: INIT,
            group: FIRST_PID.0,
            session: FIRST_PID.0,
            space: None,
            lender: None,
            threads: vec![new_thread(FIRST_PID.first_thread())],
            descriptors,
            cwd,
            umask: 0o022,
            actions: Arc::new([Action::default(); SIGNALS]),
            pending: Pending::default(),
            exit_signal: 17,
            death: None,
            news: None,
            stopped: false,
            program: Program {
                path: Arc::clone(&empty),
                arguments: Arc::clone(&empty),
                environment: Arc::clone(&empty),
                auxiliary: empty,
                heap: (0, 0),
                stack: 0,
            },
            limits: process_calls::initial_limits(),
            alarm: None,
            timers: Timers::default(),
            started: 0,
            children_time: 0,
        };
        let mut kernel = Self {
            files,
            processes: Processes(BTreeMap::from([(FIRST_PID, process)])),
            user,
            clock: Clock::default(),
            next_pid: FIRST_PID.0 + 1,
            memory: setup.memory,
            missing: BTreeMap::new(),
            turn: Tid(0),
            interrupted: None,
            executed: 0,
            crash: None,
            quiet_since: None,
            stuck: None,
            mapped: BTreeSet::new(),
            inputs: Inputs::default(),
            mapped_code: None,
        };
        kernel.tell_time();
        let mut call = Call {
            kernel: &mut kernel,
            pid: FIRST_PID,
            tid: FIRST_PID.first_thread(),
            number: numbers::EXECVE,
            arguments: [0; 6],
        };
        process_calls::execute(&mut call, &setup.program, setup.arguments, &setup.environment)?;
        Ok(kernel)
    }

    /// A second kernel in the same state; what one does is not seen by the other.
    #[must_use]
    pub fn fork(&mut self) -> Self {
        let processes = self.processes.0.iter_mut();
        let processes = processes.map(|(&pid, process)| (pid, process.duplicate())).collect();
        Self {
            files: self.files.clone(),
            processes: Processes(processes),
            user: self.user.clone(),
            clock: self.clock,
            next_pid: self.next_pid,
            memory: self.memory,
            missing: self.missing.clone(),
            turn: self.turn,
            interrupted: self.interrupted,
            executed: self.executed,
            crash: self.crash.as_mut().map(|crash| Box::new(crash.fork())),
            quiet_since: self.quiet_since,
            stuck: self.stuck,
            mapped: self.mapped.clone(),
            inputs: self.inputs.clone(),
            mapped_code: self.mapped_code,
        }
    }

    /// The process with this number, which exists.
    pub(crate) fn process(&mut self, pid: Pid) -> &mut Process {
        self.processes.0.get_mut(&pid).expect("the process exists")
    }

    /// Tells the files what time it is.
    pub(crate) fn tell_time(&mut self) {
        let real = self.clock.real();
        self.files.set_clock(super::fs::Clock {
            real: super::fs::Timestamp {
                seconds: (real / super::clock::SECOND) as i64,
                nanoseconds: (real % super::clock::SECOND) as u32,
            },
            monotonic: self.clock.monotonic(),
        });
    }

    /// The files, to see what the program wrote.
    #[must_use]
    pub fn files(&mut self) -> &mut Files {
        &mut self.files
    }

    /// The memory of the process that [`super::Ending::Unsupported`] is about; if the run did not
    /// end so, of the first process, while it lives and has not lent it.
    pub(crate) fn space_at_end(&mut self) -> Option<&mut crate::memory::AddressSpace> {
        self.processes.0.get_mut(&self.stuck.unwrap_or(FIRST_PID))?.space.as_mut()
    }

    /// System calls that the kernel does not have, by number, and what is known about their use.
    #[must_use]
    pub fn missing_calls(&self) -> &BTreeMap<u64, Missing> {
        &self.missing
    }
}

/// A system call, or a form of one, that the kernel does not have and that was tried.
#[derive(Clone)]
pub struct Missing {
    /// How often.
    pub count: u64,
    /// The instruction that made it first.
    pub(crate) at: u64,
    /// What the process had mapped then.
    pub(crate) mapped: Arc<Mapped>,
}

/// A thread that has not run yet.
pub(crate) fn new_thread(tid: Tid) -> Thread {
    Thread {
        tid,
        cpu: crate::cpu::Cpu::default(),
        state: State::Ready,
        mask: 0,
        saved_mask: None,
        pending: Pending::default(),
        alternate: AlternateStack::default(),
        clear_tid: 0,
        name: [0; 16],
        resumed: None,
    }
}

/// Makes a system call.
pub(crate) fn dispatch(call: &mut Call<'_>) -> Flow {
    let families: [fn(&mut Call<'_>) -> Option<Flow>; 7] = [
        file_calls::dispatch,
        memory_calls::dispatch,
        process_calls::dispatch,
        threads::dispatch,
        signal_calls::dispatch,
        time_calls::dispatch,
        timers::dispatch,
    ];
    for family in families {
        if let Some(flow) = family(call) {
            return flow;
        }
    }
    call.lacks()
}

pub(crate) use loader::MAPPING_TOP;
