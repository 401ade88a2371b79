//! Elements of a leaf, as its format has them: for XML, JSON, tables, outlines, DER and other data with lengths.
//!
//! Where an element goes, what the format needs around it follows: commas, and the lengths of all that it stood in.
//! Where it stays, what it says may be plain.

use std::ops::Range;

use stunt_document::{Change, Layout, Role, Structure};

use crate::edit::Edit;
use crate::pass::{Pass, in_order};

/// Of more elements than this none takes the place of another: most of them are to go first.
const MOST_HOISTED: usize = 2000;

/// The shortest word that becomes plain by itself.
const SHORTEST: usize = 2;

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
            // All of a few are tried as smaller groups are.
            if siblings.len() <= self.0 / 2 {
                continue;
            }
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

/// Groups of so many texts and values, wherever they are, of which letters become `a` and digits `0`.
pub(crate) struct Plain(pub(crate) usize);

impl Pass for Plain {
    fn family(&self) -> &'static str {
        "plain"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        plainer(bytes, texts(bytes), self.0)
    }
}

/// Groups of so many words and numbers within what somebody wrote, of which letters become `a` and digits `0`: of a text
/// that is needed hardly a word is.
pub(crate) struct PlainWords(pub(crate) usize);

impl Pass for PlainWords {
    fn family(&self) -> &'static str {
        "plain"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        plainer(bytes, words_not_plain(bytes), self.0)
    }
}

/// Edits that make so many of these plain at a time.
fn plainer(bytes: &[u8], texts: Vec<Range<usize>>, size: usize) -> Vec<Edit> {
    let changes: Vec<(Range<usize>, Vec<u8>)> = texts
        .into_iter()
        .map(|range| (range.clone(), all_plain(&bytes[range])))
        .filter(|(range, plain)| bytes[range.clone()] != plain[..])
        .collect();
    changes.chunks(size.max(1)).map(|group| Edit::all(group.to_vec())).collect()
}

/// The bytes with all of these plain, if they are not.
pub(crate) fn made_plain(bytes: &[u8], texts: Vec<Range<usize>>) -> Option<Vec<u8>> {
    Some(plainer(bytes, texts, usize::MAX).first()?.apply(bytes))
}

/// The words and numbers within what somebody wrote that are not plain: in markup, JSON and values of PDF within texts
/// and values, in all else anywhere.
pub(crate) fn words_not_plain(bytes: &[u8]) -> Vec<Range<usize>> {
    let layout = Structure::of(bytes).layout();
    let within = match layout {
        Layout::Markup | Layout::Json | Layout::Pdf => texts(bytes),
        _ => std::iter::once(0..bytes.len()).collect(),
    };
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
    let mut words = Vec::new();
    for text in within {
        let mut at = text.start;
        for part in bytes[text].chunk_by(|one, two| is_word(one) == is_word(two)) {
            let range = at..at + part.len();
            at = range.end;
            if is_word(&part[0]) && part.len() >= SHORTEST && all_plain(part) != part {
                words.push(range);
            }
        }
    }
    words
}

/// The numbers among them: places, amounts, dates.
pub(crate) fn numbers_not_plain(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut words = words_not_plain(bytes);
    words.retain(|word| bytes[word.clone()].iter().all(u8::is_ascii_digit));
    words
}

fn all_plain(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|&byte| plain(byte)).collect()
}

/// How many texts and values are not plain.
pub(crate) fn not_plain(bytes: &[u8]) -> usize {
    texts(bytes).into_iter().filter(|text| is_open(bytes, text)).count()
}

/// The texts that are not plain, without the values of attributes: those mostly say what the rest is.
pub(crate) fn free_texts_not_plain(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut texts = texts_with(bytes, |role| role != Role::AttributeValue);
    texts.retain(|text| is_open(bytes, text));
    texts
}

/// Whether something of a text is not plain.
fn is_open(bytes: &[u8], text: &Range<usize>) -> bool {
    bytes[text.clone()].iter().any(|&byte| plain(byte) != byte)
}

/// Whether there is more than one text or value.
pub(crate) fn has_texts(bytes: &[u8]) -> bool {
    texts(bytes).len() > 1
}

/// The elements that have no others within and are what somebody wrote: no names of tags and attributes.
fn texts(bytes: &[u8]) -> Vec<Range<usize>> {
    texts_with(bytes, |_| true)
}

fn texts_with(bytes: &[u8], wanted: impl Fn(Role) -> bool) -> Vec<Range<usize>> {
    let structure = Structure::of(bytes);
    let elements = structure.elements();
    let is_text = |&at: &usize| {
        let role = elements[at].role;
        structure.inside(at).is_empty()
            && !matches!(role, Role::Tag | Role::Attribute | Role::Remark | Role::Member)
            && wanted(role)
    };
    (0..elements.len()).filter(is_text).map(|at| elements[at].range.clone()).collect()
}

/// Another letter for a letter, another digit for a digit.
fn plain(byte: u8) -> u8 {
    match byte {
        b'A'..=b'Z' => b'A',
        b'a'..=b'z' | 0x80.. => b'a',
        b'0'..=b'9' => b'0',
        _ => byte,
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
    fn what_is_written_becomes_plain_and_names_stay() {
        let markup = b"<row kind=\"Money\">12.5<cell>Anna</cell></row>";
        let all = Plain(9).edits(markup);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].apply(markup), b"<row kind=\"Aaaaa\">00.0<cell>Aaaa</cell></row>");
        assert_eq!((Plain(2).edits(markup).len(), not_plain(markup)), (2, 3));
        assert_eq!(not_plain(&all[0].apply(markup)), 0);
    }

    #[test]
    fn words_within_a_text_become_plain_by_themselves() {
        let markup = b"<p kind=\"note\">Born 1968-14-09 at x: flu, DE0845</p>";
        let edits = PlainWords(1).edits(markup);
        assert_eq!(edits.len(), words_not_plain(markup).len());
        assert_eq!(edits.len(), 8, "of attributes as well, but no names, and no single letters");
        assert_eq!(
            edits[2].apply(markup),
            b"<p kind=\"note\">Born 0000-14-09 at x: flu, DE0845</p>"
        );
        let all = PlainWords(99).edits(markup)[0].apply(markup);
        assert_eq!(all, b"<p kind=\"aaaa\">Aaaa 0000-00-00 aa x: aaa, AA0000</p>");
        assert!(words_not_plain(&all).is_empty());
        // Of JSON, names of members stay; where nothing is known, all words count.
        for text in [&b"{\"name\": \"Anna B\"}"[..], b"\x01\x02Anna\0\x7fx"] {
            let words = words_not_plain(text);
            assert_eq!((words.len(), &text[words[0].clone()]), (1, &b"Anna"[..]));
        }
    }

    #[test]
    fn small_groups_wait_for_large_ones() {
        // Of two rows of three cells each: first the rows, then cells.
        let table = b"a,b,c\nd,e,f\n";
        let places = |size| Elements(size).edits(table).iter().map(Edit::taken).max();
        assert!(places(1) < places(2), "{:?}", (places(1), places(2)));
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
