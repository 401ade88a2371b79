//! What a double reveals, in one sentence that its owner understands.
//!
//! Always: the figure comes with its kind, and nothing that is a bound sounds like a fact.

use crate::figure::{Kind, Leak, rounded};
use crate::per_byte::{ByteKind, ByteRuns};
use crate::report::{Draw, Report};

impl Report {
    /// What the double reveals: `reveals exactly 32.24 of 3520 bits (0.9 %): 4 bytes fully,
    /// 21 bytes slightly; the rest of the double is random.`
    pub fn summary(&self) -> String {
        let of = if self.is_shorter() { Of::Unsaid } else { Of::Bits };
        sentence(&self.leak, &self.per_byte, self.bytes(), &self.draw, of)
    }
}

/// What a figure is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// The bits of the original.
    Bits,
    /// The report does not say how many these are.
    Unsaid,
}

/// How many bytes reveal how much, each by itself.
#[derive(Default)]
struct Levels {
    /// All eight bits.
    fully: u64,
    /// Eight bits, by a bound or an estimate.
    perhaps_fully: u64,
    /// A bit or more.
    partly: u64,
    /// Less than a bit.
    slightly: u64,
    /// Not hidden, at the user's wish.
    public: u64,
    /// The sum of all figures, if every one of them is exact.
    sum: Option<f64>,
}

impl Levels {
    fn of(per_byte: &[ByteRuns]) -> Levels {
        let mut levels = Levels { sum: Some(0.0), ..Levels::default() };
        for run in per_byte.iter().flat_map(|bytes| &bytes.runs) {
            let level = match run.kind {
                ByteKind::Public => &mut levels.public,
                ByteKind::Exact if run.bits >= 8.0 => &mut levels.fully,
                _ if run.bits >= 8.0 => &mut levels.perhaps_fully,
                _ if run.bits >= 1.0 => &mut levels.partly,
                _ => &mut levels.slightly,
            };
            *level = level.saturating_add(run.length);
            levels.sum = match run.kind {
                ByteKind::Public => levels.sum,
                ByteKind::Exact => levels.sum.map(|sum| sum + run.bits * run.length as f64),
                ByteKind::AtMost | ByteKind::Estimate => None,
            };
        }
        levels
    }

    fn revealing(&self) -> u64 {
        [self.fully, self.perhaps_fully, self.partly, self.slightly]
            .into_iter()
            .fold(0, u64::saturating_add)
    }
}

/// The sentence for a leak out of an input of `bytes` bytes. It begins with a verb, for whoever
/// wants to put a name before it, and ends with a full stop.
pub fn summary(leak: &Leak, per_byte: &[ByteRuns], bytes: u64, draw: &Draw) -> String {
    sentence(leak, per_byte, bytes, draw, Of::Bits)
}

fn sentence(leak: &Leak, per_byte: &[ByteRuns], bytes: u64, draw: &Draw, of: Of) -> String {
    if bytes == 0 {
        return "reveals nothing: the input is empty.".to_owned();
    }
    let levels = Levels::of(per_byte);
    let rest = bytes.saturating_sub(levels.revealing()).saturating_sub(levels.public);
    let mut clauses = vec![if leak.bits == 0.0 {
        format!("reveals nothing: 0 of {} bits", leak.of)
    } else {
        let figure = number(leak.bits, leak.kind);
        let told = told(leak, &levels, rest);
        let compared = match of {
            Of::Bits => format!("of {} bits ({} %)", leak.of, percent(leak)),
            Of::Unsaid => "bits".to_owned(),
        };
        format!("reveals {} {figure} {compared}: {told}", leak.kind)
    }];
    if levels.public > 0 {
        let are = if levels.public == 1 { "is" } else { "are" };
        clauses.push(format!("{} {are} public and stayed as {}", count(levels.public), {
            if levels.public == 1 { "it was" } else { "they were" }
        }));
    }
    if rest > 0 {
        let alone = levels.revealing() == 0 && levels.public == 0;
        let subject = match (alone, rest) {
            (true, _) if leak.bits > 0.0 => "byte by byte, the double",
            (true, _) => "the double",
            (false, 1) => "the other byte of the double",
            (false, _) => "the rest of the double",
        };
        clauses.push(match draw {
            Draw::Uniform => format!("{subject} is random"),
            Draw::NotUniform { .. } => format!("{subject} does not matter to the failure"),
        });
    }
    clauses.join("; ") + "."
}

/// What is revealed about how many bytes.
fn told(leak: &Leak, levels: &Levels, rest: u64) -> String {
    let counts = [
        (levels.fully, "fully"),
        (levels.perhaps_fully, "perhaps fully"),
        (levels.partly, "partly"),
        (levels.slightly, "slightly"),
    ];
    let counts: Vec<(u64, &str)> = counts.into_iter().filter(|&(n, _)| n > 0).collect();
    let mut told: Vec<String> = match counts[..] {
        [] => return "no byte by itself, only how bytes go together".to_owned(),
        [(1, how)] if rest == 0 && levels.public == 0 => vec![format!("its only byte {how}")],
        [(2, how)] if rest == 0 && levels.public == 0 => vec![format!("both bytes {how}")],
        [(n, how)] if rest == 0 && levels.public == 0 => vec![format!("all {n} bytes {how}")],
        _ => counts.iter().map(|&(n, how)| format!("{} {how}", count(n))).collect(),
    };
    // Figures of bytes are rounded to hundredths: a difference below that many is no difference.
    let slack = 1.0_f64.max(levels.revealing() as f64 * 0.006);
    if let (Kind::Exact, Some(sum)) = (leak.kind, levels.sum)
        && leak.bits - sum > slack
    {
        let more = number(((leak.bits - sum) * 10.0).round() / 10.0, Kind::Exact);
        told.push(format!("and about {more} bits of how bytes go together"));
    }
    told.join(", ")
}

/// `1 byte`, `4 bytes`.
fn count(bytes: u64) -> String {
    if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") }
}

/// A figure to hundredths, without idle zeros: `32`, `32.24`.
fn number(value: f64, kind: Kind) -> String {
    trimmed(format!("{:.2}", rounded(value, kind, 100.0)))
}

/// The percentage to tenths; what is less than a tenth says so, and only all is 100.
fn percent(leak: &Leak) -> String {
    if leak.percent < 0.1 {
        return "less than 0.1".to_owned();
    }
    let shown = rounded(leak.percent, leak.kind, 10.0);
    let all = leak.bits >= leak.of as f64 || leak.kind == Kind::AtMost;
    trimmed(format!("{:.1}", if all { shown } else { shown.min(99.9) }))
}

fn trimmed(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceName;

    const E: ByteKind = ByteKind::Exact;

    fn leak(bits: f64, of: u64, kind: Kind) -> Leak {
        Leak::new(bits, of, kind, "")
    }

    /// The sentence for runs of (length, bits, kind), one after the other, out of `bytes` bytes.
    fn sentence(leak: &Leak, bytes: u64, runs: &[(usize, f64, ByteKind)]) -> String {
        let figures = runs.iter().flat_map(|&(n, bits, kind)| vec![(bits, kind); n]);
        let runs = ByteRuns::new(SourceName::File, figures);
        summary(leak, &[runs], bytes, &Draw::Uniform)
    }

    #[test]
    fn the_sentence_of_the_web_server() {
        let runs = [(4, 8.0, E), (21, 0.0113, E)];
        assert_eq!(
            sentence(&leak(32.2376, 3520, Kind::Exact), 440, &runs),
            "reveals exactly 32.24 of 3520 bits (0.9 %): 4 bytes fully, 21 bytes slightly; the \
             rest of the double is random."
        );
        assert_eq!(
            sentence(&leak(32.0, 3520, Kind::Exact), 440, &runs[..1]),
            "reveals exactly 32 of 3520 bits (0.9 %): 4 bytes fully; the rest of the double is \
             random."
        );
    }

    #[test]
    fn nothing_is_revealed() {
        assert_eq!(
            sentence(&leak(0.0, 80, Kind::Exact), 10, &[]),
            "reveals nothing: 0 of 80 bits; the double is random."
        );
        assert_eq!(
            sentence(&leak(0.0, 0, Kind::Exact), 0, &[]),
            "reveals nothing: the input is empty."
        );
    }

    #[test]
    fn one_byte_two_bytes_all_bytes() {
        assert_eq!(
            sentence(&leak(8.0, 80, Kind::Exact), 10, &[(1, 8.0, E)]),
            "reveals exactly 8 of 80 bits (10 %): 1 byte fully; the rest of the double is random."
        );
        assert_eq!(
            sentence(&leak(8.0, 16, Kind::Exact), 2, &[(1, 8.0, E)]),
            "reveals exactly 8 of 16 bits (50 %): 1 byte fully; the other byte of the double is \
             random."
        );
        assert_eq!(
            sentence(&leak(8.0, 8, Kind::Exact), 1, &[(1, 8.0, E)]),
            "reveals exactly 8 of 8 bits (100 %): its only byte fully."
        );
        assert_eq!(
            sentence(&leak(2.0, 16, Kind::Exact), 2, &[(2, 1.0, E)]),
            "reveals exactly 2 of 16 bits (12.5 %): both bytes partly."
        );
        assert_eq!(
            sentence(&leak(0.0339, 24, Kind::Exact), 3, &[(3, 0.0113, E)]),
            "reveals exactly 0.03 of 24 bits (0.1 %): all 3 bytes slightly."
        );
        assert_eq!(
            sentence(&leak(9.0, 16, Kind::Exact), 2, &[(1, 8.0, E), (1, 1.0, E)]),
            "reveals exactly 9 of 16 bits (56.3 %): 1 byte fully, 1 byte partly."
        );
    }

    #[test]
    fn bounds_and_estimates_say_so() {
        let bound = ByteKind::AtMost;
        assert_eq!(
            sentence(&leak(20.001, 80, Kind::AtMost), 10, &[(4, 8.0, bound), (2, 0.3, bound)]),
            "reveals at most 20.01 of 80 bits (25.1 %): 4 bytes perhaps fully, 2 bytes slightly; \
             the rest of the double is random."
        );
        assert_eq!(
            sentence(&leak(12.51, 80, Kind::Estimate), 10, &[(1, 8.0, E), (1, 4.5, E)]),
            "reveals about 12.51 of 80 bits (15.6 %): 1 byte fully, 1 byte partly; the rest of \
             the double is random."
        );
    }

    #[test]
    fn bytes_that_say_more_together() {
        assert_eq!(
            sentence(&leak(8.0, 16, Kind::Exact), 2, &[]),
            "reveals exactly 8 of 16 bits (50 %): no byte by itself, only how bytes go together; \
             byte by byte, the double is random."
        );
        assert_eq!(
            sentence(&leak(78.17, 128, Kind::Exact), 16, &[(16, 4.68, E)]),
            "reveals exactly 78.17 of 128 bits (61.1 %): all 16 bytes partly, and about 3.3 bits \
             of how bytes go together."
        );
    }

    #[test]
    fn public_bytes_and_draws_that_are_not_uniform() {
        assert_eq!(
            sentence(&leak(8.0, 64, Kind::Exact), 10, &[(2, 0.0, ByteKind::Public), (1, 8.0, E)]),
            "reveals exactly 8 of 64 bits (12.5 %): 1 byte fully; 2 bytes are public and stayed as \
             they were; the rest of the double is random."
        );
        assert_eq!(
            sentence(&leak(0.0, 8, Kind::Exact), 2, &[(1, 0.0, ByteKind::Public)]),
            "reveals nothing: 0 of 8 bits; 1 byte is public and stayed as it was; the other byte \
             of the double is random."
        );
        let runs = ByteRuns::new(SourceName::File, [(8.0, E)]);
        let draw = Draw::NotUniform { why: "x".to_owned() };
        assert_eq!(
            summary(&leak(8.0, 80, Kind::Exact), &[runs], 10, &draw),
            "reveals exactly 8 of 80 bits (10 %): 1 byte fully; the rest of the double does not \
             matter to the failure."
        );
    }

    #[test]
    fn small_and_large_percentages_stay_honest() {
        let percents = [
            (8.0, 800_000, Kind::Exact, "less than 0.1"),
            (799_999.0, 800_000, Kind::Exact, "99.9"),
            (800_000.0, 800_000, Kind::Exact, "100"),
            (799_999.0, 800_000, Kind::AtMost, "100"),
            (0.5, 8, Kind::AtMost, "6.3"),
            (20.0, 80, Kind::AtMost, "25"),
        ];
        for (bits, of, kind, expected) in percents {
            assert_eq!(percent(&leak(bits, of, kind)), expected, "{bits} {of} {kind}");
        }
    }
}
