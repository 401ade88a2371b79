//! Which page is at which address: a radix tree whose nodes are shared between forks.
//!
//! Sharing is by node: a fork copies the short list of top entries, and a first write after a fork
//! copies one leaf and one middle node (64 entries each) on the way to the page. Pages that were
//! never touched do not exist.

use std::sync::Arc;

use super::page::Page;

const FAN: usize = 64;

#[derive(Clone)]
struct Leaf([Option<Arc<Page>>; FAN]);

#[derive(Clone)]
struct Middle([Option<Arc<Leaf>>; FAN]);

/// Pages by page number.
#[derive(Clone, Default)]
pub(super) struct Table {
    /// Sorted by the upper part of the page number; 16 MiB each.
    top: Vec<(u64, Arc<Middle>)>,
}

const fn split(number: u64) -> (u64, usize, usize) {
    (number >> 12, (number >> 6) as usize % FAN, number as usize % FAN)
}

impl Table {
    /// The page with this number, if it was ever touched.
    pub(super) fn get(&self, number: u64) -> Option<&Arc<Page>> {
        let (upper, middle, leaf) = split(number);
        let at = self.top.binary_search_by_key(&upper, |entry| entry.0).ok()?;
        self.top[at].1.0[middle].as_ref()?.0[leaf].as_ref()
    }

    /// The place of the page with this number, private to this table up to the page itself.
    pub(super) fn entry(&mut self, number: u64) -> &mut Option<Arc<Page>> {
        let (upper, middle, leaf) = split(number);
        let at = match self.top.binary_search_by_key(&upper, |entry| entry.0) {
            Ok(at) => at,
            Err(at) => {
                self.top.insert(at, (upper, Arc::new(Middle([const { None }; FAN]))));
                at
            }
        };
        let middle = &mut Arc::make_mut(&mut self.top[at].1).0[middle];
        let leaves = middle.get_or_insert_with(|| Arc::new(Leaf([const { None }; FAN])));
        &mut Arc::make_mut(leaves).0[leaf]
    }

    /// The numbers of the touched pages in `[first, last]`, in order.
    pub(super) fn touched(&self, first: u64, last: u64) -> Vec<u64> {
        let mut found = Vec::new();
        let from = self.top.partition_point(|entry| entry.0 < first >> 12);
        for (upper, middle) in &self.top[from..] {
            if *upper > last >> 12 {
                break;
            }
            for (m, leaf) in middle.0.iter().enumerate() {
                let Some(leaf) = leaf else { continue };
                for (l, page) in leaf.0.iter().enumerate() {
                    let number = (upper << 12) | ((m as u64) << 6) | l as u64;
                    if page.is_some() && (first..=last).contains(&number) {
                        found.push(number);
                    }
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_where_they_were_put_and_forks_do_not_share_later_ones() {
        let mut table = Table::default();
        let numbers = [0, 1, 63, 64, 4095, 4096, 0x7_ffff_fffe, 0x7_ffff_0000];
        for &number in &numbers {
            assert!(table.get(number).is_none());
            *table.entry(number) = Some(Arc::new(Page::zero()));
        }
        let fork = table.clone();
        *table.entry(7) = Some(Arc::new(Page::zero()));
        let mut sorted = numbers.to_vec();
        sorted.sort_unstable();
        assert_eq!(fork.touched(0, u64::MAX >> 12), sorted);
        assert_eq!(table.touched(2, 100), [7, 63, 64]);
        assert!(Arc::ptr_eq(fork.get(64).unwrap(), table.get(64).unwrap()));
    }
}
