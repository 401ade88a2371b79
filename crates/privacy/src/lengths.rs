//! Shorter doubles: the claim of `--resize` beside what is really learned.
//!
//! Programs here take inputs of any length, over a small alphabet. Every input up to some length that
//! fails is an original; each is reduced, and weakened without a path, as the tool does it. A double
//! may have any length up to the original's, and which one it has may tell something. The claim
//! counts that, for originals of all lengths as it believes in them; what is really learned on average
//! over those shows whether it counts enough. The same for doubles that are filled up to the original's length
//! where that claims less (`--resize=auto`); there that length, which is given away, is counted here.

use rustc_hash::FxHashMap;
use stunt_anonymize::{Method, Options, Resize};
use stunt_search::weaken::length_bits;
use stunt_terms::Pool;

use crate::anonymiser::{Function, Problem, Small, TIME};
use crate::walk::Walk;

/// What a claim may be below a figure from samples, in bits.
const SAMPLING: f64 = 0.03;

/// A program over inputs of any length.
pub struct Lengthy {
    /// What it is called.
    pub name: &'static str,
    /// What bytes may be: with any other it ends well.
    pub alphabet: &'static [u8],
    /// How long originals are at most.
    pub length: u32,
    body: fn(&[u8]) -> bool,
}

/// All of them.
pub static LENGTHY: [Lengthy; 3] = [
    // A length that says nothing: one byte is enough.
    Lengthy { name: "mark", alphabet: b"#ab", length: 4, body: |input| input.contains(&b'#') },
    // A length that tells how far the mark was from the start.
    Lengthy {
        name: "first",
        alphabet: b"#ab",
        length: 4,
        body: |input| input.iter().position(|&byte| byte == b'#').is_some_and(|at| at % 2 == 1),
    },
    // A length that must be kept: every byte counts.
    Lengthy {
        name: "pairs",
        alphabet: b"()x",
        length: 4,
        body: |input| {
            let opened = input.iter().filter(|&&byte| byte == b'(').count();
            let closed = input.iter().filter(|&&byte| byte == b')').count();
            opened == closed && opened > 0
        },
    },
];

/// What came of a program.
pub struct Shortened {
    /// How many originals there are.
    pub failing: usize,
    /// Mean of the claims.
    pub claim: f64,
    /// What is learned on average, the failure itself included.
    pub truth: f64,
    /// The mean length of doubles of the longest originals.
    pub length: f64,
}

impl Shortened {
    /// Whether the claim does not hold.
    pub fn flagged(&self) -> bool {
        self.claim < self.truth - SAMPLING
    }
}

impl Lengthy {
    /// Whether it fails on an input.
    pub fn fails(&self, input: &[u8]) -> bool {
        input.iter().all(|byte| self.alphabet.contains(byte)) && (self.body)(input)
    }

    /// All originals, with what is believed of each.
    pub fn failing(&self) -> Vec<(Vec<u8>, f64)> {
        let mut all: Vec<Vec<u8>> = vec![Vec::new()];
        let (mut from, mut failing) = (0, Vec::new());
        for _ in 0..self.length {
            let to = all.len();
            for at in from..to {
                for &byte in self.alphabet {
                    all.push([&all[at][..], &[byte]].concat());
                }
            }
            from = to;
        }
        for input in all.into_iter().filter(|input| self.fails(input)) {
            let belief = (-8.0 * input.len() as f64 - length_bits([input.len()])).exp2();
            failing.push((input, belief));
        }
        failing
    }

    /// Shorter doubles of every original, each with so many seeds.
    ///
    /// # Errors
    /// An original has no double.
    pub fn shortened(&'static self, seeds: u64) -> Result<Shortened, Problem> {
        self.learned(&self.failing(), seeds, |own, seed| self.double(own, Resize::Always, seed))
    }

    /// Doubles of every original: shorter, or filled up to its length where that claims less.
    ///
    /// # Errors
    /// An original has no double.
    pub fn chosen(&'static self, seeds: u64) -> Result<Shortened, Problem> {
        self.learned(&self.failing(), seeds, |own, seed| self.double(own, Resize::Auto, seed))
    }

    /// What is learned from doubles: a way to make one gives its claim, and draws from its set.
    fn learned(
        &self,
        originals: &[(Vec<u8>, f64)],
        seeds: u64,
        double: impl Fn(&[u8], u64) -> Result<(f64, Vec<Vec<u8>>), Problem>,
    ) -> Result<Shortened, Problem> {
        let believed: f64 = originals.iter().map(|(_, belief)| belief).sum();
        let (mut claim, mut lengths, mut longest) = (0.0, 0.0, 0.0);
        // The chance of each double, from each original and from all.
        let mut channels: Vec<(f64, FxHashMap<Vec<u8>, f64>)> = Vec::new();
        let mut outcomes: FxHashMap<Vec<u8>, f64> = FxHashMap::default();
        for (number, (own, belief)) in originals.iter().enumerate() {
            let weight = belief / believed;
            let mut channel: FxHashMap<Vec<u8>, f64> = FxHashMap::default();
            for seed in 0..seeds {
                let (bits, draws) = double(own, seed << 32 | number as u64)?;
                claim += weight * bits / seeds as f64;
                if own.len() == self.length as usize {
                    lengths += draws.first().map_or(0, Vec::len) as f64;
                    longest += 1.0;
                }
                let chance = 1.0 / (draws.len() as f64 * seeds as f64);
                for draw in draws {
                    *outcomes.entry(draw.clone()).or_default() += weight * chance;
                    *channel.entry(draw).or_default() += chance;
                }
            }
            channels.push((weight, channel));
        }
        let mut mutual = 0.0;
        for (weight, channel) in &channels {
            for (double, chance) in channel {
                mutual += weight * chance * (chance / outcomes[double]).log2();
            }
        }
        // What nobody can hide: that the program fails.
        let truth = mutual - believed.log2();
        Ok(Shortened { failing: originals.len(), claim, truth, length: lengths / longest })
    }

    /// The claim of a double, and draws from the set that it comes from.
    fn double(
        &'static self,
        own: &[u8],
        resize: Resize,
        seed: u64,
    ) -> Result<(f64, Vec<Vec<u8>>), Problem> {
        let options = Options {
            resize,
            seed: Some(seed),
            time: Some(TIME),
            effort: 100_000,
            ..Options::new(Method::Blackbox)
        };
        let small = Small::new(own, self);
        let found = small.search(&options)?;
        let claim = found.drawn.measured.total.value();
        let draws = small.draws(&found).unwrap_or_else(|| found.drawn.double.bytes.clone());
        if !found.is_shorter {
            // It gives the original's length away.
            return Ok((claim + length_bits([own.len()]), draws));
        }
        if resize == Resize::Always {
            return Ok((claim, draws));
        }
        // The report says which kind it has.
        let marked = draws.into_iter().map(|draw| [&draw[..], b"shorter"].concat());
        Ok((claim, marked.collect()))
    }
}

impl Function for &'static Lengthy {
    fn fails(&self, input: &[u8]) -> bool {
        Lengthy::fails(self, input)
    }

    fn walk(&self, _input: &[u8], _pool: &mut Pool) -> Option<Walk> {
        None
    }
}
