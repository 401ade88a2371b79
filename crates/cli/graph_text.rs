//! The leak graph on a terminal: a hexadecimal dump whose bytes are shaded by what they reveal.
//!
//! With colours the shade is the background. Without them, a line below each row has a character
//! for each byte, under its digits and under its text; rows that reveal nothing have none.

use std::fmt::Write;

use stunt_graph::{Graph, Level, Part, ROW, Row, character, fold_words};

/// How shades are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// By colours.
    Colours,
    /// By characters.
    Characters,
}

/// Colours of the shades 1 to 5, from pale yellow to red, of a palette that terminals share.
const SHADES: [&str; 5] =
    ["30;48;5;229", "30;48;5;221", "30;48;5;214", "30;48;5;208", "97;48;5;160"];
const PUBLIC: &str = "30;48;5;153";
/// What may be less than it looks is underlined.
const BOUND: &str = ";4";

/// All graphs, each under its heading, and the legend.
pub fn text(graphs: &[Graph<'_>], style: Style) -> String {
    let mut text = String::new();
    let bytes = graphs.iter().map(|graph| graph.source.bytes).max().unwrap_or(0);
    let digits = bytes.saturating_sub(1).to_string().len();
    for graph in graphs {
        let _ = writeln!(text, "{}:", graph.heading());
        for part in &graph.parts {
            match part {
                Part::Row(row) => push_row(&mut text, row, digits, style),
                Part::Fold { bytes, level } => {
                    let _ = writeln!(text, "{:>digits$}  … {} …", "", fold_words(*bytes, *level));
                }
            }
        }
        text.push('\n');
    }
    text + &legend(graphs, style)
}

fn push_row(text: &mut String, row: &Row<'_>, digits: usize, style: Style) {
    let _ = write!(text, "{:>digits$}  ", row.offset);
    let hex = |at: usize| format!("{:02x}", row.bytes[at]);
    let shown = |at: usize| character(row.bytes[at]).to_string();
    let mut columns = columns(row, style, hex) + "  ";
    columns += &match style {
        Style::Colours => joined(row, |_| "", shown, style),
        Style::Characters => row.bytes.iter().map(|&byte| character(byte)).collect(),
    };
    text.push_str(columns.trim_end());
    text.push('\n');
    if style == Style::Characters && row.levels.iter().any(|&level| level != Level::Nothing) {
        let symbol = |at: usize| format!("{} ", row.levels[at].symbol());
        let symbols: String = row.levels.iter().map(|level| level.symbol()).collect();
        let line = format!("{:>digits$}  {}  {symbols}", "", self::columns(row, style, symbol));
        text.push_str(line.trim_end());
        text.push('\n');
    }
}

/// The left part of a row: two characters for each byte, in two halves, filled up to a full row.
fn columns(row: &Row<'_>, style: Style, byte: impl Fn(usize) -> String) -> String {
    let before = |at: usize| match at {
        0 => "",
        at if at == ROW / 2 => "  ",
        _ => " ",
    };
    let missing: String = (row.bytes.len()..ROW).map(|at| format!("{}  ", before(at))).collect();
    joined(row, before, byte, style) + &missing
}

/// The bytes of a row, each with what comes before it, neighbours of one level in one colour.
fn joined<'a>(
    row: &Row<'_>,
    before: impl Fn(usize) -> &'a str,
    byte: impl Fn(usize) -> String,
    style: Style,
) -> String {
    let mut text = String::new();
    for (start, length, level) in row.groups() {
        text.push_str(before(start));
        let group: String = (start..start + length)
            .map(|at| if at == start { byte(at) } else { before(at).to_owned() + &byte(at) })
            .collect();
        text += &painted(&group, level, style);
    }
    text
}

fn painted(text: &str, level: Level, style: Style) -> String {
    let colour = match (style, level, level.shade()) {
        (Style::Characters, ..) | (_, Level::Nothing, _) => return text.to_owned(),
        (_, Level::Public, _) => PUBLIC,
        (_, _, shade) => SHADES[shade.clamp(1, 5) - 1],
    };
    let bound = if level.is_bound() { BOUND } else { "" };
    format!("\x1b[{colour}{bound}m{text}\x1b[0m")
}

/// What colours or characters mean; only what the graphs may have.
fn legend(graphs: &[Graph<'_>], style: Style) -> String {
    let has = |level: fn(Level) -> bool| graphs.iter().any(|graph| graph.has(level));
    let bounds = has(Level::is_bound);
    let public = has(|level| level == Level::Public);
    let mut entries: Vec<String> = Vec::new();
    match style {
        Style::Colours => {
            for (level, words) in Level::LEGEND {
                if level != Level::Public || public {
                    entries.push(painted(&format!(" {words} "), level, style));
                }
            }
            if bounds {
                let bound = " a bound: the truth may be less ";
                entries.push(format!("\x1b[4m{bound}\x1b[0m"));
            }
        }
        Style::Characters => {
            let plain = [
                ". nothing",
                "- less than a bit",
                "1 to 7 that many bits or more",
                "# all eight bits",
            ];
            entries.extend(plain.map(str::to_owned));
            if bounds {
                entries.push("a to h at most 1 to 8 bits (a bound)".to_owned());
            }
            if public {
                entries.push("= public, not counted".to_owned());
            }
        }
    }
    let gap = if style == Style::Colours { " " } else { "   " };
    entries.join(gap).trim().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use stunt_report::{ByteKind, ByteRuns, Source, SourceName};

    use super::*;

    fn row(bytes: &[u8]) -> Row<'_> {
        let levels = [Level::Fully, Level::Fully, Level::AtMost(3), Level::Public, Level::Nothing];
        Row { offset: 0, bytes, levels: levels[..bytes.len()].to_vec() }
    }

    #[test]
    fn characters_stand_below_their_bytes() {
        let mut text = String::new();
        push_row(&mut text, &row(b"GET \x01"), 3, Style::Characters);
        let expected = "  0  47 45 54 20 01                                    GET .\n     \
                                 #  #  c  =  .                                     ##c=.\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn colours_end_where_a_level_ends() {
        let mut text = String::new();
        push_row(&mut text, &row(b"GET \x01"), 1, Style::Colours);
        let hex = "\x1b[97;48;5;160m47 45\x1b[0m \x1b[30;48;5;221;4m54\x1b[0m \
                   \x1b[30;48;5;153m20\x1b[0m 01";
        let shown = "\x1b[97;48;5;160mGE\x1b[0m\x1b[30;48;5;221;4mT\x1b[0m\x1b[30;48;5;153m \
                     \x1b[0m.";
        assert_eq!(text, format!("0  {hex}{}  {shown}\n", " ".repeat(34)));
    }

    #[test]
    fn the_legend_has_what_the_graph_has() {
        let source = Source::new(SourceName::File, 2, None);
        let legend_of = |kind| {
            let runs = ByteRuns::new(SourceName::File, [(2.0, kind)]);
            legend(&[Graph { source: &source, runs: &runs, parts: vec![] }], Style::Characters)
        };
        assert!(!legend_of(ByteKind::Exact).contains("a bound"));
        assert!(legend_of(ByteKind::Estimate).contains("a bound"));
        assert!(legend_of(ByteKind::Public).contains("= public"));
    }
}
