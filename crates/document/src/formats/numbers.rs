//! Numbers in bytes: read if they are there, written with as many bytes as the field has.

/// `N` bytes at a place.
pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

pub(crate) fn le16(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(|field| u64::from(u16::from_le_bytes(field)))
}

pub(crate) fn le32(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(|field| u64::from(u32::from_le_bytes(field)))
}

pub(crate) fn le64(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_le_bytes)
}

pub(crate) fn be16(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(|field| u64::from(u16::from_be_bytes(field)))
}

pub(crate) fn be32(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(|field| u64::from(u32::from_be_bytes(field)))
}

pub(crate) fn be64(bytes: &[u8], at: usize) -> Option<u64> {
    array(bytes, at).map(u64::from_be_bytes)
}

/// The low `N` bytes of a number, the lowest first.
pub(crate) fn le<const N: usize>(number: u64) -> [u8; N] {
    let bytes = number.to_le_bytes();
    std::array::from_fn(|at| bytes[at])
}

/// The low `N` bytes of a number, the highest first.
pub(crate) fn be<const N: usize>(number: u64) -> [u8; N] {
    let bytes = number.to_be_bytes();
    std::array::from_fn(|at| bytes[8 - N + at])
}

/// A position or length, if this machine can have it.
pub(crate) fn size(number: u64) -> Option<usize> {
    usize::try_from(number).ok()
}
