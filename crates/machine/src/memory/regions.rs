//! What is mapped where: ranges of addresses with a protection and a backing.
//!
//! Regions never overlap, are never empty, and begin and end on page boundaries. They say what a
//! page may be used for; whether the page exists yet is the table's business. Cloning shares.

use std::{collections::BTreeMap, sync::Arc};

use super::{PAGE, Source, TOP};

bitflags::bitflags! {
    /// What may be done with a region; the bits are those of `mmap`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Protection: u8 {
        /// Loads.
        const READ = 1;
        /// Stores.
        const WRITE = 2;
        /// Instruction fetches.
        const EXECUTE = 4;
    }
}

/// What a page holds when it is first touched.
#[derive(Clone)]
pub enum Backing {
    /// Zeros.
    Anonymous,
    /// The bytes of a file.
    File {
        /// The file.
        source: Arc<dyn Source>,
        /// The offset in the file of the region's first byte.
        offset: u64,
    },
}

/// A range of addresses that are treated alike.
#[derive(Clone)]
pub struct Region {
    /// The first address.
    pub start: u64,
    /// The address behind the last one.
    pub end: u64,
    /// What may be done.
    pub protection: Protection,
    /// Whether stores are meant for everyone who maps the same file.
    pub shared: bool,
    /// What fills the pages.
    pub backing: Backing,
    /// What `/proc/self/maps` calls it: a path, `[stack]`, `[heap]`, or nothing.
    pub name: Arc<str>,
}

impl Region {
    /// The part of this region in `[start, end)`, which must not be empty.
    fn part(&self, start: u64, end: u64) -> Self {
        let backing = match &self.backing {
            Backing::Anonymous => Backing::Anonymous,
            Backing::File { source, offset } => {
                Backing::File { source: Arc::clone(source), offset: offset + (start - self.start) }
            }
        };
        Self { start, end, backing, ..self.clone() }
    }
}

/// All regions of an address space.
#[derive(Clone, Default)]
pub(super) struct Regions(Arc<BTreeMap<u64, Region>>);

impl Regions {
    /// The region that holds `address`.
    pub(super) fn find(&self, address: u64) -> Option<&Region> {
        let (_, region) = self.0.range(..=address).next_back()?;
        (address < region.end).then_some(region)
    }

    /// All regions, by address.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Region> {
        self.0.values()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The regions that touch `[start, end)`, by address.
    pub(super) fn within(&self, start: u64, end: u64) -> impl Iterator<Item = &Region> {
        let first = self.find(start).map_or(start, |region| region.start);
        self.0.range(first..end.max(first)).map(|(_, region)| region)
    }

    /// Removes `[start, end)`, cutting the regions at its rim.
    pub(super) fn remove(&mut self, start: u64, end: u64) -> Vec<Region> {
        let touched: Vec<Region> = self.within(start, end).cloned().collect();
        let map = Arc::make_mut(&mut self.0);
        let mut removed = Vec::new();
        for region in touched {
            map.remove(&region.start);
            if region.start < start {
                map.insert(region.start, region.part(region.start, start));
            }
            if region.end > end {
                map.insert(end, region.part(end, region.end));
            }
            removed.push(region.part(region.start.max(start), region.end.min(end)));
        }
        removed
    }

    /// Puts a region where nothing is.
    pub(super) fn insert(&mut self, region: Region) {
        debug_assert!(self.within(region.start, region.end).next().is_none());
        Arc::make_mut(&mut self.0).insert(region.start, region);
    }

    /// Changes every region in `[start, end)`, cutting at the rim.
    pub(super) fn change(&mut self, start: u64, end: u64, mut with: impl FnMut(&mut Region)) {
        for mut region in self.remove(start, end) {
            with(&mut region);
            self.insert(region);
        }
    }

    /// Whether every byte of `[start, end)` is mapped.
    pub(super) fn covered(&self, start: u64, end: u64) -> bool {
        let mut at = start;
        while at < end {
            match self.find(at) {
                Some(region) => at = region.end,
                None => return false,
            }
        }
        true
    }

    /// The highest gap of `length` bytes that ends at or below `ceiling`, as Linux chooses.
    pub(super) fn gap_below(&self, ceiling: u64, length: u64) -> Option<u64> {
        let mut end = ceiling.min(TOP);
        for region in self.0.values().rev() {
            if region.start >= end {
                continue;
            }
            if region.end <= end && end - region.end >= length {
                return Some(end - length);
            }
            end = region.start;
        }
        // Page zero and its neighbours stay free, as vm.mmap_min_addr demands.
        (end >= length + 16 * PAGE).then(|| end - length)
    }
}
