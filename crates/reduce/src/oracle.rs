//! Who runs the program: asked whether it fails on an input as it did on the original.

use std::error::Error;

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
