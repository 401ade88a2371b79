//! Memory for compiled code, and the cells through which it is linked.
//!
//! One mapping: code first, then two cells for each block. A cell holds the address that control
//! goes to when it leaves the block on that side; it starts as the block's own way out, and is
//! changed when the successor is compiled, too. Code never changes once written.

#![allow(unsafe_code)]

const CODE: usize = 48 << 20;
const CELLS: usize = 16 << 20;

/// A piece of memory that the host can write and execute.
pub(super) struct Arena {
    base: *mut u8,
    used: usize,
}

// SAFETY: the mapping belongs to the arena alone.
unsafe impl Send for Arena {}

impl Arena {
    /// Nothing if the host does not allow such memory.
    pub(super) fn new() -> Option<Self> {
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches nothing.
        let base = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                CODE + CELLS,
                libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        (base != libc::MAP_FAILED).then(|| Self { base: base.cast(), used: 0 })
    }

    /// Where the next code goes: an offset.
    pub(super) fn next(&self) -> usize {
        self.used
    }

    /// The address of an offset.
    pub(super) fn address(&self, offset: usize) -> u64 {
        self.base as u64 + offset as u64
    }

    /// Adds code; nothing if it does not fit.
    pub(super) fn add(&mut self, code: &[u8]) -> Option<usize> {
        let at = self.used;
        if at + code.len() > CODE {
            return None;
        }
        // SAFETY: the range is inside the code part of the mapping, and nothing there runs yet.
        unsafe { self.base.add(at).copy_from_nonoverlapping(code.as_ptr(), code.len()) };
        // Code starts on a new cache line.
        self.used = (at + code.len()).next_multiple_of(16);
        Some(at)
    }

    /// The offset of a block's cell; nothing if there are too many blocks.
    pub(super) fn cell(block: u32, side: usize) -> Option<usize> {
        let at = block as usize * 16 + side * 8;
        (at + 8 <= CELLS).then_some(CODE + at)
    }

    /// Lets a cell lead to an offset of the code.
    pub(super) fn set_cell(&mut self, cell: usize, offset: usize) {
        debug_assert!((CODE..=CODE + CELLS - 8).contains(&cell) && offset < CODE);
        let target = self.address(offset);
        // SAFETY: the cell is inside the mapping and aligned, as blocks' cells are.
        unsafe { self.base.add(cell).cast::<u64>().write(target) };
    }

    /// Forgets all code.
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping was made in `new` with this size; nothing runs in it any more, as
        // whoever runs it borrows the arena's owner.
        unsafe { libc::munmap(self.base.cast(), CODE + CELLS) };
    }
}
