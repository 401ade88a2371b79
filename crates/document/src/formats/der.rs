//! DER: elements with a tag and a length, inside one another, also inside octet and bit strings.

use super::record::{Check, Coding, Inside, Raw, Record, records};
use super::sequence::Sequence;
use crate::content::Content;
use crate::node::{Field, Kind};
use crate::parse::{Budget, Found};

const SEQUENCE: u8 = 0x30;
const BIT_STRING: u8 = 3;
const OCTET_STRING: u8 = 4;

fn element(bytes: &Content, at: usize, end: usize) -> Option<Raw> {
    let tag = *bytes.get(at)?;
    let mut place = at + 1;
    if tag & 31 == 31 {
        while *bytes.get(place)? & 128 != 0 {
            place += 1;
        }
        place += 1;
    }
    let before = bytes.slice(at..place);
    let first = *bytes.get(place)?;
    let (width, length) = match first {
        ..=0x7f => (1, usize::from(first)),
        0x81..=0x84 => {
            let digits = bytes.get(place + 1..place + 1 + usize::from(first & 127))?;
            let number = digits.iter().fold(0, |n, &digit| n << 8 | usize::from(digit));
            (1 + digits.len(), number)
        }
        _ => return None,
    };
    let from = place + width;
    let to = from.checked_add(length).filter(|&to| to <= end && tag != 0)?;
    let skipped = usize::from(tag == BIT_STRING);
    let fits = |from: usize| {
        bytes.get(from) == Some(&SEQUENCE) && element(bytes, from, to).is_some_and(|e| e.end == to)
    };
    let inside = match tag {
        tag if tag & 0x20 != 0 && length > 0 => Inside::Records(0),
        BIT_STRING | OCTET_STRING if from + skipped < to && fits(from + skipped) => {
            Inside::Records(skipped)
        }
        OCTET_STRING => Inside::Unknown(0),
        _ => Inside::Leaf,
    };
    let form = Record {
        kind: Kind::DerElement,
        before,
        // A length that is longer than it must be is one that a strict reader refuses: it stays long.
        coding: Coding::Der(if width > 1 && length < 128 { width } else { 1 }),
        after: Content::default(),
        counted: 0,
        length: Field::Right,
        check: Check::None,
        pad: None,
    };
    Some(Raw { name: format!("tag {tag:02x}"), form, payload: from..to, end: to, inside })
}

pub(crate) fn read(content: &Content, budget: &mut Budget) -> Option<Found> {
    if content.first() != Some(&SEQUENCE) || content.len() < 8 {
        return None;
    }
    let whole = element(content, 0, content.len())?;
    if whole.end != content.len() {
        return None;
    }
    // Nothing else may be in it: text can begin like this, too.
    let mut at = whole.payload.start;
    while at < whole.payload.end {
        at = element(content, at, whole.payload.end)?.end;
    }
    let levels = budget.depth();
    let pieces = records(content, 0..content.len(), element, levels, budget, &mut 0)?;
    Some(Sequence::found(Kind::Der, pieces))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::testing::{document, run};

    #[test]
    fn keys_are_written_as_they_were_and_lengths_follow() {
        let pem = run("openssl", &["genpkey", "-algorithm", "RSA", "-quiet"], b"");
        let doc = document(&pem);
        assert!(doc.render() == pem);
        assert_eq!(doc.root().kind(), Kind::Pem);
        let long = doc.leaves().filter(|(_, leaf)| leaf.len() > 100).last().unwrap().0;
        let edited = doc.with_leaf(&long, vec![1, 2, 3]);
        let list = run("openssl", &["asn1parse", "-strparse", "22"], &edited.render());
        let list = String::from_utf8(list).unwrap();
        assert!(list.contains("prim: INTEGER           :010203"), "{list}");
        assert!(document(&edited.render()).same_tree(&edited));
    }
}
