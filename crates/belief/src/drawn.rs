//! The set that a double is drawn from: for each source, byte by byte, which values it may have, and where there
//! may be gaps.
//!
//! What always holds: nothing here is the double, and nothing is the original; it is what a description describes.

use crate::piece::Class;
use crate::values::Values;

/// The set: every source by itself.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Drawn {
    /// The sources in their order.
    pub sources: Vec<DrawnSource>,
}

/// What may be in one source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DrawnSource {
    /// How long it is.
    pub length: Length,
    /// What stands in it, from the front.
    pub elements: Vec<Element>,
    /// What its gaps are filled with, but for bytes that end one.
    pub fill: Class,
}

/// How long a source is, and who knows that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Length {
    /// As long as the original's: neither figure counts that.
    Known(usize),
    /// It was chosen with a look at the original: the description has to say it.
    Told(usize),
}

impl Length {
    /// In bytes.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Length::Known(length) | Length::Told(length) => length,
        }
    }
}

/// One thing that stands in a source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Element {
    /// A byte, each of these values with the same chance.
    Byte(Values),
    /// Bytes of any length; all gaps of a source share what its length leaves.
    Gap(Gap),
    /// A byte that is public anyway.
    Public(u8),
}

/// A gap: every way to fill all gaps of a source has the same chance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Gap {
    /// The fewest bytes.
    pub least: u32,
    /// The most, if there is a limit.
    pub most: Option<u32>,
    /// What its last byte is, if it has one and that must be something.
    pub ends: Option<Values>,
    /// Its bytes are none that the next element may be; otherwise they may be anything.
    pub stops: bool,
}

impl Element {
    /// The values, if it is a byte that is hidden.
    pub(crate) fn values(self) -> Option<Values> {
        match self {
            Element::Byte(values) => Some(values),
            Element::Gap(_) | Element::Public(_) => None,
        }
    }

    /// The value, if there is only one.
    pub(crate) fn value(self) -> Option<u8> {
        match self {
            Element::Byte(values) => values.single(),
            Element::Public(value) => Some(value),
            Element::Gap(_) => None,
        }
    }

    /// The same where it is not public.
    pub(crate) fn said(self) -> Element {
        match self {
            Element::Public(value) => Element::Byte(Values::one(value)),
            other => other,
        }
    }

    pub(crate) fn is_public(self) -> bool {
        matches!(self, Element::Public(_))
    }
}

impl Drawn {
    /// One double and no other.
    #[must_use]
    pub fn only(bytes: &[Vec<u8>]) -> Drawn {
        let source = |bytes: &Vec<u8>| DrawnSource {
            length: Length::Told(bytes.len()),
            elements: bytes.iter().map(|&value| Element::Byte(Values::one(value))).collect(),
            fill: Class::Any,
        };
        Drawn { sources: bytes.iter().map(source).collect() }
    }

    /// The only double, if there is no other.
    #[must_use]
    pub fn single(&self) -> Option<Vec<Vec<u8>>> {
        let source = |it: &DrawnSource| it.elements.iter().map(|it| it.value()).collect();
        self.sources.iter().map(source).collect()
    }

    /// Whether a double could have been drawn.
    #[must_use]
    pub fn contains(&self, double: &[Vec<u8>]) -> bool {
        self.sources.len() == double.len()
            && self.sources.iter().zip(double).all(|(source, bytes)| source.contains(bytes))
    }
}

impl DrawnSource {
    /// Whether it has gaps.
    #[must_use]
    pub fn has_gaps(&self) -> bool {
        self.elements.iter().any(|it| matches!(it, Element::Gap(_)))
    }

    /// Whether these bytes may be in it.
    fn contains(&self, bytes: &[u8]) -> bool {
        if bytes.len() != self.length.bytes() {
            return false;
        }
        // Up to which places what was looked at may reach.
        let mut ends = vec![0];
        for (at, element) in self.elements.iter().enumerate() {
            ends = match *element {
                Element::Gap(gap) => {
                    let stopping = match self.elements.get(at + 1).and_then(|it| it.values()) {
                        Some(values) if gap.stops => values,
                        _ => Values::NONE,
                    };
                    let blocked = stopping.union(self.fill.values().complement());
                    let mut next = vec![false; bytes.len() + 1];
                    ends.iter().for_each(|&from| gap.reach(bytes, from, blocked, &mut next));
                    (0..next.len()).filter(|&to| next[to]).collect()
                }
                Element::Byte(values) => {
                    let fits =
                        |&from: &usize| bytes.get(from).is_some_and(|&it| values.contains(it));
                    ends.into_iter().filter(fits).map(|from| from + 1).collect()
                }
                Element::Public(value) => {
                    let fits = |&from: &usize| bytes.get(from) == Some(&value);
                    ends.into_iter().filter(fits).map(|from| from + 1).collect()
                }
            };
        }
        ends.last() == Some(&bytes.len())
    }
}

impl Gap {
    /// Marks where a gap may end that begins somewhere.
    fn reach(&self, bytes: &[u8], from: usize, blocked: Values, ends: &mut [bool]) {
        let most = self.most.map_or(bytes.len(), |most| most as usize);
        for (length, to) in (from..=bytes.len()).enumerate() {
            if length > most {
                break;
            }
            let last = to.checked_sub(1).filter(|_| length > 0).map(|at| bytes[at]);
            let right = match (last, self.ends) {
                (None, _) => true,
                (Some(last), Some(ends)) => ends.contains(last),
                (Some(last), None) => !blocked.contains(last),
            };
            if length >= self.least as usize && right {
                ends[to] = true;
            }
            // What it goes on behind is not its last byte.
            if last.is_some_and(|last| blocked.contains(last)) {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn membership() {
        let comma = Element::Byte(Values::one(b','));
        let gap = |stops| Element::Gap(Gap { least: 1, most: None, ends: None, stops });
        let set = |elements: Vec<Element>| Drawn {
            sources: vec![DrawnSource { length: Length::Told(4), elements, fill: Class::Any }],
        };
        let of = |text: &str| vec![text.as_bytes().to_vec()];
        let stopping = set(vec![gap(true), comma, gap(false)]);
        assert!(stopping.contains(&of("ab,c")));
        assert!(!stopping.contains(&of(",abc")), "a gap of at least one byte");
        assert!(!stopping.contains(&of("abcd")) && !stopping.contains(&of("a,b")));
        assert!(stopping.contains(&of("a,,b")));
        let mut of_digits = stopping.clone();
        of_digits.sources[0].fill = Class::Digits;
        assert!(of_digits.contains(&of("12,3")) && !of_digits.contains(&of("ab,3")));
        assert!(of_digits.contains(&of("1,23")) && !of_digits.contains(&of("1,a3")));
        let only = Drawn::only(&of("abcd"));
        assert!(only.contains(&of("abcd")) && !only.contains(&of("abce")));
        assert_eq!(only.single(), Some(of("abcd")));
        assert_eq!(stopping.single(), None);
    }
}
