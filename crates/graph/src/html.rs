//! The leak graph as a part of a page: a strip, a table of bytes, and the figures as a list.
//!
//! Colours are classes, which [`crate::svg::COLOURS`] has; the page brings the rest. There are no
//! styles and no scripts in the elements, so a strict page can take them.

use std::fmt::Write;

use stunt_report::{ByteKind, Kind, grouped};

use crate::svg::{class, escaped, strip};
use crate::{Graph, Level, Part, Row, character, fold_words};

/// What colours and characters mean, as a list.
pub fn legend(page: &mut String) {
    page.push_str("<ul class=\"legend\">\n");
    for (level, words) in Level::LEGEND {
        let symbol = match level {
            Level::Bits(1) => "1 2".to_owned(),
            Level::Bits(3) => "3 4 5".to_owned(),
            Level::Bits(_) => "6 7".to_owned(),
            level => level.symbol().to_string(),
        };
        let _ = match class(level) {
            Some(class) => {
                writeln!(page, "<li><span class=\"{class}\">{symbol}</span> {words}</li>")
            }
            None => writeln!(page, "<li><span>{symbol}</span> {words}</li>"),
        };
    }
    page.push_str(
        "<li><span class=\"bound\">a to h</span> at most 1 to 8 bits: a bound, the truth may be \
         less</li>\n</ul>\n",
    );
}

/// The graph of one source: a heading of the third level, a strip, the table, and the figures.
pub fn source(page: &mut String, graph: &Graph<'_>) {
    let heading = escaped(&graph.heading());
    let bytes = grouped(graph.source.bytes);
    let _ = write!(
        page,
        "<h3>{heading}</h3>\n<svg viewBox=\"0 0 1000 14\" preserveAspectRatio=\"none\" \
         role=\"img\" aria-label=\"Where in {bytes} bytes something is revealed; the table below \
         has the same.\">\n{}</svg>\n",
        strip(graph, 0.0, 0.0, 1000.0, 14.0)
    );
    let _ = write!(
        page,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{heading}\">\n\
         <table class=\"graph\">\n<caption>The double, 16 bytes a \
         row</caption>\n<thead><tr><th scope=\"col\">Offset</th><th scope=\"col\">Bytes</th>\
         <th scope=\"col\">Text</th><th scope=\"col\">Reveals</th></tr></thead>\n<tbody>\n"
    );
    for part in &graph.parts {
        match part {
            Part::Row(row) => push_row(page, row),
            Part::Fold { bytes, level } => {
                let words = fold_words(*bytes, *level);
                let _ = writeln!(
                    page,
                    "<tr><td></td><td class=\"fold\" colspan=\"3\">… {words} …</td></tr>"
                );
            }
        }
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
    runs(page, graph);
}

fn push_row(page: &mut String, row: &Row<'_>) {
    let (mut hex, mut shown) = (String::new(), String::new());
    for (start, length, level) in row.groups() {
        let bytes = &row.bytes[start..start + length];
        let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let text: String = bytes.iter().map(|&byte| character(byte)).collect();
        if start > 0 {
            hex.push(' ');
        }
        hex += &marked(&digits.join(" "), level);
        shown += &marked(&escaped(&text), level);
    }
    let symbols: String = row.levels.iter().map(|level| level.symbol()).collect();
    let _ = writeln!(
        page,
        "<tr><th scope=\"row\">{}</th><td>{hex}</td><td>{shown}</td><td>{symbols}</td></tr>",
        row.offset
    );
}

fn marked(text: &str, level: Level) -> String {
    match class(level) {
        Some(class) => format!("<span class=\"{class}\">{text}</span>"),
        None => text.to_owned(),
    }
}

/// The runs with their figures: the graph for those who do not see it.
fn runs(page: &mut String, graph: &Graph<'_>) {
    if graph.runs.runs.is_empty() {
        page.push_str("<p>No byte reveals anything by itself.</p>\n");
        return;
    }
    page.push_str(
        "<details>\n<summary>Bytes that reveal something, with their figures</summary>\n\
         <table class=\"where\">\n<thead><tr><th scope=\"col\">Bytes</th>\
         <th scope=\"col\">Each reveals</th></tr></thead>\n<tbody>\n",
    );
    for run in &graph.runs.runs {
        let place = match run.length {
            1 => run.offset.to_string(),
            _ => format!("{} to {}", run.offset, run.end() - 1),
        };
        let figure = match run.kind {
            ByteKind::Public => "public, not counted".to_owned(),
            ByteKind::Exact => format!("{:.2} bits", run.bits),
            ByteKind::AtMost => format!("{} {:.2} bits", Kind::AtMost, run.bits),
            ByteKind::Estimate => format!("{} {:.2} bits", Kind::Estimate, run.bits),
        };
        let _ = writeln!(page, "<tr><td>{place}</td><td>{figure}</td></tr>");
    }
    page.push_str("</tbody>\n</table>\n</details>\n");
}
