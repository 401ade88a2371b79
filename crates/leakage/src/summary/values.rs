//! The summary of a bit-vector term: what is known of its values when the input is random.
//!
//! The input's bytes are drawn independently, each uniformly from its domain (all 256 values, or
//! those that the tests on that byte alone allow). A byte may instead be *held*: it has one value,
//! which nobody knows. Every field is a sound statement about the distribution of the term's
//! value: an *image* is a value that occurs for some input. Nothing here knows which input
//! was private, nor what the term is compared with.

use stunt_terms::{Facts, mask};

use crate::rounding::{down, log2_up, scaled, times, up};

/// What is known of a term's values. Probabilities are over random inputs; bits are `-log2`.
#[derive(Clone, Debug)]
pub struct Values {
    /// The width in bits.
    pub width: u8,
    /// No image is below this.
    pub min: u128,
    /// No image is above this.
    pub max: u128,
    /// No image, read as signed, is below this.
    pub low: i128,
    /// No image, read as signed, is above this.
    pub high: i128,
    /// Bits that are 0 in every image.
    pub zeros: u128,
    /// Bits that are 1 in every image.
    pub ones: u128,
    /// There are at least so many images.
    pub least: u128,
    /// There are at most so many images; `u128::MAX` also stands for one more.
    pub most: u128,
    /// Every image has at least the probability 2^-rarest (Castro's lower density).
    pub rarest: f64,
    /// No value has a greater probability (the higher density).
    pub commonest: f64,
    /// All images have the same probability.
    pub homogeneous: bool,
    /// Each of these bits is 0 or 1 with the same probability, whatever all bits below it are. So
    /// they are uniform together, too.
    pub uniform: u128,
    /// Masked-homogeneous: exactly these bits are uniform, and each other bit is constant, with
    /// a known value (`zeros`, `ones`) or not. The paper's `v`; its `w` is `ones`.
    pub masked: Option<u128>,
}

impl Values {
    /// Nothing is known but the width. An input has at least the probability `2^-size`.
    pub fn unknown(width: u8, size: f64) -> Values {
        let half = 1i128 << (width - 1).min(126);
        let (low, high) = match width {
            128 => (i128::MIN, i128::MAX),
            _ => (-half, half - 1),
        };
        Values {
            width,
            min: 0,
            max: mask(width),
            low,
            high,
            zeros: 0,
            ones: 0,
            least: 1,
            most: u128::MAX,
            rarest: size,
            commonest: 1.0,
            homogeneous: false,
            uniform: 0,
            masked: None,
        }
    }

    /// The constant `value`.
    pub fn constant(width: u8, value: u128) -> Values {
        let base = Values { min: value, max: value, ..Values::unknown(width, 0.0) };
        base.settled(0.0)
    }

    /// From the values for all inputs of an equally likely kind, in any order.
    pub fn listed(width: u8, mut values: Vec<u128>) -> Values {
        values.sort_unstable();
        let total = values.len();
        let size = log2_up(total as u128);
        let (min, max) = (values[0], values[total - 1]);
        let ones = values.iter().fold(mask(width), |all, v| all & v);
        let some = values.iter().fold(0, |any, v| any | v);
        let zeros = !some & mask(width);
        let uniform = uniform_bits(&values, some & !ones);
        let counts = values.chunk_by(|a, b| a == b).map(<[u128]>::len);
        let images = counts.clone().count() as u128;
        let fewest = counts.clone().min().expect("there is a value");
        let most = counts.max().expect("there is a value");
        let signs = values.iter().map(|&v| signed(width, v));
        Values {
            min,
            max,
            low: signs.clone().min().expect("there is a value"),
            high: signs.max().expect("there is a value"),
            zeros,
            ones,
            least: images,
            most: images,
            rarest: up((total as f64 / fewest as f64).log2()),
            commonest: up(most as f64 / total as f64).min(1.0),
            homogeneous: fewest == most,
            uniform,
            // As many equally likely images as the varying bits have combinations: all of them.
            masked: (fewest == most && images == power(f64::from((some & !ones).count_ones())))
                .then_some(some & !ones),
            ..Values::unknown(width, size)
        }
        .settled(size)
    }

    /// The same term when the bytes below it are held: one image, within the known bounds.
    #[must_use]
    pub fn held(&self) -> Values {
        Values { least: 1, most: 1, homogeneous: true, uniform: 0, masked: Some(0), ..self.clone() }
            .settled(0.0)
    }

    /// Adds what holds for all inputs.
    #[must_use]
    pub fn with_facts(mut self, facts: Facts) -> Values {
        self.min = self.min.max(facts.min);
        self.max = self.max.min(facts.max);
        self.zeros |= facts.zeros;
        self.ones |= facts.ones;
        self
    }

    /// Lets the statements learn from each other. `size` is `log2` of the number of inputs that
    /// matter: every image has at least one of them, so its probability is at least `2^-size`.
    #[must_use]
    pub fn settled(mut self, size: f64) -> Values {
        let all = mask(self.width);
        self.settle_bounds();
        if self.min == self.max {
            self.zeros = !self.min & all;
            self.ones = self.min;
            self.low = signed(self.width, self.min);
            self.high = self.low;
            self.most = 1;
        }
        if self.uniform == all {
            self.masked = Some(all);
        }
        if let Some(v) = self.masked {
            self.uniform = v;
            self.homogeneous = true;
            // Not above 2^|v|, which for all of 128 bits does not fit.
            self.least = power(f64::from(v.count_ones()));
            self.most = self.least;
            self.rarest = f64::from(v.count_ones());
        }
        self.rarest = self.rarest.min(size);
        // m images of at least 2^-rarest each: m is at most 2^rarest.
        self.most = self
            .most
            .min((self.max - self.min).saturating_add(1))
            .min(power(f64::from(self.varying().count_ones())))
            .min(power(self.rarest));
        if self.most == 1 {
            self.least = 1;
            self.rarest = 0.0;
            self.commonest = 1.0;
            self.homogeneous = true;
            self.uniform = 0;
            self.masked = Some(0);
            return self;
        }
        // m images of at most `commonest` each: m is at least its inverse.
        let inverse = down(1.0 / self.commonest).ceil() as u128;
        let combinations = power(f64::from(self.uniform.count_ones()));
        self.least = self.least.max(inverse).max(combinations).min(self.most);
        if self.homogeneous {
            self.rarest = self.rarest.min(log2_up(self.most));
            self.commonest = self.commonest.min(up(1.0 / self.least as f64));
        }
        self.commonest = self.commonest.min((-f64::from(self.uniform.count_ones())).exp2());
        // The other images take at least 2^-rarest each.
        let others = down((self.least - 1) as f64 * down((-up(self.rarest)).exp2()));
        self.commonest = self.commonest.min(up(1.0 - others)).min(1.0);
        self
    }

    /// Bounds, signed bounds and known bits agree afterwards.
    fn settle_bounds(&mut self) {
        let all = mask(self.width);
        let sign = 1u128 << (self.width - 1);
        self.min = self.min.max(self.ones);
        self.max = self.max.min(!self.zeros & all);
        if self.low >= 0 || self.high < 0 {
            self.min = self.min.max(self.low as u128 & all);
            self.max = self.max.min(self.high as u128 & all);
        }
        if self.max < sign || self.min >= sign {
            self.low = self.low.max(signed(self.width, self.min));
            self.high = self.high.min(signed(self.width, self.max));
        }
        if self.min > self.max || self.low > self.high {
            // No input at all: any statement holds. Keep the summary in shape.
            *self = Values { ..Values::unknown(self.width, self.rarest) };
        }
    }

    /// Bits that are not known to be constant.
    pub fn varying(&self) -> u128 {
        match self.masked {
            Some(v) => v,
            None => mask(self.width) & !(self.zeros | self.ones),
        }
    }

    /// Whether there is only one image, known or not.
    pub fn is_fixed(&self) -> bool {
        self.most == 1
    }

    /// The value, if it is the only one and known.
    pub fn known(&self) -> Option<u128> {
        (self.min == self.max).then_some(self.min)
    }

    /// Whether every value from `min` to `max` is an image, all with the same probability.
    pub fn is_even(&self) -> bool {
        self.homogeneous && self.least > self.max - self.min
    }

    /// The signed reading as an unsigned one: order is kept when the sign bit is flipped.
    #[must_use]
    pub fn sign_flipped(&self) -> Values {
        let all = mask(self.width);
        let sign = 1u128 << (self.width - 1);
        Values {
            min: (self.low as u128 & all) ^ sign,
            max: (self.high as u128 & all) ^ sign,
            zeros: self.zeros & !sign | self.ones & sign,
            ones: self.ones & !sign | self.zeros & sign,
            ..self.clone()
        }
    }

    /// The distribution of an injective function of this one; bounds and bits are not filled in.
    pub(crate) fn injective(&self, width: u8) -> Values {
        Values {
            least: self.least,
            most: self.most,
            rarest: self.rarest,
            commonest: self.commonest,
            homogeneous: self.homogeneous,
            ..Values::unknown(width, f64::INFINITY)
        }
    }

    /// The distribution of a function that maps at most `fold` images of this one to one value.
    /// An image of the function has all inputs of an image of this one, so none gets rarer.
    pub(crate) fn folded(&self, width: u8, fold: u128) -> Values {
        Values {
            least: self.least.div_ceil(fold.max(1)),
            most: self.most,
            rarest: self.rarest,
            commonest: scaled(fold, self.commonest),
            ..Values::unknown(width, f64::INFINITY)
        }
    }
}

/// How two terms' bytes relate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Joint {
    /// No free byte is in both, or one of them has only one image.
    pub independent: bool,
    /// `log2` of the number of inputs over the bytes of both.
    pub size: f64,
}

impl Joint {
    /// The distribution of any function of the two values.
    pub(crate) fn any(self, width: u8, a: &Values, b: &Values) -> Values {
        let rarest = if self.independent { a.rarest + b.rarest } else { self.size };
        let most = a.most.saturating_mul(b.most);
        Values { most, ..Values::unknown(width, rarest.min(self.size)) }
    }

    /// The distribution of a function from which, with either value, the other can be told: sums
    /// and exclusive ors. With independent operands, whatever the one is, the other decides the
    /// result one to one, so no value is commoner than the operand's commonest.
    pub(crate) fn latin(self, width: u8, a: &Values, b: &Values) -> Values {
        if b.is_fixed() {
            return a.injective(width);
        }
        if a.is_fixed() {
            return b.injective(width);
        }
        let mut result = self.any(width, a, b);
        if self.independent {
            result.least = a.least.max(b.least);
            result.commonest = a.commonest.min(b.commonest);
        }
        result
    }

    /// The distribution of a function from which both values can be told: concatenation.
    pub(crate) fn pair(self, width: u8, a: &Values, b: &Values) -> Values {
        let result = self.any(width, a, b);
        if self.independent {
            Values {
                least: a.least.saturating_mul(b.least),
                commonest: times(a.commonest, b.commonest),
                homogeneous: a.homogeneous && b.homogeneous,
                ..result
            }
        } else {
            Values {
                least: a.least.max(b.least),
                commonest: a.commonest.min(b.commonest),
                ..result
            }
        }
    }
}

/// `2^bits`, not below it, as a count; `u128::MAX` if it does not fit.
pub(crate) fn power(bits: f64) -> u128 {
    if bits.fract() == 0.0 && (0.0..128.0).contains(&bits) {
        1 << bits as u32
    } else if bits < 127.5 {
        up(bits.exp2()) as u128
    } else {
        u128::MAX
    }
}

/// A value read as a signed number.
pub(crate) fn signed(width: u8, value: u128) -> i128 {
    let unused = 128 - u32::from(width);
    ((value << unused) as i128) >> unused
}

/// The bits that are 0 and 1 equally often among the values that agree in all bits below.
fn uniform_bits(values: &[u128], varying: u128) -> u128 {
    let mut bits = 0u128;
    for bit in (0..128u8).filter(|bit| varying >> bit & 1 == 1) {
        let below = mask(bit);
        let mut by_low: Vec<u128> = values.iter().map(|v| v & (below | 1 << bit)).collect();
        by_low.sort_unstable_by_key(|v| v & below);
        let even = by_low
            .chunk_by(|a, b| a & below == b & below)
            .all(|same| 2 * same.iter().filter(|&&v| v >> bit & 1 == 1).count() == same.len());
        bits |= u128::from(even) << bit;
    }
    bits
}
