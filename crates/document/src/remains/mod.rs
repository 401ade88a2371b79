//! What of one document's content stands in another: words, numbers, and stretches of bytes.
//!
//! A share of bits does not say which of them are left, and a comparison place by place sees nothing of what has
//! moved or is packed in another way. So the leaves of both are compared, unpacked further wherever anybody could.
//! Words and numbers have at least some letters and digits: shorter ones come by chance, or are anybody's. Names of
//! tags and attributes of markup, and namespaces, are the format's and no content.
//!
//! What is found is private, and for whoever has the first document. Nothing here refuses: what cannot be unpacked is
//! compared as it is.

mod stretches;
mod unpack;
mod words;

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::fmt;

use rustc_hash::FxHashMap;

use crate::document::Document;
use crate::limits::Limits;
pub use words::Vocabulary;
use words::{Sort, each_word, key};

/// So many stretches are kept to be shown.
const MOST_SHOWN: usize = 5;

/// What is known of the content of documents, to be looked for in others.
pub struct Contents {
    /// Words and numbers, by their hashes: a large document has millions.
    words: FxHashMap<u64, Sort>,
    layers: Vec<Vec<u8>>,
    of_words: usize,
    of_numbers: usize,
    letters: usize,
}

/// What stands in another document.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Remains {
    /// Different words that stand in both, in lower case, in alphabetical order.
    pub words: Vec<String>,
    /// How many there are in the first.
    pub of_words: usize,
    /// Different numbers that stand in both.
    pub numbers: Vec<String>,
    /// How many there are in the first.
    pub of_numbers: usize,
    /// Letters and digits of these words and numbers.
    pub letters: usize,
    /// Letters and digits of all different words and numbers of the first.
    pub of_letters: usize,
    /// Bytes of stretches that stand in both, each counted once.
    pub bytes: usize,
    /// Bytes of the first.
    pub of: usize,
    /// The longest of these stretches.
    pub stretches: Vec<Vec<u8>>,
}

impl fmt::Debug for Remains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (words, numbers) = (self.words.len(), self.numbers.len());
        write!(f, "{words} words, {numbers} numbers, {} of {} bytes", self.bytes, self.of)
    }
}

impl Contents {
    /// What these documents hold together; public words do not count.
    pub fn of(documents: &[Vec<u8>], public: &Vocabulary) -> Contents {
        let layers = layers(documents);
        let mut words = FxHashMap::default();
        let (mut of_words, mut of_numbers, mut letters) = (0, 0, 0);
        for layer in &layers {
            each_word(layer, &mut |sort, word| {
                let Entry::Vacant(vacant) = words.entry(key(word)) else { return };
                if sort == Sort::Word && public.has(word) {
                    vacant.insert(Sort::Public);
                    return;
                }
                vacant.insert(sort);
                letters += word.chars().count();
                match sort {
                    Sort::Number => of_numbers += 1,
                    Sort::Word | Sort::Public => of_words += 1,
                }
            });
        }
        Contents { words, layers, of_words, of_numbers, letters }
    }

    /// What of it stands in others.
    pub fn in_others(&self, others: &[Vec<u8>]) -> Remains {
        let mut theirs = layers(others);
        // Also as a whole: what a leaf ends in may go on in the next one.
        let mut room = unpack::MOST;
        others.iter().for_each(|bytes| unpack::unpack(bytes, &mut room, &mut theirs));
        let mut seen = BTreeMap::new();
        for layer in &theirs {
            each_word(layer, &mut |_, word| match self.words.get(&key(word)) {
                Some(&sort) if sort != Sort::Public => {
                    seen.entry(word.to_owned()).or_insert(sort);
                }
                _ => {}
            });
        }
        let mut remains = Remains {
            of_words: self.of_words,
            of_numbers: self.of_numbers,
            of_letters: self.letters,
            ..Remains::default()
        };
        for (word, sort) in seen {
            remains.letters += word.chars().count();
            match sort {
                Sort::Number => remains.numbers.push(word),
                Sort::Word | Sort::Public => remains.words.push(word),
            }
        }
        let mut known = stretches::windows_of(&theirs);
        let mut all: Vec<&[u8]> = Vec::new();
        for layer in &self.layers {
            remains.of += layer.len();
            all.extend(stretches::known_in(layer, &mut known).into_iter().map(|it| &layer[it]));
        }
        remains.bytes = all.iter().map(|stretch| stretch.len()).sum();
        all.sort_by_key(|stretch| std::cmp::Reverse(stretch.len()));
        all.dedup();
        remains.stretches = all.into_iter().take(MOST_SHOWN).map(<[u8]>::to_vec).collect();
        remains
    }
}

impl Remains {
    /// Which part of the different words and numbers stands in the other, letter by letter, in percent.
    pub fn percent(&self) -> f64 {
        share(self.letters, self.of_letters)
    }

    /// Bytes of the first that stand in the other, in percent.
    pub fn percent_of_bytes(&self) -> f64 {
        share(self.bytes, self.of)
    }

    /// How many different words and numbers stand in both.
    pub fn count(&self) -> usize {
        self.words.len() + self.numbers.len()
    }
}

fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { 100.0 * part as f64 / all as f64 }
}

/// The leaves of documents, with what is packed in them.
fn layers(documents: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut layers = Vec::new();
    let mut room = unpack::MOST;
    for bytes in documents {
        let document = Document::parse(bytes.clone(), &Limits::default());
        for (_, leaf) in document.leaves() {
            unpack::unpack(leaf, &mut room, &mut layers);
        }
    }
    layers
}

#[cfg(test)]
mod tests;
