//! ZIP, and what is built on it: OOXML, ODF, EPUB, JAR.
//!
//! The archive is a container of members, with leaves for what lies between them, for a comment and for
//! what follows the end. A member is a container of its name, its time, its extra fields, its comment and
//! its content; how the content is compressed follows from the node that it is. Local headers, the central
//! directory and its end are computed. Order of members, order of the directory, data descriptors and
//! 64-bit fields are kept as the archive's writer chose them. A line of the directory that leads nowhere is a
//! leaf, and an archive that was cut off is read from the front.

mod ending;
mod extra;
mod member;
mod read;

use std::sync::Arc;

pub(crate) use read::read;

use crate::formats::numbers::le;
use crate::node::{Form, Kind, Parts};
use crate::out::Out;
use ending::Ending;
use member::{Member, Place};

/// What a part of the archive is.
#[derive(Clone, Copy, PartialEq)]
enum Slot {
    Member,
    /// Bytes that belong to no member: a program in front, what an update left behind.
    Gap,
    /// A line of the directory that leads to no member.
    Line,
    Comment,
    /// Bytes behind the end.
    After,
}

#[derive(Clone)]
struct Zip {
    slots: Vec<Slot>,
    /// Which parts the directory lists, in its order.
    listed: Vec<usize>,
    /// Offsets count from the first member and not from the first byte.
    relative: bool,
    /// How it ends; an archive that was cut off has no directory and no end.
    ending: Option<Ending>,
}

impl Zip {
    fn slot(&self, at: usize) -> Slot {
        self.slots.get(at).copied().unwrap_or(Slot::Member)
    }
}

impl Form for Zip {
    fn kind(&self) -> Kind {
        Kind::Zip
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let start = out.len();
        let mut base = start;
        let mut places: Vec<Option<Place>> = Vec::new();
        for at in 0..parts.len() {
            let mut place = None;
            match self.slot(at) {
                Slot::Member => {
                    if self.relative && places.iter().all(Option::is_none) {
                        base = out.len();
                    }
                    place = Some(Member::write_local(at, parts, base, out));
                }
                Slot::Gap => parts.write(at, out),
                Slot::Line | Slot::Comment | Slot::After => {}
            }
            places.push(place);
        }
        let Some(ending) = &self.ending else {
            for at in (0..parts.len()).filter(|&at| self.slot(at) == Slot::After) {
                parts.write(at, out);
            }
            return;
        };
        let directory = out.len();
        let mut count = 0;
        for &at in &self.listed {
            if let Some(Some(place)) = places.get(at) {
                Member::write_central(at, parts, place, out);
                count += 1;
            } else if at < parts.len() && self.slot(at) == Slot::Line {
                parts.write(at, out);
                count += 1;
            }
        }
        ending.write(count, directory - base, out.len() - directory, out.len() - base, out);
        let length_at = out.len();
        out.push(&[0; 2]);
        for at in 0..parts.len() {
            if self.slot(at) == Slot::Comment {
                parts.write(at, out);
            }
        }
        let length = out.len() - length_at - 2;
        out.patch(length_at, &le::<2>(length as u64));
        for at in 0..parts.len() {
            if self.slot(at) == Slot::After {
                parts.write(at, out);
            }
        }
    }

    fn keep(&self, kept: &[usize]) -> Arc<dyn Form> {
        let listed = self.listed.iter().filter_map(|at| kept.binary_search(at).ok()).collect();
        let slots = kept.iter().map(|&at| self.slot(at)).collect();
        Arc::new(Zip { slots, listed, ..self.clone() })
    }
}

#[cfg(test)]
mod tests;
