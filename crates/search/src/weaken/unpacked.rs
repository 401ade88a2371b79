//! What a double that is a document may be, in the words of `stunt-belief`: its leaves, and what is around them.
//!
//! A description of a document is one of the document without compression. Whoever has that has the document: the
//! writers of the formats pack it, and compute what follows from the leaves, whatever the description says there. So
//! those bytes are free in it, and cost nothing but that they are there. Each leaf stands in it once.
//!
//! What always holds: documents that differ have leaves that differ, so they differ unpacked; and of each document
//! there are as many unpacked ones in the set, one for all values of the bytes that are computed.

use stunt_belief::{Class, Drawn, DrawnSource, Element, Length, Values};
use stunt_reduce::{Rendering, Written};

use super::drawn::DrawnFrom;

/// What it costs to say of each leaf whether it stands apart: seldom, as of gaps.
const APART: [f64; 2] = [0.192_645_077_942_396, 3.0];

/// The set of documents whose leaves are of a set; the leaves are those of one of them. `None` if that cannot be said.
#[must_use]
pub fn of_documents(
    rendering: &Rendering,
    leaves: &[Vec<u8>],
    mut from: DrawnFrom,
) -> Option<DrawnFrom> {
    let sources = &from.set.sources;
    // What has gaps has a source of its own.
    let apart: Vec<usize> = (0..sources.len()).filter(|&at| sources[at].has_gaps()).collect();
    let told = |written: &Vec<Written>| {
        // What is no document, or stands apart, is said as it is.
        if let [Written::Leaf(leaf)] = written[..] {
            let mut source = sources.get(leaf)?.clone();
            if !source.elements.iter().any(|it| matches!(it, Element::Public(_))) {
                source.length = Length::Told(source.length.bytes());
            }
            return Some(source);
        }
        let mut elements = Vec::new();
        for it in written {
            match *it {
                Written::Leaf(leaf) => elements.extend_from_slice(&sources.get(leaf)?.elements),
                Written::Fixed(value) => elements.push(Element::Byte(Values::one(value))),
                Written::Computed(_) => elements.push(Element::Byte(Values::ALL)),
            }
        }
        Some(DrawnSource { length: Length::Told(elements.len()), elements, fill: Class::Any })
    };
    let unpacked = rendering.unpacked(leaves, &apart);
    let set: Option<Vec<DrawnSource>> = unpacked.iter().map(told).collect();
    let said = |at: usize| APART[usize::from(apart.contains(&at))];
    from.joined += (0..leaves.len()).map(said).sum::<f64>();
    from.set = Drawn { sources: set? };
    from.apart = Some(apart);
    Some(from)
}

/// A document unpacked, as one of a set that was described so.
#[must_use]
pub fn unpacked(rendering: &Rendering, apart: &[usize]) -> Vec<Vec<u8>> {
    let leaves: Vec<Vec<u8>> = rendering.leaves().iter().map(|it| it.bytes.to_vec()).collect();
    let bytes = |written: Vec<Written>| {
        let mut bytes = Vec::new();
        for it in written {
            match it {
                Written::Leaf(leaf) => bytes.extend_from_slice(&leaves[leaf]),
                Written::Fixed(value) | Written::Computed(value) => bytes.push(value),
            }
        }
        bytes
    };
    rendering.unpacked(&leaves, apart).into_iter().map(bytes).collect()
}
