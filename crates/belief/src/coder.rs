//! Bits: a chain of choices as a number between 0 and 1, exactly.
//!
//! Whoever writes and whoever reads make the same choices in the same order, each with parts that depend on the
//! choices before it alone. Written, they are an interval that has the product of all parts as its width; the
//! shortest binary fraction in it is the advice (arithmetic coding, with whole numbers of any size, so that nothing
//! is rounded). Intervals of different chains do not overlap: that is why lengths fulfil Kraft's inequality.
//!
//! The same trait is used to weigh, to write and to read: what one can say, the other understands.

use num_bigint::BigUint;

use crate::cost::Cost;

/// The bits mean nothing, or something that the code does not have.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("the advice cannot be decoded with this program's words")]
pub struct Undecodable;

/// Makes choices, or learns which were made.
pub trait Coder {
    /// One of several with these weights; `want` is the one that is meant, for who writes.
    ///
    /// # Errors
    /// The one that is meant has no weight; or none has.
    fn choose(&mut self, weights: &[u32], want: usize) -> Result<usize, Undecodable>;

    /// One of so many.
    ///
    /// # Errors
    /// There are not so many.
    fn uniform(&mut self, of: u64, want: u64) -> Result<u64, Undecodable>;

    /// A whole number from 1 on: how many digits it has, one after the other, then the digits (Elias gamma).
    ///
    /// # Errors
    /// It is 0, or has more than 48 digits.
    fn number(&mut self, want: u64) -> Result<u64, Undecodable> {
        let digits = want.max(1).ilog2();
        let mut read = 0;
        while self.choose(&[1, 1], usize::from(read < digits))? == 1 {
            read += 1;
            if read > 48 {
                return Err(Undecodable);
            }
        }
        let first = 1u64 << read;
        Ok(first | self.uniform(first, want.max(1) & !(1 << digits))?)
    }
}

/// What [`Coder::number`] costs.
pub(crate) fn number_cost(number: u64) -> Cost {
    Cost::whole(2 * u64::from(number.max(1).ilog2()) + 1)
}

/// A choice that was made: from where, how wide, of how many.
type Step = (u64, u64, u64);

/// Weighs what is written, and keeps it.
#[derive(Clone, Debug, Default)]
pub struct Scale {
    steps: Vec<Step>,
    cost: Cost,
}

impl Scale {
    /// What was written until now.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.cost
    }

    fn push(&mut self, step: Step) -> Result<(), Undecodable> {
        if step.1 == 0 {
            return Err(Undecodable);
        }
        self.cost += Cost::of(step.2, step.1);
        // What is certain says nothing.
        if step.1 != step.2 {
            self.steps.push(step);
        }
        Ok(())
    }

    /// The bits, the first in the highest place of the first byte, and how many there are: at most two more than
    /// the cost says.
    #[must_use]
    pub fn bits(&self) -> (Vec<u8>, usize) {
        // The interval begins at low / of and is wide / of.
        let (mut low, mut wide, mut of) = (BigUint::ZERO, BigUint::from(1u32), BigUint::from(1u32));
        for &(from, width, parts) in &self.steps {
            low = low * parts + &wide * from;
            wide *= width;
            of *= parts;
        }
        let end = &low + &wide;
        let mut count = (of.bits() - wide.bits()) as usize;
        loop {
            // The first fraction of so many bits that is not below the interval.
            let at: BigUint = ((&low << count) + &of - 1u32) / &of;
            if (&at + 1u32) * &of <= &end << count {
                let pad = count.next_multiple_of(8) - count;
                let digits = (at << pad).to_bytes_be();
                let mut bytes = vec![0; count.div_ceil(8)];
                let from = bytes.len().saturating_sub(digits.len());
                let to = bytes.len();
                bytes[from..to].copy_from_slice(&digits[digits.len() - (to - from)..]);
                return (bytes, count);
            }
            count += 1;
        }
    }
}

impl Coder for Scale {
    fn choose(&mut self, weights: &[u32], want: usize) -> Result<usize, Undecodable> {
        let width = u64::from(*weights.get(want).ok_or(Undecodable)?);
        let from = weights[..want].iter().copied().map(u64::from).sum();
        self.push((from, width, weights.iter().copied().map(u64::from).sum()))?;
        Ok(want)
    }

    fn uniform(&mut self, of: u64, want: u64) -> Result<u64, Undecodable> {
        if want >= of {
            return Err(Undecodable);
        }
        self.push((want, 1, of))?;
        Ok(want)
    }
}

/// Learns from bits which choices were made.
#[derive(Clone, Debug)]
pub struct Decoder {
    /// What is left is the fraction `value / of`.
    value: BigUint,
    of: BigUint,
    cost: Cost,
    /// More than so much was not written: where bits end, nothing follows for ever.
    most: Cost,
}

impl Decoder {
    /// From bits as [`Scale::bits`] gives them.
    #[must_use]
    pub fn new(bytes: &[u8], count: usize) -> Decoder {
        let pad = (8 * bytes.len()).saturating_sub(count);
        let value = BigUint::from_bytes_be(bytes) >> pad;
        // What is written costs no more than its bits, but for the rounding of the cost.
        let most = Cost::whole(count as u64 + count as u64 / 1024 + 2);
        Decoder { value, of: BigUint::from(1u32) << count, cost: Cost::ZERO, most }
    }

    /// What was read until now would have cost so much to write.
    #[must_use]
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Which of the parts the fraction lies in, given where each begins.
    fn place(&self, parts: u64) -> u64 {
        let place: BigUint = (&self.value * parts) / &self.of;
        place.iter_u64_digits().next().unwrap_or(0)
    }

    fn enter(&mut self, (from, width, parts): Step) -> Result<(), Undecodable> {
        self.cost += Cost::of(parts, width);
        if self.cost > self.most {
            return Err(Undecodable);
        }
        self.value = &self.value * parts - &self.of * from;
        self.of *= width;
        Ok(())
    }
}

impl Coder for Decoder {
    fn choose(&mut self, weights: &[u32], _: usize) -> Result<usize, Undecodable> {
        let parts: u64 = weights.iter().copied().map(u64::from).sum();
        if parts == 0 {
            return Err(Undecodable);
        }
        let (place, mut from) = (self.place(parts), 0);
        for (which, &width) in weights.iter().enumerate() {
            let width = u64::from(width);
            if place < from + width {
                self.enter((from, width, parts))?;
                return Ok(which);
            }
            from += width;
        }
        Err(Undecodable)
    }

    fn uniform(&mut self, of: u64, _: u64) -> Result<u64, Undecodable> {
        if of == 0 {
            return Err(Undecodable);
        }
        let place = self.place(of);
        self.enter((place, 1, of))?;
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut rng = ChaCha8Rng::seed_from_u64(4);
        for _ in 0..300 {
            let mut scale = Scale::default();
            let mut said: Vec<(Vec<u32>, u64)> = Vec::new();
            for _ in 0..rng.gen_range(0..30) {
                let weights: Vec<u32> =
                    (0..rng.gen_range(1..6)).map(|_| rng.gen_range(0..9)).collect();
                let open: Vec<usize> = (0..weights.len()).filter(|&it| weights[it] > 0).collect();
                if rng.r#gen() && !open.is_empty() {
                    let want = open[rng.gen_range(0..open.len())];
                    scale.choose(&weights, want).unwrap();
                    said.push((weights, want as u64));
                } else {
                    let want = rng.gen_range(1..1000);
                    scale.number(want).unwrap();
                    said.push((Vec::new(), want));
                }
            }
            let (bytes, count) = scale.bits();
            assert!(count as f64 <= scale.cost().bits() + 2.0);
            let mut decoder = Decoder::new(&bytes, count);
            for (weights, want) in said {
                let read = match &weights[..] {
                    [] => decoder.number(1).unwrap(),
                    _ => decoder.choose(&weights, 0).unwrap() as u64,
                };
                assert_eq!(read, want);
            }
            assert_eq!(decoder.cost(), scale.cost());
        }
    }

    #[test]
    fn what_has_no_weight_cannot_be_said() {
        let mut scale = Scale::default();
        assert_eq!(scale.choose(&[1, 0], 1), Err(Undecodable));
        assert_eq!(scale.choose(&[1], 1), Err(Undecodable));
        assert_eq!(scale.uniform(3, 3), Err(Undecodable));
        assert_eq!(Decoder::new(&[], 0).choose(&[0, 0], 0), Err(Undecodable));
    }
}
