//! Extra fields: bytes, with the 64-bit sizes among them computed.
//!
//! The leaf holds all fields but the 64-bit one, which is written back where it was.

use crate::content::Content;
use crate::formats::numbers::{le, le16, le64};
use crate::node::Field;
use crate::out::Out;

/// A size that does not fit says this, and stands among the extra fields.
pub(super) const TOO_BIG: u64 = 0xffff_ffff;

/// The numbers that a member states.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub unpacked: u64,
    pub packed: u64,
    pub offset: u64,
}

#[derive(Clone, Copy)]
enum Which {
    Unpacked,
    Packed,
    Offset,
}

/// The 64-bit field.
#[derive(Clone)]
pub(super) struct Wide {
    at: usize,
    slots: Vec<(Which, u64, Field)>,
}

/// Splits extra fields, and reads the sizes that are too big for the header.
pub(super) fn split(extra: &Content, stated: &mut Sizes) -> (Content, Option<Wide>) {
    let mut at = 0;
    while let (Some(id), Some(length)) = (le16(extra, at), le16(extra, at + 2)) {
        let end = at + 4 + length as usize;
        if end > extra.len() {
            break;
        }
        if id == 1 {
            let Some(slots) = slots(&extra[at + 4..end], stated) else { break };
            let rest = [&extra[..at], &extra[end..]].concat();
            return (rest.into(), Some(Wide { at, slots }));
        }
        at = end;
    }
    (extra.clone(), None)
}

fn slots(field: &[u8], stated: &mut Sizes) -> Option<Vec<(Which, u64, Field)>> {
    let mut slots = Vec::new();
    let all = [
        (Which::Unpacked, &mut stated.unpacked),
        (Which::Packed, &mut stated.packed),
        (Which::Offset, &mut stated.offset),
    ];
    for (which, number) in all {
        if *number == TOO_BIG {
            *number = le64(field, 8 * slots.len())?;
            slots.push((which, *number, Field::Right));
        }
    }
    (field.len() == 8 * slots.len()).then_some(slots)
}

impl Wide {
    /// Compares what was stated with what is right.
    pub fn settle(&mut self, right: &Sizes) {
        for (which, stated, field) in &mut self.slots {
            *field = Field::of(*stated, which.of(right));
        }
    }
}

impl Which {
    fn of(self, sizes: &Sizes) -> u64 {
        match self {
            Which::Unpacked => sizes.unpacked,
            Which::Packed => sizes.packed,
            Which::Offset => sizes.offset,
        }
    }
}

/// Writes the leaf with the 64-bit field in its place.
pub(super) fn write(leaf: &Out, wide: Option<&Wide>, sizes: &Sizes, out: &mut Out) {
    let Some(wide) = wide else { return out.append(leaf) };
    let at = wide.at.min(leaf.len());
    out.append_range(leaf, 0..at);
    out.push(&le::<2>(1));
    out.push(&le::<2>(8 * wide.slots.len() as u64));
    for (which, _, field) in &wide.slots {
        out.push(&le::<8>(field.or(which.of(sizes))));
    }
    out.append_range(leaf, at..leaf.len());
}
