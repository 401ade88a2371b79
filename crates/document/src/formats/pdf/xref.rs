//! Tables of where objects are: as text, and as a stream.

use super::lexer::{digits, integer, numbers, value};
use super::object::Hole;
use crate::content::Content;
use crate::out::{Out, Style};
use crate::parse::Found;

/// What an offset leads to.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// A piece of the file.
    Piece(usize),
    /// Nothing that is known: the number stays.
    Was(u64),
}

/// Where the pieces are, or that they are gone.
pub(super) struct Places<'a> {
    pub at: &'a [Option<usize>],
}

impl Places<'_> {
    pub fn of(&self, target: Target) -> Option<u64> {
        match target {
            Target::Piece(piece) => self.at[piece].map(|at| at as u64),
            Target::Was(number) => Some(number),
        }
    }
}

/// A table as text.
#[derive(Clone)]
pub(super) struct Table {
    /// Text, and the entries that follow it.
    sections: Vec<(Content, Vec<Entry>)>,
}

#[derive(Clone)]
struct Entry {
    target: Target,
    /// What stands behind the offset: generation, kind, line end.
    rest: [u8; 10],
}

/// The length of an entry, and of its offset.
const ENTRY: usize = 20;
const OFFSET: usize = 10;

impl Table {
    /// The table at a place, and where it ends.
    pub fn read(
        bytes: &Content,
        start: usize,
        find: impl Fn(u64) -> Target,
    ) -> Option<(Table, usize)> {
        let mut at = start + b"xref".len();
        let mut from = start;
        let mut sections = Vec::new();
        loop {
            let head = super::lexer::skip(bytes, at);
            let Some((_, end)) = digits(bytes, head) else { break };
            let (count, end) = digits(bytes, super::lexer::skip(bytes, end))?;
            let mut place = end;
            while matches!(bytes.get(place), Some(b' ' | b'\r' | b'\n')) {
                place += 1;
            }
            let text = bytes.slice(from..place);
            let mut entries = Vec::new();
            for _ in 0..count {
                let entry = bytes.get(place..place + ENTRY)?;
                let (offset, end) = digits(entry, 0).filter(|&(_, end)| end == OFFSET)?;
                let rest: [u8; 10] = entry[end..].try_into().ok()?;
                let used = rest[7] == b'n';
                let target = if used { find(offset) } else { Target::Was(offset) };
                entries.push(Entry { target, rest });
                place += ENTRY;
            }
            sections.push((text, entries));
            (at, from) = (place, place);
        }
        (!sections.is_empty()).then_some((Table { sections }, at))
    }

    pub fn write(&self, places: &Places<'_>, out: &mut Out) {
        for (text, entries) in &self.sections {
            out.push(text);
            for entry in entries {
                let mut rest = entry.rest;
                let offset = places.of(entry.target).unwrap_or_else(|| {
                    // An object that is gone is free, and its number is not used again.
                    rest[1..8].copy_from_slice(b"65535 f");
                    0
                });
                out.push(format!("{offset:010}").as_bytes());
                out.push(&rest);
            }
        }
    }
}

/// A table as a stream.
#[derive(Clone)]
pub(super) struct Rows {
    widths: [usize; 3],
    rows: Vec<Row>,
    /// What the rows were, unpacked and packed: as long as they stay, so does the stream.
    plain: Content,
    packed: Content,
    /// How they are packed, outermost first.
    layers: Vec<std::sync::Arc<dyn crate::node::Codec>>,
    /// Whether rows are predicted as PNG does.
    predicted: bool,
    /// Whether the parameters of the filters stand in an array.
    in_array: bool,
}

#[derive(Clone)]
struct Row {
    number: u64,
    fields: [u64; 3],
    target: Target,
}

impl Rows {
    pub fn read(
        dictionary: &[u8],
        layers: Vec<(Content, Found)>,
        packed: &Content,
        plain: &Content,
        find: impl Fn(u64) -> Target,
    ) -> Option<Rows> {
        let widths = numbers(&dictionary[value(dictionary, "W")?])?;
        let widths: [usize; 3] =
            widths.iter().map(|&w| w as usize).collect::<Vec<_>>().try_into().ok()?;
        let row = widths.iter().try_fold(0_usize, |sum, &w| (w <= 8).then_some(sum + w))?;
        let index = match value(dictionary, "Index") {
            Some(range) => numbers(&dictionary[range])?,
            None => vec![0, integer(dictionary, "Size")?],
        };
        if row == 0 || !plain.len().is_multiple_of(row) || !index.len().is_multiple_of(2) {
            return None;
        }
        let count = index.chunks(2).try_fold(0_u64, |sum, pair| sum.checked_add(pair[1]))?;
        if count != (plain.len() / row) as u64 {
            return None;
        }
        let all = index.chunks(2).flat_map(|pair| pair[0]..pair[0].saturating_add(pair[1]));
        let rows = all.zip(plain.chunks(row)).map(|(number, bytes)| {
            let mut at = 0;
            let fields = widths.map(|width| {
                let field = &bytes[at..at + width];
                at += width;
                field.iter().fold(0_u64, |value, &byte| value << 8 | u64::from(byte))
            });
            let kind = if widths[0] == 0 { 1 } else { fields[0] };
            let target = if kind == 1 { find(fields[1]) } else { Target::Was(fields[1]) };
            Row { number, fields, target }
        });
        let rows = rows.collect();
        let predicted = layers.iter().any(|(_, found)| {
            matches!(found, Found::Encoding { codec, .. } if codec.kind() == crate::Kind::Predictor)
        });
        let layers = layers.into_iter().filter_map(|(_, found)| match found {
            Found::Encoding { codec, .. } => Some(codec),
            Found::Container { .. } => None,
        });
        Some(Rows {
            widths,
            rows,
            plain: plain.clone(),
            packed: packed.clone(),
            layers: layers.collect(),
            predicted,
            in_array: value(dictionary, "DecodeParms")
                .is_some_and(|range| dictionary[range.start] == b'['),
        })
    }

    /// The stream, and what must be filled into its dictionary. `place_in` says which place an object has
    /// in a stream of objects.
    pub fn write(
        &self,
        places: &Places<'_>,
        place_in: impl Fn(u64, u64) -> Option<Option<usize>>,
        style: Style,
        out: &Out,
    ) -> (Out, Vec<Hole>) {
        let rows: Vec<[u64; 3]> =
            self.rows.iter().map(|row| row.fields(places, &place_in)).collect();
        let mut widths = self.widths;
        for row in &rows {
            for (width, field) in widths.iter_mut().zip(row) {
                *width = (*width).max((64 - field.leading_zeros() as usize).div_ceil(8));
            }
        }
        if self.widths[0] == 0 && rows.iter().all(|row| row[0] == 1) {
            widths[0] = 0;
        }
        let mut plain = out.fresh();
        for row in &rows {
            for (width, field) in widths.iter().zip(row) {
                plain.push(&field.to_be_bytes()[8 - width..]);
            }
        }
        if plain.bytes() == &self.plain[..] && style == Style::Packed {
            let mut packed = out.fresh();
            packed.push(&self.packed);
            return (packed, Vec::new());
        }
        let mut holes = Vec::new();
        let wider = widths != self.widths;
        if wider {
            holes.push(Hole {
                key: "W",
                text: Some(format!("[{} {} {}]", widths[0], widths[1], widths[2])),
            });
        }
        let mut content = plain;
        for codec in self.layers.iter().rev() {
            let mut packed = out.fresh();
            if wider && codec.kind() == crate::Kind::Predictor {
                let columns: usize = widths.iter().sum();
                for row in content.bytes().chunks(columns) {
                    packed.push(&[0]);
                    packed.push(row);
                }
            } else {
                codec.encode(&content, style, &mut packed);
            }
            content = packed;
        }
        if wider && self.predicted {
            let columns: usize = widths.iter().sum();
            let text = format!("<</Columns {columns}/Predictor 12>>");
            let text = if self.in_array { format!("[{text}]") } else { text };
            holes.push(Hole { key: "DecodeParms", text: Some(text) });
        }
        (content, holes)
    }
}

impl Row {
    fn fields(
        &self,
        places: &Places<'_>,
        place_in: &impl Fn(u64, u64) -> Option<Option<usize>>,
    ) -> [u64; 3] {
        match (self.target, self.fields[0]) {
            (Target::Was(_), 2) => match place_in(self.fields[1], self.number) {
                None => self.fields,
                Some(Some(place)) => [2, self.fields[1], place as u64],
                Some(None) => [0, 0, 0],
            },
            (Target::Piece(_), kind) => match places.of(self.target) {
                Some(offset) => [kind.max(1), offset, self.fields[2]],
                None => [0, 0, 0],
            },
            _ => self.fields,
        }
    }
}
