//! The inputs that a summary ranges over: bytes with the number of values that each may have.
//!
//! A byte is free, with as many values as its domain has, or held at one unknown value. Sizes are
//! logarithms, rounded up, and those of a set of bytes come from prefix sums, so that a checksum
//! over a million bytes costs as much as one over two.

use stunt_terms::{InputByte, Support};

use crate::rounding::{log2_up, up};

/// Bytes with the logarithms of their numbers of values.
#[derive(Clone)]
pub(crate) struct InputSpace {
    bytes: Vec<InputByte>,
    /// `log2` of the domain, in order of the bytes; 0 for a byte that is held.
    sizes: Vec<f64>,
    /// Sums of the sizes before each byte, and of all.
    before: Vec<f64>,
    /// How many bytes before each byte have more than one value.
    free_before: Vec<u32>,
}

impl InputSpace {
    /// The space of these bytes, in order, with that many values each.
    pub(crate) fn new(bytes: &[InputByte], counts: impl Iterator<Item = u32>) -> InputSpace {
        let sizes = counts.map(|count| log2_up(u128::from(count.max(1)))).collect();
        let mut space = InputSpace {
            bytes: bytes.to_vec(),
            sizes,
            before: Vec::new(),
            free_before: Vec::new(),
        };
        space.sum();
        space
    }

    /// Holds bytes: they have one value from now on.
    pub(crate) fn hold(&mut self, positions: &[usize]) {
        for &position in positions {
            self.sizes[position] = 0.0;
        }
        self.sum();
    }

    fn sum(&mut self) {
        self.before = vec![0.0];
        self.free_before = vec![0];
        let (mut sum, mut free) = (0.0, 0);
        for &size in &self.sizes {
            sum += size;
            free += u32::from(size > 0.0);
            self.before.push(sum);
            self.free_before.push(free);
        }
    }

    /// `log2` of the values of the byte at a position.
    pub(crate) fn size_at(&self, position: usize) -> f64 {
        self.sizes[position]
    }

    /// The byte at a position.
    pub(crate) fn byte_at(&self, position: usize) -> InputByte {
        self.bytes[position]
    }

    /// The positions of the bytes of a set that have more than one value.
    pub(crate) fn free(&self, support: &Support) -> impl Iterator<Item = usize> + '_ {
        let runs: Vec<(usize, usize)> =
            support.runs().iter().map(|run| self.span(run.source, run.start, run.end)).collect();
        runs.into_iter().flat_map(|(from, to)| from..to).filter(|&at| self.sizes[at] > 0.0)
    }

    /// `log2` of the number of inputs over a set of bytes.
    pub(crate) fn size(&self, support: &Support) -> f64 {
        let mut size = 0.0;
        for run in support.runs() {
            let (from, to) = self.span(run.source, run.start, run.end);
            if self.free_before[to] > self.free_before[from] {
                // The difference of two sums is off by the rounding of the larger one.
                size += self.before[to] - self.before[from] + up(self.before[to]) - self.before[to];
            }
        }
        size
    }

    /// Whether two sets share a byte that has more than one value.
    pub(crate) fn share(&self, a: &Support, b: &Support) -> bool {
        let (a, b) = (a.runs(), b.runs());
        let (mut i, mut j) = (0, 0);
        while i < a.len() && j < b.len() {
            let (x, y) = (a[i], b[j]);
            if x.source == y.source && x.start.max(y.start) < x.end.min(y.end) {
                let (from, to) = self.span(x.source, x.start.max(y.start), x.end.min(y.end));
                if self.free_before[to] > self.free_before[from] {
                    return true;
                }
            }
            if (x.source, x.end) <= (y.source, y.end) {
                i += 1;
            } else {
                j += 1;
            }
        }
        false
    }

    /// The positions of the bytes from `start` to `end` of a source.
    fn span(&self, source: u16, start: u32, end: u32) -> (usize, usize) {
        let at = |offset| self.bytes.partition_point(|&b| b < InputByte::new(source, offset));
        (at(start), at(end))
    }
}
