//! Inputs: where the bytes come from that a run is followed for.
//!
//! The kernel marks them on their way to the program, whichever way they take: reads, mappings,
//! arguments, environment. Which term a marked byte becomes is not known here.

use std::{
    collections::BTreeMap,
    ops::{Range, RangeInclusive},
    sync::Arc,
};

use stunt_path::{InputNames, Source};
use stunt_terms::{Assignment, InputByte, Support};

use super::{
    Kernel, Pid, ThreadId,
    errno::Errno,
    fs::{Caller, InodeId, Node, Object, Place, SourceId},
    kernel::FIRST_PID,
    memory_calls::FileSource,
    process::Process,
};
use crate::{
    cpu::Cpu,
    memory::{AddressSpace, Mark},
    tracer::Values,
};

/// An input; its number among the inputs is the number of its source in terms.
#[derive(Clone, PartialEq, Eq)]
pub struct Input {
    /// Where it comes from.
    pub place: Source,
    /// Bytes that need not be hidden: they stay what they are.
    pub public: Vec<Range<u64>>,
}

/// What is known about a file that is an input.
#[derive(Clone)]
pub(crate) struct FileInput {
    source: u16,
    public: Arc<[Range<u64>]>,
}

impl FileInput {
    /// A file of which every byte is to be hidden.
    #[cfg(test)]
    pub(crate) fn whole(source: u16) -> Self {
        Self { source, public: Arc::new([]) }
    }

    /// What the byte at an offset stands for.
    pub(crate) fn mark(&self, offset: u64) -> Option<Mark> {
        let offset = u32::try_from(offset).ok()?;
        let hidden = !self.public.iter().any(|range| range.contains(&u64::from(offset)));
        hidden.then(|| Mark::of_input(InputByte::new(self.source, offset)))
    }
}

/// Bytes with what they stand for.
type Marked = Arc<[(Mark, u8)]>;

/// The inputs, as far as the kernel has them.
#[derive(Clone, Default)]
pub(crate) struct Inputs {
    files: Arc<BTreeMap<InodeId, FileInput>>,
    /// Whether all of them are files that the program opens by their paths.
    by_path: bool,
    /// What `/proc` tells about arguments and environment.
    arguments: Marked,
    environment: Marked,
    /// What the files among them are called.
    names: InputNames,
}

impl Inputs {
    /// What the files among the inputs are called.
    pub(crate) fn names(&self) -> InputNames {
        self.names.clone()
    }

    /// The bytes of inputs that are in a text about a process.
    pub(crate) fn told_by(&self, text: &str) -> &[(Mark, u8)] {
        match text {
            "cmdline" => &self.arguments,
            "environ" => &self.environment,
            _ => &[],
        }
    }
}

impl Kernel {
    /// Marks the inputs of a program that has not run yet.
    ///
    /// # Errors
    /// There is no such file, argument, variable or connection.
    pub fn mark_inputs(&mut self, inputs: &[Input]) -> Result<(), Errno> {
        let (mut files, mut names) = (BTreeMap::new(), Vec::new());
        let (mut arguments, mut environment) = (Vec::new(), Vec::new());
        for (input, source) in inputs.iter().zip(0u16..) {
            let known = FileInput { source, public: input.public.clone().into() };
            match &input.place {
                Source::File(path) => {
                    files.insert(self.inode_of(path)?, known);
                    let name = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
                    names.push(String::from_utf8_lossy(name).into_owned());
                }
                Source::StandardInput => {
                    let file = self.process(FIRST_PID).descriptors.get(0)?;
                    match self.files.description(file)?.object {
                        Object::Inode(inode) | Object::Feed(inode) => files.insert(inode, known),
                        _ => return Err(Errno::EBADF),
                    };
                }
                Source::Connection(number) => {
                    let inode = self.files.connection_inode(*number).ok_or(Errno::EBADF)?;
                    files.insert(inode, known);
                }
                Source::Argument(number) => {
                    let at = self.start_pointer(8 + 8 * *number as u64)?;
                    arguments.extend(self.mark_string(at, &known)?);
                }
                Source::Variable(name) => {
                    let at = self.variable(name)?;
                    environment.extend(self.mark_string(at, &known)?);
                }
            }
        }
        for (&inode, input) in &files {
            self.files.mark_input(inode, input.clone())?;
        }
        self.files.watch(files.keys().copied());
        self.inputs = Inputs {
            files: Arc::new(files),
            by_path: inputs.iter().all(|it| matches!(it.place, Source::File(_))),
            arguments: arguments.into(),
            environment: environment.into(),
            names: InputNames::new(names),
        };
        Ok(())
    }

    /// Whether a byte of an input has reached memory, or anything else than its own file.
    pub(crate) fn sees_input(&self) -> bool {
        let in_memory =
            |process: &Process| process.space.as_ref().is_some_and(AddressSpace::sees_marks);
        self.processes.0.values().any(in_memory)
            || self.files.has_marks_besides(|inode| self.inputs.files.contains_key(&inode))
    }

    /// Whether the program can know anything of an input by now, be it how long it is. What is open from
    /// the start is not watched.
    pub(crate) fn may_know_input(&self) -> bool {
        !self.inputs.by_path || self.files.was_looked_at()
    }

    /// Gives the files that are inputs other contents, as if they had always had them. They are
    /// followed from now on, or no longer.
    pub(crate) fn replace_inputs(&mut self, inputs: &[Vec<u8>], followed: bool) {
        for (&inode, input) in &*Arc::clone(&self.inputs.files) {
            let bytes = inputs.get(usize::from(input.source)).map_or(&[][..], Vec::as_slice);
            self.files.replace(inode, bytes, followed.then(|| input.clone()));
        }
    }

    fn inode_of(&mut self, path: &[u8]) -> Result<InodeId, Errno> {
        let process = &self.processes.0[&FIRST_PID];
        let caller = Caller {
            cwd: process.cwd,
            umask: process.umask,
            pid: FIRST_PID,
            tid: FIRST_PID.first_thread(),
            user: &self.user,
            processes: &self.processes,
        };
        let base = if path.first() == Some(&b'/') { self.files.root() } else { process.cwd };
        match self.files.find(&caller, base, path, true)?.node {
            Node::Inode(inode) => Ok(inode),
            _ => Err(Errno::EINVAL),
        }
    }

    /// A pointer at an offset from where the stack of a fresh program begins; not null.
    fn start_pointer(&mut self, offset: u64) -> Result<u64, Errno> {
        let process = self.process(FIRST_PID);
        let rsp = process.threads[0].cpu.get(crate::code::slots::RSP);
        let mut bytes = [0; 8];
        process.space().read(rsp + offset, &mut bytes).map_err(|_| Errno::EINVAL)?;
        match u64::from_le_bytes(bytes) {
            0 => Err(Errno::EINVAL),
            pointer => Ok(pointer),
        }
    }

    /// Where the value of a variable is.
    fn variable(&mut self, name: &[u8]) -> Result<u64, Errno> {
        let process = self.process(FIRST_PID);
        let rsp = process.threads[0].cpu.get(crate::code::slots::RSP);
        let mut count = [0; 8];
        process.space().read(rsp, &mut count).map_err(|_| Errno::EINVAL)?;
        let mut offset = 8 * (u64::from_le_bytes(count) + 2);
        loop {
            let at = self.start_pointer(offset)?;
            let space = self.process(FIRST_PID).space();
            let text = space.read_string(at, name.len() + 1).map_err(|_| Errno::EINVAL)?;
            if text.strip_prefix(name) == Some(b"=") {
                return Ok(at + name.len() as u64 + 1);
            }
            offset += 8;
        }
    }

    fn mark_string(&mut self, at: u64, input: &FileInput) -> Result<Vec<(Mark, u8)>, Errno> {
        let space = self.process(FIRST_PID).space();
        let text = space.read_string(at, 1 << 17).map_err(|_| Errno::EINVAL)?;
        let marks: Vec<Option<Mark>> =
            (0..text.len() as u64).map(|offset| input.mark(offset)).collect();
        space.mark(at, &marks);
        let bytes = text.into_iter().zip(0..);
        Ok(bytes.filter_map(|(byte, offset)| Some((input.mark(offset)?, byte))).collect())
    }

    /// Takes a thread back to an earlier instruction; `back` does that to its processor and memory.
    pub(crate) fn take_back(
        &mut self,
        ThreadId { pid, tid }: ThreadId,
        back: impl FnOnce(&mut Cpu, &mut AddressSpace),
    ) {
        let Some(Process { space: Some(space), threads, .. }) = self.process_if_there(pid) else {
            return;
        };
        let Some(thread) = threads.iter_mut().find(|thread| thread.tid == tid) else { return };
        let after = thread.cpu.executed();
        back(&mut thread.cpu, space);
        let undone = after - thread.cpu.executed();
        self.executed -= undone;
        self.clock.take_back(undone);
    }

    /// The processor of a thread, if it exists.
    pub(crate) fn cpu(&mut self, ThreadId { pid, tid }: ThreadId) -> Option<&mut Cpu> {
        Some(&mut self.process_if_there(pid)?.thread(tid)?.cpu)
    }

    /// The process with this number, if it exists.
    pub(crate) fn process_if_there(&mut self, pid: Pid) -> Option<&mut Process> {
        self.processes.0.get_mut(&pid)
    }

    /// Gives everything that depends on the input the value that it has for another one, which differs
    /// in these bytes: files, marked bytes, and slots, in all processes.
    pub(crate) fn rebind(&mut self, changes: &Support, new: &Assignment, values: &mut dyn Values) {
        let inputs = Arc::clone(&self.inputs.files);
        for (&inode, input) in inputs.iter() {
            let changed: Vec<(u64, u8)> = (changes.iter())
                .filter(|byte| byte.source == input.source)
                .filter(|byte| self.is_original(inode, u64::from(byte.offset), input))
                .map(|byte| (u64::from(byte.offset), new.get(byte)))
                .collect();
            if !changed.is_empty() {
                self.files.rewrite(inode, changed);
                self.exchange_source(inode);
            }
        }
        let changed: Vec<Mark> = changes.iter().map(Mark::of_input).collect();
        let none = |marks: RangeInclusive<Mark>| {
            // The marks of input bytes come after all others, in the order of the bytes.
            marks.start().input().is_some() && {
                let first = changed.partition_point(|mark| mark < marks.start());
                changed.get(first).is_none_or(|mark| mark > marks.end())
            }
        };
        let value = |values: &mut dyn Values, mark: Mark| match mark.input() {
            Some(byte) => Some(new.get(byte)),
            None => values.byte(mark),
        };
        for inode in self.files.give_values(|mark| value(values, mark)) {
            self.exchange_source(inode);
        }
        for process in self.processes.0.values_mut() {
            for thread in &mut process.threads {
                values.give(&mut thread.cpu);
            }
            let Some(space) = &mut process.space else { continue };
            space.give_values(none, |mark| value(values, mark));
        }
    }

    /// Whether a byte of an input is still in its file, and is to be hidden.
    fn is_original(&self, inode: InodeId, offset: u64, input: &FileInput) -> bool {
        let place = Place { source: SourceId::Inode(inode), offset };
        let mark = self.files.marks_at(place, 1).and_then(|marks| marks[0]);
        mark.is_some() && mark == input.mark(offset)
    }

    /// A file always had the content that it has now.
    fn exchange_source(&mut self, inode: InodeId) {
        let Some((content, _)) = self.files.mapped_content(inode.number()) else { return };
        let source = FileSource::shared(content, inode);
        for process in self.processes.0.values_mut() {
            if let Some(space) = &mut process.space {
                space.exchange_source(&source);
            }
        }
    }
}
