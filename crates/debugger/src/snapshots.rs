//! Which moments of a run are kept, so that going back is going forward a little.
//!
//! Always: the start is kept; all others lie on a grid whose spacing doubles when there are too many or
//! they take too much memory, and a few lie ever closer to the last place that somebody went back to.

use std::collections::BTreeMap;

use stunt_machine::{Machine, Snapshot, linux::ThreadId};

/// The first spacing, in instructions.
const SPACING: u64 = 100_000;
/// The most snapshots on the grid.
const MOST: usize = 64;
/// The most near the present.
const MOST_NEAR: usize = 24;
/// No two near the present are closer than this.
const NEAREST: u64 = 1024;
/// The size of a page.
const PAGE: u64 = 4096;

/// A moment.
struct Kept {
    thread: ThreadId,
    snapshot: Snapshot,
    /// About how many pages it has for itself.
    pages: u64,
}

/// The moments that are kept.
pub(crate) struct Snapshots {
    spacing: u64,
    grid: BTreeMap<u64, Kept>,
    near: BTreeMap<u64, Kept>,
    /// How many pages they may have for themselves.
    most_pages: u64,
    /// The machine's count of copied pages at the last snapshot, or where it was taken back to.
    copied: u64,
}

impl Snapshots {
    /// With the start of a run, and about so many bytes for later moments.
    pub(crate) fn new(machine: &mut Machine, thread: ThreadId, memory: u64) -> Self {
        let mut all = Self {
            spacing: SPACING,
            grid: BTreeMap::new(),
            near: BTreeMap::new(),
            most_pages: memory / PAGE,
            copied: machine.copied_pages(),
        };
        let kept = all.take(machine, thread);
        all.grid.insert(0, kept);
        all
    }

    fn take(&mut self, machine: &mut Machine, thread: ThreadId) -> Kept {
        let copied = machine.copied_pages();
        let pages = copied.saturating_sub(self.copied);
        self.copied = copied;
        Kept { thread, snapshot: machine.snapshot(), pages }
    }

    /// The next place after this one that is worth a snapshot, on the way to another place.
    pub(crate) fn next(&self, here: u64, to: Option<u64>) -> u64 {
        let on_grid = (here / self.spacing + 1).saturating_mul(self.spacing);
        let left = to.map_or(0, |to| to.saturating_sub(here));
        if left <= NEAREST {
            return on_grid;
        }
        // Half of the way, at most, and ever less.
        let half = (left - 1).next_power_of_two() / 2;
        on_grid.min(here + left - half.max(NEAREST.min(left - 1)))
    }

    /// Keeps this moment, if it is worth it.
    pub(crate) fn keep(&mut self, machine: &mut Machine, here: u64, thread: ThreadId, near: bool) {
        if self.grid.contains_key(&here) || self.near.contains_key(&here) {
            return;
        }
        if here.is_multiple_of(self.spacing) {
            let kept = self.take(machine, thread);
            self.grid.insert(here, kept);
            while self.grid.len() > MOST || self.grid.len() > 2 && self.pages() > self.most_pages {
                self.thin_out();
            }
        } else if near {
            let kept = self.take(machine, thread);
            self.near.insert(here, kept);
            while self.near.len() > MOST_NEAR
                || self.near.len() > 1 && self.pages() > self.most_pages
            {
                self.near.pop_first();
            }
        }
    }

    fn pages(&self) -> u64 {
        self.grid.values().chain(self.near.values()).map(|kept| kept.pages).sum()
    }

    fn thin_out(&mut self) {
        self.spacing *= 2;
        let all = std::mem::take(&mut self.grid);
        let mut gone = 0;
        for (at, mut kept) in all {
            if at.is_multiple_of(self.spacing) {
                // Most programs write to the same pages again and again.
                kept.pages = kept.pages.max(gone);
                gone = 0;
                self.grid.insert(at, kept);
            } else {
                gone = kept.pages;
            }
        }
    }

    /// The place of the last moment that is kept and not after this one.
    pub(crate) fn last(&self, until: u64) -> u64 {
        let of = |all: &BTreeMap<u64, Kept>| all.range(..=until).next_back().map(|(at, _)| *at);
        of(&self.grid).max(of(&self.near)).unwrap_or(0)
    }

    /// Takes the machine to a moment that is kept; gives whose turn it is.
    pub(crate) fn restore(&mut self, machine: &mut Machine, at: u64) -> Option<ThreadId> {
        let kept = self.grid.get_mut(&at).or_else(|| self.near.get_mut(&at))?;
        machine.restore(&mut kept.snapshot);
        self.copied = machine.copied_pages();
        Some(kept.thread)
    }

    /// What comes from this place on is no longer so. The start stays.
    pub(crate) fn forget_from(&mut self, place: u64) {
        self.grid.retain(|&at, _| at == 0 || at < place);
        self.near.retain(|&at, _| at < place);
    }

    /// Those near the present are for another present.
    pub(crate) fn leave(&mut self, present: u64) {
        self.near.retain(|&at, _| at <= present);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.grid.len() + self.near.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_on_the_way_come_ever_closer() {
        let none = Snapshots {
            spacing: 1 << 40,
            grid: BTreeMap::new(),
            near: BTreeMap::new(),
            most_pages: 0,
            copied: 0,
        };
        for to in [1, 1024, 1025, 5000, 1_000_000, (1 << 30) + 7] {
            let (mut here, mut places) = (0, Vec::new());
            while here < to {
                let next = none.next(here, Some(to)).min(to);
                assert!(next > here, "it goes on");
                here = next;
                places.push(to - here);
            }
            assert!(places.len() <= 34, "{places:?}");
            assert!(places.iter().rev().skip(1).all(|left| *left >= NEAREST), "{places:?}");
        }
    }
}
