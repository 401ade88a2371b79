//! Between the kernel and whoever follows a run: what the kernel tells, and what it asks.
//!
//! Always: a tracer does to processors and memory what they would have done without it; it may stop
//! early, and it keeps its own notes beside them. The kernel does not know what those notes are, and the
//! tracer does not know system calls or files.

use std::sync::Arc;

use stunt_unwind::stack::Module;

use crate::{
    code::Code,
    cpu::{Cpu, Stop},
    linux::ThreadId,
    memory::{AddressSpace, Mark},
};

/// Follows a run.
pub(crate) trait Tracer {
    /// A thread goes on whose process runs this program, which begins at `entry`. `quiet`: what the
    /// process writes to its standard output and error is read by nobody inside the machine.
    fn take_turn(
        &mut self,
        thread: ThreadId,
        program: &Arc<[u8]>,
        entry: &dyn Fn() -> Option<u64>,
        quiet: bool,
    );

    /// Runs a processor for so many instructions at most.
    fn run(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        quantum: u64,
    ) -> Stop;

    /// Whether the run is to stop here, in the middle of a turn.
    fn halted(&self) -> bool;

    /// Whether the run stops before each test, and may be taken back to before it.
    fn in_steps(&self) -> bool;

    /// The registers of a thread are about to be saved for the handler of a signal.
    fn signal(&mut self, cpu: &mut Cpu);

    /// A thread is about to make the system call that is in its registers.
    fn system_call(&mut self, cpu: &mut Cpu);

    /// A system call looked at these bytes as values.
    fn call_looked_at(&mut self, looks: Vec<(Mark, u8)>);

    /// The processor looked at these bytes as code.
    fn code_looked_at(&mut self, looks: Vec<(Mark, u8)>);

    /// A system call is over; the processor is absent if the thread is.
    fn call_is_over(&mut self, cpu: Option<&Cpu>, space: &mut AddressSpace);

    /// A process has reached an address at which the tracer wanted it to stop: the program begins there,
    /// and its libraries are loaded.
    fn program_is_loaded(&mut self, cpu: &Cpu, space: &mut AddressSpace, modules: Vec<Module>);

    /// Whether it was told about the program that runs.
    fn knows_program(&self) -> bool;

    /// A program that runs already has mapped these.
    fn library_is_mapped(&mut self, modules: &[Module]);
}

/// What marked bytes and registers are worth under another input.
pub(crate) trait Values {
    /// The byte that a mark stands for that is none of an input, if it is another one now.
    fn byte(&mut self, mark: Mark) -> Option<u8>;

    /// Gives the registers of a processor their values.
    fn give(&mut self, cpu: &mut Cpu);
}
