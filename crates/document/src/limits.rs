//! How far a parse may go.
//!
//! Whatever is beyond a limit stays a leaf: a bomb is not unpacked, and nothing is refused.

/// What one parse may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// All that may be unpacked, in bytes. What was unpacked in vain counts, too.
    pub bytes: usize,
    /// How many nodes the tree may have.
    pub nodes: usize,
    /// How many nodes may lie inside one another.
    pub depth: usize,
}

impl Limits {
    /// No more than one leaf: the bytes as they are.
    pub const FLAT: Limits = Limits { bytes: 0, nodes: 1, depth: 0 };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bytes: 512 << 20, nodes: 200_000, depth: 40 }
    }
}
