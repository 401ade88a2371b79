//! What only the owner of an original is told about a report, kept on this machine until the report is shown.
//!
//! A report does not say how long the original was, nor what of its content stands in the double: its reader could
//! not know either. Its owner must, before it is sent. Always: it is kept for the user alone, and never sent.

use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde::{Deserialize, Serialize};
use stunt_anonymize::Account;
use stunt_client::keep;
use stunt_parcel::Digest;
use stunt_report::visible;

/// So many words and numbers are kept by name.
const MOST_WORDS: usize = 40;
/// So much of a stretch that can be read.
const MOST_CHARACTERS: usize = 60;

/// What the owner is told.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Owner {
    /// How many bits of the original are to be hidden.
    pub bits: u64,
    /// Its words that stand in the double, and how many it has.
    pub words: Part,
    /// The same of its numbers.
    pub numbers: Part,
    /// How many bytes of its content can be read in the double, and of how many.
    pub readable: (usize, usize),
    /// The longest stretches of them.
    pub stretches: Vec<String>,
}

/// Some of all.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// The first of them by name.
    pub named: Vec<String>,
    /// How many there are.
    pub count: usize,
    /// Of how many.
    pub of: usize,
}

impl Part {
    fn new(found: &[String], of: usize) -> Self {
        let named = found.iter().take(MOST_WORDS).cloned().collect();
        Self { named, count: found.len(), of }
    }

    /// `2 of its 14 words stand in the double: shards, user`; nothing if none does.
    fn sentence(&self, what: &str) -> Option<String> {
        let more = self.count.saturating_sub(self.named.len());
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let named: Vec<String> = self.named.iter().map(|word| visible(word)).collect();
        let verb = if self.count == 1 { "stands" } else { "stand" };
        let (count, of) = (self.count, self.of);
        (count > 0).then(|| {
            format!("{count} of its {of} {what} {verb} in it: {}{more}.", named.join(", "))
        })
    }
}

impl Owner {
    /// What is told of a double that was proved.
    pub fn of(account: &Account<'_>) -> Self {
        let owner = account.owner;
        let remains = &owner.remains;
        let cut = |stretch: &Vec<u8>| {
            String::from_utf8_lossy(stretch).chars().take(MOST_CHARACTERS).collect()
        };
        Self {
            bits: owner.leak.of,
            words: Part::new(&remains.words, remains.of_words),
            numbers: Part::new(&remains.numbers, remains.of_numbers),
            readable: (remains.bytes, remains.of),
            stretches: remains.stretches.iter().take(3).map(cut).collect(),
        }
    }

    /// Keeps it, for the report with this archive.
    pub fn keep(told: &[u8], archive: &[u8]) {
        let Some(state) = stunt_client::state() else { return };
        let kept = keep::own(&state, Digest::of(archive), told, &mut ChaCha20Rng::from_entropy());
        if let Err(error) = kept {
            // The report is there all the same; what is asked before it is sent says less.
            tracing::warn!("what its owner is told could not be kept: {error}");
        }
    }

    /// What was kept for the report with this archive, if it was made here.
    pub fn recall(archive: &[u8]) -> Option<Self> {
        let told = keep::owned(&stunt_client::state()?, Digest::of(archive))?;
        serde_json::from_slice(&told).ok()
    }

    /// What remains of the original's content, in sentences.
    pub fn remains(&self) -> Vec<String> {
        let parts = [self.words.sentence("words"), self.numbers.sentence("numbers")];
        let mut sentences: Vec<String> = parts.into_iter().flatten().collect();
        let (bytes, of) = self.readable;
        if bytes == 0 {
            sentences.push("No stretch of it can be read in the double.".to_owned());
        } else {
            let shown: Vec<String> =
                self.stretches.iter().map(|it| format!("\"{}\"", visible(it))).collect();
            sentences.push(format!(
                "{bytes} of its {of} bytes can be read in it, such as {}.",
                shown.join(", ")
            ));
        }
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_remains_is_said_by_name_and_in_numbers() {
        let part = |named: &[&str], count, of| Part {
            named: named.iter().map(|it| (*it).to_owned()).collect(),
            count,
            of,
        };
        let mut owner = Owner {
            bits: 488,
            words: part(&["shards", "user\u{1b}"], 2, 14),
            numbers: part(&[], 0, 3),
            readable: (0, 61),
            stretches: Vec::new(),
        };
        assert_eq!(
            owner.remains(),
            [
                "2 of its 14 words stand in it: shards, user\\u{1b}.",
                "No stretch of it can be read in the double."
            ]
        );
        owner.words = part(&["a"], 1, 2);
        owner.readable = (20, 61);
        owner.stretches = vec!["alice.lindqvist".to_owned()];
        assert_eq!(
            owner.remains(),
            [
                "1 of its 2 words stands in it: a.",
                "20 of its 61 bytes can be read in it, such as \"alice.lindqvist\"."
            ]
        );
        let text = serde_json::to_vec(&owner).unwrap();
        assert_eq!(serde_json::from_slice::<Owner>(&text).unwrap(), owner);
    }
}
