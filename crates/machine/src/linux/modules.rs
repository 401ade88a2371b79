//! The files with code that a process has mapped, and the functions in them that are known by name.

use std::{collections::BTreeMap, sync::Arc};

use super::{Kernel, process::Program};
use stunt_unwind::failure::rethrow_ranges;
use stunt_unwind::stack::{Bytes, Mapping, Module};

use crate::{
    code::{Code, Compile, Model, slots},
    cpu::{self, Cpu, Exception, Stop},
    memory::{AddressSpace, Backing, PAGE, Protection},
    symbolic::{
        Symbolic, hooks,
        shapes::{called, comparisons},
    },
};

/// The files that are mapped with code, and how: by name and identity.
pub(crate) type Mapped = BTreeMap<(Arc<str>, u64), Vec<Mapping>>;

/// The files that are mapped with code, and how.
pub(crate) fn mapped_files(space: &AddressSpace) -> Mapped {
    let mut files: Mapped = BTreeMap::new();
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

/// Where a function that returns must not come back to.
const NOWHERE: u64 = 0xfff0;
/// More than a function that chooses an implementation takes.
const MOST_INSTRUCTIONS: u64 = 100_000;
/// More than a comparison of a few words takes.
const MOST_COMPARING: u64 = 2_000;
/// Code of more bytes than this is not searched.
const MOST_CODE: u64 = 16 << 20;

impl Kernel {
    /// The modules of a process that has these files mapped.
    pub(crate) fn modules(&mut self, mapped: Mapped) -> Vec<Module> {
        let mut modules = Vec::new();
        for ((path, identity), mappings) in mapped {
            let Some((content, _)) = self.files.mapped_content(identity) else { continue };
            // The host's files are mapped: of a library only a few tables are looked at.
            let mapped = content.host_file().and_then(Bytes::map);
            let bytes = match mapped.filter(|bytes| bytes.len() as u64 == content.len()) {
                Some(bytes) => bytes,
                None => {
                    let mut bytes = vec![0; content.len() as usize];
                    if content.read_at(0, &mut bytes).is_err() {
                        continue;
                    }
                    bytes.into()
                }
            };
            modules.extend(Module::from_mappings(&path, bytes, &mappings));
        }
        modules
    }

    /// Tells a followed run where the functions are that are known by name. The libraries of the
    /// process are loaded.
    pub(crate) fn hook_functions(&mut self, pid: u32, symbolic: &mut Symbolic) {
        let Some(space) = &self.process(pid).space else { return };
        let mapped = mapped_files(space);
        let modules = self.modules(mapped);
        let process = self.process(pid);
        let cpu = process.threads[0].cpu.clone();
        let Some(space) = &mut process.space else { return };
        let mut aside = Aside::new(&cpu, space);
        let known = hooks(&modules, |resolver| aside.resolve(resolver));
        let libraries = space
            .regions()
            .filter(|region| region.protection.contains(Protection::EXECUTE))
            .filter(|region| {
                let name = region.name.rsplit('/').next().unwrap_or_default();
                ["libc.so", "libc-", "ld-", "libm.so"].iter().any(|it| name.starts_with(it))
            })
            .map(|region| region.start..region.end)
            .collect();
        if symbolic.is_first_program() {
            symbolic.begin_checks(&cpu, space, libraries);
        }
        let mut pointer = |at| {
            let mut bytes = [0; 8];
            space.read(at, &mut bytes).ok()?;
            Some((at, u64::from_le_bytes(bytes)))
        };
        let streams = known.streams.into_iter().filter_map(&mut pointer).collect();
        symbolic.set_hooks(known.hooks, rethrow_ranges(&modules), streams, known.channels, modules);
    }

    /// Tells a followed run where comparisons are that have no names.
    pub(crate) fn hook_shapes(&mut self, pid: u32, tid: u32, symbolic: &mut Symbolic) {
        let process = self.process(pid);
        let Some(cpu) = process.thread(tid).map(|thread| thread.cpu.clone()) else { return };
        let Some(space) = &mut process.space else { return };
        let regions: Vec<(u64, u64)> = space
            .regions()
            .filter(|region| region.protection.contains(Protection::EXECUTE))
            .map(|region| (region.start, region.end))
            .collect();
        let code: Vec<(u64, Vec<u8>)> = regions
            .into_iter()
            .filter(|(start, end)| end - start <= MOST_CODE)
            .filter_map(|(start, end)| {
                let mut bytes = vec![0; (end - start) as usize];
                space.read(start, &mut bytes).ok()?;
                Some((start, bytes))
            })
            .collect();
        let mut aside = Aside::new(&cpu, space);
        let found = comparisons(called(&code), |function, a, b, count| {
            aside.compare(function, a, b, count)
        });
        symbolic.add_hooks(found, &[], &[]);
    }

    /// The same for a library that was just mapped at an address, by a program that runs already.
    /// Functions that choose an implementation cannot be asked yet.
    pub(crate) fn hook_library(&mut self, pid: u32, at: u64, symbolic: &mut Symbolic) {
        let Some(space) = &self.process(pid).space else { return };
        let mut mapped = mapped_files(space);
        mapped.retain(|_, mappings| mappings.iter().any(|it| it.addresses.contains(&at)));
        let modules = self.modules(mapped);
        let hooks = hooks(&modules, |_| None).hooks;
        symbolic.add_hooks(hooks, &rethrow_ranges(&modules), &modules);
    }
}

/// Where a program begins, after its libraries are loaded.
pub(crate) fn entry_point(program: &Program) -> Option<u64> {
    const AT_ENTRY: u64 = 9;
    let mut pairs = program.auxiliary.chunks_exact(16).map(|pair| {
        let word = |at: usize| u64::from_le_bytes(pair[at..at + 8].try_into().expect("8 bytes"));
        (word(0), word(8))
    });
    pairs.find(|&(key, _)| key == AT_ENTRY).map(|(_, value)| value)
}

/// A copy of a process, in which functions are called: those that choose an implementation, which read
/// what the processor can do and change nothing but their stack; and any other, in a copy of their own.
struct Aside {
    cpu: Cpu,
    space: AddressSpace,
    code: Code,
}

impl Aside {
    fn new(cpu: &Cpu, space: &mut AddressSpace) -> Self {
        let mut space = space.fork();
        space.set_blind(true);
        Self { cpu: cpu.clone(), space, code: Code::new(Model::Baseline, Compile::Never) }
    }

    /// Asks a function that chooses an implementation which one it chooses, as the dynamic linker
    /// does.
    fn resolve(&mut self, resolver: u64) -> Option<u64> {
        let mut cpu = self.cpu.clone();
        returns(&mut cpu, &mut self.space, &mut self.code, resolver, MOST_INSTRUCTIONS)
    }

    /// What a function answers to two texts and a number, if it returns and leaves the texts alone.
    fn compare(&mut self, function: u64, a: &[u8], b: &[u8], count: u64) -> Option<i32> {
        let (mut cpu, mut space) = (self.cpu.clone(), self.space.fork());
        space.set_blind(true);
        let top = cpu.get(slots::RSP) & !0xf;
        let places = [top.wrapping_sub(0x800), top.wrapping_sub(0x400)];
        for (place, text) in places.into_iter().zip([a, b]) {
            space.write(place, text).ok()?;
        }
        for (slot, value) in
            [slots::RDI, slots::RSI, slots::RDX].into_iter().zip([places[0], places[1], count])
        {
            cpu.set(slot, value);
        }
        let answer = returns(&mut cpu, &mut space, &mut self.code, function, MOST_COMPARING)?;
        for (place, text) in places.into_iter().zip([a, b]) {
            let mut after = vec![0; text.len()];
            space.read(place, &mut after).ok().filter(|()| after == text)?;
        }
        Some(answer as i32)
    }
}

/// Calls a function; what it returns, if it does so soon.
fn returns(
    cpu: &mut Cpu,
    space: &mut AddressSpace,
    code: &mut Code,
    function: u64,
    instructions: u64,
) -> Option<u64> {
    let rsp = (cpu.get(slots::RSP) & !0xf).wrapping_sub(0x1008);
    space.write(rsp, &NOWHERE.to_le_bytes()).ok()?;
    cpu.set(slots::RSP, rsp);
    cpu.set(slots::RIP, function);
    match cpu::run(cpu, space, code, instructions) {
        Stop::Exception(Exception::Memory(fault)) if fault.address == NOWHERE => {
            Some(cpu.get(slots::RAX))
        }
        _ => None,
    }
}
