//! The block cache of one version of the code: blocks by address, linked to their successors.
//!
//! A block is made when control first comes to its address. Links between blocks and a small table
//! for indirect jumps spare most lookups. When code changes, the blocks of the changed pages and
//! all links are dropped.

use std::sync::Arc;

use iced_x86::{Decoder, DecoderOptions};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Block, Effects, End, Op, Trap, lift, polish};
use crate::{
    cpu::Cpu,
    jit::{Compiled, Jit, Left},
    memory::{AddressSpace, PAGE},
};

/// Longest block, in instructions.
pub(crate) const LONGEST: usize = 64;
/// Most ops in a block: an instruction adds a few more after this.
const MOST_OPS: usize = 400;
const INDIRECT: usize = 4096;
/// How many blocks a small dynamic program has, with its loader and the C library.
const USUAL: usize = 4096;
/// How many bytes are fetched at a time.
const WINDOW: usize = 128;
/// The longest instruction, in bytes.
const LONGEST_INSTRUCTION: usize = 15;

/// No block.
pub(crate) const NONE: u32 = u32::MAX;

/// What processor the decoder decodes for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// x86-64 with SSE2 and nothing above: the bytes of `tzcnt` and `lzcnt` mean `bsf` and `bsr`.
    #[default]
    Baseline,
    /// With everything that the machine has.
    Full,
}

/// A block with its links.
pub(crate) struct Entry {
    pub(crate) block: Block,
    /// The blocks that follow: by taking the branch, and by falling through.
    pub(crate) links: [u32; 2],
    /// How often it was interpreted.
    warmth: u32,
    compiled: Option<Compiled>,
}

/// Decoded code.
pub struct Code {
    /// The version of the address space that this was decoded from.
    version: u64,
    model: Model,
    entries: Vec<Entry>,
    by_address: FxHashMap<u64, u32>,
    indirect: Box<[(u64, u32); INDIRECT]>,
    jit: Option<Jit>,
    /// After how many runs a block is compiled.
    hot: u32,
    /// Addresses at which control stops.
    watched: Arc<FxHashSet<u64>>,
    /// Where a block is put together.
    draft: Draft,
    /// The blocks that begin at watched addresses.
    behind: FxHashMap<u64, u32>,
    /// Blocks of one instruction, for whoever goes step by step.
    singles: FxHashMap<u64, u32>,
    /// Whether code at an address can lead to another within some steps, as whoever looked ahead
    /// has found.
    foreseen: FxHashMap<(u64, u64, u32), bool>,
    /// Blocks stay as they are when they become hot: what is followed must not depend on that.
    keeps_flags: bool,
}

/// Whether blocks are compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compile {
    /// Never: everything is interpreted.
    Never,
    /// When a block turns out to be hot.
    #[default]
    WhenHot,
    /// Before it runs for the first time.
    AtOnce,
}

/// Interpreting a block so often costs about as much as compiling it.
const HOT: u32 = 16;

impl Code {
    /// An empty cache.
    #[must_use]
    pub fn new(model: Model, compile: Compile) -> Self {
        let (jit, hot) = match compile {
            Compile::Never => (None, u32::MAX),
            Compile::WhenHot => (Jit::new(), HOT),
            Compile::AtOnce => (Jit::new(), 0),
        };
        Self {
            jit,
            hot,
            version: u64::MAX,
            model,
            entries: Vec::with_capacity(USUAL),
            by_address: FxHashMap::default(),
            indirect: nowhere(),
            watched: Arc::default(),
            draft: Draft::default(),
            behind: FxHashMap::default(),
            singles: FxHashMap::default(),
            foreseen: FxHashMap::default(),
            keeps_flags: false,
        }
    }

    /// Leaves blocks as they are when they become hot, or does not.
    pub(crate) fn keep_flags(&mut self, keeps: bool) {
        self.keeps_flags = keeps;
    }

    /// Stops at these addresses from now on, and at no others.
    pub(crate) fn watch(&mut self, addresses: &Arc<FxHashSet<u64>>) {
        if !Arc::ptr_eq(&self.watched, addresses) {
            self.watched = Arc::clone(addresses);
            self.clear();
        }
    }

    /// The block that begins at a watched address.
    pub(crate) fn find_behind(&mut self, address: u64, space: &mut AddressSpace) -> u32 {
        if let Some(&id) = self.behind.get(&address) {
            return id;
        }
        let id = self.entries.len() as u32;
        let block = decode(address, space, self.model, LONGEST, &self.watched, &mut self.draft);
        self.entries.push(Entry { block, links: [NONE; 2], warmth: 0, compiled: None });
        self.behind.insert(address, id);
        id
    }

    /// The block of the one instruction at an address, watched or not.
    pub(crate) fn find_single(&mut self, address: u64, space: &mut AddressSpace) -> u32 {
        if let Some(&id) = self.singles.get(&address) {
            return id;
        }
        let id = self.entries.len() as u32;
        let block = decode(address, space, self.model, 1, &self.watched, &mut self.draft);
        // What could not be fetched may be there another time.
        let kept = block.end != End::Trap(Trap::Fetch);
        self.entries.push(Entry { block, links: [NONE; 2], warmth: 0, compiled: None });
        if kept {
            self.singles.insert(address, id);
        }
        id
    }

    /// What whoever looked ahead has found: where to, from where, and in how many steps.
    pub(crate) fn foreseen(&self, ahead: (u64, u64, u32)) -> Option<bool> {
        self.foreseen.get(&ahead).copied()
    }

    /// Notes what was found by looking ahead. It holds as long as the code does not change.
    pub(crate) fn foresee(&mut self, ahead: (u64, u64, u32), leads: bool) {
        self.foreseen.insert(ahead, leads);
    }

    /// Whether this was decoded from the address space, but for what it reports as written.
    pub(crate) fn fits(&self, space: &AddressSpace) -> bool {
        self.version == space.known_code()
    }

    /// Makes the cache fit the address space.
    #[inline(always)]
    pub(crate) fn synchronise(&mut self, space: &mut AddressSpace) {
        let fits = self.version == space.code_version() && self.fits(space);
        if !fits || space.code_written() {
            self.synchronise_slowly(space);
        }
    }

    #[cold]
    #[inline(never)]
    fn synchronise_slowly(&mut self, space: &mut AddressSpace) {
        if !self.fits(space) {
            self.clear();
            space.take_code_writes();
        } else if space.code_written() {
            for number in space.take_code_writes() {
                self.drop_page(number);
            }
        }
        self.version = space.code_version();
        space.code_is_known();
    }

    fn clear(&mut self) {
        if self.entries.is_empty() {
            return;
        }
        self.entries.clear();
        self.by_address.clear();
        self.behind.clear();
        self.singles.clear();
        self.foreseen.clear();
        if let Some(jit) = &mut self.jit {
            jit.clear();
        }
        self.indirect = nowhere();
    }

    /// Forgets the blocks that touch a page.
    fn drop_page(&mut self, number: u64) {
        let entries = &self.entries;
        self.behind.clear();
        self.singles.clear();
        self.foreseen.clear();
        self.by_address.retain(|_, id| {
            let block = &entries[*id as usize].block;
            let touches = block.start / PAGE <= number && (block.next - 1) / PAGE >= number;
            // A quiet block relies on those who follow, which may reach into the next page.
            let relies = block.quiet
                && [0, 1].iter().any(|&side| {
                    let page = block.target(side) / PAGE;
                    page == number || page + 1 == number
                });
            !touches && !relies
        });
        for entry in &mut self.entries {
            entry.links = [NONE; 2];
        }
        if let Some(jit) = &mut self.jit {
            let all = self.entries.iter().zip(0..);
            jit.unlink(all.filter_map(|(entry, id)| Some((id, entry.compiled?))));
        }
        self.indirect = nowhere();
    }

    /// The number of blocks decoded and kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_address.len()
    }

    /// Whether nothing was decoded yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_address.is_empty()
    }

    pub(crate) fn entry(&self, id: u32) -> &Entry {
        &self.entries[id as usize]
    }

    pub(crate) fn link(&mut self, from: u32, side: usize, to: u32) {
        self.entries[from as usize].links[side] = to;
        let compiled = [from, to].map(|id| self.entries[id as usize].compiled);
        if let (Some(jit), [Some(_), Some(to)]) = (&mut self.jit, compiled) {
            jit.link(from, side, to);
        }
    }

    /// Lets compiled code find the block at `address`.
    pub(crate) fn remember(&mut self, address: u64, id: u32) {
        if let (Some(jit), Some(compiled)) = (&mut self.jit, self.entries[id as usize].compiled) {
            jit.remember(address, compiled);
        }
    }

    /// A block's code.
    #[inline]
    pub(crate) fn compiled(&mut self, id: u32, space: &mut AddressSpace) -> Option<Compiled> {
        let entry = &self.entries[id as usize];
        if entry.compiled.is_some() || entry.warmth < self.hot {
            return entry.compiled;
        }
        self.compile(id, space)
    }

    #[cold]
    fn compile(&mut self, id: u32, space: &mut AddressSpace) -> Option<Compiled> {
        let block = &self.entries[id as usize].block;
        let sides: &[usize] = match block.end {
            End::Next => &[1],
            End::Jump(_) => &[0],
            End::Branch { .. } | End::CompareBranch { .. } | End::TestBranch { .. } => &[0, 1],
            _ => &[],
        };
        let targets: Vec<u64> = sides.iter().map(|&side| block.target(side)).collect();
        let unread = !targets.is_empty()
            && targets.into_iter().all(|target| {
                let next = self.find(target, space);
                self.entries[next as usize].block.flags_unread
            });
        let entry = &mut self.entries[id as usize];
        if unread && !self.keeps_flags {
            polish::hush(&mut entry.block);
        }
        // Whatever comes of it, it is not tried again.
        entry.warmth = 0;
        // A fetch that failed is looked at anew each time.
        if !matches!(entry.block.end, End::Trap(Trap::Fetch | Trap::Watched)) {
            entry.compiled = self.jit.as_mut()?.compile(id, &entry.block);
        }
        entry.compiled
    }

    /// A block is interpreted once more.
    #[inline]
    pub(crate) fn warm(&mut self, id: u32) {
        self.entries[id as usize].warmth += 1;
    }

    /// Runs compiled code.
    pub(crate) fn enter(
        &self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        at: Compiled,
        budget: i64,
    ) -> (Left, i64) {
        let jit = self.jit.as_ref().expect("there is compiled code");
        jit.enter(cpu, space, at, budget)
    }

    /// The block at `address`, decoded if it is new.
    #[inline]
    pub(crate) fn find(&mut self, address: u64, space: &mut AddressSpace) -> u32 {
        let slot = &self.indirect[place(address)];
        if slot.0 == address { slot.1 } else { self.find_slowly(address, space) }
    }

    #[cold]
    #[inline(never)]
    fn find_slowly(&mut self, address: u64, space: &mut AddressSpace) -> u32 {
        let id = match self.by_address.get(&address) {
            Some(&id) => id,
            None => {
                let block = if self.watched.contains(&address) {
                    Block::watched(address)
                } else {
                    decode(address, space, self.model, LONGEST, &self.watched, &mut self.draft)
                };
                let id = self.entries.len() as u32;
                // What could not be fetched may be there another time.
                if block.end == End::Trap(Trap::Fetch) && block.ops.is_empty() {
                    self.entries.push(Entry { block, links: [NONE; 2], warmth: 0, compiled: None });
                    return id;
                }
                self.entries.push(Entry { block, links: [NONE; 2], warmth: 0, compiled: None });
                self.by_address.insert(address, id);
                id
            }
        };
        self.indirect[place(address)] = (address, id);
        id
    }
}

/// Where the table for indirect jumps keeps an address.
#[inline(always)]
fn place(address: u64) -> usize {
    (address ^ (address >> 12)) as usize % INDIRECT
}

/// A table for indirect jumps that knows no address: each line names one that belongs elsewhere.
fn nowhere() -> Box<[(u64, u32); INDIRECT]> {
    let mut table = Box::new([(0, NONE); INDIRECT]);
    table[place(0)].0 = 1;
    table
}

/// The ops and marks of a block that is put together, in memory that serves for all.
#[derive(Default)]
struct Draft {
    ops: Vec<Op>,
    marks: Vec<(u16, u16)>,
}

/// Decodes the block at `start`, of so many instructions at most.
fn decode(
    start: u64,
    space: &mut AddressSpace,
    model: Model,
    longest: usize,
    watched: &FxHashSet<u64>,
    draft: &mut Draft,
) -> Block {
    let mut bytes = [0; WINDOW];
    let options = match model {
        Model::Baseline => DecoderOptions::NO_MPFX_0FBC | DecoderOptions::NO_MPFX_0FBD,
        Model::Full => DecoderOptions::NONE,
    };
    let Draft { ops, marks } = draft;
    ops.clear();
    marks.clear();
    let mut at = start;
    let mut end = 'block: loop {
        let have = space.fetch(at, &mut bytes).unwrap_or(0);
        let mut decoder = Decoder::with_ip(64, &bytes[..have], at, options);
        // All but the last instructions of a full window have all their bytes in it.
        while have < WINDOW || decoder.position() <= WINDOW - LONGEST_INSTRUCTION {
            let rest = have - decoder.position();
            let instruction = decoder.decode();
            let complete = !instruction.is_invalid();
            if !complete
                && rest < LONGEST_INSTRUCTION
                && decoder.last_error() == iced_x86::DecoderError::NoMoreBytes
            {
                // The instruction runs into something that cannot be fetched.
                if marks.is_empty() {
                    marks.push((0, 0));
                    break 'block End::Trap(Trap::Fetch);
                }
                break 'block End::Next;
            }
            marks.push((ops.len() as u16, (at - start) as u16));
            let leaving = lift::lift(&instruction, ops);
            at = if complete { instruction.next_ip() } else { at + 1 };
            if let Some(end) = leaving {
                break 'block end;
            }
            if !complete {
                continue 'block;
            }
            if marks.len() >= longest || ops.len() >= MOST_OPS || watched.contains(&at) {
                break 'block End::Next;
            }
        }
    };
    for page in start / PAGE..=at.saturating_sub(1).max(start) / PAGE {
        space.watch_code(page * PAGE);
    }
    // What is decoded is looked at: a program may have made its code out of its input.
    space.look(start, at.saturating_sub(start));
    polish::polish(ops, &mut end, marks);
    let flags_unread = polish::flags_unread(ops, &end);
    let effects = Effects::of_block(ops, &end);
    let (ops, marks) = (ops[..].into(), marks[..].into());
    Block { start, next: at, ops, end, marks, flags_unread, quiet: false, effects }
}
