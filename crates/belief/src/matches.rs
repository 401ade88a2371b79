//! Where a stretch stood before: among the elements that were said, in lists of words, in public documents.
//!
//! These are only suggestions: what is taken is written by the code itself, which checks it.

use rustc_hash::FxHashMap;

use crate::drawn::Element;
use crate::piece::{Case, Piece};
use crate::public::Public;

/// So many earlier places are looked at.
const PLACES: usize = 24;

/// A suggestion: a piece of one length, or of any up to one.
pub(crate) struct Match {
    pub(crate) length: usize,
    pub(crate) kind: Kind,
}

pub(crate) enum Kind {
    /// Any length up to it.
    Copy { from: usize },
    /// Any length up to it.
    Stretch { document: usize, from: usize },
    /// Just that length.
    Whole(Piece),
}

/// What was said, by pairs of neighbours.
#[derive(Default)]
pub(crate) struct Earlier {
    known: FxHashMap<(Element, Element), Vec<u32>>,
    single: FxHashMap<Element, u32>,
    upto: usize,
}

impl Earlier {
    /// Places where what stands at `at` stood before, with how far that goes; no further than `end`.
    pub(crate) fn at(&mut self, all: &[Element], at: usize, end: usize) -> Vec<Match> {
        while self.upto < at {
            let place = self.upto;
            self.single.entry(all[place].said()).or_insert(place as u32);
            if let Some(next) = all.get(place + 1) {
                let pair = (all[place].said(), next.said());
                let places = self.known.entry(pair).or_default();
                // The first places and the last ones: the rest is like them.
                if places.len() >= 2 * PLACES {
                    places.remove(PLACES);
                }
                places.push(place as u32);
            }
            self.upto += 1;
        }
        let mut found: Vec<Match> = Vec::new();
        let mut try_place = |from: usize| {
            // Nothing goes further.
            if found.last().is_some_and(|it| it.length == end - at) {
                return;
            }
            let same = (at..end).zip(from..).take_while(|&(to, from)| all[to] == all[from].said());
            let length = same.count();
            if length > found.last().map_or(0, |it: &Match| it.length) {
                found.push(Match { length, kind: Kind::Copy { from } });
            }
        };
        if at + 1 < end
            && let Some(places) = self.known.get(&(all[at], all[at + 1]))
        {
            places.iter().rev().for_each(|&from| try_place(from as usize));
        }
        if let Some(&from) = self.single.get(&all[at]) {
            try_place(from as usize);
        }
        found
    }
}

/// Words and documents, ready to be looked up.
pub(crate) struct Known<'a> {
    public: &'a Public,
    /// The words in lower case, in order, each with its number; only if letters of either case are there.
    folded: Vec<Vec<(Vec<u8>, u32)>>,
    /// Where four bytes stand in the documents.
    stretches: FxHashMap<[u8; 4], Vec<(u32, u32)>>,
}

impl<'a> Known<'a> {
    pub(crate) fn new(public: &'a Public, either_case: bool) -> Known<'a> {
        let mut folded = Vec::new();
        if either_case {
            for list in &public.lists {
                let lower =
                    |(number, word): (usize, &Vec<u8>)| (word.to_ascii_lowercase(), number as u32);
                let mut words: Vec<(Vec<u8>, u32)> =
                    list.words().iter().enumerate().map(lower).collect();
                words.sort_unstable();
                folded.push(words);
            }
        }
        let mut stretches: FxHashMap<[u8; 4], Vec<(u32, u32)>> = FxHashMap::default();
        for (document, bytes) in public.documents.iter().enumerate() {
            for (from, four) in bytes.windows(4).enumerate() {
                let four = four.try_into().expect("windows of four");
                let places = stretches.entry(four).or_default();
                if places.len() < PLACES {
                    places.push((document as u32, from as u32));
                }
            }
        }
        Known { public, folded, stretches }
    }

    /// Words that stand at a place, and stretches of documents. `bytes` are the values from there on, as far as
    /// there is only one; `letters` are the same in lower case, as far as letters may be of either case.
    pub(crate) fn at(&self, bytes: &[u8], letters: &[u8]) -> Vec<Match> {
        let mut found = Vec::new();
        for (list, words) in self.public.lists.iter().enumerate() {
            prefixes(words.words(), bytes, Vec::as_slice, |number| {
                let piece = Piece::Word { list, number, case: Case::AsIs };
                let length = words.words()[number].len();
                found.push(Match { length, kind: Kind::Whole(piece) });
            });
        }
        for (list, words) in self.folded.iter().enumerate() {
            prefixes(
                words,
                letters,
                |it| it.0.as_slice(),
                |at| {
                    let (word, number) = &words[at];
                    let piece = Piece::Word { list, number: *number as usize, case: Case::Either };
                    found.push(Match { length: word.len(), kind: Kind::Whole(piece) });
                },
            );
        }
        let four: Option<[u8; 4]> = bytes.get(..4).and_then(|four| four.try_into().ok());
        let mut longest = 0;
        for &(document, from) in
            four.and_then(|four| self.stretches.get(&four)).into_iter().flatten()
        {
            let (document, from) = (document as usize, from as usize);
            let there = &self.public.documents[document][from..];
            let length = there.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            if length > longest {
                longest = length;
                found.push(Match { length, kind: Kind::Stretch { document, from } });
            }
        }
        found
    }
}

/// The numbers of all words, sorted, that the text begins with.
fn prefixes<W>(
    words: &[W],
    text: &[u8],
    bytes: impl Fn(&W) -> &[u8],
    mut found: impl FnMut(usize),
) {
    let (mut low, mut high) = (0, words.len());
    for (depth, &byte) in text.iter().enumerate() {
        let next = |word: &W| bytes(word).get(depth).copied();
        let first = low + words[low..high].partition_point(|word| next(word) < Some(byte));
        let last = first + words[first..high].partition_point(|word| next(word) <= Some(byte));
        (low, high) = (first, last);
        if low == high {
            return;
        }
        // The shortest with these letters is the first of them.
        if bytes(&words[low]).len() == depth + 1 {
            found(low);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_words_that_a_text_begins_with() {
        let words = ["a", "ab", "abcd", "abd", "b"].map(|word| word.as_bytes().to_vec());
        let of = |text: &[u8]| {
            let mut found = Vec::new();
            prefixes(&words, text, Vec::as_slice, |number| found.push(number));
            found
        };
        assert_eq!(of(b"abcde"), [0, 1, 2]);
        assert_eq!(of(b"b"), [4]);
        assert!(of(b"c").is_empty() && of(b"").is_empty());
    }
}
