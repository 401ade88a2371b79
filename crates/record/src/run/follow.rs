//! A program that is recorded, followed from its first instruction to the end of its last process.
//!
//! Always holds: a thread that stops goes on as if nobody had looked, with the signal that it was
//! about to get; a group that was stopped stays stopped until somebody tells it to go on. Processes
//! that outlive the first are followed, too: without us their filtered calls would fail.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::PathBuf;
use std::time::Instant;

use stunt_native::{AtMark, Files, Witness};
use stunt_path::{Ending, Failure, Private};
use stunt_tracee::{self as tracee, BIRTHS, CALL, Effect, Event, Onward, alive};

use crate::incident::{Draft, FailedIn, NotedEnding};
use crate::run::Cost;
use crate::run::calls::{self, Call, Memory};
use crate::run::filter::{More, Streams, more};
use crate::run::inject::{Injected, inject};
use crate::run::notes::{Notes, Pipe, Verdict, program};
use crate::run::opened::Manner;
use crate::run::signals::Signals;
use crate::run::streams::{Stream, Tail};

/// Signals that a program dies of because something is wrong with it. Others are sent by people.
const CRASHES: [i32; 9] = [
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGSEGV,
    libc::SIGXCPU,
    libc::SIGXFSZ,
    libc::SIGSYS,
];

/// Signals that stop a group.
const STOPS: [i32; 4] = [libc::SIGSTOP, libc::SIGTSTP, libc::SIGTTIN, libc::SIGTTOU];

/// Descriptors of one process that are listened to one by one; after that all are.
const ONE_BY_ONE: usize = 8;

/// Throws that are looked at before a program is taken for one that throws all the time.
const THROWS: u32 = 500;

/// Bytes of each output that are kept.
const OUTPUT: usize = 1 << 20;

/// Crashes of one run that are told.
const TOLD: usize = 16;

/// Where bytes that a program reads come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Stdin,
    Pipe(usize),
    Connection(usize),
}

/// A system call that has begun.
enum Begun {
    /// To open a pipe by its name.
    Open(PathBuf),
    Read(From, Memory),
    Write(i32, Memory),
    Accept,
    Connect(i32, Vec<u8>),
    Duplicate,
}

struct Process<'a> {
    /// Absent until it runs a program of its own.
    witness: Option<Witness<'a>>,
    program: PathBuf,
    /// The numbers of descriptors that are listened to.
    heard: BTreeSet<i32>,
    hears_all: bool,
    failure: Option<Failure>,
}

/// A run in progress.
pub struct Follow<'a> {
    files: &'a Files,
    first: i32,
    notes: Notes,
    signals: &'a Signals,
    streams: Streams,
    /// The outputs of the first process: device and node, and the end of what was written.
    outputs: [(Option<(u64, u64)>, Tail); 2],
    /// Threads, and the process of each.
    tasks: BTreeMap<i32, i32>,
    processes: BTreeMap<i32, Process<'a>>,
    begun: BTreeMap<i32, Begun>,
    /// Children that stopped before their parents told about them.
    early: BTreeSet<i32>,
    first_program: PathBuf,
    ending: Option<Ending>,
    failure: Option<Failure>,
    told: BTreeSet<String>,
    /// The signal that has just stopped the first process, with its group.
    stopped_by: Option<i32>,
    cost: Cost,
}

/// A run that is over.
pub struct Followed {
    /// How its first process ended.
    pub ending: Ending,
    /// How that failed.
    pub failure: Option<Failure>,
    /// The end of standard output.
    pub stdout: Private,
    /// The end of standard error.
    pub stderr: Private,
    /// What was noted.
    pub notes: Notes,
    /// What it cost.
    pub cost: Cost,
}

impl<'a> Follow<'a> {
    /// Follows a process that is stopped before the first instruction of its program.
    pub fn new(
        files: &'a Files,
        first: i32,
        notes: Notes,
        signals: &'a Signals,
        streams: Streams,
    ) -> io::Result<Self> {
        let output = |number: i32| {
            let node = node(std::process::id().cast_signed(), number).map(|it| (it.0, it.1));
            (node, Tail::new(OUTPUT))
        };
        let mut follow = Self {
            files,
            first,
            notes,
            signals,
            streams,
            outputs: [output(1), output(2)],
            tasks: BTreeMap::from([(first, first)]),
            processes: BTreeMap::new(),
            begun: BTreeMap::new(),
            early: BTreeSet::new(),
            first_program: PathBuf::new(),
            ending: None,
            failure: None,
            told: BTreeSet::new(),
            stopped_by: None,
            cost: Cost::default(),
        };
        follow.processes.insert(first, Process::new());
        follow.runs_program(first)?;
        follow.first_program = follow.processes[&first].program.clone();
        alive(tracee::go_on(first, Onward::Free, 0))?;
        Ok(follow)
    }

    /// Follows all to their ends. After an error nothing of the run is left.
    pub fn finish(mut self, crashed: &mut dyn FnMut(Draft)) -> io::Result<Followed> {
        let result = self.until_end(crashed);
        if result.is_err() {
            for &task in self.tasks.keys() {
                tracee::kill(task);
            }
        }
        result?;
        let ending = self.ending.ok_or_else(|| io::Error::other("the process is gone"))?;
        let [(_, stdout), (_, stderr)] = self.outputs;
        Ok(Followed {
            ending,
            failure: self.failure,
            stdout: stdout.take(),
            stderr: stderr.take(),
            notes: self.notes,
            cost: self.cost,
        })
    }

    fn until_end(&mut self, crashed: &mut dyn FnMut(Draft)) -> io::Result<()> {
        while let Some((pid, event)) = tracee::wait(None)? {
            match event {
                Event::Stopped(signal, event) => {
                    let looks = Instant::now();
                    self.cost.stops += 1;
                    alive(self.stopped(pid, signal, event))?;
                    self.cost.looking += looks.elapsed();
                    if let Some(signal) = self.stopped_by.take() {
                        self.signals.program_stopped(signal);
                    }
                }
                Event::Exited(status) => self.ended(pid, Ending::Exit(status), crashed)?,
                Event::Killed(number) => self.ended(pid, Ending::Signal(number), crashed)?,
            }
        }
        Ok(())
    }

    /// A thread is gone; with the first of a process, that is.
    fn ended(
        &mut self,
        pid: i32,
        ending: Ending,
        crashed: &mut dyn FnMut(Draft),
    ) -> io::Result<()> {
        self.begun.remove(&pid);
        let process = self.tasks.remove(&pid);
        if process != Some(pid) {
            return Ok(());
        }
        let Some(process) = self.processes.remove(&pid) else { return Ok(()) };
        // Children of it that waited for its word wait in vain.
        let alone = |child: &i32| {
            let known = |it: Option<i32>| it.is_some_and(|it| self.processes.contains_key(&it));
            !known(tracee::parent_of(*child)) && !known(tracee::process_of(*child))
        };
        let orphans: Vec<i32> = self.early.iter().copied().filter(alone).collect();
        for child in orphans {
            self.early.remove(&child);
            self.adopt(child, None);
            alive(tracee::go_on(child, Onward::Free, 0))?;
        }
        if pid == self.first {
            self.ending = Some(ending);
            self.failure = process.failure;
            self.signals.end();
            return Ok(());
        }
        if let Some(failure) = process.failure
            && self.told.len() < TOLD
            && self.told.insert(failure.signature())
        {
            let failed_in = if process.program == self.first_program {
                FailedIn::Fork
            } else {
                FailedIn::Other(program(&process.program))
            };
            let ending = match ending {
                Ending::Exit(status) => NotedEnding::Exit(status),
                Ending::Signal(number) => NotedEnding::Signal(number),
                _ => NotedEnding::Unknown,
            };
            let failure = Some(&failure);
            crashed(self.notes.draft(&Verdict { process: pid, failed_in, ending, failure }));
        }
        Ok(())
    }

    /// A thread stopped: looks, and lets it go on.
    fn stopped(&mut self, pid: i32, signal: i32, event: i32) -> io::Result<()> {
        if !self.tasks.contains_key(&pid) {
            // It has just begun; its parent tells whose child it is.
            self.early.insert(pid);
            return Ok(());
        }
        match event {
            0 if signal == CALL => self.call_ends(pid)?,
            0 => return self.gets(pid, signal),
            libc::PTRACE_EVENT_SECCOMP => self.call_begins(pid)?,
            libc::PTRACE_EVENT_STOP if STOPS.contains(&signal) => {
                if pid == self.first {
                    self.stopped_by = Some(signal);
                }
                return tracee::go_on(pid, Onward::Listen, 0);
            }
            libc::PTRACE_EVENT_EXEC => self.becomes_another(pid)?,
            libc::PTRACE_EVENT_EXIT => self.exits(pid),
            _ if BIRTHS.contains(&event) => {
                let child = i32::try_from(tracee::event_message(pid)?).unwrap_or(0);
                let parent = self.tasks.get(&pid).copied();
                self.adopt(child, parent);
                if self.early.remove(&child) {
                    alive(tracee::go_on(child, Onward::Free, 0))?;
                }
            }
            _ => {}
        }
        self.go_on(pid, 0)
    }

    fn go_on(&self, pid: i32, signal: i32) -> io::Result<()> {
        let how = if self.begun.contains_key(&pid) { Onward::ToCall } else { Onward::Free };
        tracee::go_on(pid, how, signal)
    }

    /// There is a new thread, or a new process with its own.
    fn adopt(&mut self, child: i32, parent: Option<i32>) {
        if self.tasks.contains_key(&child) {
            return;
        }
        let process = tracee::process_of(child).unwrap_or(child);
        self.tasks.insert(child, process);
        if process != child || self.processes.contains_key(&child) {
            return;
        }
        let mut new = Process::new();
        if let Some(parent) = parent.and_then(|parent| self.processes.get(&parent)) {
            new.witness = parent.witness.as_ref().and_then(|it| it.fork(child).ok());
            new.program.clone_from(&parent.program);
            new.heard.clone_from(&parent.heard);
            new.hears_all = parent.hears_all;
        }
        self.processes.insert(child, new);
    }

    /// A process runs another program from now on.
    fn becomes_another(&mut self, pid: i32) -> io::Result<()> {
        // Whichever thread asked for it has the number of the first now; others are gone.
        self.tasks.retain(|&task, process| task == pid || *process != pid);
        self.begun.retain(|task, _| *task != pid && self.tasks.contains_key(task));
        self.runs_program(pid)
    }

    fn runs_program(&mut self, pid: i32) -> io::Result<()> {
        let files = self.files;
        let process = self.processes.entry(pid).or_insert_with(Process::new);
        process.program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
        match &mut process.witness {
            Some(witness) => witness.becomes_another()?,
            none => *none = Some(Witness::new(files, pid)?.frugal(THROWS)),
        }
        Ok(())
    }

    /// A thread is about to get a signal.
    fn gets(&mut self, pid: i32, signal: i32) -> io::Result<()> {
        let process = self.tasks.get(&pid).copied().unwrap_or(pid);
        let Some(own) = self.processes.get_mut(&process) else { return self.go_on(pid, signal) };
        if signal == libc::SIGTRAP
            && let Some(witness) = &mut own.witness
        {
            match witness.at_mark(pid)? {
                AtMark::Elsewhere => {}
                AtMark::GoesOn(signal) => return self.go_on(pid, signal),
                AtMark::Threw(signal) => {
                    if pid == process {
                        // A panic may be why it exits; its modules have to be looked at before.
                        tracee::tell_events(pid, true)?;
                    }
                    return self.go_on(pid, signal);
                }
            }
        }
        if CRASHES.contains(&signal)
            && tracee::effect(pid, signal) == Effect::Dies
            && let Some(witness) = &mut own.witness
            && let Ok(number) = u8::try_from(signal)
        {
            own.failure = alive(witness.dies(pid, number))?.flatten();
        }
        self.go_on(pid, signal)
    }

    /// A thread is about to exit, after a throw.
    fn exits(&mut self, pid: i32) {
        if let Some(process) = self.processes.get_mut(&pid)
            && let Some(witness) = &mut process.witness
            && let Some(failure) = witness.exits()
        {
            process.failure = Some(failure);
        }
    }

    /// A system call begins that takes something in, perhaps.
    fn call_begins(&mut self, pid: i32) -> io::Result<()> {
        self.cost.calls += 1;
        let registers = tracee::registers(pid)?;
        let begun = match calls::call(pid, &registers) {
            Call::Open { folder, path, flags } => self.opens(pid, folder, path, flags),
            Call::Read { descriptor, to, peeks: false } => {
                let receives = !matches!(to, Memory::Buffer { .. } | Memory::Vector { .. })
                    || registers.orig_rax.cast_signed() == libc::SYS_recvfrom;
                self.source(pid, descriptor, receives).map(|from| Begun::Read(from, to))
            }
            Call::Write { descriptor: number @ 1..=2, from } => {
                let own = self.outputs[(number - 1) as usize].0;
                let same = own.is_some() && node(pid, number).map(|it| (it.0, it.1)) == own;
                same.then_some(Begun::Write(number, from))
            }
            Call::Move { descriptor } => {
                if let Some(from) = self.source(pid, descriptor, false)
                    && let Some(stream) = self.stream(from)
                {
                    stream.complete = false;
                }
                None
            }
            Call::Accept => Some(Begun::Accept),
            Call::Connect { descriptor, at, size } => {
                calls::bytes(pid, at, size).map(|address| Begun::Connect(descriptor, address))
            }
            Call::Duplicate { descriptor } => {
                self.source(pid, descriptor, false).map(|_| Begun::Duplicate)
            }
            Call::Ring => {
                self.notes.ring = true;
                None
            }
            Call::Read { .. } | Call::Write { .. } | Call::Other => None,
        };
        if let Some(begun) = begun {
            self.begun.insert(pid, begun);
        }
        Ok(())
    }

    /// A file is about to be opened.
    fn opens(&mut self, pid: i32, folder: i32, path: u64, flags: i32) -> Option<Begun> {
        if flags & (libc::O_PATH | libc::O_DIRECTORY) != 0 {
            return None;
        }
        let path = PathBuf::from(std::ffi::OsString::from_vec(calls::text(pid, path)?));
        let path = if path.is_absolute() {
            path
        } else {
            let folder = match folder {
                libc::AT_FDCWD => format!("/proc/{pid}/cwd"),
                number => format!("/proc/{pid}/fd/{number}"),
            };
            fs::read_link(folder).ok()?.join(path)
        };
        let process = self.tasks.get(&pid).and_then(|it| self.processes.get(it));
        let witness = process.and_then(|it| it.witness.as_ref());
        let writes = flags & libc::O_ACCMODE != libc::O_RDONLY;
        let manner = Manner {
            writes: writes || flags & libc::O_CREAT != 0,
            truncates: flags & libc::O_TRUNC != 0,
            loads: !writes && witness.is_some_and(Witness::is_loading),
        };
        // What names its own process means that of the program here.
        let path = match path.strip_prefix("/proc/self") {
            Ok(rest) => PathBuf::from(format!("/proc/{pid}")).join(rest),
            Err(_) => match path.strip_prefix("/dev/fd") {
                Ok(rest) => PathBuf::from(format!("/proc/{pid}/fd")).join(rest),
                Err(_) if path == *"/dev/stdin" => PathBuf::from(format!("/proc/{pid}/fd/0")),
                Err(_) => path,
            },
        };
        let pipe = self.notes.files.opens(&path, manner);
        (pipe && !writes).then_some(Begun::Open(path))
    }

    /// Where a descriptor leads, if what comes from there has to be seen now.
    fn source(&mut self, pid: i32, descriptor: i32, receives: bool) -> Option<From> {
        let (device, number, kind) = node(pid, descriptor)?;
        let node = Some((device, number));
        if node == self.notes.stdin.node && self.notes.stdin.is_listened_to() {
            return Some(From::Stdin);
        }
        if let Some(at) = self.notes.pipes.iter().position(|pipe| Some(pipe.node) == node) {
            return Some(From::Pipe(at));
        }
        if !kind.is_socket() {
            return None;
        }
        let at = if receives {
            let process = self.tasks.get(&pid).copied().unwrap_or(pid);
            self.notes.connections.receives(process, descriptor, number)
        } else {
            self.notes.connections.find(number)
        };
        at.map(From::Connection)
    }

    fn stream(&mut self, from: From) -> Option<&mut Stream> {
        match from {
            From::Stdin => Some(&mut self.notes.stdin.stream),
            From::Pipe(at) => self.notes.pipes.get_mut(at).map(|it| &mut it.stream),
            From::Connection(at) => self.notes.connections.all.get_mut(at).map(|it| &mut it.stream),
        }
    }

    /// A system call is at its end.
    fn call_ends(&mut self, pid: i32) -> io::Result<()> {
        let Some(begun) = self.begun.remove(&pid) else { return Ok(()) };
        let result = tracee::registers(pid)?.rax.cast_signed();
        let process = self.tasks.get(&pid).copied().unwrap_or(pid);
        match begun {
            Begun::Read(from, to) if result >= 0 => {
                let bytes = calls::moved(pid, to, result.cast_unsigned());
                let mut room = self.notes.room;
                if let Some(stream) = self.stream(from) {
                    match bytes {
                        Some(pieces) => {
                            pieces.iter().for_each(|it| stream.receive(it, process, &mut room));
                        }
                        None => stream.complete = false,
                    }
                }
                self.notes.room = room;
            }
            Begun::Write(number, from) if result > 0 => {
                if let Some(pieces) = calls::moved(pid, from, result.cast_unsigned()) {
                    let tail = &mut self.outputs[(number - 1) as usize].1;
                    pieces.iter().for_each(|it| tail.write(it));
                }
            }
            Begun::Open(path) if result >= 0 => {
                let descriptor = result as i32;
                if let Some((device, number, kind)) = node(pid, descriptor)
                    && kind.is_fifo()
                {
                    let node = (device, number);
                    let known = self.notes.stdin.node == Some(node)
                        || self.notes.pipes.iter().any(|pipe| pipe.node == node);
                    if !known {
                        self.notes.pipes.push(Pipe { path, node, stream: Stream::default() });
                    }
                    self.listen(pid, process, descriptor)?;
                }
            }
            Begun::Accept if result >= 0 => {
                let descriptor = result as i32;
                if let Some((_, number, _)) = node(pid, descriptor)
                    && self.notes.connections.accepted(process, descriptor, number).is_some()
                {
                    self.listen(pid, process, descriptor)?;
                }
            }
            Begun::Connect(descriptor, address)
                if result == 0 || result == -i64::from(libc::EINPROGRESS) =>
            {
                let (connections, to) = (&mut self.notes.connections, &address);
                if let Some((_, number, _)) = node(pid, descriptor)
                    && connections.connected(process, descriptor, number, to).is_some()
                {
                    self.listen(pid, process, descriptor)?;
                }
            }
            Begun::Duplicate if result >= 0 => self.listen(pid, process, result as i32)?,
            _ => {}
        }
        Ok(())
    }

    /// From now on, reading from this descriptor stops a program that is at the end of a call.
    fn listen(&mut self, pid: i32, process: i32, descriptor: i32) -> io::Result<()> {
        let Some(own) = self.processes.get_mut(&process) else { return Ok(()) };
        let heard = (descriptor == 0 && self.streams.stdin)
            || own.heard.contains(&descriptor)
            || (own.hears_all && descriptor >= 3);
        if heard {
            return Ok(());
        }
        let one = own.heard.len() < ONE_BY_ONE || descriptor < 3;
        let which = if one { More::One(descriptor) } else { More::All };
        match inject(pid, &more(which))? {
            Injected::Done if one => drop(own.heard.insert(descriptor)),
            Injected::Done => own.hears_all = true,
            Injected::Refused => self.notes.deaf = true,
            // Whoever waits next learns that from others of its process, or has learnt it here.
            Injected::Gone(event) => {
                let ending = match event {
                    Event::Exited(status) => Ending::Exit(status),
                    Event::Killed(number) => Ending::Signal(number),
                    Event::Stopped(..) => return Ok(()),
                };
                self.ended(pid, ending, &mut |_| {})?;
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
        }
        Ok(())
    }
}

impl Process<'_> {
    fn new() -> Self {
        Self {
            witness: None,
            program: PathBuf::new(),
            heard: BTreeSet::new(),
            hears_all: false,
            failure: None,
        }
    }
}

/// What a descriptor of a process leads to.
fn node(pid: i32, descriptor: i32) -> Option<(u64, u64, fs::FileType)> {
    let data = fs::metadata(format!("/proc/{pid}/fd/{descriptor}")).ok()?;
    Some((data.dev(), data.ino(), data.file_type()))
}
