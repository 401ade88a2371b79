//! Words: every spelling once, known by a number.
//!
//! Equal words have equal numbers, numbers count from 0 in the order of first sight. This file does
//! not know what a word means.

use std::ops::Range;

/// A word: equal words have equal numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Word(u32);

impl Word {
    /// Its number.
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// Where a word's letters are, and a number made of them.
#[derive(Clone, Copy)]
struct Spelled {
    /// Together with the length it is the spelling itself, up to 16 letters.
    key: [u64; 2],
    start: u32,
    len: u32,
}

/// All words of the texts read.
#[derive(Default)]
pub(super) struct Words {
    letters: String,
    words: Vec<Spelled>,
    /// Numbers of words plus one, each at the place that its hash says or soon after; 0 is free.
    /// A power of two, and at least half of it is free.
    places: Vec<u32>,
}

impl Words {
    /// The number of a word.
    pub(super) fn word(&mut self, text: &str) -> Word {
        self.word_in(text, 0..text.len())
    }

    /// The number of the word in that range of a text.
    #[inline]
    pub(super) fn word_in(&mut self, text: &str, range: Range<usize>) -> Word {
        let bytes = &text.as_bytes()[range.clone()];
        let (key, len) = (key_of(bytes), bytes.len() as u32);
        let mut place = mixed(key, len) as usize;
        let last = self.places.len().wrapping_sub(1);
        while let Some(number) = self.places.get(place & last).and_then(|n| n.checked_sub(1)) {
            let word = &self.words[number as usize];
            if word.key == key
                && word.len == len
                && (len <= 16 || self.letters.as_bytes()[word.start as usize..].starts_with(bytes))
            {
                return Word(number);
            }
            place += 1;
        }
        self.add(&text[range], key, place & last)
    }

    /// Adds a word, and puts it at that place if there is room.
    #[inline(never)]
    fn add(&mut self, text: &str, key: [u64; 2], place: usize) -> Word {
        let number = self.words.len() as u32;
        let start = self.letters.len();
        self.letters.push_str(text);
        assert!(u32::try_from(self.letters.len()).is_ok(), "all words fit 4 GiB");
        self.words.push(Spelled { key, start: start as u32, len: text.len() as u32 });
        if self.words.len() * 2 > self.places.len() {
            self.spread();
        } else {
            self.places[place] = number + 1;
        }
        Word(number)
    }

    /// Gives the words twice as many places.
    fn spread(&mut self) {
        let count = (self.places.len() * 2).max(64);
        self.places.clear();
        self.places.resize(count, 0);
        for (word, number) in self.words.iter().zip(1..) {
            let mut place = mixed(word.key, word.len) as usize & (count - 1);
            while self.places[place] != 0 {
                place = (place + 1) & (count - 1);
            }
            self.places[place] = number;
        }
    }

    /// The letters of a word.
    pub(super) fn spelling(&self, word: Word) -> &str {
        let Spelled { start, len, .. } = self.words[word.index()];
        &self.letters[start as usize..][..len as usize]
    }

    /// How many words there are.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// All words, as they are spelled.
    pub(super) fn spellings(&self) -> impl Iterator<Item = &str> {
        (0..self.words.len()).map(|i| self.spelling(Word(i as u32)))
    }
}

/// A number that tells words of one length of up to 16 letters apart. Parts that overlap say a
/// letter twice, which does no harm.
#[inline]
fn key_of(bytes: &[u8]) -> [u64; 2] {
    let four = |part: &[u8; 4]| u64::from(u32::from_le_bytes(*part));
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        return if bytes.len() <= 16 { [first, last] } else { [first, stirred(bytes, last)] };
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return [four(first) | four(last) << 32, 0];
    }
    match *bytes {
        [] => [0, 0],
        [first, .., last] => {
            let middle = bytes[bytes.len() / 2];
            [u64::from(first) | u64::from(middle) << 8 | u64::from(last) << 16, 0]
        }
        [only] => [u64::from(only), 0],
    }
}

/// All letters of a long word in one number.
#[inline(never)]
fn stirred(bytes: &[u8], last: u64) -> u64 {
    let parts = bytes.chunks_exact(8).filter_map(<[u8]>::first_chunk::<8>);
    parts.fold(last, |all, part| fold(all, u64::from_le_bytes(*part)))
}

#[inline]
fn mixed([a, b]: [u64; 2], len: u32) -> u64 {
    fold(a ^ u64::from(len), b)
}

/// Both numbers stirred into one.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd1b5_4a32_d192_ed03);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_differ_anywhere_are_different_words() {
        let mut words = Words::default();
        let mut all = vec![String::new()];
        for len in 1..40 {
            let plain = "a".repeat(len);
            all.extend((0..len).map(|i| {
                let mut text = plain.clone();
                text.replace_range(i..=i, "b");
                text
            }));
            all.push(plain);
        }
        let numbers: Vec<Word> = all.iter().map(|text| words.word(text)).collect();
        assert_eq!(words.len(), all.len());
        for (text, &word) in all.iter().zip(&numbers) {
            assert_eq!(words.spelling(word), text);
            assert_eq!(words.word(text), word);
        }
        assert!(words.spellings().eq(all.iter().map(String::as_str)));
    }
}
