//! The bytes of a file, in memory or mapped from it.
//!
//! Always holds: the bytes stay where they are for as long as somebody has them, and clones share
//! them. A mapped file costs by what is looked at, not by its size: of a library of megabytes a few
//! tables are read. Whoever maps a file expects what everybody expects who runs programs from it:
//! that it is replaced by a new file, as linkers and package managers do, and not written over. What
//! the bytes mean is not known here.

#![allow(unsafe_code)]

use std::fmt;
use std::fs::File;
use std::ops::Deref;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

/// The bytes of a file. Cloning shares them.
#[derive(Clone)]
pub struct Bytes(Held);

#[derive(Clone)]
enum Held {
    Here(Arc<[u8]>),
    Mapped(Arc<Map>),
}

/// Which file it was, and how it was when it was mapped: device, number, size, time of its last
/// change.
type Stamp = (u64, u64, u64, i64, i64);

/// A file that is mapped as a whole, for reading.
struct Map {
    start: *const u8,
    length: usize,
    stamp: Stamp,
}

// SAFETY: a map is a pointer to memory that it owns and that nobody writes through it.
unsafe impl Send for Map {}
// SAFETY: as above; all that can be done with a shared map is to read.
unsafe impl Sync for Map {}

impl Map {
    fn new(file: &File) -> Option<Self> {
        let it = file.metadata().ok().filter(|it| it.is_file() && it.size() > 0)?;
        let stamp = (it.dev(), it.ino(), it.size(), it.ctime(), it.ctime_nsec());
        let length = usize::try_from(it.size()).ok()?;
        // SAFETY: a fresh mapping at an address of the kernel's choice touches nothing that exists.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ,
                libc::MAP_PRIVATE,
                file.as_raw_fd(),
                0,
            )
        };
        (start != libc::MAP_FAILED).then(|| Self { start: start.cast(), length, stamp })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the mapping has `length` bytes, can be read, and stays until the drop. Nobody
        // writes to it; that nobody writes to the file is what the head of this module asks for.
        unsafe { std::slice::from_raw_parts(self.start, self.length) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the mapping is the one that `new` made, and no reference to it is left.
        unsafe { libc::munmap(self.start.cast_mut().cast(), self.length) };
    }
}

impl Bytes {
    /// Maps a file. Nothing if it is no regular file, is empty, or cannot be mapped.
    #[must_use]
    pub fn map(file: &File) -> Option<Self> {
        Some(Self(Held::Mapped(Arc::new(Map::new(file)?))))
    }

    /// The bytes, if they are not those of a map.
    pub(super) fn here(&self) -> Option<&Arc<[u8]>> {
        match &self.0 {
            Held::Here(bytes) => Some(bytes),
            Held::Mapped(_) => None,
        }
    }

    /// Whether both are the same bytes. Maps of one file are not read for this.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Held::Mapped(a), Held::Mapped(b)) => a.stamp == b.stamp,
            (Held::Here(a), Held::Here(b)) if Arc::ptr_eq(a, b) => true,
            _ => **self == **other,
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Held::Here(bytes) => bytes,
            Held::Mapped(map) => map.bytes(),
        }
    }
}

// SAFETY: what it dereferences to is behind an `Arc`, and does not move with the value.
unsafe impl gimli::StableDeref for Bytes {}
// SAFETY: clones share the `Arc`, and so dereference to the same bytes.
unsafe impl gimli::CloneStableDeref for Bytes {}

impl From<Arc<[u8]>> for Bytes {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self(Held::Here(bytes))
    }
}

impl From<&Arc<[u8]>> for Bytes {
    fn from(bytes: &Arc<[u8]>) -> Self {
        Arc::clone(bytes).into()
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Held::Here(bytes.into()))
    }
}

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({})", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapped_file_has_the_bytes_of_the_file() {
        let path = "/lib/x86_64-linux-gnu/libc.so.6";
        let whole = std::fs::read(path).expect("the C library");
        let file = File::open(path).expect("the C library");
        let (mapped, again) =
            (Bytes::map(&file).expect("a map"), Bytes::map(&file).expect("a map"));
        assert!(*mapped == *whole);
        assert!(mapped.same(&again) && mapped.same(&Bytes::from(whole)));
        assert!(!mapped.same(&Bytes::from(vec![1, 2, 3])));
        let clone = mapped.clone();
        drop(mapped);
        assert_eq!(clone[..4], *b"\x7fELF");
        assert_eq!(format!("{clone:?}"), format!("Bytes({})", clone.len()));
    }

    #[test]
    fn what_is_no_file_is_not_mapped() {
        for path in ["/", "/dev/null", "/proc/self/maps"] {
            assert!(Bytes::map(&File::open(path).expect("it is there")).is_none(), "{path}");
        }
    }
}
