//! Where the bytes of a mapped file come from.

use super::Mark;

/// The content of a file, as of now. Whoever changes the file brings a new source
/// ([`AddressSpace::refresh`](super::AddressSpace::refresh)).
pub trait Source: Send + Sync {
    /// Fills `buffer` from `offset` on; gives how many bytes there were before the end.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> usize;

    /// The size in bytes.
    fn size(&self) -> u64;

    /// Which file this is: equal for two sources of the same file, whatever their content.
    fn identity(&self) -> u64;

    /// Whether any byte is marked.
    fn is_marked(&self) -> bool {
        false
    }

    /// What the byte at `offset` stands for, if for more than its value.
    fn mark(&self, _offset: u64) -> Option<Mark> {
        None
    }
}
