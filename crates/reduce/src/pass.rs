//! What a pass is: a way to look at an input that says what might be cut out of it, or become plainer.
//!
//! A pass proposes edits and knows nothing of runs; the driver tries them. Passes that do the same at different
//! sizes are a family, which has one name: by it a family is switched off, to see what it is worth.

use crate::edit::Edit;

/// A way to make an input smaller or plainer.
pub(crate) trait Pass {
    /// The family it belongs to, one of [`FAMILIES`].
    fn family(&self) -> &'static str;

    /// What may be tried on these bytes, in the order of the places.
    fn edits(&self, bytes: &[u8]) -> Vec<Edit>;
}

/// All families, and for which inputs each of them is.
pub const FAMILIES: [(&str, &str); 17] = [
    (
        "elements",
        "leaves of known formats: elements of XML, JSON, tables, DER, MessagePack and others, with their separators and lengths",
    ),
    ("lines", "text: groups of lines, large ones first"),
    ("line-pairs", "text: two lines, one of which opens what the other closes"),
    ("stretches", "any input: stretches of bytes, side by side, large ones first"),
    ("windows", "any input: a few bytes, wherever they begin"),
    ("tokens", "text: words, white space and marks, some at a time"),
    ("token-pairs", "text: some tokens, and one behind them"),
    ("brackets", "text: what stands in brackets, quotes or tags, with or without these"),
    (
        "hoist",
        "nested text: a part in brackets, tags or deeper lines takes the place of what it stands in",
    ),
    ("items", "text: an item of a list with its comma"),
    ("words", "text that uses names twice: a name becomes shorter wherever it stands"),
    ("values", "text: words become a plain number, numbers become small or short"),
    (
        "names",
        "text that names things: one name for another, a value for its name, a name with all that mentions it",
    ),
    ("lower", "binary: a byte becomes 0 or 1"),
    ("records", "binary: a length and what it counts"),
    ("documents", "files of known formats: parts of containers, and leaves where they stand"),
    ("plain", "any input: what must stay becomes a letter, a digit, a space, a zero"),
];

/// Edits in the order of their places; among those that begin at the same one, the one that takes most is first.
pub(crate) fn in_order(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| (edit.start(), usize::MAX - edit.taken()));
    edits
}
