//! The table by which the pool finds terms: positions by hash, in two pieces of memory.
//!
//! What was added lately is in a small table that stays in the processor's cache. When it is full, all
//! of it goes to the large one at a time: one after the other each would wait for memory, together
//! they wait once.
//!
//! Always: a position is in one of the tables, once, and at least a quarter of the cells of either is
//! empty, so that every search ends. A cell keeps the hash beside the position: terms that differ are
//! told apart without a look at them, and a table grows without hashing anything again. What is at a
//! position is for the caller to know.

/// Positions by hash.
#[derive(Default)]
pub(crate) struct Index {
    young: Cells,
    old: Cells,
}

/// A table. As many cells as a power of two, or none: the hash above, the position plus one below;
/// zero if the cell is empty.
#[derive(Default)]
struct Cells {
    cells: Vec<u64>,
    used: usize,
}

/// Cells of the table for what was added lately.
const YOUNG: usize = 1024;
const SMALLEST: usize = 4096;
/// Below this the table grows by more than it must: fewer pages are used up by tables that were too
/// small.
const LARGE: usize = 1 << 18;

impl Index {
    /// The position with this hash that `is` the one that is looked for.
    #[inline(always)]
    pub(crate) fn find(&self, hash: u32, is: impl Fn(u32) -> bool) -> Option<u32> {
        self.young.find(hash, &is).or_else(|| self.find_old(hash, &is))
    }

    #[inline(never)]
    fn find_old(&self, hash: u32, is: &impl Fn(u32) -> bool) -> Option<u32> {
        self.old.find(hash, is)
    }

    /// Adds a position that is not there.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u32, position: u32) {
        if self.young.used * 2 >= self.young.cells.len() {
            self.age();
        }
        self.young.used += 1;
        self.young.put(u64::from(hash) << 32 | u64::from(position + 1));
    }

    #[cold]
    fn age(&mut self) {
        if self.young.cells.is_empty() {
            self.young.cells = vec![0; YOUNG];
            return;
        }
        self.old.used += self.young.used;
        if self.old.used * 4 > self.old.cells.len() * 3 {
            self.old.grow();
        }
        // A first look at all of the places, none of which waits for another.
        let places = self.young.cells.iter().filter(|&&cell| cell != 0);
        let seen = places.fold(0, |seen, &cell| seen ^ self.old.cells[self.old.start(cell)]);
        std::hint::black_box(seen);
        for cell in self.young.cells.iter_mut().filter(|cell| **cell != 0) {
            self.old.put(std::mem::take(cell));
        }
        self.young.used = 0;
    }
}

impl Cells {
    #[inline(always)]
    fn start(&self, cell: u64) -> usize {
        (cell >> 32) as usize & (self.cells.len() - 1)
    }

    #[inline(always)]
    fn find(&self, hash: u32, is: &impl Fn(u32) -> bool) -> Option<u32> {
        let last = self.cells.len().wrapping_sub(1);
        let mut at = hash as usize & last;
        loop {
            match self.cells.get(at) {
                None | Some(0) => return None,
                Some(&cell) if cell >> 32 == u64::from(hash) && is(cell as u32 - 1) => {
                    return Some(cell as u32 - 1);
                }
                Some(_) => at = (at + 1) & last,
            }
        }
    }

    #[cold]
    #[expect(clippy::slow_vector_initialization, reason = "the pages are needed at once")]
    fn grow(&mut self) {
        let growth = if self.cells.len() < LARGE { 4 } else { 2 };
        let size = (self.cells.len() * growth).max(SMALLEST);
        // Written and not only taken as zero: what is read first costs a page twice.
        let mut cells = Vec::with_capacity(size);
        cells.resize(size, 0);
        let old = std::mem::replace(&mut self.cells, cells);
        for cell in old.into_iter().filter(|&cell| cell != 0) {
            self.put(cell);
        }
    }

    /// Puts a cell that is not there.
    #[inline(always)]
    fn put(&mut self, cell: u64) {
        let last = self.cells.len() - 1;
        let mut at = self.start(cell);
        while self.cells[at] != 0 {
            at = (at + 1) & last;
        }
        self.cells[at] = cell;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_found_by_what_they_are_even_where_hashes_are_equal() {
        let mut index = Index::default();
        // Few hashes for many values: chains are long, and wrap around the end.
        let values: Vec<u64> = (0..5000).map(|k| k * k % 7919).collect();
        let hash = |value: u64| ((value % 97) as u32).wrapping_mul(0x0400_0001) ^ 0x3fb;
        let mut kept: Vec<u64> = Vec::new();
        for &value in &values {
            match index.find(hash(value), |at| kept[at as usize] == value) {
                Some(at) => assert_eq!(kept[at as usize], value),
                None => {
                    assert!(!kept.contains(&value));
                    index.insert(hash(value), kept.len() as u32);
                    kept.push(value);
                }
            }
        }
        for (at, &value) in kept.iter().enumerate() {
            let found = index.find(hash(value), |it| kept[it as usize] == value);
            assert_eq!(found, Some(at as u32));
        }
        assert!(index.find(5, |_| false).is_none());
    }
}
