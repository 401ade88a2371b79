//! PDF: objects with their streams, and the tables that say where they are.
//!
//! The file is a container of its objects, its trailers, and leaves for what else is in it. Offsets in
//! tables, in trailers and behind `startxref`, lengths of streams (also those that stand in an object of
//! their own), numbers and places in streams of objects, and tables that are streams are computed. The
//! order of everything is kept; so are earlier revisions. An object that is removed becomes free. Stored, a
//! stream has no filters.

mod filters;
pub(crate) mod lexer;
mod object;
mod object_stream;
mod read;
mod xref;

use std::sync::Arc;

pub(crate) use read::read;

use crate::content::Content;
use crate::node::{Form, Kind, Parts};
use crate::out::Out;
use object::{Hole, Object, fill};
use object_stream::ObjectStream;
use xref::{Places, Rows, Table, Target};

/// A stretch of the file, in its order.
#[derive(Clone)]
enum Stretch {
    /// Nothing: what was there was removed.
    Gone,
    /// Bytes that every writer writes: keywords and white space.
    Fixed(Content),
    Leaf(usize),
    /// An object that is a part.
    Object {
        part: usize,
        number: u64,
    },
    /// An object that is the length of the stream of another.
    Length {
        head: Content,
        width: usize,
        of: usize,
        end: Content,
    },
    Table(Table),
    /// The dictionary of a trailer, with offsets in it.
    Trailer {
        part: usize,
        offsets: Vec<Offset>,
    },
    /// An object that is a table.
    TableObject {
        part: usize,
        rows: Rows,
        offsets: Vec<Offset>,
    },
    /// The number behind `startxref`.
    Start {
        width: usize,
        target: Target,
    },
}

/// An offset that stands in a dictionary.
#[derive(Clone)]
struct Offset {
    key: &'static str,
    width: usize,
    target: Target,
}

#[derive(Clone)]
struct Pdf {
    stretches: Vec<Stretch>,
    /// How many parts there were when the file was read.
    parts: usize,
}

/// Offsets change lengths, and lengths change offsets: after so many rounds nothing changes any more.
const ROUNDS: usize = 8;

impl Pdf {
    /// What does not depend on offsets, and the lengths of streams.
    fn fixed(&self, stretch: &Stretch, parts: &Parts<'_>, out: &Out) -> (Out, Option<usize>) {
        let mut written = out.fresh();
        let mut length = None;
        match stretch {
            Stretch::Fixed(bytes) => written.push(bytes),
            Stretch::Leaf(part) => parts.write(*part, &mut written),
            Stretch::Object { part, .. } => match parts.node(*part).parts_of::<Object>() {
                Some((object, _)) => {
                    let inside = parts.inside(*part);
                    let (stream, holes) = object.stream(&inside, out);
                    length = stream.as_ref().map(Out::len);
                    object.write_with(&inside, stream.as_ref(), holes, &mut written);
                }
                None => parts.write(*part, &mut written),
            },
            _ => {}
        }
        (written, length)
    }

    /// What depends on where things are.
    fn placed(
        &self,
        stretch: &Stretch,
        parts: &Parts<'_>,
        places: &Places<'_>,
        lengths: &[Option<usize>],
        out: &Out,
    ) -> Option<Out> {
        let mut written = out.fresh();
        let holes = |offsets: &[Offset]| {
            let fill = |offset: &Offset| {
                let at = places.of(offset.target).unwrap_or(0) as usize;
                Hole::number(offset.key, offset.width, at)
            };
            offsets.iter().map(fill).collect::<Vec<_>>()
        };
        match stretch {
            Stretch::Length { head, width, of, end } => {
                written.push(head);
                let length = lengths[*of].unwrap_or(0);
                written.push(format!("{length:0width$}").as_bytes());
                written.push(end);
            }
            Stretch::Table(table) => table.write(places, &mut written),
            Stretch::Start { width, target } => {
                let at = places.of(*target).unwrap_or(0);
                written.push(format!("{at:0width$}").as_bytes());
            }
            Stretch::Trailer { part, offsets } => {
                let mut dictionary = out.fresh();
                parts.write(*part, &mut dictionary);
                fill(&dictionary, &holes(offsets), &mut written);
            }
            Stretch::TableObject { part, rows, offsets } => {
                match parts.node(*part).parts_of::<Object>() {
                    Some((object, _)) => {
                        let place_in = |stream, number| self.place_in(stream, number, parts);
                        let (stream, more) = rows.write(places, place_in, parts.style(), out);
                        let mut holes = holes(offsets);
                        holes.extend(more);
                        object.write_with(&parts.inside(*part), Some(&stream), holes, &mut written);
                    }
                    None => parts.write(*part, &mut written),
                }
            }
            _ => return None,
        }
        Some(written)
    }

    /// Which place an object has in the stream of objects with that number. Nothing if there was no such
    /// stream; no place if the object or the stream is gone.
    fn place_in(&self, stream: u64, object: u64, parts: &Parts<'_>) -> Option<Option<usize>> {
        let mut known = false;
        for stretch in self.stretches.iter().rev() {
            let Stretch::Object { part, number } = stretch else {
                known |= matches!(stretch, Stretch::Gone);
                continue;
            };
            if *number == stream {
                let (_, _, numbers) = ObjectStream::inside(parts.node(*part), parts.style())?;
                return Some(numbers.iter().position(|&inside| inside == object));
            }
        }
        known.then_some(None)
    }
}

impl Form for Pdf {
    fn kind(&self) -> Kind {
        Kind::Pdf
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let (mut written, lengths): (Vec<Out>, Vec<Option<usize>>) =
            self.stretches.iter().map(|stretch| self.fixed(stretch, parts, out)).unzip();
        for _ in 0..ROUNDS {
            let mut at = 0;
            let mut starts = Vec::with_capacity(written.len());
            for (stretch, bytes) in self.stretches.iter().zip(&written) {
                starts.push((!matches!(stretch, Stretch::Gone)).then_some(at));
                at += bytes.len();
            }
            let places = Places { at: &starts };
            let mut settled = true;
            for (stretch, before) in self.stretches.iter().zip(&mut written) {
                if let Some(now) = self.placed(stretch, parts, &places, &lengths, out) {
                    settled &= now.len() == before.len();
                    *before = now;
                }
            }
            if settled {
                break;
            }
        }
        written.iter().for_each(|bytes| out.append(bytes));
        for part in self.parts..parts.len() {
            parts.write(part, out);
        }
    }

    fn keep(&self, kept: &[usize]) -> Arc<dyn Form> {
        let mut form = self.clone();
        for stretch in &mut form.stretches {
            let part = match stretch {
                Stretch::Leaf(part)
                | Stretch::Object { part, .. }
                | Stretch::Trailer { part, .. }
                | Stretch::TableObject { part, .. } => part,
                _ => continue,
            };
            match kept.binary_search(part) {
                Ok(place) => *part = place,
                Err(_) => *stretch = Stretch::Gone,
            }
        }
        // The length of a stream goes with it.
        for at in 0..form.stretches.len() {
            if let Stretch::Length { of, .. } = form.stretches[at]
                && matches!(form.stretches[of], Stretch::Gone)
            {
                form.stretches[at] = Stretch::Gone;
            }
        }
        form.parts = kept.len();
        Arc::new(form)
    }
}

#[cfg(test)]
mod tests;
