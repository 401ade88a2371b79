//! One page of memory, shared between address spaces until one of them writes.
//!
//! A page is reached in two ways: through a reference, and through the pointers that the TLB keeps.
//! Its bytes are therefore in an `UnsafeCell`: a pointer taken once stays good for as long as the
//! page lives, whatever references come and go in between.

#![allow(unsafe_code)]

use std::cell::UnsafeCell;

use super::PAGE;

/// The bytes of a page.
#[repr(align(64))]
pub(super) struct Page(UnsafeCell<[u8; PAGE as usize]>);

// SAFETY: bytes change only through `write` and through the TLB's write lines. `write` needs
// `&mut Page`. A write line exists only while the address space that holds it is the one owner of
// the page's `Arc` (see `AddressSpace::fork`, which drops all write lines before it shares pages),
// and is used only through `&mut AddressSpace`. So no byte is ever written while another thread can
// read it.
unsafe impl Sync for Page {}

impl Page {
    /// A page of zeros.
    pub(super) fn zero() -> Self {
        Self(UnsafeCell::new([0; PAGE as usize]))
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &[u8; PAGE as usize] {
        // SAFETY: the reference lives as long as `&self`; by the argument at `Sync`, nobody writes
        // meanwhile.
        unsafe { &*self.0.get() }
    }

    /// The bytes, to change.
    pub(super) fn bytes_mut(&mut self) -> &mut [u8; PAGE as usize] {
        self.0.get_mut()
    }

    /// Where the bytes are, for the TLB.
    pub(super) fn pointer(&self) -> *mut u8 {
        self.0.get().cast()
    }
}

impl Clone for Page {
    fn clone(&self) -> Self {
        Self(UnsafeCell::new(*self.bytes()))
    }
}
