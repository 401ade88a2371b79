//! Large pages for the heap of a command that follows a program.
//!
//! Such a command makes hundreds of thousands of small objects in a few milliseconds. With pages of 4 KiB
//! nearly half of a short run is the kernel that hands them out one by one; with pages of 2 MiB it is a few
//! requests. What always holds: this is advice. Where the kernel does not take it, all is as before.

#![allow(unsafe_code)] // The allocator's settings have no safe interface; each call has its proof.

use std::hint::black_box;

/// By how much the heap grows at a time, and so how much of it has large pages.
const GROWTH: usize = 32 << 20;
/// What is larger than this is mapped by itself.
const LARGE_OBJECT: usize = 16 << 20;
/// The size of a large page.
const PAGE: usize = 2 << 20;

/// Lets the heap grow in large steps, and asks for large pages in the first of them. To be called early,
/// while there is only one thread.
pub fn grow_in_large_pages() {
    // SAFETY: these set how much is taken from the kernel at a time, and leave what was allocated alone.
    unsafe {
        libc::mallopt(libc::M_TOP_PAD, GROWTH as i32);
        libc::mallopt(libc::M_TRIM_THRESHOLD, 2 * GROWTH as i32);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_OBJECT as i32);
    }
    // More than the heap has at the start, so that it grows now.
    drop(black_box(Vec::<u8>::with_capacity(1 << 20)));
    // SAFETY: asks where the heap ends, and changes nothing.
    let end = unsafe { libc::sbrk(0) } as usize;
    let begin = end.saturating_sub(GROWTH).next_multiple_of(4096);
    let aligned = begin.next_multiple_of(PAGE);
    // SAFETY: neither advice changes what is in memory, whatever lies there. The part before the first
    // large page is given its pages at once.
    unsafe {
        libc::madvise(begin as *mut _, aligned - begin, libc::MADV_POPULATE_WRITE);
        libc::madvise(aligned as *mut _, end.saturating_sub(aligned), libc::MADV_HUGEPAGE);
    }
}
