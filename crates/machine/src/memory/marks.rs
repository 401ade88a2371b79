//! Which bytes stand for more than their value.
//!
//! A mark is a word that whoever sets it understands; this module keeps it beside the byte, copies
//! it on write, and forgets it when the byte is overwritten. Marks are kept in lines of 64 bytes,
//! which are what forks share. Pages without marks cost nothing.

use std::{
    num::NonZeroU64,
    ops::RangeInclusive,
    sync::{Arc, OnceLock},
};

use rustc_hash::FxHashMap;
use stunt_terms::InputByte;

use super::PAGE;

/// What a byte stands for: a byte of an input, a reason not to touch it, or
/// else something that only whoever follows the run understands. Marks of input bytes come after all
/// others, in the order of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mark(pub(crate) NonZeroU64);

impl Mark {
    const INPUT: u64 = 1 << 63;
    pub(super) const GUARD: u64 = 1 << 62;

    /// A mark that says nothing but that the byte is marked.
    pub(crate) fn plain() -> Self {
        Self(NonZeroU64::MIN)
    }

    /// The byte of an input.
    pub(crate) fn of_input(byte: InputByte) -> Self {
        let word = Self::INPUT | u64::from(byte.source) << 32 | u64::from(byte.offset);
        Self(NonZeroU64::new(word).expect("it has a bit"))
    }

    /// The byte of an input that it is, if it is one.
    pub(crate) fn input(self) -> Option<InputByte> {
        let word = self.0.get();
        let byte = || InputByte::new((word >> 32) as u16 & 0x7fff, word as u32);
        (word & Self::INPUT != 0).then(byte)
    }

    /// Whether it says that the byte must not be touched.
    pub(crate) fn is_guard(self) -> bool {
        let word = self.0.get();
        word & Self::INPUT == 0 && word & Self::GUARD != 0
    }
}

/// Bytes in a line.
const LINE: u64 = 64;

/// The marks of one line.
type Line = [Option<Mark>; LINE as usize];

/// The marks of one page.
#[derive(Clone)]
struct MarkedPage {
    lines: [Option<Arc<Line>>; LINES],
    /// Which bytes of each line are marked: most looks need no more.
    bits: [u64; LINES],
    /// How many bytes are marked.
    count: u32,
    /// The least and the greatest mark, when somebody has asked since the last change.
    range: OnceLock<Option<RangeInclusive<Mark>>>,
}

/// Lines in a page.
const LINES: usize = (PAGE / LINE) as usize;

/// The bits from `first` to `last`, both within a line.
#[inline(always)]
fn span(first: u64, last: u64) -> u64 {
    (u64::MAX >> (LINE - 1 - last)) & (u64::MAX << first)
}

impl MarkedPage {
    fn new() -> Self {
        Self { lines: [const { None }; LINES], bits: [0; LINES], count: 0, range: OnceLock::new() }
    }

    #[inline]
    fn get(&self, offset: u64) -> Option<Mark> {
        self.lines[(offset / LINE) as usize].as_ref()?[(offset % LINE) as usize]
    }

    /// Sets or takes away marks of neighbours on one line.
    #[inline]
    fn set_on_line(&mut self, offset: u64, marks: &[Option<Mark>]) {
        let (number, first) = ((offset / LINE) as usize, offset % LINE);
        let mut new = 0;
        for (mark, k) in marks.iter().zip(first..) {
            new |= u64::from(mark.is_some()) << k;
        }
        let old = self.bits[number] & span(first, first + marks.len() as u64 - 1);
        self.bits[number] = self.bits[number] & !old | new;
        self.count = self.count + new.count_ones() - old.count_ones();
        if old | new != 0 {
            self.range.take();
            let line = &mut self.lines[number];
            let line = Arc::make_mut(line.get_or_insert_with(|| Arc::new([None; LINE as usize])));
            line[first as usize..first as usize + marks.len()].copy_from_slice(marks);
        }
    }

    /// Whether any byte from `first` to `last` is marked.
    #[inline]
    fn any(&self, first: u64, last: u64) -> bool {
        let (from, to) = ((first / LINE) as usize, (last / LINE) as usize);
        if from == to {
            return self.bits[from] & span(first % LINE, last % LINE) != 0;
        }
        self.bits[from] & span(first % LINE, LINE - 1) != 0
            || self.bits[to] & span(0, last % LINE) != 0
            || self.bits[from + 1..to].iter().any(|&bits| bits != 0)
    }
}

/// What marks have to do with some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Their first page has none.
    Elsewhere,
    /// Their first page has some, and they have none.
    Near,
    /// One of them is marked.
    Here,
}

/// All marks of an address space.
#[derive(Clone, Default)]
pub(super) struct Marks {
    pages: Arc<FxHashMap<u64, Arc<MarkedPage>>>,
}

impl Marks {
    /// Whether nothing is marked.
    pub(super) fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }

    /// The numbers of the pages with marks, in order.
    pub(super) fn pages(&self) -> Vec<u64> {
        let mut numbers: Vec<u64> = self.pages.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }

    /// The marks of a page lie between these.
    pub(super) fn range(&self, number: u64) -> Option<RangeInclusive<Mark>> {
        let page = self.pages.get(&number)?;
        let found = page.range.get_or_init(|| {
            let marks = || page.lines.iter().flatten().flat_map(|line| line.iter()).flatten();
            Some(*marks().min()?..=*marks().max()?)
        });
        found.clone()
    }

    /// The marks of a page: offsets, in order, and what is there.
    pub(super) fn of_page(&self, number: u64) -> impl Iterator<Item = (usize, Mark)> {
        let lines = self.pages.get(&number).into_iter().flat_map(|page| page.lines.iter());
        lines.zip(0..).filter_map(|(line, number)| Some((line.as_ref()?, number))).flat_map(
            |(line, number)| {
                let start = number * LINE as usize;
                line.iter().zip(start..).filter_map(|(mark, at)| Some((at, (*mark)?)))
            },
        )
    }

    /// Whether a page has marks.
    #[inline]
    pub(super) fn on_page(&self, number: u64) -> bool {
        !self.pages.is_empty() && self.pages.contains_key(&number)
    }

    /// What marks have to do with `length` bytes from `address` on.
    #[inline]
    pub(super) fn look(&self, address: u64, length: u64) -> Look {
        let first = address % PAGE;
        match self.pages.get(&(address / PAGE)) {
            None => Look::Elsewhere,
            Some(page) if first + length <= PAGE && !page.any(first, first + length - 1) => {
                Look::Near
            }
            Some(_) if self.any(address, length) => Look::Here,
            Some(_) => Look::Near,
        }
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
                if page.any(start, end) {
                    return true;
                }
            }
            if number == last / PAGE {
                return false;
            }
            number += 1;
        }
    }

    /// The marks of neighbouring bytes, fewer than a page has; gives whether there is any.
    #[inline]
    pub(super) fn copy(&self, address: u64, into: &mut [Option<Mark>]) -> bool {
        let (offset, count) = (address % PAGE, into.len() as u64);
        let mut any = false;
        if offset + count <= PAGE {
            let Some(page) = self.pages.get(&(address / PAGE)) else { return false };
            if offset % LINE + count <= LINE {
                let (number, first) = ((offset / LINE) as usize, offset % LINE);
                if page.bits[number] & span(first, first + count - 1) == 0 {
                    return false;
                }
                let Some(line) = &page.lines[number] else { return false };
                into.copy_from_slice(&line[first as usize..first as usize + into.len()]);
                return true;
            }
            for (mark, at) in into.iter_mut().zip(offset..) {
                *mark = page.get(at);
                any |= mark.is_some();
            }
        } else {
            for (mark, k) in into.iter_mut().zip(0..) {
                *mark = self.get(address.wrapping_add(k));
                any |= mark.is_some();
            }
        }
        any
    }

    /// The mark of a byte.
    #[inline]
    pub(super) fn get(&self, address: u64) -> Option<Mark> {
        self.pages.get(&(address / PAGE))?.get(address % PAGE)
    }

    /// Sets or takes away the mark of each byte from `address` on; gives the pages that were
    /// without marks and are no longer.
    pub(super) fn set(&mut self, address: u64, marks: &[Option<Mark>], mut fresh: impl FnMut(u64)) {
        let mut done = 0;
        while done < marks.len() {
            let at = address.wrapping_add(done as u64);
            let count = (marks.len() - done).min((PAGE - at % PAGE) as usize);
            self.set_on_page(at, &marks[done..done + count], &mut fresh);
            done += count;
        }
    }

    fn set_on_page(&mut self, at: u64, marks: &[Option<Mark>], fresh: &mut impl FnMut(u64)) {
        let number = at / PAGE;
        let offset = at % PAGE;
        match self.pages.get(&number) {
            // A page is not made, or copied, to be told that nothing is on it.
            None if marks.iter().all(Option::is_none) => return,
            None => fresh(number),
            Some(page) => {
                let last = offset + marks.len() as u64 - 1;
                if !page.any(offset, last) && marks.iter().all(Option::is_none) {
                    return;
                }
            }
        }
        let pages = Arc::make_mut(&mut self.pages);
        let page = pages.entry(number).or_insert_with(|| Arc::new(MarkedPage::new()));
        let page = Arc::make_mut(page);
        let mut done = 0;
        while done < marks.len() {
            let offset = offset + done as u64;
            let count = (marks.len() - done).min((LINE - offset % LINE) as usize);
            page.set_on_line(offset, &marks[done..done + count]);
            done += count;
        }
        if page.count == 0 {
            pages.remove(&number);
        }
    }

    /// Takes away the marks of `length` bytes.
    #[inline]
    pub(super) fn clear(&mut self, address: u64, length: u64) {
        const NONE: [Option<Mark>; LINE as usize] = [None; LINE as usize];
        if !self.any(address, length) {
            return;
        }
        let mut done = 0;
        while done < length {
            let count = (length - done).min(LINE);
            self.set(address.wrapping_add(done), &NONE[..count as usize], |_| {});
            done += count;
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
        marks.set(PAGE - 2, &[1, 2, 3, 0, 5].map(mark), |page| fresh.push(page));
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
    fn the_range_of_a_page_follows_its_marks() {
        let mut marks = Marks::default();
        let range = |marks: &Marks| marks.range(0).map(|it| (it.start().0.get(), it.end().0.get()));
        assert_eq!(range(&marks), None);
        marks.set(10, &[7, 9, 5].map(mark), |_| {});
        assert_eq!(range(&marks), Some((5, 9)));
        let copy = marks.clone();
        marks.set(900, &[3, 20].map(mark), |_| {});
        assert_eq!((range(&marks), range(&copy)), (Some((3, 20)), Some((5, 9))));
        marks.clear(900, 2);
        marks.clear(11, 1);
        assert_eq!(range(&marks), Some((5, 7)));
        marks.clear(0, 100);
        assert_eq!(range(&marks), None);
    }

    #[test]
    fn nothing_makes_no_page() {
        let mut marks = Marks::default();
        marks.set(10, &[None; 9000], |_| panic!("no page is needed"));
        marks.set(10, &[None, mark(7)], |_| {});
        marks.set(0, &[None; 9000], |_| panic!("it is there"));
        assert!(marks.pages.is_empty());
    }

    #[test]
    fn neighbours_are_looked_at_together() {
        let mut marks = Marks::default();
        for at in [60, 63, 64, 200, PAGE - 1, PAGE, 3 * PAGE + 7] {
            marks.set(at, &[mark(at + 1)], |_| {});
        }
        for length in [1, 2, 4, 8, 16] {
            for at in (0..300).chain(PAGE - 40..PAGE + 40).chain(3 * PAGE - 20..3 * PAGE + 20) {
                let mut copy = vec![None; length];
                let any = marks.copy(at, &mut copy);
                let single: Vec<_> = (0..length as u64).map(|k| marks.get(at + k)).collect();
                assert!(any == marks.any(at, length as u64), "{at}, {length}");
                assert!(!any || copy == single, "{at}, {length}");
                let look = match (marks.on_page(at / PAGE), any) {
                    (false, _) => Look::Elsewhere,
                    (true, false) => Look::Near,
                    (true, true) => Look::Here,
                };
                assert_eq!(marks.look(at, length as u64), look, "{at}, {length}");
            }
        }
    }
}
