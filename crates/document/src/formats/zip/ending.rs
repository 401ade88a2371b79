//! The end of an archive: how many members there are and where the directory is, in 32 and in 64 bits.

use crate::content::Content;
use crate::formats::numbers::{le, le16, le32, le64, size};
use crate::node::Field;
use crate::out::Out;

pub(super) const END: &[u8] = b"PK\x05\x06";
const WIDE_END: &[u8] = b"PK\x06\x06";
const WIDE_LOCATOR: &[u8] = b"PK\x06\x07";
/// Lengths without what varies.
const END_LENGTH: usize = 22;
const LOCATOR_LENGTH: usize = 20;
const WIDE_LENGTH: usize = 56;

/// What the end states.
#[derive(Clone)]
pub(super) struct Ending {
    disks: [u8; 4],
    here: Field,
    total: Field,
    length: Field,
    offset: Field,
    wide: Option<Wide>,
}

/// The same in 64 bits, with the locator that leads to it.
#[derive(Clone)]
struct Wide {
    versions_and_disks: Content,
    here: Field,
    total: Field,
    length: Field,
    offset: Field,
    rest: Content,
    locator_disk: [u8; 4],
    locator: Field,
    locator_disks: [u8; 4],
}

/// Where things are, as far as the end tells.
pub(super) struct Layout {
    pub count: usize,
    pub directory: usize,
    /// Where the end begins, 64-bit record included.
    pub end: usize,
    /// What offsets count from.
    pub base: usize,
    pub comment: Content,
    pub after: Content,
    pub ending: Ending,
}

impl Ending {
    /// The end of the archive, from the back.
    pub fn find(bytes: &Content) -> Option<Layout> {
        let mut window = bytes.len();
        let lowest = bytes.len().saturating_sub(END_LENGTH + 0xffff);
        loop {
            let at = lowest + memchr::memmem::rfind(&bytes[lowest..window], END)?;
            if let Some(layout) = Ending::at(bytes, at) {
                return Some(layout);
            }
            window = at + END.len() - 1;
        }
    }

    fn at(bytes: &Content, at: usize) -> Option<Layout> {
        let (here, total) = (le16(bytes, at + 8)?, le16(bytes, at + 10)?);
        let (length, offset) = (le32(bytes, at + 12)?, le32(bytes, at + 16)?);
        let comment = bytes.get_slice(at + END_LENGTH, le16(bytes, at + 20)? as usize)?;
        let after = bytes.slice(at + END_LENGTH + comment.len()..);
        let disks = bytes[at + 4..at + 8].try_into().ok()?;
        let wide = Wide::before(bytes, at);
        let end = wide.as_ref().map_or(at, |(start, ..)| *start);
        let (count, long, far) =
            wide.as_ref().map_or((total, length, offset), |(_, stated, _)| *stated);
        let (long, far) = (size(long)?, size(far)?);
        let directory = end.checked_sub(long)?;
        let base = directory.checked_sub(far)?;
        let (right_length, right_offset) = ((end - directory) as u64, far as u64);
        let ending = Ending {
            disks,
            here: Field::of(here, count),
            total: Field::of(total, count),
            length: Field::of(length, right_length),
            offset: Field::of(offset, right_offset),
            wide: wide.map(|(start, stated, mut wide)| {
                wide.here = Field::of(le64(bytes, start + 24).unwrap_or(0), stated.0);
                wide.locator = Field::of(
                    le64(bytes, at - LOCATOR_LENGTH + 8).unwrap_or(0),
                    (start - base) as u64,
                );
                wide
            }),
        };
        Some(Layout { count: size(count)?, directory, end, base, comment, after, ending })
    }

    /// Writes all but the comment and its length.
    pub fn write(&self, count: u64, offset: usize, length: usize, here: usize, out: &mut Out) {
        let (offset, length) = (offset as u64, length as u64);
        if let Some(wide) = &self.wide {
            out.push(WIDE_END);
            out.push(&le::<8>((WIDE_LENGTH - 12 + wide.rest.len()) as u64));
            out.push(&wide.versions_and_disks);
            out.push(&le::<8>(wide.here.or(count)));
            out.push(&le::<8>(wide.total.or(count)));
            out.push(&le::<8>(wide.length.or(length)));
            out.push(&le::<8>(wide.offset.or(offset)));
            out.push(&wide.rest);
            out.push(WIDE_LOCATOR);
            out.push(&wide.locator_disk);
            out.push(&le::<8>(wide.locator.or(here as u64)));
            out.push(&wide.locator_disks);
        }
        out.push(END);
        out.push(&self.disks);
        out.push(&le::<2>(self.here.or(count)));
        out.push(&le::<2>(self.total.or(count)));
        out.push(&le::<4>(self.length.or(length)));
        out.push(&le::<4>(self.offset.or(offset)));
    }
}

impl Wide {
    /// The record in front of the end, if there is one: where it begins, and the count, length and
    /// offset that it states.
    #[allow(clippy::type_complexity)]
    fn before(bytes: &Content, end: usize) -> Option<(usize, (u64, u64, u64), Wide)> {
        let locator = end.checked_sub(LOCATOR_LENGTH)?;
        if !bytes[locator..].starts_with(WIDE_LOCATOR) {
            return None;
        }
        let lowest = locator.saturating_sub(WIDE_LENGTH + 0xffff);
        let start = lowest + memchr::memmem::rfind(&bytes[lowest..locator], WIDE_END)?;
        if start + 12 + size(le64(bytes, start + 4)?)? != locator {
            return None;
        }
        let stated = (le64(bytes, start + 32)?, le64(bytes, start + 40)?, le64(bytes, start + 48)?);
        let wide = Wide {
            versions_and_disks: bytes.get_slice(start + 12, 12)?,
            here: Field::Right,
            total: Field::Right,
            length: Field::Right,
            offset: Field::Right,
            rest: bytes
                .get_slice(start + WIDE_LENGTH, locator.checked_sub(start + WIDE_LENGTH)?)?,
            locator_disk: bytes[locator + 4..locator + 8].try_into().ok()?,
            locator: Field::Right,
            locator_disks: bytes[locator + 16..locator + 20].try_into().ok()?,
        };
        Some((start, stated, wide))
    }
}
