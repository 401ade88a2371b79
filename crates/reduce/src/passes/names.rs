//! What can be cut out of texts that give names to things: a name is the same wherever it stands, one name may
//! do for another, and a value for its name.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::brackets::bracketed;
use super::units::{MOST_IN_PAIRS, is_word, tokens};
use crate::edit::Edit;
use crate::pass::{Pass, in_order};

/// A name goes with all that mentions it, if that is at most so many places.
const MOST_MENTIONS: usize = 3;
/// Words become one of so many others, the shortest.
const MOST_OTHERS: usize = 6;
/// A name is given to a value at most so many tokens before it,
const MOST_BEFORE: usize = 8;
/// in a statement that begins at most so many tokens before the name.
const MOST_BEGUN: usize = 3;

/// A word, or the end of it, wherever it stands: names are the same in all places.
pub(crate) struct Words;

impl Pass for Words {
    fn family(&self) -> &'static str {
        "words"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        in_order(words(bytes))
    }
}

/// A word that becomes one of the shorter ones: what has many names needs one.
pub(crate) struct OtherWords;

impl Pass for OtherWords {
    fn family(&self) -> &'static str {
        "names"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        in_order(other_words(bytes))
    }
}

/// A name with every statement or item of a list that mentions it.
pub(crate) struct Mentions;

impl Pass for Mentions {
    fn family(&self) -> &'static str {
        "names"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        in_order(mentions(bytes))
    }
}

/// A value that takes the place of its name, and goes from where that was given to it.
pub(crate) struct Inlined;

impl Pass for Inlined {
    fn family(&self) -> &'static str {
        "names"
    }

    fn edits(&self, bytes: &[u8]) -> Vec<Edit> {
        in_order(inlined(bytes))
    }
}

fn words(bytes: &[u8]) -> Vec<Edit> {
    let places = places(bytes);
    let mut edits = Vec::new();
    for (word, places) in places.iter().filter(|(_, places)| places.len() > 1) {
        let mut kept = vec![0, 1, word.len() / 2, word.len() - 1];
        kept.retain(|&kept| kept < word.len());
        kept.sort_unstable();
        kept.dedup();
        edits.extend(kept.into_iter().map(|kept| {
            let cut = |place: &Range<usize>| (place.start + kept..place.end, Vec::new());
            Edit::all(places.iter().map(cut).collect())
        }));
    }
    edits
}

/// The words of a text, in order.
fn all_words(bytes: &[u8]) -> Vec<Range<usize>> {
    let tokens = tokens(bytes);
    let words = tokens.windows(2).filter(|pair| is_word(bytes[pair[0]]));
    words.map(|pair| pair[0]..pair[1]).collect()
}

/// Where each word stands.
fn places(bytes: &[u8]) -> BTreeMap<&[u8], Vec<Range<usize>>> {
    let mut places: BTreeMap<&[u8], Vec<Range<usize>>> = BTreeMap::new();
    for word in all_words(bytes) {
        places.entry(&bytes[word.clone()]).or_default().push(word);
    }
    places
}

/// Whether a word is a name, and not a number.
fn is_name(word: &[u8]) -> bool {
    !word[0].is_ascii_digit()
}

fn other_words(bytes: &[u8]) -> Vec<Edit> {
    let words = all_words(bytes);
    if words.len() > MOST_IN_PAIRS {
        return Vec::new();
    }
    let names = words.iter().map(|word| &bytes[word.clone()]).filter(|word| is_name(word));
    let shortest: BTreeSet<(usize, &[u8])> = names.map(|name| (name.len(), name)).collect();
    let mut edits = Vec::new();
    for word in &words {
        let shorter = shortest.iter().take(MOST_OTHERS).filter(|other| other.0 < word.len());
        edits.extend(shorter.map(|other| Edit::instead(word.clone(), other.1)));
    }
    edits
}

fn inlined(bytes: &[u8]) -> Vec<Edit> {
    let (tokens, words) = (tokens(bytes), all_words(bytes));
    if words.len() > MOST_IN_PAIRS {
        return Vec::new();
    }
    let quoted = bracketed(bytes)
        .into_iter()
        .map(|part| part.whole)
        .filter(|it| matches!(bytes[it.start], b'"' | b'\''));
    let numbers = words.iter().filter(|word| !is_name(&bytes[(*word).clone()])).cloned();
    let mut edits = Vec::new();
    for value in quoted.chain(numbers) {
        let place = tokens.partition_point(|&token| token < value.start);
        let first = tokens[place.saturating_sub(MOST_BEFORE)];
        let given = |word: &&Range<usize>| word.start >= first && word.end <= value.start;
        for name in words.iter().filter(given).filter(|word| is_name(&bytes[(*word).clone()])) {
            let at = tokens.partition_point(|&token| token < name.start);
            for &start in &tokens[at.saturating_sub(MOST_BEGUN)..=at] {
                edits.extend(in_place_of(bytes, &words, name, start..value.end, &value));
            }
        }
    }
    edits
}

fn mentions(bytes: &[u8]) -> Vec<Edit> {
    if all_words(bytes).len() > MOST_IN_PAIRS {
        return Vec::new();
    }
    let mut edits = Vec::new();
    for (word, places) in places(bytes) {
        if !is_name(word) || !(2..=MOST_MENTIONS).contains(&places.len()) {
            continue;
        }
        let mut all: Vec<Vec<Range<usize>>> = vec![Vec::new()];
        for place in places {
            let ways = around(bytes, &place);
            let longer = |known: &Vec<Range<usize>>| {
                ways.iter().map(|way| [&known[..], std::slice::from_ref(way)].concat()).collect()
            };
            all = all.iter().flat_map(|known| -> Vec<_> { longer(known) }).collect();
        }
        edits.extend(all.into_iter().filter_map(|parts| apart(&parts)));
    }
    edits
}

/// What may go with a name: its statement, or its comma in a list.
fn around(bytes: &[u8], name: &Range<usize>) -> Vec<Range<usize>> {
    let ends = |byte: &u8| matches!(byte, b';' | b'\n');
    let (before, behind) = (&bytes[..name.start], &bytes[name.end..]);
    let start = before.iter().rposition(ends).map_or(0, |at| at + 1);
    let end = behind.iter().position(ends).map_or(bytes.len(), |at| name.end + at + 1);
    let statement = start..end;
    let blank = |it: &&u8| it.is_ascii_whitespace();
    let comma_behind = name.end + behind.iter().take_while(blank).count();
    let comma_before = name.start - before.iter().rev().take_while(blank).count();
    let mut ways = vec![statement];
    if bytes.get(comma_behind) == Some(&b',') {
        ways.push(name.start..comma_behind + 1);
    }
    if comma_before > 0 && bytes[comma_before - 1] == b',' {
        ways.push(comma_before - 1..name.end);
    }
    ways
}

/// Several cuts, if none of them is within another.
fn apart(parts: &[Range<usize>]) -> Option<Edit> {
    parts
        .windows(2)
        .all(|pair| pair[0].end <= pair[1].start)
        .then(|| Edit::all(parts.iter().map(|part| (part.clone(), Vec::new())).collect()))
}

/// A value wherever its name stands, without the statement that gives it.
fn in_place_of(
    bytes: &[u8],
    words: &[Range<usize>],
    name: &Range<usize>,
    statement: Range<usize>,
    value: &Range<usize>,
) -> Option<Edit> {
    let same = |word: &&Range<usize>| bytes[(*word).clone()] == bytes[name.clone()];
    let outside = |word: &&Range<usize>| word.end <= statement.start || word.start >= statement.end;
    let used: Vec<&Range<usize>> = words.iter().filter(same).filter(outside).collect();
    if used.is_empty() {
        return None;
    }
    let mut edit = Edit::cut(statement.clone());
    for word in used {
        edit = edit.and(word.clone(), bytes[value.clone()].to_vec());
    }
    (edit.taken() > 0).then_some(edit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::tests::after;

    #[test]
    fn a_name_is_the_same_everywhere() {
        assert_eq!(
            after(&Words, b"name=1;name+nam"),
            ["=1;+nam", "n=1;n+nam", "na=1;na+nam", "nam=1;nam+nam"]
        );
        assert!(after(&Words, b"one two").is_empty());
    }

    #[test]
    fn one_name_may_do_for_another() {
        assert_eq!(after(&OtherWords, b"long(v) + 12"), ["v(v) + 12", "long(v) + v"]);
        assert!(after(&OtherWords, b"a + b").is_empty(), "neither is shorter");
    }

    #[test]
    fn a_name_goes_with_all_that_mentions_it() {
        let left = after(&Mentions, b"new u;new tt;use u, tt");
        assert!(left.contains(&"new tt;use  tt".to_owned()), "{left:?}");
        assert!(left.contains(&"new u;use u".to_owned()), "{left:?}");
        assert!(after(&Mentions, b"one; two").is_empty());
    }

    #[test]
    fn a_value_takes_the_place_of_its_name() {
        let left = after(&Inlined, b"x, i = 0, '12' f(i)");
        assert!(left.contains(&" f('12')".to_owned()), "{left:?}");
        assert!(after(&Inlined, b"f(i) '12'").is_empty(), "nothing else has the name");
        assert!(after(&Inlined, b"i=12345;ii").is_empty());
    }
}
