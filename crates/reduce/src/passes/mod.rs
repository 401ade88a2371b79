//! The passes, by the shapes that they look for; each file says for which inputs it is.

pub(crate) mod brackets;
pub(crate) mod elements;
pub(crate) mod names;
pub(crate) mod records;
pub(crate) mod tree;
pub(crate) mod units;
pub(crate) mod values;

pub(crate) use brackets::{BracketPairs, Brackets};
pub(crate) use elements::{Elements, Plain, PlainWords};
pub(crate) use names::{Inlined, Mentions, OtherWords, Words};
pub(crate) use records::{Counted, Records};
pub(crate) use tree::{Hoist, Items};
pub(crate) use units::{Bytes, LinePairs, Lines, TokenPairs, Tokens, Window};
pub(crate) use values::{Instead, Lower, Numbers};

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::edit::Edit;
    use crate::pass::{FAMILIES, Pass};

    /// What an input is after each edit of a pass; all of them are shorter.
    pub(crate) fn after(pass: &dyn Pass, bytes: &[u8]) -> Vec<String> {
        let edits = pass.edits(bytes);
        assert!(edits.is_sorted_by_key(Edit::start), "{}", pass.family());
        let left: Vec<Vec<u8>> = edits.iter().map(|edit| edit.apply(bytes)).collect();
        assert!(
            left.iter().all(|left| left.len() < bytes.len()),
            "{} makes nothing shorter",
            pass.family()
        );
        left.iter().map(|left| String::from_utf8_lossy(left).into_owned()).collect()
    }

    #[test]
    fn nothing_is_cut_out_of_nothing_and_every_pass_has_a_family() {
        let all: [&dyn Pass; 21] = [
            &Elements(1),
            &Plain(1),
            &PlainWords(1),
            &Lines(1),
            &LinePairs,
            &Bytes(1),
            &Window(1),
            &Tokens(1),
            &TokenPairs(2),
            &Brackets,
            &BracketPairs,
            &Hoist,
            &Items,
            &Words,
            &Instead(2),
            &Numbers,
            &OtherWords,
            &Mentions,
            &Inlined,
            &Lower,
            &Records,
        ];
        for pass in all.into_iter().chain([&Counted as &dyn Pass]) {
            assert!(pass.edits(b"").is_empty(), "{}", pass.family());
            assert!(FAMILIES.iter().any(|(name, _)| *name == pass.family()), "{}", pass.family());
        }
    }
}
