//! Who runs the program: asked whether it fails on an input as it did on the original.

use std::error::Error;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

/// Why there is no answer: the program cannot be run any more.
pub type Broken = Box<dyn Error + Send + Sync>;

/// How many candidates of a shorter or plainer input are tried at once: enough to keep some processors busy, and
/// the same number on all hosts, so that the same seed gives the same double.
pub(crate) const AT_ONCE: usize = 4;

/// Runs the program on candidates.
pub trait Oracle {
    /// For each input, source by source, whether the program fails on it as on the original. A run
    /// that takes too long does not fail.
    ///
    /// # Errors
    /// The program cannot be run.
    fn fails(&mut self, inputs: &[Vec<Vec<u8>>]) -> Result<Vec<bool>, Broken>;

    /// How many runs are under way at once.
    fn width(&self) -> usize {
        1
    }
}

impl<F: FnMut(&[Vec<u8>]) -> bool> Oracle for F {
    fn fails(&mut self, inputs: &[Vec<Vec<u8>>]) -> Result<Vec<bool>, Broken> {
        Ok(inputs.iter().map(|input| self(input)).collect())
    }
}

/// Candidates that did not fail, by their hashes.
#[derive(Default)]
pub struct InVain(FxHashSet<u64>);

impl InVain {
    /// Whether this one is not among them. It is from now on.
    pub(crate) fn insert(&mut self, candidate: &[Vec<u8>]) -> bool {
        self.0.insert(hash(candidate))
    }

    /// It may be tried again.
    pub(crate) fn remove(&mut self, candidate: &[Vec<u8>]) {
        self.0.remove(&hash(candidate));
    }
}

/// An oracle that is not asked twice about what did not fail: who goes on with an input that was reduced before
/// begins with what was tried before.
pub struct Remembering<'a> {
    oracle: &'a mut dyn Oracle,
    in_vain: &'a mut InVain,
}

impl<'a> Remembering<'a> {
    /// With what is remembered already.
    pub fn new(oracle: &'a mut dyn Oracle, in_vain: &'a mut InVain) -> Self {
        Self { oracle, in_vain }
    }
}

impl Oracle for Remembering<'_> {
    fn fails(&mut self, inputs: &[Vec<Vec<u8>>]) -> Result<Vec<bool>, Broken> {
        let is_open: Vec<bool> =
            inputs.iter().map(|input| !self.in_vain.0.contains(&hash(input))).collect();
        let open = inputs.iter().zip(&is_open).filter(|(_, is_open)| **is_open);
        let open: Vec<Vec<Vec<u8>>> = open.map(|(input, _)| input.clone()).collect();
        let mut results = match open.is_empty() {
            true => Vec::new(),
            false => self.oracle.fails(&open)?,
        }
        .into_iter();
        let mut fails = Vec::new();
        for (input, is_open) in inputs.iter().zip(is_open) {
            let failed = is_open && results.next().unwrap_or(false);
            if !failed {
                self.in_vain.insert(input);
            }
            fails.push(failed);
        }
        Ok(fails)
    }

    fn width(&self) -> usize {
        self.oracle.width()
    }
}

fn hash(input: &[Vec<u8>]) -> u64 {
    let mut hasher = FxHasher::default();
    input.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_did_not_fail_is_not_run_again() {
        let mut runs = Vec::new();
        let mut in_vain = InVain::default();
        let mut oracle = |input: &[Vec<u8>]| {
            runs.push(input[0][0]);
            input[0][0] == b'x'
        };
        let all: Vec<Vec<Vec<u8>>> = b"axb".iter().map(|&it| vec![vec![it]]).collect();
        for _ in 0..2 {
            let mut remembering = Remembering::new(&mut oracle, &mut in_vain);
            assert_eq!(remembering.fails(&all).expect("it cannot break"), [false, true, false]);
        }
        assert_eq!(runs, b"axbx");
    }
}
