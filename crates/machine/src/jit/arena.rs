//! Memory for compiled code, and the cells through which it is linked.
//!
//! Code is in memory that is mapped twice: once to be written, at an address of its own, and once to be
//! executed. Behind the second view are two cells for each block, which are data. A cell holds the
//! address that control goes to when it leaves the block on that side; it starts as the block's own way
//! out, and is changed when the successor is compiled, too. Code never changes once written.
//!
//! Always holds: no mapping is writable and executable at once, not even for a moment.

#![allow(unsafe_code)]

use std::ptr::null_mut;

const CODE: usize = 48 << 20;
const CELLS: usize = 16 << 20;

/// Memory that the host executes at one address and writes at another.
pub(super) struct Arena {
    /// Code to be executed, then cells.
    base: *mut u8,
    /// The same code, to be written.
    writer: *mut u8,
    used: usize,
}

// SAFETY: the mappings belong to the arena alone.
unsafe impl Send for Arena {}

impl Arena {
    /// Nothing if the host does not allow such memory.
    pub(super) fn new() -> Option<Self> {
        let data = libc::PROT_READ | libc::PROT_WRITE;
        let map = |size: usize, kind: libc::c_int| {
            let flags = kind | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches nothing.
            let at = unsafe { libc::mmap(null_mut(), size, data, flags, -1, 0) };
            (at != libc::MAP_FAILED).then_some(at)
        };
        let base = map(CODE + CELLS, libc::MAP_PRIVATE)?;
        // Shared, because only such memory can be mapped twice. No process is copied while a machine
        // is used, so nobody else shares it.
        let Some(writer) = map(CODE, libc::MAP_SHARED) else {
            // SAFETY: the mapping was just made with this size.
            unsafe { libc::munmap(base, CODE + CELLS) };
            return None;
        };
        // From here on `drop` cleans up.
        let arena = Self { base: base.cast(), writer: writer.cast(), used: 0 };
        let twice = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        // SAFETY: with an old size of none, shared memory is mapped a second time and stays where it
        // was. The new place is the first part of the mapping above, in which there is nothing yet.
        let view = unsafe { libc::mremap(writer, 0, CODE, twice, base) };
        // SAFETY: the view is as long as that, and nobody else's. It is not written through.
        let executable = view == base
            && unsafe { libc::mprotect(base, CODE, libc::PROT_READ | libc::PROT_EXEC) } == 0;
        executable.then_some(arena)
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
        // SAFETY: the range is inside the mapping, and nothing there runs yet. The processor sees what
        // was written before it jumps there: on this architecture its caches of code are coherent by
        // physical address, and the jump is a branch after the write.
        unsafe { self.writer.add(at).copy_from_nonoverlapping(code.as_ptr(), code.len()) };
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
        // SAFETY: the cell is in the part behind the code, which is data, and aligned, as blocks'
        // cells are.
        unsafe { self.base.add(cell).cast::<u64>().write(target) };
    }

    /// Forgets all code.
    pub(super) fn clear(&mut self) {
        self.used = 0;
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mappings were made in `new` with these sizes; nothing runs in them any more, as
        // whoever runs it borrows the arena's owner.
        unsafe {
            libc::munmap(self.base.cast(), CODE + CELLS);
            libc::munmap(self.writer.cast(), CODE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How the mappings between two addresses may be used.
    fn modes(from: u64, to: u64) -> Vec<String> {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
        let inside = |line: &&str| {
            let (start, end) = line.split(' ').next().unwrap().split_once('-').unwrap();
            number(start) < to && number(end) > from
        };
        let mode = |line: &str| line.split(' ').nth(1).unwrap()[..3].to_owned();
        maps.lines().filter(inside).map(mode).collect()
    }

    #[test]
    fn what_is_written_in_one_place_is_executed_in_another() {
        let mut arena = Arena::new().unwrap();
        // mov eax, 7; ret
        let at = arena.add(&[0xb8, 7, 0, 0, 0, 0xc3]).unwrap();
        // SAFETY: the bytes above are a function of this type.
        let seven: extern "sysv64" fn() -> u32 =
            unsafe { std::mem::transmute(arena.address(at) as usize) };
        assert_eq!(seven(), 7);
        let (code, cells) = (arena.address(0), arena.address(CODE));
        assert_eq!(modes(code, cells), ["r-x"]);
        assert!(modes(cells, cells + CELLS as u64).iter().all(|mode| mode == "rw-"));
        let writer = arena.writer as u64;
        assert!(modes(writer, writer + CODE as u64).iter().all(|mode| mode == "rw-"));
        arena.set_cell(Arena::cell(3, 1).unwrap(), at);
        arena.clear();
        assert_eq!(arena.add(&[0xb8, 9, 0, 0, 0, 0xc3]), Some(0));
        assert_eq!(seven(), 9);
    }

    #[test]
    fn an_arena_leaves_nothing_behind() {
        let arena = Arena::new().unwrap();
        let (code, writer) = (arena.address(0), arena.writer as u64);
        drop(arena);
        let executable = |from: u64| modes(from, from + CODE as u64).contains(&"r-x".to_owned());
        assert!(!executable(code) && !executable(writer));
    }
}
