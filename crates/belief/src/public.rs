//! What is public: words, documents and doubles that anybody who has the program has, too.
//!
//! What always holds: nothing of an input comes in here; whoever fills it sees to that. Lists are sorted and have
//! no word twice, so that the same words are the same list.

/// What anybody may know.
#[derive(Clone, Debug, Default)]
pub struct Public {
    /// Lists of words; the program's own comes first.
    pub lists: Vec<List>,
    /// Public documents.
    pub documents: Vec<Vec<u8>>,
    /// Doubles of this failure that are known to who reads the report, source by source.
    pub doubles: Vec<Vec<Vec<u8>>>,
}

/// A list of words.
#[derive(Clone, Debug, Default)]
pub struct List {
    name: String,
    words: Vec<Vec<u8>>,
}

/// A word is at least and at most so long, in bytes.
pub(crate) const WORD: std::ops::RangeInclusive<usize> = 2..=96;

impl List {
    /// These words, in order, each once. The name says whose they are: `the program`.
    pub fn new(name: impl Into<String>, words: impl IntoIterator<Item = Vec<u8>>) -> List {
        let mut words: Vec<Vec<u8>> =
            words.into_iter().filter(|word| WORD.contains(&word.len())).collect();
        words.sort_unstable();
        words.dedup();
        List { name: name.into(), words }
    }

    /// Whose words they are.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The words.
    #[must_use]
    pub fn words(&self) -> &[Vec<u8>] {
        &self.words
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The word with this number.
    #[must_use]
    pub fn word(&self, number: usize) -> Option<&[u8]> {
        self.words.get(number).map(Vec::as_slice)
    }
}
