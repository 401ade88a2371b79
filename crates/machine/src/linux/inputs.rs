//! Inputs: where the bytes come from that a run is followed for.
//!
//! The kernel marks them on their way to the program, whichever way they take: reads, mappings,
//! arguments, environment. Which term a marked byte becomes is not known here.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use stunt_terms::{Assignment, InputByte, Support, Term};

use super::{
    Kernel,
    errno::Errno,
    fs::{Caller, Content, InodeId, Node, Object},
    kernel::FIRST_PID,
    memory_calls::FileSource,
    process::Process,
};
use crate::{
    memory::{Mark, Source},
    symbolic::{self, Meaning, Symbolic},
};

/// Where an input comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum InputPlace {
    /// A file, by its path in the machine.
    File(Vec<u8>),
    /// Standard input.
    StandardInput,
    /// An argument, by its number; 0 is the program's name.
    Argument(usize),
    /// The value of an environment variable.
    Variable(Vec<u8>),
    /// What the other side of a recorded connection sends, by its number.
    Connection(usize),
}

/// An input; its number among the inputs is the number of its source in terms.
#[derive(Clone, PartialEq, Eq)]
pub struct Input {
    /// Where it comes from.
    pub place: InputPlace,
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
    /// What the byte at an offset stands for.
    pub(crate) fn mark(&self, offset: u64) -> Option<Mark> {
        let offset = u32::try_from(offset).ok()?;
        let hidden = !self.public.iter().any(|range| range.contains(&u64::from(offset)));
        hidden.then(|| Meaning::Input(InputByte::new(self.source, offset)).mark())
    }
}

/// The files that are inputs.
#[derive(Clone, Default)]
pub(crate) struct Inputs(Arc<BTreeMap<InodeId, FileInput>>);

impl Inputs {
    /// What is known about a file, if it is an input.
    pub(crate) fn of(&self, inode: InodeId) -> Option<&FileInput> {
        self.0.get(&inode)
    }
}

impl Kernel {
    /// Marks the inputs of a program that has not run yet.
    ///
    /// # Errors
    /// There is no such file, argument, variable or connection.
    pub fn mark_inputs(&mut self, inputs: &[Input]) -> Result<(), Errno> {
        let mut files = BTreeMap::new();
        for (input, source) in inputs.iter().zip(0u16..) {
            let known = FileInput { source, public: input.public.clone().into() };
            match &input.place {
                InputPlace::File(path) => {
                    files.insert(self.inode_of(path)?, known);
                }
                InputPlace::StandardInput => {
                    let file = self.process(FIRST_PID).descriptors.get(0)?;
                    match self.files.description(file)?.object {
                        Object::Inode(inode) | Object::Feed(inode) => files.insert(inode, known),
                        _ => return Err(Errno::EBADF),
                    };
                }
                InputPlace::Connection(number) => {
                    let inode = self.files.connection_inode(*number).ok_or(Errno::EBADF)?;
                    files.insert(inode, known);
                }
                InputPlace::Argument(number) => {
                    let at = self.start_pointer(8 + 8 * *number as u64)?;
                    self.mark_string(at, &known)?;
                }
                InputPlace::Variable(name) => {
                    let at = self.variable(name)?;
                    self.mark_string(at, &known)?;
                }
            }
        }
        self.inputs = Inputs(Arc::new(files));
        Ok(())
    }

    fn inode_of(&mut self, path: &[u8]) -> Result<InodeId, Errno> {
        let process = &self.processes.0[&FIRST_PID];
        let caller = Caller {
            cwd: process.cwd,
            umask: process.umask,
            pid: FIRST_PID,
            tid: FIRST_PID,
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

    fn mark_string(&mut self, at: u64, input: &FileInput) -> Result<(), Errno> {
        let space = self.process(FIRST_PID).space();
        let text = space.read_string(at, 1 << 17).map_err(|_| Errno::EINVAL)?;
        space.mark(at, (0..text.len() as u64).map(|offset| input.mark(offset)));
        Ok(())
    }

    /// Takes a thread back to before the unit whose tests it stands before.
    pub(crate) fn go_back(&mut self, symbolic: &mut Symbolic, (pid, tid): (u32, u32)) {
        let Some(Process { space: Some(space), threads, .. }) = self.process_if_there(pid) else {
            return;
        };
        let Some(thread) = threads.iter_mut().find(|thread| thread.tid == tid) else { return };
        let after = thread.cpu.executed();
        symbolic.go_back(&mut thread.cpu, space);
        let undone = after - thread.cpu.executed();
        self.executed -= undone;
        self.clock.take_back(undone);
    }

    /// Does the branch again that a thread stands behind, if it is one.
    pub(crate) fn branch_again(&mut self, symbolic: &mut Symbolic, (pid, tid): (u32, u32)) {
        let Some(process) = self.process_if_there(pid) else { return };
        if let Some(thread) = process.thread(tid) {
            symbolic.branch_again(&mut thread.cpu);
        }
    }

    /// The process with this number, if it exists.
    pub(crate) fn process_if_there(&mut self, pid: u32) -> Option<&mut Process> {
        self.processes.0.get_mut(&pid)
    }

    /// Gives everything that depends on the input the value that it has for another one: files,
    /// marked bytes, and slots, in all processes. `symbolic` knows the new input already.
    pub(crate) fn rebind(&mut self, old: &Assignment, new: &Assignment, symbolic: &mut Symbolic) {
        let inputs = Arc::clone(&self.inputs.0);
        for (&inode, input) in inputs.iter() {
            let length = old.source(input.source).len().max(new.source(input.source).len());
            let changed: Vec<(u64, u8)> = (0..length as u32)
                .map(|offset| InputByte::new(input.source, offset))
                .filter(|&byte| old.get(byte) != new.get(byte))
                .filter(|byte| input.mark(u64::from(byte.offset)).is_some())
                .map(|byte| (u64::from(byte.offset), new.get(byte)))
                .collect();
            if changed.is_empty() {
                continue;
            }
            self.files.rewrite(inode, changed);
            let Some((content, _)) = self.files.mapped_content(inode.number()) else { continue };
            let source = self.source(content, inode);
            for process in self.processes.0.values_mut() {
                if let Some(space) = &mut process.space {
                    space.exchange_source(&source);
                }
            }
        }
        let changes = changes(old, new);
        for process in self.processes.0.values_mut() {
            for thread in &mut process.threads {
                symbolic::give_values(&mut thread.cpu, &mut |term| symbolic.value(term));
            }
            let Some(space) = &mut process.space else { continue };
            // Neighbours often belong to one term.
            let mut last: Option<(Term, Option<u128>)> = None;
            space.give_values(|mark| match Meaning::of(mark)? {
                Meaning::Input(byte) => Some(new.get(byte)),
                Meaning::Piece(term, piece) => {
                    let word = match last {
                        Some((same, word)) if same == term => word,
                        _ if symbolic.depends_on(term, &changes) => Some(symbolic.value(term)),
                        _ => None,
                    };
                    last = Some((term, word));
                    Some((word? >> (8 * u32::from(piece))) as u8)
                }
            });
        }
    }

    /// The content of a file as memory sees it, marked if it is an input.
    pub(crate) fn source(&self, content: Content, inode: InodeId) -> Arc<dyn Source> {
        FileSource::shared(content, inode, self.inputs.of(inode).cloned())
    }
}

/// The bytes in which two inputs differ.
fn changes(old: &Assignment, new: &Assignment) -> Support {
    let mut parts = Vec::new();
    for source in 0..old.source_count().max(new.source_count()) as u16 {
        let length = old.source(source).len().max(new.source(source).len());
        let bytes = (0..length as u32).map(|offset| InputByte::new(source, offset));
        parts.extend(bytes.filter(|&byte| old.get(byte) != new.get(byte)).map(Support::of));
    }
    // In pairs, so that no union is made again and again.
    while parts.len() > 1 {
        parts =
            parts.chunks(2).map(|pair| pair[0].union(pair.last().expect("it has one"))).collect();
    }
    parts.pop().unwrap_or_default()
}
