//! The address space of one process: regions, copy-on-write pages, faults.
//!
//! ```text
//! tlb ──► table ──► page      where the bytes are
//!   └──► regions              what may be done with them, and what fills them when first touched
//! ```
//!
//! Bytes can be marked as standing for more than their value; loads of such bytes stop the program, for
//! whoever marked them to look. A fork costs by the pages touched since the last one, not by the size of the process. This
//! module must not know processors, files or signals: who maps something brings a [`Source`] of
//! bytes, and an access that fails comes back as a [`Fault`].

mod fault;
mod guard;
mod marks;
mod page;
mod regions;
mod source;
mod space;
mod table;
mod tlb;

pub use fault::{Access, Fault, Reason};
pub(crate) use guard::{Guard, HEAP, first_forbidden, is_behind_heap};
pub use marks::Mark;
pub use regions::{Backing, Protection, Region};
pub use source::Source;
pub use space::{AddressSpace, Unsynced};
pub(crate) use tlb::LINES;

/// The size of a page, in bytes.
pub const PAGE: u64 = 4096;

/// The first address that user programs cannot use.
pub const TOP: u64 = 0x7fff_ffff_f000;

/// The start of the page that holds `address`.
#[must_use]
pub const fn page_floor(address: u64) -> u64 {
    address & !(PAGE - 1)
}

/// The least page boundary that is not below `address`.
#[must_use]
pub const fn page_ceil(address: u64) -> u64 {
    page_floor(address.saturating_add(PAGE - 1))
}
