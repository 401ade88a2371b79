//! The table by which the pool finds terms: positions by hash, in one piece of memory.
//!
//! Always: a position is in the table at most once, and at least a quarter of the cells is empty, so
//! that every search ends. A cell keeps the hash beside the position: terms that differ are told
//! apart without a look at them, and the table grows without hashing anything again. What is at a
//! position is for the caller to know.

/// Positions by hash.
#[derive(Default)]
pub(crate) struct Index {
    /// The hash above, the position plus one below; zero if the cell is empty. As many as a power
    /// of two, or none.
    cells: Vec<u64>,
    used: usize,
}

/// Where a search ended without success, to put a new position.
#[derive(Clone, Copy)]
pub(crate) struct Vacant(usize);

const SMALLEST: usize = 1024;
/// Below this the table grows by more than it must: fewer pages are used up by tables that were too
/// small.
const LARGE: usize = 1 << 18;

impl Index {
    /// The position with this hash that `is` the one that is looked for.
    #[inline]
    pub(crate) fn find(&self, hash: u32, is: impl Fn(u32) -> bool) -> Result<u32, Vacant> {
        let last = self.cells.len().wrapping_sub(1);
        let mut at = hash as usize & last;
        loop {
            match self.cells.get(at) {
                None | Some(0) => return Err(Vacant(at)),
                Some(&cell) if cell >> 32 == u64::from(hash) && is(cell as u32 - 1) => {
                    return Ok(cell as u32 - 1);
                }
                Some(_) => at = (at + 1) & last,
            }
        }
    }

    /// Adds a position that was looked for, and nothing was added since.
    #[inline]
    pub(crate) fn insert(&mut self, vacant: Vacant, hash: u32, position: u32) {
        let cell = u64::from(hash) << 32 | u64::from(position + 1);
        self.used += 1;
        if self.used * 4 > self.cells.len() * 3 {
            self.grow();
            self.put(cell);
        } else {
            self.cells[vacant.0] = cell;
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
    fn put(&mut self, cell: u64) {
        let last = self.cells.len() - 1;
        let mut at = (cell >> 32) as usize & last;
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
                Ok(at) => assert_eq!(kept[at as usize], value),
                Err(vacant) => {
                    assert!(!kept.contains(&value));
                    index.insert(vacant, hash(value), kept.len() as u32);
                    kept.push(value);
                }
            }
        }
        for (at, &value) in kept.iter().enumerate() {
            let found = index.find(hash(value), |it| kept[it as usize] == value);
            assert_eq!(found.ok(), Some(at as u32));
        }
        assert!(index.find(5, |_| false).is_err());
    }
}
