//! The files with code that a process has mapped.

use std::{collections::BTreeMap, sync::Arc};

use stunt_unwind::stack::{Bytes, Mapping, Module};

use super::{Kernel, Pid, process::Program};
use crate::{
    memory::{AddressSpace, Backing, PAGE, Protection},
    tracer::Tracer,
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

    /// Tells a tracer that a program is about to begin.
    pub(crate) fn tell_program(&mut self, pid: Pid, tracer: &mut dyn Tracer) {
        let Some(space) = &self.process(pid).space else { return };
        let mapped = mapped_files(space);
        let modules = self.modules(mapped);
        let process = self.process(pid);
        let cpu = process.threads[0].cpu.clone();
        let Some(space) = &mut process.space else { return };
        tracer.program_is_loaded(&cpu, space, modules);
    }

    /// The same about a library that was just mapped at an address, by a program that runs already.
    pub(crate) fn tell_library(&mut self, pid: Pid, at: u64, tracer: &mut dyn Tracer) {
        let Some(space) = &self.process(pid).space else { return };
        let mut mapped = mapped_files(space);
        mapped.retain(|_, mappings| mappings.iter().any(|it| it.addresses.contains(&at)));
        let modules = self.modules(mapped);
        tracer.library_is_mapped(&modules);
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
