//! The fast way to a page: a direct-mapped cache of pointers, one for loads, one for stores.
//!
//! A line is a promise of the address space that made it: the page stays alive and in place, may
//! be accessed in this way, and, for a store line, belongs to this address space alone. Every
//! change that breaks the promise drops the line first. What is not in a line takes the slow way,
//! which is also how faults, symbolic bytes, and writes to code are found.
//!
//! Pages with marks have lines apart, in the same number and with the same promise: compiled code
//! does not see them, and the slow way looks at the marks before it uses them.
//!
//! `unsafe` is here because every load and store of a program comes through: an index into owned
//! pages would need the atomic uniqueness test of `Arc::get_mut` at each store.

#![allow(unsafe_code)]

use super::{PAGE, page::Page};

/// How many lines there are of each kind: 8 MiB.
pub(crate) const LINES: usize = 2048;

/// Compiled code knows this layout.
#[derive(Clone, Copy)]
#[repr(C)]
struct Line {
    number: u64,
    /// Where the page's bytes are, less the page's address: plus an address, it leads to the byte.
    bytes: *mut u8,
}

impl Line {
    fn new(number: u64, page: &Page) -> Self {
        let start = (number * PAGE) as usize;
        Self { number, bytes: page.pointer().wrapping_sub(start) }
    }
}

/// No page has this number: user addresses have 47 bits.
const EMPTY: Line = Line { number: u64::MAX, bytes: std::ptr::null_mut() };

/// Pointers to pages that were accessed lately. Without any lines until the first is added: a
/// snapshot that nobody runs needs none.
#[derive(Default)]
pub(super) struct Tlb {
    loads: Vec<Line>,
    stores: Vec<Line>,
    /// The same for pages with marks; without any lines until there is one.
    marked_loads: Vec<Line>,
    marked_stores: Vec<Line>,
}

/// The `N` bytes at `address`, if a line covers them all.
#[inline(always)]
fn load<const N: usize>(lines: &[Line], address: u64) -> Option<[u8; N]> {
    let line = lines.get((address / PAGE) as usize % LINES)?;
    let offset = (address % PAGE) as usize;
    if line.number == address / PAGE && offset <= PAGE as usize - N {
        // SAFETY: the line is not empty, as no address has its number, so by the promise of
        // `add_load` its pointer leads to a live page; the check keeps all N bytes inside.
        // Nobody writes meanwhile: stores need `&mut` of the same address space, or a page
        // that belongs to another space alone.
        Some(unsafe { line.bytes.wrapping_add(address as usize).cast::<[u8; N]>().read() })
    } else {
        None
    }
}

/// Stores `value` at `address` and tells whether a line covered it. The lines are those for stores
/// of an address space that is borrowed as a whole.
#[inline(always)]
fn store<const N: usize>(lines: &mut [Line], address: u64, value: [u8; N]) -> bool {
    let Some(line) = lines.get((address / PAGE) as usize % LINES) else { return false };
    let offset = (address % PAGE) as usize;
    if line.number == address / PAGE && offset <= PAGE as usize - N {
        // SAFETY: as for loads; by the promise of `add_store` the page belongs to this
        // address space alone, which `&mut` shows to be ours.
        unsafe { line.bytes.wrapping_add(address as usize).cast::<[u8; N]>().write(value) };
        true
    } else {
        false
    }
}

// SAFETY: the pointers lead to pages that the address space owns through `Arc`; a `Tlb` moves
// between threads only together with its address space.
unsafe impl Send for Tlb {}

impl Tlb {
    /// The `N` bytes at `address`, if a line covers them all.
    #[inline(always)]
    pub(super) fn load<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        load(&self.loads, address)
    }

    /// The same on a page with marks.
    #[inline(always)]
    pub(super) fn load_marked<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        load(&self.marked_loads, address)
    }

    /// Stores `value` at `address` and tells whether a line covered it.
    #[inline(always)]
    pub(super) fn store<const N: usize>(&mut self, address: u64, value: [u8; N]) -> bool {
        store(&mut self.stores, address, value)
    }

    /// The same on a page with marks.
    #[inline(always)]
    pub(super) fn store_marked<const N: usize>(&mut self, address: u64, value: [u8; N]) -> bool {
        store(&mut self.marked_stores, address, value)
    }

    /// Fills `buffer`, which is not empty, and tells whether a line covered it.
    #[inline]
    pub(super) fn read(&self, address: u64, buffer: &mut [u8]) -> bool {
        let offset = (address % PAGE) as usize;
        if offset + buffer.len() > PAGE as usize {
            return false;
        }
        for lines in [&self.loads, &self.marked_loads] {
            if let Some(line) = lines.get((address / PAGE) as usize % LINES)
                && line.number == address / PAGE
            {
                let bytes = line.bytes.wrapping_add(address as usize);
                // SAFETY: as for `load`; the check keeps all bytes inside of the page, and the
                // buffer is no page of a program.
                unsafe { bytes.copy_to_nonoverlapping(buffer.as_mut_ptr(), buffer.len()) };
                return true;
            }
        }
        false
    }

    /// Once made, lines stay where they are: compiled code knows the place.
    fn make_lines(&mut self) {
        if self.loads.is_empty() {
            self.loads = vec![EMPTY; LINES];
            self.stores = vec![EMPTY; LINES];
        }
    }

    /// Where the lines are, for compiled code: those for loads, and those for stores.
    pub(super) fn lines(&mut self) -> (*const u8, *const u8) {
        self.make_lines();
        (self.loads.as_ptr().cast(), self.stores.as_ptr().cast())
    }

    /// Promises that `page` stays where it is until the line is dropped.
    pub(super) fn add_load(&mut self, number: u64, page: &Page) {
        self.make_lines();
        self.loads[number as usize % LINES] = Line::new(number, page);
    }

    /// Promises the same, and that no other address space has the page.
    pub(super) fn add_store(&mut self, number: u64, page: &Page) {
        self.make_lines();
        self.stores[number as usize % LINES] = Line::new(number, page);
    }

    /// As [`Self::add_load`], for a page with marks.
    pub(super) fn add_marked_load(&mut self, number: u64, page: &Page) {
        add(&mut self.marked_loads, number, page);
    }

    /// As [`Self::add_store`], for a page with marks.
    pub(super) fn add_marked_store(&mut self, number: u64, page: &Page) {
        add(&mut self.marked_stores, number, page);
    }

    /// Drops all lines of a page.
    pub(super) fn drop_page(&mut self, number: u64) {
        let Self { loads, stores, marked_loads, marked_stores } = self;
        for lines in [loads, stores, marked_loads, marked_stores] {
            if let Some(line) = lines.get_mut(number as usize % LINES)
                && line.number == number
            {
                *line = EMPTY;
            }
        }
    }

    /// Drops every store line.
    pub(super) fn drop_stores(&mut self) {
        self.stores.fill(EMPTY);
        self.marked_stores.fill(EMPTY);
    }

    /// Drops every line.
    pub(super) fn drop_all(&mut self) {
        self.drop_stores();
        self.loads.fill(EMPTY);
        self.marked_loads.fill(EMPTY);
    }
}

fn add(lines: &mut Vec<Line>, number: u64, page: &Page) {
    if lines.is_empty() {
        *lines = vec![EMPTY; LINES];
    }
    lines[number as usize % LINES] = Line::new(number, page);
}
