//! The texts of a double: made shorter and plainer, then drawn anew, with the browser as the oracle.
//!
//! What always holds: time ends a search only after so many trials that a slow machine has looked as well as a fast
//! one; what is handed out fails; and of words of the original that are still there somebody has seen that the failure
//! needs them.

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
        let budget = stunt_reduce::Budget { runs: 1 << 14, over: &over, without: &[] };
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

/// The same text in shape: each letter and digit is one like all others of its kind.
fn shape(bytes: &[u8]) -> Option<Vec<u8>> {
    let like = |letter: char| match letter {
        _ if letter.is_numeric() => '1',
        _ if letter.is_uppercase() => 'A',
        _ if letter.is_alphabetic() => 'a',
        other => other,
    };
    let shape: String = std::str::from_utf8(bytes).ok()?.chars().map(like).collect();
    (shape.as_bytes() != bytes).then(|| shape.into_bytes())
}

/// Texts of which the failure needs the shape at most: all at once, or as many as go. A few trials, and no word is left.
fn plainer(case: &Case<'_>, recording: &Recording) -> Result<Recording, NoDouble> {
    let leaves = leaves(recording);
    let input = bytes_of_all(recording, &leaves);
    let mut current = (input.clone(), recording.clone());
    let mut open: Vec<Vec<usize>> =
        vec![(0..input.len()).filter(|&at| shape(&input[at]).is_some()).collect()];
    while let Some(group) = open.pop() {
        let mut other = current.0.clone();
        for &at in &group {
            other[at] = shape(&input[at]).unwrap_or_default();
        }
        let candidate = filled(recording, &leaves, &other);
        let Some(candidate) = candidate.filter(|_| !group.is_empty()) else { continue };
        if case.fails(std::slice::from_ref(&candidate))?[0].is_some() {
            current = (other, candidate);
        } else if group.len() > 1 {
            let (first, second) = group.split_at(group.len() / 2);
            open.push(second.to_vec());
            open.push(first.to_vec());
        }
    }
    Ok(current.1)
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
    fn a_shape_has_no_word() {
        let shape = |text: &str| shape(text.as_bytes()).map(|it| String::from_utf8(it).unwrap());
        assert_eq!(shape("Née (4711) x.y").as_deref(), Some("Aaa (1111) a.a"));
        assert_eq!(shape("aaa (1)"), None, "it is one already");
        assert_eq!(super::shape(&[255]), None);
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
