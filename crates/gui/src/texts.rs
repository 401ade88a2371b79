//! The texts of a double: made shorter and plainer, then drawn anew, with the browser as the oracle.
//!
//! What always holds: time ends a search only after so many trials that a slow machine has looked as well as a fast
//! one; what is handed out fails; and of words of the original that are still there somebody has seen that the failure
//! needs them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rand::RngCore;
use stunt_leakage::Bits;
use stunt_path::Original;
use stunt_reduce::reduce;
use stunt_search::weaken::{Lengths, Limits, Readable, blackbox};
use tracing::info;

use crate::anonymize::{NoDouble, Settings};
use crate::case::{Case, Texts};
use crate::leaves::{Leaf, bytes_of, filled, leaves};
use crate::recording::Recording;

/// So many trials each search may make, however slow they are.
const LEAST_TRIALS: u32 = 150;
/// A word of the original has at least so many letters or digits: what is shorter is there by chance.
const WORD: usize = 4;

/// What was found.
pub(crate) struct TextsFound {
    /// The recording with these texts.
    pub recording: Recording,
    /// Where they are.
    pub leaves: Vec<Leaf>,
    /// What they tell.
    pub bits: Option<Bits>,
    /// What each byte of them tells.
    pub figures: Vec<Vec<f64>>,
}

/// How long it may take.
#[derive(Clone, Copy)]
pub(crate) struct Until<'a> {
    /// When all of it began.
    pub begun: Instant,
    /// What is allowed.
    pub settings: Settings<'a>,
}

impl Until<'_> {
    /// Whether the time is over.
    pub(crate) fn is_over(&self) -> bool {
        self.left().is_zero() || self.settings.cancel.load(Ordering::Relaxed)
    }

    fn left(&self) -> Duration {
        self.settings.time.saturating_sub(self.begun.elapsed())
    }

    /// The texts as short and plain as they can be.
    pub(crate) fn reduced(
        &self,
        case: &Case<'_>,
        recording: &Recording,
    ) -> Result<Recording, NoDouble> {
        let recording = &plainer(case, recording)?;
        let leaves = leaves(recording);
        let input = bytes_of_all(recording, &leaves);
        if input.is_empty() {
            return Ok(recording.clone());
        }
        let until = Instant::now() + self.left() / 2;
        let trials = Arc::new(AtomicU64::new(0));
        let over = || {
            let enough = trials.load(Ordering::Relaxed) >= u64::from(LEAST_TRIALS);
            enough && Instant::now() >= until || self.settings.cancel.load(Ordering::Relaxed)
        };
        let oracle_trials = Arc::clone(&trials);
        let mut oracle =
            Texts { case, recording, leaves: &leaves, until: None, trials: oracle_trials };
        let may = vec![true; input.len()];
        let budget = stunt_reduce::Budget { runs: 1 << 14, over: &over, without: &[], few: false };
        let reduced = reduce(&input, &may, &mut oracle, budget)?;
        let bytes = |all: &[Vec<u8>]| all.iter().map(Vec::len).sum::<usize>();
        let (before, after) = (bytes(&input), bytes(&reduced.input));
        info!(before, after, runs = reduced.runs, "reduced");
        Ok(filled(recording, &leaves, &reduced.input).unwrap_or_else(|| recording.clone()))
    }

    /// The texts drawn anew, from all with which it fails as far as trials show them.
    pub(crate) fn drawn(
        &self,
        case: &Case<'_>,
        recording: &Recording,
        rng: &mut dyn RngCore,
    ) -> Result<TextsFound, NoDouble> {
        let leaves = leaves(recording);
        let input = bytes_of_all(recording, &leaves);
        let full =
            |all: &[Vec<u8>]| all.iter().map(|bytes| vec![8.0; bytes.len()]).collect::<Vec<_>>();
        let mut found =
            TextsFound { recording: recording.clone(), leaves, bits: None, figures: full(&input) };
        if input.is_empty() {
            return Ok(found);
        }
        let size = input.iter().map(Vec::len).sum::<usize>();
        found.bits = Some(Bits::AtMost(8.0 * size as f64));
        let mut original = Original::new();
        input.iter().for_each(|bytes| original.push(bytes.clone(), Vec::new()));
        // The measuring at the end needs a part of the time: sixty runs at least.
        let width = case.pool().width() as u32;
        let time = self.left().saturating_sub(case.pace * 60 / width);
        let limits = Limits {
            time: time.max(case.pace * LEAST_TRIALS / width),
            runs: 1 << 20,
            cancel: self.settings.cancel,
            worth: f64::INFINITY,
            lengths: Lengths::default(),
            without: &[],
            readable: Readable::Text,
            price: &|_| None,
        };
        let trials = Arc::new(AtomicU64::new(0));
        let mut oracle = Texts { case, recording, leaves: &found.leaves, until: None, trials };
        let weakened = blackbox(&original, &mut oracle, limits, rng, &mut |_| {})?;
        let Some(weakened) = weakened else { return Ok(found) };
        let Some(drawn) = filled(recording, &found.leaves, &weakened.double.bytes) else {
            return Ok(found);
        };
        if weakened.measured.total.upper() >= 8.0 * size as f64 {
            return Ok(found);
        }
        info!(bits = weakened.measured.total.value(), "texts are drawn");
        let mut figures: Vec<Vec<f64>> =
            weakened.double.bytes.iter().map(|bytes| vec![0.0; bytes.len()]).collect();
        for leak in &weakened.measured.bytes {
            let at = figures.get_mut(usize::from(leak.byte.source));
            if let Some(figure) = at.and_then(|it| it.get_mut(leak.byte.offset as usize)) {
                *figure = leak.bits.value();
            }
        }
        found.recording = drawn;
        found.bits = Some(weakened.measured.total);
        found.figures = figures;
        Ok(found)
    }
}

fn bytes_of_all(recording: &Recording, leaves: &[Leaf]) -> Vec<Vec<u8>> {
    leaves.iter().filter_map(|leaf| bytes_of(recording, leaf)).collect()
}

/// A word in shape: each letter and digit is one like all others of its kind.
fn shape(word: &str) -> String {
    let like = |letter: char| match letter {
        _ if letter.is_numeric() => '1',
        _ if letter.is_uppercase() => 'A',
        _ => 'a',
    };
    word.chars().map(like).collect()
}

/// The words of a text and what is between them, in their order.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_word = rest.chars().next()?.is_alphanumeric();
        let end = rest.find(|letter: char| letter.is_alphanumeric() != is_word);
        let (piece, after) = rest.split_at(end.unwrap_or(rest.len()));
        rest = after;
        Some(piece)
    })
}

/// Texts with these words in shape, wherever they stand. What is no text stays.
fn shaped(input: &[Vec<u8>], words: &BTreeSet<&str>) -> Vec<Vec<u8>> {
    let one = |bytes: &Vec<u8>| match std::str::from_utf8(bytes) {
        Ok(text) => {
            let piece = |piece: &str| {
                if words.contains(piece) { shape(piece) } else { piece.to_owned() }
            };
            pieces(text).map(piece).collect::<String>().into_bytes()
        }
        Err(_) => bytes.clone(),
    };
    input.iter().map(one).collect()
}

/// Words of which the failure needs the shape at most: all at once, or those that go, found by halves. A few trials, and
/// no word is left but those that it asks for.
fn plainer(case: &Case<'_>, recording: &Recording) -> Result<Recording, NoDouble> {
    let leaves = leaves(recording);
    let input = bytes_of_all(recording, &leaves);
    let texts: Vec<&str> = input.iter().filter_map(|it| std::str::from_utf8(it).ok()).collect();
    let mut known = BTreeSet::new();
    let words: Vec<&str> = texts
        .iter()
        .flat_map(|text| pieces(text))
        .filter(|it| it.starts_with(char::is_alphanumeric) && shape(it) != **it)
        .filter(|it| known.insert(*it))
        .collect();
    let (mut gone, mut current) = (BTreeSet::new(), recording.clone());
    let mut open: Vec<&[&str]> = vec![&words];
    for _ in 0..LEAST_TRIALS {
        let Some(group) = open.pop().filter(|it| !it.is_empty()) else { break };
        let with: BTreeSet<&str> = gone.iter().chain(group).copied().collect();
        let candidate = filled(recording, &leaves, &shaped(&input, &with));
        let fails = match &candidate {
            Some(candidate) => case.fails(std::slice::from_ref(candidate))?[0].is_some(),
            None => false,
        };
        if let Some(candidate) = candidate.filter(|_| fails) {
            (gone, current) = (with, candidate);
        } else if group.len() > 1 {
            let (first, second) = group.split_at(group.len() / 2);
            open.extend([second, first]);
        }
    }
    Ok(current)
}

/// Whether a word of the original's texts is still in those of a double, and not in the page's scripts.
pub(crate) fn remains(
    original: &Recording,
    double: &Recording,
    is_public: &dyn Fn(&str) -> bool,
) -> bool {
    let texts = |recording: &Recording| {
        let all = bytes_of_all(recording, &leaves(recording));
        all.iter().map(|bytes| String::from_utf8_lossy(bytes).to_lowercase()).collect::<Vec<_>>()
    };
    let doubles = texts(double);
    texts(original).iter().any(|text| {
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        let mut words = words.filter(|word| word.chars().count() >= WORD);
        words.any(|word| doubles.iter().any(|double| double.contains(word)) && !is_public(word))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::recording::examples::{on, recording};

    #[test]
    fn words_in_shape_are_so_wherever_they_stand() {
        let input = [b"N\xC3\xA9e (4711) x.name: name2".to_vec(), b"name".to_vec(), vec![255]];
        let shaped = shaped(&input, &BTreeSet::from(["N\u{e9}e", "4711", "name"]));
        assert_eq!(shaped, [b"Aaa (1111) x.aaaa: name2".to_vec(), b"aaaa".to_vec(), vec![255]]);
        assert_eq!(pieces("a, b").collect::<Vec<_>>(), ["a", ", ", "b"]);
        assert_eq!(pieces("").next(), None);
    }

    #[test]
    fn a_word_that_is_still_there_is_found_in_whatever_text() {
        let typed = |text: &str| {
            let mut all = recording(&json!([on(1, "type", "#a", &json!({ "text": text }))]));
            all.value_mut()["page"]["url"] = json!("https://app.example/");
            all
        };
        let original = typed("Erika, née Muster");
        let remains = |original: &Recording, double: &Recording| {
            remains(original, double, &|word| word == "public")
        };
        assert!(remains(&original, &typed("xx MUSTERx")));
        assert!(!remains(&original, &typed("née, xxxx")), "it is short");
        assert!(!remains(&typed("public"), &typed("public")), "the page has it");
        let mut address = typed("x");
        address.value_mut()["answers"] = json!([{ "id": 1, "url": "/a?q=Erika", "body": "" }]);
        assert!(remains(&original, &address));
    }
}
