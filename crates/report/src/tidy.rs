//! A report as it is written: rounded, and short.
//!
//! Always: a tidied report stays as it is when it is tidied again. Its figures are never lower
//! than before, except for the rounding of figures that are not bounds. The archive is at most
//! [`ROOM`] bytes longer than its compressed doubles, as long as the arguments, notes and
//! parameters leave room for that: those are the user's, and are not shortened.

use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::report::Report;
use crate::rules::{MOST_FRAMES, MOST_RUNS};
use crate::tells::{MOST_PIECES, Tells};

/// How many bytes a report may have beside the compressed doubles.
pub(crate) const ROOM: usize = 5 * 1024;

/// Steps of shortening: runs, frames, characters of a symbol, pieces of advice. The first is the schema's limit.
const STEPS: [(usize, usize, usize, usize); 6] = [
    (MOST_RUNS, MOST_FRAMES, 200, MOST_PIECES),
    (256, MOST_FRAMES, 200, 256),
    (128, MOST_FRAMES, 120, 128),
    (64, 24, 80, 64),
    (32, 16, 80, 32),
    (16, 8, 60, 0),
];

/// The note about joined runs.
const COARSE: &str = "To keep the report small, neighbouring bytes share a figure: where it says \
                      at most, a byte may reveal less.";

impl Report {
    /// The report as [`Report::write`] writes it: bits to six digits after the point (bounds
    /// upwards), bytes to hundredths, at most 32 frames and 512 runs of bytes, long
    /// symbols cut, and less of these where the file would become more than 5 KB longer than its
    /// compressed doubles.
    #[must_use]
    pub fn tidied(&self) -> Report {
        let mut report = self.clone();
        report.leak = self.leak.tidied();
        report.tells = self.tells.as_ref().map(Tells::tidied);
        for runs in &mut report.per_byte {
            *runs = runs.tidied();
        }
        let mut shortened = report.shortened(STEPS[0]);
        for step in &STEPS[1..] {
            if shortened.weight() <= ROOM {
                break;
            }
            shortened = report.shortened(*step);
        }
        shortened
    }

    fn shortened(
        &self,
        (runs, frames, characters, pieces): (usize, usize, usize, usize),
    ) -> Report {
        let mut report = self.clone();
        if let Some(tells) = &mut report.tells {
            tells.shortened(pieces);
        }
        report.failure.frames.truncate(frames);
        report.program.modules.truncate(frames);
        cut(&mut report.failure.words, characters);
        for frame in &mut report.failure.frames {
            [&mut frame.symbol, &mut frame.location]
                .into_iter()
                .flatten()
                .for_each(|text| cut(text, characters));
        }
        // Each source gets a share of the runs by what it has, and one more: `all` is not exceeded.
        let all: usize = self.per_byte.iter().map(|bytes| bytes.runs.len()).sum();
        if all > runs {
            let spare = runs.saturating_sub(self.per_byte.len());
            for bytes in &mut report.per_byte {
                // Joining can make neighbours equal.
                *bytes = bytes.coarsened(1 + bytes.runs.len() * spare / all).tidied();
            }
        }
        let said = report.notes.iter().any(|note| note == COARSE);
        if report.per_byte.iter().any(|bytes| bytes.coarse) && !said {
            report.notes.push(COARSE.to_owned());
        }
        report
    }

    /// How many bytes the archive has beside the compressed doubles.
    pub(crate) fn weight(&self) -> usize {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        let compressed = encoder.write_all(self.to_json().as_bytes()).and_then(|()| {
            let compressed = encoder.finish()?;
            Ok(compressed.len())
        });
        // A vector takes all that it is given.
        let json = compressed.unwrap_or(usize::MAX / 2);
        // An entry has two headers of 30 and 46 bytes, each with its name; 22 bytes end the file.
        let entry = |name: &str| 30 + 46 + 2 * name.len();
        let doubles: usize = self.sources.iter().map(|source| entry(&source.entry)).sum();
        json + entry("report.json") + doubles + 22
    }
}

/// Cuts a text to so many characters, and shows that it was cut.
fn cut(text: &mut String, characters: usize) {
    if let Some((at, _)) = text.char_indices().nth(characters) {
        let last = text[..at].char_indices().next_back().map_or(0, |(last, _)| last);
        text.truncate(last);
        text.push('…');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cut_text_says_so_and_stays() {
        let mut text = "λ".repeat(10);
        cut(&mut text, 10);
        assert_eq!(text.chars().count(), 10);
        cut(&mut text, 4);
        assert_eq!(text, "λλλ…");
        cut(&mut text, 4);
        assert_eq!(text, "λλλ…");
    }
}
