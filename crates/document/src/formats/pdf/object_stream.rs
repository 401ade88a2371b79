//! A stream of objects: their numbers and places in front, then the objects.

use std::sync::Arc;

use super::lexer::{digits, integer, skip, value};
use crate::content::Content;
use crate::node::{Form, Kind, Node, Parts};
use crate::out::{Out, Style};
use crate::parse::{Budget, Found, Piece};

#[derive(Clone)]
pub(super) struct ObjectStream {
    /// The numbers of the objects.
    numbers: Vec<u64>,
    /// What stands between the last place and the first object.
    gap: Content,
}

impl Form for ObjectStream {
    fn kind(&self) -> Kind {
        Kind::PdfObjectStream
    }

    fn write(&self, parts: &Parts<'_>, out: &mut Out) {
        let mut objects = Vec::new();
        for at in 0..parts.len() {
            let mut object = out.fresh();
            parts.write(at, &mut object);
            objects.push(object);
        }
        let lengths: Vec<usize> = objects.iter().map(Out::len).collect();
        out.push(&self.header(&lengths));
        objects.iter().for_each(|object| out.append(object));
    }

    fn keep(&self, kept: &[usize]) -> Arc<dyn Form> {
        let numbers = kept.iter().filter_map(|&at| self.numbers.get(at).copied()).collect();
        Arc::new(ObjectStream { numbers, gap: self.gap.clone() })
    }
}

impl ObjectStream {
    fn header(&self, lengths: &[usize]) -> Vec<u8> {
        let mut place = 0;
        let mut pairs = Vec::new();
        for (at, length) in lengths.iter().enumerate() {
            // An object from elsewhere has no number; none that is in use is this large.
            let number = self.numbers.get(at).copied().unwrap_or(8_388_607);
            pairs.push(format!("{number} {place}"));
            place += length;
        }
        let mut header = pairs.join(" ").into_bytes();
        header.extend_from_slice(&self.gap);
        header
    }

    /// How many objects the stream inside a node has, which, and where the first begins.
    pub fn inside(node: &Node, style: Style) -> Option<(usize, usize, &[u64])> {
        let mut node = node;
        while node.parts_of::<ObjectStream>().is_none() {
            node = node.children().first().filter(|_| node.children().len() == 1)?;
        }
        let (form, parts) = node.parts_of::<ObjectStream>()?;
        let lengths: Vec<usize> =
            parts.iter().map(|part| part.sum(style).length as usize).collect();
        Some((parts.len(), form.header(&lengths).len(), &form.numbers))
    }
}

pub(super) fn read(dictionary: &[u8], content: &Content, budget: &Budget) -> Option<Found> {
    let kind = value(dictionary, "Type").map(|range| &dictionary[range])?;
    if kind != b"/ObjStm" {
        return None;
    }
    let count = usize::try_from(integer(dictionary, "N")?).ok()?;
    let first = usize::try_from(integer(dictionary, "First")?).ok()?;
    if count == 0 || count > budget.nodes() || first > content.len() {
        return None;
    }
    let (mut numbers, mut places) = (Vec::new(), Vec::new());
    let mut at = 0;
    for _ in 0..count {
        let (number, end) = digits(content, skip(content, at))?;
        let (place, end) = digits(content, skip(content, end))?;
        numbers.push(number);
        places.push(first.checked_add(usize::try_from(place).ok()?)?);
        at = end;
    }
    let ordered = places.windows(2).all(|pair| pair[0] <= pair[1]);
    if places[0] != first || !ordered || at > first || *places.last()? > content.len() {
        return None;
    }
    places.push(content.len());
    let parts = numbers.iter().zip(places.windows(2)).map(|(number, place)| {
        Piece::leaf(format!("object {number}"), content.slice(place[0]..place[1]))
    });
    let parts = parts.collect();
    let found = Found::container(ObjectStream { numbers, gap: content.slice(at..first) }, parts);
    crate::parse::gives_back(&found, content).then_some(found)
}
