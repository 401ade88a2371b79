//! Reads from constant tables at symbolic indices.
//!
//! An operator with a constant on a read is a read of another table, so that a character class
//! test through a table of flags ends as a read of truth values.

use super::Rule;
use super::ask::{Ask, Step};
use super::interval::Interval;
use crate::pool::Pool;
use crate::term::{Op, Sort, TableId, Term, mask};
use crate::value;

/// Tables with more entries are left as they are.
const LARGEST_MAPPED: usize = 1024;

impl Pool {
    /// The table's entry at `index`, zero past its end.
    pub fn table(&mut self, table: TableId, index: Term) -> Term {
        let data = self.table_data(table);
        let sort = Sort::Bits(data.width);
        if let Some(i) = self.as_const(index) {
            let entry = u128::from(data.read(i));
            return self.constant_of(sort, entry);
        }
        let width = self.width(index);
        let len = data.entries.len();
        if len <= LARGEST_MAPPED
            && let Some((rule, read)) = self.simpler_read(table, index)
        {
            return self.by(rule, read);
        }
        // One table for one function of the index: as many entries as it reaches.
        if width < 64 && len < 1 << width && 1 << width <= LARGEST_MAPPED {
            let mut padded = self.table_data(table).entries.to_vec();
            padded.resize(1 << width, 0);
            let table = self.add_table(sort.bits(), padded);
            let read = self.table(table, index);
            return self.by(Rule::TablePad, read);
        }
        if width < 64 && len > 1 << width {
            let reachable: Vec<u64> = self.table_data(table).entries[..1 << width].to_vec();
            let table = self.add_table(sort.bits(), reachable);
            let read = self.table(table, index);
            return self.by(Rule::TableNarrow, read);
        }
        self.intern(sort, Op::Table(table, index))
    }

    fn simpler_read(&mut self, table: TableId, index: Term) -> Option<(Rule, Term)> {
        let data = self.table_data(table);
        let facts = self.facts(index);
        let width = self.width(index);
        let first = data.read(facts.min);
        let len = data.entries.len() as u128;
        let reads_past_end = facts.max >= len;
        let (from, to) = (facts.min.min(len), if reads_past_end { len } else { facts.max + 1 });
        let is_constant = data.entries[from as usize..to as usize].iter().all(|&e| e == first)
            && (!reads_past_end || first == 0);
        if is_constant {
            let width = data.width;
            return Some((Rule::TableConst, self.constant(width, u128::from(first))));
        }
        let is_identity = !reads_past_end
            && data.width >= width
            && data.entries.iter().enumerate().all(|(i, &e)| e == i as u64);
        if is_identity {
            let width = data.width;
            return Some((Rule::TableIdentity, self.zero_extend(width, index)));
        }
        match self.op(index) {
            Op::ZeroExtend(x) => Some((Rule::TableNarrow, self.table(table, x))),
            Op::Add(x, c) => {
                let c = self.as_const(c)?;
                let x = self.strip_zero_extend(x);
                let narrow = self.width(x);
                if narrow > 8 {
                    return None;
                }
                let entries: Vec<u64> =
                    (0..=mask(narrow)).map(|v| data.read(value::add(width, v, c))).collect();
                let width = data.width;
                let shifted = self.add_table(width, entries);
                Some((Rule::TableOffset, self.table(shifted, x)))
            }
            Op::Table(inner, i) if self.is_mappable(inner, i) => {
                let data = data.clone();
                let composed =
                    self.map_table(inner, i, data.width, |e| data.read(u128::from(e)))?;
                Some((Rule::TableTable, composed))
            }
            _ => None,
        }
    }

    /// Whether reads of the table at the index may become reads of another table.
    pub(super) fn is_mappable(&self, table: TableId, index: Term) -> bool {
        let len = self.table_data(table).entries.len();
        len <= LARGEST_MAPPED && self.facts(index).max < len as u128
    }

    /// The read with `f` applied to every entry, unless the index may be past the end.
    pub(super) fn map_table(
        &mut self,
        table: TableId,
        index: Term,
        width: u8,
        f: impl Fn(u64) -> u64,
    ) -> Option<Term> {
        if width > 64 || !self.is_mappable(table, index) {
            return None;
        }
        let entries: Vec<u64> = self.table_data(table).entries.iter().map(|&e| f(e)).collect();
        let mapped = self.add_table(width, entries);
        Some(self.table(mapped, index))
    }

    /// Two reads at one index as one read, the first table's entries above the second's.
    pub(super) fn join_tables(
        &mut self,
        high: TableId,
        low: TableId,
        index: Term,
        by: u8,
    ) -> Option<Term> {
        if !self.is_mappable(high, index) || !self.is_mappable(low, index) {
            return None;
        }
        let (high, low) = (self.table_data(high), self.table_data(low));
        let width = high.width + low.width;
        let entries: Vec<u64> =
            (high.entries.iter().zip(&low.entries)).map(|(&h, &l)| h << by | l).collect();
        let joined = self.add_table(width, entries);
        Some(self.table(joined, index))
    }

    /// The test that the entry read is in an interval: a test of the index where the accepted
    /// indices are one interval, else a read of truth values.
    pub(super) fn in_table(
        &mut self,
        table: TableId,
        index: Term,
        interval: Interval,
    ) -> Option<Step> {
        if !self.is_mappable(table, index) {
            return None;
        }
        let (max, width) = (self.facts(index).max, self.width(index));
        let key = (table, interval, max, width);
        // The same table is read at one byte after the other.
        let accepted = match self.accepted.get(&key) {
            Some(&accepted) => accepted,
            None => {
                let accepted = self.accepted_indices(table, interval, max, width);
                self.accepted.insert(key, accepted);
                accepted
            }
        };
        let ask = match accepted {
            Accepted::None => Ask::Is(self.boolean(false)),
            Accepted::All => Ask::Is(self.boolean(true)),
            Accepted::Range(first, last) => self.range(index, first, last),
            Accepted::Wrapped(interval) => Ask::In(index, interval),
            Accepted::Scattered => return None,
            Accepted::Others(truths) => {
                let read = self.table(truths, index);
                self.range(read, 1, 1)
            }
        };
        Some(Step::same(Rule::IntervalTable, ask))
    }

    fn accepted_indices(
        &mut self,
        table: TableId,
        interval: Interval,
        max: u128,
        width: u8,
    ) -> Accepted {
        let data = self.table_data(table);
        let accepts = |v: u64| interval.contains(data.width, u128::from(v));
        let truth: Vec<bool> =
            data.entries.iter().take(max as usize + 1).map(|&e| accepts(e)).collect();
        let is_one_bit = data.width == 1;
        // Ends of runs of accepted indices; a run up to `max` may go on up to the greatest value.
        let starts: Vec<usize> =
            (0..truth.len()).filter(|&i| truth[i] && (i == 0 || !truth[i - 1])).collect();
        let ends: Vec<usize> = (0..truth.len())
            .filter(|&i| truth[i] && !truth.get(i + 1).is_some_and(|&t| t))
            .collect();
        match (&starts[..], &ends[..]) {
            ([], []) => Accepted::None,
            ([0], [end]) if *end as u128 == max => Accepted::All,
            ([start], [end]) => Accepted::Range(*start as u128, *end as u128),
            ([0, start], [end, last]) if *last as u128 == max && max == mask(width) => {
                Accepted::Wrapped(Interval { first: *start as u128, last: *end as u128 })
            }
            _ if is_one_bit => Accepted::Scattered,
            _ => Accepted::Others(self.truths_of(table, interval)),
        }
    }

    /// The table of which entries are in an interval.
    fn truths_of(&mut self, table: TableId, interval: Interval) -> TableId {
        let data = self.table_data(table);
        let accepts = |v: u64| interval.contains(data.width, u128::from(v));
        let truths: Vec<u64> = data.entries.iter().map(|&e| u64::from(accepts(e))).collect();
        self.add_table(1, truths)
    }
}

/// Which indices of a table have entries in an interval.
#[derive(Clone, Copy)]
pub(crate) enum Accepted {
    /// None that can be read.
    None,
    /// All that can be read.
    All,
    /// Those from the first to the last.
    Range(u128, u128),
    /// Those of an interval that wraps around.
    Wrapped(Interval),
    /// Others, of a table that is one of truth values already.
    Scattered,
    /// Others: those whose truth value in this table is one.
    Others(TableId),
}
