//! Inputs: where the bytes come from that a run is followed for.
//!
//! The kernel marks them on their way to the program, whichever way they take: reads, mappings,
//! arguments, environment. Which term a marked byte becomes is not known here.

use std::{collections::BTreeMap, ops::Range, sync::Arc};

use stunt_terms::InputByte;

use super::{
    Kernel,
    errno::Errno,
    fs::{Caller, Content, InodeId, Node, Object},
    kernel::FIRST_PID,
    memory_calls::FileSource,
};
use crate::{
    memory::{Mark, Source},
    symbolic::Meaning,
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
    /// There is no such file, argument or variable.
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

    /// The content of a file as memory sees it, marked if it is an input.
    pub(crate) fn source(&self, content: Content, inode: InodeId) -> Arc<dyn Source> {
        FileSource::shared(content, inode, self.inputs.of(inode).cloned())
    }
}
