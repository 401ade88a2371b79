//! What the kernel tells about a run that is followed, and what becomes of it.

use std::sync::Arc;

use stunt_unwind::failure::rethrow_ranges;
use stunt_unwind::stack::Module;

use crate::{
    code::Code,
    cpu::{Cpu, Stop},
    linux::ThreadId,
    memory::{AddressSpace, Mark, Protection},
    tracer::Tracer,
};

use super::{
    Symbolic,
    aside::Aside,
    hooks::hooks,
    shapes::{called, comparisons},
};

/// Code of more bytes than this is not searched.
const MOST_CODE: u64 = 16 << 20;

// Methods of the same name are where the rest of their subject is: `run.rs`, `units.rs`.
impl Tracer for Symbolic {
    fn take_turn(
        &mut self,
        thread: ThreadId,
        program: &Arc<[u8]>,
        entry: &dyn Fn() -> Option<u64>,
        quiet: bool,
    ) {
        self.quiet = quiet;
        self.go_over_to(thread, program, entry);
    }

    fn run(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        code: &mut Code,
        quantum: u64,
    ) -> Stop {
        Self::run(self, cpu, space, code, quantum)
    }

    fn halted(&self) -> bool {
        Self::halted(self)
    }

    fn in_steps(&self) -> bool {
        Self::in_steps(self)
    }

    fn signal(&mut self, cpu: &mut Cpu) {
        Self::signal(self, cpu);
    }

    fn system_call(&mut self, cpu: &mut Cpu) {
        Self::system_call(self, cpu);
    }

    fn call_looked_at(&mut self, looks: Vec<(Mark, u8)>) {
        if !looks.is_empty() {
            self.begin_outside();
            self.looked_at(looks);
        }
    }

    fn code_looked_at(&mut self, looks: Vec<(Mark, u8)>) {
        // Code that was made out of the input. Whoever stops before each test could not go back to
        // before it.
        if !self.in_steps() {
            self.looked_at(looks);
        }
    }

    fn call_is_over(&mut self, cpu: Option<&Cpu>, space: &mut AddressSpace) {
        if self.wants_shapes(space)
            && let Some(cpu) = cpu
        {
            self.hook_shapes(cpu, space);
        }
    }

    fn program_is_loaded(&mut self, cpu: &Cpu, space: &mut AddressSpace, modules: Vec<Module>) {
        let mut aside = Aside::new(cpu, space);
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
        if self.is_first_program() {
            self.begin_checks(cpu, space, libraries);
        }
        let mut pointer = |at| {
            let mut bytes = [0; 8];
            space.read(at, &mut bytes).ok()?;
            Some((at, u64::from_le_bytes(bytes)))
        };
        let streams = known.streams.into_iter().filter_map(&mut pointer).collect();
        self.set_hooks(known.hooks, rethrow_ranges(&modules), streams, known.channels, modules);
    }

    fn knows_program(&self) -> bool {
        self.has_hooks()
    }

    fn library_is_mapped(&mut self, modules: &[Module]) {
        // Functions that choose an implementation cannot be asked yet.
        let hooks = hooks(modules, |_| None).hooks;
        self.add_hooks(hooks, &rethrow_ranges(modules), modules);
    }
}

impl Symbolic {
    /// Finds out where comparisons are that have no names.
    fn hook_shapes(&mut self, cpu: &Cpu, space: &mut AddressSpace) {
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
        let mut aside = Aside::new(cpu, space);
        let found = comparisons(called(&code), |function, a, b, count| {
            aside.compare(function, a, b, count)
        });
        self.add_hooks(found, &[], &[]);
    }
}
