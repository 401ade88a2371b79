//! Which bytes stand for more than their value.
//!
//! A mark is a word that whoever sets it understands; this module keeps it beside the byte, copies
//! it on write with its page, and forgets it when the byte is overwritten. Pages without marks cost
//! nothing.

use std::{num::NonZeroU64, sync::Arc};

use rustc_hash::FxHashMap;

use super::PAGE;

/// What a byte stands for, in words of whoever marked it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mark(pub(crate) NonZeroU64);

/// The marks of one page.
#[derive(Clone)]
struct MarkedPage {
    cells: Box<[Option<Mark>; PAGE as usize]>,
    /// How many cells are marked.
    count: u32,
}

impl MarkedPage {
    fn new() -> Self {
        Self { cells: Box::new([None; PAGE as usize]), count: 0 }
    }
}

/// All marks of an address space.
#[derive(Clone, Default)]
pub(super) struct Marks {
    pages: Arc<FxHashMap<u64, Arc<MarkedPage>>>,
}

impl Marks {
    /// Whether a page has marks.
    #[inline]
    pub(super) fn on_page(&self, number: u64) -> bool {
        !self.pages.is_empty() && self.pages.contains_key(&number)
    }

    /// Whether any byte of `length` from `address` on is marked.
    #[inline]
    pub(super) fn any(&self, address: u64, length: u64) -> bool {
        if self.pages.is_empty() || length == 0 {
            return false;
        }
        let last = address.wrapping_add(length - 1);
        let mut number = address / PAGE;
        loop {
            if let Some(page) = self.pages.get(&number) {
                let start = if number == address / PAGE { address % PAGE } else { 0 };
                let end = if number == last / PAGE { last % PAGE } else { PAGE - 1 };
                let cells = &page.cells[start as usize..=end as usize];
                if cells.iter().any(Option::is_some) {
                    return true;
                }
            }
            if number == last / PAGE {
                return false;
            }
            number += 1;
        }
    }

    /// The mark of a byte.
    #[inline]
    pub(super) fn get(&self, address: u64) -> Option<Mark> {
        self.pages.get(&(address / PAGE))?.cells[(address % PAGE) as usize]
    }

    /// Sets or takes away the mark of each byte from `address` on; gives the pages that were
    /// without marks and are no longer.
    pub(super) fn set(
        &mut self,
        address: u64,
        marks: impl IntoIterator<Item = Option<Mark>>,
        mut fresh: impl FnMut(u64),
    ) {
        let mut marks = marks.into_iter().zip(0u64..).peekable();
        while let Some(&(_, done)) = marks.peek() {
            let at = address.wrapping_add(done);
            let number = at / PAGE;
            if !self.pages.contains_key(&number) {
                // A page is not made to be told that nothing is on it.
                let end = PAGE - at % PAGE;
                while marks.next_if(|&(mark, k)| mark.is_none() && k - done < end).is_some() {}
                match marks.peek() {
                    Some(&(_, k)) if k - done < end => fresh(number),
                    _ => continue,
                }
            }
            let pages = Arc::make_mut(&mut self.pages);
            let page = pages.entry(number).or_insert_with(|| Arc::new(MarkedPage::new()));
            let page = Arc::make_mut(page);
            while let Some((mark, k)) =
                marks.next_if(|&(_, k)| address.wrapping_add(k) / PAGE == number)
            {
                let cell = &mut page.cells[(address.wrapping_add(k) % PAGE) as usize];
                page.count += u32::from(mark.is_some());
                page.count -= u32::from(cell.is_some());
                *cell = mark;
            }
            if page.count == 0 {
                pages.remove(&number);
            }
        }
    }

    /// Takes away the marks of `length` bytes.
    #[inline]
    pub(super) fn clear(&mut self, address: u64, length: u64) {
        if self.any(address, length) {
            self.set(address, (0..length).map(|_| None), |_| {});
        }
    }

    /// Forgets whole pages.
    pub(super) fn forget(&mut self, first: u64, last: u64) {
        if self.pages.keys().any(|number| (first..=last).contains(number)) {
            Arc::make_mut(&mut self.pages).retain(|number, _| !(first..=last).contains(number));
        }
    }

    /// Moves the marks of a page.
    pub(super) fn relocate(&mut self, from: u64, to: u64) {
        if self.pages.contains_key(&from) {
            let pages = Arc::make_mut(&mut self.pages);
            if let Some(page) = pages.remove(&from) {
                pages.insert(to, page);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(value: u64) -> Option<Mark> {
        NonZeroU64::new(value).map(Mark)
    }

    #[test]
    fn marks_are_kept_byte_by_byte_and_page_by_page() {
        let mut marks = Marks::default();
        let mut fresh = Vec::new();
        marks.set(PAGE - 2, [1, 2, 3, 0, 5].map(mark), |page| fresh.push(page));
        assert_eq!(fresh, [0, 1]);
        assert_eq!(marks.get(PAGE - 1), mark(2));
        assert_eq!(marks.get(PAGE + 1), None);
        assert_eq!(marks.get(PAGE + 2), mark(5));
        assert!(marks.any(PAGE - 3, 2) && !marks.any(PAGE - 3, 1) && !marks.any(PAGE + 3, 100));
        let copy = marks.clone();
        marks.clear(PAGE - 2, 5);
        assert!(!marks.on_page(0) && !marks.on_page(1));
        let marked: Vec<u64> = (0..2 * PAGE).filter(|&at| copy.get(at).is_some()).collect();
        assert_eq!(marked, [4094, 4095, 4096, 4098]);
    }

    #[test]
    fn nothing_makes_no_page() {
        let mut marks = Marks::default();
        marks.set(10, [None; 9000], |_| panic!("no page is needed"));
        marks.set(10, [None, mark(7)], |_| {});
        marks.set(0, [None; 9000], |_| panic!("it is there"));
        assert!(marks.pages.is_empty());
    }
}
