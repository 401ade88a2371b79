//! Words and numbers of a text, or of whatever text there is in some bytes.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use crate::structure::{Layout, Role, Structure};

/// The least letters of a word: shorter ones come by chance, or are anybody's.
pub(super) const WORD: usize = 4;
/// The least digits of a number.
pub(super) const NUMBER: usize = 4;
/// So much of a leaf is looked at to see whether it is markup.
const LOOKED_AT: usize = 512;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    Word,
    Number,
    /// Anybody's.
    Public,
}

/// Words that anybody has: those of a program, say.
#[derive(Default)]
pub struct Vocabulary(FxHashSet<u64>);

/// What ordinary writers of known formats write into every document, an empty one as well: names of parts, types,
/// styles and fonts, keys of headers.
const OF_FORMATS: &str = include_str!("formats.txt");

impl Vocabulary {
    /// The words that every document of a known format has.
    pub fn of_formats() -> Vocabulary {
        let mut words = Vocabulary::default();
        words.add(OF_FORMATS.as_bytes());
        words
    }

    /// Adds all words that stand in some bytes.
    pub fn add(&mut self, bytes: &[u8]) {
        in_text(&String::from_utf8_lossy(bytes), &mut |sort, word| {
            if sort == Sort::Word {
                self.0.insert(key(word));
            }
        });
    }

    /// Whether a word, in lower case, is among them.
    pub fn has(&self, word: &str) -> bool {
        self.0.contains(&key(word))
    }
}

pub(super) fn key(word: &str) -> u64 {
    let mut hasher = FxHasher::default();
    word.hash(&mut hasher);
    hasher.finish()
}

/// Calls for every word and number, in lower case, as often as it is there.
pub(super) fn each_word(bytes: &[u8], call: &mut dyn FnMut(Sort, &str)) {
    let start = &bytes[..bytes.len().min(LOOKED_AT)];
    if start.trim_ascii_start().first() == Some(&b'<') {
        let structure = Structure::of(bytes);
        if structure.layout() == Layout::Markup {
            return in_markup(bytes, &structure, call);
        }
    }
    in_text(&String::from_utf8_lossy(bytes), call);
}

/// The same in texts and values of attributes.
fn in_markup(bytes: &[u8], structure: &Structure, call: &mut dyn FnMut(Sort, &str)) {
    for (at, element) in structure.elements().iter().enumerate() {
        let own = &bytes[element.range.clone()];
        match element.role {
            Role::Text => in_text(&String::from_utf8_lossy(own), call),
            Role::Attribute if !own.trim_ascii_start().starts_with(b"xmlns") => {
                for value in structure.children(at) {
                    let value = &bytes[structure.elements()[value].range.clone()];
                    in_text(&String::from_utf8_lossy(value), call);
                }
            }
            _ => {}
        }
    }
}

fn in_text(text: &str, call: &mut dyn FnMut(Sort, &str)) {
    let mut start: Option<(usize, Sort, usize)> = None;
    let mut end_at = |start: &mut Option<(usize, Sort, usize)>, end: usize| {
        let Some((from, sort, length)) = start.take() else { return };
        let least = if sort == Sort::Word { WORD } else { NUMBER };
        if length >= least {
            let word = &text[from..end];
            let is_lower =
                word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
            let word: Cow<'_, str> =
                if is_lower { Cow::Borrowed(word) } else { Cow::Owned(word.to_lowercase()) };
            call(sort, &word);
        }
    };
    for (at, character) in text.char_indices() {
        let sort = match character {
            'a'..='z' | 'A'..='Z' => Some(Sort::Word),
            '0'..='9' => Some(Sort::Number),
            _ if character.is_ascii() => None,
            _ => character.is_alphabetic().then_some(Sort::Word),
        };
        match (&mut start, sort) {
            (Some((_, of, length)), Some(sort)) if *of == sort => *length += 1,
            (_, sort) => {
                end_at(&mut start, at);
                start = sort.map(|sort| (at, sort, 1));
            }
        }
    }
    end_at(&mut start, text.len());
}
