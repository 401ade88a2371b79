//! What a file holds: a host file as far as it is unchanged, and changed pages in memory.
//!
//! A page is copied from the host when it is written for the first time; a clone shares all pages,
//! so a snapshot of a large file costs nothing and the first write after it costs one page. What a
//! file is called, and who may read it, is not known here.

use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use imbl::OrdMap;

use super::marks::HeldMarks;
use crate::linux::abi::PAGE;
use crate::linux::errno::Errno;
use crate::linux::inputs::FileInput;
use crate::memory::Mark;

/// One page of a file.
pub type Page = [u8; PAGE];

/// The bytes of a regular file.
#[derive(Clone, Default)]
pub struct Content {
    /// The host file, and how many of its leading bytes still count.
    base: Option<(Arc<File>, u64)>,
    len: u64,
    pages: OrdMap<u64, Arc<Page>>,
    version: u64,
    /// What the bytes stand for, if any stands for more than its value.
    marks: Option<Arc<HeldMarks>>,
}

/// Sizes only: what a file holds may be private.
impl fmt::Debug for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Content")
            .field("len", &self.len)
            .field("host", &self.base.as_ref().map(|base| base.1))
            .field("pages", &self.pages.len())
            .field("version", &self.version)
            .finish()
    }
}

impl Content {
    /// An empty file.
    pub fn new() -> Content {
        Content::default()
    }

    /// A file with these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Content {
        let mut content = Content::new();
        content.write_at(0, bytes);
        content
    }

    /// A host file of `len` bytes; it is read when and where it is needed.
    pub fn from_host(file: Arc<File>, len: u64) -> Content {
        Content { base: Some((file, len)), len, ..Content::default() }
    }

    /// How many bytes it has.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A number that changes with every change of the bytes or the length.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Reads from `offset` on; fewer bytes than asked only at the end. A host file that cannot be
    /// read, or has become shorter, is an `EIO`.
    pub fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<usize, Errno> {
        let count = self.len.saturating_sub(offset).min(into.len() as u64) as usize;
        let mut done = 0;
        while done < count {
            let at = offset + done as u64;
            let (index, start) = (at / PAGE as u64, (at % PAGE as u64) as usize);
            match self.pages.get(&index) {
                Some(page) => {
                    let size = (PAGE - start).min(count - done);
                    into[done..done + size].copy_from_slice(&page[start..start + size]);
                    done += size;
                }
                None => {
                    // Up to the next changed page in one go: most files are never changed.
                    let next = self.pages.range(index..).next();
                    let end = next.map_or(u64::MAX, |(&next, _)| next * PAGE as u64);
                    let size = (end - at).min((count - done) as u64) as usize;
                    self.read_base(at, &mut into[done..done + size])?;
                    done += size;
                }
            }
        }
        Ok(count)
    }

    /// The host file, if this is all of it and nothing was changed.
    pub fn host_file(&self) -> Option<&File> {
        let (file, base) = self.base.as_ref()?;
        (self.pages.is_empty() && *base == self.len).then_some(file)
    }

    /// Bytes as they were before any change: from the host, and zero behind it.
    fn read_base(&self, offset: u64, into: &mut [u8]) -> Result<(), Errno> {
        let mut from_host = 0;
        if let Some((file, len)) = &self.base {
            from_host = len.saturating_sub(offset).min(into.len() as u64) as usize;
            file.read_exact_at(&mut into[..from_host], offset).map_err(|_| Errno::EIO)?;
        }
        into[from_host..].fill(0);
        Ok(())
    }

    /// The page at `index`, if it is held in memory.
    pub fn page(&self, index: u64) -> Option<&Arc<Page>> {
        self.pages.get(&index)
    }

    fn page_mut(&mut self, index: u64) -> &mut Page {
        if !self.pages.contains_key(&index) {
            let mut page = [0; PAGE];
            // A host file that shrank under our feet reads as zeros here: a write cannot fail.
            let _ = self.read_base(index * PAGE as u64, &mut page);
            self.pages.insert(index, Arc::new(page));
        }
        Arc::make_mut(self.pages.get_mut(&index).expect("inserted above"))
    }

    /// Writes at `offset`; the file grows where needed, with zeros in between.
    pub fn write_at(&mut self, offset: u64, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if let Some(marks) = &mut self.marks {
            Arc::make_mut(marks).clear(offset, bytes.len() as u64);
        }
        self.give_at(offset, bytes);
    }

    /// What the bytes stand for, if any stands for more than its value.
    pub(crate) fn marks(&self) -> Option<&HeldMarks> {
        self.marks.as_deref()
    }

    /// All bytes are those of an input.
    pub(crate) fn mark_input(&mut self, input: FileInput) {
        self.marks = Some(Arc::new(HeldMarks::of_input(input)));
    }

    /// Says what bytes stand for that were just written.
    pub(crate) fn mark(&mut self, offset: u64, marks: &[Option<Mark>]) {
        if self.marks.is_some() || marks.iter().any(Option::is_some) {
            Arc::make_mut(self.marks.get_or_insert_default()).set(offset, marks);
        }
    }

    /// The same as [`Self::write_at`], but the bytes stand for what they stood for.
    pub(crate) fn give_at(&mut self, offset: u64, bytes: &[u8]) {
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let (index, start) = (at / PAGE as u64, (at % PAGE as u64) as usize);
            let size = (PAGE - start).min(bytes.len() - done);
            if size == PAGE {
                let whole: Page = bytes[done..done + PAGE].try_into().expect("one page");
                self.pages.insert(index, Arc::new(whole));
            } else {
                self.page_mut(index)[start..start + size]
                    .copy_from_slice(&bytes[done..done + size]);
            }
            done += size;
        }
        self.len = self.len.max(offset + bytes.len() as u64);
        self.version += 1;
    }

    /// Cuts or extends with zeros.
    pub fn truncate(&mut self, len: u64) {
        if len < self.len {
            if let Some(marks) = &mut self.marks {
                Arc::make_mut(marks).truncate(len);
            }
            let first = len.div_ceil(PAGE as u64);
            self.pages = self.pages.split(&first).0;
            let tail = (len % PAGE as u64) as usize;
            if tail != 0 && self.pages.contains_key(&(len / PAGE as u64)) {
                self.page_mut(len / PAGE as u64)[tail..].fill(0);
            }
            if let Some((_, base)) = &mut self.base {
                *base = (*base).min(len);
            }
        }
        self.len = len;
        self.version += 1;
    }

    /// Makes a range read as zeros, without a change of the length.
    pub fn zero(&mut self, offset: u64, len: u64) {
        let end = offset.saturating_add(len).min(self.len);
        if let Some(marks) = &mut self.marks {
            Arc::make_mut(marks).clear(offset, end.saturating_sub(offset));
        }
        let mut at = offset;
        while at < end {
            let (index, start) = (at / PAGE as u64, (at % PAGE as u64) as usize);
            let size = (PAGE as u64 - start as u64).min(end - at) as usize;
            let from_host = self.base.as_ref().is_some_and(|base| index * PAGE as u64 <= base.1);
            if size == PAGE && !from_host {
                self.pages.remove(&index);
                // Holes are not walked through: they may be of any size.
                let next = self.pages.range(index + 1..).next().map(|(&next, _)| next);
                let last = end / PAGE as u64;
                at = next.map_or(last, |next| next.min(last)) * PAGE as u64;
                continue;
            } else {
                self.page_mut(index)[start..start + size].fill(0);
            }
            at += size as u64;
        }
        self.version += 1;
    }

    /// How many pages are held in memory.
    pub fn pages_held(&self) -> u64 {
        self.pages.len() as u64
    }

    /// How many pages take up room, as far as that can be told.
    pub fn pages_used(&self) -> u64 {
        let base = self.base.as_ref().map_or(0, |base| base.1.div_ceil(PAGE as u64));
        base + self.pages.range(base..).count() as u64
    }

    /// The first offset at or behind `offset` that holds data (`true`) or is a hole (`false`; the
    /// end of the file counts as one). None behind the last data.
    pub fn seek(&self, offset: u64, data: bool) -> Option<u64> {
        if offset >= self.len {
            return None;
        }
        let base = self.base.as_ref().map_or(0, |base| base.1.div_ceil(PAGE as u64));
        let here = offset / PAGE as u64;
        let holds = |index: u64| index < base || self.pages.contains_key(&index);
        if data {
            if holds(here) {
                return Some(offset);
            }
            let next = self.pages.range(here..).next().map(|(&next, _)| next * PAGE as u64);
            return next.filter(|&next| next < self.len);
        }
        if !holds(here) {
            return Some(offset);
        }
        let mut index = here.max(base.saturating_sub(1));
        while holds(index) {
            index += 1;
        }
        Some((index * PAGE as u64).min(self.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn all(content: &Content) -> Vec<u8> {
        let mut bytes = vec![1; content.len() as usize + 3];
        let count = content.read_at(0, &mut bytes).unwrap();
        bytes.truncate(count);
        bytes
    }

    #[test]
    fn random_changes_agree_with_a_plain_vector() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for round in 0..30 {
            let mut plain: Vec<u8> = (0..rng.gen_range(0..20_000)).map(|_| rng.r#gen()).collect();
            let path =
                std::env::temp_dir().join(format!("stunt-content-{}-{round}", std::process::id()));
            std::fs::write(&path, &plain).unwrap();
            let file = Arc::new(File::open(&path).unwrap());
            std::fs::remove_file(&path).unwrap();
            let mut content = Content::from_host(file, plain.len() as u64);
            let mut snapshots = Vec::new();
            for _ in 0..60 {
                let offset = rng.gen_range(0..24_000);
                let len = rng.gen_range(0..9000);
                match rng.gen_range(0..5) {
                    0 => {
                        content.truncate(offset as u64);
                        plain.resize(offset, 0);
                    }
                    1 => {
                        content.zero(offset as u64, len as u64);
                        let end = (offset + len).min(plain.len());
                        if offset < end {
                            plain[offset..end].fill(0);
                        }
                    }
                    2 => snapshots.push((content.clone(), plain.clone())),
                    _ => {
                        let bytes: Vec<u8> = (0..len).map(|_| rng.r#gen()).collect();
                        content.write_at(offset as u64, &bytes);
                        if len > 0 && plain.len() < offset + len {
                            plain.resize(offset + len, 0);
                        }
                        if len > 0 {
                            plain[offset..offset + len].copy_from_slice(&bytes);
                        }
                    }
                }
                assert!(all(&content) == plain);
            }
            for (content, plain) in snapshots {
                assert!(all(&content) == plain);
            }
        }
    }

    #[test]
    fn holes_are_found() {
        let mut content = Content::new();
        content.write_at(10_000, b"x");
        assert_eq!(content.seek(0, true), Some(8192));
        assert_eq!(content.seek(0, false), Some(0));
        assert_eq!(content.seek(9000, false), Some(10_001));
        assert_eq!(content.seek(10_001, true), None);
        assert_eq!(content.pages_used(), 1);
    }

    #[test]
    fn nothing_of_the_bytes_is_shown() {
        let shown = format!("{:?}", Content::from_bytes(b"secret"));
        assert!(!shown.contains("secret") && !shown.contains("115"), "{shown}");
    }
}
