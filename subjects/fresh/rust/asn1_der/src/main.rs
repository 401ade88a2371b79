//! Reads a document with a release of `asn1_der` that aborts on some documents.

use asn1_der::{DerObject, DerTag};

/// The objects that stand one behind the other in these bytes.
#[inline(never)]
fn objects(bytes: &[u8]) -> Option<Vec<DerObject>> {
    let mut rest = bytes.iter();
    let mut objects = Vec::new();
    while rest.len() > 0 {
        objects.push(DerObject::deserialize(&mut rest).ok()?);
    }
    Some(objects)
}

/// How long the text of an attribute is: SET { SEQUENCE { name of it, text } }.
#[inline(never)]
fn attribute(set: &DerObject) -> Option<usize> {
    let sequence = objects(&set.value.data)?;
    let pair = objects(&sequence.first()?.value.data)?;
    (pair.len() == 2).then(|| pair[1].value.data.len())
}

/// How long the texts of a distinguished name are.
#[inline(never)]
fn name(name: &DerObject) -> Option<usize> {
    objects(&name.value.data)?.iter().map(attribute).sum()
}

/// How long the names of issuer and subject are.
#[inline(never)]
fn certificate(data: &[u8]) -> Option<(usize, usize)> {
    let outer = objects(data)?;
    let parts = objects(&outer.first()?.value.data)?;
    if outer.len() != 1 || outer[0].tag != DerTag::Sequence || parts.len() != 3 {
        return None;
    }
    let fields = objects(&parts[0].value.data)?;
    let version = fields.first()?.tag == DerTag::xa0;
    if !version || fields.len() < 7 || fields[3].tag != DerTag::Sequence {
        return None;
    }
    Some((name(&fields[3])?, name(&fields[5])?))
}

fn main() {
    let path = std::env::args().nth(1).expect("usage: prog FILE");
    let data = std::fs::read(&path).expect("cannot read input");
    match certificate(&data) {
        Some((issuer, subject)) => println!("ok issuer={issuer} subject={subject}"),
        None => println!("error: not a certificate"),
    }
}
