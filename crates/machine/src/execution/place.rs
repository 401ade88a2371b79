//! Where a test stands: a digest of the module, the place in it, and the call stack.
//!
//! Equal situations have equal digests, because all of it is a function of the state: the stack is
//! walked by call frame information, as far as that has its usual form and for the innermost frames
//! only. Different situations have different digests, but for frames further out and for hashes that
//! happen to agree. How often a test was met is not known here.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use rustc_hash::{FxHashMap, FxHasher};

use stunt_unwind::stack::{CallerRule, Module, Symbols};

use crate::{
    code::slots,
    cpu::Cpu,
    linux::{Kernel, Mapped, Pid, ThreadId, mapped_files},
    memory::AddressSpace,
};

/// How many frames are part of a place.
const FRAMES: usize = 32;
/// How much of a stack is read at a time.
const WINDOW: u64 = 512;
/// Versions of code whose modules are kept.
const VERSIONS: usize = 64;

/// What is known about an address of code.
#[derive(Clone, Copy)]
struct Known {
    digest: u64,
    rule: Option<CallerRule>,
}

/// What is known about code, for all paths of a program.
#[derive(Default)]
pub(super) struct Places {
    /// Modules by the version of the code that they were mapped in.
    versions: FxHashMap<u64, Arc<[Module]>>,
    /// Modules by how they are mapped.
    mapped: Vec<(Mapped, Arc<[Module]>)>,
    /// Addresses of code: where control is, and where calls return to.
    here: FxHashMap<u64, Known>,
    callers: FxHashMap<u64, Known>,
}

impl Places {
    /// The modules of a process that has these files mapped.
    pub(super) fn modules(&mut self, kernel: &mut Kernel, mapped: Mapped) -> Arc<[Module]> {
        if let Some((_, modules)) = self.mapped.iter().find(|(known, _)| *known == mapped) {
            return Arc::clone(modules);
        }
        let modules: Arc<[Module]> = kernel.modules(mapped.clone()).into();
        if self.mapped.len() >= VERSIONS {
            self.mapped.clear();
        }
        self.mapped.push((mapped, Arc::clone(&modules)));
        modules
    }

    /// The modules of a process, by its number.
    pub(super) fn modules_of(&mut self, kernel: &mut Kernel, pid: Pid) -> Option<Arc<[Module]>> {
        let space = kernel.process_if_there(pid)?.space.as_ref()?;
        let version = space.code_version();
        if let Some(modules) = self.versions.get(&version) {
            return Some(Arc::clone(modules));
        }
        let mapped = mapped_files(space);
        let modules = self.modules(kernel, mapped);
        if self.versions.len() >= VERSIONS {
            self.versions.clear();
        }
        self.versions.insert(version, Arc::clone(&modules));
        // An address can belong to another file now.
        self.here.clear();
        self.callers.clear();
        Some(modules)
    }

    /// The digest of where a thread is: at `at`, with the state `before`, or as it is.
    pub(super) fn digest(
        &mut self,
        kernel: &mut Kernel,
        symbols: &Symbols,
        ThreadId { pid, tid }: ThreadId,
        at: u64,
        before: Option<&Cpu>,
    ) -> u64 {
        let mut hash = FxHasher::default();
        let modules = self.modules_of(kernel, pid).unwrap_or_default();
        let here = known(&mut self.here, symbols, &modules, at, at);
        (pid, tid, here.digest).hash(&mut hash);
        let Some(process) = kernel.process_if_there(pid) else { return hash.finish() };
        let cpu = process.threads.iter().find(|thread| thread.tid == tid).map(|it| &it.cpu);
        let (Some(cpu), Some(space)) = (before.or(cpu), &mut process.space) else {
            return hash.finish();
        };
        let (mut rsp, mut rbp) = (cpu.get(slots::RSP), cpu.get(slots::RBP));
        let mut stack = Stack { space, start: 0, bytes: [0; WINDOW as usize] };
        let mut frame = match before {
            Some(_) => known(&mut self.here, symbols, &modules, cpu.rip(), cpu.rip()),
            None => here,
        };
        for _ in 0..FRAMES {
            let Some(rule) = frame.rule else { break };
            let base = if rule.by_frame_pointer { rbp } else { rsp };
            let address = base.wrapping_add_signed(rule.frame);
            let Some(to) = stack.word(address.wrapping_sub(8)) else { break };
            // A return address that depends on the input leads nowhere in particular.
            if address <= rsp || to == 0 || stack.space.marked(address.wrapping_sub(8), 8) {
                break;
            }
            if let Some(offset) = rule.frame_pointer {
                let at = address.wrapping_add_signed(offset);
                rbp = match stack.word(at) {
                    Some(saved) if !stack.space.marked(at, 8) => saved,
                    _ => 0,
                };
            }
            rsp = address;
            frame = known(&mut self.callers, symbols, &modules, to, to.wrapping_sub(1));
            frame.digest.hash(&mut hash);
        }
        hash.finish()
    }
}

/// What is known about an address; `asked` is one inside the instruction that it belongs to.
fn known(
    all: &mut FxHashMap<u64, Known>,
    symbols: &Symbols,
    modules: &[Module],
    address: u64,
    asked: u64,
) -> Known {
    *all.entry(address).or_insert_with(|| {
        let inside = |module: &&Module| module.executable.iter().any(|it| it.contains(&asked));
        let mut hash = FxHasher::default();
        match modules.iter().find(inside) {
            Some(module) => {
                (&*module.path, address.wrapping_sub(module.bias)).hash(&mut hash);
                let rule = symbols.caller_rule(module, asked.wrapping_sub(module.bias));
                Known { digest: hash.finish(), rule }
            }
            None => {
                address.hash(&mut hash);
                Known { digest: hash.finish(), rule: None }
            }
        }
    })
}

/// The memory of a stack, read in pieces.
struct Stack<'a> {
    space: &'a mut AddressSpace,
    start: u64,
    bytes: [u8; WINDOW as usize],
}

impl Stack<'_> {
    fn word(&mut self, address: u64) -> Option<u64> {
        if !address.is_multiple_of(8) {
            let mut bytes = [0; 8];
            self.space.read(address, &mut bytes).ok()?;
            return Some(u64::from_le_bytes(bytes));
        }
        let start = address - address % WINDOW;
        if start != self.start || start == 0 {
            self.space.read(start, &mut self.bytes).ok()?;
            self.start = start;
        }
        let at = (address % WINDOW) as usize;
        Some(u64::from_le_bytes(self.bytes[at..at + 8].try_into().expect("eight bytes")))
    }
}
