//! Checked memory: the first invalid access is found where it happens.
//!
//! The allocator is replaced by one that leaves red zones around blocks and never uses a freed
//! block again; the canaries of functions with a stack protector are watched. Bytes that must not be
//! touched are marked. An access to one ends the run, and what the program would have done
//! afterwards asks nothing of the input (Castro et al., section 4).
//!
//! Loads inside the C library are not checked: its string functions read in whole words, beyond the
//! end of strings. Stores are checked everywhere, also those of the kernel: a `read` into a block
//! that is too small ends the run, too.

use std::{ops::Range, sync::Arc};

use imbl::{OrdMap, Vector};
use stunt_path::{Pin, TestKind};
use stunt_terms::Term;

use crate::{
    code::slots,
    cpu::{Cpu, Exception},
    memory::{Access, AddressSpace, Backing, Fault, Guard, HEAP, Mark, Protection, Reason, Region},
};

use super::{Symbolic, access::Address, hooks::return_address};

/// Bytes before and behind each block that must not be touched.
const ZONE: u64 = 32;
/// Blocks begin at multiples of this.
const ALIGNMENT: u64 = 16;
/// The heap grows by so many bytes. What is behind it is not mapped, and must not be touched either.
const GROWTH: u64 = 1 << 16;
/// How far an area that must not be touched is looked at, in both directions.
const FAR: u64 = 1 << 20;
/// Where the value of the canary is, from the base of `fs`.
const CANARY: u64 = 0x28;

/// How a call deals with the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeapCall {
    /// `malloc(size)`.
    Malloc,
    /// `calloc(count, size)`.
    Calloc,
    /// `realloc(block, size)`.
    Realloc,
    /// `reallocarray(block, count, size)`.
    ReallocArray,
    /// `aligned_alloc(alignment, size)` and `memalign`.
    Aligned,
    /// `posix_memalign(to, alignment, size)`.
    PosixAligned,
    /// `free(block)`.
    Free,
    /// `malloc_usable_size(block)`.
    UsableSize,
}

impl HeapCall {
    /// The arguments that are sizes.
    pub(crate) fn sizes(self) -> &'static [u8] {
        match self {
            HeapCall::Malloc => &[slots::RDI],
            HeapCall::Calloc => &[slots::RDI, slots::RSI],
            HeapCall::Realloc | HeapCall::Aligned => &[slots::RSI],
            HeapCall::ReallocArray => &[slots::RSI, slots::RDX],
            HeapCall::PosixAligned => &[slots::RDX],
            HeapCall::Free | HeapCall::UsableSize => &[],
        }
    }
}

/// The checked heap of a run; clones share.
#[derive(Clone)]
pub(super) struct Guards {
    next: u64,
    /// The blocks that are in use, and their sizes.
    blocks: OrdMap<u64, u64>,
    canaries: Vector<u64>,
    /// The code of the C library and the dynamic linker.
    libraries: Arc<[Range<u64>]>,
    /// How far the heap is mapped.
    mapped: u64,
}

impl Default for Guards {
    fn default() -> Self {
        Self {
            next: HEAP.start,
            blocks: OrdMap::new(),
            canaries: Vector::new(),
            libraries: Arc::default(),
            mapped: HEAP.start,
        }
    }
}

impl Symbolic {
    /// Checks memory from the beginning of the program on.
    pub fn check_memory(&mut self) {
        self.guards = Some(Guards::default());
    }

    /// The program is about to begin; this is the code of the libraries that read beyond ends.
    pub(crate) fn begin_checks(
        &mut self,
        cpu: &Cpu,
        space: &mut AddressSpace,
        libraries: Vec<Range<u64>>,
    ) {
        let Some(guards) = &mut self.guards else { return };
        guards.libraries = libraries.into();
        space.set_guarded();
        let source = cpu.get(slots::FS).wrapping_add(CANARY);
        space.mark(source, &[Some(Guard::Source.mark()); 8]);
    }

    /// Whether an access is allowed. If not, and the address depends on the input, it is enough for
    /// the same failure that it stays among bytes that must not be touched.
    pub(super) fn allowed(
        &mut self,
        space: &mut AddressSpace,
        address: Address,
        length: u64,
        access: Access,
    ) -> Result<(), Exception> {
        let checked = self.guarded(space, address.at, length, access);
        if let (Err(Exception::Memory(fault)), Some(term)) = (&checked, address.term) {
            self.stays_forbidden(space, term, length, *fault);
        }
        checked
    }

    /// An access failed because of a guard, at an address that depends on the input.
    pub(super) fn stays_forbidden(
        &mut self,
        space: &AddressSpace,
        term: Term,
        length: u64,
        fault: Fault,
    ) {
        let (first, last) = self.forbidden_around(space, fault);
        // The access may begin before these bytes, where the others can be touched.
        let before = first.saturating_sub(length.saturating_sub(1));
        let first = if space.mapped(before, first) { before } else { first };
        let condition = self.within(term, first, last);
        self.test(condition, TestKind::Fault);
    }

    /// The bytes around a fault whose access would have been refused, too: the first and the last.
    fn forbidden_around(&self, space: &AddressSpace, fault: Fault) -> (u64, u64) {
        let Fault { address: at, access, .. } = fault;
        let Some(guards) = &self.guards else { return (at, at) };
        let library = guards.has_code(self.at);
        let refused = |at| {
            let guard = space.mark_of(at).and_then(Guard::of);
            guard.is_some_and(|guard| guard.refuses(access, || library))
        };
        let gap = guards.mapped..HEAP.end;
        let (mut first, mut last) = (at, at);
        if gap.contains(&at) {
            (first, last) = (gap.start, gap.end - 1);
        } else {
            let most = at.saturating_add(FAR);
            while last < most && refused(last + 1) {
                last += 1;
            }
            if gap.contains(&(last + 1)) {
                last = gap.end - 1;
            }
        }
        let least = first.saturating_sub(FAR);
        while first > least && refused(first - 1) {
            first -= 1;
        }
        (first, last)
    }

    /// Whether an access is allowed; a load of a canary means that its function is over.
    pub(super) fn guarded(
        &mut self,
        space: &mut AddressSpace,
        at: u64,
        length: u64,
        access: Access,
    ) -> Result<(), Exception> {
        let Some(guards) = &mut self.guards else { return Ok(()) };
        if !space.marked(at, length) {
            return Ok(());
        }
        for byte in (0..length).map(|k| at.wrapping_add(k)) {
            let Some(guard) = space.mark_of(byte).and_then(Guard::of) else { continue };
            if guard == Guard::Canary && access != Access::Write {
                guards.canaries.retain(|&canary| !(canary..canary + 8).contains(&byte));
                space.mark(byte, &[None]);
            }
            if guard.refuses(access, || guards.has_code(self.at)) {
                return Err(Exception::Memory(Fault {
                    address: byte,
                    access,
                    reason: Reason::Guarded,
                }));
            }
        }
        Ok(())
    }

    /// A function of the program has stored a canary, if it is one.
    pub(super) fn stored(&mut self, cpu: &Cpu, space: &mut AddressSpace, at: u64, value: u64) {
        if self.guards.is_none() {
            return;
        }
        let mut canary = [0; 8];
        let source = cpu.get(slots::FS).wrapping_add(CANARY);
        let known = space.read(source, &mut canary).is_ok();
        let on_stack = at.wrapping_sub(cpu.get(slots::RSP)) < 1 << 20;
        if known && on_stack && value != 0 && value == u64::from_le_bytes(canary) {
            space.mark(at, &[Some(Guard::Canary.mark()); 8]);
            if let Some(guards) = &mut self.guards {
                guards.canaries.push_back(at);
            }
        }
    }

    /// Frames were left without their functions' ends.
    pub(super) fn forget_canaries(&mut self, space: &mut AddressSpace) {
        let Some(guards) = &mut self.guards else { return };
        for at in std::mem::take(&mut guards.canaries) {
            space.mark(at, &[None; 8]);
        }
    }

    /// Does a call of the allocator; gives whether it was one for the checked heap.
    pub(super) fn heap_call(
        &mut self,
        cpu: &mut Cpu,
        space: &mut AddressSpace,
        call: HeapCall,
    ) -> bool {
        for &slot in call.sizes() {
            self.pin_slot(cpu, slot, Pin::Count);
        }
        let Some(mut guards) = self.guards.take() else { return false };
        let done = guards.call(cpu, space, call);
        self.guards = Some(guards);
        let (Some(result), Some(to)) = (done, return_address(cpu, space)) else { return false };
        self.return_with(cpu, to, result, None);
        true
    }
}

impl Guards {
    fn call(&mut self, cpu: &Cpu, space: &mut AddressSpace, call: HeapCall) -> Option<u64> {
        let [a, b, c] = [slots::RDI, slots::RSI, slots::RDX].map(|slot| cpu.get(slot));
        match call {
            HeapCall::Malloc => Some(self.allocate(space, a, ALIGNMENT)),
            HeapCall::Calloc => {
                Some(a.checked_mul(b).map_or(0, |size| self.allocate(space, size, ALIGNMENT)))
            }
            HeapCall::Realloc => self.reallocate(space, a, b),
            HeapCall::ReallocArray => match b.checked_mul(c) {
                Some(size) => self.reallocate(space, a, size),
                None => Some(0),
            },
            HeapCall::Aligned => Some(self.allocate(space, b, a.max(ALIGNMENT))),
            HeapCall::PosixAligned => {
                let block = self.allocate(space, c, b.max(ALIGNMENT));
                space.write(a, &block.to_le_bytes()).ok()?;
                Some(0)
            }
            HeapCall::Free => {
                if a == 0 {
                    return Some(0);
                }
                self.free(space, a).then_some(0)
            }
            HeapCall::UsableSize => self.blocks.get(&a).copied(),
        }
    }

    /// Whether an instruction is one of the libraries that read beyond ends.
    fn has_code(&self, at: u64) -> bool {
        self.libraries.iter().any(|code| code.contains(&at))
    }

    fn allocate(&mut self, space: &mut AddressSpace, size: u64, alignment: u64) -> u64 {
        if !alignment.is_power_of_two() || size > (HEAP.end - HEAP.start) / 4 {
            return 0;
        }
        let block = (self.next + ZONE).next_multiple_of(alignment);
        let end = block + size;
        let after = end.next_multiple_of(ALIGNMENT) + ZONE;
        if after > HEAP.end {
            return 0;
        }
        let had = self.mapped;
        self.grow(space, after);
        forbid(space, self.next..block);
        if block < had {
            space.mark(block, &vec![None; (end.min(had) - block) as usize]);
        }
        // The rest up to the end of the heap was forbidden before, or was not there.
        forbid(space, end..if after > had { self.mapped } else { after });
        self.next = after;
        self.blocks.insert(block, size);
        block
    }

    /// Maps the heap at least up to `end`.
    fn grow(&mut self, space: &mut AddressSpace, end: u64) {
        if end <= self.mapped {
            return;
        }
        let to = end.next_multiple_of(GROWTH).min(HEAP.end);
        if self.mapped == HEAP.start {
            space.map(Region {
                start: HEAP.start,
                end: to,
                protection: Protection::READ | Protection::WRITE,
                shared: false,
                backing: Backing::Anonymous,
                name: Arc::from("[checked heap]"),
            });
        } else {
            space.extend(HEAP.start, to);
        }
        self.mapped = to;
    }

    fn free(&mut self, space: &mut AddressSpace, block: u64) -> bool {
        let Some(size) = self.blocks.remove(&block) else { return false };
        forbid(space, block..block + size);
        true
    }

    fn reallocate(&mut self, space: &mut AddressSpace, old: u64, size: u64) -> Option<u64> {
        if old == 0 {
            return Some(self.allocate(space, size, ALIGNMENT));
        }
        let had = *self.blocks.get(&old)?;
        if size == 0 {
            self.free(space, old);
            return Some(0);
        }
        let block = self.allocate(space, size, ALIGNMENT);
        if block == 0 {
            return Some(0);
        }
        let count = had.min(size);
        let mut bytes = vec![0; count as usize];
        space.read(old, &mut bytes).ok()?;
        let marks: Vec<Option<Mark>> = (0..count).map(|k| space.mark_of(old + k)).collect();
        space.write(block, &bytes).ok()?;
        space.mark(block, &marks);
        self.free(space, old);
        Some(block)
    }
}

/// Marks bytes that must not be touched.
fn forbid(space: &mut AddressSpace, bytes: Range<u64>) {
    let forbidden = Some(Guard::Forbidden.mark());
    space.mark(bytes.start, &vec![forbidden; (bytes.end - bytes.start) as usize]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn space() -> AddressSpace {
        AddressSpace::new(1 << 30)
    }

    #[test]
    fn blocks_have_red_zones_and_are_not_used_again() {
        let (mut space, mut guards) = (space(), Guards::default());
        let a = guards.allocate(&mut space, 10, ALIGNMENT);
        let b = guards.allocate(&mut space, 10, 64);
        assert!(a % 16 == 0 && b % 64 == 0 && b >= a + 10 + ZONE);
        assert!(!space.marked(a, 10) && space.marked(a + 10, 1) && space.marked(a - 1, 1));
        assert!(guards.free(&mut space, a) && !guards.free(&mut space, a));
        assert!(space.marked(a, 1));
        assert_ne!(guards.allocate(&mut space, 10, ALIGNMENT), a);
        assert_eq!(guards.allocate(&mut space, u64::MAX, ALIGNMENT), 0);
    }

    #[test]
    fn a_block_keeps_its_bytes_when_it_grows() {
        let (mut space, mut guards) = (space(), Guards::default());
        let a = guards.allocate(&mut space, 4, ALIGNMENT);
        space.write(a, b"abcd").unwrap();
        let b = guards.reallocate(&mut space, a, 100).unwrap();
        let mut bytes = [0; 4];
        space.read(b, &mut bytes).unwrap();
        assert_eq!(&bytes, b"abcd");
        assert!(space.marked(a, 1) && !space.marked(b, 100));
        assert_eq!(guards.reallocate(&mut space, a, 8), None);
    }
}
