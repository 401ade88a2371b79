//! A histogram: for each value of a term, how many assignments of its bytes give it.
//!
//! Values that lie close together (also around the end of the number range) are a run, and need
//! not be listed. Counts are fixed-size rows of 64-bit limbs in one vector: histograms of half a
//! million values with counts beyond 128 bits are common, and an allocation for each would cost
//! more than the arithmetic. The number of limbs is chosen so that no sum ever overflows.

use num_bigint::BigUint;
use stunt_terms::mask;

/// Rows of limbs, lowest first.
#[derive(Clone, PartialEq)]
pub(crate) struct Counts {
    limbs: usize,
    data: Vec<u64>,
}

impl Counts {
    pub fn new(limbs: usize, len: usize) -> Counts {
        Counts { limbs, data: vec![0; limbs * len] }
    }

    pub fn get(&self, at: usize) -> &[u64] {
        &self.data[at * self.limbs..][..self.limbs]
    }

    pub fn big(&self, at: usize) -> BigUint {
        big(self.get(at))
    }

    pub fn is_zero(&self, at: usize) -> bool {
        self.get(at).iter().all(|&limb| limb == 0)
    }

    /// Adds `x * y` to a row.
    pub fn add_product(&mut self, at: usize, x: &[u64], y: &[u64]) {
        let row = &mut self.data[at * self.limbs..][..self.limbs];
        for (i, &x) in x.iter().enumerate().filter(|(_, x)| **x != 0) {
            let mut carry = 0u128;
            let y = &y[..used(y)];
            for (j, row) in row.iter_mut().skip(i).enumerate() {
                let factor = y.get(j).copied().unwrap_or(0);
                if factor == 0 && carry == 0 && j >= y.len() {
                    break;
                }
                let sum = u128::from(*row) + u128::from(x) * u128::from(factor) + carry;
                *row = sum as u64;
                carry = sum >> 64;
            }
        }
    }
}

fn used(limbs: &[u64]) -> usize {
    limbs.iter().rposition(|&limb| limb != 0).map_or(0, |top| top + 1)
}

pub(crate) fn big(limbs: &[u64]) -> BigUint {
    BigUint::new(limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]).collect())
}

/// `x += y`; `y` may have fewer limbs.
pub(crate) fn add(x: &mut [u64], y: &[u64]) {
    let mut carry = false;
    for (at, x) in x.iter_mut().enumerate() {
        let y = match y.get(at) {
            Some(&y) => y,
            None if carry => 0,
            None => break,
        };
        let (sum, over) = x.overflowing_add(y);
        let (sum, more) = sum.overflowing_add(u64::from(carry));
        (*x, carry) = (sum, over | more);
    }
}

/// `x -= y`, for `y` at most `x`.
fn subtract(x: &mut [u64], y: &[u64]) {
    let mut borrow = false;
    for (x, &y) in x.iter_mut().zip(y) {
        let (rest, under) = x.overflowing_sub(y);
        let (rest, more) = rest.overflowing_sub(u64::from(borrow));
        (*x, borrow) = (rest, under | more);
    }
}

/// The values of a histogram, by place.
#[derive(Clone, PartialEq)]
pub(crate) enum Values {
    /// So many values from `low` on, around the end of the range if need be. Some may have count
    /// zero.
    Run { low: u128, len: usize },
    /// In order.
    List(Vec<u128>),
}

/// Values with counts.
#[derive(Clone, PartialEq)]
pub(crate) struct Hist {
    width: u8,
    values: Values,
    pub counts: Counts,
}

impl Hist {
    /// A histogram of the values, sorted and distinct, with zero counts.
    pub fn over(width: u8, limbs: usize, values: Vec<u128>) -> Hist {
        let all = mask(width);
        let dense = |span: u128| span < 4 * values.len() as u128;
        let from = |low: u128, span: u128| Values::Run { low, len: span as usize + 1 };
        let values = match (values.first(), values.last()) {
            (Some(&first), Some(&last)) if dense(last - first) => from(first, last - first),
            (Some(_), Some(_)) => {
                // The widest gap is left out, if the rest lies close together around the end.
                let gaps = values.windows(2).map(|pair| (pair[1] - pair[0], pair[1], pair[0]));
                match gaps.max() {
                    Some((_, after, before)) if dense(before.wrapping_sub(after) & all) => {
                        from(after, before.wrapping_sub(after) & all)
                    }
                    _ => Values::List(values),
                }
            }
            _ => Values::List(values),
        };
        let mut hist = Hist { width, values, counts: Counts::new(limbs, 0) };
        hist.counts = Counts::new(limbs, hist.len());
        hist
    }

    /// The width of the values.
    pub fn width(&self) -> u8 {
        self.width
    }

    /// The number of limbs of every count.
    pub fn limbs(&self) -> usize {
        self.counts.limbs
    }

    /// How many places there are.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::Run { len, .. } => *len,
            Values::List(list) => list.len(),
        }
    }

    /// The value at a place.
    pub fn value(&self, at: usize) -> u128 {
        match &self.values {
            Values::Run { low, .. } => low.wrapping_add(at as u128) & mask(self.width),
            Values::List(list) => list[at],
        }
    }

    /// The place of a value, if it has one.
    pub fn find(&self, value: u128) -> Option<usize> {
        match &self.values {
            Values::Run { low, len } => {
                let at = value.wrapping_sub(*low) & mask(self.width);
                (at < *len as u128).then_some(at as usize)
            }
            Values::List(list) => list.binary_search(&value).ok(),
        }
    }

    /// The sum of all counts.
    pub fn total(&self) -> Vec<u64> {
        let mut total = vec![0; self.counts.limbs];
        for at in 0..self.len() {
            add(&mut total, self.counts.get(at));
        }
        total
    }

    /// Adds one to the count of a place.
    pub fn increment(&mut self, at: usize) {
        self.counts.add_product(at, &[1], &[1]);
    }

    /// The count that all values share, if the values are a run and it is not zero.
    fn uniform(&self) -> Option<&[u64]> {
        match self.values {
            Values::Run { len, .. } if !self.counts.is_zero(0) => {
                let first = self.counts.get(0);
                (1..len).all(|at| self.counts.get(at) == first).then_some(first)
            }
            _ => None,
        }
    }

    /// The cost of [`Hist::sum`], in additions; and how many values the result may have.
    pub fn sum_cost(&self, other: &Hist) -> (u64, usize) {
        let (a, b) = (self.len(), other.len());
        let pairs = (a as u64).saturating_mul(b as u64);
        match (&self.values, &other.values) {
            (Values::Run { .. }, Values::Run { .. }) => {
                let len = run_length(self.width, a, b);
                let linear = self.uniform().is_some() || other.uniform().is_some();
                (if linear { (a + b) as u64 } else { pairs }, len)
            }
            _ => (pairs, usize::try_from(pairs).unwrap_or(usize::MAX)),
        }
    }

    /// The histogram of the sum modulo 2^width of independent values.
    pub fn sum(&self, other: &Hist) -> Hist {
        let (width, limbs) = (self.width, self.counts.limbs);
        let (Values::Run { low: x, len: a }, Values::Run { low: y, len: b }) =
            (&self.values, &other.values)
        else {
            return self.sum_of_lists(other);
        };
        let len = run_length(width, *a, *b);
        let low = x.wrapping_add(*y) & mask(width);
        let mut counts = Counts::new(limbs, len);
        let sides = [(self, other), (other, self)];
        let fast = sides.iter().find_map(|(one, even)| Some((one, even.len(), even.uniform()?)));
        if let Some((one, window, each)) = fast {
            // The sum of the counts in a window that slides over the values.
            let mut inside = vec![0; limbs];
            for at in 0..a + b - 1 {
                if at < one.len() {
                    add(&mut inside, one.counts.get(at));
                }
                if at >= window {
                    subtract(&mut inside, one.counts.get(at - window));
                }
                counts.add_product(at % len, &inside, each);
            }
        } else {
            for i in (0..*a).filter(|&i| !self.counts.is_zero(i)) {
                for j in 0..*b {
                    counts.add_product((i + j) % len, self.counts.get(i), other.counts.get(j));
                }
            }
        }
        Hist { width, values: Values::Run { low, len }, counts }
    }

    fn sum_of_lists(&self, other: &Hist) -> Hist {
        let (width, limbs) = (self.width, self.counts.limbs);
        let nonzero = |hist: &Hist| {
            let places = (0..hist.len()).filter(|&at| !hist.counts.is_zero(at));
            places.collect::<Vec<usize>>()
        };
        let (ours, theirs) = (nonzero(self), nonzero(other));
        let sum = |i: usize, j: usize| self.value(i).wrapping_add(other.value(j)) & mask(width);
        let mut values: Vec<u128> = ours
            .iter()
            .flat_map(|&i| theirs.iter().map(move |&j| (i, j)))
            .map(|(i, j)| sum(i, j))
            .collect();
        values.sort_unstable();
        values.dedup();
        let mut result = Hist::over(width, limbs, values);
        for &i in &ours {
            for &j in &theirs {
                let at = result.find(sum(i, j)).expect("every sum is a value");
                result.counts.add_product(at, self.counts.get(i), other.counts.get(j));
            }
        }
        result
    }
}

/// How long the run of sums of two runs is: no longer than the whole range.
fn run_length(width: u8, a: usize, b: usize) -> usize {
    let len = a + b - 1;
    if width < 48 { len.min(1 << width) } else { len }
}
