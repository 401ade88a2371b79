//! Whose turn it is: which program runs in the process, and what is known about it by name.
//!
//! Addresses mean something within one program only. Processes that were forked run the same one;
//! one that begins another gets names of its own when its libraries are loaded.

use std::{ops::Range, sync::Arc};

use rustc_hash::{FxHashMap, FxHashSet};
use stunt_unwind::stack::Module;

use super::{
    Symbolic,
    hooks::{Channels, Hook},
};
use crate::{linux::ThreadId, memory::AddressSpace};

/// What is known about a program by name.
#[derive(Clone, Default)]
pub(super) struct Image {
    /// Which program: the same allocation for all processes that run it.
    program: Option<Arc<[u8]>>,
    pub(super) hooks: Arc<FxHashMap<u64, Hook>>,
    /// Where control stops: at the hooks, and before that where the program begins.
    pub(super) watched: Arc<FxHashSet<u64>>,
    /// Code that throws what was thrown before.
    pub(super) rethrows: Arc<[Range<u64>]>,
    /// The variables that point to the streams for output, and where they point at first.
    streams: Arc<[(u64, u64)]>,
    /// The streams of the C++ library.
    channels: Arc<Channels>,
    /// Its files with code, as they were when its libraries were loaded, and those that came later.
    modules: Arc<[Module]>,
    /// Whether functions without names were looked at.
    shapes_known: bool,
}

impl Symbolic {
    /// A thread goes on whose process runs this program, which begins at `entry`.
    pub(super) fn go_over_to(
        &mut self,
        thread: ThreadId,
        program: &Arc<[u8]>,
        entry: impl FnOnce() -> Option<u64>,
    ) {
        if self.thread != Some(thread) {
            // What one thread asks is no part of another one's condition.
            self.pending = None;
            self.thread = Some(thread);
        }
        let runs =
            |image: &Image| image.program.as_ref().is_some_and(|it| Arc::ptr_eq(it, program));
        if runs(&self.image) {
            return;
        }
        let next = match self.images.iter().position(runs) {
            Some(at) => self.images.swap_remove(at),
            None => Image {
                program: Some(Arc::clone(program)),
                watched: Arc::new(entry().into_iter().collect()),
                ..Image::default()
            },
        };
        let last = std::mem::replace(&mut self.image, next);
        if last.program.is_some() {
            self.images.push(last);
        }
    }

    /// Whether the program that runs is the first one.
    pub(crate) fn is_first_program(&self) -> bool {
        self.images.is_empty()
    }

    /// Whether the functions of the program that runs are known already.
    pub(crate) fn has_hooks(&self) -> bool {
        !self.image.hooks.is_empty()
    }

    /// Whether it is time to look at functions without names: the program has read something, it brings no
    /// comparison along that has a name, and it was not done before.
    pub(crate) fn wants_shapes(&mut self, space: &AddressSpace) -> bool {
        if self.image.shapes_known || !self.relax.comparisons || !space.has_marks() {
            return false;
        }
        self.image.shapes_known = true;
        !self.image.hooks.values().any(|hook| matches!(hook, Hook::Compare(_)))
    }

    /// The functions that are known by name, the code that throws what was thrown before, and the
    /// variables with the streams for output.
    pub(crate) fn set_hooks(
        &mut self,
        hooks: Vec<(u64, Hook)>,
        rethrows: Vec<Range<u64>>,
        streams: Vec<(u64, u64)>,
        channels: Channels,
        modules: Vec<Module>,
    ) {
        // The checked heap is that of the first program.
        let first = self.is_first_program();
        let known = hooks.into_iter().filter(|(_, hook)| first || !matches!(hook, Hook::Heap(_)));
        self.image.hooks = Arc::new(known.collect());
        self.image.watched = Arc::new(self.image.hooks.keys().copied().collect());
        self.image.rethrows = rethrows.into();
        self.image.streams = streams.into();
        self.image.channels = Arc::new(channels);
        self.image.modules = modules.into();
    }

    /// Functions of a library that was loaded later.
    pub(crate) fn add_hooks(
        &mut self,
        hooks: Vec<(u64, Hook)>,
        rethrows: &[Range<u64>],
        modules: &[Module],
    ) {
        self.image.modules = [&self.image.modules[..], modules].concat().into();
        let all = Arc::make_mut(&mut self.image.hooks);
        let before = all.len();
        all.extend(hooks);
        if all.len() > before {
            self.image.watched = Arc::new(self.image.hooks.keys().copied().collect());
        }
        if !rethrows.is_empty() {
            self.image.rethrows = [&self.image.rethrows[..], rethrows].concat().into();
        }
    }

    /// The files with code of all programs that were followed, that of the last turn first: what names
    /// the addresses of tests.
    #[must_use]
    pub fn modules(&self) -> Vec<Module> {
        let all = std::iter::once(&self.image).chain(&self.images);
        all.flat_map(|image| image.modules.iter().cloned()).collect()
    }

    /// Whether a stream is standard output or standard error, as the program found them.
    pub(super) fn is_standard(&self, stream: u64) -> bool {
        self.image.streams.iter().any(|&(_, first)| first == stream)
    }

    /// Whether a stream of the C++ library writes to standard output or standard error, as the program
    /// found them.
    pub(super) fn is_standard_channel(&self, space: &mut AddressSpace, channel: u64) -> bool {
        let stream = self.image.channels.behind(space, channel);
        stream.is_some_and(|stream| self.is_standard(stream))
    }

    /// Whether the variables for standard output and error are as the program found them.
    pub(super) fn has_standard(&self, space: &mut AddressSpace) -> bool {
        let streams = &self.image.streams;
        !streams.is_empty()
            && streams.iter().all(|&(variable, first)| {
                let mut bytes = [0; 8];
                space.read(variable, &mut bytes).is_ok() && u64::from_le_bytes(bytes) == first
            })
    }
}
