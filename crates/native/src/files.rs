//! What is known about files and stacks, kept from one run to the next.
//!
//! Always holds: a file is read again if it has changed; a stack is named once for all runs that
//! have it. What is kept is bounded, and holds nothing of any input but addresses in modules.

use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use stunt_unwind::failure::{PanicSite, Scene, panic_site, rethrow_ranges, throw_points};
use stunt_unwind::stack::{
    CallStack, End, Limits, Mapping, Module, ModuleSource, Symbols, Thread, Trust, Walk,
};

use crate::process;
use crate::texts::Executed;

/// Programs that are noted: tools of a build may run thousands.
const EXECUTED: usize = 64;

/// Stacks that are kept.
const STACKS: usize = 4096;

/// The modules of a process at one moment.
#[derive(Default)]
pub struct Modules {
    list: Vec<Module>,
    /// A number for the contents of each file.
    versions: Vec<u64>,
    /// Where exceptions are thrown.
    pub throw_points: Vec<u64>,
    /// What throws exceptions again.
    pub rethrows: Vec<Range<u64>>,
}

/// When a file counts as the same: device, node, size, and time of the last change.
type Stamp = (u64, u64, u64, i64, i64);

struct Known {
    stamp: Stamp,
    version: u64,
    bytes: Arc<[u8]>,
    /// The places in the file where exceptions are thrown.
    throws: Vec<u64>,
    /// The parts of the file that throw exceptions again.
    rethrows: Vec<Range<u64>>,
}

/// A frame in a form that can be compared between runs: the file's version and the offset, else
/// nothing; how it was found.
type Step = (Option<(u64, u64)>, Trust, bool, bool);

#[derive(PartialEq, Eq, Hash)]
struct Steps {
    frames: Vec<Step>,
    gap: Option<(usize, bool)>,
    end: End,
}

/// What is known about the files that programs were loaded from.
pub struct Files {
    symbols: Symbols,
    known: Mutex<FxHashMap<String, Known>>,
    stacks: Mutex<FxHashMap<Steps, Arc<CallStack>>>,
    executed: Mutex<BTreeSet<Executed>>,
}

impl Default for Files {
    fn default() -> Self {
        Self::new()
    }
}

impl Files {
    /// An empty store. Separate debugging information is read from where the host keeps it.
    #[must_use]
    pub fn new() -> Self {
        Self {
            symbols: Symbols::new(Box::new(|path| fs::read(path).ok().map(Into::into))),
            known: Mutex::default(),
            stacks: Mutex::default(),
            executed: Mutex::default(),
        }
    }

    /// Programs that runs have executed, the first of them.
    #[must_use]
    pub fn executed(&self) -> Vec<Executed> {
        let executed = self.executed.lock().unwrap_or_else(PoisonError::into_inner);
        executed.iter().cloned().collect()
    }

    /// A process has just begun to execute its program.
    pub fn executes(&self, process: i32) {
        let mut executed = self.executed.lock().unwrap_or_else(PoisonError::into_inner);
        if executed.len() < EXECUTED {
            executed.extend(process::executed(process));
        }
    }

    /// The modules that are mapped so.
    pub(crate) fn modules(&self, mapped: &[(String, Vec<Mapping>)]) -> Modules {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut modules = Modules::default();
        for (path, mappings) in mapped {
            let Some(file) = up_to_date(&mut known, path) else { continue };
            let Some(module) = Module::from_mappings(path, &file.bytes, mappings) else { continue };
            let points = file.throws.iter().map(|offset| offset.wrapping_add(module.bias));
            modules.throw_points.extend(points);
            let moved = |at: u64| at.wrapping_add(module.bias);
            modules.rethrows.extend(file.rethrows.iter().map(|it| moved(it.start)..moved(it.end)));
            modules.versions.push(file.version);
            modules.list.push(module);
        }
        modules
    }

    /// A stopped thread: its stack, and where it panics, if it may be at the throw or abort of a panic.
    pub(crate) fn moment(
        &self,
        thread: &mut dyn Thread,
        may_panic: bool,
        modules: &Modules,
    ) -> Moment {
        let stack = self.stack(thread, modules);
        let site = may_panic.then(|| panic_site(thread, &modules.list)).flatten();
        Moment { stack, site }
    }

    /// The call stack of a stopped thread.
    fn stack(&self, thread: &mut dyn Thread, modules: &Modules) -> Arc<CallStack> {
        let walk = self.symbols.walk(thread, &modules.list, Limits::default());
        let steps = steps(&walk, modules);
        let mut stacks = self.stacks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stack) = stacks.get(&steps) {
            return Arc::clone(stack);
        }
        if stacks.len() >= STACKS {
            stacks.clear();
        }
        let stack = Arc::new(self.symbols.name(&walk, &modules.list));
        stacks.insert(steps, Arc::clone(&stack));
        stack
    }
}

/// A thread at some moment.
#[derive(Clone)]
pub struct Moment {
    stack: Arc<CallStack>,
    site: Option<PanicSite>,
}

impl Moment {
    /// The moment as it is judged.
    pub fn scene(&self) -> Scene<'_> {
        Scene { stack: &self.stack, site: self.site.as_ref() }
    }
}

/// A file as it is now, if it can be read.
fn up_to_date<'a>(known: &'a mut FxHashMap<String, Known>, path: &str) -> Option<&'a Known> {
    let metadata = fs::metadata(path).ok()?;
    let times = (metadata.mtime(), metadata.mtime_nsec());
    let stamp = (metadata.dev(), metadata.ino(), metadata.size(), times.0, times.1);
    let old = known.get(path).map(|file| (file.stamp, file.version));
    if old.is_none_or(|(old, _)| old != stamp) {
        let bytes: Arc<[u8]> = fs::read(path).ok()?.into();
        let unmoved = Module {
            path: path.into(),
            source: ModuleSource::Bytes(Arc::clone(&bytes)),
            bias: 0,
            executable: Vec::new(),
        };
        let throws = throw_points(std::slice::from_ref(&unmoved));
        let rethrows = rethrow_ranges(&[unmoved]);
        // Versions are never used again, so that no stack of an old file is taken for a new one.
        let version = old.map_or(known.len() as u64, |(_, version)| version + (1 << 32));
        known.insert(path.to_owned(), Known { stamp, version, bytes, throws, rethrows });
    }
    known.get(path)
}

fn steps(walk: &Walk, modules: &Modules) -> Steps {
    let frames = walk.frames.iter().map(|frame| {
        let module = frame.module.map(|module| {
            let offset = frame.address.wrapping_sub(modules.list[module].bias);
            (modules.versions[module], offset)
        });
        (module, frame.trust, frame.exact, frame.signal)
    });
    // How many frames the gap stands for says nothing about the others.
    let gap = walk.gap.map(|gap| (gap.before, gap.alike));
    Steps { frames: frames.collect(), gap, end: walk.end }
}
