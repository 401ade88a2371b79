//! The machine as a whole: a program is set up, runs, is copied, and tells how it ended.

use std::{collections::BTreeMap, sync::Arc};

use iced_x86::{Decoder, DecoderOptions, Formatter, IntelFormatter};

use crate::{
    cpu::Cpu,
    linux::{Caches, Ending, Kernel, Limits, Setup, errno::Errno},
    memory::{AddressSpace, Backing, PAGE, Protection},
    stack::{CallStack, Mapping, Module, Registers, Symbols},
};

/// A machine with one program, its children, and everything that they see.
///
/// ```no_run
/// use stunt_machine::{Machine, linux::{Limits, Setup, fs::{Allow, Config}}};
///
/// let files = Config { allow: Allow::Everything, ..Config::default() };
/// let setup = Setup {
///     files,
///     program: b"/bin/true".to_vec(),
///     arguments: vec![b"true".to_vec()],
///     environment: vec![],
///     memory: 1 << 30,
/// };
/// let mut machine = Machine::new(setup).unwrap();
/// println!("{:?}", machine.run(Limits { instructions: u64::MAX }));
/// ```
pub struct Machine {
    kernel: Kernel,
    caches: Caches,
}

/// The state of a machine at some moment. Small, and cheap to go on from.
pub struct Snapshot(Kernel);

impl Machine {
    /// A machine that is about to run a program.
    ///
    /// # Errors
    /// The program cannot be started; the number is what `execve` would answer.
    pub fn new(setup: Setup) -> Result<Self, Errno> {
        Ok(Self { kernel: Kernel::new(setup)?, caches: Caches::default() })
    }

    /// Runs to the end, or to a limit. After a limit of instructions it can go on.
    pub fn run(&mut self, limits: Limits) -> Ending {
        self.run_watched(limits, &mut |_| {})
    }

    /// Runs like [`Self::run`]; `watch` sees the kernel after every turn of a thread, for output
    /// that is to be shown as it comes.
    pub fn run_watched(&mut self, limits: Limits, watch: &mut dyn FnMut(&mut Kernel)) -> Ending {
        self.kernel.run(&mut self.caches, limits, watch)
    }

    /// The state now. It costs by what was written since the last one, not by the size of the
    /// program.
    #[must_use]
    pub fn snapshot(&mut self) -> Snapshot {
        Snapshot(self.kernel.fork())
    }

    /// Goes back, or over, to a snapshot.
    pub fn restore(&mut self, snapshot: &mut Snapshot) {
        self.kernel = snapshot.0.fork();
    }

    /// The kernel: files, output, figures.
    #[must_use]
    pub fn kernel(&mut self) -> &mut Kernel {
        &mut self.kernel
    }

    /// The call stack of the process that a signal killed.
    #[must_use]
    pub fn call_stack(&mut self, symbols: &Symbols) -> Option<CallStack> {
        let modules = {
            let crash = self.kernel.crash()?;
            let mapped = mapped_files(&crash.space);
            self.modules(mapped)
        };
        let crash = self.kernel.crash()?;
        let space = &mut crash.space;
        let mut memory = |address: u64, buffer: &mut [u8]| space.read(address, buffer).is_ok();
        Some(symbols.call_stack(&registers(&crash.cpu), &mut memory, &modules))
    }

    fn modules(&mut self, mapped: BTreeMap<(Arc<str>, u64), Vec<Mapping>>) -> Vec<Module> {
        let mut modules = Vec::new();
        for ((path, identity), mappings) in mapped {
            let Some((content, _)) = self.kernel.files().mapped_content(identity) else { continue };
            let mut bytes = vec![0; content.len() as usize];
            if content.read_at(0, &mut bytes).is_err() {
                continue;
            }
            modules.extend(Module::from_mappings(&path, &bytes.into(), &mappings));
        }
        modules
    }

    /// The instruction at an address, as text: of the process that could not go on, if the run
    /// ended as [`Ending::Unsupported`], else of the first one.
    #[must_use]
    pub fn instruction_at(&mut self, address: u64) -> Option<String> {
        let mut bytes = [0; 15];
        let have = self.kernel.space_at_end()?.fetch(address, &mut bytes).ok()?;
        let mut decoder = Decoder::with_ip(64, &bytes[..have], address, DecoderOptions::NONE);
        let instruction = decoder.decode();
        let mut text = String::new();
        IntelFormatter::new().format(&instruction, &mut text);
        Some(text)
    }
}

/// The files that are mapped with code, and how.
fn mapped_files(space: &AddressSpace) -> BTreeMap<(Arc<str>, u64), Vec<Mapping>> {
    let mut files: BTreeMap<_, Vec<Mapping>> = BTreeMap::new();
    for region in space.regions() {
        if let Backing::File { source, offset } = &region.backing {
            files.entry((Arc::clone(&region.name), source.identity())).or_default().push(Mapping {
                addresses: region.start..region.end,
                offset: *offset,
                executable: region.protection.contains(Protection::EXECUTE),
            });
        }
    }
    files.retain(|_, mappings| mappings.iter().any(|mapping| mapping.executable));
    debug_assert!(files.values().flatten().all(|mapping| mapping.offset % PAGE == 0));
    files
}

fn registers(cpu: &Cpu) -> Registers {
    let mut general = [0; 16];
    for (slot, value) in general.iter_mut().enumerate() {
        *value = cpu.get(slot as u8);
    }
    Registers::new(&general, cpu.rip())
}
