//! The walk from the innermost frame outward: addresses only, no names.
//!
//! Ways to a caller, in this order: the registers in a signal's frame, call frame information, the
//! word on top of the stack where a thread stopped in code without a table (a call through a null
//! pointer has just pushed it), the frame pointer, a search of the stack. The last three accept
//! only addresses in modules that follow a call.
//!
//! Always ends: a step moves the stack pointer up, except for a bounded number of switches between
//! stacks, and the number of frames is bounded. A walk over 100,000 frames of recursion keeps the
//! innermost and the outermost of them, and computes each instruction's rules once.

use std::collections::VecDeque;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::cfi::Row;
use super::frame::{End, Gap, Trust};
use super::memory::{Memory, follows_call, is_signal_return, saved_by_signal, word};
use super::module::Module;
use super::registers::{Register, Registers};
use super::step::{Step, step};
use super::symbols::{Cache, Images, Loaded};
use super::thread::Thread;

/// Words of the stack that are searched for one return address.
const SEARCHED: u64 = 1024;

/// How often a walk may go to a lower stack pointer: signals with a stack of their own, coroutines.
const SWITCHES: usize = 256;

/// Addresses whose places are kept; a program has fewer calls on its stack, a hostile stack more.
const PLACES_KEPT: usize = 1 << 16;

/// How much of a stack is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Innermost frames that are kept.
    pub innermost: usize,
    /// Outermost frames that are kept.
    pub outermost: usize,
    /// Frames that are followed at all.
    pub total: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { innermost: 48, outermost: 24, total: 4 << 20 }
    }
}

/// One frame of a walk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WalkedFrame {
    /// The next instruction.
    pub address: u64,
    /// How it was found.
    pub trust: Trust,
    /// The module that it is in, as an index into the list that was walked with.
    pub module: Option<usize>,
    /// Whether the address is that of an interrupted instruction, not one to return to.
    pub exact: bool,
    /// Whether this is the frame of a signal.
    pub signal: bool,
}

/// The addresses of a stack, innermost first.
pub struct Walk {
    /// The frames that were kept.
    pub frames: Vec<WalkedFrame>,
    /// Those that were not.
    pub gap: Option<Gap>,
    /// Why there are no more.
    pub end: End,
}

/// What is known about an address, once for all frames that have it.
#[derive(Clone)]
struct Place {
    module: Option<usize>,
    image: Option<usize>,
    row: Option<Arc<Row>>,
    signal: bool,
}

struct Walker<'a, 'm> {
    cache: &'a mut Cache,
    modules: &'a [Module],
    images: Images,
    executable: Vec<(u64, u64, usize)>,
    memory: &'a mut Memory<'m>,
    places: FxHashMap<(u64, bool), Place>,
}

/// Where to go on.
enum Caller {
    At { registers: Registers, trust: Trust, exact: bool },
    No(End),
}

/// Walks a stack.
pub(super) fn walk(
    cache: &mut Cache,
    thread: &mut dyn Thread,
    modules: &[Module],
    limits: Limits,
) -> Walk {
    let mut executable: Vec<_> = modules
        .iter()
        .enumerate()
        .flat_map(|(index, module)| {
            module.executable.iter().map(move |range| (range.start, range.end, index))
        })
        .collect();
    executable.sort_unstable();
    let (places, images) = (FxHashMap::default(), Images::new(modules));
    let mut registers = thread.registers();
    let memory = &mut Memory::of(thread);
    let mut walker = Walker { cache, modules, images, executable, memory, places };
    let mut kept = Kept::new(limits);
    let (mut trust, mut exact) = (Trust::Context, true);
    let mut switches = 0;
    let end = loop {
        let Some(address) = registers.get(Register::RIP) else { break End::Lost };
        let place = walker.place(address, exact);
        // The code that a handler returns to is not called by anyone either.
        let precise = exact || place.signal;
        let Place { module, signal, .. } = place;
        kept.push(WalkedFrame { address, trust, module, exact: precise, signal });
        if kept.count >= limits.total {
            break End::Limit;
        }
        match walker.caller(&registers, exact, &place) {
            Caller::No(end) => break end,
            Caller::At { registers: found, trust: how, exact: interrupted } => {
                let up = found.get(Register::RSP) > registers.get(Register::RSP);
                switches += usize::from(!up);
                if switches > SWITCHES {
                    break End::Limit;
                }
                // Code that starts a thread of execution leaves a null behind to return to. A null
                // that was interrupted is a call through a null pointer.
                if !interrupted && found.get(Register::RIP) == Some(0) {
                    break End::Outermost;
                }
                (registers, trust, exact) = (found, how, interrupted);
            }
        }
    };
    kept.finish(end)
}

impl Walker<'_, '_> {
    fn module_at(&self, address: u64) -> Option<usize> {
        let after = self.executable.partition_point(|&(start, ..)| start <= address);
        let &(_, end, module) = self.executable.get(after.checked_sub(1)?)?;
        (address < end).then_some(module)
    }

    fn place(&mut self, address: u64, exact: bool) -> Place {
        if let Some(place) = self.places.get(&(address, exact)) {
            return place.clone();
        }
        // A call may be the last instruction of a function: look where the call is, not behind it.
        let asked = if exact { address } else { address.wrapping_sub(1) };
        let module = self.module_at(asked);
        let signal = is_signal_return(self.memory, address);
        let image = module.and_then(|module| self.images.get(self.cache, self.modules, module));
        let row = image.zip(module).and_then(|(image, module)| {
            let in_file = asked.wrapping_sub(self.modules[module].bias);
            self.cache.get(image).row(in_file)
        });
        // A table can mark signal frames of other forms.
        let signal = signal || row.as_ref().is_some_and(|row| row.signal);
        let place = Place { module, image, row, signal };
        if self.places.len() >= PLACES_KEPT {
            self.places.clear();
        }
        self.places.insert((address, exact), place.clone());
        place
    }

    fn caller(&mut self, registers: &Registers, exact: bool, place: &Place) -> Caller {
        let stack_pointer = registers.get(Register::RSP);
        let address = registers.get(Register::RIP);
        if place.signal
            && let (Some(stack_pointer), Some(address)) = (stack_pointer, address)
            && is_signal_return(self.memory, address)
            && let Some(registers) = saved_by_signal(self.memory, stack_pointer)
        {
            return Caller::At { registers, trust: Trust::Context, exact: true };
        }
        if let (Some(row), Some(image)) = (&place.row, place.image) {
            let Loaded { image, .. } = self.cache.get(image);
            match step(image, row, registers, self.memory) {
                Step::Caller(registers) => {
                    return Caller::At { registers, trust: Trust::Cfi, exact: row.signal };
                }
                Step::Outermost => return Caller::No(End::Outermost),
                Step::Failed => {}
            }
        }
        let Some(stack_pointer) = stack_pointer else { return Caller::No(End::Lost) };
        // In code with a table the top of the stack is known not to be the way.
        let found = (exact && place.row.is_none())
            .then(|| self.pushed(registers, stack_pointer))
            .flatten()
            .or_else(|| self.by_frame_pointer(registers, stack_pointer))
            .or_else(|| self.by_search(registers, stack_pointer));
        match found {
            Some((registers, trust)) => Caller::At { registers, trust, exact: false },
            None => Caller::No(End::Lost),
        }
    }

    /// The return address on top of the stack.
    fn pushed(&mut self, registers: &Registers, stack_pointer: u64) -> Option<(Registers, Trust)> {
        let address = word(self.memory, stack_pointer)?;
        if !self.is_return_address(address) {
            return None;
        }
        // Nothing ran between the call and here but code without a table, if any.
        let mut caller = *registers;
        caller.set(Register::RIP, address);
        caller.set(Register::RSP, stack_pointer.wrapping_add(8));
        Some((caller, Trust::Scan))
    }

    /// The caller by the convention that rbp points to the caller's rbp and the return address.
    fn by_frame_pointer(
        &mut self,
        registers: &Registers,
        stack_pointer: u64,
    ) -> Option<(Registers, Trust)> {
        let frame = registers.get(Register::RBP)?;
        if frame < stack_pointer || !frame.is_multiple_of(8) {
            return None;
        }
        let caller_frame = word(self.memory, frame)?;
        let address = word(self.memory, frame.checked_add(8)?)?;
        if !self.is_return_address(address) {
            return None;
        }
        let mut caller = Registers::nothing();
        caller.set(Register::RIP, address);
        caller.set(Register::RSP, frame.checked_add(16)?);
        caller.set(Register::RBP, caller_frame);
        Some((caller, Trust::FramePointer))
    }

    /// The next word on the stack that looks like a return address.
    fn by_search(
        &mut self,
        registers: &Registers,
        stack_pointer: u64,
    ) -> Option<(Registers, Trust)> {
        let first = stack_pointer.checked_next_multiple_of(8)?;
        for index in 0..SEARCHED {
            let at = first.checked_add(index * 8)?;
            // The end of the stack.
            let address = word(self.memory, at)?;
            if self.is_return_address(address) {
                let mut caller = Registers::nothing();
                let above = at.checked_add(8)?;
                caller.set(Register::RIP, address);
                caller.set(Register::RSP, above);
                if let Some(frame) = registers.get(Register::RBP).filter(|&frame| frame >= above) {
                    caller.set(Register::RBP, frame);
                }
                return Some((caller, Trust::Scan));
            }
        }
        None
    }

    fn is_return_address(&mut self, address: u64) -> bool {
        let before = address.checked_sub(1);
        before.is_some_and(|before| self.module_at(before).is_some())
            && follows_call(self.memory, address)
    }
}

/// The frames that are kept: the first and the last.
struct Kept {
    limits: Limits,
    first: Vec<WalkedFrame>,
    addresses: FxHashSet<u64>,
    last: VecDeque<WalkedFrame>,
    count: u64,
    alike: bool,
}

impl Kept {
    fn new(limits: Limits) -> Self {
        Self {
            limits,
            first: Vec::new(),
            addresses: FxHashSet::default(),
            last: VecDeque::new(),
            count: 0,
            alike: true,
        }
    }

    fn push(&mut self, step: WalkedFrame) {
        self.count += 1;
        if self.first.len() < self.limits.innermost {
            self.addresses.insert(step.address);
            self.first.push(step);
            return;
        }
        self.last.push_back(step);
        if self.last.len() > self.limits.outermost
            && let Some(left_out) = self.last.pop_front()
        {
            self.alike &= self.addresses.contains(&left_out.address);
        }
    }

    fn finish(self, end: End) -> Walk {
        let before = self.first.len();
        let count = self.count - (before + self.last.len()) as u64;
        let gap = (count > 0).then_some(Gap { before, count, alike: self.alike });
        let mut frames = self.first;
        frames.extend(self.last);
        Walk { frames, gap, end }
    }
}
