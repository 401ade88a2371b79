//! Constants of scripts and classes, to be found as the beginning of a message or within it.

use super::template::{Fit, fit, pieces, words};

/// Some constants. There are few enough to try them all.
#[derive(Default)]
pub struct Constants {
    all: Vec<String>,
}

impl Constants {
    /// Those of these texts that have words.
    pub fn of(texts: impl IntoIterator<Item = String>) -> Self {
        let mut all: Vec<String> =
            texts.into_iter().filter(|text| words(pieces(text)) > 0).collect();
        all.sort_unstable();
        all.dedup();
        Self { all }
    }

    /// The constant that says most of how a message begins, with so many words at least.
    pub fn beginning(&self, message: &str, least: usize) -> Option<Fit> {
        let fits = self.all.iter().filter_map(|constant| {
            // One that begins with a value fits everything; it has to say more.
            let opens = pieces(constant).first().is_some_and(|piece| piece.trim().is_empty());
            fit(constant, message, if opens { least.max(2) } else { least })
        });
        fits.max_by_key(|it| it.literal)
    }

    /// The constant that says most within a message, and where: of two words at least, or its end.
    pub fn inside(&self, message: &str) -> Option<(usize, Fit)> {
        let found = self.all.iter().filter_map(|constant| {
            let first = pieces(constant)[0].to_owned();
            if words([&*first]) == 0 {
                return None;
            }
            let at = message.find(&first)?;
            let before = message[..at].ends_with(char::is_alphanumeric);
            if before && first.starts_with(char::is_alphanumeric) {
                return None;
            }
            let fit = fit(constant, &message[at..], 1)?;
            let ends = at + fit.end == message.len() && pieces(constant).len() == 1;
            let says = words(pieces(constant));
            // One word alone, which the message ends with, is more likely a value.
            let enough = says >= 2 || (ends && constant.starts_with([' ', ':', ',', ';', '-']));
            enough.then(|| (at, Fit { end: at + fit.end, ..fit }))
        });
        found.max_by_key(|(_, it)| it.literal)
    }
}
