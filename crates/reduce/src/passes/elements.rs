//! Elements of a leaf, as its format has them: for XML, JSON, tables, outlines, DER and other data with lengths.
//!
//! Where an element goes, what the format needs around it follows: commas, and the lengths of all that it stood in.

use stunt_document::{Change, Structure};

use crate::edit::Edit;
use crate::pass::{Pass, in_order};

/// Of more elements than this none takes the place of another: most of them are to go first.
const MOST_HOISTED: usize = 2000;

/// Groups of so many elements that stand side by side; of single ones also what stands within, in their place.
pub(crate) struct Elements(pub(crate) usize);

impl Pass for Elements {
    fn family(&self) -> &'static str {
        "elements"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        let structure = Structure::of(bytes);
        let all = structure.elements().len();
        let mut edits = Vec::new();
        let mut add = |changes: Vec<Change>| {
            let changes: Vec<_> =
                changes.into_iter().map(|it| (it.range, it.bytes.to_vec())).collect();
            if !changes.is_empty() {
                let edit = Edit::all(changes);
                edits.extend((edit.taken() > 0).then_some(edit));
            }
        };
        let roots: Vec<usize> = structure.roots().collect();
        let inner = (0..all).map(|element| structure.children(element).collect());
        for siblings in std::iter::once(roots).chain(inner) {
            for first in (0..siblings.len()).step_by(self.0) {
                let group = first..(first + self.0).min(siblings.len());
                add(structure.without_siblings(bytes, &siblings, group));
            }
        }
        if self.0 == 1 && all <= MOST_HOISTED {
            for element in 0..all {
                for child in structure.children(element) {
                    add(structure.hoisting(bytes, element, child));
                }
            }
        }
        in_order(edits)
    }
}

/// How many elements stand side by side at most.
pub(crate) fn most(bytes: &[u8]) -> usize {
    let structure = Structure::of(bytes);
    let inner = (0..structure.elements().len()).map(|element| structure.children(element).count());
    inner.chain([structure.roots().count()]).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::tests::after;

    #[test]
    fn an_element_goes_with_its_separator() {
        let left = after(&Elements(1), br#"{"a":[1,2],"b":{"c":3}}"#);
        for wanted in [r#"{"b":{"c":3}}"#, r#"{"a":[2],"b":{"c":3}}"#, r#"{"a":[1],"b":{"c":3}}"#] {
            assert!(left.contains(&wanted.to_owned()), "{wanted}: {left:?}");
        }
        assert!(after(&Elements(2), b"[1,2,3,4]").contains(&"[3,4]".to_owned()));
    }

    #[test]
    fn lengths_follow() {
        // A sequence of two numbers.
        let der = b"\x30\x06\x02\x01\x05\x02\x01\x07";
        let edits = Elements(1).edits(der);
        let left: Vec<Vec<u8>> = edits.iter().map(|edit| edit.apply(der)).collect();
        assert!(left.contains(&b"\x30\x03\x02\x01\x07".to_vec()), "{left:?}");
        assert_eq!(most(der), 2);
    }
}
