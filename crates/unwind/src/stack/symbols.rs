//! What is known about files, kept from one stack to the next, and the names of frames.
//!
//! Always holds: a file is parsed when a frame falls into it for the first time, its symbols and
//! lines when the first name is asked for, and each of these once. The store is apart from the
//! programs that it describes: it has no state of theirs, so that any number of snapshots and
//! threads can share one.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::bytes::Bytes;
use super::cfi::{Cfi, Row};
use super::debugfile::{self, OpenFile, ReadFile};
use super::demangle::demangle;
use super::frame::{CallStack, End, Frame, InModule, InSymbol, Kind, Trust};
use super::image::Image;
use super::lines::Lines;
use super::module::{Module, ModuleSource};
use super::symtab::Symtab;
use super::thread::Thread;
use super::walk::{Limits, Walk, WalkedFrame, walk};

/// Parsed modules, and how to find their debugging information.
pub struct Symbols {
    pub(super) cache: Mutex<Cache>,
}

/// The store behind the lock.
pub(super) struct Cache {
    read: Box<OpenFile>,
    images: Vec<Loaded>,
    /// Images whose bytes were at hand, by path; a path can have had several contents.
    at_hand: FxHashMap<Arc<str>, SmallVec<[usize; 1]>>,
    /// Images whose bytes were loaded, by path, or that they could not be had.
    loaded: FxHashMap<Arc<str>, Option<usize>>,
}

/// The images of a list of modules, each looked up once.
pub(super) struct Images(Vec<Option<Option<usize>>>);

/// One parsed file.
pub(super) struct Loaded {
    pub image: Image,
    cfi: Cfi,
    path: Arc<str>,
    names: Option<Names>,
}

/// What names addresses of one file.
struct Names {
    symbols: Symtab,
    lines: Lines,
}

impl Symbols {
    /// An empty store. `read` reads files with separate debugging information; it decides what may
    /// be read, and may decline everything.
    #[must_use]
    pub fn new(read: Box<ReadFile>) -> Self {
        Self::with(Box::new(move |path| read(path).map(Bytes::from)))
    }

    /// An empty store that finds debugging information in the host's files. They are mapped: what
    /// is not looked at costs nothing.
    #[must_use]
    pub fn of_host() -> Self {
        Self::with(Box::new(|path| Bytes::map(&std::fs::File::open(path).ok()?)))
    }

    fn with(read: Box<OpenFile>) -> Self {
        let cache = Cache {
            read,
            images: Vec::new(),
            at_hand: FxHashMap::default(),
            loaded: FxHashMap::default(),
        };
        Self { cache: Mutex::new(cache) }
    }

    /// The call stack of a stopped thread, with names.
    pub fn call_stack(&self, thread: &mut dyn Thread, modules: &[Module]) -> CallStack {
        let walk = self.walk(thread, modules, Limits::default());
        self.name(&walk, modules)
    }

    /// The addresses of a stopped thread's call stack.
    pub fn walk(&self, thread: &mut dyn Thread, modules: &[Module], limits: Limits) -> Walk {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        walk(&mut cache, thread, modules, limits)
    }

    /// Names the frames of a walk with the same modules.
    #[must_use]
    pub fn name(&self, walk: &Walk, modules: &[Module]) -> CallStack {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        let mut frames = Vec::new();
        let mut images = Images::new(modules);
        let mut gap = walk.gap;
        for (index, walked) in walk.frames.iter().enumerate() {
            // Inlined frames come on top of those that the gap counted from.
            if let (Some(gap), Some(found)) = (&mut gap, walk.gap)
                && found.before == index
            {
                gap.before = frames.len();
            }
            let module = walked.module.filter(|&module| module < modules.len());
            let module = module.map(|it| (&modules[it], images.get(&mut cache, modules, it)));
            cache.name(walked, module, &mut frames);
        }
        CallStack { frames, gap, end: walk.end }
    }

    /// The function and the module of one instruction.
    #[must_use]
    pub fn at(&self, address: u64, modules: &[Module]) -> Frame {
        let holds = |module: &Module| module.executable.iter().any(|it| it.contains(&address));
        let module = modules.iter().position(holds);
        let trust = Trust::Context;
        let frame = WalkedFrame { address, trust, module, exact: true, signal: false };
        let walk = Walk { frames: vec![frame], gap: None, end: End::Outermost };
        // Functions that were inlined there come first; the last one has the instruction.
        self.name(&walk, modules).frames.pop().expect("there is one for each address")
    }

    /// How many files the store has parsed and keeps.
    #[must_use]
    pub fn files(&self) -> usize {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner).images.len()
    }
}

impl Images {
    /// Nothing has been looked up.
    pub fn new(modules: &[Module]) -> Self {
        Self(vec![None; modules.len()])
    }

    /// The image of a module by its index, if its file can be parsed.
    pub fn get(&mut self, cache: &mut Cache, modules: &[Module], index: usize) -> Option<usize> {
        *self.0[index].get_or_insert_with(|| cache.load(&modules[index]))
    }
}

impl Cache {
    /// The parsed file of a module, if it can be parsed.
    fn load(&mut self, module: &Module) -> Option<usize> {
        match &module.source {
            ModuleSource::Bytes(_) | ModuleSource::File(_) => {
                let bytes = &module.bytes()?;
                let known = self.at_hand.get(&module.path).cloned().unwrap_or_default();
                // Whoever reads a file anew for each stack must not fill the store with copies.
                // Identities can be given by hand, so bytes decide.
                let same = |&&index: &&usize| self.images[index].image.bytes().same(bytes);
                if let Some(&index) = known.iter().find(same) {
                    return Some(index);
                }
                let image = Image::parse(bytes)?;
                let index = self.keep(image, module);
                self.at_hand.entry(Arc::clone(&module.path)).or_default().push(index);
                Some(index)
            }
            ModuleSource::Load(load) => {
                if let Some(&known) = self.loaded.get(&module.path) {
                    return known;
                }
                let image = load().and_then(|bytes| Image::parse(&bytes.into()));
                let index = image.map(|image| self.keep(image, module));
                self.loaded.insert(Arc::clone(&module.path), index);
                index
            }
        }
    }

    fn keep(&mut self, image: Image, module: &Module) -> usize {
        let cfi = Cfi::new(&image);
        self.images.push(Loaded { image, cfi, path: Arc::clone(&module.path), names: None });
        self.images.len() - 1
    }

    /// A parsed file by the index that `load` gave.
    pub fn get(&mut self, index: usize) -> &mut Loaded {
        &mut self.images[index]
    }

    /// Appends the frames of one address: the inlined functions, and the function.
    fn name(
        &mut self,
        walked: &WalkedFrame,
        module: Option<(&Module, Option<usize>)>,
        frames: &mut Vec<Frame>,
    ) {
        let mut frame = Frame {
            address: walked.address,
            trust: walked.trust,
            kind: if walked.signal { Kind::Signal } else { Kind::Call },
            module: None,
            symbol: None,
            location: None,
        };
        let Some((module, image)) = module else { return frames.push(frame) };
        let offset = walked.address.wrapping_sub(module.bias);
        let asked = if walked.exact { offset } else { offset.wrapping_sub(1) };
        let mut loaded = image.map(|image| &mut self.images[image]);
        let row = loaded.as_mut().and_then(|loaded| loaded.row(asked));
        frame.module = Some(InModule {
            name: module.name().into(),
            build_id: loaded.as_ref().and_then(|loaded| loaded.image.build_id().cloned()),
            offset,
            function: row.map(|row| row.start),
        });
        let Some(loaded) = loaded else { return frames.push(frame) };
        let names = loaded.names(&self.read);
        frame.symbol = names.symbols.find(asked).map(|(name, start)| InSymbol {
            name: demangle(&name),
            offset: offset.wrapping_sub(start),
        });
        let mut places = names.lines.find(asked);
        if let Some(function) = places.pop() {
            frame.location = function.location;
            let name = function.name.map(|name| InSymbol { name: demangle(&name), offset: 0 });
            frame.symbol = frame.symbol.or(name);
        }
        for inlined in places {
            let name = inlined.name.map(|name| InSymbol { name: demangle(&name), offset: 0 });
            frames.push(Frame {
                kind: Kind::Inlined,
                symbol: name,
                location: inlined.location,
                ..frame.clone()
            });
        }
        frames.push(frame);
    }
}

impl Loaded {
    /// The row of call frame information for an address of the file.
    pub fn row(&mut self, address: u64) -> Option<Arc<Row>> {
        self.cfi.row(&self.image, address)
    }

    /// Symbols and lines, from this file or from its separate debugging information.
    fn names(&mut self, read: &OpenFile) -> &mut Names {
        let (image, path) = (&self.image, &self.path);
        self.names.get_or_insert_with(|| {
            let mut lines = Lines::read(image);
            let stripped = !image.has(object::elf::SHT_SYMTAB);
            let mut symbols = Symtab::default();
            if (stripped || lines.is_empty())
                && let Some(separate) = debugfile::find(image, path, read)
            {
                if stripped {
                    symbols = Symtab::read(&separate);
                }
                if lines.is_empty() {
                    lines = Lines::read(&separate);
                }
            }
            if symbols.is_empty() {
                symbols = Symtab::read(image);
            }
            Names { symbols, lines }
        })
    }
}
