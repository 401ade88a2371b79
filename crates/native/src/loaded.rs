//! A process that is loaded, waits, and is copied for every run.
//!
//! Loading is most of what a short run costs: a new address space, the dynamic linker, relocations,
//! and in a virtual machine each question about the processor. A copy (`fork`) begins behind all that.
//!
//! Where the program waits at its entry point, that is all. Where it waits before it looks at its input
//! (`late.rs`), a copy begins behind the program's own preparations, too.
//!
//! Always holds: a copy finds what a fresh process would find. Its registers and memory are those of
//! the place where it waits; number, group, and what the C library knows of its number are its own;
//! standard input is at its start, and flags that an earlier copy set on the shared streams are set
//! back. What differs: addresses and the stack's guard value are the same in all copies, and, before
//! the input, random numbers, times, and whatever else was asked for or read until then. So that is
//! nothing for failures that come now and then. A process that cannot be copied so is none of ours
//! ([`Loaded::new`]).
//!
//! The code at the place is replaced by the making of copies, in the waiting process for good, in
//! copies until they begin.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use stunt_tracee::{self as tracee, Event, Memory, Onward};

use crate::command::{Command, Copied, Stdin};
use crate::contain::Containment;
use crate::follow::{Point, Waiting};
use crate::harmless::THREAD_NUMBER;
use crate::late::STAND_IN;
use crate::os;
use crate::watch::Ends;

/// What stands where it waits: copies are made in a loop, of which each stops the process.
///
/// ```text
/// copy:  mov eax, 56          ; clone
///        syscall
///        test eax, eax
///        jne copy
///        int3                 ; a copy is sent elsewhere before it comes here
/// ```
const CODE: [u8; 12] = [0xb8, 56, 0, 0, 0, 0x0f, 0x05, 0x85, 0xc0, 0x75, 0xf5, 0xcc];

/// What must be the same for a copy to stand for a run.
#[derive(Clone, PartialEq, Eq)]
pub struct Key {
    program: (PathBuf, u64, u64, i64, i64),
    name: Option<OsString>,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    files: Vec<OsString>,
    /// Whether standard input is bytes.
    bytes: bool,
    folder: Option<PathBuf>,
    limits: (Duration, u64, bool, Containment),
    remade: u32,
    /// Where it waits.
    copied: Copied,
}

impl Key {
    /// Nothing if copies are not wanted, if standard input is a file of the host, whose position copies
    /// would share, if there are connections: copies would share a network, or if reading is bound:
    /// such a run's rules name its own process.
    pub fn of(command: &Command, remade: u32) -> Option<Self> {
        let alone = !command.connections.is_empty() || command.reads.is_some();
        if command.copied == Copied::Never || alone {
            return None;
        }
        let bytes = match command.stdin {
            Stdin::Empty => false,
            Stdin::Bytes(_) => true,
            Stdin::File(_) => return None,
        };
        let data = fs::metadata(&command.program).ok()?;
        let path = command.program.clone();
        Some(Self {
            program: (path, data.dev(), data.ino(), data.mtime(), data.mtime_nsec()),
            name: command.name.clone(),
            arguments: command.arguments.clone(),
            environment: command.environment.clone(),
            files: command.files.iter().map(|file| file.name.clone()).collect(),
            bytes,
            folder: command.folder.clone(),
            limits: (command.time, command.memory, command.fixed_addresses, command.containment),
            remade,
            copied: command.copied,
        })
    }

    /// Whether the process is to wait before its input.
    pub fn is_late(&self) -> bool {
        self.copied == Copied::FromInput
    }

    /// The same, to wait at the entry point.
    pub fn at_entry(self) -> Self {
        Self { copied: Copied::FromEntry, ..self }
    }

    /// Whether standard input is bytes.
    pub fn has_stdin(&self) -> bool {
        self.bytes
    }
}

/// What turned out not to be copyable before its input, for all workers: to find out costs a run.
#[derive(Default)]
pub struct Unfit(Mutex<VecDeque<Key>>);

impl Unfit {
    /// So many are remembered.
    const MOST: usize = 16;

    /// Remembers one.
    pub fn add(&self, key: Key) {
        let mut keys = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if keys.len() == Self::MOST {
            keys.pop_front();
        }
        keys.push_back(key);
    }

    /// Whether this is one.
    pub fn has(&self, key: &Key) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(key)
    }
}

/// The process.
pub struct Loaded {
    key: Key,
    waiting: Waiting,
    registers: libc::user_regs_struct,
    /// The code where it waits.
    original: [u8; CODE.len()],
    /// Whether it is in its loop.
    copies: bool,
    /// Where the C library keeps the number of the thread, or 0 if it does not know it yet.
    number_at: u64,
    stdin: fs::File,
    /// The ends of the pipes that copies write to; the others are in `ends`.
    outputs: [OwnedFd; 2],
    ends: Arc<Ends>,
}

impl Loaded {
    /// From a process that waits. Nothing if its copies would not be like fresh ones: it has
    /// files open, has begun threads, or has a C library that keeps its number where nobody knows.
    pub fn new(
        key: Key,
        waiting: Waiting,
        descriptors: [OwnedFd; 3],
        ends: Arc<Ends>,
    ) -> io::Result<Option<Self>> {
        let process = waiting.process;
        let count =
            |what: &str| fs::read_dir(format!("/proc/{process}/{what}")).map(Iterator::count);
        let (registers, number_known) = match &waiting.point {
            Point::Entry => (tracee::registers(process)?, process.cast_unsigned()),
            Point::Input(late) => (late.registers, STAND_IN),
        };
        let number_at = match registers.fs_base {
            // Linked statically: that comes later.
            0 => 0,
            thread => thread.wrapping_add(THREAD_NUMBER),
        };
        let mut number = [0; 4];
        let known = number_at == 0
            || (waiting.memory.read(number_at, &mut number)
                && u32::from_le_bytes(number) == number_known);
        let mut original = [0; CODE.len()];
        if count("fd")? != 3
            || count("task")? != 1
            || !known
            || !waiting.memory.read(registers.rip, &mut original)
        {
            return Ok(None);
        }
        waiting.memory.write(registers.rip, &CODE)?;
        let [stdin, stdout, stderr] = descriptors;
        let (stdin, outputs) = (stdin.into(), [stdout, stderr]);
        Ok(Some(Self {
            key,
            waiting,
            registers,
            original,
            copies: false,
            number_at,
            stdin,
            outputs,
            ends,
        }))
    }

    /// What it is loaded for.
    pub fn key(&self) -> &Key {
        &self.key
    }

    /// The process as it waits.
    pub fn waiting(&self) -> &Waiting {
        &self.waiting
    }

    /// What copies print.
    pub fn ends(&self) -> &Arc<Ends> {
        &self.ends
    }

    /// Gives the next copy its standard input, and the streams as they were in the beginning.
    pub fn set_stdin(&mut self, stdin: &Stdin) -> io::Result<()> {
        if let Stdin::Bytes(bytes) = stdin {
            os::set_flags(self.stdin.as_fd(), 0)?;
            self.stdin.set_len(0)?;
            self.stdin.rewind()?;
            self.stdin.write_all(bytes)?;
        }
        self.stdin.rewind().or_else(|error| match error.raw_os_error() {
            // Not a file that has positions.
            Some(libc::ESPIPE) => Ok(()),
            _ => Err(error),
        })?;
        os::set_flags(self.stdin.as_fd(), 0)?;
        self.outputs.iter().try_for_each(|output| os::set_flags(output.as_fd(), 0))
    }

    /// A copy, stopped where this one waits, and its memory.
    ///
    /// After an error, the copy is dying or not there, and this process has to be killed.
    pub fn copy(&mut self) -> io::Result<(i32, Memory)> {
        let process = self.waiting.process;
        if !self.copies {
            // Copies are children of ours, not of the process that waits, and write down their numbers.
            let mut flags = libc::CLONE_PARENT | libc::SIGCHLD;
            if self.number_at != 0 {
                flags |= libc::CLONE_CHILD_SETTID | libc::CLONE_CHILD_CLEARTID;
            }
            let mut registers = self.registers;
            // It is in no call now, so that none is made again.
            registers.orig_rax = u64::MAX;
            registers.rdi = flags as u64;
            [registers.rsi, registers.rdx, registers.r8] = [0; 3];
            registers.r10 = self.number_at;
            tracee::set_registers(process, &registers)?;
            self.copies = true;
        }
        tracee::go_on(process, Onward::Free, 0)?;
        expect(process, Event::Stopped(libc::SIGTRAP, libc::PTRACE_EVENT_FORK))?;
        let copy = i32::try_from(tracee::event_message(process)?).map_err(io::Error::other)?;
        match self.begin(copy) {
            Ok(memory) => Ok((copy, memory)),
            Err(error) => {
                // Nobody has waited for its end: the number is still its own.
                tracee::kill(copy);
                Err(error)
            }
        }
    }

    /// Makes a copy that has just come into being like a fresh process.
    fn begin(&self, copy: i32) -> io::Result<Memory> {
        expect(copy, Event::Stopped(libc::SIGSTOP, 0))?;
        os::own_group(copy)?;
        let memory = Memory::of(copy)?;
        memory.write(self.registers.rip, &self.original)?;
        let registers = match &self.waiting.point {
            Point::Entry => self.registers,
            Point::Input(late) => {
                for &place in &late.places {
                    memory.write(place, &copy.to_le_bytes())?;
                }
                late.registers_of(copy)
            }
        };
        let registers = libc::user_regs_struct { orig_rax: u64::MAX, ..registers };
        tracee::set_registers(copy, &registers)?;
        Ok(memory)
    }
}

fn expect(process: i32, expected: Event) -> io::Result<()> {
    match tracee::wait(Some(process))? {
        Some((_, event)) if event == expected => Ok(()),
        _ => Err(io::Error::other("the process that is copied did something else")),
    }
}
