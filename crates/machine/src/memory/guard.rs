//! Bytes that must not be touched, where memory is checked: a mark beside each of them says why.
//!
//! Who lays out the checked heap, and when, is not known here.

use std::{num::NonZeroU64, ops::Range};

use super::{Access, AddressSpace, Mark};

/// Where the checked heap is, and how large it may grow.
pub(crate) const HEAP: Range<u64> = 0x6000_0000_0000..0x6010_0000_0000;

/// Why a byte must not be touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guard {
    /// It belongs to no block, or to one that was freed.
    Forbidden,
    /// It is a canary: it may be loaded, and stored to when its function is over.
    Canary,
    /// It is where functions take canaries from.
    Source,
}

impl Guard {
    /// The guard as a mark.
    pub(crate) fn mark(self) -> Mark {
        let kind = match self {
            Guard::Forbidden => 1,
            Guard::Canary => 2,
            Guard::Source => 3,
        };
        Mark(NonZeroU64::new(Mark::GUARD | kind).expect("it has a bit"))
    }

    /// The guard that a mark is, if it is one.
    pub(crate) fn of(mark: Mark) -> Option<Self> {
        if !mark.is_guard() {
            return None;
        }
        match mark.0.get() & 3 {
            1 => Some(Guard::Forbidden),
            2 => Some(Guard::Canary),
            _ => Some(Guard::Source),
        }
    }

    /// Whether an access is refused; the libraries read beyond ends.
    pub(crate) fn refuses(self, access: Access, in_library: impl FnOnce() -> bool) -> bool {
        match self {
            Guard::Forbidden => access == Access::Write || !in_library(),
            Guard::Canary => access == Access::Write,
            Guard::Source => false,
        }
    }
}

/// Whether a byte must not be touched because it is behind the end of the checked heap.
pub(crate) fn is_behind_heap(space: &AddressSpace, at: u64) -> bool {
    space.is_guarded() && HEAP.contains(&at) && space.region(at).is_none()
}

/// The first of some bytes that the kernel must not store to.
pub(crate) fn first_forbidden(space: &AddressSpace, at: u64, length: u64) -> Option<u64> {
    if !space.is_guarded() || !space.marked(at, length) {
        return None;
    }
    let forbidden = |&at: &u64| {
        let guard = space.mark_of(at).and_then(Guard::of);
        guard.is_some_and(|guard| guard.refuses(Access::Write, || false))
    };
    (0..length).map(|k| at.wrapping_add(k)).find(forbidden)
}
