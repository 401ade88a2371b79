//! What a weakened condition lets a double be, in the words of `stunt-belief`: byte by byte, with gaps.
//!
//! What always holds: every double that the condition and its layouts allow is in the set, and the set has more by
//! no more than the bits that stand beside it. Bytes that depend on each other are taken one by one; what their
//! dependence reveals is in these bits.

use stunt_belief::{Class, Drawn, DrawnSource, Element, Length, Values};
use stunt_leakage::Bits;
use stunt_models::ByteSet;
use stunt_path::Original;
use stunt_terms::InputByte;

use super::layout::Layout;
use super::parts::{Parts, Weak};

/// A set that a double is drawn from.
#[derive(Clone, Debug)]
pub struct DrawnFrom {
    /// Every byte by itself.
    pub set: Drawn,
    /// What this has more than what is drawn from, in bits at most: bytes depend on each other.
    pub joined: f64,
    /// What it costs that not all of it fails, if it is a plain part of what the condition allows: that is
    /// measured by itself then.
    pub failing: Option<Bits>,
    /// The set is of documents without compression, and these of their leaves stand apart at its end.
    pub apart: Option<Vec<usize>>,
}

impl DrawnFrom {
    /// What satisfies a condition that reveals so many bits, where each byte may have these values whatever the
    /// others are.
    pub(crate) fn of(
        input: &Original,
        domain: impl Fn(InputByte) -> ByteSet,
        bits: f64,
    ) -> DrawnFrom {
        let (mut set, mut each) = (public(input), 0.0);
        for byte in input.hidden() {
            let domain = domain(byte);
            each += 8.0 - f64::from(domain.len().max(1)).log2();
            let elements = &mut set.sources[usize::from(byte.source)].elements;
            elements[byte.offset as usize] = Element::Byte(values(domain));
        }
        DrawnFrom { set, joined: (bits - each).max(0.0), failing: None, apart: None }
    }

    /// One input and no other.
    #[must_use]
    pub fn only(input: &Original) -> DrawnFrom {
        let mut set = public(input);
        let own = input.assignment();
        for byte in input.hidden() {
            let element = Element::Byte(Values::one(own.get(byte)));
            set.sources[usize::from(byte.source)].elements[byte.offset as usize] = element;
        }
        DrawnFrom { set, joined: 0.0, failing: None, apart: None }
    }
}

/// An input of which all is public.
fn public(input: &Original) -> Drawn {
    let source = |bytes: Vec<u8>| DrawnSource {
        length: Length::Known(bytes.len()),
        elements: bytes.into_iter().map(Element::Public).collect(),
        fill: Class::Any,
    };
    Drawn { sources: input.reveal().into_iter().map(source).collect() }
}

/// Byte sets of two crates are one thing.
pub(super) fn values(set: ByteSet) -> Values {
    Values::filter(|value| set.contains(value))
}

/// The same the other way round.
pub(super) fn byte_set(values: Values) -> ByteSet {
    ByteSet::filter(|value| values.contains(value))
}

/// The set of a condition in its layouts.
pub(super) fn drawn_from(parts: &Parts<'_>, weak: &Weak, layout: Option<&Layout>) -> DrawnFrom {
    let mut set = public(parts.original);
    for byte in &parts.hidden {
        let elements = &mut set.sources[usize::from(byte.source)].elements;
        elements[byte.offset as usize] = Element::Byte(Values::ALL);
    }
    let mut joined = 0.0;
    for part in &weak.parts {
        for &byte in &part.bytes {
            let domain = part.values(byte);
            let elements = &mut set.sources[usize::from(byte.source)].elements;
            elements[byte.offset as usize] = Element::Byte(values(domain));
        }
        if part.single().is_none() {
            joined += part.tied();
        }
    }
    if let Some(layout) = layout {
        let source = &mut set.sources[layout.source()];
        source.fill = layout.fill();
        source.length = Length::Known(source.elements.len() + layout.extra());
        // From the back, so that places stay what they are.
        for (place, gap) in layout.described().into_iter().rev() {
            source.elements.splice(place, [Element::Gap(gap)]);
        }
    }
    DrawnFrom { set, joined, failing: None, apart: None }
}
