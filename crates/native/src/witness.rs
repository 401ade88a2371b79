//! One process that is followed: where it throws, and what it looks like when it dies.
//!
//! Marks are `int3` instructions: one at the program's entry point, then one at each function that
//! throws. A thread that meets the latter leaves its registers and its stack behind and goes on. What
//! threads left is why the process dies later, or exits: the last throw, and those that led to it.
//!
//! Always holds: a process that goes on computes what it would compute without marks. Whoever
//! follows the process is the one thread that may call anything here, and only while it is stopped.

use std::io;
use std::ops::Range;
use std::rc::Rc;

use stunt_path::Failure;
use stunt_tracee::{self as tracee, Event, Memory, Onward, alive};
use stunt_unwind::failure::{
    Evidence, Exception, Status, Throws, at_stack_end, is_new_panic, judge,
};
use stunt_unwind::stack::{Mapping, Registers};

use crate::files::{Files, Modules, Moment};
use crate::process;
use crate::stopped::{StoppedThread, ThreadBefore};
use crate::throwers::may_throw;

/// The instruction that stops a thread which is followed.
const MARK: u8 = 0xcc;

/// Bytes of a stack that are copied at a throw; a deeper stack is walked at once.
const COPIED: usize = 256 << 10;

/// Signals for whose fault the stack may be too small.
const FAULTS: [i32; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// An instruction of the program that was replaced by a mark.
#[derive(Clone)]
struct Marked {
    address: u64,
    original: u8,
}

/// Throws that are kept: exceptions that were caught may be thrown again later.
const KEPT: usize = 128;

/// What a thread left behind when it threw.
enum Left {
    /// Its registers, and its stack from the stack pointer on.
    Copied { registers: Registers, stack_pointer: u64, stack: Vec<u8> },
    /// What there was to see.
    Seen(Moment),
}

/// The marks in a program, and the files that were mapped when last looked at.
#[derive(Clone, Default)]
pub(crate) struct Marks {
    entry: Option<Marked>,
    throws: Vec<Marked>,
    /// Where marks at throws were: threads may have met them just before they were taken away.
    unmarked: Vec<u64>,
    /// What throws again: not a new throw.
    rethrows: Vec<Range<u64>>,
    mapped: (Vec<(String, Vec<Mapping>)>, Rc<Modules>),
}

/// What became of a thread that stopped with `SIGTRAP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtMark {
    /// It is at no mark: the signal is the program's own.
    Elsewhere,
    /// It is ready to go on, with this signal if it is not 0.
    GoesOn(i32),
    /// The same, after a throw: the process may exit because of it.
    Threw(i32),
}

/// A process that is followed.
pub struct Witness<'a> {
    files: &'a Files,
    process: i32,
    memory: Memory,
    marks: Marks,
    /// What was thrown, by whom, and what is known of it.
    thrown: Throws<Left>,
    /// How many throws of each program are looked at before the marks are taken away.
    most_throws: Option<u32>,
    throws: u32,
}

impl<'a> Witness<'a> {
    /// Of a process that is about to execute the first instruction of its program.
    ///
    /// # Errors
    /// The process is gone.
    pub fn new(files: &'a Files, process: i32) -> io::Result<Self> {
        let memory = Memory::of(process)?;
        let mut witness = Self::with(files, process, memory, Marks::default());
        files.executes(process);
        witness.mark_entry();
        Ok(witness)
    }

    /// Of a process that has these marks already.
    pub(crate) fn with(files: &'a Files, process: i32, memory: Memory, marks: Marks) -> Self {
        Self {
            files,
            process,
            memory,
            marks,
            thrown: Throws::new(KEPT),
            most_throws: None,
            throws: 0,
        }
    }

    /// For a program that is to run as fast as it can, once. Files are looked at in full only when it
    /// fails, and marks are taken away after so many throws: a program that throws all the time is
    /// not slowed down for ever. A throw that nobody catches is seen when the program dies, too.
    #[must_use]
    pub fn frugal(mut self, throws: u32) -> Self {
        self.most_throws = Some(throws);
        self
    }

    /// Of a process that this one has just forked: it has the same marks.
    ///
    /// # Errors
    /// The process is gone.
    pub fn fork(&self, child: i32) -> io::Result<Self> {
        let mut witness = Self::with(self.files, child, Memory::of(child)?, self.marks.clone());
        witness.most_throws = self.most_throws;
        Ok(witness)
    }

    /// Its memory and its marks, with the files that are mapped by now.
    pub(crate) fn into_marked(mut self) -> (Memory, Marks) {
        self.modules();
        (self.memory, self.marks)
    }

    /// The memory of the process.
    pub(crate) fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Whether it is still on its way to the entry point of its program.
    #[must_use]
    pub fn is_loading(&self) -> bool {
        self.marks.entry.is_some()
    }

    /// The process runs another program from now on, and is about to execute its first instruction.
    ///
    /// # Errors
    /// The process is gone.
    pub fn becomes_another(&mut self) -> io::Result<()> {
        self.memory = Memory::of(self.process)?;
        self.marks = Marks::default();
        self.throws = 0;
        self.thrown.clear();
        self.files.executes(self.process);
        self.mark_entry();
        Ok(())
    }

    fn mark_entry(&mut self) {
        let entry = process::entry(self.process);
        self.marks.entry = entry.and_then(|address| mark(&self.memory, address));
    }

    /// A thread of this process stopped with `SIGTRAP`.
    ///
    /// # Errors
    /// It cannot be followed any more.
    pub fn at_mark(&mut self, thread: i32) -> io::Result<AtMark> {
        let Some(mut registers) = alive(tracee::registers(thread))? else {
            return Ok(AtMark::GoesOn(0));
        };
        let address = registers.rip.wrapping_sub(1);
        if self.marks.entry.as_ref().is_some_and(|entry| entry.address == address) {
            let original = self.marks.entry.take().map_or(MARK, |entry| entry.original);
            self.memory.write(address, &[original])?;
            registers.rip = address;
            alive(tracee::set_registers(thread, &registers))?;
            // Libraries that are loaded later are not covered.
            let modules = if self.most_throws.is_some() {
                let mut mapped = process::mapped_files(self.process);
                mapped.retain(|(path, _)| may_throw(path));
                Rc::new(self.files.modules(&mapped))
            } else {
                self.modules()
            };
            self.marks.rethrows.clone_from(&modules.rethrows);
            self.marks.throws =
                modules.throw_points.iter().filter_map(|&at| mark(&self.memory, at)).collect();
            return Ok(AtMark::GoesOn(0));
        }
        if self.marks.unmarked.contains(&address) {
            registers.rip = address;
            alive(tracee::set_registers(thread, &registers))?;
            return Ok(AtMark::GoesOn(0));
        }
        let Some(original) = self.original_at(address) else { return Ok(AtMark::Elsewhere) };
        registers.rip = address;
        // What is thrown again from where it was caught is the same throw.
        let again =
            self.is_again(registers.rsp) && self.thrown.threw_again(number(thread), registers.rdi);
        if !again {
            self.throws_now(thread, &registers);
        }
        self.throws += 1;
        if self.most_throws.is_some_and(|most| self.throws >= most) {
            self.unmark()?;
            alive(tracee::set_registers(thread, &registers))?;
            return Ok(AtMark::GoesOn(0));
        }
        let signal = step_over(thread, &self.memory, registers, original)?;
        Ok(if again { AtMark::GoesOn(signal) } else { AtMark::Threw(signal) })
    }

    /// Takes the marks at throws away. A thread that has just met one goes on at its instruction.
    fn unmark(&mut self) -> io::Result<()> {
        for marked in std::mem::take(&mut self.marks.throws) {
            self.memory.write(marked.address, &[marked.original])?;
            self.marks.unmarked.push(marked.address);
        }
        self.thrown.clear();
        Ok(())
    }

    /// A thread of a process that this one forked stopped with `SIGTRAP`: that process has marks of
    /// its own, in the same places.
    pub(crate) fn at_mark_of_fork(&self, thread: i32) -> io::Result<AtMark> {
        let Some(mut registers) = alive(tracee::registers(thread))? else {
            return Ok(AtMark::GoesOn(0));
        };
        let address = registers.rip.wrapping_sub(1);
        let Some(original) = self.original_at(address) else { return Ok(AtMark::Elsewhere) };
        registers.rip = address;
        let Some(memory) = alive(Memory::of(thread))? else { return Ok(AtMark::GoesOn(0)) };
        step_over(thread, &memory, registers, original).map(AtMark::GoesOn)
    }

    fn original_at(&self, address: u64) -> Option<u8> {
        let marked = self.marks.throws.iter().find(|marked| marked.address == address);
        marked.map(|marked| marked.original)
    }

    /// Whether the function that throws was called for an exception that was thrown before.
    fn is_again(&self, stack_pointer: u64) -> bool {
        let mut caller = [0; 8];
        let known = self.memory.read(stack_pointer, &mut caller);
        let caller = u64::from_le_bytes(caller);
        known && self.marks.rethrows.iter().any(|range| range.contains(&caller))
    }

    fn throws_now(&mut self, thread: i32, registers: &libc::user_regs_struct) {
        let stack_pointer = registers.rsp;
        let stack = self.memory.read_up_to(stack_pointer, COPIED);
        let header = registers.rdi;
        let registers = process::for_walk(registers);
        let mut thrower = StoppedThread { registers, memory: &self.memory };
        let exception = Exception::read(header, &mut thrower);
        if stack.len() < COPIED {
            let left = Left::Copied { registers, stack_pointer, stack: stack.clone() };
            return self.thrown.threw(number(thread), exception, &stack, left);
        }
        let modules = self.modules();
        let left = Left::Seen(self.moment(registers, true, &modules));
        self.thrown.threw(number(thread), exception, &stack, left);
    }

    /// A throw as it was then.
    fn look_back(&self, left: &Left, modules: &Modules) -> Moment {
        match left {
            Left::Seen(moment) => moment.clone(),
            Left::Copied { registers, stack_pointer, stack } => {
                let now = StoppedThread { registers: *registers, memory: &self.memory };
                let mut then = ThreadBefore { now, start: *stack_pointer, stack };
                self.files.moment(&mut then, true, modules)
            }
        }
    }

    fn moment(&self, registers: Registers, may_panic: bool, modules: &Modules) -> Moment {
        let mut thread = StoppedThread { registers, memory: &self.memory };
        self.files.moment(&mut thread, may_panic, modules)
    }

    fn modules(&mut self) -> Rc<Modules> {
        let mapped = process::mapped_files(self.process);
        if mapped != self.marks.mapped.0 {
            let modules = Rc::new(self.files.modules(&mapped));
            self.marks.mapped = (mapped, modules);
        }
        Rc::clone(&self.marks.mapped.1)
    }

    /// The failure of a thread that is about to die of a signal.
    ///
    /// # Errors
    /// The thread is gone.
    pub fn dies(&mut self, thread: i32, number: u8) -> io::Result<Option<Failure>> {
        let registers = tracee::registers(thread)?;
        let fault =
            FAULTS.contains(&i32::from(number)).then(|| tracee::fault_address(thread)).flatten();
        let readable = |address: u64| self.memory.read(address, &mut [0]);
        let overflow = fault.is_some_and(|fault| at_stack_end(fault, registers.rsp, readable));
        let modules = self.modules();
        // A panic that may not be caught aborts.
        let may_panic = i32::from(number) == libc::SIGABRT;
        let death = self.moment(process::for_walk(&registers), may_panic, &modules);
        let status = Status::Signal { number, overflow };
        let last = self.thrown.last_of(self::number(thread));
        Ok(self.judged(status, Some(&death), last, &modules))
    }

    /// The failure of a process that ends so, after a throw by the thread that ends it.
    fn judged(
        &self,
        status: Status,
        death: Option<&Moment>,
        last: Option<u64>,
        modules: &Modules,
    ) -> Option<Failure> {
        let seen =
            |throw: u64| self.thrown.get(throw).map(|thrown| self.look_back(&thrown.left, modules));
        let mut is_new =
            |throw: u64| seen(throw).is_some_and(|moment| is_new_panic(moment.scene().stack));
        let leading = last.map(|last| self.thrown.leading_to(last, &mut is_new));
        let leading = leading.unwrap_or_default();
        let all = |throws: &[u64]| throws.iter().filter_map(|&it| seen(it)).collect::<Vec<_>>();
        let (thrown, causes, beside) =
            (last.and_then(seen), all(&leading.causes), all(&leading.beside));
        judge(Evidence {
            status,
            death: death.map(Moment::scene),
            thrown: thrown.as_ref().map(Moment::scene),
            causes: &causes.iter().map(Moment::scene).collect::<Vec<_>>(),
            beside: &beside.iter().map(Moment::scene).collect::<Vec<_>>(),
        })
    }

    /// The process is about to exit: its failure, if its first thread threw before.
    #[must_use]
    pub fn exits(&mut self) -> Option<Failure> {
        let status = tracee::event_message(self.process).ok()?;
        if status & 0x7f != 0 {
            return None;
        }
        let last = self.thrown.last_of(number(self.process))?;
        let modules = self.modules();
        let status = Status::Exit((status >> 8) as u8);
        self.judged(status, None, Some(last), &modules)
    }
}

/// A thread, as throws are noted.
fn number(thread: i32) -> u64 {
    u64::from(thread.cast_unsigned())
}

/// Puts a mark at an address.
fn mark(memory: &Memory, address: u64) -> Option<Marked> {
    let mut original = [0];
    if !memory.read(address, &mut original) || original[0] == MARK {
        return None;
    }
    memory.write(address, &[MARK]).ok()?;
    Some(Marked { address, original: original[0] })
}

/// Executes the instruction under a mark, which `registers` point to. A signal that came meanwhile
/// is the answer, else 0.
///
/// Other threads may run meanwhile and must not miss the mark: the instructions with which such
/// functions begin are done by hand. Another instruction is executed with the mark taken away.
fn step_over(
    pid: i32,
    memory: &Memory,
    mut registers: libc::user_regs_struct,
    original: u8,
) -> io::Result<i32> {
    const ENDBR64: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
    const PUSH_RBP: u8 = 0x55;
    let address = registers.rip;
    let mut code = [0; 4];
    let known = memory.read(address, &mut code);
    code[0] = original;
    if known && code == ENDBR64 {
        registers.rip += 4;
        return alive(tracee::set_registers(pid, &registers)).map(|_| 0);
    }
    if original == PUSH_RBP {
        let top = registers.rsp.wrapping_sub(8);
        memory.write(top, &registers.rbp.to_le_bytes())?;
        (registers.rsp, registers.rip) = (top, address + 1);
        return alive(tracee::set_registers(pid, &registers)).map(|_| 0);
    }
    memory.write(address, &[original])?;
    let mut came = 0;
    if alive(tracee::set_registers(pid, &registers))?.is_some() {
        while alive(tracee::go_on(pid, Onward::Step, 0))?.is_some()
            && let Some((_, Event::Stopped(signal, _))) = tracee::wait(Some(pid))?
            && signal != libc::SIGTRAP
        {
            came = signal;
        }
    }
    memory.write(address, &[MARK])?;
    Ok(came)
}
