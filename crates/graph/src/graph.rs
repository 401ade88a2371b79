//! The rows of the graph, how long stretches of them are folded, and what each level is called.
//!
//! How they look is elsewhere. Only positions, figures and the double's bytes are known here.

use stunt_report::{ByteKind, ByteRuns, Opened, Source, grouped};

/// How many bytes a row shows.
pub const ROW: usize = 16;

/// From how many rows of one level on they are folded into the first and a line.
const LONG: usize = 4;

/// What one byte reveals by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// Nothing.
    Nothing,
    /// Less than a bit.
    Slightly,
    /// So many bits or more, 1 to 7.
    Bits(u8),
    /// All eight bits.
    Fully,
    /// At most so many bits, 1 to 8: a bound or an estimate.
    AtMost(u8),
    /// The byte need not be hidden, and was not.
    Public,
}

impl Level {
    /// The level of a figure.
    pub fn of(bits: f64, kind: ByteKind) -> Level {
        match kind {
            ByteKind::Public => Level::Public,
            _ if bits <= 0.0 => Level::Nothing,
            // Rounded up: a bound stays one.
            ByteKind::AtMost | ByteKind::Estimate => Level::AtMost((bits.ceil() as u8).clamp(1, 8)),
            ByteKind::Exact if bits >= 8.0 => Level::Fully,
            ByteKind::Exact if bits < 1.0 => Level::Slightly,
            ByteKind::Exact => Level::Bits(bits as u8),
        }
    }

    /// One character, as in the graphs of `stunt measure`.
    pub fn symbol(self) -> char {
        match self {
            Level::Nothing => '.',
            Level::Slightly => '-',
            Level::Bits(bits) => char::from(b'0' + bits),
            Level::Fully => '#',
            Level::AtMost(bits) => char::from(b'a' + bits - 1),
            Level::Public => '=',
        }
    }

    /// How dark the byte is, from 0 to 5.
    pub fn shade(self) -> usize {
        match self {
            Level::Nothing | Level::Public => 0,
            Level::Slightly => 1,
            Level::Bits(bits) => [2, 2, 3, 3, 3, 4, 4][usize::from(bits.clamp(1, 7)) - 1],
            Level::Fully => 5,
            Level::AtMost(bits) => [1, 2, 2, 3, 3, 3, 4, 5][usize::from(bits.clamp(1, 8)) - 1],
        }
    }

    /// Whether the truth may be less.
    pub fn is_bound(self) -> bool {
        matches!(self, Level::AtMost(_))
    }

    /// What bytes of this level do: `reveal nothing`.
    pub fn words(self, each: &str) -> String {
        match self {
            Level::Nothing => "reveal nothing".to_owned(),
            Level::Slightly => format!("reveal less than a bit{each}"),
            Level::Bits(1) => format!("reveal 1 bit or more{each}"),
            Level::Bits(bits) => format!("reveal {bits} bits or more{each}"),
            Level::Fully => format!("reveal all eight bits{each}"),
            Level::AtMost(1) => format!("reveal at most 1 bit{each}"),
            Level::AtMost(bits) => format!("reveal at most {bits} bits{each}"),
            Level::Public => "are public".to_owned(),
        }
    }

    /// Every shade of the graph with the words of its legend.
    pub const LEGEND: [(Level, &'static str); 7] = [
        (Level::Nothing, "nothing"),
        (Level::Slightly, "less than a bit"),
        (Level::Bits(1), "1 bit or more"),
        (Level::Bits(3), "3 bits or more"),
        (Level::Bits(6), "6 bits or more"),
        (Level::Fully, "all eight bits"),
        (Level::Public, "public, not counted"),
    ];
}

/// A row of the graph.
#[derive(Clone, PartialEq, Debug)]
pub struct Row<'a> {
    /// Where its first byte is.
    pub offset: usize,
    /// The double's bytes.
    pub bytes: &'a [u8],
    /// What each of them reveals.
    pub levels: Vec<Level>,
}

impl Row<'_> {
    /// Neighbours of one level: the place in the row, how many, and the level.
    pub fn groups(&self) -> impl Iterator<Item = (usize, usize, Level)> {
        let mut at = 0;
        self.levels.chunk_by(|a, b| a == b).map(move |group| {
            let start = at;
            at += group.len();
            (start, group.len(), group[0])
        })
    }

    /// The level of all bytes, if they have the same.
    fn level(&self) -> Option<Level> {
        let first = *self.levels.first()?;
        self.levels.iter().all(|&level| level == first).then_some(first)
    }
}

/// A part of the graph, from top to bottom.
#[derive(Clone, PartialEq, Debug)]
pub enum Part<'a> {
    /// A row that is shown.
    Row(Row<'a>),
    /// Rows that are not.
    Fold {
        /// How many bytes they have.
        bytes: usize,
        /// What each of the bytes reveals.
        level: Level,
    },
}

/// A fold in words: `1,024 bytes that reveal nothing`.
pub fn fold_words(bytes: usize, level: Level) -> String {
    format!("{} bytes that {}", grouped(bytes as u64), level.words(" each"))
}

/// The graph of one source.
pub struct Graph<'a> {
    /// The source.
    pub source: &'a Source,
    /// What its bytes reveal.
    pub runs: &'a ByteRuns,
    /// The graph from top to bottom.
    pub parts: Vec<Part<'a>>,
}

impl<'a> Graph<'a> {
    /// The graphs of all sources of a report. Without `all`, long stretches are folded.
    pub fn of(opened: &'a Opened, all: bool) -> Vec<Graph<'a>> {
        let report = &opened.report;
        let sources = report.sources.iter().zip(&report.per_byte).zip(&opened.doubles);
        sources
            .map(|((source, runs), double)| Graph { source, runs, parts: parts(double, runs, all) })
            .collect()
    }

    /// The source as a heading: `The file, 25 bytes`.
    pub fn heading(&self) -> String {
        let bytes = self.source.bytes;
        let name = stunt_report::visible(&self.source.name.words());
        let unit = if bytes == 1 { "byte" } else { "bytes" };
        let mut heading = format!("{name}, {} {unit}", grouped(bytes));
        heading[..1].make_ascii_uppercase();
        heading
    }

    /// Whether a byte has such a level.
    pub fn has(&self, level: impl Fn(Level) -> bool) -> bool {
        self.runs.runs.iter().any(|run| level(Level::of(run.bits, run.kind)))
    }
}

fn parts<'a>(double: &'a [u8], runs: &ByteRuns, all: bool) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let mut rows = rows(double, runs).peekable();
    while let Some(row) = rows.next() {
        let level = row.level().filter(|_| !all);
        parts.push(Part::Row(row));
        let Some(level) = level else { continue };
        let mut alike = Vec::new();
        let mut bytes = 0;
        while let Some(row) = rows.next_if(|row| row.level() == Some(level)) {
            bytes += row.bytes.len();
            // What will be folded need not be kept.
            if alike.len() < LONG {
                alike.push(row);
            }
        }
        if alike.len() + 1 >= LONG {
            parts.push(Part::Fold { bytes, level });
        } else {
            parts.extend(alike.into_iter().map(Part::Row));
        }
    }
    parts
}

/// All rows. Runs are in order, so one pass over both is enough.
fn rows<'a>(double: &'a [u8], runs: &ByteRuns) -> impl Iterator<Item = Row<'a>> {
    let mut next = 0;
    let runs = runs.runs.clone();
    double.chunks(ROW).enumerate().map(move |(number, bytes)| {
        let offset = number * ROW;
        let levels = (offset..offset + bytes.len())
            .map(|at| {
                let at = at as u64;
                while runs.get(next).is_some_and(|run| run.end() <= at) {
                    next += 1;
                }
                match runs.get(next).filter(|run| run.offset <= at) {
                    Some(run) => Level::of(run.bits, run.kind),
                    None => Level::Nothing,
                }
            })
            .collect();
        Row { offset, bytes, levels }
    })
}

/// A byte as text: itself if it is a printable ASCII character, otherwise a dot.
pub fn character(byte: u8) -> char {
    if matches!(byte, b' '..=b'~') { char::from(byte) } else { '.' }
}

#[cfg(test)]
mod tests {
    use stunt_report::SourceName;

    use super::*;

    fn runs(figures: &[(usize, f64, ByteKind)]) -> ByteRuns {
        let figures = figures.iter().flat_map(|&(n, bits, kind)| vec![(bits, kind); n]);
        ByteRuns::new(SourceName::File, figures)
    }

    #[test]
    fn symbols_and_shades_follow_the_figure() {
        let exact = [0.0, 0.01, 0.99, 1.0, 2.5, 7.99, 8.0];
        let levels = exact.map(|bits| Level::of(bits, ByteKind::Exact));
        assert_eq!(levels.map(Level::symbol), ['.', '-', '-', '1', '2', '7', '#']);
        assert_eq!(levels.map(Level::shade), [0, 1, 1, 2, 2, 4, 5]);
        let bounds = [0.2, 1.0, 1.1, 7.5, 8.0].map(|bits| Level::of(bits, ByteKind::AtMost));
        assert_eq!(bounds.map(Level::symbol), ['a', 'a', 'b', 'h', 'h']);
        assert_eq!(Level::of(8.0, ByteKind::Public).symbol(), '=');
    }

    #[test]
    fn long_stretches_are_folded_and_short_ones_are_not() {
        let double = [b'x'; 200];
        let runs = runs(&[(20, 8.0, ByteKind::Exact)]);
        let shape = |all| -> Vec<String> {
            parts(&double, &runs, all)
                .iter()
                .map(|part| match part {
                    Part::Row(row) => row.levels.iter().map(|level| level.symbol()).collect(),
                    Part::Fold { bytes, level } => fold_words(*bytes, *level),
                })
                .collect()
        };
        let folded = shape(false);
        assert_eq!(folded[..2], ["#".repeat(16), format!("####{}", ".".repeat(12))]);
        assert_eq!(folded[2..], [".".repeat(16), "152 bytes that reveal nothing".to_owned()]);
        assert_eq!(shape(true).len(), 13);
        // Three rows alike stay as they are.
        assert_eq!(
            parts(&double[..48], &ByteRuns { runs: vec![], ..runs.clone() }, false).len(),
            3
        );
        assert_eq!(parts(&double[..64], &ByteRuns { runs: vec![], ..runs }, false).len(), 2);
    }

    #[test]
    fn every_byte_has_the_level_of_its_run() {
        let figures =
            [(3, 0.0, ByteKind::Exact), (30, 2.0, ByteKind::AtMost), (7, 8.0, ByteKind::Exact)];
        let (runs, double) = (runs(&figures), [0; 50]);
        let levels: String =
            rows(&double, &runs).flat_map(|row| row.levels).map(Level::symbol).collect();
        assert_eq!(levels, format!("...{}#######..........", "b".repeat(30)));
    }

    #[test]
    fn groups_cover_a_row() {
        let runs = runs(&[(2, 8.0, ByteKind::Exact), (1, 0.5, ByteKind::Exact)]);
        let row = rows(&[0; 5], &runs).next().unwrap();
        let groups: Vec<_> = row.groups().collect();
        assert_eq!(groups, [(0, 2, Level::Fully), (2, 1, Level::Slightly), (3, 2, Level::Nothing)]);
    }
}
